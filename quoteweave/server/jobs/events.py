"""The events of a job, for whoever watches it: how far it is, each time that changes, and at last the ended job."""

from collections.abc import AsyncIterator
from typing import Literal

from quoteweave.core.records import Record
from quoteweave.interchange.jobs import Job, JobProgress
from quoteweave.server.jobs.store import JobStore

# Between two looks at the store, which is where jobs of other servers can be seen too.
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

    shown: JobProgress | None = None
    while True:
        job = (await anyio.to_thread.run_sync(store.get, id)).job
        if job.progress != shown:
            shown = job.progress
            yield JobEvent(type="progress", data=shown)
        if job.has_ended:
            yield JobEvent(type="job", data=job)
            return
        await anyio.sleep(poll_s)
