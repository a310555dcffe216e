"""Finds the characters that a rectangle covers where other text is drawn over it, as in a correction.

What is only covered is read, with a warning, like other words that the page does not show. But where other words take
its place, both would be read as one text.
"""

import ctypes
import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.core.boxes import inside
from quoteweave.documents.sources.characters import SPACE, Characters, Floats, Ints, Mask, operations
from quoteweave.documents.sources.drawn.objects import (
    PageDrawing,
    Placed,
    as_shown,
    box_of,
    clipped,
    is_filled,
    opacity,
)
from quoteweave.documents.sources.lines import Line

if TYPE_CHECKING:
    from pypdfium2.raw import FPDF_TEXTPAGE

# How far letters may reach beyond what covers them, in points.
MARGIN = 1.0
# Letters are in one row, or in the place of others, if they share this much of the lower one's height.
ONE_ROW = 0.5
# The share of a rectangle that an image over it covers if it is a scan.
UNDER_IMAGE = 0.8
# The most rectangles of a page, of those between texts, and characters within one, that are examined; the most pairs of
# a character that one covers and one drawn over it.
MAX_RECTANGLES, MAX_COVERS, MAX_LETTERS, MAX_PAIRS = 3000, 300, 20_000, 9_000_000
# Words are in one place if they share this much of the smaller one, and are about as high.
ONE_PLACE, AS_HIGH = 0.5, 0.6
# The greatest height of a word on a level line, in heights of its tallest letter.
LEVEL = 1.5
# In points: how far words of a row overlap at least, and what is more than the width of any page.
OVERLAP, FAR_APART = 0.5, 100_000.0
# The most pairs of words of a page that are compared.
MAX_COMPARED = 100_000


def without_replaced(
    raw: "FPDF_TEXTPAGE", characters: Characters, drawing: PageDrawing, shown: Floats
) -> tuple[Characters, int]:
    """The characters without those that are covered and have others drawn in their place, and the number of such texts.

    What is drawn in place of a part of a line comes there. `shown` (2, 3) maps PDF user space to points from the top
    left.
    """
    covers = _between_texts(drawing)
    if not covers:
        return characters, 0
    boxes, count = characters.boxes, len(characters.codes)
    order_of = {ctypes.addressof(raw.contents): order for raw, order, _ in drawing.texts}
    is_replaced, places = np.zeros(count, dtype=bool), np.arange(count, dtype=np.float64)
    for cover, (x1, y1, x2, y2) in zip(covers, as_shown([each.box for each in covers], shown).tolist(), strict=True):
        is_inside = (boxes[:, :2] >= (x1 - MARGIN, y1 - MARGIN)).all(axis=1)
        is_inside &= (boxes[:, 2:] <= (x2 + MARGIN, y2 + MARGIN)).all(axis=1) & (characters.codes > SPACE)
        letters = np.flatnonzero(is_inside)
        if len(letters) > MAX_LETTERS:
            continue
        drawn_by = operations(raw, characters.numbers[letters])
        orders = np.array([order_of.get(each, cover.order) for each in drawn_by])
        under, over = letters[orders < cover.order], letters[orders > cover.order]
        if not 0 < len(under) * len(over) <= MAX_PAIRS:
            continue
        if not _are_in_place_of(boxes[over], boxes[under]):
            continue
        is_replaced[under] = True
        moved = np.arange(over[0], over[-1] + 1)
        is_whole = np.isin(moved[characters.codes[moved] > SPACE], over).all()
        if is_whole and _share_row(boxes[np.concatenate([under, over])], boxes[under[:1]]).all():
            places[moved] = under[0] + (moved - moved[0] + 1) / (count + 1)
    kept = np.flatnonzero(~is_replaced)
    kept = kept[np.argsort(places[kept], kind="stable")]
    texts = int(np.count_nonzero(np.diff(is_replaced.astype(np.int8), prepend=0) > 0))
    return Characters(characters.codes[kept], boxes[kept], characters.numbers[kept]), texts


def _between_texts(drawing: PageDrawing) -> list[Placed]:
    """The opaque rectangles over some text and under other text in one place."""
    last = drawing.texts[-1][1] if drawing.texts else 0
    rectangles = [each for each in drawing.rectangles[:MAX_RECTANGLES] if each.order < last and _is_opaque(each)]
    if not rectangles:
        return []
    texts = np.array([box_of(raw, matrix) for raw, _, matrix in drawing.texts])
    orders = np.array([order for _, order, _ in drawing.texts])
    middles = (texts[:, :2] + texts[:, 2:]) / 2
    found = []
    for each in rectangles:
        within = ((middles >= each.box[:2]) & (middles <= each.box[2:])).all(axis=1)
        if (within & (orders < each.order)).any() and (within & (orders > each.order)).any():
            found.append(each._replace(box=clipped(each)))
        if len(found) == MAX_COVERS:
            break
    # Under a scan, the words that OCR has read may be covered by a rectangle, too.
    images = [image for image in drawing.images if image.order > min((each.order for each in found), default=0)]
    return [
        each
        for each in found
        if not any(image.order > each.order and inside(each.box, image.box) > UNDER_IMAGE for image in images)
    ]


def _is_opaque(path: Placed) -> bool:
    import pypdfium2.raw as pdfium

    is_solid = is_filled(path.raw) and not pdfium.FPDFPageObj_HasTransparency(path.raw)
    return is_solid and opacity(path.raw) == 255


def _are_in_place_of(boxes: Floats, others: Floats) -> bool:
    """Whether any of the characters is over any of the others."""
    beside = np.minimum.outer(boxes[:, 2], others[:, 2]) - np.maximum.outer(boxes[:, 0], others[:, 0]) > 0
    return bool((beside & _share_row(boxes, others)).any())


def _share_row(one: Floats, other: Floats) -> Mask:
    shared = np.minimum.outer(one[:, 3], other[:, 3]) - np.maximum.outer(one[:, 1], other[:, 1])
    lower = np.minimum.outer(one[:, 3] - one[:, 1], other[:, 3] - other[:, 1])
    return np.asarray(shared > ONE_ROW * lower)


def count_in_one_place(characters: Characters) -> int:
    """Count the words that are drawn over another word, so that it is not known which of the two counts.

    Not those that are much larger, as what is stamped across a page, aslant, or part of the other with the same
    digits.
    """
    starts, ends, _ = characters.spans
    if not len(starts):
        return 0
    hulls, letters = characters.hulls
    heights = hulls[:, 3] - hulls[:, 1]
    level = np.flatnonzero(heights <= LEVEL * letters[:, 1])
    rows = (level[row].tolist() for row in _rows_with_overlap(hulls[level], ONE_PLACE * heights[level]))
    pairs, count = itertools.chain.from_iterable(itertools.combinations(row, 2) for row in rows), 0
    for one, other in itertools.islice(pairs, MAX_COMPARED):
        is_as_high = AS_HIGH * heights[one] < heights[other] < heights[one] / AS_HIGH
        if is_as_high and _share(hulls[one].tolist(), hulls[other].tolist()) > ONE_PLACE:
            texts = ["".join(map(chr, characters.codes[starts[at] : ends[at]])) for at in (one, other)]
            one_number = len({"".join(filter(str.isdecimal, text)) for text in texts}) == 1
            is_part = one_number and (texts[0] in texts[1] or texts[1] in texts[0])
            count += not is_part and all(any(map(str.isalnum, text)) for text in texts)
    return count


def _rows_with_overlap(boxes: Floats, apart: Floats) -> Iterator[Ints]:
    """The boxes of each row in which any begins before another ends; middles of rows are more than that `apart`."""
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    down = np.argsort(middles)
    rows = np.zeros(len(boxes), dtype=np.int64)
    rows[down] = np.cumsum(np.diff(middles[down], prepend=middles[down[:1]]) > apart[down])
    order = np.lexsort((boxes[:, 0], rows))
    before = rows[order] * FAR_APART
    ends = np.maximum.accumulate(boxes[order, 2] + before)
    overlapping = np.flatnonzero(boxes[order[1:], 0] + before[1:] < ends[:-1] - OVERLAP)
    for row in np.unique(rows[order[1:][overlapping]]).tolist():
        yield np.flatnonzero(rows == row)


def _share(one: Sequence[float], other: Sequence[float]) -> float:
    """The share of the smaller one of two boxes that is inside the other."""
    width, height = (min(one[at + 2], other[at + 2]) - max(one[at], other[at]) for at in (0, 1))
    smaller = min((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return max(width, 0.0) * max(height, 0.0) / smaller if smaller > 0 else 0.0


def count_covered_by(lines: Sequence[Line], others: Sequence[Line]) -> int:
    """Count the words of lines that are in the place of words of other lines, drawn over them, with another text."""
    words = [word for line in lines for word in line.words if any(map(str.isalnum, word.text))]
    over = [word for line in others for word in line.words if any(map(str.isalnum, word.text))]
    boxes = np.array([word.box for word in words]).reshape(-1, 4)
    is_covered = np.zeros(len(words), dtype=bool)
    for word in over:
        near = np.flatnonzero((boxes[:, :2] < word.box[2:]).all(axis=1) & (boxes[:, 2:] > word.box[:2]).all(axis=1))
        for at in near.tolist():
            is_covered[at] |= words[at].text != word.text and _share(words[at].box, word.box) > ONE_PLACE
    return int(is_covered.sum())
