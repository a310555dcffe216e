"""Receives uploaded files: streamed to the server's state folder, checked while they come, and kept until read.

An upload's folder goes when its job has ended: the collection has its own copy of each file, under its checksum, and
`remove` leaves no trace of that; a second copy would outlive it. What a newer parser is to read again is sent again.
"""

import errno
import hashlib
import shutil
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from json import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

from anyio import CancelScope, to_thread
from filelock import FileLock, Timeout
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from quoteweave.core.errors import UsageError
from quoteweave.server.jobs.upload_names import document_path
from quoteweave.server.json_bodies import parse_json
from quoteweave.server.problems import ProblemError

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MAX_FILES = 1000
MAX_FIELD_BYTES = 64 << 10
_FIELDS = ("folder", "metadata")
_LOCK = ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(slots=True)
class Upload:
    """The files and fields of one request."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file, in hexadecimal, by its path below the folder: the name that its document is to have."""
    metadata: dict[str, str] = field(default_factory=dict)
    kept: bool = False
    """Whether the folder stays, as it does once a job has it."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """The most that one request may upload, in bytes."""

    file: int
    """Of one file."""
    together: int
    """Of the whole request."""


class Uploads:
    """The folder of uploads, which servers may share; each upload has a folder of its own, named by its id."""

    def __init__(self, state: Path) -> None:
        self.root = state / "uploads"

    @asynccontextmanager
    async def receive(
        self, collection: str, content_type: str, chunks: AsyncIterable[bytes], limits: UploadLimits
    ) -> AsyncIterator[Upload]:
        """Receive the body of a request, and keep its files while the block lasts, or longer where it says `kept`.

        Raises ProblemError for what cannot be taken, or not for want of room, with the rest of it unread.
        """
        upload, size = Upload(self.root / collection / uuid4().hex), 0
        receiver = _Receiver(upload, _boundary(content_type), limits.file)
        with _room():
            upload.folder.mkdir(parents=True)
        # An upload whose server has died is known by its lock, which is free then.
        with _held(_lock_of(upload.folder)):
            try:
                try:
                    async for chunk in chunks:
                        size += len(chunk)
                        if size > limits.together:
                            raise _too_large_together(limits.together)
                        await to_thread.run_sync(receiver.feed, chunk)
                    await to_thread.run_sync(receiver.finish)
                finally:
                    receiver.close()
                yield upload
            finally:
                if not upload.kept:
                    # In a thread, as there may be many files; to its end, though the client has left.
                    with CancelScope(shield=True):
                        await to_thread.run_sync(partial(shutil.rmtree, upload.folder, ignore_errors=True))

    def forget(self, collection: str) -> None:
        """Remove every upload of a collection, which is gone."""
        shutil.rmtree(self.root / collection, ignore_errors=True)

    def sweep(self, is_wanted: Callable[[Path], bool]) -> None:
        """Remove what servers that died have left: the folders of uploads that no job wants."""
        for folder in self.root.glob("*/*"):
            if folder.suffix == _LOCK:
                continue
            with suppress(Timeout, OSError), _held(_lock_of(folder)):
                # Asked for once the lock is held: whoever received it has made its job by then.
                if not is_wanted(folder):
                    shutil.rmtree(folder, ignore_errors=True)


class _Receiver:
    """Parses the body of one request, and writes its files as they come."""

    def __init__(self, upload: Upload, boundary: bytes, max_file: int) -> None:
        self._upload, self._max_file = upload, max_file
        self._fields: dict[str, bytearray] = {}
        self._headers: dict[bytes, bytes] = {}
        self._header: tuple[bytearray, bytearray] = bytearray(), bytearray()
        self._received: list[_Part] = []
        self._part: _Part | None = None
        self._field: bytearray | None = None
        self._ended = False
        calls: MultipartCallbacks = {
            "on_part_begin": self._on_part_begin,
            "on_part_data": self._on_part_data,
            "on_part_end": self._on_part_end,
            "on_header_field": self._on_header_field,
            "on_header_value": self._on_header_value,
            "on_header_end": self._on_header_end,
            "on_headers_finished": self._on_headers_finished,
            "on_end": self._on_end,
        }
        try:
            self._parser = MultipartParser(boundary, calls)
        except FormParserError as error:
            raise _malformed(str(error)) from error

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes. Raises ProblemError."""
        try:
            with _room():
                self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed(str(error)) from error

    def finish(self) -> None:
        """Give each file its path, once everything has come. Raises ProblemError."""
        if not self._ended:
            raise _malformed("it is cut off before its last boundary")
        if not self._received:
            raise _refused("there is no file in it; send each file as a field named 'files'")
        folder = _text(bytes(self._fields.get("folder", b"")))
        self._upload.metadata = _metadata(self._fields.get("metadata"))
        with _room():
            for part in self._received:
                try:
                    path = document_path(part.filename, folder)
                except UsageError as error:
                    raise _refused(str(error)) from error
                if path in self._upload.files:
                    raise _refused(f"two of its files would be the document {path!r}; give one another name")
                target = self._upload.folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                part.path.replace(target)
                self._upload.files[path] = part.hash.hexdigest()

    def close(self) -> None:
        """Close a file that was being received."""
        if self._part is not None:
            with suppress(OSError):
                self._part.file.close()

    def _on_part_begin(self) -> None:
        self._headers, self._field = {}, None

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header[0].extend(data[start:end])

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header[1].extend(data[start:end])

    def _on_header_end(self) -> None:
        name, value = self._header
        self._headers[bytes(name).lower()] = bytes(value)
        self._header = bytearray(), bytearray()

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = _text(options.get(b"name", b""))
        if b"filename" in options and name == "files":
            if len(self._received) == MAX_FILES:
                raise _refused(f"there are more than {MAX_FILES} files in it; send them in several requests")
            self._part = _Part(_text(options[b"filename"]), self._upload.folder / f".{len(self._received)}")
        elif b"filename" not in options and name in _FIELDS and name not in self._fields:
            self._field = self._fields[name] = bytearray()
        else:
            raise _refused(
                f"{name[:100]!r} is no field of it, or is there twice; there are: files, {', '.join(_FIELDS)}"
            )

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._part is not None:
            part = self._part
            part.size += end - start
            if part.size > self._max_file:
                raise _too_large(part.filename, self._max_file)
            part.file.write(data[start:end])
            part.hash.update(data[start:end])
        elif self._field is not None:
            self._field.extend(data[start:end])
            if len(self._field) > MAX_FIELD_BYTES:
                raise _refused(f"a field of it is longer than {MAX_FIELD_BYTES} bytes")

    def _on_part_end(self) -> None:
        if self._part is not None:
            self._part.file.close()
            self._received.append(self._part)
            self._part = None

    def _on_end(self) -> None:
        self._ended = True


class _Part:
    """A file that is being received."""

    def __init__(self, filename: str, path: Path) -> None:
        self.filename, self.path = filename, path
        self.file: BinaryIO = path.open("xb")
        self.hash, self.size = hashlib.sha256(), 0


def _boundary(content_type: str) -> bytes:
    kind, options = parse_options_header(content_type)
    boundary = options.get(b"boundary", b"")
    if kind != b"multipart/form-data" or not boundary:
        detail = "files are sent as multipart/form-data, each as a field named 'files'"
        raise _problem(415, "not-multipart", detail)
    return boundary


def _metadata(field: bytearray | None) -> dict[str, str]:
    if not field:
        return {}
    try:
        found = parse_json(field)
    except JSONDecodeError as error:
        raise _refused(f"metadata is no JSON that can be read: {error.msg}") from error
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        raise _refused('metadata must be a JSON object of texts, such as {"year": "2024"}')
    return found


def _text(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _too_large(filename: str, limit: int) -> ProblemError:
    detail = f"{filename[-100:]!r} is larger than the {limit:,} bytes that a file may have here; nothing was stored"
    return _problem(413, "upload-too-large", detail)


def _too_large_together(limit: int) -> ProblemError:
    detail = f"the upload is larger than the {limit:,} bytes that are taken at once here; nothing was stored; send "
    return _problem(413, "upload-too-large", detail + "its files in several requests")


def _malformed(reason: str) -> ProblemError:
    detail = f"the request's body is no multipart/form-data: {reason}; nothing was stored"
    return _problem(400, "malformed-upload", detail)


def _refused(reason: str) -> ProblemError:
    detail = f"the upload cannot be taken: {reason}; nothing was stored"
    return _problem(422, "invalid-request", detail)


def _problem(status: int, kind: str, detail: str) -> ProblemError:
    # The connection ends with the response; else the server would go on to read the rest of the body.
    return ProblemError(status, kind, detail, headers={"connection": "close"})


def _lock_of(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """Hold a lock that nobody waits for, and that goes with what it is for. Raises Timeout where another has it."""
    held = FileLock(lock, timeout=0, thread_local=False)
    with _room():
        held.acquire()
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        held.release()


@contextmanager
def _room() -> Iterator[None]:
    """Raise ProblemError where the disk refuses, without the path, which is the server's own."""
    try:
        yield
    except Timeout:  # which is an OSError
        raise
    except OSError as error:
        full = error.errno in _FULL
        why = "its disk is full; make room there" if full else f"{error.strerror or error}; allow writing there"
        detail = f"the server cannot keep the upload: {why}, then send it again; nothing was stored"
        raise _problem(507, "storage", detail) from error
