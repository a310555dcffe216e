"""Files into a collection: what is new or changed is parsed, what has vanished from an added folder is removed.

Each document is stored as soon as it is read, so that a run that is stopped goes on where it ended.
"""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from quoteweave.core.errors import DamagedDocument, DocumentError, UnsupportedFormat
from quoteweave.core.records import ParsedDocument, Record
from quoteweave.documents.page_content import PageContent
from quoteweave.documents.parse import (
    PAGED,
    Inspection,
    ParserSettings,
    Source,
    inspect,
    put_together,
    read_range,
    read_whole,
)
from quoteweave.documents.walk import Found, find_files
from quoteweave.documents.workers import Workers
from quoteweave.index import lexical
from quoteweave.index.collection import Collection
from quoteweave.index.records import Origin
from quoteweave.index.writer import Writer

# Pages in one task: enough that opening the file does not count, few enough that processes end together.
RANGE = 6

T = TypeVar("T")


class Refused(Record):
    """A file that did not become a document."""

    name: str
    reason: str


class AddReport(Record):
    """What became of every file, by document name."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = Field(default=(), description="vanished from a folder that was added")
    failed: tuple[Refused, ...] = ()
    warnings: tuple[Refused, ...] = Field(default=(), description="documents read with something left out")


@dataclass(slots=True)
class Progress:
    """What a caller may watch: `on_total` is told of pages to come, `on_pages` of pages done in a document."""

    on_total: Callable[[int], None] = lambda _: None
    on_pages: Callable[[str, int], None] = lambda _name, _pages: None
    on_index: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How files are added."""

    settings: ParserSettings = field(default_factory=ParserSettings)
    metadata: Mapping[str, str] = field(default_factory=dict)
    password: str | None = None
    processes: int = 0  # 0: one a core, four at most
    wait_s: float | None = 0.0  # for another writer to end; None waits for ever


def add(
    collection: Collection, paths: Sequence[Path], options: AddOptions | None = None, progress: Progress | None = None
) -> AddReport:
    """Bring the collection up to date with files and folders, then its indexes with its documents.

    Raises UsageError for a path that does not exist, CollectionLocked while another process writes, StorageError when
    the disk refuses. A file that cannot be read is in the report with its reason, and the others go on.
    """
    options, progress = options or AddOptions(), progress or Progress()
    files = find_files(paths)
    with collection.writer(options.wait_s) as writer:
        run = _Run(collection, writer, options, progress)
        run.remove_vanished(paths, {file.name for file in files})
        run.add(files)
        progress.on_index()
        lexical.refresh(collection, writer)
        return run.report()


@dataclass(frozen=True, slots=True)
class _Job:
    """A file to be read."""

    file: Found
    origin: Origin
    source: Source


class _Run:
    """One `add`, while it goes on."""

    def __init__(self, collection: Collection, writer: Writer, options: AddOptions, progress: Progress) -> None:
        self._collection, self._writer = collection, writer
        self._options, self._progress = options, progress
        self._known = collection.origins()
        self._outcome: dict[str, list[str]] = {key: [] for key in ("added", "updated", "unchanged", "removed")}
        self._failed: list[Refused] = []
        self._warnings: list[Refused] = []

    def report(self) -> AddReport:
        outcome = {key: tuple(names) for key, names in self._outcome.items()}
        return AddReport(**outcome, failed=tuple(self._failed), warnings=tuple(self._warnings))

    def remove_vanished(self, paths: Sequence[Path], present: set[str]) -> None:
        """Documents that came from one of these folders and are there no more."""
        roots = {path.resolve() for path in paths if path.is_dir()}
        for name, origin in self._known.items():
            if origin.root in roots and name not in present:
                self._writer.remove(name)
                self._outcome["removed"].append(name)
        for failure in self._collection.failures():
            if failure.root in roots and failure.name not in present:
                self._writer.clear_failure(failure.name)

    def add(self, files: Sequence[Found]) -> None:
        jobs = [job for file in files if (job := self._job(file)) is not None]
        count = self._options.processes or min(4, os.cpu_count() or 1)
        with Workers(count) as workers:
            again = self._read(jobs, workers, ahead=2 * count)
            # A process crashed on one of the files that were being read: take these one by one to learn which.
            for job in again:
                if self._read([job], workers, ahead=1):
                    self._fail(job.file, job.origin.content, "reading it crashed; it is damaged or hostile")

    def _job(self, file: Found) -> _Job | None:
        """What to do with a file; None when that is nothing, or it failed at once."""
        try:
            if file.refused is not None:
                raise UnsupportedFormat(file.refused)
            content = _hash(file.path)
            before = self._known.get(file.name)
            if before is not None and before.root != file.root and (before.root / file.name).is_file():
                where = before.root / file.name
                raise DocumentError(f"a document of that name was added from {where}; rename one, or remove that first")
        except OSError as error:
            self._fail(file, None, f"it cannot be read ({error.strerror or error})")
            return None
        except DocumentError as error:
            self._fail(file, None, str(error))
            return None
        settings, metadata = self._options.settings, {**(before.metadata if before else {}), **self._options.metadata}
        origin = Origin(root=file.root, content=content, parser=settings.fingerprint, metadata=metadata)
        if before is not None and (before.content, before.parser, before.root) == (content, origin.parser, file.root):
            self._writer.set_metadata(file.name, metadata)
            self._outcome["unchanged"].append(file.name)
            return None
        source = Source(file.path.resolve(), settings, self._collection.images, self._options.password)
        return _Job(file, origin, source)

    def _read(self, jobs: Sequence[_Job], workers: Workers, *, ahead: int) -> list[_Job]:
        """Read the jobs in order, some tasks ahead of the one waited for; those that a crash cut short come back."""
        crashed: list[_Job] = []
        waiting: list[tuple[_Job, _Reading]] = []
        looked = [(job, workers.submit(inspect, job.source)) for job in jobs]
        found = [(job, self._result(job, future, crashed)) for job, future in looked]
        kept = [(job, inspection) for job, inspection in found if inspection is not None]
        self._progress.on_total(sum(inspection.pages for _, inspection in kept))
        for job, inspection in kept:
            while sum(reading.unfinished() for _, reading in waiting) >= ahead:
                self._store(*waiting.pop(0), crashed)
            waiting.append((job, _Reading(job, inspection, workers, self._progress)))
        while waiting:
            self._store(*waiting.pop(0), crashed)
        return crashed

    def _store(self, job: _Job, reading: "_Reading", crashed: list[_Job]) -> None:
        try:
            parsed = reading.result()
            known = job.file.name in self._known
            format = reading.inspection.format.value
            self._writer.put(job.source.path, name=job.file.name, format=format, origin=job.origin, parsed=parsed)
            self._outcome["updated" if known else "added"].append(job.file.name)
            self._warnings.extend(Refused(name=job.file.name, reason=warning) for warning in parsed.warnings)
        except DocumentError as error:
            self._fail(job.file, job.origin.content, str(error))
        except BrokenProcessPool:
            crashed.append(job)

    def _result(self, job: _Job, future: "Future[Inspection]", crashed: list[_Job]) -> Inspection | None:
        try:
            return future.result()
        except DocumentError as error:
            self._fail(job.file, job.origin.content, str(error))
        except BrokenProcessPool:
            crashed.append(job)
        return None

    def _fail(self, file: Found, content: str | None, reason: str) -> None:
        self._writer.fail(file.name, root=file.root, reason=reason, content=content)
        self._failed.append(Refused(name=file.name, reason=reason))


class _Reading:
    """A file whose pages are being read by worker processes."""

    def __init__(self, job: _Job, inspection: Inspection, workers: Workers, progress: Progress) -> None:
        self.inspection = inspection
        self._job, self._progress = job, progress
        self._whole: Future[ParsedDocument] | None = None
        self._ranges: list[Future[tuple[list[PageContent], list[str]]]] = []
        if inspection.format not in PAGED:
            self._whole = self._watched(workers.submit(read_whole, job.source, inspection.format), 1)
            return
        for start in range(0, inspection.pages, RANGE):
            pages = range(start, min(start + RANGE, inspection.pages))
            submitted = workers.submit(read_range, job.source, inspection.format, pages)
            self._ranges.append(self._watched(submitted, len(pages)))

    def unfinished(self) -> int:
        """Tasks that are still to be done."""
        whole = self._whole is not None and not self._whole.done()
        return whole + sum(not future.done() for future in self._ranges)

    def result(self) -> ParsedDocument:
        """Waits for it. Raises a DocumentError, or BrokenProcessPool when a process crashed."""
        if self._whole is not None:
            return self._whole.result()
        parts = [future.result() for future in self._ranges]
        pages = [page for contents, _ in parts for page in contents]
        if all(page.source == "none" and not page.pieces for page in pages):
            raise DamagedDocument(
                f"{self._job.file.name!r}: {parts[0][1][0] if parts[0][1] else 'every page is empty'}"
            )
        warnings = [warning for _, found in parts for warning in found]
        return put_together(pages, warnings, self._job.source.settings)

    def _watched(self, future: "Future[T]", pages: int) -> "Future[T]":
        future.add_done_callback(lambda _: self._progress.on_pages(self._job.file.name, pages))
        return future


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
