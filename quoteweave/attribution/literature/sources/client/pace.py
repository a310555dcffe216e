"""How often a source is asked, and how long it is waited for.

No two requests with one key are closer to each other than the source allows. What one sentence waits for a source in
all is counted, so that a source which is silent, or slow time and again, is given up.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

from quoteweave.endpoints.address import EndpointAddress


@dataclass(frozen=True, slots=True)
class Timing:
    """What tells the time, in seconds, and waits; and numbers from 0 to 1 by which pauses differ."""

    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


class SourcePace:
    """Spaces requests evenly, over all tasks and threads that share it.

    Within an event loop requests are let through in the order in which they came. The interval counts from the moment
    at which the request before was let through, so that a late one brings no two close together.
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
    """How long a source was waited for: for replies, and between attempts, but not for its turn.

    What is waited for at the same time counts once. Of one event loop.
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
        """Seconds so far, what is under way included; `now` is by the clock of `wait`."""
        return self._ended + (now - self._since if self._under_way else 0.0)


_waiting: ContextVar[Waiting | None] = ContextVar("waiting", default=None)


@contextmanager
def count_waiting() -> Iterator[Waiting]:
    """Count what is waited for a source in this block, tasks that it starts included."""
    token = _waiting.set(counted := Waiting())
    try:
        yield counted
    finally:
        _waiting.reset(token)


def current_waiting() -> Waiting | None:
    """The count of the block around; None outside any."""
    return _waiting.get()


_paces: dict[tuple[str, str], SourcePace] = {}
_paces_lock = Lock()


def shared_pace(address: EndpointAddress) -> SourcePace:
    """The pace of all in this process who ask that machine with that key."""
    with _paces_lock:
        return _paces.setdefault((address.destination, address.key), SourcePace())
