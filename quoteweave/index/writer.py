"""Changing a collection: documents in and out, what failed, and derived indexes."""

import hashlib
import json
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.errors import DamagedDocument
from quoteweave.core.records import Document, ParsedDocument, Quote, Record
from quoteweave.index.folder import Folder
from quoteweave.index.manifests import manifest_of
from quoteweave.index.records import Failure, IndexState, Origin
from quoteweave.index.segment_builder import IndexedDocument
from quoteweave.index.segment_store import SegmentStore
from quoteweave.index.selection import require_documents

_DOCUMENT = """INSERT INTO documents (name, root, source, record, checksum)
VALUES (?1, ?2, ?3, ?4, row_checksum(?4, ?1, ?2, ?3))"""
_PAGE = "INSERT INTO pages VALUES (?1, ?2, ?3, row_checksum(?3, ?2))"
_QUOTE = """INSERT INTO quotes (id, document, page, kind, layout, image, record, checksum)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, row_checksum(?7, ?1, ?3, ?4, ?5, ?6))"""
_FAILURE = "INSERT OR REPLACE INTO failures VALUES (?1, ?2, row_checksum(?2, ?1))"
# Documents whose words are counted at once when the lexical index is made anew.
_AT_ONCE = 200
_SHARD = "INSERT OR REPLACE INTO shards (document, fingerprint, key) SELECT key, ?, ? FROM documents WHERE name = ?"


class Writer:
    """What the owner of the writer's lock may do, from one thread at a time; made by `Collection.writer`.

    Each method is one transaction: done, or not begun. All raise StorageError where the disk is full or refuses.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._segments = SegmentStore(folder.segments)

    def prepare(
        self, source: Path, *, name: str, format: str, origin: Origin, parsed: ParsedDocument
    ) -> "PreparedDocument":
        """All of a document that can be made ready before it is stored; its file is copied already.

        Quote ids get the document's id before them: the first 12 hexadecimal digits of SHA-256(name, NUL, content).
        Raises DocumentError where the file cannot be read, DamagedDocument where it has changed since it was parsed or
        where text or boxes cannot be stored, ValueError where pages or quotes of `parsed` come twice.
        """
        document = _document(name, format, origin, parsed)
        quotes = _named_quotes(document, parsed)
        return PreparedDocument(
            document=document,
            record=_json(document, name),
            root=_text(str(origin.root), name),
            pages=[(page.number, _json(page, name)) for page in parsed.pages],
            quotes=quotes,
            records=[_json(quote, name) for quote in quotes],
            source=self._folder.sources.put(source, origin.content),
        )

    def store(self, documents: Sequence["PreparedDocument"]) -> None:
        """Stores documents, each in place of one of the same name, and clears their failures.

        They can be searched by words as soon as they are listed. No two may have the same name.
        """
        names = [one.document.name for one in documents]
        with self._folder.catalog.write() as db:
            known = _known(db, names)
            db.executemany("DELETE FROM documents WHERE name = ?", ((name,) for name in known))
            db.executemany("DELETE FROM failures WHERE name = ?", ((name,) for name in names))
            indexed = [self._insert(db, one) for one in documents]
            self._segments.update(db, removed=known, added=indexed)
            _count_revision(db)
        self._prune_segments()

    def put(self, source: Path, *, name: str, format: str, origin: Origin, parsed: ParsedDocument) -> Document:
        """Prepares and stores one document. Raises what `prepare` and `store` raise."""
        prepared = self.prepare(source, name=name, format=format, origin=origin, parsed=parsed)
        self.store([prepared])
        return prepared.document

    def remove(self, *names: str) -> None:
        """Removes documents and all that belongs to them. Raises UsageError where there is none of a name."""
        with self._folder.catalog.write() as db:
            require_documents(db, names)
            db.executemany("DELETE FROM documents WHERE name = ?", ((name,) for name in names))
            self._segments.update(db, removed=set(names))
            _count_revision(db)
        self._prune_segments()

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> Document:
        """Replaces a document's metadata; its quotes and their rows stay. Raises UsageError for an unknown name."""
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            query = "SELECT record FROM checked_documents WHERE name = ?"
            (record,) = db.execute(query, (name,)).fetchone()
            old = Document.model_validate_json(record)
            new = old.model_copy(update={"metadata": dict(metadata)})
            if new != old:
                update = """UPDATE documents SET record = ?1, checksum = row_checksum(?1, name, root, source)
                WHERE name = ?2"""
                db.execute(update, (_json(new, name), name))
                _count_revision(db)
        return new

    def describe(self, words: Mapping[str, Mapping[str, str]]) -> None:
        """Says of image quotes what a vision model wrote of them: by document, quote id to `vlm_text`.

        All quotes of these documents get new rows, in their order, for a row in an index stands for what the quote said
        then. Raises UsageError for an unknown name, DamagedDocument for text that cannot be stored.
        """
        with self._folder.catalog.write() as db:
            require_documents(db, words)
            indexed = [_described(db, name, of_document) for name, of_document in words.items()]
            self._segments.update(db, removed=set(words), added=indexed)
            _count_revision(db)
        self._prune_segments()

    def move(self, name: str, root: Path) -> None:
        """Says that a document's file is now below another folder. Raises UsageError for an unknown name."""
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            update = """UPDATE documents
            SET root = ?1, checksum = row_checksum(verified(checksum, record, name, root, source), name, ?1, source)
            WHERE name = ?2"""
            db.execute(update, (_text(str(root), name), name))

    def fail(self, name: str, *, root: Path, reason: str, content: str | None) -> None:
        """Records why a file did not become a document, in place of an earlier reason. Any document stays."""
        failure = Failure(
            name=_printable(name),
            root=Path(_printable(str(root))),
            reason=_printable(reason),
            content=content,
            time=time.time(),
        )
        with self._folder.catalog.write() as db:
            db.execute(_FAILURE, (failure.name, failure.model_dump_json()))

    def clear_failure(self, name: str) -> None:
        """Forgets a failure, if there is one of that name."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM failures WHERE name = ?", (_printable(name),))

    def keep_shards(self, fingerprint: str, keys: Mapping[str, str]) -> None:
        """Says that a document's vectors of an encoder are that shard, so that it stays as long as the document.

        Raises UsageError for an unknown name.
        """
        with self._folder.catalog.write() as db:
            require_documents(db, keys)
            db.executemany(_SHARD, ((fingerprint, key, name) for name, key in keys.items()))

    def forget_parts(self, fingerprint: str, name: str) -> None:
        """Says that the parts of a document's shard (`part_of`) are not needed any more."""
        query = "DELETE FROM shards WHERE fingerprint GLOB ? AND document IN (SELECT key FROM documents WHERE name = ?)"
        with self._folder.catalog.write() as db:
            db.execute(query, (f"{fingerprint}.*", name))

    def drop_shard(self, fingerprint: str, key: str) -> None:
        """Says that no document has that shard, which is damaged."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM shards WHERE fingerprint = ? AND key = ?", (fingerprint, key))

    def put_source(self, source: Path, content: str) -> str:
        """Stores the file of a document again. Raises as `put`."""
        return self._folder.sources.put(source, content)

    def publish(self, name: str, fingerprint: str, *, build: Callable[[Path], None], revision: int) -> IndexState:
        """Has `build` fill an empty folder with a derived index, and makes it the current one of that fingerprint.

        `revision` is that of the documents which it is built from. Until it is current the one before stays so; then
        that one is removed. Raises what `build` raises, and ValueError for a fingerprint that cannot name a folder.
        """
        generations = self._folder.generations
        with self._folder.catalog.read() as db:
            (after,) = db.execute("SELECT generation FROM state").fetchone()
        generation = generations.add(fingerprint, build, after=after)
        with self._folder.catalog.write() as db:
            insert = "INSERT OR REPLACE INTO indexes (fingerprint, name, generation, revision) VALUES (?, ?, ?, ?)"
            db.execute(insert, (fingerprint, name, generation, revision))
            db.execute("UPDATE state SET generation = ?", (generation,))
        self._prune_generations()
        folder = generations.path(fingerprint, generation)
        return IndexState(name=name, fingerprint=fingerprint, generation=generation, revision=revision, folder=folder)

    def advance(self, fingerprint: str, revision: int) -> None:
        """Says that an index, as it is, fits the documents of that revision."""
        with self._folder.catalog.write() as db:
            db.execute("UPDATE indexes SET revision = ? WHERE fingerprint = ?", (revision, fingerprint))

    def drop_index(self, fingerprint: str, *, keep_shards: bool = False) -> None:
        """Removes a derived index, and its shards unless another uses them; nothing happens where there is none.

        An index's shards have its fingerprint, or what stands before the dot in it.
        """
        shards = _shards_of(fingerprint)
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM indexes WHERE fingerprint = ?", (fingerprint,))
            left = {_shards_of(found) for (found,) in db.execute("SELECT fingerprint FROM indexes")}
            if shards not in left and not keep_shards:
                db.execute("DELETE FROM shards WHERE fingerprint = ? OR fingerprint GLOB ?", (shards, f"{shards}.*"))
        self._prune_generations()

    def prune(self) -> None:
        """Removes images, sources, shards and indexes that nothing refers to. Done when the writer ends."""
        shards: dict[str, set[str]] = defaultdict(set)
        with self._folder.catalog.read() as db:
            images = {key for (key,) in db.execute("SELECT DISTINCT image FROM quotes WHERE image IS NOT NULL")}
            sources = {key for (key,) in db.execute("SELECT source FROM documents")}
            for fingerprint, key in db.execute("SELECT fingerprint, key FROM shards"):
                shards[fingerprint].add(key)
            current = db.execute("SELECT fingerprint, name, generation, revision FROM indexes").fetchall()
        for fingerprint, name, generation, revision in current:
            folder = self._folder.generations.path(fingerprint, generation)
            state = IndexState(
                name=name, fingerprint=fingerprint, generation=generation, revision=revision, folder=folder
            )
            manifest = manifest_of(state)
            # An index that was not brought up to date may still read the vectors of a document that is gone.
            if manifest is not None:
                shards[_shards_of(fingerprint)].update(manifest.documents.values())
        self._folder.images.prune(images)
        self._folder.sources.prune(sources)
        self._folder.shards.prune(shards)
        self._prune_generations()
        self._prune_segments()

    def rebuild_lexical(self) -> None:
        """Makes the lexical index anew from the quotes of the catalogue, whatever is in its files."""
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM segments")
            names = [name for (name,) in db.execute("SELECT name FROM documents ORDER BY key")]
            for some in range(0, len(names), _AT_ONCE):
                indexed = [_indexed(db, name) for name in names[some : some + _AT_ONCE]]
                self._segments.update(db, added=indexed)
            _count_revision(db)
        self._prune_segments()

    def _insert(self, db: sqlite3.Connection, one: "PreparedDocument") -> IndexedDocument:
        key = db.execute(_DOCUMENT, (one.document.name, one.root, one.source, one.record)).lastrowid
        db.executemany(_PAGE, ((key, number, page) for number, page in one.pages))
        return _insert_quotes(db, key, one.document.name, one.quotes, one.records)

    def _prune_segments(self) -> None:
        with self._folder.catalog.read() as db:
            self._segments.prune({name for (name,) in db.execute("SELECT name FROM segments")})

    def _prune_generations(self) -> None:
        with self._folder.catalog.read() as db:
            current = dict(db.execute("SELECT fingerprint, generation FROM indexes").fetchall())
        self._folder.generations.prune(current)


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document that is ready to be stored."""

    document: Document
    record: str
    root: str
    pages: Sequence[tuple[int, str]]
    """Number and record of each."""
    quotes: Sequence[Quote]
    records: Sequence[str]
    """Of the quotes."""
    source: str
    """Key of the stored copy of its file."""


def part_of(fingerprint: str, number: int) -> str:
    """The fingerprint under which the parts of shards that are not whole yet are stored."""
    return f"{fingerprint}.{number}"


def document_id(name: str, content: str) -> str:
    """The id of the document of that name whose file has that SHA-256."""
    return hashlib.sha256(f"{name}\0{content}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _shards_of(fingerprint: str) -> str:
    """The fingerprint of an index's shards: what stands before the dot."""
    return fingerprint.partition(".")[0]


def _known(db: sqlite3.Connection, names: Sequence[str]) -> set[str]:
    """Those of the names that are documents'."""
    query = "SELECT name FROM documents WHERE name IN (SELECT value FROM json_each(?))"
    return {name for (name,) in db.execute(query, (json.dumps(names),))}


def _insert_quotes(
    db: sqlite3.Connection, key: int | None, name: str, quotes: Sequence[Quote], records: Sequence[str]
) -> IndexedDocument:
    rows = ((q.id, key, q.page, q.kind, q.layout, q.image, record) for q, record in zip(quotes, records, strict=True))
    db.executemany(_QUOTE, rows)
    return IndexedDocument(name, _rows(db, key), quotes)


def _rows(db: sqlite3.Connection, key: int | None) -> list[int]:
    return [row for (row,) in db.execute("SELECT row FROM quotes WHERE document = ? ORDER BY row", (key,))]


def _stored_quotes(db: sqlite3.Connection, name: str) -> tuple[int, list[Quote]]:
    """A document's key and its quotes, in the order of their rows."""
    (key,) = db.execute("SELECT key FROM documents WHERE name = ?", (name,)).fetchone()
    records = db.execute("SELECT record FROM checked_quotes WHERE document = ? ORDER BY row", (key,))
    return key, [Quote.model_validate_json(record) for (record,) in records]


def _indexed(db: sqlite3.Connection, name: str) -> IndexedDocument:
    key, quotes = _stored_quotes(db, name)
    return IndexedDocument(name, _rows(db, key), quotes)


def _described(db: sqlite3.Connection, name: str, words: Mapping[str, str]) -> IndexedDocument:
    key, quotes = _stored_quotes(db, name)
    quotes = [quote.model_copy(update={"vlm_text": words.get(quote.id, quote.vlm_text)}) for quote in quotes]
    db.execute("DELETE FROM quotes WHERE document = ?", (key,))
    return _insert_quotes(db, key, name, quotes, [_json(quote, name) for quote in quotes])


def _document(name: str, format: str, origin: Origin, parsed: ParsedDocument) -> Document:
    return Document(
        id=document_id(name, origin.content),
        name=name,
        content=origin.content,
        format=format,
        parser=origin.parser,
        pages=len(parsed.pages),
        quotes=len(parsed.quotes),
        metadata=origin.metadata,
        warnings=parsed.warnings,
    )


def _named_quotes(document: Document, parsed: ParsedDocument) -> list[Quote]:
    pages = {page.number for page in parsed.pages}
    if len(pages) < len(parsed.pages):
        raise ValueError(f"the parser of {document.name!r} gave a page twice")
    ids = set()
    for quote in parsed.quotes:
        if quote.page not in pages or quote.id in ids:
            raise ValueError(f"the parser of {document.name!r} gave quote {quote.id!r} twice, or on no page")
        ids.add(quote.id)
    return [
        quote.model_copy(update={"id": f"{document.id}:{quote.id}", "document": document.name})
        for quote in parsed.quotes
    ]


def _json(record: Record, name: str) -> str:
    # Read back at once: JSON holds neither lone surrogates nor boxes at infinity, and the reader must never find out.
    try:
        text = record.model_dump_json(exclude_defaults=True)
        if type(record).model_validate_json(text) == record:
            return text
    except ValueError:
        pass
    what = f"quote {record.id}" if isinstance(record, Quote) else f"its {type(record).__name__.lower()} record"
    raise DamagedDocument(f"{name!r} cannot be stored: {what} holds text or numbers that are not valid")


def _text(value: str, name: str) -> str:
    if _printable(value) != value:
        raise DamagedDocument(f"{name!r} cannot be stored: the path {value!r} is not valid Unicode; rename that folder")
    return value


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _count_revision(db: sqlite3.Connection) -> None:
    db.execute("UPDATE state SET revision = revision + 1")
