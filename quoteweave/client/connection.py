"""A server's address, and requests to it: sent with its key, retried when it asks for that, problems raised as errors.

Event streams are read here as well.
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, ValidationError

from quoteweave.core.errors import QuoteweaveError, ServerBadResponse, ServerUnreachable, UsageError
from quoteweave.core.messages import shorten
from quoteweave.core.urls import without_credentials
from quoteweave.endpoints.address import is_http
from quoteweave.endpoints.errors import one_line
from quoteweave.endpoints.http_client import retry_after_s
from quoteweave.endpoints.redaction import endpoint_redactor
from quoteweave.interchange.problems import MEDIA_TYPE, Problem, error_class, error_of_problem

if TYPE_CHECKING:
    from httpx2 import Request, Response

    from quoteweave.endpoints.http_client import BoundedClient


_BLANK_LINE = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class ServerEvent(NamedTuple):
    """An event as it was sent: its name, and its data, which is JSON."""

    name: str
    data: bytes


async def read_events(parts: AsyncIterator[bytes]) -> AsyncIterator[ServerEvent]:
    """Yield the events of a stream whose parts may be cut anywhere; an incomplete last event is left out.

    Lines end only at line feeds and carriage returns, as the data may hold Unicode's other line separators.
    """
    unended = b""
    async for part in parts:
        *blocks, unended = _BLANK_LINE.split(unended + part)
        for block in blocks:
            event = _event(block)
            if event is not None:
                yield event


def _event(block: bytes) -> ServerEvent | None:
    """The event of a block of lines; None if it is a comment."""
    fields: dict[bytes, list[bytes]] = {}
    for line in block.splitlines():
        name, _, value = line.partition(b":")
        fields.setdefault(name, []).append(value.removeprefix(b" "))
    if b"data" not in fields:
        return None
    return ServerEvent(fields.get(b"event", [b"message"])[-1].decode("utf-8", "replace"), b"\n".join(fields[b"data"]))


KEY_VARIABLE = "QUOTEWEAVE_KEY"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server, including the path if a proxy shows it below one, and the key that is sent there.

    Raises UsageError for a malformed address, and for a key that no request could carry.

    >>> ServerAddress("https://docs.example/ask/").of("v1", "collections", "ports & harbours")
    'https://docs.example/ask/v1/collections/ports%20%26%20harbours'
    """

    url: str
    key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not is_http(self.url) or urlsplit(self.url).query or urlsplit(self.url).fragment:
            raise UsageError(f"{self.shown} is no address of a server; it must look like http://localhost:8321.")
        if self.key is None:
            return
        # A header cannot carry other characters, and the HTTP library's own error would show the key.
        if not (self.key.isascii() and self.key.isprintable()):
            raise UsageError("The server's key contains a line break or a character outside ASCII; copy it again.")
        # A key and a user name are sent in the same header, which can only hold one of them.
        if urlsplit(self.url).username is not None:
            raise UsageError(
                f"The address of {self.shown} holds a user name, and there is a key ({KEY_VARIABLE}) too; a request "
                "carries one of them. Leave the other out."
            )

    @property
    def shown(self) -> str:
        """The address without user name, password and query, which may be secrets."""
        bare = self.url.partition("?")[0].partition("#")[0]
        scheme, separator, location = bare.partition("://")
        return f"{scheme}://{location.rpartition('@')[2]}".rstrip("/") if separator else bare.rpartition("@")[2]

    def of(self, *segments: str) -> str:
        """The address of the path with these segments. Raises UsageError for `.` and `..`.

        These would be resolved on the way, so that something else would be requested, or removed.
        """
        if any(segment in (".", "..") for segment in segments):
            raise UsageError(f"{'/'.join(segments)!r} holds a part that is no name: '.' or '..'")
        return "/".join((self.url.rstrip("/"), *(quote(segment, safe=":") for segment in segments)))


def server_address(url: str, key: str | None) -> ServerAddress:
    """Return the address with the key given, or else the current one of QUOTEWEAVE_KEY. Raises UsageError."""
    return ServerAddress(url.strip(), (key or os.environ.get(KEY_VARIABLE) or "").strip() or None)


MAX_PAUSE_S = 60.0
"""Longest pause in seconds before a request is sent again; if a server asks for a longer one, the call fails."""
_CONNECT_S = 10.0
TIMEOUTS_OF_A_CALL = 5
"""A call must end within `timeout_s` times this number, as with the endpoints of models."""
_MAX_DETAIL_CHARACTERS = 2000
_GATEWAY = frozenset({502, 503, 504})
_CHECK = "Check that the server runs, and the address and port."

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call:
    """A request: its method, the segments of its path, and what it carries."""

    method: str
    path: tuple[str, ...]
    json: object = None
    params: Mapping[str, str] = field(default_factory=dict)
    form: Callable[[], Mapping[str, object]] | None = None
    """Makes the fields and files of a form, as httpx takes them; called again if the request is sent again."""
    is_long: bool = False
    """Whether the call may take any time, as long as the server keeps sending or reading."""


class ServerConnection:
    """Sends requests to one server.

    The HTTP connections belong to the event loop and stay open; nothing has to be closed. `timeout_s` is how long the
    server may go without sending anything, in seconds. Unless `Call.is_long`, a call ends after five times as long, so
    that a server cannot keep it waiting by sending a byte now and then; time that the caller spends on an event does
    not count. If the server answers 429 or 503 with Retry-After, the request is sent again, at most `max_retries`
    times. The key is sent only to the origin of the address.
    """

    def __init__(self, address: ServerAddress, timeout_s: float, max_retries: int) -> None:
        self.address, self._timeout_s, self._max_retries = address, timeout_s, max_retries
        self._limit_s = TIMEOUTS_OF_A_CALL * timeout_s
        self._redactor = endpoint_redactor(address.url, address.key or "")

    async def read(self, call: Call, shape: type[Body]) -> Body:
        """Return the body of the response as a record; fields that a newer server adds are left out.

        Raises ServerUnreachable, ServerBadResponse for what is no such record, and the error of the server's problem.
        """
        return self.parse((await self._send(call)).content, shape)

    async def fetch(self, call: Call) -> bytes:
        """Return the body of the response. Raises as `read` does."""
        return (await self._send(call)).content

    async def events(self, call: Call) -> AsyncGenerator[ServerEvent, None]:
        """Yield the events of a response as they come; raises as `read` does.

        To stop reading early, close the generator; this closes the connection, so that the server stops its work.
        """
        started = time.monotonic()
        response = await self._send(call, stream=True)
        remaining_s = None if call.is_long else self._limit_s - (time.monotonic() - started)
        try:
            kind = response.headers.get("content-type", "")
            if not kind.startswith("text/event-stream"):
                raise self.bad_response(f"it is no stream of events, but {self._clean(kind) or 'of no type'}")
            async with self._faults(), aclosing(within(read_events(response.aiter_bytes()), remaining_s)) as events:
                async for event in events:
                    yield event
        finally:
            await response.aclose()

    def parse(self, data: bytes, shape: type[Body]) -> Body:
        """Read JSON that the server sent. Raises ServerBadResponse, which names the field at fault."""
        try:
            return shape.model_validate_json(data, extra="ignore")
        except ValidationError as error:
            first_error = error.errors(include_url=False)[0]
            place = ".".join(map(str, first_error["loc"])) or "its body"
            raise self.bad_response(f"{place}: {self._clean(first_error['msg'])}") from None

    def bad_response(self, problem: str) -> ServerBadResponse:
        """Return the error for a response that is not what a server of this version sends."""
        return ServerBadResponse(
            f"{self.address.shown} answered something that is not a quoteweave server's: {problem}. Check the address "
            "(without /v1), and that server and client are of one version."
        )

    def ended(self) -> ServerUnreachable:
        """Return the error for a stream that ends before it should."""
        return ServerUnreachable(f"{self.address.shown} ended its response early. Ask again, or look into its log.")

    def error(self, problem: Problem) -> QuoteweaveError:
        """Return a problem of the server as an error."""
        detail = self._redactor.clean(shorten(problem.detail, _MAX_DETAIL_CHARACTERS))
        if problem.status == HTTPStatus.UNAUTHORIZED:
            no_key = f"no key was sent; pass one, or set {KEY_VARIABLE}"
            key_advice = no_key if self.address.key is None else "check the key"
            detail = f"{self.address.shown}: {detail} ({key_advice})"
        return error_of_problem(problem.model_copy(update={"detail": detail}))

    async def _send(self, call: Call, *, stream: bool = False) -> "Response":
        """Return a successful response; with `stream`, its body is not read yet."""
        from quoteweave.endpoints.http_client import shared_client

        client = await shared_client(self.address.url)
        async with self._faults(), asyncio.timeout(None if call.is_long else self._limit_s):
            for retries_left in range(self._max_retries, -1, -1):
                response = await client.send(self._request(client, call), stream=stream)
                pause = _pause(response)
                if pause is None or not retries_left:
                    break
                await response.aclose()
                await asyncio.sleep(pause)
            if response.is_success:
                return response
            try:
                await response.aread()
            finally:
                await response.aclose()
        raise self._error(response)

    def _request(self, client: "BoundedClient", call: Call) -> "Request":
        from httpx2 import Timeout

        headers = {"Accept": "*/*"}
        if self.address.key is not None:
            headers["Authorization"] = f"Bearer {self.address.key}"
        form = {} if call.form is None else call.form()
        return client.build_request(
            call.method,
            self.address.of(*call.path),
            params=call.params or None,
            json=call.json,
            data=form.get("data"),  # type: ignore[arg-type]  # its types are httpx's own
            files=form.get("files"),  # type: ignore[arg-type]
            headers=headers,
            timeout=Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s)),
        )

    @asynccontextmanager
    async def _faults(self) -> AsyncIterator[None]:
        """Raise errors of the HTTP library as errors for users."""
        import httpx2

        from quoteweave.endpoints.http_client import ResponseTooLarge

        try:
            yield
        except httpx2.ConnectTimeout:
            raise ServerUnreachable(f"{self.address.shown} does not accept a connection in time. {_CHECK}") from None
        except httpx2.TimeoutException:
            raise ServerUnreachable(
                f"{self.address.shown} timed out: nothing came for {self._timeout_s:g} s. Ask again, look into its "
                "log, or wait longer (timeout_s)."
            ) from None
        except TimeoutError:
            raise ServerUnreachable(
                f"{self.address.shown} did not end its response within {self._limit_s:g} s, the limit of a call with "
                "all its attempts. Ask again, look into its log, or wait longer (timeout_s)."
            ) from None
        except ResponseTooLarge as error:
            raise self.bad_response(f"it sent {error}, which is more than is read of a response") from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            reason = self._clean(str(error)) or type(error).__name__
            raise ServerUnreachable(f"No answer from {self.address.shown}: {reason.rstrip('.')}. {_CHECK}") from None

    def _error(self, response: "Response") -> QuoteweaveError:
        """Return the error that a response describes."""
        status, kind = response.status_code, response.headers.get("content-type", "")
        problem = self._problem(response) if kind.startswith(MEDIA_TYPE) else None
        if problem is None:
            return self._foreign(response, kind)
        if status == 404 and problem.type == "about:blank":
            return self.bad_response(f"it knows no {urlsplit(str(response.url)).path}")
        return self.error(problem)

    def _problem(self, response: "Response") -> Problem | None:
        try:
            return Problem.model_validate_json(response.content, extra="ignore")
        except ValidationError:
            return None

    def _foreign(self, response: "Response", kind: str) -> QuoteweaveError:
        """Return the error of a response that is not in the server's form, such as one of a proxy in between."""
        status, shown = response.status_code, self.address.shown
        if response.is_redirect or 300 <= status < 400:
            location = self._clean(without_credentials(response.headers.get("location", "")).partition("?")[0])
            return ServerBadResponse(
                f"{shown} answered {status}, a redirect to {location or 'nowhere'}, which was not followed. If that is "
                "where the server is, give its address."
            )
        if status in _GATEWAY:
            return ServerUnreachable(f"{shown} answered {status}: a proxy there does not reach the server.")
        if status in (401, 403, 429):
            return error_class(status)(f"{shown} answered {status} ({self._clean(response.reason_phrase)}).")
        return self.bad_response(f"status {status}, {self._clean(kind) or 'without a type'}")

    def _clean(self, text: str) -> str:
        """A server's words on one line, without the secrets of the address."""
        return one_line(self._redactor.clean(text))


async def within(events: AsyncIterator[ServerEvent], remaining_s: float | None) -> AsyncGenerator[ServerEvent, None]:
    """Yield events, waiting at most `remaining_s` seconds for all together (None: any time). Raises TimeoutError."""
    while True:
        # asyncio's timeout would still let an event pass that has come already
        if remaining_s is not None and remaining_s <= 0:
            raise TimeoutError
        started = time.monotonic()
        try:
            async with asyncio.timeout(remaining_s):
                event = await anext(events)
        except StopAsyncIteration:
            return
        remaining_s = None if remaining_s is None else remaining_s - (time.monotonic() - started)
        yield event


def _pause(response: "Response") -> float | None:
    """Seconds after which the server wants to be asked again; None if it does not ask for that, or not soon."""
    pause = None if response.status_code not in (429, 503) else retry_after_s(response.headers.get("retry-after", ""))
    return None if pause is None or pause > MAX_PAUSE_S else pause
