"""The catalogue: SQLite tables of documents, pages and quotes, and transactions over them."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from quoteweave.index.catalog_file import (
    DESCRIPTORS,
    Counted,
    FileChecksum,
    forget,
    record,
    recorded,
    verify_file,
    verify_structure,
)
from quoteweave.index.checksums import row_checksum
from quoteweave.index.faults import primary_code, reading, writing
from quoteweave.index.lock import is_being_written

_PATIENCE_MS = 1_000
_REFUSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}

# A quote's row is never used again (AUTOINCREMENT), because derived indexes refer to rows; nor is the number of a
# generation, because readers know an index by it. Columns repeat what filters and pruning ask for; the record is the
# truth. A row's checksum is of its record and of what the row says beside it; the views verify it as a record is read.
_SCHEMA = """
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS state (revision INTEGER NOT NULL, generation INTEGER NOT NULL);
INSERT INTO state SELECT 0, 0 WHERE NOT EXISTS (SELECT * FROM state);
CREATE TABLE IF NOT EXISTS documents (
    key INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    root TEXT NOT NULL,
    source TEXT NOT NULL,
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS pages (
    document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL,
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
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS quotes_of_document ON quotes (document, page, kind, layout);
CREATE TABLE IF NOT EXISTS failures (
    name TEXT PRIMARY KEY,
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL
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
CREATE VIEW IF NOT EXISTS checked_documents AS
SELECT key, name, root, source, verified(checksum, record, name, root, source) AS record FROM documents;
CREATE VIEW IF NOT EXISTS checked_pages AS
SELECT document, number, verified(checksum, record, number) AS record FROM pages;
CREATE VIEW IF NOT EXISTS checked_quotes AS
SELECT row, id, document, verified(checksum, record, id, page, kind, layout, image) AS record FROM quotes;
CREATE VIEW IF NOT EXISTS checked_failures AS
SELECT name, verified(checksum, record, name) AS record FROM failures;
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
    """Transactions over the catalogue at `path`, for any number of threads. Connections are kept and used again.

    The file is verified before the first of them, by its checksum, or by SQLite itself where a writer that was killed
    left none. While another process writes it is taken as that one found it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checksum: FileChecksum | None = None  # with which the file was last verified
        self._verified = False
        self._structure_verified = False
        self._changing = False
        self._verifying = threading.Lock()
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
            if not self._changing:
                forget(self.path)
                self._changing = True
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.commit()

    @contextmanager
    def unverified(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file as it is, to find out what is left of it. Raises sqlite3.Error."""
        with closing(self._open()) as db:
            db.text_factory = _lenient
            db.execute("BEGIN")
            yield db

    def begin(self) -> None:
        """Verifies the file as it is now that nobody else writes: what will be recorded at the end is to be right.

        Raises CollectionError where it is damaged.
        """
        self._changing = False
        with reading(self.path):
            self._verify(writing=True)

    def settle(self) -> None:
        """Moves SQLite's log into the file and records the file's checksum. Done when the writer ends.

        Where a reader is in the midst of a transaction for longer than a second, the next writer does so.
        """
        if recorded(self.path) is not None:
            return
        with writing(self.path), self._connection() as db:
            (patience,) = db.execute("PRAGMA busy_timeout").fetchone()
            db.execute(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
            (busy, *_) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            db.execute(f"PRAGMA busy_timeout = {patience}")
            if not busy:
                self._checksum = record(self.path)

    def close(self) -> None:
        """Closes the connections; those in use close when their block ends."""
        self._closed = True
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise ValueError(f"the collection of {self.path} is closed")
        self._verify()
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

    def _verify(self, *, writing: bool = False) -> None:
        """Verifies the file, once, and again before writing. Raises CollectionError where it is damaged."""
        with self._verifying:
            if self._verified and not writing:
                return
            self._checksum = verify_file(self.path, self._checksum)
            left_open = self._checksum is None and not self._structure_verified
            if left_open and (writing or not is_being_written(self.path.parent)):
                self._verify_structure()
            self._verified = True

    def _verify_structure(self) -> None:
        db = self._open()
        try:
            verify_structure(self.path, db)
        finally:
            db.close()
        self._structure_verified = True

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


class _Connection(sqlite3.Connection):
    """One that is counted while it is open."""

    counted: Counted | None = None

    def close(self) -> None:
        super().close()
        counted, self.counted = self.counted, None
        DESCRIPTORS.disconnected(counted)


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri, counted = f"{path.absolute().as_uri()}?{options}", DESCRIPTORS.connected(path)
    try:
        db = sqlite3.connect(
            uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False, factory=_Connection
        )
    except BaseException:
        DESCRIPTORS.disconnected(counted)
        raise
    try:
        db.counted = counted
        db.create_function("row_checksum", -1, row_checksum, deterministic=True)
        db.create_function("verified", -1, _verified, deterministic=True)
        # With a WAL, NORMAL cannot damage the catalogue: a power cut may take the last transactions, a killed process
        # none, and what is missing is added again by the next run.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA trusted_schema = ON")  # our views call our functions
        db.execute("SELECT name FROM sqlite_master LIMIT 1")  # reads the file, so that what is wrong with it shows now
    except BaseException:
        db.close()
        raise
    return db


def _lenient(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _verified(checksum: int, record: str, *columns: str | int | None) -> str:
    if checksum != row_checksum(record, *columns):
        raise ValueError("the row is not what was written")
    return record
