"""Salvages a damaged catalogue: documents whose rows are all intact are copied into a new one."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count
from pathlib import Path

from quoteweave.collection.catalog.database import Catalog, create_catalog
from quoteweave.collection.catalog.file_checksum import delete_catalog_checksum, settled_count
from quoteweave.collection.catalog.stored_indexes import put_seal
from quoteweave.collection.catalog.stored_words import WordsRow, read_words
from quoteweave.collection.checksums import row_checksum
from quoteweave.collection.folder import RECOVERED_FOLDER, CollectionFolder
from quoteweave.collection.prepared import document_id
from quoteweave.collection.records import Failure, IndexState, LostDocument, Origin
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.generations import read_plan
from quoteweave.core.records import Document, Quote
from quoteweave.maintenance.check import read_pages, read_quotes

# Row numbers that are skipped, so that no new quote gets the number of a lost one, to which indexes may still refer.
_ROWS_LEFT_FREE = 1 << 32
_UNREADABLE = (sqlite3.Error, ValueError, TypeError, OverflowError)

Row = tuple[object, ...]
SalvagedRows = tuple[Row, list[Row], list[Row], Sequence[WordsRow]]


@dataclass(slots=True)
class Salvaged:
    """What a damaged catalogue has lost."""

    documents: dict[str, LostDocument] = field(default_factory=dict)
    """Documents that were lost as a whole, by name; their origin is given as far as it is known."""
    words: dict[str, LostDocument] = field(default_factory=dict)
    """Names of the documents that were kept without the words of their pages."""
    aside: list[Path] = field(default_factory=list)
    """The new places of stored files whose documents' names are lost, and of a folder in place of the catalogue."""


def salvage(root: Path) -> Salvaged:
    """Replace the catalogue at `root` by a new one with what is left of it, and with the names of lost documents.

    Even if this is killed, nothing is lost without notice: the new catalogue lists the lost documents among its
    failures, and files whose document's name is lost are moved aside before the new catalogue replaces the old one.
    Only the owner of the writer's lock may call this. Raises StorageError if the disk refuses.
    """
    folder = CollectionFolder(root)
    path = folder.catalog.path
    new_path = path.with_name(f"{path.name}.made")
    intact, lost = _salvaged_documents(folder.catalog)
    lost.documents |= _named_by_quotes(folder, {*intact, *lost.documents})
    with guard_writing(path):
        for leftover in (new_path, *_companion_files(new_path)):
            leftover.unlink(missing_ok=True)
        create_catalog(new_path)
        catalog = Catalog(new_path)
        with catalog.write() as db:
            for salvaged_rows in intact.values():
                _insert_document(db, salvaged_rows)
            _insert_others(db, folder, intact)
            _insert_lost(db, lost)
            db.execute(f"PRAGMA user_version = {settled_count(path)}")  # so that it is not taken for an older copy
        catalog.close()
        for leftover in _companion_files(new_path):
            leftover.unlink(missing_ok=True)
        sources = {str(salvaged_rows[0][4]) for salvaged_rows in intact.values()}
        sources |= {document.source for document in (*lost.documents.values(), *_lost_before(folder.catalog))}
        lost.aside = _set_aside(folder, sources)
        if path.is_dir():  # a folder in place of the catalogue, with unknown content
            lost.aside.append(_moved_aside(folder, path))
        for leftover_log in _companion_files(path)[1:]:
            leftover_log.unlink(missing_ok=True)
        new_path.replace(path)
        # Only now, as without the checksum a writing command would trust the old catalogue, and remove what that does
        # not list.
        delete_catalog_checksum(path)
    return lost


def _lost_before(catalog: Catalog) -> Iterator[LostDocument]:
    """Documents that the catalogue itself lists as lost, as after a killed repair that had replaced a catalogue."""
    for name, record, checksum in _readable_rows(catalog, "failures", "name"):
        if checksum == row_checksum(record, name):
            with suppress(ValueError):
                lost = Failure.model_validate_json(record).lost
                yield from () if lost is None else (lost,)


def _set_aside(folder: CollectionFolder, known_sources: set[str]) -> list[Path]:
    """Move stored files of unknown documents aside, so that they are not removed; return their new paths."""
    stored = sorted(path for path in folder.sources.root.rglob("*") if path.is_file())
    return [_moved_aside(folder, path) for path in stored if f"{path.parent.name}/{path.name}" not in known_sources]


def _moved_aside(folder: CollectionFolder, path: Path) -> Path:
    aside = folder.root / RECOVERED_FOLDER / path.name
    aside.parent.mkdir(exist_ok=True)
    if path.is_dir():  # unlike files, which are named by their content, a folder may have the name of another
        numbered = (aside.with_name(f"{path.name}-{at}") for at in count(2))
        aside = next(free_path for free_path in chain([aside], numbered) if not free_path.exists())
    return path.replace(aside)


def _insert_lost(db: sqlite3.Connection, lost: Salvaged) -> None:
    for name, document in lost.documents.items():
        root, path, content = document.origin.root, document.origin.path, document.origin.content
        reason = "a damaged catalogue has lost it; quoteweave check --repair reads it again from its stored file"
        record = Failure(
            name=name, root=root, path=path, reason=reason, content=content, time=time.time(), lost=document
        ).model_dump_json()
        db.execute("INSERT OR REPLACE INTO failures VALUES (?, ?, ?)", (name, record, row_checksum(record, name)))


def _companion_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in (".checksum", "-wal", "-shm")]


def _salvaged_documents(catalog: Catalog) -> tuple[dict[str, SalvagedRows], Salvaged]:
    """Documents whose pages and quotes are intact, and what was lost of these and of others."""
    intact: dict[str, SalvagedRows] = {}
    lost = Salvaged()
    for key, name, root, path, source, record, checksum in _readable_rows(catalog, "documents", "key"):
        try:
            if checksum != row_checksum(record, name, root, path, source):
                continue
            document = Document.model_validate_json(record)
        except (ValueError, TypeError):
            continue
        document_fields = {"content": document.content, "parser": document.parser, "metadata": document.metadata}
        lost_document = LostDocument(
            origin=Origin.model_validate({"root": root, "path": path, **document_fields}), source=source
        )
        try:
            with catalog.unverified() as db:
                pages, quotes = read_pages(db, key, document), read_quotes(db, key, document)
        except _UNREADABLE:
            lost.documents[name] = lost_document
            continue
        words: list[WordsRow] = []
        try:
            with catalog.unverified() as db:
                words = read_words(db, key, document)
        except _UNREADABLE:
            lost.words[name] = lost_document
        intact[name] = (key, name, root, path, source, record, checksum), [*pages], [*quotes], words
    return intact, lost


def _named_by_quotes(folder: CollectionFolder, known_names: set[str]) -> dict[str, LostDocument]:
    """Documents whose own record was lost, known from their quotes; their sources and metadata are lost."""
    names = {}
    for _, id, _, *columns, record, checksum in _readable_rows(folder.catalog, "quotes", "row"):
        if checksum == row_checksum(record, id, *columns):
            with suppress(ValueError):
                names[id.partition(":")[0]] = Quote.model_validate_json(record).document
    lost_documents = {}
    for path in folder.sources.root.rglob("*"):
        for id, name in names.items():
            if name not in known_names and document_id(name, path.name[:64]) == id:
                origin = Origin(root=folder.root.absolute(), content=path.name[:64], parser="")
                source = path.relative_to(folder.sources.root).as_posix()
                lost_documents[name] = LostDocument(origin=origin, source=source)
    return lost_documents


def _readable_rows(catalog: Catalog, table: str, order: str) -> Iterator[tuple]:  # type: ignore[type-arg]
    """The readable rows of a table, each once: read from both ends until an error."""
    seen_rows = set()
    for direction in ("ASC", "DESC"):
        try:
            with catalog.unverified() as db:
                for row in db.execute(f"SELECT * FROM {table} ORDER BY {order} {direction}"):  # noqa: S608
                    if row not in seen_rows:
                        seen_rows.add(row)
                        yield row
        except (sqlite3.Error, OverflowError):
            continue


def _insert_document(db: sqlite3.Connection, salvaged_rows: SalvagedRows) -> None:
    document, pages, quotes, words = salvaged_rows
    key = document[0]
    db.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)", document)
    db.executemany("INSERT INTO pages VALUES (?, ?, ?, ?)", ((key, *page) for page in pages))
    insert = """INSERT INTO quotes (row, id, document, page, kind, layout, image, record, checksum)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
    db.executemany(insert, ((row, id, key, *columns) for row, id, *columns in quotes))
    db.executemany("INSERT INTO page_words VALUES (?, ?, ?, ?)", ((key, *row) for row in words))


def _insert_others(db: sqlite3.Connection, folder: CollectionFolder, intact: Mapping[str, SalvagedRows]) -> None:
    """Insert failures, shards and indexes as far as they can be read, and counters that give no number twice."""
    old_catalog, keys = folder.catalog, {salvaged_rows[0][0] for salvaged_rows in intact.values()}
    for name, record, checksum in _readable_rows(old_catalog, "failures", "name"):
        if checksum == row_checksum(record, name):
            db.execute("INSERT OR IGNORE INTO failures VALUES (?, ?, ?)", (name, record, checksum))
    for row in _readable_rows(old_catalog, "shards", "document"):
        if row[0] in keys:
            db.execute("INSERT OR IGNORE INTO shards VALUES (?, ?, ?)", row)
    db.executemany("INSERT INTO removals VALUES (?, ?)", _readable_rows(old_catalog, "removals", "rowid"))
    db.executemany(
        "INSERT OR IGNORE INTO unclean_indexes VALUES (?)",
        _readable_rows(old_catalog, "unclean_indexes", "fingerprint"),
    )
    revisions = [
        revision for revision, *_ in _readable_rows(old_catalog, "state", "rowid") if isinstance(revision, int)
    ]
    used_numbers = _insert_indexes(db, folder)
    revisions += [revision for revision, _ in used_numbers]
    generations = [0, *(generation for _, generation in used_numbers)]
    # A revision greater than all before, so that every index counts as out of date and is updated.
    db.execute("UPDATE state SET revision = ?, generation = ?", (max([0, *revisions]) + 1, max(generations)))
    if not db.execute("SELECT * FROM sqlite_sequence").fetchall():
        db.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('quotes', 0)")
    db.execute("UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'quotes'", (_ROWS_LEFT_FREE,))


def _insert_indexes(db: sqlite3.Connection, folder: CollectionFolder) -> list[tuple[int, int]]:
    """Insert the indexes that the old catalogue names, and those of which only folders are left.

    Return the revisions and generations that were used.
    """
    insert, used_numbers = "INSERT OR IGNORE INTO indexes VALUES (?, ?, ?, 0)", []
    for fingerprint, name, generation, revision in _readable_rows(folder.catalog, "indexes", "fingerprint"):
        with suppress(ValueError, TypeError):
            folder.generations.path(fingerprint, generation)
            used_numbers.append((int(revision), generation))
            db.execute(insert, (fingerprint, name, generation))
    for fingerprint, generation, seal in _readable_rows(folder.catalog, "index_seals", "fingerprint"):
        if isinstance(fingerprint, str) and isinstance(generation, int) and isinstance(seal, str):  # not damaged
            put_seal(db, fingerprint, generation, seal)
    for path in sorted(folder.generations.root.glob("*/*"), reverse=True):
        if path.name.isdigit():
            generation = int(path.name)
            used_numbers.append((0, generation))
            state = IndexState(name="", fingerprint=path.parent.name, generation=1, revision=0, folder=path)
            plan = read_plan(state)
            if plan is not None and plan.fingerprint == state.fingerprint:
                db.execute(insert, (state.fingerprint, plan.spec, generation))
    return used_numbers
