"""Trajectories of the agent: what it was given, each step that it took, and how it ended."""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from quoteweave.attribution.agent.actions import Action, ActionName, Condition, actions_of
from quoteweave.attribution.literature.sources.papers import Paper, ReadOutcome
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.answers import ToolCall, Usage
from quoteweave.core.examples import TECHNICAL_ERRORS, Spending
from quoteweave.core.records import Record

EndingKind = Literal[
    "selected", "bad_format", "content_filter", "window", "loops", "no_selection", "endpoint", "source"
]
"""How a trajectory ended: a paper was selected; the model wrote no action though it was asked again; the endpoint's
filter, or the model, declined; the conversation is more than the model reads; one action was repeated too often;
nothing was selected in all actions; the endpoint failed; the source of papers failed. Which of these are technical
errors, and which wrong answers, says `core.examples`."""
RESUMABLE: frozenset[EndingKind] = frozenset({"endpoint", "source"})
"""Endings after which a resumed trajectory goes on, as what failed may be there again."""
ReplyForm = Literal["json", "tools"]
"""How an action is written: as a JSON object in the text, or as a call of a tool."""
ActionForm = Literal["auto", "json", "tools"]
StepError = Literal["never_shown", "only_select"]
"""Why an action was not carried out: it names a paper that was never shown; only `select` was allowed any more."""

NAMED = "named"
"""The id of a paper that the model named from memory; it is of no source."""
TEMPERATURE = 0.95
"""Of the models in CiteME's experiments (section 4)."""


class AgentSettings(Record):
    """How the agent works. `published_settings` gives those of CiteME's experiments.

    >>> AgentSettings(condition="search").actions
    ('search_relevance', 'search_citation_count', 'search_snippets', 'select')
    """

    condition: Condition = "search_and_read"
    demonstration: bool = Field(default=True, description="whether the prompt shows an example of a search")
    extra_actions: bool = Field(default=True, description="whether it has the actions that CiteME's has not")
    most_actions: int = Field(default=15, ge=1, description="actions, `select` included, failed ones too")
    choose_at: int = Field(
        default=14, ge=1, description="number of the action from which on it is told to choose, and may only select"
    )
    results: int = Field(default=10, ge=1, le=100, description="papers, or passages, that a search shows")
    window: int = Field(
        default=100_000, ge=1_500, description="most tokens of a conversation, estimated; leave room for a reply"
    )
    text_tokens: int = Field(
        default=25_000,
        ge=200,
        description="most tokens of a paper's text that are shown; never more than a quarter of `window`",
    )
    most_repeats: int = Field(
        default=3, ge=1, description="times that one action may be made; the next ends as `loops`"
    )
    form: ActionForm = Field(
        default="auto", description="how actions are asked for; `auto`: as tool calls where the endpoint takes them"
    )
    asked_again: int = Field(default=2, ge=0, description="times that a reply without an action is asked for again")

    @property
    def actions(self) -> tuple[ActionName, ...]:
        """The actions that the model may write."""
        return actions_of(self.condition, extra=self.extra_actions)


def published_settings(condition: Condition, *, demonstration: bool) -> AgentSettings:
    """Return the settings of an ablation of CiteME's Table 4, to be used with a model of temperature `TEMPERATURE`.

    A search shows 10 papers, at most 15 actions are made, and they are written as JSON (section 3, appendix E). The
    authors' code differs from this agent in that it asks no reply anew, reads only what the last search showed, tells
    the model to choose at its last action, ends no loop, and never shortens a conversation; and in that it searches
    Semantic Scholar through the web site and not its API, for papers of computer science that are open access, which
    `SourceOptions` ask for.
    """
    return AgentSettings(condition=condition, demonstration=demonstration, extra_actions=False, form="json")


class Reply(Record):
    """One reply of the model."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    form: ReplyForm = Field(default="json", description="how the action was asked for")
    finish_reason: str | None = Field(default=None, description="why it ends, as the endpoint says")
    usage: Usage = Usage()
    spent: Spending = Field(default=Spending(), description="by the call; nothing where a cache had the reply")
    seconds: float = Field(ge=0, description="from asking to the whole reply")
    problem: str | None = Field(default=None, description="why no action could be read from it; None where one was")
    notes: tuple[str, ...] = Field(default=(), description="how the conversation was shortened for it, and such things")


class Step(Record):
    """One action, and what came of it."""

    number: int = Field(ge=1)
    replies: tuple[Reply, ...] = Field(description="those from which no action could be read, and the one that held it")
    rationale: str
    action: Action
    observed: str = Field(description="what the model was shown, as it was before any shortening; empty of the last")
    shown: tuple[Paper, ...] = Field(default=(), description="the papers of `observed`, best first")
    notes: tuple[str, ...] = Field(default=(), description="a sentence for each thing cut, hidden or repeated")
    error: StepError | None = None
    read: ReadOutcome | None = Field(default=None, description="what became of a paper's text, where one was read")
    seconds: float = Field(default=0, ge=0, description="that the source took")

    @property
    def usage(self) -> Usage:
        """The tokens of all its replies."""
        return add_usage(self.replies)

    @property
    def total_seconds(self) -> float:
        """What the model and the source took."""
        return self.seconds + sum(reply.seconds for reply in self.replies)


class Ending(Record):
    """How a trajectory ended."""

    kind: EndingKind
    reason: str | None = Field(default=None, description="why no paper was selected")
    selected: Paper | None = None
    replies: tuple[Reply, ...] = Field(default=(), description="those that became no step")


class TrajectorySetup(Record):
    """What a trajectory begins with; it is resumed only with the same."""

    format: Literal[1] = 1
    id: str | None = Field(default=None, description="of the excerpt in its dataset")
    excerpt: str = Field(min_length=1, description="with [CITATION] where the paper is cited")
    rule: HidingRule = Field(default=HidingRule(), description="the papers that were hidden from it")
    model: str
    temperature: float | None = Field(default=None, description="None where the endpoint's own holds")
    source: str | None = Field(description="name of the source of papers; None where none is asked")
    settings: AgentSettings
    prompts: Mapping[str, str] = Field(description="name of each prompt to the SHA-256 of its text")


class Trajectory(Record):
    """A trajectory, ended or under way.

    >>> trajectory = read_trajectory(Path("trajectory.jsonl"))
    >>> trajectory.outcome, trajectory.selected.title
    ('selected', 'Freight in May')
    """

    setup: TrajectorySetup
    steps: tuple[Step, ...] = ()
    pending: tuple[Reply, ...] = Field(default=(), description="replies of a step that is not done")
    ending: Ending | None = Field(default=None, description="None while it is under way")

    @property
    def outcome(self) -> EndingKind | None:
        """How it ended; None while it is under way."""
        return None if self.ending is None else self.ending.kind

    @property
    def selected(self) -> Paper | None:
        """The paper that was selected; one that was named from memory has the id `NAMED` and a title alone."""
        return None if self.ending is None else self.ending.selected

    @property
    def technical_error(self) -> bool:
        """Whether something broke it off, so that it is no wrong answer."""
        return self.ending is not None and self.ending.kind in TECHNICAL_ERRORS

    @property
    def shown(self) -> dict[str, Paper]:
        """The papers that were shown, by their ids, in the order in which each was first."""
        found: dict[str, Paper] = {}
        for step in self.steps:
            for paper in step.shown:
                found.setdefault(paper.id, paper)
        return found

    @property
    def replies(self) -> tuple[Reply, ...]:
        """All replies of the model."""
        last = self.pending if self.ending is None else self.ending.replies
        return (*(reply for step in self.steps for reply in step.replies), *last)

    @property
    def usage(self) -> Usage:
        """The tokens of all replies."""
        return add_usage(self.replies)

    @property
    def spent(self) -> Spending:
        """What all replies took of a budget."""
        total = Spending()
        for reply in self.replies:
            total = total.plus(reply.spent)
        return total

    @property
    def seconds(self) -> float:
        """What the model and the source took, without pauses in which it was not running."""
        return sum(reply.seconds for reply in self.replies) + sum(step.seconds for step in self.steps)


def add_usage(replies: Iterable[Reply]) -> Usage:
    """Return the sum of tokens; None where the endpoint did not count those of every reply."""
    usages = [reply.usage for reply in replies]
    sent, written = [one.input_tokens for one in usages], [one.output_tokens for one in usages]
    return Usage(input_tokens=_sum(sent), output_tokens=_sum(written))


def _sum(counts: Iterable[int | None]) -> int | None:
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total
