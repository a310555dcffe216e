"""Limits of a request's size and time, and the names under which callers are counted."""

import asyncio
import ipaddress
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.server.problems import ProblemError, respond

_UPLOAD = lazy_regex(r"/v1/collections/[^/]+/documents/?")
_BODY_STEP = 1 << 16
"""Bytes of a body after which a request gets its whole time again; a sender that is slower than that is cut off."""
_DISCARDED = 1 << 25
"""Bytes of a body beyond the limit that are read and thrown away, so that its sender gets to read why it is refused:
most HTTP clients send the whole body first, and fail with a broken connection if nobody reads it."""


class BodyLimit:
    """Refuses bodies with more bytes than the request's limit with 413; nothing beyond the limit is kept.

    Uploads of documents are not limited here: their route writes them to the disk as they come, and limits each file.
    """

    def __init__(self, app: ASGIApp, limit: Callable[[Scope], int]) -> None:
        self._app, self._limit_of = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http" or (scope["method"] == "POST" and _UPLOAD.fullmatch(scope["path"])):
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "")
        limit = self._limit_of(scope)
        limited = _LimitedBody(receive, send, limit)
        if declared.isdecimal() and int(declared[:20]) > limit:
            limited.exceeded = True
        else:
            try:
                await self._app(scope, limited.receive, limited.send)
            except Exception:
                if not limited.exceeded or limited.started:
                    raise
        if limited.exceeded and not limited.started:
            # A client that waits for "100 Continue" has not sent the body yet, and need not send it.
            if Headers(scope=scope).get("expect", "").lower() != "100-continue":
                await limited.discard()
            # As the rest of the body is not read, the connection cannot be used again.
            await respond(_too_large(limit).problem, Request(scope), {"Connection": "close"})(scope, receive, send)


def _too_large(limit: int) -> ProblemError:
    detail = f"the body of a request may have {limit:,} bytes; documents are uploaded to …/documents"
    return ProblemError(413, "body-too-large", detail)


class _LimitedBody:
    """Counts the bytes of a body; once there are too many, the application's response is not sent."""

    def __init__(self, receive: Receive, send: Send, limit: int) -> None:
        self._receive, self._send, self._remaining = receive, send, limit
        self.exceeded = self.started = False
        self._has_more = True  # whether the client has not sent all of it yet

    async def receive(self) -> Message:
        if self.exceeded:
            return {"type": "http.disconnect"}
        message = await self._part()
        if self._remaining < 0:
            self.exceeded = True
            # Pretend that the client has disconnected, which applications know how to handle.
            return {"type": "http.disconnect"}
        return message

    async def discard(self) -> None:
        """Read the rest of the body, `_DISCARDED` bytes at most."""
        self._remaining = _DISCARDED
        while self._has_more and self._remaining > 0:
            await self._part()

    async def _part(self) -> Message:
        message = await self._receive()
        self._remaining -= len(message.get("body", b""))
        self._has_more = message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        if self.exceeded and not self.started:
            return
        self.started = True
        await self._send(message)


class TimeLimit:
    """Ends requests for which nothing is sent for so many seconds: with 504, or by closing a response under way.

    A request whose body comes too slowly is ended in the same way. Work after a complete response is not limited.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        timed = _TimedRequest(receive, send, self._seconds)
        try:
            async with timed.limit:
                await self._app(scope, timed.receive, timed.send)
        except TimeoutError:
            if timed.started or not timed.limit.expired():
                raise
            slow = ProblemError(
                504,
                "too-slow",
                f"nothing could be sent within {self._seconds:g} seconds, the most that this server waits",
            )
            await respond(slow.problem, Request(scope), {"Connection": "close"})(scope, receive, send)


class _TimedRequest:
    """A request whose time starts again with each part that is sent, and as its body is read."""

    def __init__(self, receive: Receive, send: Send, seconds: float) -> None:
        self._receive, self._send, self._seconds = receive, send, seconds
        self.limit = asyncio.timeout(seconds)
        self.started = False
        self._bytes_read = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._bytes_read += len(message.get("body", b""))
        if self._bytes_read >= _BODY_STEP:
            self._bytes_read = 0
            self._give(self._seconds)
        return message

    async def send(self, message: Message) -> None:
        self.started = True
        await self._send(message)
        complete = message["type"] == "http.response.body" and not message.get("more_body")
        self._give(None if complete else self._seconds)

    def _give(self, seconds: float | None) -> None:
        if not self.limit.expired():
            self.limit.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)


def caller_of(scope: Scope, key_id: str | None) -> str:
    """Return the name under which a caller is counted: its key, else its address.

    For IPv6 it is the network, as a caller can choose any address within it.
    """
    if key_id is not None:
        return f"key {key_id}"
    host = str((scope.get("client") or ("unknown", 0))[0])
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return f"address {host}"
    if isinstance(address, ipaddress.IPv6Address):
        return f"address {ipaddress.ip_network((address, 64), strict=False)}"
    return f"address {address}"
