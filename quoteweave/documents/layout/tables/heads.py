"""Heads of tables: one row of names, "August 29, 2021" and "August 30, 2020", above the columns of numbers.

Statements shade or rule their rows, but not the row with the years, so that a table is found without it; and a head of
several rows names each column in all of them. Each cell below a head is assigned to a name by its position, because a
row may lack some cells. A name may be above several columns, or be read with others as one line: of this head,
"Quarter" is above two columns, and "2021 2020" may be one line:

                 Quarter          Year
               2021   2020    2021   2020
    Net sales   512    486   2,048  1,944
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, dropwhile, pairwise, product, takewhile
from math import prod

from quoteweave.core.boxes import Box, hull
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.layout.blocks import lines_to_rows
from quoteweave.documents.layout.tables.aligned import ALIGNED
from quoteweave.documents.layout.tables.cells import Row, Table, has_year, is_data, rows_of_cells
from quoteweave.documents.layout.tables.columns import (
    MAX_CELL_WORDS,
    Column,
    cells_under,
    columns_named_by,
    columns_of,
    columns_over,
    middle,
    names_columns,
    texts_of,
)
from quoteweave.documents.layout.tables.splitting import (
    MAX_GAP,
    is_above,
    is_heading,
    split_at_heads,
    stands_over_columns,
)
from quoteweave.documents.sources.lines import Line

# The most rows of a head, and of names of groups between it and the table.
MAX_HEAD_ROWS = 4
MAX_GROUPS = 3
# The largest space, in heights of a line, between two parts of a statement; the second part's name may be in it.
MAX_APART = 6.0
# Among how many tables and lines above a table its head is searched; no readable page needs more.
MAX_TABLES_ABOVE, MAX_LINES_ABOVE = 50, 500
# The largest height, in points, of the rows of a head and the names of groups between it and its table.
MAX_HEAD_HEIGHT = 100.0

_DIGIT = lazy_regex(r"\d")


class _LinesAbove:
    """The lines of a page by their bottoms, and which of them are part of a table."""

    def __init__(self, lines: Iterable[Line], tables: Iterable[Table]) -> None:
        of_tables = [line for table in tables for line in table.lines]
        self._lines = sorted((line for line in (*lines, *of_tables) if line.upright), key=_bottom)
        self._used = set(map(id, of_tables))

    def mark_used(self, lines: Iterable[Line]) -> None:
        """Mark these lines as part of a table."""
        self._used.update(map(id, lines))

    def free(self, box: Box) -> list[Line]:
        """The nearest lines above a box that are part of no table."""
        return [line for line in self.over(box) if id(line) not in self._used]

    def rows_above(self, box: Box) -> list[list[Line]]:
        """Rows of cells that a head may have, of the nearest lines above a box that are part of no table."""
        near = self.over(box, box[1] - MAX_HEAD_HEIGHT)
        return rows_of_cells([line for line in near if id(line) not in self._used])

    def over(self, box: Box, top: float = 0.0) -> list[Line]:
        """The nearest lines above a box, none of which ends above `top`, in points from the top of the page."""
        last = bisect_right(self._lines, box[1] + 2, key=_bottom)
        first = max(bisect_left(self._lines, top, key=_bottom), last - MAX_LINES_ABOVE)
        near = self._lines[first:last]
        return [line for line in near if box[0] <= middle(line) <= box[2]]


def _bottom(line: Line) -> float:
    return line.box[3]


@dataclass(frozen=True, slots=True)
class _Headed:
    """A table with its head, the names in the head, and its columns; no names if it has no head."""

    table: Table
    columns: Sequence[Column] = ()
    names: tuple[str, ...] = ()

    def is_continued_by(self, other: "_Headed", lines: "_LinesAbove") -> bool:
        """Whether another table, which has no head, is directly below this one and has its columns.

        Between them there is at most the name of the second, or of rows. Numbers above its columns, names side by side,
        and text may be a head of its own that was not read. After a second head among its rows, the first is not used.
        """
        below = other.table.box[1] - self.table.box[3]
        reach = MAX_APART * other.table.lines[0].height
        return (
            -2 <= below <= reach
            and len(self.columns) == len(other.columns)
            and all(abs(a.right - b.right) <= ALIGNED for a, b in zip(self.columns, other.columns, strict=True))
            and not self._has_second_head()
            and not any(
                _may_be_head(row, self.columns[0].left)
                for row in lines_to_rows(lines.over(other.table.box, self.table.box[3] - 2))
            )
        )

    def _has_second_head(self) -> bool:
        rows = dropwhile(lambda row: not is_data(row), rows_of_cells(self.table.lines))
        return any(names_columns(row, self.columns) for row in rows)


def with_heads(tables: Sequence[Table], lines: Sequence[Line]) -> list[Table]:
    """The tables of a page, each with one row for its head, including head rows directly above it among `lines`.

    A table with ruled cells is left unchanged, and so is one without such a head. Each cell of a head is above one
    column, or above the names of the rows, and contains no number except in a date. Names of groups of rows may be
    between. Below a head, a row has "" where it has no cell. The parts of a statement, tables below each other, all get
    the head of the first. Two tables that were taken for one are separated, without the lines between them.
    """
    headed_tables: list[_Headed] = []
    outside = _LinesAbove(lines, tables)
    parts = list(split_at_heads(sorted(tables, key=lambda table: table.box[1]), outside.rows_above))
    kept_ids = {id(line) for table in parts for line in table.lines}
    dropped = [line for table in tables for line in table.lines if id(line) not in kept_ids]
    lines_above = _LinesAbove((*lines, *dropped), parts)
    for table in parts:
        current = _with_head(table, lines_above)
        lines_above.mark_used(current.table.lines)
        if current.columns and not current.names:
            with_names = (earlier for earlier in reversed(headed_tables[-MAX_TABLES_ABOVE:]) if earlier.names)
            above = next((earlier for earlier in with_names if is_above(earlier.table.box, table.box)), None)
            if above is not None and above.is_continued_by(current, lines_above):
                rows = (cells_under(row, current.columns) for row in rows_of_cells(table.lines))
                current = replace(current, table=replace(table, rows=(above.names, *rows)), names=above.names)
        headed_tables.append(current)
    return [headed.table for headed in headed_tables]


def _with_head(table: Table, lines: _LinesAbove) -> _Headed:
    """The table with its head, which is the first of these that there is; without names if it has none.

    Its first rows, if a cell spans several columns; rows directly above it and its first rows that name columns; its
    very first row. If that one does not name every column, its names are given, and the table is left as it is.
    """
    read_rows = rows_of_cells(table.lines)
    columns = columns_of(read_rows)
    if len(columns) < 2 or table.has_grid:
        return _Headed(table)
    rows = with_names_parted(read_rows, columns)
    # A cell above several columns is the name of a group of rows below the columns' names.
    group_rows = rows[: len(rows) > 1 and stands_over_columns(rows[0], rows[1:])]
    rows = rows[len(group_rows) :]
    count, names = names_with_spans(rows, columns)
    if names:
        below = (cells_under(row, columns) for row in rows[count:])
        return _Headed(replace(table, rows=(names, *map(texts_of, group_rows), *below)), columns, names)
    head_within = _own_head_rows(rows, columns)
    above, groups = _rows_above(table.box[1], lines_to_rows(lines.free(table.box)), columns, may_group=not head_within)
    is_certain = bool(above or head_within)
    own_rows = head_within if is_certain else [row for row in rows[:1] if names_columns(row, columns)]
    if not (above or own_rows):
        return _Headed(table, columns)
    names = _joined_names((*above, *own_rows), columns)
    # A row that also names the rows, but not every column, may name several columns with one cell.
    if not (is_certain or all(names[1:])):
        return _Headed(table, columns, names)
    added = [line for row in (*above, *groups) for line in row]
    below = (cells_under(row, columns) for row in rows[len(own_rows) :])
    headed_table = replace(
        table,
        box=hull([table.box, *(line.box for line in added)]),
        rows=(names, *map(texts_of, (*groups, *group_rows)), *below),
        lines=(*added, *table.lines),
    )
    return _Headed(headed_table, columns, names)


def _joined_names(head_rows: Iterable[Row], columns: Sequence[Column]) -> tuple[str, ...]:
    """The words of all these rows above the names of the rows, and above each column."""
    cells = [list[str]() for _ in range(len(columns) + 1)]
    for row in head_rows:
        for place, cell in zip(columns_named_by(row, columns), row, strict=True):
            cells[place or 0].append(cell.text)
    return tuple(map(" ".join, cells))


def _own_head_rows(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    """The first rows that name columns; the very first may also name the rows if others follow it.

    So may a row below others, if it names the rows by a year or in brackets: "2020:", "(in millions)".
    """
    head_rows = list(takewhile(lambda row: names_columns(row, columns), rows[:MAX_HEAD_ROWS]))
    nameless = list(takewhile(lambda row: 0 not in columns_named_by(row, columns), head_rows[1:]))
    if not nameless and (not head_rows or 0 in columns_named_by(head_rows[0], columns)):
        return []
    last = head_rows[1 + len(nameless) : 2 + len(nameless)]
    names_rows = any(has_year(row[0]) or row[0].text.startswith("(") for row in last)
    return head_rows[: 1 + len(nameless) + names_rows]


def _rows_above(
    top: float, rows: Sequence[Row], columns: Sequence[Column], *, may_group: bool
) -> tuple[list[Row], list[Row]]:
    """The rows of a head above a table that begins at `top`, and the names of groups below them, from top to bottom."""
    head, groups = list[Row](), list[Row]()
    for row in reversed(rows):
        # The name of a group may be longer than a cell of a head.
        places = [0] if len(row) == 1 and row[0].box[2] <= columns[0].left else columns_named_by(row, columns)
        is_far = top - max(line.box[3] for line in row) > MAX_GAP * row[0].height
        if is_far or None in places or len(head) == MAX_HEAD_ROWS or (head and is_heading(row, head[0])):
            break
        if names_columns(row, columns) or (head and any(places)):
            head.insert(0, row)
        elif may_group and not head and len(groups) < MAX_GROUPS:
            groups.insert(0, row)
        else:
            break
        top = min(line.box[1] for line in row)
    return (head, groups) if head else ([], [])


def _may_be_head(row: Row, left: float) -> bool:
    """Whether a row may be part of a head, or text that ends a statement: it extends over columns that begin there."""
    over = row[-1]
    if over.box[2] <= left or (len(row) > 1 and is_data(row)):
        return False
    return len(row) > 1 or len(over.words) > MAX_CELL_WORDS or _DIGIT.search(over.text) is not None


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
    if not 1 < len(head) <= MAX_HEAD_ROWS or len(head) == len(rows):
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
