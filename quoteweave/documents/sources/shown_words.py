"""Tells by OCR whether a page shows the words of its text layer, where these are doubtful.

A few lines are read first. If OCR reads other words there, the whole page is read, and all doubtful words are looked
for: on the page, because a text layer may be right and lie beside what is shown.
"""

import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from typing import NamedTuple

import numpy as np

from quoteweave.core.boxes import Box, area, hull
from quoteweave.documents.sources.lines import Line, Word, are_surely_read
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Doubt, Doubtful, Raster

# How many lines are read at most, and from which lead of those that agree, or of those that do not, on no further ones.
TRIED, LEAD = 6, 2
# The points around a line that are read with it.
MARGIN = 3.0
# The shares of letters and of digits that OCR reads likewise if the words are the same. OCR misreads one in a hundred,
# older text layers one in five, and different sentences have four in ten in common.
SAME_LETTERS, SAME_DIGITS = 0.6, 0.8
# Fewer letters than this show nothing.
MIN_LETTERS = 4
# From which share of a page's letters or digits on doubtful ones are a reason to read all of it by OCR.
MOSTLY = 0.3
# How many letters of a line are read at once: a whole one would take three times as long.
COMPARED = 30
# A word is in a doubtful place if this share of it is, or of that place.
WITHIN = 0.5


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a line with doubtful words: its letters and digits, and which of them are compared."""

    box: Box
    text: str
    letters: tuple[int, ...]
    digits: tuple[int, ...]
    doubtful: int
    """How many letters and digits of it are doubtful."""
    words: tuple[str, ...]
    """What is doubtful of it, for a search on the whole page."""


class _Compared(NamedTuple):
    """The letters and digits of a word, and which of the two are compared with what OCR reads."""

    text: str
    by_letters: bool
    by_digits: bool


class Shown(Enum):
    """How the words of a text layer and those of its page compare."""

    AS_READ = "as read"
    """As far as OCR can tell."""
    PARTLY_OTHER = "partly other"
    """A smaller part of the page shows other words."""
    MOSTLY_OTHER = "mostly other"


def compare_with_shown(lines: Sequence[Line], doubtful: Sequence[Doubtful], picture: Raster, ocr: Ocr) -> Shown:
    """Compare the words in doubtful places with what OCR reads there.

    A few digits with the shape of another sign, such as a prime called 0, are not compared.
    """
    text = _folded("".join(line.text for line in lines))
    misdrawn = count_misdrawn(doubtful)
    if misdrawn and misdrawn < MOSTLY * sum(map(str.isdigit, text)):
        doubtful = [place for place in doubtful if place.doubt is not Doubt.MISDRAWN]
    pieces = list(_pieces(lines, doubtful)) if doubtful else []
    score = 0
    for piece in _sample(pieces):
        height = piece.box[3] - piece.box[1]
        crop = Raster(np.ascontiguousarray(picture.cut(piece.box, margin=MARGIN)), picture.scale)
        score += _agreement(piece, _on_level(ocr.read(crop), (MARGIN, MARGIN + height)))
        if abs(score) >= LEAD:
            break
    if score >= 0:
        return Shown.AS_READ
    is_misdrawn = any(place.doubt is Doubt.MISDRAWN for place in doubtful)
    if not is_misdrawn and sum(piece.doubtful for piece in pieces) < MOSTLY * len(text):
        return Shown.PARTLY_OTHER
    return Shown.MOSTLY_OTHER if _lacks_words(pieces, ocr.read(picture)) else Shown.AS_READ


def count_misdrawn(doubtful: Iterable[Doubtful]) -> int:
    """Count the digits that have the shape of another sign."""
    return sum(place.doubt is Doubt.MISDRAWN for place in doubtful)


def _sample(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Some of the longer pieces, from all parts of the page."""
    middle = sorted(len(piece.letters) for piece in pieces)[len(pieces) // 2] if pieces else 0
    longer = [piece for piece in pieces if len(piece.letters) >= middle]
    count = min(TRIED, len(longer))
    return (longer[int((at + 0.5) * len(longer) / count)] for at in range(count))


def _lacks_words(pieces: Sequence[_Piece], ocr_lines: Sequence[Line]) -> bool:
    """Whether most pieces are neither in their places among the lines that OCR read, nor elsewhere."""
    words = {_folded(word) for line in ocr_lines for word in line.text.split()}
    score = 0
    for piece in pieces:
        x1, y1, x2, y2 = piece.box
        beside = [line for line in ocr_lines if line.box[0] < x2 and line.box[2] > x1]
        shown_letters = sum(len(word) for word in piece.words if word in words)
        is_elsewhere = 0 < shown_letters >= SAME_LETTERS * sum(map(len, piece.words))
        score += 1 if is_elsewhere else _agreement(piece, _on_level(beside, (y1, y2)))
    return score < 0


def _on_level(lines: Iterable[Line], level: tuple[float, float]) -> list[Line]:
    """The lines whose middles are within this range from the top, or in which its middle is, from the left."""
    middle = sum(level) / 2
    return sorted(
        (
            line
            for line in lines
            if line.box[1] <= middle <= line.box[3] or level[0] <= (line.box[1] + line.box[3]) / 2 <= level[1]
        ),
        key=lambda line: line.box[0],
    )


def _agreement(piece: _Piece, ocr_lines: Sequence[Line]) -> int:
    """1 if OCR read the piece likewise, -1 if otherwise, 0 if it is unsure or read another script."""
    text = _folded("".join(line.text for line in ocr_lines))
    if not text or not are_surely_read(ocr_lines) or _script(text) != _script(piece.text):
        return 0
    blocks = SequenceMatcher(None, piece.text, text, autojunk=False).get_matching_blocks()
    same = {at for start, _, size in blocks for at in range(start, start + size)}
    shares = ((piece.letters, MIN_LETTERS, SAME_LETTERS), (piece.digits, 1, SAME_DIGITS))
    compared = [
        len(same.intersection(places)) >= share * len(places) for places, least, share in shares if len(places) >= least
    ]
    return 0 if not compared else 1 if all(compared) else -1


def _pieces(lines: Sequence[Line], doubtful: Sequence[Doubtful]) -> Iterator[_Piece]:
    """The parts of lines that can be compared."""
    with_letters, with_digits = (
        _Places([place.box for place in doubtful if place.doubt is not other])
        for other in (Doubt.MISDRAWN, Doubt.NOT_DRAWN)
    )
    for line in lines:
        for words in _parts(line) if line.upright else ():
            piece = _piece(words, with_letters, with_digits)
            if len(piece.letters) >= MIN_LETTERS or piece.digits:
                yield piece


def _parts(line: Line) -> Iterator[Sequence[Word]]:
    start = count = 0
    for end, word in enumerate(line.words, 1):
        count += len(word.text)
        if count >= COMPARED or end == len(line.words):
            yield line.words[start:end]
            start, count = end, 0


def _piece(words: Sequence[Word], with_letters: "_Places", with_digits: "_Places") -> _Piece:
    """Compares letters in the first places, and digits in the others: those of scans are too often misread."""
    compared = [
        _Compared(_folded(word.text), with_letters.overlap(word.box), with_digits.overlap(word.box)) for word in words
    ]
    signs = [(sign, word) for word in compared for sign in word.text]
    return _Piece(
        box=hull(word.box for word in words),
        text="".join(sign for sign, _ in signs),
        letters=tuple(at for at, (sign, word) in enumerate(signs) if word.by_letters and not sign.isdigit()),
        digits=tuple(at for at, (sign, word) in enumerate(signs) if word.by_digits and sign.isdigit()),
        doubtful=sum(word.by_letters or word.by_digits for _, word in signs),
        words=tuple(
            word.text
            for word in compared
            if word.by_letters and len(word.text) >= MIN_LETTERS and not word.text.isdigit()
        ),
    )


class _Places:
    """Places of a page, searchable by position; scans of newspapers have ten thousand."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        places = np.array(boxes, dtype=np.float64).reshape(-1, 4)
        self._boxes = places[np.argsort(places[:, 1])]
        self._highest = float((places[:, 3] - places[:, 1]).max(initial=0.0))

    def overlap(self, box: Box) -> bool:
        """Whether half of a word is in one of the places, or half of one of them in the word."""
        first, end = np.searchsorted(self._boxes[:, 1], (box[1] - self._highest, box[3]))
        places = self._boxes[first:end]
        low, high = np.maximum(places[:, :2], box[:2]), np.minimum(places[:, 2:], box[2:])
        common = (high - low).clip(0.0).prod(axis=1)
        smaller = np.minimum((places[:, 2:] - places[:, :2]).prod(axis=1), area(box))
        return bool((common > WITHIN * smaller).any())


def _folded(text: str) -> str:
    """The letters and digits of a text, without accents and case."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", text))).casefold()


def _script(text: str) -> str:
    """The script of most letters of a text, as the names of its characters begin: LATIN, CYRILLIC, CJK."""
    names = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text if letter.isalpha())
    return names.most_common(1)[0][0] if names else ""
