"""A retrieval report as tables for people and as a JSON value for programs."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from quoteweave.cli.output import plain
from quoteweave.cli.tables import make_table
from quoteweave.evaluation.scoring.retrieval_report import RetrievalReport, Scores
from quoteweave.evaluation.statistics.bootstrap import Interval

PAGES = ("page_recall@1", "page_recall@3", "page_recall@5", "page_recall@10")
BOXES = tuple(f"box_{figure}@{k}" for figure in ("recall", "precision") for k in (5, 10, 20))
UNDEFINED = "-"


def as_dict(report: RetrievalReport) -> dict[str, object]:
    """The report's figures as fractions, null where undefined; nested by scope, then by evidence type."""
    scopes = {"in_document": report.overall.in_document, "collection": report.overall.collection}
    return {
        **{name: dict(scores.mean_over_questions) for name, scores in scopes.items()},
        "by_evidence_type": {
            name: {
                "n": group.n,
                "in_document": dict(group.in_document.mean_over_questions),
                "collection": dict(group.collection.mean_over_questions),
            }
            for name, group in report.by_evidence_type.items()
        },
        "undefined": {name: dict(scores.undefined) for name, scores in scopes.items()},
        "interval_95": {
            name: {figure: _bounds(interval) for figure, interval in scores.intervals.items()}
            for name, scores in scopes.items()
        },
    }


def tables(report: RetrievalReport) -> list[Table]:
    """Page recall within the document and over the collection, then box coverage; per cent, one row a group."""
    groups = {"overall": report.overall, **report.by_evidence_type}
    near = {name: group.in_document for name, group in groups.items()}
    far = {name: group.collection for name, group in groups.items()}
    return [
        _table("Page recall within the document, %", near, PAGES),
        _table("Page recall over the whole collection, %", far, PAGES),
        _table("Box recall and precision within the document, %", near, BOXES),
    ]


def _table(title: str, groups: Mapping[str, Scores], names: Sequence[str]) -> Table:
    headings = [name.partition("_")[2].replace("@", "\n@") for name in names]
    table = make_table(["evidence", "n", *headings], words=["evidence"], title=title, padding=0)
    table.caption_justify = "left"
    for name, scores in groups.items():
        table.add_row(plain(name), str(scores.n), *_means(scores, names))
        if name == "overall":
            table.add_row("95 % interval", "", *_intervals(scores, names), end_section=True)
    told = [f"{name} for {count}" for name, count in groups["overall"].undefined.items() if count and name in names]
    table.caption = f"undefined, and left out of the mean: {', '.join(told)}" if told else None
    return table


def _means(scores: Scores, names: Sequence[str]) -> list[str]:
    means = (scores.mean_over_questions[name] for name in names)
    return [UNDEFINED if mean is None else f"{100 * mean:.1f}" for mean in means]


def _intervals(scores: Scores, names: Sequence[str]) -> list[str]:
    bounds = (_bounds(scores.intervals[name]) for name in names)
    return [UNDEFINED if pair is None else f"{100 * pair[0]:.0f}-{100 * pair[1]:.0f}" for pair in bounds]


def _bounds(interval: Interval | None) -> tuple[float, float] | None:
    if interval is None or interval.low is None or interval.high is None:
        return None
    return interval.low, interval.high
