"""The marks of an answer, as this project writes and reads them.

A text mark is `[3]`, `[1, 2]`, `[1-3]` or a mixture such as `[1, 3-5]`; `;` separates as well as `,` does, and a range
may be written with an en dash. An image mark is `![what it shows](image2)`; `(image 2)`, `(Image_2)` and
`(image2.png)` are read as the same. Models also write `[text 3]` and `[Quote 3]` for `[3]`, and `[image2]` for
`![](image2)`.

No marks are: Markdown links (`[3](http://…)`, `[text](url)`), footnotes (`[^1]`), lists and ranges that contain a 0
(the interval `[0, 1]`), numbers of more than nine digits, anything longer than `MAX_MARK_CHARACTERS`, and anything in
code (in back-ticks on one line, or in a fenced block). A mark inside the summary of an image mark belongs to that
summary. `[0]` and `[2019]` are marks like any other.
"""

import re
from collections.abc import Iterator

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Kind, Record

MAX_RANGE = 20
"""A range of more numbers than this, or one that runs backwards, is not expanded: it counts as its two ends."""
MAX_MARK_CHARACTERS = 2_000
"""Most characters of a mark or of inline code; a streamed text is held back by at most about as many."""

# Possessive quantifiers (`++`, `*+`) never give back what they took, so that the time is linear even for hostile text.
_NUMBER = r"[1-9][0-9]{0,8}+"
_DASH = "[-\u2013]"
_ITEM = rf"{_NUMBER}(?:\s*+{_DASH}\s*+{_NUMBER})?+"
_SUMMARY = r"(?:[^\[\]]++|\[[^\[\]]*+\])*+"
_FENCE = "^[ ]{0,3}```"
_IMAGE = r"image[\s_-]?"
_WHOLE = rf"""
      (?P<fence>{_FENCE}) | `[^`\n]++`                                                        # code, passed over
    | !\[ (?P<summary>{_SUMMARY}) \] \( \s*+ image[\s_-]? (?P<image>[0-9]{{1,9}}) (?:\.[a-z]{{3,4}})? \s*+ \)
    | \[ \s*+ {_IMAGE} (?P<named>[0-9]{{1,9}}) \s*+ \] (?!\()
    | \[ \s*+ (?:(?:text|quote)[\s_-]?)? (?P<list> 0 | {_ITEM} (?:\s*+[,;]\s*+ {_ITEM})*+ ) \s*+ \] (?!\()
"""
# How a text may end within one of those, so that the next text decides. Too much is harmless here, too little is not.
_TARGET = r"\( \s*+ (?: i | im | ima | imag | image[\s_-]?[0-9]*+[.a-z]*+\s*+ )?"
_BEGUN = rf"""
      ^[ ]{{1,3}}\Z | ^[ ]{{0,3}}`{{1,2}}\Z | `[^`\n]*+\Z
    | ! (?: \[ {_SUMMARY} (?: \[[^\[\]]*+ | \] (?:{_TARGET})? )? )? \Z
    | \[ \s*+ (?: i | im | ima | imag | {_IMAGE} [0-9]*+ \s*+ )? \Z
    | \[ \s*+ (?: t | te | tex | q | qu | quo | quot | (?:text|quote) [\s_-]? )? [\s0-9,;\u2013-]*+ \Z
"""
_FLAGS = re.VERBOSE | re.MULTILINE | re.IGNORECASE
_GRAMMAR = lazy_regex(_WHOLE, _FLAGS)
_UNFINISHED = lazy_regex(rf"{_WHOLE} | (?P<begun>{_BEGUN})", _FLAGS)
_CLOSING = lazy_regex(rf"{_FENCE} | (?P<begun> ^[ ]{{0,3}}`{{0,2}}\Z )", _FLAGS)


class Mark(Record):
    """One mark as written in a text, before it is resolved to quotes."""

    mark: str
    start: int
    end: int
    kind: Kind
    numbers: tuple[int, ...]
    """The numbers in the order written, each once."""
    summary: str | None = None
    """The description of the image in an image mark, on one line; None for a text mark."""


class Code(str):
    """Code in a text, or part of it; no marks are in it."""


def parse_marks(text: str) -> list[Mark]:
    """Every mark of `text`, in order and without overlap; `text[mark.start:mark.end] == mark.mark`. Linear in time."""
    if "[" not in text:  # true of nearly all sentences of documents
        return []
    return [part for part in MarkReader().end(text) if isinstance(part, Mark)]


class MarkReader:
    """Finds the marks of a text that arrives in chunks split anywhere; the marks are those of the whole text.

    Text that may still become a mark or inline code is held back: little more than `MAX_MARK_CHARACTERS` characters.
    """

    def __init__(self) -> None:
        self._before = "\n"  # the last character that is certain: it tells whether a line begins
        self._held = ""
        self._at = 0
        self._fenced = False

    def may_extend_with(self, following: str) -> bool:
        """Whether the end of the text could become a mark or code, or cease to be one, if `following` comes next."""
        ended = _GRAMMAR.fullmatch(self._held)  # a mark that only waits for the certainty that no bracket follows
        return self._fenced or (bool(self._held.strip()) and (ended is None or following == "("))

    def feed(self, part: str) -> list[Mark | str]:
        """Add a chunk; return what is certain now: marks, and the text between them (`Code` if it is code)."""
        self._held += part
        return list(self._read(final=False))

    def end(self, part: str = "") -> list[Mark | str]:
        """Add the last chunk, and return everything that is left."""
        self._held += part
        return list(self._read(final=True))

    def _read(self, *, final: bool) -> Iterator[Mark | str]:
        text = self._before + self._held
        done = at = 1
        for start, at, token in self._tokens(text, final=final):
            if start > done:
                yield text[done:start]
            if token:
                yield token
            done = at
        self._at += done - 1
        self._before, self._held = text[done - 1], text[done:]

    def _tokens(self, text: str, *, final: bool) -> Iterator[tuple[int, int, Mark | str]]:
        """Marks and code that are certain, with their beginnings and ends; last, "" at the end of the certain text."""
        at = 1
        while at < len(text):
            if self._fenced:
                start, at = at, self._within_fence(text, at, final=final)
                yield start, at, Code(text[start:at])
                if self._fenced:
                    return
                continue
            match = (_GRAMMAR if final else _UNFINISHED).search(text, at)
            if match is None:
                break
            start, end = match.span()
            if match["fence"] is not None:
                self._fenced = True
                yield start, end, Code(match[0])
            elif end - start > MAX_MARK_CHARACTERS:
                end = start + 1
            elif not final and (match.lastgroup == "begun" or (match[0][0] == "[" and end == len(text))):
                yield start, start, ""
                return
            else:
                yield start, end, _mark(match, self._at - 1) or Code(match[0])
            at = end
        yield len(text), len(text), ""

    def _within_fence(self, text: str, at: int, *, final: bool) -> int:
        """The end of what is certainly fenced code beginning at `at`."""
        closing = _CLOSING.search(text, at)
        self._fenced = closing is None or closing["begun"] is not None
        if closing is None or (self._fenced and final):
            return len(text)
        return closing.start() if self._fenced else closing.end()


def _mark(match: re.Match[str], at: int) -> Mark | None:
    """The mark that was matched in a text that begins at `at`; None for code."""
    kind: Kind
    numbers: tuple[int, ...]
    if match["image"] is not None:
        kind, numbers, summary = "image", (int(match["image"]),), " ".join(match["summary"].split())
    elif match["named"] is not None:
        kind, numbers, summary = "image", (int(match["named"]),), ""
    elif match["list"] is not None:
        kind, numbers, summary = "text", _numbers(match["list"]), None
    else:
        return None
    start, end = match.span()
    return Mark(mark=match[0], start=at + start, end=at + end, kind=kind, numbers=numbers, summary=summary)


def _numbers(listed: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for item in re.split("[,;]", listed):
        ends = [int(end) for end in re.split(_DASH, item)]
        first, last = ends[0], ends[-1]
        numbers += range(first, last + 1) if 0 <= last - first < MAX_RANGE else ends
    return tuple(dict.fromkeys(numbers))
