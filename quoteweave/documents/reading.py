"""Many files, read by worker processes: each in ranges of pages, some files at a time, given back as they are done."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass

from quoteweave.core.errors import DocumentError, QuoteweaveError
from quoteweave.core.records import ParsedDocument, Record
from quoteweave.documents.formats import Format
from quoteweave.documents.page_content import PageContent
from quoteweave.documents.parse import PAGED, Inspection, Source, inspect, put_together, read_range, read_whole
from quoteweave.documents.workers import Workers

# Pages in one task: enough that opening the file does not count, few enough that processes end together.
RANGE = 6
# A page, or a file that is read whole, that takes longer will never end: the slowest known take a tenth of it.
MOST_SECONDS = 600.0
# What a task gives: a file that is read whole, or pages of one with warnings.
Part = ParsedDocument | tuple[list[PageContent], list[str]]


@dataclass(frozen=True, slots=True)
class Progress:
    """What a caller may watch: `on_total` is told of pages to come, `on_pages` of pages done with in a document.

    All are called by the thread that adds. Once everything is read, the pages done are as many as were to come.
    """

    on_total: Callable[[int], None] = lambda _: None
    on_pages: Callable[[str, int], None] = lambda _name, _pages: None
    on_index: Callable[[], None] = lambda: None


class Refused(Record):
    """A file that did not become a document, or not as a whole."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class FileRead:
    """A file that can become the document of that name."""

    name: str
    format: Format
    parsed: ParsedDocument


def read_files(sources: Sequence[Source], workers: Workers, progress: Progress) -> Iterator[FileRead | Refused]:
    """Each file as soon as it is read.

    A file that crashes a process fails by itself; those that were being read beside it are read again. Raises
    StorageError when the disk refuses, UsageError where OCR cannot read the language that was asked for.
    """
    queue: deque[_Reading] = deque()
    looked = [(source, workers.submit(inspect, source)) for source in sources]
    for source, future in looked:
        try:
            queue.append(_Reading(source, _inspection(source, future, workers)))
        except Exception as error:
            yield Refused(name=source.name, reason=reason(error))
    progress.on_total(sum(reading.pages for reading in queue))
    crashed: list[_Reading] = []
    for reading in _ended(queue, workers, progress):
        if reading.crashed():
            crashed.append(reading)
        else:
            yield reading.result(progress)
    # One by one, to learn which of them it was.
    for reading in crashed:
        reading.start(workers)
        yield reading.result(progress)


def _ended(queue: "deque[_Reading]", workers: Workers, progress: Progress) -> "Iterator[_Reading]":
    """Starts them in order, as many as keep the processes busy; gives back each as soon as its tasks have ended."""
    active: list[_Reading] = []
    while queue or active:
        while queue and sum(len(reading.unfinished()) for reading in active) < 2 * workers.count:
            queue[0].start(workers)
            active.append(queue.popleft())
        wait([part for reading in active for part in reading.unfinished()], return_when=FIRST_COMPLETED)
        for reading in active:
            reading.tell(progress)
        ended = [reading for reading in active if not reading.unfinished()]
        active = [reading for reading in active if reading not in ended]
        yield from ended


def reason(error: Exception) -> str:
    """Why a file cannot be read, in one line. Raises the error itself where that is not the file's fault."""
    if isinstance(error, QuoteweaveError) and not isinstance(error, DocumentError):
        raise error
    if isinstance(error, DocumentError):
        said = str(error)
    elif isinstance(error, BrokenProcessPool):
        said = "reading it crashed, or did not end; it is damaged or hostile"
    elif isinstance(error, OSError):
        said = f"it cannot be read ({error.strerror or error})"
    else:
        said = f"reading it failed ({type(error).__name__}: {str(error)[:200]}); please report this"
    return " ".join(said.split())


def _inspection(source: Source, future: Future[Inspection], workers: Workers) -> Inspection:
    try:
        return future.result()
    except BrokenProcessPool:
        # Another file may have crashed the process; now this one is the only one that is looked at.
        return workers.submit(inspect, source).result()


class _Reading:
    """A file whose pages are being read by worker processes."""

    def __init__(self, source: Source, inspection: Inspection) -> None:
        self.pages = inspection.pages
        self._source, self._format = source, inspection.format
        self._ranges = [range(start, min(start + RANGE, self.pages)) for start in range(0, self.pages, RANGE)]
        self._parts: dict[range, Future[Part]] = {}
        self._told = 0

    def start(self, workers: Workers) -> None:
        """Have its pages read; when called again, those that a crash cut short."""
        for pages in self._ranges:
            part = self._parts.get(pages)
            if part is None or _crashed(part):
                self._parts[pages] = workers.submit(_read, self._source, self._format, pages)

    def unfinished(self) -> list[Future[Part]]:
        """Tasks that are still to be done."""
        return [part for part in self._parts.values() if not part.done()]

    def crashed(self) -> bool:
        """Whether a task was ended by a crash, its own or that of a file beside it."""
        return any(_crashed(part) for part in self._parts.values())

    def tell(self, progress: Progress) -> None:
        """Report the pages that were read since the last time."""
        read = [len(pages) for pages, part in self._parts.items() if part.done() and not _crashed(part)]
        self._tell(progress, sum(read))

    def result(self, progress: Progress) -> FileRead | Refused:
        """Waits for it."""
        try:
            parts = [self._parts[pages].result() for pages in self._ranges]
            return FileRead(self._source.name, self._format, _joined(self._source, parts))
        except Exception as error:
            return Refused(name=self._source.name, reason=reason(error))
        finally:
            self._tell(progress, self.pages)

    def _tell(self, progress: Progress, done: int) -> None:
        if done > self._told:
            progress.on_pages(self._source.name, done - self._told)
            self._told = done


def _read(source: Source, kind: Format, pages: range) -> Part:
    """In a worker. A file that makes a library loop ends the process, and is then refused like one that crashes it."""
    watchdog = threading.Timer(MOST_SECONDS * len(pages), os._exit, (1,))
    watchdog.daemon = True
    watchdog.start()
    try:
        return read_range(source, kind, pages) if kind in PAGED else read_whole(source, kind)
    finally:
        watchdog.cancel()


def _joined(source: Source, parts: Sequence[Part]) -> ParsedDocument:
    contents: list[PageContent] = []
    warnings: list[str] = []
    for part in parts:
        if isinstance(part, ParsedDocument):
            return part
        contents += part[0]
        warnings += part[1]
    return put_together(source, contents, warnings)


def _crashed(part: Future[Part]) -> bool:
    return part.done() and isinstance(part.exception(), BrokenProcessPool)
