"""Tables, and their rows of cells from the positions of lines: each number with its sign, apart from its name."""

from bisect import bisect
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise, takewhile

from quoteweave.core.boxes import Box, hull
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.layout.blocks import NUMERIC, lines_to_rows
from quoteweave.documents.sources.lines import Line, Word

# The most words of a number beside a name: "$ 1,204".
MAX_NUMBER_WORDS = 2
# A space between columns: its least width, in heights of a line, and the least number of rows whose cells it parts.
MIN_GUTTER, MIN_PARTED = 0.6, 2
LEADERS = lazy_regex(r"[.·…]{4}[.·…\s]*[A-Z]{0,3}[$€£¥₹]?\s*$")
"""The dots that lead from a name to its numbers, with a currency sign."""
SIGN_ALONE = lazy_regex(r"[A-Z]{0,3}\W{1,3}")
"""A sign without a number: "—", "US$", or "*" if a note explains it."""
_SIGN = lazy_regex(r"[A-Z]{0,3}[$€£¥₹]")
_LEADING_WORD = lazy_regex(r"[.·…]{4}$")
_FEW_DOTS = ("...", "…")
"""Dots that lead from a long name to amounts directly after it."""
_SIGNED, _IN_BRACKETS = lazy_regex(r"[A-Z]{0,3}[$€£¥₹]\(?\d[\d.,]*\)?"), lazy_regex(r"\(\d{1,3}(?:,\d{3})+\)")
_AMOUNT = lazy_regex(r"[(−–—-]?\s*[\d.]|[–—-](?!\S)")
_YEAR = lazy_regex(r"(?:1[5-9]|20|21)\d\d(?:[-–/](?:(?:1[5-9]|20|21)\d\d|\d\d))?[,:]?")
_YEAR_OR_DAY = lazy_regex(rf"{_YEAR.pattern}|\d{{1,2}}[,:]?")

Row = Sequence[Line]
"""The cells of a row, from left to right."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table's box in points, its rows of cells ("" for an empty cell), and the lines that were used for it."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """Rows joined by newlines, cells by ' | '."""
        return "\n".join(" | ".join(cell or "-" for cell in row) for row in self.rows if any(row))

    @property
    def has_grid(self) -> bool:
        """Whether rules separate its cells, so that its rows cannot be derived from its lines alone."""
        return self.rows != cells_of(self.lines)


def cells_of(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """Rows of cells from the positions of the lines, for tables without a grid."""
    return tuple(tuple(cell.text for cell in row) for row in rows_of_cells(lines))


def table_of(lines: Sequence[Line]) -> Table:
    """A table without a grid, of these lines."""
    return Table(hull(line.box for line in lines), cells_of(lines), tuple(lines))


def rows_of_cells(lines: Sequence[Line]) -> list[list[Line]]:
    """Rows of cells, each a line. A currency sign is in the cell of its number, however far before it.

    A space that no word enters and that parts the cells of several rows parts numbers from what is left of them in all.
    """
    rows = [cells_in(row) for row in lines_to_rows(lines)]
    if not any(len(cell.words) > 1 for row in rows for cell in row) or sum(len(row) > 1 for row in rows) < MIN_PARTED:
        return rows
    spaces = list(_spaces(rows))
    counts = Counter(space for row in rows for space in _spaces_between_cells(row, spaces))
    gutters = sorted(space for space, count in counts.items() if count >= MIN_PARTED)
    return [[part for cell in row for part in _split_at_gutters(cell, gutters)] for row in rows] if gutters else rows


def _spaces(rows: Sequence[Row]) -> Iterator[float]:
    """The middles of the spaces that run through all rows between words."""
    words = sorted((word.box[0], word.box[2]) for row in rows for cell in row for word in cell.words)
    least, right = MIN_GUTTER * min(cell.height for row in rows for cell in row), words[0][1]
    for left, end in words:
        if left - right >= least:
            yield (left + right) / 2
        right = max(right, end)


def _spaces_between_cells(row: Row, spaces: Sequence[float]) -> Iterator[float]:
    """The spaces that are each the only one between two cells of a row."""
    for cell, next_cell in pairwise(row):
        first, end = bisect(spaces, cell.box[2]), bisect(spaces, next_cell.box[0])
        yield from spaces[first:end] if end - first == 1 else ()


def _split_at_gutters(cell: Line, gutters: Sequence[float]) -> list[Line]:
    parts = [list(words) for _, words in groupby(cell.words, lambda word: bisect(gutters, word.box[0]))]
    cells = [_cell(cell, words) for words in parts]
    is_sign = any(SIGN_ALONE.fullmatch(part.text) for part in cells)
    return cells if any(map(is_number, cells[1:])) and not is_sign else [cell]


def parts_of(row: Sequence[Line]) -> list[Line]:
    """The cells of a row before signs are joined to their numbers: columns are determined by the numbers."""
    return [part for line in row for part in _split_amounts(line, signs_follow=_signs_follow(row))]


def cells_in(row: Sequence[Line]) -> list[Line]:
    """The cells of a row, with signs at the end of a cell moved before the number of the next, unless signs follow."""
    cells, signs_follow = list[Line](), _signs_follow(row)
    for cell in (cell for line in row for cell in _split_amounts(line, signs_follow=signs_follow)):
        *before, last = cells[-1].words if cells else (None,)
        if last is not None and not signs_follow and _SIGN.fullmatch(last.text) and _AMOUNT.match(cell.text):
            signed = _cell(cell, [last, *cell.words])
            cells[-1:] = [_cell(cells[-1], before), signed] if before else [signed]
        else:
            cells.append(cell)
    return cells


def _signs_follow(row: Sequence[Line]) -> bool:
    """Whether signs follow their numbers, which is so if the last one ends the row: "1.204 €"."""
    *_, number, last = ("", "", *(word.text for line in row[-1:] for word in line.words))
    return _SIGN.fullmatch(last) is not None and NUMERIC.fullmatch(number) is not None


def _split_amounts(line: Line, *, signs_follow: bool) -> Iterator[Line]:
    """Split a line with dots leading from a name to amounts, or with amounts of signs alone, into name and amounts.

    The space between such cells is no wider than that between words.
    """
    texts = [word.text for word in line.words]
    begin = _begin_of_amounts(texts)
    later_starts = (at for at in range(begin + 1, len(texts)) if _begins_amount(texts, at, signs_follow=signs_follow))
    starts = sorted({0, begin, *later_starts} - {len(texts)})
    for start, stop in pairwise([*starts, len(texts)]):
        yield _cell(line, line.words[start:stop]) if len(starts) > 1 else line


def _begin_of_amounts(texts: Sequence[str]) -> int:
    """The first word after the dots that lead to amounts; 0 if all are amounts, the number of words if none is."""
    name = len(texts) - sum(1 for _ in takewhile(_is_of_amount, reversed(texts)))
    if name and texts[name - 1].endswith(_FEW_DOTS):
        return name
    return next((at for at, text in enumerate(texts, 1) if _LEADING_WORD.search(text)), len(texts)) if name else 0


def _is_of_amount(text: str) -> bool:
    return not text.endswith(_FEW_DOTS) and any(form.fullmatch(text) for form in (NUMERIC, _SIGN, _SIGNED, SIGN_ALONE))


def _begins_amount(texts: Sequence[str], at: int, *, signs_follow: bool) -> bool:
    """Whether a word is the first of an amount: one with a sign, or in brackets like the word before it."""
    if signs_follow:
        return _SIGN.fullmatch(texts[at - 1]) is not None
    if _SIGN.fullmatch(texts[at]):
        return at + 1 < len(texts) and _AMOUNT.match(texts[at + 1]) is not None
    return _SIGNED.fullmatch(texts[at]) is not None or all(map(_IN_BRACKETS.fullmatch, texts[at - 1 : at + 1]))


def _cell(line: Line, words: Sequence[Word]) -> Line:
    return replace(line, words=tuple(words), box=hull(word.box for word in words))


def top_of(line: Line) -> float:
    """The top of a line or cell, by which lines are sorted."""
    return line.box[1]


def stands_over(box: Box, other: Box) -> bool:
    """Whether two boxes share some of their width, whatever their heights."""
    return box[0] < other[2] and other[0] < box[2]


def over_each_other(cells: Iterable[Line]) -> list[list[Line]]:
    """Groups of cells that are above each other, from left to right."""
    groups: list[list[Line]] = []
    right = 0.0
    for cell in sorted(cells, key=lambda cell: cell.box):
        if groups and cell.box[0] < right:
            groups[-1].append(cell)
        else:
            groups.append([cell])
        right = max(right, cell.box[2])
    return groups


def is_number(cell: Line) -> bool:
    """Whether a cell has only a number, with signs and marks, or signs alone: "$ 1,204", "24.0 %", "—".

    Two numbers belong to two columns whose cells touch.
    """
    numbers = [word for word in cell.words if not SIGN_ALONE.fullmatch(word.text)]
    return len(numbers) < 2 and all(NUMERIC.fullmatch(word.text) for word in numbers)


def numbers_beside(row: Sequence[Line]) -> dict[int, str]:
    """The ids of the lines of a row directly before a number, with that number; "" if dots lead to it."""
    led = {id(line): "" for line in row if LEADERS.search(line.text)}
    names_and_numbers = ((name, cell.text) for name, cell in pairwise(row) if len(cell.words) <= MAX_NUMBER_WORDS)
    return led | {id(name): number for name, number in names_and_numbers if NUMERIC.fullmatch(number.split()[-1])}


def is_row_of_years(row: Row) -> bool:
    """Whether a row names at least two columns by years or dates, and names rows at most in brackets."""
    named_cells = row[1:] if row[0].text.startswith("(") else row
    return len(named_cells) > 1 and all(has_year(cell) and not holds_number(cell) for cell in named_cells)


def has_year(cell: Line) -> bool:
    """Whether a cell contains a year."""
    return any(_YEAR.fullmatch(word.text) for word in cell.words)


def is_data(row: Row) -> bool:
    """Whether a row has a number beside its name that is not part of a date."""
    return any(map(holds_number, row[1:]))


def holds_number(cell: Line) -> bool:
    """Whether a cell contains a number other than a year, or than the day of a date."""
    numbers = [word.text for word in cell.words if NUMERIC.fullmatch(word.text)]
    has_words = any(word.text[0].isalpha() and not SIGN_ALONE.fullmatch(word.text) for word in cell.words)  # not "US$"
    is_date = has_words or any(map(_YEAR.fullmatch, numbers))
    return bool(numbers) and not (is_date and all(map(_YEAR_OR_DAY.fullmatch, numbers)))
