"""Reads large pictures by OCR: what it misses because it shrinks them, in tiles."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from quoteweave.core.boxes import Box, area, hull, intersection
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.layout.unread.letters import count_missed
from quoteweave.documents.sources.lines import COLUMN_GAP, Line, Word, translated
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Raster

# In pixels: a picture whose longer side has more is shrunk by OCR; the side of the tiles in which it is read as well;
# and how far these overlap, so that a word at the edge of one is whole in another.
MAX_WHOLE, TILE, OVERLAP = 1800, 800, 200
# How near to the edge of a tile, in points, a word may end that is cut by it.
CUT_OFF = 2.0


def read_large(picture: Raster, ocr: Ocr, known: Iterable[Word] = ()) -> Sequence[Line]:
    """Recognise the lines of a picture; if OCR misses many letters of a large one, in tiles of it as well.

    `known` are words on it that the text layer has, which OCR need not read.
    """
    shrunk = ocr.read(picture)
    if not is_shrunk(picture) or not count_missed(picture, shrunk, known):
        return shrunk
    lines = [line for line in shrunk if line.height * picture.scale > OVERLAP / 2]  # which tiles may cut
    for tile, box in _tiles(picture):
        tile_lines = [translated(line, box[0], box[1]) for line in ocr.read(tile)]
        lines = _with_lines(lines, tile_lines, _inner_part(box, picture.size))
    return _with_lines(lines, shrunk, (0.0, 0.0, *picture.size))


def is_shrunk(picture: Raster) -> bool:
    """Whether OCR shrinks a picture, so that it may miss small print which tiles show."""
    longer_side: int = max(picture.pixels.shape[:2])
    return longer_side > MAX_WHOLE


def _tiles(picture: Raster) -> Iterator[tuple[Raster, Box]]:
    """The tiles of a picture, each with its box in points."""
    height, width = picture.pixels.shape[:2]
    for top in range(0, max(1, height - OVERLAP), TILE - OVERLAP):
        for left in range(0, max(1, width - OVERLAP), TILE - OVERLAP):
            pixels = np.ascontiguousarray(picture.pixels[top : top + TILE, left : left + TILE])
            corners = (left, top, left + pixels.shape[1], top + pixels.shape[0])
            x1, y1, x2, y2 = (corner / picture.scale for corner in corners)
            yield Raster(pixels, picture.scale), (x1, y1, x2, y2)


def _inner_part(tile: Box, size: tuple[float, float]) -> Box:
    """The part of a tile that is not so near to an edge that cuts words; the edges of the picture cut none."""
    x1, y1 = (start + CUT_OFF if start > 0 else start for start in tile[:2])
    x2, y2 = (end if end >= side else end - CUT_OFF for end, side in zip(tile[2:], size, strict=True))
    return (x1, y1, x2, y2)


def _with_lines(lines: Sequence[Line], further: Sequence[Line], within: Box) -> list[Line]:
    """Add further lines: of each the words that are wholly within a box, and in the place of no word that is there.

    What is left of a line continues the line that ends before it.
    """
    known, joined = SpatialIndex([word for line in lines for word in line.words]), list(lines)
    for line in further:
        words = tuple(
            word
            for word in line.words
            if intersection(word.box, within) == word.box
            and not any(_is_in_place_of(word, other) for other in known.intersecting(word.box))
        )
        if words:
            added = replace(line, words=words, box=hull(word.box for word in words))
            at = next((at for at, before in enumerate(joined) if _continues(before, added)), len(joined))
            before = joined[at : at + 1]
            joined[at : at + 1] = [_joined(*before, added)]
    return joined


def _joined(*pieces: Line) -> Line:
    words = tuple(word for piece in pieces for word in piece.words)
    return replace(pieces[0], words=words, box=hull(piece.box for piece in pieces))


def _is_in_place_of(word: Word, other: Word) -> bool:
    return area(intersection(word.box, other.box)) > 0.5 * min(area(word.box), area(other.box))


def _continues(line: Line, other: Line) -> bool:
    """Whether the other line goes on to the right of a line."""
    common = min(line.box[3], other.box[3]) - max(line.box[1], other.box[1])
    is_level = line.upright and other.upright and common > 0.6 * min(line.height, other.height)
    return is_level and -line.size < other.box[0] - line.box[2] < COLUMN_GAP * line.size
