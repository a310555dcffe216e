"""The contract of an answer, as a conformance test: the same whether streamed, returned whole or read from a run.

    check_answer(asyncio.run(my_generator.answer(query, context)), context)

    events = [event async for event in my_generator.stream(query, context)]
    check_events(events, context)

Both raise AssertionError, which says what does not hold.
"""
# ruff: noqa: S101 - what holds is asserted

from collections.abc import Sequence

from quoteweave.core.answers import (
    Answer,
    AnswerEvent,
    Citation,
    CitationEvent,
    Context,
    Event,
    ImageBlock,
    ImageEvent,
    TextEvent,
    ThoughtEvent,
)
from quoteweave.core.text.marks import parse_marks

# What is found when the answer is whole.
_NOT_LOOKED_FOR = {"quoted": None, "page_size": None, "evidence": None, "spans": (), "regions": ()}


def check_answer(answer: Answer, context: Context) -> None:
    """What holds of every answer; `context` is the one whose quotes its marks number."""
    assert Answer.model_validate_json(answer.model_dump_json()) == answer, "it is not the same when read back"
    for citation in answer.citations:
        _check_citation(citation, answer, context)
    marks = [(mark.start, mark.kind, number) for mark in parse_marks(answer.text) for number in mark.numbers]
    real = [mark for mark in marks if context.quote(*mark[1:]) is not None]
    cited = [(citation.start, citation.kind, citation.number) for citation in answer.citations]
    assert cited == real, "its citations are not the marks of its text that name a quote"
    left = {number for _, kind, number in marks if context.quote(kind, number) is None}
    assert left <= {mark.number for mark in answer.unresolved}, "a mark names no quote, and nothing says so"
    _check_blocks(answer)


def check_events(events: Sequence[Event | ImageEvent], context: Context) -> Answer:
    """What holds of every stream of events; the answer that it ends with."""
    last = events[-1]
    assert isinstance(last, AnswerEvent), "the last event is not the answer"
    assert not any(isinstance(event, AnswerEvent) for event in events[:-1]), "there are two answers"
    answer = last.answer
    check_answer(answer, context)
    sent, ends, citations = "", set[int](), list[Citation]()
    for event in events[:-1]:
        if isinstance(event, TextEvent):
            sent += event.text
            ends.add(len(sent))
        elif isinstance(event, CitationEvent):
            assert sent.endswith(event.citation.mark), "a citation does not follow its mark"
            assert event.citation.end == len(sent), "a citation does not follow its mark"
            citations.append(event.citation)
        elif isinstance(event, ImageEvent):
            assert citations[-1] == event.citation, "an image does not follow its citation"
        else:
            assert isinstance(event, ThoughtEvent)
    assert sent == answer.text, "the texts put together are not the answer's text"
    halves = [mark for mark in parse_marks(sent) if not ends.isdisjoint(range(mark.start + 1, mark.end))]
    assert not halves, "a mark was sent in halves"
    assert [_unchecked(one) for one in citations] == [_unchecked(one) for one in answer.citations]
    return answer


def _check_citation(citation: Citation, answer: Answer, context: Context) -> None:
    quote = context.quote(citation.kind, citation.number)
    assert quote is not None, f"{citation.mark} points outside the context"
    assert answer.text[citation.start : citation.end] == citation.mark, f"{citation.mark} is not where it is said to be"
    assert (quote.id, quote.document, quote.page, quote.page_label, quote.bbox) == (
        citation.quote_id,
        citation.document,
        citation.page,
        citation.page_label,
        citation.bbox,
    ), f"{citation.mark} is not the quote of that number"


def _check_blocks(answer: Answer) -> None:
    at, cited = 0, list[Citation]()
    for block in answer.blocks:
        if isinstance(block, ImageBlock):
            assert not answer.text[at : block.citation.start].strip(), "a block lacks text"
            at = block.citation.end
            cited.append(block.citation)
        else:
            assert answer.text.startswith(block.text, at), "a block holds other text"
            at += len(block.text)
            cited += block.citations
    assert not answer.text[at:].strip(), "the blocks lack text"
    assert tuple(cited) == answer.citations, "the citations of the blocks are others"


def _unchecked(citation: Citation) -> Citation:
    return citation.model_copy(update={"verdict": None, "reason": None, "entailed": None, **_NOT_LOOKED_FOR})
