"""Processes that read pages, so that two cores are used and a crash in a native library costs one document."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool of spawned processes, started on first use, and again after one of them has crashed."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a process run a module-level function. The future raises BrokenProcessPool when a process crashed.

        A crash breaks every call that has not ended; calls that are submitted afterwards get fresh processes.
        """
        if self._pool is not None:
            try:
                return self._submit(self._pool, call, *args, **kwargs)
            except BrokenProcessPool:
                self._stop()
        # Spawned, not forked: a forked child would share the catalogue's connections and the writer's lock.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self.count, mp_context=context, initializer=_prepare)
        return self._submit(self._pool, call, *args, **kwargs)

    def _submit(self, pool: ProcessPoolExecutor, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        # The executor starts its processes here, one a call, until there are as many as it may have.
        with _starting():
            return pool.submit(call, *args, **kwargs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        pool, self._pool = self._pool, None
        if pool is None:
            return
        processes = list((pool._processes or {}).values())  # the executor offers no way to end a busy process
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


@contextmanager
def _starting() -> Iterator[None]:
    """What processes started meanwhile must not take over from this one: Ctrl-C, and its main script.

    Ctrl-C goes to every process of a terminal, and is this one's to handle. A spawned process would load the script
    that is running here once more, though what it is to do lies in this package; a script without a guard for its main
    part would then run again in each of them.
    """
    main = sys.modules["__main__"].__dict__
    hidden: dict[str, object] = {name: main.pop(name) for name in ("__file__", "__spec__") if name in main}
    main["__spec__"] = None
    held = hasattr(signal, "pthread_sigmask")  # not on Windows
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if held else set()
    try:
        yield
    finally:
        main.update(hidden)
        if held:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _prepare() -> None:
    """In a new worker: keep one thread a process in the libraries to come, and end when the parent is gone."""
    os.environ.update(OMP_NUM_THREADS="1", OPENCV_FOR_THREADS_NUM="1")
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
