"""Cuts long text into pieces that a reader can check at a glance, at the best place there is."""

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LINE_CHARS = 90
"""Characters on a line of a virtual page; wide characters (Chinese, Japanese, Korean) count two."""

# Written so that every pattern runs in linear time whatever the text.
_LINE_END = re.compile(r"\n")
_SENTENCE_END = re.compile(
    r"""(?<=[.!?…])["'”’)\]»]{0,3}\s++(?![a-z])"""  # "etc. and" goes on in lower case: no end
    r"""|(?<=[。！？｡])["”’」』）】]{0,3}\s*+(?![。！？｡])"""
)
_WORD_END = re.compile(r"\s+")
_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f300-\U0001faff\U00020000-\U0003fffd]+"
)

PROSE = (_SENTENCE_END, _LINE_END, _WORD_END)
"""Where prose is cut: at a sentence's end, else at a line's, else between words, else anywhere."""

LINES = (_LINE_END, _SENTENCE_END, _WORD_END)
"""Where lists and tables are cut: at a line's end, else as prose."""


class Limit(NamedTuple):
    """The most that one piece may hold: characters, and lines of a virtual page (at least 2 of each)."""

    chars: int
    lines: int


def cut(text: str, places: Sequence[re.Pattern[str]], limit: Limit) -> list[str]:
    """The text as pieces within the limit, in order, stripped of blank ends; none are empty.

    No character but white space is lost. Pieces are as few as filling each in turn makes them; a finer kind of place is
    used only for a stretch that has none of the coarser. Linear in the length of the text.
    """
    pieces = (piece.strip("\n").rstrip() for piece in _packed(_fragments(text, places, limit), limit))
    return [piece for piece in pieces if piece.strip()]


def line_count(text: str) -> int:
    """Lines that the text takes on a virtual page, at least 1."""
    return sum(max(1, -(-width(line) // LINE_CHARS)) for line in text.split("\n"))


def width(text: str) -> int:
    """Columns that a line of text takes: 1 a character, 2 for a wide one."""
    if text.isascii():
        return len(text)
    return len(text) + sum(match.end() - match.start() for match in _WIDE.finditer(text))


def _fragments(text: str, places: Sequence[re.Pattern[str]], limit: Limit) -> Iterator[str]:
    """The text cut at the coarsest places that make every fragment fit."""
    if _fits(len(text), _columns(text), limit):
        yield text
    elif places:
        ends = itertools.chain((match.end() for match in places[0].finditer(text)), [len(text)])
        start = 0
        for end in ends:
            if end > start:
                yield from _fragments(text[start:end], places[1:], limit)
                start = end
    else:
        # Half the limit, so that wide characters alone fit too.
        step = min(limit.chars, (limit.lines - 1) * LINE_CHARS) // 2
        for start in range(0, len(text), step):
            yield text[start : start + step]


def _packed(fragments: Iterator[str], limit: Limit) -> Iterator[str]:
    held: list[str] = []
    chars = columns = 0
    for fragment in fragments:
        more_columns = _columns(fragment)
        if held and not _fits(chars + len(fragment), columns + more_columns, limit):
            yield "".join(held)
            held, chars, columns = [], 0, 0
        held.append(fragment)
        chars, columns = chars + len(fragment), columns + more_columns
    if held:
        yield "".join(held)


def _columns(text: str) -> int:
    """An upper bound of the room a text takes, in columns, that adds up when texts are joined."""
    return width(text) + LINE_CHARS * text.count("\n")


def _fits(chars: int, columns: int, limit: Limit) -> bool:
    return chars <= limit.chars and columns <= LINE_CHARS * (limit.lines - 1)
