"""Temporary folders that do not outlive their use: those of killed processes are removed when the next one is made."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING
from uuid import uuid4

if TYPE_CHECKING:
    from filelock import BaseFileLock

_PREFIX = "quoteweave-used-"
_SUFFIX = ".lock"
# The locks that this process holds and so must not try: a thread waits 50 ms for a lock that another is just trying.
_held: set[Path] = set()


class TemporaryFolder:
    """A new folder in the system's temporary folder, accessible only to this user, until it is removed.

    Beside it is a file with a lock of the operating system, which is released when the process ends for whatever
    reason. A folder whose lock nobody holds is removed when another folder is made, or by `remove_abandoned`. Since
    that may take long, a coroutine calls `remove_abandoned` in a thread and then makes a folder that does not `clean`.
    Raises OSError if no folder can be made.
    """

    def __init__(self, *, clean: bool = True) -> None:
        if clean:
            remove_abandoned()
        self.path = Path(tempfile.gettempdir(), f"{_PREFIX}{uuid4().hex}")
        path = self.path.with_name(self.path.name + _SUFFIX)
        _held.add(path)
        self._lock = _lock(path)
        self._lock.acquire()
        try:
            self.path.mkdir(mode=0o700)
        except BaseException:
            self.remove()
            raise

    def remove(self) -> None:
        """Remove the folder with its contents; calling it again does nothing."""
        _remove(self.path, self._lock)
        _held.discard(Path(self._lock.lock_file))

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()


def remove_abandoned() -> None:
    """Remove this user's folders whose processes have ended without removing them."""
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{_SUFFIX}"):
        with suppress(OSError):  # the folder is in use, or another process has just removed it
            if path not in _held and _is_ours(path):
                lock = _lock(path)
                lock.acquire(timeout=0)
                _remove(path.with_suffix(""), lock)


def _is_ours(path: Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    status = path.lstat()
    return is_kind(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _remove(folder: Path, lock: "BaseFileLock") -> None:
    try:
        with suppress(OSError):
            if _is_ours(folder, stat.S_ISDIR):
                shutil.rmtree(folder, ignore_errors=True)
        # Removed while it is locked: otherwise another process might lock it first, and its file would then be gone.
        if os.name != "nt":
            Path(lock.lock_file).unlink(missing_ok=True)
    finally:
        lock.release()
    if os.name == "nt":  # where open files cannot be removed
        with suppress(OSError):
            Path(lock.lock_file).unlink()


def _lock(path: Path) -> "BaseFileLock":
    from filelock import FileLock

    return FileLock(path, mode=0o600, thread_local=False)
