"""Scores of a retriever as tables for people and as a JSON value for programs."""

from collections.abc import Mapping, Sequence

from rich.table import Table

from quoteweave.cli.output import plain
from quoteweave.cli.tables import make_table
from quoteweave.core.examples import Scope
from quoteweave.evaluation.scoring.retrieval import retrieval_figures
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import DOMAIN_MEAN
from quoteweave.evaluation.statistics.estimates import Estimate

PAGES = tuple(f"page_recall@{k}" for k in (1, 3, 5, 10))
PAGES_BY_DOMAIN = tuple(f"{name}{DOMAIN_MEAN}" for name in PAGES)
BOXES = tuple(f"box_{figure}@{k}" for figure in ("recall", "precision") for k in (5, 10, 20))
LAYOUTS = tuple(f"layout_recall@{k}" for k in (1, 5, 10))
LAYOUTS_BY_DOMAIN = tuple(f"{name}{DOMAIN_MEAN}" for name in LAYOUTS)
SCOPES: Mapping[str, Scope] = {"in_document": "document", "collection": "collection"}
"""Key of the JSON value to the scope."""
EVIDENCE = "evidence"
UNDEFINED = "-"
Figures = Mapping[str, Estimate]


def as_dict(scores: Mapping[Scope, Scores]) -> dict[str, object]:
    """Figures as fractions, null where undefined; nested by scope, then by evidence type."""
    near = scores["document"]
    return {
        **{key: _values(scope, scores[scope].figures) for key, scope in SCOPES.items()},
        "by_evidence_type": {
            name: {"n": n, **{key: _of_group(scope, _group(scores[scope], name)) for key, scope in SCOPES.items()}}
            for name, n in _types(near).items()
        },
        "undefined": {
            key: {name: _undefined(scores[scope], name) for name in retrieval_figures(scope)}
            for key, scope in SCOPES.items()
        },
        "interval_95": {
            key: {name: _bounds(scores[scope].figures.get(name)) for name in retrieval_figures(scope)}
            for key, scope in SCOPES.items()
        },
    }


def tables(scores: Mapping[Scope, Scores]) -> list[Table]:
    """Page recall within the document and over the collection, then boxes; per cent, one row a group."""
    near, far = scores["document"], scores["collection"]
    return [
        _table("Page recall within the document, %", near, PAGES, PAGES_BY_DOMAIN),
        _table("Page recall over the whole collection, %", far, PAGES, PAGES_BY_DOMAIN),
        _table("Box recall and precision within the document, %", near, BOXES),
        _table("Layout recall within the document, %", near, LAYOUTS, LAYOUTS_BY_DOMAIN),
    ]


def _table(title: str, scores: Scores, names: Sequence[str], by_domain: Sequence[str] = ()) -> Table:
    headings = [name.partition("_")[2].replace("@", "\n@") for name in names]
    table = make_table([EVIDENCE, "n", *headings], words=[EVIDENCE], title=title, padding=0)
    table.caption_justify = "left"
    table.add_row("overall", str(_counted(scores)), *_means(scores.figures, names))
    told = any(name in scores.figures for name in by_domain)
    table.add_row("95 % interval", "", *_intervals(scores.figures, names), end_section=not told)
    if told:
        table.add_row("mean over domains", "", *_means(scores.figures, by_domain))
        table.add_row("95 % interval", "", *_intervals(scores.figures, by_domain), end_section=True)
    for group in _types(scores):
        found = _group(scores, group)
        n = sum(question.error is None for question in scores.questions if group in question.groups.get(EVIDENCE, ()))
        table.add_row(plain(group), str(n), *_means(found, names))
    undefined = [f"{name} for {count}" for name in names if (count := _undefined(scores, name))]
    table.caption = f"undefined, and left out of the mean: {', '.join(undefined)}" if undefined else None
    return table


def _types(scores: Scores) -> dict[str, int]:
    """Type of evidence to the number of questions, failed ones included."""
    found = [name for question in scores.questions for name in question.groups.get(EVIDENCE, ())]
    return {name: found.count(name) for name in sorted(set(found))}


def _group(scores: Scores, name: str) -> Figures:
    return scores.breakdowns.get(EVIDENCE, {}).get(name, {})


def _counted(scores: Scores) -> int:
    return len(scores.questions) - scores.failed


def _undefined(scores: Scores, name: str) -> int:
    return scores.figures[name].undefined if name in scores.figures else _counted(scores)


def _values(scope: Scope, figures: Figures) -> dict[str, float | None]:
    return {name: figures[name].value if name in figures else None for name in retrieval_figures(scope)}


def _of_group(scope: Scope, figures: Figures) -> dict[str, float | None]:
    """Without means over domains, which are of all questions alone."""
    return {name: value for name, value in _values(scope, figures).items() if not name.endswith(DOMAIN_MEAN)}


def _means(figures: Figures, names: Sequence[str]) -> list[str]:
    means = (figures[name].value if name in figures else None for name in names)
    return [UNDEFINED if mean is None else f"{100 * mean:.1f}" for mean in means]


def _intervals(figures: Figures, names: Sequence[str]) -> list[str]:
    bounds = (_bounds(figures.get(name)) for name in names)
    return [UNDEFINED if pair is None else f"{100 * pair[0]:.0f}-{100 * pair[1]:.0f}" for pair in bounds]


def _bounds(estimate: Estimate | None) -> tuple[float, float] | None:
    if estimate is None or estimate.low is None or estimate.high is None:
        return None
    return estimate.low, estimate.high
