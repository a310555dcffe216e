"""Splits tables that were taken for one: above each row in which names of columns are repeated, and side by side."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from quoteweave.core.boxes import Box, hull
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.references.mentions import split_label
from quoteweave.documents.layout.blocks import lines_to_rows
from quoteweave.documents.layout.tables.cells import (
    Row,
    Table,
    cells_of,
    has_year,
    is_data,
    is_number,
    is_row_of_years,
    rows_of_cells,
    stands_over,
    top_of,
)
from quoteweave.documents.layout.tables.columns import UNIT, Column, columns_named_by, columns_of, names_columns
from quoteweave.documents.sources.lines import Line

# The largest space, in heights of a line, between two parts of a table that were found apart.
MAX_GAP = 1.5
# How many rows around names of columns show which columns have numbers.
MAX_ROWS_AROUND = 12
# The most rows with names of columns and of groups before the first row of numbers.
MAX_ROWS_OF_NAMES = 6
# The least letters in the name of a column: "N/A" and "n.m." are cells of rows.
MIN_NAME_LETTERS = 3
# As in "2031 (£m)"; a row of values has years with other words after them: "2031 or later".
_YEAR_OF_AMOUNTS = lazy_regex(
    rf"(?:1[5-9]|20|21)\d\d\s*\(?(?i:{UNIT.pattern}|(?:in )?(?:thousand|million|billion)s?)\)?"
)
# Type that is larger than that of a row by this factor is a heading's.
HEADING_SIZE = 1.15
# The least indent of a cell above several columns, right of the names of rows, in heights of a line.
MIN_INDENT = 2.0

RowsAbove = Callable[[Box], Sequence[Row]]
"""Returns the rows directly above a box that are part of no table."""


def split_at_heads(tables: Iterable[Table], rows_above: RowsAbove) -> Iterator[Table]:
    """The tables, from top to bottom, split where names of columns are repeated below numbers.

    The last part is joined to the table directly below it if it has one row of numbers, and left out if it has none.
    """
    above: Table | None = None
    for table in tables:
        first, *later = _split_at_repeated_heads(table, rows_above)
        if above is not None:
            joins = is_above(above.box, table.box) and table.box[1] - above.box[3] <= MAX_GAP * table.lines[0].height
            if joins and not table.has_grid:
                between = (row for row in rows_above(table.box) if row[0].box[1] >= above.box[3] - 2)
                lines = (*above.lines, *(line for row in between for line in row), *first.lines)
                first = Table(hull([above.box, first.box]), cells_of(lines), lines)
            else:
                yield above
        above = later[-1] if later and sum(map(is_data, rows_of_cells(later[-1].lines))) == 1 else None
        yield first
        yield from (part for part in later if part is not above and any(map(is_data, rows_of_cells(part.lines))))
    if above is not None:
        yield above


def _split_at_repeated_heads(table: Table, rows_above: RowsAbove) -> list[Table]:
    if table.has_grid:
        return [table]
    rows = rows_of_cells(table.lines)
    starts = _part_starts(rows, lambda: rows_above(table.box))
    if len(starts) == 1:
        return [table]
    # Text between two tables belongs to neither.
    ends = [next(end for end in range(start, 0, -1) if len(rows[end - 1]) > 1) for start in starts[1:]]
    line_rows = lines_to_rows(table.lines)
    parts = [
        [line for row in line_rows[start:end] for line in row]
        for start, end in zip(starts, [*ends, len(rows)], strict=True)
    ]
    boxes = [hull(line.box for line in lines) for lines in parts]
    tops = [table.box[1], *(box[1] for box in boxes[1:])]
    bottoms = [*(box[3] for box in boxes[:-1]), table.box[3]]
    return [
        Table((table.box[0], top, table.box[2], bottom), cells_of(lines), tuple(lines))
        for lines, top, bottom in zip(parts, tops, bottoms, strict=True)
    ]


def _part_starts(rows: Sequence[Row], above: Callable[[], Sequence[Row]]) -> list[int]:
    """Where the parts of a table begin: at its first row, and at the first row of each further head."""
    starts, has_data = [0], False
    known: set[str] | None = None
    for at, row in enumerate(rows):
        if is_data(row):
            has_data = True
        elif has_data and len(row) > 1:
            if known is None:
                before_numbers = rows[: next(at for at, row in enumerate(rows) if is_data(row))]
                known = {cell.text for head in (*above(), *before_numbers) for cell in head}
            # Words that name the rows may be repeated in each head: "In thousands".
            if is_row_of_years(row[row[0].text in known :]) or _repeats_names(rows, at, known):
                starts.append(_first_of_head(rows, at))
                known.update(cell.text for cell in row)
                has_data = False
    return starts


def _repeats_names(rows: Sequence[Row], at: int, known: set[str]) -> bool:
    """Whether a row without numbers repeats names of an earlier head, or names exactly the columns of numbers."""
    row, below = rows[at], rows[at + 1 : at + 1 + MAX_ROWS_AROUND]
    if not any(map(is_data, below[:MAX_ROWS_OF_NAMES])):
        return False
    columns = columns_of([row_below for row_below in below if is_data(row_below)])
    if len(columns) < 2:
        below = [*rows[max(0, at - MAX_ROWS_AROUND) : at], *below]
        columns = columns_of([nearby_row for nearby_row in below if is_data(nearby_row)])
    if len(columns) < 2 or not names_columns(row, columns):
        return False
    places, number_columns = columns_named_by(row, columns), _number_columns(columns, below)
    names = [cell for place, cell in zip(places, row, strict=True) if place in number_columns]
    if all(cell.text in known for cell in names):
        return len(names) > 1 and any(_is_name(cell) or has_year(cell) for cell in names)
    # A row that also names the rows is an ordinary row, "Colour | black | white", unless it cannot be one.
    is_head = 0 not in places or any(map(_is_year_of_amounts, names)) or is_heading(rows[at - 1], row)
    return is_head and set(places) - {0} == number_columns and all(map(_is_name, names))


def _number_columns(columns: Sequence[Column], rows: Sequence[Row]) -> set[int | None]:
    """The columns, from 1, in which most cells are numbers."""
    cells = [cell for row in rows if is_data(row) for cell in row]
    numbers = set[int | None]()
    for at, column in enumerate(columns, 1):
        are_numbers = [is_number(cell) for cell in cells if column.overlaps(cell.box)]
        if 2 * sum(are_numbers) > len(are_numbers):
            numbers.add(at)
    return numbers


def _is_name(cell: Line) -> bool:
    """Whether a cell may name a column: by letters, or by a year and the unit of its numbers, "2031 (£m)"."""
    return sum(map(str.isalpha, cell.text)) >= MIN_NAME_LETTERS or _is_year_of_amounts(cell)


def _is_year_of_amounts(cell: Line) -> bool:
    return _YEAR_OF_AMOUNTS.fullmatch(cell.text) is not None


def is_heading(above: Row, row: Row) -> bool:
    """Whether a single line in larger type is above a row."""
    return len(above) == 1 and above[0].size >= HEADING_SIZE * row[0].size


def _first_of_head(rows: Sequence[Row], at: int) -> int:
    """The first row of a head, one row of which is known: the rows above it whose cells are all above cells of it.

    So may be one cell above several columns that says what the numbers below it are.
    """
    start = at
    while not is_data(rows[start - 1]) and len(rows[start - 1]) > 1 and _row_stands_over(rows[start - 1], rows[at]):
        start -= 1
    return start - 1 if stands_over_columns(rows[start - 1], rows[at:]) else start


def stands_over_columns(row: Row, below: Sequence[Row]) -> bool:
    """Whether a row is one cell above several columns of the rows below, and no sentence, caption or name of rows."""
    cell, data = row[0], list(islice(filter(is_data, below), MAX_ROWS_AROUND))
    if len(row) > 1 or not data or cell.text.endswith((":", ".")) or split_label(cell.text)[0]:
        return False
    over = [cell_below for cell_below in below[0] if stands_over(cell.box, cell_below.box)]
    names = min(data_row[0].box[0] for data_row in data)
    return len(over) > 1 and cell.box[0] > names + MIN_INDENT * cell.height and cell.box[2] <= below[0][-1].box[2]


def _row_stands_over(row: Row, below: Row) -> bool:
    """Whether each cell of a row is above a cell of the row below."""
    return all(any(stands_over(cell.box, cell_below.box) for cell_below in below) for cell in row)


def is_above(box: Box, table: Box) -> bool:
    """Whether a box is above a table."""
    return box[3] <= table[1] + 2 and table[0] <= (box[0] + box[2]) / 2 <= table[2]


# The least width of the space between two tables, in heights of a line.
MIN_GUTTER = 2.0
# The least number of rows of names and numbers that each of them has.
MIN_ROWS = 3
# The largest share of these rows that may be beside a line of the other table, and the least share of the height that
# such lines have in common.
MAX_BESIDE = 0.34
MIN_SHARED = 0.5


def split_at_gutters(tables: Iterable[Table]) -> Iterator[Table]:
    """The tables, each split where a wide empty space runs from its top to its bottom between two tables.

    Both have names beside their numbers, and most rows of each are beside no line of the other. A table with ruled
    cells is left unchanged.
    """
    for table in tables:
        yield from [table] if table.has_grid else _split_at_gutter(table)


def _split_at_gutter(table: Table) -> list[Table]:
    lines = sorted(table.lines, key=lambda line: line.box[0])
    place = _gutter(lines)
    if place is None:
        return [table]
    left, top, right, bottom = table.box
    middle = (max(line.box[2] for line in lines[:place]) + lines[place].box[0]) / 2
    parts = list[Table]()
    for start, end in ((left, middle), (middle, right)):
        part_lines = tuple(line for line in table.lines if start <= (line.box[0] + line.box[2]) / 2 <= end)
        parts += _split_at_gutter(Table((start, top, end, bottom), cells_of(part_lines), part_lines))
    return parts


def _gutter(lines: Sequence[Line]) -> int | None:
    """The first of the lines, from left to right, that is right of a space between two tables, or None."""
    reach = 0.0
    for place, line in enumerate(lines):
        if place and line.box[0] - reach >= MIN_GUTTER * line.height and _are_two(lines[:place], lines[place:]):
            return place
        reach = max(reach, line.box[2])
    return None


def _are_two(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether both sides have rows of names and numbers, most of which are beside no line of the other side."""
    for side, other_side in ((left, right), (right, left)):
        rows = [row for row in rows_of_cells(side) if is_data(row) and not is_number(row[0])]
        lines = sorted(other_side, key=top_of)
        tallest = max(line.height for line in other_side)
        beside_lines = sum(any(_is_beside(row[-1], line) for line in _near(row[-1], lines, tallest)) for row in rows)
        if len(rows) < MIN_ROWS or beside_lines > MAX_BESIDE * len(rows):
            return False
    return True


def _near(line: Line, lines: Sequence[Line], tallest: float) -> Sequence[Line]:
    """Those of the lines, which are sorted by their tops, that may be beside a line."""
    return lines[bisect_left(lines, line.box[1] - tallest, key=top_of) : bisect_left(lines, line.box[3], key=top_of)]


def _is_beside(line: Line, other: Line) -> bool:
    shared = min(line.box[3], other.box[3]) - max(line.box[1], other.box[1])
    return shared > MIN_SHARED * min(line.height, other.height)
