"""Imports a table of papers, JSON Lines or CSV: each becomes a document with its title and abstract.

The columns are `id` and `title`, and `abstract` if it is known; every other column becomes metadata of the document,
such as `year`, `doi`, `authors`, `citations` and `url`, and so does the title. JSON Lines may be compressed by gzip.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

from quoteweave.core.errors import DatasetError
from quoteweave.core.files.jsonl import iter_lines, iter_records
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.reflow.paginate import FlowBlock, paginate_blocks
from quoteweave.documents.reflow.text_files import without_unstorable

NEEDED = ("id", "title")


class ImportedPaper(NamedTuple):
    """One paper of a table."""

    name: str
    metadata: Mapping[str, str]
    markdown: str
    """Its title as a heading, and its abstract."""
    parsed: ParsedDocument


class _Row(BaseModel):
    model_config = ConfigDict(extra="allow", str_strip_whitespace=True, coerce_numbers_to_str=True)

    id: str
    title: str
    abstract: str | None = None


def iter_papers(path: Path) -> Iterator[ImportedPaper]:
    """Yield the papers of a table, in its order, named by their ids.

    Raises DatasetError, naming file and line, for a row that cannot be read, lacks its id or title, or repeats an id.
    """
    lines: dict[str, int] = {}
    for number, row in _csv_rows(path) if path.suffix.lower() == ".csv" else iter_records(path, _Row):
        for column in NEEDED:
            if not getattr(row, column):
                raise DatasetError(f"{path}, line {number}, {column}: it is empty; every paper needs one")
        paper = _paper(row)
        if paper.name in lines:
            raise DatasetError(f"{path}, line {number}, id: {paper.name!r} is that of line {lines[paper.name]} too")
        lines[paper.name] = number
        yield paper


def _csv_rows(path: Path) -> Iterator[tuple[int, _Row]]:
    try:
        rows = csv.DictReader((line.decode("utf-8") for _, line in iter_lines(path)), strict=True)
        missing = [column for column in NEEDED if column not in (rows.fieldnames or ())]
        if missing:
            raise DatasetError(f"{path} has no column {' and no column '.join(missing)}; its first line names them")
        repeated = next((name for name, count in Counter(rows.fieldnames or ()).items() if count > 1), None)
        if repeated is not None:
            raise DatasetError(f"{path}, line 1: it names the column {repeated!r} twice")
        for row in rows:
            if None in row or None in row.values():
                raise DatasetError(f"{path}, line {rows.line_num}: it has more or fewer columns than the first line")
            yield rows.line_num, _Row.model_validate(row)
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path} is no text in UTF-8 ({error.reason})") from error
    except csv.Error as error:
        raise DatasetError(f"{path}: it cannot be read as CSV ({error})") from error


def _paper(row: _Row) -> ImportedPaper:
    title, abstract = _one_line(row.title), _one_line(row.abstract or "")
    extra = {key: _as_metadata(value) for key, value in (row.model_extra or {}).items()}
    blocks = [FlowBlock(layout="title", text=title)]
    blocks += [FlowBlock(layout="paragraph", text=abstract)] if abstract else []
    return ImportedPaper(
        name=_one_line(row.id),
        # From `source_id`, a search for papers knows that the document has only the paper's title and abstract.
        metadata={
            "title": title,
            "source_id": _one_line(row.id),
            **{key: value for key, value in extra.items() if value},
        },
        markdown=f"# {title}\n\n{abstract}\n" if abstract else f"# {title}\n",
        parsed=paginate_blocks(blocks, name=row.id),
    )


def _as_metadata(value: Any) -> str:
    """A value as metadata: numbers unchanged, lists joined, objects by their `name`; "" for empty values."""
    if isinstance(value, Mapping):
        return _as_metadata(value.get("name"))
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "; ".join(text for text in map(_as_metadata, value) if text)
    return "" if value is None else _one_line(str(value))


def _one_line(text: str) -> str:
    return " ".join(without_unstorable(text).split())
