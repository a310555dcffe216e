"""Finishes removals: a removal is complete when no byte of what was removed is left in the folder.

The transaction that removes a document records the removal; the record is deleted when all is done. The next writer
finishes what a killed process, or a reader that was in the way, has left.
"""

import hashlib
import secrets
import sqlite3
from collections.abc import Callable, Iterable

from quoteweave.collection.folder import CollectionFolder
from quoteweave.collection.stores.image_texts import prune_descriptions
from quoteweave.collection.unreferenced import unfinished_pages, unreferenced_files
from quoteweave.core.errors import CollectionLocked, StorageError, note_text
from quoteweave.core.messages import join_names

_UNCLEAN = "SELECT indexes.fingerprint, name, generation FROM unclean_indexes JOIN indexes USING (fingerprint)"
_MAX_LISTED = 3


def record_removal(db: sqlite3.Connection, name: str) -> None:
    """Record, in the transaction that removes a document, that its traces have to be removed too."""
    salt = secrets.token_hex(16)
    db.execute("INSERT INTO removals (salt, hash) VALUES (?, ?)", (salt, _hash(salt, name)))
    db.execute("INSERT OR IGNORE INTO unclean_indexes SELECT fingerprint FROM indexes")


def unfinished_removals(folder: CollectionFolder, names: Iterable[str]) -> set[str]:
    """Those of the names whose removal is recorded as unfinished."""
    with folder.catalog.read() as db:
        recorded = db.execute("SELECT salt, hash FROM removals").fetchall()
    return {name for name in set(names) for salt, hash in recorded if _hash(salt, name) == hash}


def has_unfinished_removals(folder: CollectionFolder) -> bool:
    """Whether anything may be left of documents that were removed."""
    with folder.catalog.read() as db:
        return db.execute("SELECT 1 FROM removals LIMIT 1").fetchone() is not None


def finish_removals(folder: CollectionFolder, prune: Callable[[], None]) -> tuple[str, ...]:
    """Remove what is left of removed documents; return one sentence for each thing that remains, and until when.

    `prune` removes files that nothing refers to. Only for the owner of the writer's lock, once the indexes have been
    brought up to date.
    """
    if not has_unfinished_removals(folder):
        return ()
    steps = (_trace_in_indexes, _trace_in_files, _trace_in_descriptions, _trace_in_catalogue)
    prune()
    remaining_traces = [sentence for step in steps if (sentence := _remaining_trace(step, folder)) is not None]
    if not remaining_traces:
        with folder.catalog.write() as db:
            db.execute("DELETE FROM unclean_indexes")
            db.execute("DELETE FROM removals")
    return tuple(remaining_traces)


def _remaining_trace(step: Callable[[CollectionFolder], str | None], folder: CollectionFolder) -> str | None:
    try:
        return step(folder)
    except (StorageError, CollectionLocked) as error:
        return f"what was removed may still be in {folder.root}: {error}"


def _trace_in_indexes(folder: CollectionFolder) -> str | None:
    with folder.catalog.read() as db:
        rows = db.execute(_UNCLEAN).fetchall()
    uncleaned_names = [
        name for fingerprint, name, number in rows if folder.generations.path(fingerprint, number).is_dir()
    ]
    if not uncleaned_names:
        return None
    names = " and ".join(dict.fromkeys(uncleaned_names))
    return f"the index {names} still holds names and vectors of what was removed, until it is brought up to date"


def _trace_in_files(folder: CollectionFolder) -> str | None:
    remaining_paths = [str(path) for path in (*unreferenced_files(folder), *unfinished_pages(folder))]
    if not remaining_paths:
        return None
    return f"these files could not be removed, and may hold what was: {join_names(remaining_paths, _MAX_LISTED)}"


def _trace_in_descriptions(folder: CollectionFolder) -> str | None:
    with folder.catalog.read() as db:
        images = {key for (key,) in db.execute("SELECT DISTINCT image FROM quotes WHERE image IS NOT NULL")}
    if prune_descriptions(folder.root, images):
        return None
    return "descriptions of removed pictures stay until the command that describes pictures now ends; it removes them"


def _trace_in_catalogue(folder: CollectionFolder) -> str | None:
    path = folder.catalog.path
    try:
        if folder.catalog.rewrite():
            return None
    except StorageError as error:
        space_needed = f"rewriting it takes {path.stat().st_size / 1e6:.1f} MB"
        return note_text(
            f"{path} may still hold parts of what was removed until the next change: {error.summary} ({space_needed})",
            remedy=error.remedy,
        )
    return note_text(
        f"{path} and {path.name}-wal still hold what was removed, because someone is reading an older state of the "
        "collection; once that has ended, the next change of the collection removes it",
        remedy="so does: quoteweave check --removed NAME",
    )


def _hash(salt: str, name: str) -> str:
    return hashlib.sha256(f"{salt}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
