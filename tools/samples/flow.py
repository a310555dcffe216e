"""Text that runs down columns and on into the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from reportlab.lib.colors import HexColor
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_LEFT
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Paragraph

from samples.sheet import Rect, SetText, Sheet

ALIGNMENTS = {"left": TA_LEFT, "centre": TA_CENTER, "justify": TA_JUSTIFY}


@dataclass(frozen=True)
class Style:
    """How paragraphs of one kind are set."""

    font: str
    size: float
    leading: float
    align: str = "left"
    before: float = 0.0
    after: float = 0.0
    indent: float = 0.0
    hanging: float = 0.0
    colour: str = "#000000"
    keep: float = 0.0
    """Room to leave under the paragraph, so that a heading is not parted from its text."""

    def for_reportlab(self) -> object:
        """The same style in reportlab's terms."""
        return ParagraphStyle(
            name=self.font,
            fontName=self.font,
            fontSize=self.size,
            leading=self.leading,
            alignment=ALIGNMENTS[self.align],
            firstLineIndent=self.indent,
            leftIndent=self.hanging,
            bulletFontName=self.font,
            bulletFontSize=self.size,
            textColor=HexColor(self.colour),
            bulletColor=HexColor(self.colour),
            allowWidows=0,
            allowOrphans=0,
        )


@dataclass(frozen=True)
class Column:
    """Room for running text on one page."""

    page: int
    x: float
    top: float
    width: float
    bottom: float


class Flow:
    """Fills columns, in their order, from top to bottom."""

    def __init__(self, sheet: Sheet, columns: Iterable[Column]) -> None:
        self.sheet = sheet
        self._columns = iter(columns)
        self._column = next(self._columns)
        self.y = self._column.top

    def next_column(self) -> None:
        """Go on at the top of the next column, on a new page if it stands there."""
        column = next(self._columns, None)
        if column is None:
            raise ValueError("the text is longer than its columns")
        self._column = column
        while self.sheet.page < column.page:
            self.sheet.next_page()
        self.y = column.top

    def text(self, markup: str, style: Style, *, name: str = "", bullet: str | None = None) -> None:
        """A paragraph, broken over columns where it must be."""
        # The sources hold the apostrophe of the keyboard, the pages that of the printer.
        markup = markup.replace("'", "\N{RIGHT SINGLE QUOTATION MARK}")
        paragraph: SetText = Paragraph(markup, style.for_reportlab(), bulletText=bullet)
        if self.y > self._column.top:
            self.y += style.before
        while True:
            room = self._column.bottom - self.y
            _, height = paragraph.wrap(self._column.width, room)
            if height + style.keep <= room:
                break
            parts = [] if style.keep else paragraph.split(self._column.width, room)
            if len(parts) > 1:
                parts[0].wrap(self._column.width, room)
                self._put(parts[0], style, name)
                paragraph = parts[1]
            self.next_column()
        self._put(paragraph, style, name)
        self.y += style.after

    def items(self, markups: Sequence[str], style: Style, *, name: str = "", numbered: bool = False) -> None:
        """A list, bulleted or numbered from 1."""
        for number, markup in enumerate(markups, start=1):
            self.text(markup, style, name=name, bullet=f"{number}." if numbered else "•")

    def block(self, height: float, draw: Callable[[Rect], None], *, name: str = "") -> None:
        """Something as wide as the column that must not be broken, such as a figure."""
        if self.y + height > self._column.bottom:
            self.next_column()
        box = Rect(self._column.x, self.y, self._column.width, height)
        draw(box)
        if name:
            self.sheet.mark(name, box)
        self.y = box.bottom

    def gap(self, height: float) -> None:
        """Leave some room."""
        self.y += height

    def _put(self, paragraph: SetText, style: Style, name: str) -> None:
        self.sheet.put(paragraph, self._column.x, self.y)
        width = self._column.width
        if style.align == "left":
            width = min(width, max(paragraph.getActualLineWidths0()))
        if name:
            self.sheet.mark(name, Rect(self._column.x, self.y, width, paragraph.height))
        self.y += paragraph.height
