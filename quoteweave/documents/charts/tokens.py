"""Tokens of a chart for pairing labels with values: numbers with their units, and other words, with their boxes."""

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull, intersection
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.sources.lines import Line, Word

_NUMBER = r"[-+−]?\d[\d.,]*"
_UNIT = r"(?:%|[kKmMbB]|[mb]n|[MB]n|[Mm]illion|[Bb]illion|[Tt]rillion|x)"
_VALUE = lazy_regex(rf"[-+−]?[$€£¥₹]?\s?{_NUMBER}(?:\s?{_UNIT})?")
_PLAIN = lazy_regex(_NUMBER)
_YEAR = lazy_regex(r"(?:19|20)\d\d")
# The widest space between words, in font sizes.
SPACE = 0.6
_ALONE = lazy_regex(rf"{_UNIT}|[$€£¥₹]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, or a number with the unit beside it."""

    text: str
    box: Box  # points; rotated in a chart of columns, see `rotated`
    size: float  # font size in points
    line: int  # number of the line that contains it
    words: tuple[Word, ...]

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of its box."""
        return (self.box[0] + self.box[2]) / 2, (self.box[1] + self.box[3]) / 2

    @property
    def is_value(self) -> bool:
        """Whether it is a number with or without a unit, such as "45%", "$1.2M" or "1,310"."""
        return bool(_VALUE.fullmatch(self.text))

    @property
    def is_year(self) -> bool:
        """Whether it looks like a year."""
        return bool(_YEAR.fullmatch(self.text))

    @property
    def is_word(self) -> bool:
        """Whether it has a letter or digit, unlike bullets, swatches and rules that are characters."""
        return any(map(str.isalnum, self.text))


def box_of(tokens: Iterable[Token]) -> Box:
    """The box around tokens."""
    return hull(token.box for token in tokens)


def chart_tokens(lines: Sequence[Line]) -> list[Token]:
    """The tokens of upright lines, in their order."""
    return [token for number, line in enumerate(lines) if line.upright for token in _tokens(line, number)]


def _tokens(line: Line, number: int) -> list[Token]:
    tokens: list[Token] = []
    for word in line.words:
        if tokens and _are_one_value(tokens[-1].text, word.text):
            last = tokens[-1]
            text, box = f"{last.text} {word.text}", hull([last.box, word.box])
            tokens[-1] = replace(last, text=text, box=box, words=(*last.words, word))
        else:
            tokens.append(Token(word.text, word.box, line.size, number, (word,)))
    return tokens


def _are_one_value(before: str, after: str) -> bool:
    """Whether these are a number and its unit, or a currency sign and its number."""
    if not _VALUE.fullmatch(f"{before} {after}"):
        return False
    return bool(_ALONE.fullmatch(before) or _ALONE.fullmatch(after))


def amount(text: str) -> tuple[float, float]:
    """The number of a value as printed, without its unit, and the unit of its last digit: "12.5%" is 12.5 and 0.1.

    Raises ValueError if points and commas do not form one number.
    """
    match = _PLAIN.search(text)
    if match is None:
        raise ValueError("no number")
    digits = match[0].rstrip(".,").replace("−", "-")
    digits = re.sub(r"[.,](?=\d{3}(?:[.,]|$))", "", digits) if _has_thousands(digits) else digits
    digits = digits.replace(",", ".")
    return abs(float(digits)), 10.0 ** -len(digits.partition(".")[2])


def _has_thousands(digits: str) -> bool:
    """Whether its points or commas separate thousands; a single one before three digits does if it is a comma."""
    return bool(re.fullmatch(r"-?\d{1,3}(?:(?:,\d{3})+(?:\.\d+)?|(?:\.\d{3}){2,}(?:,\d+)?)", digits))


def unit(text: str) -> str:
    """The unit of a value beside its number: "%", "$", "$M"; "" if there is none."""
    return _PLAIN.sub("", text, count=1).replace(" ", "").lstrip("-+−")


def rotated(box: Box) -> Box:
    """Rotate the box by 90 degrees, so that columns rising from the bottom run from left to right."""
    return (-box[3], box[0], -box[1], box[2])


def join_tokens(tokens: Sequence[Token]) -> str:
    """Join tokens to a text: hyphenated words are joined, and "|", which separates cells, is replaced by "/".

    If words overlap, as they do when a text is drawn twice, each is kept once.
    """
    words = [token.text for token in tokens]
    if any(_are_drawn_over(token.box, other.box) for token, other in itertools.combinations(tokens, 2)):
        words = list(dict.fromkeys(words))
    text = ""
    for word in words:
        if text.endswith("-") and text[-2:-1].isalpha() and word[:1].islower():
            text = text[:-1] + word
        else:
            text = f"{text} {word}".strip()
    return text.replace("|", "/")


def _are_drawn_over(a: Box, b: Box) -> bool:
    common = intersection(a, b)
    return common[2] - common[0] > 1 and common[3] - common[1] > 0.5 * (a[3] - a[1])


def phrases_of(words: Sequence[Token], *, down: float) -> list[tuple[Token, ...]]:
    """Groups of words at most a space apart, side by side or in rows at most `down` font sizes apart."""
    groups: list[list[Token]] = []
    for word in words:
        near = [group for group in groups if any(_are_in_one_phrase(word, other, down) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*itertools.chain.from_iterable(near), word])
    return [tuple(sorted(group, key=lambda word: (round(word.box[1] / 4), word.box[0]))) for group in groups]


def _are_in_one_phrase(a: Token, b: Token, limit: float) -> bool:
    size = max(a.size, b.size)
    across = max(a.box[0], b.box[0]) - min(a.box[2], b.box[2])
    down = max(a.box[1], b.box[1]) - min(a.box[3], b.box[3])
    return (across < 0 and down < limit * size) or (down < -0.3 * size and across < SPACE * size)
