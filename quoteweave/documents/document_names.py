"""Names of documents: a file's path below the folder that was added, preceded by more of that folder where needed.

A file that is already a document keeps its name, whatever is added later. The name of a new one does not depend on the
order in which paths are given, nor on how far an earlier, interrupted run came.
"""

import os
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from pathlib import Path

from quoteweave.collection.prepared import escape_invalid_unicode
from quoteweave.collection.records import UPLOADED, Failure, Origin
from quoteweave.core.errors import DocumentError, UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.discovery import FoundFile

_CONTROLS = lazy_regex("[\x00-\x1f\x7f-\x9f]")


@dataclass(frozen=True, slots=True)
class _KnownFile:
    """The file of a document or a recorded failure."""

    name: str
    root: Path
    below: str
    content: str | None
    by_name: bool
    """Whether the name alone identifies the document: because another tool parsed it, or it was uploaded."""
    imported: bool

    @property
    def file(self) -> Path:
        return self.root / self.below


def check_prefix(prefix: str) -> str:
    """Return `prefix` without slashes at its ends. Raises UsageError for an invalid prefix."""
    bare = prefix.strip("/")
    parts = bare.split("/")
    if not bare.strip() or _CONTROLS.search(bare) or any(part in ("", ".", "..") for part in parts):
        raise UsageError(f"{prefix!r} cannot stand before names; give words such as 'manuals' or 'manuals/2024'")
    return bare


def name_files(
    files: Sequence[FoundFile],
    origins: Mapping[str, Origin],
    *,
    content_of: Callable[[Path], str],
    failures: Iterable[Failure] = (),
    prefix: str | None = None,
    upload_names: Mapping[Path, str] | None = None,
) -> list[FoundFile]:
    """The same files with the names that their documents have or will have, in the order of these names.

    A known file keeps its name, and so does one that was moved with its folder. `prefix` is put before the names of all
    others. A name that is still ambiguous, among these or existing documents, is preceded by the last parts of the
    added folder's path, as many as distinguish it. Uploaded files have the `upload_names` of their paths, and
    replace documents of these names wherever those came from, whose origin stays. Raises UsageError for a bad prefix.
    """
    known_documents = [
        _KnownFile(
            name,
            origin.root,
            origin.path or name,
            origin.content,
            by_name=origin.imported or origin.uploaded,
            imported=origin.imported,
        )
        for name, origin in origins.items()
    ]
    known_documents += [
        _KnownFile(failure.name, failure.root, failure.path or failure.name, failure.content, False, False)
        for failure in failures
        if failure.name not in origins
    ]
    bare = check_prefix(prefix) if prefix is not None else None
    naming = _Naming(sorted(known_documents, key=lambda document: document.name), bare, content_of)
    naming.give_names(files, upload_names or {}, origins)
    files = [file for file in files if file.path not in (upload_names or {})]
    return sorted(naming.names_of(sorted(files, key=lambda file: (file.name, file.root))), key=lambda file: file.name)


def has_extended_name(file: FoundFile, prefix: str | None) -> bool:
    """Whether the document's name has more before the file's path than `prefix`."""
    head = f"{check_prefix(prefix)}/" if prefix is not None else ""
    return file.below is not None and not file.is_folder and file.name != f"{head}{file.below}"


@dataclass(slots=True)
class _Naming:
    """Chooses the names for the files of one command."""

    known: Sequence[_KnownFile]
    prefix: str | None
    content_of: Callable[[Path], str]
    named: dict[str, FoundFile] = field(default_factory=dict)
    """Files that have been given their names, by name."""

    def give_names(self, files: Iterable[FoundFile], names: Mapping[Path, str], origins: Mapping[str, Origin]) -> None:
        """Give files the names that are given for their paths, and the origins of the documents that they replace."""
        for file in files:
            if (name := names.get(file.path)) is not None:
                origin = origins.get(name)
                root, below = (origin.root, origin.path or name) if origin is not None else (UPLOADED, name)
                self._give(replace(file, root=root), name, below)

    def names_of(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        unnamed = self._keep(files)
        unnamed = self._keep_imported(unnamed)
        unnamed = self._keep_moved(unnamed)
        return [*self.named.values(), *self._name_new(unnamed)]

    def _keep(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """Name the files of known documents and return the others, as the following methods do, too."""
        by_file = {str(document.file): document for document in reversed(self.known) if not document.by_name}
        unnamed = []
        for file in files:
            document = by_file.get(str(file.root / file.name))
            if document is None or document.name in self.named:
                unnamed.append(file)
                continue
            # A folder above the document's folder becomes its origin if it is added; one below changes nothing.
            above = document.root.is_relative_to(file.root)
            root, below = (file.root, file.name) if above else (document.root, document.below)
            self._give(replace(file, root=root), document.name, below)
        return unnamed

    def _keep_imported(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """Name files that replace imported documents, which are identified by name alone."""
        imported = {document.name: document for document in self.known if document.imported and self.prefix is None}
        unnamed = []
        for file in sorted(files, key=lambda file: file.name in imported and imported[file.name].root != file.root):
            if file.name in imported and file.name not in self.named:
                self._give(file, file.name, file.name)
            else:
                unnamed.append(file)
        return unnamed

    def _keep_moved(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """Name files moved with their folder: the old file is gone, and the path below the folder is the same."""
        by_path: defaultdict[str, list[_KnownFile]] = defaultdict(list)
        for document in self.known:
            if not document.by_name and (self.prefix is None or document.name.startswith(f"{self.prefix}/")):
                by_path[document.below].append(document)
        unnamed = []
        for file in files:
            gone = [
                document
                for document in by_path[file.name]
                if document.name not in self.named and not os.path.lexists(document.file)
            ]
            if gone:
                self._give(file, _likeliest(file, gone, self.content_of).name, file.name)
            else:
                unnamed.append(file)
        return unnamed

    def _give(self, file: FoundFile, name: str, below: str) -> None:
        self.named[name] = replace(file, name=name, below=None if below == name else below)

    def _name_new(self, files: Sequence[FoundFile]) -> Iterator[FoundFile]:
        """Give each new file the shortest of its possible names that is unambiguous."""
        known_names = {document.name for document in self.known}
        places = ((document.name, self._place(document)) for document in self.known)
        other_places = [place for name, place in places if self._is_named_by_its_path(name, *place)]
        levels = _Levels([*other_places, *((file.root, file.name) for file in files)])
        for file in files:
            for level, name in enumerate(_possible_names(file.root, file.name)):
                candidate = escape_invalid_unicode(f"{self.prefix}/{name}" if self.prefix else name)
                if candidate not in known_names and levels.is_free(name, level):
                    yield replace(file, name=candidate, below=None if candidate == file.name else file.name)
                    break
            else:
                reason = "every name that it could have is that of another document; add it with another prefix"
                full_name = escape_invalid_unicode(str(file.root / file.name))
                yield replace(file, name=full_name, below=file.name, refused=file.refused or reason)

    def _place(self, document: _KnownFile) -> tuple[Path, str]:
        """A document's folder, and its file's path below it, after this command."""
        file = self.named.get(document.name)
        return (file.root, file.below or file.name) if file is not None else (document.root, document.below)

    def _is_named_by_its_path(self, name: str, root: Path, below: str) -> bool:
        if self.prefix is not None:
            if not name.startswith(f"{self.prefix}/"):
                return False
            name = name.removeprefix(f"{self.prefix}/")
        return name == below or name in _possible_names(root, below)


def _possible_names(root: Path, below: str) -> Iterator[str]:
    """The names that a file can have, the shortest first."""
    yield below
    parts = root.parts[1:]
    for first in range(len(parts) - 1, -1, -1):
        below = f"{parts[first]}/{below}"
        yield below


def _likeliest(file: FoundFile, gone: Sequence[_KnownFile], content_of: Callable[[Path], str]) -> _KnownFile:
    """The most likely earlier identity of a moved file: by content, then by common parent folders."""
    if len(gone) == 1:
        return gone[0]
    try:
        content = content_of(file.path)
    except (DocumentError, OSError):
        content = None
    return min(gone, key=lambda old: (old.content != content, -_parts_in_common(old.root, file.root), old.name))


def _parts_in_common(path: Path, other: Path) -> int:
    """How many of the last parts of these paths are equal."""
    pairs = zip(reversed(path.parts), reversed(other.parts), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


class _Levels:
    """For each possible name, the number of parent folders with which each file would have it."""

    def __init__(self, files: Iterable[tuple[Path, str]]) -> None:
        self._files: defaultdict[str, list[tuple[Path, str]]] = defaultdict(list)
        self._levels: dict[str, dict[str, list[int]]] = {}
        for root, below in files:
            self._files[_last_part(below)].append((root, below))

    def is_free(self, name: str, level: int) -> bool:
        """Whether only one file can have this name with at most `level` parent folders in front."""
        last = _last_part(name)
        if len(self._files[last]) == 1:
            return True  # as for most files; storing the possible names of all would take much memory
        if last not in self._levels:
            numbers_of_name: defaultdict[str, list[int]] = defaultdict(list)
            for root, below in self._files[last]:
                for number, possible in enumerate(_possible_names(root, below)):
                    numbers_of_name[possible].append(number)
            self._levels[last] = {possible: sorted(numbers) for possible, numbers in numbers_of_name.items()}
        return bisect_right(self._levels[last][name], level) == 1


def _last_part(name: str) -> str:
    return name.rpartition("/")[2]
