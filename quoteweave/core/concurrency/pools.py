"""Run many things at once, a few at a time: waiting for endpoints, and computing in a limited number of threads.

Threads are for work that would block an event loop: searches, extracted answers, checks of answers. Many threads at
once would be no faster in Python, and the event loop's own thread would seldom get its turn.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterable
from functools import cache, partial
from typing import TYPE_CHECKING, Literal, ParamSpec, TypeVar

if TYPE_CHECKING:
    from anyio import CapacityLimiter
    from anyio.lowlevel import RunVar

P = ParamSpec("P")
T = TypeVar("T")
PoolName = Literal["search", "answer"]
MAX_INLINE_CHARACTERS = 1000
"""Longest text for which pure Python work is done without a thread: a few tens of milliseconds at most."""


async def for_each(items: Iterable[T], do: Callable[[T], Awaitable[None]], *, concurrency: int) -> None:
    """Await `do` for each item, for `concurrency` items at a time, started in order.

    An item is only taken from `items` when its turn comes. The first error that `do` raises is raised here, once the
    running tasks have been cancelled and have cleaned up.
    """
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            await do(item)

    tasks = [asyncio.create_task(work()) for _ in range(concurrency)]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def run_inline_if_short(
    pool: PoolName, text: str, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs
) -> T:
    """Return what the function returns: called directly if `text` is short, else in a thread as by `run_in_pool`.

    This is for pure Python work whose time grows with the length of a text, a question or an answer, and which takes
    milliseconds for a short one. Python threads wait for each other, 5 ms at a time: with 16 requests at once, answers
    in threads took three times the processor time that they take one after another (benchmarks/serving.py).
    """
    if len(text) <= MAX_INLINE_CHARACTERS:
        return function(*args, **kwargs)
    return await run_in_pool(pool, function, *args, **kwargs)


async def wait_for_turn() -> None:
    """Return once every earlier caller has gone on, each in its own iteration of the event loop.

    Called before work that is done without a thread. Of many questions at once, the first is then answered before the
    last, as if they were called one after another, and between two of them the event loop does everything else that is
    due. Without it, whatever waits for the loop, such as a page or a check of the server's health, waits for all.
    """
    async with _limiters()["turn"]:
        pass


async def run_in_pool(pool: PoolName, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called in a thread with the current context variables.

    An event loop has as many threads for its searches as there are cores, and one for its answers and checks; work is
    done in order of arrival. Answers run one at a time, so that the first is sent before the last is computed. A
    cancelled caller that still waits for its turn returns at once; one whose function is running returns only after
    that, so that there are never more threads.
    """
    from anyio.to_thread import run_sync

    return await run_sync(partial(function, *args, **kwargs), limiter=_limiters()[pool])


def _limiters() -> "dict[str, CapacityLimiter]":
    from anyio import CapacityLimiter

    limiters = _limiters_of_loops().get(None)
    if limiters is None:
        most = {"search": os.cpu_count() or 1, "answer": 1, "turn": 1}
        limiters = {name: CapacityLimiter(count) for name, count in most.items()}
        _limiters_of_loops().set(limiters)
    return limiters


@cache  # identified by the variable itself, not by its name, so there must be only one
def _limiters_of_loops() -> "RunVar[dict[str, CapacityLimiter]]":
    from anyio.lowlevel import RunVar

    return RunVar("quoteweave.core.concurrency.pools")
