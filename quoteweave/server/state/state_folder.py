"""The default folder of a server's keys, jobs, uploads and conversations, and how SQLite files in it are opened."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quoteweave.collection.catalog.shared_memory import allocate, require_room
from quoteweave.core.errors import QuoteweaveError, StateError

STATE_VARIABLE = "QUOTEWEAVE_STATE"


def default_state() -> Path:
    """Return the folder that QUOTEWEAVE_STATE names, else `quoteweave` in the user's state folder (XDG)."""
    folder_named = os.environ.get(STATE_VARIABLE)
    if folder_named:
        return Path(folder_named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "quoteweave"


def make_state(folder: Path) -> Path:
    """Make the folder, closed to other users, if it does not exist. Raises StateError if that fails."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"the state folder {folder} cannot be made ({error.strerror or error})",
            remedy=f"name another with --state, or {STATE_VARIABLE}",
        ) from error
    return folder


def open_sqlite(path: Path, prepare: Callable[[sqlite3.Connection], object], *, busy_s: float) -> sqlite3.Connection:
    """Open the file for several threads, one at a time. A new file is readable by this user alone.

    `prepare` sets up the connection and makes the tables; if it raises, the connection is closed. Waits up to `busy_s`
    seconds for another process that is writing. Raises OSError and sqlite3.Error.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite itself would let other users read it
    require_room(path)
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=busy_s)
    try:
        prepare(db)
        allocate(path)
    except BaseException:
        db.close()
        raise
    return db


def finds_damage(error: BaseException) -> bool:
    """Whether SQLite raised the error because the file is damaged, or no database."""
    # The low byte of SQLite's extended result code is the primary one.
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class StateDatabase:
    """An open SQLite file, which threads use one at a time; `as_error` makes the errors that it raises."""

    def __init__(
        self, connection: sqlite3.Connection, as_error: Callable[[sqlite3.Error | OSError], QuoteweaveError]
    ) -> None:
        self._connection, self._as_error = connection, as_error
        self._lock = threading.Lock()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Use the file without a transaction."""
        try:
            with self._lock:
                yield self._connection
        except (sqlite3.Error, OSError) as error:
            raise self._as_error(error) from error

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction, which has ended when the block has, and is rolled back if it fails."""
        with self.reading() as db:
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # a full disk may have ended the transaction already
                    db.execute("ROLLBACK")
                raise

    def cut_log(self) -> None:
        """Truncate the write-ahead log, which still holds what was deleted; readers of other processes may delay it."""
        with self.reading() as db:
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
