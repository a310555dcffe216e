"""One call for equal ones that are made at the same time, by what they are the same."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class SharedCall(Generic[T]):
    """Equal calls at the same time: the first one sets the result, the others find it set."""

    key: str
    result: T | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    callers: int = 0


class SharedCalls(Generic[T]):
    """Lets one of equal calls be made at a time; those that waited for it find its result.

    Calls are equal whose keys are; those of other event loops are not waited for.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[asyncio.AbstractEventLoop, str], SharedCall[T]] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[SharedCall[T]]:
        """Wait for equal calls; the result is set where one of them set it."""
        place = asyncio.get_running_loop(), key  # a lock is of one loop
        call = self._calls.setdefault(place, SharedCall(key))
        call.callers += 1
        try:
            async with call.lock:
                yield call
        finally:
            call.callers -= 1
            if not call.callers:
                del self._calls[place]
