"""Sessions of people who signed in on the page: a cookie that stands for a key, so that no script holds the key."""

import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from quoteweave.collection.checksums import row_checksum
from quoteweave.core.errors import StateError
from quoteweave.server.access.keys import secret_hash
from quoteweave.server.state.state_folder import make_state

SESSIONS_FILE = "sessions.sqlite"
LIFETIME = timedelta(days=7)
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS checked_sessions (hash TEXT PRIMARY KEY, key TEXT NOT NULL, expires INTEGER NOT NULL, "
    "checksum INTEGER NOT NULL) WITHOUT ROWID"
)


class SessionStore:
    """Sessions in a file of the state folder, shared by the processes that serve; they outlast a restart.

    The file holds hashes of the tokens. At each request, `KeyStore.active` says whether the session's key is still
    accepted. A damaged file is replaced by a new one, so that people have to sign in again. Every method raises
    StateError if the file cannot be used.
    """

    def __init__(self, state: Path, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.path = state / SESSIONS_FILE
        self._clock = clock

    def begin(self, key_id: str) -> str:
        """Begin a session of this key; return its token, which is the cookie's value."""
        token, now = secrets.token_urlsafe(32), self._clock()
        make_state(self.path.parent)
        with self._open() as db:
            db.execute("DELETE FROM checked_sessions WHERE expires <= ?", (int(now.timestamp()),))
            row = secret_hash(token), key_id, int((now + LIFETIME).timestamp())
            db.execute("INSERT INTO checked_sessions VALUES (?, ?, ?, ?)", (*row, row_checksum(*row)))
        return token

    def key_of(self, token: str) -> str | None:
        """Return the id of the session's key, or None if the session does not exist, has ended or is damaged."""
        if not self.path.exists():
            return None
        with self._open() as db:
            # The hash is looked up and not the token, as the time of a look-up could tell something about a token.
            select = "SELECT hash, key, expires, checksum FROM checked_sessions WHERE hash = ?"
            stored_row = db.execute(select, (secret_hash(token),)).fetchone()
        if stored_row is None:
            return None
        *row, checksum = stored_row
        # The checksum is needed because a flipped bit could give the session to another key, or move its end.
        if checksum != row_checksum(*row) or row[2] <= self._clock().timestamp():
            return None
        return str(row[1])

    def end(self, token: str) -> None:
        """End a session, if there is one."""
        if self.path.exists():
            with self._open() as db:
                db.execute("DELETE FROM checked_sessions WHERE hash = ?", (secret_hash(token),))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(self._connect()) as db, db:
                yield db
        except (OSError, sqlite3.Error) as error:
            raise StateError(f"{self.path} cannot be used ({error}); make room, or allow writing there") from error

    def _connect(self) -> sqlite3.Connection:
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))  # SQLite itself would let other users read it
        db = sqlite3.connect(self.path, timeout=10)
        try:
            db.execute(_SCHEMA)
        except sqlite3.OperationalError:
            db.close()
            raise
        except sqlite3.DatabaseError:  # the file is damaged, or no database
            db.close()
            self.path.unlink()
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            db = sqlite3.connect(self.path, timeout=10)
            db.execute(_SCHEMA)
        return db
