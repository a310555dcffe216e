"""An answer becomes sentences with what each cites.

A mark belongs to the sentence that it stands in; one after the full stop to the sentence before, unless only a line
break parts it from the next. An image mark alone in its paragraph is a sentence of its own, which says what the mark
says of the image.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from quoteweave.core.marks import Mark, parse_marks
from quoteweave.generation.sentences import split_sentences

_BEFORE_STOP = re.compile(r"\s(?=[.,;:!?…](?:\s|$)|。)")
_Owned = tuple[int, int, list[Mark]]


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence of an answer: `[start:end]` of its text, marks included."""

    start: int
    end: int
    said: str
    """Without marks, but with what image marks say of their images; on one line."""
    marks: tuple[Mark, ...]


def claims_of(text: str) -> list[Claim]:
    """The sentences of `text` in order, without overlap; together they hold all of it but white space."""
    marks = parse_marks(text)
    spans = [(part.start, part.end) for part in split_sentences(_blanked(text, marks))]
    owned: list[_Owned] = [(start, end, []) for start, end in spans]
    for mark in marks:
        place = _owner(text, owned, mark)
        if place is None:
            owned.insert(bisect_right(owned, mark.start, key=_start), (mark.start, mark.end, [mark]))
        else:
            start, end, its = owned[place]
            its.append(mark)
            owned[place] = (min(start, mark.start), max(end, mark.end), its)
    return [Claim(start, end, said(text, start, end, its), tuple(its)) for start, end, its in owned]


def said(text: str, start: int, end: int, marks: Sequence[Mark]) -> str:
    """What `text[start:end]` says, its marks taken out or, of images, read."""
    parts, at = [], start
    for mark in marks:
        parts += [text[at : mark.start], f" {mark.summary} " if mark.summary else " "]
        at = mark.end
    return _BEFORE_STOP.sub("", " ".join("".join([*parts, text[at:end]]).split()))


def _blanked(text: str, marks: Sequence[Mark]) -> str:
    parts, at = [], 0
    for mark in marks:
        parts += [text[at : mark.start], " " * (mark.end - mark.start)]
        at = mark.end
    return "".join([*parts, text[at:]])


def _start(owned: _Owned) -> int:
    return owned[0]


def _owner(text: str, claims: Sequence[_Owned], mark: Mark) -> int | None:
    """The sentence that the mark belongs to, by its place among `claims`; None where it stands for itself."""
    after = bisect_right(claims, mark.start, key=_start)
    before = after - 1 if after else None
    if before is not None and (mark.start < claims[before][1] or "\n" not in text[claims[before][1] : mark.start]):
        return before
    if after < len(claims) and "\n" not in text[mark.end : claims[after][0]]:
        return after
    return before if mark.kind == "text" else None
