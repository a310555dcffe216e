"""Reads tables of comma- or tab-separated values, as spreadsheets and databases write them."""

import csv
from collections.abc import Iterator
from pathlib import Path

from quoteweave.core.errors import DocumentError
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks
from quoteweave.documents.reflow.text_files import MAX_MEGABYTES, iter_lines_of, read_text

DELIMITERS = ",;\t|"
# Characters from the start of a file by which its delimiter is told.
_SAMPLE = 8_192


def parse_csv(path: Path) -> ParsedDocument:
    """Parse a file of separated values: its table, whose first row is the head of each part, on virtual pages.

    Raises DocumentError when the file cannot be read, is larger than 64 MB, or holds a cell of more than 131,072
    characters or more than 200,000 quotes.
    """
    text, warnings = read_text(path, megabytes=MAX_MEGABYTES)
    try:
        rows = "\n".join(_rows(text, "\t" if path.suffix.lower() == ".tsv" else _delimiter(text[:_SAMPLE])))
    except csv.Error as error:
        raise DocumentError(f"{path.name!r} cannot be read as a table: {error}") from error
    blocks = [FlowBlock(layout="table", text=rows)] if rows else []
    return paginate_blocks(blocks, name=path.name, warnings=warnings)


def _delimiter(sample: str) -> str:
    """What stands between the cells; a comma where that is not sure, as of a table with one column."""
    try:
        return csv.Sniffer().sniff(sample, DELIMITERS).delimiter
    except csv.Error:
        return ","


def _rows(text: str, delimiter: str) -> Iterator[str]:
    """Each row that is not empty on a line, its cells apart as in other tables."""
    for row in csv.reader((f"{line}\n" for line in iter_lines_of(text)), delimiter=delimiter):
        cells = [" ".join(cell.replace("|", "/").split()) for cell in row]
        if any(cells):
            yield " | ".join(cells)
