"""Pages to draw on, measured in points from the top left corner, which remember where named things were put."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Literal, Protocol

from reportlab import rl_config
from reportlab.lib.colors import HexColor
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

Point = tuple[float, float]


class SetText(Protocol):
    """What is used of reportlab's paragraphs, which come without types."""

    height: float

    def wrap(self, width: float, height: float) -> Point:
        """Break the lines; return the width and the height needed."""

    def split(self, width: float, height: float) -> list[SetText]:
        """The part that fits and the rest, or nothing if no part fits."""

    def getActualLineWidths0(self) -> list[float]:
        """The width of each line, as it would be without being stretched."""

    def drawOn(self, canvas: object, x: float, y: float) -> None:
        """Draw with the lower left corner at the point, counted from below."""


@dataclass(frozen=True)
class Rect:
    """A box on a page: its top left corner and its extent."""

    x: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The lower edge (larger than `top`: y grows downwards)."""
        return self.top + self.height

    def union(self, other: Rect) -> Rect:
        """The smallest box around both."""
        x, top = min(self.x, other.x), min(self.top, other.top)
        return Rect(x, top, max(self.right, other.right) - x, max(self.bottom, other.bottom) - top)


@dataclass(frozen=True)
class Mark:
    """Where a named thing stands: the page, counted from 0, and its box."""

    page: int
    box: Rect


@dataclass(frozen=True)
class Pen:
    """How a line is drawn."""

    colour: str = "#000000"
    width: float = 0.5
    dash: tuple[float, ...] = ()


@dataclass(frozen=True)
class Face:
    """How a label is set."""

    font: str
    size: float
    colour: str = "#000000"


class Sheet:
    """A PDF under construction, one page open at a time."""

    def __init__(self, path: Path, size: Point, *, title: str, author: str) -> None:
        # Base-85 text would make every picture a quarter larger.
        rl_config.useA85 = 0
        self.width, self.height = size
        self.page = 0
        self.marks: dict[str, list[Mark]] = {}
        self._canvas: Any = Canvas(str(path), pagesize=size, pageCompression=1, invariant=1)
        self._canvas.setTitle(title)
        self._canvas.setAuthor(author)
        self._on_page: Callable[[], None] = lambda: None

    def decorate(self, draw: Callable[[], None]) -> None:
        """Call `draw` for the open page and again for each page after it."""
        self._on_page = draw
        draw()

    def next_page(self) -> None:
        """Close the open page and begin another."""
        self._canvas.showPage()
        self.page += 1
        self._on_page()

    def save(self) -> None:
        """Close the last page and write the file."""
        self._canvas.showPage()
        self._canvas.save()

    def number_pages(self, first: int, style: Literal["ARABIC", "ROMAN_LOWER"]) -> None:
        """Label the pages from page `first` on with 1, 2, … in the given style."""
        self._canvas.addPageLabel(first, style, 1)

    def mark(self, name: str, box: Rect) -> None:
        """Remember under `name` that something stands in `box` on the open page; a name may have several boxes."""
        marks = self.marks.setdefault(name, [])
        if marks and marks[-1].page == self.page:
            marks[-1] = Mark(self.page, marks[-1].box.union(box))
        else:
            marks.append(Mark(self.page, box))

    def line(self, points: Sequence[Point], pen: Pen, *, closed: bool = False, fill: str = "") -> None:
        """A line through the points; closed, it may be filled."""
        path = self._canvas.beginPath()
        path.moveTo(points[0][0], self.height - points[0][1])
        for x, y in points[1:]:
            path.lineTo(x, self.height - y)
        if closed:
            path.close()
        self._take(pen)
        if fill:
            self._canvas.setFillColor(HexColor(fill))
        self._canvas.drawPath(path, stroke=int(pen.width > 0), fill=int(bool(fill)))

    def rect(self, box: Rect, pen: Pen, *, fill: str = "", radius: float = 0.0) -> None:
        """A rectangle, its corners rounded if `radius` says so."""
        self._take(pen)
        if fill:
            self._canvas.setFillColor(HexColor(fill))
        low = self.height - box.bottom
        self._canvas.roundRect(
            box.x, low, box.width, box.height, radius, stroke=int(pen.width > 0), fill=int(bool(fill))
        )

    def dot(self, at: Point, radius: float, fill: str) -> None:
        """A filled circle."""
        self._canvas.setFillColor(HexColor(fill))
        self._canvas.circle(at[0], self.height - at[1], radius, stroke=0, fill=1)

    def arrow(self, points: Sequence[Point], pen: Pen) -> None:
        """A line with a filled head at its last point; the last segment must be horizontal or vertical."""
        (x0, y0), (x1, y1) = points[-2], points[-1]
        length = max(abs(x1 - x0), abs(y1 - y0))
        ux, uy = (x1 - x0) / length, (y1 - y0) / length
        base = (x1 - 6 * ux, y1 - 6 * uy)
        self.line([*points[:-1], base], pen)
        sides = [(base[0] - 2.5 * uy, base[1] + 2.5 * ux), (base[0] + 2.5 * uy, base[1] - 2.5 * ux)]
        self.line([(x1, y1), *sides], Pen(width=0), closed=True, fill=pen.colour)

    def label(self, at: Point, text: str, face: Face, align: Literal["left", "centre", "right"] = "left") -> None:
        """One line of text whose baseline begins, is centred or ends at the point."""
        self._canvas.setFont(face.font, face.size)
        self._canvas.setFillColor(HexColor(face.colour))
        draw = {
            "left": self._canvas.drawString,
            "centre": self._canvas.drawCentredString,
            "right": self._canvas.drawRightString,
        }[align]
        draw(at[0], self.height - at[1], text)

    def upright(self, at: Point, text: str, face: Face) -> None:
        """One line of text, centred on the point, that reads from below to above."""
        self._canvas.saveState()
        self._canvas.translate(at[0], self.height - at[1])
        self._canvas.rotate(90)
        self._canvas.setFont(face.font, face.size)
        self._canvas.setFillColor(HexColor(face.colour))
        self._canvas.drawCentredString(0, 0, text)
        self._canvas.restoreState()

    def picture(self, box: Rect, jpeg: bytes) -> None:
        """A JPEG picture stretched over the box; its bytes go into the file as they are."""
        low = self.height - box.bottom
        self._canvas.drawImage(ImageReader(BytesIO(jpeg)), box.x, low, box.width, box.height)

    def put(self, paragraph: SetText, x: float, top: float) -> None:
        """A paragraph of reportlab's, already wrapped, with its top left corner at the point."""
        paragraph.drawOn(self._canvas, x, self.height - top - paragraph.height)

    def _take(self, pen: Pen) -> None:
        self._canvas.setStrokeColor(HexColor(pen.colour))
        self._canvas.setLineWidth(pen.width)
        self._canvas.setDash(list(pen.dash))
