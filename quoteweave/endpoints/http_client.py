"""The HTTP client of all endpoints: limits how much a server may send, and follows no redirect to another origin.

There is one client for each event loop and server, whose connections stay open.
"""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Hashable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from threading import Lock
from typing import TYPE_CHECKING

import httpx2
from httpx2 import USE_CLIENT_DEFAULT

if TYPE_CHECKING:
    from openai import AsyncOpenAI

MAX_IN_BODY = 16 * 2**20
"""Decompressed bytes of a response that is read as a whole, at most. Parsing so much JSON takes up to some 0.7 GB."""
MAX_IN_STREAM = 64 * 2**20
"""Decompressed bytes of a streamed response, at most."""
MAX_IN_EVENT = 4 * 2**20
"""Bytes of one event of a stream, at most, on one line or many: an event is kept in memory until its end."""
_MAX_REDIRECTS = 5
# The same limits as in OpenAI's SDK, whose own client would take half a second to import.
_LIMITS = httpx2.Limits(max_connections=1000, max_keepalive_connections=100)
_READING_CERTIFICATES = Lock()


class ResponseTooLarge(Exception):
    """A server's response is larger than the limit; the message says how large it may be."""


def certificates() -> ssl.SSLContext:
    """The trusted certificates of the system, or those of SSL_CERT_FILE or SSL_CERT_DIR.

    They are read once for each process, in 45 ms.
    """
    with _READING_CERTIFICATES:  # so that two threads do not both read them
        return _read_certificates()


@cache
def _read_certificates() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


class BoundedClient(httpx2.AsyncClient):
    """A client for servers that are not trusted.

    The size of a response is limited, counted after decompression. A redirect is followed only to the origin
    (scheme, host and port) that was asked, and only as the same request (307, 308): any other is returned as the
    response, for the caller to report.
    """

    def __init__(self, transport: httpx2.AsyncBaseTransport | None = None, *, encrypted: bool = True) -> None:
        """If not `encrypted`, no certificates are read, so that no HTTPS server is trusted."""
        # No cookies are kept: callers with different keys share the client, and must not send each other's cookies.
        cookies = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        trusted = certificates() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        super().__init__(transport=transport, verify=trusted, limits=_LIMITS, cookies=cookies)
        self.sdk_clients: dict[Hashable, AsyncOpenAI] = {}
        """Clients of OpenAI's SDK that use this client, by the values of which they were made (`connection`)."""

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
    """The decompressed body of a response; it is read only once, even if it is iterated several times."""

    def __init__(self, response: httpx2.Response, *, stream: bool) -> None:
        self._response = response
        self._parts = self._read(stream=stream)

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._parts

    async def aclose(self) -> None:
        await self._response.aclose()

    async def _read(self, *, stream: bool) -> AsyncGenerator[bytes, None]:
        most = MAX_IN_STREAM if stream else MAX_IN_BODY
        received, event, before = 0, 0, b""
        # The decoders return at most 1 MiB at a time, even if a few bytes decompress to much more.
        async for part in self._response.aiter_bytes():
            received += len(part)
            event, before = _unfinished_length(event, before + part, len(part)), part[-2:]
            if received > most:
                raise ResponseTooLarge(f"more than {most // 2**20} MiB")
            if stream and event > MAX_IN_EVENT:
                raise ResponseTooLarge(f"an event of more than {MAX_IN_EVENT // 2**20} MiB")
            yield part


def _unfinished_length(event: int, text: bytes, new: int) -> int:
    """The length of the unfinished event after `new` more bytes; `text` ends with these.

    `event` is its length before.
    """
    end = max(text.rfind(blank) for blank in (b"\n\n", b"\n\r\n", b"\r\r"))
    return len(text) - end if end >= 0 else event + new


def _one_origin(url: httpx2.URL, other: httpx2.URL) -> bool:
    def origin(of: httpx2.URL) -> tuple[str, str, int | None]:
        return of.scheme, of.host, of.port or {"http": 80, "https": 443}.get(of.scheme)

    return origin(url) == origin(other)


# An event loop, and the scheme and host of a server.
_Key = tuple[asyncio.AbstractEventLoop, str]
# The client for each key, and the generator that closes it. Keys hold no secrets; these are in requests and in the
# SDK's clients.
_clients: "dict[_Key, tuple[BoundedClient, AsyncGenerator[None, None]]]" = {}


async def shared_client(url: str) -> "BoundedClient":
    """The running event loop's client for a URL's server, shared by all who ask that server.

    It is closed with the loop by `asyncio.run` and by every other runner that shuts down asynchronous generators. Each
    server has its own client, because with each request a connection pool goes through all its connections and polls
    idle ones: one client for all took a quarter of the processor time of a run with 64 requests under way.
    """
    key = asyncio.get_running_loop(), "/".join(url.split("/", 3)[:3])
    if key not in _clients:
        for closed in [known for known in list(_clients) if known[0].is_closed()]:
            _clients.pop(closed, None)
        client = BoundedClient(encrypted=not url.lower().startswith("http://"))
        keeper = _closing(key, client)
        _clients[key] = client, keeper
        await anext(keeper)  # the loop closes only generators that were started
    return _clients[key][0]


async def _closing(key: _Key, client: "BoundedClient") -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        _clients.pop(key, None)
        await client.aclose()


def retry_after_s(header: str, now: datetime | None = None) -> float | None:
    """Read the header's value, a number of seconds or a date, as seconds from `now` (None: the present).

    A date of the past is 0; None for what is neither.

    >>> retry_after_s("120"), retry_after_s("soon")
    (120.0, None)
    >>> retry_after_s("Wed, 21 Oct 2015 07:28:00 GMT", datetime(2015, 10, 21, 7, 27, 30, tzinfo=UTC))
    30.0
    """
    value = header.strip()
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())
