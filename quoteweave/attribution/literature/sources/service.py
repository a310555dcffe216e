"""The HTTP APIs of papers: their addresses, keys and errors, the pace of requests, and the cache of replies.

Requests with one key are never closer together than the source allows. The total time that one sentence waits for a
source is counted, so that a source which is silent or always slow is given up.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeVar
from weakref import WeakKeyDictionary

from pydantic import BaseModel

from quoteweave.core.concurrency.shared_calls import SharedCall, SharedCalls
from quoteweave.core.errors import UsageError
from quoteweave.core.files.result_cache import CachedResult, ResultCache
from quoteweave.core.fingerprints import json_sha256
from quoteweave.endpoints.address import EndpointAddress, option_or_environment, same_origin


@dataclass(frozen=True, slots=True)
class Timing:
    """A clock in seconds, a way to sleep, and random numbers from 0 to 1 that vary pauses; tests replace them."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


class SourcePace:
    """Spaces requests evenly, over all tasks and threads that share it.

    Within an event loop, requests are let through in the order in which they came. The interval counts from the moment
    at which the previous request was really let through, so that a delayed request is not followed too closely.
    """

    def __init__(self, timing: Timing | None = None) -> None:
        self.timing = timing or Timing()
        self._free_at = float("-inf")
        self._lock = Lock()
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def wait(self, interval_s: float) -> None:
        """Return when a request may be sent; the next one may follow after `interval_s` seconds."""
        queue = self._queues.setdefault(asyncio.get_running_loop(), asyncio.Lock())
        async with queue:
            while pause := self._take(interval_s):
                await self.timing.sleep(pause)

    def hold(self, seconds: float) -> None:
        """Let no request through for so many seconds from now on."""
        with self._lock:
            self._free_at = max(self._free_at, self.timing.clock() + seconds)

    def _take(self, interval_s: float) -> float:
        """Take the turn and return 0, or return the seconds to wait for it."""
        with self._lock:
            now = self.timing.clock()
            if now >= self._free_at:
                self._free_at = now + interval_s
                return 0.0
            return self._free_at - now


@dataclass(slots=True)
class Waiting:
    """How long a source was waited for: for replies and between attempts, but not for a request's turn.

    Time in which several requests wait counts once. Use it within one event loop.
    """

    _ended: float = 0.0
    _under_way: int = 0
    _since: float = 0.0

    @contextmanager
    def wait(self, clock: Callable[[], float]) -> Iterator[None]:
        """Count this block by a clock of seconds."""
        if not self._under_way:
            self._since = clock()
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._ended += clock() - self._since

    def seconds(self, now: float) -> float:
        """Seconds so far, including waits under way; `now` is the time by the clock of `wait`."""
        return self._ended + (now - self._since if self._under_way else 0.0)


_waiting: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


@contextmanager
def count_waiting() -> Iterator[Waiting]:
    """Count the time that this block, and tasks that it starts, wait for a source."""
    token = _waiting.set(counted := Waiting())
    try:
        yield counted
    finally:
        _waiting.reset(token)


def current_waiting() -> Waiting | None:
    """The count of the surrounding `count_waiting` block; None outside any."""
    return _waiting.get()


_paces: dict[tuple[str, str], SourcePace] = {}
_paces_lock = Lock()


def shared_pace(address: EndpointAddress) -> SourcePace:
    """The pace shared by all in this process that ask one machine with one key."""
    with _paces_lock:
        return _paces.setdefault((address.destination, address.key), SourcePace())


Body = TypeVar("Body", bound=BaseModel)


class _Reply(CachedResult):
    reply: str


class ReplyCache:
    """Replies by the keys of their requests, as the sources sent them."""

    def __init__(self, folder: Path) -> None:
        self._cache = ResultCache(folder, _Reply)
        self._calls: SharedCalls[BaseModel] = SharedCalls()

    def turn(self, key: str) -> AbstractAsyncContextManager[SharedCall[BaseModel]]:
        """Wait for equal requests under way; the result is set if one of them was answered."""
        return self._calls.turn(key)

    def find(self, key: str, shape: type[Body]) -> Body | None:
        """The cached reply, if it can be read as such a record. Raises StorageError if the file cannot be read."""
        cached = self._cache.find(key)
        try:
            return None if cached is None else shape.model_validate_json(cached.reply)
        except ValueError:
            return None

    def keep(self, key: str, reply: bytes) -> None:
        """Keep a reply. Raises StorageError where the disk is full or refuses."""
        self._cache.keep(_Reply(request=key, reply=reply.decode()))


def reply_key(url: str, params: Mapping[str, str], body: Mapping[str, object] | None) -> str:
    """The cache key of a request: a hash of its address and what it asks, without the API key."""
    return json_sha256({"url": url, "params": dict(params), "body": body})


NO_KEY = "none"
"""The key of an `EndpointAddress` that means that no key is sent."""


@dataclass(frozen=True, slots=True)
class SourceService:
    """An HTTP API of papers, as it is documented."""

    name: str
    """The name by which users know it."""
    url: str
    url_variable: str
    """The environment variable with another address, such as a proxy's."""
    key_variable: str
    key_page: str
    """The web page on which one gets a key."""
    key_header: str = ""
    """The header in which a key is sent; if empty, the key is sent as the parameter `key_parameter`."""
    key_parameter: str = ""
    too_fast: frozenset[int] = frozenset({429})
    """The HTTP statuses that mean that it was asked too often."""
    too_often: str = ""
    """What users can do if it was asked too often."""

    def address(self, base_url: str | None = None, api_key: str | None = None) -> EndpointAddress:
        """The address and key given, or those of the environment, or the API's own address without a key.

        The environment's key is sent only to the environment's address, or to the API's own if that is not set, because
        other addresses may come from somebody else's file. Raises UsageError for an address that is no base URL and for
        a key that no request can carry.
        """
        default_url = option_or_environment(None, self.url_variable) or self.url
        url = (base_url or "").strip() or default_url
        key = option_or_environment(api_key, self.key_variable)
        if key and not (api_key or "").strip() and not same_origin(url, default_url):
            where = f"{self.url_variable} alone, or to {self.name}"
            return EndpointAddress(url, withheld=f"no key was sent, as {self.key_variable} goes to {where}")
        try:
            return EndpointAddress(url, key or NO_KEY)
        except UsageError as error:
            raise UsageError(f"{error} ({self.name}: {self.url_variable}, {self.key_variable})") from None

    def advice(self, status: int, address: EndpointAddress) -> str:
        """What to do about a refusal, as a sentence."""
        if status in self.too_fast | {401, 403}:
            check = f"Check the key in {self.key_variable}; it may be wrong or no longer valid ({self.key_page})."
            sentences = [self.too_often] * (status in self.too_fast) + [self._without_key(address)]
            sentences += [check] * (status in (401, 403) and address.key != NO_KEY)
            return " ".join(sentence for sentence in sentences if sentence)
        if status == 404:
            return f"Check the address ({self.url_variable})."
        return "Change what is searched for."

    def _without_key(self, address: EndpointAddress) -> str:
        if address.withheld:
            return f"{address.withheld[0].upper()}{address.withheld[1:]}."
        if address.key == NO_KEY:
            return f"No key was sent; set {self.key_variable} to yours, which is free ({self.key_page})."
        return ""
