"""The checksum of the catalogue's file, stored beside it while nobody writes.

Before a writer's first transaction changes anything, it replaces the checksum by the number of transactions committed
so far, which each transaction raises. At its end, the writer moves SQLite's log into the file and records the checksum
again. So if there is a checksum, the file has not changed since. If there is a number, a writer is alive or was killed.
Of a damaged log SQLite reads what precedes the damage: the catalogue then has fewer transactions than the number says.
So does an older copy of the file, put back with its own checksum: another file keeps the number when a writer ends.
"""

import os
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from uuid import uuid4

from quoteweave.collection.checksums import checksum_of, sealed_record, unsealed_record
from quoteweave.collection.storage_errors import damage_error, guard_writing
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Record

_SUFFIX = ".checksum"

FileIdentity = tuple[int, int]
"""The identity of a file: its device and inode."""


class FileChecksum(Record):
    """The checksum of the catalogue's file when its last writer ended."""

    content: str
    written: str  # random, so that two writings of the same content differ


class CommittedCount(Record):
    """Replaces the checksum while the file may change: how many transactions were committed."""

    committed: int


class _Descriptors:
    """Reads files that SQLite may have open in this process.

    POSIX drops all locks that a process holds on a file as soon as it closes any descriptor of it, SQLite's own locks
    among them. So a descriptor is closed only once no connection is open.
    """

    def __init__(self) -> None:
        self._connections: Counter[FileIdentity] = Counter()
        self._idle_files: defaultdict[FileIdentity, list[FileIO]] = defaultdict(list)
        self._guard = threading.Lock()

    def connected(self, path: Path) -> FileIdentity | None:
        """Count a connection that is about to be opened; return the file's identity, None where there is no file."""
        with self._guard:
            if key := identity_of(path):
                self._connections[key] += 1
            return key

    def disconnected(self, key: FileIdentity | None) -> None:
        """Count that a connection to this file is closed."""
        with self._guard:
            if key is not None:
                self._connections[key] -= 1
                self._close_unused(key)

    @contextmanager
    def opened(self, path: Path) -> Iterator[FileIO]:
        """The file, to be read from its start. Raises OSError."""
        with self._guard:
            idle_files = self._idle_files.get(_key(path.stat()))
            file = idle_files.pop() if idle_files else None
        file = file or path.open("rb", buffering=0)
        file.seek(0)
        key = _key(os.fstat(file.fileno()))
        try:
            yield file
        finally:
            with self._guard:
                self._idle_files[key].append(file)
                self._close_unused(key)

    def _close_unused(self, key: FileIdentity) -> None:
        if self._connections[key] <= 0:
            del self._connections[key]
            for file in self._idle_files.pop(key, []):
                file.close()


def _key(file_stat: os.stat_result) -> FileIdentity:
    return file_stat.st_dev, file_stat.st_ino


def identity_of(path: Path) -> FileIdentity | None:
    """The identity of the file that is there now; None where there is none."""
    try:
        return _key(path.stat())
    except OSError:
        return None


DESCRIPTORS = _Descriptors()


class CountedConnection(sqlite3.Connection):
    """A connection that is counted while it is open."""

    counted: FileIdentity | None = None

    def close(self) -> None:
        """Close the connection, and count that."""
        super().close()
        counted, self.counted = self.counted, None
        DESCRIPTORS.disconnected(counted)


def file_of(db: sqlite3.Connection) -> FileIdentity | None:
    """The identity of the file that a counted connection has open."""
    return db.counted if isinstance(db, CountedConnection) else None


# The state in which each file was last verified in this process: while it is the same, opening costs nothing.
_verified: dict[Path, tuple[str, int, int, int]] = {}


def _state(expected: FileChecksum, file_stat: os.stat_result) -> tuple[str, int, int, int]:
    return expected.written, file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns


def checksum_path(path: Path) -> Path:
    """The path of the checksum file of the catalogue at `path`."""
    return path.with_name(path.name + _SUFFIX)


def settled_count(path: Path) -> int:
    """How many transactions the catalogue at `path` held when its last writer ended; 0 where that is not known."""
    return _read_count(_settled_count_path(path))


def _settled_count_path(path: Path) -> Path:
    # Its name does not begin with the catalogue's, as an older catalogue may be copied back with its checksum file.
    return path.with_name(f"changes-of-{path.name}")


def read_catalog_checksum(path: Path) -> FileChecksum | None:
    """Read the checksum of the catalogue at `path`; None while somebody writes, or if it is missing or damaged."""
    try:
        return unsealed_record(FileChecksum, checksum_path(path).read_bytes())
    except (OSError, ValueError):
        return None


def verify_catalog(path: Path, known: FileChecksum | None = None, *, anew: bool = False) -> FileChecksum | None:
    """Verify the file against its checksum, unless that is the `known` one; return the checksum, or None without one.

    A file that this process has verified and that has not been modified since is read again only with `anew`.

    Raises CollectionError where the file is not what was written.
    """
    while (expected := read_catalog_checksum(path)) is not None and expected != known:
        try:
            if _verified.get(path) == _state(expected, path.stat()) and not anew:
                break
            with DESCRIPTORS.opened(path) as file:
                state = _state(expected, os.fstat(file.fileno()))
                actual = checksum_of(file)
        except FileNotFoundError:
            raise damage_error(path, "the file is missing") from None
        except OSError:
            return None  # SQLite will say why it cannot be read
        if actual == expected.content:
            _verified[path] = state
            break
        # The checksum is read again: a writer that began meanwhile has removed it before changing the file.
        if read_catalog_checksum(path) == expected:
            raise damage_error(path, "its content is not what was written")
    return expected


def delete_catalog_checksum(path: Path) -> None:
    """Delete the checksum durably: a power cut must not restore it beside a changed file."""
    checksum_file = checksum_path(path)
    with guard_writing(checksum_file):
        if not checksum_file.exists():
            return
        checksum_file.unlink()
        if hasattr(os, "O_DIRECTORY"):
            folder_descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder_descriptor)
            finally:
                os.close(folder_descriptor)


def begin_counting(path: Path, committed: int) -> None:
    """Replace the checksum durably by the number of transactions that were committed, before another one begins."""
    try:
        with checksum_path(path).open("r+b") as file:
            file.truncate()
            file.write(sealed_record(CommittedCount(committed=committed)))
            file.flush()
            os.fsync(file.fileno())
    except OSError:  # there is no count yet, or no room for it
        delete_catalog_checksum(path)
        count_committed(path, committed)


def count_committed(path: Path, committed: int) -> None:
    """Record how many transactions were committed, after the last of them."""
    _write_count(checksum_path(path), committed)


def _write_count(path: Path, committed: int) -> None:
    # A count that a full disk refuses, or that a kill cuts short, is read as 0.
    with suppress(OSError):
        path.write_bytes(sealed_record(CommittedCount(committed=committed)))


def _read_count(path: Path) -> int:
    try:
        return unsealed_record(CommittedCount, path.read_bytes()).committed
    except (OSError, ValueError):
        return 0


def verify_committed(path: Path, db: sqlite3.Connection) -> None:
    """Raise CollectionError where the catalogue lacks transactions that were committed."""
    lost = count_lost(path, db)
    if lost:
        raise damage_error(path, describe_lost(path, lost))


def count_lost(path: Path, db: sqlite3.Connection) -> int:
    """How many transactions were committed, by the counts beside the file, and are missing in it."""
    # The counts are read before the catalogue's own, in case a process is writing.
    recorded = max(_read_count(checksum_path(path)), settled_count(path))
    return max(0, recorded - committed_count(db))


def describe_lost(path: Path, lost: int) -> str:
    """Say that transactions were lost, and what that means."""
    return (
        f"it lacks {pluralize(lost, 'change', 'changes')} made last, because an older copy of it was put in its place, "
        f"or its log {path.name}-wal was damaged or is gone, so that documents added, changed or removed then are as "
        "before: put the newer file back, or run that command again after the repair"
    )


def committed_count(db: sqlite3.Connection) -> int:
    """How many transactions a connection sees."""
    (count,) = db.execute("PRAGMA user_version").fetchone()
    return int(count)


def write_catalog_checksum(path: Path, committed: int) -> FileChecksum:
    """Record the checksum of the file, and how many transactions it holds. Only for the writer.

    All of SQLite's log must have been moved into the file.
    """
    _write_count(_settled_count_path(path), committed)
    with DESCRIPTORS.opened(path) as file:
        file_checksum = FileChecksum(content=checksum_of(file), written=uuid4().hex)
    with guard_writing(checksum_path(path)):
        checksum_path(path).write_bytes(sealed_record(file_checksum))  # if a kill cuts it short, it is read as none
    return file_checksum


def verify_structure(path: Path, db: sqlite3.Connection) -> None:
    """Run SQLite's integrity check, indexes included. Raises CollectionError if the structure is damaged."""
    (result,) = db.execute("PRAGMA integrity_check(1)").fetchone()
    if result != "ok":
        raise damage_error(path, str(result))
