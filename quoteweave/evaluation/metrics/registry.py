"""The metrics that need no model, by name: to make those that score a run, and to list them with their figures."""

from collections.abc import Callable, Mapping

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.bleu import Bleu
from quoteweave.evaluation.metrics.box_coverage import BoxCoverage
from quoteweave.evaluation.metrics.expense import Expense
from quoteweave.evaluation.metrics.layout_recall import LayoutRecall
from quoteweave.evaluation.metrics.pages import PageRecall
from quoteweave.evaluation.metrics.quote_selection import QuoteSelection
from quoteweave.evaluation.metrics.rankings import Rankings
from quoteweave.evaluation.metrics.rouge import RougeL
from quoteweave.evaluation.metrics.short_answer import ShortAnswer
from quoteweave.evaluation.responses import Marks
from quoteweave.evaluation.scores import Convention, RowMetric

METRICS: Mapping[str, Callable[[Marks, Convention], RowMetric]] = {
    "rankings": lambda _marks, _convention: Rankings(),
    "page_recall": lambda _marks, _convention: PageRecall(),
    "box_coverage": lambda _marks, _convention: BoxCoverage(),
    "layout_recall": lambda _marks, _convention: LayoutRecall(),
    "quote_selection": QuoteSelection,
    "bleu": lambda marks, _: Bleu(marks),
    "rouge_l": lambda marks, _: RougeL(marks),
    "short_answer": lambda marks, _: ShortAnswer(marks),
    "expense": lambda marks, _: Expense(marks),
}
"""Name to what makes the metric for a grammar of marks and a convention. Those that need a judge, an entailment
model or a splitter are made where these are handed in."""


class Listed(Record):
    """One metric, as a person would look it up."""

    name: str
    figures: tuple[str, ...] = Field(description="names of the figures that it gives")
    says: str = Field(description="what it measures, in a line")


def listed() -> list[Listed]:
    """Every metric of `METRICS`, with its figures."""
    made = [make("own", "strict") for make in METRICS.values()]
    return [
        Listed(name=metric.name, figures=tuple(figure.name for figure in metric.figures), says=_first_line(metric))
        for metric in made
    ]


def _first_line(metric: RowMetric) -> str:
    import sys

    return (sys.modules[type(metric).__module__].__doc__ or "").partition("\n")[0]
