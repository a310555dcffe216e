"""Split answers into sentences with the position of each citation mark.

Marks are those of `core.text.marks`. A mark that opens a sentence ends the one before ("Cups are of glass. [1] They
break."), as in ALiiCE's code (arXiv 2406.13375).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from quoteweave.core.examples import Prediction
from quoteweave.core.records import Kind
from quoteweave.core.text.marks import Mark, parse_marks
from quoteweave.evaluation.text.responses import answer_of

Item = tuple[Kind, int]
"""A quote as marks name it: kind, and place in the context from 1."""
SentenceSplitter = Callable[[str], Sequence[str]]
"""Cuts a text into sentences, marks in place."""

_BEFORE_STOP = re.compile(r"\s++(?=[.,;:!?…。])")
_BLANKS_AND_STOPS = " .,;\t\n"


@dataclass(frozen=True, slots=True)
class PlacedMark:
    """One mark of a sentence."""

    start: int
    """Its first character in the sentence with marks."""
    before: int
    """How many characters of the sentence without marks stand before it, blanks not counted."""
    cited: tuple[Item, ...]
    """Each once."""


@dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence with its marks, and without."""

    marked: str
    text: str
    """The sentence without marks, but with the summaries of image marks. May be empty."""
    marks: tuple[PlacedMark, ...]

    @property
    def cited(self) -> tuple[Item, ...]:
        """What it cites, each once, in the order of first mention."""
        return tuple(dict.fromkeys(item for mark in self.marks for item in mark.cited))


def marked_sentences(prediction: Prediction, cut: SentenceSplitter) -> list[MarkedSentence]:
    """The sentences of what a response answers, in order; none where there is no response."""
    sentences: list[str] = []
    for sentence in cut(answer_of(prediction.response or "", "own")):
        opening = _opening(sentence) if sentences else 0
        rest = sentence
        if opening:
            sentences[-1] += sentence[:opening].strip()
            rest = sentence[opening:].lstrip(_BLANKS_AND_STOPS)
        if rest:
            sentences.append(rest)
    return [_read(sentence) for sentence in sentences]


def _opening(sentence: str) -> int:
    """Where the marks that open the sentence end; 0 where there are none."""
    end = 0
    for mark in parse_marks(sentence):
        if mark.summary or sentence[end : mark.start].strip(_BLANKS_AND_STOPS):
            break
        end = mark.end
    return end


def _read(sentence: str) -> MarkedSentence:
    parts: list[str] = []
    marks: list[PlacedMark] = []
    before = end = 0
    for mark in parse_marks(sentence):
        said = [sentence[end : mark.start], _in_place_of(mark, sentence)]
        parts += said
        before += sum(len(word) for part in said for word in part.split())
        marks.append(PlacedMark(mark.start, before, tuple((mark.kind, number) for number in mark.numbers)))
        end = mark.end
    text = " ".join("".join([*parts, sentence[end:]]).split())
    return MarkedSentence(marked=sentence, text=_BEFORE_STOP.sub("", text), marks=tuple(marks))


def _in_place_of(mark: Mark, sentence: str) -> str:
    if mark.summary:
        return f" {mark.summary} "
    between = sentence[max(mark.start - 1, 0) : mark.start] + sentence[mark.end : mark.end + 1]
    return " " if len(between) == 2 and between.isalnum() else ""
