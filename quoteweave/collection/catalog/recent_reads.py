"""Keeps what was read last from the catalogue: a search and its answer read the same several times, as do the next."""

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterable, Sized
from typing import Any, TypeVar

from quoteweave.collection.catalog.database import Catalog
from quoteweave.collection.catalog.file_checksum import FileIdentity, committed_count, file_of
from quoteweave.collection.filters import select_rows
from quoteweave.core.concurrency.recent_cache import RecentCache
from quoteweave.core.records import Filter, Quote

T = TypeVar("T")
_QUOTES = 8192
"""How many quotes are kept in memory."""
_MAX_RECORD = 4_000
"""Most characters of the record of a quote that is kept, so that all of them take some 40 MB at most."""
_RESULTS, _MAX_ITEMS = 1024, 200
"""How many other results are kept, each of so many items at most: some 10 MB."""
_State = tuple[FileIdentity | None, int, int]
_CHECKSUMS = "SELECT row, checksum FROM quotes WHERE row IN (SELECT value FROM json_each(?))"
_AT = "SELECT row, record FROM checked_quotes WHERE row IN (SELECT value FROM json_each(?))"


class RecentReads:
    """Reads quotes and other things of the catalogue, and keeps them with the state in which they were read.

    What another process writes is seen by the next read, because the number of commits is then another.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._results: RecentCache[tuple[_State, Hashable], tuple[Any]] = RecentCache(_RESULTS)
        self._quotes: RecentCache[int, tuple[_State, int, Quote]] = RecentCache(_QUOTES)

    def result(self, key: Hashable, query: Callable[[sqlite3.Connection], T]) -> T:
        """What `query`, which `key` stands for, gives of the catalogue alone; it must not be changed."""
        with self._catalog.read() as db:
            return self._result(db, key, query)

    def matching(self, where: Filter | None, *, retrievable_only: bool) -> list[Quote]:
        """The quotes that pass a filter, by row. Raises UsageError for documents that do not exist."""
        key = where.model_dump_json() if where else None, retrievable_only

        def select(db: sqlite3.Connection) -> list[int]:
            return select_rows(db, where, retrievable_only=retrievable_only).tolist()

        with self._catalog.read() as db:
            rows = self._result(db, key, select)
            quotes = self._at(db, rows)
        return [quotes[row] for row in rows]

    def at(self, rows: Iterable[int]) -> dict[int, Quote]:
        """The quotes of these rows; removed rows are left out. Raises CollectionError for a damaged row.

        A quote is kept with its row's checksum, which covers all columns of the row. After a commit it is verified
        again only if that checksum has changed.
        """
        with self._catalog.read() as db:
            return self._at(db, rows)

    def _result(self, db: sqlite3.Connection, key: Hashable, query: Callable[[sqlite3.Connection], T]) -> T:
        state_and_key = _state(db), key
        cached = self._results.get(state_and_key)
        if cached is None:
            cached = (query(db),)
            if not isinstance(cached[0], Sized) or len(cached[0]) <= _MAX_ITEMS:
                self._results.put(state_and_key, cached)
        result: T = cached[0]
        return result

    def _at(self, db: sqlite3.Connection, rows: Iterable[int]) -> dict[int, Quote]:
        state, recent = _state(db), {row: self._quotes.get(row) for row in rows}
        quotes = {row: cached[2] for row, cached in recent.items() if cached is not None and cached[0] == state}
        unconfirmed_rows = [row for row in recent if row not in quotes]
        checksums = dict(db.execute(_CHECKSUMS, (json.dumps(unconfirmed_rows),))) if unconfirmed_rows else {}
        changed = list[int]()
        for row, checksum in checksums.items():
            cached = recent[row]
            if cached is not None and cached[1] == checksum:
                quotes[row] = cached[2]
                self._quotes.put(row, (state, checksum, cached[2]))
            else:
                changed.append(row)
        for row, record in db.execute(_AT, (json.dumps(changed),)) if changed else ():
            quote = quotes[row] = Quote.model_validate_json(record)
            if len(record) <= _MAX_RECORD:
                self._quotes.put(row, (state, checksums[row], quote))
        return quotes


def _state(db: sqlite3.Connection) -> _State:
    """Its file, how many transactions a connection sees, and SQLite's number, which changes if others write."""
    committed = committed_count(db)
    (version,) = db.execute("PRAGMA data_version").fetchone()
    return file_of(db), committed, version
