"""Runs jobs, one at a time for each collection, each in a process of its own, and resumes jobs whose process died."""

import hashlib
import logging
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from quoteweave.core.errors import CollectionLocked, ProcessError, QuoteweaveError, StorageError
from quoteweave.interchange.responses import Job
from quoteweave.pipeline.settings import ResourceSettings
from quoteweave.server.jobs.records import (
    AddWork,
    Assignment,
    EndMessage,
    LogMessage,
    Message,
    NoteMessage,
    ProgressMessage,
    Work,
)
from quoteweave.server.jobs.store import JobNotFound, JobStore, StoredJob

# How long a process that was told to end may take before it is killed, in seconds.
GRACE_S = 5.0
_MESSAGE: TypeAdapter[Message] = TypeAdapter(Message)
_log = logging.getLogger(__name__)


class JobProcess:
    """The process of one job, which ends when this object's pipe to it is closed or this process dies."""

    def __init__(self, assignment: Assignment) -> None:
        command = [sys.executable, "-m", "quoteweave.server.jobs.worker"]
        try:
            # Not started in a new session, as Linux compares the niceness of processes only within one session.
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603 - ours
        except OSError as error:
            reason = error.strerror or error
            raise ProcessError(f"no process can be started for a job ({reason})", remedy="end others") from error
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with suppress(OSError):  # if the process has died already, reading its messages shows it
            self._process.stdin.write(assignment.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def messages(self) -> Iterator[Message]:
        """Yield the messages of the process until it has ended."""
        assert self._process.stdout is not None  # noqa: S101 - for the type checker
        with self._process.stdout as lines:
            for line in lines:
                try:
                    yield _MESSAGE.validate_json(line)
                except ValidationError:  # the last line of a killed process is cut
                    _log.warning("a job's process wrote a line that is no message: %r", line[:200])
        self._process.wait()

    def end(self) -> None:
        """End the process now; what it has stored stays."""
        assert self._process.stdin is not None  # noqa: S101 - for the type checker
        with suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()

    def how_it_ended(self) -> str:
        """How the process ended, to continue a sentence that begins with "its process"."""
        code = self._process.wait()
        if code < 0:
            return f"was killed (signal {-code}), as systems do where memory is short"
        return f"ended with code {code}"


# Seconds between two looks for jobs of servers that died, and for jobs that another server was asked to cancel.
POLL_S = 1.0
# Seconds between two writes of a job's progress.
PROGRESS_S = 0.2
# Seconds after an error before the jobs are tried again.
PAUSE_S = 1.0
# How often the process of a job may die before the job has failed.
MAX_ATTEMPTS = 3
LOCKS = "job-locks"


@dataclass(frozen=True, slots=True)
class RunnerOptions:
    """How the processes of jobs run."""

    niceness: int = 10  # added to the server's, so that searching comes first
    processes: int = 0  # processes that read files; 0 means at most four, leaving one core to the server
    resources: ResourceSettings = field(default_factory=ResourceSettings)  # for the models that encode

    def assignment(self, work: Work, *, again: bool) -> Assignment:
        """Return what the process of a job is told."""
        resources = {name: getattr(self.resources, name) for name in ResourceSettings.model_fields}
        return Assignment(work=work, again=again, niceness=self.niceness, processes=self.processes, resources=resources)


class JobRunner:
    """Runs the jobs of a store from `start` to `stop`.

    Several servers may share the store. A lock of the operating system decides which of them runs a collection's jobs.
    If a server dies, another one takes over its jobs, or the same one when it is started again.
    """

    def __init__(self, store: JobStore, state: Path, options: RunnerOptions | None = None) -> None:
        self.store = store
        self._state = state
        self._options = options or RunnerOptions()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads: dict[Path, threading.Thread] = {}
        self._running: dict[str, JobProcess] = {}
        self._main: threading.Thread | None = None

    def start(self) -> None:
        """Begin to run jobs, beginning with those that a dead server left."""
        self._main = threading.Thread(target=self._watch, name="jobs", daemon=True)
        self._main.start()

    def stop(self) -> None:
        """End the processes of jobs; the jobs are resumed by the next server."""
        self._stop.set()
        self._wake.set()
        if self._main is not None:
            self._main.join()
        with self._lock:
            running, threads = list(self._running.values()), list(self._threads.values())
        for process in running:
            process.end()
        for thread in threads:
            thread.join()

    def submit(self, job: Job, work: Work) -> Job:
        """Add a job to the store. Raises StorageError if the disk is full or refuses."""
        self.store.add(job, work)
        self._wake.set()
        return job

    def cancel(self, id: str) -> Job:
        """Cancel a job as `JobStore.cancel` does; the uploads of a job that has not begun are removed at once."""
        work = self.store.get(id).work
        job = self.store.cancel(id)
        if job.has_ended:  # no thread will look at this job again, so that its uploads are removed here
            _remove_uploads(work)
        self._wake.set()
        return job

    def pids(self) -> dict[str, int]:
        """The ids of the processes that this server runs now, by job."""
        with self._lock:
            return {id: process.pid for id, process in self._running.items()}

    def _watch(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                self._start_threads()
                self._end_cancelled()
            except QuoteweaveError as error:  # such as a full disk: the jobs wait until there is room
                _log.warning("jobs wait: %s", error)
            self._wake.wait(POLL_S)

    def _start_threads(self) -> None:
        for root in self.store.active_roots():
            with self._lock:
                thread = self._threads.get(root)
                if thread is None or not thread.is_alive():
                    name = f"jobs of {root.name}"
                    self._threads[root] = threading.Thread(target=self._run_all, args=(root,), name=name, daemon=True)
                    self._threads[root].start()

    def _end_cancelled(self) -> None:
        with self._lock:
            running = dict(self._running)
        for id, process in running.items():
            if self._is_cancelled(id):
                process.end()

    def _is_cancelled(self, id: str) -> bool:
        try:
            return self.store.get(id).cancelling
        except JobNotFound:  # its collection was deleted
            return True

    def _run_all(self, root: Path) -> None:
        """Run the jobs of a collection, oldest first, unless another server does."""
        try:
            with jobs_lock(self._state, root):
                while not self._stop.is_set() and (jobs := self.store.active(root)):
                    self._run(jobs[0])
        except (CollectionLocked, JobNotFound):  # another server runs them, or the collection was deleted
            return
        except (QuoteweaveError, OSError) as error:
            _log.warning("the jobs of %s wait: %s", root, error)
            self._stop.wait(PAUSE_S)

    def _run(self, stored: StoredJob) -> None:
        id, work = stored.job.id, stored.work
        # A job still has to be cancelled if the server that was to cancel it has died.
        job = self.store.cancelled(id) if stored.cancelling else self.store.begin(id)
        if not job.has_ended:
            # A job that was started before may be partly done, as the process that ran it has died.
            message = self._attempt(id, self._options.assignment(work, again=stored.job.started is not None))
            job = self._finish(id, message)
        if job.has_ended:
            _remove_uploads(work)

    def _attempt(self, id: str, assignment: Assignment) -> EndMessage | str:
        """Run a job's process; return its last message, or how the process ended without one."""
        try:
            process = JobProcess(assignment)
        except ProcessError as error:
            return error.summary
        with self._lock:
            self._running[id] = process
        try:
            if self._stop.is_set():
                process.end()
            return self._listen(id, process) or f"its process {process.how_it_ended()}"
        finally:
            with self._lock:
                del self._running[id]
            process.end()

    def _listen(self, id: str, process: JobProcess) -> EndMessage | None:
        waiting: ProgressMessage | None = None
        written_at = 0.0
        end = None
        for message in process.messages():
            if isinstance(message, EndMessage):
                end = message
            elif isinstance(message, LogMessage):
                _log.warning("job %s: %s", id, message.text)
            elif isinstance(message, ProgressMessage):
                waiting = message
                if time.monotonic() >= written_at + PROGRESS_S:
                    self._tell(id, waiting)
                    waiting, written_at = None, time.monotonic()
            else:
                self._tell(id, message)
        if waiting is not None:
            self._tell(id, waiting)
        return end

    def _tell(self, id: str, message: ProgressMessage | NoteMessage) -> None:
        # The job itself goes on even if a full disk does not take its progress.
        with suppress(StorageError):
            if isinstance(message, ProgressMessage):
                self.store.progress(id, message.progress)
            else:
                self.store.note(id, message.note)

    def _finish(self, id: str, message: EndMessage | str) -> Job:
        if isinstance(message, EndMessage):
            if message.remedy is not None:
                _log.warning("job %s failed: %s; %s", id, message.error, message.remedy)
            return self.store.end(id, message)
        if self._is_cancelled(id):
            return self.store.cancelled(id)
        if self._stop.is_set():
            return self.store.get(id).job
        job = self.store.died(id)
        if job.attempts < MAX_ATTEMPTS:
            _log.warning("a job is tried again: %s", message)
            self._stop.wait(PAUSE_S)
            return job
        reason = f"{message}, {MAX_ATTEMPTS} times; what it had stored stays. Try it again, with fewer files at once"
        return self.store.end(id, EndMessage(status="failed", error=reason))


def _remove_uploads(work: Work) -> None:
    """Remove the uploaded files of a job, which no longer needs them."""
    if isinstance(work, AddWork):
        shutil.rmtree(work.uploads, ignore_errors=True)


@contextmanager
def jobs_lock(state: Path, root: Path, wait_s: float = 0.0) -> Iterator[None]:
    """Hold the right to run the jobs of the collection at `root`.

    Waits up to `wait_s` seconds for a server that is running one. Raises CollectionLocked if it still is.
    """
    from filelock import FileLock, Timeout

    folder = state / LOCKS
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / f"{hashlib.sha256(str(root).encode()).hexdigest()[:32]}.lock", timeout=wait_s)
    try:
        lock.acquire()
    except Timeout:
        raise CollectionLocked(f"a job of the collection {root.name!r} is running; cancel it or wait for it") from None
    try:
        yield
    finally:
        lock.release()
