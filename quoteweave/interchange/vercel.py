"""The UI message stream of Vercel's AI SDK: an answer's events as the parts that `useChat` reads.

Protocol: UI message stream `v1` (header `x-vercel-ai-ui-message-stream: v1`), of AI SDK 5 and 6: server-sent events of
one JSON part each, ended by `[DONE]`. Only parts and fields that both versions accept are sent, as their schemas are
strict.

The answer's text comes as text parts that contain marks such as `[1]`. A shown image ends a text part and is a `file`
part in place of its mark, or words if it has no URL; apart from that, the text parts joined are the answer's text.
Each cited quote is one `source-url`, or `source-document` if it has no URL. Our own records come as `data-sources` (the
quotes found), `data-citation` (one for each citation, sent again under its id if the check of the answer changed it)
and `data-answer`. In `data-citation`, `shown` gives the place of a text mark: its text part and the characters in it.
"""

import json
import mimetypes
from collections.abc import AsyncIterable, AsyncIterator, Iterator, Mapping

from quoteweave.core.answers import Answer, AnswerEvent, Citation, CitationEvent, TextEvent, ThoughtEvent
from quoteweave.core.errors import QuoteweaveError
from quoteweave.interchange.quotes import QuoteUrls, citation_title, quote_title
from quoteweave.interchange.shown_text import is_image_mark, shown_image
from quoteweave.pipeline.rag import SourcesEvent, StreamEvent

HEADERS: Mapping[str, str] = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache",
    "x-vercel-ai-ui-message-stream": "v1",
    "x-accel-buffering": "no",
}
"""Headers of the response; the last one stops proxies from buffering the stream."""
DONE = "data: [DONE]\n\n"

Part = dict[str, object]


class UiMessageStream:
    """Turns the events of one answer into parts. Begin with `start`, and end with `finish` or `fail`.

    If `urls` are given, citations without URLs get them.
    """

    def __init__(self, message_id: str, *, urls: QuoteUrls | None = None) -> None:
        self._message_id, self._urls = message_id, urls
        self._open: tuple[str, str] | None = None  # kind and id of the part that is being written
        self._written = 0  # number of parts begun
        self._media_types: dict[str, str] = {}  # media types of images, by quote id
        self._sources: set[str] = set()
        self._cited: dict[str, tuple[Citation, Part | None]] = {}  # citations, and where their marks are shown
        self._pending_mark = ""  # an image mark, until its citation says whether there is an image to show
        self._length = 0  # characters of the text part that is being written

    def start(self) -> list[Part]:
        """Return the parts that begin the message."""
        return [{"type": "start", "messageId": self._message_id}]

    def take(self, event: StreamEvent) -> list[Part]:
        """Take the next event; return its parts."""
        event = event if self._urls is None else self._urls.event(event)
        if isinstance(event, CitationEvent):
            return list(self._cite(event.citation))
        return [*self._release(), *self._parts(event)]

    def finish(self) -> list[Part]:
        """Return the parts that end the message."""
        return [*self._release(), *self._close(), {"type": "finish"}]

    def fail(self, message: str) -> list[Part]:
        """Return the parts that end the message with an error, which a user may read."""
        return [*self._release(), *self._close(), {"type": "error", "errorText": message}]

    def _parts(self, event: StreamEvent) -> Iterator[Part]:
        if isinstance(event, SourcesEvent):
            yield from self._source_list(event)
        elif isinstance(event, ThoughtEvent):
            yield from self._write("reasoning", event.text)
        elif isinstance(event, TextEvent):
            if is_image_mark(event.text):
                self._pending_mark = event.text
            else:
                yield from self._write("text", event.text)
        elif isinstance(event, AnswerEvent):
            yield from self._close()
            yield from self._changed_citations(event.answer)
            yield {"type": "data-answer", "id": "answer", "data": event.answer.model_dump(mode="json")}

    def _source_list(self, event: SourcesEvent) -> Iterator[Part]:
        hits = event.context.hits
        guessed = ((hit.quote.id, mimetypes.guess_type(hit.quote.image or "")[0]) for hit in event.context.images)
        self._media_types = {quote_id: guess for quote_id, guess in guessed if guess}
        quotes = [
            {
                "id": hit.quote.id,
                "title": quote_title(hit.quote),
                "kind": hit.quote.kind,
                "url": None if self._urls is None else self._urls.quote(hit.quote.id),
            }
            for hit in hits
        ]
        yield {"type": "data-sources", "id": "sources", "data": quotes}

    def _cite(self, citation: Citation) -> Iterator[Part]:
        image, text = citation.image_url if self._pending_mark else None, citation.mark
        if self._pending_mark and not citation.has_picture:
            self._pending_mark = text = shown_image(citation)
        shown: Part | None = None
        if image is not None:
            self._pending_mark = ""
            yield from self._close()
            media_type = self._media_types.get(citation.quote_id, "image/png")
            yield {"type": "file", "url": image, "mediaType": media_type}
        else:
            yield from self._release()
            if self._open is not None:
                shown = {"part": self._open[1], "start": self._length - len(text), "end": self._length}
        if citation.quote_id not in self._sources:
            self._sources.add(citation.quote_id)
            yield _source_part(citation)
        self._cited[_citation_id(citation)] = citation, shown
        yield _data_citation(citation, shown)

    def _changed_citations(self, answer: Answer) -> Iterator[Part]:
        """The citations of the answer that differ from those sent; the client replaces parts with the same id."""
        for citation in answer.citations:
            sent, shown = self._cited.get(_citation_id(citation), (None, None))
            if sent != citation:
                self._cited[_citation_id(citation)] = citation, shown
                yield _data_citation(citation, shown)

    def _release(self) -> Iterator[Part]:
        mark, self._pending_mark = self._pending_mark, ""
        yield from self._write("text", mark)

    def _write(self, kind: str, text: str) -> Iterator[Part]:
        if not text:
            return
        if self._open is None or self._open[0] != kind:
            yield from self._close()
            self._written += 1
            self._open, self._length = (kind, f"{kind}-{self._written}"), 0
            yield {"type": f"{kind}-start", "id": self._open[1]}
        self._length += len(text)
        yield {"type": f"{kind}-delta", "id": self._open[1], "delta": text}

    def _close(self) -> Iterator[Part]:
        if self._open is not None:
            kind, part_id = self._open
            self._open = None
            yield {"type": f"{kind}-end", "id": part_id}


async def ui_message_stream(
    events: AsyncIterable[StreamEvent], message_id: str, *, urls: QuoteUrls | None = None
) -> AsyncIterator[str]:
    """Yield the body of the response: the parts of all events, and `[DONE]`.

    A QuoteweaveError ends the message with its text. Other errors are raised, so that the server can log them.
    """
    stream = UiMessageStream(message_id, urls=urls)
    for part in stream.start():
        yield encode(part)
    try:
        async for event in events:
            for part in stream.take(event):
                yield encode(part)
    except QuoteweaveError as error:
        last = stream.fail(str(error))
    else:
        last = stream.finish()
    for part in last:
        yield encode(part)
    yield DONE


def encode(part: Part) -> str:
    """Write a part as a server-sent event."""
    return f"data: {json.dumps(part, ensure_ascii=False, separators=(',', ':'))}\n\n"


def _source_part(citation: Citation) -> Part:
    title = citation_title(citation)
    if citation.url is not None:
        return {"type": "source-url", "sourceId": citation.quote_id, "url": citation.url, "title": title}
    media_type = mimetypes.guess_type(citation.document)[0] or "application/octet-stream"
    return {
        "type": "source-document",
        "sourceId": citation.quote_id,
        "mediaType": media_type,
        "title": title,
        "filename": citation.document,
    }


def _data_citation(citation: Citation, shown: Part | None) -> Part:
    data: Part = {"citation": citation.model_dump(mode="json"), "shown": shown}
    return {"type": "data-citation", "id": _citation_id(citation), "data": data}


def _citation_id(citation: Citation) -> str:
    return f"{citation.start}-{citation.kind}-{citation.number}"
