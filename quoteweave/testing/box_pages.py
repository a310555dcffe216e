"""PDF pages written byte by byte, so that each letter's place is known without a parser and without a font file.

Text is set in Courier, which every viewer has and in which each letter is 0.6 of the font size wide. It is laid out on
a *frame*: points from the top left of the text as it is read. The frame is turned to the page as it is shown, and the
page to the user space of the file, by the rules of ISO 32000 (7.7.3.3, 8.3.2.3, 14.11.2).
"""

import textwrap
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box, hull
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Rotation

LETTER = 0.6
"""Width of every letter, in font sizes."""
ASCENT, DESCENT = 0.8, 0.2
"""How far a line's box extends above and below its baseline, in font sizes."""
LEADING = 1.25
SCAN_DPI = 200

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The geometry of a page. `media` and `crop` are in user space: left, bottom, right, top."""

    media: Box = (0, 0, 612, 792)
    crop: Box | None = None
    rotation: Rotation = 0
    user_unit: int = 1
    text_turn: Rotation = 0
    """Degrees clockwise by which the text is turned on the page as it is shown."""
    inherited: bool = False
    """Whether the boxes and the rotation are entries of the page's parent, from which the page inherits them."""

    @property
    def size(self) -> Point:
        """Width and height of the page as shown, in units of user space."""
        x1, y1, x2, y2 = self.crop or self.media
        return (y2 - y1, x2 - x1) if self.rotation in (90, 270) else (x2 - x1, y2 - y1)

    @property
    def frame(self) -> Point:
        """Width and height of the frame on which text is laid out."""
        width, height = self.size
        return (height, width) if self.text_turn in (90, 270) else (width, height)

    def shown(self, x: float, y: float) -> Point:
        """The point of the page as shown, from its top left, that corresponds to a point of the frame."""
        width, height = self.frame
        return {0: (x, y), 90: (height - y, x), 180: (width - x, height - y), 270: (y, width - x)}[self.text_turn]

    def user(self, x: float, y: float) -> Point:
        """The point of user space that corresponds to a point of the frame."""
        x1, y1, x2, y2 = self.crop or self.media
        right, down = self.shown(x, y)
        return {
            0: (x1 + right, y2 - down),
            90: (x1 + down, y1 + right),
            180: (x2 - right, y1 + down),
            270: (x2 - down, y2 - right),
        }[self.rotation]

    def fraction(self, box: Box) -> Box:
        """A box of the frame as fractions of the page as shown."""
        return _fraction((self.shown(*box[:2]), self.shown(*box[2:])), self.size)

    def mistaken(self, box: Box) -> dict[str, Box]:
        """Where viewers with a common mistake would show the same box, by the name of the mistake."""
        x1, y1, x2, y2 = self.crop or self.media
        left, top, right, bottom = self.fraction(box)
        unit = self.user_unit
        corners = [self.user(*box[:2]), self.user(*box[2:])]
        unturned = _fraction([(x - x1, y2 - y) for x, y in corners], (x2 - x1, y2 - y1))
        uncropped = Sheet(self.media, rotation=self.rotation)
        return {
            "the page's rotation is ignored": unturned,
            "the crop box is ignored": _fraction([uncropped.of_user(*corner) for corner in corners], uncropped.size),
            "y is counted from the bottom": (left, 1 - bottom, right, 1 - top),
            "the box is in units of the page and the page in points": (
                left / unit,
                top / unit,
                right / unit,
                bottom / unit,
            ),
        }

    def of_user(self, x: float, y: float) -> Point:
        """The point of the page as shown that corresponds to a point of user space."""
        x1, y1, x2, y2 = self.crop or self.media
        return {0: (x - x1, y2 - y), 90: (y - y1, x - x1), 180: (x2 - x, y - y1), 270: (y2 - y, x2 - x)}[self.rotation]

    def entries(self) -> str:
        """The entries of the page's dictionary."""
        boxes = [("MediaBox", self.media), *([("CropBox", self.crop)] if self.crop else [])]
        entries = "".join(f"/{name} [{' '.join(map(_number, box))}] " for name, box in boxes)
        return f"{entries}/Rotate {self.rotation} " + (f"/UserUnit {self.user_unit} " if self.user_unit != 1 else "")


def _fraction(corners: Sequence[Point], size: Point) -> Box:
    (ax, ay), (bx, by) = corners
    width, height = size
    return (min(ax, bx) / width, min(ay, by) / height, max(ax, bx) / width, max(ay, by) / height)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Text in lines of at most `columns` letters; the top left of its first line is at a point of the frame."""

    text: str
    at: Point
    size: float
    columns: int
    right_to_left: bool = False
    """Whether lines end at the right, with letters that stand for Hebrew ones."""

    @property
    def lines(self) -> list[str]:
        """The text, broken between words."""
        return textwrap.wrap(self.text, self.columns, break_long_words=False, break_on_hyphens=False)

    def origin(self, line: int) -> Point:
        """The position of the line's leftmost letter on its baseline."""
        x, y = self.at
        missing = self.columns - len(self.lines[line]) if self.right_to_left else 0
        return (x + missing * LETTER * self.size, y + (ASCENT + LEADING * line) * self.size)

    @property
    def box(self) -> Box:
        """The box around all lines."""
        return hull(self._box(line, 0, len(text)) for line, text in enumerate(self.lines))

    def find(self, phrase: str) -> Iterator[tuple[str, Box]]:
        """The parts of a phrase line by line, each with its box; nothing if the text does not contain it."""
        start = self.text.find(phrase)
        at = 0
        for number, line in enumerate(self.lines):
            first, last = max(start, at), min(start + len(phrase), at + len(line))
            if start >= 0 and first < last:
                yield self.text[first:last], self._box(number, first - at, last - at)
            at += len(line) + 1

    def _box(self, line: int, start: int, end: int) -> Box:
        x, y = self.origin(line)
        if self.right_to_left:
            count = len(self.lines[line])
            start, end = count - end, count - start
        step = LETTER * self.size
        return (x + start * step, y - ASCENT * self.size, x + end * step, y + DESCENT * self.size)


@dataclass(frozen=True, slots=True)
class MadePage:
    """A page of text; as a `scan` it is a picture of that text."""

    sheet: Sheet
    paragraphs: tuple[Paragraph, ...]
    scan: bool = False


def make_pdf(pages: Sequence[MadePage]) -> bytes:
    """Write the file. A scan is drawn by pdfium."""
    kids = " ".join(f"{_FIRST + 4 * number} 0 R" for number in range(len(pages)))
    objects = [
        b"<</Type /Catalog /Pages 2 0 R>>",
        f"<</Type /Pages /Kids [{kids}] /Count {len(pages)}>>".encode(),
        _font(""),
        _font("/ToUnicode 5 0 R"),
        _stream(_HEBREW.encode(), ""),
    ]
    for number, page in enumerate(pages):
        objects += _page_objects(page, _FIRST + 4 * number)
    return _file(objects)


_FIRST = 6
"""Number of the pages' first object. Each page has four objects: its parent, itself, its content and its picture."""
# The 27 letters of Hebrew, and the glyphs that are drawn for them.
_GLYPHS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ@"
_ALEF = 0x5D0
_NUMERAL = lazy_regex(r"\d+(?:[.,]\d+)*")
_ROWS = "".join(f"<{ord(glyph):02x}> <{_ALEF + at:04x}>\n" for at, glyph in enumerate(_GLYPHS))
_HEBREW = (
    "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapName /Hebrew def\n/CMapType 2 def\n"
    f"1 begincodespacerange\n<00> <ff>\nendcodespacerange\n{len(_GLYPHS)} beginbfchar\n{_ROWS}endbfchar\n"
    "4 beginbfchar\n<20> <0020>\n<2e> <002e>\n<3f> <003f>\n<2c> <002c>\nendbfchar\n"
    "1 beginbfrange\n<30> <39> <0030>\nendbfrange\nendcmap\nend\nend"
)


def _font(more: str) -> bytes:
    widths = " ".join(["600"] * 95)
    return (
        "<</Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding "
        f"/FirstChar 32 /LastChar 126 /Widths [{widths}] {more}>>"
    ).encode()


def _page_objects(page: MadePage, number: int) -> list[bytes]:
    """The parent of the page, the page itself, its content, and its picture."""
    entries = page.sheet.entries()
    parent_entries, page_entries = (entries, "") if page.sheet.inherited else ("", entries)
    resources = f"/Font <</F1 3 0 R /F2 4 0 R>> /XObject <</I {number + 3} 0 R>>"
    parent = f"<</Type /Pages /Parent 2 0 R /Kids [{number + 1} 0 R] /Count 1 {parent_entries}>>"
    leaf = f"<</Type /Page /Parent {number} 0 R {page_entries}/Contents {number + 2} 0 R /Resources <<{resources}>>>>"
    if page.scan:
        return [parent.encode(), leaf.encode(), _stream(_picture_operators(page.sheet), ""), _picture(page)]
    return [parent.encode(), leaf.encode(), _stream(_text_operators(page), ""), b"null"]


def _text_operators(page: MadePage) -> bytes:
    rows = []
    for paragraph in page.paragraphs:
        font = "F2" if paragraph.right_to_left else "F1"
        for number, line in enumerate(paragraph.lines):
            at = paragraph.origin(number)
            drawn = _from_the_right(line) if paragraph.right_to_left else line
            escaped = drawn.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            matrix = _matrix(page.sheet, at, (1, 0), (0, -1))
            rows.append(f"BT /{font} {_number(paragraph.size)} Tf {matrix} Tm ({escaped}) Tj ET")
    return "\n".join(rows).encode("ascii")


def _from_the_right(line: str) -> str:
    """The glyphs of a line as drawn, from left to right: the letters in reverse order, numbers unchanged."""
    drawn = "".join(map(_glyph, reversed(line)))
    return _NUMERAL.sub(lambda match: match[0][::-1], drawn)


def _glyph(letter: str) -> str:
    return letter if letter.isascii() else _GLYPHS[ord(letter) - _ALEF]


def _picture_operators(sheet: Sheet) -> bytes:
    width, height = sheet.frame
    return f"q {_matrix(sheet, (0, height), (width, 0), (0, -height))} cm /I Do Q".encode()


def _matrix(sheet: Sheet, at: Point, right: Point, up: Point) -> str:
    """The six numbers of the matrix that maps the origin to a point of the frame, and the axes to two directions."""
    x, y = sheet.user(*at)
    ends = [sheet.user(at[0] + direction[0], at[1] + direction[1]) for direction in (right, up)]
    return " ".join(map(_number, (*(edge for end in ends for edge in (end[0] - x, end[1] - y)), x, y)))


def _picture(page: MadePage) -> bytes:
    """The page's frame as a scanner would render it, in grey."""
    import pypdfium2

    width, height = page.sheet.frame
    upright = MadePage(Sheet((0, 0, width, height)), page.paragraphs)
    document = pypdfium2.PdfDocument(make_pdf([upright]))
    try:
        pixels = document[0].render(scale=SCAN_DPI / 72, grayscale=True).to_numpy()
    finally:
        document.close()
    size = f"/Width {pixels.shape[1]} /Height {pixels.shape[0]} /ColorSpace /DeviceGray /BitsPerComponent 8"
    return _stream(pixels.tobytes(), f"/Type /XObject /Subtype /Image {size}")


def _stream(data: bytes, entries: str) -> bytes:
    packed = zlib.compress(data, 9)
    return b"<<%b /Filter /FlateDecode /Length %d>>\nstream\n%b\nendstream" % (entries.encode(), len(packed), packed)


def _file(objects: Iterable[bytes]) -> bytes:
    data, places = b"%PDF-1.7\n", list[int]()
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    count = len(places) + 1
    end = b"trailer <</Size %d /Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (count, len(data))
    return data + b"xref\n0 %d\n0000000000 65535 f \n" % count + table + end


def _number(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
