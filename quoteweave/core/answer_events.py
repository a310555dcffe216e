"""Events of a streamed answer: text as it arrives, a citation as soon as its mark is complete, and last the answer.

An image that the answer shows follows the citation of its mark. The texts concatenated are `Answer.text`, and the
citations are its citations, in order. Only the gate's verdict on a citation comes with the answer, as its sentence is
not complete before. A mark is never split, and never withdrawn.
"""

from collections.abc import Iterator
from typing import Literal

from quoteweave.core.answers import Answer, Citation, ImageBlock
from quoteweave.core.records import Record


class ThoughtEvent(Record):
    """Part of the model's reasoning; not part of the answer."""

    type: Literal["thought"] = "thought"
    text: str


class TextEvent(Record):
    """The next text of the answer, or a whole mark."""

    type: Literal["text"] = "text"
    text: str


class CitationEvent(Record):
    """A citation of the mark that was sent last; its offsets index the answer's text."""

    type: Literal["citation"] = "citation"
    citation: Citation


class ImageEvent(ImageBlock):
    """An image that the answer shows in place of the mark that was sent last."""


class AnswerEvent(Record):
    """The complete, checked answer; always the last event."""

    type: Literal["answer"] = "answer"
    answer: Answer


Event = ThoughtEvent | TextEvent | CitationEvent | AnswerEvent
"""What a generator sends; `Rag.stream` adds the sources and an `ImageEvent` behind each image's citation."""


def replay_events(answer: Answer) -> Iterator[Event]:
    """Yield the events of an answer that is already complete."""
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
