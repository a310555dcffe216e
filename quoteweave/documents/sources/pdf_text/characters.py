"""The characters of a text layer with their boxes as shown, each once, and accents on their letters."""

import ctypes
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quoteweave.documents.sources import pdfium

if TYPE_CHECKING:
    from pypdfium2.raw import FPDF_TEXTPAGE

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

# pdfium's code for a hyphen at a line's end, and what separates words besides control characters and spaces.
LINE_END_HYPHEN = 2
SEPARATORS = [0xA0, *range(0x2000, 0x2010), *range(0x2028, 0x2030), *range(0x205F, 0x2070), 0x3000, 0xFEFF]
SPACE = 32
BREAKS = [10, 13]
# pdfium gives control characters if a font's map has no letter; some stand for a space. The least size of a letter in
# points; and from which share of a page's characters on they are all replaced, because its text is unusable.
NO_CONTROLS, MIN_INK, MOSTLY_UNKNOWN = [LINE_END_HYPHEN, 9, 10, 13], 0.1, 0.3
REPLACEMENT = 0xFFFD
PRIVATE = (0xE000, 0xF8FF)
# For one in so many characters it is checked whether its font identifies it; for a word without one, one character is.
CHECKED_STEP = 4
# The least shares of letters among signs, of small letters among letters, and of the eight most frequent letters of
# European languages among these, for unidentified characters to count as right: TeX's bitmap fonts use ASCII's numbers.
FREQUENT, TEXT_SHARES = frozenset(map(ord, "senorita")), (0.6, 0.6, 0.45)
# Accents as separate characters, and the combining characters that add them to the letter before.
ACCENTS = {
    0xB4: "\u0301",
    0x60: "\u0300",
    0xA8: "\u0308",
    0x2C6: "\u0302",
    0x2DC: "\u0303",
    0xAF: "\u0304",
    0x2D8: "\u0306",
    0x2D9: "\u0307",
    0x2DA: "\u030a",
    0xB8: "\u0327",
    0x2DD: "\u030b",
    0x2DB: "\u0328",
    0x2C7: "\u030c",
}
DOTLESS = {"\u0131": "i", "\u0237": "j"}
# The largest gap between letters of a word, in heights of a letter.
LETTER_GAP = 0.3
# Letters that are further apart than this, in sides of the larger one or of the median letter of the page, are not in
# one word.
FAR = 2.0
# Ranges of code points that contain Hebrew and Arabic.
FROM_THE_RIGHT = ((0x590, 0x8FF), (0xFB1D, 0xFEFC))
# How many points the middles of a letter and of its repetition, drawn with or without a rim, may differ; and as a share
# of its height, because type may be smaller than a point on pages with other units.
SAME_PLACE, SAME_SHARE = 0.1, 0.02
# From which share of letters preceded by a break within a line pdfium has taken the lines for columns; and, in heights
# of a line, the largest space between the areas of two letters within a word, and within a line.
MIN_BROKEN, NO_SPACE, NO_LINE = 0.3, 0.1, 1.6


@dataclass(frozen=True)
class Characters:
    """Code points (n), boxes as shown (n, 4), and the numbers (n) with which pdfium identifies them."""

    codes: Ints
    boxes: Floats
    numbers: Ints
    parts: Ints | None = None
    """Numbers (n) that are equal for characters of one table cell; None if there are no cells."""
    struck: Mask | None = None
    """Which (n) are struck out; None if none are."""

    def keeping(self, keep: Mask) -> "Characters":
        """Those of the characters (n) that are to be kept, before they have cells."""
        return self if keep.all() else Characters(self.codes[keep], self.boxes[keep], self.numbers[keep])

    @cached_property
    def spans(self) -> tuple[Ints, Ints, Ints]:
        """The starts and ends of words, and the row of the text layer that contains each."""
        parts = [labels for labels in (self.parts, self.struck) if labels is not None]
        return _word_spans(self.codes, self.boxes, parts)

    @cached_property
    def hulls(self) -> tuple[Floats, Floats]:
        """The box of each word (n, 4), and its widest and tallest letter (n, 2)."""
        starts, ends, _ = self.spans
        return _word_hulls(self.boxes, starts, ends)


def read_characters(raw: "FPDF_TEXTPAGE", count: int, to_points: Floats) -> Characters:
    """The first `count` characters; `to_points` (2, 3) maps PDF user space to points from the top left."""
    # pdfium only has one call per character, so this loop takes a large part of the time for a page.
    unicode, char_box = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_GetCharBox
    edges = (ctypes.c_double * 4)()
    left, right, bottom, top = (ctypes.pointer(ctypes.c_double.from_buffer(edges, 8 * i)) for i in range(4))
    nowhere = np.full(4, np.nan).tobytes()
    codes = [unicode(raw, i) for i in range(count)]
    raw_boxes = (bytes(edges) if char_box(raw, i, left, right, bottom, top) else nowhere for i in range(count))
    x1, x2, y1, y2 = np.frombuffer(b"".join(raw_boxes), dtype=np.float64).reshape(count, 4).T
    corners = np.stack([np.stack([x1, y1], axis=1), np.stack([x2, y2], axis=1)])  # (2, n, 2)
    points = corners @ to_points[:, :2].T + to_points[:, 2]
    boxes = np.concatenate([points.min(axis=0), points.max(axis=0)], axis=1)
    characters = Characters(np.array(codes, dtype=np.int64), boxes, np.arange(count))
    unknown = _is_unknown(characters)
    if unknown.sum() > MOSTLY_UNKNOWN * np.count_nonzero(unknown | (characters.codes > SPACE)):
        characters.codes[unknown] = REPLACEMENT
    return characters


def tidied(raw: "FPDF_TEXTPAGE", characters: Characters, to_points: Floats) -> Characters:
    """The characters without false breaks and repetitions, and with accents on their letters."""
    return _with_accents(_drawn_once(raw, _in_lines(raw, characters, to_points)))


def count_unknown_and_drawn(characters: Characters) -> tuple[int, int]:
    """Count the drawn letters that nothing identifies, and all drawn characters."""
    unknown = _is_unknown(characters)
    return int(unknown.sum()), int(np.count_nonzero(unknown | (characters.codes > SPACE)))


def count_misread(raw: "FPDF_TEXTPAGE", count: int) -> int:
    """Count the characters that the fonts do not identify, so that others may be read.

    pdfium gives them by their number in the font, or a program has numbered them in Unicode's private use area. A
    single one is a bullet or a sign in a formula, and characters that read as text are assumed to be right.
    """
    unicode, has_error = pdfium.FPDFText_GetUnicode, pdfium.FPDFText_HasUnicodeMapError
    private = range(PRIVATE[0], PRIVATE[1] + 1)
    if not any(has_error(raw, i) == 1 or unicode(raw, i) in private for i in range(0, count, CHECKED_STEP)):
        return 0
    codes = np.array([unicode(raw, i) for i in range(count)])
    is_private = (codes >= PRIVATE[0]) & (codes <= PRIVATE[1])
    unnamed = is_private | np.array([has_error(raw, i) == 1 for i in range(count)])
    unnamed &= codes > SPACE
    inked = codes > SPACE
    in_word = np.append(inked[1:], False) | np.append(False, inked[:-1])
    unnamed_codes = codes[unnamed & in_word]
    return 0 if _reads_as_text(unnamed_codes) else len(unnamed_codes)


def _reads_as_text(codes: Ints) -> bool:
    small = codes[(codes >= ord("a")) & (codes <= ord("z"))]
    letters = len(small) + int(np.count_nonzero((codes >= ord("A")) & (codes <= ord("Z"))))
    frequent = int(np.count_nonzero(np.isin(small, list(FREQUENT))))
    parts, totals = (letters, len(small), frequent), (len(codes), letters, len(small))
    return all(part >= share * total for part, total, share in zip(parts, totals, TEXT_SHARES, strict=True))


def _is_unknown(characters: Characters) -> Mask:
    """Which characters (n) are drawn, but not identified by anything."""
    codes, boxes = characters.codes, characters.boxes
    drawn = (boxes[:, 2:] - boxes[:, :2] > MIN_INK).all(axis=1)
    return np.asarray((codes < SPACE) & ~np.isin(codes, NO_CONTROLS) & drawn)


def _in_lines(raw: "FPDF_TEXTPAGE", characters: Characters, to_points: Floats) -> Characters:
    """The characters without breaks within lines, which pdfium puts after each letter on pages with few lines.

    On a page with little text, each letter of which is drawn by itself, it may take the lines for columns of letters.
    """
    codes = characters.codes
    breaks, inked = np.isin(codes, BREAKS), np.flatnonzero(codes > SPACE)
    before, after = inked[:-1], inked[1:]
    broken = (after - before > 1) & (np.diff(np.cumsum(breaks)[inked]) == after - before - 1)
    if np.count_nonzero(broken) < max(1.0, MIN_BROKEN * len(inked)):
        return characters
    rooms = rooms_of(raw, characters.numbers[inked], to_points)
    former, latter = rooms[:-1], rooms[1:]
    height = np.minimum(former[:, 3] - former[:, 1], latter[:, 3] - latter[:, 1])
    is_beside = np.minimum(former[:, 3], latter[:, 3]) - np.maximum(former[:, 1], latter[:, 1]) > 0.5 * height
    gaps = (latter[:, 0] - former[:, 2]) / np.maximum(height, SAME_PLACE)
    is_joined = broken & is_beside & (np.abs(gaps) < NO_LINE)
    keep, codes = np.ones(len(codes), dtype=bool), codes.copy()
    for at in np.flatnonzero(is_joined):
        is_space = abs(gaps[at]) > NO_SPACE
        keep[before[at] + 1 + is_space : after[at]] = False
        codes[before[at] + 1] = SPACE if is_space else codes[before[at] + 1]
    return replace(characters, codes=codes).keeping(keep)


def rooms_of(raw: "FPDF_TEXTPAGE", numbers: Ints, to_points: Floats) -> Floats:
    """The boxes (n, 4), as shown, of characters with the space reserved for them; without an area if unknown."""
    rooms, rectangle = np.zeros((len(numbers), 2, 2)), pdfium.FS_RECTF()
    for at, number in enumerate(numbers.tolist()):
        if pdfium.FPDFText_GetLooseCharBox(raw, number, rectangle):
            rooms[at] = (rectangle.left, rectangle.top), (rectangle.right, rectangle.bottom)
    points = rooms @ to_points[:, :2].T + to_points[:, 2]
    return np.concatenate([points.min(axis=1), points.max(axis=1)], axis=1)


def _drawn_once(raw: "FPDF_TEXTPAGE", characters: Characters) -> Characters:
    """The characters without repeated letters: a rim around letters is drawn first, and pdfium mixes both.

    For example, "320" with a rim is "332020" in the text layer. But "80" over "100" repeats no more than one digit.
    """
    codes, boxes = characters.codes.copy(), characters.boxes
    inked = np.flatnonzero((codes > SPACE) & np.isfinite(boxes).all(axis=1))
    x, y = (boxes[inked, :2] + boxes[inked, 2:]).T / 2
    down = np.argsort(y)
    rows = np.empty(len(inked), dtype=np.int64)
    rows[down] = np.cumsum(np.diff(y[down], prepend=0.0) > SAME_PLACE)
    order = np.lexsort((x, rows, codes[inked]))
    former, latter = order[:-1], order[1:]
    tolerance = np.minimum(SAME_PLACE, SAME_SHARE * (boxes[inked[former], 3] - boxes[inked[former], 1]))
    near = (np.abs(x[former] - x[latter]) <= tolerance) & (np.abs(y[former] - y[latter]) <= tolerance)
    pairs = inked[np.stack([former, latter])[:, near & (codes[inked[former]] == codes[inked[latter]])]]
    repeated = _letters_drawn_twice(raw, characters.numbers, inked, np.sort(pairs, axis=0).T) if pairs.size else []
    if not repeated:
        return characters
    keep = np.ones(len(codes), dtype=bool)
    codes[repeated] = SPACE
    heights = boxes[:, 3] - boxes[:, 1]
    end = -1
    for i in sorted(repeated):
        if i >= end:  # otherwise it is in the run of spaces that was just examined
            around = _spaces_around(i, codes, boxes, LETTER_GAP * float(heights[i]))
            keep[around] = False
            end = next((at for at in range(i, len(codes)) if codes[at] != SPACE), len(codes))
    keep[repeated] = False
    return replace(characters, codes=codes).keeping(keep)


def _letters_drawn_twice(raw: "FPDF_TEXTPAGE", numbers: Ints, inked: Ints, pairs: Ints) -> list[int]:
    """The later letters of `pairs` (k, 2) if all letters of one operation that draws text are repeated by others.

    Letters that one operation draws in one place are those of a ligature.
    """
    drawn_by = dict(zip(inked.tolist(), operations(raw, numbers[inked]), strict=True))
    candidates = [pair for pair in pairs.tolist() if 0 < drawn_by[pair[0]] != drawn_by[pair[1]] > 0]
    letters = Counter(drawn_by.values())
    repeated = Counter(drawn_by[at] for at in {at for pair in candidates for at in pair})
    fully = {operation for operation, count in repeated.items() if count == letters[operation]}
    return [later for first, later in candidates if not fully.isdisjoint((drawn_by[first], drawn_by[later]))]


def operations(raw: "FPDF_TEXTPAGE", numbers: Ints) -> list[int]:
    """The operation that draws each of these characters, by the address of its text object; 0 if it is not known."""
    objects = (pdfium.FPDFText_GetTextObject(raw, number) for number in numbers.tolist())
    return [ctypes.addressof(text_object.contents) if text_object else 0 for text_object in objects]


def _with_accents(characters: Characters) -> Characters:
    """Join accents with their letters: TeX draws "é" as an accent and a letter, which text layers list far apart."""
    codes, boxes = characters.codes.copy(), characters.boxes
    keep = np.ones(len(codes), dtype=bool)
    for i in map(int, np.flatnonzero(np.isin(codes, list(ACCENTS)))):
        letter = _letter_under(i, codes, boxes)
        if letter is None:
            continue
        base = chr(codes[letter])
        composed = unicodedata.normalize("NFC", DOTLESS.get(base, base) + ACCENTS[int(codes[i])])
        if len(composed) == 1:
            codes[letter], codes[i] = ord(composed), SPACE
            gap = LETTER_GAP * float(boxes[letter, 3] - boxes[letter, 1])
            keep[_spaces_around(i, codes, boxes, gap)] = False
    return replace(characters, codes=codes).keeping(keep)


def _letter_under(accent: int, codes: Ints, boxes: Floats) -> int | None:
    """The letter to which the accent belongs, by its position, if there is one."""
    x1, y1, x2, y2 = boxes[accent]
    middle = (x1 + x2) / 2
    height = boxes[:, 3] - boxes[:, 1]
    gaps = np.maximum(boxes[:, 1] - y2, y1 - boxes[:, 3])
    near = (boxes[:, 0] <= middle) & (middle <= boxes[:, 2]) & (gaps < 0.5 * height) & (codes > SPACE)
    letters = [at for at in map(int, np.flatnonzero(near)) if codes[at] not in ACCENTS and chr(codes[at]).isalpha()]
    return min(letters, key=lambda at: float(abs(gaps[at])), default=None)


def _spaces_around(accent: int, codes: Ints, boxes: Floats, gap: float) -> slice:
    """The accent's position, with the spaces around it if these separate letters closer than `gap` points."""
    first, last = accent, accent
    while first > 0 and codes[first - 1] == SPACE:
        first -= 1
    while last + 1 < len(codes) and codes[last + 1] == SPACE:
        last += 1
    if first == 0 or last + 1 == len(codes):
        return slice(accent, accent + 1)
    before, after = boxes[first - 1], boxes[last + 1]
    are_joined = min(before[3], after[3]) > max(before[1], after[1]) - gap and abs(after[0] - before[2]) < gap
    return slice(first, last + 1) if are_joined else slice(accent, accent + 1)


def _word_spans(codes: Ints, boxes: Floats, parts: Sequence[Ints | Mask]) -> tuple[Ints, Ints, Ints]:
    """The starts and ends of words, and the row of the text layer of each; no word is in two cells or places.

    Nor is any partly struck out.
    """
    hyphens = codes == LINE_END_HYPHEN
    inked = ((codes > 32) & ~np.isin(codes, SEPARATORS)) | hyphens
    first = inked & ~(np.roll(inked, 1) & ~np.roll(hyphens, 1))
    for labels in parts:
        first |= inked & (np.roll(labels, 1) != labels)
    first[1:] |= inked[1:] & _is_elsewhere(codes, boxes)
    first[:1] = inked[:1]
    last = inked & ~(np.roll(inked, -1) & ~np.roll(first, -1))
    last[-1:] = inked[-1:]
    starts = np.flatnonzero(first)
    breaks = hyphens | np.isin(codes, BREAKS)
    return starts, np.flatnonzero(last) + 1, (np.cumsum(breaks) - breaks)[starts]


def _is_elsewhere(codes: Ints, boxes: Floats) -> Mask:
    """Which characters (n - 1) are far from the one before: pdfium may not split text that runs in another direction.

    Words that are read from the right may have their letters in any order.
    """
    boxes = np.where(np.isfinite(boxes), boxes, np.nan)
    gaps = np.maximum(boxes[1:, :2] - boxes[:-1, 2:], boxes[:-1, :2] - boxes[1:, 2:]).max(axis=1)
    sides = (boxes[:, 2:] - boxes[:, :2]).max(axis=1)
    # At least the median, because a full stop is too small to compare with.
    sides = np.fmax(sides, np.median(sides[np.isfinite(sides)]) if np.isfinite(sides).any() else 0.0)
    from_the_left = ~np.any([(codes >= first) & (codes <= last) for first, last in FROM_THE_RIGHT], axis=0)
    return np.asarray((gaps > FAR * np.maximum(sides[1:], sides[:-1])) & from_the_left[1:] & from_the_left[:-1])


def _word_hulls(boxes: Floats, starts: Ints, ends: Ints) -> tuple[Floats, Floats]:
    """The box of each word (n, 4), and its widest and tallest letter (n, 2), ignoring letters without a position."""
    boxes = np.where(np.isfinite(boxes), boxes, np.nan)
    sides = np.concatenate([-boxes[:, :2], boxes[:, 2:], boxes[:, 2:] - boxes[:, :2]], axis=1)
    sides = np.concatenate([sides, np.full((1, 6), np.nan)])
    most = np.fmax.reduceat(sides, np.stack([starts, ends], axis=1).ravel())[::2]
    return np.concatenate([-most[:, :2], most[:, 2:4]], axis=1), most[:, 4:]
