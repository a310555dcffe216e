"""Starts the processes that read files: on Linux as forks of one process that has imported what they need.

To import it takes half a second of processor time, longer than to read most files, and a fork takes some milliseconds:
so each process after the first is had for nearly nothing, and so is one in place of another that a hostile file ended.
They are never forks of this process, which has threads, connections to the catalogue and the writer's lock. Elsewhere
each is started anew: Windows has no forks, and the frameworks of macOS do not survive one.
"""

import contextlib
import errno
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import ModuleType

import psutil

from quoteweave.documents.worker_process import PID_BYTES, fork_on_request, run_tasks

START_S = 60.0
"""Seconds in which a process has to be started: the first of them imports what reading takes."""


class ReadingProcess:
    """A process that reads, and the pipe to it. Raises OSError where no process can be started."""

    def __init__(self, memory: int) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        self._spawned: SpawnProcess | None = None
        try:
            if sys.platform == "linux":
                pid = _FORKS.fork(theirs.fileno())
            else:
                self._spawned = _spawn(run_tasks, theirs)
                pid = self._spawned.pid or 0
            self.watched = psutil.Process(pid)
            # A fork begins in the folder of the one that it is of, and with its environment and path of modules.
            self.pipe.send((memory, _working_folder(), sys.path, dict(os.environ)))
        except psutil.NoSuchProcess as error:
            self.pipe.close()
            raise ChildProcessError("it ended at once") from error
        except OSError as error:
            self.pipe.close()
            if _working_folder() is None:  # without one Python cannot spawn
                raise FileNotFoundError(errno.ENOENT, "the working folder no longer exists") from error
            raise
        finally:
            theirs.close()

    def end(self) -> None:
        """End it at once, busy or not."""
        if self._spawned is not None:
            self._spawned.kill()
            self._spawned.join()
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            self.watched.kill()
            self.watched.wait()


def _working_folder() -> Path | None:
    """The folder that relative paths begin in; None once it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


class _Forks:
    """The process that the others are forks of, for all pools of this process; it is started when the first is needed.

    It ends with this process. Variables by which Python itself starts cannot be changed later: where one has, another
    is started.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None
        self._process: SpawnProcess | None = None
        self._made_by: tuple[int, dict[str, str]] | None = None

    def fork(self, pipe: int) -> int:
        """The id of a new process that runs the tasks of the pipe with this file number. Raises OSError."""
        with self._lock:
            maker = (os.getpid(), {name: value for name, value in os.environ.items() if name.startswith("PYTHON")})
            requests = self._requests
            has_ended = self._process is None or self._process.exitcode is not None
            if requests is None or has_ended or self._made_by != maker:
                requests, self._made_by = self._start(), maker
            try:
                socket.send_fds(requests, [b"."], [pipe])
                answer = requests.recv(PID_BYTES)
            except OSError:  # what it may still answer would be taken for the answer to the next request
                self._end()
                raise
            if not answer:
                raise ChildProcessError("the process that starts them has ended")
            pid = int.from_bytes(answer, "little", signed=True)
            if pid < 0:
                raise OSError(-pid, os.strerror(-pid))
            return pid

    def _end(self) -> None:
        if self._requests is not None:
            self._requests.close()  # which ends it
            self._requests = None

    def _start(self) -> socket.socket:
        self._end()
        ours, theirs = socket.socketpair()
        ours.settimeout(START_S)
        with theirs:
            try:
                self._process = _spawn(fork_on_request, theirs)
            except OSError:
                ours.close()
                raise
        self._requests = ours
        return ours


def _spawn(target: Callable[..., None], *args: object) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(target=target, args=args, daemon=True)
    with _starting():
        process.start()
    return process


@contextmanager
def _starting() -> Iterator[None]:
    """What processes started meanwhile must not take over from this one: Ctrl-C, and its main script.

    Ctrl-C goes to every process of a terminal, and is this one's to handle. A spawned process would load the script
    that is running here once more, though what it is to do lies in this package; a script without a guard for its main
    part would then run again in each of them.
    """
    held = hasattr(signal, "pthread_sigmask")  # not on Windows
    if held:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # which lets Ctrl-C through once it has started
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if held else set()
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if held:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


_FORKS = _Forks()
