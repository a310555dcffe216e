"""Processes that read pages, so that two cores are used and a crash in a native library costs one document."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class Workers:
    """A pool of spawned processes that can be started again after one of them has crashed."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def submit(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Have a process run a module-level function. The future raises BrokenProcessPool when a process crashed.

        After a crash the next call starts fresh processes.
        """
        if self._pool is not None:
            try:
                return self._pool.submit(call, *args, **kwargs)
            except BrokenProcessPool:
                self._stop()
        # Spawned, not forked: a forked child would share the catalogue's connections and the writer's lock.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(self.count, mp_context=context, initializer=_start)
        return self._pool.submit(call, *args, **kwargs)

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


def _start() -> None:
    """In a new worker: leave Ctrl-C to the parent, keep one thread a process, and end when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["OMP_NUM_THREADS"] = "1"
    threading.Thread(target=_end_with_parent, daemon=True).start()
    import cv2

    cv2.setNumThreads(1)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
