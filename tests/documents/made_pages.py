"""Pages made by hand: lines of text where a test wants them, and pictures drawn with numpy."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.raw_page import Pixels, Raster

A4 = (600.0, 800.0)
BLACK, GREY, WHITE = (0, 0, 0), (217, 217, 217), (255, 255, 255)


def line(text: str, x: float, y: float, *, size: float = 10.0, bold: bool = False, upright: bool = True) -> Line:
    """A line whose top left is (x, y): letters are half a size wide, spaces a quarter."""
    words, left = [], x
    for word in text.split():
        right = left + 0.5 * size * len(word)
        words.append(Word(word, (left, y, right, y + size)))
        left = right + 0.25 * size
    return Line(tuple(words), hull(word.box for word in words), size, y + 0.8 * size, "", bold, upright)


def paragraph(rows: Iterable[str], x: float, y: float, *, pitch: float = 12.0, size: float = 10.0) -> list[Line]:
    return [line(row, x, y + pitch * i, size=size) for i, row in enumerate(rows)]


def prose(x: float, y: float, rows: int = 5) -> list[Line]:
    """Running text, about 190 points wide."""
    return paragraph(["the harbour was dredged again in early spring"] * rows, x, y)


def canvas(page: tuple[float, float] = A4, colour: Sequence[int] = WHITE) -> Pixels:
    """An empty page at 144 dpi."""
    pixels = np.empty((int(page[1] * 2), int(page[0] * 2), 3), dtype=np.uint8)
    pixels[:] = colour
    return pixels


def fill(pixels: Pixels, box: Box, colour: Sequence[int] = BLACK) -> None:
    x1, y1, x2, y2 = (round(edge * 2) for edge in box)
    pixels[y1:y2, x1:x2] = colour


def grid(pixels: Pixels, xs: Sequence[float], ys: Sequence[float]) -> None:
    """Rules one point thick."""
    for y in ys:
        fill(pixels, (xs[0], y, xs[-1] + 1, y + 1))
    for x in xs:
        fill(pixels, (x, ys[0], x + 1, ys[-1] + 1))


def ink_words(pixels: Pixels, lines: Iterable[Line], colour: Sequence[int] = BLACK) -> None:
    """Strokes where the lines' letters are, as a renderer would leave them."""
    for word in (word for line in lines for word in line.words):
        x1, y1, x2, y2 = word.box
        for x in np.arange(x1 + 1, x2 - 1, 3):
            fill(pixels, (float(x), y1 + 2, float(x) + 1, y2 - 2), colour)


def scatter(pixels: Pixels, box: Box) -> None:
    """A drawing that is neither a rule nor a filled rectangle: a chequered field."""
    for i, j in itertools.product(range(0, int(box[2] - box[0]), 8), range(0, int(box[3] - box[1]), 8)):
        if (i + j) % 16 == 0:
            fill(pixels, (box[0] + i, box[1] + j, min(box[0] + i + 8, box[2]), min(box[1] + j + 8, box[3])))


def picture(pixels: Pixels) -> Raster:
    return Raster(pixels, 2.0)
