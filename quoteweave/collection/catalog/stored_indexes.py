"""Rows of vector indexes in the catalogue: which generation of each is current, and the seal of its folder.

The folders of another collection, or of an earlier copy, may have the same names. The seal tells them apart: without
it, the rows in such an index would be taken for those of other quotes.
"""

import sqlite3

from quoteweave.collection.records import IndexState
from quoteweave.collection.stores.generations import Generations

SEALS = """CREATE TABLE IF NOT EXISTS index_seals (
    fingerprint TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    seal TEXT NOT NULL
) WITHOUT ROWID"""
_INDEXES = "SELECT fingerprint, name, generation, revision FROM indexes ORDER BY name, fingerprint"
_PUT = "INSERT OR REPLACE INTO indexes (fingerprint, name, generation, revision) VALUES (?, ?, ?, ?)"
_HAS_SEALS = "SELECT 1 FROM sqlite_master WHERE name = 'index_seals'"


def put_index(db: sqlite3.Connection, row: tuple[str, str, int, int], seal: str) -> None:
    """Make a generation the current one of its index; `row` has fingerprint, name, generation and revision."""
    fingerprint, _, generation, _ = row
    db.execute(_PUT, row)
    db.execute("UPDATE state SET generation = ?", (generation,))
    put_seal(db, fingerprint, generation, seal)


def put_seal(db: sqlite3.Connection, fingerprint: str, generation: int, seal: str) -> None:
    """Record the seal of an index's generation; catalogues of earlier versions have no seals before that."""
    db.execute(SEALS)
    db.execute("INSERT OR REPLACE INTO index_seals VALUES (?, ?, ?)", (fingerprint, generation, seal))


def index_states(db: sqlite3.Connection, generations: Generations, only: str | None = None) -> list[IndexState]:
    """The current generation of each index, by name; with `only`, of the index with that fingerprint."""
    has_seals = db.execute(_HAS_SEALS).fetchone() is not None
    query = "SELECT fingerprint, generation, seal FROM index_seals"
    seals = {(name, number): seal for name, number, seal in db.execute(query)} if has_seals else {}
    return [
        IndexState(
            name=name,
            fingerprint=fingerprint,
            generation=generation,
            revision=revision,
            folder=generations.path(fingerprint, generation),
            seal=seals.get((fingerprint, generation)),
        )
        for fingerprint, name, generation, revision in db.execute(_INDEXES)
        if only in (None, fingerprint)
    ]
