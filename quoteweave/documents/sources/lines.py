"""Words and lines: the common output of text layer and OCR, and the input of layout analysis."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from unicodedata import normalize

from quoteweave.core.boxes import Box, hull
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.sources.pdf_text.tags import ItemTag, Tag

BULLET_SIGN = "•"
"""The character for bullets that are drawn, or that have no character of their own."""
# A character for a glyph of its own in a symbol font; U+0085 is excluded because it is white space.
_GLYPH = lazy_regex(r"[\x7f-\x84\x86-\x9f\ue000-\uf8ff]")
# What follows a bullet, unlike a prompt or a sign: a capitalised word, and another word.
_PHRASE_START = lazy_regex(r"[A-ZÀ-Þ][\w'’-]*[,.:;!?]?\s+[^\W\d_](?![^.!?]*(?:<-|[={}\[\]]))")
# How far, in points, the left edges of two lines that begin with bullets of one list may differ.
SAME_EDGE = 1.5
# The widest picture within a line, in font sizes.
MAX_PICTURE = 4
# In font sizes: lines of one label that runs up the page are less than this apart, lines of two labels more.
NEXT_LINE = 0.8
# From how many letters on the mix of letters shows whether a text is garbled, and from how many on it is suspicious.
LONG, SHORT = 150, 40
# A gap wider than this, in font sizes, ends a line: what follows is in another column or table cell.
COLUMN_GAP = 1.6
# OCR has read words if its mean certainty, by letters, is at least this; for upside-down lines it is some 0.7.
SURE = 0.85
_VOWELS, _AROUND_WORD = frozenset("AEIOUYАЕИОУЭЮЯІ"), lazy_regex(r"^\W+|\W+$")
# A large initial is a capital, maybe with a quotation mark before it. It has at least so many times the size of the
# text beside it, and stands lower than that by at least so many of its font sizes.
_INITIAL, _INITIAL_SIZE, _INITIAL_DEPTH = lazy_regex(r"[\"'“”„«‘‹(¿¡]*[^\W\d_]"), 1.5, 1.0


@dataclass(frozen=True, slots=True)
class Word:
    """A word with its box in points from the top left of the page as shown."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Line:
    """Words on one baseline without a gap as wide as that between columns."""

    words: tuple[Word, ...]
    box: Box
    size: float  # font size in points; for OCR estimated from the height of the line's box
    baseline: float  # points from the top; for OCR the bottom of the line's box
    font: str = ""  # name of the font, empty for OCR
    bold: bool = False
    upright: bool = True  # False for text that runs up or down the page
    tag: Tag | None = None  # the table cell or list item that contains it, by the file's tags
    sureness: float = 1.0  # how sure OCR is of it, from 0 to 1
    has_label: bool = False  # whether it begins with a label that hangs in the margin beside a text
    beside_initial: float | None = (
        None  # the baseline of the large initial that begins it and stands beside lines below
    )

    @property
    def text(self) -> str:
        """The words, joined by single spaces."""
        return " ".join(word.text for word in self.words)

    @property
    def height(self) -> float:
        """Points from top to bottom."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class TextRun:
    """Consecutive words in one font, in the order of the text layer; lines are made by joining runs."""

    words: tuple[Word, ...]
    size: float
    baseline: float
    font: str
    bold: bool
    upright: bool
    tag: Tag | None = None


def lines_of(runs: Iterable[TextRun]) -> list[Line]:
    """Join consecutive runs on one baseline into lines; split at column gaps and tags. The order is kept."""
    lines: list[list[TextRun]] = []
    for piece in (piece for run in runs for piece in _cut_at_gaps(run)):
        if lines and _continues(lines[-1][-1], piece):
            lines[-1].append(piece)
        else:
            lines.append([piece])
    rest_ids = {id(pieces[1].words[0]) for pieces in lines if _begins_with_initial(pieces)}
    if not rest_ids:
        return list(map(_line_of, lines))
    all_words = (word for pieces in lines for run in pieces for word in run.words)
    words = {_bare(word.text) for word in all_words if id(word) not in rest_ids}
    return [_line_with_initial(pieces, words) if _begins_with_initial(pieces) else _line_of(pieces) for pieces in lines]


def _cut_at_gaps(run: TextRun) -> Iterable[TextRun]:
    start = 0
    for i in range(1, len(run.words)):
        box, next_box = run.words[i - 1].box, run.words[i].box
        if not (_is_adjacent(box, next_box, run.size) if run.upright else _is_beside_across(box, next_box, run.size)):
            yield replace(run, words=run.words[start:i])
            start = i
    yield replace(run, words=run.words[start:])


def _continues(previous: TextRun, run: TextRun) -> bool:
    # The number or bullet before a list item may have no tag.
    has_same_tag = previous.tag == run.tag or (previous.tag is None and isinstance(run.tag, ItemTag))
    if previous.upright != run.upright or not has_same_tag:
        return False
    if not run.upright:
        return previous.words[-1].box[0] - 1 <= run.words[0].box[0] <= previous.words[-1].box[2] + 1
    return _is_adjacent(previous.words[-1].box, run.words[0].box, max(previous.size, run.size))


def _is_beside_across(a: Box, b: Box, size: float) -> bool:
    """Whether a word that runs up or down the page is in the line of another, or in the next line of its label."""
    return max(b[0] - a[2], a[0] - b[2]) < NEXT_LINE * size


def _is_adjacent(a: Box, b: Box, size: float) -> bool:
    """Whether `b` continues the line of `a`, to the right, or to the left as in right-to-left text."""
    overlap = min(a[3], b[3]) - max(a[1], b[1])
    if overlap < 0.3 * min(a[3] - a[1], b[3] - b[1]):
        return False
    gap = b[0] - a[2] if b[0] >= a[0] else a[0] - b[2]
    return -size < gap < COLUMN_GAP * size


def _line_of(pieces: Sequence[TextRun]) -> Line:
    words = tuple(word for piece in pieces for word in piece.words)
    main = max(pieces, key=lambda piece: sum(len(word.text) for word in piece.words))
    in_bold = sum(len(word.text) for piece in pieces if piece.bold for word in piece.words)
    bold = 2 * in_bold > sum(len(word.text) for word in words)
    box = hull(word.box for word in words)
    return Line(words, box, main.size, main.baseline, main.font, bold, main.upright, pieces[-1].tag)


def _begins_with_initial(pieces: Sequence[TextRun]) -> bool:
    """Whether a line begins with a large initial that is sunk into its paragraph."""
    if len(pieces) < 2 or len(pieces[0].words) > 1 or not pieces[0].upright:
        return False
    text, (initial, beside) = pieces[0].words[0].text, pieces[:2]
    is_sunk = initial.baseline >= beside.baseline + _INITIAL_DEPTH * beside.size
    is_large = initial.size >= _INITIAL_SIZE * beside.size and is_sunk
    return is_large and _INITIAL.fullmatch(text) is not None and text.isupper() and beside.words[0].text[0].isalpha()


def _line_with_initial(pieces: Sequence[TextRun], words: Set[str]) -> Line:
    """The line, as high as its other words; the initial and the rest of its word are one. `words` are the page's."""
    line = _line_of(pieces[1:])
    initial, rest = pieces[0].words[0], line.words[0]
    box = (initial.box[0], rest.box[1], initial.box[2], rest.box[3])
    joined: tuple[Word, ...] = (Word(initial.text, box), rest)
    if _is_one_word(initial.text[-1], rest.text, words):
        joined = (Word(initial.text + rest.text, hull((box, rest.box))),)
    all_words = (*joined, *line.words[1:])
    return replace(line, words=all_words, box=hull(word.box for word in all_words), beside_initial=pieces[0].baseline)


def _is_one_word(initial: str, rest: str, words: Set[str]) -> bool:
    """Whether an initial and what follows it are one word, as on the page; "A" may be a word of its own elsewhere."""
    joined, rest = _bare(initial + rest), _bare(rest)
    if joined in words or rest in words:
        return joined in words
    return normalize("NFD", initial)[0] not in _VOWELS


def _bare(word: str) -> str:
    return _AROUND_WORD.sub("", word).casefold()


def translated(line: Line, x: float, y: float) -> Line:
    """Move the line by `x` points to the right and `y` points down."""
    words = tuple(Word(word.text, moved(word.box, x, y)) for word in line.words)
    return replace(line, words=words, box=moved(line.box, x, y), baseline=line.baseline + y)


def moved(box: Box, x: float, y: float) -> Box:
    """The box moved by `x` points to the right and `y` points down."""
    return (box[0] + x, box[1] + y, box[2] + x, box[3] + y)


def count_letters(lines: Iterable[Line]) -> int:
    """The number of characters in the lines, without spaces."""
    return sum(len(word.text) for line in lines for word in line.words)


def certain_letters(lines: Iterable[Line]) -> float:
    """The number of letters, each weighted by how sure OCR is of it."""
    return sum(line.sureness * len(word.text) for line in lines for word in line.words)


def are_surely_read(lines: Sequence[Line]) -> bool:
    """Whether OCR is sure of its lines on average, by letters; of upside-down lines it is less sure."""
    return certain_letters(lines) >= SURE * count_letters(lines)


def is_garbled(lines: Sequence[Line]) -> bool:
    """Whether a text layer is garbled: replacement and private-use characters, or an implausible mix of letters.

    Fonts without a character map are often read with a shifted alphabet. In European languages the eight letters of
    "senorita" are some 60 per cent of all letters, and in a shuffled alphabet some 30. A subset that is numbered from
    33 on is mostly read as signs.
    """
    text = "".join(word.text for line in lines for word in line.words)
    odd = sum(c == "\ufffd" or "\ue000" <= c <= "\uf8ff" for c in text)
    signs = sum(c.isascii() and not c.isalnum() and c not in "._-" for c in text)
    return odd > 0.3 * len(text) or _is_shuffled(lines, LONG) or (len(text) >= 100 and signs > 0.5 * len(text))


def may_be_garbled(lines: Sequence[Line]) -> bool:
    """Whether a text is too short for its mix of letters to show whether it is garbled, and has a suspicious one."""
    return _is_shuffled(lines, SHORT) and not _is_shuffled(lines, LONG)


def _is_shuffled(lines: Sequence[Line], least: int) -> bool:
    """Whether a text has at least so many Latin letters, and too few frequent ones among them."""
    latin = [c for line in lines for word in line.words for c in word.text.lower() if "a" <= c <= "z"]
    return len(latin) >= least and sum(c in "senorita" for c in latin) < 0.42 * len(latin)


def with_bullets(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines of a page, with glyphs without a character, and ">", replaced by bullets if they begin several lines.

    These must begin at one left edge. After each ">" a sentence or phrase must begin, and none may be directly before
    it: otherwise it may be a prompt, or part of a path with a picture in it ("Settings > Camera").
    """
    starts = defaultdict[tuple[str, int], list[int]](list)
    for at, line in enumerate(lines):
        sign = line.words[0].text
        if line.upright and (_GLYPH.fullmatch(sign) or sign == ">"):
            starts[sign, round(line.box[0] / SAME_EDGE)].append(at)
    groups = {start: indices for start, indices in starts.items() if len(indices) > 1}
    row = _Rows(lines) if groups else None
    bullets = {
        at
        for (sign, _), indices in groups.items()
        if row
        and all(
            row.has_text_after(lines[index]) and (sign != ">" or row.begins_sentence(lines[index])) for index in indices
        )
        for at in indices
    }
    return [_with_bullet(line) if at in bullets else line for at, line in enumerate(lines)] if bullets else lines


class _Rows:
    """Where lines begin and end, in points from the left, by their baselines, in order."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._begin, self._end = defaultdict[int, list[float]](list), defaultdict[int, list[float]](list)
        for line in lines:
            self._begin[round(line.baseline)].append(line.box[0])
            self._end[round(line.baseline)].append(line.box[2])
        for places in (*self._begin.values(), *self._end.values()):
            places.sort()

    def has_text_after(self, line: Line) -> bool:
        """Whether words follow the first word of a line, on it or, as after a tab, on another line beside it."""
        right, reach = line.box[2], MAX_PICTURE * line.size
        return len(line.words) > 1 or any(
            bisect_left(begin, right) < bisect_left(begin, right + reach) for begin in _nearby(self._begin, line)
        )

    def begins_sentence(self, line: Line) -> bool:
        """Whether a sentence or phrase begins after the first word of a line, with no text directly before it."""
        left, reach = line.box[0], MAX_PICTURE * line.size
        follows = any(bisect_left(end, left - reach) < bisect_left(end, left) for end in _nearby(self._end, line))
        return not follows and _PHRASE_START.match(" ".join(word.text for word in line.words[1:])) is not None


def _nearby(rows: Mapping[int, list[float]], line: Line) -> list[list[float]]:
    return [rows.get(round(line.baseline) + step, []) for step in (-1, 0, 1)]


def _with_bullet(line: Line) -> Line:
    return replace(line, words=(replace(line.words[0], text=BULLET_SIGN), *line.words[1:]))
