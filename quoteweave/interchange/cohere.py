"""Cohere's chat API, version 2: quotes as `documents`, and the citations of a response as an answer.

A document's id is its quote's, which the response's citations name. Responses are read as the SDK's objects or as their
JSON. Offsets count characters of the text that they stand in.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict

from quoteweave.core.answers import Answer, Citation, Context, Usage
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.records import Hit, Kind, Quote
from quoteweave.generation.chat_generator import CUT_SHORT
from quoteweave.generation.citations import build_answer
from quoteweave.interchange.cited_text import (
    CitedSource,
    CitedTextWriter,
    ReadPart,
    foreign_warning,
    read_part,
    statements,
    with_evidence,
)
from quoteweave.interchange.quote_labels import quote_title, quote_words
from quoteweave.interchange.urls import QuoteUrls


class CohereDocument(TypedDict):
    """An item of a request's `documents`. The model sees every field of `data`."""

    id: str
    data: dict[str, str]


class CohereSource(TypedDict):
    """What a citation refers to."""

    type: Literal["document"]
    id: str
    document: dict[str, str]


class CohereCitation(TypedDict):
    """A citation of a response's message: `text` is its text from `start` to `end`."""

    start: int
    end: int
    text: str
    sources: list[CohereSource]
    content_index: int
    type: Literal["TEXT_CONTENT"]


class CohereText(TypedDict):
    """An item of a message's content."""

    type: Literal["text"]
    text: str


class CohereMessage(TypedDict):
    """An assistant's message."""

    role: Literal["assistant"]
    content: list[CohereText]
    citations: list[CohereCitation]


def documents(context: Context, *, urls: QuoteUrls | None = None) -> list[CohereDocument]:
    """Make the `documents` of a chat request: a quote each, with its title, its words, and its URL where `urls` say."""
    return [_document(hit.quote, urls) for hit in (*context.texts, *context.images)]


def response_message(answer: Answer, context: Context, *, urls: QuoteUrls | None = None) -> CohereMessage:
    """Write an answer as the message of a response, which cites the ids of `documents`; the marks are taken out."""
    text, citations = "", []
    for statement in statements(answer):
        start = len(text) + len(statement.text) - len(statement.text.lstrip() or statement.text)
        text += statement.text
        sources = [_source(citation, context, urls) for citation in statement.citations]
        if sources:
            citations.append(_citation(start, text, sources))
    return {"role": "assistant", "content": [{"type": "text", "text": text}], "citations": citations}


def read_response(
    response: object, question: str, context: Context, *, model: str, urls: QuoteUrls | None = None
) -> Answer:
    """Read a response to a request with the `documents` of this context as an answer, its marks where citations end.

    Responses do not name their `model`. What looks like a mark in the text is changed to parentheses. A citation whose
    offsets and text disagree is placed by its text, where that occurs once, and is otherwise left out with a warning,
    as are citations of other sources. Raises EndpointBadResponse for what is no response, and for one without text.
    """
    read = read_part(_Response, response, "a response of Cohere's chat API")
    writer, text, left_out = CitedTextWriter(context), "", 0
    for index, part in enumerate(read.message.content or []):
        if part.type != "text" or not part.text:
            continue
        at = 0
        for end, sources in _placed(read.message.citations or [], index, part.text, context):
            text += writer.text(part.text[at:end]) + writer.cite(sources)
            at, left_out = end, left_out + (not sources)
        text += writer.text(part.text[at:])
    text += writer.end()
    if not text.strip():
        raise EndpointBadResponse(f"The model {model} wrote no text: ask again.")
    warnings = [CUT_SHORT] if read.finish_reason == "MAX_TOKENS" else []
    warnings += [foreign_warning(left_out)] if left_out else []
    built = build_answer(question, text, context, model=model, warnings=tuple(warnings))
    answer = with_evidence(built, context, writer.written).model_copy(update={"usage": _usage(read.usage)})
    return answer if urls is None else urls.answer(answer)


def collect_stream(events: Iterable[object]) -> Mapping[str, object]:
    """Collect the events of a streamed response, objects or JSON, into the response that `read_response` reads.

    A citation may come after text that follows what it cites, so that a streamed answer is known when it is complete.
    Raises EndpointBadResponse for what is no event.
    """
    texts: dict[int, _Content] = {}
    citations: list[_Citation] = []
    end = _End()
    for event in events:
        read = read_part(_StreamEvent, event, "an event of Cohere's chat API")
        if read.type in ("content-start", "content-delta"):
            delta = read_part(_ContentDelta, read.delta, "part of a response's text")
            known = texts.setdefault(read.index or 0, _Content(type="text"))
            texts[read.index or 0] = known.joined(delta.message.content)
        elif read.type == "citation-start":
            citations.append(read_part(_CitationDelta, read.delta, "a citation of a response").message.citations)
        elif read.type == "message-end":
            end = read_part(_End, read.delta, "the end of a response")
    # Indexes of the content count reasoning too.
    content = [texts.get(index, _Content(type="thinking")) for index in range(max(texts, default=-1) + 1)]
    message = _Message(content=content, citations=citations)
    return _Response(message=message, finish_reason=end.finish_reason, usage=end.usage).model_dump()


def _document(quote: Quote, urls: QuoteUrls | None) -> CohereDocument:
    data = {"title": quote_title(quote), "text": quote_words(quote)}
    return {"id": quote.id, "data": data if urls is None else {**data, "url": urls.quote(quote.id)}}


def _source(citation: Citation, context: Context, urls: QuoteUrls | None) -> CohereSource:
    quote = context.quote(citation.kind, citation.number)
    document = {} if quote is None else _document(quote, urls)["data"]
    return {"type": "document", "id": citation.quote_id, "document": {"id": citation.quote_id, **document}}


def _citation(start: int, text: str, sources: list[CohereSource]) -> CohereCitation:
    """A citation of the end of `text`, from `start`."""
    return {
        "start": start,
        "end": len(text),
        "text": text[start:],
        "sources": sources,
        "content_index": 0,
        "type": "TEXT_CONTENT",
    }


def _placed(
    citations: Sequence["_Citation"], index: int, text: str, context: Context
) -> list[tuple[int, list[CitedSource]]]:
    """Where each citation of this item of the content ends, in order, with the quotes that it names."""
    given: list[tuple[Kind, Sequence[Hit]]] = [("text", context.texts), ("image", context.images)]
    numbers = {hit.quote.id: (kind, number) for kind, hits in given for number, hit in enumerate(hits, 1)}
    placed: list[tuple[int, list[CitedSource]]] = []
    for citation in citations:
        if (citation.content_index or 0) != index or citation.type not in (None, "TEXT_CONTENT"):
            continue
        end = _end(citation, text)
        known = [numbers[source.id] for source in citation.sources or [] if source.id in numbers]
        sources = [CitedSource(kind=kind, number=number) for kind, number in known if end is not None]
        placed.append((len(text) if end is None else end, sources))
    return sorted(placed, key=lambda one: one[0])


def _end(citation: "_Citation", text: str) -> int | None:
    """Where the cited text ends; None where that cannot be known."""
    start, end, cited = citation.start, citation.end, citation.text
    if start is not None and end is not None and 0 <= start <= end <= len(text) and cited in (None, text[start:end]):
        return end
    return text.index(cited) + len(cited) if cited and text.count(cited) == 1 else None


def _usage(usage: "_Usage | None") -> Usage:
    tokens = usage.tokens if usage else None
    if tokens is None:
        return Usage()
    return Usage(
        input_tokens=None if tokens.input_tokens is None else int(tokens.input_tokens),
        output_tokens=None if tokens.output_tokens is None else int(tokens.output_tokens),
    )


class _Source(ReadPart):
    id: str | None = None


class _Citation(ReadPart):
    start: int | None = None
    end: int | None = None
    text: str | None = None
    sources: list[_Source] | None = None
    content_index: int | None = None
    type: str | None = None


class _Content(ReadPart):
    type: str | None = None
    text: str | None = None

    def joined(self, more: "_Content") -> "_Content":
        """This content and the text that follows; what has no text yet says what the content is."""
        return _Content(type=more.type or self.type, text=(self.text or "") + (more.text or ""))


class _Message(ReadPart):
    content: list[_Content] | None = None
    citations: list[_Citation] | None = None


class _Tokens(ReadPart):
    input_tokens: float | None = None
    output_tokens: float | None = None


class _Usage(ReadPart):
    tokens: _Tokens | None = None


class _Response(ReadPart):
    message: _Message
    finish_reason: str | None = None
    usage: _Usage | None = None


class _ContentMessage(ReadPart):
    content: _Content


class _ContentDelta(ReadPart):
    message: _ContentMessage


class _CitationMessage(ReadPart):
    citations: _Citation


class _CitationDelta(ReadPart):
    message: _CitationMessage


class _End(ReadPart):
    finish_reason: str | None = None
    usage: _Usage | None = None


class _StreamEvent(ReadPart):
    type: str | None = None
    index: int | None = None
    delta: object = None
