"""Bar and line charts, drawn as lines, rectangles and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from samples.sheet import Face, Pen, Point, Rect, Sheet

GRID = Pen("#d0d0d0", 0.4)
AXIS = Pen("#333333", 0.8)


@dataclass(frozen=True)
class Series:
    """One row of values and how it is told from the others."""

    name: str
    values: tuple[float, ...]
    colour: str
    dash: tuple[float, ...] = ()
    marker: Literal["dot", "square", "triangle"] = "dot"


@dataclass(frozen=True)
class Scale:
    """The vertical axis: it begins at `low`."""

    title: str
    low: float
    high: float
    step: float

    def y(self, value: float, plot: Rect) -> float:
        """Where a value stands in the plot."""
        return plot.bottom - (value - self.low) / (self.high - self.low) * plot.height


@dataclass(frozen=True)
class Chart:
    """What bar and line charts have in common."""

    categories: tuple[str, ...]
    series: tuple[Series, ...]
    scale: Scale
    font: str
    size: float
    category_title: str = ""

    @property
    def face(self) -> Face:
        """How its labels are set."""
        return Face(self.font, self.size, "#222222")


def draw_bars(sheet: Sheet, chart: Chart, box: Rect) -> None:
    """Bars in groups, one group for each category, with the value above each bar."""
    plot = _axes(sheet, chart, box)
    group = plot.width / len(chart.categories)
    width = group * 0.68 / len(chart.series)
    for number in range(len(chart.categories)):
        left = plot.x + group * number + group * 0.16
        for place, series in enumerate(chart.series):
            value = series.values[number]
            y = chart.scale.y(value, plot)
            bar = Rect(left + place * width, y, width, plot.bottom - y)
            sheet.rect(bar, Pen("#333333", 0.4), fill=series.colour)
            # A white patch keeps the line of the grid out of the number.
            middle = bar.x + width / 2
            patch = Rect(middle - chart.size, y - chart.size - 2, chart.size * 2, chart.size)
            sheet.rect(patch, Pen(width=0), fill="#ffffff")
            sheet.label((middle, y - 3), f"{value:g}", chart.face, "centre")
    # The axis goes last, over the feet of the bars.
    sheet.line([(plot.x, plot.bottom), (plot.right, plot.bottom)], AXIS)
    _legend(sheet, chart, box, bars=True)


def draw_lines(sheet: Sheet, chart: Chart, box: Rect) -> None:
    """A line through the values of each series, with a marker at each value."""
    plot = _axes(sheet, chart, box)
    sheet.line([(plot.x, plot.bottom), (plot.right, plot.bottom)], AXIS)
    group = plot.width / len(chart.categories)
    for series in chart.series:
        points = [
            (plot.x + group * (number + 0.5), chart.scale.y(value, plot)) for number, value in enumerate(series.values)
        ]
        sheet.line(points, Pen(series.colour, 1.2, series.dash))
        for point in points:
            _marker(sheet, series, point)
    _legend(sheet, chart, box, bars=False)


def _axes(sheet: Sheet, chart: Chart, box: Rect) -> Rect:
    """Draw the frame of the chart and return the room for the data."""
    size = chart.size
    below = size * (3.4 if chart.category_title else 1.8)
    plot = Rect(box.x + size * 4.2, box.top + size * 2.2, box.width - size * 4.6, box.height - size * 2.2 - below)
    scale = chart.scale
    ticks = round((scale.high - scale.low) / scale.step)
    for number in range(ticks + 1):
        value = scale.low + number * scale.step
        y = scale.y(value, plot)
        sheet.line([(plot.x, y), (plot.right, y)], GRID)
        sheet.line([(plot.x - 3, y), (plot.x, y)], AXIS)
        sheet.label((plot.x - 5, y + size * 0.35), f"{value:g}", chart.face, "right")
    sheet.line([(plot.x, plot.top), (plot.x, plot.bottom)], AXIS)
    sheet.upright((box.x + size, plot.top + plot.height / 2), scale.title, chart.face)
    group = plot.width / len(chart.categories)
    for number, category in enumerate(chart.categories):
        sheet.label((plot.x + group * (number + 0.5), plot.bottom + size * 1.3), category, chart.face, "centre")
    if chart.category_title:
        middle = plot.x + plot.width / 2
        sheet.label((middle, box.bottom - size * 0.4), chart.category_title, chart.face, "centre")
    return plot


def _legend(sheet: Sheet, chart: Chart, box: Rect, *, bars: bool) -> None:
    """The names of the series in one line above the plot."""
    x, baseline = box.x + chart.size * 4.2, box.top + chart.size
    middle = baseline - chart.size * 0.35
    for series in chart.series:
        if bars:
            sheet.rect(Rect(x, middle - 4, 8, 8), Pen("#333333", 0.4), fill=series.colour)
            x += 12
        else:
            sheet.line([(x, middle), (x + 18, middle)], Pen(series.colour, 1.2, series.dash))
            _marker(sheet, series, (x + 9, middle))
            x += 22
        sheet.label((x, baseline), series.name, chart.face)
        # Half the size is about the width of a letter; the names are short, so the guess does no harm.
        x += len(series.name) * chart.size * 0.5 + 12


def _marker(sheet: Sheet, series: Series, at: Point) -> None:
    x, y = at
    if series.marker == "dot":
        sheet.dot(at, 2.2, series.colour)
        return
    shapes: dict[str, Sequence[Point]] = {
        "square": [(x - 2, y - 2), (x + 2, y - 2), (x + 2, y + 2), (x - 2, y + 2)],
        "triangle": [(x, y - 2.8), (x + 2.6, y + 1.9), (x - 2.6, y + 1.9)],
    }
    sheet.line(shapes[series.marker], Pen(width=0), closed=True, fill=series.colour)
