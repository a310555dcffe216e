"""The metrics that need no model, by name. `scoring.saved_runs` adds those over stored verdicts of judges."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from pydantic import Field

from quoteweave.core.chat.usage import PriceLookup
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict
from quoteweave.evaluation.metrics.answers.alce_correctness import AlceCorrectness
from quoteweave.evaluation.metrics.answers.bleu import Bleu
from quoteweave.evaluation.metrics.answers.expense import Expense, Latency
from quoteweave.evaluation.metrics.answers.mmlongbench import MMLongBench
from quoteweave.evaluation.metrics.answers.paper_search import PaperSearches
from quoteweave.evaluation.metrics.answers.rouge import RougeL
from quoteweave.evaluation.metrics.answers.short_answer import ShortAnswer
from quoteweave.evaluation.metrics.answers.source_identification import AnswerChoice, SourceIdentification
from quoteweave.evaluation.metrics.answers.title_match import TitleMatch
from quoteweave.evaluation.metrics.box_recall import BoxCoverage, Boxes, GoldBoxRecall, LayoutRecall
from quoteweave.evaluation.metrics.citations.citation_quality import AnswerAccuracy, CitationQuality, read_as_published
from quoteweave.evaluation.metrics.citations.cited_pages import CitedPages
from quoteweave.evaluation.metrics.citations.citevqa import CiteVqa
from quoteweave.evaluation.metrics.citations.quote_selection import QuoteSelection
from quoteweave.evaluation.metrics.citations.source_selection import SourceSelection
from quoteweave.evaluation.metrics.metric import Convention, Metric
from quoteweave.evaluation.metrics.rankings import ContextRecall, PageRecall, Rankings
from quoteweave.evaluation.statistics.aggregates import DOMAIN_MEAN
from quoteweave.evaluation.text.responses import MarkGrammar


class MetricOptions(NamedTuple):
    """How metrics read and count answers.

    >>> METRICS["quote_selection"](MetricOptions(marks="published", convention="published")).name
    'quote_selection'

    Fields:
        marks: which marks are read as citations
        convention: the convention by which to count
        prices: the prices of models
        quote_boxes: the boxes of a collection's quotes by document and page, for the parser's ceiling
    """

    marks: MarkGrammar = "own"
    convention: Convention = "strict"
    prices: PriceLookup = lambda _: None
    quote_boxes: Boxes = MappingProxyType({})


METRICS: Mapping[str, Callable[[MetricOptions], Metric]] = {
    "rankings": lambda _: Rankings(),
    "page_recall": lambda _: PageRecall(),
    "box_coverage": lambda _: BoxCoverage(),
    "layout_recall": lambda _: LayoutRecall(),
    "gold_box_recall": lambda options: GoldBoxRecall(options.quote_boxes),
    "context_recall": lambda _: ContextRecall(),
    "quote_selection": lambda options: QuoteSelection(options.marks, options.convention),
    "source_selection": lambda options: SourceSelection(options.marks, options.convention),
    "cited_pages": lambda _: CitedPages(),
    "citevqa": lambda options: CiteVqa(options.convention),
    "source_identification": lambda _: SourceIdentification(),
    "answer_choice": lambda _: AnswerChoice(),
    "title_match": lambda options: TitleMatch(options.convention),
    "paper_search": lambda options: PaperSearches(options.convention),
    "bleu": lambda options: Bleu(options.marks, options.convention),
    "rouge_l": lambda options: RougeL(options.marks, options.convention),
    "alce_correctness": lambda options: AlceCorrectness(options.marks, options.convention),
    "short_answer": lambda options: ShortAnswer(options.marks),
    "mmlongbench": lambda options: MMLongBench(options.marks),
    "expense": lambda options: Expense(options.marks, options.prices),
    "latency": lambda _: Latency(),
}
"""Name to factory. `evidence_metrics` makes the metrics that need verdicts of a judge."""


def evidence_metrics(verdicts: Mapping[str, EvidenceVerdict], options: MetricOptions) -> list[Metric]:
    """The metrics of a judge's verdicts on cited sentences; `verdicts` are by example."""
    by_rule = any(verdict.by_rule for verdict in verdicts.values())
    metrics: list[Metric] = [
        CitationQuality(verdicts, options.convention),
        AnswerAccuracy(verdicts, options.convention),
    ]
    if not by_rule:
        splits: dict[str, Iterable[str]] = {
            name: verdict.cited() for name, verdict in verdicts.items() if verdict.sentences is not None
        }
        if options.convention == "published":
            responses = {name: read_as_published(verdict) for name, verdict in verdicts.items()}
            splits = {name: response.cited for name, response in responses.items() if response is not None}
        metrics.append(SourceSelection(options.marks, options.convention, splits=splits))
    return metrics


class MetricInfo(Record):
    """A metric's name, figures and description."""

    name: str
    figures: tuple[str, ...] = Field(description="names of the figures that it gives")
    says: str = Field(description="what it measures, in a line")


def list_metrics() -> list[MetricInfo]:
    """Every metric of `METRICS`, with its figures.

    >>> next(metric for metric in list_metrics() if metric.name == "short_answer").figures
    ('exact_match', 'token_f1')
    """
    metrics = [make(MetricOptions()) for make in METRICS.values()]
    return [MetricInfo(name=metric.name, figures=figure_names(metric), says=_first_line(metric)) for metric in metrics]


def figure_names(metric: Metric) -> tuple[str, ...]:
    """The figures of a metric, followed by those that are also reported as means over domains."""
    names = [aggregate.name for aggregate in metric.aggregates]
    by_domain = [f"{aggregate.name}{DOMAIN_MEAN}" for aggregate in metric.aggregates if aggregate.by_domain]
    return (*names, *by_domain)


def _first_line(metric: Metric) -> str:
    import sys

    return (sys.modules[type(metric).__module__].__doc__ or "").partition("\n")[0]
