"""Write a file whole or not at all; remove whatever is at a path."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from quoteweave.core.errors import StorageError

MAX_NAME_BYTES = 200
"""The longest name, in bytes, of which a draft's name is sure to be possible."""
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` once the block has ended; if the block fails, `path` is unchanged.

    Its folder is made if needed. Raises OSError where the disk is full or refuses. Nothing is flushed to the device: a
    killed process loses nothing by that, and loss by a power cut is detected by size or checksum. With `private`, only
    the user may read it, from its first byte on. A killed process may leave its draft, `.NAME.<32 hexadecimal digits>`,
    beside the file.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Path.open has no `opener`.
        with open(draft, "xb", opener=_open_private if private else None) as file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


@contextmanager
def output_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that a user names, as `written_whole` does; raises StorageError, which names it.

    If the path is a link, the link stays. The file keeps its permissions, and is not replaced if they forbid to write
    it. What cannot be replaced unnoticed is written as it is: a device, a pipe, an open stream, a file of another
    user, one in a folder that takes no new files, and one whose name is too long for a draft's.
    """
    try:
        target = path.resolve()
    except (OSError, RuntimeError) as error:  # the latter before Python 3.13
        raise StorageError(f"{path} cannot be written (it is a link to itself)") from error
    with writing_output(path):
        if _is_written_in_place(path, target):
            with path.open("wb") as stream:
                yield stream
            return
        if target.exists():
            target.open("r+b").close()
        with written_whole(target) as file:
            yield file
            if target.exists():
                shutil.copymode(target, file.name)


@contextmanager
def writing_output(path: Path) -> Iterator[None]:
    """Raise StorageError, which names the file or folder `path`, if the block cannot write it."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{path} cannot be written ({error.strerror or error})") from error


def _is_written_in_place(path: Path, target: Path) -> bool:
    if str(path).startswith(_STREAMS) or len(os.fsencode(target.name)) > MAX_NAME_BYTES:
        return True
    if not target.exists():
        return False
    status, folder = target.stat(), target.parent
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        return True
    is_mounted = status.st_dev != folder.stat().st_dev  # a file by itself, as into a container
    return is_mounted or not os.access(folder, os.W_OK)


def remove_path(path: Path) -> None:
    """Remove the file, the link or the whole folder at a path, if there is any. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(NotADirectoryError):  # a file is in the place of its folder
            path.unlink(missing_ok=True)


def ensure_folder(path: Path) -> None:
    """Make the folder if needed, replacing a file that is there or up to two folders above.

    Only for folders of a collection, which contain none of the user's own files. Raises OSError.
    """
    for place in (*reversed(path.parents[:2]), path):
        if place.is_file():
            place.unlink()
    path.mkdir(parents=True, exist_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
