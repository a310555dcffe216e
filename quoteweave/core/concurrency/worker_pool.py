"""Do many things that wait for an endpoint, a few at a time.

What computes has the threads of `core.concurrency.thread_pools`.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")


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
