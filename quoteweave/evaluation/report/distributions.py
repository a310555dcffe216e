"""The plot of what questions took: price, time and actions, as shares of the questions of each run."""

import math
from collections.abc import Sequence
from typing import Any

from quoteweave.evaluation.report.drawing import COLOURS, WIDTH, Plot, make_plot, shortened, style
from quoteweave.evaluation.report.labels import label
from quoteweave.evaluation.report.runs import Report, RunReport

MEASURES = {"usd": "US dollars a question", "seconds": "seconds a question", "actions": "actions an excerpt"}
"""Columns of questions' rows whose distributions are shown, and what the axis says."""
_LINES = ("-", "--", ":", "-.")


def distributions_plot(report: Report) -> Plot | None:
    """A panel for each measure that is known, a line for each run; None where none is known of two questions."""
    known = {name: said for name, said in MEASURES.items() if any(len(_values(run, name)) > 1 for run in report.runs)}
    if not known:
        return None
    from matplotlib.figure import Figure

    with style("distributions"):
        figure = Figure(figsize=(WIDTH, 2.6))
        axes = figure.subplots(1, len(known), squeeze=False, sharey=True)[0]
        for axis, (name, said) in zip(axes, known.items(), strict=True):
            for place, run in enumerate(report.runs):
                _line(axis, _values(run, name), place, shortened(run.name))
            axis.set(xlabel=said, ylim=(0, 100), xlim=(0, None))
        axes[0].set_ylabel("questions that took no more, %")
        handles, names = axes[0].get_legend_handles_labels()
        if len(report.runs) > 1:
            figure.legend(handles, names, loc="outside upper right", ncols=min(3, len(names)))
        return make_plot(
            figure,
            "distributions",
            title="What questions took",
            says="A line tells of each price, time or number of actions the share of a run's questions that took no "
            "more; where it meets 50 % is the median. A long way to the right at the top are few questions that took "
            f"much. {_medians(report, list(known))}",
        )


def _values(run: RunReport, name: str) -> list[float]:
    """The known values of a column over the questions that did not fail, in their order of size."""
    found = (question.row.get(name) for question in run.scores.questions)
    return sorted(value for value in found if value is not None and math.isfinite(value))


def _line(axis: Any, values: Sequence[float], place: int, name: str) -> None:
    shares = [100 * (number + 1) / len(values) for number in range(len(values))]
    style = {"color": COLOURS[place % len(COLOURS)], "linestyle": _LINES[place // len(COLOURS) % len(_LINES)]}
    axis.plot(
        [*values[:1], *values],
        [0.0] * bool(values) + shares,
        drawstyle="steps-post",
        linewidth=1.4,
        label=name,
        **style,
    )


def _medians(report: Report, names: Sequence[str]) -> str:
    """The median and the 90th percentile of each measure, of each run."""
    told = []
    for run in report.runs:
        parts = [
            f"{label(name)} {_short(quantile(values, 0.5))} (90 %: {_short(quantile(values, 0.9))})"
            for name in names
            if (values := _values(run, name))
        ]
        if parts:
            told.append(f"{run.name}: {', '.join(parts)}")
    return f"Medians, and what 90 % took at most: {'; '.join(told)}."


def quantile(values: Sequence[float], share: float) -> float:
    """The least of the sorted values that this share of them does not exceed.

    >>> quantile([1.0, 2.0, 10.0, 20.0], 0.5)
    2.0
    """
    return values[max(0, math.ceil(share * len(values)) - 1)]


def _short(value: float) -> str:
    return f"{value:.3g}"
