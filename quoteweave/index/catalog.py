"""The catalogue: SQLite tables of documents, pages and quotes, and transactions over them."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quoteweave.core.errors import CollectionLocked
from quoteweave.index.faults import primary_code, reading, writing

_REFUSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
# How long readers are waited for that keep a deletion from the file: longer than a search takes.
READERS_MS = 2000
_BUSY_MS = 30_000

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
-- Removals of which something may still be in the folder. The name is not: only its hash, with a salt of its own.
CREATE TABLE IF NOT EXISTS removals (
    salt TEXT NOT NULL,
    hash TEXT NOT NULL
);
-- Indexes that may still hold what was removed.
CREATE TABLE IF NOT EXISTS unclean_indexes (fingerprint TEXT PRIMARY KEY) WITHOUT ROWID;
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
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one committed state until the block ends, whatever is written meanwhile.

        Raises CollectionError where the catalogue is damaged or cannot be read, CollectionLocked where a disk is so
        full that it could only be read as it lay, and it was changed then.
        """
        with reading(self.path), self._connection() as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def write(self, *, overwrite: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: committed when the block ends, undone if it fails. For the owner of the lock alone.

        What it deletes is overwritten with zeros; without `overwrite` that is left to `rewrite`, and the transaction
        takes little room on the disk. Raises StorageError where the disk is full or refuses, CollectionError where the
        catalogue is damaged.
        """
        with writing(self.path), self._connection(for_writing=True) as db:
            # Whether SQLite does so unasked depends on how it was compiled.
            db.execute(f"PRAGMA secure_delete = {'ON' if overwrite else 'OFF'}")
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.commit()

    def rewrite(self) -> bool:
        """Writes the catalogue anew, without a trace of what was deleted, and empties its log.

        False where a reader's transaction forbids that: the old state then stays in the file and its log until it ends.
        Even where SQLite overwrites what it deletes, parts of it can stay: pages that were rebalanced keep copies
        between their cells. For the owner of the lock alone, outside of a transaction. Raises as `write`.
        """
        with writing(self.path), self._connection(for_writing=True) as db:
            try:
                db.execute("VACUUM")
            finally:  # as far as it goes on a full disk
                db.execute(f"PRAGMA busy_timeout = {READERS_MS}")
                (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
            return not busy

    def close(self) -> None:
        """Closes the connections; those in use close when their block ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self, *, for_writing: bool = False) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise ValueError(f"the collection of {self.path} is closed")
        try:
            db, kept = self._idle.pop(), True
        except IndexError:
            db, kept = self._open(for_writing=for_writing)
        lay = None if kept or for_writing else self._state_at_rest()
        try:
            yield db
            db.rollback()
            if lay is not None and lay != self._state_at_rest():
                raise CollectionLocked(f"{self.path} was changed while it was read; run the same command again")
        except BaseException:
            # After a failure nothing is assumed of the connection; closing it undoes what was not committed.
            db.close()
            raise
        if kept and not self._closed:
            self._idle.append(db)
        else:
            db.close()

    def _open(self, *, for_writing: bool) -> tuple[sqlite3.Connection, bool]:
        """A connection, and whether it may be kept."""
        try:
            return _connect(self.path, "mode=rw"), True
        except sqlite3.OperationalError as error:
            code = primary_code(error)
            if code not in _REFUSED | _NO_ROOM:
                raise
            if code in _NO_ROOM and (for_writing or not self._rests_after_closing()):
                return _connect(self.path, "mode=rw", alone=True), False
            if self._state_at_rest() is None:
                raise
            # SQLite shares a WAL through files beside it, which a folder that we may not write, or a full disk, cannot
            # have. Without them nobody else has it open either, so it may be read as it lies; anew each time, in case
            # that changes.
            return _connect(self.path, "mode=ro&immutable=1"), False

    def _rests_after_closing(self) -> bool:
        """Whether all is in the file itself, once what a killed process left in the log is written to it."""
        if self._state_at_rest() is None:
            with suppress(sqlite3.OperationalError):
                _connect(self.path, "mode=rw", alone=True).close()
        return self._state_at_rest() is not None

    def _state_at_rest(self) -> tuple[int, int] | None:
        """Tells versions of the file apart that is not being written; None while there is a log beside it."""
        log = self.path.with_name(f"{self.path.name}-wal")
        try:
            if log.exists() and log.stat().st_size:
                return None
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size


def _connect(path: Path, options: str, *, alone: bool = False) -> sqlite3.Connection:
    """A connection; one that is `alone` keeps others from the file until it is closed, and needs no file beside it."""
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}",
        uri=True,
        timeout=_BUSY_MS / 1000,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        if alone:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
        # With a WAL, NORMAL cannot damage the catalogue: a power cut may take the last transactions, a killed process
        # none, and what is missing is added again by the next run.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("SELECT name FROM sqlite_master LIMIT 1")  # reads the file, so that what is wrong with it shows now
    except BaseException:
        db.close()
        raise
    return db
