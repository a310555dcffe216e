"""Pairs of runs that differ in one setting, and the changes: MMDocRAG's Tables 4, 5 and 9 to 12, and its Figure 6."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from quoteweave.core.chat.usage import PriceLookup
from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names, pluralize
from quoteweave.core.records import Record
from quoteweave.core.runs import RUN_FILE, read_run_record
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.judges.judgements import ASPECTS
from quoteweave.evaluation.metrics.citations.quote_selection import RATIOS
from quoteweave.evaluation.published import PublishedRow, PublishedTable
from quoteweave.evaluation.report.drawing import FAINT, HIGHLIGHT, INK, WIDTH, Plot, make_plot, shortened, style
from quoteweave.evaluation.report.labels import UNDEFINED, interval, label, p_value, signed, unit, with_unit, written
from quoteweave.evaluation.report.tables import Cell, Table, figure_cell
from quoteweave.evaluation.scoring.comparison import Comparison, compare_scores, run_names
from quoteweave.evaluation.scoring.saved_runs import ScoredRun, ScoringRequest, score
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.intervals import Estimate, Intervals, cluster_intervals

_ALL_FIGURES = (
    *("tokens.input", "tokens.output"),
    *(f"{kind}.{ratio}.pooled" for kind in ("image", "text") for ratio in RATIOS),
    *("overall.f1", "bleu", "rouge_l.f1"),
    *(f"judge.{aspect}" for aspect in (*ASPECTS, "average")),
)
_VIEWS = ("vlm_text", "ocr_text")
_PRINTED_AS = {"tokens.input": "tokens_in", "tokens.output": "tokens_out", "rouge_l.f1": "rouge_l"}
"""Figures that have other names in published tables."""
_FIGURES_OF_NOTE = lazy_regex(r"((?:[\w.@]+ and )*+[\w.@]+)(?:: | compare | \()")
"""The beginning of a note on one or two figures."""


class PairLayout(Record):
    """The content of a table of pairs."""

    source: str
    first: str
    second: str
    figures: tuple[str, ...]
    key: str = ""
    """Key of the configuration in which the two runs of a pair differ; empty for any difference."""
    values: tuple[object, object] = ("", "")
    """The value of that key in the first run and in the second."""
    file_marks: tuple[str, str] = ("", "")
    """Parts of the names of MMDocRAG's published files for the first run and for the second; empty for none."""
    relative: bool = True
    """Whether a change is given in per cent of the first run's figure, or else in the figure's own unit."""


PairName = Literal["multimodal", "image-text", "image-text-full", "thinking", "thinking-full", "fine-tuning"]
"""The names of `PAIR_LAYOUTS`."""
_IMAGE_TEXT = PairLayout(
    source="MMDocRAG, arXiv 2505.16470, Table 5",
    first="VLM text",
    second="OCR text",
    figures=("image.f1.pooled", "judge.average"),
    key="view",
    values=_VIEWS,
    relative=False,
)
_THINKING = PairLayout(
    source="MMDocRAG, arXiv 2505.16470, Table 11",
    first="thinking",
    second="not thinking",
    figures=("tokens.output", "overall.f1", "judge.average"),
    key="thinking",
    values=(True, False),
    file_marks=("", "-no-think_"),
)
PAIR_LAYOUTS: Mapping[str, PairLayout] = {
    "multimodal": PairLayout(
        source="MMDocRAG, arXiv 2505.16470, Tables 4 and 9",
        first="multimodal",
        second="text",
        figures=("tokens.input", "overall.f1", "judge.average"),
        key="images",
        values=(True, False),
        file_marks=("_multimodal_", "_pure-text_"),
    ),
    "image-text": _IMAGE_TEXT,
    "image-text-full": _IMAGE_TEXT.model_copy(
        update={"source": "MMDocRAG, arXiv 2505.16470, Table 12", "figures": _ALL_FIGURES}
    ),
    "thinking": _THINKING,
    "thinking-full": _THINKING.model_copy(
        update={"source": "MMDocRAG, arXiv 2505.16470, Table 10", "figures": _ALL_FIGURES, "relative": False}
    ),
    "fine-tuning": PairLayout(
        source="MMDocRAG, arXiv 2505.16470, Figure 6",
        first="base",
        second="fine-tuned",
        figures=("overall.f1", "judge.average"),
        file_marks=("", "-ft_"),
        relative=False,
    ),
}
"""Layout by name. A change is the second run less the first; `relative` changes are divided by the first.

Table 11's caption says that its per cents are of the second (`(No-Yes)/No`); the numbers that it prints are of the
first, like those of Tables 4 and 9, and so are these.
"""


@dataclass(frozen=True, slots=True)
class RunPair:
    """Two runs over the same questions, and the change of each figure that both have."""

    runs: tuple[Scores, Scores]
    changes: Mapping[str, Comparison]
    """Changes by figure. `first` of these is the second run, so that `difference` is the change, relative or not."""
    printed: tuple[PublishedRow | None, PublishedRow | None] = (None, None)


def make_pairs(
    requests: Sequence[ScoringRequest],
    layout: PairLayout,
    *,
    printed: Sequence[PublishedRow | None] = (),
    intervals: Intervals | None = cluster_intervals,
    prices: PriceLookup = lambda _: None,
) -> list[RunPair]:
    """Score runs two by two, first and second in turn, and compare the two of each pair.

    `printed` are the rows of a published table for the runs, in their order, None if there is none. Raises UsageError
    for an odd number of runs and for a run whose record shows that it is the other run of a pair, and as `score` and
    `compare_scores`.

        >>> requests = [
        ...     ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl")
        ...     for run in ("theirs.jsonl", "ours.jsonl")
        ... ]
        >>> (pair,) = make_pairs(requests, PAIR_LAYOUTS["fine-tuning"], intervals=None)
        >>> pair.changes["overall.f1"].difference
        0.5
    """
    _check_sides([request.run for request in requests], layout)
    examples = load_dataset(requests[0].dataset, requests[0].references)
    runs = []
    for request, name in zip(requests, run_names([request.run for request in requests]), strict=True):
        scored = score(request.model_copy(update={"by": ()}), examples=examples, intervals=intervals, prices=prices)
        notes = tuple(note for note in scored.scores.notes if concerns(note, layout))
        runs.append((scored, scored.scores.model_copy(update={"name": name, "notes": notes})))
    rows = [*printed, *[None] * (len(runs) - len(printed))]
    return [
        RunPair(
            (first, second),
            _changes(scored, (first, second), layout),
            (rows[position], rows[position + 1]),
        )
        for position, (scored, first), (_, second) in zip(range(0, len(runs), 2), runs[::2], runs[1::2], strict=True)
    ]


def _check_sides(runs: Sequence[Path], layout: PairLayout) -> None:
    """Raise UsageError for an odd number of runs, and for a run that was made like the other run of its pair.

    Run folders show this by their record, the authors' files by their names.
    """
    if len(runs) < 2 or len(runs) % 2:
        count = pluralize(len(runs), "run")
        raise UsageError(f"{count}: name two for each pair, first {layout.first}, then {layout.second}")
    order = f"name pairs of runs, first {layout.first}, then {layout.second}"
    for position, run in enumerate(runs):
        required, excluded = layout.values if position % 2 == 0 else layout.values[::-1]
        record = read_run_record(run) if layout.key and (run / RUN_FILE).is_file() else None
        value = None if record is None else record.configuration.get(layout.key)
        if value is not None and value == excluded:
            raise UsageError(
                f"{run} was made with {layout.key} = {json.dumps(value)}, and stands where it has to be "
                f"{json.dumps(required)}: {order}"
            )
        mark, wrong = layout.file_marks if position % 2 == 0 else layout.file_marks[::-1]
        if wrong and wrong in run.name and not (mark and mark in run.name):
            sides = (layout.second, layout.first) if position % 2 == 0 else (layout.first, layout.second)
            raise UsageError(f"{run.name} is {sides[0]} by its name, and stands where {sides[1]} has to be: {order}")


def concerns(note: str, layout: PairLayout) -> bool:
    """Whether a note is about the run as a whole, or about a figure that the layout shows."""
    named = _FIGURES_OF_NOTE.match(note)
    return named is None or any(name in layout.figures for name in named[1].split(" and "))


def _changes(scored: ScoredRun, pair: tuple[Scores, Scores], layout: PairLayout) -> dict[str, Comparison]:
    names = [name for name in layout.figures if all(name in run.figures for run in pair)]
    aggregates = [scored.aggregates[name] for name in names]
    comparisons = compare_scores(pair[::-1], aggregates, relative=layout.relative)
    return {comparison.figure: comparison for comparison in comparisons}


def pairs_table(pairs: Sequence[RunPair], layout: PairLayout) -> Table:
    """Three lines for each pair: first run, second run, and change; then the printed values, if rows are named."""
    names = [name for name in layout.figures if any(name in run.figures for pair in pairs for run in pair.runs)]
    rows: list[tuple[Cell, ...]] = []
    for pair in pairs:
        sides = (layout.first, layout.second)
        for run, side in zip(pair.runs, sides, strict=True):
            rows.append(
                (Cell(text=run.name, detail=side), *(figure_cell(name, run.figures.get(name)) for name in names))
            )
        rows.append((_change_label(layout, names), *(_change_cell(pair.changes.get(name), layout) for name in names)))
        rows += _printed_rows(pair, layout, names)
    return Table(
        title=f"From {layout.first} to {layout.second}",
        head=("run", *map(label, names)),
        units=("", *(unit(name).name for name in names)),
        rows=tuple(rows),
    )


def _change_label(layout: PairLayout, names: Sequence[str], before: str = "") -> Cell:
    if layout.relative:
        return Cell(text=f"{before}relative change, %")
    counts = any(name.startswith("tokens.") for name in names)
    return Cell(text=f"{before}change, points{' or tokens' if counts else ''}")


def _change_cell(comparison: Comparison | None, layout: PairLayout) -> Cell:
    if comparison is None or comparison.difference is None:
        return Cell(text=UNDEFINED)
    figure = "overall.f1" if layout.relative else comparison.figure  # per cent
    bounds = interval(figure, comparison.bounds)
    p = p_value(comparison.p_holm)
    shown = f"p {p}" if p.startswith("<") else f"p = {p}"
    details = (bounds, shown, f"n = {comparison.n}")
    return Cell(text=signed(figure, comparison.difference), detail="; ".join(detail for detail in details if detail))


def _printed_rows(pair: RunPair, layout: PairLayout, names: Sequence[str]) -> list[tuple[Cell, ...]]:
    """The printed rows of the two runs, and the change between the printed values."""
    rows = [
        (
            Cell(text=f"printed: {row.system}", detail=row.setting),
            *(Cell(text=written(name, printed_figure(row, name))) for name in names),
        )
        for row in pair.printed
        if row is not None
    ]
    first, second = pair.printed
    if first is not None and second is not None:
        printed_values = [(name, printed_figure(first, name), printed_figure(second, name)) for name in names]
        cells = (Cell(text=_printed_change(name, ours, theirs, layout)) for name, ours, theirs in printed_values)
        rows.append((_change_label(layout, names, "printed: "), *cells))
    return rows


def printed_figure(row: PublishedRow, figure: str) -> float | None:
    """The figure as printed, in our unit; None if it was not printed."""
    return row.figures.get(figure, row.figures.get(_PRINTED_AS.get(figure, "")))


def _printed_change(figure: str, first: float | None, second: float | None, layout: PairLayout) -> str:
    if first is None or second is None or (layout.relative and not first):
        return UNDEFINED
    return signed("overall.f1", (second - first) / first) if layout.relative else signed(figure, second - first)


def printed_row(table: PublishedTable, name: str) -> PublishedRow:
    """The row of a published table named `SYSTEM`, or `SYSTEM, SETTING` if the system has several.

    Raises UsageError if there is none, or more than one.

        >>> printed_row(published_table("mmdocrag-20"), "GPT-4.1, multimodal").figures["overall.f1"]
        0.702
    """
    rows = [row for row in table.rows if name in (row.system, f"{row.system}, {row.setting}")]
    if len(rows) == 1:
        return rows[0]
    if rows:
        several = "; ".join(f"{row.system}, {row.setting}" for row in rows)
        raise UsageError(f"{table.source} has several rows {name!r}; there are: {several}")
    known = {full.casefold(): full for row in table.rows for full in (row.system, f"{row.system}, {row.setting}")}
    near = [repr(known[near_name]) for near_name in get_close_matches(name.casefold(), list(known))]
    systems = list(dict.fromkeys(row.system for row in table.rows))
    hint = f"did you mean {' or '.join(near)}?" if near else f"its systems are: {join_names(systems)}"
    raise UsageError(f"{table.source} has no row {name!r}; {hint}")


_MAX_PANELS = 4


def pairs_plot(pairs: Sequence[RunPair], layout: PairLayout) -> Plot | None:
    """A panel for each of the last `_MAX_PANELS` figures, a line for each pair; None if no pair has any of them."""
    names = [name for name in layout.figures if any(name in pair.changes for pair in pairs)][-_MAX_PANELS:]
    if not names:
        return None
    from matplotlib.figure import Figure

    with style("pairs"):
        figure = Figure(figsize=(WIDTH, 1.0 + 0.42 * len(pairs)))
        axes = figure.subplots(1, len(names), squeeze=False, sharey=True)[0]
        for axis, name in zip(axes, names, strict=True):
            for position, pair in enumerate(pairs):
                _draw_pair(axis, name, position, [run.figures.get(name) for run in pair.runs])
            axis.set(xlabel=with_unit(name), ylim=(len(pairs) - 0.4, -0.6))
            axis.grid(visible=False, axis="y")
        axes[0].set_yticks(range(len(pairs)), [_pair_label(pair) for pair in pairs])
        marks = [axes[0].plot([], [], **_mark_style(second))[0] for second in (False, True)]
        figure.legend(marks, (layout.first, layout.second), loc="outside upper right", ncols=2, handletextpad=0.3)
        return make_plot(
            figure,
            "pairs",
            title=f"From {layout.first} to {layout.second}",
            says=f"Each line is a pair of runs: an open mark is {layout.first}, a full one {layout.second}. Thin lines "
            "are 95 % intervals of each run; whether two differ tells the interval of their change, in the table.",
        )


def _pair_label(pair: RunPair) -> str:
    first, second = (shortened(run.name, 26) for run in pair.runs)
    return f"{first}\n→ {second}"


def _mark_style(second: bool) -> dict[str, Any]:
    return {"marker": "o", "color": HIGHLIGHT, "markersize": 5.5, "linestyle": "none", "markeredgewidth": 1.3} | (
        {} if second else {"markerfacecolor": "white"}
    )


def _draw_pair(axis: Any, name: str, place: int, estimates: Sequence[Estimate | None]) -> None:
    scale = unit(name).scale
    defined = [
        (second, estimate)
        for second, estimate in enumerate(estimates)
        if estimate is not None and estimate.value is not None
    ]
    axis.plot(
        [scale * (estimate.value or 0) for _, estimate in defined], [place] * len(defined), color=FAINT, linewidth=2.5
    )
    for second, estimate in defined:
        y = place + (0.14 if second else -0.14)
        if estimate.low is not None and estimate.high is not None:
            axis.plot((scale * estimate.low, scale * estimate.high), (y, y), color=INK, linewidth=0.9)
        axis.plot(scale * (estimate.value or 0), place, **_mark_style(bool(second)), zorder=3)
