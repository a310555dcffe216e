"""Temporary folders of which nothing stays: those of killed processes are removed when the next one is made."""

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
# The locks of this process: a thread whose lock another thread just tries has to wait for 50 ms.
_held: set[Path] = set()


class TemporaryFolder:
    """A new folder in the system's temporary folder, for this user alone, until it is removed.

    Beside it lies a file with a lock of the operating system's, which ends with the process, however that ends. Where
    nobody holds such a lock any more, its folder is removed when another one is made, or by `remove_abandoned`: what
    may take long, and in a coroutine is done in a thread before one is made that does not `clean`. Raises OSError where
    none can be made.
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
        """Remove it with all that it holds; a second time nothing happens."""
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
        with suppress(OSError):  # it is in use, or another process has just removed it
            if path not in _held and _is_ours(path):
                lock = _lock(path)
                lock.acquire(timeout=0)
                _remove(path.with_suffix(""), lock)


def _is_ours(path: Path, is_kind: Callable[[int], bool] = stat.S_ISREG) -> bool:
    found = path.lstat()
    return is_kind(found.st_mode) and (not hasattr(os, "getuid") or found.st_uid == os.getuid())


def _remove(folder: Path, lock: "BaseFileLock") -> None:
    try:
        with suppress(OSError):
            if _is_ours(folder, stat.S_ISDIR):
                shutil.rmtree(folder, ignore_errors=True)
        # While it is locked: another process may lock the file as soon as it is not, which would then be gone.
        if os.name != "nt":
            Path(lock.lock_file).unlink(missing_ok=True)
    finally:
        lock.release()
    if os.name == "nt":  # where no open file can be removed
        with suppress(OSError):
            Path(lock.lock_file).unlink()


def _lock(path: Path) -> "BaseFileLock":
    from filelock import FileLock

    return FileLock(path, mode=0o600, thread_local=False)
