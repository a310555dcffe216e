"""Jobs on disk: one SQLite file of the state folder, which several server processes may share.

Whoever watches a job gets its events: its progress each time that changes, and at last the ended job.
"""

import json
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from quoteweave.core.errors import StorageError, UsageError
from quoteweave.core.files.sealed_json import sealed_json, unsealed_json
from quoteweave.core.records import Record
from quoteweave.interchange.responses import Job, JobProgress
from quoteweave.server.jobs.records import AddWork, EndMessage, RemoveWork, Work
from quoteweave.server.state.state_folder import StateDatabase, finds_damage, make_state, open_sqlite

DATABASE = "jobs.sqlite"
MAX_ENDED = 1000
"""How many ended jobs are kept; older ones are deleted."""
_BUSY_S = 30.0

_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    status TEXT NOT NULL,
    cancelling INTEGER NOT NULL DEFAULT 0,
    job TEXT NOT NULL,
    work TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_of_status ON jobs (status, root, number);
PRAGMA user_version = 1;
"""
_ACTIVE = "status IN ('queued', 'running')"
_WORK: TypeAdapter[Work] = TypeAdapter(Work)


class JobNotFound(UsageError):
    """There is no job of that id, or not any more."""


def no_job(id: str) -> JobNotFound:
    """Return the error of an id that no job has. Ids of jobs that the key may not see get the same error."""
    return JobNotFound(f"there is no job {id!r}; jobs that ended long ago are forgotten, the last {MAX_ENDED} are kept")


class StoredJob(Record):
    """A job, with what its process is to do."""

    job: Job
    work: Work
    cancelling: bool


class JobStore:
    """The jobs of all collections, for any number of threads and processes.

    Raises StorageError where the file cannot be read or written.
    """

    def __init__(self, state: Path) -> None:
        self.path = state / DATABASE
        make_state(state)
        try:
            self._db = StateDatabase(open_sqlite(self.path, self._prepare, busy_s=_BUSY_S), self._error)
        except (sqlite3.Error, OSError) as error:
            raise self._error(error) from error

    def _prepare(self, db: sqlite3.Connection) -> None:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA secure_delete = ON")  # deleted rows hold names and metadata of documents
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version > _VERSION:
            raise UsageError(
                f"{self.path} was written by a newer quoteweave", remedy="upgrade this one, or name another --state"
            )
        if version < _VERSION:
            db.executescript(_SCHEMA)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def _error(self, error: sqlite3.Error | OSError) -> StorageError:
        advice = "make room on that disk, and allow writing there"
        if finds_damage(error) or "malformed JSON" in str(error):
            advice = "the file is damaged: move it away, and the server begins without the jobs that it held"
        return StorageError(f"the server's jobs in {self.path} cannot be read or written ({error}); {advice}")

    def _rows(self, query: str, values: Iterable[str | int] = ()) -> list[tuple[str, str, int]]:
        with self._db.reading() as db:
            return db.execute(f"SELECT job, work, cancelling FROM jobs {query}", tuple(values)).fetchall()  # noqa: S608 - all queries stand in this file

    def add(self, job: Job, work: Work) -> Job:
        """Add a job, which is queued after the others of its collection."""
        with self._db.writing() as db:
            insert = "INSERT INTO jobs (id, root, status, job, work) VALUES (?, ?, ?, ?, ?)"
            values = (job.id, str(work.root), job.status, _sealed(job), _sealed(work))
            db.execute(insert, values)
        return job

    def get(self, id: str) -> StoredJob:
        """The job of that id. Raises JobNotFound."""
        rows = self._rows("WHERE id = ?", [id])
        if not rows:
            raise no_job(id)
        return self._stored(*rows[0])

    def latest(self, collections: Iterable[str], *, most: int = 100) -> list[Job]:
        """The last jobs of the collections that are served under these names, the newest first."""
        where = "WHERE json_extract(job, '$.collection') IN (SELECT value FROM json_each(?))"
        rows = self._rows(f"{where} ORDER BY number DESC LIMIT ?", [json.dumps(list(collections)), most])
        return [self._job(job) for job, _, _ in rows]

    def active_roots(self) -> list[Path]:
        """The folders of collections that have jobs which have not ended."""
        with self._db.reading() as db:
            rows = db.execute(f"SELECT DISTINCT root FROM jobs WHERE {_ACTIVE}").fetchall()  # noqa: S608 - a constant
        return [Path(root) for (root,) in rows]

    def active(self, root: Path) -> list[StoredJob]:
        """The jobs of a collection that have not ended, the oldest first."""
        return [self._stored(*row) for row in self._rows(f"WHERE {_ACTIVE} AND root = ? ORDER BY number", [str(root)])]

    def changes(self, root: Path, document: str) -> bool:
        """Whether a job that has not ended may change that document."""
        works = (stored.work for stored in self.active(root))
        return any(
            document in (work.files if isinstance(work, AddWork) else work.names)
            for work in works
            if isinstance(work, AddWork | RemoveWork)
        )

    def begin(self, id: str) -> Job:
        """Record that a job runs."""
        return self._change(
            id, lambda job: job.model_copy(update={"status": "running", "started": job.started or time.time()})
        )

    def died(self, id: str) -> Job:
        """Record that the process of a job ended before its work was done."""
        return self._change(id, lambda job: job.model_copy(update={"attempts": job.attempts + 1}))

    def progress(self, id: str, progress: JobProgress) -> None:
        """Record how far a job is."""
        self._change(id, lambda job: job.model_copy(update={"progress": progress}))

    def note(self, id: str, note: str) -> None:
        """Add a sentence to a job's notes, unless they have it already."""
        self._change(id, lambda job: job if note in job.notes else job.model_copy(update={"notes": (*job.notes, note)}))

    def end(self, id: str, message: EndMessage) -> Job:
        """Record that a job is done or has failed; of ended jobs, only the last `MAX_ENDED` are kept."""
        outcome = {"status": message.status, "report": message.report, "error": message.error}
        return self._end(id, outcome)

    def cancel(self, id: str) -> Job:
        """Cancel a job: at once if it is queued; if it runs, the server that runs it ends it soon.

        A job that has ended stays as it is. Raises JobNotFound.
        """
        with self._db.writing() as db:
            # A queued job is marked, too, as it may begin before it is changed below.
            db.execute(f"UPDATE jobs SET cancelling = 1 WHERE id = ? AND {_ACTIVE}", (id,))  # noqa: S608 - a constant
        queued = {"status": "cancelled", "ended": time.time()}
        return self._change(id, lambda job: job if job.status == "running" else job.model_copy(update=queued))

    def cancelled(self, id: str) -> Job:
        """Record that a running job was cancelled."""
        return self._end(id, {"status": "cancelled"})

    def forget(self, root: Path) -> None:
        """Delete all jobs of a collection that was deleted."""
        with self._db.writing() as db:
            db.execute("DELETE FROM jobs WHERE root = ?", (str(root),))
        self._db.cut_log()

    def reads(self, uploads: Path) -> bool:
        """Whether a job that has not ended reads the uploaded files in that folder."""
        works = (stored.work for root in self.active_roots() for stored in self.active(root))
        return any(work.uploads == uploads.resolve() for work in works if isinstance(work, AddWork))

    def _end(self, id: str, outcome: Mapping[str, object]) -> Job:
        job = self._change(id, lambda job: job.model_copy(update={**outcome, "ended": time.time()}))
        with self._db.writing() as db:
            old = f"SELECT number FROM jobs WHERE NOT {_ACTIVE} ORDER BY number DESC LIMIT -1 OFFSET {MAX_ENDED}"  # noqa: S608 - constants
            db.execute(f"DELETE FROM jobs WHERE number IN ({old})")  # noqa: S608 - constants
        self._db.cut_log()
        return job

    def _change(self, id: str, change: Callable[[Job], Job]) -> Job:
        """Change a job that has not ended; a job that has is returned unchanged. Raises JobNotFound."""
        with self._db.writing() as db:
            row = db.execute("SELECT job, work FROM jobs WHERE id = ?", (id,)).fetchone()
            if row is None:
                raise no_job(id)
            job_before = self._job(row[0])
            if job_before.has_ended:
                return job_before
            job = change(job_before)
            update = "UPDATE jobs SET status = ?, job = ? WHERE id = ?"
            db.execute(update, (job.status, _sealed(job), id))
            if job.has_ended and isinstance(work := self._work(row[1]), AddWork):
                without = work.model_copy(update={"metadata": {}})  # metadata of users belong in the collection alone
                db.execute("UPDATE jobs SET work = ? WHERE id = ?", (_sealed(without), id))
        return job

    def _stored(self, job: str, work: str, cancelling: int) -> StoredJob:
        return StoredJob(job=self._job(job), work=self._work(work), cancelling=bool(cancelling))

    def _job(self, text: str) -> Job:
        with self._raising_storage_errors():
            return Job.model_validate_json(unsealed_json(text.encode()))

    def _work(self, text: str) -> Work:
        with self._raising_storage_errors():
            return _WORK.validate_json(unsealed_json(text.encode()))

    @contextmanager
    def _raising_storage_errors(self) -> Iterator[None]:
        """Raise StorageError if the block reads something that this version did not write, or that is damaged."""
        advice = "move the file away, and the server begins without the jobs that it held"
        try:
            yield
        except ValidationError as error:
            problem = "were written by another version of quoteweave, in another form"
            raise StorageError(f"the server's jobs in {self.path} {problem}; {advice}") from error
        except ValueError as error:
            raise StorageError(f"the server's jobs in {self.path} are damaged; {advice}") from error


def _sealed(record: Record) -> str:
    """A record as JSON with a checksum: SQLite does not notice a flipped bit, which could change what a job removes."""
    return sealed_json(record.model_dump_json().encode()).decode()


# Seconds between two looks at the store, which also shows the progress of jobs that other servers run.
POLL_S = 0.25


class JobEvent(Record):
    """An event of a job."""

    type: Literal["progress", "job"]
    data: JobProgress | Job


async def job_events(store: JobStore, id: str, *, poll_s: float = POLL_S) -> AsyncIterator[JobEvent]:
    """Yield `progress` as it is now and when it changes, and `job` at the end; whichever server runs the job.

    Raises JobNotFound.
    """
    import anyio

    last_shown: JobProgress | None = None
    while True:
        job = (await anyio.to_thread.run_sync(store.get, id)).job
        if job.progress != last_shown:
            last_shown = job.progress
            yield JobEvent(type="progress", data=last_shown)
        if job.has_ended:
            yield JobEvent(type="job", data=job)
            return
        await anyio.sleep(poll_s)
