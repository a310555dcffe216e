"""A table of items with the locations of their vectors, which stay on disk."""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.checksums import (
    BlockChecksums,
    block_checksums,
    block_count,
    map_file,
    mapped_numbers,
    seal,
    verify,
)
from quoteweave.core.errors import CollectionError
from quoteweave.index.base import Shard

if TYPE_CHECKING:
    import numpy.typing as npt

    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows

    Vectors = npt.NDArray[Any]

_ITEM = [("row", "<i8"), ("file", "<i8"), ("start", "<i8"), ("length", "<i8")]
_ITEMS, _FILES, _SUMS, _VECTORS = "items.npy", "files.json", "checksums.npy", "vectors.bin"
# These take 4 MB in single precision, which fit into the processor's caches beside a question's scores.
NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """The vectors of consecutive requested items."""

    first: int
    """The index of its first item among the requested ones."""
    starts: "Rows"
    """(n,) where each item's vectors begin, counted in vectors of this block."""
    parts: "list[Vectors]"
    """All vectors of the block, in successive memory-mapped arrays (vectors, dimension)."""


@dataclass(slots=True)
class _File:
    path: Path
    offset: int
    """Where the numbers begin, in bytes."""
    dtype: str
    dimension: int
    count: int
    """How many vectors follow from there."""
    blocks: BlockChecksums | None
    """Checksums of the blocks that contain these numbers; None if the vectors have just been encoded."""
    is_verified: "npt.NDArray[np.bool_]" = field(init=False)
    """(blocks,) which of them have been verified."""

    def __post_init__(self) -> None:
        self.is_verified = np.zeros(self.blocks.count if self.blocks is not None else 0, np.bool_)

    def place(self, folder: Path) -> tuple[str | int, ...]:
        """The fields that are saved in `folder`, except for the checksums."""
        path, blocks = os.path.relpath(self.path, folder), self.summed()
        return path, self.offset, self.dtype, self.dimension, self.count, blocks.start, blocks.size

    def summed(self) -> BlockChecksums:
        """The checksums, computed if there are none yet; this raises CollectionError if the file is not whole."""
        if self.blocks is not None:
            return self.blocks
        numbers = mapped_numbers(map_file(self.path), self.path, self.offset, shape=self._shape, dtype=self.dtype)
        return BlockChecksums(self.path, self.offset, numbers.nbytes, block_checksums(numbers.data))

    def vectors(self, file_bytes: "npt.NDArray[np.uint8]", first: int, last: int) -> "Vectors":
        """The vectors from `first` to `last` of the mapped file. Raises CollectionError where they are damaged."""
        numbers: Vectors = mapped_numbers(file_bytes, self.path, self.offset, shape=self._shape, dtype=self.dtype)
        if self.blocks is not None:
            begin, end = (self.offset + at * numbers.strides[0] for at in (first, last))
            bounds = (begin - self.blocks.start, end - self.blocks.start)
            # In most cases, all of these blocks have been verified before.
            if not self.is_verified[block_count(bounds[0] + 1) - 1 : block_count(bounds[1])].all():
                self.blocks.verify(file_bytes, begin, end, self.is_verified)
        return numbers[first:last]

    @property
    def _shape(self) -> tuple[int, int]:
        return self.count, self.dimension


class ItemTable:
    """Items with at least one vector, by row. 32 bytes an item are in memory, and one file at a time is mapped.

    Vectors are verified, block by block, when they are first read.
    """

    def __init__(self) -> None:
        self._files: list[_File] = []
        # The first array is ordered by row; after it come the items added since, which are sorted in when needed.
        self._added: list[np.ndarray[Any, Any]] = [np.empty(0, _ITEM)]

    @classmethod
    def open(cls, folder: Path) -> "ItemTable":
        """The table as it was saved. Raises CollectionError where files are missing or damaged."""
        verify(folder)
        table = cls()
        try:
            file_entries = json.loads((folder / _FILES).read_text("utf-8"))
            sums = np.load(folder / _SUMS, allow_pickle=False)
            for name, offset, dtype, dimension, vectors, start, size in file_entries:
                path, count = Path(os.path.normpath(folder / name)), block_count(size)
                blocks = BlockChecksums(path, start, size, sums[:count])
                table._files.append(_File(path, offset, dtype, dimension, vectors, blocks))
                sums = sums[count:]
            table._added = [np.load(folder / _ITEMS, allow_pickle=False)]
            counts = np.array([file.count for file in table._files], np.int64)
            fits_files = table._added[0].dtype == _ITEM and (table._ends <= counts[table._items["file"]]).all()
        except (OSError, ValueError, TypeError, IndexError, EOFError) as error:
            raise CollectionError(f"the index in {folder} is damaged: {error}") from error
        if not fits_files:
            raise CollectionError(f"the index in {folder} is damaged: {_ITEMS} does not fit {_FILES}")
        return table

    @property
    def rows(self) -> "Rows":
        """(n,) rows of all items, ascending."""
        rows: Rows = self._items["row"].copy()
        return rows

    @property
    def lengths(self) -> "Rows":
        """(n,) how many vectors each item has, in the order of rows."""
        lengths: Rows = self._items["length"].copy()
        return lengths

    def vector_bytes(self, places: "Rows") -> int:
        """The bytes that the vectors of the items at these places take in their files."""
        items = self._items[places]
        widths = np.array([np.dtype(file.dtype).itemsize * file.dimension for file in self._files])
        return int((widths[items["file"]] * items["length"]).sum()) if len(items) else 0

    def add(self, shard: Shard) -> None:
        """Add a shard's items, all of which have vectors; their rows are not there yet."""
        items = np.empty(len(shard.rows), _ITEM)
        items["row"], items["length"], items["file"] = shard.rows, shard.lengths, len(self._files)
        items["start"] = np.cumsum(shard.lengths) - shard.lengths
        place = (shard.path.absolute(), shard.offset, shard.dtype.str, shard.dimension)
        self._files.append(_File(*place, int(shard.lengths.sum()), shard.blocks))
        self._added.append(items)

    def remove(self, rows: "Rows") -> None:
        """Remove items; rows that are not there are ignored."""
        self._added = [self._items[~np.isin(self._items["row"], rows)]]

    def places(self, rows: "Rows | None" = None) -> "Rows":
        """(m,) the places of these ascending rows among all items, or of all; rows that are not there are left out."""
        present = self._items["row"]
        if rows is None:
            return np.arange(len(present))
        at = np.searchsorted(present, rows)
        at, rows = at[at < len(present)], rows[at < len(present)]
        known_places: Rows = at[present[at] == rows]
        return known_places

    def blocks(self, places: "Rows") -> Iterator[VectorBlock]:
        """The vectors of the items at these ascending places, in parts that fit into the processor's caches.

        Raises CollectionError where a file is missing or damaged.
        """
        chosen_items = self._items[places]
        ends = np.cumsum(chosen_items["length"])
        mapped, first = _Mapped(self._files), 0
        while first < len(chosen_items):
            vectors_before = ends[first] - chosen_items["length"][first]
            most = max(1, NUMBERS_AT_ONCE // self._files[chosen_items["file"][first]].dimension)
            last = max(first + 1, int(np.searchsorted(ends, vectors_before + most, side="right")))
            block_items = chosen_items[first:last]
            yield VectorBlock(
                first, ends[first:last] - block_items["length"] - vectors_before, list(_parts(block_items, mapped))
            )
            first = last

    def each(self, places: "Rows") -> "Iterator[Matrix]":
        """The vectors of each of these items, in single precision. Raises as `blocks`."""
        for block in self.blocks(places):
            yield from np.split(np.concatenate(block.parts).astype(np.float32), block.starts[1:])

    def shards(self, places: "Rows") -> Iterator[Shard]:
        """The items at these ascending places as shards, without their quotes."""
        items = self._items[places]
        for at in _runs(items):
            file, first = self._files[items["file"][at.start]], int(items["start"][at.start])
            width = np.dtype(file.dtype).itemsize * file.dimension
            yield Shard(
                document="",
                path=file.path,
                offset=file.offset + first * width,
                dtype=np.dtype(file.dtype),
                dimension=file.dimension,
                rows=items["row"][at],
                quotes=(),
                lengths=items["length"][at],
                blocks=file.blocks,
            )

    def verify(self) -> None:
        """Read all vectors. Raises CollectionError where a file is missing or damaged."""
        for _ in self.blocks(self.places()):
            pass

    def save(self, folder: Path) -> None:
        """Write the table; it holds paths relative to `folder`, so that both may be moved together."""
        items = self._items.copy()
        used, items["file"] = np.unique(items["file"], return_inverse=True)
        files = [self._files[number] for number in used.tolist()]
        (folder / _FILES).write_text(json.dumps([file.place(folder) for file in files]), "utf-8")
        np.save(folder / _SUMS, np.concatenate([np.empty(0, np.uint64), *(file.summed().sums for file in files)]))
        np.save(folder / _ITEMS, items)
        seal(folder, [_FILES, _SUMS, _ITEMS])

    def save_with_vectors(self, folder: Path) -> None:
        """Write the table and, in the order of rows, all its vectors, which must be of one type."""
        path, copied = folder / _VECTORS, ItemTable()
        with path.open("wb") as file:
            for block in self.blocks(self.places()):
                for part in block.parts:
                    file.write(part.data)
        for shard in self.shards(self.places()[:1]):
            saved_shard = replace(
                shard, path=path, offset=0, rows=self.rows, lengths=self._items["length"], blocks=None
            )
            copied.add(saved_shard)
        copied.save(folder)

    @property
    def _items(self) -> "np.ndarray[Any, Any]":
        if len(self._added) > 1:
            all_items = np.concatenate(self._added)
            self._added = [all_items[np.argsort(all_items["row"])]]
        return self._added[0]

    @property
    def _ends(self) -> "Rows":
        ends: Rows = self._items["start"] + self._items["length"]
        return ends


class _Mapped:
    """Memory-maps one file at a time, the last one requested; it is unmapped with the last array that uses it."""

    def __init__(self, files: list[_File]) -> None:
        self._files = files
        self._last: tuple[int, npt.NDArray[np.uint8]] | None = None

    def vectors(self, number: int, first: int, last: int) -> "Vectors":
        if self._last is None or self._last[0] != number:
            self._last = None
            self._last = number, map_file(self._files[number].path)
        return self._files[number].vectors(self._last[1], first, last)


def _parts(items: "np.ndarray[Any, Any]", mapped: _Mapped) -> "Iterator[Vectors]":
    for at in _runs(items):
        first, last = items[at.start], items[at.stop - 1]
        yield mapped.vectors(int(first["file"]), int(first["start"]), int(last["start"] + last["length"]))


def _runs(items: "np.ndarray[Any, Any]") -> Iterator[slice]:
    """Yield runs of items whose vectors are adjacent in one file."""
    files, starts = items["file"], items["start"]
    beside = (files[1:] == files[:-1]) & (starts[1:] == starts[:-1] + items["length"][:-1])
    bounds = [0, *(np.flatnonzero(~beside) + 1).tolist(), len(items)]
    yield from (slice(first, last) for first, last in pairwise(bounds) if first < last)
