"""Do many things at once, a few at a time: what waits for an endpoint, and what computes, in bounded threads.

Threads are for what would keep an event loop standing still: searches, extracted answers, checks of answers. Many at
once would be no faster in Python, and the event loop, which is one of them, would seldom get its turn.
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
"""Longest text for which work in Python alone is called without a thread: a few tens of milliseconds at most."""


async def for_each(items: Iterable[T], do: Callable[[T], Awaitable[None]], *, concurrency: int) -> None:
    """Await `do` of each item, of `concurrency` items at a time, begun in their order; an item is taken when its turn
    comes.

    The first error that `do` raises is raised here, once what is under way has been cancelled and has cleaned up.
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
    """Return what the function returns: called here where `text` is short, else as `run_in_pool` does.

    For work in Python alone, which takes milliseconds if the text is short by whose length its time grows: a question,
    or an answer. Several threads of Python wait for each other, 5 ms at a time:
    with 16 requests under way at once, answers in threads took three times the processor time that they take one after
    another (benchmarks/serving.py).
    """
    if len(text) <= MAX_INLINE_CHARACTERS:
        return function(*args, **kwargs)
    return await run_in_pool(pool, function, *args, **kwargs)


async def wait_for_turn() -> None:
    """Return once every caller before this one has gone on, each in a round of the event loop of its own.

    For the beginning of work that is called without a thread: of many questions at once the first is answered
    before the last, as if they were called in a row, and between two of them the event loop does all else that is
    due. Without it, whatever waits for the loop, such as a page or a check of the server's health, waits for all.
    """
    async with _limiters()["turn"]:
        pass


async def run_in_pool(pool: PoolName, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what the function returns, called in a thread with the context variables of here.

    An event loop has a thread for each core for its searches, and one for its answers and checks; work waits in the
    order that it came. Answers run one at a time, so that the first is sent before the last is computed.
    A caller that is cancelled while it waits for its turn goes at once, else when the function has returned, so that
    there are never more threads.
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


@cache  # a loop knows the variable itself, and not its name: another one of that name is another one
def _limiters_of_loops() -> "RunVar[dict[str, CapacityLimiter]]":
    from anyio.lowlevel import RunVar

    return RunVar("quoteweave.core.concurrency.pools")
