"""Anthropic's Messages API: quotes as `search_result` blocks, and Claude's citations of them read as answers.

A search result is a page, and each of its text blocks is one quote, so that the block indexes of a citation
(`search_result_location`) name quotes. Messages are read as the SDK's objects or as their JSON, whole or streamed.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from quoteweave.core.answers import Answer, AnswerEvent, Context, Event, ThoughtEvent, Usage
from quoteweave.core.errors import EndpointBadResponse
from quoteweave.core.records import Hit, Kind, Quote
from quoteweave.generation.chat_generator import ending_warnings
from quoteweave.generation.citations import build_answer
from quoteweave.generation.prompt_pictures import encode
from quoteweave.interchange.cited_text import (
    CitedEvents,
    CitedSource,
    ReadPart,
    foreign_warning,
    read_part,
    statements,
    with_evidence,
)
from quoteweave.interchange.quotes import QuoteUrls, numbered_hits, quote_text, quote_title

MAX_PICTURE_PIXELS = 1_568 * 1_568
"""Width and height in pixels; larger pictures are shrunk before they are sent, as Claude would shrink them."""


class CitationsConfig(TypedDict):
    """Whether the model may cite a block."""

    enabled: bool


class TextContent(TypedDict):
    """A `text` block."""

    type: Literal["text"]
    text: str


class SearchResult(TypedDict):
    """A `search_result` block."""

    type: Literal["search_result"]
    source: str
    title: str
    content: list[TextContent]
    citations: CitationsConfig


class Base64Source(TypedDict):
    """The bytes of an image."""

    type: Literal["base64"]
    media_type: str
    data: str


class ImageContent(TypedDict):
    """An `image` block."""

    type: Literal["image"]
    source: Base64Source


ContentBlock = SearchResult | TextContent | ImageContent


class SearchResultLocation(TypedDict):
    """A citation of text blocks of a search result; the end is exclusive."""

    type: Literal["search_result_location"]
    search_result_index: int
    start_block_index: int
    end_block_index: int
    cited_text: str
    source: str
    title: str | None


class CitedText(TextContent):
    """A `text` block of a message, with its citations."""

    citations: NotRequired[list[SearchResultLocation] | None]


def search_result_blocks(
    context: Context, *, urls: QuoteUrls | None = None, pictures: Mapping[str, bytes] | None = None
) -> list[ContentBlock]:
    """Make the content blocks that give Claude the quotes of a context, for a user's message or a tool's result.

    There is one search result for each page, with pages and quotes in the order of the context. `source` is the URL
    that shows the page at its first quote, or without `urls` the document's name. Image quotes give their words; those
    that have a picture in `pictures`, by quote id, also give it after all search results, below a line that names it.
    Raises UnfitPicture for a picture that is damaged or no PNG, JPEG, WebP or GIF.
    """
    blocks: list[ContentBlock] = [_search_result(page, urls) for page in _pages(context)]
    for hit in context.images:
        picture = (pictures or {}).get(hit.quote.id)
        if picture is not None:
            blocks += [{"type": "text", "text": f"The image of {quote_title(hit.quote)}:"}, _image(picture)]
    return blocks


def message_content(answer: Answer, context: Context, *, first_result: int = 0) -> list[CitedText]:
    """Write an answer as the text blocks of a message of Claude's, which cites the blocks of `search_result_blocks`.

    The marks are taken out: each becomes a citation of the block that ends where the mark was. `first_result` is the
    number of search results that come before those of this context in the request.
    """
    locations = _locations(context, first_result)
    blocks: list[CitedText] = []
    for statement in statements(answer):
        cited = [locations[citation.kind, citation.number] for citation in statement.citations]
        block: CitedText = {"type": "text", "text": statement.text}
        blocks.append({**block, "citations": cited} if cited else block)
    return blocks


def cited_quotes(context: Context, result: int, start: int, end: int) -> list[tuple[Kind, int, Quote]]:
    """Return the quotes that a citation names: blocks `start` to `end`, exclusive, of the search result `result`.

    Indexes count from 0, and `result` counts only the results of this context. Empty if they name no quote.
    """
    pages = _pages(context)
    if not (0 <= result < len(pages) and 0 <= start < end <= len(pages[result])):
        return []
    return [(kind, number, hit.quote) for kind, number, hit in pages[result][start:end]]


_Numbered = tuple[Kind, int, Hit]


def _pages(context: Context) -> list[list[_Numbered]]:
    """The quotes with their numbers, grouped by page."""
    pages: dict[tuple[str, int], list[_Numbered]] = {}
    for kind, number, hit in numbered_hits(context):
        pages.setdefault((hit.quote.document, hit.quote.page), []).append((kind, number, hit))
    return list(pages.values())


def _search_result(page: Sequence[_Numbered], urls: QuoteUrls | None) -> SearchResult:
    first = page[0][2].quote
    return {
        "type": "search_result",
        "source": first.document if urls is None else urls.quote(first.id),
        "title": quote_title(first),
        "content": [{"type": "text", "text": quote_text(hit.quote)} for _, _, hit in page],
        "citations": {"enabled": True},
    }


def _image(picture: bytes) -> ImageContent:
    head, _, data = encode(picture, MAX_PICTURE_PIXELS).url.partition(";base64,")
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": head.removeprefix("data:"), "data": data},
    }


def _locations(context: Context, first_result: int) -> dict[tuple[Kind, int], SearchResultLocation]:
    """The citation that names each quote."""
    return {
        (kind, number): {
            "type": "search_result_location",
            "search_result_index": first_result + result,
            "start_block_index": block,
            "end_block_index": block + 1,
            "cited_text": quote_text(hit.quote),
            "source": page[0][2].quote.document,
            "title": quote_title(page[0][2].quote),
        }
        for result, page in enumerate(_pages(context))
        for block, (kind, number, hit) in enumerate(page)
    }


class ClaudeReader:
    """Reads the events of one streamed message as the events of an answer.

    `context` is the one whose `search_result_blocks` were sent, and `first_result` the number of search results that
    came before them in the request. If Claude's text has something that looks like a mark, its brackets become
    parentheses. Pictures that it cites are shown after the sentence. The status is always `answered`;
    `Answer.citations` shows whether the answer cites anything.
    """

    def __init__(
        self, question: str, context: Context, *, first_result: int = 0, urls: QuoteUrls | None = None
    ) -> None:
        self._question, self._context = question, context
        self._first, self._urls = first_result, urls
        self._events = CitedEvents(context, urls)
        self._cited: list[_Location] = []
        self._foreign = 0
        self._model, self._stop = "", ""
        self._usage = _Usage()

    def take(self, event: object) -> Iterator[Event]:
        """Take the next event, the SDK's object or its JSON; yield what follows from it.

        Events that the SDK's own helpers add (`text`, `citation`…) are passed over. Raises EndpointBadResponse for
        what is no event, for an `error` event, and at the end of a message without any text.
        """
        parsed = read_part(_StreamEvent, event, "an event of Claude's")
        if parsed.type == "message_start" and parsed.message is not None:
            self._begin(parsed.message)
        elif parsed.type == "content_block_start" and parsed.content_block is not None:
            yield from self._take_start(parsed.content_block)
        elif parsed.type == "content_block_delta" and parsed.delta is not None:
            yield from self._take_delta(parsed.delta)
        elif parsed.type == "content_block_stop":
            yield from self._end_block()
        elif parsed.type == "message_delta":
            self._stop = (parsed.delta and parsed.delta.stop_reason) or self._stop
            self._usage = parsed.usage.over(self._usage) if parsed.usage else self._usage
        elif parsed.type == "message_stop":
            yield from self._end()
        elif parsed.type == "error":
            reason = parsed.error and parsed.error.message
            raise EndpointBadResponse(f"Claude's message broke off: {reason}. Ask again.")

    def _begin(self, message: "_Message") -> None:
        self._model = message.model
        self._usage = message.usage or self._usage

    def _take_start(self, block: "_Block") -> Iterator[Event]:
        if block.type == "text":
            self._cited += block.citations or []
            yield from self._events.write(block.text or "")

    def _take_delta(self, delta: "_Delta") -> Iterator[Event]:
        if delta.type == "text_delta":
            yield from self._events.write(delta.text or "")
        elif delta.type == "thinking_delta" and delta.thinking:
            yield ThoughtEvent(text=delta.thinking)
        elif delta.type == "citations_delta" and delta.citation is not None:
            self._cited.append(delta.citation)

    def _end_block(self) -> Iterator[Event]:
        cited, self._cited = self._cited, []
        sources = [source for location in cited for source in self._sources(location)]
        yield from self._events.cite(sources)

    def _sources(self, location: "_Location") -> list[CitedSource]:
        quotes = []
        if location.type == "search_result_location":
            result = location.search_result_index - self._first
            quotes = cited_quotes(self._context, result, location.start_block_index, location.end_block_index)
        self._foreign += not quotes
        # If a citation names several quotes, it does not say which words come from which.
        words = location.cited_text if len(quotes) == 1 else ""
        return [CitedSource(kind=kind, number=number, words=words) for kind, number, _ in quotes]

    def _end(self) -> Iterator[Event]:
        yield from self._events.end()
        yield AnswerEvent(answer=self._answer())

    def _answer(self) -> Answer:
        text = self._events.text
        if not text.strip():
            why = f" (stop reason {self._stop!r})" if self._stop else ""
            raise EndpointBadResponse(f"The model {self._model} wrote no text{why}: ask again.")
        warnings = ending_warnings(self._stop)
        warnings += [foreign_warning(self._foreign)] if self._foreign else []
        built = build_answer(self._question, text, self._context, model=self._model, warnings=tuple(warnings))
        usage = Usage(input_tokens=self._usage.input_tokens, output_tokens=self._usage.output_tokens)
        answer = with_evidence(built, self._context, self._events.sources).model_copy(update={"usage": usage})
        return answer if self._urls is None else self._urls.answer(answer)


def read_message(
    message: object, question: str, context: Context, *, first_result: int = 0, urls: QuoteUrls | None = None
) -> Answer:
    """Read a complete message, the SDK's object or its JSON, as an answer; see `ClaudeReader`.

    Raises EndpointBadResponse for what is no message, and for one without text.
    """
    parsed = read_part(_Message, message, "a message of Claude's")
    reader = ClaudeReader(question, context, first_result=first_result, urls=urls)
    answer: Answer | None = None
    for event in (event for message_event in _events_of(parsed) for event in reader.take(message_event)):
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
        """These counts, completed by earlier ones where this has none."""
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
