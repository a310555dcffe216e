"""One call for several callers: for equal calls at the same time, and for threads that wait for a busy function."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from threading import Condition
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class SharedCall(Generic[T]):
    """Equal calls at the same time: the first sets the result, and the others find it set."""

    key: str
    result: T | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0


class SharedCalls(Generic[T]):
    """Lets only one of several equal calls be made at a time; those that waited for it find its result.

    Calls with equal keys are equal. Calls of other event loops are not waited for.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[asyncio.AbstractEventLoop, str], SharedCall[T]] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[SharedCall[T]]:
        """Wait for equal calls; if one of them has set a result, it is set."""
        place = asyncio.get_running_loop(), key  # a lock belongs to one loop
        call = self._calls.setdefault(place, SharedCall(key))
        call.callers += 1
        try:
            async with call.lock:
                yield call
        finally:
            call.callers -= 1
            if not call.callers:
                del self._calls[place]


A = TypeVar("A")
B = TypeVar("B")


class _Request(Generic[A, B]):
    def __init__(self, items: Sequence[A]) -> None:
        self.items = items
        self.results: list[B] | None = None
        self.error: Exception | None = None

    @property
    def done(self) -> bool:
        return self.results is not None or self.error is not None

    def result(self) -> list[B]:
        if self.results is None:
            raise self.error or RuntimeError("the request was not called")
        return self.results


class JointCalls(Generic[A, B]):
    """Calls a function that returns a result for each item once for all the threads that wait for it.

    A thread that finds it idle calls it at once. Those that come while it is running wait, and one of them then calls
    it with the items of all: a model takes about as long for a few short texts as for one. Where such a call fails,
    each request is called separately, so that none fails because of another's items. At most one call runs at a time.
    At most `at_once` items are joined, unless one request alone has more.

    >>> calls: JointCalls[str, int] = JointCalls(at_once=64)
    >>> calls.run(lambda texts: [len(text) for text in texts], ["one", "three"])
    [3, 5]
    """

    def __init__(self, *, at_once: int) -> None:
        self._at_once = at_once
        self._waiting: list[_Request[A, B]] = []
        self._changed = Condition()
        self._busy = False

    def run(self, function: Callable[[list[A]], Sequence[B]], items: Sequence[A]) -> list[B]:
        """Return a result for each item, in order. Raises what the function raises for these items alone.

        The function has to be the same in every call. It is not stored, so that an object can pass in its own method
        and still be freed when its last user is gone.
        """
        request: _Request[A, B] = _Request(items)
        with self._changed:
            self._waiting.append(request)
            try:
                self._changed.wait_for(lambda: request.done or not self._busy)
            except BaseException:  # such as KeyboardInterrupt; nobody waits for the result any more
                self._waiting = [other for other in self._waiting if other is not request]
                raise
            if request.done:
                return request.result()
            self._busy = True
            joined = self._take_waiting(request)
        try:
            _call_joined(function, joined)
        finally:
            with self._changed:
                self._busy = False
                # Requests that a KeyboardInterrupt in this thread left undone are called by another one.
                self._waiting += [other for other in joined if other is not request and not other.done]
                self._changed.notify_all()
        return request.result()

    def _take_waiting(self, first: _Request[A, B]) -> list[_Request[A, B]]:
        """Take the caller's request from those that wait, and as many others as can be joined with it."""
        joined, item_count = [first], len(first.items)
        for request in self._waiting:
            if request is not first and item_count + len(request.items) <= self._at_once:
                joined.append(request)
                item_count += len(request.items)
        self._waiting = [request for request in self._waiting if request not in joined]
        return joined


def _call_joined(function: Callable[[list[A]], Sequence[B]], joined: Sequence[_Request[A, B]]) -> None:
    try:
        results = list(function([item for request in joined for item in request.items]))
    except Exception as error:
        if len(joined) == 1:
            joined[0].error = error
            return
        for request in joined:
            _call_joined(function, [request])
        return
    start = 0
    for request in joined:
        request.results = results[start : start + len(request.items)]
        start += len(request.items)
