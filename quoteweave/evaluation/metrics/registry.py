"""The metrics that need no model, by name: to make those that score a run, and to list them with their figures."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from pydantic import Field

from quoteweave.core.chat.prices import Prices
from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.bleu import Bleu
from quoteweave.evaluation.metrics.box_coverage import BoxCoverage
from quoteweave.evaluation.metrics.citation_quality import AnswerAccuracy, CitationQuality
from quoteweave.evaluation.metrics.context_recall import ContextRecall
from quoteweave.evaluation.metrics.expense import Expense
from quoteweave.evaluation.metrics.layout_recall import LayoutRecall
from quoteweave.evaluation.metrics.mmlongbench import MMLongBench
from quoteweave.evaluation.metrics.pages import PageRecall
from quoteweave.evaluation.metrics.quote_selection import QuoteSelection
from quoteweave.evaluation.metrics.rankings import Rankings
from quoteweave.evaluation.metrics.rouge import RougeL
from quoteweave.evaluation.metrics.short_answer import ShortAnswer
from quoteweave.evaluation.metrics.source_identification import SourceIdentification
from quoteweave.evaluation.metrics.source_selection import SourceSelection
from quoteweave.evaluation.responses import Marks
from quoteweave.evaluation.scores import Convention, RowMetric
from quoteweave.evaluation.verdicts import EvidenceVerdict


class Reading(NamedTuple):
    """How answers are read and counted."""

    marks: Marks = "own"
    convention: Convention = "strict"
    prices: Prices = lambda _: None
    """What models cost."""


METRICS: Mapping[str, Callable[[Reading], RowMetric]] = {
    "rankings": lambda _: Rankings(),
    "page_recall": lambda _: PageRecall(),
    "box_coverage": lambda _: BoxCoverage(),
    "layout_recall": lambda _: LayoutRecall(),
    "context_recall": lambda _: ContextRecall(),
    "quote_selection": lambda reading: QuoteSelection(reading.marks, reading.convention),
    "source_selection": lambda reading: SourceSelection(reading.marks, reading.convention),
    "source_identification": lambda _: SourceIdentification(),
    "bleu": lambda reading: Bleu(reading.marks),
    "rouge_l": lambda reading: RougeL(reading.marks),
    "short_answer": lambda reading: ShortAnswer(reading.marks),
    "mmlongbench": lambda reading: MMLongBench(reading.marks),
    "expense": lambda reading: Expense(reading.marks, reading.prices),
}
"""Name to what makes the metric. Those that need a judge, an entailment model or a splitter are made of what these
said: `evidence_metrics`."""


def evidence_metrics(verdicts: Mapping[str, EvidenceVerdict], reading: Reading) -> list[RowMetric]:
    """The metrics of what a judge said of sentences and what they cite; example to its verdict."""
    by_rule = any(verdict.by_rule for verdict in verdicts.values())
    metrics: list[RowMetric] = [
        CitationQuality(verdicts, reading.convention),
        AnswerAccuracy(verdicts, reading.convention),
    ]
    if not by_rule:
        splits = {name: verdict.cited() for name, verdict in verdicts.items() if verdict.sentences is not None}
        metrics.append(SourceSelection(reading.marks, reading.convention, splits=splits))
    return metrics


class Listed(Record):
    """One metric, as a person would look it up."""

    name: str
    figures: tuple[str, ...] = Field(description="names of the figures that it gives")
    says: str = Field(description="what it measures, in a line")


def listed() -> list[Listed]:
    """Every metric of `METRICS`, with its figures."""
    made = [make(Reading()) for make in METRICS.values()]
    return [
        Listed(name=metric.name, figures=tuple(figure.name for figure in metric.figures), says=_first_line(metric))
        for metric in made
    ]


def _first_line(metric: RowMetric) -> str:
    import sys

    return (sys.modules[type(metric).__module__].__doc__ or "").partition("\n")[0]
