"""Extracts a chart's data as rows of a label and its values, separated by " | ", where the geometry is unambiguous.

`Grain | 45%` is a row of a chart with one series; where bars of several colours share a label, a first row names the
series, and each bar's value stands in the column of its colour. What is not certain is not paired: a chart has all of
its values paired or none, and its text is then its words in reading order, as ever.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull, inside
from quoteweave.documents.charts.bars import MIN_BARS, Row, read_bars
from quoteweave.documents.charts.pies import read_shares
from quoteweave.documents.charts.rectangles import Rectangle, find_rectangles
from quoteweave.documents.charts.series import Names, series_from_headings, series_from_legend
from quoteweave.documents.charts.tokens import Token, chart_tokens, join_tokens, rotated
from quoteweave.documents.layout.blocks import text_by_rows
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.raw_page import Raster

# Points around a chart within which its legend may stand: left, above, right, below.
LEGEND_REACH = (20.0, 90.0, 20.0, 60.0)
SWATCH = 10.0
MAX_SERIES = 8
# More words are a page of text.
MAX_TOKENS = 600
EMPTY = "-"


@dataclass(frozen=True, slots=True)
class ChartValues:
    """A chart's text with labels and values paired, and its box, which includes a legend outside the chart."""

    box: Box
    text: str


def read_chart(picture: Raster, box: Box, lines: Sequence[Line], around: Sequence[Line] = ()) -> ChartValues | None:
    """Pair the labels and values of a chart; None where that is not certain.

    `lines` are those of the chart, `around` those of its page, and `box` is in points on the picture of the page.
    """
    read = _read(picture, box, lines, around)
    if read is not None and read.names is not None:
        return _placed(read, box, lines, around)
    if read is None:
        return None
    # The legend may stand outside, and so may bars between it and the chart.
    near = _reach(picture, box)
    wider = _read(picture, near, [line for line in around if inside(line.box, near) > 0.6], around)
    if wider is None or wider.names is None or len(wider.rows) < len(read.rows):
        return None
    return _placed(wider, box, lines, around)


def _placed(read: "_Read", box: Box, lines: Sequence[Line], around: Sequence[Line]) -> ChartValues:
    """Extend the box to what was read outside it, and make the text."""
    inner = {id(word) for line in lines for word in line.words}
    if any(id(word) not in inner for word in read.words):
        box = hull([box, read.box])
        lines = [line for line in around if inside(line.box, box) > 0.6]
    return ChartValues(box, _text(read.rows, read.names or {}, lines))


@dataclass(frozen=True, slots=True)
class _Read:
    """The rows of a chart and the names of its series (None if it has several without names)."""

    rows: list[Row]
    names: Names | None

    @property
    def box(self) -> Box:
        """Around the words that were read, with the swatches left of them."""
        x1, y1, x2, y2 = hull(word.box for word in self.words)
        return (x1 - SWATCH, y1 - 2, x2 + 2, y2 + 2)

    @property
    def words(self) -> list[Word]:
        """The words used in rows and names."""
        values = [token for row in self.rows for _, token in row.cells if token is not None]
        names = [token for name in (self.names or {}).values() for token in name]
        labels = [token for row in self.rows for token in row.label]
        return [word for token in (*names, *labels, *values) for word in token.words]


def _read(picture: Raster, box: Box, lines: Sequence[Line], around: Sequence[Line]) -> _Read | None:
    tokens = chart_tokens(lines)
    if sum(token.is_value for token in tokens) < MIN_BARS or len(tokens) > MAX_TOKENS:
        return None
    rectangles = find_rectangles(picture, box, [word.box for line in lines for word in line.words])
    columns = False
    rows = read_bars(rectangles, tokens)
    if rows is None:
        rows, columns = read_bars(*_turned(rectangles, tokens), columns=True), True
    if rows is None:
        rows = read_shares(tokens)
    if rows is None:
        return None
    if all(len(row.cells) == 1 for row in rows):
        return _Read(rows, {})
    colours = list(dict.fromkeys(colour for row in rows for colour, _ in row.cells))
    names = series_from_legend(colours, rectangles, tokens) or (
        None if columns else series_from_headings(rows, chart_tokens(around))
    )
    return _Read(rows, names if len(colours) <= MAX_SERIES else None)


def _reach(picture: Raster, box: Box) -> Box:
    left, above, right, below = LEGEND_REACH
    height, width = (side / picture.scale for side in picture.pixels.shape[:2])
    low = max(0.0, box[0] - left), max(0.0, box[1] - above)
    return (*low, min(width, box[2] + right), min(height, box[3] + below))


def _turned(rectangles: Sequence[Rectangle], tokens: Sequence[Token]) -> tuple[list[Rectangle], list[Token]]:
    return (
        [replace(one, box=rotated(one.box)) for one in rectangles],
        [replace(token, box=rotated(token.box)) for token in tokens],
    )


def _text(rows: Sequence[Row], names: Names, lines: Sequence[Line]) -> str:
    """The header of series names, the rows, and then the remaining words, row by row."""
    colours = list(names)
    table = [[EMPTY, *(join_tokens(names[colour]) for colour in colours)]] if names else []
    used = {id(word) for name in names.values() for token in name for word in token.words}
    for row in rows:
        cells = dict(row.cells)
        values = [cells.get(colour) for colour in colours] if names else [row.cells[0][1]]
        table.append([join_tokens(row.label), *(EMPTY if value is None else value.text for value in values)])
        tokens = [*row.label, *(value for value in values if value is not None)]
        used |= {id(word) for token in tokens for word in token.words}
    rest = [
        replace(line, words=words)
        for line in lines
        if (words := tuple(word for word in line.words if id(word) not in used and word.text != "|"))
    ]
    return "\n".join([*(" | ".join(cells) for cells in table), *filter(None, [text_by_rows(rest)])])
