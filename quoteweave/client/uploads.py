"""Files to be sent to a server: found below folders, named by their paths, and opened one at a time."""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from pydantic import Field

from quoteweave.core.errors import DocumentError, UsageError
from quoteweave.core.messages import join_names
from quoteweave.core.records import Record
from quoteweave.documents.discovery import FoundFile, find_files, given_paths
from quoteweave.interchange.responses import Job

MAX_FILES = 500
"""Files of one request, at most; a server takes a thousand."""


class FileToSend:
    """A file that is opened when it is read and closed at its end, as a process may have only few files open."""

    def __init__(self, path: Path) -> None:
        self._path, self._size = path, path.stat().st_size
        self._file: BinaryIO | None = None

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes."""
        if self._file is None:
            self._file = self._path.open("rb")
        data = self._file.read(size)
        if not data:
            self._file.close()
        return data

    def tell(self) -> int:
        """The position in the file, which is only asked before the file is sent, and so is always 0."""
        return 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to the beginning, or return the size in bytes; a form needs nothing else before it is sent."""
        if self._file is not None:
            self._file.close()
            self._file = None
        return self._size if whence == os.SEEK_END else offset


class Added(Record):
    """The result of sending files to a server."""

    jobs: tuple[Job, ...] = Field(description="those that add them, one for each folder; none where all were there")
    unchanged: tuple[str, ...] = Field(description="names of documents that had the same content already")
    passed_over: Mapping[str, int] = Field(default_factory=dict, description="what was not sent, as `add` counts it")


Form = Callable[[], Mapping[str, object]]


def upload_forms(
    paths: Sequence[Path | str], folder: str, metadata: Mapping[str, str], passed_over: Counter[str]
) -> list[Form]:
    """Return functions that make the forms of an upload, one for each folder, as all files of a form have one folder.

    `passed_over` counts what is not sent. Raises UsageError for a path that does not exist and if there is no file at
    all, DocumentError for what cannot be read.
    """
    found_files = find_files(given_paths(paths), passed_over)
    if not found_files:
        counts = join_names([f"{count} {kind or 'without a suffix'}" for kind, count in sorted(passed_over.items())])
        left_out = f"; passed over: {counts}" if counts else ""
        where = ", ".join(map(str, paths)) or "no path"
        raise UsageError(f"there is no document below {where}; nothing was sent{left_out}")
    by_folder: dict[str, list[FoundFile]] = {}
    for file in found_files:
        if file.is_folder or not os.access(file.path, os.R_OK):
            reason = f": {file.refused}" if file.refused else ""
            raise DocumentError(f"{file.path} cannot be read{reason}; nothing was sent")
        by_folder.setdefault(file.name.rpartition("/")[0], []).append(file)
    return [
        _form("/".join(part for part in (folder.strip("/"), below) if part), files[start : start + MAX_FILES], metadata)
        for below, files in by_folder.items()
        for start in range(0, len(files), MAX_FILES)
    ]


def _form(folder: str, files: Sequence[FoundFile], metadata: Mapping[str, str]) -> Form:
    fields = {"folder": folder, "metadata": json.dumps(metadata) if metadata else ""}
    fields_sent = {name: text for name, text in fields.items() if text}

    def form() -> Mapping[str, object]:
        files_sent = [("files", (file.name.rpartition("/")[2], FileToSend(file.path))) for file in files]
        return {"data": fields_sent, "files": files_sent}

    return form
