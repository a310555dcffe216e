"""Limits of what one caller may ask for: requests in a minute, requests at once, and the time that one may take.

The size of a request's body is limited by FastAPI's `max_body_size`. Each process counts for itself: with several
workers a caller may have as many times the requests as there are workers.
"""

import asyncio
import ipaddress
import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoteweave.server.problems import ProblemError, respond

MAX_AT_ONCE = 512
"""Requests of all callers that a process answers at the same time."""
_BODY_STEP = 1 << 16
"""Bytes of a request that give it the whole time again: who sends fewer in that time is cut off."""


class RequestRate:
    """Counts each caller's requests of the last minute."""

    def __init__(self) -> None:
        from limits.storage import MemoryStorage
        from limits.strategies import MovingWindowRateLimiter

        self._limiter = MovingWindowRateLimiter(MemoryStorage())

    def take(self, caller: str, per_minute: int | None) -> None:
        """Count a request. Raises ProblemError (429), with the seconds to wait, where there were so many already."""
        from limits import RateLimitItemPerMinute

        if per_minute is None:
            return
        limit = RateLimitItemPerMinute(per_minute)
        if self._limiter.hit(limit, caller):
            return
        left = self._limiter.get_window_stats(limit, caller).reset_time - time.time()
        wait = max(1, math.ceil(left))
        raise ProblemError(
            429,
            "too-many-requests",
            "Too many requests",
            f"{per_minute} requests a minute are allowed; send the next one in {wait} seconds",
            headers={"Retry-After": str(wait)},
        )


class RequestsAtOnce:
    """Counts the requests that are being answered, of each caller and of all; for one event loop."""

    def __init__(self, per_caller: int, *, total: int = MAX_AT_ONCE) -> None:
        self._per_caller, self._total = per_caller, total
        self._callers: Counter[str] = Counter()

    @contextmanager
    def hold(self, caller: str) -> Iterator[None]:
        """Count a request until the block ends.

        Raises ProblemError: 429 where the caller has as many as it may, 503 where all together have.
        """
        if self._callers[caller] >= self._per_caller:
            raise ProblemError(
                429,
                "too-many-at-once",
                "Too many requests at the same time",
                f"{self._per_caller} requests at the same time are allowed; wait until one of them is answered",
                headers={"Retry-After": "1"},
            )
        if self._callers.total() >= self._total:
            raise ProblemError(
                503,
                "busy",
                "The server is busy",
                f"the server answers {self._total} requests at the same time, and has so many; try again soon",
                headers={"Retry-After": "2"},
            )
        self._callers[caller] += 1
        try:
            yield
        finally:
            self._callers[caller] -= 1
            if not self._callers[caller]:
                del self._callers[caller]


class TimeLimit:
    """Ends requests for which nothing is sent for so many seconds: with 504, or by closing a response under way.

    A request whose body comes too slowly ends so as well. What runs behind a complete response is left alone.
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
                "The request took too long",
                f"nothing could be sent within {self._seconds:g} seconds, the most that this server waits",
            )
            await respond(slow.problem, Request(scope), {"Connection": "close"})(scope, receive, send)


class _TimedRequest:
    """A request that is given its time again with each part that is sent, or read, of it."""

    def __init__(self, receive: Receive, send: Send, seconds: float) -> None:
        self._receive, self._send, self._seconds = receive, send, seconds
        self.limit = asyncio.timeout(seconds)
        self.started = False
        self._read = 0

    async def receive(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read >= _BODY_STEP:
            self._read = 0
            self._give(self._seconds)
        return message

    async def send(self, message: Message) -> None:
        self.started = True
        if message["type"] == "http.response.start" and message["status"] == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
            # The rest of the body is not read, so the connection is of no more use.
            MutableHeaders(scope=message)["Connection"] = "close"
        await self._send(message)
        complete = message["type"] == "http.response.body" and not message.get("more_body")
        self._give(None if complete else self._seconds)

    def _give(self, seconds: float | None) -> None:
        if not self.limit.expired():
            self.limit.reschedule(None if seconds is None else asyncio.get_running_loop().time() + seconds)


def caller_of(scope: Scope, key_id: str | None) -> str:
    """Return by what a caller is counted: its key, or else its address; of IPv6 the network that it chooses from."""
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
