"""The catalogue: SQLite tables of documents, pages with their words, and quotes, and transactions over them."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from quoteweave.collection.catalog.file_checksum import (
    DESCRIPTORS,
    CountedConnection,
    FileChecksum,
    begin_counting,
    committed_count,
    count_committed,
    file_of,
    identity_of,
    read_catalog_checksum,
    verify_catalog,
    verify_committed,
    verify_structure,
    write_catalog_checksum,
)
from quoteweave.collection.catalog.shared_memory import allocate, require_room
from quoteweave.collection.catalog.stored_words import TABLE as PAGE_WORDS
from quoteweave.collection.checksums import row_checksum
from quoteweave.collection.storage_errors import guard_reading, guard_writing, primary_code
from quoteweave.collection.writer_lock import is_being_written
from quoteweave.core.errors import CollectionLocked

_REFUSED = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}
_NO_ROOM = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}
# How long checkpointing waits for readers that block it, in milliseconds: longer than a search takes.
READERS_MS = 2000
_BUSY_MS = 30_000
# A quote's record mostly has some hundred bytes to a thousand: of the usual 4,096, a tenth would stay empty.
_PAGE_BYTES = 8192

# A quote's row number is never used again (AUTOINCREMENT), because derived indexes refer to rows; nor is the number of
# a generation, because readers know an index by it. Columns repeat those fields of the record that filters and pruning
# ask for; where they differ, the record is right. A row's checksum covers the record and the columns beside it; the
# views verify it whenever a record is read.
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
CREATE TABLE IF NOT EXISTS segments (
    number INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
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
SELECT key, name, root, path, source, verified(checksum, record, name, root, path, source) AS record FROM documents;
CREATE VIEW IF NOT EXISTS checked_pages AS
SELECT document, number, verified(checksum, record, number) AS record FROM pages;
CREATE VIEW IF NOT EXISTS checked_quotes AS
SELECT row, id, document, verified(checksum, record, id, page, kind, layout, image) AS record FROM quotes;
CREATE VIEW IF NOT EXISTS checked_failures AS
SELECT name, verified(checksum, record, name) AS record FROM failures;
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
    """Create the missing tables. Raises StorageError if the disk is full or refuses."""
    with guard_writing(path):
        db = _connect(path, "mode=rwc")
        try:
            db.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(_SCHEMA)
            db.execute(PAGE_WORDS)
        finally:
            db.close()


class Catalog:
    """Transactions over the catalogue at `path`, for any number of threads. Connections are kept and used again.

    The file is verified before the first transaction: by its checksum, or by SQLite itself where a killed writer left
    none. While another process is writing, the file is taken as verified by that process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checksum: FileChecksum | None = None  # the checksum with which the file was last verified
        self._verified = False
        self._structure_verified = False
        self._changing = False
        self._verifying = threading.Lock()
        self._early_verification: threading.Thread | None = None
        self._idle: list[sqlite3.Connection] = []
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one committed state until the block ends, whatever is written meanwhile.

        Raises CollectionError where the catalogue is damaged or cannot be read, CollectionLocked where a full disk
        allowed only reading it without locks and it was changed meanwhile.
        """
        with guard_reading(self.path), self._connection() as db:
            db.execute("BEGIN")
            yield db

    @contextmanager
    def write(self, *, overwrite: bool = True) -> Iterator[sqlite3.Connection]:
        """One transaction: committed when the block ends, undone if it fails. Only for the owner of the writer's lock.

        Deleted data is overwritten with zeros; without `overwrite` that is left to `rewrite`, and the transaction needs
        little room on the disk. Raises StorageError where the disk is full or refuses, CollectionError where the
        catalogue is damaged.
        """
        with guard_writing(self.path), self._connection(for_writing=True) as db:
            self._begin_changing(db)
            # SQLite's own default depends on how it was compiled.
            db.execute(f"PRAGMA secure_delete = {'ON' if overwrite else 'OFF'}")
            db.execute("BEGIN IMMEDIATE")
            yield db
            committed = committed_count(db) + 1
            db.execute(f"PRAGMA user_version = {committed}")
            db.commit()
            count_committed(self.path, committed)

    @contextmanager
    def unverified(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file without verification, to salvage what is left. Raises sqlite3.Error."""
        with closing(self._open(for_writing=False)[0]) as db:
            db.text_factory = _decoded_leniently
            db.execute("BEGIN")
            yield db

    def verify_early(self) -> None:
        """Begin to verify the file in a thread; whatever reads waits until that has ended.

        Neither reading the file nor computing its checksum holds Python's lock, and what a command does before its
        first read, such as imports and loading the retriever's words, takes longer.
        """
        self._early_verification = threading.Thread(target=self._verify_silently, name="verify catalogue", daemon=True)
        self._early_verification.start()

    def begin(self) -> None:
        """Verify the file once the writer's lock is held, so that the checksum recorded at the end is right.

        Raises CollectionError where it is damaged.
        """
        self._changing = False
        with guard_reading(self.path):
            self._verify(writing=True)

    def settle(self) -> None:
        """Checkpoint the write-ahead log into the file and record the file's checksum. Called when the writer ends.

        Where a reader's transaction lasts longer than this waits, the next writer does so.
        Raises StorageError where the disk is full or refuses; what was written stays.
        """
        if read_catalog_checksum(self.path) is not None:
            return
        with guard_writing(self.path), self._connection(for_writing=True) as db:
            if _log_is_emptied(db):
                self._checksum = write_catalog_checksum(self.path, committed_count(db))

    def rewrite(self) -> bool:
        """Rewrite the catalogue without traces of what was deleted, and empty its write-ahead log.

        Returns False where a reader's transaction prevents that: the old state then stays in the file and its log until
        it ends. Overwriting what is deleted does not suffice: pages that SQLite rebalanced keep copies between their
        cells. Only for the owner of the lock, outside of a transaction. Raises as `write`.
        """
        with guard_writing(self.path), self._connection(for_writing=True) as db:
            self._begin_changing(db)
            try:
                db.execute("VACUUM")
            finally:  # on a full disk, as far as it gets
                emptied = _log_is_emptied(db)
            return emptied

    def empty_log(self) -> None:
        """Move the write-ahead log into the file so that it takes no room, unless a reader's transaction prevents it.

        Raises StorageError where the disk refuses.
        """
        with guard_writing(self.path), self._connection(for_writing=True) as db:
            _log_is_emptied(db)

    def close(self) -> None:
        """Close the connections; those in use close when their block ends."""
        self._closed = True
        if self._early_verification is not None:
            self._early_verification.join()
        while self._idle:
            self._idle.pop().close()

    @contextmanager
    def _connection(self, *, for_writing: bool = False) -> Iterator[sqlite3.Connection]:
        if self._closed:
            raise ValueError(f"the collection of {self.path} is closed")
        self._verify()
        idle = self._idle_connection()
        db, was_idle = (idle, True) if idle else self._open(for_writing=for_writing)
        state_at_rest = None if was_idle or for_writing else self._state_at_rest()
        try:
            yield db
            db.rollback()
            if state_at_rest is not None and state_at_rest != self._state_at_rest():
                raise CollectionLocked(f"{self.path} was changed while it was read; do the same again")
        except BaseException:
            # After a failure nothing is assumed of the connection; closing it undoes what was not committed.
            db.close()
            raise
        self._keep_or_close(db, may_keep=was_idle)

    def _idle_connection(self) -> sqlite3.Connection | None:
        """A kept connection to the file; those to a file that another one has replaced, as in a repair, are closed."""
        with suppress(IndexError):
            while file_of(db := self._idle.pop()) != (identity_of(self.path) or file_of(db)):
                db.close()
                self._verified = self._structure_verified = False
                self._verify()
            return db
        return None

    def _keep_or_close(self, db: sqlite3.Connection, *, may_keep: bool) -> None:
        if may_keep and not self._closed:
            self._idle.append(db)
        else:
            db.close()

    def _begin_changing(self, db: sqlite3.Connection) -> None:
        if not self._changing:
            begin_counting(self.path, committed_count(db))
            self._changing = True

    def _verify(self, *, writing: bool = False) -> None:
        """Verify the file once, and again before writing. Raises CollectionError where it is damaged."""
        with self._verifying:
            if self._verified and not writing:
                return
            self._checksum = verify_catalog(self.path, self._checksum)
            left_open = self._checksum is None and not self._structure_verified
            checks_structure = left_open and (writing or not is_being_written(self.path.parent))
            db, may_keep = self._open(for_writing=False)
            try:
                verify_committed(self.path, db)
                if checks_structure:
                    verify_structure(self.path, db)
                    self._structure_verified = True
            except BaseException:
                db.close()
                raise
            self._keep_or_close(db, may_keep=may_keep and not self._idle)  # so that each writer verifies again
            self._verified = True

    def _verify_silently(self) -> None:
        # Whatever reads next verifies again and raises the error.
        with suppress(Exception):
            self._verify()

    def _open(self, *, for_writing: bool) -> tuple[sqlite3.Connection, bool]:
        """A connection, and whether it may be kept."""
        try:
            require_room(self.path)
            db = _connect(self.path, "mode=rw")
            allocate(self.path)
            return db, True
        except sqlite3.OperationalError as error:
            code = primary_code(error)
            if code not in _REFUSED | _NO_ROOM:
                raise
            if code in _NO_ROOM and (for_writing or not self._rests_after_closing()):
                return _connect(self.path, "mode=rw", exclusive=True), False
            if self._state_at_rest() is None:
                raise
            # SQLite shares a write-ahead log through files beside it, which it cannot make in a folder that we may not
            # write or on a full disk. Without them no other process has the file open, so it can be read without locks.
            # This is decided for each connection anew, because it may change.
            return _connect(self.path, "mode=ro&immutable=1"), False

    def _rests_after_closing(self) -> bool:
        """Whether the file is complete by itself, after checkpointing what a killed process left in the log."""
        if self._state_at_rest() is None:
            with suppress(sqlite3.OperationalError):
                _connect(self.path, "mode=rw", exclusive=True).close()
        return self._state_at_rest() is not None

    def _state_at_rest(self) -> tuple[int, int] | None:
        """Modification time and size, which identify a state of the file at rest; None while it has a log."""
        log_path = self.path.with_name(f"{self.path.name}-wal")
        try:
            if log_path.exists() and log_path.stat().st_size:
                return None
            file_stat = self.path.stat()
        except OSError:
            return None
        return file_stat.st_mtime_ns, file_stat.st_size


def _log_is_emptied(db: sqlite3.Connection) -> bool:
    """Checkpoint the write-ahead log; False if a reader blocks that for longer than a search takes."""
    db.execute(f"PRAGMA busy_timeout = {READERS_MS}")
    (busy, _, _) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    db.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
    return not busy


def _connect(path: Path, options: str, *, exclusive: bool = False) -> sqlite3.Connection:
    """Connect; with `exclusive`, in exclusive mode, which locks others out and needs no shared-memory file."""
    uri, counted = f"{path.absolute().as_uri()}?{options}", DESCRIPTORS.connected(path)
    try:
        db = sqlite3.connect(
            uri,
            uri=True,
            timeout=_BUSY_MS / 1000,
            isolation_level=None,
            check_same_thread=False,
            factory=CountedConnection,
        )
    except BaseException:
        DESCRIPTORS.disconnected(counted)
        raise
    try:
        db.counted = counted
        db.create_function("row_checksum", -1, row_checksum, deterministic=True)
        db.create_function("verified", -1, _verified, deterministic=True)
        if exclusive:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
        # With a WAL, NORMAL cannot damage the catalogue: a killed process loses no transaction; a power cut may lose
        # the last ones, which their count beside the file then shows.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA foreign_keys = ON")
        db.execute("PRAGMA trusted_schema = ON")  # our views call our functions
        db.execute("SELECT name FROM sqlite_master LIMIT 1")  # reads the file, so that an unreadable one raises now
    except BaseException:
        db.close()
        raise
    return db


def _decoded_leniently(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _verified(checksum: int, record: str | bytes, *columns: str | int | None) -> str | bytes:
    if checksum != row_checksum(record, *columns):
        raise ValueError("the row is not what was written")
    return record
