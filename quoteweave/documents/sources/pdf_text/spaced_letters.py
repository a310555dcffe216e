"""Joins words with spaced letters ("S T A D T"), of which pdfium makes a word for each letter.

Headings are set so, and emphasis in German. No space is drawn between the letters; the gaps between them are equal
whatever their widths, and the gaps between words are wider.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.pdf_text.characters import SPACE, Characters, Floats, Ints, rooms_of

if TYPE_CHECKING:
    from pypdfium2.raw import FPDF_TEXTPAGE

# The least number of pieces of a spaced text, the least share of single letters among them (others are ligatures and
# kerned pairs), and the most letters of a piece.
MIN_PIECES, MIN_SINGLE, MAX_LETTERS = 4, 0.75, 2
# In heights of a letter's area: the largest gap between letters, and how much gaps may differ, as by kerning.
MAX_GAP, ALIKE = 0.8, 0.08
# The least gap between words, in gaps between letters.
WORD_GAP = 1.5


def closed_up(raw: "FPDF_TEXTPAGE", characters: Characters, to_points: Floats) -> Characters:
    """The characters without the spaces that pdfium inserts between the letters of a word.

    `to_points` (2, 3) maps PDF user space to points from the top left.
    """
    keep = np.ones(len(characters.codes), dtype=bool)
    for starts, ends in _chains(raw, characters):
        keep[_spaces_within_words(raw, characters, starts, ends, to_points)] = False
    return characters.keeping(keep)


def _chains(raw: "FPDF_TEXTPAGE", characters: Characters) -> Iterator[tuple[Ints, Ints]]:
    """The starts and ends of the pieces of each text that may be spaced: short, with only inserted spaces between."""
    codes, numbers = characters.codes, characters.numbers
    edges = np.flatnonzero(np.diff(np.concatenate([[False], codes > SPACE, [False]]).astype(np.int8)))
    starts, ends = edges[::2], edges[1::2]
    is_short = ends - starts <= MAX_LETTERS
    linked = is_short[:-1] & is_short[1:] & (starts[1:] - ends[:-1] == 1)
    if np.count_nonzero(linked) < MIN_PIECES - 1:
        return
    at = np.flatnonzero(linked)
    linked[at] = [codes[space] == SPACE and _is_generated(raw, int(numbers[space])) for space in ends[at].tolist()]
    bounds = np.flatnonzero(np.diff(np.concatenate([[False], linked, [False]]).astype(np.int8)))
    for first, last in zip(bounds[::2].tolist(), (bounds[1::2] + 1).tolist(), strict=True):
        single = np.count_nonzero(ends[first:last] - starts[first:last] == 1)
        if last - first >= MIN_PIECES and single >= MIN_SINGLE * (last - first):
            yield starts[first:last], ends[first:last]


def _spaces_within_words(
    raw: "FPDF_TEXTPAGE", characters: Characters, starts: Ints, ends: Ints, to_points: Floats
) -> Ints:
    """Which characters are spaces between letters of one word, for pieces with these starts and ends."""
    codes, numbers, none = characters.codes, characters.numbers, ends[:0]
    letters = sum(chr(code).isalpha() for code in codes[starts[0] : ends[-1]].tolist())
    firsts, lasts = (rooms_of(raw, numbers[at], to_points) for at in (starts, ends - 1))
    height = float(np.median(firsts[:, 3] - firsts[:, 1]))
    gaps = firsts[1:, 0] - lasts[:-1, 2]
    usual = float(np.median(gaps))
    if not 0 < usual <= MAX_GAP * height or 2 * letters < ends[-1] - starts[0]:
        return none
    within = np.abs(gaps - usual) <= ALIKE * height
    around = _gaps_around(raw, characters, int(starts[0]), int(ends[-1]))
    are_apart = np.concatenate([gaps[~within], around]) >= WORD_GAP * usual
    return ends[:-1][within] if are_apart.all() and np.count_nonzero(within) >= MIN_PIECES - 1 else none


def _gaps_around(raw: "FPDF_TEXTPAGE", characters: Characters, start: int, end: int) -> list[float]:
    """The gaps between a text and the words before and after it on its line, unless a drawn space separates them."""
    codes, boxes, numbers = characters.codes, characters.boxes, characters.numbers
    pairs = [(at, at - 1, at + 1) for at in (start - 1, end) if 0 < at < len(codes) - 1 and codes[at] == SPACE]
    return [
        float(boxes[after, 0] - boxes[before, 2])
        for at, before, after in pairs
        if codes[before] > SPACE and codes[after] > SPACE and _is_generated(raw, int(numbers[at]))
    ]


def _is_generated(raw: "FPDF_TEXTPAGE", number: int) -> bool:
    """Whether pdfium inserted this space, which is not drawn."""
    return bool(pdfium.FPDFText_IsGenerated(raw, number) == 1)
