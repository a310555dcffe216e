"""Verifies the files of an index in the embedded Milvus, which has no checksums of its own."""

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.collection.checksums import bytes_checksum, file_checksum
from quoteweave.core.errors import CollectionError
from quoteweave.core.files.whole_files import remove_path
from quoteweave.core.records import Record

if TYPE_CHECKING:
    from quoteweave.index.base import Rows

_LIST = "manifest.json"
_SCHEMA = "schema.json"
_LOOKUP = "idx"  # suffix of the lookup files that the embedded Milvus writes about its items
_LOOKUPS_S = 5.0


class FileList(Record):
    """The state of Milvus's own list of an index's files, and the items of the index, when it was saved."""

    checksum: str
    version: int
    """How often Milvus has written the list."""
    rows: str
    """Checksum of the rows of all items."""


def stored_checksums(folder: Path) -> dict[str, str]:
    """Checksums, by path, of the files that Milvus never changes, only removes: those of items, and lookup files."""
    _await_lookups(folder)
    checksums = {}
    for path in sorted(folder.rglob("*")):
        if path.name.endswith((".parquet", _LOOKUP)) or path.name == _SCHEMA:
            with suppress(FileNotFoundError):
                checksums[path.relative_to(folder).as_posix()] = file_checksum(path)
    return checksums


def _await_lookups(folder: Path) -> None:
    """Wait for lookup files that Milvus writes in the background; late ones are removed on opening, and rebuilt."""
    due = time.monotonic() + _LOOKUPS_S
    while time.monotonic() < due:
        segments = {path.stem for path in folder.rglob("data/*.parquet")}
        indexed_segments = (
            {path.name.partition(".")[0] for path in folder.rglob(kind)} for kind in ("*.vector.*.idx", "*.sidx")
        )
        if all(segments <= indexed for indexed in indexed_segments):
            return
        time.sleep(0.01)


def verify_stored(folder: Path, files: Mapping[str, str]) -> None:
    """Raise CollectionError if a file of items is not as it was written. Milvus itself reports missing ones.

    A lookup file that is not as it was written, or was written later, is removed, and Milvus writes it again.
    """
    for path in [path for path in folder.rglob("*") if path.name.endswith((".parquet", _LOOKUP, _SCHEMA))]:
        name = path.relative_to(folder).as_posix()
        if path.name.endswith(_LOOKUP):
            if name not in files or not _is_stored(path, files[name]):
                remove_path(path)
        elif name in files and not _is_stored(path, files[name]):
            raise _damaged(path, "its content is not what was written")


def _is_stored(path: Path, checksum: str) -> bool:
    try:
        return file_checksum(path) == checksum
    except OSError:  # a folder, or a broken link
        return False


def list_of_files(folder: Path, rows: "Rows") -> FileList:
    """Describe Milvus's list of files as it is, for an index of these rows. Raises CollectionError if it is damaged."""
    checksum, version = _read_list(folder / _LIST)
    return FileList(checksum=checksum, version=version, rows=rows_checksum(rows))


def rows_checksum(rows: "Rows") -> str:
    """XXH3, 64 bits in hexadecimal, of rows in this order."""
    return bytes_checksum(rows.astype("<i8").tobytes()).hex()


def is_list_as_saved(folder: Path, saved: FileList | None) -> bool:
    """Whether Milvus's list of files is the saved one; False if Milvus has written another one since.

    Milvus may have merged files after the index was saved, which keeps the items. If nothing is saved of the list, as
    while the index is being changed, the list only has to be valid, because Milvus would silently use an older one
    instead. Raises CollectionError where it is damaged or missing.
    """
    if not folder.exists():
        return True  # Milvus itself reports that there is no such index
    checksum, version = _read_list(folder / _LIST)
    if saved is None or checksum == saved.checksum:
        return True
    if version <= saved.version:
        raise _damaged(folder / _LIST, "its content is not what was written")
    return False


def _read_list(path: Path) -> tuple[str, int]:
    try:
        list_bytes = path.read_bytes()
        return bytes_checksum(list_bytes).hex(), int(json.loads(list_bytes)["version"])
    except FileNotFoundError:
        raise CollectionError(f"{path} is missing; build the index again") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, reason: str) -> CollectionError:
    return CollectionError(f"{path} is damaged: {reason}; build the index again")
