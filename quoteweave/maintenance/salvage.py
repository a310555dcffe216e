"""Salvages a damaged catalogue: documents whose rows are all intact are copied into a new one."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from quoteweave.collection.catalog.database import Catalog, create_catalog
from quoteweave.collection.catalog.file_checksum import delete_catalog_checksum
from quoteweave.collection.catalog.stored_words import WordsRow, read_words
from quoteweave.collection.checksums import row_checksum
from quoteweave.collection.folder import CollectionFolder
from quoteweave.collection.prepared import document_id
from quoteweave.collection.records import Origin
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.core.records import Document, Quote
from quoteweave.maintenance.check import read_pages, read_quotes

# Rows that were lost are not given to others: indexes may still refer to them.
_ROWS_LEFT_FREE = 1 << 32
_UNREADABLE = (sqlite3.Error, ValueError, TypeError, OverflowError)

Row = tuple[object, ...]
SalvagedRows = tuple[Row, list[Row], list[Row], Sequence[WordsRow]]
LostSource = tuple[Origin, str]
"""Where a document comes from, and the key of its stored file."""


@dataclass(slots=True)
class LostDocuments:
    """What was lost of a catalogue, by the names of documents."""

    documents: dict[str, LostSource] = field(default_factory=dict)
    """Lost as a whole; where they come from as far as that is known, without a parser where it is not."""
    words: dict[str, LostSource] = field(default_factory=dict)
    """Kept without the words of their pages."""


def salvage(root: Path) -> LostDocuments:
    """Replaces the catalogue at `root` by one of what is left of it; says what was lost and can be named.

    For the owner of the writer's lock alone. Raises StorageError where the disk refuses.
    """
    folder = CollectionFolder(root)
    path = folder.catalog.path
    made = path.with_name(f"{path.name}.made")
    kept, lost = _documents(folder.catalog)
    lost.documents |= _named_by_quotes(folder, {*kept, *lost.documents})
    with guard_writing(path):
        for leftover in (made, *_beside(made)):
            leftover.unlink(missing_ok=True)
        create_catalog(made)
        new = Catalog(made)
        with new.write() as db:
            for left in kept.values():
                _insert(db, left)
            _insert_others(db, folder, kept)
        new.close()
        for leftover in _beside(made):
            leftover.unlink(missing_ok=True)
        delete_catalog_checksum(path)
        for old in _beside(path):
            old.unlink(missing_ok=True)
        made.replace(path)
    return lost


def _beside(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in ("-wal", "-shm", ".checksum")]


def _documents(catalog: Catalog) -> tuple[dict[str, SalvagedRows], LostDocuments]:
    """Documents whose pages and quotes are whole, and what was lost of those and of others."""
    kept: dict[str, SalvagedRows] = {}
    lost = LostDocuments()
    for key, name, root, path, source, record, checksum in _all(catalog, "documents", "key"):
        try:
            if checksum != row_checksum(record, name, root, path, source):
                continue
            document = Document.model_validate_json(record)
        except (ValueError, TypeError):
            continue
        about = {"content": document.content, "parser": document.parser, "metadata": document.metadata}
        where = Origin.model_validate({"root": root, "path": path, **about}), source
        try:
            with catalog.unverified() as db:
                pages, quotes = read_pages(db, key, document), read_quotes(db, key, document)
        except _UNREADABLE:
            lost.documents[name] = where
            continue
        words: list[WordsRow] = []
        try:
            with catalog.unverified() as db:
                words = read_words(db, key, document)
        except _UNREADABLE:
            lost.words[name] = where
        kept[name] = (key, name, root, path, source, record, checksum), [*pages], [*quotes], words
    return kept, lost


def _named_by_quotes(folder: CollectionFolder, known: set[str]) -> dict[str, LostSource]:
    """Documents whose own record was lost, known from their quotes; their sources and metadata are lost."""
    names = {}
    for _, id, _, *columns, record, checksum in _all(folder.catalog, "quotes", "row"):
        if checksum == row_checksum(record, id, *columns):
            with suppress(ValueError):
                names[id.partition(":")[0]] = Quote.model_validate_json(record).document
    found = {}
    for path in folder.sources.root.rglob("*"):
        for id, name in names.items():
            if name not in known and document_id(name, path.name[:64]) == id:
                origin = Origin(root=folder.root.absolute(), content=path.name[:64], parser="")
                found[name] = origin, path.relative_to(folder.sources.root).as_posix()
    return found


def _all(catalog: Catalog, table: str, order: str) -> Iterator[tuple]:  # type: ignore[type-arg]
    """Rows of a table from its first until it cannot be read, and from its last until then, each once."""
    seen = set()
    for direction in ("ASC", "DESC"):
        try:
            with catalog.unverified() as db:
                for row in db.execute(f"SELECT * FROM {table} ORDER BY {order} {direction}"):  # noqa: S608
                    if row not in seen:
                        seen.add(row)
                        yield row
        except (sqlite3.Error, OverflowError):
            continue


def _insert(db: sqlite3.Connection, left: SalvagedRows) -> None:
    document, pages, quotes, words = left
    key = document[0]
    db.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)", document)
    db.executemany("INSERT INTO pages VALUES (?, ?, ?, ?)", ((key, *page) for page in pages))
    insert = """INSERT INTO quotes (row, id, document, page, kind, layout, image, record, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
    db.executemany(insert, ((row, id, key, *rest) for row, id, *rest in quotes))
    db.executemany("INSERT INTO page_words VALUES (?, ?, ?, ?)", ((key, *row) for row in words))


def _insert_others(db: sqlite3.Connection, folder: CollectionFolder, kept: Mapping[str, SalvagedRows]) -> None:
    """Failures, shards and indexes, as far as they can be read; and numbers that were not given before."""
    old, keys = folder.catalog, {left[0][0] for left in kept.values()}
    for name, record, checksum in _all(old, "failures", "name"):
        if checksum == row_checksum(record, name):
            db.execute("INSERT OR IGNORE INTO failures VALUES (?, ?, ?)", (name, record, checksum))
    for row in _all(old, "shards", "document"):
        if row[0] in keys:
            db.execute("INSERT OR IGNORE INTO shards VALUES (?, ?, ?)", row)
    db.executemany("INSERT INTO removals VALUES (?, ?)", _all(old, "removals", "rowid"))
    db.executemany("INSERT OR IGNORE INTO unclean_indexes VALUES (?)", _all(old, "unclean_indexes", "fingerprint"))
    revisions = [revision for revision, *_ in _all(old, "state", "rowid") if isinstance(revision, int)]
    generations = [0]
    for fingerprint, name, generation, revision in _all(old, "indexes", "fingerprint"):
        try:
            there = folder.generations.path(fingerprint, generation).is_dir()
        except (ValueError, TypeError):
            continue
        if there and isinstance(revision, int):
            db.execute("INSERT OR IGNORE INTO indexes VALUES (?, ?, ?, ?)", (fingerprint, name, generation, 0))
            revisions.append(revision)
    generations += [int(path.name) for path in folder.generations.root.glob("*/*") if path.name.isdigit()]
    # Beyond all that was given, so that every index is behind and brought up to date.
    db.execute("UPDATE state SET revision = ?, generation = ?", (max([0, *revisions]) + 1, max(generations)))
    if not db.execute("SELECT * FROM sqlite_sequence").fetchall():
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('quotes', 0)")
    db.execute("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'quotes'", (_ROWS_LEFT_FREE,))
