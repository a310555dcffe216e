"""Records of the work of jobs, and what their processes are told and write."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from quoteweave.core.records import Record
from quoteweave.documents.ingest import AddReport
from quoteweave.index.encoder_index import IndexReport
from quoteweave.index.removal import RemovalReport
from quoteweave.interchange.responses import JobProgress


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


class LogMessage(Record):
    """A line that the process of a job writes: what the server's log has, and the job's report has not."""

    type: Literal["log"] = "log"
    text: str


class EndMessage(Record):
    """The last line that the process of a job writes: how it ended."""

    type: Literal["end"] = "end"
    status: Literal["done", "failed"]
    report: AddReport | RemovalReport | IndexReport | None = None
    error: str | None = None
    remedy: str | None = Field(default=None, description="what whoever runs the server can do about the error")


Message = Annotated[ProgressMessage | NoteMessage | LogMessage | EndMessage, Field(discriminator="type")]
