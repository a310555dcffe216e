"""The connection that all clients of model endpoints use: address and key, requests with retries, errors for users."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict, TypeVar

from pydantic import BaseModel, ValidationError

from quoteweave.core.errors import EndpointBadResponse, EndpointUnreachable, by_setting, join_ways
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.core.messages import replace_lone_surrogates
from quoteweave.endpoints.address import EndpointAddress, takes_environment_key
from quoteweave.endpoints.errors import endpoint_error, error_in_body, one_line
from quoteweave.endpoints.http_client import BoundedClient, shared_client
from quoteweave.endpoints.redaction import endpoint_redactor

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai._streaming import ServerSentEvent
    from openai._types import RequestOptions

_MAX_QUOTED_BEGINNING = 60
_MAX_SDK_CLIENTS = 64
Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Timeouts and retries of requests to an endpoint.

    `timeout_s` is the read timeout of an attempt in seconds; in a stream it is restarted by events, not by comments.
    Connection faults, 408, 409, 429 and 5xx are retried up to `max_retries` times, with growing pauses or those that
    the server asks for, up to two minutes. `call_limit_s` (None: five times `timeout_s`) limits the whole call in
    seconds, attempts and pauses included.
    """

    timeout_s: float
    max_retries: int
    call_limit_s: float | None = None

    @property
    def limit_s(self) -> float:
        """Time limit of a whole call, in seconds."""
        return 5 * self.timeout_s if self.call_limit_s is None else self.call_limit_s


class RetryOptions(TypedDict, total=False):
    """Options for timeouts and retries, for clients that have their own defaults."""

    timeout_s: float
    max_retries: int
    call_limit_s: float


class Connection:
    """Sends requests for one model to one address, within an `async with` block.

    The HTTP connections belong to the event loop and stay open. Secrets of the address are redacted from what a server
    sends (`redactor`), and its size is limited (`http_client`).
    """

    _client: "AsyncOpenAI"

    def __init__(self, model: str, address: EndpointAddress, retry_policy: RetryPolicy) -> None:
        self.model, self.address = model, address
        self.redactor = endpoint_redactor(
            address.url, address.key, _ambient_values() if takes_environment_key(address.url) else ()
        )
        self._retry_policy = retry_policy

    async def __aenter__(self) -> Self:
        self._client = _sdk_client(await shared_client(self.address.url), self.address, self._retry_policy)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Do nothing: the HTTP client is closed with the event loop."""

    async def post(self, path: str, body: Mapping[str, object], *, advice: str | None = None) -> bytes:
        """Post a JSON body and return the response's body; `advice` is that of `failure`.

        Raises EndpointUnreachable when the server does not answer in time or fails on its side (5xx), EndpointRefused
        when it turns the request down (4xx) or redirects it elsewhere, EndpointBadResponse when it sends too much.
        """
        from openai import HttpxBinaryResponseContent

        try:
            async with asyncio.timeout(self._retry_policy.limit_s):
                answer = await self._client.post(
                    path, cast_to=HttpxBinaryResponseContent, body=dict(body), options=self._options()
                )
        except Exception as error:
            raise self._converted(error, advice) from None
        return answer.content

    async def stream(self, path: str, body: Mapping[str, object], expected: str) -> AsyncGenerator[object, None]:
        """Post a JSON body and yield the events of the streamed response, each as parsed JSON.

        Each event must arrive within `timeout_s` of the one before; comments do not count, nor does the time that the
        caller spends on an event. Raises what `post` does, also for an error that arrives as an event, and
        EndpointBadResponse for what is not JSON or not a stream.
        """
        is_empty, seconds_left = True, self._retry_policy.limit_s
        try:
            async with asyncio.timeout(seconds_left):
                started = time.monotonic()
                events = await self._client.post(
                    path,
                    cast_to=object,
                    body=dict(body),
                    options=self._options(),
                    stream=True,
                    stream_cls=_stream_of_data(),
                )
            seconds_left -= time.monotonic() - started
            async with events, aclosing(self._in_time(aiter(events), seconds_left)) as in_time:
                async for event in in_time:
                    is_empty = False
                    yield event
            kind = events.response.headers.get("content-type", "")
        except Exception as error:
            raise self._converted(error, expected=expected) from None
        if is_empty and "event-stream" in kind:
            raise self.ended_early()
        if is_empty:
            kind = one_line(self.redactor.clean(kind)) or "of no type"
            raise self.bad_response(f"it is no stream of events, but {kind}", expected)

    async def _in_time(self, events: AsyncIterator[object], seconds_left: float) -> AsyncGenerator[object, None]:
        """Yield events, waiting at most `timeout_s` seconds for each, and `seconds_left` for all together.

        Raises TimeoutError and EndpointUnreachable.
        """
        while True:
            started = time.monotonic()
            try:
                async with asyncio.timeout(min(seconds_left, self._retry_policy.timeout_s)):
                    event = await anext(events)
            except StopAsyncIteration:
                return
            except TimeoutError:
                if seconds_left <= self._retry_policy.timeout_s:
                    raise
                raise EndpointUnreachable(
                    f"{self.address.shown} timed out: nothing of its answer for the model {self.model} came for "
                    f"{self._retry_policy.timeout_s:g} s",
                    remedy=join_ways("ask again", "look into its log", by_setting("wait longer: {}", "timeout_s")),
                ) from None
            seconds_left -= time.monotonic() - started
            yield event

    def _converted(self, error: Exception, advice: str | None = None, expected: str = "") -> Exception:
        """Convert an exception raised while reading a response; programming errors are returned unchanged."""
        import openai

        from quoteweave.endpoints.http_client import ResponseTooLarge

        if isinstance(error, openai.APIError):
            return endpoint_error(error, self.model, self.address, self.redactor, advice)
        if isinstance(error, TimeoutError):
            return EndpointUnreachable(
                f"{self.address.shown} did not end its answer for the model {self.model} within "
                f"{self._retry_policy.limit_s:g} s, the limit of a call with all its attempts",
                remedy=join_ways("ask again", by_setting("raise the limit: {}", "call_limit_s")),
            )
        if isinstance(error, ResponseTooLarge):
            return self.bad_content(f"{error}, which is more than is read of an answer")
        if isinstance(error, RecursionError):
            return self.bad_response("its JSON is nested too deeply", expected or "answer")
        if isinstance(error, ValueError) and expected:
            return self.bad_response(f"an event is no JSON: {self.redactor.clean(str(error))}", expected)
        return error

    def check(self, value: object, shape: type[Body], expected: str) -> Body:
        """Validate the value of an event as a record. Raises EndpointBadResponse, as `parse` does."""
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            raise self._misshapen(error, expected) from None

    def parse(self, answer: bytes, shape: type[Body], expected: str) -> Body:
        """Parse a response as a record. Raises EndpointBadResponse, which names the field at fault."""
        try:
            return shape.model_validate_json(answer)
        except ValidationError as error:
            message = error_in_body(answer, self.redactor)
            if message:
                raise self.bad_response(f"it says {one_line(message)!r}", expected) from None
            raise self._misshapen(error, expected) from None

    def bad_response(self, problem: str, expected: str) -> EndpointBadResponse:
        """The error for a response that is not what was `expected`, such as "chat completion"."""
        return EndpointBadResponse(
            f"{self.address.shown} answered for the model {self.model} with something that is no {expected}: "
            f"{problem.rstrip('.')}",
            remedy="check that the URL is that of an OpenAI-compatible API; it usually ends in /v1",
        )

    def bad_content(self, problem: str) -> EndpointBadResponse:
        """The error for a well-formed response with impossible content."""
        return EndpointBadResponse(f"{self.address.shown} sent for the model {self.model} {problem}.")

    def ended_early(self) -> EndpointUnreachable:
        """The error for a stream that ends before the answer does."""
        return EndpointUnreachable(
            f"{self.address.shown} ended its answer for the model {self.model} early",
            remedy="ask again, or look into its log",
        )

    def _options(self) -> "RequestOptions":
        from openai import Omit

        headers: dict[str, str | Omit] = {"Authorization": f"Bearer {self.address.key}"}
        if not takes_environment_key(self.address.url):
            headers |= dict.fromkeys(_ambient_headers(), Omit())
        if "api-version" not in self.address.query:
            return {"headers": headers}
        # Azure reads the key from another header.
        headers |= {"api-key": self.address.key, "Authorization": Omit()}
        return {"headers": headers}

    def _misshapen(self, error: ValidationError, expected: str) -> EndpointBadResponse:
        return self.bad_response(describe_validation_error(error, "body"), expected)


def _sdk_client(http_client: BoundedClient, address: EndpointAddress, retry_policy: RetryPolicy) -> "AsyncOpenAI":
    """Return the event loop's SDK client for an address and the current environment.

    It can post to any path, so that requests and retries are the same for all endpoints. It is kept, as making one
    takes longer than reading a short reply.
    """
    from openai import AsyncOpenAI

    environment = tuple((name, value) for name, value in os.environ.items() if name.startswith("OPENAI_"))
    made_of = (address, retry_policy, environment)
    clients = http_client.sdk_clients
    if made_of not in clients:
        if len(clients) >= _MAX_SDK_CLIENTS:
            clients.clear()
        clients[made_of] = AsyncOpenAI(
            base_url=address.base,
            api_key=address.key,
            default_query=address.query,
            timeout=retry_policy.timeout_s,
            max_retries=retry_policy.max_retries,
            http_client=http_client,
        )
    return clients[made_of]


@cache
def _stream_of_data() -> "type[AsyncStream[object]]":
    """The SDK's stream, without events that hold no data, such as a lone `id:` or `retry:`.

    By the standard (HTML, 9.2.6) these are no events, but the SDK would read their empty data as JSON. If a version of
    the SDK renames the overridden method, `test_events_without_data_are_none` fails; streams with such events then end
    in EndpointBadResponse, and others are not affected.
    """
    from openai import AsyncStream

    class StreamOfData(AsyncStream[object]):
        async def _iter_events(self) -> "AsyncIterator[ServerSentEvent]":
            async for event in super()._iter_events():
                if event.data:
                    yield event

    return StreamOfData


def sendable_text(text: str) -> str:
    """Replace lone surrogates by question marks, and a blank text, which servers refuse, by a dash."""
    return replace_lone_surrogates(text) if text.strip() else "-"


def excerpt(text: str) -> str:
    """The beginning of a text on one line, to identify it in a message."""
    line = " ".join(text[: 2 * _MAX_QUOTED_BEGINNING].split())
    return line if len(line) <= _MAX_QUOTED_BEGINNING else f"{line[:_MAX_QUOTED_BEGINNING]}…"


def _ambient_headers() -> list[str]:
    """The names of headers that the SDK takes from the environment (OPENAI_ORG_ID and the like) and sends anywhere."""
    custom = (name for name in _custom_headers() if name.lower() != "authorization")
    return ["OpenAI-Organization", "OpenAI-Project", *custom]


def _ambient_values() -> list[str]:
    """The values of the environment's headers, which may be keys."""
    return [word for value in _custom_headers().values() for word in (value, value.rpartition(" ")[2])]


def _custom_headers() -> dict[str, str]:
    lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
    parts = (line.partition(":") for line in lines if ":" in line)
    return {name.strip(): value.strip() for name, _, value in parts}
