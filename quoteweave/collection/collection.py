"""A collection: documents, their quotes and images, and the indexes made from them, in one folder."""

import json
import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from quoteweave.collection.arrays import np
from quoteweave.collection.catalog.recent_reads import RecentReads
from quoteweave.collection.catalog.stored_indexes import index_states
from quoteweave.collection.catalog.stored_words import words_of_page
from quoteweave.collection.filters import require_documents, select_rows, unread_files_note
from quoteweave.collection.folder import CollectionFolder, check_format, make_folder
from quoteweave.collection.prepared import escape_invalid_unicode
from quoteweave.collection.records import CollectionCounts, Failure, IndexState, Origin
from quoteweave.collection.removals import has_unfinished_removals
from quoteweave.collection.segments.store import has_other_rules
from quoteweave.collection.storage_errors import damage_error
from quoteweave.collection.stores.content import ImageStore, SourceStore
from quoteweave.collection.stores.image_texts import OcrTextStore
from quoteweave.collection.stores.unfinished import UnfinishedStore
from quoteweave.collection.stores.vectors import ShardStore
from quoteweave.collection.unreferenced import remove_unlisted
from quoteweave.collection.writer import Writer
from quoteweave.collection.writer_lock import writer_lock
from quoteweave.core.errors import CollectionExists, QuoteNotFound, StorageError, UsageError
from quoteweave.core.records import HEADERS_AND_FOOTERS, Document, Filter, Page, PageWords, Quote

if TYPE_CHECKING:
    from quoteweave.collection.views import Rows

_PAGES = "SELECT record FROM checked_pages WHERE document = (SELECT key FROM documents WHERE name = ?) ORDER BY number"
_PAGE = "SELECT record FROM checked_pages WHERE document = (SELECT key FROM documents WHERE name = ?) AND number = ?"
_QUOTE = "SELECT record FROM checked_quotes WHERE id = ?"
_QUOTES = "SELECT record FROM checked_quotes WHERE document = (SELECT key FROM documents WHERE name = ?) ORDER BY row"
# Records are JSON: only those that contain the string as JSON writes it are parsed. GLOB takes a third of instr's time.
_CONTAINING = """
SELECT row FROM quotes
WHERE row BETWEEN :first AND coalesce(:last, 9223372036854775807) AND record GLOB :written AND EXISTS (
  SELECT * FROM json_each(record) WHERE key IN ('text', 'caption', 'ocr_text') AND instr(value, :text))
ORDER BY row"""
_COUNTS = """
SELECT 'documents', NULL, count(*) FROM documents
UNION ALL SELECT 'pages', NULL, count(*) FROM pages
UNION ALL SELECT kind, layout, count(*) FROM quotes GROUP BY kind, layout
"""
_RETRIEVABLE = """
SELECT quotes.row, quotes.page FROM quotes
WHERE document = ? AND layout NOT IN (SELECT value FROM json_each(?)) ORDER BY row
"""


class Collection:
    """A collection folder: readable by any number of threads, and writable, through `writer`, by one writer at a time.

    Get one with `open`, `create` or `open_or_create`; close it, or use it in a `with` statement. Every method sees one
    committed state, whatever is written meanwhile. All raise CollectionError where the catalogue is damaged or cannot
    be read, and UsageError, with similar names, for a document that does not exist.

    >>> with Collection.open("my-collection") as collection:
    ...     [document.name for document in collection.documents()]
    ['port.md']
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._folder = CollectionFolder(root)
        self._catalog = self._folder.catalog
        self._recent = RecentReads(self._catalog)

    @classmethod
    def open(cls, root: Path | str) -> Self:
        """The collection at `root`. Raises CollectionNotFound, or FormatMismatch where its format is another version's.

        Verifying the catalogue begins in the background; the first read waits for it, and raises if it is damaged.
        """
        root = Path(root)
        check_format(root)
        collection = cls(root)
        collection._catalog.verify_early()
        return collection

    @classmethod
    def create(cls, root: Path | str) -> Self:
        """A new, empty collection at `root`, which must be a new or an empty folder.

        Raises CollectionExists where one is there already, CollectionError where the folder holds other things, and
        StorageError where the disk refuses.
        """
        root = Path(root)
        if not make_folder(root):
            raise CollectionExists(f"a collection is at {root} already; open it, or name a new or an empty folder")
        return cls.open(root)

    @classmethod
    def open_or_create(cls, root: Path | str) -> Self:
        """The collection at `root`, created if that is a new or an empty folder.

        Raises FormatMismatch, CollectionError where the folder holds other things, and StorageError.
        """
        make_folder(Path(root))
        return cls.open(root)

    def close(self) -> None:
        """Close the catalogue; reading afterwards raises ValueError."""
        self._catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def catalog_path(self) -> Path:
        """The file that holds documents, pages and quotes."""
        return self._catalog.path

    @property
    def images(self) -> ImageStore:
        """The crops that quotes refer to by key."""
        return self._folder.images

    @property
    def sources(self) -> SourceStore:
        """Copies of the added files; those that no document refers to are removed when a writer ends."""
        return self._folder.sources

    @property
    def ocr_texts(self) -> OcrTextStore:
        """The texts that OCR read on crops after their documents were added."""
        return self._folder.ocr_texts

    @property
    def shards(self) -> ShardStore:
        """Embedding shards; those not assigned to a document by `Writer.keep_shards` go when a writer ends."""
        return self._folder.shards

    @property
    def unfinished(self) -> UnfinishedStore:
        """Pages of documents that are being read; those no longer wanted are removed when the writer ends."""
        return self._folder.unfinished

    @contextmanager
    def writer(self, wait_s: float | None = 0.0) -> Iterator[Writer]:
        """Hold the right to write until the block ends; unreferenced files are then removed, unless the block failed.

        If the disk refused to write, as where it is full, the files of documents that were not added are removed.
        Waits up to `wait_s` seconds for another writer to end; None waits for ever. Raises CollectionLocked, which
        names that writer, and StorageError where the folder cannot be written.
        """
        with writer_lock(self.root, wait_s):
            self._catalog.begin()
            writer = Writer(self._folder)
            writer.restore_lexical()
            try:
                yield writer
            except StorageError:
                with suppress(StorageError):
                    remove_unlisted(self._folder)
                raise
            writer.prune()
            self._folder.reserve.keep()
            # Where the checksum cannot be recorded, as on a full disk, the next writer records it.
            with suppress(StorageError):
                self._catalog.settle()

    def revision(self) -> int:
        """The revision number, which grows with each change to documents or their metadata; 0 for a new collection."""
        return self._recent.result("revision", lambda db: int(db.execute("SELECT revision FROM state").fetchone()[0]))

    def may_have_traces(self) -> bool:
        """Whether traces of removed documents may be left in the folder."""
        return has_unfinished_removals(self._folder)

    def counts(self) -> CollectionCounts:
        """How many documents, pages and quotes there are."""
        totals = {"documents": 0, "pages": 0}
        by_kind: dict[str, int] = {}
        by_layout: dict[str, int] = {}
        with self._catalog.read() as db:
            for kind, layout, count in db.execute(_COUNTS):
                if layout is None:
                    totals[kind] = count
                else:
                    by_kind[kind] = by_kind.get(kind, 0) + count
                    by_layout[layout] = by_layout.get(layout, 0) + count
            return CollectionCounts.model_validate({**totals, "by_kind": by_kind, "by_layout": by_layout})

    def documents(self) -> list[Document]:
        """Every document, by name."""
        with self._catalog.read() as db:
            rows = db.execute("SELECT record FROM checked_documents ORDER BY name")
            return [Document.model_validate_json(record) for (record,) in rows]

    def document(self, name: str) -> Document:
        """The document of that name."""
        with self._catalog.read() as db:
            require_documents(db, [name])
            query = "SELECT record FROM checked_documents WHERE name = ?"
            (record,) = db.execute(query, (name,)).fetchone()
            return Document.model_validate_json(record)

    def check_filter(self, where: Filter) -> None:
        """Raise UsageError, with similar names, for a filter that names an unknown document."""
        with self._catalog.read() as db:
            require_documents(db, where.documents or ())

    def origins(self) -> dict[str, Origin]:
        """Where each document comes from, by name."""
        with self._catalog.read() as db:
            rows = db.execute("SELECT root, path, record FROM checked_documents ORDER BY name").fetchall()
            documents = [(Path(root), path, Document.model_validate_json(record)) for root, path, record in rows]
        return {
            document.name: Origin(
                root=root,
                path=path,
                content=document.content,
                parser=document.parser,
                metadata=document.metadata,
                linked_files=document.linked_files,
            )
            for root, path, document in documents
        }

    def source_file(self, name: str) -> Path:
        """The stored copy of a document's file, verified. Raises CollectionError where it is missing or damaged."""
        with self._catalog.read() as db:
            require_documents(db, [name])
            query = "SELECT source, record FROM checked_documents WHERE name = ?"
            (key, _) = db.execute(query, (name,)).fetchone()
        return self._folder.sources.verified(key, name)

    def source_keys(self) -> dict[str, str]:
        """The key of each document's stored file, for `source_file_by_key`, by the document's name."""
        with self._catalog.read() as db:
            return {name: key for name, key, _ in db.execute("SELECT name, source, record FROM checked_documents")}

    def source_file_by_key(self, key: str) -> Path:
        """A stored file, verified. Raises CollectionError where it is missing or damaged."""
        return self._folder.sources.verified(key)

    def failures(self) -> list[Failure]:
        """Files that could not become documents, by name."""
        with self._catalog.read() as db:
            rows = db.execute("SELECT record FROM checked_failures ORDER BY name")
            return [Failure.model_validate_json(record) for (record,) in rows]

    def unread_files_note(self, where: Filter | None = None) -> str | None:
        """A note on how many files that the filter may admit could not be read; None where all were."""
        names = where.documents if where else None
        return self._recent.result(("unread", names), lambda db: unread_files_note(db, where, self.root))

    def pages(self, name: str) -> list[Page]:
        """A document's pages, in order."""
        with self._catalog.read() as db:
            require_documents(db, [name])
            return [Page.model_validate_json(record) for (record,) in db.execute(_PAGES, (name,))]

    def page(self, name: str, number: int) -> Page:
        """A document's page (from 0). Raises UsageError where the document has no such page."""
        with self._catalog.read() as db:
            row = db.execute(_PAGE, (name, number)).fetchone()
            if row is None:
                require_documents(db, [name])
                raise UsageError(f"{name!r} has no page {number} (counted from 0)")
            return Page.model_validate_json(row[0])

    def page_quotes(self, name: str, number: int) -> list[Quote]:
        """The quotes of a document's page (from 0), as its parser ordered them; headers and footers included."""
        on_page = Filter(documents=(name,), first_page=number, last_page=number)
        return self.quotes(on_page, retrievable_only=False)

    def page_words(self, name: str, number: int) -> PageWords | None:
        """The words of a document's page (from 0), with their boxes.

        None where they are not known: for formats without pages of their own, for what other tools parsed, and for
        documents that an earlier version added, until the next `add` of their files. Raises UsageError where the
        document has no such page.
        """
        with self._catalog.read() as db:
            require_documents(db, [name])
            try:
                return words_of_page(db, name, number)
            except ValueError as error:
                raise damage_error(self.catalog_path, str(error)) from error

    def quote(self, id: str) -> Quote:
        """The quote of that id. Raises QuoteNotFound."""
        with self._catalog.read() as db:
            row = db.execute(_QUOTE, (escape_invalid_unicode(id),)).fetchone()
            if row is None:
                raise QuoteNotFound(f"no quote has the id {id!r}; its document may have been changed or removed since")
            return Quote.model_validate_json(row[0])

    def quotes(self, where: Filter | None = None, *, retrievable_only: bool = True) -> list[Quote]:
        """The quotes that pass the filter, by row; without headers and footers unless asked."""
        return self._recent.matching(where, retrievable_only=retrievable_only)

    def document_quotes(self, name: str) -> list[Quote]:
        """A document's quotes, page by page, as its parser ordered them; headers and footers included."""
        with self._catalog.read() as db:
            require_documents(db, [name])
            return [Quote.model_validate_json(record) for (record,) in db.execute(_QUOTES, (name,))]

    def iter_documents_quotes(self) -> Iterator[tuple[Document, list[int], list[Quote]]]:
        """Yield each document, by name, with the rows of its quotes and all its quotes, headers and footers included.

        All are of one committed state, and one document at a time is in memory.
        """
        with self._catalog.read() as db:
            documents = db.execute("SELECT key, record FROM checked_documents ORDER BY name")
            for key, document in documents:
                quotes_query = "SELECT row, record FROM checked_quotes WHERE document = ? ORDER BY row"
                rows = db.execute(quotes_query, (key,)).fetchall()
                quotes = [Quote.model_validate_json(record) for _, record in rows]
                yield Document.model_validate_json(document), [row for row, _ in rows], quotes

    def iter_retrievable_rows(self) -> "Iterator[tuple[str, Rows, Rows]]":
        """Yield each document's name, the rows of its quotes that retrievers may return, ascending, and their pages.

        All are of one committed state, and one document at a time is in memory.
        """
        excluded = json.dumps(sorted(HEADERS_AND_FOOTERS))
        with self._catalog.read() as db:
            for key, name in db.execute("SELECT key, name FROM documents ORDER BY name"):
                pairs = np.array(db.execute(_RETRIEVABLE, (key, excluded)).fetchall(), dtype=np.int64).reshape(-1, 2)
                yield name, pairs[:, 0], pairs[:, 1]

    def shard_keys(self, fingerprint: str) -> dict[str, str]:
        """The encoder's shard that `Writer.keep_shards` assigned to each document, by the document's name."""
        query = "SELECT name, shards.key FROM shards JOIN documents ON documents.key = document WHERE fingerprint = ?"
        with self._catalog.read() as db:
            return dict(db.execute(query, (fingerprint,)).fetchall())

    def select(self, where: Filter | None = None, *, retrievable_only: bool = True) -> "Rows":
        """Rows of the quotes that pass the filter, ascending, as int64; without headers and footers unless asked."""
        with self._catalog.read() as db:
            return select_rows(db, where, retrievable_only=retrievable_only)

    def quotes_at(self, rows: Sequence[int]) -> list[Quote | None]:
        """The quote of each row, in the order given; None where it has been removed."""
        row_numbers = [int(row) for row in rows]
        quotes = self._recent.at(row_numbers)
        return [quotes.get(row) for row in row_numbers]

    def rows_containing(self, text: str, *, first: int = 0, last: int | None = None) -> "Rows":
        """Rows of the quotes whose text, caption or OCR text contains exactly this string, ascending, as int64.

        Every record from row `first` to row `last` is read, so the time grows with the number of quotes.
        """
        # In brackets, the wildcards of GLOB stand for themselves.
        json_text = re.sub(r"([*?[])", r"[\1]", json.dumps(text, ensure_ascii=False)[1:-1])
        parameters = {"written": f"*{json_text}*", "text": text, "first": first, "last": last}
        with self._catalog.read() as db:
            return np.fromiter((row for (row,) in db.execute(_CONTAINING, parameters)), dtype=np.int64)

    def segments(self) -> tuple[list[Path], int]:
        """The files of the lexical index, and the number of documents in them, which are all those of the catalogue."""

        def read(db: sqlite3.Connection) -> tuple[list[Path], int]:
            rows = db.execute("SELECT name FROM segments ORDER BY number").fetchall()
            (count,) = db.execute("SELECT count(*) FROM documents").fetchone()
            return [self._folder.segments.root / name for (name,) in rows], count

        return self._recent.result("segments", read)

    def has_older_segments(self) -> bool:
        """Whether the lexical index was made by another version, whose rules differ from this version's.

        It is searched as it is until the next writer rebuilds it.
        """
        return self._recent.result("rules", has_other_rules)

    def index_state(self, fingerprint: str) -> IndexState | None:
        """The current index of that fingerprint; None where there is none, or where its folder is gone."""
        previous_state = None
        while True:
            state = next(iter(self._index_states(fingerprint)), None)
            # The folder may be gone because the next generation has just replaced it: then look again.
            if state is None or state.folder.is_dir():
                return state
            if state == previous_state:
                return None
            previous_state = state

    def indexes(self) -> list[IndexState]:
        """The current index of each fingerprint, by name, including damaged and lost ones."""
        states = self._index_states()
        return [state if state.folder.is_dir() else self.index_state(state.fingerprint) or state for state in states]

    def _index_states(self, only: str | None = None) -> list[IndexState]:
        with self._catalog.read() as db:
            return index_states(db, self._folder.generations, only)
