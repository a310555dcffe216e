"""Starts the processes that read files: on Linux as forks of one process that has imported what they need.

Importing it takes half a second of processor time, longer than reading most files, and a fork takes some milliseconds:
so each process after the first costs next to nothing, and so does replacing one that a hostile file has ended. They are
never forks of this process, which has threads, connections to the catalogue and the writer's lock. On other systems
each process is started from scratch: Windows has no forks, and the frameworks of macOS do not survive one.
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
"""Seconds within which a process must start: the first one imports what reading needs."""


class ReadingProcess:
    """A process that reads, and the pipe to it. Raises OSError if no process can be started."""

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
            # A fork begins with the folder, the environment and the module path of its parent, the server of forks.
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
        """End it at once, whether busy or not."""
        if self._spawned is not None:
            self._spawned.kill()
            self._spawned.join()
            return
        with contextlib.suppress(psutil.NoSuchProcess):
            self.watched.kill()
            self.watched.wait()


def _working_folder() -> Path | None:
    """The folder at which relative paths begin; None if it has been removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        return None


class _Forks:
    """The process from which the others are forked, for all pools of this process; started when first needed.

    It ends with this process. Variables that Python reads at its start cannot be changed later: if one has changed,
    another process is started.
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
            except OSError:  # a late answer would be taken for the answer to the next request
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
            self._requests.close()  # this ends it
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
    """Keep processes that are started meanwhile from taking over two things from this one: Ctrl-C, and its main script.

    Ctrl-C goes to every process of a terminal, and this process handles it. A spawned process would load the script
    that is running here again, though its own task is in this package; a script without a guard for its main part
    would then run again in each of them.
    """
    can_block = hasattr(signal, "pthread_sigmask")  # not on Windows
    if can_block:
        from multiprocessing import resource_tracker

        resource_tracker.ensure_running()  # it lets Ctrl-C through once it has started
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if can_block else set()
    try:
        yield
    finally:
        sys.modules["__main__"] = main
        if can_block:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)


_FORKS = _Forks()
