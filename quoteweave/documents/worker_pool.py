"""Processes that read files within limits of memory and time, so that a hostile file harms only itself.

Each process has a pipe and a thread of this process that waits for it, so that a process that dies or exceeds its
limits is identified exactly, costs one task and leaves no semaphore behind. A thread of `core.concurrency.pools` cannot
be ended, and a pool of `concurrent.futures` is lost with one of its processes.
"""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeVar

from quoteweave.core.errors import ProcessError, by_setting, join_ways
from quoteweave.documents.worker_process import Message, do_nothing

if TYPE_CHECKING:
    import psutil

P = ParamSpec("P")
T = TypeVar("T")

# A process can fill at most some ten megabytes between two checks.
POLL_S = 0.02
# As multiples of the limit of processor time: how long a process may wait, for a disk or in vain; and how long it may
# take by the clock, if other processes keep the processor busy.
WAITING_FACTOR = 3
WALL_CLOCK_FACTOR = 60
# The slowest known pages take 1 second, or 20 if OCR reads them.
OCR_TIME_FACTOR = 4
# A picture as large as several sheets of paper may take so many times as long as one.
MAX_SHEETS = 8
MEGABYTE = 1_000_000
# A page read by OCR takes up to 450 MB, any other up to 190; the largest picture that is read, some 590.
USUAL_MEMORY = 600 * MEGABYTE
MIN_MEMORY = 300 * MEGABYTE
# As a multiple of their usual memory: what all processes may take together. A text, or a document assembled from its
# pages, may exceed the usual memory by ten times its size; if that is little, it is read beside others.
TOGETHER_FACTOR = 1.1
MAX_PROCESSES = 1024
"""The most processes that may read."""


def default_processes() -> int:
    """The default number of processes that read files: one per core, at most four."""
    return min(4, os.cpu_count() or 1)


def default_memory(count: int) -> int:
    """Bytes that each of `count` processes may take on this machine: 600 MB, or less if all would fill half of it."""
    import psutil

    return max(MIN_MEMORY, min(USUAL_MEMORY, int(psutil.virtual_memory().total / (2 * count))))


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    """What a process may take for one item of a task: a page, or a file that is read whole."""

    memory: int | None = None
    """Bytes of resident memory; None for `default_memory`."""
    seconds: float = 10.0
    """Processor time; four times as much once OCR reads, and more for large pictures. A process may wait three times as
    long."""
    document_seconds: float = 1800.0
    """Processor time for all pages of a document; time that is long because of OCR counts a quarter."""

    def __post_init__(self) -> None:
        if (self.memory is not None and self.memory <= 0) or not (self.seconds > 0 and self.document_seconds > 0):
            raise ValueError("the limits of memory and time must be greater than 0")

    def for_file(self, size: int) -> "ProcessLimits":
        """The limits for a file of this size in bytes that is read whole: the larger it is, the more it may take."""
        memory = None if self.memory is None else self.memory + 10 * size
        return replace(self, memory=memory, seconds=self.seconds * (1 + size / (5 * MEGABYTE)))


class StopReason(StrEnum):
    """Why a process ended before its task was done."""

    MEMORY = "memory"
    TIME = "time"
    CRASH = "crash"


@dataclass(slots=True)
class TaskOutcome(Generic[T]):
    """The result of a task: its items, and its end or what prevented that."""

    items: list[T] = field(default_factory=list)
    error: Exception | None = None
    """The exception that it raised."""
    stop: StopReason | None = None
    """Why its process ended, if it did."""
    fresh: bool = True
    """Whether the process had done nothing before, so that nothing earlier can have been the cause."""
    reads_large_picture: bool = False
    """Whether OCR had begun to read a picture larger than a sheet of paper for the item that was not finished."""
    time_factor: int = 1
    """By what factor that item might take longer than usual, because OCR had begun to read it."""
    seconds: float = 0.0
    """The processor time that it took; a quarter of it if OCR read."""


class _Allowance:
    """The memory that all processes may take together; a task that may exceed the usual waits for the others."""

    def __init__(self, total: int) -> None:
        self._total = self._free = total
        self._changed = threading.Condition()
        self._turn, self._last = 0, 0

    @contextmanager
    def reserved(self, memory: int) -> Iterator[None]:
        """Reserve that much, or all, until the block ends; in order of arrival, so that large tasks do not starve."""
        memory = min(memory, self._total)
        with self._changed:
            ticket, self._last = self._last, self._last + 1
            self._changed.wait_for(lambda: self._turn == ticket and self._free >= memory)
            self._turn, self._free = self._turn + 1, self._free - memory
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._free += memory
                self._changed.notify_all()


class WorkerPool:
    """A pool of processes, each of which is started when it is first needed, and again after it has ended.

    Together they may take a tenth more than their number times the usual limit: a task that may take much more than
    usual waits until others have ended, and runs alone if it may take as much by itself, or more.
    """

    def __init__(self, count: int, limits: ProcessLimits | None = None) -> None:
        self.count = count
        limits = limits or ProcessLimits()
        memory = limits.memory or default_memory(max(1, count))
        self.limits = replace(limits, memory=memory)
        self._allowance = _Allowance(int(TOGETHER_FACTOR * memory * count))
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="reading")
        self._local = threading.local()  # the process of each thread
        self._lock = threading.Lock()
        self._processes: set[_Process] = set()
        self._closed = False

    def start(self) -> None:
        """Start all processes, so that the first tasks need not wait for them."""
        for _ in range(self.count):
            self.submit(self.limits, do_nothing)

    def submit(
        self, limits: ProcessLimits, call: Callable[P, Iterable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Future[TaskOutcome[T]]:
        """Have a process run a module-level function that yields items; the limits apply to each item.

        The future's outcome has what the function raised and whether its process ended: a crash, or an item that
        exceeds the limits, only ends the process of that task.
        """
        return self._threads.submit(self._run, limits, call, args, kwargs)

    def submit_to_new(
        self, limits: ProcessLimits, call: Callable[P, Iterable[T]], *args: P.args, **kwargs: P.kwargs
    ) -> Future[TaskOutcome[T]]:
        """Do as `submit`, in a process that has run nothing before, which has no memory from other tasks."""
        return self._threads.submit(self._run_in_new, limits, call, args, kwargs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with self._lock:
            self._closed = True
            for process in self._processes:
                process.end()
        self._threads.shutdown(cancel_futures=True)

    def _run(self, limits: ProcessLimits, *task: Any) -> TaskOutcome[Any]:
        with self._allowance.reserved(limits.memory or 0):
            process = self._process()
            if process is None:
                return TaskOutcome(stop=StopReason.CRASH)
            outcome = process.run(limits, *task)
            if outcome.stop is not None:
                self._end_process()
            return outcome

    def _run_in_new(self, limits: ProcessLimits, *task: Any) -> TaskOutcome[Any]:
        self._end_process()
        return self._run(limits, *task)

    def _end_process(self) -> None:
        """End the process of this thread, if it has one."""
        process: _Process | None = getattr(self._local, "process", None)
        if process is not None:
            with self._lock:
                process.end()
                self._processes.discard(process)
            self._local.process = None

    def _process(self) -> "_Process | None":
        """The process of this thread; None once the pool is closed."""
        process: _Process | None = getattr(self._local, "process", None)
        if process is None:
            with self._lock:
                if self._closed:
                    return None
                assert self.limits.memory is not None  # noqa: S101 - for the type checker
                process = _Process(self.limits.memory)
                self._processes.add(process)
            self._local.process = process
        return process


class _Process:
    """One process and the pipe to it, used by one thread at a time."""

    def __init__(self, memory: int) -> None:
        from quoteweave.documents.process_start import ReadingProcess

        try:
            self._process = ReadingProcess(memory)
        except OSError as error:
            nowhere = isinstance(error, FileNotFoundError)
            raise ProcessError(
                f"no process can be started to read files ({error.strerror or error})",
                remedy="start again in another"
                if nowhere
                else join_ways("end others", by_setting("take fewer: {}", "processes")),
            ) from error
        self._pipe, self._watched = self._process.pipe, self._process.watched
        self._fresh = True
        self._used = 0.0  # seconds of processor time, when last checked
        self._peak = 0  # bytes, when last checked

    def run(self, limits: ProcessLimits, *task: Any) -> TaskOutcome[Any]:
        """Run a task. If the outcome says that the process ended, `end` still has to be called."""
        outcome: TaskOutcome[Any] = TaskOutcome(fresh=self._fresh)
        self._fresh = False
        try:
            self._pipe.send(task)
            self._pipe.recv()  # its start message: a new process imports first, to which the limits do not apply
            self._receive(outcome, limits)
        except (EOFError, OSError):
            # Native code ends the process if an allocation is refused.
            full = limits.memory is not None and self._peak > 0.6 * limits.memory
            outcome.stop = StopReason.MEMORY if full else StopReason.CRASH
        return outcome

    def _receive(self, outcome: TaskOutcome[Any], limits: ProcessLimits) -> None:
        """Receive messages until the task ends or exceeds its limits."""
        spent, began, factor = _Spent(self._watched), self._processor_time(), 1
        try:
            while True:
                outcome.stop = self._wait(limits, spent)
                if outcome.stop is not None:
                    outcome.time_factor = spent.factor
                    return
                message, value = self._pipe.recv()
                if message == Message.ITEM:
                    outcome.items.append(value)
                    spent, outcome.reads_large_picture = _Spent(self._watched), False
                elif message == Message.LONGER:
                    factor, outcome.reads_large_picture = OCR_TIME_FACTOR, outcome.reads_large_picture or value > 1
                    spent.factor = max(spent.factor, OCR_TIME_FACTOR * min(value, MAX_SHEETS))
                else:
                    outcome.error = value
                    outcome.stop = StopReason.MEMORY if message == Message.MEMORY else None
                    return
        finally:
            outcome.seconds = max(0.0, self._processor_time() - began) / factor

    def _processor_time(self) -> float:
        """Seconds that the process has computed; once it is gone, the last known number."""
        import psutil

        with suppress(psutil.Error):
            times = self._watched.cpu_times()
            self._used = float(times.user + times.system)
        return self._used

    def _wait(self, limits: ProcessLimits, spent: "_Spent") -> StopReason | None:
        """Wait for the next message; return the limit that was reached before it came."""
        import psutil

        while not self._pipe.poll(POLL_S):
            try:
                self._peak = self._watched.memory_info().rss
                late = spent.share(limits.seconds, self._processor_time()) > 1
            except psutil.Error:  # it has just ended, which the pipe will report
                continue
            if limits.memory is not None and self._peak > limits.memory:
                return StopReason.MEMORY
            if late:
                return StopReason.TIME
        return None

    def end(self) -> None:
        """End it at once, whether busy or not."""
        self._process.end()


class _Spent:
    """The time that a process has spent on an item."""

    def __init__(self, process: "psutil.Process") -> None:
        self.factor = 1
        """By what factor the item may take longer than usual."""
        self._process = process
        self._began = self._looked = time.monotonic()
        self._before: float | None = None
        self._waited = 0.0

    def share(self, seconds: float, used: float) -> float:
        """The share of the limit that is used, by computing or waiting, whichever is more; `used` is computed seconds.

        Raises psutil.Error once the process has ended.
        """
        self._before = used if self._before is None else self._before
        now = time.monotonic()
        # On a busy machine, a process that is ready to run but is not scheduled does not count as waiting.
        self._waited += now - self._looked if self._process.status() != "running" else 0.0
        self._looked = now
        spent = max(used - self._before, self._waited / WAITING_FACTOR, (now - self._began) / WALL_CLOCK_FACTOR)
        return spent / (seconds * self.factor)


def overtime_message(limits: ProcessLimits) -> str:
    """Say why the rest of a document is not read, continuing a sentence that begins with "page 3"."""
    seconds = f"{limits.document_seconds:.4g} seconds"
    return f"was not tried: its document ran out of the {seconds} that reading it may take; allow more, or split it"


def stop_message(
    stop: StopReason,
    limits: ProcessLimits,
    *,
    time_factor: int = 1,
    doing: str = "reading",
    advice: str = "; allow more, or split it",
) -> str:
    """Say why a step was stopped, continuing a sentence that begins with "page 3" or "it".

    `time_factor` is that of the outcome, and `advice` says what can be done about a limit.
    """
    if stop is StopReason.MEMORY:
        allowed = f"{(limits.memory or 0) // 1_000_000} MB"
        return f"ran out of memory: {doing} takes more than the {allowed} that it may take{advice}"
    if stop is StopReason.TIME:
        seconds, with_ocr = limits.seconds * time_factor, " with OCR" if time_factor > 1 else ""
        return f"ran out of time: {doing} takes more than the {seconds:.3g} seconds that it may take{with_ocr}{advice}"
    return "crashes the program that reads it, and is damaged or hostile"
