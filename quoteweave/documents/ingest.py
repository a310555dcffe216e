"""Files into a collection: what is new or changed is read, what has vanished from an added folder is removed.

Each document is stored as soon as it is read, so that a run that is stopped goes on where it ended.
"""

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import Field

from quoteweave.core.errors import DamagedDocument, DocumentError, UnsupportedFormat, UsageError
from quoteweave.core.protocols import Pictures
from quoteweave.core.records import Record
from quoteweave.documents.parse import ParserSettings, Source
from quoteweave.documents.reading import FileRead, Progress, Refused, read_files, reason
from quoteweave.documents.walk import Found, find_files
from quoteweave.documents.workers import Workers
from quoteweave.index.collection import Collection
from quoteweave.index.records import Origin
from quoteweave.index.upkeep import refresh_indexes
from quoteweave.index.writer import Writer

__all__ = ["AddOptions", "AddReport", "Progress", "Refused", "add"]


class AddReport(Record):
    """What became of every file, by document name."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    removed: tuple[str, ...] = Field(default=(), description="vanished from a folder that was added")
    failed: tuple[Refused, ...] = ()
    warnings: tuple[Refused, ...] = Field(default=(), description="documents read with something left out")
    ocr_pages: int = Field(default=0, description="pages without a text layer that were read by OCR")
    ocr_pictures: int = Field(default=0, description="pictures on other pages that were read by OCR")
    index_notes: tuple[str, ...] = Field(default=(), description="indexes that could not be kept in step, and why")


@dataclass(frozen=True, slots=True)
class AddOptions:
    """How files are added."""

    settings: ParserSettings = field(default_factory=ParserSettings)
    metadata: Mapping[str, str] = field(default_factory=dict)
    password: str | None = None
    processes: int = 0  # 0: one a core, four at most
    wait_s: float | None = 0.0  # for another writer to end; None waits for ever
    pictures: Pictures | None = None  # so that a renamed document keeps the vectors of its pictures

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would give other quotes."""
        return self.settings.fingerprint


def add(
    collection: Collection,
    paths: Sequence[Path | str],
    options: AddOptions | None = None,
    progress: Progress | None = None,
) -> AddReport:
    """Bring the collection up to date with files and folders, then its indexes with its documents.

    Raises UsageError for a path that does not exist, CollectionLocked while another process writes, StorageError when
    the disk refuses. A file that cannot be read is in the report with its reason, and the others go on.
    """
    if isinstance(paths, str | Path):
        raise UsageError(f"add takes a list of paths; write [{str(paths)!r}]")
    options, progress, roots = options or AddOptions(), progress or Progress(), [Path(path) for path in paths]
    with collection.writer(options.wait_s) as writer:
        files = find_files(roots)
        run = _Run(collection, writer, options)
        run.forget({path.resolve() for path in roots if path.is_dir()}, files)
        run.add(files, progress)
        progress.on_index()
        notes = refresh_indexes(collection, writer, options.pictures)
        return run.report(notes)


class _Run:
    """One `add`, while it goes on."""

    def __init__(self, collection: Collection, writer: Writer, options: AddOptions) -> None:
        self._collection, self._writer, self._options = collection, writer, options
        self._known = collection.origins()
        self._roots: dict[str, Path] = {}  # of the names that are taken in this run
        self._outcome: dict[str, list[str]] = {key: [] for key in ("added", "updated", "unchanged", "removed")}
        self._failed: list[Refused] = []
        self._warnings: list[Refused] = []
        self._read_by_ocr = {"ocr_pages": 0, "ocr_pictures": 0}

    def report(self, index_notes: tuple[str, ...]) -> AddReport:
        outcome = {key: tuple(sorted(names)) for key, names in self._outcome.items()}
        failed, warnings = (
            tuple(sorted(told, key=lambda refused: refused.name)) for told in (self._failed, self._warnings)
        )
        return AddReport(**outcome, **self._read_by_ocr, failed=failed, warnings=warnings, index_notes=index_notes)

    def forget(self, roots: set[Path], files: Sequence[Found]) -> None:
        """Documents that came from one of these folders and are there no more, and failures that are looked at anew."""
        names = {file.name for file in files}
        unknown = [(file.root, f"{file.name}/") for file in files if file.is_folder]
        for name, origin in self._known.items():
            kept = any(root == origin.root and name.startswith(folder) for root, folder in unknown)
            if origin.root in roots and name not in names and not kept and not origin.imported:
                self._writer.remove(name)
                self._outcome["removed"].append(name)
        looked = {file.root / file.name for file in files}
        for failure in self._collection.failures():
            path = failure.root / failure.name
            if failure.root in roots or path in looked or not os.path.lexists(path):
                self._writer.clear_failure(failure.name)

    def add(self, files: Sequence[Found], progress: Progress) -> None:
        jobs = {file.name: (file, origin) for file, origin in self._to_read(files)}
        settings, images, password = self._options.settings, self._collection.images, self._options.password
        sources = [Source(name, file.path.resolve(), settings, images, password) for name, (file, _) in jobs.items()]
        with Workers(self._options.processes or min(4, os.cpu_count() or 1)) as workers:
            for read in read_files(sources, workers, progress):
                file, origin = jobs[read.name]
                if isinstance(read, Refused):
                    self._fail(file, origin.content, read.reason)
                else:
                    self._store(read, file, origin)

    def _to_read(self, files: Sequence[Found]) -> Iterator[tuple[Found, Origin]]:
        """What is new or has changed, each name once; what cannot be read is noted at once."""
        for file in files:
            rival = self._rival(file)
            if rival is not None:
                told = f"its name is taken by a document from {rival}; rename one of the two, or remove that document"
                self._fail(replace(file, name=str(file.root / file.name)), None, told)
                continue
            try:
                origin = self._origin(file)
            except (DocumentError, OSError) as error:
                self._fail(file, None, reason(error))
            else:
                if not self._is_stored(file.name, origin):
                    yield file, origin

    def _rival(self, file: Found) -> Path | None:
        """The folder of another file that has this one's name already, and is still there."""
        if file.refused is not None:
            return None
        before = self._known.get(file.name)
        if before is not None and before.imported:
            return None
        root = self._roots.get(file.name, before.root if before else file.root)
        if root != file.root and os.path.lexists(root / file.name):
            return root
        self._roots[file.name] = file.root
        return None

    def _origin(self, file: Found) -> Origin:
        """Where the document will come from. Raises DocumentError or OSError where there is none to be had."""
        if file.refused is not None:
            raise UnsupportedFormat(file.refused)
        before = self._known.get(file.name)
        content = _hash(file.path)
        if before is not None and before.imported and before.content != content:
            raise DocumentError(
                f"{file.name!r} was imported, and has changed since; import it again, or remove it first"
            )
        return Origin(
            root=file.root,
            content=content,
            parser=self._options.fingerprint,
            metadata={**(before.metadata if before else {}), **self._options.metadata},
        )

    def _is_stored(self, name: str, origin: Origin) -> bool:
        """Whether the document is up to date; its metadata then is, too."""
        before = self._known.get(name)
        if before is None or before.content != origin.content:
            return False
        if before.imported:  # what another tool made of this very file is not to be parsed over
            self._outcome["unchanged"].append(name)
            return True
        if before.parser != origin.parser:
            return False
        if before.root != origin.root:  # its folder was moved
            self._writer.move(name, origin.root)
        if before.metadata != origin.metadata:
            self._writer.set_metadata(name, origin.metadata)
        self._outcome["unchanged"].append(name)
        return True

    def _store(self, read: FileRead, file: Found, origin: Origin) -> None:
        try:
            # What was read is not what was hashed, perhaps, and a copy of that may be stored already.
            if _hash(file.path) != origin.content:
                raise DamagedDocument(f"{file.name!r} changed while it was being read; add it again")
            self._writer.put(file.path, name=file.name, format=read.format.value, origin=origin, parsed=read.parsed)
        except Exception as error:
            self._fail(file, origin.content, reason(error))
        else:
            self._outcome["updated" if file.name in self._known else "added"].append(file.name)
            for what in self._read_by_ocr:
                self._read_by_ocr[what] += getattr(read.parsed, what)
            self._warnings.extend(Refused(name=file.name, reason=warning) for warning in read.parsed.warnings)

    def _fail(self, file: Found, content: str | None, reason: str) -> None:
        self._writer.fail(file.name, root=file.root, reason=reason, content=content)
        self._failed.append(Refused(name=file.name, reason=reason))


def _hash(path: Path) -> str:
    if path.exists() and not path.is_file():
        raise DocumentError(f"{path.name!r} is not a file")  # opening a pipe would wait for ever
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
