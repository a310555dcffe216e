"""The cells of HTML tables: spans, and signs that stand in columns of their own."""

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.reflow.paginate import cell_text

# How many columns cells of a table may span beyond their first, in total.
MAX_SPANNED = 10_000
# The most cells, with those that short rows lack, of a table whose signs are joined with their numbers.
MAX_CELLS = 1_000_000


@dataclass(slots=True, eq=False)
class Cell:
    """A cell with the number of columns and rows that it spans."""

    columns: int = 1
    rows: int = 1
    is_header: bool = False
    has_picture: bool = False
    paragraphs: list[str] = field(default_factory=list)

    def texts(self, columns: int) -> Iterator[str]:
        """The cell's text in each of the columns: a header is repeated in all, other text is only in the first."""
        text = cell_text("\n".join(self.paragraphs))
        return (text if self.is_header or number == 0 else "" for number in range(columns))


def expand_spans(rows: Iterable[Sequence[Cell]], group_starts: Container[int] = ()) -> list[list[str]]:
    """Return the cells' texts as a grid; a cell that spans several rows of its group is repeated in each."""
    filled: list[list[str]] = []
    above: dict[int, tuple[str, int]] = {}
    room = MAX_SPANNED
    for number, cells in enumerate(rows):
        row = _Row({} if number in group_starts else above)
        for cell in cells:
            columns = min(cell.columns, room + 1)
            room -= columns - 1
            for text in cell.texts(columns):
                row.add(text, cell.rows - 1)
        row.fill()
        filled.append(row.texts)
        above = row.below
    return filled


class _Row:
    """A row being filled, with the cells that extend into it from above, or from it to rows below, by column."""

    def __init__(self, above: dict[int, tuple[str, int]]) -> None:
        self.texts: list[str] = []
        self.below: dict[int, tuple[str, int]] = {}
        self._above = above

    def add(self, text: str, rows_below: int) -> None:
        """Put a text into the next column that is free."""
        self.fill()
        self._put(text, rows_below)

    def fill(self) -> None:
        """Put in the cells that extend from above into the next columns."""
        while len(self.texts) in self._above:
            text, rows = self._above[len(self.texts)]
            self._put(text, rows - 1)

    def _put(self, text: str, rows_below: int) -> None:
        if rows_below > 0:
            self.below[len(self.texts)] = text, rows_below
        self.texts.append(text)


# What stands in a column of its own before and behind the numbers of a column: "$ | 1,204", "(5 | )", "7 | %".
_SIGN_BEFORE = lazy_regex(r"(?:[A-Z]{0,3}[$€£¥₹]|EUR|USD|GBP|CHF)\s?\(?")
_SIGN_BEHIND = lazy_regex(r"\)?\s?[%‰]?\s?\)?")
# A number that is no year, which may name a column.
_VALUE = lazy_regex(r"(?!(?:19|20)\d\d$)[\W\d]*\d[\W\d]*")


def cell_texts(rows: Iterable[Sequence[Cell]], group_starts: Container[int] = ()) -> list[list[str]]:
    """Return the cells' texts as a grid, with each number and its signs in one cell.

    Reports put "$", ")" and "%" into cells of their own, which a name of a column spans.
    """
    grid = expand_spans(rows, group_starts)
    width = max(map(len, grid), default=0)
    if width * len(grid) > MAX_CELLS:
        return grid
    columns = list(zip(*([*row, *[""] * (width - len(row))] for row in grid), strict=True))
    for at in range(width - 1, 1, -1):  # the first names the rows
        before, behind = columns[at - 1], columns[at]
        if joined := _joined_columns(before, behind):
            columns[at - 1 : at + 1] = [joined]
    return [list(row) for row in zip(*columns, strict=True)] if len(columns) < width else grid


def _joined_columns(before: Sequence[str], behind: Sequence[str]) -> tuple[str, ...] | None:
    """Two columns as one where one of them has but signs, below names that both share; else None."""
    shared = [(left, right) for left, right in zip(before, behind, strict=True) if left and right]
    pairs = [(left, right) for left, right in shared if left != right or _VALUE.fullmatch(left)]
    if not pairs or not all(map(_is_number_with_sign, pairs)):
        return None
    texts = (left if left == right else _with_sign(left, right) for left, right in zip(before, behind, strict=True))
    return tuple(texts)


def _is_number_with_sign(pair: tuple[str, str]) -> bool:
    before, behind = pair
    if before[-1:].isdecimal() and _SIGN_BEHIND.fullmatch(behind):
        return True
    return _SIGN_BEFORE.fullmatch(before) is not None and any(map(str.isdecimal, behind))


def _with_sign(before: str, behind: str) -> str:
    return f"{before}{'' if behind.startswith(')') else ' '}{behind}".strip()
