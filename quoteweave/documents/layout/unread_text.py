"""Detects text that the text layer lacks: letters in raster images, or drawn as outlines.

Letters are thin, dark on light or light on dark, about as high as their neighbours, and in rows with them. Shapes like
that where the text layer has no word are text that only OCR can read. The dashes of an axis are too low to count, lines
too long, and there are seldom three dots of a plot in a row.

Where OCR misses much small print of a large picture, which it shrinks, the picture is read again in tiles. Where a page
with a text layer shows more text than that has, outside of its figures, each such text becomes a figure.

Also counts the words of the text layer that the picture lacks: white on white, under a box, or not drawn.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area, hull, intersection
from quoteweave.documents.layout.graphics import erase_boxes, word_boxes
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import COLUMN_GAP, Line, Word, translated
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Pixels, Raster

if TYPE_CHECKING:
    from cv2.typing import MatLike

# So many letters, and this share of all, are unread where OCR missed small print; photographs have shapes like them.
MIN_UNREAD, UNREAD_SHARE = 100, 0.2
# Letters this near to each other, in points, are one text, which is of so many at least; of more shapes, none is. More
# texts are read as one, as OCR takes as long for a small picture as for some lines of a large one.
NEAR, MIN_TEXT, MAX_EXAMINED, MAX_TEXTS = 16.0, 12, 20_000, 20
# Edges are looked for in every third pixel; a letter has several.
EVERY = 3
# The least share of words that the text layer lacks, by letters, among those that OCR reads: it reads some wrongly.
MIN_NEW = 0.1
# In pixels: a picture whose longer side has more is shrunk by OCR; the side of the tiles in which it is read as well;
# and how far these overlap, so that a word at the edge of one is whole in another.
MAX_WHOLE, TILE, OVERLAP = 1800, 800, 200
# How near to the edge of a tile, in points, a word may end that is cut by it.
CUT_OFF = 2.0
# How many letters with a neighbour on either side make a picture worth reading: one word of five letters has three.
MIN_LETTERS = 3
# Letters are searched in the picture as it is, and in one three times smaller for large titles. In pixels of these:
SHRINKINGS = (1, 3)
STROKE = 9  # wider than any stroke of a letter
HEIGHTS = (5, 40)
MIN_INK = 8
# The largest ratio of width to height of a letter, and of small letters that touch, such as two digits; and the range
# of the share of ink in the box of the latter, which lines and bars are outside of.
WIDEST, WIDEST_RUN = 2.5, 4.0
INK_OF_RUNS = (0.25, 0.7)
# The least difference of a letter's stroke from its background, 0 to 255.
CONTRAST = 40
# More letter-sized shapes than this are a texture or a page of text, which is read.
MAX_SHAPES = 3000
# Letters are counted among so many shapes below one another at once; of text, at least this share is in rows.
BAND, MIN_IN_ROWS = 1000, 0.2
# The text layer has lost its spaces if more than this share of its letters are in words longer than any real word.
RUN_TOGETHER = 0.3
MAX_WORD_LETTERS = 22
# The largest difference of colour, 0 to 255, in a word's place that counts as one colour; the palest words differ more.
MAX_DIFFERENCE = 8
# How much of a word's width, on either side, may extend beyond what covers it.
EDGE = 0.1

Shapes = npt.NDArray[np.int32]


def shows_unread_text(picture: Raster, words: Sequence[Word]) -> bool:
    """Whether the image has letters outside the boxes of `words`, which are relative to the image.

    Words that have run together count as unread, because OCR finds the spaces between them.
    """
    return _have_run_together(words) or any(_count_letters(picture, words, by) >= MIN_LETTERS for by in SHRINKINGS)


def count_unread(picture: Raster, words: Sequence[Word]) -> int:
    """Count what may be letters outside the boxes of `words`, which are relative to the image.

    None are where few of the shapes like them are in rows, as in noise.
    """
    return max(map(_count_of_text, _letter_shapes(picture, words, 1)))


def _count_of_text(shapes: Shapes) -> int:
    """The number of shapes in rows, which go downwards; 0 if few of them are."""
    bands = (shapes[at : at + BAND] for at in range(0, len(shapes), BAND))
    in_rows = sum(map(_count_in_rows, bands))
    return in_rows if in_rows >= MIN_IN_ROWS * len(shapes) else 0


def unread_areas(picture: Raster, known: Iterable[Box]) -> list[Box]:
    """The boxes of what may be text outside of `known`: shapes in rows like letters, together with those near them."""
    import cv2

    words = [Word("", box) for box in known]
    if not _shows_more(picture, words):
        return []
    shapes = np.concatenate([own * by for by in SHRINKINGS for own in _letter_shapes(picture, words, by)])
    shapes = shapes[np.argsort(shapes[:, 1], kind="stable")]
    if not MIN_TEXT <= len(shapes) <= MAX_EXAMINED:
        return []
    mask = np.zeros(picture.pixels.shape[:2], dtype=np.uint8)
    for left, top, width, height in shapes.tolist():
        mask[top : top + height, left : left + width] = 1
    reach = 2 * int(NEAR * picture.scale / 2) + 1
    texts = cv2.connectedComponents(cv2.dilate(mask, np.ones((reach, reach), dtype=np.uint8)))[1]
    within = texts[shapes[:, 1], shapes[:, 0]]
    numbers, counts = np.unique(within, return_counts=True)
    found = (shapes[within == number] for number in numbers[counts >= MIN_TEXT])
    areas = [_hull(text, picture.scale) for text in found if _count_of_text(text) >= MIN_TEXT]
    return areas if len(areas) <= MAX_TEXTS else [hull(areas)]


def _shows_more(picture: Raster, words: Sequence[Word]) -> bool:
    """Whether a picture has edges outside of the words: most pages have none, and need not be searched for letters."""
    pixels = picture.pixels[::EVERY, ::EVERY, 1].astype(np.int16)
    edges = (np.abs(np.diff(pixels, axis=1)) > CONTRAST).astype(np.uint8)
    erase_boxes(edges, word_boxes(words), picture.scale / EVERY, margin=1.0)
    return int(np.count_nonzero(edges)) >= MIN_TEXT


def _hull(shapes: Shapes, scale: float) -> Box:
    x1, y1 = (shapes[:, :2].min(axis=0) / scale).tolist()
    x2, y2 = ((shapes[:, :2] + shapes[:, 2:]).max(axis=0) / scale).tolist()
    return (x1, y1, x2, y2)


def has_more_text(read: Iterable[Line], lines: Iterable[Line]) -> bool:
    """Whether OCR read words that the lines of a text layer lack, not only the same with a letter read wrongly."""
    known = {word.text.casefold() for line in lines for word in line.words}
    words = [word.text for line in read for word in line.words]
    new = sum(len(word) for word in words if word.casefold() not in known)
    return new > MIN_NEW * sum(map(len, words))


def count_missed(picture: Raster, lines: Iterable[Line]) -> int:
    """Count what may be letters that OCR missed; 0 if they are few beside those that it read."""
    words = [word for line in lines for word in line.words]
    unread = count_unread(picture, words)
    return unread if unread >= max(MIN_UNREAD, UNREAD_SHARE * (unread + sum(len(word.text) for word in words))) else 0


def read_large(picture: Raster, ocr: Ocr) -> Sequence[Line]:
    """Recognise the lines of a picture; if OCR misses many letters of a large one, in tiles of it as well."""
    shrunk = ocr.read(picture)
    if max(picture.pixels.shape[:2]) <= MAX_WHOLE or not count_missed(picture, shrunk):
        return shrunk
    lines = [line for line in shrunk if line.height * picture.scale > OVERLAP / 2]  # which tiles may cut
    for tile, box in _tiles(picture):
        tile_lines = [translated(line, box[0], box[1]) for line in ocr.read(tile)]
        lines = _with_lines(lines, tile_lines, _inner_part(box, picture.size))
    return _with_lines(lines, shrunk, (0.0, 0.0, *picture.size))


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


def _have_run_together(words: Sequence[Word]) -> bool:
    lengths = [len(word.text) for word in words if word.text.isalpha() and word.text.isascii()]
    return sum(length for length in lengths if length > MAX_WORD_LETTERS) > RUN_TOGETHER * sum(lengths)


def _count_letters(picture: Raster, words: Sequence[Word], shrinking: int) -> int:
    """The number of letter-sized shapes between two similar ones."""
    return max(map(_count_in_rows, _letter_shapes(picture, words, shrinking)))


def _letter_shapes(picture: Raster, words: Sequence[Word], shrinking: int) -> Iterator[Shapes]:
    """The letter-sized shapes outside words, downwards: those darker than their ground, and those that are lighter."""
    import cv2

    pixels, scale = _shrunk(picture.pixels, shrinking), picture.scale / shrinking
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    kernel = np.ones((STROKE, STROKE), dtype=np.uint8)
    for side in (cv2.MORPH_BLACKHAT, cv2.MORPH_TOPHAT):
        strokes = cv2.threshold(cv2.morphologyEx(grey, side, kernel), CONTRAST, 255, cv2.THRESH_BINARY)[1]
        erase_boxes(strokes, word_boxes(words), scale, margin=1.0)
        shapes = _of_letter_size(strokes)
        yield shapes[np.argsort(shapes[:, 1], kind="stable")]


def _shrunk(pixels: Pixels, factor: int) -> "MatLike":
    import cv2

    height, width = (max(1, side // factor) for side in pixels.shape[:2])
    return pixels if factor == 1 else cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)


def _of_letter_size(strokes: "MatLike") -> Shapes:
    """(n, 4): left, top, width and height of each connected shape that could be a letter, or several that touch."""
    import cv2

    left, top, across, down = cv2.boundingRect(strokes)  # often empty, which saves most of the time
    drawn = strokes[top : top + down, left : left + across]
    if not drawn.size:
        return np.empty((0, 4), dtype=np.int32)
    stats = cv2.connectedComponentsWithStats(drawn, connectivity=8)[2][1:].astype(np.int32)
    stats[:, :2] += left, top
    width, height, ink = (stats[:, column] for column in (cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT, cv2.CC_STAT_AREA))
    high = (height >= HEIGHTS[0]) & (height <= HEIGHTS[1]) & (ink >= MIN_INK)
    long, share = width / height, ink / (width * height)
    run = (long <= WIDEST_RUN) & (share > INK_OF_RUNS[0]) & (share < INK_OF_RUNS[1])
    return stats[high & ((long <= WIDEST) | run)][:, :4]


def _count_in_rows(shapes: Shapes) -> int:
    """The number of shapes with close neighbours of similar height on both sides, on one baseline."""
    if len(shapes) > MAX_SHAPES:
        return len(shapes)
    left, top, width, height = shapes[np.argsort(shapes[:, 0])].T
    bottom = top + height
    higher, lower = np.maximum.outer(height, height), np.minimum.outer(height, height)
    gap = left[None, :] - (left + width)[:, None]
    shared = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
    is_level = (shared > 0.7 * lower) & (np.abs(np.subtract.outer(bottom, bottom)) <= 0.35 * higher)
    is_close = (gap >= -2) & (gap < 0.8 * higher) & (left[None, :] > left[:, None])
    follows = is_close & is_level & (lower > 0.5 * higher)
    return int((follows.any(axis=0) & follows.any(axis=1)).sum())


def count_unseen(picture: Raster, lines: Iterable[Line]) -> int:
    """Count the words with letters or digits in whose place the picture has only one colour."""
    return sum(_is_unseen(picture, word) for line in lines for word in line.words)


def _is_unseen(picture: Raster, word: Word) -> bool:
    x1, y1, x2, y2 = word.box
    x1, x2 = x1 + EDGE * (x2 - x1), x2 - EDGE * (x2 - x1)
    middle = (y1 + y2) / 2
    # One row of pixels suffices for almost every word, and takes a tenth of the time.
    row = picture.cut((x1, middle, x2, middle))[0, :, 1]
    if int(row.max()) - int(row.min()) > MAX_DIFFERENCE:
        return False
    place = picture.cut((x1, y1, x2, y2)).reshape(-1, 3)
    is_plain = int((place.max(axis=0) - place.min(axis=0)).max()) <= MAX_DIFFERENCE
    return is_plain and any(map(str.isalnum, word.text))
