"""Files named by their content, written whole or not at all: crops of quotes, and copies of added files."""

import hashlib
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from quoteweave.collection.storage_errors import guard_writing, repair_command
from quoteweave.core.errors import CollectionError, DamagedDocument, DocumentError
from quoteweave.core.files.whole_files import ensure_folder, remove_path, written_whole
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.lazy_regex import lazy_regex

_KEY = lazy_regex(r"[0-9a-f]{2}/[0-9a-f]{64}(\.[a-z0-9]{1,16})?")
_FOLDER_NAME = lazy_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


@contextmanager
def atomic_write(path: Path) -> Iterator[BinaryIO]:
    """Write a file of the collection as `written_whole` does, replacing whatever is at `path`, even a folder.

    Raises StorageError where the disk is full or refuses.
    """
    with guard_writing(path):
        ensure_folder(path.parent)
        if path.is_dir():
            remove_path(path)
        with written_whole(path) as file:
            yield file


def folder_name(name: str) -> str:
    """`name`, if it is fit to name a folder or file of the collection. Raises ValueError if not."""
    if not _FOLDER_NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot name a folder: letters, digits, '.', '_' and '-' only, 128 at most")
    return name


class ContentStore:
    """Files named by the SHA-256 of their content: the key `ab/ab12….png` is the file's path under `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._verified: dict[str, tuple[int, ...]] = {}

    def read(self, key: str) -> bytes:
        """Read and verify the content of `key`.

        Raises CollectionError where it is missing or damaged, ValueError for an invalid key.
        """
        path = self.path(key)
        with self._converting_errors(path):
            content = path.read_bytes()
            _require(path, hashlib.sha256(content).hexdigest())
        return content

    def verified(self, key: str, document: str | None = None) -> Path:
        """The path of the content of `key`, which is read and verified if it has changed since this was last done.

        Errors name `document`, the one that the file belongs to. Raises as `read`.
        """
        path = self.path(key)
        with self._converting_errors(path, document):
            file_stat = path.stat()
            state = (file_stat.st_ino, file_stat.st_size, file_stat.st_mtime_ns)
            if self._verified.get(key) != state:
                _require(path, file_sha256(path))
                self._verified[key] = state
        return path

    @contextmanager
    def _converting_errors(self, path: Path, document: str | None = None) -> Iterator[None]:
        try:
            yield
        except (OSError, _OtherContent) as error:
            problem = f"cannot be read ({error.strerror or error})" if isinstance(error, OSError) else str(error)
            problem = "is missing" if isinstance(error, FileNotFoundError | NotADirectoryError) else problem
            owner = f", the file of {document!r}," if document is not None else ""
            raise CollectionError(f"{path}{owner} {problem}", remedy=repair_command(self.root.parent)) from error

    def path(self, key: str) -> Path:
        """The path of the content of `key`, whether it exists or not. Raises ValueError for an invalid key."""
        if not _KEY.fullmatch(key):
            raise ValueError(f"{key!r} is not the key of a stored file")
        return self.root / key

    def prune(self, keep: Collection[str]) -> int:
        """Remove every file whose key is not in `keep`; return how many. Only for the owner of the writer's lock."""
        removed = 0
        with guard_writing(self.root):
            for key, path in self._files():
                if key not in keep:
                    path.unlink(missing_ok=True)
                    removed += 1
        return removed

    def _files(self) -> Iterator[tuple[str, Path]]:
        for folder, _, names in os.walk(self.root):
            for name in names:
                yield f"{Path(folder).name}/{name}", Path(folder, name)


class _OtherContent(Exception):
    """A file's content does not match its name."""


def _require(path: Path, digest: str) -> None:
    if path.name[:64] != digest:
        raise _OtherContent("is damaged: its content is not what was written")


def content_key(digest: str, suffix: str) -> str:
    """The key of content with that SHA-256 (64 hexadecimal digits); `suffix` is empty or like '.png'."""
    return f"{digest[:2]}/{digest}{suffix}"


def is_stored(path: Path, size: int) -> bool:
    """Whether a file of `size` bytes is at `path`."""
    try:
        return path.is_file() and path.stat().st_size == size
    except OSError:  # no file, or a link whose target is missing
        return False


class ImageStore(ContentStore):
    """Images named by their content.

    Images that no stored quote refers to are removed when a writer ends, so put images only while holding the
    collection's writer.
    """

    def put(self, content: bytes, *, suffix: str) -> str:
        """Store the bytes of an image file, unless they are there already; return their key, like 'ab/ab12….png'.

        `suffix` is like '.png'. Raises StorageError where the disk is full or refuses, ValueError for another suffix.
        """
        key = content_key(hashlib.sha256(content).hexdigest(), suffix)
        path = self.path(key)
        if not is_stored(path, len(content)):
            with atomic_write(path) as file:
                file.write(content)
        return key


_SUFFIX = lazy_regex(r"\.[a-z0-9]{1,16}")
_CHUNK_BYTES = 1 << 20


class SourceStore(ContentStore):
    """Source files named by their content, with their original suffix."""

    def put(self, source: Path, content: str) -> str:
        """Copy `source`, whose SHA-256 is `content`, and return its key.

        Raises DocumentError where the source cannot be read, DamagedDocument where its content has changed,
        StorageError where the disk is full or refuses.
        """
        suffix = source.suffix.lower()
        key = content_key(content, suffix if _SUFFIX.fullmatch(suffix) else "")
        path = self.path(key)
        if is_stored(path, _size(source)):
            _copy(source, None, content)
            return key
        with atomic_write(path) as file:
            _copy(source, file, content)
        return key


def _copy(source: Path, file: BinaryIO | None, content: str) -> None:
    """Copy into `file`, if given. Raises DamagedDocument where the content is not the expected one."""
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
