"""Starts Python programs as forks of a process that has imported the package.

A program that is started anew first imports the package, which for a server takes three seconds of processor time. A
fork of a process that has imported it and never had a thread is a process like any other, with arguments, streams,
signals, limits and an end of its own, and begins in some milliseconds. What an interpreter does as it starts is not
seen in it: that is for programs that are started with `subprocess`, among them those of tests/cli/test_app.py.

The process whose forks read files for such a program is a fork too, made while the program has no thread: the
interpreter that it would start for that imports once more what is imported here.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import resource
import runpy
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, TextIO

# None of it starts a thread.
PRELOADED = (
    "quoteweave.cli.commands.add",
    "quoteweave.cli.commands.ask",
    "quoteweave.cli.commands.documents",
    "quoteweave.cli.commands.run",
    "quoteweave.cli.commands.server",
    "quoteweave.documents.process_start",
    "quoteweave.server.app",
    "quoteweave.server.jobs.worker",
    "openai",
    "uvicorn",
)
REQUEST_BYTES = 1 << 20
NUMBER = struct.Struct("q")
# How a program is given: `python -m MODULE …` or `python -c CODE …`.
OPTION = 1
STDERR = 2


class _Forks:
    """The process that programs are forks of; it is started when the first is needed, and ends with this one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: socket.socket | None = None

    def fork(self, request: Mapping[str, object], streams: Sequence[int]) -> tuple[int, socket.socket]:
        """The id of a new process, and where its exit status will come from."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            requests = self._requests or self._start()
            socket.send_fds(requests, [json.dumps(request).encode()], [*streams, theirs.fileno()])
        return received(ours), ours

    def _start(self) -> socket.socket:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._requests = ours
        with theirs:
            code = f"import forked_programs; forked_programs.serve({theirs.fileno()})"
            folder = Path(__file__).parent
            path = os.pathsep.join([str(folder), str(folder.parent), os.environ.get("PYTHONPATH", "")])
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": path},
            )

        def end() -> None:
            ours.close()
            process.wait()

        atexit.register(end)
        return ours


_FORKS = _Forks()


def received(connection: socket.socket) -> int:
    """The next number that was sent."""
    data = connection.recv(NUMBER.size, socket.MSG_WAITALL)
    assert data, "the process that programs are forks of has ended"
    return int(NUMBER.unpack(data)[0])


class ForkedProgram(subprocess.Popen[str]):
    """A Python program, given as to `subprocess.Popen`, whose process is a fork."""

    def __init__(
        self, command: Sequence[object], *, env: Mapping[str, str] | None = None, text: bool = True, **options: Any
    ) -> None:
        python_variables = {name: value for name, value in (env or {}).items() if name.startswith("PYTHON")}
        assert python_variables.items() <= os.environ.items(), "what says how Python starts is not seen by a fork"
        super().__init__([str(part) for part in command], env=env, text=text, **options)

    def _execute_child(self, args: list[str], *popen_arguments: Any) -> None:
        """As Popen does, start the process with its ends of the pipes; the order of what is given is Popen's."""
        assert args[:OPTION] == [sys.executable]
        assert args[OPTION] in ("-m", "-c")
        cwd, env, pipes, own_session = (
            popen_arguments[4],
            popen_arguments[5],
            popen_arguments[9:15],
            popen_arguments[20],
        )
        streams = [child_end if pipe == -1 else pipe for child_end, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        request = {
            "args": args,
            "cwd": str(cwd or Path.cwd()),
            "env": dict(os.environ if env is None else env),
            "own_session": own_session,
        }
        try:
            self.pid, self._status = _FORKS.fork(request, streams)
            self._reading = threading.Lock()
            weakref.finalize(self, self._status.close)
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]
        self._child_created = True

    def fileno(self) -> int:
        """What `select` finds readable when the process has ended."""
        return self._status.fileno()

    def _internal_poll(self, _deadstate: int | None = None) -> int | None:
        """The exit code, or None while the process runs: it is another's to wait for."""
        return self._ended(0)

    def _wait(self, timeout: float | None) -> int:
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is not None or self._status.fileno() < 0:  # closed where nobody refers to this any more
            return self.returncode
        status = select.poll()
        status.register(self._status, select.POLLIN)
        if status.poll(None if timeout is None else 1000 * timeout):
            with self._reading:  # several threads may wait for it
                if self.returncode is None:
                    self.returncode = received(self._status)
        return self.returncode


def run(
    command: Sequence[object], *, timeout: float | None = None, check: bool = False, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a program as a fork until it ends, and return what it wrote."""
    with ForkedProgram(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    if check and process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args, out, err)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def serve(handle: int) -> None:
    """In a new process: fork a program for each request, until the tests end. Returns in none but the forks."""
    gc.disable()
    for name in (*PRELOADED, *importlib.import_module("quoteweave.documents.worker_process").PRELOADED):
        importlib.import_module(name)
    assert threading.active_count() == 1
    gc.freeze()  # to look through all this once more would give each fork a copy of it
    gc.enable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = socket.socket(fileno=handle)
    while True:
        data, handles, *_ = socket.recv_fds(requests, REQUEST_BYTES, 4)
        if not data:
            os._exit(0)
        if os.fork() == 0:
            break
        for passed_handle in handles:
            os.close(passed_handle)
        _reap()
    requests.close()
    *streams, status_handle = handles
    with socket.socket(fileno=status_handle) as status:
        pid = os.fork()
        if pid:
            _tell_status(pid, streams, status)
    _become(json.loads(data), streams)


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _tell_status(pid: int, streams: Sequence[int], status: socket.socket) -> None:
    """Wait for the program, holding none of its streams, and tell how it ended."""
    try:
        for stream in {0, 1, 2, *streams}:
            os.close(stream)
        status.sendall(NUMBER.pack(pid))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        status.sendall(NUMBER.pack(code))
    finally:
        os._exit(0)


def _opened(number: int, before: TextIO) -> IO[Any]:
    """A standard stream of the program; the one before knows whether its file was a terminal, or had a position."""
    mode, buffering = "w" if number else "r", 1 if number == STDERR or (number and os.isatty(number)) else -1
    return open(number, mode, buffering, encoding=before.encoding, errors=before.errors, closefd=False)


class _ReadyProcess:
    """A process that waits to become the first that this one starts to read files: for that, a fork instead of anew."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        # A daemon, which ends with this process, and Ctrl-C is not for it: as where it is spawned.
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=_read_when_told, args=(theirs, self._ours), daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        self._process.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        theirs.close()

    def with_requests(self, requests: socket.socket) -> "_ReadyProcess":
        """The process, to be started: it takes its requests from there."""
        self._requests = requests
        return self

    def start(self) -> None:
        """Let it begin, with the limits that this process has now."""
        for limit in (resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE, resource.RLIMIT_DATA, resource.RLIMIT_AS):
            resource.prlimit(self._process.pid or 0, limit, resource.getrlimit(limit))
        socket.send_fds(self._ours, [b"."], [self._requests.fileno()])

    @property
    def exitcode(self) -> int | None:
        """None while it runs."""
        return self._process.exitcode


def _read_when_told(orders: socket.socket, other_end: socket.socket) -> None:
    other_end.close()
    _, handles, *_ = socket.recv_fds(orders, 1, 1)
    if handles:  # else the program has ended
        importlib.import_module("quoteweave.documents.worker_process").fork_on_request(socket.socket(fileno=handles[0]))


def read_in_forks() -> None:
    """Have a process ready to read files for this one, which has imported what that takes and has no thread."""
    ready, spawn = [_ReadyProcess()], multiprocessing.get_context("spawn")

    def process(*, target: Any, args: tuple[Any, ...], daemon: bool) -> Any:
        return ready.pop().with_requests(*args) if ready else spawn.Process(target=target, args=args, daemon=daemon)

    start = SimpleNamespace(**vars(multiprocessing) | {"get_context": lambda _: SimpleNamespace(Process=process)})
    vars(importlib.import_module("quoteweave.documents.process_start"))["multiprocessing"] = start


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Run the program in this process as Python runs its main program; its end is the interpreter's."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in set(streams) - {0, 1, 2}:
        os.close(stream)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        setattr(sys, name, _opened(number, getattr(sys, name)))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request["own_session"]:
        os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    read_in_forks()
    _, option, program, *arguments = request["args"]
    if option == "-m":
        sys.argv = ["-m", *arguments]
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    else:
        sys.argv = ["-c", *arguments]
        main = sys.modules["__main__"].__dict__
        exec(compile(program, "<string>", "exec"), main)
