"""The tables of a report, with the best value of each column or row marked."""

from collections.abc import Mapping, Sequence

from quoteweave.core.records import Record
from quoteweave.evaluation.report.labels import (
    LABELS,
    UNDEFINED,
    best,
    breakdown_label,
    group_label,
    interval,
    label,
    ordered,
    p_value,
    signed,
    unit,
    with_unit,
    written,
)
from quoteweave.evaluation.report.runs import Report, RunReport
from quoteweave.evaluation.scoring.breakdowns import BY_POSITION, by_number, marked_count, text_first
from quoteweave.evaluation.scoring.comparison import Comparison
from quoteweave.evaluation.scoring.saved_runs import HEADLINE
from quoteweave.evaluation.statistics.intervals import Estimate

_OVERVIEW = ("overall.f1", "image.f1.pooled", "text.f1.pooled", "judge.average", "rouge_l.f1", "token_f1")
_SOURCES = ("citation.f1.cited", "source.f1", "source.exact_match", "accuracy")
_CHOSEN = ("source_identification", "answer_choice", "str_em", "rouge_lsum", "mmlongbench.accuracy")
_BOXES = ("citevqa.recall", "citevqa.saa")
_COST = ("tokens.output", "usd")
_NAMED = ("title_match", "identifier_match", "technical_errors")
_RETRIEVED = ("page_recall@1", "page_recall@5", "recall@10", "ndcg@10", "mrr")
OVERVIEW = (*_SOURCES, *_CHOSEN, *_BOXES, *_OVERVIEW, *_NAMED, *_RETRIEVED, *_COST)


class Cell(Record):
    """One value, with its interval or a remark below it."""

    text: str
    detail: str = ""
    best: bool = False


class Table(Record):
    """A table: the first cell of each row is its name, and all other columns are numbers."""

    title: str
    head: tuple[str, ...]
    units: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...]


def runs_table(report: Report, title: str, names: Mapping[str, str] | Sequence[str]) -> Table | None:
    """A row for each run, a column for each of the named figures that any run has; None if there is none."""
    figures = report.known(names)
    if not figures:
        return None
    tops = {name: best(name, [run.value(name) for run in report.runs]) for name in figures}
    headings = [names[name] if isinstance(names, Mapping) else label(name) for name in figures]
    return Table(
        title=title,
        head=("run", *headings),
        units=("", *(unit(name).name for name in figures)),
        rows=tuple(
            (Cell(text=run.name), *(figure_cell(name, run.scores.figures.get(name), tops[name]) for name in figures))
            for run in report.runs
        ),
    )


def breakdown_table(report: Report, breakdown: str, figure: str | None = None) -> Table | None:
    """A row for each group and a column for each run, for a figure, by default the main one; None if no group has it.

    The numbers of groups with few questions, or few documents, have a star (`marked_count`).
    """
    figure = figure or ("recall" if BY_POSITION in breakdown.split(",") else report.main)
    groups = report_groups(report, breakdown)
    if figure is None or not groups:
        return None
    rows = []
    for group in groups:
        estimates = [run.scores.breakdowns.get(breakdown, {}).get(group, {}).get(figure) for run in report.runs]
        top = best(figure, [None if estimate is None else estimate.value for estimate in estimates])
        n = marked_count(estimate for estimate in estimates if estimate is not None)
        if any(estimate is not None for estimate in estimates):
            cells = (figure_cell(figure, estimate, top) for estimate in estimates)
            rows.append((Cell(text=group_label(group)), Cell(text=n), *cells))
    if not rows:
        return None
    return Table(
        title=f"{with_unit(figure)}, by {breakdown_label(breakdown)}",
        head=(breakdown_label(breakdown), "n", *(run.name for run in report.runs)),
        rows=tuple(rows),
    )


def report_groups(report: Report, breakdown: str) -> list[str]:
    """The groups of any run, in the order in which each run has its own."""
    groups = ordered(group for run in report.runs for group in run.scores.breakdowns.get(breakdown, {}))
    return sorted(groups, key=text_first) if breakdown == BY_POSITION else sorted(groups, key=by_number)


def difference_tables(comparisons: Sequence[Comparison]) -> list[Table]:
    """One table for each figure, with a row for each later run."""
    head = ("run", "first run", "this run", "difference", "p", "p (Holm)", "n", "left out")
    return [
        Table(
            title=with_unit(figure),
            head=head,
            rows=tuple(_difference_row(comparison) for comparison in comparisons if comparison.figure == figure),
        )
        for figure in dict.fromkeys(comparison.figure for comparison in comparisons)
    ]


def _difference_row(comparison: Comparison) -> tuple[Cell, ...]:
    figure = comparison.figure
    return (
        Cell(text=comparison.first),
        Cell(text=written(figure, comparison.second_value)),
        Cell(text=written(figure, comparison.first_value)),
        Cell(text=signed(figure, comparison.difference), detail=interval(figure, comparison.bounds)),
        Cell(text=p_value(comparison.p)),
        Cell(text=p_value(comparison.p_holm)),
        Cell(text=str(comparison.n)),
        Cell(text=str(comparison.left_out)),
    )


def conventions_table(report: Report) -> Table | None:
    """A row for each run, a column for each figure for which the two conventions differ; None without any."""
    apart = {run.name: [name for name in HEADLINE if _by_both_conventions(run, name)] for run in report.runs}
    names = [name for name in HEADLINE if any(name in run_figures for run_figures in apart.values())]
    if not names:
        return None
    return Table(
        title=f"By the {report.first.convention} convention, and below by the {report.runs[0].other.convention} one",
        head=("run", *map(label, names)),
        units=("", *(unit(name).name for name in names)),
        rows=tuple(
            (Cell(text=run.name), *(_by_both_conventions(run, name) or Cell(text="same") for name in names))
            for run in report.runs
            if apart[run.name]
        ),
    )


def _by_both_conventions(run: RunReport, name: str) -> Cell | None:
    """The figure by the two conventions; None if it is the same, over the same questions."""
    by_main, by_other = run.scores.figures.get(name), run.other.figures.get(name)
    cells = [
        (UNDEFINED, 0) if estimate is None else (written(name, estimate.value), estimate.n)
        for estimate in (by_main, by_other)
    ]
    if cells[0] == cells[1]:
        return None
    first, second = (f"{value} (n = {n})" for value, n in cells)
    return Cell(text=first, detail=second)


def counts_table(report: Report) -> Table:
    """What counts in each run, and what does not."""
    head = ("run", "answers", "of which failed", "questions without answer", "marks that name no quote")
    return Table(title="What was counted", head=head, rows=tuple(map(_counts_row, report.runs)))


def _counts_row(run: RunReport) -> tuple[Cell, ...]:
    strays = int(sum(question.row.get("out_of_range") or 0 for question in run.scores.questions))
    numbers = (len(run.scores.questions), run.scores.failed, run.scores.missing, strays)
    return (Cell(text=run.name), *(Cell(text=str(number)) for number in numbers))


def every_figure_table(report: Report) -> Table:
    """A row for each figure that any run has, by its full name."""
    names = dict.fromkeys(name for run in report.runs for name in run.scores.figures)
    return Table(
        title="Every figure by its full name, in its unit",
        head=("figure", *(run.name for run in report.runs)),
        rows=tuple(
            (
                Cell(text=name, detail=unit(name).name),
                *(figure_cell(name, run.scores.figures.get(name)) for run in report.runs),
            )
            for name in names
        ),
    )


def undefined_table(report: Report) -> Table | None:
    """For each figure in the report that is undefined for some questions, the number of these questions."""
    names = [name for name in report.known(LABELS) if any(_undefined(run, name) for run in report.runs)]
    if not names:
        return None
    return Table(
        title="Questions where a figure is undefined, and which it leaves out",
        head=("figure", *(run.name for run in report.runs)),
        rows=tuple(
            (Cell(text=label(name), detail=name), *(Cell(text=str(_undefined(run, name))) for run in report.runs))
            for name in names
        ),
    )


def _undefined(run: RunReport, name: str) -> int:
    estimate = run.scores.figures.get(name)
    return 0 if estimate is None else estimate.undefined


def figure_cell(figure: str, estimate: Estimate | None, top: str | None = None) -> Cell:
    """The estimate with its interval; it is the best if it is written like `top`."""
    if estimate is None or estimate.value is None:
        return Cell(text=UNDEFINED)
    text = written(figure, estimate.value)
    return Cell(text=text, detail=interval(figure, estimate.bounds), best=text == top)
