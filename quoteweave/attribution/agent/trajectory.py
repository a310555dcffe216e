"""Trajectories of the agent: what it was given, each step that it took, and how it ended; and their files.

A file is JSON Lines; each line is appended as soon as what it records has happened.

    {"line": "setup", ...}    what it begins with; the first line
    {"line": "reply", ...}    a reply of the model, before anything is done with it
    {"line": "step", ...}     a step that is done, with its replies
    {"line": "ending", ...}   how it ended; more follows only where that was `endpoint` or `source`, and it was resumed

So a killed process loses no reply that was paid for, and a file that ended is replayed without a model or a source.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, RootModel

from quoteweave.attribution.agent.actions import Action, ActionName, Condition, actions_of
from quoteweave.attribution.literature.sources.papers import Paper, ReadOutcome
from quoteweave.attribution.literature.sources.unseen import HidingRule
from quoteweave.core.answers import NO_TOKENS, Usage
from quoteweave.core.chat.completions import ToolCall
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import TECHNICAL_ERRORS, Spending
from quoteweave.core.files.jsonl import iter_records, open_for_append
from quoteweave.core.records import Record

EndingKind = Literal[
    "selected", "bad_format", "content_filter", "window", "loops", "no_selection", "endpoint", "source"
]
"""How a trajectory ended: a paper was selected; the model wrote no action though it was asked again; the endpoint's
filter, or the model, declined; the conversation is more than the model reads; one action was repeated too often;
nothing was selected in all actions; the endpoint failed; the source of papers failed. `core.examples` says which of
these are technical errors and which are wrong answers."""
RESUMABLE: frozenset[EndingKind] = frozenset({"endpoint", "source"})
"""Endings after which a trajectory can be resumed, as the endpoint or source may work again."""
ReplyForm = Literal["json", "tools"]
"""How an action is written: as a JSON object in the text, or as a call of a tool."""
ActionForm = Literal["auto", "json", "tools"]
StepError = Literal["never_shown", "only_select"]
"""Why an action was not carried out: it names a paper that was never shown, or only `select` was still allowed."""

NAMED = "named"
"""The id of a paper that the model named from memory, which comes from no source."""


class AgentSettings(Record):
    """How the agent works.

    The presets `citeme`, `citeme-search` and `citeme-no-commands` have the settings of CiteME's Table 4: a search shows
    10 papers, at most 15 actions are made, and they are written as JSON (section 3, appendix E). The authors' code
    differs from this agent: it never asks for a reply again, reads only what the last search showed, tells the model to
    choose at its last action, does not end loops, and never shortens a conversation. It searches Semantic Scholar
    through the web site and not the API, and only open-access papers of computer science, which `SourceOptions` can ask
    for too.

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
        """Seconds that the model and the source took."""
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
        """Whether a technical error ended it, so that it does not count as a wrong answer."""
        return self.ending is not None and self.ending.kind in TECHNICAL_ERRORS

    @property
    def shown(self) -> dict[str, Paper]:
        """The papers that were shown, by their ids, in the order in which each was shown first."""
        papers: dict[str, Paper] = {}
        for step in self.steps:
            for paper in step.shown:
                papers.setdefault(paper.id, paper)
        return papers

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
        """What all replies together spent of a budget."""
        total = Spending()
        for reply in self.replies:
            total = total.plus(reply.spent)
        return total

    @property
    def seconds(self) -> float:
        """Seconds that the model and the source took, without the time between runs that resumed it."""
        return sum(reply.seconds for reply in self.replies) + sum(step.seconds for step in self.steps)


def add_usage(replies: Iterable[Reply]) -> Usage:
    """Return the sum of tokens; None where the endpoint did not count those of every reply."""
    total = NO_TOKENS
    for reply in replies:
        total = total.plus(reply.usage)
    return total


class _SetupLine(Record):
    line: Literal["setup"] = "setup"
    setup: TrajectorySetup


class _ReplyLine(Record):
    line: Literal["reply"] = "reply"
    reply: Reply


class _StepLine(Record):
    line: Literal["step"] = "step"
    step: Step


class _EndingLine(Record):
    line: Literal["ending"] = "ending"
    ending: Ending


class _Line(RootModel[Annotated[_SetupLine | _ReplyLine | _StepLine | _EndingLine, Field(discriminator="line")]]):
    pass


class TrajectoryRecorder:
    """A trajectory under way. What is added is saved at once if the trajectory has a file."""

    def __init__(self, trajectory: Trajectory, write: Callable[[BaseModel], None]) -> None:
        self.trajectory = trajectory
        self._write = write

    def add_reply(self, reply: Reply) -> None:
        """Add a reply to the step that is not done. Raises StorageError."""
        self._write(_ReplyLine(reply=reply))
        self._become(pending=(*self.trajectory.pending, reply))

    def add_step(self, step: Step) -> None:
        """Add a step that is done. Raises StorageError."""
        self._write(_StepLine(step=step))
        self._become(steps=(*self.trajectory.steps, step), pending=())

    def end(self, kind: EndingKind, reason: str | None = None, *, selected: Paper | None = None) -> None:
        """End it. Raises StorageError."""
        ending = Ending(kind=kind, reason=reason, selected=selected, replies=self.trajectory.pending)
        self._write(_EndingLine(ending=ending))
        self._become(ending=ending, pending=())

    def _become(self, **update: object) -> None:
        self.trajectory = self.trajectory.model_copy(update=update)


@contextmanager
def open_trajectory(path: Path | None, setup: TrajectorySetup) -> Iterator[TrajectoryRecorder]:
    """Begin a trajectory, or resume the one that the file holds; without a path nothing is saved.

    Raises UsageError where the file holds another trajectory, or is being written by another process; DatasetError
    where it cannot be read; StorageError where the disk refuses.
    """
    if path is None:
        yield TrajectoryRecorder(Trajectory(setup=setup), lambda _line: None)
        return
    with open_for_append(path) as write:
        if path.stat().st_size:
            trajectory = read_trajectory(path)
            _check_same(path, trajectory.setup, setup)
        else:
            write(_SetupLine(setup=setup))
            trajectory = Trajectory(setup=setup)
        if trajectory.ending is not None and trajectory.ending.kind in RESUMABLE:
            trajectory = trajectory.model_copy(update={"ending": None, "pending": trajectory.ending.replies})
        yield TrajectoryRecorder(trajectory, write)


def read_trajectory(path: Path) -> Trajectory:
    """Read a saved trajectory, ended or under way; a last line that a crash has cut is dropped.

    Raises DatasetError, naming file and line, where it cannot be read.
    """
    trajectory: Trajectory | None = None
    for number, line in iter_records(path, _Line, drop_cut=True):
        try:
            trajectory = _extended(trajectory, line.root)
        except ValueError as error:
            raise DatasetError(f"{path}, line {number}: {error}") from error
    if trajectory is None:
        raise DatasetError(f"{path} holds no trajectory: it has no line that is whole")
    return trajectory


def _extended(so_far: Trajectory | None, line: _SetupLine | _ReplyLine | _StepLine | _EndingLine) -> Trajectory:
    """The trajectory with one more line. Raises ValueError for a line that cannot follow."""
    if isinstance(line, _SetupLine):
        if so_far is not None:
            raise ValueError("a second trajectory begins here; each has a file of its own")
        return Trajectory(setup=line.setup)
    if so_far is None:
        raise ValueError("a trajectory begins with a line `setup`")
    if so_far.ending is not None:
        if so_far.ending.kind not in RESUMABLE:
            raise ValueError(f"nothing can follow the ending {so_far.ending.kind!r}")
        so_far = so_far.model_copy(update={"ending": None, "pending": so_far.ending.replies})
    if isinstance(line, _ReplyLine):
        return so_far.model_copy(update={"pending": (*so_far.pending, line.reply)})
    if isinstance(line, _EndingLine):
        return so_far.model_copy(update={"ending": line.ending, "pending": ()})
    if line.step.number != len(so_far.steps) + 1:
        raise ValueError(f"step {line.step.number} cannot follow {len(so_far.steps)} steps")
    return so_far.model_copy(update={"steps": (*so_far.steps, line.step), "pending": ()})


def _check_same(path: Path, stored: TrajectorySetup, requested: TrajectorySetup) -> None:
    before, after = stored.model_dump(mode="json"), requested.model_dump(mode="json")
    changed = [f"{key} is {before[key]!r} there and {after[key]!r} here" for key in after if before[key] != after[key]]
    if changed:
        raise UsageError(f"{path} holds another trajectory: {'; '.join(changed)}. Name another file, or remove it")
