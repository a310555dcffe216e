"""Reads tables of comma- or tab-separated values, as spreadsheets and databases write them."""

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice, takewhile
from pathlib import Path

from quoteweave.core.errors import DocumentError
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks
from quoteweave.documents.reflow.text_files import MAX_MEGABYTES, iter_lines_of, read_text

DELIMITERS = ",;\t|"
# Characters from the start of a file by which its delimiter is told.
_SAMPLE = 8_192
MAX_ABOVE = 30
"""Rows above a table that are told from it, at most."""
_ROWS_READ = 200


def parse_csv(path: Path) -> ParsedDocument:
    """Parse a file of separated values: its table, whose first row is the head of each part, on virtual pages.

    Rows above the head, such as the account and the period of a statement, become lines of text.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds a cell of more than 131,072
    characters or more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    try:
        rows = _rows(text, "\t" if path.suffix.lower() == ".tsv" else _delimiter(text[:_SAMPLE]))
        first = list(islice(rows, _ROWS_READ))
        above = _rows_above(first)
        table = "\n".join(" | ".join(row) for row in chain(first[above:], rows))
    except csv.Error as error:
        raise DocumentError(f"{path.name!r} cannot be read as a table: {error}") from error
    said = "\n".join(": ".join(filter(None, row)) for row in first[:above])
    blocks = [FlowBlock(layout="list", text=said)] if said else []
    blocks += [FlowBlock(layout="table", text=table)] if table else []
    return paginate_blocks(blocks, name=path.name, warnings=warnings)


def _delimiter(sample: str) -> str:
    """What stands between the cells; a comma where that is not sure, as of a table with one column."""
    try:
        return csv.Sniffer().sniff(sample, DELIMITERS).delimiter
    except csv.Error:
        return ","


def _rows_above(rows: Sequence[Sequence[str]]) -> int:
    """How many rows stand above the head of the table: of half its columns at most, and from the first one on.

    None where no row is surely the head: the first rows of a table without one may lack cells, too.
    """
    counts = Counter(sum(map(bool, row)) for row in rows)
    columns = max(counts, key=lambda count: (counts[count], count), default=0)
    above = sum(1 for _ in takewhile(lambda row: _is_above(row, columns), rows))
    if above > min(MAX_ABOVE, len(rows) - 2) or sum(map(bool, rows[above])) < columns:
        return 0
    return above if _names_columns(rows[above], rows[above + 1 :]) else 0


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row has no digit, and stands above a column of which each cell has."""
    columns = ([other[at] for other in below if at < len(other) and other[at]] for at in range(len(row)))
    return not any(map(_has_digit, row)) and any(cells and all(map(_has_digit, cells)) for cells in columns)


def _has_digit(cell: str) -> bool:
    return any(map(str.isdecimal, cell))


def _is_above(row: Sequence[str], columns: int) -> bool:
    filled = sum(map(bool, row))
    return 2 * filled <= columns and all(row[:filled]) and columns > 2


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """The cells of each row that is not empty, without what stands between cells of tables."""
    for row in csv.reader((f"{line}\n" for line in iter_lines_of(text)), delimiter=delimiter):
        cells = [" ".join(cell.replace("|", "/").split()) for cell in row]
        if any(cells):
            yield cells
