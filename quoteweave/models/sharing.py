"""Models that are in use are shared: asked for again with the same settings, the same object is given.

A server makes a search for each choice of settings that its requests name; were each to have models of its own, their
weights would be loaded as often.
"""

from collections.abc import Callable
from threading import RLock
from typing import ParamSpec, TypeVar
from weakref import WeakValueDictionary

P = ParamSpec("P")
M = TypeVar("M")

_shared: WeakValueDictionary[tuple[object, str], object] = WeakValueDictionary()
_lock = RLock()


def make_shared(make: Callable[P, M], *args: P.args, **kwargs: P.kwargs) -> M:
    """Return the model that `make` returns for these arguments, or that it returned before if it is still in use.

    Arguments are the same where they are written alike (`repr`). Models take turns by themselves (`ModelLock`).
    """
    key = (make, repr((args, sorted(kwargs.items()))))
    with _lock:
        found = _shared.get(key)
        if found is None:
            found = _shared[key] = make(*args, **kwargs)
        return found  # type: ignore[return-value]  # the key holds what made it
