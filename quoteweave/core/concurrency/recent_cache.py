"""Thread-safe caches of recent results."""

from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache, wraps
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key")
T = TypeVar("T")


class RecentCache(Generic[Key, T]):
    """A thread-safe cache of the `most` values that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Key, T] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key) -> T | None:
        """The cached value, or None."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Key, value: T) -> None:
        """Store a value; where the cache is full, the least recently used one is evicted."""
        with self._lock:
            self._values[key] = value
            if len(self._values) > self._most:
                self._values.popitem(last=False)


def cached_for_recent_texts(most: int, *, longest: int) -> Callable[[Callable[[str], T]], Callable[[str], T]]:
    """Decorate a function of a text alone, so that it is computed once for each of the `most` texts asked for last.

    Texts of more than `longest` characters are computed each time, which bounds the memory. What the function returns
    must not be changed.
    """

    def decorate(function: Callable[[str], T]) -> Callable[[str], T]:
        cached = lru_cache(maxsize=most)(function)

        @wraps(function)
        def cached_or_computed(text: str) -> T:
            return cached(text) if len(text) <= longest else function(text)

        return cached_or_computed

    return decorate
