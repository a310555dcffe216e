"""The catalogue: SQLite tables of documents, pages and quotes, and transactions over them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from quoteweave.index.faults import primary_code, reading, writing

_REFUSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}

# A quote's row is never used again (AUTOINCREMENT), because derived indexes refer to rows; nor is the number of a
# generation, because readers know an index by it. Columns repeat what filters and pruning ask for; the record is the
# truth.
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS state (revision INTEGER NOT NULL, generation INTEGER NOT NULL);
INSERT INTO state SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM state);
CREATE TABLE IF NOT EXISTS documents (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    path TEXT,
    source TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS pages (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (document, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quotes (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    page INTEGER NOT NULL,
    kind TEXT NOT NULL,
    layout TEXT NOT NULL,
    image TEXT,
    record TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS quotes_of_document ON quotes (document, page, kind, layout);
CREATE TABLE IF NOT EXISTS failures (
    name TEXT PRIMARY KEY,
    record TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS shards (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    fingerprint TEXT NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (document, fingerprint)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS indexes (
    fingerprint TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    generation INTEGER NOT NULL,
    revision INTEGER NOT NULL
);
COMMIT;
"""


def create_catalog(path: Path) -> None:
    """Makes the tables that are missing. Raises StorageError where the disk is full or refuses."""
    with writing(path):
        db = _connect(path, "mode=rwc")
        try:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(_SCHEMA)
        finally:
            db.close()


class Catalog:
    """Transactions over the catalogue at `path`, for any number of threads. Connections are kept and used again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: list[sqlite3.Connection] = []
        self._keep = True
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one committed state until the block ends, whatever is written meanwhile.

        Raises CollectionError where the catalogue is damaged or cannot be read.
        """
        with reading(self.path), self._connection() as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed when the block ends, undone if it fails. For the owner of the lock alone.

        Raises StorageError where the disk is full or refuses, CollectionError where the catalogue is damaged.
        """
        with writing(self.path), self._connection() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.commit()

    def close(self) -> None:
        """Closes the connections; those in use close when their block ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise ValueError(f"the collection of {self.path} is closed")
        try:
            db = self._idle.pop()
        except IndexError:
            db = self._open()
        try:
            yield db
            db.rollback()
        except BaseException:
            # After a failure nothing is assumed of the connection; closing it undoes what was not committed.
            db.close()
            raise
        if self._keep and not self._closed:
            self._idle.append(db)
        else:
            db.close()

    def _open(self) -> sqlite3.Connection:
        try:
            db = _connect(self.path, "mode=rw")
            self._keep = True
        except sqlite3.OperationalError as error:
            if primary_code(error) not in _REFUSED or not self._is_at_rest():
                raise
            # SQLite shares a WAL through files beside it, which a folder that we may not write cannot have. Without
            # them nobody else has it open either, so it may be read as it lies; anew each time, in case that changes.
            db = _connect(self.path, "mode=ro&immutable=1")
            self._keep = False
        return db

    def _is_at_rest(self) -> bool:
        return self.path.exists() and not self.path.with_name(f"{self.path.name}-wal").exists()


def _connect(path: Path, options: str) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, timeout=30, isolation_level=None, check_same_thread=False
    )
    try:
        # With a WAL, NORMAL cannot damage the catalogue: a power cut may take the last transactions, a killed process
        # none, and what is missing is added again by the next run.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("SELECT name FROM sqlite_master LIMIT 1")  # reads the file, so that what is wrong with it shows now
    except BaseException:
        db.close()
        raise
    return db
