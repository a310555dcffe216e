"""The objects that a PDF page draws, one over the other: pieces of text, lines, filled rectangles and images."""

import ctypes
import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quoteweave.core.boxes import Box
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.pdf_text.characters import Floats
from quoteweave.documents.sources.raw_page import Raster

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

# pdfium omits narrower text from the text layer. In points: the size from which on letters are wider, and the distance
# from the page's corner beyond which its numbers are too inaccurate to tell.
NO_WIDTH, MIN_SIZE, MAX_DISTANCE = 0.01, 0.1, 100_000.0
# In points: the largest height of a line with the margin that pdfium adds to it, and its least length.
MAX_LINE, MIN_LENGTH = 4.0, 2.0
# How many parts the outline of a rectangle has, and the most parts of the paths that cut an object off.
RECTANGLE, MAX_PARTS = range(4, 7), 60
# How many lines of a page, and how many of its rectangles, are examined.
MAX_DRAWN = 100_000
# How far a corner of a rectangle is from that of its box at most, in points; pdfium adds something to lines around it.
NEAR_EDGE = 1.0
# The least shorter side, in points, of an image that shows something, and how many images of a page are examined.
MIN_IMAGE, MAX_IMAGES = 22.0, 1000
# In points: more than the width of any page.
FAR_APART = 100_000.0
# How many pixels are skipped in a first look at an image.
STEP = 16

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class Placed(NamedTuple):
    """An object and its box in PDF user space; `order` counts what is drawn before it."""

    raw: Any
    box: Box
    order: int
    matrix: Matrix


class DrawnText(NamedTuple):
    """A piece of text; `order` counts what is drawn before it, and `matrix` maps its points to PDF user space."""

    raw: Any
    order: int
    matrix: Matrix


@dataclass(slots=True)
class PageDrawing:
    """What a page draws, in this order."""

    texts: list[DrawnText] = field(default_factory=list)
    narrow: list[Placed] = field(default_factory=list)
    """Pieces of text that pdfium leaves out of the text layer."""
    lines: list[Placed] = field(default_factory=list)
    """What is thin and horizontal or vertical."""
    rectangles: list[Placed] = field(default_factory=list)
    """What is filled after some text."""
    images: list[Placed] = field(default_factory=list)
    unexamined: int = 0
    """How many lines, rectangles, annotations and words were left out because of a limit."""


def is_invisible(text: Any) -> bool:
    """Whether a piece of text is drawn without ink, as on scans, or only cuts off what is drawn later."""
    mode = pdfium.FPDFTextObj_GetTextRenderMode(text)
    return bool(mode in (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP))


def drawn_objects(
    get: Callable[[Any, int], Any], parent: Any, count: int, matrix: Matrix = IDENTITY
) -> Iterator[tuple[Any, int, Matrix]]:
    """The objects of a page or annotation and of the forms drawn on it, with their kinds, in the order of drawing.

    The matrices map their coordinates to those of the page.
    """
    kind, form = pdfium.FPDFPageObj_GetType, pdfium.FPDF_PAGEOBJ_FORM
    for at in range(count):
        child = get(parent, at)
        child_kind = kind(child)
        if child_kind == form:
            inner = pdfium.FS_MATRIX()
            pdfium.FPDFPageObj_GetMatrix(child, inner)
            form_matrix = _matrix_product((inner.a, inner.b, inner.c, inner.d, inner.e, inner.f), matrix)
            children = pdfium.FPDFFormObj_CountObjects(child)
            yield from drawn_objects(pdfium.FPDFFormObj_GetObject, child, children, form_matrix)
        else:
            yield child, child_kind, matrix


def text_objects(get: Callable[[Any, int], Any], parent: Any, count: int) -> Iterator[Any]:
    """The text objects of a page or annotation and of the forms drawn on it, each drawn by one operation."""
    text = pdfium.FPDF_PAGEOBJ_TEXT
    return (child for child, kind, _ in drawn_objects(get, parent, count) if kind == text)


def page_drawing(page: "PdfPage") -> PageDrawing:
    """What a page draws; its objects can be used until the page is closed."""
    drawing, bounds, count_parts = PageDrawing(), pdfium.FPDFPageObj_GetBounds, pdfium.FPDFPath_CountSegments
    text, path = pdfium.FPDF_PAGEOBJ_TEXT, pdfium.FPDF_PAGEOBJ_PATH
    by_kind = {text: drawing.narrow, path: drawing.lines, pdfium.FPDF_PAGEOBJ_IMAGE: drawing.images}
    edges = (ctypes.c_float * 4)()
    sides = [ctypes.pointer(ctypes.c_float.from_buffer(edges, 4 * i)) for i in range(4)]
    of_page = pdfium.FPDFPage_GetObject, page.raw, pdfium.FPDFPage_CountObjects(page.raw)
    for order, (raw, kind, matrix) in enumerate(drawn_objects(*of_page)):
        bounds(raw, *sides)
        x1, y1, x2, y2 = edges
        if kind == text:
            drawing.texts.append(DrawnText(raw, order, matrix))
            if x2 - x1 >= NO_WIDTH:
                continue
        if matrix is not IDENTITY:
            x1, y1, x2, y2 = _mapped((x1, y1, x2, y2), matrix)
        is_thin = x2 - x1 <= MAX_LINE or y2 - y1 <= MAX_LINE
        parts = 0 if kind != path or is_thin else count_parts(raw)
        if is_thin and kind == path and max(x2 - x1, y2 - y1) < MIN_LENGTH:
            continue
        placed = Placed(raw, (x1, y1, x2, y2), order, matrix)
        if parts:
            _add_path(drawing, placed, parts)
        elif kind in by_kind:
            by_kind[kind].append(placed)
    for drawn in (drawing.lines, drawing.rectangles):
        drawing.unexamined += len(drawn[MAX_DRAWN:])
        del drawn[MAX_DRAWN:]
    return drawing


def _add_path(drawing: PageDrawing, path: Placed, parts: int) -> None:
    """Add a path that may be a rectangle, or several lines."""
    if parts in RECTANGLE and drawing.texts:
        drawing.rectangles.append(path)
    if not parts % 2 and len(drawing.lines) <= MAX_DRAWN:
        drawing.lines.extend(path._replace(box=box) for box in _separate_lines(path.raw, parts, path.matrix))


def _separate_lines(path: Any, parts: int, matrix: Matrix) -> list[Box]:
    """The lines of a path that consists of level or upright lines alone, as where several rows are struck out."""
    x, y = ctypes.c_float(), ctypes.c_float()
    points = list[tuple[float, float]]()
    for at in range(parts):
        part = pdfium.FPDFPath_GetPathSegment(path, at)
        kind = pdfium.FPDFPathSegment_GetType(part)
        if kind != (pdfium.FPDF_SEGMENT_LINETO if at % 2 else pdfium.FPDF_SEGMENT_MOVETO):
            return []
        pdfium.FPDFPathSegment_GetPoint(part, x, y)
        points.append((x.value, y.value))
        if at % 2 and points[-1][0] != points[-2][0] and points[-1][1] != points[-2][1]:
            return []
    path_matrix = _path_matrix(path, matrix)
    return [_mapped((*points[at], *points[at + 1]), path_matrix) for at in range(0, parts, 2)]


def is_rectangle(path: Placed) -> bool:
    """Whether a path goes along the edges of its box, and is no triangle, or turned."""
    x, y, corners = ctypes.c_float(), ctypes.c_float(), list[tuple[bool, bool]]()
    path_matrix, (left, bottom, right, top) = _path_matrix(path.raw, path.matrix), path.box
    for at in range(pdfium.FPDFPath_CountSegments(path.raw)):
        part = pdfium.FPDFPath_GetPathSegment(path.raw, at)
        pdfium.FPDFPathSegment_GetPoint(part, x, y)
        across, up, *_ = _mapped((x.value, y.value, x.value, y.value), path_matrix)
        is_corner = min(across - left, right - across) < NEAR_EDGE and min(up - bottom, top - up) < NEAR_EDGE
        if pdfium.FPDFPathSegment_GetType(part) == pdfium.FPDF_SEGMENT_BEZIERTO or not is_corner:
            return False
        corners.append((across - left < NEAR_EDGE, up - bottom < NEAR_EDGE))
    sides = itertools.pairwise(corners)
    return len(set(corners)) == 4 and all(start[0] == end[0] or start[1] == end[1] for start, end in sides)


@contextmanager
def not_drawn(objects: Iterable[Any]) -> Iterator[None]:
    """Have these objects neither drawn nor read as text until the block ends."""
    inactive = [page_object for page_object in objects if pdfium.FPDFPageObj_SetIsActive(page_object, False)]
    try:
        yield
    finally:
        for page_object in inactive:
            pdfium.FPDFPageObj_SetIsActive(page_object, True)


def box_of(page_object: Any, matrix: Matrix) -> Box:
    """The box of an object, in PDF user space."""
    edges = [ctypes.c_float() for _ in range(4)]
    pdfium.FPDFPageObj_GetBounds(page_object, *edges)
    left, bottom, right, top = (edge.value for edge in edges)
    return _mapped((left, bottom, right, top), matrix)


def _path_matrix(path: Any, matrix: Matrix) -> Matrix:
    inner = pdfium.FS_MATRIX()
    pdfium.FPDFPageObj_GetMatrix(path, inner)
    return _matrix_product((inner.a, inner.b, inner.c, inner.d, inner.e, inner.f), matrix)


def _matrix_product(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = then
    x, y = (first[0], first[2], first[4]), (first[1], first[3], first[5])
    right, up, corner = ((a * u + c * v, b * u + d * v) for u, v in zip(x, y, strict=True))
    return (*right, *up, corner[0] + e, corner[1] + f)


def _mapped(box: Box, matrix: Matrix) -> Box:
    a, b, c, d, e, f = matrix
    xs, ys = zip(*((a * x + c * y + e, b * x + d * y + f) for x in box[::2] for y in box[1::2]), strict=True)
    return min(xs), min(ys), max(xs), max(ys)


def as_shown(boxes: Sequence[Box], to_points: Floats) -> Floats:
    """Boxes (n, 4) in points from the top left; `to_points` (2, 3) maps PDF user space to these."""
    corners = np.array([*boxes], dtype=np.float64).reshape(-1, 2, 2) @ to_points[:, :2].T + to_points[:, 2]
    return np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)


def clipped(placed: Placed) -> Box:
    """The box of what is shown of an object, in PDF user space, as far as paths cut it off; none if there are many."""
    clip, x, y = pdfium.FPDFPageObj_GetClipPath(placed.raw), ctypes.c_float(), ctypes.c_float()
    left, bottom, right, top = placed.box
    paths = range(pdfium.FPDFClipPath_CountPaths(clip))
    if sum(max(1, pdfium.FPDFClipPath_CountPathSegments(clip, path)) for path in paths[: MAX_PARTS + 1]) > MAX_PARTS:
        return left, bottom, left, bottom
    for path in paths:
        points = list[tuple[float, float]]()
        for at in range(pdfium.FPDFClipPath_CountPathSegments(clip, path)):
            pdfium.FPDFPathSegment_GetPoint(pdfium.FPDFClipPath_GetPathSegment(clip, path, at), x, y)
            points.append((x.value, y.value))
        if points:
            xs, ys = zip(*points, strict=True)
            x1, y1, x2, y2 = _mapped((min(xs), min(ys), max(xs), max(ys)), placed.matrix)
            left, bottom, right, top = max(left, x1), max(bottom, y1), min(right, x2), min(top, y2)
    return left, bottom, max(left, right), max(bottom, top)


def thickness(line: Placed) -> float:
    """How thick a line is, in points; pdfium may add more, or nothing, to its box."""
    if is_filled(line.raw):
        return min(line.box[2] - line.box[0], line.box[3] - line.box[1])
    width = ctypes.c_float()
    pdfium.FPDFPageObj_GetStrokeWidth(line.raw, width)
    a, b, c, d, _, _ = _path_matrix(line.raw, line.matrix)
    return width.value * math.sqrt(abs(a * d - b * c))


def opacity(path: Any) -> int:
    """How opaque a filled path is, from 0 to 255."""
    colours = [ctypes.c_uint() for _ in range(4)]
    pdfium.FPDFPageObj_GetFillColor(path, *colours)
    return colours[3].value


def is_filled(path: Any) -> bool:
    """Whether a path is filled."""
    filled, stroked = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, filled, stroked)
    return bool(filled.value)


def count_without_size(drawing: PageDrawing) -> int:
    """Count the pieces of text missing from the text layer because they have no size, or are too far from the page."""
    matrix, size, count = pdfium.FS_MATRIX(), ctypes.c_float(), 0
    for text, box, *_ in drawing.narrow:
        pdfium.FPDFPageObj_GetMatrix(text, matrix)
        pdfium.FPDFTextObj_GetFontSize(text, size)
        # Spaces have no width either, whatever their size.
        is_wide = abs(size.value) * math.hypot(matrix.a, matrix.b) >= MIN_SIZE
        count += not (is_wide and max(map(abs, box)) < MAX_DISTANCE)
    return count


def count_undecoded_and_unexamined(drawing: PageDrawing, picture: Raster, to_points: Floats) -> tuple[int, int]:
    """Count the images of a page that pdfium cannot decode, and those beyond the limit; small ones are excluded."""
    boxes = as_shown([image.box for image in drawing.images], to_points).tolist()
    images = [
        (image, (x1, y1, x2, y2))
        for image, (x1, y1, x2, y2) in zip(drawing.images, boxes, strict=True)
        if min(x2 - x1, y2 - y1) >= MIN_IMAGE
    ]
    count = 0
    for image, box in images[:MAX_IMAGES]:
        cut = picture.cut(box, margin=-1.0)
        # Decoding an image again takes time, so it is only done for images where nothing is drawn.
        if all(bool((pixels == cut[0, 0]).all()) for pixels in (cut[::STEP, ::STEP], cut)):
            bitmap = pdfium.FPDFImageObj_GetBitmap(image.raw)
            count += not bitmap
            pdfium.FPDFBitmap_Destroy(bitmap)
    return count, len(images[MAX_IMAGES:])
