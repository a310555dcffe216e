"""Records of jobs: what is to be done, how far it is, and how it ended."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from uuid import uuid4

from pydantic import Field, JsonValue

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


class AddWork(Record):
    """The work of adding uploaded files."""

    kind: Literal["add"] = "add"
    root: Path = Field(description="the collection's folder")
    uploads: Path = Field(description="the folder of the uploaded files, which goes when the job has ended")
    files: dict[str, str] = Field(description="path of each file below that folder, by the name of its document")
    metadata: dict[str, str] = Field(default_factory=dict)


class RemoveWork(Record):
    """The work of removing documents."""

    kind: Literal["remove"] = "remove"
    root: Path = Field(description="the collection's folder")
    names: tuple[str, ...]


class IndexWork(Record):
    """The work of building the indexes of a retriever, or bringing them up to date."""

    kind: Literal["index"] = "index"
    root: Path = Field(description="the collection's folder")
    retriever: str
    replace: bool = Field(default=False, description="whether an index made with other settings may be removed")


Work = Annotated[AddWork | RemoveWork | IndexWork, Field(discriminator="kind")]


class Assignment(Record):
    """What a job's process is told, as its first line."""

    work: Work
    again: bool = Field(default=False, description="whether an earlier attempt may have done a part of it")
    niceness: int = Field(default=10, ge=0, le=19, description="added to the niceness of the server's process")
    processes: int = Field(default=0, ge=0, description="that read files; 0 is four at most, and leaves a core free")
    resources: Mapping[str, JsonValue] = Field(default_factory=dict, description="fields of `ResourceSettings`")


class ProgressMessage(Record):
    """A line that the process of a job writes: how far it is."""

    type: Literal["progress"] = "progress"
    progress: JobProgress


class NoteMessage(Record):
    """A line that the process of a job writes: a sentence for people."""

    type: Literal["note"] = "note"
    note: str


class EndMessage(Record):
    """The last line that the process of a job writes: how it ended."""

    type: Literal["end"] = "end"
    status: Literal["done", "failed"]
    report: AddReport | RemovalReport | IndexReport | None = None
    error: str | None = None


Message = Annotated[ProgressMessage | NoteMessage | EndMessage, Field(discriminator="type")]
