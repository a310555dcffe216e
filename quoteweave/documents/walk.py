"""The files that a user means by a path: the file itself, or what can be read below a folder."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.errors import UsageError
from quoteweave.documents.formats import ADVICE, SUPPORTED_SUFFIXES

# Pictures and archives that lie beside documents are no documents that a user would miss.
PASSED_OVER = frozenset(
    (".gif", ".bmp", ".svg", ".psd", ".avif", ".zip", ".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".zst")
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file, the folder that was added, and the document's name: its path below that folder, with forward slashes."""

    path: Path
    root: Path
    name: str
    refused: str | None = None  # why it cannot be read, where its name says so already


def find_files(paths: Sequence[Path]) -> list[Found]:
    """Files in the order of their names, each once.

    In a folder, hidden files and what is no document are passed over in silence; documents of a format that must be
    converted first are listed as refused. Raises UsageError for a path that does not exist.
    """
    found: dict[Path, Found] = {}
    for path in paths:
        if path.is_dir():
            listed = list(_below(path))
        elif path.exists():
            listed = [Found(path, path.resolve().parent, path.name)]
        else:
            raise UsageError(f"{path} does not exist")
        for file in listed:
            found.setdefault(file.path.resolve(), file)
    return sorted(found.values(), key=lambda file: file.name)


def _below(folder: Path) -> Iterator[Found]:
    root = folder.resolve()
    for parent, folders, files in os.walk(folder):
        # A collection inside the folder holds copies of documents, which are not the user's files.
        folders[:] = [] if "catalog.sqlite" in files else sorted(name for name in folders if not name.startswith("."))
        if "catalog.sqlite" in files:
            continue
        for name in files:
            path = Path(parent, name)
            suffix = path.suffix.lower()
            readable = suffix in SUPPORTED_SUFFIXES or (suffix in ADVICE and suffix not in PASSED_OVER)
            if name.startswith((".", "~$")) or not readable:
                continue
            refused = None if suffix in SUPPORTED_SUFFIXES else f"{suffix} files are not read; {ADVICE[suffix]}"
            yield Found(path, root, path.relative_to(folder).as_posix(), refused)
