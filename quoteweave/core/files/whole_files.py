"""Write a file whole or not at all; remove whatever stands at a path."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def written_whole(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A file that stands at `path` once the block has ended; where that fails, `path` is as it was before.

    Its folder is made where there is none. Raises OSError where the disk is full or refuses. Nothing is flushed to the
    device: a killed process loses nothing by that, and what a power cut may take is found by size or checksum.
    With `private` nobody but the user may read it, from its first byte on. A killed process may leave its draft,
    `.NAME.<32 hexadecimal digits>`, beside the file.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        # Path.open takes no opener.
        with open(draft, "xb", opener=_open_private if private else None) as file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def remove_path(path: Path) -> None:
    """Remove the file, the link or the whole folder at a path, if there is any. Raises OSError."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with suppress(NotADirectoryError):  # a file in the place of its folder
            path.unlink(missing_ok=True)


def ensure_folder(path: Path) -> None:
    """Make the folder where there is none, in place of a file that stands there or up to two folders above.

    For folders of a collection alone, which hold nothing of the user's. Raises OSError.
    """
    for place in (*reversed(path.parents[:2]), path):
        if place.is_file():
            place.unlink()
    path.mkdir(parents=True, exist_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
