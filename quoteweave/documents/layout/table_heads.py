"""Heads of tables: one row of names, "August 29, 2021" and "August 30, 2020", over the columns of numbers.

Statements shade or rule their rows, but not the row with the years, so that a table is found without it; and a head of
several rows names each column with all of them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.layout.blocks import NUMERIC, lines_to_rows
from quoteweave.documents.layout.tables import ALIGNED, Table, rows_of_cells
from quoteweave.documents.sources.lines import Line

# Rows of a head, of names of groups between it and the table, and words of a cell in a head.
MAX_HEAD_ROWS = 4
MAX_GROUPS = 3
MAX_CELL_WORDS = 6
# "S" and "P" for standard and for part of a package are cells of rows.
MIN_CELL_CHARACTERS = 2
# In heights of a line: the space between a head and what stands below it.
MAX_GAP = 1.5
# In heights of a line: the space between two parts of a statement, in which the name of the second stands.
MAX_APART = 6.0
# Rows in which a column has a cell, and the share of columns that a head names.
MIN_COLUMN_ROWS = 2
MIN_NAMED = 0.5

_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d(?:[-–/](?:(?:1[5-9]|20|21)\d\d|\d\d))?[,:]?")
_YEAR_OR_DAY = re.compile(rf"{_YEAR.pattern}|\d{{1,2}}[,:]?")

Row = Sequence[Line]


@dataclass(frozen=True, slots=True)
class _Column:
    """Where the cells of a column stand, in points from the left."""

    left: float
    right: float

    def overlaps(self, box: Box) -> bool:
        return box[0] < self.right and box[2] > self.left


@dataclass(frozen=True, slots=True)
class _Headed:
    """A table with its head, the names in this, and its columns; no names where it has no head."""

    table: Table
    columns: Sequence[_Column] = ()
    names: tuple[str, ...] = ()

    def goes_on_in(self, other: "_Headed") -> bool:
        """Whether another table, which has no head, stands right below this one and has its columns."""
        below = other.table.box[1] - self.table.box[3]
        reach = MAX_APART * other.table.lines[0].height
        return (
            bool(self.names)
            and -2 <= below <= reach
            and len(self.columns) == len(other.columns)
            and all(abs(one.right - two.right) <= ALIGNED for one, two in zip(self.columns, other.columns, strict=True))
        )


def with_heads(tables: Sequence[Table], lines: Sequence[Line]) -> list[Table]:
    """The tables of a page, each with one row for its head, also of the rows that stand right above it among `lines`.

    A table whose cells are ruled stays as it is, as does one without such a head. Each cell of a head stands over one
    column, or over the names of the rows, and holds no number but of a date. Names of groups of rows may stand between.
    The parts of a statement, each a table below the other, all have the head of the first.
    """
    found: list[_Headed] = []
    left = list(lines)
    for table in sorted(tables, key=lambda table: table.box[1]):
        own = _with_head(table, left)
        if own.table is not table:
            taken = set(map(id, own.table.lines))
            left = [line for line in left if id(line) not in taken]
        if own.columns and not own.names:
            above = next((other for other in reversed(found) if other.goes_on_in(own)), None)
            if above is not None:
                whole = replace(own.table, rows=(above.names, *own.table.rows))
                own = replace(own, table=whole, names=above.names)
        found.append(own)
    return [each.table for each in found]


def _with_head(table: Table, lines: Sequence[Line]) -> _Headed:
    rows = rows_of_cells(table.lines)
    columns = _columns(rows)
    if len(columns) < 2 or table.rows != tuple(map(_texts, rows)):
        return _Headed(table)
    own = list(takewhile(lambda row: _names(row, columns) and 0 not in _places(row, columns), rows[:MAX_HEAD_ROWS]))
    over = (line for line in lines if line.upright and _is_over(line.box, table.box))
    head, groups = _rows_above(table.box[1], lines_to_rows(list(over)), columns, may_group=not own)
    named = [*head, *own] or [row for row in rows[:1] if _names(row, columns)]
    cells = [list[str]() for _ in range(len(columns) + 1)]
    for row in named:
        for place, cell in zip(_places(row, columns), row, strict=True):
            cells[place or 0].append(cell.text)
    names = tuple(map(" ".join, cells)) if named else ()
    if not head and len(own) < 2:
        return _Headed(table, columns, names)
    added = [line for row in (*head, *groups) for line in row]
    whole = replace(
        table,
        box=hull([table.box, *(line.box for line in added)]),
        rows=(names, *map(_texts, (*groups, *rows[len(own) :]))),
        lines=(*added, *table.lines),
    )
    return _Headed(whole, columns, names)


def _rows_above(
    top: float, rows: Sequence[Row], columns: Sequence[_Column], *, may_group: bool
) -> tuple[list[Row], list[Row]]:
    """The rows of a head above a table that begins at `top`, and the names of groups below them, from top to bottom."""
    head, groups = list[Row](), list[Row]()
    for row in reversed(rows):
        places = _places(row, columns)
        is_far = top - max(line.box[3] for line in row) > MAX_GAP * row[0].height
        if is_far or None in places or len(head) == MAX_HEAD_ROWS:
            break
        if _names(row, columns) or (head and any(places)):
            head.insert(0, row)
        elif may_group and not head and len(groups) < MAX_GROUPS:
            groups.insert(0, row)
        else:
            break
        top = min(line.box[1] for line in row)
    return (head, groups) if head else ([], [])


def _columns(rows: Iterable[Row]) -> list[_Column]:
    """The columns right of the names of the rows, as far as cells of several rows show them."""
    found: list[_Column] = []
    counts: list[int] = []
    for left, _, right, _ in sorted(cell.box for row in rows for cell in row[1:]):
        if found and left < found[-1].right:
            found[-1] = _Column(found[-1].left, max(found[-1].right, right))
            counts[-1] += 1
        else:
            found.append(_Column(left, right))
            counts.append(1)
    return [column for column, count in zip(found, counts, strict=True) if count >= MIN_COLUMN_ROWS]


def _is_over(box: Box, table: Box) -> bool:
    return box[3] <= table[1] + 2 and table[0] <= (box[0] + box[2]) / 2 <= table[2]


def _names(row: Row, columns: Sequence[_Column]) -> bool:
    """Whether a row names enough columns to be that of a head, each once, and nothing else but what names the rows."""
    named = [place for place in _places(row, columns) if place != 0]
    return None not in named and len(set(named)) == len(named) >= max(2, MIN_NAMED * len(columns))


def _places(row: Row, columns: Sequence[_Column]) -> list[int | None]:
    return [_place(cell, columns) for cell in row]


def _place(cell: Line, columns: Sequence[_Column]) -> int | None:
    """The column, from 1, over which a cell of a head stands; 0 for one over the names of rows, None for other text."""
    if len(cell.words) > MAX_CELL_WORDS or len(cell.text) < MIN_CELL_CHARACTERS or _holds_number(cell):
        return None
    over = [at for at, column in enumerate(columns, 1) if column.overlaps(cell.box)]
    if not over:
        return 0 if cell.box[2] <= columns[0].left else None
    return over[0] if len(over) == 1 else None


def _holds_number(cell: Line) -> bool:
    """Whether a cell holds a number other than a year, or than the day of a date."""
    numbers = [word.text for word in cell.words if NUMERIC.fullmatch(word.text)]
    is_date = any(map(_YEAR.fullmatch, numbers)) or len(numbers) < len(cell.words)
    return bool(numbers) and not (is_date and all(map(_YEAR_OR_DAY.fullmatch, numbers)))


def _texts(row: Row) -> tuple[str, ...]:
    return tuple(cell.text for cell in row)
