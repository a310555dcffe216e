"""Copies of the files that were added, so that a collection stands by itself."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from quoteweave.core.errors import DamagedDocument, DocumentError
from quoteweave.index.files import ContentFolder, content_key, replacing, stands

_SUFFIX = re.compile(r"\.[a-z0-9]{1,16}")
_CHUNK_BYTES = 1 << 20


class SourceStore(ContentFolder):
    """Source files named by their content, with the suffix that they came with."""

    def put(self, source: Path, content: str) -> str:
        """Copies `source`, whose SHA-256 is `content`, and returns its key.

        Raises DocumentError where the source cannot be read, DamagedDocument where its content is another by now,
        StorageError where the disk is full or refuses.
        """
        suffix = source.suffix.lower()
        key = content_key(content, suffix if _SUFFIX.fullmatch(suffix) else "")
        path = self.path(key)
        if stands(path, _size(source)):
            _copy(source, None, content)
            return key
        with replacing(path) as file:
            _copy(source, file, content)
        return key


def _copy(source: Path, file: BinaryIO | None, content: str) -> None:
    """Into `file`, if there is one. Raises DamagedDocument where the content is another."""
    digest = hashlib.sha256()
    for chunk in _chunks(source):
        digest.update(chunk)
        if file is not None:
            file.write(chunk)
    if digest.hexdigest() != content:
        raise DamagedDocument(f"{source.name!r} changed while it was being read; add it again")


def _size(source: Path) -> int:
    try:
        return source.stat().st_size
    except OSError as error:
        raise _unreadable(source, error) from error


def _chunks(source: Path) -> Iterator[bytes]:
    try:
        with source.open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk
    except OSError as error:
        raise _unreadable(source, error) from error


def _unreadable(source: Path, error: OSError) -> DocumentError:
    return DocumentError(f"cannot read {source}: {error.strerror}; check that it is still there, then add it again")
