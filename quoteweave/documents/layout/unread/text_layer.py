"""Compares the text layer of a page with its picture: text that it lacks, and words of it that are not shown."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.layout.graphics import erase_boxes, word_boxes
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.layout.unread.letters import CONTRAST, SHRINKINGS, Boxes, Shapes, count_in_text, letter_shapes
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Raster

if TYPE_CHECKING:
    from cv2.typing import MatLike

# Letters this near to each other, in points, are one text, which is of so many at least. More texts, or all texts of
# more shapes, are read as one: OCR takes as long for a small picture as for some lines of a large one.
NEAR, MIN_TEXT, MAX_GROUPED, MAX_TEXTS = 16.0, 12, 20_000, 20
# How far apart, in points, the letters of a word may be, or two words that are kept together.
SPACE = 4.0
# Edges are looked for in every third pixel; a letter has at least one in a row.
EVERY = 3
# The least share of words that the text layer lacks, by letters, among those that OCR reads: it reads some wrongly.
MIN_NEW = 0.1
# As much for two words in a row; a word that is read wrongly is in two pairs.
MIN_NEW_PAIRS = 0.4
# Fewer letters may be part of a word by chance.
MIN_PART = 4
# The points around a line that are read with it, and the least share of its letters that OCR reads if it shows them.
LINE_MARGIN, SAME = 3.0, 0.6
# The largest difference of colour, 0 to 255, in a word's place that counts as one colour; the palest words differ more.
MAX_DIFFERENCE = 8
# How much of a word's width, on either side, may extend beyond what covers it.
EDGE = 0.1


def unread_areas(picture: Raster, words: Iterable[Word], occupied: Sequence[Box]) -> list[Box]:
    """The boxes of what may be text outside of a text layer's words and of the places that figures and the like occupy.

    Shapes in rows like letters are one text with those near them. Words that extend into an element are whole.
    """
    known_words = word_boxes(words)
    known = np.concatenate([known_words, np.array(occupied, dtype=np.float64).reshape(-1, 4)])
    if not _shows_more(picture, known):
        return []
    shapes = _shapes_outside(picture, known)
    if len(shapes) < MIN_TEXT:
        return []
    if len(shapes) > MAX_GROUPED:
        return [_hull(shapes, picture.scale)] if count_in_text(shapes) else []
    groups = _at(shapes, _group(picture, shapes, NEAR, NEAR))
    numbers, counts = np.unique(groups, return_counts=True)
    texts = [shapes[groups == number] for number in numbers[counts >= MIN_TEXT]]
    texts = [text for text in texts if count_in_text(text) >= MIN_TEXT]
    areas = [_hull(text, picture.scale) for text in _with_whole_words(texts, picture, known_words)]
    return areas if len(areas) <= MAX_TEXTS else [hull(areas)]


def _with_whole_words(texts: Sequence[Shapes], picture: Raster, known_words: Boxes) -> Iterator[Shapes]:
    """The shapes of each text with all those of the words that it has a part of."""
    if not texts:
        return
    shapes = _shapes_outside(picture, known_words)
    picture_of_words = _group(picture, shapes, SPACE, 0.0)
    numbers = _at(shapes, picture_of_words)
    for text in texts:
        yield np.concatenate([text, shapes[np.isin(numbers, _at(text, picture_of_words)) & (numbers > 0)]])


def _shapes_outside(picture: Raster, known: Boxes) -> Shapes:
    """The shapes like letters outside of known boxes, downwards: those of usual and of large size."""
    shapes = np.concatenate([letters * by for by in SHRINKINGS for letters in letter_shapes(picture, known, by)])
    return shapes[np.argsort(shapes[:, 1], kind="stable")]


def _group(picture: Raster, shapes: Shapes, across: float, down: float) -> "MatLike":
    """For each pixel the number of its group of shapes, which are so near to each other, in points; 0 for none."""
    import cv2

    mask = np.zeros(picture.pixels.shape[:2], dtype=np.uint8)
    for left, top, width, height in shapes.tolist():
        mask[top : top + height, left : left + width] = 1
    reach = [2 * int(distance * picture.scale / 2) + 1 for distance in (down, across)]
    return cv2.connectedComponents(cv2.dilate(mask, np.ones(reach, dtype=np.uint8)))[1]


def _at(shapes: Shapes, numbers: "MatLike") -> "MatLike":
    """(n,): the number at the corner of each shape."""
    return numbers[shapes[:, 1], shapes[:, 0]]


def _shows_more(picture: Raster, known: Boxes) -> bool:
    """Whether a row of a picture has edges as of letters outside of known elements: most pages need no search."""
    pixels = picture.pixels[::EVERY, ::EVERY, 1].astype(np.int16)
    edges = (np.abs(np.diff(pixels, axis=1)) > CONTRAST).astype(np.uint8)
    erase_boxes(edges, known, picture.scale / EVERY, margin=1.0)
    return int(edges.sum(axis=1, dtype=np.int32).max(initial=0)) >= MIN_TEXT


def _hull(shapes: Shapes, scale: float) -> Box:
    x1, y1 = (shapes[:, :2].min(axis=0) / scale).tolist()
    x2, y2 = ((shapes[:, :2] + shapes[:, 2:]).max(axis=0) / scale).tolist()
    return (x1, y1, x2, y2)


def has_more_text(read: Iterable[Line], lines: Iterable[Line]) -> bool:
    """Whether OCR read words that the lines of a text layer lack, not only the same with a letter read wrongly.

    A heading has words of its section, but in another order. Parts of the layer's words are not new: where it lies
    beside what is shown, words are cut. Nor are its words without the spaces between them.
    """
    read_words = [[word.text.casefold() for word in line.words] for line in read]
    layer_words = [[word.text.casefold() for word in line.words] for line in lines]
    known, layer_text = set(chain(*layer_words)), "\n".join(map("".join, layer_words))
    words = list(chain(*read_words))
    new = sum(len(word) for word in words if word not in known and (len(word) < MIN_PART or word not in layer_text))
    if new > MIN_NEW * sum(map(len, words)):
        return True
    pairs = [first + second for line_words in read_words for first, second in pairwise(line_words)]
    return sum(pair not in layer_text for pair in pairs) > MIN_NEW_PAIRS * len(pairs)


def is_shown_twice(read: Iterable[Line], lines: Sequence[Line], picture: Raster, ocr: Ocr) -> bool:
    """Whether words that OCR read in one place of a page are also shown where the text layer has them, as of headings.

    Where a layer lies beside what the page shows, there are other words in its places, or none.
    """
    layer = SpatialIndex(lines)
    words = [word for line in read for word in line.words]
    moved = [
        word.text.casefold()
        for word in words
        if not any(word.text.casefold() in _joined(line) for line in layer.intersecting(word.box))
    ]
    if sum(map(len, moved)) <= MIN_NEW * sum(len(word.text) for word in words):
        return False
    top = min(word.box[1] for word in words)
    counterpart = max(lines, key=lambda line: (_count_shared(moved, _joined(line)), -abs(line.box[1] - top)))
    place = Raster(np.ascontiguousarray(picture.cut(counterpart.box, margin=LINE_MARGIN)), picture.scale)
    shared = [word for word in moved if word in _joined(counterpart)]
    shown = "".join(map(_joined, ocr.read(place)))
    return _count_shared(shared, shown) > SAME * sum(map(len, shared))


def _joined(line: Line) -> str:
    return "".join(word.text for word in line.words).casefold()


def _count_shared(words: Iterable[str], text: str) -> int:
    """The number of letters in those of the words that the text has."""
    return sum(len(word) for word in words if word in text)


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
