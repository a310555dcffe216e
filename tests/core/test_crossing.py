"""Crossings from sync to async: one event loop a thread, whoever calls, and nothing left open."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from contextvars import ContextVar

import pytest

from quoteweave.core.crossing import wait_for

Loop = asyncio.AbstractEventLoop
OPENING = """
import asyncio, os, sys, threading, warnings
from quoteweave.core.crossing import wait_for

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
thread = threading.Thread(target=lambda: wait_for(open_something("that of a thread")))
thread.start()
thread.join()
wait_for(open_something("that of the main thread"))
print("end", flush=True)
"""
FORKING = f"""{OPENING}
wait_for(open_something("that of the parent"))
if os.fork() == 0:
    wait_for(open_something("that of the child"))
    sys.exit()
os.wait()
# A thread wakes its loop through a pipe.
print(wait_for(asyncio.to_thread(lambda: "works")), flush=True)
"""


async def loop() -> Loop:
    return asyncio.get_running_loop()


async def crossing_within() -> Loop:
    return wait_for(loop())


def test_a_thread_keeps_its_loop() -> None:
    first = wait_for(loop())
    assert wait_for(loop()) is first
    assert not first.is_closed()


def test_each_thread_has_its_own_which_ends_with_it() -> None:
    loops: list[Loop] = []

    def cross_twice() -> None:
        loops.extend(wait_for(loop()) for _ in range(2))

    for _ in range(2):
        thread = threading.Thread(target=cross_twice)
        thread.start()
        thread.join()
    first, again, other, _ = loops
    assert first is again is not other
    assert first is not wait_for(loop())
    assert all(one.is_closed() for one in loops)


def test_a_crossing_within_a_running_loop_keeps_a_loop_beside_it() -> None:
    first = wait_for(crossing_within())
    assert first is not wait_for(loop())
    assert wait_for(crossing_within()) is first
    assert asyncio.run(crossing_within()) is first


def test_what_is_raised_comes_through_and_the_loop_goes_on() -> None:
    async def fail() -> None:
        raise KeyError("x")

    async def fail_within() -> None:
        wait_for(fail())

    before = wait_for(loop())
    for failing in (fail, fail_within):
        with pytest.raises(KeyError):
            wait_for(failing())
    assert wait_for(loop()) is before


def test_ctrl_c_cancels_what_runs_and_the_next_crossing_works() -> None:
    ended: list[str] = []

    async def long() -> None:
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cleaned up")

    with pytest.raises(KeyboardInterrupt):
        wait_for(long())
    assert ended == ["cleaned up"]
    assert not wait_for(loop()).is_closed()


def test_tasks_left_behind_are_cancelled() -> None:
    tasks: list[asyncio.Task[bool]] = []

    async def leave_one() -> None:
        tasks.append(asyncio.create_task(asyncio.Event().wait()))

    wait_for(leave_one())
    assert tasks[0].cancelled()


def test_context_variables_are_those_of_the_caller() -> None:
    said: ContextVar[str] = ContextVar("said")

    async def read() -> str:
        return said.get()

    for word in ("one", "two"):
        said.set(word)
        assert wait_for(read()) == word


def run(program: str) -> tuple[list[str], str]:
    command = [sys.executable, "-c", program]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    return ran.stdout.splitlines(), ran.stderr


def test_everything_is_closed_at_the_end() -> None:
    told = ["closed that of a thread", "end", "closed that of the main thread"]
    assert run(AT_EXIT) == (told, "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_leaves_what_its_parent_keeps_alone() -> None:
    assert run(FORKING) == (["closed that of the child", "works", "closed that of the parent"], "")
