"""Embedding shards: the vectors of one document's views, stored once for each content of these views."""

import errno
import hashlib
import shutil
import zipfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from quoteweave.collection.arrays import np
from quoteweave.collection.checksums import BlockChecksums, block_checksums, map_file
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.content import atomic_write, folder_name
from quoteweave.core.errors import StorageError
from quoteweave.core.files.whole_files import remove_path

if TYPE_CHECKING:
    Arrays = dict[str, np.ndarray[Any, Any]]

T = TypeVar("T")

# Numbers begin at a multiple of this many bytes, so that they can be mapped into memory and used without copying.
_ALIGNMENT = 64
_LOCAL_HEADER = 30
_ZIP64_FIELD = 20
# Errors of opening a file which mean that it is damaged, or that something else is in its place.
_NO_FILE = (None, errno.EINVAL, errno.EISDIR, errno.ENOTDIR, errno.ELOOP)
_PADDING_FIELD = 0xD935  # the number by which Android's zipalign marks padding


def shard_key(views: Sequence[str | bytes]) -> str:
    """SHA-256, in hexadecimal, of the views in order; each is preceded by its length, so that no two lists collide."""
    digest = hashlib.sha256()
    for view in views:
        view_bytes = view.encode("utf-8", "surrogatepass") if isinstance(view, str) else view
        digest.update(len(view_bytes).to_bytes(8, "big"))
        digest.update(view_bytes)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class StoredVectors:
    """Where the vectors of a document's items are stored."""

    key: str
    path: Path
    offset: int
    """Where the numbers begin in the file, in bytes."""
    dtype: "np.dtype[Any]"
    dimension: int
    """Numbers in each vector; 0 where no item has vectors."""
    lengths: "np.ndarray[tuple[int], np.dtype[np.int64]]"
    """(n,) how many vectors each item has; 0 for those that could not be encoded."""
    blocks: BlockChecksums
    """Checksums of the numbers, in blocks."""

    def verify(self) -> None:
        """Read all numbers. Raises CollectionError where they are not those that were stored, or cannot be read."""
        self.blocks.verify(map_file(self.path), self.offset, self.offset + self.blocks.size)


class ShardStore:
    """Named arrays under `root/<fingerprint>/<key>.npz`, uncompressed.

    Every byte has a checksum: that of the archive (CRC-32) where arrays are read whole, and checksums of blocks for
    vectors, which are read in place.

    Shards that no document refers to are removed when a writer ends; see `Writer.keep_shards`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def get(self, fingerprint: str, key: str) -> "Arrays | None":
        """The arrays; None where there are none. A damaged file counts as none until it is put again.

        Raises StorageError where the file cannot be opened.
        """

        def read(path: Path) -> "Arrays":
            with np.load(path, allow_pickle=False) as stored:
                return {name: stored[name] for name in stored.files}

        return self._read(fingerprint, key, read)

    def put_vectors(self, fingerprint: str, key: str, vectors: "np.ndarray[Any, Any]", lengths: Sequence[int]) -> None:
        """Store the vectors (sum of lengths, dimension) of a document's items. Raises as `put`."""
        contiguous = np.ascontiguousarray(vectors)
        description = _description(contiguous.shape, contiguous.dtype, key)
        sums = np.concatenate([description, block_checksums(contiguous.data)])
        arrays = {"vectors": contiguous, "lengths": np.array(lengths, dtype=np.int64), "checksums": sums}
        self.put(fingerprint, key, arrays)

    def vectors(self, fingerprint: str, key: str, *, verified: bool = False) -> StoredVectors | None:
        """Where stored vectors are, without reading them unless `verified`; None as for `get`."""

        def read(path: Path) -> StoredVectors:
            with path.open("rb") as file:
                stored = _located(key, path, file)
            if verified:
                stored.verify()
            return stored

        return self._read(fingerprint, key, read)

    def _read(self, fingerprint: str, key: str, load: Callable[[Path], T]) -> T | None:
        path = self.path(fingerprint, key)
        try:
            return load(path)
        except FileNotFoundError:
            return None
        except Exception as error:  # zipfile and numpy do not document what they raise for a damaged file
            if isinstance(error, OSError) and error.errno not in _NO_FILE:
                # Such an error does not mean that the content, which may have cost hours, is damaged.
                message = f"{path} cannot be read: {error.strerror or error}; see to it and try again"
                raise StorageError(message) from error
            return None

    def put(self, fingerprint: str, key: str, arrays: "Mapping[str, np.ndarray[Any, Any]]") -> None:
        """Store the arrays, in place of those that were there.

        Raises ValueError for arrays of Python objects, StorageError where the disk is full or refuses.
        """
        from numpy.lib.format import write_array

        with atomic_write(self.path(fingerprint, key)) as file, zipfile.ZipFile(file, "w") as archive:
            for name, array in arrays.items():
                with archive.open(_aligned(f"{name}.npy", file.tell()), "w", force_zip64=True) as member:
                    write_array(member, array, allow_pickle=False)

    def damage(self, fingerprint: str, key: str) -> str | None:
        """Read all of a shard; return what is wrong with it, or None. Raises as `get`."""
        if not self.path(fingerprint, key).exists():
            return "it is missing"
        arrays = self.get(fingerprint, key)
        if arrays is None or ("lengths" in arrays and self.vectors(fingerprint, key) is None):
            return "its content is not what was written"
        return None

    def prune(self, keep: Mapping[str, Collection[str]]) -> int:
        """Remove every shard but the keys kept of each fingerprint; return how many. Only for the writer."""
        removed = 0
        with guard_writing(self.root):
            for folder in self.root.glob("*"):
                kept_keys = keep.get(folder.name, ())
                unwanted = [path for path in folder.glob("*") if path.suffix != ".npz" or path.stem not in kept_keys]
                for path in unwanted:
                    remove_path(path)
                removed += len(unwanted)
                if not kept_keys:
                    shutil.rmtree(folder, ignore_errors=True)
        return removed

    def path(self, fingerprint: str, key: str) -> Path:
        """The path of the arrays, whether they exist or not. Raises ValueError for a name that no file can have."""
        return self.root / folder_name(fingerprint) / f"{folder_name(key)}.npz"


def _aligned(name: str, position: int) -> zipfile.ZipInfo:
    """An archive's member that begins at a multiple of the alignment; so does its array, as numpy pads its header."""
    member = zipfile.ZipInfo(name)
    gap = -(position + _LOCAL_HEADER + len(name) + _ZIP64_FIELD + 4) % _ALIGNMENT
    member.extra = _PADDING_FIELD.to_bytes(2, "little") + gap.to_bytes(2, "little") + bytes(gap)
    return member


def _located(key: str, path: Path, file: BinaryIO) -> StoredVectors:
    """Find the vectors in a file, without reading the numbers. Raises exceptions of any kind for a damaged file."""
    from numpy.lib import format as npy

    with zipfile.ZipFile(file) as archive:
        with archive.open("lengths.npy") as member:
            lengths = npy.read_array(member, allow_pickle=False)
        with archive.open("checksums.npy") as member:
            sums = npy.read_array(member, allow_pickle=False)
        with archive.open("vectors.npy") as member:
            npy.read_magic(member)
            shape, in_columns, dtype = npy.read_array_header_1_0(member)
            count, dimension = shape
            offset = _start(file, archive.getinfo("vectors.npy")) + member.tell()
            size = archive.getinfo("vectors.npy").file_size - member.tell()
    # Earlier versions did not record whose vectors they are.
    is_described = not in_columns and any(
        sums[0] == _description(shape, dtype, recorded_key)[0] for recorded_key in (key, "")
    )
    if size != count * dimension * dtype.itemsize or lengths.sum() != count or not is_described:
        raise ValueError(f"{path} does not hold what it says")
    blocks = BlockChecksums(path, offset, size, sums[1:])
    return StoredVectors(key, path, offset, dtype, dimension if count else 0, lengths, blocks)


def _description(shape: tuple[int, ...], dtype: "np.dtype[Any]", key: str) -> "np.ndarray[Any, Any]":
    """(1,) the checksum of the numbers' meaning: that they are vectors of the views of that key."""
    header = np.array([*shape, *dtype.str.encode(), *key.encode()], np.int64)
    return block_checksums(header.data)


def _start(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where an uncompressed member's content begins: after its own header, two fields of which vary in length."""
    file.seek(member.header_offset)
    header = file.read(_LOCAL_HEADER)
    return member.header_offset + len(header) + sum(int.from_bytes(header[at : at + 2], "little") for at in (26, 28))
