"""The files that a user means by a path: the file itself, or what can be read below a folder."""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.errors import UsageError
from quoteweave.documents.formats import ADVICE, SUFFIXES

# Pictures, data and archives that lie beside documents are no documents that a user would miss.
SKIPPED_SUFFIXES = frozenset(
    (".json", ".gif", ".bmp", ".svg", ".psd", ".avif", ".zip", ".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".zst")
)
HIDDEN = "hidden"
"""Under this, documents whose names begin with a dot are counted, which are passed over as a shell does."""
HIDDEN_FOLDERS, LINKED_FOLDERS = "hidden folders", "links to folders"
"""Under these, folders are counted that are not looked into: hidden ones, and links that lead out of what is added."""
# What marks a folder as a collection: it holds copies of documents, which are not the user's files.
COLLECTION_FILES = frozenset(("collection.json", "catalog.sqlite"))


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file, the folder that was added, and the document's name: its path below that folder, with forward slashes."""

    location: str  # as a Path it would take five times the memory, and there may be very many
    root: Path
    name: str
    refused: str | None = None  # why it cannot be read, where that is known already
    is_folder: bool = False  # a folder that cannot be looked into: what lies below it is unknown
    below: str | None = None  # the path below the folder, where the document has another name

    @property
    def path(self) -> Path:
        """Where it was found."""
        return Path(self.location)

    @property
    def file(self) -> Path:
        """Its absolute path; links above the folder are resolved, others are not."""
        return self.root / (self.below or self.name)


def find_files(paths: Sequence[Path], passed_over: Counter[str] | None = None) -> list[FoundFile]:
    """Files in the order of their names, each once, however often it is reached; links to folders are not followed.

    In a folder, hidden files and folders, links to folders and what is no document are passed over; `passed_over`
    counts the last by their suffixes, in lower case, and the others under HIDDEN, HIDDEN_FOLDERS and LINKED_FOLDERS.
    Documents of a format that must be converted first are listed as refused, as are folders that cannot be looked into
    and names that are not valid Unicode. Raises UsageError for a path that does not exist, cannot be looked at, or is
    itself a collection.
    """
    found: dict[str, FoundFile] = {}
    folders = folders_among(paths)
    passed_over = Counter() if passed_over is None else passed_over
    # A file is named from the outermost folder that was added, in whatever order they were given.
    for folder in sorted(folders, key=lambda folder: len(folder.resolve().parts)):
        # A link gives way to the file that it leads to.
        for file in sorted(_below(folder, passed_over), key=_is_link):
            found.setdefault(os.path.realpath(file.path), file)
    for path in paths:
        if path not in folders:
            found.setdefault(os.path.realpath(path), _found(path, path.parent.resolve(), path.name))
    return sorted(found.values(), key=lambda file: file.name)


def folders_among(paths: Sequence[Path]) -> list[Path]:
    """Those that are folders.

    Raises UsageError for a path that does not exist or cannot be looked at, and for a collection.
    """
    folders = [path for path in paths if _is_folder(path)]
    for folder in folders:
        with suppress(OSError):  # of which whoever looks into it tells
            if COLLECTION_FILES.issubset(path.name for path in folder.iterdir()):
                raise UsageError(f"{folder} is a collection, not a folder of documents; name it with --collection")
    return folders


def _is_link(file: FoundFile) -> bool:
    return os.path.realpath(file.path) != str(file.root / file.name)


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from error


def _below(folder: Path, passed_over: Counter[str]) -> Iterator[FoundFile]:
    root = folder.resolve()
    failed: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=failed.append):
        if set(files) >= COLLECTION_FILES:
            folders.clear()
            continue
        kinds = {name: _passed_over_as(Path(parent, name), root) for name in sorted(folders)}
        passed_over.update(kind for kind in kinds.values() if kind is not None)
        folders[:] = [name for name, kind in kinds.items() if kind is None]
        for name in sorted(files):
            path = Path(parent, name)
            suffix = path.suffix.lower()
            if name.startswith((".", "~$")):
                # "._a.pdf" is what macOS keeps beside "a.pdf" on a disk of another system.
                if name[0] == "." and not name.startswith("._") and suffix in SUFFIXES:
                    passed_over[HIDDEN] += 1
                continue
            if suffix in SUFFIXES:
                refused = None
            elif suffix in ADVICE and suffix not in SKIPPED_SUFFIXES:
                refused = f"{suffix} files are not read; {ADVICE[suffix]}"
            else:
                passed_over[suffix] += 1
                continue
            yield _found(path, root, path.relative_to(folder).as_posix(), refused)
    for error in failed:
        path = Path(error.filename)
        if path == folder:
            raise UsageError(f"{folder} cannot be read ({error.strerror})")
        name = path.relative_to(folder).as_posix()
        yield _found(path, root, name, f"this folder cannot be read ({error.strerror})", is_folder=True)


def _passed_over_as(folder: Path, root: Path) -> str | None:
    """What a folder counts as that is passed over, else None, also for a link to what is found below the root."""
    if folder.name.startswith("."):
        return HIDDEN_FOLDERS
    leads_out = folder.is_symlink() and not Path(os.path.realpath(folder)).is_relative_to(root)
    return LINKED_FOLDERS if leads_out else None


def _found(path: Path, root: Path, name: str, refused: str | None = None, *, is_folder: bool = False) -> FoundFile:
    try:
        str(root / name).encode()
    except UnicodeEncodeError:
        refused = "its name, or that of a folder above it, is not valid UTF-8; rename it"
        name = name.encode("utf-8", "backslashreplace").decode()
    return FoundFile(str(path), root, name, refused, is_folder)
