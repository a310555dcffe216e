"""Extracts a chart's data as rows of a label and its values, separated by " | ", where the geometry is unambiguous.

`Grain | 45%` is a row of a chart with one series. If bars of several colours share a label, a first row names the
series, and each bar's value is in the column of its colour. Uncertain values are not paired: either all values of a
chart are paired or none, and its text is then its words in reading order.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull, share_in
from quoteweave.documents.charts.bars import MIN_BARS, ChartRow, Stack, read_bars
from quoteweave.documents.charts.pies import find_pie, read_pie
from quoteweave.documents.charts.rectangles import Colour, Rectangle, are_alike, find_rectangles
from quoteweave.documents.charts.tokens import Token, amount, box_of, chart_tokens, join_tokens, phrases_of, rotated
from quoteweave.documents.layout.blocks import text_by_rows
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.raw_page import Raster

# How far around a chart its legend may be, in points: left, above, right, below.
LEGEND_REACH = (20.0, 90.0, 20.0, 60.0)
SWATCH = 10.0
MAX_SERIES = 8
# A picture with more words is a page of text.
MAX_TOKENS = 600
EMPTY = "-"

Names = dict[Colour, tuple[Token, ...]]
"""The words that name each series, by its colour."""


@dataclass(frozen=True, slots=True)
class ChartValues:
    """A chart's text with labels and values paired, and its box, which includes a legend outside the chart."""

    box: Box
    text: str


def read_chart(picture: Raster, box: Box, lines: Sequence[Line], page_lines: Sequence[Line] = ()) -> ChartValues | None:
    """Pair the labels and values of a chart; None if that is uncertain.

    `lines` are those of the chart, `page_lines` those of its page, and `box` is in points on the picture of the page.
    """
    reading = _read_series(picture, box, lines, page_lines)
    if reading is None:
        return None
    if reading.names == {}:
        return _extended(reading, box, lines, page_lines)
    # The legend may be outside, and so may bars of the same colours, between it and the chart or beyond it.
    near = _legend_area(picture, box)
    wider = _read_series(picture, near, [line for line in page_lines if share_in(line.box, near) > 0.6], page_lines)
    if wider is not None and wider.names is not None and len(wider.rows) >= len(reading.rows):
        is_same = reading.names is None or _texts_of_names(reading.names) == _texts_of_names(wider.names)
        reading = wider if is_same else reading
    return None if reading.names is None else _extended(reading, box, lines, page_lines)


def _texts_of_names(names: Names) -> dict[Colour, str]:
    return {colour: join_tokens(name) for colour, name in names.items()}


def _extended(reading: "_ChartReading", box: Box, lines: Sequence[Line], page_lines: Sequence[Line]) -> ChartValues:
    """Extend the box to what was read outside it, and make the text."""
    inner = {id(word) for line in lines for word in line.words}
    if any(id(word) not in inner for word in reading.words):
        box = hull([box, reading.box])
        lines = [line for line in page_lines if share_in(line.box, box) > 0.6]
    return ChartValues(box, _text_of_rows(reading.rows, reading.names or {}, lines))


@dataclass(frozen=True, slots=True)
class _ChartReading:
    """The rows of a chart and the names of its series (None if it has several without names)."""

    rows: list[ChartRow]
    names: Names | None

    @property
    def box(self) -> Box:
        """The box around the words that were read, with the swatches left of them."""
        x1, y1, x2, y2 = hull(word.box for word in self.words)
        return (x1 - SWATCH, y1 - 2, x2 + 2, y2 + 2)

    @property
    def words(self) -> list[Word]:
        """The words used in rows and names."""
        values = [token for row in self.rows for _, token in row.cells if token is not None]
        names = [token for name in (self.names or {}).values() for token in name]
        labels = [token for row in self.rows for token in row.label]
        return [word for token in (*names, *labels, *values) for word in token.words]


def _read_series(picture: Raster, box: Box, lines: Sequence[Line], page_lines: Sequence[Line]) -> _ChartReading | None:
    """What the words of a chart give: rows of bars, of columns, of a pie or of shares; None if none of these."""
    tokens = chart_tokens(lines)
    if sum(token.is_value for token in tokens) < MIN_BARS or len(tokens) > MAX_TOKENS:
        return None
    word_boxes = [word.box for line in lines for word in line.words]
    rectangles = find_rectangles(picture, box, word_boxes)
    bars = read_bars(rectangles, tokens)
    rows = _rows_without_bars(picture, box, word_boxes, rectangles, tokens) if bars is None else bars
    if rows is None:
        return None
    if all(len(row.cells) == 1 for row in rows):
        return _ChartReading(rows, {})
    colours = list(dict.fromkeys(colour for row in rows for colour, _ in row.cells))
    names = series_from_legend(colours, rectangles, tokens) or (
        None if bars is None else series_from_headings(rows, chart_tokens(page_lines))
    )
    return _ChartReading(rows, names if len(colours) <= MAX_SERIES else None)


def _rows_without_bars(
    picture: Raster, box: Box, word_boxes: Sequence[Box], rectangles: Sequence[Rectangle], tokens: Sequence[Token]
) -> list[ChartRow] | None:
    """The rows of columns, else of a pie, else of shares."""
    columns = read_bars(*_rotated(rectangles, tokens), columns=True)
    if columns is not None:
        return columns
    pie = find_pie(picture, box, word_boxes)
    if pie is not None:
        names = series_from_legend([part.colour for part in pie.slices], rectangles, tokens)
        if (slices := read_pie(pie, tokens, names)) is not None:
            return slices
    return read_shares(tokens)


def _legend_area(picture: Raster, box: Box) -> Box:
    left, above, right, below = LEGEND_REACH
    height, width = (side / picture.scale for side in picture.pixels.shape[:2])
    low = max(0.0, box[0] - left), max(0.0, box[1] - above)
    return (*low, min(width, box[2] + right), min(height, box[3] + below))


def _rotated(rectangles: Sequence[Rectangle], tokens: Sequence[Token]) -> tuple[list[Rectangle], list[Token]]:
    return (
        [replace(rectangle, box=rotated(rectangle.box)) for rectangle in rectangles],
        [replace(token, box=rotated(token.box)) for token in tokens],
    )


def _text_of_rows(rows: Sequence[ChartRow], names: Names, lines: Sequence[Line]) -> str:
    """The header of series names, the rows, and then the remaining words, row by row."""
    colours = list(names)
    table = [[EMPTY, *(join_tokens(names[colour]) for colour in colours)]] if names else []
    used = {id(word) for name in names.values() for token in name for word in token.words}
    for row in rows:
        cells = dict(row.cells)
        values = [cells.get(colour) for colour in colours] if names else [row.cells[0][1]]
        label = join_tokens(row.label).rstrip(":")
        table.append([label, *(EMPTY if value is None else value.text for value in values)])
        tokens = [*row.label, *(value for value in values if value is not None)]
        used |= {id(word) for token in tokens for word in token.words}
    other_lines = [
        replace(line, words=words)
        for line in lines
        if (words := tuple(word for word in line.words if id(word) not in used and word.text != "|"))
    ]
    return "\n".join([*(" | ".join(cells) for cells in table), *filter(None, [text_by_rows(other_lines)])])


MIN_SHARES = 3
# The range of sums of rounded percentages.
WHOLE = (98.0, 102.0)
# In font sizes: the blank between the rows of a label, and how far its rows may be from a common middle.
LABEL_GAP, OFF_MIDDLE = 0.7, 1.0
MAX_LABEL_WORDS = 10
# In shares each row has a colour of its own, which says no more than its label.
NO_COLOUR = (0, 0, 0)

TokenLines = Sequence[Sequence[Token]]


def read_shares(tokens: Sequence[Token]) -> list[ChartRow] | None:
    """Return the shares with their labels: all in the row of their label, all directly below it, or all directly above.

    None if the percentages do not sum to a hundred, there are other numbers, or a label could belong to two shares.
    """
    shares = [token for token in tokens if token.is_value and token.text.endswith("%")]
    has_other_values = any(token.is_value and not token.is_year for token in tokens if not token.text.endswith("%"))
    if len(shares) < MIN_SHARES or has_other_values or not WHOLE[0] <= _sum(shares) <= WHOLE[1]:
        return None
    certain = [labels for labels in _possible_labels(shares, tokens) if _are_certain(labels)]
    if len(certain) != 1:
        return None
    return [ChartRow(label, (), ((NO_COLOUR, share),)) for label, share in zip(certain[0], shares, strict=True)]


def _possible_labels(shares: Sequence[Token], tokens: Sequence[Token]) -> list[list[tuple[Token, ...]]]:
    """The labels of the shares in each way in which they may belong together; none if only some have words beside them.

    If all have words beside them, these and what is above are the labels; otherwise what is above, or what is below.
    """
    lines = [tuple(line_tokens) for _, line_tokens in itertools.groupby(tokens, key=lambda token: token.line)]
    free_lines = [line for line in lines if not any(share in line for share in shares)]
    lines_of_shares = [next(line for line in lines if share in line) for share in shares]
    if all(len(line) == 1 for line in lines_of_shares):
        return [[_adjoining_words(line, free_lines, way) for line in lines_of_shares] for way in (-1, 1)]
    if any(len(line) == 1 for line in lines_of_shares):
        return []
    labels = [
        (*_adjoining_words(line, free_lines, -1), *(word for word in line if word is not share))
        for line, share in zip(lines_of_shares, shares, strict=True)
    ]
    return [labels]


def _sum(shares: Sequence[Token]) -> float:
    """The sum of the percentages; 0 if one cannot be parsed."""
    try:
        return sum(amount(share.text)[0] for share in shares)
    except ValueError:
        return 0.0


def _adjoining_words(line: Sequence[Token], free: TokenLines, way: int) -> tuple[Token, ...]:
    """The lines above (-1) or below (1) a line, as long as each is next to the one before and has the same middle."""
    adjoining: list[Sequence[Token]] = []
    last = box_of(line)
    while (following := next((candidate for candidate in free if _is_next_to(last, candidate, way)), None)) is not None:
        adjoining.append(following)
        last = box_of(following)
    return tuple(token for adjoining_line in adjoining[::way] for token in adjoining_line)


def _is_next_to(box: Box, other: Sequence[Token], way: int) -> bool:
    size, other_box = other[0].size, box_of(other)
    gap = other_box[1] - box[3] if way > 0 else box[1] - other_box[3]
    off_centre = abs((box[0] + box[2]) - (other_box[0] + other_box[2])) / 2
    return -0.5 * size < gap < LABEL_GAP * size and off_centre < OFF_MIDDLE * size


def _are_certain(labels: Sequence[tuple[Token, ...]]) -> bool:
    """Whether each is a label, and no two share a word of the page or have the same text."""
    used = [id(token) for label in labels for token in label]
    names = {" ".join(token.text for token in label).casefold() for label in labels}
    are_words = all(any(map(str.isalpha, "".join(token.text for token in label))) for label in labels)
    are_short = all(len(label) <= MAX_LABEL_WORDS for label in labels)
    return are_words and are_short and len(set(used)) == len(used) and len(names) == len(labels)


# The height of a swatch in font sizes of the words beside it, and its largest ratio of width to height.
SWATCH_HEIGHT = (0.3, 1.6)
WIDEST_SWATCH = 3.6
# The blank between a swatch and its words, and between these words, in font sizes.
BLANK = 1.3
# How far above the first row the names of series may be, in points; how far apart rows of a name may be, in font sizes.
ABOVE = 30.0
BESIDE = 40.0
BETWEEN = 0.6
MAX_WORDS = 10


def series_from_legend(
    colours: Sequence[Colour], rectangles: Sequence[Rectangle], tokens: Sequence[Token]
) -> Names | None:
    """The series names right of the swatches of a legend; None if a colour has no swatch or several."""
    words = [token for token in tokens if token.is_word]
    named_swatches = [(swatch, name) for swatch in rectangles if (name := _beside(swatch, words, rectangles))]
    names: Names = {}
    for colour in colours:
        candidates = [name for swatch, name in named_swatches if are_alike(swatch.colour, colour)]
        if len(candidates) != 1:
            return None
        names[colour] = candidates[0]
    name_ids = {id(token) for name in names.values() for token in name}
    if any(_may_be_continued_by(name, word) for name in names.values() for word in words if id(word) not in name_ids):
        return None
    texts = {" ".join(token.text for token in name) for name in names.values()}
    return names if len(texts) == len(names) else None


def _may_be_continued_by(name: Sequence[Token], word: Token) -> bool:
    """Whether the word is directly below a name, and so could be its second row."""
    box, size = box_of(name), name[0].size
    under = -0.3 * size < word.box[1] - box[3] < 0.5 * size
    return under and word.box[0] < box[2] and word.box[2] > box[0] and not word.is_value


def _beside(swatch: Rectangle, words: Sequence[Token], rectangles: Sequence[Rectangle]) -> tuple[Token, ...]:
    """The words that follow a swatch in its row, up to a blank or the next swatch; none if it is no swatch."""
    x1, y1, x2, y2 = swatch.box
    middle, high = (y1 + y2) / 2, y2 - y1
    behind = (word for word in words if word.box[1] < middle < word.box[3] and word.box[0] > x2 - 2)
    row = sorted(behind, key=lambda word: word.box[0])
    name: list[Token] = []
    edge = x2
    for word in row:
        if not SWATCH_HEIGHT[0] * word.size <= high <= SWATCH_HEIGHT[1] * word.size or x2 - x1 > WIDEST_SWATCH * high:
            break
        between = (edge + 0.5, y1, word.box[0], y2)
        if word.box[0] - edge > BLANK * word.size or any(_stands_in(bar.box, between) for bar in rectangles):
            break
        name.append(word)
        edge = word.box[2]
    value = len(name) == 1 and name[0].is_value and not name[0].is_year
    return tuple(name) if len(name) <= MAX_WORDS and not value else ()


def _stands_in(box: Box, place: Box) -> bool:
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return place[0] < x < place[2] and place[1] < y < place[3]


def series_from_headings(rows: Sequence[ChartRow], tokens: Sequence[Token]) -> Names | None:
    """The words above the bars of each colour, if all rows have one stack with its bars in the same order.

    None if a colour has no words above it. These must be above the first row's bar, or where there are no bars of
    other colours in any row.
    """
    stacks = [row.stacks[0] for row in rows if len(row.stacks) == 1]
    orders = {tuple(bar.colour for bar in stack.bars) for stack in stacks}
    first = min(stacks, key=lambda stack: stack.box[1], default=None)
    if first is None or len(stacks) < len(rows) or len(orders) != 1:
        return None
    phrases = _phrases([token for token in tokens if token.is_word], first)
    names: Names = {}
    for bar, (x1, x2) in zip(first.bars, _reaches(stacks, first), strict=True):
        phrases_above = [phrase for phrase in phrases if x1 <= _middle_of(phrase) <= x2]
        if len(phrases_above) != 1:
            return None
        names[bar.colour] = phrases_above[0]
    are_short = all(len(name) <= MAX_WORDS for name in names.values())
    return names if are_short and len(phrases) == len(names) else None


def _middle_of(phrase: Sequence[Token]) -> float:
    box = box_of(phrase)
    return (box[0] + box[2]) / 2


def _reaches(stacks: Sequence[Stack], first: Stack) -> list[tuple[float, float]]:
    """The range of x in which the bars of each colour are: over all rows, or in the first if they overlap."""
    boxes = [hull(bar.box for bar in bars) for bars in zip(*(stack.bars for stack in stacks), strict=True)]
    if any(a[2] > b[0] + 2 for a, b in itertools.pairwise(boxes)):
        boxes = [bar.box for bar in first.bars]
    return [(box[0], box[2]) for box in boxes]


def _phrases(words: Sequence[Token], first: Stack) -> list[tuple[Token, ...]]:
    """The words directly above a stack, with all words further up that are joined to them."""
    x1, y1, x2, _ = first.box
    higher = [word for word in words if word.middle[1] < y1 and x1 - BESIDE <= word.middle[0] <= x2 + BESIDE]
    groups = phrases_of(higher, down=BETWEEN)
    return [group for group in groups if any(word.middle[1] >= y1 - ABOVE for word in group)]
