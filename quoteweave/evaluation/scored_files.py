"""Files of answers, references and judgements become scores: what `quoteweave eval score` and `reproduce` share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import Field

from quoteweave.core.chat.prices import Prices
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction, Scope
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.jsonl import is_cut_short
from quoteweave.core.messages import counted
from quoteweave.core.records import Record
from quoteweave.core.runs import PREDICTIONS, RUN, said_of
from quoteweave.evaluation.bootstrap import Intervals
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.figures import Figure, Row
from quoteweave.evaluation.interchange import load_predictions
from quoteweave.evaluation.judgements import ASPECTS, Judged, Judgement, load_judgements, malformed
from quoteweave.evaluation.matching import match, of_scope
from quoteweave.evaluation.metrics.registry import METRICS, Reading, evidence_metrics
from quoteweave.evaluation.responses import Marks
from quoteweave.evaluation.scores import Convention, RowMetric, Scores
from quoteweave.evaluation.scoring import Setting, rows_of, score, told_apart
from quoteweave.evaluation.verdicts import EvidenceVerdict, load_evidence_verdicts, request_of

OTHER: Mapping[Convention, Convention] = {"published": "strict", "strict": "published"}
USUAL_MARKS: Mapping[Convention, Marks] = {"published": "published", "strict": "own"}
"""The grammar that a convention goes with, where none is named."""

SELECTION = ("quote_selection",)
HEADLINE = (
    *("image.f1.pooled", "text.f1.pooled", "overall.f1"),
    *(f"judge.{aspect}" for aspect in (*ASPECTS, "average")),
)
"""The figures of which both conventions are told, where they differ."""


class Sources(Record):
    """What to score, and how."""

    run: Path = Field(description="a run folder, or a file of responses")
    dataset: str
    references: Path | None = Field(default=None, description="the dataset's file, or one with its gold alone")
    judgements: Path | None = Field(default=None, description="scores of answers, by `quoteweave eval judge` or others")
    citations: Path | None = Field(default=None, description="what `quoteweave eval citations` kept")
    scope: Scope | None = Field(default=None, description="of a run that searched several: which of them")
    convention: Convention = "strict"
    marks: Marks | None = Field(default=None, description="None: the grammar that goes with the convention")
    metrics: tuple[str, ...] | None = Field(default=None, description="names of METRICS; None: all of them")
    partial: bool = Field(default=False, description="whether answers to some of the questions will do")

    @property
    def grammar(self) -> Marks:
        """The marks that count as citations."""
        return self.marks or USUAL_MARKS[self.convention]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the files hold."""

    examples: Sequence[Example]
    predictions: Sequence[Prediction]
    judgements: Mapping[str, Judgement]
    citations: Mapping[str, EvidenceVerdict] = field(default_factory=dict)
    stale: int = 0
    """Verdicts on sentences that are of another response, and are left out."""


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores, with the figures and rows that they were made of."""

    scores: Scores
    figures: Mapping[str, Figure]
    rows: Sequence[Row]


def load(sources: Sources, examples: Sequence[Example] | None = None) -> Loaded:
    """What the files hold; `examples` of the same dataset and references are not read again.

    Raises DatasetError for files that cannot be read or do not belong together, UsageError for a scope that the run has
    not.
    """
    examples = examples or load_dataset(sources.dataset, sources.references)
    try:
        found = of_scope(load_predictions(sources.run), sources.scope)
        known = made_of(sources.run, sources.dataset, sources.references)
        predictions = match(examples, found, partial=sources.partial, known=known)
    except DatasetError as error:
        raise DatasetError(f"{error}{'; ' if (cut := _cut(sources.run)) else ''}{cut}") from error
    judgements = {} if sources.judgements is None else load_judgements(sources.judgements)
    citations = {} if sources.citations is None else load_evidence_verdicts(sources.citations)
    for path, judged in ((sources.judgements, judgements), (sources.citations, citations)):
        strangers = sorted(judged.keys() - {example.id for example in examples})
        if strangers:
            raise DatasetError(
                f"{path} judges {counted(len(strangers), 'answer')} to questions that {sources.dataset} does not ask, "
                f"such as {strangers[0]!r}; name the judgements of this dataset"
            )
    asked = {example.id: example for example in examples}
    of_now = {request_of(one, asked[one.example]) for one in predictions} if citations else set()
    fresh = {name: verdict for name, verdict in citations.items() if verdict.request in of_now}
    if citations and not fresh:
        raise DatasetError(f"{sources.citations} judges other answers than those of {sources.run}; judge these anew")
    return Loaded(examples, predictions, judgements, fresh, stale=len(citations) - len(fresh))


def score_loaded(
    loaded: Loaded,
    sources: Sources,
    *,
    convention: Convention | None = None,
    intervals: Intervals | None = None,
    prices: Prices = lambda _: None,
) -> Scored:
    """Scores by the convention that `sources` asks for, or by another one with the same grammar of marks.

    Figures that nothing is known for, such as those of a ranking where answers are scored, are not among the scores.
    """
    convention = convention or sources.convention
    names = METRICS if sources.metrics is None else sources.metrics
    reading = Reading(sources.grammar, convention, prices)
    metrics: list[RowMetric] = [METRICS[name](reading) for name in names]
    if loaded.judgements:
        metrics.append(Judged(loaded.judgements, convention))
    if loaded.citations:
        metrics += evidence_metrics(loaded.citations, reading)
    setting = Setting(name=sources.run.name, dataset=sources.dataset, convention=convention, marks=sources.grammar)
    scores = score(loaded.examples, loaded.predictions, metrics=metrics, setting=setting, intervals=intervals)
    return Scored(scores, {figure.name: figure for metric in metrics for figure in metric.figures}, rows_of(scores))


def notes_on(scores: Scores, loaded: Loaded, sources: Sources) -> tuple[str, ...]:
    """What a reader must know: how failures were counted, what the other convention gives, what the figures mean."""
    notes = [cut] if (cut := _cut(sources.run)) else []
    published = scores.convention == "published"
    if scores.failed:
        how = "counted as empty answers" if published else "left out"
        notes.append(f"{counted(scores.failed, 'prediction is an error', 'predictions are errors')}, {how}")
    broken = sum(malformed(judgement) for judgement in loaded.judgements.values())
    if broken:
        how = "what is missing counts 0" if published else "left out"
        notes.append(f"{counted(broken, 'malformed judgement')} (a score missing, misnamed or out of range): {how}")
    if loaded.stale:
        notes.append(f"{counted(loaded.stale, 'verdict')} on sentences of other answers than these, left out")
    if (other_dataset := _asked_of(sources.run)) not in (None, sources.dataset):
        notes.append(f"the run says that it was asked of {other_dataset}, not of {sources.dataset}")
    by_rule = any(verdict.by_rule for verdict in loaded.citations.values())
    if by_rule:
        notes.append("citation_by_rule figures are of sentences cut by rule: not comparable with published ones")
    if "mmlongbench.accuracy" in scores.figures:
        notes.append("mmlongbench figures are of short answers read by rule: not comparable with published ones")
    if scores.failed or broken:
        selection = sources.model_copy(update={"metrics": SELECTION})
        other = score_loaded(loaded, selection, convention=OTHER[scores.convention]).scores
        notes += told_apart(scores, other, [name for name in HEADLINE if name in scores.figures])
    overall, kinds = (scores.figures.get(name) for name in ("overall.f1", "overall.mean_of_kinds_f1.pooled"))
    if overall and kinds and overall.value is not None and kinds.value is not None:
        notes.append(
            f"overall.f1 ({overall.value:.4f}) is the mean over questions of the F1 on the union of image and text "
            "quotes, as MMDocRAG published it; its section 4.1 describes the mean of the image and the text F1, "
            f"overall.mean_of_kinds_f1.pooled ({kinds.value:.4f})"
        )
    if scores.marks == "own":
        notes.append("[1, 2] and [1-3] are read too: not comparable with published figures (--marks published is)")
    return tuple(notes)


def _asked_of(run: Path) -> object:
    """The dataset that a run folder says it was asked of; None where it does not say."""
    return said_of(run).configuration.get("dataset") if (run / RUN).is_file() else None


def _cut(run: Path) -> str:
    """What to say of a run that was stopped while it wrote a line; empty where it was not."""
    path = run / PREDICTIONS
    if not (path.is_file() and is_cut_short(path)):
        return ""
    return f"the last line of {path} was cut short and is not counted; resume the run to have it answered"


def made_of(run: Path, dataset: str, references: Path | None) -> bool:
    """Whether the run says itself that it answered these very references. Raises DatasetError."""
    if references is None or not references.is_file() or not (run / RUN).exists():
        return False
    said, of = said_of(run), file_sha256(references)
    return said.configuration.get("dataset") == dataset and said.fingerprints.get("references") == of
