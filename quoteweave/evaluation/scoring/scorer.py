"""Score predictions: a row for each question, then aggregates, by one of two conventions (`metrics.metric.Convention`).

An error does not count as a wrong answer by `strict`, and counts as an empty answer by `published`. An answer that
abstains is not a failure, but its sentence has no words to compare with gold: `strict` leaves it out of the metrics
that do so (those with `compares_words`) and counts it; `published` compares it like any other.

Retrieval is scored within the question's document and over the whole collection (`score_retrieval`).
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.examples import Example, Prediction, Scope
from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.box_recall import Boxes
from quoteweave.evaluation.metrics.metric import Convention, Metric
from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions, figure_names
from quoteweave.evaluation.scoring.breakdowns import breakdowns, groups_of
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, check_finite, correlation_of, mean_over_domains
from quoteweave.evaluation.statistics.intervals import Estimate, Intervals, cluster_intervals, estimates
from quoteweave.evaluation.text.abstentions import only_abstains
from quoteweave.evaluation.text.responses import MarkGrammar

QUOTE_F1 = "overall.f1"
CORRELATED = ("judge.average", "bleu", "rouge_l.f1")
CORRELATIONS = tuple(correlation_of(QUOTE_F1, column, f"correlation.{column}") for column in CORRELATED)
"""Pearson's r, over questions, of the F1 on all quotes with each score of answers, -1 to 1.

MMDocRAG (arXiv 2505.16470, appendices B.4 and B.5) finds the two correlated, by domain and by question type; it prints
no coefficient, and does not say which coefficient it means, nor whether it is over questions or over models. Here it is
over the questions of one run.
"""


WITHOUT_WORDS = ("name_paper", "choose_answer", "choose_source")
"""Tasks for which metrics that compare words are not computed: their answers are titles of papers, or letters."""


class ScoringSettings(Record):
    """Names of what is scored, and the conventions to score it by.

    >>> ScoringSettings(name="mine", dataset="questions").convention
    'strict'
    """

    name: str = Field(description="what the run is called")
    dataset: str = Field(description="name of the dataset")
    convention: Convention = Field(default="strict", description="by which to count")
    marks: MarkGrammar = Field(default="own", description="which marks are read as citations")
    by: tuple[str, ...] | None = Field(default=None, description="breakdowns, as `breakdowns` takes them")


def score_predictions(
    examples: Sequence[Example],
    predictions: Sequence[Prediction],
    *,
    metrics: Sequence[Metric],
    settings: ScoringSettings,
    intervals: Intervals | None = None,
) -> Scores:
    """Score predictions by `metrics`, which are made for the same convention as `settings`.

    There is at most one prediction for an example, and each belongs to one of `examples`; examples without one are
    counted as `missing`, and count in no figure by either convention. Intervals, if requested, are over documents; a
    question without a known document counts as one. Raises UsageError for a metric that gives NaN or an infinity.

        >>> examples = load_dataset("mmdocrag-20", Path("gold.jsonl"))
        >>> predictions = load_predictions(Path("theirs.jsonl"))
        >>> metrics = [METRICS["quote_selection"](MetricOptions())]
        >>> settings = ScoringSettings(name="theirs", dataset="mmdocrag-20")
        >>> score_predictions(examples, predictions, metrics=metrics, settings=settings).figures["overall.f1"].value
        0.5
    """
    by_example = {prediction.example: prediction for prediction in predictions}
    wordless = {unanswered.example for unanswered in filter(does_not_answer, predictions)}  # once, as this is slow
    questions = [
        _question(example, by_example[example.id], metrics, convention=settings.convention, wordless=wordless)
        for example in examples
        if example.id in by_example
    ]
    counted = [question for question in questions if question.counts_by(settings.convention)]
    aggregates = [*(aggregate for metric in metrics for aggregate in metric.aggregates), *CORRELATIONS]
    return Scores(
        **settings.model_dump(exclude={"by"}),
        clusters="question" if all(example.cluster is None for example in examples) else "document",
        failed=sum(question.error is not None for question in questions),
        not_answered=sum(question.example in wordless for question in questions),
        missing=len(examples) - len(questions),
        figures=_figures(aggregates, counted, intervals),
        breakdowns=breakdowns(counted, aggregates, intervals, by=settings.by),
        questions=tuple(questions),
    )


def _figures(
    aggregates: Sequence[Aggregate], questions: Sequence[ScoredQuestion], intervals: Intervals | None
) -> dict[str, Estimate]:
    """Aggregates over all questions, then their means over domains."""
    rows, clusters = [question.columns() for question in questions], [question.cluster for question in questions]
    by_domain = domain_means(aggregates, questions)
    return estimates(aggregates, rows, clusters, intervals) | estimates(by_domain, rows, clusters, intervals)


def domain_means(aggregates: Iterable[Aggregate], questions: Iterable[ScoredQuestion]) -> list[Aggregate]:
    """Means over the domains of these questions, for the aggregates that are reported so; none without domains."""
    domains = sorted({question.domain for question in questions if question.domain is not None})
    return [mean_over_domains(aggregate, domains) for aggregate in aggregates if aggregate.by_domain and domains]


def _question(
    example: Example,
    prediction: Prediction,
    metrics: Sequence[Metric],
    *,
    convention: Convention,
    wordless: Container[str],
) -> ScoredQuestion:
    row: dict[str, float | None] = {}
    scored = prediction if prediction.error is None else prediction.model_copy(update={"response": ""})
    if convention == "strict":
        metrics = _strictly_computed(metrics, prediction, wordless=prediction.example in wordless)
    for metric in metrics:
        if example.task not in WITHOUT_WORDS or not _has_flag(metric, "compares_words"):
            row |= _checked(metric, metric.row(scored, example), example)
    return ScoredQuestion(
        example=example.id,
        cluster=example.cluster or example.id,
        groups=groups_of(example, prediction),
        row=row,
        error=prediction.error,
    )


def _checked(metric: Metric, row: Row, example: Example) -> Row:
    """The row. Raises UsageError for a value that is not finite, which would spoil means over all questions."""
    for column, value in row.items():
        try:
            check_finite([value])
        except ValueError as error:
            raise UsageError(
                f"metric {metric.name!r}, column {column!r} of question {example.id!r}: {error}"
            ) from error
    return row


def _strictly_computed(metrics: Sequence[Metric], prediction: Prediction, *, wordless: bool) -> list[Metric]:
    """The metrics that the strict convention computes for a prediction."""
    if prediction.error is not None:
        return [metric for metric in metrics if _has_flag(metric, "counts_failures")]
    return [metric for metric in metrics if not (wordless and _has_flag(metric, "compares_words"))]


def _has_flag(metric: Metric, flag: Literal["compares_words", "counts_failures"]) -> bool:
    """Whether a metric has this optional attribute, and sets it."""
    return bool(getattr(metric, flag, False))


def does_not_answer(prediction: Prediction) -> bool:
    """Whether its answer abstains or only shows places; for a bare response, only if it does nothing but abstain."""
    if prediction.error is not None:
        return False
    return only_abstains(prediction) if prediction.answer is None else prediction.answer.status != "answered"


def counted_rows(scores: Scores) -> list[Row]:
    """The rows from which figures were computed: of all questions if `published`, else of those that did not fail."""
    return [question.columns() for question in scores.questions if question.counts_by(scores.convention)]


def convention_differences(scores: Scores, other: Scores, figures: Sequence[str]) -> list[str]:
    """A sentence for each of the named figures that differs by the other convention, with both values."""
    shown = [(name, _show(scores.figures.get(name)), _show(other.figures.get(name))) for name in figures]
    return [
        f"{name}: {ours} by the {scores.convention} convention, {theirs} by the {other.convention} one"
        for name, ours, theirs in shown
        if ours != theirs
    ]


def _show(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "undefined"
    return f"{estimate.value:.4f} (n = {estimate.n})"


BOX_METRICS = ("box_coverage", "layout_recall", "gold_box_recall")
"""The metrics of boxes, which are not computed if only whole pages were found."""
RETRIEVAL_METRICS: Mapping[Scope, tuple[str, ...]] = {
    "document": ("page_recall", *BOX_METRICS),
    "collection": ("page_recall",),
}
"""The scopes in which retrieval is measured, each with its metrics by name."""
QUOTES_METRIC = "rankings"
"""The metric of ranked quotes, computed within the document if the gold names layout elements."""


def score_retrieval(
    examples: Sequence[Example],
    predictions: Iterable[Prediction],
    *,
    dataset: str = "",
    quote_boxes: Boxes | None = None,
    intervals: Intervals | None = cluster_intervals,
) -> dict[Scope, Scores]:
    """Score both scopes. Predictions may come in any order; the last one for a question and scope counts.

    A question that failed in one scope counts in the other. If only whole pages were found, as in a collection of
    MMDocIR's pages, boxes are not scored, because a page covers any of them. Raises DatasetError for a prediction
    of a question that is not among the examples. `quote_boxes` are the boxes of all quotes on gold pages, by document
    and page, without which the parser's ceiling is undefined.

        >>> example = Example(id="q", query=Query(text="?"), document="a.pdf", reference=Reference(pages=(2,)))
        >>> found = PageHit(rank=1, score=1.0, document="a.pdf", page=2)
        >>> scores = score_retrieval([example], [Prediction(example="q", scope="document", pages=(found,))])
        >>> scores["document"].figures["page_recall@1"].value
        1.0
    """
    by_scope_and_example = {(prediction.scope, prediction.example): prediction for prediction in predictions}
    unknown = sorted({example for _, example in by_scope_and_example} - {example.id for example in examples})
    if unknown:
        raise DatasetError(
            f"the run answers {unknown[0]!r}, which the dataset does not have; score the run with its own"
        )
    options = MetricOptions() if quote_boxes is None else MetricOptions(quote_boxes=quote_boxes)
    pages_only = only_whole_pages(by_scope_and_example.values())
    return {
        scope: score_predictions(
            examples,
            [prediction for (of, _), prediction in by_scope_and_example.items() if of == scope],
            metrics=[METRICS[name](options) for name in _retrieval_metrics(scope, examples, pages_only=pages_only)],
            settings=ScoringSettings(name=scope, dataset=dataset),
            intervals=intervals,
        )
        for scope in RETRIEVAL_METRICS
    }


def only_whole_pages(predictions: Iterable[Prediction]) -> bool:
    """Whether something was found, and all of it is whole pages."""
    layouts = {hit.quote.layout for prediction in predictions for hit in prediction.hits}
    return layouts == {"page"}


def _retrieval_metrics(scope: Scope, examples: Sequence[Example], *, pages_only: bool) -> tuple[str, ...]:
    if pages_only:
        return ("page_recall",)
    quotes = scope == "document" and any(example.reference.layouts for example in examples)
    return (*RETRIEVAL_METRICS[scope], *((QUOTES_METRIC,) if quotes else ()))


def retrieval_figures(scope: Scope) -> tuple[str, ...]:
    """Names of the figures of a scope, whether they are defined in a run or not."""
    metrics = (METRICS[name](MetricOptions()) for name in RETRIEVAL_METRICS[scope])
    return tuple(name for metric in metrics for name in figure_names(metric))


def search_errors(scores: Mapping[Scope, Scores]) -> dict[str, str]:
    """Why the search of a question failed in any scope, by question."""
    errors: dict[str, str] = {}
    for question in (question for scope_scores in scores.values() for question in scope_scores.questions):
        if question.error is not None:
            errors.setdefault(question.example, question.error)
    return errors
