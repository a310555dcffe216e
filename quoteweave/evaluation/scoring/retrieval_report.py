"""Predictions of a retriever become rows, and rows become a report. Nothing is searched here."""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Record
from quoteweave.core.runs import Key
from quoteweave.evaluation.metrics.metric import Metric
from quoteweave.evaluation.metrics.retrieval.box_coverage import BoxCoverage
from quoteweave.evaluation.metrics.retrieval.page_recall import PageRecall
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row
from quoteweave.evaluation.statistics.bootstrap import Interval, clustered_interval


class QuestionRow(Record):
    """The figures of one question. A scope is None where its search failed or was not made."""

    example: str
    document: str | None
    evidence_types: tuple[str, ...]
    in_document: Row | None = Field(description="page recall and box coverage, searching the question's own document")
    collection: Row | None = Field(description="page recall, searching the whole collection")
    error: str | None = Field(default=None, description="why a search failed")


class Scores(Record):
    """The figures of one scope over some questions; each mapping is by figure, such as `page_recall@5`."""

    n: int = Field(ge=0, description="questions scored; failed ones are not among them")
    mean_over_questions: Mapping[str, float | None] = Field(description="fractions; None where never defined")
    undefined: Mapping[str, int] = Field(description="questions where the figure is undefined, left out of its mean")
    intervals: Mapping[str, Interval | None] = Field(description="95 %, documents resampled")


class Group(Record):
    """The figures of a group of questions, in both scopes."""

    n: int = Field(ge=0, description="questions, failed ones included")
    in_document: Scores
    collection: Scores


class RetrievalReport(Record):
    """What a retriever scored. A question with several evidence types counts in the group of each."""

    rows: tuple[QuestionRow, ...]
    failed: int = Field(ge=0, description="questions of which a search failed")
    overall: Group
    by_evidence_type: Mapping[str, Group]

    def in_document(self, figure: str) -> list[float | None]:
        """One figure of every question within its document, in order; None where undefined or failed."""
        return [None if row.in_document is None else row.in_document.get(figure) for row in self.rows]


def score_retrieval(examples: Sequence[Example], predictions: Iterable[Prediction]) -> RetrievalReport:
    """Scores saved or fresh predictions, of one or both scopes, in any order; the last of a question and scope counts.

    Raises DatasetError for a prediction of a question that is not among the examples.
    """
    made = {(prediction.example, prediction.scope): prediction for prediction in predictions}
    strangers = sorted({example for example, _ in made} - {example.id for example in examples})
    if strangers:
        raise DatasetError(f"the run answers {strangers[0]!r}, which the dataset does not ask; score it with its own")
    pages, boxes = PageRecall(), BoxCoverage()
    rows = [_row(example, made, (pages, boxes), (pages,)) for example in examples]
    types = sorted({name for example in examples for name in example.evidence_types})
    near, far = (*pages.aggregates, *boxes.aggregates), pages.aggregates
    return RetrievalReport(
        rows=tuple(rows),
        failed=sum(row.error is not None for row in rows),
        overall=_group(rows, near, far),
        by_evidence_type={
            name: _group([row for row in rows if name in row.evidence_types], near, far) for name in types
        },
    )


def _row(
    example: Example,
    made: Mapping[Key, Prediction],
    near_metrics: Sequence[Metric],
    far_metrics: Sequence[Metric],
) -> QuestionRow:
    near, far = made.get((example.id, "document")), made.get((example.id, "collection"))
    errors = [prediction.error for prediction in (near, far) if prediction and prediction.error is not None]
    return QuestionRow(
        example=example.id,
        document=example.document,
        evidence_types=example.evidence_types,
        in_document=_figures(near, example, near_metrics),
        collection=_figures(far, example, far_metrics),
        error=errors[0] if errors else None,
    )


def _figures(prediction: Prediction | None, example: Example, metrics: Sequence[Metric]) -> Row | None:
    if prediction is None or prediction.error is not None:
        return None
    row: dict[str, float | None] = {}
    for metric in metrics:
        row |= metric.row(prediction, example)
    return row


def _group(rows: Sequence[QuestionRow], near: Sequence[Aggregate], far: Sequence[Aggregate]) -> Group:
    return Group(
        n=len(rows),
        in_document=_scores([(row, row.in_document) for row in rows], near),
        collection=_scores([(row, row.collection) for row in rows], far),
    )


def _scores(rows: Sequence[tuple[QuestionRow, Row | None]], figures: Sequence[Aggregate]) -> Scores:
    scored = [(question.document or question.example, row) for question, row in rows if row is not None]
    clusters = [cluster for cluster, _ in scored]
    found = [row for _, row in scored]
    return Scores(
        n=len(found),
        mean_over_questions={figure.name: figure.of(found) for figure in figures},
        undefined={figure.name: figure.undefined(found) for figure in figures},
        intervals={
            figure.name: clustered_interval([row.get(figure.name) for row in found], clusters) for figure in figures
        },
    )
