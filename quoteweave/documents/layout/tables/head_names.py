"""Names in the heads of tables that are above several columns, or were read as one line above several columns.

Of this head, "Quarter" is above two columns, and "2021 2020" may be one line:

                 Quarter          Year
               2021   2020    2021   2020
    Net sales   512    486   2,048  1,944
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations_with_replacement, pairwise, product, takewhile
from math import prod

from quoteweave.core.boxes import hull
from quoteweave.documents.layout.tables.cells import Row, is_data
from quoteweave.documents.layout.tables.columns import Column, columns_named_by, columns_over, middle
from quoteweave.documents.sources.lines import Line

# The most rows of a head.
MAX_ROWS = 4
# The least space between two names in one line, in heights of the line, and in spaces between words of a name.
MIN_SPACE = 0.7
MIN_WIDER = 2.0
# How far, in points, the middle of a name may be from the middle of the columns below it.
MAX_OFF_MIDDLE = 2.0
# If there are more ways to assign a row of names to columns, they are uncertain.
MAX_WAYS = 1000

_Span = range
"""The columns, from 1, below a name; 0 for the names of the rows."""


def with_names_parted(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows of a table, with a cell for each name above its numbers if several names were read as one line.

    Each of these is above a column of its own, and they are farther apart than the words of one name.
    """
    head = _rows_above_numbers(rows)
    return [*(_names_parted(row, columns) for row in head), *rows[len(head) :]]


def _rows_above_numbers(rows: Sequence[Row]) -> Sequence[Row]:
    return list(takewhile(lambda row: not is_data(row), rows))


def _names_parted(row: Row, columns: Sequence[Column]) -> Row:
    cells = [part for cell in row for part in _name_parts(cell)]
    places = columns_named_by(cells, columns)
    is_sure = None not in places and len(set(places)) == len(places)
    return cells if is_sure and all(len(columns_over(cell, columns)) == 1 for cell in cells) else row


def _name_parts(cell: Line) -> list[Line]:
    """The parts of a line between which there is more space than within any of them."""
    spaces = [right.box[0] - left.box[2] for left, right in pairwise(cell.words)]
    wide_spaces = [space for space in spaces if space >= MIN_SPACE * cell.height]
    widest_other = max((space for space in spaces if space not in wide_spaces), default=0.0)
    if not wide_spaces or min(wide_spaces) < MIN_WIDER * widest_other:
        return [cell]
    starts = [0, *(at for at, space in enumerate(spaces, 1) if space in wide_spaces), len(cell.words)]
    parts = (cell.words[start:end] for start, end in pairwise(starts))
    return [replace(cell, words=words, box=hull(word.box for word in words)) for words in parts]


def names_with_spans(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[int, tuple[str, ...]]:
    """How many rows of a head have names that span columns, and each column's names in all of them, the rows' first.

    Of the head above, 2 and ("", "Quarter 2021", "Quarter 2020", "Year 2021", "Year 2020"). Returns 0 and no names
    unless it is certain which columns each name spans: it is above their middle.
    """
    head = _rows_above_numbers(rows)
    if not 1 < len(head) <= MAX_ROWS or len(head) == len(rows):
        return 0, ()
    *upper_rows, lowest_row = head
    places = [place for place in columns_named_by(lowest_row, columns) if place is not None]
    if len(set(places)) < len(lowest_row):
        return 0, ()
    named_columns = {place: cell for place, cell in zip(places, lowest_row, strict=True) if place}
    spans = [_spans_of(row, named_columns, columns) for row in upper_rows]
    if not all(spans) or all(len(span) == 1 for row_spans in spans for span in row_spans):
        return 0, ()
    spans.append([range(place, place + 1) for place in places])
    names = [list[str]() for _ in range(len(columns) + 1)]
    for row, row_spans in zip(head, spans, strict=True):
        for cell, span in zip(row, row_spans, strict=True):
            for at in span:
                names[at].append(cell.text)
    return (len(head), tuple(map(" ".join, names))) if all(names[1:]) else (0, ())


def _spans_of(row: Row, named_columns: Mapping[int, Line], columns: Sequence[Column]) -> Sequence[_Span]:
    """The columns that each name of a row spans; none if that is uncertain.

    `named_columns` are those with a name in the last row of the head, and this name.
    """
    edges = [
        (column.left, column.right, *(named_columns[at].box[::2] if at in named_columns else ()))
        for at, column in enumerate(columns, 1)
    ]
    sides = [(min(xs), max(xs)) for xs in edges]
    possible = [_possible_spans(cell, sides, named_columns) for cell in row]
    if prod(map(len, possible)) > MAX_WAYS:
        return []
    ways = [way for way in product(*possible) if all(left.stop <= right.start for left, right in pairwise(way))]
    if len(ways) > 1:
        names = [named_columns[at].text if at in named_columns else "" for at in range(1, len(columns) + 1)]
        ways = [way for way in ways if _are_groups([span for span in way if span.start], names)]
    return ways[0] if len(ways) == 1 else []


def _possible_spans(cell: Line, sides: Sequence[tuple[float, float]], named_columns: Mapping[int, Line]) -> list[_Span]:
    """The columns that a name may span: those below it, if it is above their middle, and several only if all are named.

    A name left of all columns is above the names of the rows; one above a single column without a name is its name.
    """
    if cell.box[2] <= sides[0][0]:
        return [range(1)]
    below = [at for at, (left, right) in enumerate(sides, 1) if cell.box[0] < right and left < cell.box[2]]
    if len(below) == 1 and below[0] not in named_columns:
        return [range(below[0], below[0] + 1)]
    spans = [range(first, last + 1) for first, last in combinations_with_replacement(range(1, len(sides) + 1), 2)]
    return [
        span
        for span in spans
        if abs(middle(cell) - (sides[span[0] - 1][0] + sides[span[-1] - 1][1]) / 2) <= MAX_OFF_MIDDLE
        and (len(span) == 1 or named_columns.keys() >= set(span))
        and set(below) <= set(span)
    ]


def _are_groups(spans: Sequence[_Span], names: Sequence[str]) -> bool:
    """Whether the spans have equal lengths and together all columns, with the same names of columns in each."""
    groups = [names[span.start - 1 : span.stop - 1] for span in spans]
    return len(groups) > 1 and sum(map(len, groups)) == len(names) and all(group == groups[0] for group in groups)
