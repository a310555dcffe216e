"""Finds the characters that a rectangle covers where other text is drawn over it, as in a correction.

What is only covered is read, with a warning, like other words that the page does not show. But where other words take
its place, both would be read as one text.
"""

import ctypes
import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quoteweave.core.boxes import Box, inside
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.drawn.objects import (
    PageDrawing,
    Placed,
    as_shown,
    box_of,
    clipped,
    is_filled,
    is_rectangle,
    not_drawn,
    opacity,
)
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf_text.characters import (
    SPACE,
    Characters,
    Floats,
    Ints,
    Mask,
    operations,
    read_characters,
)
from quoteweave.documents.sources.raw_page import Raster

if TYPE_CHECKING:
    from pypdfium2 import PdfPage
    from pypdfium2.raw import FPDF_TEXTPAGE

# How far letters may reach beyond what covers them, in points.
MARGIN = 1.0
# Letters are in one row, or in the place of others, if they share this much of the lower one's height.
ONE_ROW = 0.5
# The share of a rectangle that an image over it covers if it is a scan.
UNDER_IMAGE = 0.8
# The most rectangles between texts, and characters within one, that are examined; the most pairs of a character that
# one covers and one drawn over it.
MAX_COVERS, MAX_LETTERS, MAX_PAIRS = 1000, 20_000, 9_000_000
# The most characters that are read without those that are covered.
MAX_REMAINING = 500_000
# Words are in one place if they share this much of the smaller one, and are about as high.
ONE_PLACE, AS_HIGH = 0.5, 0.6
# The greatest height of a word on a level line, in heights of its tallest letter.
LEVEL = 1.5
# In points: more than the width of any page.
FAR_APART = 100_000.0
# The most pairs of words of a page, of which one begins before the other ends, that are compared.
MAX_COMPARED = 100_000

Texts = dict[int, tuple[int, Any]]
"""Pieces of text by their address, each with what is drawn before it."""


class _CoveredArea(NamedTuple):
    """What a rectangle covers, and what is drawn over it."""

    cover: Placed
    under: Ints
    """The characters that it covers."""
    over: Ints
    """Those that are drawn over it, as far as the text layer has them."""
    texts: list[Any]
    """The text objects that draw what is covered."""


class _Replacement(NamedTuple):
    under: Ints
    over: Ints
    run: Ints
    """The positions of what is drawn over the rectangle in a text layer without what that covers."""
    new: Characters
    """These characters, with numbers of the page's own text layer."""
    place: float
    """The position among the characters after which it comes."""


def without_replaced(
    page: "PdfPage",
    raw: "FPDF_TEXTPAGE",
    characters: Characters,
    drawing: PageDrawing,
    to_points: Floats,
    draw: Callable[[], Raster],
) -> tuple[Characters, int]:
    """The characters without those that are covered and have others drawn in their place, and the number of such texts.

    What is drawn in place of a part of a line comes there; texts that are drawn again are not counted. `to_points`
    (2, 3) maps PDF user space to points from the top left of the page, which `draw` renders.
    """
    covers = _between_texts(drawing)
    texts = _shown_texts(drawing) if covers else {}
    covered = list(_covered_areas(raw, characters, covers, texts, to_points, drawing))
    if not covered:
        return characters, 0
    # pdfium drops a letter that is drawn where the same one is, so that of 2020 over 2019 it gives no more than 20.
    with not_drawn(text for area in covered for text in area.texts), closing(page.get_textpage()) as textpage:
        remaining = read_characters(textpage.raw, min(textpage.count_chars(), MAX_REMAINING), to_points)
        candidates = list(_replacements(textpage.raw, characters, covered, remaining, texts, drawing))
    are_seen = _are_seen([covered[at] for at, _ in candidates], characters.boxes, draw) if candidates else []
    replacements = [replacement for (_, replacement), is_seen in zip(candidates, are_seen, strict=True) if is_seen]
    return _with_replacements(characters, replacements, len(remaining.codes))


def _with_replacements(
    characters: Characters, replacements: Sequence[_Replacement], remaining_count: int
) -> tuple[Characters, int]:
    """The characters with these replacements, of so many remaining ones, and how many texts other ones replace."""
    count = len(characters.codes)
    is_lost, is_kept = np.zeros(count, dtype=bool), np.ones(count, dtype=bool)
    parts, places, is_added = list[Characters](), list[Floats](), np.zeros(remaining_count, dtype=bool)
    for replacement in replacements:
        is_kept[replacement.under], is_kept[replacement.over] = False, False
        new_letters = replacement.new.codes[replacement.new.codes > SPACE]
        is_lost[replacement.under] |= not np.array_equal(new_letters, characters.codes[replacement.under])
        parts.append(replacement.new.keeping(~is_added[replacement.run]))  # several rectangles may be under it
        places.append(replacement.place + np.linspace(0, 1, len(parts[-1].codes), endpoint=False) / 2 + 0.25)
        is_added[replacement.run] = True
    parts, places = [characters.keeping(is_kept), *parts], [np.flatnonzero(is_kept).astype(np.float64), *places]
    order = np.argsort(np.concatenate(places), kind="stable")
    columns = zip(*((part.codes, part.boxes, part.numbers) for part in parts), strict=True)
    replaced = int(np.count_nonzero(np.diff(is_lost.astype(np.int8), prepend=0) > 0))
    return Characters(*(np.concatenate(values)[order] for values in columns)), replaced


def _covered_areas(
    raw: "FPDF_TEXTPAGE",
    characters: Characters,
    covers: Sequence[Placed],
    texts: Texts,
    to_points: Floats,
    drawing: PageDrawing,
) -> Iterator[_CoveredArea]:
    """The covers with characters under them; those over too many are counted in `drawing`."""
    boxes = as_shown([cover.box for cover in covers], to_points).tolist()
    for cover, box in zip(covers, boxes, strict=True):
        letters = _letters_within(characters, box)
        if len(letters) > MAX_LETTERS:
            drawing.unexamined += 1
            continue
        drawn_by = operations(raw, characters.numbers[letters])
        orders = np.array([texts[address][0] if address in texts else cover.order for address in drawn_by])
        under, over = letters[orders < cover.order], letters[orders > cover.order]
        if len(under):
            covered_texts = {text for text in drawn_by if text in texts and texts[text][0] < cover.order}
            yield _CoveredArea(cover._replace(box=box), under, over, [texts[text][1] for text in covered_texts])


def _shown_texts(drawing: PageDrawing) -> Texts:
    """What is drawn before each piece of text that is shown, and the text, by its address."""
    mode = pdfium.FPDFTextObj_GetTextRenderMode
    unseen = {pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP}
    return {ctypes.addressof(raw.contents): (order, raw) for raw, order, _ in drawing.texts if mode(raw) not in unseen}


def _letters_within(characters: Characters, box: Box) -> Ints:
    x1, y1, x2, y2 = box
    is_inside = (characters.boxes[:, :2] >= (x1 - MARGIN, y1 - MARGIN)).all(axis=1) & (characters.codes > SPACE)
    return np.flatnonzero(is_inside & (characters.boxes[:, 2:] <= (x2 + MARGIN, y2 + MARGIN)).all(axis=1))


def _replacements(
    raw: "FPDF_TEXTPAGE",
    characters: Characters,
    covered: Sequence[_CoveredArea],
    remaining: Characters,
    texts: Texts,
    drawing: PageDrawing,
) -> Iterator[tuple[int, _Replacement]]:
    """What of the `remaining` characters takes the place of covered ones, with the positions of what covers these.

    `raw` is the text layer that has them. What is beyond the limits is counted in `drawing`.
    """
    pairs = 0
    for at, (cover, under, over, _) in enumerate(covered):
        letters = _letters_within(remaining, cover.box)
        if len(letters) > MAX_LETTERS:
            drawing.unexamined += 1
            continue
        drawn_by = operations(raw, remaining.numbers[letters])
        replacing = letters[[address in texts and texts[address][0] > cover.order for address in drawn_by]]
        pairs += len(replacing) * (len(under) + len(over))
        if pairs > MAX_PAIRS:
            drawing.unexamined += len(covered) - at
            return
        if not len(replacing) or not _are_in_place_of(remaining.boxes[replacing], characters.boxes[under]):
            continue
        # Others are under a further rectangle.
        drawn = {_letter_key(remaining, letter) for letter in replacing.tolist()}
        drawn_over = np.array(
            [letter for letter in over.tolist() if _letter_key(characters, letter) in drawn], dtype=np.int64
        )
        run, is_whole = _with_spaces(remaining.codes, replacing)
        together = np.concatenate([characters.boxes[under], remaining.boxes[replacing]])
        in_row = is_whole and _share_row(together, characters.boxes[under[:1]]).all()
        place = under[0] if in_row or not len(drawn_over) else drawn_over[0]
        new_characters = _with_known_numbers(remaining, run, characters, np.concatenate([drawn_over, under]))
        yield at, _Replacement(under, drawn_over, run, new_characters, float(place))


def _with_spaces(codes: Ints, letters: Ints) -> tuple[Ints, bool]:
    """Letters with the spaces that are between two of them, and whether no other letters are between them."""
    run = np.arange(letters[0], letters[-1] + 1)
    is_other = (codes[run] > SPACE) & ~np.isin(run, letters)
    since, at = np.cumsum(is_other), letters - letters[0]  # how many others precede
    following = at[np.searchsorted(at, np.arange(len(run)))]
    preceding = at[np.searchsorted(at, np.arange(len(run)), side="right") - 1]
    return run[~is_other & (since[following] == since[preceding])], not is_other.any()


def _middles(boxes: Floats) -> Floats:
    return (boxes[:, :2] + boxes[:, 2:]) / 2


def _letter_key(characters: Characters, at: int) -> tuple[float, ...]:
    return int(characters.codes[at]), *characters.boxes[at].round(2).tolist()


def _with_known_numbers(remaining: Characters, run: Ints, characters: Characters, near: Ints) -> Characters:
    """Those `remaining` characters with the numbers of the same letters among the `characters` that are `near`."""
    middles, run_middles = map(_middles, (characters.boxes[near], remaining.boxes[run]))
    numbers = [int(characters.numbers[near[0]])]
    for code, middle in zip(remaining.codes[run].tolist(), run_middles, strict=True):
        far = np.abs(middles - middle).max(axis=1) + (characters.codes[near] != code) * FAR_APART
        numbers.append(int(characters.numbers[near[np.argmin(far)]]) if code > SPACE else numbers[-1])
    return Characters(remaining.codes[run], remaining.boxes[run], np.array(numbers[1:], dtype=np.int64))


def _are_seen(covered: Sequence[_CoveredArea], boxes: Floats, draw: Callable[[], Raster]) -> list[bool]:
    """Whether it is seen that characters are covered, as it is not where a layer is not shown."""
    with not_drawn(area.cover.raw for area in covered):
        without = draw()
    picture, are_seen = draw(), list[bool]()
    for area in covered:
        area_boxes = boxes[area.under]
        hull = (*area_boxes[:, :2].min(axis=0).tolist(), *area_boxes[:, 2:].max(axis=0).tolist())
        are_seen.append(bool((picture.cut(hull) != without.cut(hull)).any()))
    return are_seen


def _between_texts(drawing: PageDrawing) -> list[Placed]:
    """The opaque rectangles over some text and under other text in one place."""
    last = drawing.texts[-1][1] if drawing.texts else 0
    rectangles = [rectangle for rectangle in drawing.rectangles if rectangle.order < last and _is_opaque(rectangle)]
    if not rectangles:
        return []
    texts = np.array([box_of(raw, matrix) for raw, _, matrix in drawing.texts])
    orders = np.array([order for _, order, _ in drawing.texts])
    within = _TextsWithin(_middles(texts))
    covers = []
    for at, rectangle in enumerate(rectangles):
        text_orders = orders[within.texts(rectangle.box)]
        if len(text_orders) and text_orders.min() < rectangle.order < text_orders.max() and is_rectangle(rectangle):
            covers.append(rectangle._replace(box=clipped(rectangle)))
        if len(covers) == MAX_COVERS:
            drawing.unexamined += len(rectangles[at + 1 :])
            break
    # Under a scan, the words that OCR has read may be covered by a rectangle, too.
    boxes = np.array([image.box for image in drawing.images]).reshape(-1, 4)
    orders = np.array([image.order for image in drawing.images])
    return [cover for cover in covers if not _is_under_any(cover, boxes[orders > cover.order])]


class _TextsWithin:
    """Finds those of the middles (n, 2) of texts that are within a box, without a look at all for each box."""

    def __init__(self, middles: Floats) -> None:
        self._middles = middles
        self._sorted = [np.argsort(along, kind="stable") for along in middles.T]
        self._levels = [along[order] for along, order in zip(middles.T, self._sorted, strict=True)]

    def texts(self, box: Box) -> Ints:
        """Their numbers."""
        ends = zip(self._sorted, self._levels, box[:2], box[2:], strict=True)
        ranges = ((order, at.searchsorted(low), at.searchsorted(high, "right")) for order, at, low, high in ends)
        near = min((order[start:end] for order, start, end in ranges), key=len)
        middles = self._middles[near]
        return near[((middles >= box[:2]) & (middles <= box[2:])).all(axis=1)]


def _is_under_any(cover: Placed, images: Floats) -> bool:
    x1, y1, x2, y2 = cover.box
    width = np.minimum(images[:, 2], x2) - np.maximum(images[:, 0], x1)
    height = np.minimum(images[:, 3], y2) - np.maximum(images[:, 1], y1)
    return bool((width.clip(0) * height.clip(0) > UNDER_IMAGE * (x2 - x1) * (y2 - y1)).any())


def _is_opaque(path: Placed) -> bool:
    is_solid = is_filled(path.raw) and not pdfium.FPDFPageObj_HasTransparency(path.raw)
    return is_solid and opacity(path.raw) == 255


def _are_in_place_of(boxes: Floats, other_boxes: Floats) -> bool:
    """Whether any of the characters is over any of the others."""
    is_beside = np.minimum.outer(boxes[:, 2], other_boxes[:, 2]) - np.maximum.outer(boxes[:, 0], other_boxes[:, 0]) > 0
    return bool((is_beside & _share_row(boxes, other_boxes)).any())


def _share_row(boxes: Floats, other_boxes: Floats) -> Mask:
    shared = np.minimum.outer(boxes[:, 3], other_boxes[:, 3]) - np.maximum.outer(boxes[:, 1], other_boxes[:, 1])
    lower = np.minimum.outer(boxes[:, 3] - boxes[:, 1], other_boxes[:, 3] - other_boxes[:, 1])
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
    level_words = np.flatnonzero(heights <= LEVEL * letters[:, 1])
    pairs, over = _overlapping(hulls[level_words], ONE_PLACE * heights[level_words]), set[int]()
    for first, second in (level_words[list(pair)].tolist() for pair in itertools.islice(pairs, MAX_COMPARED)):
        is_as_high = AS_HIGH * heights[first] < heights[second] < heights[first] / AS_HIGH
        if is_as_high and _are_in_one_place(hulls[first].tolist(), hulls[second].tolist()):
            texts = ["".join(map(chr, characters.codes[starts[at] : ends[at]])) for at in (first, second)]
            one_number = len({"".join(filter(str.isdecimal, text)) for text in texts}) == 1
            is_part = one_number and (texts[0] in texts[1] or texts[1] in texts[0])
            if not is_part and all(any(map(str.isalnum, text)) for text in texts):
                over.add(max(first, second))
    return len(over)


def _overlapping(boxes: Floats, apart: Floats) -> Iterator[tuple[int, int]]:
    """The boxes in one row of which one begins before the other ends; middles of rows are more than that `apart`."""
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    down = np.argsort(middles)
    rows = np.zeros(len(boxes), dtype=np.int64)
    rows[down] = np.cumsum(np.diff(middles[down], prepend=middles[down[:1]]) > apart[down])
    order = np.lexsort((boxes[:, 0], rows))
    begins, ends = (boxes[order, side] + rows[order] * FAR_APART for side in (0, 2))
    until = begins.searchsorted(ends)
    for at in np.flatnonzero(until > np.arange(len(order)) + 1).tolist():
        yield from ((order[at], order[other]) for other in range(at + 1, until[at]))


def _are_in_one_place(first: Box, second: Box) -> bool:
    """Whether two boxes share much of the smaller one."""
    return max(inside(first, second), inside(second, first)) > ONE_PLACE


def count_covered_by(lines: Sequence[Line], over_lines: Sequence[Line]) -> int:
    """Count the words of lines that are in the place of words of other lines, drawn over them, with another text."""
    words = [word for line in lines for word in line.words if any(map(str.isalnum, word.text))]
    over_words = [word for line in over_lines for word in line.words if any(map(str.isalnum, word.text))]
    boxes = np.array([word.box for word in words]).reshape(-1, 4)
    is_covered = np.zeros(len(words), dtype=bool)
    for word in over_words:
        near = np.flatnonzero((boxes[:, :2] < word.box[2:]).all(axis=1) & (boxes[:, 2:] > word.box[:2]).all(axis=1))
        for at in near.tolist():
            is_covered[at] |= words[at].text != word.text and _are_in_one_place(words[at].box, word.box)
    return int(is_covered.sum())
