"""Jobs of a server, which change collections: what is to be done, how far it is, and how it ended."""

from typing import Literal
from uuid import uuid4

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.documents.ingest import AddReport
from quoteweave.index.sync import RemovalReport
from quoteweave.index.vector_store import IndexReport

JobKind = Literal["add", "remove", "index"]
JobStatus = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: frozenset[JobStatus] = frozenset({"done", "failed", "cancelled"})
"""The statuses that a job keeps."""


class JobProgress(Record):
    """How far a job is; what is not known yet is null."""

    step: str | None = Field(
        default=None, description="what is being done, such as 'reading' or 'encoding with minilm'"
    )
    waiting: str | None = Field(
        default=None, description="why the job waits, such as for another process that writes to the collection"
    )
    document: str | None = Field(default=None, description="the document of which pages were read last")
    page: int | None = Field(default=None, ge=0, description="pages read, of all files of the job")
    pages: int | None = Field(default=None, ge=0, description="pages to be read, of all files of the job")
    files_done: int | None = Field(default=None, ge=0, description="files that were read, refused or found unchanged")
    files_total: int | None = Field(default=None, ge=0, description="files of the job")
    views_done: int | None = Field(default=None, ge=0, description="views of quotes encoded for an index")
    views_total: int | None = Field(default=None, ge=0, description="views of quotes to be encoded for that index")


class Job(Record):
    """A change of a collection that was asked for: adding documents, removing them, or building an index."""

    id: str = Field(default_factory=lambda: uuid4().hex)
    kind: JobKind
    collection: str = Field(description="the name by which the collection is served")
    documents: tuple[str, ...] = Field(default=(), description="names of the documents to be added or removed")
    retriever: str | None = Field(default=None, description="the retriever whose index is built")
    status: JobStatus = "queued"
    created: float = Field(description="seconds since the epoch")
    started: float | None = Field(default=None, description="seconds since the epoch")
    ended: float | None = Field(default=None, description="seconds since the epoch")
    attempts: int = Field(default=0, ge=0, description="how often the process that ran it ended before its work did")
    progress: JobProgress = JobProgress()
    report: AddReport | RemovalReport | IndexReport | None = Field(
        default=None, description="the outcome by document, or of the index; null before the end, and without vectors"
    )
    notes: tuple[str, ...] = Field(default=(), description="what was left out, sent elsewhere or could be done, if any")
    error: str | None = Field(default=None, description="why the job failed, in words for people")

    @property
    def has_ended(self) -> bool:
        """Whether it changes no more."""
        return self.status in ENDED


class JobList(Record):
    """Jobs, the newest first."""

    jobs: tuple[Job, ...]


class Uploaded(Record):
    """What becomes of uploaded files."""

    job: Job | None = Field(description="the job that adds them; null where all are there already")
    unchanged: tuple[str, ...] = Field(description="names of documents that have the same content already")


class JobMade(Record):
    """The job that does what was asked for."""

    job: Job
