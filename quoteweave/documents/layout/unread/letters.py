"""Finds letters in a picture outside the words that are known: in raster images, or drawn as outlines.

Letters are thin, dark on light or light on dark, about as high as their neighbours, and in rows with them. Shapes like
that where the text layer has no word are text that only OCR can read. The dashes of an axis are too low to count, lines
too long, and there are seldom three dots of a plot in a row.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quoteweave.documents.layout.graphics import erase_boxes, word_boxes
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.raw_page import Pixels, Raster

if TYPE_CHECKING:
    from cv2.typing import MatLike

# So many letters, and this share of all, are unread where OCR missed small print; photographs have shapes like them.
MIN_UNREAD, UNREAD_SHARE = 100, 0.2
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

Shapes = npt.NDArray[np.int32]
"""(n, 4): left, top, width and height, in pixels."""
Boxes = npt.NDArray[np.float64]
"""(n, 4): `core.boxes.Box`es, in points."""


def shows_unread_text(picture: Raster, words: Sequence[Word]) -> bool:
    """Whether the image has letters outside the boxes of `words`, which are relative to the image.

    Words that have run together count as unread, because OCR finds the spaces between them.
    """
    if _have_run_together(words):
        return True
    return any(_count_in_rows(shapes) >= MIN_LETTERS for shapes in _shapes_of_any_size(picture, words))


def is_likely_text(picture: Raster) -> bool:
    """Whether the image has letters, and is no photograph, which has shapes like them."""
    return any(count_in_text(shapes) >= MIN_LETTERS for shapes in _shapes_of_any_size(picture, ()))


def count_unread(picture: Raster, words: Sequence[Word]) -> int:
    """Count what may be letters outside the boxes of `words`, which are relative to the image.

    None are where few of the shapes like them are in rows, as in noise.
    """
    return max(map(count_in_text, letter_shapes(picture, word_boxes(words), 1)))


def count_in_text(shapes: Shapes) -> int:
    """The number of shapes in rows, which go downwards; 0 if few of them are."""
    bands = (shapes[at : at + BAND] for at in range(0, len(shapes), BAND))
    in_rows = sum(map(_count_in_rows, bands))
    return in_rows if in_rows >= MIN_IN_ROWS * len(shapes) else 0


def count_missed(picture: Raster, lines: Iterable[Line], known: Iterable[Word] = ()) -> int:
    """Count what may be letters that OCR missed; 0 if they are few beside those that it read, and other known words."""
    words = [*(word for line in lines for word in line.words), *known]
    unread = count_unread(picture, words)
    return unread if unread >= max(MIN_UNREAD, UNREAD_SHARE * (unread + sum(len(word.text) for word in words))) else 0


def _have_run_together(words: Sequence[Word]) -> bool:
    lengths = [len(word.text) for word in words if word.text.isalpha() and word.text.isascii()]
    return sum(length for length in lengths if length > MAX_WORD_LETTERS) > RUN_TOGETHER * sum(lengths)


def _shapes_of_any_size(picture: Raster, words: Sequence[Word]) -> Iterator[Shapes]:
    """The shapes of small and large letters outside the boxes of `words`."""
    known = word_boxes(words)
    for shrinking in SHRINKINGS:
        yield from letter_shapes(picture, known, shrinking)


def letter_shapes(picture: Raster, known: Boxes, shrinking: int) -> Iterator[Shapes]:
    """The letter-sized shapes outside known boxes, downwards: those darker than their ground, and those lighter."""
    import cv2

    pixels, scale = _shrunk(picture.pixels, shrinking), picture.scale / shrinking
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    kernel = np.ones((STROKE, STROKE), dtype=np.uint8)
    for side in (cv2.MORPH_BLACKHAT, cv2.MORPH_TOPHAT):
        strokes = cv2.threshold(cv2.morphologyEx(grey, side, kernel), CONTRAST, 255, cv2.THRESH_BINARY)[1]
        erase_boxes(strokes, known, scale, margin=1.0)
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
