"""Receives uploaded files: streams them to the server's state folder, checks them meanwhile, and keeps them until read.

An upload's folder is removed when its job has ended. The collection has its own copy of each file, of which `remove`
leaves no trace, and a second copy would stay behind. Files that a newer parser should read must be uploaded again.
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
_UNENCODED = (b"7bit", b"8bit", b"binary")
"""The values of Content-Transfer-Encoding that leave the bytes of a part as they are."""
_LOCK = ".lock"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@dataclass(slots=True)
class Upload:
    """The files and fields of one request."""

    folder: Path
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file, in hexadecimal, by its path below the folder, which becomes its document's name."""
    metadata: dict[str, str] = field(default_factory=dict)
    is_kept: bool = False
    """Whether the folder stays; set once a job uses it."""


@dataclass(frozen=True, slots=True)
class UploadLimits:
    """How much one request may upload, in bytes."""

    file: int
    """Greatest size of one file."""
    together: int
    """Greatest size of the whole request."""


class Uploads:
    """The folder of uploads, which servers may share; each upload has a folder of its own, named by its id."""

    def __init__(self, state: Path) -> None:
        self.root = state / "uploads"

    @asynccontextmanager
    async def receive(
        self, collection: str, content_type: str, chunks: AsyncIterable[bytes], limits: UploadLimits
    ) -> AsyncIterator[Upload]:
        """Receive the body of a request; keep its files while the block lasts, or longer if the block sets `is_kept`.

        Raises ProblemError, with the rest of the body unread, for files that cannot be accepted or for lack of room.
        """
        upload, size = Upload(self.root / collection / uuid4().hex), 0
        receiver = _Receiver(upload, _boundary(content_type), limits.file)
        with _disk_errors_as_problems():
            upload.folder.mkdir(parents=True)
        # If the server dies, the lock becomes free, which shows that the upload was left behind.
        with _hold(_lock_path(upload.folder)):
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
                if not upload.is_kept:
                    # In a thread, as there may be many files; shielded, so that it ends even if the client has left.
                    with CancelScope(shield=True):
                        await to_thread.run_sync(partial(shutil.rmtree, upload.folder, ignore_errors=True))

    def forget(self, collection: str) -> None:
        """Remove all uploads of a collection that was deleted."""
        shutil.rmtree(self.root / collection, ignore_errors=True)

    def sweep(self, is_wanted: Callable[[Path], bool]) -> None:
        """Remove what dead servers have left: the folders of uploads that no job needs."""
        for folder in self.root.glob("*/*"):
            if folder.suffix == _LOCK:
                continue
            with suppress(Timeout, OSError), _hold(_lock_path(folder)):
                # Asked only while holding the lock: by then, whoever received the upload has made its job.
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
            with _disk_errors_as_problems():
                self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed(str(error)) from error

    def finish(self) -> None:
        """Give each file its path, once the whole body was received. Raises ProblemError."""
        if not self._ended:
            raise _malformed("it is cut off before its last boundary")
        if not self._received:
            raise _refused("there is no file in it; send each file as a field named 'files'")
        folder = _text(bytes(self._fields.get("folder", b"")))
        self._upload.metadata = _metadata(self._fields.get("metadata"))
        with _disk_errors_as_problems():
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
        name, is_file = _text(options.get(b"name", b"")), b"filename" in options
        encoding = self._headers.get(b"content-transfer-encoding", b"binary")
        if encoding.lower() not in _UNENCODED:
            raise _refused(f"a part of it is encoded as {_text(encoding)[:100]!r}; send it as it is")
        if is_file and name == "files":
            if len(self._received) == MAX_FILES:
                raise _refused(f"there are more than {MAX_FILES} files in it; send them in several requests")
            self._part = _Part(_text(options[b"filename"]), self._upload.folder / f".{len(self._received)}")
        elif not is_file and name in _FIELDS and name not in self._fields:
            self._field = self._fields[name] = bytearray()
        else:
            raise _refused(_why_no_field(name, is_file=is_file))

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


def _why_no_field(name: str, *, is_file: bool) -> str:
    if name == "files":
        return "'files' came as text, without the name of a file; send the file itself, as by curl -F files=@FILE"
    if name in _FIELDS:
        return f"{name!r} came as a file; send it as text" if is_file else f"{name!r} is there twice"
    return f"{name[:100]!r} is no field of it; there are: files, {', '.join(_FIELDS)}"


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
        metadata = parse_json(field)
    except JSONDecodeError as error:
        raise _refused(f"metadata is no JSON that can be read: {error.msg}") from error
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise _refused('metadata must be a JSON object of texts, such as {"year": "2024"}')
    return metadata


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
    # Closing the connection keeps the server from reading the rest of the body.
    return ProblemError(status, kind, detail, headers={"connection": "close"})


def _lock_path(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}{_LOCK}")


@contextmanager
def _hold(lock: Path) -> Iterator[None]:
    """Hold a lock without waiting for it, and remove its file at the end. Raises Timeout if another holds it."""
    file_lock = FileLock(lock, timeout=0, thread_local=False)
    with _disk_errors_as_problems():
        file_lock.acquire()
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        file_lock.release()


@contextmanager
def _disk_errors_as_problems() -> Iterator[None]:
    """Raise ProblemError if the disk refuses; the message has no path, as clients should not see the server's."""
    try:
        yield
    except Timeout:  # Timeout is an OSError, too, but not of the disk
        raise
    except OSError as error:
        full = error.errno in _FULL
        reason = "its disk is full; make room there" if full else f"{error.strerror or error}; allow writing there"
        detail = f"the server cannot keep the upload: {reason}, then send it again; nothing was stored"
        raise _problem(507, "storage", detail) from error
