"""The collection folder: what it contains, how it is made, and its format version."""

import errno
import os
import shlex
import shutil
from contextlib import suppress
from pathlib import Path

from quoteweave.collection.catalog.database import Catalog, create_catalog
from quoteweave.collection.checksums import record_checksum
from quoteweave.collection.segments.store import SegmentStore
from quoteweave.collection.storage_errors import damage_error, guard_writing, unreadable_error
from quoteweave.collection.stores.content import ImageStore, SourceStore, atomic_write
from quoteweave.collection.stores.generations import Generations
from quoteweave.collection.stores.image_texts import OcrTextStore
from quoteweave.collection.stores.unfinished import UnfinishedStore
from quoteweave.collection.stores.vectors import ShardStore
from quoteweave.collection.writer_lock import LOCK_NAME, OWNER_NAME, writer_lock
from quoteweave.core.errors import CollectionError, CollectionLocked, CollectionNotFound, FormatMismatch
from quoteweave.core.records import Record
from quoteweave.version import __version__

FORMAT = 3
"""Raised where this version would misread a folder of the version before; `check_format` then refuses such folders."""
RECOVERED_FOLDER = "recovered"
"""The folder for files whose documents a repair could not identify."""
LEXICAL_FOLDER = "lexical"
_HEADER = "collection.json"
_CATALOG = "catalog.sqlite"
_RESERVE = "reserve"
_WITHOUT_CONTENT = frozenset({LOCK_NAME, OWNER_NAME, _RESERVE})
_RESERVE_BYTES = 512 << 10
_LEFT_FREE = 64 << 10  # bytes that the reserve leaves free on the disk, for what is written next
_MAKING_S = 10.0  # far longer than another process needs to make a folder


class Reserve:
    """A file at `path` that only occupies space; it is deleted where a full disk would prevent a removal."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def keep(self) -> None:
        """Reserve the space if it is not reserved yet: less where the disk has less, and none where it has none."""
        with suppress(OSError):
            reserved_bytes = self.path.stat().st_size if self.path.exists() else 0
            target_bytes = min(_RESERVE_BYTES, reserved_bytes + shutil.disk_usage(self.path.parent).free - _LEFT_FREE)
            if target_bytes > reserved_bytes:
                self.path.write_bytes(bytes(target_bytes))

    def release(self) -> None:
        """Release the space; the next writer that finds enough of it reserves it again."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


class _Header(Record, extra="ignore"):  # other formats may have more fields
    format: int
    quoteweave: str = "of another version"
    checksum: str | None = None
    """The checksum of the two fields above; None in headers of earlier versions."""

    def sealed(self) -> "_Header":
        return self.model_copy(update={"checksum": record_checksum(self.model_copy(update={"checksum": None}))})


class CollectionFolder:
    """The parts of a collection at `root`; nothing is opened until it is used."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.catalog = Catalog(root / _CATALOG)
        self.images = ImageStore(root / "images")
        self.ocr_texts = OcrTextStore(root / "ocr_texts")
        self.sources = SourceStore(root / "sources")
        self.shards = ShardStore(root / "vectors")
        self.generations = Generations(root / "indexes")
        self.segments = SegmentStore(root / LEXICAL_FOLDER)
        self.reserve = Reserve(root / _RESERVE)
        self.unfinished = UnfinishedStore(root / "unfinished")


def is_collection(root: Path) -> bool:
    """Whether a collection, of whatever format, is at `root`."""
    try:
        return (root / _HEADER).is_file()
    except OSError:
        return False


def make_folder(root: Path) -> bool:
    """Make an empty collection at `root`; False where there is one already, which another process may just have made.

    Raises CollectionError where `root` is a file or holds other things, StorageError where the disk refuses.
    """
    had_documents = _has_documents(root)  # before the header is looked at, which another process may write meanwhile
    if is_collection(root):
        return False
    if had_documents:
        raise damage_error(root / _HEADER, "it is missing")
    _require_empty(root)
    try:
        with writer_lock(root, _MAKING_S):
            if is_collection(root):
                return False
            for leftover in root.glob(f".{_HEADER}.*"):
                leftover.unlink()
            create_catalog(root / _CATALOG)
            # Last, because the header makes it a collection: what a killed process began, the next one completes.
            write_header(root)
            CollectionFolder(root).reserve.keep()
            return True
    except CollectionLocked:
        if not is_collection(root):
            raise
        return False


def write_header(root: Path) -> None:
    """Write the header that makes a folder a collection of this format. Raises StorageError where the disk refuses."""
    with atomic_write(root / _HEADER) as file:
        file.write(_Header(format=FORMAT, quoteweave=__version__).sealed().model_dump_json().encode())


def check_format(root: Path) -> None:
    """Raise CollectionNotFound where no collection is at `root`, FormatMismatch where it has another format."""
    path = root / _HEADER
    try:
        header = _Header.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        if _has_documents(root):
            raise damage_error(path, "it is missing") from None
        remedy = f"make one with: quoteweave add PATH -c {shlex.quote(str(root))}"
        raise CollectionNotFound(f"no collection is at {root}", remedy=remedy) from None
    except PermissionError as error:
        raise unreadable_error(path, error) from error
    except OSError as error:
        if path.is_dir() or path.is_symlink():
            raise damage_error(path, f"something else is in its place ({error.strerror})") from error
        raise unreadable_error(path, error) from error
    except ValueError as error:
        raise damage_error(path, "it is not the JSON that it should be") from error
    if header.checksum is not None and header != header.sealed():
        raise damage_error(path, "its content is not what was written")
    if header.format == FORMAT:
        return
    upgrade, rebuild = "upgrade with: pip install --upgrade quoteweave", "add the documents again into a new folder"
    raise FormatMismatch(
        f"{root} was written by quoteweave {header.quoteweave} in format {header.format}; this version reads format "
        f"{FORMAT}",
        remedy=upgrade if header.format > FORMAT else rebuild,
    )


def require_readable(root: Path) -> None:
    """Raise CollectionError where a folder or file at `root` may not be read, as its content would seem to be missing.

    The writer's files and the reserve need not be readable: they hold no data.
    """

    def refuse(error: OSError) -> None:
        if isinstance(error, PermissionError):
            raise unreadable_error(Path(error.filename), error) from error

    effective = os.access in os.supports_effective_ids
    for folder, _, names in os.walk(root, onerror=refuse):
        for path in (Path(folder, name) for name in names if Path(folder) != root or name not in _WITHOUT_CONTENT):
            if not os.access(path, os.R_OK, effective_ids=effective) and _is_there(path):
                raise unreadable_error(path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))


def _is_there(path: Path) -> bool:
    """Whether a file exists as far as this process can see; a link whose target is missing counts as none."""
    try:
        return path.exists()
    except PermissionError:
        return True


def _has_documents(root: Path) -> bool:
    """Whether the folder has held documents, whatever its header says; a collection that was never filled has not."""
    return (root / _CATALOG).is_file() and (root / "sources").is_dir()


def _require_empty(root: Path) -> None:
    try:
        with guard_writing(root):
            root.mkdir(parents=True, exist_ok=True)
            names = {path.name for path in root.iterdir()}
    except (FileExistsError, NotADirectoryError):
        raise CollectionError(f"{root} is not a folder; name a new or an empty folder for the collection") from None
    unexpected = sorted(name for name in names if not _is_ours(name))
    if unexpected and _HEADER not in names:
        raise CollectionError(
            f"{root} is no collection and holds other things ({unexpected[0]!r}); name a new or an empty folder"
        )


def _is_ours(name: str) -> bool:
    # Files that a process may leave if it is killed while it makes the collection.
    return name in _WITHOUT_CONTENT or name.startswith((_CATALOG, f".{_HEADER}."))
