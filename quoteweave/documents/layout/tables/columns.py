"""Determines the columns of a table, and which of them each cell of a row is in."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import RAISED
from quoteweave.documents.layout.tables.cells import (
    SIGN_ALONE,
    Row,
    holds_number,
    is_number,
    is_row_of_years,
    over_each_other,
)
from quoteweave.documents.sources.lines import Line

MAX_CELL_WORDS = 6
"""The most words of a cell in a head."""
# The least characters of a cell of a head: "S" and "P", for standard and part of a package, are cells of rows.
MIN_CELL_CHARACTERS = 2
# The unit of numbers, below the year to which they belong: "£", "£’000", "$m".
UNIT = lazy_regex(r"[A-Z]{0,3}[$€£¥₹]\s?(?:[’'‘]?0{3}s?|k|m|bn|mn)?|%", re.IGNORECASE)
# The least number of rows in which a column has a cell, and the least share of columns that a head names.
MIN_COLUMN_ROWS = 2
MIN_NAMED = 0.5

# The form of a code, such as "GA04", in which the cells of a column are alike.
_CODE = lazy_regex(r"[^\W\d_]+\d|\d[^\W\d_]+\d")
# Characters after a number that belong to no column.
_MARK = lazy_regex(rf"\(\w{{1,2}}\)|[*†‡§%){RAISED}]+")
_LETTER, _DIGIT = lazy_regex(r"[^\W\d_]"), lazy_regex(r"\d")


@dataclass(frozen=True, slots=True)
class Column:
    """The range of a column's cells, in points from the left, and the forms of the codes in several of them."""

    left: float
    right: float
    forms: frozenset[str] = frozenset()

    def overlaps(self, box: Box) -> bool:
        """Whether a box shares some of its width."""
        return box[0] < self.right and box[2] > self.left


def columns_of(rows: Sequence[Row]) -> list[Column]:
    """The columns right of the names of the rows, as far as cells of several rows show them.

    Among numbers, words only form columns where no number is above them: signatures below a statement, and a head wider
    than its column, do not join two columns. Returns none if two cells of a row are in one column.
    """
    cells = [cell for row in rows for cell in row[1:]]
    ranges = [(min(cell.box[0] for cell in span), max(cell.box[2] for cell in span)) for span in over_each_other(cells)]
    # In a row without a name, the first cell belongs to a column.
    cells += (row[0] for row in rows if len(row) > 1 and any(left <= middle(row[0]) < right for left, right in ranges))
    numbers = [cell for cell in cells if is_number(cell)]
    spans = over_each_other(numbers if 2 * len(numbers) > len(cells) else cells)
    if 2 * len(numbers) > len(cells):
        number_columns = [_column(span) for span in spans]
        words = (cell for cell in cells if not is_number(cell))
        spans += over_each_other(
            cell for cell in words if not any(column.overlaps(cell.box) for column in number_columns)
        )
    columns = sorted((_column(span) for span in spans if len(span) >= MIN_COLUMN_ROWS), key=lambda column: column.left)
    return [] if any(_shares_column(row, columns) for row in rows) else columns


def _column(cells: Sequence[Line]) -> Column:
    right = max(cell.box[2] for cell in cells)
    return Column(cells[0].box[0], right, _code_forms(cell.text for cell in cells))


def _shares_column(row: Row, columns: Sequence[Column]) -> bool:
    """Whether two cells of a row, both more than a mere sign, are beside each other in one column."""
    rights: dict[int, float] = {}
    for cell in row:
        over = [] if _MARK.fullmatch(cell.text) or SIGN_ALONE.fullmatch(cell.text) else columns_over(cell, columns)
        if len(over) == 1 and over[0]:
            if rights.get(over[0], cell.box[0] + 1) <= cell.box[0]:
                return True
            rights[over[0]] = cell.box[2]
    return False


def columns_over(cell: Line, columns: Sequence[Column]) -> list[int]:
    """The columns, from 1, above which a cell of a row is; 0 for the names of the rows."""
    if columns and middle(cell) < columns[0].left:
        return [0]
    return [at for at, column in enumerate(columns, 1) if column.overlaps(cell.box)]


def middle(line: Line) -> float:
    """The middle of a line, in points from the left."""
    return (line.box[0] + line.box[2]) / 2


def _code_forms(texts: Iterable[str]) -> frozenset[str]:
    """The forms of codes that at least two of the texts have."""
    counts = Counter(_code_form(text) for text in texts if _CODE.search(text))
    return frozenset(form for form, count in counts.items() if count >= MIN_COLUMN_ROWS)


def _code_form(text: str) -> str:
    return _DIGIT.sub("0", _LETTER.sub("a", text))


def names_columns(row: Row, columns: Sequence[Column]) -> bool:
    """Whether a row names enough columns for a head, each once, and otherwise only the names of the rows."""
    named_columns = [place for place in columns_named_by(row, columns) if place != 0]
    is_clear = None not in named_columns and len(set(named_columns)) == len(named_columns)
    return is_clear and len(named_columns) >= max(2, MIN_NAMED * len(columns))


def columns_named_by(row: Row, columns: Sequence[Column]) -> Sequence[int | None]:
    """For each cell of a head its column, from 1; 0 for a cell above the names of the rows, None for other text."""
    if len(row) == len(columns) > 1 and is_row_of_years(row) and _are_between(row, columns):
        return range(1, len(row) + 1)
    return [_place(cell, columns) for cell in row]


def _are_between(row: Row, columns: Sequence[Column]) -> bool:
    """Whether each cell is in the middle of the space that ends at its column: numbers are at the right of it."""
    space = columns[1].left - columns[0].right
    lefts = [columns[0].left - space, *(column.right for column in columns)]
    return all(left < middle(cell) < column.right for left, cell, column in zip(lefts, row, columns, strict=False))


def _place(cell: Line, columns: Sequence[Column]) -> int | None:
    """The column, from 1, above which a cell of a head is; 0 for the names of rows, None for other text."""
    too_short = len(cell.text) < MIN_CELL_CHARACTERS or holds_number(cell)
    if len(cell.words) > MAX_CELL_WORDS or (too_short and not UNIT.fullmatch(cell.text)):
        return None
    form = _code_form(cell.text)
    if any(column.overlaps(cell.box) and form in column.forms for column in columns):
        return None  # as "GA04" is above "GA05"
    over = [at for at, column in enumerate(columns, 1) if column.overlaps(cell.box)]
    if not over:
        return 0 if cell.box[2] <= columns[0].left else None
    return over[0] if len(over) == 1 else None


def cells_under(row: Row, columns: Sequence[Column]) -> tuple[str, ...]:
    """The cells of a row, one for the names of the rows and one for each column; "" if there is none.

    A row of one cell stays one. If it is uncertain below which name each cell is, no cell is assigned to any.
    """
    if len(row) < 2:
        return texts_of(row)
    cells = [list[str]() for _ in range(len(columns) + 1)]
    for cell in row:
        over = columns_over(cell, columns)
        if (not over or (over[0] and cells[over[0]])) and _MARK.fullmatch(cell.text):
            cells[max(at for at, texts in enumerate(cells) if texts or not at)].append(cell.text)
            continue
        if len(over) != 1 or cells[over[0]]:
            all_texts = texts_of(row)
            return all_texts if len(all_texts) != len(cells) else (all_texts[0], " ".join(all_texts[1:]))
        cells[over[0]].append(cell.text)
    return tuple(map(" ".join, cells))


def texts_of(row: Row) -> tuple[str, ...]:
    """The texts of the cells of a row."""
    return tuple(cell.text for cell in row)
