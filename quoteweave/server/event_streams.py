"""Responses of server-sent events: named by their type, and ended with an event where the server ends."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

import anyio
from sse_starlette import EventSourceResponse, ServerSentEvent

from quoteweave.core.records import Record
from quoteweave.server.answering import ErrorEvent
from quoteweave.server.problems import ProblemError, problem_of

LOG = logging.getLogger("quoteweave.server")
SEND_SECONDS = 30.0
"""Seconds that a client may take to read what is sent; a stream to one that reads no more is ended."""
BUFFERED = 16
"""Events that wait for a slow client; what makes them waits with them."""
Encode = Callable[[Record], ServerSentEvent]


def named_event(event: Record) -> ServerSentEvent:
    """Return the event as JSON under the name of its type."""
    return ServerSentEvent(data=event.model_dump_json(), event=str(event.__dict__["type"]))


def respond_with_events(
    events: AsyncGenerator[Record, None], *, grace: float, encode: Encode = named_event
) -> EventSourceResponse:
    """Return a response that sends the events as they come.

    Where the client leaves, `events` is closed, and with it the model's work. Where the server is told to end, answers
    have `grace` seconds to end by themselves; then an error event ends the stream.
    """
    ending = anyio.Event()
    content = _sent(events, ending, grace, encode)
    return EventSourceResponse(
        content, send_timeout=SEND_SECONDS, shutdown_event=ending, shutdown_grace_period=grace + 2.0
    )


async def _sent(
    events: AsyncGenerator[Record, None], ending: anyio.Event, grace: float, encode: Encode
) -> AsyncGenerator[ServerSentEvent, None]:
    # A generator with limits of time is to run within one task, and the response may close ours from another.
    send, receive = anyio.create_memory_object_stream[Record](BUFFERED)

    async def produce() -> None:
        async with aclosing(events):
            async for event in events:
                await send.send(event)
        send.close()

    async def end() -> None:
        await ending.wait()
        await asyncio.sleep(grace)
        producing.cancel()
        await asyncio.wait([producing])
        with suppress(anyio.ClosedResourceError):
            await send.send(ErrorEvent(problem=_ended().problem))
            send.close()

    producing = asyncio.create_task(produce())
    watching = asyncio.create_task(end())
    producing.add_done_callback(lambda task: _close_after_failure(task, send))
    try:
        async with receive:
            async for event in receive:
                yield encode(event)
        if not producing.cancelled() and (error := producing.exception()) is not None:
            LOG.error("a stream failed", exc_info=error)
            yield encode(ErrorEvent(problem=problem_of(error)))
    finally:
        watching.cancel()
        producing.cancel()
        await asyncio.wait([producing, watching])


def _close_after_failure(task: "asyncio.Task[None]", send: "anyio.abc.ObjectSendStream[Record]") -> None:
    if not task.cancelled() and task.exception() is not None:
        send.close()  # type: ignore[attr-defined]


def _ended() -> ProblemError:
    detail = "the server is ending, and the answer had not come to its end; ask again in a moment"
    return ProblemError(503, "shutting-down", "The server is ending", detail)
