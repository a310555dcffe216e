"""Tells from the outlines of a font's digits whether they are others than the font says, such as a 7 called 1.

They are compared with those of the standard fonts, which pdfium has. In 565 digits of fonts in 44 real documents, each
was like its own digit there, but for a prime that was called 0 and a plus sign that was called 4.
"""

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from quoteweave.documents.sources import pdfium

Shapes = npt.NDArray[np.float32]

STANDARD = (b"Helvetica", b"Helvetica-Bold", b"Times-Roman", b"Times-Bold", b"Times-Italic", b"Courier")
# The sides of the picture of a digit, in pixels; parts of a pixel in which OpenCV takes positions, as a power of 2.
SIDE, SUBPIXELS = 24, 4
# By how much a shape is more like another digit than like its own if it is another sign, of 1 for equal shapes.
LIKER = 0.12
# The most parts of an outline that is examined, many more than any digit has, and the most digits that are remembered.
MAX_PARTS, MAX_KNOWN = 500, 5000
NAME_SIZE = 128

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
        _known[key] = _is_another(_picture(outline, parts), code - ord("0"))
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
