"""A folder of papers that sources found: a collection of their full texts, and of descriptions where there is none.

It is a collection like any other: it can be searched, asked and cited from. A document stands for a paper, whichever
source described it; its name does not change when its full text takes the place of its description.
"""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Lock
from types import MappingProxyType
from typing import Self, get_args
from weakref import WeakValueDictionary

from quoteweave.attribution.literature.library.fetching import FetchFailure, PdfFetcher
from quoteweave.attribution.literature.library.paper_documents import (
    CurrentIndex,
    LibraryIndex,
    as_markdown,
    described_in,
    document_name,
    first_metadata,
    identities_of,
    is_paper_meant,
    merged_metadata,
)
from quoteweave.attribution.literature.library.parse_limits import ParseLimits, ParseWatch
from quoteweave.attribution.literature.sources.paper_metadata import is_only_described
from quoteweave.attribution.literature.sources.paper_text import join_pages, text_of_quotes
from quoteweave.attribution.literature.sources.papers import Paper, PaperText, ReadOutcome
from quoteweave.collection.collection import Collection
from quoteweave.collection.prepared import PreparedDocument
from quoteweave.collection.records import UPLOADED, Origin
from quoteweave.collection.writer import Writer
from quoteweave.core.errors import UsageError
from quoteweave.core.files.temporary import TemporaryFolder, remove_abandoned
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.records import Document, Quote
from quoteweave.documents.formats import Format
from quoteweave.documents.ingest import AddOptions, add
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.documents.worker_pool import WorkerPool, default_processes
from quoteweave.index.sync import sync_indexes
from quoteweave.pipeline.composition.manage_indexes import update_indexes
from quoteweave.pipeline.pictures_for_models import CollectionPictures

FOLDER_VARIABLE = "QUOTEWEAVE_PAPERS"
FILE = "paper.pdf"
NOT_READ = "not_read"
"""The metadata key of a paper whose link gave no full text and never will; its value is the outcome and the reason."""
NOT_OPEN = "Not open access: no source knows a file of it that may be read freely."
MAX_SNIPPETS = 10
"""Snippets of a paper that are kept, at most."""
_SHOWN_TITLE = 200
_FIRST_QUOTES = 300  # enough to include those of the first pages


def default_papers_folder() -> Path:
    """Return the folder that QUOTEWEAVE_PAPERS names, else `quoteweave/papers` in the user's cache folder (XDG)."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    return caches_folder() / "papers"


def caches_folder() -> Path:
    """Return this program's folder in the user's cache folder (XDG)."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "quoteweave"


@dataclass(eq=False, slots=True)
class _Fetched:
    """A file that was fetched for a paper."""

    paper: Paper
    file: Path
    result: tuple[ReadOutcome, str | None] | None = None
    """The outcome of reading it, and a note; None until it was read."""


class PaperLibrary:
    """Papers that were found, in a collection at `folder`, which is made if there is none. Implements `PaperReader`.

    Any number of processes may use a folder at once; one that is killed loses at most the paper that it was reading.
    Methods raise CollectionError; that a paper cannot be read is an outcome. Close it, or use it in a `with` statement.

    >>> with PaperLibrary(Path("papers")) as library:
    ...     names = asyncio.run(library.add_papers([Paper(id="7", title="Grain by rail", abstract="It went.")]))
    ...     asyncio.run(library.read(Paper(id="7", title="Grain by rail"))).outcome
    'not_open_access'
    """

    def __init__(self, folder: Path, fetcher: PdfFetcher | None = None, *, limits: ParseLimits | None = None) -> None:
        self.collection = Collection.open_or_create(folder)
        self._fetcher, self._limits = fetcher or PdfFetcher(), limits or ParseLimits()
        self._index = CurrentIndex(self.collection)
        self._reading: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._workers, self._has_processes = WorkerPool(default_processes()), False
        self._fetched: deque[_Fetched] = deque()
        self._parsing = Lock()

    def import_readers(self) -> None:
        """Import the modules that read descriptions and fetch files, so that the first paper need not wait for it."""
        import markdown_it  # noqa: F401

        self._fetcher.prepare()

    def close(self) -> None:
        """Close the collection, and end the processes that parse."""
        self.collection.close()  # first, so that a file whose reading is broken off is not recorded as damaged
        self._workers.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def add_papers(
        self, papers: Sequence[Paper], snippets: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> tuple[str, ...]:
        """Add the titles and abstracts of papers that are not there yet; return the name of each one's document.

        Documents that exist keep their text; identifiers and citation counts that they lacked are added. `snippets` are
        passages of papers, by the papers' ids; they stand beside the abstract until the full text takes their place.
        """
        return await asyncio.to_thread(self._add, papers, snippets)

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a paper, fetched and parsed if needed; if that fails, its abstract and the reason.

        A file that was read is not fetched again, nor is a link that gave no PDF, too large a file, or another paper's.
        A link that could not be reached is tried again.
        """
        (name,) = await self.add_papers([paper])
        async with self._reading_alone(name):
            known = await asyncio.to_thread(self._known_text, paper)
            if known is not None:
                return known
            await asyncio.to_thread(remove_abandoned)
            folder = TemporaryFolder(clean=False)
            try:
                failure = await self._fetcher.fetch(paper.pdf_url or "", folder.path / FILE, self._start_processes)
            except BaseException:
                folder.remove()
                raise
            # If this is cancelled the thread goes on, so that the thread removes the file, and not this task.
            return await asyncio.to_thread(self._store_result, paper, folder, failure)

    def _start_processes(self) -> None:
        """Start the parsing processes while a file arrives, as starting them takes longer than parsing a page."""
        if not self._has_processes:
            self._has_processes = True
            self._workers.start()

    @asynccontextmanager
    async def _reading_alone(self, name: str) -> AsyncIterator[None]:
        """While this block runs, no other task of this process reads the paper."""
        lock = self._reading.setdefault(name, asyncio.Lock())
        async with lock:
            yield

    def _add(
        self, papers: Sequence[Paper], snippets: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> tuple[str, ...]:
        if self._incomplete_papers(papers, snippets, self._index.get()):
            with self.collection.writer(None) as writer:
                self._write(writer, papers, snippets)
                self._refresh(writer)
            update_indexes(self.collection, wait=True)
        index = self._index.get()
        documents = [index.document_of(paper) for paper in papers]
        return tuple(document.name for document in documents if document is not None)

    def _incomplete_papers(
        self, papers: Sequence[Paper], snippets: Mapping[str, Sequence[str]], index: LibraryIndex
    ) -> list[Paper]:
        """Papers of which the library lacks something."""
        documents = [(paper, index.document_of(paper)) for paper in papers]
        return [
            paper
            for paper, document in documents
            if document is None
            or merged_metadata(document, paper) != document.metadata
            or self._lacks(document, paper, snippets)
        ]

    def _lacks(self, document: Document, paper: Paper, snippets: Mapping[str, Sequence[str]]) -> bool:
        """Whether a description lacks something that is now known of its paper."""
        if not is_only_described(document):
            return False
        known = described_in(self.collection.document_quotes(document.name))
        return known.lacks(paper, snippets.get(paper.id, ())[: max(0, MAX_SNIPPETS - len(known.snippets))])

    def _write(self, writer: Writer, papers: Sequence[Paper], snippets: Mapping[str, Sequence[str]]) -> None:
        """Store what is still missing, in one transaction; another process may have stored some of it meanwhile."""
        index = self._index.get()
        new: dict[str, PreparedDocument] = {}
        claimed: set[str] = set()
        with TemporaryFolder() as folder:
            for paper in self._incomplete_papers(papers, snippets, index):
                if not claimed.isdisjoint(identities_of(paper)):
                    continue  # the paper came twice; what the second description adds is stored the next time
                claimed |= identities_of(paper)
                document = index.document_of(paper)
                name = document_name(paper) if document is None else document.name
                metadata = first_metadata(paper) if document is None else merged_metadata(document, paper)
                if document is None or self._lacks(document, paper, snippets):
                    described = self._as_markdown(document, paper, snippets.get(paper.id, ()))
                    new[name] = self._described(writer, name, described, metadata, folder)
                else:
                    writer.set_metadata(name, metadata)
            if new:
                writer.store(list(new.values()))

    def _as_markdown(self, document: Document | None, paper: Paper, snippets: Sequence[str]) -> str:
        """The description of a paper, completed by what only its earlier description says."""
        if document is None:
            return as_markdown(paper, snippets[:MAX_SNIPPETS])
        known = described_in(self.collection.document_quotes(document.name))
        new = [snippet for snippet in snippets if known.lacks(paper.model_copy(update={"abstract": None}), [snippet])]
        abstract = paper.abstract if (paper.abstract or "").strip() else known.abstract
        kept_snippets = [*known.snippets, *new][:MAX_SNIPPETS]
        return as_markdown(paper.model_copy(update={"abstract": abstract}), kept_snippets)

    def _described(
        self, writer: Writer, name: str, described: str, metadata: Mapping[str, str], folder: Path
    ) -> PreparedDocument:
        file = folder / f"{len(list(folder.iterdir()))}.md"
        file.write_text(described, "utf-8")
        settings, content = ParserSettings(), file_sha256(file)
        origin = Origin(root=UPLOADED, path=name, content=content, parser=settings.fingerprint, metadata=metadata)
        parsed = DocumentParser(self.collection.images, settings).parse(file)
        return writer.prepare(file, name=name, format=Format.MARKDOWN.value, origin=origin, parsed=parsed)

    def _known_text(self, paper: Paper) -> PaperText | None:
        """The text of a paper as far as it is known without fetching its link; None if the link has to be fetched."""
        document = self._document(paper)
        if not is_only_described(document):
            return self._text(document, "full_text")
        if paper.pdf_url is None:
            return self._text(document, "not_open_access", NOT_OPEN)
        stored_outcome, _, link_and_reason = document.metadata.get(NOT_READ, "").partition(": ")
        link, _, reason = link_and_reason.partition(" ")
        outcomes: tuple[ReadOutcome, ...] = get_args(ReadOutcome)
        for outcome in outcomes:
            if (outcome, paper.pdf_url) == (stored_outcome, link):
                return self._text(document, outcome, reason)
        return None

    def _document(self, paper: Paper) -> Document:
        """The document of a paper; if it was removed a moment ago, the paper is described again."""
        document = self._index.get().document_of(paper)
        if document is None:
            (name,) = self._add([paper])
            document = self.collection.document(name)
        return document

    def _store_result(self, paper: Paper, folder: TemporaryFolder, failure: FetchFailure | None) -> PaperText:
        """Store what a link gave, or that it gives nothing and need not be tried again; then remove the folder."""
        outcome: ReadOutcome
        with folder as path:
            if failure is None:
                outcome, note = self._parse(_Fetched(paper, path / FILE))
            else:
                outcome, note = failure.outcome, failure.note
        document = self._document(paper)
        metadata = {key: value for key, value in document.metadata.items() if key != NOT_READ}
        if outcome not in ("full_text", "unreachable"):
            metadata[NOT_READ] = f"{outcome}: {paper.pdf_url} {note}"
        if metadata != document.metadata:
            with self.collection.writer(None) as writer:
                writer.set_metadata(document.name, metadata)
        return self._text(document, outcome, note)

    def _parse(self, fetched: _Fetched) -> tuple[ReadOutcome, str | None]:
        """Parse a file that was fetched, unless a file of the same bytes is stored; return the outcome and a note.

        Files that arrived while others were being parsed are parsed together, as writing takes as long as parsing.
        """
        self._fetched.append(fetched)
        with self._parsing:
            if fetched.result is None:
                queued = [self._fetched.popleft() for _ in range(len(self._fetched))]
                self._parse_files([fetched, *(queued_file for queued_file in queued if queued_file is not fetched)])
        assert fetched.result is not None  # noqa: S101 - for the type checker
        return fetched.result

    def _parse_files(self, fetched: Sequence[_Fetched]) -> None:
        new: dict[str, _Fetched] = {}
        contents: set[str] = set()
        later: list[_Fetched] = []
        for fetched_file in fetched:
            name, content = self._document(fetched_file.paper).name, file_sha256(fetched_file.file)
            twin = self._index.get().with_content(content)
            if twin is not None and twin.name != name:
                fetched_file.result = self._join_twin(name, fetched_file.paper, twin)
            elif name in new or content in contents:
                later.append(fetched_file)
            else:
                new[name] = fetched_file
                contents.add(content)
        if new:
            self._add_files(new)
        for fetched_file in later:  # their papers or their bytes are stored by now
            self._parse_files([fetched_file])

    def _add_files(self, fetched: Mapping[str, _Fetched]) -> None:
        """Parse files, given by the names of their papers' documents."""

        def refuse(prepared: PreparedDocument) -> str | None:
            fetched_file = fetched[prepared.document.name]
            quotes = [Quote.model_validate_json(record) for record in islice(prepared.quotes, _FIRST_QUOTES)]
            if is_paper_meant(fetched_file.paper, quotes):
                return None
            reason = _other_paper_note(fetched_file.paper)
            fetched_file.result = "other_paper", reason
            return reason

        def stop(name: str, pages: int) -> str | None:
            reason = watch.reason_to_stop(name, pages)
            if reason is not None:
                fetched[name].result = "too_large", reason
            return reason

        watch, names = ParseWatch(self._limits), {fetched_file.file: name for name, fetched_file in fetched.items()}
        options = AddOptions(names=names, refuse=refuse, stop=stop, workers=self._workers, wait_s=None)
        report = add(self.collection, list(names), options)
        for issue in report.failed:
            fetched_file = fetched[issue.name]
            fetched_file.result = fetched_file.result or ("damaged", issue.reason)
        for fetched_file in fetched.values():
            fetched_file.result = fetched_file.result or ("full_text", None)
        update_indexes(self.collection, wait=True)

    def _join_twin(self, name: str, paper: Paper, twin: Document) -> tuple[ReadOutcome, str | None]:
        """Let another document, whose file has the same bytes, stand for the paper in place of its description."""
        if not is_paper_meant(paper, self.collection.document_quotes(twin.name)[:_FIRST_QUOTES]):
            return "other_paper", _other_paper_note(paper)
        with self.collection.writer(None) as writer:
            writer.set_metadata(twin.name, merged_metadata(self.collection.document(twin.name), paper))
            with suppress(UsageError):  # another process has removed it
                writer.remove(name)
            self._refresh(writer)
        return "full_text", None

    def _refresh(self, writer: Writer) -> None:
        sync_indexes(self.collection, writer, CollectionPictures(self.collection))
        writer.finish_removals()

    def _text(self, document: Document, outcome: ReadOutcome, note: str | None = None) -> PaperText:
        quotes = self.collection.document_quotes(document.name)
        if outcome == "full_text":
            note = " ".join(document.warnings) or None
            text, pages = text_of_quotes(quotes), max(1, document.pages)
        else:
            text, pages = join_pages([described_in(quotes).abstract]), None
        return PaperText(outcome=outcome, text=text, document=document.name, pages=pages, note=note)


def _other_paper_note(paper: Paper) -> str:
    title = " ".join(paper.title.split())[:_SHOWN_TITLE]
    return f"The link leads to another paper: its first pages do not have the title “{title}”."
