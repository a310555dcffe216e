"""SQLite files of the state folder, as conversations, jobs and counts of requests are kept in."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from quoteweave.collection.catalog.shared_memory import allocate, require_room


def open_sqlite(path: Path, prepare: Callable[[sqlite3.Connection], object], *, busy_s: float) -> sqlite3.Connection:
    """Open the file, made for this user alone where there is none, for several threads, one at a time.

    `prepare` sets the connection up and makes the tables; what it raises closes the connection. Another process's
    writing is waited for `busy_s` seconds. Raises OSError and sqlite3.Error.
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
