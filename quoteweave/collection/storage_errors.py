"""Converts errors of disk and SQLite into storage errors that name the file and say what to do."""

import errno
import shlex
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from quoteweave.core.errors import CollectionError, CollectionLocked, StorageError
from quoteweave.core.lazy_regex import lazy_regex

_MAKE_ROOM = "make room on that disk, then run the same command again"
_ALLOW = "allow writing there, then run the same command again"
_CHECK = "check that disk, then run the same command again"
_ADVICE = {
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
    errno.EFBIG: "raise the limit on the size of files, then run the same command again",
    errno.EROFS: _ALLOW,
    errno.EACCES: _ALLOW,
    errno.EPERM: _ALLOW,
    errno.EIO: _CHECK,
}
_SQLITE_ADVICE = {
    # If the collection's disk has room, the full one is that on which SQLite rewrites the catalogue.
    sqlite3.SQLITE_FULL: "make room on that disk, or in the folder for temporary files (TMPDIR names another), "
    "then run the same command again",
    sqlite3.SQLITE_READONLY: _ALLOW,
    sqlite3.SQLITE_CANTOPEN: _ALLOW,
    sqlite3.SQLITE_PERM: _ALLOW,
    sqlite3.SQLITE_IOERR: "make room or raise the limit on the size of files, then run the same command again",
}
_PART_WRITTEN = lazy_regex(r"\d+ requested and \d+ written")
_LITTLE = 64 << 10  # bytes; SQLite's own files take more
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}


@contextmanager
def guard_writing(path: Path) -> Iterator[None]:
    """Convert errors of a block that writes `path`.

    Raises StorageError where the disk is full or refuses, CollectionLocked where another program holds the catalogue,
    CollectionError where the catalogue is damaged. Other errors pass as they are.
    """
    try:
        yield
    except OSError as error:
        # numpy's error has no number where the disk took only a part.
        advice = _MAKE_ROOM if _PART_WRITTEN.fullmatch(str(error)) else _ADVICE.get(error.errno or 0)
        if advice is None:
            raise
        raise StorageError(_refused(Path(error.filename or path), error.strerror or str(error), advice)) from error
    except sqlite3.Error as error:
        code = primary_code(error)
        if code in _SQLITE_ADVICE and is_full(path):
            raise StorageError(_refused(path, f"the disk is full ({error})", _MAKE_ROOM)) from error
        if code in _SQLITE_ADVICE:
            raise StorageError(_refused(path, str(error), _SQLITE_ADVICE[code])) from error
        raise _read_error(path, error) from error
    except UnicodeDecodeError as error:
        raise damage_error(path, "a record in it is not what it should be") from error


@contextmanager
def guard_reading(path: Path) -> Iterator[None]:
    """Convert errors of a block that reads the catalogue at `path`.

    Raises CollectionError where it is damaged, missing or cannot be read (StorageError where that is for want of room),
    CollectionLocked where another program holds it. Other errors pass as they are.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise _read_error(path, error) from error
    except (ValidationError, UnicodeDecodeError) as error:  # the second: in SQLite's own text
        raise damage_error(path, "a record in it is not what it should be") from error


def is_full(path: Path) -> bool:
    """Whether the disk of `path` has almost no space left."""
    try:
        return shutil.disk_usage(path.parent).free < _LITTLE
    except OSError:
        return False


class DamagedFile(CollectionError):
    """A file of a collection is damaged or missing."""


def damage_error(path: Path, reason: str) -> DamagedFile:
    """The error for a damaged file at `path`."""
    return DamagedFile(f"{path} is damaged: {reason}", remedy=repair_command(path.parent))


def unreadable_error(path: Path, error: OSError) -> CollectionError:
    """The error for a folder or file at `path` that the system does not let this process read."""
    return CollectionError(f"cannot read {path}: {error.strerror}; allow reading it, then try again")


def repair_command(root: Path) -> str:
    """What to do about damage in the collection at `root`."""
    return f"make again what can be made again with: quoteweave check -c {shlex.quote(str(root))} --repair"


OTHER_VERSION = "the lexical index was made by another version"


def renewal_advice(root: Path) -> str:
    """The advice for rebuilding the lexical index of the collection at `root`."""
    return f"the next add makes it anew, and so does: quoteweave check -c {shlex.quote(str(root))} --repair"


def _refused(path: Path, reason: str, advice: str) -> str:
    return f"cannot write {path}: {reason}; {advice}. What was stored before is intact"


def _read_error(path: Path, error: sqlite3.Error) -> CollectionError:
    code = primary_code(error)
    if code in _BUSY:
        return CollectionLocked(f"another program holds {path}; close it, then try again")
    if code == sqlite3.SQLITE_CANTOPEN and not path.exists():
        return damage_error(path, "the file is missing")
    if path.exists() and not path.is_file():
        return damage_error(path, "something else is in its place")
    if code in _SQLITE_ADVICE and is_full(path):
        return StorageError(f"cannot read {path}: the disk is full ({error}); {_MAKE_ROOM}")
    if code in _SQLITE_ADVICE:
        return CollectionError(
            f"cannot read {path}: {error}; allow reading it, and let a command that may write there run once if the "
            "last one that wrote was killed"
        )
    # Our statements never change, so one that SQLite cannot execute met a schema that is not ours; text that is not
    # valid Unicode is found by Python's own module, whose error has no code.
    reason = "a record in it is not what was written" if "user-defined function" in str(error) else str(error)
    return damage_error(path, reason)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code of an error, without its extension; 0 where the error is not SQLite's."""
    # The low byte of SQLite's extended result code is the primary one; errors of the Python module carry none.
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
