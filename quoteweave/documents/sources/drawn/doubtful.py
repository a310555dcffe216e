"""Finds where a page may show other words than its text layer has, without looking at its picture.

Words that are not drawn, as on scans, come from another program's OCR, or were put there. `ActualText` replaces what is
drawn by other words. And a font may name its digits falsely, such as a 7 called 1: the outlines of its digits are
compared with those of the standard fonts, which pdfium has. In 565 digits of fonts in 44 real documents, each was like
its own digit there, but for a prime that was called 0 and a plus sign that was called 4.
"""

import ctypes
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.drawn.objects import DrawnText, PageDrawing, Placed, as_shown, box_of, is_invisible
from quoteweave.documents.sources.pdf_text.characters import SPACE, Characters, Floats, Ints, Mask
from quoteweave.documents.sources.raw_page import Doubt, Doubtful

if TYPE_CHECKING:
    from pypdfium2.raw import FPDF_TEXTPAGE

# The least area of an image that may show or cover text, in square points; a logo is smaller.
MIN_COVER = 3600.0
# On a page without such an image, of how many pieces of text it is asked whether they are drawn.
SAMPLED = 40
# In the words that a file names in place of others: as many letters make them doubtful, or a single digit. Fewer are
# those of a ligature.
MIN_NAMED = 4
# How much of such words is read, in bytes.
MAX_NAMED = 10_000
# How far the sides of boxes are from each other that pdfium made by dividing one, in points.
DIVIDED = 1e-3
ZERO, NINE = ord("0"), ord("9")


def doubtful_places(
    raw: "FPDF_TEXTPAGE", characters: Characters, drawing: PageDrawing, to_points: Floats
) -> tuple[Doubtful, ...]:
    """The places of a page whose words may be others than those of its characters.

    `to_points` (2, 3) maps PDF user space to the coordinates of the characters.
    """
    if not drawing.texts:
        return ()
    not_drawn = [_as_box(box) for box in as_shown(_not_drawn(drawing), to_points)]
    codes = characters.codes
    is_digit = (codes >= ZERO) & (codes <= NINE)
    starts = np.flatnonzero(is_digit & ~np.append(False, is_digit[:-1]))
    renamed = [
        _as_box(characters.boxes[at])
        for at in np.union1d(starts, _divided(characters)).tolist()
        if (text := pdfium.FPDFText_GetTextObject(raw, int(characters.numbers[at]))) and _is_renamed(text)
    ]
    misdrawn = [_as_box(characters.boxes[at]) for at in _misdrawn(raw, characters, is_digit)]
    places = ((not_drawn, Doubt.NOT_DRAWN), (renamed, Doubt.RENAMED), (misdrawn, Doubt.MISDRAWN))
    return tuple(Doubtful(box, doubt) for boxes, doubt in places for box in boxes)


def _as_box(edges: Floats) -> Box:
    x1, y1, x2, y2 = edges.tolist()
    return x1, y1, x2, y2


def _not_drawn(drawing: PageDrawing) -> list[Box]:
    """The pieces of text that are invisible, or have their middle under an image."""
    covers = [image for image in drawing.images if area(image.box) >= MIN_COVER]
    texts = drawing.texts
    if not covers and not any(is_invisible(text.raw) for text in texts[:: len(texts) // SAMPLED + 1]):
        return []
    last = max((image.order for image in covers), default=-1)
    return [
        box_of(text.raw, text.matrix)
        for text in texts
        if is_invisible(text.raw) or (text.order < last and _is_covered(text, covers))
    ]


def _is_covered(text: DrawnText, covers: list[Placed]) -> bool:
    """Whether the middle of a text is within an image that is drawn after it."""
    box, order = box_of(text.raw, text.matrix), text.order
    x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    return any(
        cover.order > order and cover.box[0] <= x <= cover.box[2] and cover.box[1] <= y <= cover.box[3]
        for cover in covers
    )


def _divided(characters: Characters) -> Ints:
    """The first characters of those between which pdfium has divided a box evenly, as it does for named words."""
    boxes = characters.boxes
    before, after = boxes[:-1], boxes[1:]
    differences = np.abs(np.stack([after[:, 0] - before[:, 2], after[:, 1] - before[:, 1], after[:, 3] - before[:, 3]]))
    down = np.abs(np.stack([after[:, 1] - before[:, 3], after[:, 0] - before[:, 0], after[:, 2] - before[:, 2]]))
    is_divided = (differences < DIVIDED).all(axis=0) | (down < DIVIDED).all(axis=0)
    is_divided &= (characters.codes[:-1] > SPACE) & (characters.codes[1:] > SPACE)
    return np.flatnonzero(is_divided)


def _is_renamed(text: Any) -> bool:
    """Whether the file names words, or digits, for what it draws; a hyphen, a tab or a ligature is no word."""
    size = ctypes.c_ulong()
    for at in range(pdfium.FPDFPageObj_CountMarks(text)):
        mark = pdfium.FPDFPageObj_GetMark(text, at)
        if not pdfium.FPDFPageObjMark_GetParamStringValue(mark, b"ActualText", None, 0, size):
            continue
        if size.value > MAX_NAMED:
            return True
        units = (ctypes.c_ushort * (size.value // 2 + 1))()
        pdfium.FPDFPageObjMark_GetParamStringValue(mark, b"ActualText", units, size.value, size)
        named = [chr(unit) for unit in units if unit]  # some programs omit the mark of UTF-16, so that zeros are read
        if any(map(str.isdigit, named)) or sum(map(str.isalpha, named)) >= MIN_NAMED:
            return True
    return False


def _misdrawn(raw: "FPDF_TEXTPAGE", characters: Characters, is_digit: Mask) -> Iterator[int]:
    """The digits of numbers in whose place their font draws another sign; single digits have many fonts in formulas."""
    fonts, known = dict[int, Any](), dict[tuple[int, int], bool]()
    beside = np.append(False, is_digit[:-1]) | np.append(is_digit[1:], False)
    digits = np.flatnonzero(is_digit & beside)
    codes, numbers = characters.codes[digits], characters.numbers[digits]
    for at, code, number in zip(digits.tolist(), codes.tolist(), numbers.tolist(), strict=True):
        text = pdfium.FPDFText_GetTextObject(raw, number)
        if not text:
            continue
        address = ctypes.addressof(text.contents)
        if address not in fonts:
            fonts[address] = pdfium.FPDFTextObj_GetFont(text)
        if not (font := fonts[address]):
            continue
        key = ctypes.addressof(font.contents), code
        if key not in known:
            known[key] = has_another_shape(font, code)
        if known[key] and not is_invisible(text):
            yield at


# The fonts with whose digits others are compared.
STANDARD = (b"Helvetica", b"Helvetica-Bold", b"Times-Roman", b"Times-Bold", b"Times-Italic", b"Courier")
# The sides of the picture of a digit, in pixels; parts of a pixel in which OpenCV takes positions, as a power of 2.
SIDE, SUBPIXELS = 24, 4
# By how much a shape is more like another digit than like its own if it is another sign, of 1 for equal shapes.
LIKER = 0.12
# The most parts of an outline that is examined, many more than any digit has, and the most digits that are remembered.
MAX_PARTS, MAX_KNOWN = 500, 5000
NAME_SIZE = 128

Shapes = npt.NDArray[np.float32]

# Cache of this process: whether digits of fonts have another shape, by name, digit, number of the outline's parts, and
# the place of its middle one.
_known: dict[tuple[bytes, int, int, float, float], bool] = {}


def has_another_shape(font: Any, code: int) -> bool:
    """Whether a font of pdfium draws another sign where it says that it draws the digit with this code point."""
    outline = pdfium.FPDFFont_GetGlyphPath(font, code, 100.0)
    parts = pdfium.FPDFGlyphPath_CountGlyphSegments(outline) if outline else 0
    if not 2 < parts <= MAX_PARTS:
        return False
    name = ctypes.create_string_buffer(NAME_SIZE)
    pdfium.FPDFFont_GetBaseFontName(font, name, NAME_SIZE)
    middle = pdfium.FPDFGlyphPath_GetGlyphPathSegment(outline, parts // 2)
    x, y = ctypes.c_float(), ctypes.c_float()
    pdfium.FPDFPathSegment_GetPoint(middle, x, y)
    key = name.value, code, parts, x.value, y.value
    if key not in _known:
        if len(_known) >= MAX_KNOWN:
            _known.clear()
        _known[key] = _is_another(_picture(outline, parts), code - ZERO)
    return _known[key]


def _is_another(shape: Shapes, digit: int) -> bool:
    standard = _standard_shapes()
    common = standard @ shape
    likeness = (common / np.maximum(1.0, standard.sum(axis=2) + shape.sum() - common)).max(axis=1)
    return float(np.delete(likeness, digit).max() - likeness[digit]) > LIKER


@cache
def _standard_shapes() -> Shapes:
    """The digits of the standard fonts: (10, fonts, pixels)."""
    import pypdfium2

    document = pypdfium2.PdfDocument.new()
    try:
        fonts = [pdfium.FPDFText_LoadStandardFont(document.raw, name) for name in STANDARD]
        shapes = [[_digit_of(font, ord("0") + digit) for font in fonts] for digit in range(10)]
        for font in fonts:
            pdfium.FPDFFont_Close(font)
        return np.array(shapes)
    finally:
        document.close()


def _digit_of(font: Any, code: int) -> Shapes:
    outline = pdfium.FPDFFont_GetGlyphPath(font, code, 100.0)
    return _picture(outline, pdfium.FPDFGlyphPath_CountGlyphSegments(outline))


def _picture(outline: Any, parts: int) -> Shapes:
    """The pixels of an outline, its longer side as long as the picture; the points of curves are taken for corners."""
    import cv2

    contours = _contours(outline, parts)
    points = np.concatenate(contours)
    low, high = points.min(axis=0), points.max(axis=0)
    scale = SIDE / max(float((high - low).max()), 1e-6)
    placed = [((contour - (low + high) / 2) * scale + SIDE / 2) * 2**SUBPIXELS for contour in contours]
    pixels = np.zeros((SIDE, SIDE), dtype=np.uint8)
    half = 2 ** (SUBPIXELS - 1)
    cv2.fillPoly(pixels, [np.round(contour).astype(np.int32) - half for contour in placed], (1,), shift=SUBPIXELS)
    return pixels.reshape(-1).astype(np.float32)


def _contours(outline: Any, parts: int) -> list[npt.NDArray[np.float64]]:
    x, y = ctypes.c_float(), ctypes.c_float()
    at_x, at_y = ctypes.pointer(x), ctypes.pointer(y)
    get, place, kind = (
        pdfium.FPDFGlyphPath_GetGlyphPathSegment,
        pdfium.FPDFPathSegment_GetPoint,
        pdfium.FPDFPathSegment_GetType,
    )
    contours: list[list[tuple[float, float]]] = [[]]
    for at in range(parts):
        part = get(outline, at)
        place(part, at_x, at_y)
        if kind(part) == pdfium.FPDF_SEGMENT_MOVETO:
            contours.append([])
        contours[-1].append((x.value, y.value))
    return [np.array(contour) for contour in contours if contour]
