"""Draws the pages of a PDF, and maps their coordinates to points from the top left of the page as shown."""

import ctypes
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.pdf_text.characters import Floats
from quoteweave.documents.sources.raw_page import Raster

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

# A page of 200 inches would need 800 megapixels at 144 dpi; larger ones are drawn smaller.
MAX_PIXELS = 16_000_000
MAX_SIDE = 16_000


def render_page(page: "PdfPage", dpi: float, turns: int = 0) -> Raster:
    """Render a pdfium page after quarter turns, counter-clockwise; very large pages at a lower resolution.

    Raises ValueError for a page without an area.
    """
    width, height = _page_size(page)
    scale = min(dpi / 72, (MAX_PIXELS / (width * height)) ** 0.5, MAX_SIDE / max(width, height))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    pixels = bitmap.to_numpy()
    pixels = np.repeat(pixels[:, :, None], 3, axis=2) if pixels.ndim == 2 else pixels[:, :, :3]
    return Raster(np.ascontiguousarray(pixels), scale).turned(turns)


def _page_size(page: "PdfPage") -> tuple[float, float]:
    width, height = page.get_size()
    if not width * height:
        raise ValueError("it has no area, as where its crop box lies outside its media box")
    return width, height


def turned_map(page: "PdfPage", turns: int) -> tuple[Floats, tuple[float, float]]:
    """The map as in `to_points_map`, after quarter turns counter-clockwise; and the page's width and height then."""
    to_points, size = to_points_map(page), _page_size(page)
    for _ in range(turns):
        to_points, size = np.stack([to_points[1], (0, 0, size[0]) - to_points[0]]), (size[1], size[0])
    return to_points, size


def to_points_map(page: "PdfPage") -> Floats:
    """The affine map (2, 3) from PDF user space to points from the top left, rotation and crop applied."""
    width, height = _page_size(page)
    # pdfium returns whole device pixels, so a fine grid avoids rounding; its own arithmetic has 32 bits.
    grid = min(200.0, 1e9 / max(width, height))
    x, y = ctypes.c_int(), ctypes.c_int()

    def at(px: float, py: float) -> tuple[float, float]:
        pdfium.FPDF_PageToDevice(page.raw, 0, 0, round(width * grid), round(height * grid), 0, px, py, x, y)
        return x.value / grid, y.value / grid

    span = 1000.0
    origin, right, up = at(0, 0), at(span, 0), at(0, span)
    return np.array(
        [[(right[i] - origin[i]) / span, (up[i] - origin[i]) / span, origin[i]] for i in (0, 1)], dtype=np.float64
    )
