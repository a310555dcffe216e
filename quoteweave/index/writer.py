"""Changing a collection: documents in and out, what failed, and derived indexes."""

import hashlib
import sqlite3
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from quoteweave.core.errors import DamagedDocument
from quoteweave.core.records import Document, ParsedDocument, Quote, Record
from quoteweave.index.folder import Folder
from quoteweave.index.manifests import manifest_of
from quoteweave.index.records import Failure, IndexState, Origin
from quoteweave.index.selection import require_documents

_QUOTE = "INSERT INTO quotes (id, document, page, kind, layout, image, record) VALUES (?, ?, ?, ?, ?, ?, ?)"
_SHARD = "INSERT OR REPLACE INTO shards (document, fingerprint, key) SELECT key, ?, ? FROM documents WHERE name = ?"


class Writer:
    """What the owner of the writer's lock may do, from one thread at a time; made by `Collection.writer`.

    Each method is one transaction: done, or not begun. All raise StorageError where the disk is full or refuses.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def put(self, source: Path, *, name: str, format: str, origin: Origin, parsed: ParsedDocument) -> Document:
        """Stores a document with a copy of its file, in place of one of the same name; clears its failure.

        Quote ids get the document's id before them: the first 12 hexadecimal digits of SHA-256(name, NUL, content).
        Raises DocumentError where the file cannot be read, DamagedDocument where it has changed since it was parsed or
        where text or boxes cannot be stored, ValueError where pages or quotes of `parsed` come twice.
        """
        document = _document(name, format, origin, parsed)
        record, root = _json(document, name), _text(str(origin.root), name)
        pages = [(page.number, _json(page, name)) for page in parsed.pages]
        quotes = [(quote, _json(quote, name)) for quote in _named_quotes(document, parsed)]
        stored = self._folder.sources.put(source, origin.content)
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM documents WHERE name = ?", (name,))
            db.execute("DELETE FROM failures WHERE name = ?", (name,))
            insert = "INSERT INTO documents (name, root, source, record) VALUES (?, ?, ?, ?)"
            key = db.execute(insert, (name, root, stored, record)).lastrowid
            db.executemany("INSERT INTO pages VALUES (?, ?, ?)", ((key, number, page) for number, page in pages))
            rows = ((q.id, key, q.page, q.kind, q.layout, q.image, quote) for q, quote in quotes)
            db.executemany(_QUOTE, rows)
            _count_revision(db)
        return document

    def remove(self, name: str) -> None:
        """Removes a document and all that belongs to it. Raises UsageError where there is none of that name."""
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            db.execute("DELETE FROM documents WHERE name = ?", (name,))
            _count_revision(db)

    def set_metadata(self, name: str, metadata: Mapping[str, str]) -> Document:
        """Replaces a document's metadata; its quotes and their rows stay. Raises UsageError for an unknown name."""
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            (record,) = db.execute("SELECT record FROM documents WHERE name = ?", (name,)).fetchone()
            old = Document.model_validate_json(record)
            new = old.model_copy(update={"metadata": dict(metadata)})
            if new != old:
                db.execute("UPDATE documents SET record = ? WHERE name = ?", (_json(new, name), name))
                _count_revision(db)
        return new

    def describe(self, name: str, said: Mapping[str, str]) -> None:
        """Says of image quotes what a vision model wrote of them: quote id to `vlm_text`.

        All quotes of the document get new rows, in their order, for a row in an index stands for what the quote said
        then. Raises UsageError for an unknown name, DamagedDocument for text that cannot be stored.
        """
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            (key,) = db.execute("SELECT key FROM documents WHERE name = ?", (name,)).fetchone()
            records = db.execute("SELECT record FROM quotes WHERE document = ? ORDER BY row", (key,)).fetchall()
            quotes = [Quote.model_validate_json(record) for (record,) in records]
            quotes = [quote.model_copy(update={"vlm_text": said.get(quote.id, quote.vlm_text)}) for quote in quotes]
            db.execute("DELETE FROM quotes WHERE document = ?", (key,))
            rows = ((q.id, key, q.page, q.kind, q.layout, q.image, _json(q, name)) for q in quotes)
            db.executemany(_QUOTE, rows)
            _count_revision(db)

    def move(self, name: str, root: Path) -> None:
        """Says that a document's file is now below another folder. Raises UsageError for an unknown name."""
        with self._folder.catalog.write() as db:
            require_documents(db, [name])
            db.execute("UPDATE documents SET root = ? WHERE name = ?", (_text(str(root), name), name))

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
            insert = "INSERT OR REPLACE INTO failures (name, record) VALUES (?, ?)"
            db.execute(insert, (failure.name, failure.model_dump_json()))

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

    def drop_index(self, fingerprint: str) -> None:
        """Removes a derived index, and its shards unless another uses them; nothing happens where there is none.

        An index's shards have its fingerprint, or what stands before the dot in it.
        """
        shards = _shards_of(fingerprint)
        with self._folder.catalog.write() as db:
            db.execute("DELETE FROM indexes WHERE fingerprint = ?", (fingerprint,))
            left = {_shards_of(found) for (found,) in db.execute("SELECT fingerprint FROM indexes")}
            if shards not in left:
                db.execute("DELETE FROM shards WHERE fingerprint = ? OR fingerprint GLOB ?", (shards, f"{shards}.*"))
        self._prune_generations()

    def prune(self) -> None:
        """Removes images, their texts, sources, shards and indexes that nothing refers to, when the writer ends."""
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
        self._folder.ocr_texts.prune(images)
        self._folder.sources.prune(sources)
        self._folder.shards.prune(shards)
        self._prune_generations()

    def _prune_generations(self) -> None:
        with self._folder.catalog.read() as db:
            current = dict(db.execute("SELECT fingerprint, generation FROM indexes").fetchall())
        self._folder.generations.prune(current)


def part_of(fingerprint: str, number: int) -> str:
    """The fingerprint under which the parts of shards that are not whole yet are stored."""
    return f"{fingerprint}.{number}"


def _shards_of(fingerprint: str) -> str:
    """The fingerprint of an index's shards: what stands before the dot."""
    return fingerprint.partition(".")[0]


def _document(name: str, format: str, origin: Origin, parsed: ParsedDocument) -> Document:
    named = hashlib.sha256(f"{name}\0{origin.content}".encode("utf-8", "surrogatepass"))
    return Document(
        id=named.hexdigest()[:12],
        name=name,
        content=origin.content,
        format=format,
        parser=origin.parser,
        pages=len(parsed.pages),
        quotes=len(parsed.quotes),
        metadata=origin.metadata,
        warnings=parsed.warnings,
        ocr_language=parsed.ocr_language,
        ocr_pages=parsed.ocr_pages,
        ocr_pictures=parsed.ocr_pictures,
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
        text = record.model_dump_json()
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
