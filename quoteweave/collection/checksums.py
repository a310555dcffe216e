"""Checksums of stored data: of whole files, of small records, and of large arrays block by block.

All are XXH3 (xxhash), about as fast as memory is read. They detect damage by disks, copies and programs; they
do not protect against deliberate changes.
"""

import json
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from quoteweave.collection.arrays import np
from quoteweave.core.errors import CollectionError
from quoteweave.core.records import Record

if TYPE_CHECKING:
    import numpy.typing as npt

    Sums = npt.NDArray[np.uint64]

R = TypeVar("R", bound=Record)

CHECKSUMS = "checksums.json"
BLOCK_BYTES = 1 << 18
_READ_BYTES = 1 << 18
_FIELD = "checksum"


def file_checksum(path: Path) -> str:
    """XXH3, 128 bits in hexadecimal, of a file's content. Raises OSError where it cannot be read."""
    with path.open("rb", buffering=0) as file:
        return checksum_of(file)


def checksum_of(file: FileIO) -> str:
    """The checksum of an open file from the current position to its end. Raises OSError where it cannot be read."""
    import xxhash

    digest = xxhash.xxh3_128()
    # One buffer that stays in the processor's caches: allocating memory for each block takes twice the time.
    buffer = memoryview(bytearray(_READ_BYTES))
    while size := file.readinto(buffer):
        digest.update(buffer[:size])
    return digest.hexdigest()


def seal(folder: Path, names: list[str]) -> None:
    """Write the checksums of these files of a folder beside them, for `verify`."""
    sums = {name: file_checksum(folder / name) for name in sorted(names)}
    (folder / CHECKSUMS).write_text(json.dumps(sums), "utf-8")


def verify(folder: Path) -> None:
    """Raise CollectionError, which names the file, where a sealed file is missing or its content has changed."""
    path = folder / CHECKSUMS
    try:
        sums = json.loads(path.read_bytes())
        expected = {str(name): str(checksum) for name, checksum in sums.items()}
        if not expected:
            raise ValueError("it names no file")
    except FileNotFoundError:
        raise CollectionError(f"{path} is missing") from None
    except OSError as error:
        raise CollectionError(f"{path} cannot be read ({error.strerror or error})") from error
    except (ValueError, AttributeError) as error:
        raise CollectionError(f"{path} is damaged: {error}") from error
    for name, checksum in expected.items():
        verify_file(folder / name, checksum)


def verify_file(path: Path, checksum: str) -> None:
    """Raise CollectionError where a file is missing, cannot be read, or has another checksum."""
    try:
        actual = file_checksum(path)
    except (FileNotFoundError, NotADirectoryError):
        raise CollectionError(f"{path} is missing") from None
    except OSError as error:
        raise CollectionError(f"{path} cannot be read ({error.strerror or error})") from error
    except ValueError as error:  # a name that no file can have
        raise CollectionError(f"{path.parent / CHECKSUMS} is damaged: {error}") from error
    if actual != checksum:
        raise CollectionError(f"{path} is damaged: its content is not what was written")


def sealed_bytes(content: bytes, *, name: str) -> bytes:
    """The data with a line before it that holds its checksum and its name's, for `unsealed_bytes`."""
    return _hexdigest(name.encode() + b"\n" + content) + b"\n" + content


def unsealed_bytes(sealed: bytes, *, name: str) -> bytes | None:
    """Return the data that `sealed_bytes` was given under that name; None if it is damaged, or sealed under another."""
    checksum, _, content = sealed.partition(b"\n")
    # Earlier versions left the name out.
    return content if checksum in (_hexdigest(name.encode() + b"\n" + content), _hexdigest(content)) else None


def _hexdigest(content: bytes) -> bytes:
    import xxhash

    return xxhash.xxh3_128_hexdigest(content).encode()


def bytes_checksum(content: bytes) -> bytes:
    """XXH3, 64 bits, of bytes."""
    import xxhash

    return xxhash.xxh3_64_digest(content)


def sealed_record(record: Record) -> bytes:
    """A record as JSON that includes its own checksum, for `unsealed_record`."""
    return json.dumps({**record.model_dump(mode="json"), _FIELD: record_checksum(record)}, ensure_ascii=False).encode()


def unsealed_record(model: type[R], sealed: bytes) -> R:
    """The record that `sealed_record` wrote. Raises ValueError where the data is damaged."""
    fields = json.loads(sealed)
    checksum = fields.pop(_FIELD, None) if isinstance(fields, dict) else None
    record = model.model_validate(fields)
    if checksum != record_checksum(record):
        raise ValueError("its checksum does not fit its content")
    return record


def record_checksum(record: Record) -> str:
    """XXH3, 128 bits in hexadecimal, of a record's JSON."""
    return _hexdigest(record.model_dump_json().encode("utf-8", "surrogatepass")).decode()


# One encoder for all rows: json.dumps would make a new one for each.
_AS_JSON = json.JSONEncoder(ensure_ascii=False, default=bytes.hex).encode


def row_checksum(*values: str | bytes | int | None) -> int:
    """XXH3, 64 bits as a signed number, of the values of a row in the catalogue."""
    import xxhash

    encoded = _AS_JSON(values).encode("utf-8", "surrogatepass")
    return int(xxhash.xxh3_64_intdigest(encoded)) - (1 << 63)


def block_checksums(buffer: Any) -> "Sums":
    """(blocks,) XXH3, 64 bits, of each `BLOCK_BYTES` of a buffer of bytes; the last block may be shorter."""
    import xxhash

    view = memoryview(buffer).cast("B") if len(buffer) else memoryview(b"")
    starts = range(0, len(view), BLOCK_BYTES)
    sums = [xxhash.xxh3_64_intdigest(view[start : start + BLOCK_BYTES]) for start in starts]
    return np.array(sums, np.uint64)


@dataclass(frozen=True, slots=True)
class BlockChecksums:
    """Checksums of the blocks of a section of a file."""

    path: Path
    start: int
    """Where the section begins in the file, in bytes."""
    size: int
    """Length of the section, in bytes."""
    sums: "Sums"

    @property
    def count(self) -> int:
        """How many blocks there are."""
        return block_count(self.size)

    def verify(
        self, file_bytes: Any, first: int, last: int, is_verified: "npt.NDArray[np.bool_] | None" = None
    ) -> None:
        """Verify the blocks of the file, whose content is `file_bytes`, that hold the bytes from `first` to `last`.

        Blocks marked in `is_verified` are skipped, and those found right are marked there. Raises CollectionError.
        """
        import xxhash

        for number in range((first - self.start) // BLOCK_BYTES, block_count(last - self.start)):
            if is_verified is not None and is_verified[number]:
                continue
            block_start = self.start + number * BLOCK_BYTES
            block = file_bytes[block_start : min(block_start + BLOCK_BYTES, self.start + self.size)]
            if number >= len(self.sums) or xxhash.xxh3_64_intdigest(block) != self.sums[number]:
                raise CollectionError(
                    f"{self.path}, which holds vectors of the index, is damaged: what stands there from byte "
                    f"{block_start:,} on is not what was written"
                )
            if is_verified is not None:
                is_verified[number] = True


def block_count(size: int) -> int:
    """The number of blocks in `size` bytes."""
    return -(-size // BLOCK_BYTES)


def map_file(path: Path) -> "npt.NDArray[np.uint8]":
    """The bytes of a file that holds vectors, memory-mapped as long as the array is in use.

    Raises CollectionError where it is missing or cannot be read.
    """
    import mmap

    try:
        with path.open("rb") as file:
            mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except FileNotFoundError:
        raise CollectionError(f"{path} is missing, which holds vectors of the index") from None
    except OSError as error:
        raise CollectionError(f"cannot read {path}, which holds vectors of the index: {error}") from error
    except ValueError as error:  # it is empty
        raise CollectionError(f"{path}, which holds vectors of the index, is damaged: {error}") from error
    return np.frombuffer(mapping, np.uint8)


def mapped_numbers(
    mapped_bytes: "npt.NDArray[np.uint8]", path: Path, offset: int, *, shape: tuple[int, int], dtype: Any
) -> Any:
    """The array of that shape at byte `offset` of a mapped file. Raises CollectionError where the file is too short."""
    size = shape[0] * shape[1] * np.dtype(dtype).itemsize
    if offset + size > len(mapped_bytes):
        raise CollectionError(f"{path}, which holds vectors of the index, is damaged: it was cut short")
    return np.frombuffer(mapped_bytes.data, dtype, shape[0] * shape[1], offset).reshape(shape)
