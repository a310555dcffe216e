"""Write a file whole or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file that stands at `path` once the block has ended; where that fails, `path` is as it was before.

    Its folder is made where there is none. Raises OSError where the disk is full or refuses. Nothing is flushed to the
    device: a killed process loses nothing by that, and what a power cut may take is found by size or checksum.
    A killed process may leave its draft, `.NAME.<32 hexadecimal digits>`, beside the file.
    """
    draft = path.with_name(f".{path.name}.{uuid4().hex}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with draft.open("xb") as file:
            yield file
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
