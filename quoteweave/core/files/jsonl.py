"""JSON Lines files, plain or gzip-compressed, read with errors that name file, line and field."""

import gzip
import json
import os
import zlib
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from quoteweave.core.errors import DatasetError, StorageError, UsageError
from quoteweave.core.files.sealed_json import damaged_error, sealed_json, unsealed_json
from quoteweave.core.files.strict_json import RepeatedName, require_names_once

_GZIP = b"\x1f\x8b"

Row = TypeVar("Row", bound=BaseModel)

DOWNLOAD_AGAIN = "get it anew from where it came"
"""Advice for a truncated file."""


def iter_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the number (from 1) and the content of each line that is not blank.

    Raises DatasetError where the file cannot be read to its end.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
        with (gzip.open if packed else open)(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                content = line.removeprefix(BOM_UTF8) if number == 1 else line
                if content.strip():
                    yield number, content
    except FileNotFoundError as error:
        raise DatasetError(f"{path} does not exist") from error
    except IsADirectoryError as error:
        raise DatasetError(f"{path} is a folder; name a file in it") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(
            f"{path} cannot be read to its end: {error}; if it is cut short, {DOWNLOAD_AGAIN}"
        ) from error


def iter_records(path: Path, row: type[Row], *, drop_cut: bool = False) -> Iterator[tuple[int, Row]]:
    """Yield the number and the record of each line, read as `row`. Raises DatasetError, naming line and field.

    A line whose checksum does not fit is an error; one without a checksum is read as it is, unless it gives a name
    twice. With `drop_cut`, for files that `open_for_append` writes, an unterminated last line is skipped: it was
    truncated.
    """
    for number, line in iter_lines(path):
        is_terminated = line.endswith(b"\n")
        if drop_cut and not is_terminated:
            return
        try:
            content = unsealed_json(line)
        except ValueError as error:
            raise damaged_error(f"{path}, line {number},", "remove this line to have it made again") from error
        try:
            if content is line:  # a line of our own has a checksum
                require_names_once(line)
            yield number, row.model_validate_json(_replace_lone_surrogates(content))
        except RepeatedName as error:
            raise DatasetError(f"{path}, line {number}: {error.msg}") from error
        except ValidationError as error:
            raise DatasetError(
                f"{path}, line {number}, {describe_validation_error(error)}{truncation_hint(line)}"
            ) from error


def truncation_hint(line: bytes) -> str:
    """A hint to add to an error in an unterminated line, as an interrupted download leaves it; else empty."""
    is_terminated = line.endswith(b"\n")
    return "" if is_terminated else f"; the line has no end, so that the file may be cut short: {DOWNLOAD_AGAIN}"


@contextmanager
def open_for_append(path: Path, *, checksums: bool = True) -> Iterator[Callable[[BaseModel], None]]:
    """Yield a function that appends one record as a line, unbuffered. A last line that a crash cut short is dropped.

    Each line ends with its checksum, which `iter_records` verifies; without `checksums`, the records have their own.

    One process writes at a time: raises UsageError where another does. Raises StorageError when the disk refuses; the
    lines before are not affected.
    """
    from filelock import FileLock, Timeout

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A lock of the operating system, which is released as soon as its owner ends, for whatever reason.
        lock = FileLock(path.with_name(f".{path.name}.lock"), timeout=0, thread_local=False)
        lock.acquire()
    except Timeout:
        raise UsageError(f"{path} is being written by another command; wait until it ends, or end it") from None
    except OSError as error:
        raise StorageError(f"cannot write to {path}: {error.strerror}") from error
    with lock, _opened(path) as stream:
        yield lambda record: _append(stream, _line(record, checksum=checksums))


@contextmanager
def _opened(path: Path) -> Iterator[FileIO]:
    try:
        stream = FileIO(path, "r+" if path.exists() else "w+")
        stream.truncate(stream.readall().rfind(b"\n") + 1)
        stream.seek(0, os.SEEK_END)
    except OSError as error:
        raise StorageError(f"cannot write to {path}: {error.strerror}") from error
    with stream:
        yield stream


def _line(record: BaseModel, *, checksum: bool) -> bytes:
    text = record.model_dump_json().encode()
    return (sealed_json(text) if checksum else text) + b"\n"


def _append(stream: FileIO, line: bytes) -> None:
    remaining, start = memoryview(line), stream.tell()
    try:
        while remaining:
            remaining = remaining[stream.write(remaining) :]
    except OSError as error:
        stream.truncate(start)
        stream.seek(start)
        raise StorageError(f"cannot write to {stream.name!s}: {error.strerror}; free space and resume") from error


def is_truncated(path: Path) -> bool:
    """Whether the last line of a file that `open_for_append` writes is unterminated.

    Raises DatasetError as `iter_lines`.
    """
    last = deque(iter_lines(path), maxlen=1)
    return bool(last) and not last[0][1].endswith(b"\n")


def _replace_lone_surrogates(line: bytes) -> bytes:
    """Replace escaped lone surrogates, which models sometimes write, by question marks: JSON readers refuse them."""
    if b"\\u" not in line:
        return line
    try:
        value = json.loads(line)
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    except ValueError:  # the reader reports what is wrong with it
        return line
    return line


def describe_validation_error(error: ValidationError, root_name: str = "the line") -> str:
    """Describe the first problem of a validation error, with its field, or `root_name` where it is in none."""
    first = error.errors(include_url=False, include_context=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return f"{field or root_name}: {first['msg'].removeprefix('Value error, ')}"
