"""Adds files to a collection: new or changed files are read, and files gone from an added folder are removed.

Documents are stored soon after they are read, so that they become searchable, and so that an interrupted run resumes
where it stopped.
"""

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import Origin
from quoteweave.collection.stores.unfinished import UnfinishedPages, unfinished_key
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import DocumentError, QuoteweaveError, UnsupportedFormat, UsageError
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.protocols import ImageProvider
from quoteweave.core.records import Record
from quoteweave.documents.discovery import FoundFile, find_files, given_paths
from quoteweave.documents.document_names import has_extended_name, name_files
from quoteweave.documents.file_reading import AddProgress, FileIssue, FileReading, Stop, read_files
from quoteweave.documents.formats import sniff
from quoteweave.documents.parser import FileStamp, ParserSettings, SourceFile, file_stamp
from quoteweave.documents.reflow.linked_images import file_hash
from quoteweave.documents.retried_tasks import failure_reason
from quoteweave.documents.worker_pool import MAX_PROCESSES, ProcessLimits, WorkerPool, default_processes
from quoteweave.index.sync import sync_indexes

# Pauses between changes of what can be searched, which take at most a tenth of the time even in large collections.
MIN_PAUSE_S = 0.5
PAUSE_RATIO = 10
# Quotes in memory that are not stored yet: some twenty megabytes, and as much again while their words are counted.
MAX_WAITING = 5_000


class AddReport(Record):
    """The result of `add`: the outcome of every file, by document name.

    >>> report = add(collection, [Path("reports")])
    >>> report.unchanged, report.failed
    (('port.md',), ())
    """

    added: tuple[str, ...] = Field(default=(), description="documents that are new")
    updated: tuple[str, ...] = Field(default=(), description="documents whose files had changed")
    unchanged: tuple[str, ...] = Field(default=(), description="documents whose files had not changed")
    removed: tuple[str, ...] = Field(default=(), description="vanished from a folder that was added")
    failed: tuple[FileIssue, ...] = Field(default=(), description="files that are no documents now, and why")
    warnings: tuple[FileIssue, ...] = Field(default=(), description="documents with a warning, as of what was left out")
    ocr_pages: int = Field(default=0, description="pages without a text layer that were read by OCR")
    ocr_pictures: int = Field(default=0, description="pictures on other pages that were read by OCR")
    index_notes: tuple[str, ...] = Field(default=(), description="indexes that could not be kept in step, and why")
    remaining_traces: tuple[str, ...] = Field(default=(), description="where traces of what is gone remain, and why")
    renamed: tuple[str, ...] = Field(default=(), description="new names with more of the folder's path in front")
    passed_over: Mapping[str, int] = Field(
        default_factory=dict, description="files of folders that are no documents, by suffix, and what else is left out"
    )


@dataclass(frozen=True, slots=True)
class AddOptions:
    """Options of `add`.

    >>> with Collection.create("new") as new:
    ...     add(new, [Path("reports")], AddOptions(metadata={"year": "2024"})).added
    ('port.md',)

    Fields:
        settings: settings that change the quotes of a file, such as OCR and its language
        metadata: names and values that are attached to each document
        password: for encrypted PDFs; it is not stored
        processes: how many processes read files, at most 1,024; 0 for one per core, at most four
        limits: memory in bytes, and processor seconds of a page and of a document, for each process
        wait_s: seconds to wait for another writer to end; None waits for ever
        pictures: with it, a renamed document keeps the vectors of its pictures
        prefix: put, with a slash, before the names of new documents
        names: names of uploaded files' documents, by the files' paths
        refuse: returns why a document that was read is not stored; None stores it
        stop: returns why a document with pages is read no further, given its name and their number; called when its
            reading begins and while it is read
        workers: used in place of `processes` and `limits`, and not closed
    """

    settings: ParserSettings = field(default_factory=ParserSettings)
    metadata: Mapping[str, str] = field(default_factory=dict)
    password: str | None = None
    processes: int = 0
    limits: ProcessLimits = field(default_factory=ProcessLimits)
    wait_s: float | None = 0.0
    pictures: ImageProvider | None = None
    prefix: str | None = None
    names: Mapping[Path, str] = field(default_factory=dict)
    refuse: Callable[[PreparedDocument], str | None] = lambda _: None
    stop: Stop = lambda _name, _pages: None
    workers: WorkerPool | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.processes <= MAX_PROCESSES:
            raise UsageError(f"{self.processes} processes cannot read files; give 1 to {MAX_PROCESSES:,}, or 0")

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would give other quotes."""
        return self.settings.fingerprint

    @property
    def partial_fingerprint(self) -> str:
        """The fingerprint of documents with pages beyond the limits, which are read again under other limits."""
        limits = self.limits
        return f"{self.fingerprint}/{limits.memory or 0}/{limits.seconds:g}/{limits.document_seconds:g}"


def add(
    collection: Collection,
    paths: Sequence[Path | str],
    options: AddOptions | None = None,
    progress: AddProgress | None = None,
) -> AddReport:
    """Bring the collection up to date with files and folders, then its indexes with its documents.

    Raises UsageError for a path that does not exist or an invalid prefix, CollectionLocked while another process
    writes, StorageError when the disk refuses. A file that cannot be read is in the report with its reason, and the
    other files are still added.
    """
    options, progress, roots = options or AddOptions(), progress or AddProgress(), given_paths(paths)
    with collection.writer(options.wait_s) as writer:
        update = _Update(collection, writer, options)
        files = update.with_names(find_files(roots, update.passed_over, collection=collection.root))
        update.remove_vanished({path.resolve() for path in roots if path.is_dir()}, files)
        update.add(files, progress)
        progress.on_index()
        notes = sync_indexes(collection, writer, options.pictures)
        return update.report(notes, writer.finish_removals())


@dataclass(frozen=True, slots=True)
class _HashedFile:
    """A file that may have to be read, with as little data as possible, because there may be very many."""

    file: FoundFile
    content: str  # its SHA-256, in hexadecimal
    stamp: FileStamp


class _Update:
    """One update of a collection from files: what it has done so far, for the report."""

    def __init__(self, collection: Collection, writer: Writer, options: AddOptions) -> None:
        self._collection, self._writer, self._options = collection, writer, options
        self._known = collection.origins()
        self.passed_over = Counter[str]()
        self._outcome: dict[str, list[str]] = {key: [] for key in ("added", "updated", "unchanged", "removed")}
        self._batch = _Batch(writer)
        self._failed: list[FileIssue] = []
        self._warnings: list[FileIssue] = []
        self._renamed: set[str] = set()
        self._fingerprint, self._partial = options.fingerprint, options.partial_fingerprint
        self._read_by_ocr = {"ocr_pages": 0, "ocr_pictures": 0}

    def report(self, index_notes: tuple[str, ...], remaining_traces: tuple[str, ...]) -> AddReport:
        outcome = {key: tuple(sorted(names)) for key, names in self._outcome.items()}
        failed, warnings = (
            tuple(sorted(refusals, key=lambda refused: refused.name)) for refusals in (self._failed, self._warnings)
        )
        renamed = tuple(sorted(self._renamed.intersection(outcome["added"])))
        return AddReport(
            **outcome,
            **self._read_by_ocr,
            failed=failed,
            warnings=warnings,
            index_notes=index_notes,
            remaining_traces=remaining_traces,
            renamed=renamed,
            passed_over=dict(sorted(self.passed_over.items())),
        )

    def with_names(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """The files with the names of their documents."""
        prefix, names, failures = self._options.prefix, self._options.names, self._collection.failures()
        named = name_files(files, self._known, content_of=_hash, failures=failures, prefix=prefix, upload_names=names)
        self._renamed = {file.name for file in named if file.path not in names and has_extended_name(file, prefix)}
        return named

    def remove_vanished(self, roots: set[Path], files: Sequence[FoundFile]) -> None:
        """Remove documents whose files are gone from these folders, and failures that are checked again.

        If a folder that had several documents is empty, they stay: it may be that of a drive that is not connected.
        """
        names = {file.name for file in files if not file.is_folder}
        real_paths, is_within = {file.real for file in files}, _below(roots)
        is_unknown = _below({file.file for file in files if file.is_folder})
        gone: dict[str, Path] = {}
        for name, origin in self._known.items():
            file = origin.file(name)
            if name in names or origin.imported or not is_within(file) or is_unknown(file):
                continue
            # A file that exists but is not found in the folder was added by itself, unless it links to another one.
            if not os.path.lexists(file) or os.path.realpath(file) in real_paths:
                gone[name] = file
        for folder, names_there in _in_empty_folders(gone).items():
            why = f"no file is left in it; {len(names_there)} documents stay, in case its drive is missing"
            self._failed.append(FileIssue(name=str(folder), reason=f"{why}: quoteweave remove removes them"))
            gone = {name: file for name, file in gone.items() if name not in names_there}
        self._outcome["removed"] = list(gone)
        if gone:
            self._writer.remove(*gone)
        checked = {file.file for file in files}
        for failure in self._collection.failures():
            is_there = os.path.lexists(failure.file)
            if failure.lost is None and (is_within(failure.file) or failure.file in checked or not is_there):
                self._writer.clear_failure(failure.name)

    def add(self, files: Sequence[FoundFile], progress: AddProgress) -> None:
        unread = {hashed.file.name: hashed for hashed in self._to_read(files)}
        for name in {file.name for file in files} - unread.keys():
            progress.on_file(name)
        # Pages that an earlier run has stored for files that need not be read any more must not stay.
        self._collection.unfinished.prune(self._unfinished_pages(hashed).folder.name for hashed in unread.values())

        def on_pages(name: str, pages: int) -> None:
            progress.on_pages(name, pages)
            self._batch.tick()

        with self._batch, self._workers() as workers:
            queue, storing = list(unread.values()), replace(progress, on_pages=on_pages)
            for result in read_files(
                queue, self._make_reading, workers=workers, progress=storing, stop=self._options.stop
            ):
                if isinstance(result, PreparedDocument):
                    name, reason = result.document.name, self._options.refuse(result)
                    if reason is None:
                        self._store(result, self._unfinished_pages(unread[name]))
                else:
                    name, reason = result.name, result.reason
                if reason is not None:
                    self._fail(unread[name].file, unread[name].content, reason)
                progress.on_file(name)

    def _workers(self) -> AbstractContextManager[WorkerPool]:
        if self._options.workers is not None:
            return nullcontext(self._options.workers)
        return WorkerPool(self._options.processes or default_processes(), self._options.limits)

    def _unfinished_pages(self, hashed: _HashedFile) -> UnfinishedPages:
        return self._collection.unfinished.of(unfinished_key(hashed.file.name, hashed.content, self._fingerprint))

    def _make_reading(self, hashed: _HashedFile) -> FileReading:
        file, options, collection = hashed.file, self._options, self._collection
        source = SourceFile(
            file.name, Path(file.real), options.settings, collection.images, options.password, hashed.stamp
        )
        unfinished = self._unfinished_pages(hashed)
        return FileReading(source, self._origin(hashed), self._partial, collection.sources, unfinished)

    def _to_read(self, files: Sequence[FoundFile]) -> Iterator[_HashedFile]:
        """Yield the files that are new or have changed, each name once; unreadable ones are recorded as failures."""
        for file in files:
            try:
                hashed = self._with_hash(file)
            except (DocumentError, OSError) as error:
                self._fail(file, None, failure_reason(error))
            else:
                if not self._bring_up_to_date(hashed):
                    yield hashed

    def _with_hash(self, file: FoundFile) -> _HashedFile:
        """The file with the hash of its content. Raises DocumentError or OSError if it cannot be read."""
        if file.refused is not None:
            raise UnsupportedFormat(file.refused)
        before = self._known.get(file.name)
        stamp = file_stamp(file.path)
        content = _hash(file.path)
        replaced = file.path in self._options.names
        if before is not None and before.imported and before.content != content and not replaced:
            raise DocumentError(
                f"{file.name!r} was imported, and has changed since; import it again, remove it first, or add it under "
                "another name"
            )
        return _HashedFile(file, content, stamp)

    def _origin(self, hashed: _HashedFile) -> Origin:
        """The origin that the document will have."""
        before = self._known.get(hashed.file.name)
        return Origin(
            root=hashed.file.root,
            path=hashed.file.below,
            content=hashed.content,
            parser=self._fingerprint,
            metadata={**(before.metadata if before else {}), **self._options.metadata},
        )

    def _bring_up_to_date(self, hashed: _HashedFile) -> bool:
        """Update the path and metadata of a stored document; return False if it must be read again, or is new."""
        file, name = hashed.file, hashed.file.name
        before = self._known.get(name)
        if before is None or before.content != hashed.content:
            return False
        origin = self._origin(hashed)
        if before.imported:  # what another tool made of this very file must not be replaced
            self._outcome["unchanged"].append(name)
            return True
        if before.parser not in (origin.parser, self._partial):
            return False
        folder = Path(file.real).parent
        if any(file_hash(folder / path) != content for path, content in before.linked_files.items()):
            return False
        if (before.root, before.path) != (origin.root, origin.path):  # its folder was moved, or one above it was added
            self._writer.move(name, origin.root, origin.path)
        if before.metadata != origin.metadata:
            self._writer.set_metadata(name, origin.metadata)
        self._outcome["unchanged" if before.metadata == origin.metadata else "updated"].append(name)
        return True

    def _store(self, prepared: PreparedDocument, unfinished: UnfinishedPages) -> None:
        document = prepared.document
        self._batch.add(prepared, unfinished)
        self._outcome["updated" if document.name in self._known else "added"].append(document.name)
        for count_name in self._read_by_ocr:
            self._read_by_ocr[count_name] += getattr(document, count_name)
        self._warnings.extend(FileIssue(name=document.name, reason=warning) for warning in document.warnings)

    def _fail(self, file: FoundFile, content: str | None, reason: str) -> None:
        self._writer.fail(file.name, root=file.root, reason=reason, content=content, path=file.below)
        self._failed.append(FileIssue(name=file.name, reason=reason))


class _Batch:
    """Documents that are ready but not stored yet; they are stored in batches, every second or so.

    Storing documents changes the lexical index, which may take a second if it is large, so it is not done for each
    small document by itself.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._ready: list[tuple[PreparedDocument, UnfinishedPages]] = []
        self._quotes = 0
        self._wait_until = 0.0  # by the monotonic clock

    def add(self, document: PreparedDocument, unfinished: UnfinishedPages) -> None:
        """Add a document, with its pages, which are kept until it is stored; store all waiting ones if it is time."""
        self._ready.append((document, unfinished))
        self._quotes += len(document.quotes)
        self.tick()

    def tick(self) -> None:
        """Store the waiting documents, unless that was done a moment ago."""
        if self._ready and (time.monotonic() >= self._wait_until or self._quotes >= MAX_WAITING):
            self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # Store what was read when an error ends the run; a second error, as of a full disk, must not hide the first.
        with nullcontext() if error is None else suppress(QuoteweaveError):
            self.flush()

    def flush(self) -> None:
        """Store the waiting documents."""
        ready, self._ready, self._quotes = self._ready, [], 0
        if ready:
            start = time.monotonic()
            self._writer.store([document for document, _ in ready])
            for _, unfinished in ready:
                unfinished.remove()
            end = time.monotonic()
            self._wait_until = end + max(MIN_PAUSE_S, PAUSE_RATIO * (end - start))


def _in_empty_folders(files: Mapping[str, Path]) -> dict[Path, list[str]]:
    """Names of missing files by the nearest folder that still exists, if that is empty and had several files."""
    names_in: defaultdict[Path, list[str]] = defaultdict(list)
    for name, file in files.items():
        names_in[next(folder for folder in file.parents if folder.is_dir())].append(name)
    return {folder: names for folder, names in names_in.items() if len(names) > 1 and not any(folder.iterdir())}


def _below(folders: Iterable[Path]) -> Callable[[Path], bool]:
    """A function that tells whether a path is below one of these folders."""
    starts = tuple(os.path.join(folder, "") for folder in folders)  # noqa: PTH118 - with a slash at its end, even of "/"
    return lambda path: str(path).startswith(starts)


def _hash(path: Path) -> str:
    sniff(path)  # a file that is no document is not read whole, however large it is
    return file_sha256(path)
