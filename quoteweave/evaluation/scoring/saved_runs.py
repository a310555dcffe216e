"""Score a saved run or response file with its references and judgements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import Field

from quoteweave.core.chat.usage import PriceLookup
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction, Scope
from quoteweave.core.files.jsonl import iter_lines
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.citevqa import load_citevqa_judgements
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict, current_verdicts, load_evidence_verdicts
from quoteweave.evaluation.judges.judgements import ASPECTS, Judgement, load_judgements
from quoteweave.evaluation.metrics.answers.judge_scores import AttributedAccuracy, JudgeScores
from quoteweave.evaluation.metrics.metric import Convention, Metric
from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions, evidence_metrics
from quoteweave.evaluation.scoring.breakdowns import check_breakdowns
from quoteweave.evaluation.scoring.comparison import Comparison, compare_scores
from quoteweave.evaluation.scoring.matching import (
    check_judged,
    dataset_notes,
    match_run,
    other_references,
    select_scope,
)
from quoteweave.evaluation.scoring.notes import (
    WORD_FIGURES,
    answer_notes,
    box_notes,
    failed_verdict_notes,
    figure_notes,
    judgement_notes,
    missing_verdict_notes,
    ranking_notes,
    search_notes,
    stale_verdicts_note,
    truncation_note,
)
from quoteweave.evaluation.scoring.scorer import (
    BOX_METRICS,
    CORRELATIONS,
    WITHOUT_WORDS,
    ScoringSettings,
    convention_differences,
    counted_rows,
    domain_means,
    only_whole_pages,
    score_predictions,
)
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row
from quoteweave.evaluation.statistics.intervals import Estimate, Intervals, cluster_intervals
from quoteweave.evaluation.text.responses import MarkGrammar

OTHER_CONVENTION: Mapping[Convention, Convention] = {"published": "strict", "strict": "published"}
DEFAULT_GRAMMAR: Mapping[Convention, MarkGrammar] = {"published": "published", "strict": "own"}
"""The grammar of marks that each convention uses by default."""

QUOTE_SELECTION_ONLY = ("quote_selection",)
HEADLINE = (
    *("image.f1.pooled", "text.f1.pooled", "overall.f1"),
    *(f"judge.{aspect}" for aspect in (*ASPECTS, "average")),
    *("bleu", "rouge_l.f1", "exact_match", "token_f1"),
    *("title_match", "title_match.exact", "identifier_match", "target_found", "target_found.exact"),
    *("source_by_rule.f1", "source_by_rule.exact_match", "citation.f1.cited", "source.f1", "source.exact_match"),
    *("accuracy", "str_em", "str_em.hit", "rouge_lsum"),
    *(f"citevqa.{figure}" for figure in ("recall", "page_recall", "precision", "f1", "relevance", "answer", "saa")),
)
"""Figures whose values by both conventions are reported if they differ."""
BOTH_CONVENTIONS = tuple(
    name
    for name, make in METRICS.items()
    if any(aggregate.name in HEADLINE for aggregate in make(MetricOptions()).aggregates)
)
"""Names of the metrics with such figures, besides those of judges."""
COMPARED = (
    *("overall.f1", "image.f1.pooled", "text.f1.pooled", "judge.average", "context.recall"),
    "cited_pages.hit",
    *("source.f1", "source_by_rule.f1", "citation.f1.cited", "citation_by_rule.f1.cited", "accuracy"),
    *("mmlongbench.accuracy", "mmlongbench.f1.pooled", "citevqa.recall", "citevqa.f1", "citevqa.saa", "title_match"),
    *("str_em", "rouge_lsum"),
    *("source_identification", "answer_choice", "page_recall@1", "page_recall@5", "ndcg@10", "recall@10"),
)
"""The figures by which runs are compared by default: the first that all runs have, if any run defines them."""
MAX_COMPARED = 6


class ScoringRequest(Record):
    """A saved run to score: its files, and how to read and count them.

    >>> request = ScoringRequest(run="ours.jsonl", dataset="mmdocrag-20", references="gold.jsonl")
    >>> request.convention, request.grammar
    ('strict', 'own')
    """

    run: Path = Field(description="a run folder, or a file of responses")
    dataset: str = Field(description="name of the dataset")
    references: Path | None = Field(default=None, description="the dataset's file, or one with its gold alone")
    judgements: Path | None = Field(default=None, description="scores of answers, by `quoteweave eval judge` or others")
    citations: Path | None = Field(default=None, description="what `quoteweave eval citations` kept")
    scope: Scope | None = Field(default=None, description="of a run that searched several: which of them")
    convention: Convention = Field(default="strict", description="by which to count")
    marks: MarkGrammar | None = Field(default=None, description="None: the grammar that goes with the convention")
    metrics: tuple[str, ...] | None = Field(default=None, description="names of METRICS; None: all of them")
    by: tuple[str, ...] | None = Field(
        default=None, description="breakdowns, of which two may be crossed (`domain,evidence`); None: every single one"
    )
    partial: bool = Field(default=False, description="whether answers to some of the questions will do")

    @property
    def grammar(self) -> MarkGrammar:
        """The marks that count as citations."""
        return self.marks or DEFAULT_GRAMMAR[self.convention]


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """The contents of a run's files, matched with each other."""

    examples: Sequence[Example]
    predictions: Sequence[Prediction]
    judgements: Mapping[str, Judgement]
    citations: Mapping[str, EvidenceVerdict] = field(default_factory=dict)
    stale: int = 0
    """How many verdicts on sentences belong to another response, and are left out."""

    @property
    def cites_boxes(self) -> bool:
        """Whether the dataset asks for boxes as evidence, so that a judge scores answer and relevance."""
        return any(example.documents for example in self.examples)


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """Scores, with the aggregates and rows they were computed from.

    >>> run = score(ScoringRequest(run="theirs.jsonl", dataset="mmdocrag-20", references="gold.jsonl"))
    >>> run.scores.name, len(run.rows), run.figures["overall.f1"].value
    ('theirs.jsonl', 4, 0.5)

    Fields:
        scores: figures by group
        aggregates: every figure, by its name
        rows: the row of each question
    """

    scores: Scores
    aggregates: Mapping[str, Aggregate]
    rows: Sequence[Row]

    @property
    def figures(self) -> Mapping[str, Estimate]:
        """The figures of the run, by name."""
        return self.scores.figures


def score(
    request: ScoringRequest,
    *,
    examples: Sequence[Example] | None = None,
    intervals: Intervals | None = cluster_intervals,
    prices: PriceLookup = lambda _: None,
) -> ScoredRun:
    """Load a saved run and score it, with intervals and the notes that a reader needs.

    `examples` of the same dataset and references are not read again; `intervals=None` is faster if none are needed;
    `prices` looks up models' prices. Raises DatasetError for files that cannot be read or do not belong together,
    UsageError for a scope that the run does not have, and for unknown names of metrics or breakdowns.

        >>> request = ScoringRequest(run="ours.jsonl", dataset="mmdocrag-20", references="gold.jsonl")
        >>> run = score(request)
        >>> run.figures["overall.f1"].value
        1.0
    """
    loaded = load_run(request, examples)
    scored = score_run(loaded, request, intervals=intervals, prices=prices)
    headline = any(name in scored.figures for name in HEADLINE)
    notes = scoring_notes(scored.scores, score_otherwise(loaded, request) if headline else None, loaded, request)
    return replace(scored, scores=scored.scores.model_copy(update={"notes": notes}))


def compare(runs: Sequence[ScoredRun], figures: Sequence[str] | None = None) -> tuple[Comparison, ...]:
    """Compare every pair of runs by the named figures, else by the first of `COMPARED` that all have.

    Returns nothing for fewer than two runs.

    Raises UsageError for a figure that the runs do not have, DatasetError for runs that were not scored alike.

        >>> ours, theirs = (
        ...     score(ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl"), intervals=None)
        ...     for run in ("ours.jsonl", "theirs.jsonl")
        ... )
        >>> (found,) = compare([ours, theirs], ["overall.f1"])
        >>> found.first_value, found.second_value, found.difference
        (1.0, 0.5, 0.5)
    """
    if not runs:
        return ()
    known = runs[0].aggregates
    for name in figures or ():
        if name not in known:
            raise UsageError(f"there is no figure {name!r}; there are: {', '.join(known)}")
    aggregates = [known[name] for name in figures or compared_figures([run.scores for run in runs])]
    return compare_scores([run.scores for run in runs], aggregates)


def compared_figures(runs: Sequence[Scores]) -> list[str]:
    """The names of the figures by which runs are compared if nobody says which: at most `MAX_COMPARED`."""
    shared = [name for name in COMPARED if all(name in run.figures for run in runs)]
    return [name for name in shared if any(run.figures[name].value is not None for run in runs)][:MAX_COMPARED]


def load_run(request: ScoringRequest, examples: Sequence[Example] | None = None) -> LoadedRun:
    """Load a run with its references and judgements; `examples` of the same dataset and references are not read again.

    Raises DatasetError for files that cannot be read or do not belong together, UsageError for a scope that the run
    does not have.
    """
    examples = examples or load_dataset(request.dataset, request.references)
    try:
        scope_predictions = select_scope(load_predictions(request.run), request.scope)
        references, partial = request.references, request.partial
        predictions = match_run(request.run, request.dataset, references, examples, scope_predictions, partial=partial)
    except DatasetError as error:
        messages = (
            str(error),
            other_references(request.run, request.dataset, request.references),
            truncation_note(request.run),
        )
        raise DatasetError("; ".join(filter(None, messages))) from error
    if request.judgements is not None:
        check_judged(request.run, request.judgements)
    judgements = {} if request.judgements is None else _load_judgements(request.judgements)
    citations = {} if request.citations is None else load_evidence_verdicts(request.citations)
    for path, judged in ((request.judgements, judgements), (request.citations, citations)):
        unknown = sorted(judged.keys() - {example.id for example in examples})
        if unknown:
            raise DatasetError(
                f"{path} judges {pluralize(len(unknown), 'answer')} to questions that {request.dataset} does not "
                f"ask, such as {unknown[0]!r}; name the judgements of this dataset"
            )
    fresh = current_verdicts(citations, predictions, examples)
    if citations and not fresh:
        raise DatasetError(f"{request.citations} judges other answers than those of {request.run}; judge these anew")
    return LoadedRun(examples, predictions, judgements, fresh, stale=len(citations) - len(fresh))


def score_run(
    loaded: LoadedRun,
    request: ScoringRequest,
    *,
    convention: Convention | None = None,
    intervals: Intervals | None = None,
    prices: PriceLookup = lambda _: None,
) -> ScoredRun:
    """Score a loaded run by the convention of `request`, or by another one with the same grammar of marks.

    Figures without data, such as those of a ranking if answers are scored, are not among the scores.
    """
    check_breakdowns(request.by or ())
    convention = convention or request.convention
    names = _default_metrics(loaded) if request.metrics is None else request.metrics
    if unknown := [name for name in names if name not in METRICS]:
        raise UsageError(f"there is no metric {unknown[0]!r}; there are: {', '.join(METRICS)}")
    options = MetricOptions(request.grammar, convention, prices)
    metrics: list[Metric] = [METRICS[name](options) for name in names]
    if loaded.judgements:
        judged = AttributedAccuracy if loaded.cites_boxes else JudgeScores
        metrics.append(judged(loaded.judgements, convention))
    if loaded.citations:
        metrics += evidence_metrics(loaded.citations, options)
    settings = ScoringSettings(
        name=request.run.name,
        dataset=request.dataset,
        convention=convention,
        marks=request.grammar,
        by=request.by,
    )
    scores = score_predictions(
        loaded.examples, loaded.predictions, metrics=metrics, settings=settings, intervals=intervals
    )
    aggregates = [*(aggregate for metric in metrics for aggregate in metric.aggregates), *CORRELATIONS]
    by_name = {aggregate.name: aggregate for aggregate in [*aggregates, *domain_means(aggregates, scores.questions)]}
    return ScoredRun(scores, by_name, counted_rows(scores))


def _default_metrics(loaded: LoadedRun) -> Sequence[str]:
    """All metrics, without those of boxes if only whole pages were found, which cover any box."""
    return [name for name in METRICS if name not in BOX_METRICS or not only_whole_pages(loaded.predictions)]


def score_otherwise(loaded: LoadedRun, request: ScoringRequest) -> Scores:
    """Score a loaded run by the convention that `request` does not name, as far as the two can differ."""
    selection = request.model_copy(update={"metrics": BOTH_CONVENTIONS, "by": ()})
    return score_run(loaded, selection, convention=OTHER_CONVENTION[request.convention]).scores


def scoring_notes(scores: Scores, other: Scores | None, loaded: LoadedRun, request: ScoringRequest) -> tuple[str, ...]:
    """Notes for readers: how failures were counted, what the other convention gives, what is not comparable.

    `other` are the scores by the other convention; None if there is no headline figure to compare.
    """
    notes = [note] if (note := truncation_note(request.run)) else []
    for path, judged in ((request.judgements, loaded.judgements), (request.citations, loaded.citations)):
        notes += [] if path is None else missing_verdict_notes(path, judged, loaded.predictions)
    published = scores.convention == "published"
    if scores.failed:
        how = "counted as empty answers" if published else "left out"
        notes.append(f"{pluralize(scores.failed, 'prediction is an error', 'predictions are errors')}, {how}")
    notes += failed_verdict_notes(loaded.citations.values(), scores.convention)
    notes += judgement_notes(loaded.judgements.values(), scores.convention, of_boxes=loaded.cites_boxes)
    if loaded.stale:
        notes.append(stale_verdicts_note(loaded.stale))
    notes += dataset_notes(request.run, request.dataset, request.references, loaded.examples, loaded.predictions)
    by_rule = any(verdict.by_rule for verdict in loaded.citations.values())
    if by_rule:
        notes.append("citation_by_rule figures are of sentences cut by rule: not comparable with published ones")
    if "mmlongbench.accuracy" in scores.figures:
        notes.append("mmlongbench figures are of short answers read by rule: not comparable with published ones")
    notes += box_notes(scores, loaded.examples)
    notes += search_notes(loaded.examples, loaded.predictions, scores.convention)
    notes += answer_notes(scores, loaded.examples, loaded.predictions, request.grammar)
    if other is not None:
        compared = scores.figures.keys() - (set(WORD_FIGURES) - other.figures.keys())
        notes += convention_differences(scores, other, [name for name in HEADLINE if name in compared])
    notes += figure_notes(scores, request.by or ())
    notes += ranking_notes(loaded.examples, loaded.predictions)
    answered = any(prediction.response is not None or prediction.error is not None for prediction in loaded.predictions)
    if scores.marks == "own" and answered and any(example.task not in WITHOUT_WORDS for example in loaded.examples):
        notes.append("[1, 2] and [1-3] are read too: not comparable with published figures (--marks published is)")
    return tuple(notes)


def _load_judgements(path: Path) -> dict[str, Judgement]:
    """Judgements, one per line, or the scores in a list that CiteVQA's code wrote. Raises DatasetError."""
    first = next(iter_lines(path), (0, b""))[1]
    return load_citevqa_judgements(path) if first.lstrip().startswith(b"[") else load_judgements(path)
