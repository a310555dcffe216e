"""Many files, read by worker processes: each in ranges of pages, some files at a time, given back as they are done."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from quoteweave.core.errors import DocumentError, QuoteweaveError
from quoteweave.core.records import ParsedDocument, Record
from quoteweave.documents.formats import Format
from quoteweave.documents.parse import PAGED, Inspection, Source, inspect, keep_pages, put_kept_together, read_whole
from quoteweave.documents.workers import Limits, Outcome, Stop, Workers
from quoteweave.index.unfinished import UnfinishedPages

# Pages in one task: enough that opening the file does not count, few enough that processes end together.
RANGE = 6
# Files that one task looks at.
LOOKED_AT = 50
# When more pages than this went beyond the limits, and more than were read, the rest of their document is not tried.
MOST_LOST = 5

# Bytes that are kept of a page, roughly.
USUAL_PAGE = 10_000

S = TypeVar("S")
T = TypeVar("T")


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
    lost: bool
    """Whether pages are missing that went beyond the limits."""


@dataclass(frozen=True, slots=True)
class ToRead:
    """A file to read, and where its pages are kept until its document is stored."""

    source: Source
    kept: UnfinishedPages


def read_files(files: Sequence[ToRead], workers: Workers, progress: Progress) -> Iterator[FileRead | Refused]:
    """Each file as soon as it is read.

    A page that crashes its process, or goes beyond the limits of memory or time, is kept empty, with a warning; a file
    without any other is refused. Pages that an earlier run has kept are not read again.
    Raises StorageError when the disk refuses, UsageError where OCR cannot read the language that was asked for.
    """
    queue: deque[_Reading] = deque()
    sources = [file.source for file in files]
    batches = [sources[start : start + LOOKED_AT] for start in range(0, len(sources), LOOKED_AT)]
    looks = [_Steps(workers, workers.limits, inspect_each, batch) for batch in batches]
    looked = (found for look in looks for found in look.wait())
    for file, found in zip(files, looked, strict=True):
        if isinstance(found, Inspection):
            queue.append(_Reading(file, found, workers))
        else:
            yield Refused(name=file.source.name, reason=found)
    progress.on_total(sum(reading.pages for reading in queue))
    for reading in _ended(queue, workers, progress):
        yield reading.result(progress)


def inspect_each(sources: Iterable[Source]) -> Iterator[Inspection | str]:
    """In a worker: what each file is, or why it cannot be read."""
    for source in sources:
        try:
            yield inspect(source)
        except MemoryError:
            raise
        except Exception as error:
            yield reason(error)


def _ended(queue: "deque[_Reading]", workers: Workers, progress: Progress) -> "Iterator[_Reading]":
    """Starts them in order, as many as keep the processes busy; gives back each as soon as its tasks have ended."""
    active: list[_Reading] = []
    while queue or active:
        while queue and sum(len(reading.unfinished()) for reading in active) < 2 * workers.count:
            queue[0].start()
            active.append(queue.popleft())
        wait([task for reading in active for task in reading.unfinished()], return_when=FIRST_COMPLETED)
        for reading in active:
            reading.advance(progress)
        ended = [reading for reading in active if not reading.unfinished()]
        active = [reading for reading in active if reading not in ended]
        yield from ended


def reason(error: Exception) -> str:
    """Why a file cannot be read, in one line. Raises the error itself where that is not the file's fault."""
    if isinstance(error, QuoteweaveError) and not isinstance(error, DocumentError):
        raise error
    if isinstance(error, DocumentError):
        said = str(error)
    elif isinstance(error, OSError):
        said = f"it cannot be read ({error.strerror or error})"
    else:
        said = f"reading it failed ({type(error).__name__}: {str(error)[:200]}); please report this"
    return " ".join(said.split())


def _stopped(stop: Stop, limits: Limits) -> str:
    """Why a step did not end, to go on from "page 3" or "it"."""
    if stop is Stop.MEMORY:
        allowed = (limits.memory or 0) // 1_000_000
        return f"ran out of memory: reading takes more than {allowed} MB (--memory allows more)"
    if stop is Stop.TIME:
        return f"ran out of time: reading takes more than {limits.seconds:.3g} seconds (--page-seconds allows more)"
    return "crashes the program that reads it, and is damaged or hostile"


class _Steps(Generic[S, T]):
    """Steps of one task, each of which gives an item, or the reason why it could not be done.

    A step that ends its process costs itself alone: those after it are done by another process. One that ends a process
    that has done other things before, or crashes it, is tried once more, in a fresh one.
    """

    def __init__(
        self, workers: Workers, limits: Limits, call: Callable[..., Iterable[T]], steps: Sequence[S], *rest: Any
    ) -> None:
        self.done: dict[int, T | str] = {}
        self.lost: dict[S, str] = {}
        self.error: Exception | None = None
        self._workers, self._limits, self._call, self._rest = workers, limits, call, rest
        self._steps = list(steps)
        self._tried: set[int] = set()
        self._given_up = False
        self.future: Future[Outcome[T]] | None = None
        self._submit()

    def _submit(self) -> None:
        left = [] if self._given_up else self._steps[len(self.done) :]
        steps = left[:1] if len(self.done) in self._tried else left
        self.future = self._workers.submit(self._limits, self._call, steps, *self._rest) if left else None

    def wait(self) -> list[T | str]:
        """All that the steps gave, in order. Raises what a step raised."""
        while self.future is not None:
            wait([self.future])
            self.advance()
        if self.error is not None:
            raise self.error
        return [self.done[number] for number in range(len(self._steps))]

    def give_up(self) -> None:
        """Do no step any more but those that a process is doing already."""
        self._given_up = True
        if self.future is not None and self.future.cancel():
            self.future = None

    def untried(self) -> list[S]:
        """The steps that were neither done nor lost."""
        return self._steps[len(self.done) :]

    def advance(self) -> None:
        """Take what has come, once the future is done; goes on with the steps that are left."""
        if self.future is None or not self.future.done():
            return
        outcome = self.future.result()
        for item in outcome.items:
            self.done[len(self.done)] = item
        if outcome.error is not None:
            self.error, self.future = outcome.error, None
            return
        if outcome.stop is not None and len(self.done) < len(self._steps):
            self._note(outcome.stop, fresh=outcome.fresh and not outcome.items)
        self._submit()

    def _note(self, stop: Stop, *, fresh: bool) -> None:
        number = len(self.done)
        again = stop is Stop.CRASH or (stop is Stop.MEMORY and not fresh)
        if again and number not in self._tried:
            self._tried.add(number)
            return
        why = _stopped(stop, self._limits)
        self.done[number], self.lost[self._steps[number]] = f"it {why}", why


class _Reading:
    """A file whose pages are being read by worker processes, and then put together by one."""

    def __init__(self, file: ToRead, inspection: Inspection, workers: Workers) -> None:
        self._source, self._kept, self._format = file.source, file.kept, inspection.format
        kept = self._kept.pages() if self._format in PAGED else set()
        self._count = inspection.pages
        self._left = [number for number in range(self._count) if number not in kept]
        self.pages = len(self._left)
        self._workers, self._limits = workers, workers.limits
        self._parts: list[_Steps[int, int]] = []
        self._whole: _Steps[Any, ParsedDocument] | None = None
        self._told = 0
        if self._format not in PAGED:
            self._limits = self._limits.for_file(inspection.size)

    def start(self) -> None:
        """Have its pages read, but for those that an earlier run has kept."""
        if self._format not in PAGED:
            self._whole = _Steps(self._workers, self._limits, read_file, [self._source], self._format)
            return
        for start in range(0, len(self._left), RANGE):
            numbers = self._left[start : start + RANGE]
            task = _Steps(self._workers, self._limits, keep_pages, numbers, self._source, self._format, self._kept)
            self._parts.append(task)
        if not self._left:
            self._put_together()

    def unfinished(self) -> list[Future[Any]]:
        """Tasks that are still to be done."""
        futures: list[Future[Any] | None] = [part.future for part in self._parts]
        futures += [self._whole.future] if self._whole is not None else []
        return [future for future in futures if future is not None]

    def advance(self, progress: Progress) -> None:
        """Take what has been read, report it, and go on."""
        for part in self._parts:
            part.advance()
        if self._whole is not None:
            self._whole.advance()
        elif self._is_hopeless():
            for part in self._parts:
                part.give_up()
        if self._whole is None and not self.unfinished() and not any(part.error for part in self._parts):
            self._put_together()
        self._tell(progress, sum(len(part.done) for part in self._parts))

    def _is_hopeless(self) -> bool:
        """Whether more of it need not be read."""
        if any(part.error for part in self._parts):
            return True
        lost = sum(len(part.lost) for part in self._parts)
        read = self._count - self.pages + sum(len(part.done) for part in self._parts) - lost
        return lost > max(MOST_LOST, read)

    def _put_together(self) -> None:
        limits = self._limits.for_file(self._count * USUAL_PAGE)
        self._whole = _Steps(self._workers, limits, join_pages, [self._count], self._source, self._kept, self._lost())

    def _lost(self) -> dict[int, str]:
        lost = {number: why for part in self._parts for number, why in part.lost.items()}
        untried = {number for part in self._parts for number in part.untried()}
        return lost | dict.fromkeys(untried, f"was not tried, because {len(lost)} others could not be read")

    def result(self, progress: Progress) -> FileRead | Refused:
        """The document, or why there is none. Raises what is not the file's fault."""
        try:
            for part in self._parts:
                if part.error is not None:
                    raise part.error
            assert self._whole is not None  # noqa: S101 - for the type checker
            (parsed,) = self._whole.wait()
            if isinstance(parsed, str):
                return Refused(name=self._source.name, reason=parsed)
            return FileRead(self._source.name, self._format, parsed, bool(self._lost()))
        except Exception as error:
            return Refused(name=self._source.name, reason=reason(error))
        finally:
            self._tell(progress, self.pages)

    def _tell(self, progress: Progress, done: int) -> None:
        if done > self._told:
            progress.on_pages(self._source.name, done - self._told)
            self._told = done


def read_file(sources: Iterable[Source], kind: Format) -> Iterator[ParsedDocument]:
    """In a worker: files that are read whole."""
    for source in sources:
        yield from read_whole(source, kind)


def join_pages(
    counts: Iterable[int], source: Source, kept: UnfinishedPages, lost: dict[int, str]
) -> Iterator[ParsedDocument]:
    """In a worker: the kept pages of a file, as a document."""
    for count in counts:
        yield from put_kept_together(source, kept, count, lost)
