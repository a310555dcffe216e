"""Responses of server-sent events in the forms that clients read; if the server ends, an event says so."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import aclosing, suppress
from typing import Protocol, cast
from uuid import uuid4

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

from quoteweave.core.records import Record
from quoteweave.interchange import vercel
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.interchange.responses import ErrorEvent
from quoteweave.pipeline.rag import StreamEvent
from quoteweave.server.problems import ProblemError, problem_of

LOG = logging.getLogger("quoteweave.server")
BUFFERED = 16
"""Events that may wait for a slow client; when there are more, making them pauses."""
Sent = ServerSentEvent | bytes


class EventWriter(Protocol):
    """Writes the events of an answer in the form that a client reads."""

    headers: Mapping[str, str]

    def write(self, event: Record) -> Iterable[Sent]:
        """Return what is sent for an event; for the first event, this includes the beginning of the stream."""
        ...

    def end(self) -> Iterable[Sent]:
        """Return what the stream ends with."""
        ...


def named_event(event: Record) -> ServerSentEvent:
    """Return an event as it is sent: as JSON, under the name of its type."""
    return ServerSentEvent(data=event.model_dump_json(), event=str(event.__dict__["type"]))


class NamedEvents:
    """Writes each event as JSON under the name of its type."""

    headers: Mapping[str, str] = {}

    def write(self, event: Record) -> Iterable[Sent]:
        """Return the event."""
        return (named_event(event),)

    def end(self) -> Iterable[Sent]:
        """Return nothing: the answer is the last event."""
        return ()


class VercelEvents:
    """Writes Vercel's UI message stream."""

    headers: Mapping[str, str] = vercel.HEADERS

    def __init__(self, urls: QuoteUrls) -> None:
        self._stream = vercel.UiMessageStream(f"msg_{uuid4().hex}", urls=urls)
        self._has_begun = self._failed = False

    def write(self, event: Record) -> Iterable[Sent]:
        """Return the parts of an event."""
        parts = [] if self._has_begun else self._stream.start()
        self._has_begun = True
        if isinstance(event, ErrorEvent):
            self._failed = True
            parts += self._stream.fail(event.problem.detail)
        else:
            parts += self._stream.take(cast(StreamEvent, event))
        return [vercel.encode(part).encode() for part in parts]

    def end(self) -> Iterable[Sent]:
        """Return the parts that end the message, and the mark of the end."""
        parts = [] if self._failed else self._stream.finish()
        return [*(vercel.encode(part).encode() for part in parts), vercel.DONE.encode()]


def respond_with_events(
    events: AsyncGenerator[Record, None], writer: EventWriter, *, grace: float
) -> EventSourceResponse:
    """Return a response that sends the events as they come, as `writer` writes them.

    If the client leaves, `events` is closed, which stops the model. If the server is told to end, answers have `grace`
    seconds to end by themselves; then an error event ends the stream.
    """
    ending = anyio.Event()
    return EventSourceResponse(
        _stream_parts(events, ending, grace, writer),
        headers=writer.headers,
        shutdown_event=ending,
        shutdown_grace_period=grace + 2.0,
    )


async def _stream_parts(
    events: AsyncGenerator[Record, None], ending: anyio.Event, grace: float, writer: EventWriter
) -> AsyncGenerator[Sent, None]:
    # `events` has a task of its own, as time limits must stay within one, and the response may close this from another.
    send, receive = anyio.create_memory_object_stream[Record](BUFFERED)

    async def produce() -> None:
        async with aclosing(events):
            async for event in events:
                await send.send(event)
                await asyncio.sleep(0)  # let the event be sent before work on the next one occupies the loop
        send.close()

    async def end() -> None:
        await ending.wait()
        await asyncio.sleep(grace)
        producing.cancel()
        await asyncio.wait([producing])
        with suppress(anyio.ClosedResourceError):
            await send.send(ErrorEvent(problem=_shutting_down().problem))
            send.close()

    producing = asyncio.create_task(produce())
    watching = asyncio.create_task(end())
    producing.add_done_callback(lambda task: _close_after_failure(task, send))
    try:
        async with receive:
            async for event in receive:
                for sent in writer.write(event):
                    yield sent
        if not producing.cancelled() and (error := producing.exception()) is not None:
            LOG.error("a stream failed", exc_info=error)
            for sent in writer.write(ErrorEvent(problem=problem_of(error))):
                yield sent
        for sent in writer.end():
            yield sent
    finally:
        watching.cancel()
        producing.cancel()
        await asyncio.wait([producing, watching])


def _close_after_failure(task: "asyncio.Task[None]", send: "anyio.abc.ObjectSendStream[Record]") -> None:
    if not task.cancelled() and task.exception() is not None:
        send.close()  # type: ignore[attr-defined]


def _shutting_down() -> ProblemError:
    detail = "the server is ending, and the answer had not come to its end; ask again in a moment"
    return ProblemError(503, "shutting-down", detail)
