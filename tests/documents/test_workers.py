"""Processes that read: they leave Ctrl-C alone, keep to their limits, crash alone, and end with their parent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import pytest
from operating_system import ends

from quoteweave.core.errors import ProcessError
from quoteweave.documents.retried_tasks import RetriedTask
from quoteweave.documents.worker_pool import (
    MEGABYTE,
    ProcessLimits,
    StopReason,
    TaskOutcome,
    WorkerPool,
    default_memory,
)
from quoteweave.documents.worker_process import extend_time_limit

ROOMY = ProcessLimits(memory=300 * MEGABYTE, seconds=60)


def one(call: Callable[..., Any], *args: Any) -> Iterator[Any]:
    yield call(*args)


def asked(workers: WorkerPool, call: Callable[..., Any], *args: Any, limits: ProcessLimits = ROOMY) -> TaskOutcome[Any]:
    return workers.submit(limits, one, call, *args).result()


@pytest.fixture(autouse=True)
def _found_by_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(Path(__file__).parent)])


def test_they_are_other_processes_with_one_thread_a_library_and_deaf_to_interrupts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with WorkerPool(2) as workers:
        pids = [workers.submit(ROOMY, one, os.getpid) for _ in range(2)]
        for name in ("OMP_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"):
            assert asked(workers, os.getenv, name).items == ["1"]
        assert signal.SIGINT in asked(workers, signal.pthread_sigmask, signal.SIG_BLOCK, []).items[0]
        found = {pid.result().items[0] for pid in pids}
        assert os.getpid() not in found
    assert all(ends(pid) for pid in found)
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


LOADED = "list(__import__('sys').modules)"


def test_they_can_be_started_before_there_is_a_task_and_import_nothing_by_that() -> None:
    with WorkerPool(1) as workers:
        loaded = set(workers.submit(ROOMY, eval, LOADED).result().items)
    with WorkerPool(1) as workers:
        workers.start()
        outcome = workers.submit(ROOMY, eval, LOADED).result()
    assert not outcome.fresh
    assert set(outcome.items) == loaded


class Odd(Exception):
    """Cannot be made again from its words."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def fails_after(count: int, error: Exception) -> Iterator[int]:
    yield from range(count)
    raise error


def raises_odd() -> Iterator[int]:
    yield 1
    raise Odd("of", "ten")


def test_what_a_call_yields_and_raises_is_given_back() -> None:
    with WorkerPool(1) as workers:
        outcome = workers.submit(ROOMY, fails_after, 3, KeyError("x")).result()
        assert (outcome.items, repr(outcome.error), outcome.stop) == ([0, 1, 2], "KeyError('x')", None)
        outcome = workers.submit(ROOMY, raises_odd).result()
        assert (outcome.items, repr(outcome.error)) == ([1], "RuntimeError('Odd: often')")
        after = asked(workers, divmod, 7, 2)
        assert after == TaskOutcome([(3, 1)], fresh=False, seconds=after.seconds)


@pytest.mark.parametrize(
    "message", ["[ONNXRuntimeError] : 6 : while running Add node: std::bad_alloc", "(-4:Insufficient memory) of OpenCV"]
)
def test_a_library_that_gets_no_more_memory_has_reached_the_limit(message: str) -> None:
    with WorkerPool(1) as workers:
        outcome = workers.submit(ROOMY, fails_after, 1, RuntimeError(message)).result()
        assert (outcome.items, outcome.error, outcome.stop) == ([0], None, StopReason.MEMORY)


def dies_after(count: int) -> Iterator[int]:
    yield from range(count)
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_crash_costs_one_task_and_the_next_finds_a_fresh_process() -> None:
    with WorkerPool(2) as workers:
        beside = workers.submit(ROOMY, one, "".join, ["beside"])
        crashing = [workers.submit(ROOMY, dies_after, count) for count in (0, 2, 0)]
        after = [workers.submit(ROOMY, one, divmod, 7, 2) for _ in range(4)]
        assert [(task.result().items, task.result().stop) for task in crashing] == [
            ([], StopReason.CRASH),
            ([0, 1], StopReason.CRASH),
            ([], StopReason.CRASH),
        ]
        assert beside.result().items == ["beside"]
        assert [task.result().items for task in after] == [[(3, 1)]] * 4


def dies_at_first(steps: list[int], folder: Path, deaths: int) -> Iterator[str]:
    """Gives each step, but is killed at step 2 for as many times."""
    for step in steps:
        before = len(list(folder.iterdir()))
        if step == 2 and before < deaths:
            (folder / str(before)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        yield f"all of {step}"


def less(steps: list[int], _folder: Path, deaths: int) -> Iterator[str]:
    """Does less of each step, and dies of the third of three deaths."""
    for step in steps:
        if step == 2 and deaths == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        yield f"less of {step}"


@pytest.mark.parametrize(
    ("deaths", "done"),
    [
        (1, ["all of 1", "all of 2", "all of 3"]),
        (2, ["all of 1", "it crashes the program that reads it, and is damaged or hostile", "all of 3"]),
    ],
)
def test_a_step_that_crashes_once_costs_nothing(tmp_path: Path, deaths: int, done: list[str]) -> None:
    with WorkerPool(1) as workers:
        assert RetriedTask(workers, ROOMY, dies_at_first, [1, 2, 3], tmp_path, deaths).wait() == done


@pytest.mark.parametrize(
    ("deaths", "done"),
    [
        (1, ["all of 1", "all of 2", "all of 3"]),
        (2, ["all of 1", "less of 2", "less of 3"]),
        (3, ["all of 1", "it crashes the program that reads it, and is damaged or hostile", "all of 3"]),
    ],
)
def test_what_does_less_is_asked_after_the_second_crash_alone(tmp_path: Path, deaths: int, done: list[str]) -> None:
    with WorkerPool(1) as workers:
        steps = RetriedTask(workers, ROOMY, dies_at_first, [1, 2, 3], tmp_path, deaths, after_crash=less)
        assert steps.wait() == done


def takes_long_over_two(steps: list[int], sheets: int) -> Iterator[str]:
    for step in steps:
        extend_time_limit(sheets)
        while step == 2:
            pass
        yield f"all of {step}"


def quickly(steps: list[int], _sheets: int) -> Iterator[str]:
    yield from (f"less of {step}" for step in steps)


def test_what_takes_less_does_the_one_step_that_exceeded_a_limit() -> None:
    limits = ProcessLimits(seconds=0.05)
    with WorkerPool(1) as workers:
        steps = RetriedTask(workers, limits, takes_long_over_two, [1, 2, 3], 2, after_limit=quickly)
        assert steps.wait() == ["all of 1", "less of 2", "all of 3"]
        in_vain = RetriedTask(workers, limits, takes_long_over_two, [1, 2, 3], 2, after_limit=takes_long_over_two)
        done = in_vain.wait()
        assert (done[0], done[2]) == ("all of 1", "all of 3")
        why = "it ran out of time: reading takes more than the 0.4 seconds that it may take with OCR; allow more"
        assert done[1].startswith(why)
        of_sheet = RetriedTask(workers, limits, takes_long_over_two, [1, 2], 1, after_limit=quickly)
        assert of_sheet.wait()[1].startswith("it ran out of time"), "which would take as long without tiles"


def reads_a_large_picture_first(steps: list[int]) -> Iterator[int]:
    for step in steps:
        extend_time_limit(8 if step == 1 else 1)
        while step == 2:
            pass
        yield step


def test_the_time_for_a_large_picture_is_for_that_alone() -> None:
    limits = ProcessLimits(seconds=0.25)
    with WorkerPool(1) as workers:
        steps = RetriedTask(workers, limits, reads_a_large_picture_first, [1, 2])
        steps.wait()
    assert 0.2 < steps.seconds < 0.75  # 1 second, which counts a quarter, and not 8


def hoards(step: int) -> Iterator[int]:
    yield 1
    held = []
    while True:
        held.append(b"x" * step)


@pytest.mark.parametrize("step", [MEGABYTE, 2000 * MEGABYTE], ids=["in small pieces", "at once"])
def test_a_process_beyond_its_memory_is_ended(step: int) -> None:
    limits = ProcessLimits(memory=150 * MEGABYTE, seconds=60)
    with WorkerPool(1, limits) as workers:
        outcome = workers.submit(workers.limits, hoards, step).result()
        assert (outcome.items, outcome.stop) == ([1], StopReason.MEMORY)
        assert asked(workers, divmod, 7, 2).items == [(3, 1)]


kept: list[bytes] = []


def keeps(folder: Path, name: str) -> Iterator[int]:
    """Leaves 130 MB in its process, once another process does so too."""
    kept.append(b"x" * (130 * MEGABYTE))
    (folder / name).touch()
    while len(list(folder.iterdir())) < 2:
        os.sched_yield()
    yield os.getpid()


def takes(steps: list[int]) -> Iterator[int]:
    """Takes 130 MB for each step while its process is looked at."""
    for step in steps:
        held = b"x" * (130 * MEGABYTE)
        while time.process_time() < 0.2 + step:
            pass
        yield len(held) // MEGABYTE


def test_a_step_is_not_charged_with_the_memory_that_other_tasks_left_in_every_process(tmp_path: Path) -> None:
    limits = ProcessLimits(memory=300 * MEGABYTE, seconds=60)
    with WorkerPool(2, limits) as workers:
        keeping = [workers.submit(limits, keeps, tmp_path, name) for name in "ab"]
        assert len({pid for task in keeping for pid in task.result().items}) == 2
        assert RetriedTask(workers, limits, takes, [0]).wait() == [130]


def sleeps(seconds: float) -> Iterator[float]:
    yield time.monotonic()
    time.sleep(seconds)
    yield time.monotonic()


@pytest.mark.parametrize(("share", "together"), [(1.0, True), (1.05, True), (1.5, False), (9.0, False)])
def test_processes_that_may_take_much_more_than_the_usual_memory_run_apart(share: float, *, together: bool) -> None:
    with WorkerPool(2, ROOMY) as workers:
        limits = ProcessLimits(memory=int(share * 300 * MEGABYTE), seconds=60)
        for _ in range(2):  # processes take a moment to start
            tasks = [workers.submit(limits, sleeps, 0.3) for _ in range(2)]
            (first, ended), (second, _) = sorted(task.result().items for task in tasks)
        assert (second < ended) == together
        assert first < second


def test_it_is_said_how_long_a_process_computed() -> None:
    with WorkerPool(1) as workers:
        assert workers.submit(ROOMY, sleeps, 0.2).result().seconds < 0.1
        assert workers.submit(ProcessLimits(seconds=0.3), spins, 0).result().seconds == pytest.approx(0.3, abs=0.15)


def spins(after: int) -> Iterator[int]:
    yield from range(after)
    while True:
        pass


def waits() -> Iterator[int]:
    signal.pause()
    yield 1


def test_a_process_beyond_its_time_is_ended_by_processor_or_by_the_clock() -> None:
    with WorkerPool(1) as workers:
        outcome = workers.submit(ProcessLimits(seconds=0.2), spins, 4).result()
        assert (outcome.items, outcome.stop) == ([0, 1, 2, 3], StopReason.TIME)
        assert workers.submit(ProcessLimits(seconds=0.05), waits).result().stop is StopReason.TIME
        assert asked(workers, divmod, 7, 2).items == [(3, 1)]


def spins_a_little(count: int) -> Iterator[int]:
    for number in range(count):
        sum(range(2_000_000))
        yield number


def test_the_time_is_that_of_one_item() -> None:
    with WorkerPool(1) as workers:
        outcome = workers.submit(ProcessLimits(seconds=0.4), spins_a_little, 28).result()
        assert (len(outcome.items), outcome.stop) == (28, None)


def test_leaving_ends_a_busy_process_at_once() -> None:
    with WorkerPool(1) as workers:
        (pid,) = asked(workers, os.getpid).items
        workers.submit(ROOMY, waits)
        workers.submit(ROOMY, waits)
    assert ends(pid)


def test_nothing_starts_before_it_is_needed() -> None:
    with WorkerPool(1):
        pass
    with pytest.raises(ValueError, match="greater than 0"):
        WorkerPool(-1)
    with pytest.raises(ValueError, match="greater than 0"):
        ProcessLimits(seconds=0)


def test_by_default_all_processes_fit_into_half_of_the_machine() -> None:
    assert default_memory(1) <= 600 * MEGABYTE
    assert default_memory(10_000) == 300 * MEGABYTE
    assert WorkerPool(3).limits.memory == default_memory(3)


PARENT = """
import os, psutil, signal, sys
from quoteweave.documents.worker_pool import ProcessLimits, WorkerPool
from test_workers import one, waits
with WorkerPool(2) as workers:
    pids = [workers.submit(ProcessLimits(), one, os.getpid) for _ in range(2)]
    pids = [pid.result().items[0] for pid in pids]
    for _ in range(2):
        workers.submit(ProcessLimits(), waits)
    print(*(child.pid for child in psutil.Process().children(recursive=True)), flush=True)
    signal.pause()
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_they_end_with_their_parent_and_leave_nothing_behind(ending: signal.Signals) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True
    ) as parent:
        assert parent.stdout is not None
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        (os.killpg if ending is signal.SIGINT else os.kill)(parent.pid, ending)
        _, said = parent.communicate()
    assert pids
    assert all(ends(pid) for pid in pids)
    assert "leaked" not in said
    assert "resource_tracker" not in said


NOISY = """
import os, sys
from quoteweave.documents.worker_pool import ProcessLimits, WorkerPool
from test_workers import one
with WorkerPool(1) as workers:
    workers.submit(ProcessLimits(), one, os.write, 2, b"of a library").result()
    workers.submit(ProcessLimits(), one, os.system, "echo of a library >&2").result()
"""


def test_what_libraries_write_reaches_no_terminal() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=False, env=environment)
    assert (found.returncode, found.stderr) == (0, "")


SCRIPT = """
import os
from quoteweave.documents.worker_pool import ProcessLimits, WorkerPool
from test_workers import one
print("once")
with WorkerPool(2) as workers:
    print(workers.submit(ProcessLimits(), one, os.getpid).result().items[0] != os.getpid())
print(__file__)
"""


def test_a_script_needs_no_guard_for_its_main_part(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(script)]
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert found.stdout.splitlines() == ["once", "True", str(script)], found.stderr


def test_they_end_with_a_parent_that_was_started_to_ignore_termination() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    ignoring = f"import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n{NOISY}"
    command = [sys.executable, "-c", ignoring]
    assert subprocess.run(command, check=False, env=environment, timeout=60).returncode == 0


def test_a_process_that_cannot_be_started_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    with monkeypatch.context() as meanwhile, WorkerPool(1) as workers:
        meanwhile.setenv("PYTHONNODEBUGRANGES", "1")  # so that one cannot be forked from what is there
        meanwhile.setattr(SpawnProcess, "start", refused)
        with pytest.raises(ProcessError, match=r"no process can be started .*take fewer: processes"):
            asked(workers, os.getpid)
    with WorkerPool(1) as workers:
        assert asked(workers, divmod, 7, 2).items == [(3, 1)]


def has_imported(name: str) -> bool:
    return name in sys.modules


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each process imports by itself")
def test_they_are_forks_of_one_that_has_imported_what_they_need_and_is_replaced_when_it_ends() -> None:
    origins = set()
    for _ in range(2):
        with WorkerPool(1) as workers:
            for name in ("quoteweave.documents.parser", "markdown_it", "cv2"):
                assert asked(workers, has_imported, name).items == [True]
            origins |= set(asked(workers, os.getppid).items)
    (origin,) = origins
    assert origin != os.getpid()
    os.kill(origin, signal.SIGKILL)
    assert ends(origin)
    with WorkerPool(1) as workers:
        assert asked(workers, os.getppid).items != [origin]


@pytest.mark.parametrize("name", ["QUOTEWEAVE_OF_A_TEST", "PYTHONNODEBUGRANGES"])
def test_they_have_the_environment_folder_and_modules_of_the_moment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    monkeypatch.delenv(name, raising=False)
    with WorkerPool(1) as workers:
        assert asked(workers, os.getenv, name).items == [None]
    monkeypatch.setenv(name, "1")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path, "/of/a/test"])
    with WorkerPool(1) as workers:
        assert asked(workers, os.getenv, name).items == ["1"]
        assert asked(workers, path_of_modules).items == [sys.path]
        assert asked(workers, os.getcwd).items == [str(tmp_path)]


def path_of_modules() -> list[str]:
    return sys.path


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each is started anew")
def test_a_working_folder_that_was_removed_is_told_where_nothing_can_be_started_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with WorkerPool(1) as workers:
        assert asked(workers, divmod, 7, 2).items == [(3, 1)]
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with WorkerPool(1) as workers:  # forked from what is there
        assert asked(workers, divmod, 7, 2).items == [(3, 1)]
    monkeypatch.setenv("PYTHONNODEBUGRANGES", "0")  # so that it has to be started anew
    with WorkerPool(1) as workers, pytest.raises(ProcessError, match="the working folder no longer exists"):
        asked(workers, divmod, 7, 2)


@pytest.mark.skipif(sys.platform == "win32", reason="the zone cannot be changed there")
def test_they_have_the_time_zone_of_the_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    for zone, hour in (("UTC0", 0), ("EST5", 19)):
        monkeypatch.setenv("TZ", zone)
        with WorkerPool(1) as workers:
            assert asked(workers, hour_of_epoch).items == [hour]


def hour_of_epoch() -> int:
    return time.localtime(0).tm_hour


NO_MORE = """
import errno, os, socket
from quoteweave.documents.worker_process import PID_BYTES, fork_on_request

def refused():
    raise BlockingIOError(errno.EAGAIN, "too many")

os.fork = refused
ours, theirs = socket.socketpair()
socket.send_fds(ours, [b"."], [ours.fileno()])
ours.shutdown(socket.SHUT_WR)
fork_on_request(theirs)
print(int.from_bytes(ours.recv(PID_BYTES), "little", signed=True) == -errno.EAGAIN)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_why_nothing_can_be_forked_is_given_back_and_the_next_is_tried() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", NO_MORE], capture_output=True, text=True, check=False, env=environment
    )
    assert found.stdout == "True\n", found.stderr


ORPHANED = """
import os, socket
from quoteweave.documents import worker_process

ours, theirs = socket.socketpair()
socket.send_fds(ours, [b"."], [ours.fileno()])
os.fork = lambda: ours.close() or 7
worker_process.fork_on_request(theirs)
print("ended")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is forked")
def test_it_ends_without_a_word_where_its_parent_was_killed_as_it_forked() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", ORPHANED], capture_output=True, text=True, check=False, env=environment
    )
    assert (found.stdout, found.stderr) == ("ended\n", "")


def test_a_library_that_cannot_be_imported_stops_only_the_files_that_need_it(tmp_path: Path) -> None:
    (tmp_path / "path" / "cv2").mkdir(parents=True)
    (tmp_path / "path" / "cv2" / "__init__.py").write_text("raise ImportError('libGL.so.1')", "utf-8")
    (tmp_path / "a.md").write_text("# Harbour\n\nThe quay was dredged.\n", "utf-8")
    command = [sys.executable, "-m", "quoteweave", "add", "a.md", "-c", "made"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path / "path"), *sys.path])}
    done = subprocess.run(command, check=False, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
