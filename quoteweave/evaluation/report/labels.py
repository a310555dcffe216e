"""Labels and units of figures in reports, and which of two values is better."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from quoteweave.evaluation.judges.judgements import ASPECTS
from quoteweave.evaluation.scoring.breakdowns import CROSSED
from quoteweave.evaluation.statistics.aggregates import half_up

UNDEFINED = "–"
MAIN = (
    *("overall.f1", "source.f1", "source_by_rule.f1", "mmlongbench.accuracy", "citevqa.recall", "title_match"),
    *("source_identification", "answer_choice", "str_em", "cited_pages.hit"),
    *("token_f1", "rouge_l.f1"),
    *("page_recall@5", "recall@5"),
)
"""The main figure for plots and breakdowns is the first of these that the runs have."""

SELECTION = {
    **{f"overall.{ratio}": f"overall {short}" for ratio, short in (("precision", "P"), ("recall", "R"), ("f1", "F1"))},
    **{
        f"{kind}.{ratio}.pooled": f"{kind} {short}"
        for kind in ("image", "text")
        for ratio, short in (("precision", "P"), ("recall", "R"), ("f1", "F1"))
    },
}
SOURCES = {
    **{"citation.f1.cited": "citation F1", "citation.recall.cited": "citation R", "citation.precision": "citation P"},
    **{"source.f1": "source F1", "source.recall": "source R", "source.precision": "source P"},
    **{"source.exact_match": "sources, exact match", "accuracy": "accuracy"},
    **{"source_by_rule.f1": "source F1, by rule", "source_by_rule.exact_match": "exact match, by rule"},
    **{"source_identification": "right source", "answer_choice": "right answer"},
}
"""Figures of MCiteBench (arXiv 2503.02589, Tables 2 and 3)."""
JUDGE = {
    **{f"judge.{aspect}": aspect.replace("_", " ").replace("text image", "text–image") for aspect in ASPECTS},
    "judge.average": "average",
}
ANSWERS = {
    **{"rouge_l.f1": "ROUGE-L F1", "bleu": "BLEU", "token_f1": "token F1", "exact_match": "exact match"},
    **{"cited_pages.hit": "gold page cited", "cited_pages.precision": "cited pages, precision"},
    **{"citevqa.recall": "boxes, recall", "citevqa.page_recall": "boxes, page recall"},
    **{"citevqa.precision": "boxes, precision", "citevqa.f1": "boxes, F1"},
    **{"citevqa.ceiling.parser": "boxes, parser's ceiling", "citevqa.ceiling.context": "boxes, context's ceiling"},
    **{"citevqa.answer": "judged answer", "citevqa.relevance": "judged evidence", "citevqa.saa": "attributed accuracy"},
    **{"mmlongbench.accuracy": "short answers, accuracy", "mmlongbench.f1.pooled": "short answers, F1"},
    **{"str_em": "short answers held", "str_em.hit": "all of them held", "rouge_lsum": "ROUGE-Lsum"},
    **{"words": "words", "tokens.input": "tokens in", "tokens.output": "tokens out"},
    **{"usd": "US dollars", "usd.total": "US dollars", "seconds": "seconds", "seconds.total": "seconds"},
}
SEARCHES = {
    **{"title_match": "title match", "title_match.exact": "equal titles", "identifier_match": "identifiers"},
    **{"target_found": "target found", "target_found.exact": "target found, exact"},
    **{"technical_errors": "technical errors", "no_selection": "no selection", "loops": "loops"},
    **{"reads_failed": "reads failed", "actions": "actions"},
}
CONTEXT = {
    **{"context.text.recall": "context, text recall", "context.image.recall": "context, image recall"},
    "context.recall": "context, recall",
}
"""Figures of MMDocRAG (arXiv 2505.16470, Table 7)."""
RANKED = {
    name: name.replace("_", " ").replace(".mean", ", mean").replace(".", " ")
    for name in (
        *(f"page_recall@{k}" for k in (1, 3, 5, 10)),
        *(f"page_recall@{k}.mean_over_domains" for k in (1, 3, 5)),
        *("recall@1", "recall@5", "recall@10", "recall@15", "recall@20", "ndcg@10", "map", "mrr"),
        *(f"{kind}.recall@{k}" for k in (10, 15, 20) for kind in ("text", "image")),
        *("box_recall@10", "box_precision@10", "layout_recall@1", "layout_recall@5", "layout_recall@10"),
        *(f"gold_box_recall.{of}" for of in ("parser", "c15", "c20")),
    )
}

CORRELATION = {
    "correlation.judge.average": "judge's average",
    "correlation.bleu": "BLEU",
    "correlation.rouge_l.f1": "ROUGE-L F1",
}
"""The figures with which the F1 on all quotes is correlated."""
LABELS: Mapping[str, str] = {
    **{**SELECTION, **SOURCES, **ANSWERS, **SEARCHES, **JUDGE, "judge.average": "judge's average", **CONTEXT, **RANKED},
    **{name: f"correlation of overall F1 and {score_name}" for name, score_name in CORRELATION.items()},
}
_BREAKDOWNS = {
    "evidence": "evidence modality",
    "gold_quotes": "number of gold quotes",
    "gold_images": "number of gold images",
    "gold_pages": "number of gold pages",
    "gold_modalities": "number of evidence modalities",
    "mcitebench_task": "kind of question and number of sources",
    "modality_of_two": "modality of explanations with two gold sources",
    "sources": "number of gold sources",
    "position": "place of the gold quote in the context",
}
_COUNTS = {"none": "none", "single": "one", "several": "several"}
"""Names of groups in breakdowns by number, in their order."""


class Unit(NamedTuple):
    """How the values of a figure are written."""

    name: str
    scale: float
    decimals: int


_PER_CENT = Unit("%", 100, 1)
_COUNT = Unit("in all", 1, 0)
_UNITS = {
    **dict.fromkeys(JUDGE, Unit("0 to 5", 1, 2)),
    **dict.fromkeys(("words", "tokens.input", "tokens.output"), Unit("a question", 1, 0)),
    **{"usd": Unit("a question", 1, 4), "usd.total": Unit("in all", 1, 2), "seconds": Unit("a question", 1, 1)},
    "actions": Unit("a question", 1, 1),
    **dict.fromkeys(("words.std", "alce.length"), Unit("words", 1, 1)),
    **dict.fromkeys(("cvcp.pooled", "cvcp.per_sentence"), Unit("standard deviation over mean", 1, 3)),
    **{name: Unit("Pearson's r", 1, 2) for name in CORRELATION},
}
_NEITHER_BETTER = (
    *("words", "words.std", "alce.length"),
    "tokens.input",
    "tokens.output",
    "usd",
    "usd.total",
    "seconds",
    "seconds.total",
    *("technical_errors", "no_selection", "loops", "reads_failed", "actions"),
    *CORRELATION,
)


def unit(figure: str) -> Unit:
    """The unit of a figure: per cent, unless it is not a fraction."""
    return _UNITS.get(figure, _COUNT if figure.endswith(".total") else _PER_CENT)


def label(figure: str) -> str:
    """The figure's short name; its full name if it has no short one."""
    return LABELS.get(figure, figure)


def with_unit(figure: str) -> str:
    """The figure's short name and its unit."""
    between = " " if unit(figure).name == "a question" else ", "
    return f"{label(figure)}{between}{unit(figure).name}"


def breakdown_label(breakdown: str) -> str:
    """The name of a breakdown for readers; both names if two are crossed."""
    parts = breakdown.split(",")
    return CROSSED.join(_BREAKDOWNS.get(part, part.replace("_", " ")) for part in parts)


def ordered(groups: Iterable[str]) -> list[str]:
    """Each group once; numbers by size, others in the given order."""
    unique = list(dict.fromkeys(groups))
    return [name for name in _COUNTS if name in unique] if set(unique) <= set(_COUNTS) else unique


def group_label(group: str) -> str:
    """The name of a group for readers."""
    return _COUNTS.get(group, group)


def written(figure: str, value: float | None) -> str:
    """A value of the figure, in its unit."""
    if value is None:
        return UNDEFINED
    return half_up(unit(figure).scale * value, unit(figure).decimals).replace("-", "−")


def signed(figure: str, change: float | None) -> str:
    """A change in the figure's unit, with its sign."""
    return ("+" if change is not None and change > 0 else "") + written(figure, change)


def interval(figure: str, bounds: tuple[float, float] | None) -> str:
    """The 95 % interval in the figure's unit; empty if there is none."""
    if bounds is None:
        return ""
    low, high = bounds
    return f"{written(figure, low)}{' to ' if low < 0 else '–'}{written(figure, high)}"


def p_value(p: float | None) -> str:
    """A p value with four decimals, or a note that it is smaller than these can show."""
    if p is None:
        return UNDEFINED
    return "< 0.0001" if p < 0.0001 else half_up(p, 4)


def best(figure: str, values: Iterable[float | None]) -> str | None:
    """The best of several values, as written; None if all are written alike, or if more is not better."""
    known = [value for value in values if value is not None]
    apart = len({written(figure, value) for value in known}) > 1
    return written(figure, max(known)) if apart and figure not in _NEITHER_BETTER else None
