"""The files that a user means by a path: the file itself, or the files below a folder that can be read."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.formats import ADVICE, is_document, is_document_name

# Pictures, data and archives beside documents are not documents that a user would miss.
SKIPPED_SUFFIXES = frozenset(
    (".json", ".gif", ".bmp", ".svg", ".psd", ".avif", ".zip", ".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".zst")
)
HIDDEN = "hidden"
"""The key for documents whose names begin with a dot, which are skipped, as by a shell."""
HIDDEN_FOLDERS, LINKED_FOLDERS, COLLECTIONS = "hidden folders", "links to folders", "collections"
"""The keys for folders that are not searched: hidden ones, links, and collections."""
# The files that identify a folder as a collection, which has copies of documents rather than the user's own files.
COLLECTION_FILES = frozenset(("collection.json", "catalog.sqlite"))

_ADDRESS = lazy_regex(r"((?:https?|ftp|s3|gs|file):)//?([^/].*)")


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, the folder that was added, and the document's name: its path below that folder, with forward slashes."""

    location: str  # a Path would take five times the memory, and there may be very many
    root: Path
    name: str
    real: str  # its path with all links resolved
    refused: str | None = None  # why it cannot be read, if this is known already
    is_folder: bool = False  # a folder that cannot be searched: what is below it is unknown
    below: str | None = None  # the path below the folder, if it is not the document's name

    @property
    def path(self) -> Path:
        """The path at which it was found."""
        return Path(self.location)

    @property
    def file(self) -> Path:
        """Its absolute path; links above the folder are resolved, others are not."""
        return self.root / (self.below or self.name)


def find_files(
    paths: Sequence[Path], passed_over: Counter[str] | None = None, *, collection: Path | None = None
) -> list[FoundFile]:
    """Files in the order of their names, each once, however often it is reached; links to folders are not followed.

    In a folder, hidden files and folders, links to folders, collections and files that are no documents are skipped.
    `passed_over` counts the last by their suffixes, in lower case, and the others under HIDDEN, HIDDEN_FOLDERS,
    LINKED_FOLDERS and COLLECTIONS, except for those that another path or folder leads to, and for the folder
    `collection`. Documents of a format that must be converted first are listed as refused, as are folders that cannot
    be searched and names that are not valid Unicode. Raises UsageError for a path that does not exist, cannot be looked
    at, or is itself a collection.
    """
    files_by_path: dict[str, FoundFile] = {}
    folders = folders_among(paths)
    single_files = [path for path in paths if path not in folders]
    walk = _Walk({os.path.realpath(path) for path in single_files}, collection)
    # A file is named from the outermost folder that was added, whatever their order.
    for folder in sorted(folders, key=lambda folder: len(folder.resolve().parts)):
        # If both a link and the file it leads to are found, the file is used.
        for file in sorted(walk.below(folder), key=_is_link):
            files_by_path.setdefault(file.real, file)
    for path in single_files:
        file = _found_file(path, path.parent.resolve(), path.name, os.path.realpath(path))
        files_by_path.setdefault(file.real, file)
    if passed_over is not None:
        passed_over.update(walk.passed_over())
    return sorted(files_by_path.values(), key=lambda file: file.name)


def given_paths(paths: Sequence[Path | str]) -> list[Path]:
    """The paths of a call. Raises UsageError for a single one in place of a list, of which each letter would be one."""
    if isinstance(paths, str | Path):
        raise UsageError(f"a list of paths is needed; write [{str(paths)!r}]")
    return [Path(path) for path in paths]


def folders_among(paths: Sequence[Path]) -> list[Path]:
    """Those of the paths that are folders.

    Raises UsageError for a path that does not exist or cannot be looked at, and for a collection.
    """
    folders = [path for path in paths if _is_folder(path)]
    for folder in folders:
        with suppress(OSError):  # searching the folder reports the error
            if COLLECTION_FILES.issubset(path.name for path in folder.iterdir()):
                raise UsageError(f"{folder} is a collection, not a folder of documents; name it with --collection")
    return folders


def _is_link(file: FoundFile) -> bool:
    return file.real != str(file.root / file.name)


def _not_there(path: Path) -> str:
    if (address := _ADDRESS.match(str(path))) is not None:  # a path loses one of the slashes of an address
        return f"{address[1]}//{address[2]} is an address, and files are added: download it first, then add the file"
    return f"{path} does not exist"


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(_not_there(path)) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from error


class _Walk:
    """Searches folders, each once, and records what it skips there."""

    def __init__(self, alone: AbstractSet[str], collection: Path | None) -> None:
        self._alone, self._searched = alone, set[str]()  # real paths of files, and of folders
        self._collection = collection and os.path.realpath(collection)
        self._skipped: list[tuple[str, str]] = []  # the key under which it counts, and its real path
        self._other_files = Counter[str]()  # by suffix

    def passed_over(self) -> Counter[str]:
        """How much of each kind was skipped and not reached by another path."""
        reached = self._alone | self._searched
        return self._other_files + Counter(kind for kind, place in self._skipped if place not in reached)

    def below(self, folder: Path) -> Iterator[FoundFile]:
        """The files below a folder that can be read, and the folders there that cannot be searched."""
        root = folder.resolve()
        failed: list[OSError] = []
        for parent, folders, files in os.walk(folder, onerror=failed.append):
            real_folder = os.path.realpath(parent)
            if real_folder in self._searched or self._is_collection(real_folder, files):
                folders.clear()
                continue
            self._searched.add(real_folder)
            folders[:] = [name for name in sorted(folders) if not self._passes_over_folder(parent, name)]
            for name in sorted(files):
                path = Path(parent, name)
                suffix = path.suffix.lower()
                if self._passes_over_file(path, suffix):
                    continue
                refused = f"{suffix} files are not read; {ADVICE[suffix]}" if suffix in ADVICE else None
                # `islink` also works in a folder that may be listed but not entered.
                real = os.path.realpath(path) if os.path.islink(path) else str(Path(real_folder, name))  # noqa: PTH114
                yield _found_file(path, root, path.relative_to(folder).as_posix(), real, refused)
        yield from self._closed(folder, root, failed)

    def _is_collection(self, folder: str, files: Sequence[str]) -> bool:
        if not COLLECTION_FILES.issubset(files):
            return folder == self._collection
        if folder != self._collection:
            self._skipped.append((COLLECTIONS, folder))
        return True

    def _passes_over_folder(self, parent: str, name: str) -> bool:
        """Whether a folder is skipped: because it is hidden, or a link."""
        path = os.path.join(parent, name)  # noqa: PTH118 - `islink` also works where a path is too long for the system
        kind = HIDDEN_FOLDERS if name.startswith(".") else LINKED_FOLDERS if os.path.islink(path) else None  # noqa: PTH114
        if kind is not None:
            self._skipped.append((kind, os.path.realpath(path)))
        return kind is not None

    def _passes_over_file(self, path: Path, suffix: str) -> bool:
        """Whether a file is skipped: because it is no document, or hidden."""
        if path.name.startswith((".", "~$")):
            # "._a.pdf" is written by macOS beside "a.pdf" on disks of other systems, and is no document.
            if path.name[0] == "." and not path.name.startswith("._") and is_document_name(path.name):
                self._skipped.append((HIDDEN, os.path.realpath(path)))
            return True
        if is_document(path) or (suffix in ADVICE and suffix not in SKIPPED_SUFFIXES):
            return False
        if not self._alone or os.path.realpath(path) not in self._alone:
            self._other_files[suffix] += 1
        return True

    def _closed(self, folder: Path, root: Path, failed: Sequence[OSError]) -> Iterator[FoundFile]:
        for error in failed:
            path = Path(error.filename)
            if path == folder:
                raise UsageError(f"{folder} cannot be read ({error.strerror})")
            real = os.path.realpath(path)
            self._searched.add(real)
            name = path.relative_to(folder).as_posix()
            yield _found_file(path, root, name, real, f"this folder cannot be read ({error.strerror})", is_folder=True)


def _found_file(
    path: Path, root: Path, name: str, real: str, refused: str | None = None, *, is_folder: bool = False
) -> FoundFile:
    try:
        str(root / name).encode()
    except UnicodeEncodeError:
        refused = "its name, or that of a folder above it, is not valid UTF-8; rename it"
        name = name.encode("utf-8", "backslashreplace").decode()
    return FoundFile(str(path), root, name, real, refused, is_folder)
