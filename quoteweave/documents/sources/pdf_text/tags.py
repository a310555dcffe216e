"""The tags of a PDF page: the table cells and list items that contain its words, according to the file itself.

Browsers and word processors write them, for people who listen to documents (ISO 32000-1, 14.8).
"""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from quoteweave.documents.sources import pdfium

if TYPE_CHECKING:
    from pypdfium2 import PdfPage
    from pypdfium2.raw import FPDF_TEXTPAGE

# The most elements of a page that are examined, and the largest depth of elements within each other.
MAX_KIDS = 200_000
MAX_DEPTH = 100
# The most rows or columns that a cell spans, as in browsers; columns of a table; examined attributes of a cell.
MAX_SPAN = 1000
MAX_COLUMNS = 1000
MAX_ATTRIBUTES = 16
FIRST_FIELD = 1_000_000
"""The number of the first form field of a page among list items: a field with its label is read like an item."""
# The most bytes of a type's name; longer ones are not among those that are searched for.
_MAX_TYPE = 64


@dataclass(frozen=True, slots=True)
class CellTag:
    """A cell of a table. Numbers count from 0."""

    table: int
    """Number of its table on the page."""
    row: int
    column: int
    """The column according to the tags, which may omit cells without content."""
    rows: int = 1
    """The number of rows that it spans."""
    columns: int = 1
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class ItemTag:
    """An item of a list."""

    number: int
    """Its number on the page, from 0."""
    begins: bool = True
    """Whether it begins on the page."""
    has_drawn_label: bool = False
    """Whether the bullet or number before it is drawn rather than text."""


Tag = CellTag | ItemTag


class PageTags:
    """The cell or item that contains each of the first `count` characters of a page."""

    def __init__(self, page: "PdfPage", text: "FPDF_TEXTPAGE", count: int) -> None:
        reader = _read_tree(page)
        contents = list(_content_numbers(page, text, count)) if reader.tags else []
        self._tags = [reader.tags.get(content) for content in contents]
        labelled = {reader.labels[content] for content in contents if content in reader.labels}
        drawn = {number: number not in labelled for number in reader.labels.values()}
        self._tags = [
            replace(tag, has_drawn_label=drawn.get(tag.number, False)) if isinstance(tag, ItemTag) else tag
            for tag in self._tags
        ]

    def at(self, number: int) -> Tag | None:
        """The innermost cell or item around the character with this number; None if the file has none there."""
        return self._tags[number] if self._tags else None

    def parts(self, numbers: Sequence[int]) -> list[int]:
        """A number for each of these characters, equal for characters of one cell; empty if there are no cells."""
        if not any(isinstance(tag, CellTag) for tag in self._tags):
            return []
        known: dict[Tag | None, int] = {}
        return [known.setdefault(self._tags[number], len(known)) for number in numbers]


class AnnotationTags:
    """The annotation of each character, in place of the page's tags; no word belongs to two."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def at(self, number: int) -> Tag:
        """The annotation of the character with this number."""
        return ItemTag(self._numbers[number])

    def parts(self, numbers: Sequence[int]) -> list[int]:
        """The numbers of the annotations of these characters."""
        return [self._numbers[number] for number in numbers]


def _content_numbers(page: "PdfPage", text: "FPDF_TEXTPAGE", count: int) -> Iterator[int]:
    """For each character the number of its marked content; -1 without one, and in a form, which has its own numbers."""
    drawn = (pdfium.FPDFPage_GetObject(page.raw, at) for at in range(pdfium.FPDFPage_CountObjects(page.raw)))
    content_ids = {ctypes.addressof(raw.contents): pdfium.FPDFPageObj_GetMarkedContentID(raw) for raw in drawn if raw}
    for number in range(count):
        text_object = pdfium.FPDFText_GetTextObject(text, number)
        yield content_ids.get(ctypes.addressof(text_object.contents), -1) if text_object else -1


def _read_tree(page: "PdfPage") -> "_TreeReader":
    """Read what the elements of a page say about its marked content."""
    reader = _TreeReader()
    tree = pdfium.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return reader
    try:
        for at in range(min(pdfium.FPDF_StructTree_CountChildren(tree), MAX_KIDS)):
            element = pdfium.FPDF_StructTree_GetChildAtIndex(tree, at)
            if element:
                reader.read(element, _Context())
        reader.drop_layout()
        return reader
    finally:
        pdfium.FPDF_StructTree_Close(tree)


@dataclass(slots=True)
class _OpenTable:
    """A table whose cells are being read."""

    number: int
    row: int = -1
    _column: int = 0
    _reaches: dict[int, int] = field(default_factory=dict)
    """By column, the last row to which a cell above extends."""

    def begin_row(self) -> None:
        self.row += 1
        self._column = 0

    def place(self, rows: int, columns: int) -> tuple[int, int]:
        """Take the next free columns, for a cell of this size; return the first and their number."""
        while self._reaches.get(self._column, -1) >= self.row:
            self._column += 1
        first = min(self._column, MAX_COLUMNS - 1)
        self._column = min(first + columns, MAX_COLUMNS)
        if rows > 1:
            self._reaches |= dict.fromkeys(range(first, self._column), self.row + rows - 1)
        return first, self._column - first


@dataclass(frozen=True, slots=True)
class _Context:
    """The context of an element."""

    table: _OpenTable | None = None
    in_row: _OpenTable | None = None
    """The table if the element is the next one of a row of it."""
    tag: Tag | None = None
    in_list: bool = False
    labels: int | None = None
    """The item to which this bullet or number belongs."""
    depth: int = 0


class _TreeReader:
    """Walks the elements of a page."""

    def __init__(self) -> None:
        self.tags: dict[int, Tag] = {}
        """The innermost cell or item around marked content, by its number."""
        self.labels: dict[int, int] = {}
        """The number of the item for the marked content of bullets and numbers."""
        self._remaining, self._tables, self._items = MAX_KIDS, 0, 0
        self._holds_tables: set[int] = set()

    def drop_layout(self) -> None:
        """Drop the cells of tables that contain tables: such tables arrange pages."""
        for content, tag in list(self.tags.items()):
            if isinstance(tag, CellTag) and tag.table in self._holds_tables:
                del self.tags[content]

    def read(self, element: Any, context: _Context) -> None:
        """Read an element and its content."""
        if context.depth > MAX_DEPTH:
            return
        context_within = self._context_within(element, context)
        for at in range(pdfium.FPDF_StructElement_CountChildren(element)):
            self._remaining -= 1
            if self._remaining < 0:
                return
            content = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, at)
            child = pdfium.FPDF_StructElement_GetChildAtIndex(element, at) if content < 0 else None
            if content >= 0 and context_within.tag is not None:
                self.tags[content] = context_within.tag
                if context_within.labels is not None:
                    self.labels[content] = context_within.labels
            elif child:
                self.read(child, context_within)
            elif content < 0 and context_within.in_row is not None:
                context_within.in_row.place(1, 1)  # a cell without content on the page

    def _context_within(self, element: Any, context: _Context) -> _Context:
        inner = replace(context, in_row=None, labels=None, depth=context.depth + 1)
        table, tag = inner.table, inner.tag
        match _type_of(element):
            case "Table":
                if isinstance(tag, CellTag):
                    self._holds_tables.add(tag.table)
                self._tables += 1
                inner = replace(inner, table=_OpenTable(self._tables - 1), tag=None)
            case "TR" if table is not None:
                table.begin_row()
                inner = replace(inner, in_row=table)
            case "TH" | "TD" as kind if table is not None and table.row >= 0:
                rows, columns = _spans(element)
                first, columns = table.place(rows, columns)
                inner = replace(inner, tag=CellTag(table.number, table.row, first, rows, columns, kind == "TH"))
            case "L":
                inner = replace(inner, in_list=True)
            case "LI" if inner.in_list and not isinstance(tag, CellTag):
                self._items += 1
                number = self._items - 1
                # Older browsers draw the bullet as content of the item itself.
                inner = replace(inner, tag=ItemTag(number, _begins_on_page(element)), labels=number)
            case "Lbl" if isinstance(tag, ItemTag):
                inner = replace(inner, labels=tag.number)
            case "H" | "H1" | "H2" | "H3" | "H4" | "H5" | "H6" if isinstance(tag, ItemTag):
                inner = replace(inner, tag=None)  # a title within a list
        return inner


def _type_of(element: Any) -> str:
    name = ctypes.create_string_buffer(_MAX_TYPE)
    size = pdfium.FPDF_StructElement_GetType(element, name, _MAX_TYPE)
    return name.raw[: max(0, size - 2)].decode("utf-16-le", "replace") if size <= _MAX_TYPE else ""


def _begins_on_page(item: Any) -> bool:
    """Whether the first part of an item, which is its bullet or number if it has one, is on the page."""
    content = pdfium.FPDF_StructElement_GetChildMarkedContentID(item, 0)
    return content >= 0 or bool(pdfium.FPDF_StructElement_GetChildAtIndex(item, 0))


def _spans(cell: Any) -> tuple[int, int]:
    """How many rows and columns a cell spans, according to its attributes."""
    spans, number = {b"RowSpan": 1, b"ColSpan": 1}, ctypes.c_float()
    for at in range(min(pdfium.FPDF_StructElement_GetAttributeCount(cell), MAX_ATTRIBUTES)):
        attributes = pdfium.FPDF_StructElement_GetAttributeAtIndex(cell, at)
        for name in spans if attributes else ():
            value = pdfium.FPDF_StructElement_Attr_GetValue(attributes, name)
            if value and pdfium.FPDF_StructElement_Attr_GetNumberValue(value, number):
                spans[name] = min(max(1, int(number.value)), MAX_SPAN)
    return spans[b"RowSpan"], spans[b"ColSpan"]
