"""Jobs: how far they are, as a record or as events, and cancelling them."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Path, Query
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from quoteweave.core.errors import QuoteweaveError
from quoteweave.interchange.responses import ErrorEvent, Job, JobList
from quoteweave.server.answers.event_streams import named_event
from quoteweave.server.depends import JobsState, VisibleNames, Writer
from quoteweave.server.jobs.service import Jobs
from quoteweave.server.jobs.store import JobEvent, JobNotFound, job_events, no_job
from quoteweave.server.problems import ProblemError, report_problem

router = APIRouter(tags=["jobs"])
JobId = Annotated[str, Path(description="id of a job", max_length=100)]


@router.get("/v1/jobs", summary="The jobs")
def list_jobs(
    jobs: JobsState,
    names: VisibleNames,
    collection: Annotated[str | None, Query(max_length=100, description="of this collection alone")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="most jobs")] = 100,
) -> JobList:
    """List the last jobs of the collections that may be read, the newest first."""
    collections = names if collection is None else [name for name in names if name == collection]
    return JobList(jobs=tuple(jobs.store.latest(collections, most=limit)))


@router.get("/v1/jobs/{id}", summary="A job")
def read_job(id: JobId, jobs: JobsState, names: VisibleNames) -> Job:
    """Return a job with its progress, and with its report once it has ended."""
    return _visible(jobs, id, names)


@router.get(
    "/v1/jobs/{id}/events",
    summary="A job's progress",
    response_class=EventSourceResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def watch_job(id: JobId, jobs: JobsState, names: VisibleNames) -> EventSourceResponse:
    """Send `progress` now and whenever it changes, page by page, and at last the ended job as `job`."""
    await run_in_threadpool(_visible, jobs, id, names)
    return EventSourceResponse(as_event_stream(job_events(jobs.store, id)))


@router.delete("/v1/jobs/{id}", summary="Cancel a job", status_code=202)
def cancel_job(id: JobId, jobs: JobsState, names: VisibleNames, _: Writer) -> Job:
    """Cancel a job: at once where it waits, soon where it runs; what it has stored stays."""
    return jobs.runner.cancel(_visible(jobs, id, names).id)


def _visible(jobs: Jobs, id: str, names: list[str]) -> Job:
    """Return a job. Raises ProblemError where there is none that the request may know of."""
    try:
        job = jobs.store.get(id).job
        if job.collection not in names:
            raise no_job(id)
    except JobNotFound as error:
        raise _no_such_job(error) from error
    return job


def _no_such_job(error: JobNotFound) -> ProblemError:
    return ProblemError(404, "no-such-job", error.summary)


async def as_event_stream(events: AsyncIterator[JobEvent]) -> AsyncIterator[ServerSentEvent]:
    """Yield the events as they are sent; if an error ends them early, the last is an error event."""
    try:
        async for event in events:
            yield ServerSentEvent(data=event.data.model_dump_json(), event=event.type)
    except JobNotFound as error:  # its collection was deleted meanwhile
        yield named_event(ErrorEvent(problem=_no_such_job(error).problem))
    except QuoteweaveError as error:
        yield named_event(ErrorEvent(problem=report_problem(error, {})))
