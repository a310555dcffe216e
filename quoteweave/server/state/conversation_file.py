"""The SQLite file of conversations: its tables, and how a damaged file is replaced."""

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from quoteweave.core.errors import StateError
from quoteweave.server.state.state_folder import finds_damage, make_state, open_sqlite

CONVERSATIONS_FILE = "conversations.sqlite"
_VERSION = 1
_BUSY_S = 10.0
# `folded` is the text that searches by words read: the title and the questions, case-folded.
_SCHEMA = f"""
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS conversations (
    id TEXT PRIMARY KEY,
    collection TEXT NOT NULL,
    owner TEXT,
    title TEXT NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    questions INTEGER NOT NULL DEFAULT 0,
    questions_folded TEXT NOT NULL DEFAULT '',
    folded TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS conversations_by_use ON conversations (collection, updated);
CREATE TABLE IF NOT EXISTS turns (
    id TEXT PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE,
    number INTEGER NOT NULL,
    record TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (conversation, number)
);
CREATE TABLE IF NOT EXISTS quotes (
    collection TEXT NOT NULL,
    quote TEXT NOT NULL,
    turn TEXT NOT NULL REFERENCES turns ON DELETE CASCADE,
    PRIMARY KEY (collection, quote, turn)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS quotes_of_turn ON quotes (turn);
PRAGMA user_version = {_VERSION};
COMMIT;
"""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The file of conversations, open."""

    path: Path
    connection: sqlite3.Connection
    """Several threads may use it, one at a time."""
    warning: str | None
    """Where a damaged file was moved; None if the file was not damaged."""


class _Damaged(Exception):
    """The file is no SQLite file, or SQLite finds it damaged."""


def open_conversations(state: Path) -> OpenedFile:
    """Open the file in the state folder, and make it if there is none; a damaged one is renamed first.

    Raises StateError if it cannot be read or written, or was written by a newer version.
    """
    from filelock import FileLock

    path = make_state(state) / CONVERSATIONS_FILE
    try:
        with FileLock(path.with_suffix(".lock"), mode=0o600):  # so that two processes do not both rename it
            try:
                return OpenedFile(path, _connect(path), None)
            except _Damaged as error:
                aside = _set_aside(path)
                message = (
                    f"{path} was damaged ({error}) and is now {aside.name}, with the conversations until now; new ones "
                    "are kept in a new file"
                )
                return OpenedFile(path, _connect(path), message)
    except (OSError, sqlite3.Error, _Damaged) as error:
        raise StateError(f"{path} cannot be opened ({error}); make room or allow writing there") from error


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return open_sqlite(path, partial(_prepare, path), busy_s=_BUSY_S)
    except sqlite3.DatabaseError as error:
        if finds_damage(error):
            raise _Damaged(str(error)) from error
        raise


def _prepare(path: Path, db: sqlite3.Connection) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > _VERSION:
        raise StateError(
            f"{path} was written by a newer version of quoteweave",
            remedy="upgrade this one, or name another folder with --state",
        )
    check_result = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if check_result != "ok":
        raise _Damaged(str(check_result))
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA secure_delete = ON")
    if version < _VERSION:
        db.executescript(_SCHEMA)


def _set_aside(path: Path) -> Path:
    """Rename the damaged file and its write-ahead log; return the file's new path."""
    aside = path.with_name(f"{path.stem}.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{path.suffix}")
    path.replace(aside)
    with suppress(FileNotFoundError):
        Path(f"{path}-wal").replace(f"{aside}-wal")
    Path(f"{path}-shm").unlink(missing_ok=True)
    return aside
