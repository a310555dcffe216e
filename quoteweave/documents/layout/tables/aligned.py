"""Finds tables without rules: rows whose cells are below each other."""

from collections.abc import Sequence

from quoteweave.core.text.references.mentions import rise_steadily
from quoteweave.core.text.tokens import RAISED
from quoteweave.documents.layout.blocks import NUMERIC, SIZE_RATIO, lines_to_rows
from quoteweave.documents.layout.tables.cells import (
    LEADERS,
    Table,
    cells_in,
    is_number,
    numbers_beside,
    parts_of,
    table_of,
)
from quoteweave.documents.sources.lines import Line

# A cell with more words than this, without a number beside it, is text.
MAX_TEXT_WORDS = 9
# A row with more cells than this belongs to no table.
MAX_COLUMNS = 60
# How far, in points, the edges of a column may differ from row to row.
ALIGNED = 6.0
# Rows between rows of cells that have only the name of a group, or the beginning of a long name: their largest number,
# the space above them in heights of a line, and how far in points they are left or right of other names.
MAX_NAMES_BETWEEN = 3
MAX_PITCH_BETWEEN = 1.5
MAX_INDENT = 30.0
# Bullets of lists, without the signs with which tables tick or rate.
LIST_SIGNS = frozenset("•‣▪◦➢➤")
_HANGING = f"%){RAISED}"
"""Characters that hang at the right of a column, whose digits are below each other."""


def aligned_tables(lines: Sequence[Line]) -> list[Table]:
    """Tables without rules: at least three successive rows whose cells are below each other.

    If dots lead from each name to several numbers, two rows are enough. Between them there may be the names of groups
    of rows, and the beginning of a long name.
    """
    tables: list[Table] = []
    run: list[TableRow] = []
    between: list[TableRow] = []
    for row in [*map(TableRow, lines_to_rows(lines)), TableRow([])]:
        if row.has_cells and (not run or _follows(run[-1].parts, row.parts, (between or run)[-1].parts)):
            run += [*between, row]
            between = []
        elif (
            run
            and len(between) < MAX_NAMES_BETWEEN
            and _is_name_alone(row.cells, run[-1].cells, (between or run)[-1].cells)
        ):
            between.append(row)
        else:
            if sum(table_row.has_cells for table_row in run) >= _least_rows(run) and not _lists_pages(run):
                tables.append(table_of([line for table_row in run for line in table_row.lines]))
            run, between = [row] if row.has_cells else [], []
    return tables


class TableRow:
    """The lines in one row, its cells, and the parts from which these are made."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines, self.cells, self.parts = lines, cells_in(lines), parts_of(lines)
        self.has_cells = _is_row(self.cells)

    @property
    def top(self) -> float:
        """The top of its first line, in points from the top of the page."""
        return min(line.box[1] for line in self.lines)

    @property
    def bottom(self) -> float:
        """The bottom of its last line, in points from the top of the page."""
        return max(line.box[3] for line in self.lines)


def _least_rows(rows: Sequence[TableRow]) -> int:
    """The least number of rows that make a table: if dots lead from each name to several numbers, it is no chance."""
    names_and_numbers = [(row.cells[0], row.cells[1:]) for row in rows if row.has_cells]
    has_leaders = (
        LEADERS.search(name.text) and len(numbers) > 1 and all(map(is_number, numbers))
        for name, numbers in names_and_numbers
    )
    return 2 if all(has_leaders) else 3


def _lists_pages(rows: Sequence[TableRow]) -> bool:
    """Whether rows are a table of contents: dots lead from most names to one number, and the numbers never decrease."""
    cells = [row.cells for row in rows if row.has_cells]
    led = [row[1].text for row in cells if len(row) == 2 and LEADERS.search(row[0].text)]
    pages = [int(text) for text in led if text.isdecimal()]
    return 2 * len(led) > len(cells) and len(pages) == len(led) and rise_steadily(pages)


def _is_name_alone(row: Sequence[Line], last: Sequence[Line], above: Sequence[Line]) -> bool:
    """Whether a row has only the name of a group of rows, or the beginning of a long name.

    It is below the row `above`, and left of the cells of the last row that has some.
    """
    return (
        len(row) == 1
        and row[0].size <= SIZE_RATIO * last[0].size
        and row[0].box[1] - max(line.box[3] for line in above) <= MAX_PITCH_BETWEEN * row[0].height
        and last[0].box[0] - MAX_INDENT <= row[0].box[0] <= last[0].box[0] + MAX_INDENT
        and row[0].box[2] <= last[1].box[0]
    )


def _is_row(row: Sequence[Line]) -> bool:
    row = [line for line in row if line.text not in LIST_SIGNS]  # else items side by side would be rows of three cells
    if (
        not 2 <= len(row) <= MAX_COLUMNS
        or any(len(line.words) > MAX_TEXT_WORDS and id(line) not in numbers_beside(row) for line in row)
        or any(" . . " in line.text for line in row)
    ):
        return False
    numbers = sum(bool(NUMERIC.fullmatch(line.words[0].text)) for line in row[1:])
    return len(row) >= 3 or (numbers > 0 and len(row[-1].words) <= 3)


def _follows(upper: Sequence[Line], lower: Sequence[Line], above: Sequence[Line]) -> bool:
    """Whether a row below the row `above` has its cells under those of `upper`."""
    gap = min(line.box[1] for line in lower) - max(line.box[3] for line in above)
    if gap > 3 * lower[0].height:
        return False
    shared = sum(any(_are_in_one_column(a, b) for b in upper) for a in lower)
    return shared >= 2 or shared == len(lower)


def _are_in_one_column(cell: Line, other: Line) -> bool:
    a, b = cell.box, other.box
    centre = abs((a[0] + a[2]) - (b[0] + b[2])) / 2
    digits = abs(_right_of_digits(cell) - _right_of_digits(other))
    return min(abs(a[0] - b[0]), abs(a[2] - b[2]), centre, digits) < ALIGNED


def _right_of_digits(cell: Line) -> float:
    """The right edge of a cell without hanging characters: the digits of "18%" are above those of "862.7"."""
    left, _, right, _ = cell.words[-1].box
    text = cell.words[-1].text
    if text == "%" and len(cell.words) > 1:
        return cell.words[-2].box[2]
    return left + (right - left) * len(text.rstrip(_HANGING)) / len(text)
