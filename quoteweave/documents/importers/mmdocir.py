"""Imports the tables of MMDocIR (arXiv 2501.08828), one Parquet file each, row by row. Needs the extra `parquet`.

The layout table (`MMDocIR_layouts.parquet`) has a row for each layout element: `doc_name`, `domain`, `type` (text,
title, equation, image or table), `layout_id`, `page_id` (from 0), `image_path`, `image_binary`, `text`, `ocr_text`,
`vlm_text`, `bbox` and `page_size` (both in points). The page table (`MMDocIR_pages.parquet`; Table 5 and the page-level
task) has one for each page: `doc_name`, `domain`, `passage_id`, `image_path`, `image_binary` (its screenshot),
`ocr_text` and `vlm_text`.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import Box
from quoteweave.core.errors import DatasetError, DocumentError, MissingExtra
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import pluralize
from quoteweave.core.records import IMAGE_LAYOUTS, Layout, Page, ParsedDocument, Quote
from quoteweave.documents.layout.tables.stated_units import with_units
from quoteweave.documents.reflow.linked_images import StoredImage, store_image
from quoteweave.documents.reflow.paginate import FlowBlock, with_sections
from quoteweave.documents.reflow.text_files import without_unstorable

_ROWS_AT_ONCE = 16
_BUFFER_BYTES = 1 << 20


class ImportedDocument(NamedTuple):
    """One document of a table."""

    name: str
    domain: str
    parsed: ParsedDocument


class Columns(NamedTuple):
    """The columns of a table that are read."""

    table: str
    """The name of the table in errors, such as "layout table"."""
    needed: Sequence[str]
    optional: Sequence[str]


class ParquetRow(Protocol):
    """A row that belongs to a document."""

    @property
    def document(self) -> str:
        """The name of its document."""


Row = TypeVar("Row", bound=ParquetRow)


def read_rows(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a table as (file and row from 0, values by column), with only a few in memory at once.

    Raises MissingExtra without pyarrow, and DatasetError for a column that is missing and for a damaged file.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise MissingExtra("pyarrow", "parquet") from error
    number = 0
    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as table:
            present = table.schema_arrow.names
            for field in columns.needed:
                if field not in present:
                    raise DatasetError(f"{path.name!r} has no column {field}; is it MMDocIR's {columns.table}?")
            fields = [field for field in (*columns.needed, *columns.optional) if field in present]
            for batch in table.iter_batches(_ROWS_AT_ONCE, columns=fields, use_threads=False):
                for values in batch.to_pylist():
                    yield f"{path.name!r}, row {number}", values
                    number += 1
    except (OSError, pyarrow.ArrowException) as error:
        raise DatasetError(f"{path.name!r} cannot be read as Parquet from row {number} on: {error}") from error


def group_documents(path: Path, rows: Iterable[Row]) -> Iterator[tuple[str, Iterator[Row]]]:
    """Yield each document's name and rows. Raises DatasetError if a document's rows do not follow each other."""
    known_names: set[str] = set()
    for name, group in groupby(rows, key=lambda row: row.document):
        if name in known_names:
            raise DatasetError(
                f"{path.name!r}: the rows of {name!r} do not follow each other; sort the table by doc_name"
            )
        known_names.add(name)
        yield name, group


def document_name(values: Mapping[str, Any], where: str) -> str:
    """The row's `doc_name`. Raises DatasetError if it is empty."""
    name = values["doc_name"]
    if not isinstance(name, str) or not name.strip():
        raise DatasetError(f"{where}: doc_name is {str(name)[:40]!r}, not a name")
    return without_unstorable(name)


def words_in(values: Mapping[str, Any], field: str) -> str:
    """The row's text in a column; empty if there is none."""
    value = values.get(field)
    return without_unstorable(value).strip() if isinstance(value, str) else ""


MAX_PAGES = 100_000

_LAYOUT_COLUMNS = Columns(
    table="layout table",
    needed=("doc_name", "type", "layout_id", "page_id", "text", "bbox", "page_size"),
    optional=("domain", "image_binary", "ocr_text", "vlm_text"),
)
_LAYOUTS: Mapping[str, Layout] = {
    "text": "paragraph",
    "title": "title",
    "list": "list",
    "caption": "caption",
    "equation": "equation",
    "image": "figure",
    "figure": "figure",
    "chart": "chart",
    "table": "table",
    "header": "header",
    "footer": "footer",
}


class _LayoutRow(NamedTuple):
    """A row whose fields have been checked."""

    document: str
    layout_id: int
    page: int
    size: tuple[float, float]
    box: Box
    values: dict[str, Any]


def iter_mmdocir_layout(path: Path, images: ImageStore) -> Iterator[ImportedDocument]:
    """Yield the documents of the table, each with its rows as quotes in the table's order.

    A quote's id is `<page_id>:<layout_id>` if the layout ids differ within the document; otherwise the row's position
    in the document replaces the layout id, with a warning. Only one document and a few rows are in memory at a time, so
    the rows of a document must follow each other, as in the published table.

    Raises MissingExtra without pyarrow, and DatasetError, naming file, row (from 0) and field, for unreadable content,
    and if the rows of a document do not follow each other. Documents yielded before that remain valid.
    """
    rows = (_checked_layout(values, where) for where, values in read_rows(path, _LAYOUT_COLUMNS))
    for name, group in group_documents(path, rows):
        yield _document_of_layouts(name, group, images)


def _checked_layout(values: dict[str, Any], where: str) -> _LayoutRow:
    name = document_name(values, where)
    if not isinstance(values["type"], str):
        raise DatasetError(f"{where}: type is {str(values['type'])[:40]!r}, not a word")
    width, height = _numbers(values, "page_size", 2, where)
    if width <= 0 or height <= 0:
        raise DatasetError(f"{where}: page_size is {width:g} by {height:g} points")
    x1, y1, x2, y2 = _numbers(values, "bbox", 4, where)
    if x1 > x2 or y1 > y2:
        raise DatasetError(f"{where}: bbox ({x1:g}, {y1:g}, {x2:g}, {y2:g}) ends before it starts")
    return _LayoutRow(
        document=name,
        layout_id=_whole_number(values, "layout_id", where),
        page=_whole_number(values, "page_id", where, below=MAX_PAGES),
        size=(width, height),
        box=(_clamped(x1, width), _clamped(y1, height), _clamped(x2, width), _clamped(y2, height)),
        values=values,
    )


def _whole_number(values: Mapping[str, Any], field: str, where: str, *, below: float = math.inf) -> int:
    value = values[field]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < below:
        raise DatasetError(f"{where}: {field} is {str(value)[:40]!r}, not a whole number from 0 to {below:g}")
    return value


def _numbers(values: Mapping[str, Any], field: str, count: int, where: str) -> list[float]:
    """A list of numbers, which may be written as a string."""
    value = values[field]
    try:
        numbers = [float(number) for number in (json.loads(value) if isinstance(value, str) else value)]
    except (TypeError, ValueError, RecursionError):
        numbers = []
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        raise DatasetError(f"{where}: {field} is {str(value)[:60]!r}, not {count} numbers")
    return numbers


def _clamped(edge: float, end: float) -> float:
    return min(max(edge, 0.0), end)


def _document_of_layouts(name: str, group: Iterator[_LayoutRow], images: ImageStore) -> ImportedDocument:
    warnings: list[str] = []
    pairs = [(row, _block_of_row(row, images, warnings)) for row in group]
    rows, blocks = [row for row, _ in pairs], [block for _, block in pairs]
    numbers = [row.layout_id for row in rows]
    if len(set(numbers)) < len(numbers):
        numbers = list(range(len(rows)))
        warnings.append("Its layout ids are not unique; quotes are numbered in the table's order.")
    strange = Counter(str(row.values["type"]) for row in rows if row.values["type"] not in _LAYOUTS)
    warnings += [
        f"{pluralize(count, 'row')} of the unknown type {kind[:40]!r}, read as text." for kind, count in strange.items()
    ]
    quotes = with_units(
        [
            _quote_of_layout(row, block, section, f"{row.page}:{number}")
            for row, (block, section), number in zip(rows, with_sections(blocks), numbers, strict=True)
        ]
    )
    parsed = ParsedDocument(pages=_pages(rows), quotes=quotes, warnings=tuple(warnings))
    return ImportedDocument(name, words_in(rows[0].values, "domain"), parsed)


def _block_of_row(row: _LayoutRow, images: ImageStore, warnings: list[str]) -> FlowBlock:
    picture = _stored_picture(row.values, f"layout {row.layout_id}", images, warnings)
    layout = _LAYOUTS.get(row.values["type"], "paragraph")
    return FlowBlock(layout=layout, text=words_in(row.values, "text"), image=picture.key if picture else None)


def _stored_picture(values: dict[str, Any], of: str, images: ImageStore, warnings: list[str]) -> StoredImage | None:
    """The picture of a row, which is removed from it, so that not all of a document are in memory at once."""
    data = values.pop("image_binary", None)
    try:
        return store_image(data, images) if data else None
    except DocumentError as error:
        warnings.append(f"The picture of {of} was left out: {error}.")
        return None


def _quote_of_layout(row: _LayoutRow, block: FlowBlock, section: str | None, identity: str) -> Quote:
    is_image = block.layout in IMAGE_LAYOUTS
    return Quote(
        id=identity,
        document="",
        page=row.page,
        page_label=str(row.page + 1),
        bbox=row.box,
        kind="image" if is_image else "text",
        layout=block.layout,
        layout_id=row.layout_id if row.layout_id >= 0 else None,
        section=section,
        text=block.text,
        ocr_text=(words_in(row.values, "ocr_text") or None) if is_image else None,
        vlm_text=(words_in(row.values, "vlm_text") or None) if is_image else None,
        image=block.image,
    )


def _pages(rows: Sequence[_LayoutRow]) -> tuple[Page, ...]:
    """All pages up to the last; a page without rows is assumed to have the size of the page before."""
    sizes: dict[int, tuple[float, float]] = {}
    for row in rows:
        sizes.setdefault(row.page, row.size)
    size = rows[0].size
    pages = []
    for number in range(max(sizes) + 1):
        size = sizes.get(number, size)
        pages.append(Page(number=number, label=str(number + 1), width=size[0], height=size[1], text_source="file"))
    return tuple(pages)


_PAGE_COLUMNS = Columns(
    table="page table",
    needed=("doc_name", "passage_id", "ocr_text", "vlm_text"),
    optional=("domain", "image_binary"),
)
_UNKNOWN_SIZE = 1000, 1000
_LAST_NUMBER = lazy_regex(r"([0-9]{1,18})(?:\.[A-Za-z0-9]+)?\Z")


class _PageRow(NamedTuple):
    """A row whose fields have been checked."""

    document: str
    where: str
    number: int | None
    """The number at the end of its `passage_id`."""
    values: dict[str, Any]


def iter_mmdocir_pages(path: Path, images: ImageStore) -> Iterator[ImportedDocument]:
    """Yield the documents of the table, each page as one image quote that is the whole page.

    A page's number is the position of its row among its document's rows, from 0, because the authors join pages with
    questions by rows. If `passage_id` ends in a number, these numbers must increase by one within a document.
    `ocr_text` and `vlm_text` are views of the quote; the table gives no sizes, so a page's size is that of its
    screenshot, in pixels.

    Raises MissingExtra without pyarrow, and DatasetError, naming file, row (from 0) and field, for unreadable content,
    for pages that do not follow each other, and if the rows of a document do not.
    """
    rows = (_checked_page(values, where) for where, values in read_rows(path, _PAGE_COLUMNS))
    for name, group in group_documents(path, rows):
        yield _document_of_pages(name, group, images)


def _checked_page(values: dict[str, Any], where: str) -> _PageRow:
    document = document_name(values, where)
    for field in ("ocr_text", "vlm_text"):
        if values[field] is not None and not isinstance(values[field], str):
            raise DatasetError(f"{where}: {field} is {str(values[field])[:40]!r}, not text")
    match = _LAST_NUMBER.search(str(values["passage_id"]))
    return _PageRow(document, where, int(match[1]) if match else None, values)


def _document_of_pages(name: str, group: Iterator[_PageRow], images: ImageStore) -> ImportedDocument:
    warnings: list[str] = []
    pages: list[Page] = []
    quotes: list[Quote] = []
    domain, before = "", None
    for number, row in enumerate(group):
        if number and row.number != before:
            raise DatasetError(
                f"{row.where}: passage_id is {str(row.values['passage_id'])[:40]!r}, which does not follow the page of "
                f"{name!r} before it; is part of the table missing?"
            )
        before = None if row.number is None else row.number + 1
        domain = domain or words_in(row.values, "domain")
        picture = _stored_picture(row.values, f"page {number + 1}", images, warnings)
        width, height = _UNKNOWN_SIZE if picture is None else (picture.width, picture.height)
        pages.append(Page(number=number, label=str(number + 1), width=width, height=height, text_source="file"))
        quotes.append(_quote_of_page(row, pages[-1], picture.key if picture else None))
    mute = sum(not (quote.ocr_text or quote.vlm_text or quote.image) for quote in quotes)
    if mute:
        warnings.append(f"{pluralize(mute, 'page')} without text and picture, which nothing can find.")
    for view, missing in (
        ("by OCR (ocr_text)", sum(quote.ocr_text is None for quote in quotes)),
        ("by a vision model (vlm_text)", sum(quote.vlm_text is None for quote in quotes)),
    ):
        if missing:
            warnings.append(f"{pluralize(missing, 'page')} without text {view}, which searches of it cannot find.")
    return ImportedDocument(
        name, domain, ParsedDocument(pages=tuple(pages), quotes=tuple(quotes), warnings=tuple(warnings))
    )


def _quote_of_page(row: _PageRow, page: Page, image: str | None) -> Quote:
    return Quote(
        id=f"{page.number}:0",
        document="",
        page=page.number,
        page_label=page.label,
        bbox=(0.0, 0.0, page.width, page.height),
        kind="image",
        layout="page",
        ocr_text=words_in(row.values, "ocr_text") or None,
        vlm_text=words_in(row.values, "vlm_text") or None,
        image=image,
    )
