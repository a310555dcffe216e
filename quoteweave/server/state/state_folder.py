"""Where a server keeps keys, jobs, uploads and conversations unless it is told; how SQLite files there are opened."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from quoteweave.collection.catalog.shared_memory import allocate, require_room
from quoteweave.core.errors import StateError

STATE_VARIABLE = "QUOTEWEAVE_STATE"


def default_state() -> Path:
    """Return the folder that QUOTEWEAVE_STATE names, else quoteweave's in the user's own folder of state (XDG)."""
    named = os.environ.get(STATE_VARIABLE)
    if named:
        return Path(named)
    base = os.environ.get("XDG_STATE_HOME")
    return (Path(base) if base else Path.home() / ".local" / "state") / "quoteweave"


def make_state(folder: Path) -> Path:
    """Make the folder where there is none, closed to other users. Raises StateError where that cannot be done."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StateError(
            f"the state folder {folder} cannot be made ({error.strerror or error})",
            remedy=f"name another with --state, or {STATE_VARIABLE}",
        ) from error
    return folder


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
