"""The text layer of a page: words with boxes as shown, gathered into runs of one row and style."""

import ctypes
import itertools
import math
import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.core.boxes import Box
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.lines import TextRun, Word
from quoteweave.documents.sources.pdf_text.characters import SPACE, Characters, Floats, Ints, Mask
from quoteweave.documents.sources.pdf_text.tags import AnnotationTags, PageTags, Tag

if TYPE_CHECKING:
    from pypdfium2.raw import FPDF_TEXTPAGE

# Ligatures, Arabic letters shaped for their position, and Chinese radicals are forms of letters that people search for.
LETTER_FORMS = lazy_regex("[\u2f00-\u2fdf\uf900-\ufaff\ufb00-\ufdff\ufe70-\ufefc]")
FROM_THE_RIGHT = lazy_regex("[\u0590-\u05ff\u0600-\u06ff\u0750-\u077f\u08a0-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
SURROGATES = lazy_regex("[\ud800-\udfff]")
ALEFS, LAM = frozenset("\u0622\u0623\u0625\u0627"), "\u0644"
MAX_TURNED = 200
"""The most letters of a word that is put in reading order; longer ones are no words."""
FROM_THE_LEFT = frozenset({"L", "EN", "AN"})
"""Classes of characters that are read from the left, by Unicode's bidirectional algorithm: letters and digits."""
# Many font subsets have weight 0 and give it only in their name; faces with 600 are called semibold.
BOLD = lazy_regex(r"bold|black|heavy|demi|medi", re.IGNORECASE)
SEMIBOLD = 600
# A repeated word within this distance, in heights of a word, is the same word, drawn twice to look bold.
TWICE = 0.5
# For how many characters of a page the direction is read; the page is turned if this share of them has one direction.
MAX_SAMPLED, MOSTLY = 50, 0.6
STRUCK = "~~"
"""The mark before and after what is struck out."""
# Among how many of its last positions a repeated word is searched.
MAX_REPEATS = 50
# The least rise of a superscript, in heights of a digit. Old-style numerals rise by 0.3 above a 5 or a 9.
RAISE = 0.5
# The largest height of a superscript, in heights of the tallest character beside it, if that one is tall, or if low.
MAX_SUPERSCRIPT, MAX_BESIDE_LOW = 0.85, 1.0
# Larger ones are behind several characters that are all on one line, and on one level themselves, but for this share
# of a height.
ONE_LEVEL = 0.05
LOW_LETTERS = frozenset(map(ord, "aceimnorstuvwxz"))
SUPERSCRIPTS = np.array([ord(digit) for digit in "⁰¹²³⁴⁵⁶⁷⁸⁹"])
SUBSCRIPTS = np.array([ord(digit) for digit in "₀₁₂₃₄₅₆₇₈₉"])
# The least drop of a lowered digit beside another digit, in heights of the lowered one.
DROP = 0.2
# How far the digits of a line are from one level at most, in heights of the tallest one.
MAX_SPREAD = 0.6
SUPERSCRIPT_MINUS = ord("⁻")
SUPERSCRIPT_LETTERS = dict(
    zip(map(ord, "abcdefghijklmnoprstuvwxyz"), map(ord, "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ"), strict=True)
)
# The least rise of a raised letter, in heights of the digit before it; old-style numerals reach below the line.
LETTER_RISE = 0.4
HYPHENS = frozenset(map(ord, "-‐‑–−"))
# Characters that extend below the baseline, or are not on it, do not show where it is.
OFF_THE_LINE = frozenset(map(ord, "gjpqyQ,;()[]{}|/_'\"’”‘“*^°®™:.·…-‐‑–—−"))
SLASHES = frozenset(map(ord, "/⁄"))
# pdfium's hyphen at a line's end, soft hyphens, and the hyphen with which browsers and typesetters break words.
_AS_HYPHENS = str.maketrans(dict.fromkeys("\x02\xad\u2010", "-"))


@dataclass(frozen=True, slots=True)
class _Style:
    size: float  # points as shown
    font: str
    bold: bool
    upright: bool  # the baseline runs across the page as shown
    head_up: bool


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word with its row in the text layer, its first character's number, and the size of its largest character."""

    word: Word
    row: int
    number: int
    letter: tuple[float, float]  # width and height in points
    is_struck: bool = False


def read_runs(
    raw: "FPDF_TEXTPAGE",
    characters: Characters,
    to_points: Floats,
    page: tuple[float, float],
    tags: PageTags | AnnotationTags,
) -> Iterator[TextRun]:
    """Yield runs in the text layer's own order, without words outside the page and words drawn twice.

    `to_points` (2, 3) maps PDF user space to points from the top left of the page as shown; `page` is its size.
    """
    styles = _Styles(raw, to_points)
    placed = _without_duplicates(placed_words(characters, page))
    groups = itertools.groupby(placed, lambda word: (word.row, styles.at(word.number), tags.at(word.number)))
    for (_, style, tag), group in groups:
        words = list(group)
        yield _text_run(words, style, tag, styles.baseline(words[0].number))


def quarter_turns(raw: "FPDF_TEXTPAGE", count: int, to_points: Floats) -> int:
    """Quarter turns, counter-clockwise, after which most of the first `count` characters are upright, by a sample.

    `to_points` (2, 3) maps PDF user space to points from the top left of the page as shown.
    """
    matrix, turns = pdfium.FS_MATRIX(), list[int]()
    for number in range(0, count, max(1, count // MAX_SAMPLED)):
        if pdfium.FPDFText_GetUnicode(raw, number) > SPACE and pdfium.FPDFText_GetMatrix(raw, number, matrix):
            x, y = to_points[:, :2] @ (matrix.a, matrix.b)
            turns.append(round(math.atan2(y, x) / (math.pi / 2)) % 4)
    return next((turn for turn in range(1, 4) if turns.count(turn) > MOSTLY * len(turns)), 0)


def placed_words(characters: Characters, page: tuple[float, float]) -> Iterator[PlacedWord]:
    """The words of a page of this width and height in points, clipped at its edges, without those outside it."""
    codes = characters.codes
    starts, ends, rows = characters.spans
    if not len(starts):
        return
    hulls, letters = characters.hulls
    visible = _is_visible(hulls, page)
    hulls = np.clip(hulls, 0, [*page, *page])
    codes = _with_superscripts(codes, characters.boxes, starts, ends)
    text = "".join(map(chr, np.where(codes > sys.maxunicode, 0xFFFD, codes)))
    for i in np.flatnonzero(visible):
        x1, y1, x2, y2 = hulls[i].tolist()
        width, height = letters[i].tolist()
        as_read = _as_read(text[starts[i] : ends[i]], characters.boxes[starts[i] : ends[i]])
        word = Word(_clean_text(as_read), (x1, y1, x2, y2))
        is_struck = characters.struck is not None and bool(characters.struck[starts[i]])
        yield PlacedWord(word, int(rows[i]), int(characters.numbers[starts[i]]), (width, height), is_struck)


def count_outside(characters: Characters, page: tuple[float, float]) -> int:
    """Count the words with letters or digits that `placed_words` omits because they are outside the page."""
    starts, ends, _ = characters.spans
    if not len(starts):
        return 0
    outside = np.flatnonzero(~_is_visible(characters.hulls[0], page))
    words = (characters.codes[starts[i] : ends[i]].tolist() for i in outside)
    return sum(any(code <= sys.maxunicode and chr(code).isalnum() for code in word) for word in words)


def _is_visible(hulls: Floats, page: tuple[float, float]) -> Mask:
    """Which words have their middle on the page; not those without a position."""
    middles = (hulls[:, :2] + hulls[:, 2:]) / 2
    return np.asarray(np.all((middles >= -1) & (middles <= np.array(page) + 1), axis=1))


def _with_superscripts(codes: Ints, boxes: Floats, starts: Ints, ends: Ints) -> Ints:
    """The code points with superscripts for raised digits: "5,196¹" must not be read as 51,961, nor "10⁶" as 106.

    Digits that are lowered beside other digits are subscripts: "10₂" and "log₁₀100" are not 102 and 10,100.
    """
    rewritten, digits = codes.copy(), (codes >= ord("0")) & (codes <= ord("9"))
    has_digit = np.logical_or.reduceat(digits, starts) & (ends - starts > 1)
    for start, end in zip(starts[has_digit].tolist(), ends[has_digit].tolist(), strict=True):
        if not np.isfinite(boxes[start:end]).all():
            continue
        raised = start + _raised(codes[start:end], boxes[start:end], digits[start:end])
        rewritten[raised] = SUPERSCRIPTS[codes[raised] - ord("0")]
        lowered = start + _lowered(boxes[start:end], rewritten[start:end] == codes[start:end], digits[start:end])
        rewritten[lowered] = SUBSCRIPTS[codes[lowered] - ord("0")]
        for digit in raised.tolist():
            # A minus sign of the line itself is lower than the digits of an exponent.
            is_minus = digit > start + 1 and codes[digit - 1] in HYPHENS
            if is_minus and boxes[digit - 1, 1::2].mean() < boxes[digit, 3]:
                rewritten[digit - 1] = SUPERSCRIPT_MINUS
    raised = _raised_letters(rewritten, boxes, starts)
    rewritten[raised] = [SUPERSCRIPT_LETTERS[code] for code in rewritten[raised].tolist()]
    return rewritten


def _raised_letters(codes: Ints, boxes: Floats, starts: Ints) -> Ints:
    """Which characters are single letters above the line of the digit before them: "2ⁿ", "12.5ᵃ"; not "1st"."""
    is_digit, is_letter = (codes >= ord("0")) & (codes <= ord("9")), np.isin(codes, list(SUPERSCRIPT_LETTERS))
    is_first = np.ones(len(codes) + 1, dtype=bool)
    is_first[1:-1] = False
    is_first[starts] = True
    is_followed = np.append((is_digit | is_letter)[1:], False) & ~is_first[1:]
    at = np.flatnonzero(is_letter[1:] & is_digit[:-1] & ~is_first[1:-1] & ~is_followed[1:]) + 1
    digit, letter = boxes[at - 1], boxes[at]
    high = digit[:, 3] - digit[:, 1]
    is_above = (digit[:, 3] - letter[:, 3] >= LETTER_RISE * high) & (digit[:, 1] - letter[:, 1] <= high / 2)
    is_small = letter[:, 3] - letter[:, 1] <= MAX_SUPERSCRIPT * high
    return at[is_above & is_small & (letter[:, 0] - digit[:, 2] >= -0.5 * high)]


def _lowered(boxes: Floats, unraised: Mask, digits: Mask) -> Ints:
    """Which characters (k) of a word are digits that are smaller than others of it, and below their line."""
    heights, bottoms, candidates = boxes[:, 3] - boxes[:, 1], boxes[:, 3], digits & unraised
    on_line = candidates & (heights > MAX_SUPERSCRIPT * heights[candidates].max(initial=0.0))
    if not (candidates & ~on_line).any():
        return np.empty(0, dtype=np.int64)
    # In text aslant, each character is above or below the one before; some old-style numerals reach below the line.
    is_alone = np.count_nonzero(on_line) == 1
    spread = bottoms.max() - boxes[:, 1].min() - heights.max() if is_alone else 3 * np.ptp(bottoms[on_line])
    lowered = candidates & ~on_line & (bottoms - np.median(bottoms[on_line]) >= DROP * heights)
    return np.flatnonzero(lowered & (spread < MAX_SPREAD * heights.max()))


def _raised(codes: Ints, boxes: Floats, digits: Mask) -> Ints:
    """Which characters (k) of a word are digits that are smaller than the others and above its line."""
    standing = np.array([code not in OFF_THE_LINE for code in codes.tolist()])
    bottoms, heights = boxes[:, 3], boxes[:, 3] - boxes[:, 1]
    letters = standing & ~digits
    line = np.median(bottoms[letters]) if letters.any() else bottoms[digits].max()
    is_raised = digits & (line - bottoms >= RAISE * heights)
    on_line = standing & ~is_raised
    if not is_raised.any() or not on_line.any():
        return np.empty(0, dtype=np.int64)
    most = MAX_BESIDE_LOW if LOW_LETTERS.issuperset(codes[on_line].tolist()) else MAX_SUPERSCRIPT
    levels = bottoms[is_raised], bottoms[on_line]
    is_behind = np.count_nonzero(on_line) > 1 and is_raised.argmax() > np.flatnonzero(on_line)[-1]
    is_level = is_behind and all(np.ptp(level) <= ONE_LEVEL * heights.max() for level in levels)
    is_raised &= (heights <= most * heights[on_line].max()) | is_level
    # In text that runs up the page, each character is above the one before.
    gaps = boxes[1:, 0] - boxes[:-1, 2]
    is_raised &= np.append(gaps[:1], gaps) >= -0.5 * heights
    # Digits after a superscript are superscripts, too; the numerator of a fraction is a separate number.
    for at in range(len(codes) - 2, -1, -1):
        behind = codes[at + 1]
        is_raised[at] &= bool(is_raised[at + 1]) if digits[at + 1] else behind not in SLASHES
    return np.flatnonzero(is_raised)


def _as_read(text: str, boxes: Floats) -> str:
    """A word whose letters are read from the right, in reading order, which some PDFs do not use.

    Digits and letters that are read from the left are unchanged, and so is a word with both directions.
    """
    if not FROM_THE_RIGHT.search(text):
        return text
    text = _with_lam_first(text, boxes)
    if len(text) > MAX_TURNED or not np.isfinite(boxes).all():
        return text
    if any(unicodedata.bidirectional(letter) in FROM_THE_LEFT for letter in text):
        return text
    marks = np.array([unicodedata.combining(letter) > 0 for letter in text])
    middles, tallest = (boxes[:, :2] + boxes[:, 2:]) / 2, float((boxes[:, 3] - boxes[:, 1]).max())
    letters = np.flatnonzero(~marks)
    steps_right = np.diff(middles[letters, 0])
    if np.ptp(middles[:, 1]) > tallest or (steps_right > 0).sum() <= (steps_right < 0).sum():
        return text
    order = letters[np.argsort(-middles[letters, 0], kind="stable")].tolist()
    for mark in np.flatnonzero(marks).tolist():  # put after the letter above which it is, and that letter's other marks
        over = min(letters.tolist(), key=lambda letter: abs(float(middles[letter, 0] - middles[mark, 0])))
        at = order.index(over) + 1
        while at < len(order) and marks[order[at]]:
            at += 1
        order.insert(at, mark)
    return "".join(text[at] for at in order)


def _with_lam_first(text: str, boxes: Floats) -> str:
    """Put the letters of Arabic ligatures in the order lam, alef, which pdfium reverses with the surrounding text."""
    letters = list(text)
    for at in range(len(text) - 1):
        if text[at] in ALEFS and text[at + 1] == LAM and (boxes[at] == boxes[at + 1]).all():
            letters[at : at + 2] = text[at + 1], text[at]
    return "".join(letters)


def _clean_text(text: str) -> str:
    text = text.translate(_AS_HYPHENS)
    if SURROGATES.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return unicodedata.normalize("NFKC", text) if LETTER_FORMS.search(text) else text


def _without_duplicates(words: Iterator[PlacedWord]) -> Iterator[PlacedWord]:
    places: dict[str, list[Box]] = {}
    for placed in words:
        x1, y1, _, y2 = placed.word.box
        reach = max(1.0, TWICE * (y2 - y1))
        same = places.setdefault(placed.word.text, [])
        if not any(abs(x1 - box[0]) < reach and abs(y1 - box[1]) < reach for box in same[-MAX_REPEATS:]):
            same.append(placed.word.box)
            yield placed


class _Styles:
    """The styles of characters by their numbers; most words share a handful of styles."""

    def __init__(self, raw: "FPDF_TEXTPAGE", to_points: Floats) -> None:
        self._raw, self._to_points = raw, to_points
        self._known: dict[tuple[float | bytes, ...], _Style] = {}
        self._name, self._flags, self._matrix = ctypes.create_string_buffer(128), ctypes.c_int(), pdfium.FS_MATRIX()

    def at(self, number: int) -> _Style:
        size = pdfium.FPDFText_GetFontSize(self._raw, number)
        pdfium.FPDFText_GetFontInfo(self._raw, number, self._name, 128, self._flags)
        has_matrix = pdfium.FPDFText_GetMatrix(self._raw, number, self._matrix)
        m = self._matrix
        key = (size, self._name.value, *((m.a, m.b, m.c, m.d) if has_matrix else (1.0, 0.0, 0.0, 1.0)))
        if key not in self._known:
            weight = pdfium.FPDFText_GetFontWeight(self._raw, number)
            self._known[key] = self._style(size, weight, np.array(key[2:]).reshape(2, 2))
        return self._known[key]

    def _style(self, size: float, weight: int, axes: Floats) -> _Style:
        """Make a style; `axes` (2, 2) are the directions of a letter's own right and up in PDF user space."""
        right, up = axes @ self._to_points[:, :2].T
        font = self._name.value.decode("utf-8", "replace")
        bold = weight >= SEMIBOLD or bool(BOLD.search(font))
        return _Style(
            size=round(float(size * np.hypot(*up)), 1),
            font=font,
            bold=bold,
            upright=bool(abs(right[1]) <= 0.2 * abs(right[0])),
            head_up=bool(up[1] <= 0),
        )

    def baseline(self, number: int) -> float:
        """The baseline of a character, in points from the top."""
        x, y = ctypes.c_double(), ctypes.c_double()
        pdfium.FPDFText_GetCharOrigin(self._raw, number, ctypes.byref(x), ctypes.byref(y))
        return float(self._to_points[1] @ (x.value, y.value, 1.0))


def _with_marks(placed: list[PlacedWord]) -> tuple[Word, ...]:
    """The words, with a mark around those that are struck out one after the other, as in Markdown."""
    words = list[Word]()
    for is_struck, group in itertools.groupby(placed, lambda word: word.is_struck):
        group_words = [word.word for word in group]
        if is_struck:
            group_words[0] = Word(STRUCK + group_words[0].text, group_words[0].box)
            group_words[-1] = Word(group_words[-1].text + STRUCK, group_words[-1].box)
        words += group_words
    return tuple(words)


def _text_run(placed: list[PlacedWord], style: _Style, tag: Tag | None, baseline: float) -> TextRun:
    words = _with_marks(placed)
    upright = style.upright and not _runs_down(placed)
    tallest = max(word.letter[style.upright] for word in placed)
    size = _ink_size(style.size, tallest, letters=any(c.isalnum() for word in words for c in word.text))
    bottom = max(word.box[3] for word in words)
    # A baseline far from the ink says nothing, and neither does one above upside-down letters.
    if not style.head_up or not abs(baseline - bottom) <= 2 * size:
        baseline = bottom
    if upright and style.head_up:
        words = tuple(_full_height(word, baseline, size) for word in words)
    return TextRun(words, size, baseline, style.font, style.bold, upright, tag)


def _runs_down(placed: list[PlacedWord]) -> bool:
    """Whether characters are below each other, as in Chinese and Japanese set in columns."""
    longest = max(placed, key=lambda word: len(word.word.text))
    x1, y1, x2, y2 = longest.word.box
    return y2 - y1 > 1.5 * max(longest.letter) and y2 - y1 > 1.5 * (x2 - x1)


def _ink_size(stated: float, tallest: float, *, letters: bool) -> float:
    """The font's stated size, unless the ink contradicts it: some fonts are drawn in another size than they state."""
    least = 0.25 * stated if letters else 0.0
    # For fonts that are not embedded, pdfium may not know the ink.
    if stated > 0 and (tallest < 0.02 * stated or least <= tallest <= 1.8 * stated):
        return stated
    return max(tallest / 0.72, 1.0)


def _full_height(word: Word, baseline: float, size: float) -> Word:
    """The word from ascenders to descenders, so that a line's height does not depend on which letters it has."""
    x1, y1, x2, y2 = word.box
    box: Box = (x1, min(y1, baseline - 0.8 * size), x2, max(y2, baseline + 0.2 * size))
    return Word(word.text, box)
