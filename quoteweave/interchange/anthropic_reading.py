"""Reads messages of Claude's that cite search results, whole or streamed, as answers and their events."""

from collections.abc import Iterable, Iterator
from itertools import islice

from quoteweave.core.answer_events import AnswerEvent, CitationEvent, Event, ThoughtEvent
from quoteweave.core.answers import Answer, Citation, Context, Usage
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.generation.chat_generator import CUT_SHORT
from quoteweave.generation.citations import MarkResolver, build_answer, to_events
from quoteweave.interchange.anthropic import cited_quotes
from quoteweave.interchange.cited_text import CitedSource, CitedTextWriter, add_evidence, foreign_warning, with_evidence
from quoteweave.interchange.foreign_objects import ReadPart, read_part
from quoteweave.interchange.urls import QuoteUrls


class ClaudeReader:
    """Reads the events of one streamed message as the events of an answer.

    `context` is the one whose `search_result_blocks` were sent, and `first_result` the number of search results that
    stood before them in the request. What looks like a mark in Claude's text is changed to parentheses, and pictures
    that it cites are shown behind the sentence. The answer is `answered`, whatever it says: `Answer.citations` shows
    whether it cites anything.
    """

    def __init__(
        self, question: str, context: Context, *, first_result: int = 0, urls: QuoteUrls | None = None
    ) -> None:
        self._question, self._context = question, context
        self._first, self._urls = first_result, urls
        self._writer, self._resolver = CitedTextWriter(context), MarkResolver(context)
        self._text: list[str] = []
        self._cited: list[_Location] = []
        self._told = self._foreign = 0
        self._model, self._stop = "", ""
        self._usage = _Usage()

    def take(self, event: object) -> Iterator[Event]:
        """Take the next event, the SDK's object or its JSON; yield what follows from it.

        Events that the SDK's own helpers add (`text`, `citation`…) are passed over. Raises EndpointBadResponse for
        what is no event, for an `error` event, and at the end of a message without any text.
        """
        read = read_part(_StreamEvent, event, "an event of Claude's")
        if read.type == "message_start" and read.message is not None:
            self._begin(read.message)
        elif read.type == "content_block_start" and read.content_block is not None:
            yield from self._take_start(read.content_block)
        elif read.type == "content_block_delta" and read.delta is not None:
            yield from self._take_delta(read.delta)
        elif read.type == "content_block_stop":
            yield from self._end_block()
        elif read.type == "message_delta":
            self._stop = (read.delta and read.delta.stop_reason) or self._stop
            self._usage = read.usage.over(self._usage) if read.usage else self._usage
        elif read.type == "message_stop":
            yield from self._end()
        elif read.type == "error":
            raise EndpointBadResponse(f"Claude's message broke off: {read.error and read.error.message}. Ask again.")

    def _begin(self, message: "_Message") -> None:
        self._model = message.model
        self._usage = message.usage or self._usage

    def _take_start(self, block: "_Block") -> Iterator[Event]:
        if block.type == "text":
            self._cited += block.citations or []
            yield from self._add(self._writer.text(block.text or ""))

    def _take_delta(self, delta: "_Delta") -> Iterator[Event]:
        if delta.type == "text_delta":
            yield from self._add(self._writer.text(delta.text or ""))
        elif delta.type == "thinking_delta" and delta.thinking:
            yield ThoughtEvent(text=delta.thinking)
        elif delta.type == "citations_delta" and delta.citation is not None:
            self._cited.append(delta.citation)

    def _end_block(self) -> Iterator[Event]:
        cited, self._cited = self._cited, []
        sources = [source for location in cited for source in self._sources(location)]
        yield from self._add(self._writer.cite(sources))

    def _sources(self, location: "_Location") -> list[CitedSource]:
        found = []
        if location.type == "search_result_location":
            result = location.search_result_index - self._first
            found = cited_quotes(self._context, result, location.start_block_index, location.end_block_index)
        self._foreign += not found
        # Of several quotes it is not said which words are whose.
        words = location.cited_text if len(found) == 1 else ""
        return [CitedSource(kind=kind, number=number, words=words) for kind, number, _ in found]

    def _add(self, text: str) -> Iterator[Event]:
        if text:
            self._text.append(text)
            yield from self._numbered(to_events(self._resolver.feed(text)))

    def _numbered(self, events: Iterable[Event]) -> Iterator[Event]:
        """Add to each citation what the answer will have of it."""
        for event in events:
            if isinstance(event, CitationEvent):
                yield event.model_copy(update={"citation": self._complete(event.citation, self._told)})
                self._told += 1
            else:
                yield event

    def _complete(self, citation: Citation, place: int) -> Citation:
        quote = self._context.quote(citation.kind, citation.number)
        source = next(islice(self._writer.written, place, None))
        complete = citation if quote is None else add_evidence(citation, quote, source)
        return complete if self._urls is None else self._urls.citation(complete)

    def _end(self) -> Iterator[Event]:
        rest = self._writer.end()
        yield from self._add(rest)
        yield from self._numbered(to_events(self._resolver.end()))
        yield AnswerEvent(answer=self._answer())

    def _answer(self) -> Answer:
        text = "".join(self._text)
        if not text.strip():
            why = f" (stop reason {self._stop!r})" if self._stop else ""
            raise EndpointBadResponse(f"The model {self._model} wrote no text{why}: ask again.")
        warnings = [CUT_SHORT] if self._stop == "max_tokens" else []
        warnings += [foreign_warning(self._foreign)] if self._foreign else []
        built = build_answer(self._question, text, self._context, model=self._model, warnings=tuple(warnings))
        usage = Usage(input_tokens=self._usage.input_tokens, output_tokens=self._usage.output_tokens)
        answer = with_evidence(built, self._context, self._writer.written).model_copy(update={"usage": usage})
        return answer if self._urls is None else self._urls.answer(answer)


def read_message(
    message: object, question: str, context: Context, *, first_result: int = 0, urls: QuoteUrls | None = None
) -> Answer:
    """Read a complete message, the SDK's object or its JSON, as an answer; see `ClaudeReader`.

    Raises EndpointBadResponse for what is no message, and for one without text.
    """
    read = read_part(_Message, message, "a message of Claude's")
    reader = ClaudeReader(question, context, first_result=first_result, urls=urls)
    answer: Answer | None = None
    for event in (each for one in _events_of(read) for each in reader.take(one)):
        answer = event.answer if isinstance(event, AnswerEvent) else answer
    if answer is None:
        raise AssertionError("the reader ends with the answer")
    return answer


def _events_of(message: "_Message") -> Iterator["_StreamEvent"]:
    yield _StreamEvent(type="message_start", message=message)
    for block in message.content:
        yield _StreamEvent(type="content_block_start", content_block=block)
        yield _StreamEvent(type="content_block_stop")
    yield _StreamEvent(type="message_delta", delta=_Delta(stop_reason=message.stop_reason))
    yield _StreamEvent(type="message_stop")


class _Location(ReadPart):
    type: str
    search_result_index: int = -1
    start_block_index: int = -1
    end_block_index: int = -1
    cited_text: str = ""


class _Block(ReadPart):
    type: str
    text: str | None = None
    citations: list[_Location] | None = None


class _Usage(ReadPart):
    input_tokens: int | None = None
    output_tokens: int | None = None

    def over(self, before: "_Usage") -> "_Usage":
        """These counts, and those known before where this has none."""
        return _Usage.model_validate(before.model_dump() | self.model_dump(exclude_none=True))


class _Message(ReadPart):
    model: str
    content: list[_Block]
    stop_reason: str | None = None
    usage: _Usage | None = None


class _Delta(ReadPart):
    type: str | None = None
    text: str | None = None
    thinking: str | None = None
    citation: _Location | None = None
    stop_reason: str | None = None


class _Error(ReadPart):
    message: str = "it did not say why"


class _StreamEvent(ReadPart):
    type: str
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: _Error | None = None
