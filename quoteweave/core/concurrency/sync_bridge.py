"""Run async code from sync callers.

Sync callers share one event loop in a thread of its own, so that what belongs to a loop, such as connections to servers
and limits of concurrency, still exists for the next call. It is closed when Python exits.
"""

import asyncio
import atexit
import os
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock, Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")

# On Windows, Ctrl-C is only handled between two waits.
_WAIT_SECONDS = 0.5

# Code that runs in a loop may block it and call again, itself or in a thread with its context variables. That call goes
# to the loop one level up, which never waits for the loops below.
_level: ContextVar[int] = ContextVar("_level", default=0)
_loops: "dict[tuple[int, int], _LoopThread]" = {}  # by process, as a forked one has no threads, and by level
_opening = Lock()


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Return what the coroutine returns, or raise what it raises, whether or not an event loop runs in this thread.

    Ctrl-C cancels it, and is raised once it has cleaned up. Tasks that it has left behind are cancelled.
    """
    loop, call = _loop(_level.get()), _Call(work)
    try:
        loop.call_soon_threadsafe(call.begin)
        call.wait()
    except BaseException:
        loop.call_soon_threadsafe(call.cancel)
        call.wait()
        raise
    try:
        return call.ended.result()
    finally:
        del call  # its error has a traceback that refers to this frame


@contextmanager
def running(work: Coroutine[Any, Any, object]) -> Iterator[None]:
    """Run a coroutine beside this block, in the loop of `run_sync`, and cancel it if the block ends first.

    What it returns or raises is ignored.
    """
    loop, call = _loop(_level.get()), _Call(work)
    loop.call_soon_threadsafe(call.begin)
    try:
        yield
    finally:
        loop.call_soon_threadsafe(call.cancel)
        call.wait()


class _Call(Generic[T]):
    """A coroutine that runs in a loop of another thread, and the tasks that it has started."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self.ended: Future[T] = Future()
        self.begun: set[asyncio.Task[Any]] = set()
        self._work = work
        self._task: asyncio.Task[None] | None = None

    def wait(self) -> None:
        """Wait until it has ended."""
        while not wait([self.ended], _WAIT_SECONDS).done:
            pass

    def begin(self) -> None:
        """Start it; called in the thread of the loop."""
        _level.set(_level.get() + 1)
        _call.set(None)
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(self._settle)

    def cancel(self) -> None:
        """Cancel it; called in the thread of the loop."""
        if self._task is None:
            self._settle()
        else:
            self._task.cancel()

    async def _run(self) -> None:
        _call.set(self)
        try:
            result = await self._run_work()
        except BaseException as error:  # also SystemExit, which would end the loop for all callers
            self.ended.set_exception(error)
        else:
            self.ended.set_result(result)

    async def _run_work(self) -> T:
        try:
            return await self._work
        finally:
            unfinished = list(self.begun)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

    def _settle(self, _task: "asyncio.Task[None] | None" = None) -> None:
        if not self.ended.done():  # cancelled before its first step
            self._work.close()
            self.ended.set_exception(asyncio.CancelledError())


_call: "ContextVar[_Call[Any] | None]" = ContextVar("_call", default=None)


def _make_task(loop: asyncio.AbstractEventLoop, work: Any, **options: Any) -> "asyncio.Task[Any]":
    """A task factory that records the tasks that a call starts."""
    task, call = asyncio.Task(work, loop=loop, **options), _call.get()
    if call is not None:
        call.begun.add(task)
        task.add_done_callback(call.begun.discard)
    return task


def _loop(level: int) -> asyncio.AbstractEventLoop:
    key = os.getpid(), level
    with _opening:
        if key not in _loops:
            _loops[key] = _LoopThread()
        return _loops[key].loop


class _LoopThread:
    """A thread in which an event loop runs until Python exits.

    `anyio.from_thread.start_blocking_portal` does not do: Ctrl-C while it starts a task leaves that running,
    KeyboardInterrupt raised in a task ends the loop for all callers, and a forked process waits for ever for its
    parent's loop when it exits.
    """

    def __init__(self) -> None:
        opened: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._process = os.getpid()
        self._thread = Thread(target=_serve, args=(opened,), name="quoteweave-async", daemon=True)
        self._thread.start()
        self.loop, self._stop = opened.result()
        atexit.register(self._close)

    def _close(self) -> None:
        if os.getpid() == self._process:
            self.loop.call_soon_threadsafe(self._stop.set)
            self._thread.join()


def _serve(opened: "Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]") -> None:
    async def until_stopped() -> None:
        stop = asyncio.Event()
        opened.set_result((loop, stop))
        await stop.wait()
        unfinished = asyncio.all_tasks() - {asyncio.current_task()}
        for task in unfinished:
            task.cancel()
        await asyncio.gather(*unfinished, return_exceptions=True)

    loop = asyncio.new_event_loop()
    loop.set_task_factory(_make_task)
    try:
        loop.run_until_complete(until_stopped())
        # `asyncio.run` does not do: at its end it starts a thread, which is too late when Python exits.
        loop.run_until_complete(loop.shutdown_asyncgens())
    finally:
        loop.close()
