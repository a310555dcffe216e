"""Reads tables of comma- or tab-separated values, as spreadsheets and databases write them."""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, dropwhile, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from quoteweave.core.errors import DocumentError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import FlowBlock, cell_text, paginate_blocks
from quoteweave.documents.reflow.text_files import MAX_MEGABYTES, iter_lines_of, read_text

if TYPE_CHECKING:
    from _csv import Reader

DELIMITERS = ",;\t|"
# From how many characters at the start of a file its delimiter is detected.
_SAMPLE = 8_192
MAX_ABOVE = 30
"""The most rows above a table that are recognised as such."""
_ROWS_READ = 200
# A first line that gives Excel the delimiter.
_STATED = lazy_regex(r"sep=(.)\n", re.IGNORECASE)
_YEAR = lazy_regex(r"(?:19|20)\d\d")
# Between the mark that closes a cell and the end of that.
_BLANKS_BEHIND = lazy_regex(r'" +(?=[,;\t|\n]|$)')
Quoting = Literal[0, 3]
"""`csv.QUOTE_MINIMAL` if cells may be quoted, or `csv.QUOTE_NONE` if quotation marks are ordinary characters."""


def parse_csv(path: Path) -> ParsedDocument:
    """Parse a file of separated values: its tables, whose first row is the head of each part, on virtual pages.

    Rows above a head, such as the account and the period of a statement, become lines of text.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or has a cell of more than 131,072
    characters or more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(text[:_SAMPLE])
    if stated := _STATED.match(text):
        delimiter, text = stated[1], text[stated.end() :]
    try:
        text, quoting, unsure = _with_quoting(text, delimiter)
        tables = _tables(_rows_of_cells(text, delimiter, quoting))
    except csv.Error as error:
        raise DocumentError(f"{path.name!r} cannot be read as a table: {_problem_of(error)}") from error
    longer = sum(table.longer for table in tables)
    unsure_heads = sum(table.unsure_heads for table in tables)
    row_warnings = (
        *((f"Rows of its tables that have more cells than the first: {longer}.",) if longer else ()),
        *((f"Rows below empty rows that may be heads of other tables: {unsure_heads}.",) if unsure_heads else ()),
    )
    blocks = [block for table in tables for block in table.blocks()]
    return paginate_blocks(blocks, name=path.name, warnings=(*warnings, *unsure, *row_warnings))


class _Table:
    """A table, with the rows above it."""

    def __init__(self, above: Sequence[Sequence[str]]) -> None:
        self.longer = 0  # the number of rows with cells beyond the columns of the head
        self.unsure_heads = 0  # the number of rows that may be the head of another table
        self._above = above
        self._head: Sequence[str] = ()
        self._names, self._filled = frozenset[str](), 0  # of its head's cells
        self._fewest = 0  # how many cells are filled in each row at least
        self._lines: list[str] = []

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        for row in rows:
            if not self._head:
                self._head, self._names, self._filled = row, frozenset(filter(None, row)), sum(map(bool, row))
                self._fewest = self._filled
            self._fewest = min(self._fewest, sum(map(bool, row)) or self._fewest)
            self.longer += any(row[len(self._head) :])
            self._lines.append(" | ".join(row))

    def is_head_of_another(self, row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
        """Whether a row is not of this table: it has more cells than the head, or begins with one of the head's.

        Or it and all rows below it have equally many cells, fewer than each row of this table.
        """
        filled = sum(map(bool, row))
        is_narrow = filled < self._fewest and all([*map(bool, lower_row)] == [*map(bool, row)] for lower_row in below)
        return filled > self._filled or row[0] in self._names or (is_narrow and all(row[:filled]))

    def blocks(self) -> Iterator[FlowBlock]:
        if self._above:
            text = "\n".join(": ".join(filter(None, row)) for row in self._above)
            yield FlowBlock(layout="list", text=text)
        yield FlowBlock(layout="table", text="\n".join(self._lines))


def _tables(rows: Iterator[list[str]]) -> list[_Table]:
    """The tables of a file: rows below an empty row are another table if they certainly have a head of their own."""
    start = list(islice(rows, _ROWS_READ))
    first = list(filter(None, start))
    if not first:
        return []
    above = _head_of(first) or 0
    tables, is_below_empty = [_Table(first[:above])], False
    remaining_rows = chain(dropwhile(lambda row: row is not first[above], start), rows)
    for row in remaining_rows:
        section = [row, *takewhile(bool, islice(remaining_rows, _ROWS_READ))] if row else []
        is_cut = len(section) > _ROWS_READ
        head = _head_of(section, narrowest=2) if is_below_empty and section else None
        if head is not None and (head or tables[-1].is_head_of_another(section[0], section[1:])):
            tables.append(_Table(section[:head]))
            section = section[head:]
        elif head is not None:
            tables[-1].unsure_heads += 1
        tables[-1].add(section)
        is_below_empty = not is_cut
    return tables


def _with_quoting(text: str, delimiter: str) -> tuple[str, Quoting, tuple[str, ...]]:
    """The text from which to read rows, the way of quoting, and a warning if no way fits all of the text.

    Programs double a quotation mark within a quoted cell, or write a backslash before it, or quote nothing. Read in the
    wrong way, a cell that begins with a mark would contain all cells up to the next mark.
    """
    first_problem = _first_problem(text, delimiter)
    if first_problem is None:
        return text, csv.QUOTE_MINIMAL, ()
    doubled = text.replace('\\"', '""')
    for fitting in (doubled, _BLANKS_BEHIND.sub('"', text)):
        if _first_problem(fitting, delimiter) is None:
            return fitting, csv.QUOTE_MINIMAL, ()
    ways: list[tuple[str, Quoting]] = [(text, csv.QUOTE_MINIMAL), (doubled, csv.QUOTE_MINIMAL), (text, csv.QUOTE_NONE)]
    best, quoting = max(ways, key=lambda way: _rows_of_equal_width(way[0], delimiter, way[1]))
    line, problem = first_problem
    return best, quoting, (f"In line {line}, {problem}: cells may stand in wrong rows or columns.",)


def _first_problem(text: str, delimiter: str) -> tuple[int, str] | None:
    """The first line of the first row whose quotation marks are not paired around whole cells, and what is wrong."""
    reader, line = _reader(text, delimiter, strict=True), 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error as error:
        return line, _problem_of(error)
    return None


def _problem_of(error: csv.Error) -> str:
    if "field limit" in str(error):
        return f"a cell has more than {csv.field_size_limit():,} characters, or a quotation mark is not closed"
    return "quotation marks are not paired"


def _rows_of_equal_width(text: str, delimiter: str, quoting: Quoting) -> int:
    """The number of rows with the most frequent number of cells, if above one; -1 if the rows cannot be read."""
    try:
        counts = Counter(map(len, _reader(text, delimiter, quoting)))
    except csv.Error:
        return -1
    return max((rows for width, rows in counts.items() if width > 1), default=0)


def _delimiter(sample: str) -> str:
    """The character between cells; a comma if that is uncertain, as for a table with one column."""
    try:
        return csv.Sniffer().sniff(sample, DELIMITERS).delimiter
    except csv.Error:
        return ","


def _head_of(rows: Sequence[Sequence[str]], *, narrowest: int = 3) -> int | None:
    """The row that is certainly the head of the table: each row above has at most half of its columns, from the first.

    None if there is none: the first rows of a table without a head may lack cells, too. In a table with fewer than
    `narrowest` columns, only the first row can be the head, but for comments (`# …`) above it.
    """
    counts = Counter(sum(map(bool, row)) for row in rows)
    columns = max(counts, key=lambda count: (counts[count], count), default=0)
    above = sum(
        1
        for _ in takewhile(
            lambda row: (columns >= narrowest or row[0].startswith("#")) and _is_above_head(row, columns), rows
        )
    )
    if above > min(MAX_ABOVE, len(rows) - 2) or sum(map(bool, rows[above])) < columns:
        return None
    return above if _names_columns(rows[above], rows[above + 1 :]) else None


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row has no digits but in years, and is above a column whose cells have digits and are not all years."""
    columns = ([lower[at] for lower in below if at < len(lower) and lower[at]] for at in range(len(row)))
    is_of_names = all(_YEAR.fullmatch(cell) or not _has_digit(cell) for cell in row)
    return is_of_names and any(
        cells and all(map(_has_digit, cells)) and not all(map(_YEAR.fullmatch, cells)) for cells in columns
    )


def _has_digit(cell: str) -> bool:
    return any(map(str.isdecimal, cell))


def _is_above_head(row: Sequence[str], columns: int) -> bool:
    filled = sum(map(bool, row))
    return 2 * filled <= columns and all(row[:filled])


def _rows_of_cells(text: str, delimiter: str, quoting: Quoting) -> Iterator[list[str]]:
    """The cells of each row, without the characters that separate cells of tables; empty for a row without words."""
    for row in _reader(text, delimiter, quoting):
        cells = list(map(cell_text, row))
        yield cells if any(cells) else []


def _reader(text: str, delimiter: str, quoting: Quoting = csv.QUOTE_MINIMAL, *, strict: bool = False) -> "Reader":
    lines = (f"{line}\n" for line in iter_lines_of(text))
    return csv.reader(lines, delimiter=delimiter, quoting=quoting, strict=strict, skipinitialspace=True)
