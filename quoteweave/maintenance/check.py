"""Verifies everything in a collection, and reports what is damaged, missing or unreferenced."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from quoteweave.collection.catalog.database import Catalog
from quoteweave.collection.catalog.file_checksum import count_lost, describe_lost, verify_catalog
from quoteweave.collection.catalog.stored_indexes import index_states
from quoteweave.collection.catalog.stored_words import read_words
from quoteweave.collection.checksums import CHECKSUMS, row_checksum, unsealed_record
from quoteweave.collection.collection import Collection
from quoteweave.collection.folder import (
    LEXICAL_FOLDER,
    RECOVERED_FOLDER,
    CollectionFolder,
    check_format,
    require_readable,
)
from quoteweave.collection.records import IndexPlan, IndexState
from quoteweave.collection.segments.segment import read_segment
from quoteweave.collection.storage_errors import OTHER_VERSION, DamagedFile, renewal_advice
from quoteweave.collection.stores.content import ContentStore
from quoteweave.collection.stores.generations import PLAN, try_read_manifest
from quoteweave.collection.stores.image_texts import (
    DESCRIPTIONS,
    DamagedLine,
    Description,
    lost_note,
    read_descriptions,
    stored_descriptions,
)
from quoteweave.collection.unreferenced import unfinished_pages, unreferenced_files
from quoteweave.collection.writer_lock import OWNER_NAME, find_link, is_being_written
from quoteweave.core.errors import CollectionError, CollectionLocked, EndpointError, MissingExtra, QuoteweaveError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Document, Page, Quote, Record
from quoteweave.index.maxsim.item_table import ItemTable
from quoteweave.index.opening import open_generation

DamagedPart = Literal[
    "header", "catalogue", "document", "source", "picture", "ocr text", "description", "vectors", "index"
]
Damages = Iterator["Damage"]


class Damage(Record):
    """One thing that is damaged or missing."""

    part: DamagedPart
    file: str = Field(description="path within the collection")
    what: str = Field(description="what is wrong with it, or has been lost, a sentence")
    document: str | None = Field(default=None, description="name of the document that it concerns, if one")
    repaired: bool = False
    advice: str = Field(default="", description="what to do about it")


class CheckReport(Record):
    """The result of a check."""

    files: int = Field(default=0, description="how many were read")
    damaged: tuple[Damage, ...] = ()
    notes: tuple[str, ...] = Field(
        default=(),
        description="what could not be checked, indexes that are out of date, and how many files were not read",
    )
    leftovers: tuple[str, ...] = Field(
        default=(), description="files that nothing refers to; the next command that writes removes them"
    )

    @property
    def whole(self) -> bool:
        """Whether everything is intact or was repaired."""
        return all(damage.repaired for damage in self.damaged)


def check(root: Path, on_file: Callable[[int], None] = lambda _: None) -> CheckReport:
    """Verify every file of the collection at `root`; `on_file` gets the number of files left.

    Raises CollectionError only if `root` is no collection or has another format, or if a file may not be read by this
    user. The latter does not count as damage, as a repair would replace the file.
    """
    require_readable(root)
    return _Check(root, on_file).run()


class _Check:
    """The state of one check."""

    def __init__(self, root: Path, on_file: Callable[[int], None]) -> None:
        self.root, self._on_file = root, on_file
        self._folder = CollectionFolder(root)
        self._files_left = sum(path.is_file() for path in root.rglob("*"))
        self._files = 0
        self._notes: list[str] = []
        self._stored_descriptions: list[str] = []
        self._known_paths: set[Path] = set()

    def run(self) -> CheckReport:
        damaged = [*self._header(), *check_catalogue(self._folder.catalog.path)]
        self._visit(self._folder.catalog.path)
        leftovers: list[str] = []
        link = find_link(self.root)
        if link is not None:
            self._notes.append(f"{self._place(Path(link))} is a link: nothing is written until it is replaced")
        if not damaged:  # a damaged catalogue does not say what should be there
            with closing(self._folder.catalog), Collection(self.root) as collection:
                damaged += [*self._contents(collection), *self._shards(), *self._segments(collection)]
                damaged += [*self._indexes(collection), *self._ocr_texts(), *self._descriptions()]
                leftovers = self._leftovers()
                if (unread := collection.unread_files_note()) is not None:
                    self._notes.append(unread)
        return CheckReport(
            files=self._files, damaged=tuple(damaged), notes=tuple(self._notes), leftovers=tuple(leftovers)
        )

    def _visit(self, path: Path) -> Path:
        """Count a file that is about to be read, and remember it as known; return its path."""
        self._known_paths.add(path)
        self._files += 1
        self._files_left -= 1
        self._on_file(self._files_left)
        return path

    def _header(self) -> Damages:
        header = self._visit(self.root / "collection.json")
        try:
            check_format(self.root)
        except DamagedFile:
            problem = "its content is not what was written" if header.exists() else "it is missing"
            yield Damage(part="header", file=header.name, what=problem)

    def _contents(self, collection: Collection) -> Damages:
        for failure in collection.failures():
            if failure.lost is not None:
                problem = f"the document {failure.name!r} is lost: {failure.reason}"
                yield Damage(part="document", file=self._folder.catalog.path.name, what=problem, document=failure.name)
        for document in collection.documents():
            yield from self._content(collection, document)

    def _content(self, collection: Collection, document: Document) -> Damages:
        with self._folder.catalog.read() as db:
            (source,) = db.execute("SELECT source FROM documents WHERE name = ?", (document.name,)).fetchone()
        yield from self._stored("source", self._folder.sources, source, document.name)
        quotes = collection.document_quotes(document.name)
        self._stored_descriptions += stored_descriptions(document, quotes)
        for key in dict.fromkeys(quote.image for quote in quotes):
            if key is not None and collection.images.path(key) not in self._known_paths:
                yield from self._stored("picture", collection.images, key, document.name)

    def _stored(self, part: DamagedPart, folder: ContentStore, key: str, document: str) -> Damages:
        path = self._visit(folder.path(key))
        try:
            ContentStore(folder.root).verified(key)
        except CollectionError:
            problem = "it is missing" if not path.exists() else "its content is not what was written"
            yield Damage(part=part, file=self._place(path), what=problem, document=document)

    def _shards(self) -> Damages:
        with self._folder.catalog.read() as db:
            query = "SELECT name, fingerprint, shards.key FROM shards JOIN documents ON documents.key = document"
            documents_with_shards = db.execute(query).fetchall()
        for document, fingerprint, key in documents_with_shards:
            path = self._folder.shards.path(fingerprint, key)
            if path not in self._known_paths:
                self._visit(path)
                problem = self._folder.shards.damage(fingerprint, key)
                if problem is not None:
                    yield Damage(part="vectors", file=self._place(path), what=problem, document=document)

    def _segments(self, collection: Collection) -> Damages:
        """Verify the lexical index: its files, and that they hold the documents of the catalogue."""
        indexed: list[str] = []
        rows: list[int] = []
        is_intact = True
        for path in collection.segments()[0]:
            try:
                segment = read_segment(self._visit(path))
            except FileNotFoundError:
                is_intact = False
                yield Damage(part="index", file=self._place(path), what="it is missing")
            except (CollectionError, OSError):
                is_intact = False
                yield Damage(part="index", file=self._place(path), what="its content is not what was written")
            else:
                indexed += segment.names
                rows += segment.rows.tolist()
        if collection.has_older_segments():
            self._notes.append(f"{OTHER_VERSION}; {renewal_advice(self.root)}")
        names = [document.name for document in collection.documents()]
        if not is_intact:
            return
        if sorted(indexed) != names or sorted(rows) != collection.select().tolist():
            yield Damage(part="index", file=LEXICAL_FOLDER, what="it does not hold the documents of the catalogue")

    def _indexes(self, collection: Collection) -> Damages:
        with self._folder.catalog.read() as db:
            states = index_states(db, self._folder.generations)
        for state in states:
            folder = state.folder
            for path in folder.rglob("*"):
                if path.is_file():
                    self._visit(path)
            try:
                self._open_index(collection, state)
            except (MissingExtra, EndpointError, CollectionLocked) as error:  # the files may still be intact
                self._notes.append(f"the index {state.name} was not opened: {error}")
            except QuoteweaveError as error:
                yield Damage(part="index", file=self._place(folder), what=str(error))
            yield from self._plan(state)
            if state.revision != collection.revision():
                self._notes.append(f"the index {state.name} is out of date: it lacks what has changed since")

    def _plan(self, state: IndexState) -> Damages:
        path = state.folder.parent / PLAN
        try:
            unsealed_record(IndexPlan, self._visit(path).read_bytes())
        except FileNotFoundError:
            if try_read_manifest(state) is not None:  # a missing manifest is reported already
                yield Damage(part="index", file=self._place(path), what="it is missing")
        except (OSError, ValueError):
            yield Damage(part="index", file=self._place(path), what="its content is not what was written")

    def _open_index(self, collection: Collection, state: IndexState) -> None:
        """Read all of an index. Raises CollectionError if it is damaged."""
        manifest = try_read_manifest(state)
        opened = open_generation(collection, state)
        if manifest is not None and manifest.multi_vector:
            for checksums in state.folder.rglob(CHECKSUMS):
                if checksums.with_name("files.json").exists():
                    ItemTable.open(checksums.parent).verify()
        del opened

    def _ocr_texts(self) -> Damages:
        """Verify the OCR texts of crops that were read after their documents were added."""
        for path in self._folder.ocr_texts.damaged(on_file=self._visit):
            yield Damage(part="ocr text", file=self._place(path), what="its content is not what was written")

    def _descriptions(self) -> Damages:
        path = self.root / DESCRIPTIONS
        try:
            entries = [*read_descriptions(self._visit(path))] if path.exists() else []
        except OSError as error:
            yield Damage(part="description", file=path.name, what=f"it cannot be read ({error.strerror or error})")
            return
        lines = [line for line in entries if isinstance(line, DamagedLine)]
        texts = {entry.text for entry in entries if isinstance(entry, Description)}
        if not lines and (note := lost_note(self.root, self._stored_descriptions, texts)):
            self._notes.append(note)
        for line in lines:
            if line.cut:
                note = "is cut short; quoteweave describe asks for its picture again"
                self._notes.append(f"{path.name}: line {line.number} {note}")
            else:
                yield Damage(part="description", file=path.name, what=f"line {line.number} is not what was written")

    def _leftovers(self) -> list[str]:
        """List files that nothing refers to, and note files that only seem so."""
        if pages := sum(1 for _ in unfinished_pages(self._folder)):
            kept_pages = pluralize(pages, "page is", "pages are")
            self._notes.append(f"{kept_pages} kept of documents that were not read to their end; the same add goes on")
        if recovered := sum(path.is_file() for path in (self.root / RECOVERED_FOLDER).glob("*")):
            files = pluralize(recovered, "file", "files")
            explanation = (
                "whose documents' names a damaged catalogue has lost: add what you want to keep, and delete the rest"
            )
            self._notes.append(f"{RECOVERED_FOLDER}/ holds {files} {explanation}")
        leftovers = [*unreferenced_files(self._folder)]
        owner = self.root / OWNER_NAME
        if is_being_written(self.root):
            self._notes.append("a process is writing now: files that nothing refers to yet may be its own")
        elif owner.exists():  # left by a killed process
            leftovers.append(owner)
        return sorted(map(self._place, leftovers))

    def _place(self, path: Path) -> str:
        return path.relative_to(self.root).as_posix()


def check_catalogue(path: Path) -> Damages:
    """Find damage in the catalogue at `path`: in its bytes, SQLite's structures, its rows, and their records."""
    name = path.name
    try:
        verify_catalog(path, anew=True)
    except CollectionError:
        yield Damage(part="catalogue", file=name, what="its content is not what was written")
    try:
        with Catalog(path).unverified() as db:
            if lost := count_lost(path, db):
                yield Damage(part="catalogue", file=name, what=describe_lost(path, lost))
            for problem in _structure(db):
                yield Damage(part="catalogue", file=name, what=problem)
            for document, problem in _rows(db):
                yield Damage(part="catalogue", file=name, what=problem, document=document)
    except (sqlite3.Error, TypeError, ValueError, OverflowError) as error:
        problem = "something else is in its place" if path.is_dir() else f"it cannot be read: {error}"
        yield Damage(part="catalogue", file=name, what=problem)


def _structure(db: sqlite3.Connection) -> Iterator[str]:
    """Problems that SQLite's own checks find."""
    yield from (str(result) for (result,) in db.execute("PRAGMA integrity_check(20)") if result != "ok")
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        yield f"row {row} of its table {table} refers to a row of {parent} that is missing"
    (states,) = db.execute("SELECT count(*) FROM state WHERE typeof(revision) = 'integer'").fetchone()
    if states != 1:
        yield "it does not say its revision"


def _rows(db: sqlite3.Connection) -> Iterator[tuple[str | None, str]]:
    """Problems of documents' rows, each with the document's name."""
    documents = db.execute("SELECT key, name, root, path, source, record, checksum FROM documents").fetchall()
    for key, name, root, path, source, record, checksum in documents:
        try:
            if checksum != row_checksum(record, name, root, path, source):
                raise ValueError("its record is not what was written")
            document = Document.model_validate_json(record)
            read_pages(db, key, document)
            read_quotes(db, key, document)
            read_words(db, key, document)
        except (ValueError, TypeError) as error:
            reason = "a record is not valid" if isinstance(error, ValidationError) else str(error)
            yield str(name), f"the document {name!r}: {reason}"


def read_pages(db: sqlite3.Connection, key: int, document: Document) -> list[tuple[int, str, int]]:
    """Rows of a document's pages, verified: number, record, checksum. Raises ValueError."""
    query = "SELECT number, record, checksum FROM pages WHERE document = ? ORDER BY number"
    rows = db.execute(query, (key,)).fetchall()
    for number, record, checksum in rows:
        if checksum != row_checksum(record, number) or Page.model_validate_json(record).number != number:
            raise ValueError(f"page {number + 1} is not what was written")
    if len(rows) != document.pages:
        raise ValueError(f"it has {len(rows)} pages where there should be {document.pages}")
    return rows


def read_quotes(db: sqlite3.Connection, key: int, document: Document) -> list[tuple[object, ...]]:
    """Rows of a document's quotes, verified: row, id and what follows in the table. Raises ValueError."""
    query = "SELECT row, id, page, kind, layout, image, record, checksum FROM quotes WHERE document = ? ORDER BY row"
    rows = db.execute(query, (key,)).fetchall()
    for _, id, *columns, record, checksum in rows:
        if checksum != row_checksum(record, id, *columns):
            raise ValueError(f"quote {id} is not what was written")
        quote = Quote.model_validate_json(record)
        if quote.document != document.name or quote.page >= max(document.pages, 1):
            raise ValueError(f"quote {id} is not one of its own")
    if len(rows) != document.quotes:
        raise ValueError(f"it has {len(rows)} quotes where there should be {document.quotes}")
    return rows
