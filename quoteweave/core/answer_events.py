"""An answer while it is written: its text as it comes, a citation as soon as its mark is whole, last the answer.

The texts put together are `Answer.text`, and the citations are its citations, in order; only what the gate says of a
citation, whose sentence is not read to its end yet, comes with the answer. No mark is sent in halves, or later lacking.
"""

from collections.abc import Iterator
from typing import Literal

from quoteweave.core.answers import Answer, Citation
from quoteweave.core.records import Record


class ThoughtEvent(Record):
    """Some of what the model writes before its answer; no part of the answer."""

    type: Literal["thought"] = "thought"
    text: str


class TextEvent(Record):
    """What the answer goes on with: text, or a whole mark."""

    type: Literal["text"] = "text"
    text: str


class CitationEvent(Record):
    """What the mark that was sent last cites; spans index the answer's text."""

    type: Literal["citation"] = "citation"
    citation: Citation


class AnswerEvent(Record):
    """The answer, whole and checked; the last event."""

    type: Literal["answer"] = "answer"
    answer: Answer


Event = ThoughtEvent | TextEvent | CitationEvent | AnswerEvent


def events_of(answer: Answer) -> Iterator[Event]:
    """The events of an answer that is there already."""
    at = 0
    for place, citation in enumerate(answer.citations):
        if citation.start > at:
            yield TextEvent(text=answer.text[at : citation.start])
        if not place or answer.citations[place - 1].start != citation.start:
            yield TextEvent(text=citation.mark)
        yield CitationEvent(citation=citation)
        at = citation.end
    if at < len(answer.text):
        yield TextEvent(text=answer.text[at:])
    yield AnswerEvent(answer=answer)
