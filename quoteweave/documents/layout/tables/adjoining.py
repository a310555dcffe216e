"""Finds rows of a statement outside its rules, and statements of one row.

Statements shade or rule every other row, so that rules are found around some rows only, and the first and the last
are outside. A single row below its years is found neither by rules nor by columns.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.layout.blocks import SIZE_RATIO, lines_to_rows
from quoteweave.documents.layout.tables.aligned import ALIGNED, MAX_NAMES_BETWEEN, MAX_PITCH_BETWEEN, TableRow
from quoteweave.documents.layout.tables.cells import (
    SIGN_ALONE,
    Row,
    Table,
    holds_number,
    is_data,
    is_number,
    is_row_of_years,
    over_each_other,
    stands_over,
    table_of,
    top_of,
)
from quoteweave.documents.sources.lines import Line

# How many points above and below a table its other rows are searched: some twelve rows.
MAX_REACH = 150.0
# How many lines are examined nearest to the top, and to the bottom, within that reach; no readable page needs more.
MAX_LINES_BESIDE = 200
# In heights of a line: the largest space between two lines of a name, and the space between its end and the next column
# that a word would need. In points: how far the second line may be indented.
MAX_LEADING = 0.6
SPACE_OF_WORD = 0.5
MAX_HANGING = 12.0
# The characters that lead from a name to its numbers.
_LEADING = ".·…"


def with_adjoining_rows(tables: Sequence[Table], lines: Sequence[Line]) -> list[Table]:
    """The tables of a page, each with the rows directly above and below that continue its columns, taken from `lines`.

    Such a row has a name, and numbers each of which is in a column of its own. Names of groups may be between. A table
    with ruled cells is left unchanged.
    """
    extended: list[Table] = []
    free = sorted((line for line in lines if line.upright), key=top_of)
    used_lines = set[int]()
    for table in sorted(tables, key=lambda table: table.box[1]):
        near = _lines_near(table.box, free)
        extended_table = _with_rows_beside(table, [line for line in near if id(line) not in used_lines])
        used_lines.update(id(line) for line in extended_table.lines)
        extended.append(extended_table)
    return extended


def _lines_near(box: Box, lines: Sequence[Line]) -> list[Line]:
    """Those of the lines, which are sorted by their tops, within reach of a box's top or bottom."""
    left, top, right, bottom = box
    spans = []
    for edge in (top, bottom):
        at = bisect_left(lines, edge, key=top_of)
        first = max(bisect_right(lines, edge - MAX_REACH, key=top_of), at - MAX_LINES_BESIDE)
        spans.append((first, min(bisect_left(lines, edge + MAX_REACH, key=top_of), at + MAX_LINES_BESIDE)))
    (first, middle), (begin, last) = spans
    near = (*lines[first:middle], *lines[max(middle, begin) : last])
    return [line for line in near if left <= line.box[2] and line.box[0] <= right]


def tables_below_years(lines: Sequence[Line]) -> list[Table]:
    """Tables that begin with a row of years, directly above a row with a name and a number below each year.

    Beside the years there may be words in brackets about the numbers: "(in millions)".
    """
    rows = [TableRow(row) for row in lines_to_rows([line for line in lines if line.upright])]
    first = [table_of([*years.lines, *row.lines]) for years, row in pairwise(rows) if _stands_below(years, row)]
    used_line_ids = {id(line) for table in first for line in table.lines}
    return with_adjoining_rows(first, [line for line in lines if id(line) not in used_line_ids])


def _stands_below(years: TableRow, row: TableRow) -> bool:
    name, *numbers = row.cells
    year_cells = years.cells[years.cells[0].text.startswith("(") :]
    return (
        is_row_of_years(years.cells)
        and len(numbers) == len(year_cells)
        and all(is_number(number) and holds_number(number) for number in numbers)
        and all(stands_over(year.box, number.box) for year, number in zip(year_cells, numbers, strict=True))
        and name.box[2] <= numbers[0].box[0]
        and _is_near(years, row)
    )


def _with_rows_beside(table: Table, lines: Sequence[Line]) -> Table:
    rows = [TableRow(row) for row in lines_to_rows(table.lines)]
    numbers = [_without_signs(cell) for row in rows if is_data(row.cells) for cell in row.cells[1:] if is_number(cell)]
    if not numbers or table.has_grid:
        return table
    columns = [hull(cell.box for cell in cells) for cells in over_each_other(numbers)]
    nearby_rows = [TableRow(row) for row in lines_to_rows(lines)]
    above = [row for row in reversed(nearby_rows) if row.bottom <= rows[0].bottom]
    below = [row for row in nearby_rows if row.top >= rows[-1].top]
    upwards = _continuing_rows(above, rows[0], columns)
    first = upwards[-1] if upwards else rows[0]
    name_beginnings = _beginnings_of_name(above[len(upwards) :], [first, *rows], columns[0][0])
    added_rows = [*upwards, *name_beginnings, *_continuing_rows(below, rows[-1], columns)]
    if not added_rows:
        return table
    extended = table_of([*table.lines, *(line for row in added_rows for line in row.lines)])
    return Table(hull([table.box, extended.box]), extended.rows, extended.lines)


def _continuing_rows(rows: Iterable[TableRow], last: TableRow, columns: Sequence[Box]) -> list[TableRow]:
    """Those of the rows, from the nearest to the farthest, that continue the table after its last row."""
    continuing, names = list[TableRow](), list[TableRow]()
    for row in rows:
        if not _is_near(last, row):
            break
        if _continues_columns(columns, row.cells):
            continuing += [*names, row]
            names = []
        elif len(row.cells) == 1 and row.cells[0].box[2] <= columns[0][0] and len(names) < MAX_NAMES_BETWEEN:
            names.append(row)
        else:
            break
        last = row
    return continuing


def _beginnings_of_name(above: Sequence[TableRow], rows: Sequence[TableRow], left: float) -> list[TableRow]:
    """The rows directly above the first row of a table in which its name begins; the columns begin at `left`."""
    rows_above = list[TableRow]()
    right = max(left, *(row.cells[0].box[2] for row in rows))
    name_edges = {round(row.cells[0].box[0]) for row in rows if len(row.cells) > len(rows[0].cells)}
    below = rows[0]
    for row in above[:MAX_NAMES_BETWEEN]:
        is_in_two = len(row.cells) == len(below.cells) > 1 and round(row.cells[0].box[0]) in name_edges
        if not _is_line_above(row, below, right) or not (is_in_two or _is_continued_below(row, below, right)):
            break
        rows_above.append(row)
        below = row
    return rows_above


def _is_line_above(row: TableRow, below: TableRow, right: float) -> bool:
    """Whether a row without numbers is above a name as one line of a text is above the next."""
    upper, lower = row.cells[-1], _name_of(below)
    return (
        not any(map(holds_number, row.cells[1:]))
        and upper.box[2] <= right
        and -ALIGNED <= lower.box[0] - upper.box[0] <= MAX_HANGING
        and below.top - row.bottom <= MAX_LEADING * lower.height
        and upper.bold == lower.bold
        and max(upper.size, lower.size) <= SIZE_RATIO * min(upper.size, lower.size)
        and not upper.text.endswith((":", "."))
    )


def _is_continued_below(row: TableRow, below: TableRow, right: float) -> bool:
    """Whether a row's name continues the line above: in small letters, or because that line had no space left."""
    upper, lower = row.cells[-1], _name_of(below)
    word = lower.words[0]
    share = len(word.text.rstrip(_LEADING)) / len(word.text)
    return (
        lower.text[0].islower()
        or upper.box[2] + share * (word.box[2] - word.box[0]) + SPACE_OF_WORD * lower.height > right
    )


def _name_of(row: TableRow) -> Line:
    return row.cells[0 if is_data(row.cells) else -1]


def _continues_columns(columns: Sequence[Box], row: Row) -> bool:
    """Whether a row has a name left of the columns, and numbers in at least two of them, or in the only one."""
    name, *numbers = row
    boxes = [_without_signs(number).box for number in numbers]
    column_numbers = [[at for at, column in enumerate(columns) if stands_over(column, box)] for box in boxes]
    return (
        name.box[2] <= columns[0][0]
        and is_data(row)
        and not is_row_of_years(row)
        and all(map(is_number, numbers))
        and all(len(places) == 1 for places in column_numbers)
        and len({place for (place,) in column_numbers}) == len(column_numbers) >= min(2, len(columns))
    )


def _without_signs(cell: Line) -> Line:
    """A cell without the signs beside its number: a currency sign may be below the column before it."""
    words = tuple(word for word in cell.words if not SIGN_ALONE.fullmatch(word.text))
    return replace(cell, words=words, box=hull(word.box for word in words)) if words else cell


def _is_near(row: TableRow, other: TableRow) -> bool:
    return max(row.top - other.bottom, other.top - row.bottom) <= MAX_PITCH_BETWEEN * other.lines[0].height
