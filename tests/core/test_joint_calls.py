"""Calls that threads make of a busy function are joined into one call, and each thread gets its own results."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Barrier, Event

import pytest
from waiting_threads import counted_waiters

from quoteweave.core.concurrency.shared_calls import JointCalls


class Function:
    """Doubles numbers; its first call lasts until `release` is set, and negative numbers make a call fail."""

    def __init__(self) -> None:
        self.calls: list[list[int]] = []
        self.began, self.release = Event(), Event()

    def __call__(self, items: list[int]) -> list[int]:
        self.calls.append(items)
        if len(self.calls) == 1:
            self.began.set()
            assert self.release.wait(30)
        if any(item < 0 for item in items):
            raise ValueError(f"negative: {items}")
        return [2 * item for item in items]


def ask_while_busy(requests: Sequence[Sequence[int]], *, at_once: int) -> tuple[Function, list[Future[list[int]]]]:
    """Ask the first request, and while it is answered all the others."""
    function = Function()
    with counted_waiters() as waiters, ThreadPoolExecutor(len(requests)) as threads:
        calls: JointCalls[int, int] = JointCalls(at_once=at_once)
        futures = [threads.submit(calls.run, function, requests[0])]
        assert function.began.wait(30)
        futures += [threads.submit(calls.run, function, request) for request in requests[1:]]
        waiters.until(len(requests) - 1)
        function.release.set()
    return function, futures


def test_requests_that_wait_are_called_together_and_each_gets_its_own() -> None:
    function, futures = ask_while_busy([[1], [2, 3], [], [4]], at_once=8)
    assert [future.result() for future in futures] == [[2], [4, 6], [], [8]]
    assert function.calls[0] == [1]
    assert [sorted(items) for items in function.calls[1:]] == [[2, 3, 4]]


def test_no_more_items_than_fit_are_joined_and_a_larger_request_is_called_by_itself() -> None:
    function, futures = ask_while_busy([[0], [1, 2], [3, 4], [5, 6, 7, 8, 9]], at_once=3)
    assert [future.result() for future in futures] == [[0], [2, 4], [6, 8], [10, 12, 14, 16, 18]]
    assert sorted(map(len, function.calls[1:])) == [2, 2, 5]


def test_a_request_that_fails_fails_for_itself_alone() -> None:
    _, futures = ask_while_busy([[1], [-2], [3]], at_once=8)
    assert futures[0].result() == [2]
    with pytest.raises(ValueError, match=r"negative: \[-2\]"):
        futures[1].result()
    assert futures[2].result() == [6]


def test_after_an_interrupt_the_others_are_still_answered() -> None:
    interrupted = Event()

    class Interrupted(Function):
        def __call__(self, items: list[int]) -> list[int]:
            if len(self.calls) == 1 and not interrupted.is_set():
                interrupted.set()
                raise KeyboardInterrupt
            return super().__call__(items)

    function = Interrupted()
    with counted_waiters() as waiters, ThreadPoolExecutor(3) as threads:
        calls: JointCalls[int, int] = JointCalls(at_once=8)
        futures = [threads.submit(calls.run, function, [1])]
        assert function.began.wait(30)
        futures += [threads.submit(calls.run, function, [number]) for number in (2, 3)]
        waiters.until(2)
        function.release.set()
    assert futures[0].result() == [2]
    outcomes = [future.exception() or future.result() for future in futures[1:]]
    assert sum(isinstance(outcome, KeyboardInterrupt) for outcome in outcomes) == 1
    assert next(outcome for outcome in outcomes if isinstance(outcome, list)) in ([4], [6])


def test_many_threads_each_get_their_own() -> None:
    calls: JointCalls[int, int] = JointCalls(at_once=5)
    start, double = Barrier(16), Function()
    double.release.set()

    def ask(number: int) -> list[list[int]]:
        start.wait(30)
        return [calls.run(double, [number, number + at]) for at in range(50)]

    with ThreadPoolExecutor(16) as threads:
        for number, found in enumerate(threads.map(ask, range(16))):
            assert found == [[2 * number, 2 * (number + at)] for at in range(50)]
    assert max(map(len, double.calls)) <= 5
