"""Calls of async code from sync code: one event loop, whoever calls, and nothing left open."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from functools import partial

import pytest

from quoteweave.core.concurrency.pools import run_in_pool
from quoteweave.core.concurrency.sync_bridge import run_sync

Loop = asyncio.AbstractEventLoop
OPENING = """
import asyncio, os, sys, threading, warnings
from quoteweave.core.concurrency.sync_bridge import run_sync

async def open_something(name):
    async def something():
        try:
            yield
        finally:
            print("closed", name, flush=True)
    kept.append(something())
    await anext(kept[-1])

kept = []
"""
AT_EXIT = f"""{OPENING}
warnings.simplefilter("always")
thread = threading.Thread(target=lambda: run_sync(open_something("that of a thread")))
thread.start()
thread.join()
run_sync(open_something("that of the main thread"))
print("end", flush=True)
"""
FORKING = f"""{OPENING}
run_sync(open_something("that of the parent"))
if os.fork() == 0:
    run_sync(open_something("that of the child"))
    sys.exit()
os.wait()
# A thread wakes its loop through a pipe.
print(run_sync(asyncio.to_thread(lambda: "works")), flush=True)
"""


async def loop() -> Loop:
    return asyncio.get_running_loop()


async def crossing_within() -> Loop:
    return run_sync(loop())


def test_all_threads_share_a_loop() -> None:
    loops = [run_sync(loop())]
    for _ in range(2):
        thread = threading.Thread(target=lambda: loops.extend(run_sync(loop()) for _ in range(2)))
        thread.start()
        thread.join()
    assert len(loops) == 5
    assert set(loops) == {run_sync(loop())}
    assert not loops[0].is_closed()


def test_a_crossing_within_a_running_loop() -> None:
    assert asyncio.run(crossing_within()) is run_sync(loop())
    first = run_sync(crossing_within())
    assert first is not run_sync(loop())
    assert run_sync(crossing_within()) is first


@pytest.mark.parametrize("begin", [asyncio.to_thread, partial(run_in_pool, "search")])
def test_a_thread_that_a_crossing_waits_for_may_cross_in_turn(begin: Callable[..., Awaitable[str]]) -> None:
    """Even while another crossing, within it, keeps its loop standing still."""

    async def innermost() -> str:
        return "done"

    async def inner() -> str:
        return await begin(lambda: run_sync(innermost()))

    async def outer() -> str:
        return run_sync(inner())

    assert run_sync(outer()) == "done"


def test_many_threads_cross_at_once() -> None:
    begun: list[int] = []
    all_begun = threading.Event()

    async def turn(number: int) -> int:
        begun.append(number)
        if len(begun) == 20:
            all_begun.set()
        assert await asyncio.to_thread(all_begun.wait, 60), "one waits for another's end"
        return number

    with ThreadPoolExecutor(20) as threads:
        assert list(threads.map(lambda number: run_sync(turn(number)), range(20))) == list(range(20))


def test_what_is_raised_comes_through_and_the_loop_goes_on() -> None:
    async def fail() -> None:
        raise KeyError("x")

    async def fail_within() -> None:
        run_sync(fail())

    before = run_sync(loop())
    for failing in (fail, fail_within):
        with pytest.raises(KeyError) as raised:
            run_sync(failing())
        assert "fail" in [entry.name for entry in raised.traceback]
    assert run_sync(loop()) is before


def test_ctrl_c_cancels_what_runs_and_the_next_crossing_works() -> None:
    ended: list[str] = []

    async def long() -> None:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        run_sync(long())
    assert ended == ["cleaned up"]
    assert not run_sync(loop()).is_closed()


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_ends_a_program_ends_no_loop(error: type[BaseException]) -> None:
    async def end() -> None:
        raise error

    before = run_sync(loop())
    with pytest.raises(error):
        run_sync(end())
    assert run_sync(loop()) is before


def test_ctrl_c_within_a_running_loop_cancels_what_was_crossed_to() -> None:
    ended: list[str] = []

    async def long() -> None:
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    loop = asyncio.new_event_loop()  # such as a notebook's, which leaves Ctrl-C to Python
    loop.call_soon(lambda: run_sync(long()))
    with pytest.raises(KeyboardInterrupt):
        loop.run_forever()
    loop.close()
    assert ended == ["cleaned up"]


def test_tasks_left_behind_are_cancelled_and_those_of_others_go_on() -> None:
    tasks: list[asyncio.Task[bool]] = []
    begun, left = threading.Event(), threading.Event()

    async def leave_one() -> None:
        tasks.append(asyncio.create_task(asyncio.Event().wait()))

    async def another() -> bool:
        task = asyncio.create_task(asyncio.to_thread(left.wait, 60))
        begun.set()
        return await task

    with ThreadPoolExecutor(1) as threads:
        other = threads.submit(lambda: run_sync(another()))
        begun.wait()
        run_sync(leave_one())
        assert tasks[0].cancelled()
        left.set()
        assert other.result()


def test_context_variables_are_those_of_the_caller() -> None:
    said: ContextVar[str] = ContextVar("said")

    async def read() -> str:
        return said.get()

    for word in ("one", "two"):
        said.set(word)
        assert run_sync(read()) == word


def run(program: str) -> tuple[list[str], str]:
    # Python 3.12 warns of every fork beside threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.splitlines(), ran.stderr


def test_everything_is_closed_at_the_end() -> None:
    told, errors = run(AT_EXIT)
    assert told[0] == "end"
    assert sorted(told[1:]) == ["closed that of a thread", "closed that of the main thread"]
    assert errors == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_leaves_what_its_parent_keeps_alone() -> None:
    assert run(FORKING) == (["closed that of the child", "works", "closed that of the parent"], "")
