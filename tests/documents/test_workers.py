"""Processes that read: they leave Ctrl-C alone, survive each other's crashes, and end with their parent."""

import os
import select
import signal
import subprocess
import sys
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from quoteweave.documents.workers import Workers


def ends(pid: int) -> bool:
    """Whether a process that is no child of this one ends, waited for without taking time."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 60)[0])
    finally:
        os.close(handle)


def test_they_are_other_processes_with_one_thread_a_library_and_deaf_to_interrupts() -> None:
    with Workers(2) as workers:
        pid = workers.submit(os.getpid)
        asked = [workers.submit(os.getenv, name) for name in ("OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM")]
        blocked = workers.submit(signal.pthread_sigmask, signal.SIG_BLOCK, [])
        assert pid.result() != os.getpid()
        assert [future.result() for future in asked] == ["1", "1"]
        assert signal.SIGINT in blocked.result()
    assert ends(pid.result())
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_what_a_call_raises_is_given_back() -> None:
    with Workers(1) as workers:
        with pytest.raises(ZeroDivisionError):
            workers.submit(divmod, 1, 0).result()
        assert workers.submit(divmod, 7, 2).result() == (3, 1)


def test_after_a_crash_the_next_call_finds_fresh_processes() -> None:
    with Workers(1) as workers:
        for _ in range(2):
            crashing = workers.submit(os.kill, workers.submit(os.getpid).result(), signal.SIGKILL)
            waiting = workers.submit(divmod, 7, 2)
            with pytest.raises(BrokenProcessPool):
                crashing.result()
            with pytest.raises(BrokenProcessPool):
                waiting.result()
            assert workers.submit(divmod, 7, 2).result() == (3, 1)


def test_leaving_ends_a_busy_process_at_once() -> None:
    with Workers(1) as workers:
        pid = workers.submit(os.getpid).result()
        workers.submit(signal.pause)
    assert ends(pid)


def test_nothing_starts_before_it_is_needed() -> None:
    with Workers(1):
        pass
    with pytest.raises(ValueError, match="greater than 0"), Workers(-1) as workers:
        workers.submit(os.getpid)


PARENT = """
import os, signal
from quoteweave.documents.workers import Workers
with Workers(2) as workers:
    pids = {workers.submit(os.getpid).result() for _ in range(1)}
    workers.submit(signal.pause)
    workers.submit(signal.pause)
    print(*(process.pid for process in workers._pool._processes.values()), flush=True)
    signal.pause()
"""


def test_they_end_when_their_parent_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.kill()
    assert len(pids) == 2
    assert all(ends(pid) for pid in pids)


SCRIPT = """
import os
from quoteweave.documents.workers import Workers
print("once")
with Workers(2) as workers:
    print(workers.submit(os.getpid).result() != os.getpid(), workers.submit(os.getppid).result() == os.getpid())
print(__file__)
"""


def test_a_script_needs_no_guard_for_its_main_part(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert found.stdout.splitlines() == ["once", "True True", str(script)]
