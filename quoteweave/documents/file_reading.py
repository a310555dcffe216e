"""Reads many files with worker processes, in tasks of some pages or a few small files; yields them as they finish.

The processes do everything that can be done before documents are stored, including their records and file copies.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from quoteweave.collection.prepared import PreparedDocument, prepare_document
from quoteweave.collection.records import Origin
from quoteweave.collection.stores.content import SourceStore
from quoteweave.collection.stores.unfinished import UnfinishedPages
from quoteweave.core.records import ParsedDocument, Record
from quoteweave.documents.formats import Format
from quoteweave.documents.parser import (
    PAGED_FORMATS,
    Inspection,
    SourceFile,
    assemble_kept_pages,
    inspect_file,
    read_and_keep_pages,
    read_whole,
)
from quoteweave.documents.retried_tasks import RetriedTask, failure_reason
from quoteweave.documents.worker_pool import WorkerPool, overtime_message

# Pages per task: enough for the time of opening the file not to matter, few enough for processes to end together.
PAGES_PER_TASK = 6
# How many files one task inspects.
FILES_PER_INSPECTION = 50
# How many files without pages of their own one task reads, and the size in bytes up to which a file may be in such a
# task: sending messages to a process and back costs as much as reading a page of text.
FILES_PER_TASK = 20
SMALL_FILE_BYTES = 100_000
# If more pages than this exceeded the limits, and more than were read, the rest of their document is not tried.
MAX_LOST = 5

# Roughly how many bytes are stored for a page.
USUAL_PAGE = 10_000

S = TypeVar("S")
U = TypeVar("U", bound="_WholeFilesUnit | _PagesUnit")
Stop = Callable[[str, int], str | None]
"""Returns why a document is to be read no further, given its name and number of pages; None lets it be read."""


@dataclass(frozen=True, slots=True)
class AddProgress:
    """Progress callbacks: `on_total` gets the number of pages to read, `on_pages` a document and its pages done.

    `on_file` gets the name of each document that is finished: unchanged, read or refused. All are called by the thread
    that adds. When everything is read, the number of pages done equals the total.
    """

    on_total: Callable[[int], None] = lambda _: None
    on_pages: Callable[[str, int], None] = lambda _name, _pages: None
    on_index: Callable[[], None] = lambda: None
    on_file: Callable[[str], None] = lambda _: None


class FileIssue(Record):
    """A problem with a file: it could not be read, or not completely."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a worker is sent: a file to read, and where its document and pages are stored."""

    source: SourceFile
    origin: Origin
    partial_parser: str
    """The parser's fingerprint for a document that lacks pages which exceeded the limits."""
    sources: SourceStore
    """The store to which the file is copied."""
    unfinished: UnfinishedPages
    """The store of its pages until its document is stored."""

    def prepare(self, format: Format, parsed: ParsedDocument, *, partial: bool = False) -> PreparedDocument:
        """Prepare the parsed document for storing.

        Raises DamagedDocument if the file has changed, DocumentError or OSError if it cannot be copied.
        """
        self.source.require_unchanged()
        origin = self.origin.model_copy(update={"parser": self.partial_parser}) if partial else self.origin
        name, path = self.source.name, self.source.path
        return prepare_document(path, self.sources, name=name, format=format.value, origin=origin, parsed=parsed)


def read_files(
    files: Sequence[S],
    make_reading: Callable[[S], FileReading],
    *,
    workers: WorkerPool,
    progress: AddProgress,
    stop: Stop = lambda _name, _pages: None,
) -> Iterator[PreparedDocument | FileIssue]:
    """Read files with the workers and yield each as soon as it is done.

    `make_reading` is called only when a file's turn comes, because there may be very many files. A page that crashes
    its process, or exceeds the limits of memory or time, is stored empty, with a warning; a file without any other page
    is refused. Pages stored by an earlier run are not read again. `stop` is called for a file with pages when its
    reading begins, and while it is read; if it returns a reason, only that file is refused. Raises StorageError when
    the disk refuses, UsageError if OCR cannot read the requested language.
    """
    inspected: dict[int, Inspection] = {}
    for number, inspection in enumerate(_inspected(files, make_reading, workers)):
        if isinstance(inspection, Inspection):
            inspected[number] = inspection
        else:
            yield FileIssue(name=make_reading(files[number]).source.name, reason=inspection)
    pages = (_pages_to_read(files[number], make_reading, inspection) for number, inspection in inspected.items())
    progress.on_total(sum(pages))
    to_read = ((make_reading(files[number]), inspection) for number, inspection in inspected.items())
    for unit in _ended_units(_read_units(to_read, workers, progress, stop), workers):
        yield from unit.results()


def _inspected(
    files: Sequence[S], make_reading: Callable[[S], FileReading], workers: WorkerPool
) -> Iterator[Inspection | str]:
    """What each file is, or why it cannot be read, in order; enough batches at a time keep the processes busy."""
    starts = iter(range(0, len(files), FILES_PER_INSPECTION))
    batches: deque[RetriedTask[SourceFile, Inspection | str]] = deque()
    while True:
        for start in islice(starts, 2 * workers.count - len(batches)):
            batch = [make_reading(file).source for file in files[start : start + FILES_PER_INSPECTION]]
            batches.append(RetriedTask(workers, workers.limits, inspect_each, batch))
        if not batches:
            return
        yield from batches.popleft().wait()


def _pages_to_read(file: S, make_reading: Callable[[S], FileReading], inspection: Inspection) -> int:
    stored = make_reading(file).unfinished.pages() if inspection.format in PAGED_FORMATS else ()
    return inspection.pages - len(stored)


def _read_units(
    files: Iterable[tuple[FileReading, Inspection]], workers: WorkerPool, progress: AddProgress, stop: Stop
) -> Iterator["_WholeFilesUnit | _PagesUnit"]:
    """Group the files into units of work: alone, or with other small files."""
    small: list[tuple[FileReading, Inspection]] = []
    for file, inspection in files:
        if inspection.format in PAGED_FORMATS:
            yield _PagesUnit(file, inspection, workers, progress, stop)
        elif inspection.size > SMALL_FILE_BYTES:
            yield _WholeFilesUnit([(file, inspection)], workers, progress)
        else:
            small.append((file, inspection))
        if len(small) == FILES_PER_TASK:
            yield _WholeFilesUnit(small, workers, progress)
            small = []
    if small:
        yield _WholeFilesUnit(small, workers, progress)


def inspect_each(sources: Iterable[SourceFile]) -> Iterator[Inspection | str]:
    """Runs in a worker: inspect each file, or return the reason why it cannot be read."""
    for source in sources:
        try:
            yield inspect_file(source)
        except MemoryError:
            raise
        except Exception as error:
            yield failure_reason(error)


def _ended_units(queue: Iterator[U], workers: WorkerPool) -> Iterator[U]:
    """Start units in order, enough to keep the processes busy, and yield each as soon as its tasks have ended."""
    active: list[U] = []
    while True:
        while sum(len(unit.unfinished()) for unit in active) < 2 * workers.count:
            unit = next(queue, None)
            if unit is None:
                break
            unit.start()
            active.append(unit)
        if not active:
            return
        wait([future for unit in active for future in unit.unfinished()], return_when=FIRST_COMPLETED)
        for unit in active:
            unit.advance()
        ended = [unit for unit in active if not unit.unfinished()]
        active = [unit for unit in active if unit not in ended]
        yield from ended


class _WholeFilesUnit:
    """Files that one worker process reads whole, one after the other."""

    def __init__(
        self, files: Sequence[tuple[FileReading, Inspection]], workers: WorkerPool, progress: AddProgress
    ) -> None:
        self._files, self._workers, self._progress = files, workers, progress
        self._limits = workers.limits.for_file(max(inspection.size for _, inspection in files))
        self._task: RetriedTask[tuple[FileReading, Format], PreparedDocument | str] | None = None

    def start(self) -> None:
        """Submit its first tasks."""
        steps = [(file, inspection.format) for file, inspection in self._files]
        self._task = RetriedTask(self._workers, self._limits, prepare_whole, steps)

    def unfinished(self) -> list[Future[Any]]:
        """The tasks that are not done yet."""
        return [self._task.future] if self._task is not None and self._task.future is not None else []

    def advance(self) -> None:
        """Take the results of finished tasks, and submit further ones."""
        if self._task is not None:
            self._task.advance()

    def results(self) -> Iterator[PreparedDocument | FileIssue]:
        """The documents, or why there are none, once no task is left. Raises errors that no file has caused."""
        assert self._task is not None  # noqa: S101 - for the type checker
        for (file, _), result in zip(self._files, self._task.done, strict=False):
            name = file.source.name
            self._progress.on_pages(name, 1)
            yield FileIssue(name=name, reason=result) if isinstance(result, str) else result
        if self._task.error is not None:
            raise self._task.error


class _PagesUnit:
    """A file whose pages are read by worker processes and then assembled by one; methods as in `_WholeFilesUnit`."""

    def __init__(
        self, file: FileReading, inspection: Inspection, workers: WorkerPool, progress: AddProgress, stop: Stop
    ) -> None:
        self._file, self._format, self._count, self._size = file, inspection.format, inspection.pages, inspection.size
        pages_read = file.unfinished.pages()
        self._unread = [number for number in range(self._count) if number not in pages_read]
        self._workers, self._limits, self._progress = workers, workers.limits, progress
        self._parts: list[RetriedTask[int, int]] = []
        self._assembling: RetriedTask[Any, PreparedDocument] | None = None
        self._reported = 0
        self._stop = partial(stop, file.source.name, self._count)
        self._refused: str | None = None

    def start(self) -> None:
        self._refused, file = self._stop(), self._file
        if self._refused is not None:
            return
        sources = (file.source, replace(file.source, skip_names=True), replace(file.source, skip_tiles=True))
        read, without_names, without_tiles = (
            partial(read_and_keep_pages, source=source, format=self._format, unfinished=file.unfinished)
            for source in sources
        )
        for start in range(0, len(self._unread), PAGES_PER_TASK):
            pages = self._workers, self._limits, read, self._unread[start : start + PAGES_PER_TASK]
            self._parts.append(RetriedTask(*pages, after_crash=without_names, after_limit=without_tiles))
        if not self._unread:
            self._assemble()

    def unfinished(self) -> list[Future[Any]]:
        futures: list[Future[Any] | None] = [part.future for part in self._parts]
        futures += [self._assembling.future] if self._assembling is not None else []
        return [future for future in futures if future is not None]

    def advance(self) -> None:
        for part in self._parts:
            part.advance()
        if any(part.uses_fallback for part in self._parts):
            for part in self._parts:
                part.use_fallback()
        if self._assembling is not None:
            self._assembling.advance()
            return
        self._refused = self._refused or self._stop()
        if self._should_give_up():
            for part in self._parts:
                part.give_up()
        if not self.unfinished() and not self._has_failed():
            self._assemble()
        self._report_pages(sum(len(part.done) for part in self._parts))

    def _has_failed(self) -> bool:
        return self._refused is not None or any(part.error for part in self._parts)

    def _should_give_up(self) -> bool:
        """Whether the rest of it need not be read."""
        if self._has_failed() or self._is_overtime():
            return True
        lost = sum(len(part.lost) for part in self._parts)
        pages_read = self._count - len(self._unread) + sum(len(part.done) for part in self._parts) - lost
        return lost > max(MAX_LOST, pages_read)

    def _is_overtime(self) -> bool:
        return sum(part.seconds for part in self._parts) > self._limits.document_seconds

    def _assemble(self) -> None:
        limits = self._limits.for_file(self._count * USUAL_PAGE + self._size)
        task = (self._file, self._format, self._lost())
        self._assembling = RetriedTask(self._workers, limits, prepare_kept, [self._count], *task)

    def _lost(self) -> dict[int, str]:
        lost = {number: why for part in self._parts for number, why in part.lost}
        untried = {number for part in self._parts for number in part.untried()}
        if not untried:
            return lost
        if self._is_overtime():
            return lost | dict.fromkeys(untried, overtime_message(self._limits))
        first = min(lost)
        other_failures = f"{len(lost)} others could not be read; page {first + 1} {lost[first]}"
        return lost | dict.fromkeys(untried, f"was not tried, because {other_failures}")

    def results(self) -> Iterator[PreparedDocument | FileIssue]:
        self._report_pages(len(self._unread))
        name = self._file.source.name
        result: PreparedDocument | str
        try:
            for part in self._parts:
                if part.error is not None:
                    raise part.error
            if self._refused is not None:
                result = self._refused
            else:
                assert self._assembling is not None  # noqa: S101 - for the type checker
                (result,) = self._assembling.wait()
        except Exception as error:
            result = failure_reason(error)
        yield FileIssue(name=name, reason=result) if isinstance(result, str) else result

    def _report_pages(self, done: int) -> None:
        if done > self._reported:
            self._progress.on_pages(self._file.source.name, done - self._reported)
            self._reported = done


def prepare_whole(files: Iterable[tuple[FileReading, Format]]) -> Iterator[PreparedDocument | str]:
    """Runs in a worker: parse and prepare each file that is read whole, or return the reason for its failure."""
    for file, format in files:
        try:
            yield file.prepare(format, read_whole(file.source, format))
        except MemoryError:
            raise
        except Exception as error:
            yield failure_reason(error)


def prepare_kept(
    counts: Iterable[int], file: FileReading, format: Format, lost: dict[int, str]
) -> Iterator[PreparedDocument]:
    """Runs in a worker: assemble a document from the stored pages of a file.

    `counts` has one item, the number of pages, because a task of the pool takes items and yields a result for each.
    """
    for count in counts:
        parsed = assemble_kept_pages(file.source, file.unfinished, count, lost)
        yield file.prepare(format, parsed, partial=bool(lost))
