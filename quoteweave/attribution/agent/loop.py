"""The agent: asks the model for one action after another, carries each out, and shows the model the result."""

import time
from pathlib import Path

from quoteweave.attribution.agent.actions import (
    Action,
    Decision,
    FindInText,
    NamePaper,
    Read,
    SearchCitationCount,
    SearchRelevance,
    SearchSnippets,
    Select,
)
from quoteweave.attribution.agent.observations import (
    Observation,
    find_passages,
    observe_papers,
    observe_snippets,
    observe_text,
)
from quoteweave.attribution.agent.replies import ActionModel, AgentPrompts, TrajectoryEnded, read_reply
from quoteweave.attribution.agent.trajectory import (
    NAMED,
    AgentSettings,
    Reply,
    Step,
    StepError,
    Trajectory,
    TrajectoryRecorder,
    TrajectorySetup,
    open_trajectory,
)
from quoteweave.attribution.literature.sources.papers import Paper, PaperSource, PaperText
from quoteweave.attribution.literature.sources.unseen import HidingRule, Unseen
from quoteweave.core.errors import SourceError, SourceRefused, UsageError
from quoteweave.core.protocols import ChatModel
from quoteweave.evaluation.text.titles import last_line

_QUERY_REFUSALS = (400, 414, 422)
"""HTTP statuses that mean that a source refuses this query, and not all requests of the client."""


class CiteAgent:
    """Finds the paper that an excerpt cites, with a chat model that searches a source of papers.

    Actions are asked for as tool calls where the model can be offered tools (`core.chat.tools.ToolCallingChat`), and as
    JSON where it cannot, or once an endpoint has refused them, which is noted. Excerpts may be worked on at the same
    time. Raises UsageError for prompts that cannot be read, and without a source where the condition needs one.

    >>> agent = CiteAgent(model, source)
    >>> trajectory = asyncio.run(agent.find("Grain shipments doubled in May [CITATION]."))
    >>> trajectory.outcome, trajectory.selected.title
    ('selected', 'Freight in May')
    """

    def __init__(
        self,
        model: ChatModel,
        source: PaperSource | None,
        settings: AgentSettings | None = None,
        *,
        prompts_folder: Path | None = None,
    ) -> None:
        self.settings = settings or AgentSettings()
        self._source = source if self.settings.actions else None
        self._model = ActionModel(model, self.settings, AgentPrompts(self.settings, prompts_folder))
        if self.settings.actions and source is None:
            raise UsageError(f"the condition {self.settings.condition} searches for papers: name a source of papers")

    async def find(
        self,
        excerpt: str,
        *,
        id: str | None = None,
        rule: HidingRule | None = None,
        saved: Path | None = None,
    ) -> Trajectory:
        """Return the trajectory of one excerpt, in which [CITATION] stands where the paper is cited.

        `rule` says which papers no search and no reading shows: the one that the excerpt is from, and later ones. `id`
        names the excerpt in its dataset.

        Each reply and step is appended to the file `saved`, and what the file holds is not asked again: a trajectory
        that was broken off goes on where it stopped, one that ended is returned as it is, without a model or a source.
        A failure of the endpoint, the source or the model is an ending of the trajectory, and no exception. Raises
        UsageError (another trajectory in the file; a budget that is spent), DatasetError and StorageError.
        """
        setup = TrajectorySetup(
            id=id,
            excerpt=excerpt,
            rule=rule or HidingRule(),
            model=self._model.name,
            temperature=self._model.temperature,
            source=None if self._source is None else self._source.name,
            settings=self.settings,
            prompts=self._model.prompts.fingerprints,
        )
        with open_trajectory(saved, setup) as recorder:
            if recorder.trajectory.ending is None:
                unseen = None if self._source is None else Unseen(self._source, setup.rule, setup.excerpt)
                started = _TrajectoryRun(self._model, unseen, recorder)
                await (started.run() if self.settings.actions else started.name_paper())
            return recorder.trajectory


class _TrajectoryRun:
    """Takes the steps of one excerpt, until its trajectory ends."""

    def __init__(self, model: ActionModel, source: PaperSource | None, recorder: TrajectoryRecorder) -> None:
        self._model, self._source, self._recorder = model, source, recorder
        self._settings = recorder.trajectory.setup.settings
        self._limit = self._settings.window // 4
        self._texts: dict[str, PaperText] = {}

    @property
    def _steps(self) -> tuple[Step, ...]:
        return self._recorder.trajectory.steps

    async def run(self) -> None:
        """Take steps until the trajectory has ended."""
        try:
            while not self._has_selected():
                number = len(self._steps) + 1
                if number > self._settings.most_actions:
                    raise TrajectoryEnded(
                        "no_selection", f"no paper was selected in {self._settings.most_actions} actions"
                    )
                decision = self._with_known_id(await self._decide())
                self._check_repeats(decision.action)
                self._recorder.add_step(await self._act(number, decision))
        except TrajectoryEnded as ended:
            self._recorder.end(ended.kind, str(ended))

    async def name_paper(self) -> None:
        """Ask for the title of the paper once."""
        if not self._steps:
            try:
                if not self._pending():
                    await self._ask()
                (reply,) = self._pending()
            except TrajectoryEnded as ended:
                self._recorder.end(ended.kind, str(ended))
                return
            action = NamePaper(title=last_line(reply.text))
            self._recorder.add_step(Step(number=1, replies=(reply,), rationale="", action=action, observed=""))
        title = last_line(self._steps[-1].replies[-1].text)
        if title:
            self._recorder.end("selected", selected=Paper(id=NAMED, title=title))
        else:
            self._recorder.end("bad_format", "the reply holds no title")

    def _has_selected(self) -> bool:
        """Whether the last step selected a paper; the trajectory then ends."""
        last = self._steps[-1] if self._steps else None
        if last is None or last.error is not None or not isinstance(last.action, Select):
            return False
        self._recorder.end("selected", selected=self._recorder.trajectory.shown[last.action.paper_id])
        return True

    async def _decide(self) -> Decision:
        """Return the next action from a saved or a new reply; if the reply has none, ask the model again."""
        while True:
            pending = self._pending()
            if pending and pending[-1].problem is None:
                return read_reply(pending[-1], self._settings)
            if len(pending) > self._settings.asked_again:
                raise TrajectoryEnded(
                    "bad_format", f"{len(pending)} replies without an action; the last: {pending[-1].problem}"
                )
            await self._ask()

    async def _ask(self) -> None:
        """Ask for a reply, and save it."""
        self._recorder.add_reply(await self._model.ask(self._recorder.trajectory))

    def _pending(self) -> tuple[Reply, ...]:
        """The replies of the step that is not done. Raises TrajectoryEnded if a content filter broke off the last."""
        pending = self._recorder.trajectory.pending
        if pending and pending[-1].finish_reason == "content_filter":
            raise TrajectoryEnded("content_filter", "the endpoint's content filter broke off the reply")
        return pending

    def _with_known_id(self, decision: Decision) -> Decision:
        """The decision with the paper's id as the source writes it; the model may have changed its spaces."""
        action = decision.action
        if not isinstance(action, Read | FindInText | Select):
            return decision
        known = {" ".join(id.split()): id for id in self._recorder.trajectory.shown}
        id = known.get(" ".join(action.paper_id.split()), action.paper_id)
        return decision.model_copy(update={"action": action.model_copy(update={"paper_id": id})})

    def _check_repeats(self, action: Action) -> None:
        earlier_numbers = [step.number for step in self._steps if step.action == action]
        if len(earlier_numbers) >= self._settings.most_repeats:
            numbers = ", ".join(map(str, earlier_numbers))
            raise TrajectoryEnded("loops", f"the action of steps {numbers} was made once more: {_shown(action)}")

    async def _act(self, number: int, decision: Decision) -> Step:
        """Carry out an action; the step holds what the model is shown of its result."""
        started, error = time.monotonic(), self._error_of(number, decision.action)
        same_steps = [step for step in self._steps if step.action == decision.action]
        earlier = next((step for step in same_steps if step.error is None), None)
        if error is not None:
            observation = Observation(text=_refusal(error, decision.action))
        elif earlier is not None:  # the action would give the same result again
            observation = Observation(text=earlier.observed, shown=earlier.shown, read=earlier.read)
        else:
            observation = await self._observe_or_end(number, decision.action)
        if same_steps:
            observation = _again(same_steps[0].number, observation)
        return Step(
            number=number,
            replies=self._recorder.trajectory.pending,
            rationale=decision.rationale,
            action=decision.action,
            observed=observation.text,
            shown=observation.shown,
            notes=(*decision.notes, *observation.notes),
            error=error,
            read=observation.read,
            seconds=time.monotonic() - started,
        )

    def _error_of(self, number: int, action: Action) -> StepError | None:
        if number >= self._settings.choose_at and not isinstance(action, Select):
            return "only_select"
        if isinstance(action, Read | FindInText | Select) and action.paper_id not in self._recorder.trajectory.shown:
            return "never_shown"
        return None

    async def _observe_or_end(self, number: int, action: Action) -> Observation:
        try:
            return await self._observe(action)
        except SourceError as failed:
            # The source has answered other queries, so that other words may help.
            refused = isinstance(failed, SourceRefused) and failed.status in _QUERY_REFUSALS
            if refused and any(step.shown for step in self._steps):
                text = "The source refused this. Use other words."
                return Observation(text=text, notes=(f"The source refused it: {failed}",))
            raise TrajectoryEnded("source", f"step {number}, {_shown(action)}: {failed}") from failed

    async def _observe(self, action: Action) -> Observation:
        source, most, limit = self._source, self._settings.results, self._limit
        assert source is not None  # noqa: S101 - the agent has one wherever it has actions
        match action:
            case SearchRelevance():
                return observe_papers(await source.search(action.query, most), limit)
            case SearchCitationCount():
                return observe_papers(await source.search(action.query, most, by="citations"), limit)
            case SearchSnippets():
                return observe_snippets(await source.search_snippets(action.query, most), limit)
            case Read():
                paper, text = await self._read(source, action.paper_id)
                return observe_text(paper, text, min(limit, self._settings.text_tokens))
            case FindInText():
                paper, text = await self._read(source, action.paper_id)
                return find_passages(paper, text, action.query, limit)
            case _:
                return Observation(text="")

    async def _read(self, source: PaperSource, id: str) -> tuple[Paper, PaperText]:
        paper = self._recorder.trajectory.shown[id]
        if id not in self._texts:
            self._texts[id] = await source.read(paper)
        return paper, self._texts[id]


def _again(number: int, observation: Observation) -> Observation:
    note = f"This is the action of step {number} again. Do something else, or select a paper."
    return observation.model_copy(update={"text": f"{note}\n\n{observation.text}", "notes": (*observation.notes, note)})


def _shown(action: Action) -> str:
    fields = [f"{key}={value!r}" for key, value in action.model_dump().items() if key != "name"]
    return f"{action.name}({', '.join(fields)})"


def _refusal(error: StepError, action: Action) -> str:
    if error == "only_select":
        return f"{action.name} was not carried out: you can only select now."
    wanted = getattr(action, "paper_id", "")
    return f"No search has shown a paper of the id {wanted!r}, so that nothing was done. Write an id as it was shown."
