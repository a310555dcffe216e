"""Runs the steps of a task one after the other in a process of the pool, and goes on after a step that ended it."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, wait
from typing import Any, Generic, TypeVar

from quoteweave.core.errors import DocumentError, QuoteweaveError
from quoteweave.core.messages import shorten
from quoteweave.documents.worker_pool import ProcessLimits, StopReason, TaskOutcome, WorkerPool, stop_message

S = TypeVar("S")
T = TypeVar("T")


class RetriedTask(Generic[S, T]):
    """Steps of one task, each of which yields an item, or the reason why it could not be done.

    A step that ends its process loses only itself: another process does the steps after it. One that crashes a process,
    or ends one that has done other things before, is tried once more, in a new one. After a second crash, `after_crash`
    does it, if there is such a call, which does less; if it succeeds, it does the following steps as well. A step that
    exceeds a limit over a large picture is done by `after_limit`, if there is such a call, which takes less for such a
    picture; it does no other step.
    """

    def __init__(
        self,
        workers: WorkerPool,
        limits: ProcessLimits,
        call: Callable[..., Iterable[T]],
        steps: Sequence[S],
        *arguments: Any,
        after_crash: Callable[..., Iterable[T]] | None = None,
        after_limit: Callable[..., Iterable[T]] | None = None,
    ) -> None:
        self.done: list[T | str] = []
        self.lost: list[tuple[S, str]] = []
        self.error: Exception | None = None
        self.seconds = 0.0
        """Processor time so far, as `TaskOutcome` counts it."""
        self._workers, self._limits, self._arguments = workers, limits, arguments
        self._call, self._fallback, self._after_limit, self._steps = call, after_crash, after_limit, list(steps)
        self.uses_fallback = after_crash is None
        """Whether no other call is left to try: `after_crash` does the remaining steps, or there is none."""
        self._stopped: dict[int, list[StopReason]] = {}
        self._reduced: int | None = None  # the step that `after_limit` does
        self._given_up = False
        self.future: Future[TaskOutcome[T]] | None = None
        self._submit()

    def _submit(self) -> None:
        remaining = [] if self._given_up else self._steps[len(self.done) :]
        falls_back = self.uses_fallback or self._crashes() > 1
        call = self._fallback if falls_back and self._fallback is not None else self._call
        if self._after_limit is not None and self._reduced == len(self.done):
            call = self._after_limit
        if not remaining:
            self.future = None
        elif len(self.done) in self._stopped:
            self.future = self._workers.submit_to_new(self._limits, call, remaining[:1], *self._arguments)
        else:
            self.future = self._workers.submit(self._limits, call, remaining, *self._arguments)

    def _crashes(self) -> int:
        """How often the next step has crashed its process."""
        return self._stopped.get(len(self.done), []).count(StopReason.CRASH)

    def use_fallback(self) -> None:
        """Have `after_crash` do the steps that have not begun."""
        if not self.uses_fallback:
            self.uses_fallback = True
            if self.future is not None and self.future.cancel():
                self._submit()

    def wait(self) -> list[T | str]:
        """All results of the steps, in order. Raises what a step raised."""
        while self.future is not None:
            wait([self.future])
            self.advance()
        if self.error is not None:
            raise self.error
        return list(self.done)

    def give_up(self) -> None:
        """Start no more steps; those in progress are finished."""
        self._given_up = True
        if self.future is not None and self.future.cancel():
            self.future = None

    def untried(self) -> list[S]:
        """The steps that were neither done nor lost."""
        return self._steps[len(self.done) :]

    def advance(self) -> None:
        """Once the future is done, take its results and submit the remaining steps."""
        if self.future is None or not self.future.done():
            return
        outcome = self.future.result()
        self.seconds += outcome.seconds
        if outcome.items and self._crashes() > 1:
            self.uses_fallback = True  # it succeeded where the usual call crashed, and does what follows
        self.done += outcome.items
        if outcome.error is not None:
            self.error, self.future = outcome.error, None
            return
        if outcome.stop is not None and len(self.done) < len(self._steps):
            self._count_stop(outcome.stop, outcome)
        self._submit()

    def _count_stop(self, stop: StopReason, outcome: TaskOutcome[T]) -> None:
        """Count what ended the process of the next step; the step is lost if it has been tried often enough."""
        number = len(self.done)
        fresh = outcome.fresh and not outcome.items  # so that no earlier step can have been the cause
        stopped = self._stopped.setdefault(number, [])
        stopped.append(stop)
        further_tries = {StopReason.CRASH: 1 if self.uses_fallback else 2, StopReason.MEMORY: 0 if fresh else 1}
        if stopped.count(stop) <= further_tries.get(stop, 0):
            return
        takes_less = self._after_limit is not None and outcome.reads_large_picture and stop is not StopReason.CRASH
        if takes_less and self._reduced != number:
            self._reduced = number
            return
        why = stop_message(stop, self._limits, time_factor=outcome.time_factor)
        self.done.append(f"it {why}")
        self.lost.append((self._steps[number], why))


def failure_reason(error: Exception) -> str:
    """Describe why a file cannot be read, in one line. Raises the error itself if it is not the file's fault."""
    if isinstance(error, QuoteweaveError) and not isinstance(error, DocumentError):
        raise error
    if isinstance(error, DocumentError):
        reason = str(error)
    elif isinstance(error, OSError):
        reason = f"it cannot be read ({error.strerror or error})"
    else:
        reason = f"reading it failed ({type(error).__name__}: {shorten(str(error), 200)}); please report this"
    return " ".join(reason.split())
