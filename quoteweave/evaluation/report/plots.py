"""The plots of a report: those of MMDocRAG's Figures 7 to 11 (arXiv 2505.16470), and risk–coverage curves."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from quoteweave.core.messages import join_names
from quoteweave.evaluation.calibration import CalibrationReport
from quoteweave.evaluation.judges.judgements import MAX_SCORE
from quoteweave.evaluation.report.drawing import (
    BAR,
    COLOURS,
    FAINT,
    HIGHLIGHT,
    INK,
    MARKERS,
    WIDTH,
    Plot,
    make_plot,
    panels,
    shortened,
    style,
)
from quoteweave.evaluation.report.labels import JUDGE, breakdown_label, group_label, label, unit, with_unit
from quoteweave.evaluation.report.runs import Report, RunReport
from quoteweave.evaluation.report.tables import breakdown_table, report_groups
from quoteweave.evaluation.scoring.breakdowns import BY_POSITION, POSITION_FIGURE, text_first
from quoteweave.evaluation.statistics.intervals import Estimate

_HEIGHT = 0.21
"""Height of a bar and its gap, in inches."""
INTERVAL = "Thin lines are 95 % intervals: where two of them overlap widely, the difference may be chance."
_F1_FIGURES = ("overall.f1", "image.f1.pooled", "text.f1.pooled")


def selection_plot(report: Report) -> Plot | None:
    """Bars of the F1 on all, image and text quotes, one bar a run."""
    known = report.known(_F1_FIGURES)
    if not known:
        return None
    with style("selection"):
        figure, axes = panels(len(known), height=0.3 + _HEIGHT * len(report.runs))
        for axis, name in zip(axes, known, strict=True):
            _draw_bars(
                axis,
                [shortened(run.name) for run in report.runs],
                [run.scores.figures.get(name) for run in report.runs],
            )
            axis.set(title=label(name), xlabel="%")
        return make_plot(
            figure,
            "selection",
            title="How well the gold quotes are cited",
            says=f"The longer a bar, the more of the gold quotes a run cites, and the less else. {INTERVAL}",
        )


def tokens_plot(report: Report) -> Plot | None:
    """The main figure against output tokens (Figure 7)."""
    return _scatter(
        report,
        "tokens.output",
        "f1-by-tokens",
        title="Quality against length",
        says="Each mark is a run. High and far left is best: good citations from few tokens. Tokens are as the "
        "endpoint counted them, thinking included; those of different models are not the same.",
    )


def judge_plot(report: Report) -> Plot | None:
    """The main figure against the judge's average (Figure 7)."""
    return _scatter(
        report,
        "judge.average",
        "f1-by-judge",
        title="Quality of citations against quality of answers",
        says="Each mark is a run. Higher, it cites better; further right, a judge found its answers better. "
        + INTERVAL,
    )


def positions_plot(report: Report) -> Plot | None:
    """Recall of gold quotes by their place in the context (Figure 8)."""
    places = report_groups(report, BY_POSITION)
    if not places:
        return None
    # Places without gold quotes keep their room, so that distances on the axis are distances in the context.
    numbered = [(late, number) for late, number in map(text_first, places)]
    texts = max((number for late, number in numbered if not late), default=-1)
    xs = [number + late * (texts + 1) for late, number in numbered]
    with style("recall-by-position"):
        figure, axes = panels(len(report.runs), height=1.45)
        for axis, run in zip(axes, report.runs, strict=True):
            for other in report.runs:
                for line in _by_position(other, places, xs) if other is not run else ():
                    _draw_line(axis, line, FAINT)
            for line in _by_position(run, places, xs):
                _draw_line(axis, line, HIGHLIGHT, band=True)
            axis.set(ylim=(0, 100), title=_panel_title(report, run))
            shown = [(x, x if x <= texts else x - texts - 1) for x in range(1, max(xs) + 1)]
            shown = [(x, number) for x, number in shown if number % 3 == 1]
            axis.set_xticks([x for x, _ in shown], [str(number) for _, number in shown])
        figure.supylabel("gold quotes cited, %", color=INK, fontsize=8.5)
        figure.supxlabel("place in the context: text quotes, then image quotes", color=INK, fontsize=8.5)
        return make_plot(
            figure,
            "recall-by-position",
            title="Recall of gold quotes by their place in the context",
            says="Each panel is a run in blue, its 95 % interval shaded, before all others in grey. A line that "
            "falls means that quotes standing late are overlooked.",
            table=breakdown_table(report, BY_POSITION),
        )


def breakdown_plot(report: Report, breakdown: str) -> Plot | None:
    """Bars of the main figure by the groups of a breakdown, one panel a run (Figures 9 to 11)."""
    groups, main = report_groups(report, breakdown), report.main
    if not groups or main is None:
        return None
    with style(f"by-{breakdown}"):
        figure, axes = panels(len(report.runs), height=0.35 + _HEIGHT * len(groups))
        for axis, run in zip(axes, report.runs, strict=True):
            figures_by_group = run.scores.breakdowns.get(breakdown, {})
            _draw_bars(
                axis,
                [shortened(group_label(group)) for group in groups],
                [figures_by_group.get(group, {}).get(main) for group in groups],
            )
            axis.set_title(_panel_title(report, run))
            if (overall := run.value(main)) is not None:
                axis.axvline(100 * overall, color=INK, linewidth=0.8, linestyle=(0, (3, 2)))
        figure.supxlabel(f"{label(main)}, %", color=INK, fontsize=8.5)
        return make_plot(
            figure,
            f"by-{breakdown.replace('_', '-')}",
            title=f"{label(main)} by {breakdown_label(breakdown)}",
            table=breakdown_table(report, breakdown),
        )


def _scatter(report: Report, across: str, name: str, *, title: str, says: str) -> Plot | None:
    main = report.main
    placed = [] if main is None else [run for run in report.runs if None not in (run.value(across), run.value(main))]
    if main is None or not placed:
        return None
    with style(name):
        figure, (axis,) = panels(1, height=3.1)
        for position, run in enumerate(report.runs):
            if run in placed:
                _draw_mark(axis, run, (across, main), position)
        axis.set(xlabel=with_unit(across), ylabel=with_unit(main))
        most = max(unit(across).scale * (run.value(across) or 0) for run in placed)
        axis.set(ylim=(0, 100), xlim=(0, MAX_SCORE if across in JUDGE else 1.1 * most or 1))
        figure.legend(loc="outside right upper", handletextpad=0.3, labelspacing=0.7)
        absent = [run.name for run in report.runs if run not in placed]
        missing = f" Not shown, for lack of {label(across)}: {', '.join(absent)}." if absent else ""
        return make_plot(figure, name, title=title, says=says + missing)


class _Point(NamedTuple):
    """An estimate as drawn, in its unit; `below` and `above` are the extents of its interval, 0 without one."""

    at: float
    value: float
    below: float
    above: float


def _points(xs: Sequence[float], estimates: Sequence[Estimate | None], scale: float = 100) -> list[_Point]:
    """The estimates that have a value, each at its position."""
    return [
        _Point(place, scale * estimate.value, *_arms(estimate.value, estimate, scale))
        for place, estimate in zip(xs, estimates, strict=True)
        if estimate is not None and estimate.value is not None
    ]


def _arms(value: float, estimate: Estimate, scale: float) -> tuple[float, float]:
    # If there are few groups, an interval may not contain its value.
    low, high = estimate.bounds or (value, value)
    return max(0.0, scale * (value - low)), max(0.0, scale * (high - value))


def _draw_mark(axis: Any, run: RunReport, figures: tuple[str, str], place: int) -> None:
    (x,), (y,) = (_points([0], [run.scores.figures[name]], unit(name).scale) for name in figures)
    axis.errorbar(
        x.value,
        y.value,
        xerr=[[x.below], [x.above]],
        yerr=[[y.below], [y.above]],
        fmt=MARKERS[place % len(MARKERS)],
        color=COLOURS[place % len(COLOURS)],
        markersize=6,
        elinewidth=0.9,
        linestyle="none",
        clip_on=False,
        label=shortened(run.name),
    )


def _draw_bars(axis: Any, names: Sequence[str], estimates: Sequence[Estimate | None]) -> None:
    """Draw horizontal bars, the first on top; a name without a value keeps its place."""
    points = _points(range(len(names)), estimates)
    axis.barh([point.at for point in points], [point.value for point in points], height=0.66, color=BAR)
    for point in points:
        ends = (point.value - point.below, point.value + point.above)
        axis.plot(ends, (point.at, point.at), color=INK, linewidth=0.9, solid_capstyle="butt")
    axis.set_yticks(range(len(names)), names)
    axis.set(xlim=(0, 100), ylim=(len(names) - 0.4, -0.6))
    axis.grid(visible=False, axis="y")


def _draw_line(axis: Any, points: Sequence[_Point], colour: str, *, band: bool = False) -> None:
    xs, values = [point.at for point in points], [point.value for point in points]
    if not band:
        axis.plot(xs, values, color=colour, linewidth=0.8)
        return
    axis.plot(xs, values, color=colour, linewidth=1.6, marker=".", markersize=4)
    bottom, top = [p.value - p.below for p in points], [p.value + p.above for p in points]
    axis.fill_between(xs, bottom, top, color=colour, alpha=0.2, linewidth=0)


def _by_position(run: RunReport, places: Sequence[str], xs: Sequence[int]) -> list[list[_Point]]:
    """The points of a line for text quotes, and of one for image quotes."""
    figures_by_place = run.scores.breakdowns.get(BY_POSITION, {})
    points = _points(xs, [figures_by_place.get(place, {}).get(POSITION_FIGURE) for place in places])
    texts = {x for x, place in zip(xs, places, strict=True) if place.startswith("text")}
    return [[point for point in points if (point.at in texts) == is_text] for is_text in (True, False)]


def _panel_title(report: Report, run: RunReport) -> str:
    return shortened(run.name, 32 if len(report.runs) > 1 else 80)


def risk_plot(report: CalibrationReport) -> Plot:
    """Risk against coverage, with the requested risk and the threshold. Raises MissingExtra."""
    with style("risk-coverage"):
        figure, axes = panels(1, height=3.0)
        coverage, risk = ([100 * getattr(point, name) for point in report.curve] for name in ("coverage", "risk"))
        axes[0].plot(coverage, risk, color=HIGHLIGHT, drawstyle="steps-post", marker="." if len(risk) < 2 else "")
        axes[0].axhline(100 * report.risk, color=FAINT, linestyle="--", linewidth=1)
        if report.chosen is not None:
            at = 100 * report.chosen.coverage, 100 * report.chosen.risk
            axes[0].plot(*at, "o", color=INK)
            label = f"threshold {report.chosen.threshold:.2f}"
            axes[0].annotate(label, at, xytext=(-6, 8), textcoords="offset points", ha="right")
        axes[0].set(xlabel="answers given, %", ylabel="of these wrong, %", xlim=(0, 102), ylim=(0, None))
        return make_plot(figure, "risk-coverage", title="What is gained by giving only the surest answers")


MEASURES = {"usd": "US dollars a question", "seconds": "seconds a question", "actions": "actions an excerpt"}
"""Columns of questions' rows whose distributions are shown, with the labels of their axes."""
_LINES = ("-", "--", ":", "-.")


def distributions_plot(report: Report) -> Plot | None:
    """A panel for each known measure, a line for each run; None if none is known for two questions."""
    measures = {
        name: axis_label
        for name, axis_label in MEASURES.items()
        if any(len(_values(run, name)) > 1 for run in report.runs)
    }
    if not measures:
        return None
    from matplotlib.figure import Figure

    with style("distributions"):
        figure = Figure(figsize=(WIDTH, 2.6))
        axes = figure.subplots(1, len(measures), squeeze=False, sharey=True)[0]
        for axis, (name, axis_label) in zip(axes, measures.items(), strict=True):
            for position, run in enumerate(report.runs):
                if values := _values(run, name):
                    _draw_distribution(axis, values, position, shortened(run.name))
            axis.set(xlabel=axis_label, ylim=(0, 100), xlim=(0, None))
            axis.locator_params(axis="x", nbins=5)
        axes[0].set_ylabel("questions that took no more, %")
        lines = {line.get_label(): line for axis in axes for line in axis.get_lines()}
        if len(report.runs) > 1:
            figure.legend(lines.values(), lines, loc="outside upper right", ncols=min(3, len(lines)))
        return make_plot(
            figure,
            "distributions",
            title="What questions took",
            says="A line tells of each price, time or number of actions the share of a run's questions that took no "
            "more; where it meets 50 % is the median. A long way to the right at the top are few questions that took "
            f"much. {_medians(report, list(measures))}",
        )


def _values(run: RunReport, name: str) -> list[float]:
    """The known values of a column over the questions that did not fail, sorted."""
    values = (question.row.get(name) for question in run.scores.questions)
    return sorted(value for value in values if value is not None and math.isfinite(value))


def _draw_distribution(axis: Any, values: Sequence[float], place: int, name: str) -> None:
    shares = [100 * (number + 1) / len(values) for number in range(len(values))]
    style = {"color": COLOURS[place % len(COLOURS)], "linestyle": _LINES[place // len(COLOURS) % len(_LINES)]}
    axis.plot(
        [values[0], *values],
        [0.0, *shares],
        drawstyle="steps-post",
        linewidth=1.4,
        label=name,
        **style,
    )


def _medians(report: Report, names: Sequence[str]) -> str:
    """The median and the 90th percentile of each measure for each run, and the runs for which none is known."""
    sentences, unknown = [], []
    for run in report.runs:
        parts = [
            f"{label(name)} {_short(quantile(values, 0.5))} (90 %: {_short(quantile(values, 0.9))})"
            for name in names
            if (values := _values(run, name))
        ]
        if parts:
            sentences.append(f"{run.name}: {', '.join(parts)}")
        else:
            unknown.append(run.name)
    without = f" Not known of {join_names(unknown)}." if unknown else ""
    return f"Medians, and what 90 % took at most: {'; '.join(sentences)}.{without}"


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest of the sorted values that at least this share of them does not exceed.

    >>> quantile([1.0, 2.0, 10.0, 20.0], 0.5)
    2.0
    """
    return values[max(0, math.ceil(share * len(values)) - 1)]


def _short(value: float) -> str:
    return f"{value:.3g}"
