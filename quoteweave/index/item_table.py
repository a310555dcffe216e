"""Which items there are, and where in which files their vectors lie; the vectors themselves stay on disk."""

import json
import mmap
import os
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import CollectionError
from quoteweave.index.vectors import Shard

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from quoteweave.core.protocols import Matrix
    from quoteweave.index.vectors import Rows

    Vectors = npt.NDArray[Any]

_ITEM = [("row", "<i8"), ("file", "<i8"), ("start", "<i8"), ("length", "<i8")]
_ITEMS, _FILES, _VECTORS = "items.npy", "files.json", "vectors.bin"
# 4 MB in single precision: what the processor's caches hold beside a question's scores.
_NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Block:
    """The vectors of items that follow each other in what was asked for."""

    first: int
    """The place of its first item in what was asked for."""
    starts: "Rows"
    """(n,) where each item's vectors begin, counted in vectors of this block."""
    parts: "list[Vectors]"
    """One after the other, all vectors of the block: (vectors, dimension) each, memory-mapped."""


@dataclass(frozen=True, slots=True)
class _File:
    path: str
    offset: int
    """Where the numbers begin, in bytes."""
    dtype: str
    dimension: int
    count: int
    """How many vectors there are from there on."""

    def vectors(self) -> "Vectors":
        """(count, dimension), mapped until the array is let go. Raises CollectionError where the file is not whole."""
        import numpy as np

        try:
            with Path(self.path).open("rb") as file:
                mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            numbers = np.frombuffer(mapped, self.dtype, self.count * self.dimension, self.offset)
        except FileNotFoundError:
            raise CollectionError(f"{self.path} is missing, which holds vectors of the index") from None
        except OSError as error:
            raise CollectionError(f"cannot read {self.path}, which holds vectors of the index: {error}") from error
        except ValueError as error:
            raise CollectionError(f"{self.path}, which holds vectors of the index, is damaged: {error}") from error
        return numbers.reshape(self.count, self.dimension)


class ItemTable:
    """Items with at least one vector, by row. 32 bytes an item are in memory, and one file at a time is mapped."""

    def __init__(self) -> None:
        import numpy as np

        self._files: list[_File] = []
        # One array ordered by row, and after it what was added since: sorting waits until it is needed.
        self._added: list[np.ndarray[Any, Any]] = [np.empty(0, _ITEM)]

    @classmethod
    def open(cls, folder: Path) -> "ItemTable":
        """The table as it was saved. Raises CollectionError where files are missing or damaged."""
        import numpy as np

        table = cls()
        try:
            listed = json.loads((folder / _FILES).read_text("utf-8"))
            table._files = [_File(os.path.normpath(folder / path), *place) for path, *place in listed]
            table._added = [np.load(folder / _ITEMS, allow_pickle=False)]
            counts = np.array([file.count for file in table._files], np.int64)
            whole = table._added[0].dtype == _ITEM and (table._ends <= counts[table._items["file"]]).all()
        except (OSError, ValueError, TypeError, IndexError, EOFError) as error:
            raise CollectionError(f"the index in {folder} is damaged: {error}") from error
        if not whole:
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
        """How much of the files the vectors of the items at these places take."""
        import numpy as np

        items = self._items[places]
        widths = np.array([np.dtype(file.dtype).itemsize * file.dimension for file in self._files])
        return int((widths[items["file"]] * items["length"]).sum()) if len(items) else 0

    def add(self, shard: Shard) -> None:
        """Adds a shard's items, all of which have vectors; their rows are not there yet."""
        import numpy as np

        items = np.empty(len(shard.rows), _ITEM)
        items["row"], items["length"], items["file"] = shard.rows, shard.lengths, len(self._files)
        items["start"] = np.cumsum(shard.lengths) - shard.lengths
        path, count = str(shard.path.absolute()), int(shard.lengths.sum())
        self._files.append(_File(path, shard.offset, shard.dtype.str, shard.dimension, count))
        self._added.append(items)

    def remove(self, rows: "Rows") -> None:
        """Takes items out; rows that are not there are passed over."""
        import numpy as np

        self._added = [self._items[~np.isin(self._items["row"], rows)]]

    def places(self, rows: "Rows | None" = None) -> "Rows":
        """(m,) places of these items among all items, for ascending rows, or of all; rows not there are left out."""
        import numpy as np

        present = self._items["row"]
        if rows is None:
            return np.arange(len(present))
        at = np.searchsorted(present, rows)
        at, rows = at[at < len(present)], rows[at < len(present)]
        there: Rows = at[present[at] == rows]
        return there

    def blocks(self, places: "Rows") -> Iterator[Block]:
        """The vectors of the items at these ascending places, in parts that fit into the processor's caches.

        Raises CollectionError where a file is missing or damaged.
        """
        import numpy as np

        items = self._items[places]
        ends = np.cumsum(items["length"])
        mapped, first = _Mapped(self._files), 0
        while first < len(items):
            before = ends[first] - items["length"][first]
            most = max(1, _NUMBERS_AT_ONCE // self._files[items["file"][first]].dimension)
            last = max(first + 1, int(np.searchsorted(ends, before + most, side="right")))
            chosen = items[first:last]
            yield Block(first, ends[first:last] - chosen["length"] - before, list(_parts(chosen, mapped)))
            first = last

    def each(self, places: "Rows") -> "Iterator[Matrix]":
        """The vectors of each of these items, in single precision. Raises as `blocks`."""
        import numpy as np

        for block in self.blocks(places):
            yield from np.split(np.concatenate(block.parts).astype(np.float32), block.starts[1:])

    def shards(self, places: "Rows") -> Iterator[Shard]:
        """The items at these ascending places as shards, without their quotes."""
        import numpy as np

        items = self._items[places]
        for at in _runs(items):
            file, first = self._files[items["file"][at.start]], int(items["start"][at.start])
            width = np.dtype(file.dtype).itemsize * file.dimension
            yield Shard(
                document="",
                path=Path(file.path),
                offset=file.offset + first * width,
                dtype=np.dtype(file.dtype),
                dimension=file.dimension,
                rows=items["row"][at],
                quotes=(),
                lengths=items["length"][at],
            )

    def save(self, folder: Path) -> None:
        """Writes the table; it holds paths relative to `folder`, so that both may be moved together."""
        import numpy as np

        items = self._items.copy()
        used, items["file"] = np.unique(items["file"], return_inverse=True)
        files = [astuple(self._files[number]) for number in used.tolist()]
        listed = [(os.path.relpath(path, folder), *place) for path, *place in files]
        (folder / _FILES).write_text(json.dumps(listed), "utf-8")
        np.save(folder / _ITEMS, items)

    def save_with_vectors(self, folder: Path) -> None:
        """Writes the table and, in the order of rows, all its vectors, which must be of one type."""
        path, copied = folder / _VECTORS, ItemTable()
        with path.open("wb") as file:
            for block in self.blocks(self.places()):
                for part in block.parts:
                    file.write(part.data)
        for shard in self.shards(self.places()[:1]):
            copied.add(replace(shard, path=path, offset=0, rows=self.rows, lengths=self._items["length"]))
        copied.save(folder)

    @property
    def _items(self) -> "np.ndarray[Any, Any]":
        import numpy as np

        if len(self._added) > 1:
            together = np.concatenate(self._added)
            self._added = [together[np.argsort(together["row"])]]
        return self._added[0]

    @property
    def _ends(self) -> "Rows":
        ends: Rows = self._items["start"] + self._items["length"]
        return ends


class _Mapped:
    """Files, of which the last one that was asked for is mapped: it is let go with the last array of it."""

    def __init__(self, files: list[_File]) -> None:
        self._files = files
        self._last: tuple[int, Vectors] | None = None

    def vectors(self, number: int) -> "Vectors":
        if self._last is None or self._last[0] != number:
            self._last = None
            self._last = number, self._files[number].vectors()
        return self._last[1]


def _parts(items: "np.ndarray[Any, Any]", mapped: _Mapped) -> "Iterator[Vectors]":
    for at in _runs(items):
        first, last = items[at.start], items[at.stop - 1]
        yield mapped.vectors(int(first["file"]))[first["start"] : last["start"] + last["length"]]


def _runs(items: "np.ndarray[Any, Any]") -> Iterator[slice]:
    """Those that lie side by side in one file."""
    import numpy as np

    files, starts = items["file"], items["start"]
    beside = (files[1:] == files[:-1]) & (starts[1:] == starts[:-1] + items["length"][:-1])
    bounds = [0, *(np.flatnonzero(~beside) + 1).tolist(), len(items)]
    yield from (slice(first, last) for first, last in pairwise(bounds) if first < last)
