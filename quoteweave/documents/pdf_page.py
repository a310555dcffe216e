"""What pdfium knows of one page: its text with boxes, and its picture. Coordinates come out as shown, in points."""

import ctypes
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.documents.characters import Floats, read_characters
from quoteweave.documents.lines import Line, lines_of
from quoteweave.documents.raw_page import Picture
from quoteweave.documents.text_layer import read_runs

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

# A page of 200 inches would need 800 megapixels at 144 dpi; larger ones are drawn smaller.
MAX_PIXELS = 16_000_000
MAX_SIDE = 16_000
# A hundred dense pages of a book; more would take longer than a page may.
MAX_CHARACTERS = 500_000
# Points of the shorter side of an image that shows something, and how many of a page are looked at.
LEAST_IMAGE = 22.0
MOST_IMAGES = 1000
# Pixels that are skipped in a first look at an image.
STEP = 16


def draw(page: "PdfPage", dpi: float) -> Picture:
    """Render a pdfium page; very large pages are drawn smaller than asked."""
    width, height = page.get_size()
    scale = min(dpi / 72, (MAX_PIXELS / (width * height)) ** 0.5, MAX_SIDE / max(width, height))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    pixels = bitmap.to_numpy()
    pixels = np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels[:, :, :3]
    return Picture(np.ascontiguousarray(pixels), scale)


@dataclass(frozen=True, slots=True)
class TextLayer:
    """The lines of a page's text layer, in its own order, and how many characters beyond the limit were left out."""

    lines: list[Line]
    left_out: int


def read_text_layer(page: "PdfPage") -> TextLayer:
    """The text layer of a pdfium page, without what lies outside the page as shown."""
    shown = _to_shown(page)
    textpage = page.get_textpage()
    try:
        count = textpage.count_chars()
        characters = read_characters(textpage.raw, min(count, MAX_CHARACTERS), shown)
        lines = lines_of(read_runs(textpage.raw, characters, shown, page.get_size()))
        return TextLayer(lines, max(0, count - MAX_CHARACTERS))
    finally:
        textpage.close()


def count_undecoded(page: "PdfPage", picture: Picture) -> int:
    """How many images of a pdfium page are not shown, because pdfium cannot decode them; small ones do not count."""
    import pypdfium2.raw as pdfium

    shown, count = _to_shown(page), 0
    images = page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_IMAGE], max_depth=2)
    for image in itertools.islice(images, MOST_IMAGES):
        left, bottom, right, top = image.get_bounds()
        corners = np.array([[left, bottom, 1.0], [right, top, 1.0]]) @ shown.T
        (x1, y1), (x2, y2) = corners.min(axis=0), corners.max(axis=0)
        if min(x2 - x1, y2 - y1) < LEAST_IMAGE:
            continue
        cut = picture.cut((x1, y1, x2, y2), margin=-1.0)
        # To decode an image once more takes time, so that it is done for those alone where nothing is drawn.
        if all(bool((pixels == cut[0, 0]).all()) for pixels in (cut[::STEP, ::STEP], cut)):
            bitmap = pdfium.FPDFImageObj_GetBitmap(image.raw)
            count += not bitmap
            pdfium.FPDFBitmap_Destroy(bitmap)
    return count


def _to_shown(page: "PdfPage") -> Floats:
    """The affine map (2, 3) from PDF user space to points from the top left, rotation and crop applied."""
    import pypdfium2.raw as pdfium

    width, height = page.get_size()
    # pdfium answers in whole device pixels: a fine grid makes the rounding vanish. Its own arithmetic is in 32 bits.
    fine = min(200.0, 1e9 / max(width, height))
    x, y = ctypes.c_int(), ctypes.c_int()

    def at(px: float, py: float) -> tuple[float, float]:
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, round(width * fine), round(height * fine), 0, px, py, x, y)
        return x.value / fine, y.value / fine

    span = 1000.0
    origin, right, up = at(0, 0), at(span, 0), at(0, span)
    return np.array(
        [[(right[i] - origin[i]) / span, (up[i] - origin[i]) / span, origin[i]] for i in (0, 1)], dtype=np.float64
    )
