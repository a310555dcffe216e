"""Runs jobs for tests, and waits for what they say by their own events, never by the clock."""

from collections.abc import Callable, Mapping
from pathlib import Path
from uuid import uuid4

import anyio

from quoteweave.interchange.responses import Job, JobProgress
from quoteweave.server.jobs.records import AddWork
from quoteweave.server.jobs.store import JobStore, job_events

PATIENCE_S = 120


def add_work(root: Path, state: Path, files: Mapping[str, bytes], **fields: dict[str, str]) -> AddWork:
    """The work of adding files, which are written as an upload leaves them; names of documents are paths of files."""
    uploads = state / "uploads" / root.name / uuid4().hex
    for name, content in files.items():
        path = uploads / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return AddWork(root=root, uploads=uploads, files={name: name for name in files}, **fields)


def job_of(work: AddWork) -> Job:
    return Job(kind="add", collection=work.root.name, documents=tuple(work.files), created=0.0)


def ended(store: JobStore, id: str) -> tuple[Job, list[JobProgress]]:
    """The job when it has ended, and how far it was said to be before."""
    events = until(store, id, lambda _: False)
    assert isinstance(events[-1], Job)
    return events[-1], [event for event in events if isinstance(event, JobProgress)]


def until(store: JobStore, id: str, wanted: Callable[[JobProgress], bool]) -> list[Job | JobProgress]:
    """What is said of a job, until it says what is wanted or has ended."""
    reported: list[Job | JobProgress] = []

    async def watch() -> None:
        with anyio.fail_after(PATIENCE_S):
            async for event in job_events(store, id, poll_s=0.02):
                reported.append(event.data)
                if isinstance(event.data, JobProgress) and wanted(event.data):
                    return

    anyio.run(watch)
    return reported


def pdf_pages(pages: int) -> bytes:
    """A PDF of so many pages of words."""
    import io

    from reportlab.pdfgen.canvas import Canvas

    file = io.BytesIO()
    canvas = Canvas(file)
    for number in range(pages):
        for row in range(20):
            canvas.drawString(72, 720 - 20 * row, f"Page {number + 1} tells of the harbour and its cranes, line {row}.")
        canvas.showPage()
    canvas.save()
    return file.getvalue()
