"""Scores as tables for people and as a JSON value for programs."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.table import Table

from quoteweave.cli.console import console, plain, print_json
from quoteweave.cli.tables import UNDEFINED, make_table, show_table
from quoteweave.core.messages import pluralize
from quoteweave.evaluation.judges.judgements import ASPECTS
from quoteweave.evaluation.metrics.citations.quote_selection import GROUPS, RATIOS
from quoteweave.evaluation.report.labels import CORRELATION
from quoteweave.evaluation.scoring.breakdowns import BY_POSITION, CROSSED, POSITION_FIGURE, SMALL_GROUPS, marked_count
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import half_up
from quoteweave.evaluation.statistics.intervals import Estimate

Figures = Mapping[str, Estimate]
JUDGE = tuple(f"judge.{aspect}" for aspect in (*ASPECTS, "average"))
KINDS_F1 = "overall.mean_of_kinds_f1"
BY_RULE = "source_by_rule."
"""The prefix of figures on sources that are read from marks by rule; the published ones, with the prefix `source.`, are
computed from a judge's sentences."""
GROUP_COLUMNS = {
    "title_match": "title\nmatch",
    "identifier_match": "identifier\nmatch",
    "target_found": "target\nfound",
    "technical_errors": "technical\nerrors",
    "citevqa.recall": "boxes:\nrecall",
    "citevqa.f1": "boxes:\nF1",
    "citevqa.ceiling.context": "context's\nceiling",
    "citevqa.saa": "SAA",
    "mmlongbench.accuracy": "accuracy",
    "mmlongbench.f1.pooled": "F1,\npooled",
    "cited_pages.hit": "gold page\ncited",
    "citation.f1.cited": "citation\nF1",
    "source.f1": "source\nF1",
    "source.exact_match": "exact\nmatch",
    **{f"{BY_RULE}f1": "source F1,\nby rule", f"{BY_RULE}exact_match": "exact match,\nby rule"},
    "accuracy": "accuracy",
    "source_identification": "right\nsource",
    "answer_choice": "right\nanswer",
    **{f"page_recall@{k}": f"page\nrecall@{k}" for k in (1, 3, 5)},
    "layout_recall@10": "layout\nrecall@10",
    "overall.f1": "overall\nF1",
    "image.f1.pooled": "image F1,\npooled",
    "text.f1.pooled": "text F1,\npooled",
    "judge.average": "judge's\naverage",
}


SELECTION = frozenset(f"{group}.{ratio}{end}" for group in GROUPS for ratio in RATIOS for end in ("", ".pooled"))


def show(scores: Scores, *, as_json: bool, by: Sequence[str] = ()) -> None:
    """Print the scores on stdout. `by` are the breakdowns that the user asked for."""
    if as_json:
        print_json(as_dict(scores))
        return
    stdout, questions = console(), pluralize(len(scores.questions), "question")
    how_counted = f"convention {scores.convention}, marks {scores.marks}; 95 % intervals are over {scores.clusters}s"
    stdout.print(plain(f"{scores.name} on {scores.dataset}: {questions}, {how_counted}\n"))
    for table in tables(scores):
        show_table(stdout, table)
    hidden = [
        f"no table by {_label(name)}, as its columns are undefined here; --json has figures"
        for name in by
        if name in scores.breakdowns and _breakdown(name, scores.breakdowns[name]) is None
    ]
    for note in (*hidden, *_notes(scores), *scores.notes):
        stdout.print(plain(f"note: {note}"))


def as_dict(scores: Scores) -> dict[str, object]:
    """The scores nested as `quoteweave eval score --help` says."""
    figures = scores.figures
    value: dict[str, object] = {
        **scores.model_dump(mode="json", include={"name", "dataset", "convention", "marks", "clusters"}),
        "questions": len(scores.questions),
        "failed": scores.failed,
        "missing": scores.missing,
        "not_answered": scores.not_answered,
        "out_of_range": _out_of_range(scores),
    }
    if _has_selection(figures):
        pooled, mean = ({group: _ratios(figures, group, end) for group in GROUPS} for end in (".pooled", ""))
        value |= {kind: {**pooled[kind], "mean_over_questions": mean[kind]} for kind in ("image", "text")}
        mean_of_kinds = _value(figures, f"{KINDS_F1}.pooled")
        value["overall"] = {**mean["overall"], "mean_of_kinds_f1": mean_of_kinds, "pooled": pooled["overall"]}
    if any(name in figures for name in JUDGE):
        value["judge"] = _values_and_bounds(figures, {name.removeprefix("judge."): name for name in JUDGE})
    value["figures"] = _as_json(figures)
    value["breakdowns"] = {
        name: {group: _as_json(group_figures) for group, group_figures in groups.items()}
        for name, groups in scores.breakdowns.items()
    }
    value["notes"] = list(scores.notes)
    return value


def tables(scores: Scores) -> list[Table]:
    """Quote selection pooled and as means, judgements, other figures, then each breakdown, then correlations."""
    figures = scores.figures
    shown_tables = []
    if _has_selection(figures):
        shown_tables += [
            _selection("Quote selection over all pairs together (pooled), %", figures, ".pooled"),
            _selection("Quote selection, mean over questions, %", figures, ""),
        ]
    judged = {name: figures[name] for name in JUDGE if name in figures}
    other_figures = {
        name: estimate for name, estimate in figures.items() if name not in SELECTION and name not in judged
    }
    if judged:
        shown_tables.append(_figure_list("Judgements, 0 to 5", judged, _two_decimals))
    if other_figures:
        shown_tables.append(_figure_list("Other figures", other_figures, _rounded))
    broken_down = (_breakdown(name, groups) for name, groups in scores.breakdowns.items())
    return shown_tables + [table for table in (*broken_down, _correlations(scores)) if table is not None]


def _selection(title: str, figures: Figures, end: str) -> Table:
    table = _table(title, ("quotes", *RATIOS, "n"))
    for group in GROUPS:
        cells = [figures.get(f"{group}.{ratio}{end}") for ratio in RATIOS]
        counts = [estimate.n for estimate in cells if estimate is not None]
        n = "" if not counts else str(max(counts)) if min(counts) == max(counts) else f"{min(counts)}-{max(counts)}"
        table.add_row(plain(group), *(_cell(estimate, _percent) for estimate in cells), n)
    return table


def _figure_list(title: str, figures: Figures, format_value: Callable[[float], str]) -> Table:
    table = _table(title, ("figure", "value", "95 % interval", "n", "undef."))
    for name, estimate in figures.items():
        value = UNDEFINED if estimate.value is None else format_value(estimate.value)
        bounds = estimate.bounds
        interval = UNDEFINED if bounds is None else " - ".join(map(format_value, bounds))
        table.add_row(plain(name.removeprefix("judge.")), value, interval, str(estimate.n), str(estimate.undefined))
    return table


def _breakdown(name: str, groups: Mapping[str, Figures]) -> Table | None:
    """The table of a breakdown; None if no figure that it shows is defined in any group."""
    label = _label(name)
    if BY_POSITION in name.split(","):
        table = _table("Recall of gold quotes by their place in the context, %", (label, POSITION_FIGURE, "n"))
        for group, group_figures in groups.items():
            recall = group_figures[POSITION_FIGURE]
            table.add_row(plain(group), _cell(recall, _percent), _count(table, [recall]))
        return table
    defined_columns = [
        column
        for column in GROUP_COLUMNS
        if any(_is_defined(group_figures.get(column)) for group_figures in groups.values())
    ]
    columns = [
        column
        for column in defined_columns
        if column.replace(BY_RULE, "source.") not in defined_columns or BY_RULE not in column
    ]
    if not columns:
        return None
    headings = (GROUP_COLUMNS[column] for column in columns)
    scale = ", judge 0 to 5" if any(column in JUDGE for column in columns) else ""
    table = _table(f"By {label}; in %{scale}", (label, *headings, "n"))
    for group, group_figures in groups.items():
        cells = (
            _cell(group_figures.get(column), _two_decimals if column in JUDGE else _percent, between="\n")
            for column in columns
        )
        table.add_row(plain(group), *cells, _count(table, group_figures.values()))
    return table


def _label(breakdown: str) -> str:
    return breakdown.replace("_", " ").replace(",", CROSSED)


def _count(table: Table, estimates: Iterable[Estimate]) -> str:
    """The number of questions of a group; if they are few, with a star that the table's caption explains."""
    count = marked_count(estimates)
    if count.endswith("*"):
        table.caption = f"* {SMALL_GROUPS}"
        table.caption_justify = "left"
    return count


def _correlations(scores: Scores) -> Table | None:
    """Correlations over all questions and in each group; None if none is defined, or without judgements."""
    if "correlation.judge.average" not in scores.figures:
        return None
    columns = [column for column in CORRELATION if column in scores.figures]
    headings = (CORRELATION[column] for column in columns)
    table = _table("Pearson's r, over questions, of overall F1 and", ("questions", *headings, "n"))
    groups = {
        f"{_label(name)}: {group}": group_figures
        for name, figures_by_group in scores.breakdowns.items()
        for group, group_figures in figures_by_group.items()
    }
    for group, group_figures in {"all": scores.figures, **groups}.items():
        if any(_is_defined(group_figures.get(column)) for column in columns):
            cells = (_cell(group_figures.get(column), _two_decimals, between="\n") for column in columns)
            first_estimates = [group_figures[columns[0]]] if columns[0] in group_figures else []
            table.add_row(plain(group), *cells, _count(table, first_estimates))
    return table if table.row_count else None


def _table(title: str, columns: Sequence[str]) -> Table:
    headings = [name.replace("_", " ") for name in columns]
    return make_table(headings, words=headings[:1], title=title)


def _cell(estimate: Estimate | None, format_value: Callable[[float], str], *, between: str = " ") -> str:
    """A value with its interval beside or below it."""
    if estimate is None or estimate.value is None:
        return UNDEFINED
    bounds = estimate.bounds
    to = " to " if bounds and bounds[0] < 0 else "-"
    return format_value(estimate.value) + (f"{between}({to.join(map(format_value, bounds))})" if bounds else "")


def _is_defined(estimate: Estimate | None) -> bool:
    return estimate is not None and estimate.value is not None


def _percent(value: float) -> str:
    return half_up(100 * value, 1)


def _two_decimals(value: float) -> str:
    return half_up(value, 2)


def _rounded(value: float) -> str:
    return half_up(value, 4 if abs(value) < 10 else 1)


def _notes(scores: Scores) -> list[str]:
    """Return notes on the run: missing answers, and what its figures leave out."""
    lines = []
    if scores.missing:
        lines.append(
            f"{pluralize(scores.missing, 'question')} of the dataset without a prediction, which counts nowhere"
        )
    if count := _out_of_range(scores):
        lines.append(f"{pluralize(count, 'mark names', 'marks name')} no quote of the context: wrong citations")
    if any(estimate.value is not None and estimate.bounds is None for estimate in scores.figures.values()):
        lines.append(f"no interval ({UNDEFINED}) where a figure comes from fewer than two {scores.clusters}s")
    # Only for these figures, as the tables of all others have a column for the number of undefined ones.
    undefined_counts = {
        name: estimate.undefined
        for name, estimate in scores.figures.items()
        if name in SELECTION and estimate.undefined
    }
    if undefined_counts:
        listed = ", ".join(f"{name} for {count}" for name, count in undefined_counts.items())
        lines.append(f"undefined, and left out: {listed}")
    return lines


def _out_of_range(scores: Scores) -> int | None:
    """The number of marks that name no quote; None if the contexts are not known."""
    counts = [count for question in scores.questions if (count := question.row.get("out_of_range")) is not None]
    return int(sum(counts)) if counts else None


def _has_selection(figures: Figures) -> bool:
    return "overall.f1" in figures


def _ratios(figures: Figures, group: str, end: str) -> dict[str, object]:
    return _values_and_bounds(figures, {ratio: f"{group}.{ratio}{end}" for ratio in RATIOS})


def _values_and_bounds(figures: Figures, names: Mapping[str, str]) -> dict[str, object]:
    """The values by short names, and under `ci95` the bounds of each."""
    estimates = {short: figures.get(name) for short, name in names.items()}
    bounds = {short: None if estimate is None else estimate.bounds for short, estimate in estimates.items()}
    return {**{short: _value(figures, name) for short, name in names.items()}, "ci95": bounds}


def _value(figures: Figures, name: str) -> float | None:
    estimate = figures.get(name)
    return None if estimate is None else estimate.value


def _as_json(figures: Figures) -> dict[str, object]:
    return {
        name: {
            "value": estimate.value,
            "ci95": estimate.bounds,
            "n": estimate.n,
            "clusters": estimate.clusters,
            "undefined": estimate.undefined,
        }
        for name, estimate in figures.items()
    }
