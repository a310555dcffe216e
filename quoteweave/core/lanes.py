"""Threads for what would keep an event loop standing still: searches, and checks of answers.

A lane has few threads, and work waits in it in the order that it came. Many threads at once would be no faster in
Python, and the event loop, which is one of them, would seldom get its turn.
"""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Literal, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
Lane = Literal["search", "gate"]


async def compute(lane: Lane, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What the function returns, called in a thread of the lane, with the context variables of here.

    Answers are checked one after the other: of many that come together, the first is done with at once, and the next
    question takes its place, where else all would be checked before any, and come together again.
    """
    context = contextvars.copy_context()
    threads = _threads(lane, os.getpid())  # a forked process has none of its parent's
    return await asyncio.get_running_loop().run_in_executor(threads, lambda: context.run(function, *args, **kwargs))


@cache
def _threads(lane: Lane, process: int) -> ThreadPoolExecutor:
    count = 1 if lane == "gate" else os.cpu_count() or 1
    return ThreadPoolExecutor(count, thread_name_prefix=f"quoteweave-{lane}-{process}")
