"""The HTTP client below all endpoints: bounds what a server may send, and sends nothing on to another origin.

There is one for each event loop: to make one takes some 20 ms, and its connections to servers stay open.
"""

import asyncio
import ssl
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Hashable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING
from urllib.request import getproxies

import httpcore2
import httpx2
from httpx2 import USE_CLIENT_DEFAULT

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_IN_BODY = 16 * 2**20
"""Most bytes of a response read as a whole, decompressed. Parsing JSON of this size takes up to some 0.7 GB."""
MAX_IN_STREAM = 64 * 2**20
"""Most bytes of a streamed response, decompressed."""
MAX_IN_EVENT = 4 * 2**20
"""Most bytes of one event of a stream, on one line or many, as it is kept in memory until its end."""
_MAX_REDIRECTS = 5
# As many as OpenAI's SDK opens, whose own client would take half a second to import.
MAX_CONNECTIONS, MAX_IDLE = 1000, 100
_KEPT_S = 5.0
"""Seconds for which an idle connection is kept."""
_LIMITS = httpx2.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_IDLE, keepalive_expiry=_KEPT_S)
_PROXIED = ("http", "https", "all")


class ResponseTooLarge(Exception):
    """A server's response is larger than the limit; the message says how large it may be."""


class _Pool(httpcore2.AsyncConnectionPool):
    """Connections that stay open; the next request to an origin goes by the one that was used last.

    The library's own pool looks at every connection whenever a request of any of them begins or ends, and asks each
    idle one whether the server has closed it: a quarter of the processor time of a run with 64 requests under way.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        super().__init__(tls)
        self._tls = tls
        self._idle: defaultdict[str, list[httpcore2.AsyncConnectionInterface]] = defaultdict(list)  # by origin
        self._free = asyncio.Semaphore(MAX_CONNECTIONS)

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        """Send a request; its connection is free again when the response is closed."""
        await self._free.acquire()
        try:
            connection = await self._connection(request.url.origin)
            response = await connection.handle_async_request(request)
        except BaseException:  # of which the connection has closed itself
            self._free.release()
            raise
        content = _PooledBody(response, lambda: self._used(request.url.origin, connection))
        return httpcore2.Response(
            response.status, headers=response.headers, content=content, extensions=response.extensions
        )

    async def aclose(self) -> None:
        """Close all connections that are idle; the others are closed with their responses."""
        for connections in self._idle.values():
            while connections:
                await connections.pop().aclose()

    async def _connection(self, origin: httpcore2.Origin) -> httpcore2.AsyncConnectionInterface:
        idle = self._idle[str(origin)]
        while idle:
            connection = idle.pop()
            if not connection.has_expired():
                return connection
            await connection.aclose()
        return httpcore2.AsyncHTTPConnection(origin, self._tls, keepalive_expiry=_KEPT_S)

    async def _used(self, origin: httpcore2.Origin, connection: httpcore2.AsyncConnectionInterface) -> None:
        self._free.release()
        if connection.is_idle():
            self._idle[str(origin)].append(connection)
        for idle in self._idle.values():
            while idle and (len(idle) > MAX_IDLE or idle[0].has_expired()):
                await idle.pop(0).aclose()


class _PooledBody:
    """The body of a response, whose end gives its connection back."""

    def __init__(self, response: httpcore2.Response, end: Callable[[], Awaitable[None]]) -> None:
        self._response, self._end = response, end
        self._ended = False

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._response.aiter_stream()

    async def aclose(self) -> None:
        """Close the response, once."""
        if not self._ended:
            self._ended = True
            try:
                await self._response.aclose()
            finally:
                await self._end()


class _Transport(httpx2.AsyncHTTPTransport):
    def __init__(self) -> None:
        tls = httpx2.create_ssl_context()
        super().__init__(verify=tls)
        self._pool = _Pool(tls)


class BoundedClient(httpx2.AsyncClient):
    """A client for servers that are not trusted.

    The size of a response is limited, counted after decompression. A redirect is followed only to the origin
    (scheme, host and port) that was asked, and only as the same request (307, 308): any other is returned as the
    response, for the caller to report.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport | None = None) -> None:
        # Callers with different keys share it, so nothing that a server tells one of them may come back with another.
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        if transport is None and getproxies().keys().isdisjoint(_PROXIED):
            transport = _Transport()  # with one of its own, a client does not see to proxies
        super().__init__(transport=transport, limits=_LIMITS, cookies=cookies)
        self.sdk_clients: dict[Hashable, AsyncOpenAI] = {}
        """Clients of OpenAI's SDK that send by this one, by what they were made of (`connection`)."""

    async def send(
        self,
        request: httpx2.Request,
        *,
        stream: bool = False,
        auth: "httpx2._types.AuthTypes | httpx2._client.UseClientDefault | None" = USE_CLIENT_DEFAULT,
        follow_redirects: "bool | httpx2._client.UseClientDefault" = False,  # noqa: ARG002  # as the base has it
    ) -> httpx2.Response:
        """Send a request; the response's bytes are decompressed. Raises as the base class, and ResponseTooLarge."""
        response = await super().send(request, stream=True, auth=auth, follow_redirects=False)
        for _ in range(_MAX_REDIRECTS):
            onward = response.next_request
            if response.status_code not in (307, 308) or onward is None or not _one_origin(request.url, onward.url):
                break
            await response.aclose()
            response = await super().send(onward, stream=True, auth=auth, follow_redirects=False)
        bounded = _bounded(response, stream=stream)
        if not stream:
            try:
                await bounded.aread()
            except BaseException:
                await bounded.aclose()
                raise
        return bounded


def _bounded(response: httpx2.Response, *, stream: bool) -> httpx2.Response:
    """The response with a decompressed body that raises ResponseTooLarge once it is too long."""
    headers = [(name, value) for name, value in response.headers.raw if name.lower() != b"content-encoding"]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        stream=_BoundedBody(response, stream=stream),
        request=response.request,
        extensions=response.extensions,
    )


class _BoundedBody(httpx2.AsyncByteStream):
    """The decompressed body of a response, read once, whoever reads it in how many parts."""

    def __init__(self, response: httpx2.Response, *, stream: bool) -> None:
        self._response = response
        self._parts = self._read(stream=stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _read(self, *, stream: bool) -> AsyncGenerator[bytes, None]:
        most = MAX_IN_STREAM if stream else MAX_IN_BODY
        read, event, before = 0, 0, b""
        # The decoders below give at most 1 MiB at once, however much a few bytes stand for.
        async for part in self._response.aiter_bytes():
            read += len(part)
            event, before = _unended(event, before + part, len(part)), part[-2:]
            if read > most:
                raise ResponseTooLarge(f"more than {most // 2**20} MiB")
            if stream and event > MAX_IN_EVENT:
                raise ResponseTooLarge(f"an event of more than {MAX_IN_EVENT // 2**20} MiB")
            yield part


def _unended(event: int, text: bytes, new: int) -> int:
    """The length of the event that has not ended, after `new` bytes more, with which `text` ends."""
    end = max(text.rfind(blank) for blank in (b"\n\n", b"\n\r\n", b"\r\r"))
    return len(text) - end if end >= 0 else event + new


def _one_origin(url: httpx2.URL, other: httpx2.URL) -> bool:
    def origin(of: httpx2.URL) -> tuple[str, str, int | None]:
        return of.scheme, of.host, of.port or {"http": 80, "https": 443}.get(of.scheme)

    return origin(url) == origin(other)


# A loop's client, and the generator that closes it. Keys are in requests and with the SDK's clients.
_clients: "dict[asyncio.AbstractEventLoop, tuple[BoundedClient, AsyncGenerator[None, None]]]" = {}


async def shared_client() -> "BoundedClient":
    """The client of the running event loop; closed with the loop by `asyncio.run` and by every other runner that
    shuts down asynchronous generators."""

    loop = asyncio.get_running_loop()
    if loop not in _clients:
        for other in [other for other in list(_clients) if other.is_closed()]:
            _clients.pop(other, None)
        client = BoundedClient()
        keeper = _closing(loop, client)
        _clients[loop] = client, keeper
        await anext(keeper)  # from its first step on, the loop knows the generator
    return _clients[loop][0]


async def _closing(loop: asyncio.AbstractEventLoop, client: "BoundedClient") -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _clients.pop(loop, None)
        await client.aclose()


def retry_after_s(header: str, now: datetime | None = None) -> float | None:
    """Read the header's value, a number of seconds or a date, as seconds from `now` (None: the present).

    A date of the past is 0; None for what is neither.

    >>> retry_after_s("120"), retry_after_s("soon")
    (120.0, None)
    >>> retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT", datetime(2015, 10, 21, 7, 27, 30, tzinfo=UTC))
    30.0
    """
    said = header.strip()
    if said.isascii() and said.isdigit():
        return float(said)
    try:
        at = parsedate_to_datetime(said)
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
