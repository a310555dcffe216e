"""The one crossing from sync to async.

Each thread that crosses keeps an event loop, so that what belongs to a loop, such as connections to servers, is there
for its next crossing. The loop is closed when its thread ends, that of the main thread when Python does.
"""

import asyncio
import atexit
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def wait_for(work: Coroutine[Any, Any, T]) -> T:
    """What the coroutine returns: run in this thread, where Ctrl-C reaches it, unless an event loop runs here.

    Tasks that it leaves behind are cancelled.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _here.kept().runner.run(_alone(work), context=copy_context())
    return _here.kept().beside.submit(lambda: wait_for(work)).result()


async def _alone(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    finally:
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)


class _Kept:
    """A thread's event loop, and the thread beside it that crosses while another loop runs in its own."""

    def __init__(self) -> None:
        self.process = os.getpid()
        # With a factory, the runner leaves alone what `asyncio.get_event_loop` gives.
        self.runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.beside = ThreadPoolExecutor(1)

    def close(self) -> None:
        """Close what belongs to the loop, and the loop."""
        loop = self.runner.get_loop()
        if not loop.is_closed():
            # The runner's own `close` begins a thread, which is too late when Python ends.
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()
        self.beside.shutdown(wait=False)

    def __del__(self) -> None:
        if self.process == os.getpid():
            self.close()
        else:
            # A forked process shares the pipes of its parent's loop, which must not be closed from here.
            self.runner.get_loop().is_closed = lambda: True  # type: ignore[method-assign]


class _Here(threading.local):
    """What this thread keeps."""

    _kept: _Kept | None = None

    def kept(self) -> _Kept:
        if self._kept is None or self._kept.process != os.getpid():
            self._kept = _Kept()
        return self._kept

    def close(self) -> None:
        self._kept = None


_here = _Here()
atexit.register(_here.close)
