"""The tags of a PDF page: the cells of tables and the items of lists that its words stand in, as the file itself says.

Browsers and word processors write them, for people who listen to documents (ISO 32000-1, 14.8).
"""

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pypdfium2 import PdfPage
    from pypdfium2.raw import FPDF_TEXTPAGE

# Elements of a page that are looked at, and how deep they lie in each other.
MAX_ELEMENTS = 50_000
MAX_DEPTH = 100
# Rows or columns that a cell spans; as in browsers.
MAX_SPAN = 1000
# Bytes of the name of a type; longer ones are none of those that are looked for.
_MAX_TYPE = 64


@dataclass(frozen=True, slots=True)
class CellTag:
    """A cell of a table. Numbers count from 0."""

    table: int
    """Number of its table on the page."""
    row: int
    column: int
    rows: int = 1
    """How many it spans."""
    columns: int = 1
    is_header: bool = False


@dataclass(frozen=True, slots=True)
class ItemTag:
    """An item of a list."""

    number: int
    """On the page, from 0."""


Tag = CellTag | ItemTag


class PageTags:
    """Tells for each character of a page which cell or item it stands in."""

    def __init__(self, page: "PdfPage", text: "FPDF_TEXTPAGE") -> None:
        self._text = text
        self._of_content = _tags_of_content(page)

    def at(self, number: int) -> Tag | None:
        """The innermost cell or item around the character with this number; None where the file names none."""
        import pypdfium2.raw as pdfium

        if not self._of_content:
            return None
        drawn = pdfium.FPDFText_GetTextObject(self._text, number)
        return self._of_content.get(pdfium.FPDFPageObj_GetMarkedContentID(drawn)) if drawn else None


def _tags_of_content(page: "PdfPage") -> Mapping[int, Tag]:
    """The tags of the page's marked content, by its number."""
    import pypdfium2.raw as pdfium

    tree = pdfium.FPDF_StructTree_GetForPage(page.raw)
    if not tree:
        return {}
    try:
        reader = _TreeReader()
        for at in range(pdfium.FPDF_StructTree_CountChildren(tree)):
            element = pdfium.FPDF_StructTree_GetChildAtIndex(tree, at)
            if element:
                reader.read(element, _Place())
        return reader.tags()
    finally:
        pdfium.FPDF_StructTree_Close(tree)


@dataclass(slots=True)
class _OpenTable:
    """A table while its cells are read."""

    number: int
    row: int = -1
    _column: int = 0
    _reaches: dict[int, int] = field(default_factory=dict)
    """By column, the last row that a cell above reaches."""

    def begin_row(self) -> None:
        self.row += 1
        self._column = 0

    def place(self, rows: int, columns: int) -> int:
        """Take the next columns that are free; the first of them."""
        while self._reaches.get(self._column, -1) >= self.row:
            self._column += 1
        first = self._column
        self._column += columns
        self._reaches |= dict.fromkeys(range(first, self._column), self.row + rows - 1)
        return first


@dataclass(frozen=True, slots=True)
class _Place:
    """What lies around an element."""

    table: _OpenTable | None = None
    in_row: _OpenTable | None = None
    """The table of whose row it is the next element."""
    tag: Tag | None = None
    in_list: bool = False
    depth: int = 0


class _TreeReader:
    """Walks the elements of a page."""

    def __init__(self) -> None:
        self._found: dict[int, Tag] = {}
        self._left, self._tables, self._items = MAX_ELEMENTS, 0, 0
        self._holds_tables: set[int] = set()

    def tags(self) -> Mapping[int, Tag]:
        """What was found, without the cells of tables that hold tables, with which pages are laid out."""
        return {
            content: tag
            for content, tag in self._found.items()
            if not (isinstance(tag, CellTag) and tag.table in self._holds_tables)
        }

    def read(self, element: Any, around: _Place) -> None:
        """Read an element, and what lies in it."""
        import pypdfium2.raw as pdfium

        if self._left <= 0 or around.depth > MAX_DEPTH:
            return
        self._left -= 1
        inside = self._place_in(element, around)
        for at in range(pdfium.FPDF_StructElement_CountChildren(element)):
            content = pdfium.FPDF_StructElement_GetChildMarkedContentID(element, at)
            child = pdfium.FPDF_StructElement_GetChildAtIndex(element, at) if content < 0 else None
            if content >= 0 and inside.tag is not None:
                self._found[content] = inside.tag
            elif child:
                self.read(child, inside)
            elif content < 0 and inside.in_row is not None:
                inside.in_row.place(1, 1)  # a cell without content on the page

    def _place_in(self, element: Any, around: _Place) -> _Place:
        table, tag, in_list, in_row = around.table, around.tag, around.in_list, None
        match _type_of(element):
            case "Table":
                if isinstance(tag, CellTag):
                    self._holds_tables.add(tag.table)
                table, tag = _OpenTable(self._tables), None
                self._tables += 1
            case "TR" if table is not None:
                table.begin_row()
                in_row = table
            case "TH" | "TD" as kind if table is not None and table.row >= 0:
                rows, columns = (_span(element, name) for name in (b"RowSpan", b"ColSpan"))
                tag = CellTag(table.number, table.row, table.place(rows, columns), rows, columns, kind == "TH")
            case "L":
                in_list = True
            case "LI" if in_list and not isinstance(tag, CellTag):
                tag = ItemTag(self._items)
                self._items += 1
            case "H" | "H1" | "H2" | "H3" | "H4" | "H5" | "H6" if isinstance(tag, ItemTag):
                tag = None  # a title within a list
        return _Place(table, in_row, tag, in_list, around.depth + 1)


def _type_of(element: Any) -> str:
    import pypdfium2.raw as pdfium

    name = ctypes.create_string_buffer(_MAX_TYPE)
    size = pdfium.FPDF_StructElement_GetType(element, name, _MAX_TYPE)
    return name.raw[: max(0, size - 2)].decode("utf-16-le", "replace") if size <= _MAX_TYPE else ""


def _span(cell: Any, name: bytes) -> int:
    """How many rows or columns a cell spans by the attribute of that name."""
    import pypdfium2.raw as pdfium

    number = ctypes.c_float()
    for at in range(pdfium.FPDF_StructElement_GetAttributeCount(cell)):
        attributes = pdfium.FPDF_StructElement_GetAttributeAtIndex(cell, at)
        value = pdfium.FPDF_StructElement_Attr_GetValue(attributes, name) if attributes else None
        if value and pdfium.FPDF_StructElement_Attr_GetNumberValue(value, number):
            return min(max(1, int(number.value)), MAX_SPAN)
    return 1
