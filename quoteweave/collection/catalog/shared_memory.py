"""Reserves disk space for the file `-shm`, which SQLite maps into memory to share its log between processes.

SQLite writes one byte in each 4 KiB of it before it maps it, so that a full disk is reported in time. Where a disk's
blocks are smaller, as on small ext4 file systems, the rest of each 4 KiB are holes, and on a full disk the system ends
a process that touches one (SIGBUS).
"""

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

_SQLITE_STEP = 4096
# Bytes of the file that are reserved: enough for a log of 64 MB.
_SIZE = 128 << 10
# Free bytes that are required, because other files written soon may take room before this one is complete.
_ROOM = 1 << 20
_ALLOCATE = (
    "import os, sys; file = os.open(sys.argv[1], os.O_RDWR); "
    "os.posix_fallocate(file, 0, max(int(sys.argv[2]), os.fstat(file).st_size))"
)
# Databases whose file could not be allocated though there was room: trying again would start a process at each opening.
_in_vain: set[Path] = set()


def require_room(database: Path) -> None:
    """Raise sqlite3.OperationalError, as for a full disk, where the file cannot be mapped safely."""
    if not _has_small_blocks(database) or shutil.disk_usage(database.parent).free >= _ROOM or _is_allocated(database):
        return
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    raise error


def allocate(database: Path) -> None:
    """Reserve disk space for the whole file, once SQLite has made it, where that is possible."""
    if database in _in_vain or not _has_small_blocks(database) or _is_allocated(database):
        return
    # Done by another process: closing the file in this one would release SQLite's locks on it.
    command = [sys.executable, "-I", "-S", "-c", _ALLOCATE, str(_path(database)), str(_SIZE)]
    # If there is no room, or no process can be started, nothing is lost.
    with suppress(OSError):
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)  # noqa: S603 - ours
        # A full disk is no reason not to try again: it may have room later.
        if not _is_allocated(database) and shutil.disk_usage(database.parent).free >= _ROOM:
            _in_vain.add(database)


def _has_small_blocks(database: Path) -> bool:
    try:
        return hasattr(os, "posix_fallocate") and os.statvfs(database.parent).f_frsize < _SQLITE_STEP
    except OSError:
        return False


def _is_allocated(database: Path) -> bool:
    try:
        return 512 * _path(database).stat().st_blocks >= _SIZE
    except OSError:
        return False


def _path(database: Path) -> Path:
    return database.with_name(f"{database.name}-shm")
