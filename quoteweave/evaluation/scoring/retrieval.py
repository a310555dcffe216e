"""Score what a retriever found, within the question's document and over the whole collection."""

from collections.abc import Iterable, Mapping, Sequence

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Example, Prediction, Scope
from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions, figure_names
from quoteweave.evaluation.metrics.retrieval.box_recall import Boxes
from quoteweave.evaluation.scoring.scorer import ScoringSettings, score_predictions
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.bootstrap import Intervals, bootstrap_intervals

RETRIEVAL_METRICS: Mapping[Scope, tuple[str, ...]] = {
    "document": ("page_recall", "box_coverage", "layout_recall", "gold_box_recall"),
    "collection": ("page_recall",),
}
"""The scopes in which retrieval is measured, each with its metrics by name."""
QUOTES_METRIC = "rankings"
"""What is measured of quotes too, within the document, where the gold names layout elements."""


def score_retrieval(
    examples: Sequence[Example],
    predictions: Iterable[Prediction],
    *,
    dataset: str = "",
    quote_boxes: Boxes | None = None,
    intervals: Intervals | None = bootstrap_intervals,
) -> dict[Scope, Scores]:
    """Scores of both scopes; predictions come in any order, and the last of a question and scope counts.

    A question that failed in one scope counts in the other. Where all that was found are whole pages, as in a
    collection of MMDocIR's pages, boxes are not scored: a page covers any of them. Raises DatasetError for a prediction
    of a question that is not among the examples. `quote_boxes` are the boxes of all quotes on gold pages, by document
    and page, without which the parser's ceiling is undefined.

        >>> example = Example(id="q", query=Query(text="?"), document="a.pdf", reference=Reference(pages=(2,)))
        >>> found = PageHit(rank=1, score=1.0, document="a.pdf", page=2)
        >>> scores = score_retrieval([example], [Prediction(example="q", scope="document", pages=(found,))])
        >>> scores["document"].figures["page_recall@1"].value
        1.0
    """
    made = {(prediction.scope, prediction.example): prediction for prediction in predictions}
    strangers = sorted({example for _, example in made} - {example.id for example in examples})
    if strangers:
        raise DatasetError(f"the run answers {strangers[0]!r}, which the dataset does not ask; score it with its own")
    options = MetricOptions() if quote_boxes is None else MetricOptions(quote_boxes=quote_boxes)
    pages_only = only_whole_pages(made.values())
    return {
        scope: score_predictions(
            examples,
            [prediction for (of, _), prediction in made.items() if of == scope],
            metrics=[METRICS[name](options) for name in _metrics(scope, examples, pages_only=pages_only)],
            settings=ScoringSettings(name=scope, dataset=dataset),
            intervals=intervals,
        )
        for scope in RETRIEVAL_METRICS
    }


def only_whole_pages(predictions: Iterable[Prediction]) -> bool:
    """Whether something was found, and all of it are whole pages."""
    layouts = {hit.quote.layout for prediction in predictions for hit in prediction.hits}
    return layouts == {"page"}


def _metrics(scope: Scope, examples: Sequence[Example], *, pages_only: bool) -> tuple[str, ...]:
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
    for question in (question for each in scores.values() for question in each.questions):
        if question.error is not None:
            errors.setdefault(question.example, question.error)
    return errors
