"""Finds the characters that a rectangle covers where other text is drawn over it, as in a correction.

What is only covered is read, with a warning, like other words that the page does not show. But where other words take
its place, both would be read as one text. How `without_replaced` finds these:

1. `_between_texts`: rectangles that are drawn over some text and under other text, the covers.
2. `_covered_areas`: the characters that each covers, and those drawn over it, as far as the text layer has them: of
   2020 over 2019 it has no more than 20, as pdfium drops a letter that is drawn where the same one is.
3. So the text layer is read again without the texts that are covered. `_replacements`: what of it is drawn over a
   cover, in the place of covered characters.
4. `_seen`: those whose cover changes the picture of the page.
5. `_with_replacements`: the page's characters without the covered ones, and with what takes their place.
"""

import ctypes
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quoteweave.core.boxes import Box
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.drawn.objects import (
    FAR_APART,
    IDENTITY,
    DrawnText,
    PageDrawing,
    Placed,
    as_shown,
    box_of,
    clipped,
    is_filled,
    is_invisible,
    is_rectangle,
    not_drawn,
    opacity,
)
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


class _Layer(NamedTuple):
    """The text layer of a page, or what is left of it without covered texts."""

    raw: "FPDF_TEXTPAGE"
    characters: Characters
    shown: Mapping[int, DrawnText]
    """The page's texts that are shown, by their addresses."""

    def letters_within(self, box: Box) -> Ints:
        """The positions of the letters within a box."""
        boxes, is_letter, (x1, y1, x2, y2) = self.characters.boxes, self.characters.codes > SPACE, box
        is_inside = (boxes[:, :2] >= (x1 - MARGIN, y1 - MARGIN)).all(axis=1) & is_letter
        return np.flatnonzero(is_inside & (boxes[:, 2:] <= (x2 + MARGIN, y2 + MARGIN)).all(axis=1))

    def texts_of(self, letters: Ints, cover: Placed) -> list[DrawnText]:
        """The text that draws each letter; one that is not shown counts as neither under a cover nor over it."""
        neither = DrawnText(None, cover.order, IDENTITY)
        return [self.shown.get(address, neither) for address in operations(self.raw, self.characters.numbers[letters])]


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
    """Characters that take the place of covered ones; positions are those in the page's text layer."""

    cover: Placed
    under: Ints
    """The positions of what is covered."""
    over: Ints
    """The positions of what takes its place, as far as the page's text layer has it."""
    run: Ints
    """The positions of all that takes its place, in the text layer without covered texts."""
    new: Characters
    """These characters, with numbers of the page's text layer."""
    place: float
    """The position after which they come."""


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
    layer = _Layer(raw, characters, _shown_texts(drawing) if covers else {})
    covered = list(_covered_areas(layer, covers, to_points, drawing))
    if not covered:
        return characters, 0
    with not_drawn(text for area in covered for text in area.texts), closing(page.get_textpage()) as textpage:
        characters_left = read_characters(textpage.raw, min(textpage.count_chars(), MAX_REMAINING), to_points)
        remaining = layer._replace(raw=textpage.raw, characters=characters_left)
        replacements = list(_replacements(characters, covered, remaining, drawing))
    return _with_replacements(characters, _seen(replacements, characters.boxes, draw), len(characters_left.codes))


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
    layer: _Layer, covers: Sequence[Placed], to_points: Floats, drawing: PageDrawing
) -> Iterator[_CoveredArea]:
    """The covers with characters under them; those over too many are counted in `drawing`."""
    boxes = as_shown([cover.box for cover in covers], to_points).tolist()
    for cover, box in zip(covers, boxes, strict=True):
        letters = layer.letters_within(box)
        if len(letters) > MAX_LETTERS:
            drawing.unexamined += 1
            continue
        texts = layer.texts_of(letters, cover)
        orders = np.array([text.order for text in texts])
        under, over = letters[orders < cover.order], letters[orders > cover.order]
        if len(under):
            covered_texts = {text.order: text.raw for text in texts if text.order < cover.order}
            yield _CoveredArea(cover._replace(box=box), under, over, [*covered_texts.values()])


def _shown_texts(drawing: PageDrawing) -> dict[int, DrawnText]:
    """The pieces of text that are shown, by their addresses."""
    return {ctypes.addressof(text.raw.contents): text for text in drawing.texts if not is_invisible(text.raw)}


def _replacements(
    characters: Characters, covered: Sequence[_CoveredArea], remaining: _Layer, drawing: PageDrawing
) -> Iterator[_Replacement]:
    """What is drawn over each cover in the place of covered characters, where something is.

    What is beyond the limits is counted in `drawing`.
    """
    pairs = 0
    for at, area in enumerate(covered):
        letters = remaining.letters_within(area.cover.box)
        if len(letters) > MAX_LETTERS:
            drawing.unexamined += 1
            continue
        texts = remaining.texts_of(letters, area.cover)
        letters_over = letters[[text.order > area.cover.order for text in texts]]
        pairs += len(letters_over) * (len(area.under) + len(area.over))
        if pairs > MAX_PAIRS:
            drawing.unexamined += len(covered) - at
            return
        boxes_over, boxes_under = remaining.characters.boxes[letters_over], characters.boxes[area.under]
        if len(letters_over) and _are_in_place_of(boxes_over, boxes_under):
            yield _replacement(area, characters, letters_over, remaining.characters)


def _replacement(area: _CoveredArea, characters: Characters, letters_over: Ints, remaining: Characters) -> _Replacement:
    """The replacement of an area by `letters_over`, positions among the `remaining` characters, and their spaces."""
    drawn = {_letter_key(remaining, letter) for letter in letters_over.tolist()}
    # Of what the page has over the cover, some may be under a further rectangle.
    over = [letter for letter in area.over.tolist() if _letter_key(characters, letter) in drawn]
    run, is_whole = _with_spaces(remaining.codes, letters_over)
    together = np.concatenate([characters.boxes[area.under], remaining.boxes[letters_over]])
    in_row = is_whole and _share_row(together, characters.boxes[area.under[:1]]).all()
    place = area.under[0] if in_row or not over else over[0]
    positions_over = np.array(over, dtype=np.int64)
    new_characters = _with_known_numbers(remaining, run, characters, np.concatenate([positions_over, area.under]))
    return _Replacement(area.cover, area.under, positions_over, run, new_characters, float(place))


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


def _seen(replacements: Sequence[_Replacement], boxes: Floats, draw: Callable[[], Raster]) -> list[_Replacement]:
    """Those of which it is seen that characters are covered, as it is not where a layer is not shown."""
    if not replacements:
        return []
    with not_drawn(replacement.cover.raw for replacement in replacements):
        without = draw()
    picture = draw()

    def is_seen(replacement: _Replacement) -> bool:
        letters = boxes[replacement.under]
        hull = (*letters[:, :2].min(axis=0).tolist(), *letters[:, 2:].max(axis=0).tolist())
        return bool((picture.cut(hull) != without.cut(hull)).any())

    return list(filter(is_seen, replacements))


def _between_texts(drawing: PageDrawing) -> list[Placed]:
    """The opaque rectangles over some text and under other text in one place."""
    last = drawing.texts[-1].order if drawing.texts else 0
    rectangles = [rectangle for rectangle in drawing.rectangles if rectangle.order < last and _is_opaque(rectangle)]
    if not rectangles:
        return []
    orders = np.array([text.order for text in drawing.texts])
    within = _TextsWithin(_middles(np.array([box_of(text.raw, text.matrix) for text in drawing.texts])))
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
