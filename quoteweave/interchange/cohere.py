"""Cohere's chat API, version 2: quotes as `documents`, and the citations of a response as an answer.

A document has its quote's id, by which the response's citations name it. Responses are read as the SDK's objects or as
their JSON. Offsets count characters of the text item to which they belong.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, TypedDict

from quoteweave.core.answers import Answer, AnswerEvent, Citation, Context, Event, ThoughtEvent, Usage
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.generation.chat_generator import ending_warnings
from quoteweave.generation.citations import build_answer
from quoteweave.interchange.cited_text import (
    CitedEvents,
    CitedSource,
    CitedTextWriter,
    ReadPart,
    foreign_warning,
    read_part,
    statements,
    with_evidence,
)
from quoteweave.interchange.quotes import QuoteUrls, numbered_hits, quote_text, quote_title

# The end of a sentence or line that is followed by more text: Cohere cites a sentence before it writes the next.
_SENTENCE_END = lazy_regex(r"(?:[.!?…]\s+|[。！？]\s*|\n\s*)(?=\S)")


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
    """Make the `documents` of a chat request: one for each quote, with title, words and, given `urls`, its URL."""
    return [_document(hit.quote, urls) for hit in context.hits]


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
    """Read a response to a request with the `documents` of this context as an answer, with marks where citations end.

    `model` has to be given, as responses do not name it. If the text has something that looks like a mark, its brackets
    become parentheses. A citation whose offsets and text disagree is placed by its text if that occurs exactly once;
    otherwise it is left out with a warning, as are citations of other sources. Raises EndpointBadResponse for what is
    no response, and for one without text.
    """
    parsed = read_part(_Response, response, "a response of Cohere's chat API")
    answer = _answer(parsed, question, context, model)
    return answer if urls is None else urls.answer(answer)


class CohereReader:
    """Reads the events of one streamed response as the events of an answer; see `read_response`.

    Text is yielded one sentence at a time, with the citations that have come by then. Cohere may cite text later: in
    its mode `ACCURATE`, only when all text is written. From the first such citation on, text is yielded without marks;
    the answer, which is the last event, has all of them.
    """

    def __init__(self, question: str, context: Context, *, model: str, urls: QuoteUrls | None = None) -> None:
        self._question, self._context, self._model, self._urls = question, context, model, urls
        self._events = CitedEvents(context, urls)
        self._contents: dict[int, _Content] = {}
        self._yielded: dict[int, int] = {}  # how many characters of each content were yielded
        self._citations: list[_Citation] = []
        self._late = False

    def take(self, event: object) -> Iterator[Event]:
        """Take the next event, the SDK's object or its JSON; yield what follows from it.

        Raises EndpointBadResponse for what is no event, and at the end of a response without any text.
        """
        parsed = read_part(_StreamEvent, event, "an event of Cohere's chat API")
        if parsed.type in ("content-start", "content-delta"):
            yield from self._take_content(parsed)
        elif parsed.type == "citation-start":
            self._take_citation(read_part(_CitationDelta, parsed.delta, "a citation of a response").message.citations)
        elif parsed.type == "message-end":
            yield from self._end(read_part(_End, parsed.delta, "the end of a response"))

    def _take_content(self, event: "_StreamEvent") -> Iterator[Event]:
        more = read_part(_ContentDelta, event.delta, "part of a response's text").message.content
        index = event.index or 0
        for before in sorted(earlier for earlier in self._contents if earlier < index):
            yield from self._yield_text(before)
        self._contents[index] = self._contents.get(index, _Content(type="text")).joined(more)
        if more.thinking:
            yield ThoughtEvent(text=more.thinking)
        sentences = [match.end() for match in _SENTENCE_END.finditer(self._text(index), self._yielded.get(index, 0))]
        if sentences:
            yield from self._yield_text(index, sentences[-1])

    def _take_citation(self, citation: "_Citation") -> None:
        self._citations.append(citation)
        if citation.is_of_text():
            index = citation.content_index or 0
            end = citation.end_in(self._text(index))
            self._late = self._late or end is None or end <= self._yielded.get(index, 0)

    def _text(self, index: int) -> str:
        content = self._contents[index] if index in self._contents else _Content()
        return content.text or "" if content.type == "text" else ""

    def _yield_text(self, index: int, end: int | None = None) -> Iterator[Event]:
        """Yield the text of this content up to `end`, with the citations that end in it."""
        text, start = self._text(index), self._yielded.get(index, 0)
        at, end = start, len(text) if end is None else end
        for cited, sources in [] if self._late else _citation_ends(self._citations, index, text, self._context):
            if start < cited <= end:
                yield from self._events.write(text[at:cited])
                yield from self._events.cite(sources)
                at = cited
        yield from self._events.write(text[at:end])
        self._yielded[index] = max(start, end)

    def _end(self, end: "_End") -> Iterator[Event]:
        for index in sorted(self._contents):
            yield from self._yield_text(index)
        yield from self._events.end()
        # Items of reasoning are filled in, as indexes of the content count them, too.
        content = [
            self._contents.get(index, _Content(type="thinking")) for index in range(max(self._contents, default=-1) + 1)
        ]
        message = _Message(content=content, citations=self._citations)
        response = _Response(message=message, finish_reason=end.finish_reason, usage=end.usage)
        answer = _answer(response, self._question, self._context, self._model)
        yield AnswerEvent(answer=answer if self._urls is None else self._urls.answer(answer))


def _document(quote: Quote, urls: QuoteUrls | None) -> CohereDocument:
    data = {"title": quote_title(quote), "text": quote_text(quote)}
    return {"id": quote.id, "data": data if urls is None else {**data, "url": urls.quote(quote.id)}}


def _source(citation: Citation, context: Context, urls: QuoteUrls | None) -> CohereSource:
    quote = context.quote(citation.kind, citation.number)
    document = {} if quote is None else _document(quote, urls)["data"]
    return {"type": "document", "id": citation.quote_id, "document": {"id": citation.quote_id, **document}}


def _answer(response: "_Response", question: str, context: Context, model: str) -> Answer:
    writer, text, left_out = CitedTextWriter(context), "", 0
    for index, part in enumerate(response.message.content or []):
        if part.type != "text" or not part.text:
            continue
        at = 0
        for end, sources in _citation_ends(response.message.citations or [], index, part.text, context):
            text += writer.text(part.text[at:end]) + writer.cite(sources)
            at, left_out = end, left_out + (not sources)
        text += writer.text(part.text[at:])
    text += writer.end()
    if not text.strip():
        raise EndpointBadResponse(f"The model {model} wrote no text: ask again.")
    warnings = ending_warnings(response.finish_reason)
    warnings += [foreign_warning(left_out)] if left_out else []
    built = build_answer(question, text, context, model=model, warnings=tuple(warnings))
    return with_evidence(built, context, writer.written).model_copy(update={"usage": _usage(response.usage)})


def _citation(start: int, text: str, sources: list[CohereSource]) -> CohereCitation:
    """A citation of `text` from `start` to its end."""
    return {
        "start": start,
        "end": len(text),
        "text": text[start:],
        "sources": sources,
        "content_index": 0,
        "type": "TEXT_CONTENT",
    }


def _citation_ends(
    citations: Sequence["_Citation"], index: int, text: str, context: Context
) -> list[tuple[int, list[CitedSource]]]:
    """Where each citation of this item of the content ends, in order, with the quotes that it names."""
    numbers = {hit.quote.id: (kind, number) for kind, number, hit in numbered_hits(context)}
    placed: list[tuple[int, list[CitedSource]]] = []
    for citation in citations:
        if (citation.content_index or 0) != index or not citation.is_of_text():
            continue
        end = _find_end(citation, text)
        known = [numbers[source.id] for source in citation.sources or [] if source.id in numbers]
        sources = [CitedSource(kind=kind, number=number) for kind, number in known if end is not None]
        placed.append((len(text) if end is None else end, sources))
    return sorted(placed, key=lambda placed_end: placed_end[0])


def _find_end(citation: "_Citation", text: str) -> int | None:
    """Where the cited text ends; None if that cannot be known."""
    end, cited = citation.end_in(text), citation.text
    if end is not None:
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

    def is_of_text(self) -> bool:
        """Whether it cites the answer's text, and not reasoning."""
        return self.type in (None, "TEXT_CONTENT")

    def end_in(self, text: str) -> int | None:
        """Where it ends in this text by its offsets; None if its words are not there."""
        start, end = self.start, self.end
        fits = start is not None and end is not None and 0 <= start <= end <= len(text)
        return end if fits and self.text in (None, text[start:end]) else None


class _Content(ReadPart):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None

    def joined(self, more: "_Content") -> "_Content":
        """This content with the text that follows; the first part, which has no text yet, gives the type."""
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
