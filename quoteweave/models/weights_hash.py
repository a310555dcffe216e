"""A short hash of a folder of weights, computed without reading all of it."""

import hashlib
import json
import struct
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

# Bytes of a file, or of a tensor, that are read whole; of larger ones BLOCKS are, or one every STEP where nothing is
# known of tensors.
SMALL_FILE = 1 << 20
SMALL_TENSOR = 1 << 15
BLOCK = 1 << 12
BLOCKS = 8
STEP = 1 << 18
# No header of safetensors is longer, in bytes: its own library refuses it.
LONGEST_HEADER = 100_000_000


def content_hash(folder: Path) -> str:
    """Hash the names, sizes and contents of all files except readmes and hidden ones.

    Small files are read whole. Of safetensors that is their header, small tensors, and of each larger one 8 blocks of
    4 KiB spread evenly from its first byte to its last; of other large files a block every 256 KiB, and where they are
    zip archives, as PyTorch's are, the checksum of each tensor. So no tensor can be replaced by another unnoticed.
    """
    files = sorted(path for path in folder.rglob("*") if path.is_file() and _matters(path.relative_to(folder)))
    return _content_hash(folder, tuple((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files))


def tensor_shapes(path: Path) -> dict[str, list[int]]:
    """The shapes of the tensors in a file of safetensors, by name; empty for any other file."""
    with path.open("rb") as file:
        header, _ = _header(file, path.stat().st_size)
    shapes = {name: entry.get("shape") for name, entry in header.items() if isinstance(entry, dict)}
    return {name: shape for name, shape in shapes.items() if isinstance(shape, list)}


def _matters(path: Path) -> bool:
    return path.suffix != ".md" and not any(part.startswith(".") for part in path.parts)


@lru_cache
def _content_hash(folder: Path, files: tuple[tuple[Path, int, int], ...]) -> str:
    """Hash files given as path, bytes and modification time in nanoseconds; the time only invalidates the cache."""
    digest = hashlib.sha256()
    for path, size, _ in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode("utf-8", "surrogatepass"))
        with path.open("rb") as file:
            for part in _sample(file, size):
                digest.update(part)
    return f"sha256:{digest.hexdigest()[:16]}"


def _sample(file: BinaryIO, size: int) -> Iterator[bytes]:
    if size <= SMALL_FILE:
        yield file.read()
        return
    header, start = _header(file, size)
    tensors, blocks = sorted(_places(header, start, size)), BLOCKS
    if tensors:
        yield _read(file, 0, start)
    else:
        yield _checksums(file)
        tensors, blocks = [(0, size)], 2 + size // STEP
    for first, last in tensors:
        if last - first <= SMALL_TENSOR:
            yield _read(file, first, last)
            continue
        for number in range(blocks):
            place = first + number * (last - first - BLOCK) // (blocks - 1)
            yield _read(file, place, place + BLOCK)


def _read(file: BinaryIO, start: int, end: int) -> bytes:
    file.seek(start)
    return file.read(end - start)


def _checksums(file: BinaryIO) -> bytes:
    """The names and checksums of what a zip archive holds; nothing of any other file."""
    try:
        with zipfile.ZipFile(file) as archive:
            return repr([(member.filename, member.CRC) for member in archive.infolist()]).encode()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
        return b""


def _header(file: BinaryIO, size: int) -> tuple[dict[str, object], int]:
    """The header of a safetensors file and where its tensors begin; an empty header and 0 for any other file."""
    start = 8 + int.from_bytes(file.read(8), "little")
    if not 8 < start <= min(size, LONGEST_HEADER):
        return {}, 0
    try:
        header = json.loads(file.read(start - 8))
    except ValueError:
        return {}, 0
    return (header, start) if isinstance(header, dict) else ({}, 0)


def _places(header: dict[str, object], start: int, size: int) -> Iterator[tuple[int, int]]:
    for entry in header.values():
        match entry:
            case {"data_offsets": [int(first), int(last)]} if 0 <= first <= last <= size - start:
                yield start + first, start + last
