"""The writer's lock, which allows one process to write to a collection at a time."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from quoteweave.collection.storage_errors import guard_writing, unreadable_error
from quoteweave.core.errors import CollectionError, CollectionLocked
from quoteweave.core.records import Record

LOCK_NAME = "writer.lock"
OWNER_NAME = "writer.json"


class Owner(Record):
    """Who holds the writer's lock."""

    pid: int
    host: str
    since: float  # seconds since the epoch


@contextmanager
def writer_lock(root: Path, wait_s: float | None = 0.0) -> Iterator[None]:
    """Hold the writer's lock of the collection at `root`.

    Waits up to `wait_s` seconds for another owner to end; None waits for ever. It is a lock of the operating system,
    which releases it at once when its owner dies for whatever reason. Raises CollectionLocked, naming the owner,
    StorageError where the folder cannot be written, and CollectionError where it contains a link.
    """
    from filelock import FileLock, Timeout

    _require_no_links(root)  # before the lock file is opened, which may be a link too
    lock = FileLock(root / LOCK_NAME, timeout=-1 if wait_s is None else wait_s, thread_local=False)
    try:
        with guard_writing(root / LOCK_NAME):
            lock.acquire()
    except Timeout:
        raise CollectionLocked(_locked(root)) from None
    try:
        _sign(root)
        yield
    finally:
        with suppress(OSError):
            (root / OWNER_NAME).unlink(missing_ok=True)
        lock.release()


def is_being_written(root: Path) -> bool:
    """Whether a process on this machine holds the writer's lock; determined without taking it."""
    try:
        owner = Owner.model_validate_json((root / OWNER_NAME).read_bytes())
    except (OSError, ValueError):
        return False
    if owner.host != socket.gethostname():
        return False
    import psutil

    try:
        # A process that began later only has the number of a killed one. Clocks are not exact, hence the second.
        return bool(psutil.Process(owner.pid).create_time() <= owner.since + 1)
    except psutil.AccessDenied:  # the process of another user
        return True
    except (psutil.Error, ValueError, OverflowError):
        return False


def has_killed_owner(root: Path) -> bool:
    """Whether the lock's last owner was killed, so that files may be left that the next one removes."""
    return (root / OWNER_NAME).exists() and not is_being_written(root)


def find_link(root: Path) -> str | None:
    """Return the path of a link among the folders and files of the collection at `root`, if there is one."""
    with guard_writing(root):
        entries = _entries(root)
        folders = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        entries += [entry for folder in folders for entry in _entries(folder)]
    return next((entry.path for entry in entries if entry.is_symlink()), None)


def _require_no_links(root: Path) -> None:
    """Raise CollectionError where a folder or file of the collection is a link.

    A link's target is not part of the collection, and a writer would overwrite it or remove it as unreferenced: a
    collection made by a stranger could empty any folder of the user's.
    """
    link = find_link(root)
    if link is not None:
        raise CollectionError(
            f"{link} is a link, and nothing is written to a collection that has one inside: what lies behind it would "
            "be changed or removed with it",
            remedy="put what it leads to in its place; the collection's folder as a whole may be a link",
        )


def _entries(folder: Path | str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as scan:
            return list(scan)
    except FileNotFoundError:  # the last file in it may just have been removed
        return []
    except PermissionError as error:
        raise unreadable_error(Path(folder), error) from error


def _sign(root: Path) -> None:
    # The owner's name only serves other processes' messages: a disk too full for it must not prevent a removal.
    with suppress(OSError):
        owner = Owner(pid=os.getpid(), host=socket.gethostname(), since=time.time())
        (root / OWNER_NAME).write_text(owner.model_dump_json(), encoding="utf-8")


def _locked(root: Path) -> str:
    try:
        owner = Owner.model_validate_json((root / OWNER_NAME).read_bytes())
    except (OSError, ValueError):
        writer = "another process is writing"
    else:
        since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(owner.since))
        writer = f"process {owner.pid} on {owner.host} has been writing since {since}"
    return f"{root} is locked: {writer}; wait until it ends, or end it, then try again"
