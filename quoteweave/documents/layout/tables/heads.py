"""Heads of tables: one row of names, "August 29, 2021" and "August 30, 2020", over the columns of numbers.

Statements shade or rule their rows, but not the row with the years, so that a table is found without it; and a head of
several rows names each column with all of them. Each cell below a head is put under its name by where it stands, since
a row may lack some. A row of years below rows of numbers is the head of another table.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import dropwhile, takewhile

from quoteweave.core.boxes import Box, hull
from quoteweave.core.text.tokens import RAISED
from quoteweave.documents.layout.blocks import lines_to_rows
from quoteweave.documents.layout.tables.aligned import ALIGNED
from quoteweave.documents.layout.tables.cells import (
    SIGN_ALONE,
    Row,
    Table,
    cells_of,
    has_but_years,
    holds_number,
    is_data,
    is_number,
    over_each_other,
    rows_of_cells,
    stands_over,
)
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
# Lines above a table, and tables above it, among which its head is looked for; no page that people read needs more.
MAX_LINES_ABOVE = 500
MAX_TABLES_ABOVE = 50

# Of a code, such as "GA04": its form, by which the cells of a column are alike.
_CODE = re.compile(r"[^\W\d_]+\d|\d[^\W\d_]+\d")
# What stands behind a number, and in no column.
_MARK = re.compile(rf"\(\w{{1,2}}\)|[*†‡§%){RAISED}]+")
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class _Column:
    """Where the cells of a column stand, in points from the left, and the forms of the codes in several of them."""

    left: float
    right: float
    forms: frozenset[str] = frozenset()

    def overlaps(self, box: Box) -> bool:
        return box[0] < self.right and box[2] > self.left


@dataclass(frozen=True, slots=True)
class _Headed:
    """A table with its head, the names in this, and its columns; no names where it has no head."""

    table: Table
    columns: Sequence[_Column] = ()
    names: tuple[str, ...] = ()

    def goes_on_in(self, other: "_Headed", lines: "_LinesAbove") -> bool:
        """Whether another table, which has no head, stands right below this one and has its columns.

        Between them is at most the name of the second, or of rows. Numbers over its columns, names side by side and
        text may be a head of its own that was not read. Below a second head among its rows, its first is of no use.
        """
        below = other.table.box[1] - self.table.box[3]
        reach = MAX_APART * other.table.lines[0].height
        return (
            -2 <= below <= reach
            and len(self.columns) == len(other.columns)
            and all(abs(one.right - two.right) <= ALIGNED for one, two in zip(self.columns, other.columns, strict=True))
            and not self._has_second_head()
            and not any(
                _may_head(row, self.columns[0].left)
                for row in lines_to_rows(lines.over(other.table.box, self.table.box[3] - 2))
            )
        )

    def _has_second_head(self) -> bool:
        rows = dropwhile(lambda row: not is_data(row), rows_of_cells(self.table.lines))
        return any(_names(row, self.columns) for row in rows)


class _LinesAbove:
    """The lines of a page by how far down they end, and which of them are part of a table."""

    def __init__(self, lines: Iterable[Line], tables: Iterable[Table]) -> None:
        of_tables = [line for table in tables for line in table.lines]
        self._lines = sorted((line for line in (*lines, *of_tables) if line.upright), key=_bottom)
        self._taken = set(map(id, of_tables))

    def take(self, lines: Iterable[Line]) -> None:
        """Note that these lines are part of a table now."""
        self._taken.update(map(id, lines))

    def free(self, box: Box) -> list[Line]:
        """The nearest lines over a box that are part of no table."""
        return [line for line in self.over(box) if id(line) not in self._taken]

    def over(self, box: Box, top: float = 0.0) -> list[Line]:
        """The nearest lines over a box, none of which ends above `top`, in points from the top of the page."""
        last = bisect_right(self._lines, box[1] + 2, key=_bottom)
        first = max(bisect_left(self._lines, top, key=_bottom), last - MAX_LINES_ABOVE)
        near = self._lines[first:last]
        return [line for line in near if box[0] <= _middle(line) <= box[2]]


def with_heads(tables: Sequence[Table], lines: Sequence[Line]) -> list[Table]:
    """The tables of a page, each with one row for its head, also of the rows that stand right above it among `lines`.

    A table whose cells are ruled stays as it is, as does one without such a head. Each cell of a head stands over one
    column, or over the names of the rows, and holds no number but of a date. Names of groups of rows may stand between.
    Below a head, a row has "" where it has no cell. The parts of a statement, each a table below the other, all have
    the head of the first. Two tables that were taken for one are two, without the lines between them.
    """
    found: list[_Headed] = []
    parts = list(_parts(sorted(tables, key=lambda table: table.box[1])))
    kept = {id(line) for table in parts for line in table.lines}
    given_up = [line for table in tables for line in table.lines if id(line) not in kept]
    left = _LinesAbove((*lines, *given_up), parts)
    for table in parts:
        own = _with_head(table, left)
        left.take(own.table.lines)
        if own.columns and not own.names:
            headed = (other for other in reversed(found[-MAX_TABLES_ABOVE:]) if other.names)
            above = next((other for other in headed if _is_over(other.table.box, table.box)), None)
            if above is not None and above.goes_on_in(own, left):
                rows = (_cells_under(row, own.columns) for row in rows_of_cells(table.lines))
                own = replace(own, table=replace(table, rows=(above.names, *rows)), names=above.names)
        found.append(own)
    return [each.table for each in found]


def _parts(tables: Iterable[Table]) -> Iterator[Table]:
    """The tables, from top to bottom, parted above each row of years that stands below numbers.

    The last part is joined to the table right below it where it has but one row of numbers, and left out where none.
    """
    above: Table | None = None
    for table in tables:
        first, *others = _parted_at_years(table)
        if above is not None:
            joins = _is_over(above.box, table.box) and table.box[1] - above.box[3] <= MAX_GAP * table.lines[0].height
            if joins and not table.has_grid:
                lines = (*above.lines, *first.lines)
                first = Table(hull([above.box, first.box]), cells_of(lines), lines)
            else:
                yield above
        above = others[-1] if others and sum(map(is_data, rows_of_cells(others[-1].lines))) == 1 else None
        yield first
        yield from (each for each in others if each is not above and any(map(is_data, rows_of_cells(each.lines))))
    if above is not None:
        yield above


def _parted_at_years(table: Table) -> list[Table]:
    if table.has_grid:
        return [table]
    rows = rows_of_cells(table.lines)
    starts, ends, has_data = [0], list[int](), False
    for at, row in enumerate(rows):
        if has_data and has_but_years(row):
            start = at
            while not is_data(rows[start - 1]) and len(rows[start - 1]) > 1 and _stands_over(rows[start - 1], row):
                start -= 1
            ends.append(next(end for end in range(start, 0, -1) if len(rows[end - 1]) > 1))
            starts.append(start)
            has_data = False
        has_data = has_data or is_data(row)
    if not ends:
        return [table]
    of_rows = lines_to_rows(table.lines)
    parts = [
        [line for row in of_rows[start:end] for line in row]
        for start, end in zip(starts, [*ends, len(rows)], strict=True)
    ]
    boxes = [hull(line.box for line in lines) for lines in parts]
    tops = [table.box[1], *(box[1] for box in boxes[1:])]
    bottoms = [*(box[3] for box in boxes[:-1]), table.box[3]]
    return [
        Table((table.box[0], top, table.box[2], bottom), cells_of(lines), tuple(lines))
        for lines, top, bottom in zip(parts, tops, bottoms, strict=True)
    ]


def _stands_over(row: Row, below: Row) -> bool:
    """Whether each cell of a row stands over a cell of the row below."""
    return all(any(stands_over(cell.box, one.box) for one in below) for cell in row)


def _with_head(table: Table, lines: _LinesAbove) -> _Headed:
    rows = rows_of_cells(table.lines)
    columns = _columns(rows)
    if len(columns) < 2 or table.has_grid:
        return _Headed(table)
    own = _rows_of_head(rows, columns)
    head, groups = _rows_above(table.box[1], lines_to_rows(lines.free(table.box)), columns, may_group=not own)
    named = [*head, *own] or [row for row in rows[:1] if _names(row, columns)]
    if not named:
        return _Headed(table, columns)
    cells = [list[str]() for _ in range(len(columns) + 1)]
    for row in named:
        for place, cell in zip(_places(row, columns), row, strict=True):
            cells[place or 0].append(cell.text)
    names = tuple(map(" ".join, cells))
    # A row that names the rows too, but not each column, may name several with one cell.
    if not (head or own or all(names[1:])):
        return _Headed(table, columns, names)
    placed = [_cells_under(row, columns) for row in rows[len(own) if head or own else 1 :]]
    added = [line for row in (*head, *groups) for line in row]
    whole = replace(
        table,
        box=hull([table.box, *(line.box for line in added)]),
        rows=(names, *map(_texts, groups), *placed),
        lines=(*added, *table.lines),
    )
    return _Headed(whole, columns, names)


def _rows_of_head(rows: Sequence[Row], columns: Sequence[_Column]) -> list[Row]:
    """The first rows that name columns; the very first may name the rows too, where others follow it."""
    own = list(takewhile(lambda row: _names(row, columns), rows[:MAX_HEAD_ROWS]))
    nameless = list(takewhile(lambda row: 0 not in _places(row, columns), own[1:]))
    return own[: 1 + len(nameless)] if nameless or (own and 0 not in _places(own[0], columns)) else []


def _cells_under(row: Row, columns: Sequence[_Column]) -> tuple[str, ...]:
    """The cells of a row, one for the names of the rows and one for each column; "" where there is none.

    A row of one cell stays one. Where it is not certain under which name each cell stands, no cell is under any.
    """
    if len(row) < 2:
        return _texts(row)
    cells = [list[str]() for _ in range(len(columns) + 1)]
    for cell in row:
        over = _over(cell, columns)
        if (not over or (over[0] and cells[over[0]])) and _MARK.fullmatch(cell.text):
            cells[max(at for at, texts in enumerate(cells) if texts or not at)].append(cell.text)
            continue
        if len(over) != 1 or cells[over[0]]:
            whole = _texts(row)
            return whole if len(whole) != len(cells) else (whole[0], " ".join(whole[1:]))
        cells[over[0]].append(cell.text)
    return tuple(map(" ".join, cells))


def _rows_above(
    top: float, rows: Sequence[Row], columns: Sequence[_Column], *, may_group: bool
) -> tuple[list[Row], list[Row]]:
    """The rows of a head above a table that begins at `top`, and the names of groups below them, from top to bottom."""
    head, groups = list[Row](), list[Row]()
    for row in reversed(rows):
        # The name of a group may be longer than a cell of a head.
        places = [0] if len(row) == 1 and row[0].box[2] <= columns[0].left else _places(row, columns)
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


def _columns(rows: Sequence[Row]) -> list[_Column]:
    """The columns right of the names of the rows, as far as cells of several rows show them.

    Among numbers, words make columns of their own where no number stands over them: signatures below a statement, and
    a head that is wider than its column, do not join two. None where two cells of a row stand in one.
    """
    cells = [cell for row in rows for cell in row[1:]]
    ranges = [(min(cell.box[0] for cell in span), max(cell.box[2] for cell in span)) for span in over_each_other(cells)]
    # A row without a name begins with a cell of a column.
    cells += (row[0] for row in rows if len(row) > 1 and any(left <= _middle(row[0]) < right for left, right in ranges))
    numbers = [cell for cell in cells if is_number(cell)]
    spans = over_each_other(numbers if 2 * len(numbers) > len(cells) else cells)
    if 2 * len(numbers) > len(cells):
        found = [_column(span) for span in spans]
        others = (cell for cell in cells if not is_number(cell))
        spans += over_each_other(cell for cell in others if not any(column.overlaps(cell.box) for column in found))
    columns = sorted((_column(span) for span in spans if len(span) >= MIN_COLUMN_ROWS), key=lambda column: column.left)
    return [] if any(_shares_column(row, columns) for row in rows) else columns


def _column(cells: Sequence[Line]) -> _Column:
    right = max(cell.box[2] for cell in cells)
    return _Column(cells[0].box[0], right, _forms(cell.text for cell in cells))


def _shares_column(row: Row, columns: Sequence[_Column]) -> bool:
    """Whether two cells of a row, of which neither is a mere sign, stand beside each other in one column."""
    rights: dict[int, float] = {}
    for cell in row:
        over = [] if _MARK.fullmatch(cell.text) or SIGN_ALONE.fullmatch(cell.text) else _over(cell, columns)
        if len(over) == 1 and over[0]:
            if rights.get(over[0], cell.box[0] + 1) <= cell.box[0]:
                return True
            rights[over[0]] = cell.box[2]
    return False


def _over(cell: Line, columns: Sequence[_Column]) -> list[int]:
    """The columns, from 1, over which a cell of a row stands; 0 for the names of the rows."""
    if columns and _middle(cell) < columns[0].left:
        return [0]
    return [at for at, column in enumerate(columns, 1) if column.overlaps(cell.box)]


def _middle(line: Line) -> float:
    return (line.box[0] + line.box[2]) / 2


def _forms(texts: Iterable[str]) -> frozenset[str]:
    """The forms of codes that several of the texts have."""
    counts = Counter(_form(text) for text in texts if _CODE.search(text))
    return frozenset(form for form, count in counts.items() if count >= MIN_COLUMN_ROWS)


def _form(text: str) -> str:
    return _DIGIT.sub("0", _LETTER.sub("a", text))


def _bottom(line: Line) -> float:
    return line.box[3]


def _may_head(row: Row, left: float) -> bool:
    """Whether a row may be part of a head, or text that ends a statement: it reaches over columns that begin there."""
    over = row[-1]
    if over.box[2] <= left or (len(row) > 1 and is_data(row)):
        return False
    return len(row) > 1 or len(over.words) > MAX_CELL_WORDS or _DIGIT.search(over.text) is not None


def _is_over(box: Box, table: Box) -> bool:
    return box[3] <= table[1] + 2 and table[0] <= (box[0] + box[2]) / 2 <= table[2]


def _names(row: Row, columns: Sequence[_Column]) -> bool:
    """Whether a row names enough columns to be that of a head, each once, and nothing else but what names the rows."""
    named = [place for place in _places(row, columns) if place != 0]
    return None not in named and len(set(named)) == len(named) >= max(2, MIN_NAMED * len(columns))


def _places(row: Row, columns: Sequence[_Column]) -> Sequence[int | None]:
    if len(row) == len(columns) > 1 and has_but_years(row) and _are_between(row, columns):
        return range(1, len(row) + 1)
    return [_place(cell, columns) for cell in row]


def _are_between(row: Row, columns: Sequence[_Column]) -> bool:
    """Whether each cell stands in the middle of the space that ends at its column: numbers stand at the right of it."""
    space = columns[1].left - columns[0].right
    lefts = [columns[0].left - space, *(column.right for column in columns)]
    return all(left < _middle(cell) < column.right for left, cell, column in zip(lefts, row, columns, strict=False))


def _place(cell: Line, columns: Sequence[_Column]) -> int | None:
    """The column, from 1, over which a cell of a head stands; 0 for one over the names of rows, None for other text."""
    if len(cell.words) > MAX_CELL_WORDS or len(cell.text) < MIN_CELL_CHARACTERS or holds_number(cell):
        return None
    form = _form(cell.text)
    if any(column.overlaps(cell.box) and form in column.forms for column in columns):
        return None  # "GA04" over "GA05"
    over = [at for at, column in enumerate(columns, 1) if column.overlaps(cell.box)]
    if not over:
        return 0 if cell.box[2] <= columns[0].left else None
    return over[0] if len(over) == 1 else None


def _texts(row: Row) -> tuple[str, ...]:
    return tuple(cell.text for cell in row)
