"""Runs over CiteME: an agent looks for the paper that each excerpt cites; trajectories are kept beside predictions."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast, get_args

from quoteweave.attribution.agent.actions import FindInText, NamePaper, Read, Select
from quoteweave.attribution.agent.loop import CiteAgent
from quoteweave.attribution.agent.ranking import (
    WITHOUT_YEAR,
    LiteratureRanking,
    PaperRanker,
    SourceRanking,
    hiding_rule,
    named_paper,
)
from quoteweave.attribution.agent.replies import AgentPrompts
from quoteweave.attribution.agent.run_settings import PaperRunFile, PaperRunSettings
from quoteweave.attribution.agent.trajectory import RESUMABLE, Ending, Step, Trajectory, read_trajectory
from quoteweave.attribution.literature.attributor import LiteratureAttributor
from quoteweave.attribution.literature.library.paper_library import PaperLibrary
from quoteweave.attribution.literature.opening import open_sources
from quoteweave.attribution.literature.sources.make_source import SourceName, SourceOptions
from quoteweave.attribution.literature.sources.own_collection import OwnCollection
from quoteweave.attribution.literature.sources.papers import Paper, PaperSource
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import CollectionNotFound, DatasetError, EndpointUnreachable, UsageError
from quoteweave.core.examples import (
    Example,
    PaperSearch,
    Prediction,
    Scope,
    SearchStep,
    Spending,
    failed_prediction,
)
from quoteweave.core.files.jsonl import iter_records
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.runs import PREDICTIONS_FILE
from quoteweave.endpoints.budget import record_earlier_spending
from quoteweave.pipeline.composition.make_rag import SharedLimits, make_chat
from quoteweave.pipeline.composition.make_search import make_search
from quoteweave.pipeline.composition.manage_indexes import build_indexes
from quoteweave.pipeline.composition.progress import Progress
from quoteweave.pipeline.runs.answer_dataset import RunHooks, RunOutcome, answer_by
from quoteweave.pipeline.runs.answerer import Predictor
from quoteweave.pipeline.runs.config import RunSettings, read_run_file_as
from quoteweave.pipeline.runs.search_dataset import Questions, fingerprint_documents, index_fingerprints

PAPER_DATASETS = ("citeme",)
"""Names of the datasets that ask for papers."""
TRAJECTORIES = "trajectories"
"""The folder of a run's trajectories, a file for each excerpt."""
REPLIES = "replies"
"""The folder of a run that keeps the replies of a service, so that no request is sent twice."""
_PLAIN_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def answer_excerpts(
    config: PaperRunFile | Path | str,
    questions: Questions,
    out: Path,
    *,
    source: PaperSource | str | None = None,
    only: Sequence[str] | None = None,
    hooks: RunHooks | None = None,
) -> list[RunOutcome]:
    """Find the paper that each excerpt of a dataset cites, by each setting, and keep what was found to be scored.

    This works as `answer_dataset` does, except that an agent searches papers. Settings that name no source search
    `source`: a service or the folder of a collection by its name, or an object that implements `PaperSource`.
    With `ranking`, the first paper of a ranking by retrievers is named.
    A run's folder holds its trajectories too: a run that was stopped goes on at the step where it was, and asks nothing
    again. Raises UsageError where settings do not fit together, a folder holds another run, or a source is unknown or
    missing where a setting searches; DatasetError for a file that cannot be read; BudgetSpent, EndpointError and
    StorageError where they concern all excerpts.
    """
    file = config if isinstance(config, PaperRunFile) else read_run_file_as(PaperRunFile, config)
    hooks = hooks or RunHooks()
    source_name, source_object = (source, None) if isinstance(source, str) else (None, source)
    searches = any(setting.actions for setting in file.settings)
    for note in _hiding_notes(questions.examples) if searches else ():
        hooks.progress.note(f"{questions.dataset}: {note}")

    @contextmanager
    def make_predictor(
        setting: RunSettings, limits: SharedLimits, folder: Path
    ) -> Iterator[tuple[Predictor, Mapping[str, str]]]:
        assert isinstance(setting, PaperRunSettings)  # noqa: S101 - the file has no others
        if setting.ranking:
            with _open_ranker(setting, source_object, folder, hooks.progress) as ranker:
                yield ranker
            return
        with _open_source(setting, source_object, folder, hooks.progress) as (papers, fingerprints):
            finder = _make_finder(setting, limits, folder, papers)
            yield finder, {**fingerprints, **_model_fingerprints(setting)}

    return answer_by(make_predictor, file.with_default("source", source_name), questions, out, only=only, hooks=hooks)


def _hiding_notes(examples: Sequence[Example]) -> Iterator[str]:
    """Say for how many excerpts too little is known to hide all that should be hidden."""
    if ownless := sum(example.document is None for example in examples):
        yield f"{pluralize(ownless, 'excerpt')} without source_paper_title: the paper that they are from is not hidden"
    if yearless := sum(example.year is None for example in examples):
        yield f"{pluralize(yearless, 'excerpt')} without year: papers up to {WITHOUT_YEAR} are shown"


@contextmanager
def _open_source(
    setting: PaperRunSettings, source_object: PaperSource | None, folder: Path, progress: Progress
) -> Iterator[tuple[PaperSource | None, Mapping[str, str]]]:
    """Yield the source that is searched (None if none is) and the fingerprints of what it holds."""
    if not setting.actions:
        yield None, {}
        return
    source = _searched_source(setting, source_object)
    if isinstance(source, Path):
        with _open_collection(source, setting, progress) as opened:
            yield opened
        return
    with _open_service(source, setting, folder, progress) as (opened_source, _):
        yield opened_source, {"source": opened_source.name}


@contextmanager
def _open_ranker(
    setting: PaperRunSettings, source_object: PaperSource | None, folder: Path, progress: Progress
) -> Iterator[tuple[PaperRanker, Mapping[str, str]]]:
    """Yield what ranks papers, and the fingerprints of what it searches."""
    source, name = _searched_source(setting, source_object), " + ".join(setting.retriever)
    if isinstance(source, Path):
        with _open_collection(source, setting, progress) as (collection_source, fingerprints):
            yield PaperRanker(SourceRanking(collection_source), setting.results, name), fingerprints
        return
    with _open_service(source, setting, folder, progress) as (opened, library):
        literature = LiteratureAttributor([opened], library)
        literature.rank_by(setting, progress)
        yield PaperRanker(LiteratureRanking(literature), setting.results, name), {"source": opened.name}


def _searched_source(setting: PaperRunSettings, source_object: PaperSource | None) -> SourceName | PaperSource | Path:
    """The service or the source of one's own that is searched, or the folder of a collection. Raises UsageError."""
    source = setting.source or source_object
    if source is None:
        searches = "ranking" if setting.ranking else f"condition {setting.condition!r}"
        otherwise = "" if setting.ranking else ', or set condition = "no_commands"'
        raise UsageError(
            f"setting {setting.name}: {searches} searches for papers: name where with --source or the key source"
            f"{otherwise}"
        )
    of_a_folder = isinstance(source, str) and source not in get_args(SourceName)
    return Path(str(source)) if of_a_folder else cast("SourceName | PaperSource", source)


@contextmanager
def _open_service(
    source: SourceName | PaperSource, setting: PaperRunSettings, folder: Path, progress: Progress
) -> Iterator[tuple[PaperSource, PaperLibrary]]:
    """Yield a source that is no collection, and the library in which the papers that are read are kept."""
    options = SourceOptions(
        per_second=setting.per_second,
        cache=folder / REPLIES,
        open_access_only=bool(setting.open_access_only),
        field=setting.field,
    )
    services = {source: options} if isinstance(source, str) else {}
    with open_sources(source, papers=setting.papers, options=services) as ((opened,), library):
        if services:
            sent = "the excerpts are" if setting.ranking else "what the agent searches for is"
            progress.note(f"{setting.name}: {sent} sent to {source}")
        yield opened, library


@contextmanager
def _open_collection(
    folder: Path, setting: PaperRunSettings, progress: Progress
) -> Iterator[tuple[OwnCollection, Mapping[str, str]]]:
    """Yield a collection of one's own as a source, and the fingerprints of its documents and indexes."""
    try:
        collection = Collection.open(folder)
    except CollectionNotFound as error:
        services = ", ".join(get_args(SourceName))
        raise UsageError(
            f"{str(folder)!r} is no source of papers: there are {services}, and folders of collections"
        ) from error
    with collection:
        build_indexes(collection, setting.retriever, setting, progress)
        source = OwnCollection(collection, make_search(collection, setting, progress=progress))
        documents = fingerprint_documents(collection.documents())
        yield (
            source,
            {"source": source.name, "documents": documents, **index_fingerprints(collection, setting.retriever)},
        )


def _model_fingerprints(setting: PaperRunSettings) -> dict[str, str]:
    prompts = AgentPrompts(setting.agent, setting.prompts).fingerprints
    return {f"prompt {name}": sha256 for name, sha256 in prompts.items()}


def _make_finder(
    setting: PaperRunSettings, limits: SharedLimits, folder: Path, source: PaperSource | None
) -> "PaperFinder":
    model = make_chat(setting)
    assert model is not None  # noqa: S101 - `for_task` requires a model
    agent = CiteAgent(limits.limit(model), source, setting.agent, prompts_folder=setting.prompts)
    earlier = _unrecorded_spending(folder)
    for spent in earlier.values():
        limits.count_earlier(spent)
    return PaperFinder(agent, folder / TRAJECTORIES, model.name, earlier)


def _unrecorded_spending(folder: Path) -> dict[str, Spending]:
    """What was spent on each trajectory and is recorded in no prediction, as after a run that was killed."""
    recorded, predictions = dict[str, Spending](), folder / PREDICTIONS_FILE
    for _, prediction in iter_records(predictions, Prediction, drop_cut=True) if predictions.exists() else ():
        recorded[prediction.example] = recorded.get(prediction.example, Spending()).plus(prediction.spent or Spending())
    unrecorded = dict[str, Spending]()
    for path in (folder / TRAJECTORIES).glob("*.jsonl"):
        with suppress(DatasetError):  # the prediction reports the damaged file
            trajectory = read_trajectory(path)
            id = trajectory.setup.id or ""
            unrecorded[id] = trajectory.spent.minus(recorded.get(id, Spending()))
    return {id: spent for id, spent in unrecorded.items() if spent.calls}


class _BrokenOff(EndpointUnreachable):
    """A failure that may be temporary broke off a search; when the run is resumed, the search goes on from there."""

    def __init__(self, prediction: Prediction) -> None:
        super().__init__(prediction.error or "")
        self.prediction = prediction


@dataclass(frozen=True, slots=True)
class PaperFinder(Predictor):
    """Finds the papers that examples cite with an agent."""

    agent: CiteAgent
    folder: Path
    """The folder of the trajectories."""
    model: str
    earlier: dict[str, Spending] = field(default_factory=dict)
    """What was spent on trajectories before and no prediction records; each is added to its own prediction."""

    @property
    def scope(self) -> Scope:
        """The whole source; without actions, only the excerpt."""
        return "collection" if self.agent.settings.actions else "context"

    def asks(self, example: Example) -> bool:
        """Whether the example's trajectory has not ended, or may be resumed."""
        saved = self._file(example)
        try:
            trajectory = read_trajectory(saved)
        except DatasetError:
            return not saved.exists() or not saved.stat().st_size  # a damaged file is reported, and not replaced
        return trajectory.ending is None or trajectory.ending.kind in RESUMABLE

    def _file(self, example: Example) -> Path:
        return self.folder / f"{file_name(example.id)}.jsonl"

    async def predict(self, example: Example) -> Prediction:
        """Find the paper that an example cites.

        A technical error becomes a prediction with that error. Raises EndpointUnreachable for an endpoint or a source
        that failed, and what `CiteAgent.find` raises except for a trajectory that cannot be read.
        """
        saved = self._file(example)
        record_earlier_spending(self.earlier.pop(example.id, Spending()))
        try:
            trajectory = await self.agent.find(
                example.query.text, id=example.id, rule=hiding_rule(example), saved=saved
            )
        except DatasetError as error:
            return self.failed(example, error)
        prediction = self._prediction(example, trajectory)
        if trajectory.outcome in RESUMABLE:
            raise _BrokenOff(prediction)
        return prediction

    def failed(self, example: Example, error: Exception) -> Prediction:
        """Return the prediction that records the error."""
        if isinstance(error, _BrokenOff):
            return error.prediction
        return failed_prediction(example, self.scope, error, paper_search=PaperSearch(outcome="other"))

    def _prediction(self, example: Example, trajectory: Trajectory) -> Prediction:
        search = paper_search_of(trajectory)
        reply = (
            trajectory.steps[-1].replies[-1].text if search.selected and not trajectory.setup.settings.actions else None
        )
        response = reply or ("" if search.selected is None else search.selected.title)
        reason = "" if trajectory.ending is None else trajectory.ending.reason or ""
        return Prediction(
            example=example.id,
            scope=self.scope,
            response=None if search.technical else response,
            paper_search=search,
            model=self.model,
            usage=trajectory.usage,
            seconds=trajectory.seconds,
            error=f"{search.outcome}: {reason}" if search.technical else None,
        )


def file_name(example: str) -> str:
    """Return the name of an example's trajectory, without suffix: its id where that can name a file, else a hash.

    >>> file_name("17"), len(file_name("a/b"))
    ('17', 64)
    """
    plain = _PLAIN_NAME.fullmatch(example) is not None
    return example if plain else hashlib.sha256(example.encode("utf-8", "replace")).hexdigest()


def paper_search_of(trajectory: Trajectory) -> PaperSearch:
    """Return a trajectory as evaluation reads it: actions with the papers that they showed, without texts.

    >>> paper_search_of(read_trajectory(Path("trajectory.jsonl"))).outcome
    'selected'
    """
    ending = trajectory.ending or Ending(kind="no_selection")
    known = trajectory.shown
    return PaperSearch(
        outcome=ending.kind,
        selected=None if ending.selected is None else named_paper(ending.selected),
        steps=tuple(_step(step, known) for step in trajectory.steps if not isinstance(step.action, NamePaper)),
        found=None if trajectory.steps or not trajectory.setup.settings.actions else False,
    )


def _step(step: Step, papers_by_id: Mapping[str, Paper]) -> SearchStep:
    action = step.action
    papers = step.shown
    if isinstance(action, Select) and step.error is None:
        papers = (papers_by_id[action.paper_id],)
    fields = [str(value) for key, value in action.model_dump().items() if key != "name"]
    failed = step.read if isinstance(action, Read | FindInText) and step.read != "full_text" else None
    return SearchStep(
        action=action.name,
        argument=": ".join(fields),
        rationale=step.rationale,
        papers=tuple(named_paper(paper) for paper in papers),
        problem=step.error or failed,
    )
