"""How many threads wait for others that share a busy function with them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from quoteweave.core.concurrency import shared_calls


class Waiters:
    """Counts the threads that wait at conditions."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = threading.Condition()

    def change(self, by: int) -> None:
        with self._changed:
            self.count += by
            self._changed.notify_all()

    def until(self, count: int) -> None:
        """Return once so many wait."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.count == count, 30)


@contextmanager
def counted_waiters() -> Iterator[Waiters]:
    """Count the threads that wait at the conditions that `JointCalls` makes in this block."""
    waiters = Waiters()

    class Condition(threading.Condition):
        def wait(self, timeout: float | None = None) -> bool:
            waiters.change(1)
            try:
                return super().wait(timeout)
            finally:
                waiters.change(-1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shared_calls, "Condition", Condition)
        yield waiters
