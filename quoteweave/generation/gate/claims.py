"""Split an answer into claims: its sentences, each with its marks.

A mark belongs to the sentence that contains it. One between sentences belongs to the sentence before it on the same
line, else to the one after it on the same line, else to the sentence before. An image mark alone in its paragraph is a
sentence of its own, which consists of the mark's summary.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Kind
from quoteweave.core.text.marks import Code, Mark, MarkReader
from quoteweave.generation.sentences import is_first_word_complete, split_sentences

_BEFORE_STOP = lazy_regex(r"\s(?=[.,;:!?…](?:\s|$)|。)")
_CODE = "_"
LONG_SENTENCE = 2_000
"""Characters of a sentence, after which its end is no longer searched for at every new word."""
_Owned = tuple[int, int, list[Mark]]
"""Start and end of a sentence, and the marks that belong to it."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer: `[start:end]` of its text, marks included."""

    start: int
    end: int
    sentence: str
    """The text on one line, without marks, but with the summaries of image marks."""
    marks: tuple[Mark, ...]


def claims_of(text: str) -> list[Claim]:
    """Split `text` into claims, in order and disjoint, which cover everything but whitespace; code is never cut."""
    return ClaimReader().end(text)


class ClaimReader:
    """Reads the claims of a text that arrives in arbitrary parts; the result is the same as for the whole text.

    A sentence is held back until the next one has begun.
    """

    def __init__(self) -> None:
        self._reader = MarkReader()
        self._text, self._blanked = "", ""  # after the last claim; the second with blanks for marks and `_` for code
        self._marks: list[Mark] = []
        self._at = self._enough = 0

    def feed(self, part: str) -> list[Claim]:
        """Take the next part of the text; return the claims that are complete."""
        if not self._take(self._reader.feed(part)) or len(self._blanked) < self._enough:
            return []
        spans = [(sentence.start, sentence.end) for sentence in split_sentences(self._blanked)]
        # A long text without sentence ends is not split again at each word.
        self._enough = len(self._blanked) + max(0, len(self._blanked) - LONG_SENTENCE) // 8
        if len(spans) < 2 or not is_first_word_complete(self._blanked, spans[-1][0]):
            return []
        certain = [claim for claim in self._claims(spans) if claim.end <= self._at + spans[-1][0]]
        self._settle(certain)
        return certain

    def end(self, part: str = "") -> list[Claim]:
        """Take the last part of the text; return all remaining claims."""
        self._take(self._reader.end(part))
        return self._claims([(sentence.start, sentence.end) for sentence in split_sentences(self._blanked)])

    def _take(self, tokens: Sequence[Mark | str]) -> bool:
        """Append tokens; return whether a sentence may have ended in them."""
        blanked = "".join(
            " " * len(token.mark)
            if isinstance(token, Mark)
            else _CODE * len(token)
            if isinstance(token, Code)
            else token
            for token in tokens
        )
        self._text += "".join(token.mark if isinstance(token, Mark) else token for token in tokens)
        self._blanked += blanked
        self._marks += [token for token in tokens if isinstance(token, Mark)]
        return bool(blanked)

    def _settle(self, claims: Sequence[Claim]) -> None:
        if claims:
            cut, self._enough = claims[-1].end - self._at, 0
            self._text, self._blanked, self._at = self._text[cut:], self._blanked[cut:], claims[-1].end
            self._marks = [mark for mark in self._marks if mark.start >= self._at]

    def _claims(self, spans: Sequence[tuple[int, int]]) -> list[Claim]:
        """Build the claims of the text held so far, from the spans of its sentences without marks."""
        text, at = self._text, self._at
        owned: list[_Owned] = [(start, end, []) for start, end in spans]
        for mark in self._marks:
            start, end = mark.start - at, mark.end - at
            place = _owner(text, owned, mark.kind, (start, end))
            if place is None:
                owned.insert(bisect_right(owned, start, key=itemgetter(0)), (start, end, [mark]))
            else:
                first, last, sentence_marks = owned[place]
                sentence_marks.append(mark)
                owned[place] = (min(first, start), max(last, end), sentence_marks)
        return [
            Claim(at + start, at + end, strip_marks(text[start:end], marks, at + start), tuple(marks))
            for start, end, marks in owned
        ]


def strip_marks(text: str, marks: Sequence[Mark], at: int = 0) -> str:
    """Remove the marks from `text`, keeping summaries of images; positions of marks are relative to `at` before it."""
    parts, last = [], 0
    for mark in marks:
        parts += [text[last : mark.start - at], f" {mark.summary} " if mark.summary else " "]
        last = mark.end - at
    return _BEFORE_STOP.sub("", " ".join("".join([*parts, text[last:]]).split()))


def _owner(text: str, claims: Sequence[_Owned], kind: Kind, span: tuple[int, int]) -> int | None:
    """The index among `claims` of the sentence that a mark belongs to; None if the mark is a claim by itself."""
    after = bisect_right(claims, span[0], key=itemgetter(0))
    before = after - 1 if after else None
    if before is not None and (span[0] < claims[before][1] or "\n" not in text[claims[before][1] : span[0]]):
        return before
    if after < len(claims) and "\n" not in text[span[1] : claims[after][0]]:
        return after
    return before if kind == "text" else None
