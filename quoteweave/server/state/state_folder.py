"""The default folder of a server's keys, jobs, uploads and conversations, and how SQLite files in it are opened."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from quoteweave.collection.catalog.shared_memory import allocate, require_room
from quoteweave.core.errors import StateError

STATE_VARIABLE = "QUOTEWEAVE_STATE"


def default_state() -> Path:
    """Return the folder that QUOTEWEAVE_STATE names, else `quoteweave` in the user's state folder (XDG)."""
    named = os.environ.get(STATE_VARIABLE)
    if named:
        return Path(named)
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
