"""Asks the HTTP APIs of sources of papers, at their pace; retries where that helps, and raises errors for users."""

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from quoteweave.attribution.literature.sources.service import (
    NO_KEY,
    ReplyCache,
    SourcePace,
    SourceService,
    current_waiting,
    reply_key,
    shared_pace,
)
from quoteweave.core.errors import (
    SourceBadResponse,
    SourceError,
    SourceRefused,
    SourceUnreachable,
    by_setting,
    join_ways,
)
from quoteweave.core.files.jsonl import describe_validation_error
from quoteweave.endpoints.address import EndpointAddress, same_origin
from quoteweave.endpoints.errors import one_line
from quoteweave.endpoints.http_client import retry_after_s
from quoteweave.endpoints.redaction import endpoint_redactor

if TYPE_CHECKING:
    from httpx2 import URL, Request, Response

    from quoteweave.endpoints.http_client import BoundedClient


MAX_REPLY_BYTES = 10_000_000
"""Bytes of a decompressed reply, at most: by its documentation, Semantic Scholar sends no more."""
_FIRST_PAUSE_S, _MAX_PAUSE_S = 1.0, 30.0
_MAX_REDIRECTS = 5

Body = TypeVar("Body", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class SourceRequest:
    """A request: its path below the address, and its parameters. With a `body` it is posted."""

    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class SourceLimits:
    """How often a source is asked, and how long it is waited for.

    Requests are retried after too many requests (429), failures of the source (5xx, 408) and connection errors, with
    `attempts` attempts in all, or `silent_attempts` if no connection is made or no reply comes in time. Pauses double
    from one second, each shortened at random by up to half, or are those that the source asks for (Retry-After); all
    pauses of a request together take at most `pauses_s`. Waiting for one's turn is not counted. `silence_s` and
    `attempt_s` limit one attempt: how long no data may come, and how long it may take in all. `in_all_s` limits the
    time that all requests in one `count_waiting` block wait, pauses included; simultaneous waits count once.
    """

    per_second: float = 1.0
    attempts: int = 6
    silent_attempts: int = 3
    pauses_s: float = 120.0
    silence_s: float = 30.0
    attempt_s: float = 60.0
    in_all_s: float = 30.0


class _TryAgain(Exception):
    """An attempt failed, but another may succeed."""

    def __init__(self, error: SourceError, attempts: int, *, pause_s: float | None = None, hold: bool = False) -> None:
        super().__init__(str(error))
        self.error, self.attempts, self.pause_s, self.hold = error, attempts, pause_s, hold


class SourceClient:
    """Asks one source. The key is sent only to the origin of its address, and appears in no message and no file.

    All clients of one address and key share a `pace` unless one is given. `cache` keeps replies; with None, each
    request is sent. `http` is the HTTP client; None means the shared one of the event loop.
    """

    def __init__(
        self,
        service: SourceService,
        address: EndpointAddress,
        *,
        limits: SourceLimits | None = None,
        pace: SourcePace | None = None,
        cache: ReplyCache | None = None,
        http: "BoundedClient | None" = None,
    ) -> None:
        self.service, self.address = service, address
        self._limits = limits or SourceLimits()
        self._pace = pace or shared_pace(address)
        self._cache, self._http = cache, http
        self._redactor = endpoint_redactor(address.url, address.key)

    async def read(self, request: SourceRequest, shape: type[Body]) -> Body:
        """Return the reply to a request as a record, from the cache if it is there.

        Raises SourceUnreachable when the source does not answer in time or fails on its side, SourceRefused when it
        turns the request down, SourceBadResponse when its reply is no such record or too large, and StorageError when
        the cache cannot be read or written.
        """
        if self._cache is None:
            return self._parse(await self._ask(request), shape)
        key = reply_key(self._url(request), request.params, request.body)
        async with self._cache.turn(key) as call:
            record = call.result if isinstance(call.result, shape) else self._cache.find(key, shape)
            if record is None:
                reply = await self._ask(request)
                record = self._parse(reply, shape)
                self._cache.keep(key, reply)
            call.result = record
            return record

    def bad_reply(self, problem: str) -> SourceBadResponse:
        """The error for a reply that is not what the source documents."""
        return SourceBadResponse(
            f"{self.address.shown} sent something other than {self.service.name} documents: {problem.rstrip('.')}. "
            f"Check the address ({self.service.url_variable}), or try again later."
        )

    def clean(self, text: str) -> str:
        """A source's words on one line, without the secrets of the address."""
        return one_line(self._redactor.clean(text))

    async def _ask(self, request: SourceRequest) -> bytes:
        attempt, pauses_left = 0, self._limits.pauses_s
        while True:
            attempt += 1
            try:
                return await self._attempt(request)
            except _TryAgain as failed:
                pause = self._pause(failed, attempt)
                if attempt >= failed.attempts:
                    raise failed.error from None
                if pause > pauses_left:
                    raise self._waits_too_long(failed, pause) from None
                if pause > self._left_in_all():
                    raise self._given_up_error(str(failed.error)) from None
                pauses_left -= pause
                if failed.hold:
                    self._pace.hold(pause)  # the source asks all users of this key to wait
                with self._counted():
                    await self._pace.timing.sleep(pause)

    def _pause(self, failed: _TryAgain, attempt: int) -> float:
        if failed.pause_s is not None:
            return failed.pause_s
        longest = min(_MAX_PAUSE_S, _FIRST_PAUSE_S * 2.0 ** (attempt - 1))
        return longest * (1 - self._pace.timing.jitter() / 2)

    async def _attempt(self, request: SourceRequest) -> bytes:
        """Send a request once, following redirects. Raises _TryAgain, and what `read` raises."""
        import httpx2

        from quoteweave.endpoints.http_client import ResponseTooLarge, shared_client

        client = self._http or await shared_client(self.address.url)
        url = httpx2.URL(self._url(request), params={**self.address.query, **request.params})
        try:
            for _ in range(_MAX_REDIRECTS):
                prepared = self._prepared(client, url, request.body)  # before its turn, to delay nothing
                await self._pace.wait(1 / self._limits.per_second)
                response = await self._sent(client, prepared)
                onward = self._onward(response, request)
                if onward is None:
                    return self._content(response)
                url = onward
        except (TimeoutError, httpx2.TimeoutException):
            raise self._unanswered("no reply came in time", is_silent=True) from None
        except ResponseTooLarge as error:
            raise self.bad_reply(f"a reply of {error}") from None
        except (httpx2.RequestError, httpx2.InvalidURL) as error:
            reason = self.clean(str(error)) or type(error).__name__
            raise self._unanswered(reason, is_silent=isinstance(error, httpx2.ConnectError)) from None
        raise self.bad_reply("redirects without end")

    async def _sent(self, client: "BoundedClient", prepared: "Request") -> "Response":
        """Send a request. Raises TimeoutError, and SourceUnreachable if the source was waited for too long in all."""
        seconds_left = self._left_in_all()
        if seconds_left <= 0:
            raise self._given_up_error("it was too slow before")
        try:
            with self._counted():
                async with asyncio.timeout(min(self._limits.attempt_s, seconds_left)):
                    return await client.send(prepared)
        except TimeoutError:
            if seconds_left < self._limits.attempt_s:
                raise self._given_up_error("no reply came in time") from None
            raise

    def _left_in_all(self) -> float:
        """Seconds that the source may still be waited for."""
        waiting = current_waiting()
        return float("inf") if waiting is None else self._limits.in_all_s - waiting.seconds(self._pace.timing.clock())

    def _counted(self) -> AbstractContextManager[None]:
        """Count the time of this block as waiting, if that is counted."""
        waiting = current_waiting()
        return nullcontext() if waiting is None else waiting.wait(self._pace.timing.clock)

    def _given_up_error(self, reason: str) -> SourceUnreachable:
        return SourceUnreachable(
            f"{self.service.name} ({self.address.shown}) was given up after {self._limits.in_all_s:g} s: "
            f"{reason.rstrip('.')}. Your own documents can be searched without it",
            remedy=join_ways(
                "try again later", by_setting("wait longer: {}", "source_timeout", in_python="SourceOptions.timeout_s")
            ),
        )

    def _prepared(self, client: "BoundedClient", url: "URL", body: Mapping[str, object] | None) -> "Request":
        from httpx2 import Timeout

        from quoteweave.version import __version__

        headers, key = {"Accept": "application/json", "User-Agent": f"quoteweave/{__version__}"}, self.address.key
        if key != NO_KEY and self.service.key_header:
            headers[self.service.key_header] = key
        if key != NO_KEY and self.service.key_parameter:
            url = url.copy_set_param(self.service.key_parameter, key)
        timeout = Timeout(self._limits.silence_s, connect=min(10.0, self._limits.silence_s))
        method = "GET" if body is None else "POST"
        traced = {"trace": self._trace}
        return client.build_request(method, url, json=body, headers=headers, timeout=timeout, extensions=traced)

    async def _trace(self, event: str, _: object) -> None:
        """Restart the interval when a request is sent, as connecting may delay it more than the next one."""
        if event.endswith("send_request_headers.started"):
            self._pace.hold(1 / self._limits.per_second)

    def _onward(self, response: "Response", request: SourceRequest) -> "URL | None":
        """Where the source redirects to, if that is followed: within its origin, and for GET requests only."""
        location = response.headers.get("location", "")
        if not (300 <= response.status_code < 400):
            return None
        target = response.url.join(location)
        if not location or request.body is not None or not same_origin(str(target), self.address.url):
            shown = self.clean(str(target.copy_with(query=None, userinfo=b""))) if location else "nowhere"
            raise SourceRefused(
                f"{self.address.shown} answered {response.status_code}, a redirect to {shown}, which was not followed. "
                f"If that is where {self.service.name} is, set {self.service.url_variable} to its address.",
                status=response.status_code,
            )
        return target

    def _content(self, response: "Response") -> bytes:
        """The body of a successful response. Raises the error of any other."""
        if not response.is_success:
            raise self._error_of(response)
        if len(response.content) > MAX_REPLY_BYTES:
            raise self.bad_reply(f"a reply of more than {MAX_REPLY_BYTES // 10**6} MB")
        return response.content

    def _error_of(self, response: "Response") -> Exception:
        status = response.status_code
        reason = self.clean(_error_text(response.content)) or response.reason_phrase or "no reason given"
        message = f"{self.address.shown} answered {status}: {reason.rstrip('.')}. "
        pause_s, attempts = _requested_pause(response), self._limits.attempts
        if status in self.service.too_fast:
            refused = SourceRefused(message + self.service.advice(status, self.address), status=status)
            return _TryAgain(refused, attempts, pause_s=pause_s, hold=pause_s is not None)
        if status >= 500 or status == 408:
            failed = SourceUnreachable(f"{message}{self.service.name} failed on its side; try again later.")
            return _TryAgain(failed, attempts, pause_s=pause_s)
        return SourceRefused(message + self.service.advice(status, self.address), status=status)

    def _unanswered(self, reason: str, *, is_silent: bool) -> _TryAgain:
        error = SourceUnreachable(
            f"No answer from {self.address.shown}: {reason.rstrip('.')}. Check the network and the address "
            f"({self.service.url_variable}). Your own documents can be searched without it."
        )
        return _TryAgain(error, self._limits.silent_attempts if is_silent else self._limits.attempts)

    def _waits_too_long(self, failed: _TryAgain, pause_s: float) -> SourceError:
        """The error of an attempt after which the pause would be longer than the limits allow."""
        if failed.pause_s is None:
            return failed.error
        message = f"{failed.error} It is to be asked again in {_duration(pause_s)}, which is not waited for."
        if isinstance(failed.error, SourceRefused):
            return SourceRefused(message, status=failed.error.status)
        return type(failed.error)(message)

    def _parse(self, reply: bytes, shape: type[Body]) -> Body:
        try:
            return shape.model_validate_json(reply)
        except ValidationError as error:
            message = self.clean(_error_message(reply))
            fault = self.clean(describe_validation_error(error, "the reply"))
            raise self.bad_reply(f"it says {message!r}" if message else fault) from None

    def _url(self, request: SourceRequest) -> str:
        return self.address.base.rstrip("/") + request.path


def _requested_pause(response: "Response") -> float | None:
    """Seconds to pause that the source asks for, by Retry-After or else OpenAlex's own headers; None if it does not."""
    pause = retry_after_s(response.headers.get("retry-after", ""))
    if pause is None and response.headers.get("x-ratelimit-remaining") == "0":
        pause = retry_after_s(response.headers.get("x-ratelimit-reset", ""))
    return pause


def _error_message(reply: bytes) -> str:
    """What a JSON object says in `error` and `message`; empty if there is nothing, or the reply is no JSON object."""
    try:
        body = json.loads(reply)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(body, dict):
        return ""
    parts = [body[name] for name in ("error", "message") if isinstance(body.get(name), str)]
    return ": ".join(dict.fromkeys(parts))


def _error_text(reply: bytes) -> str:
    """What the body of an error says: its message, or the text of an HTML page without tags."""
    text = reply[:4096].decode("utf-8", "replace")
    return _error_message(reply) or re.sub(r"<[^<>]*>", " ", text)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours" if seconds < 172_800 else "more than two days"
