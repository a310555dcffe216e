"""Counts each caller's requests of the last minute and those under way, over all processes of one server."""

import logging
import math
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from quoteweave.core.errors import StateError
from quoteweave.server.problems import ProblemError
from quoteweave.server.state.state_folder import open_sqlite

LOG = logging.getLogger("quoteweave.server")
REQUESTS_FILE = "requests.sqlite"
MAX_AT_ONCE = 512
"""Requests of all callers that one process answers at the same time, at most."""
_MINUTE = 60.0
# How long to wait for another process's counting, which takes a fraction of a millisecond; other requests wait as well.
_BUSY_SECONDS = 0.25
_SCHEMA = """
CREATE TABLE IF NOT EXISTS taken (caller TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS taken_by_caller ON taken (caller, at);
CREATE INDEX IF NOT EXISTS taken_by_time ON taken (at);
CREATE TABLE IF NOT EXISTS held (id INTEGER PRIMARY KEY, caller TEXT NOT NULL, process INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS held_by_caller ON held (caller);
"""


def _prepare(db: sqlite3.Connection) -> None:
    # Writes are not synced, as counts that are lost when the machine fails mean nothing afterwards.
    db.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; {_SCHEMA}")


class RequestCounts:
    """Counts requests by caller, in a file that several processes share, or in memory if there is no file.

    Requests that a killed process had under way are forgotten before their caller would be refused because of them.
    `clock` gives seconds since the epoch, which are the same for all processes. Raises StateError if the file cannot be
    used.
    """

    def __init__(
        self, file: Path | None = None, *, total: int = MAX_AT_ONCE, clock: Callable[[], float] = time.time
    ) -> None:
        self._name = file or "the counts of requests"
        self._total, self._clock, self._under_way = total, clock, 0
        # Requests that have ended but are still counted, because the file could not be written at their end.
        self._ended: list[int] = []
        with self._naming_the_file():
            if file is not None:
                self._db = open_sqlite(file, _prepare, busy_s=_BUSY_SECONDS)
            else:
                self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                _prepare(self._db)

    def take(self, caller: str, per_minute: int | None) -> None:
        """Count a request. Raises ProblemError (429), with the seconds to wait, if the caller has sent too many."""
        if per_minute is None:
            return
        now = self._clock()
        with self._naming_the_file():
            self._db.execute("DELETE FROM taken WHERE at <= ?", (now - _MINUTE,))
            is_counted = self._db.execute(
                "INSERT INTO taken SELECT ?1, ?2 WHERE (SELECT count(*) FROM taken WHERE caller = ?1) < ?3",
                (caller, now, per_minute),
            ).rowcount
            if is_counted:
                return
            # Once this request is a minute old, the next one is allowed.
            (last,) = self._db.execute(
                "SELECT at FROM taken WHERE caller = ? ORDER BY at DESC LIMIT 1 OFFSET ?", (caller, per_minute - 1)
            ).fetchone() or (now,)
        wait = max(1, math.ceil(last + _MINUTE - now))
        raise ProblemError(
            429,
            "too-many-requests",
            f"{per_minute} requests a minute are allowed; send the next one in {wait} seconds",
            headers={"Retry-After": str(wait)},
        )

    @contextmanager
    def hold(self, caller: str, at_once: int) -> Iterator[None]:
        """Count a request until the block ends.

        Raises ProblemError: 429 if the caller has as many as it may, 503 if this process has as many as it may.
        """
        if self._under_way >= self._total:
            raise ProblemError(
                503,
                "busy",
                f"the server answers {self._total} requests at the same time, and has so many; try again soon",
                headers={"Retry-After": "2"},
            )
        with self._naming_the_file():
            self._forget_the_ended()
            request_id = self._hold(caller, at_once) or (self._forget_the_dead() and self._hold(caller, at_once))
        if not request_id:
            raise ProblemError(
                429,
                "too-many-at-once",
                f"{at_once} requests at the same time are allowed; wait until one of them is answered",
                headers={"Retry-After": "1"},
            )
        self._under_way += 1
        try:
            yield
        finally:
            self._under_way -= 1
            self._ended.append(request_id)
            try:
                self._forget_the_ended()
            except sqlite3.Error as error:
                # The request's answer has been sent. It still counts until the next request of this process is counted.
                LOG.warning("%s cannot be used (%s): an ended request counts on for now", self._name, error)

    def _hold(self, caller: str, at_once: int) -> int | None:
        """Count a request and return its id, or None if the caller has as many as it may."""
        added = self._db.execute(
            "INSERT INTO held (caller, process) SELECT ?1, ?2 WHERE (SELECT count(*) FROM held WHERE caller = ?1) < ?3",
            (caller, os.getpid(), at_once),
        )
        return added.lastrowid if added.rowcount else None

    def _forget_the_ended(self) -> None:
        while self._ended:
            self._db.execute("DELETE FROM held WHERE id = ?", (self._ended[-1],))
            self._ended.pop()

    def _forget_the_dead(self) -> bool:
        """Forget the requests of processes that no longer run; return whether there were any."""
        import psutil

        processes = [process for (process,) in self._db.execute("SELECT DISTINCT process FROM held")]
        dead = [process for process in processes if not psutil.pid_exists(process)]
        self._db.executemany("DELETE FROM held WHERE process = ?", [(process,) for process in dead])
        return bool(dead)

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StateError(f"{self._name} cannot be used ({error}); make room, or allow writing there") from error
