"""The interface of vector indexes: items are added by shards, and searches can be restricted to a set of quotes.

An item is a quote (or a page, under the row of its first quote) and has one vector or many. Scores are inner products,
or sums of the best inner product of each question vector (MaxSim) where items have many.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from quoteweave.collection.arrays import np
from quoteweave.collection.checksums import BlockChecksums, map_file, mapped_numbers
from quoteweave.collection.collection import Collection
from quoteweave.core.records import Filter, Quote

if TYPE_CHECKING:
    import numpy.typing as npt

    from quoteweave.core.protocols import Matrix

    Rows = npt.NDArray[np.int64]
    Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shard:
    """The vectors of one document's items, as they lie on disk."""

    document: str
    path: Path
    """The file that holds them; never changed, only removed."""
    offset: int
    """Where the numbers begin in it, in bytes."""
    dtype: "np.dtype[Any]"
    """float32, or float16 for items of many vectors."""
    dimension: int
    rows: "Rows"
    """(n,) rows of the items in the catalogue, ascending."""
    quotes: Sequence[Quote]
    """(n,) the quotes of these rows."""
    lengths: "Rows"
    """(n,) how many vectors each item has; their vectors follow each other in the order of `rows`."""
    blocks: BlockChecksums | None = None
    """Checksums of the numbers; None if the vectors have just been encoded."""

    def vectors(self) -> "npt.NDArray[Any]":
        """(sum of lengths, dimension) memory-mapped, read-only, verified.

        Raises CollectionError where the file is gone or damaged.
        """
        shape = (int(self.lengths.sum()), self.dimension)
        if not shape[0]:
            return np.empty(shape, dtype=self.dtype)
        mapped = map_file(self.path)
        vectors: npt.NDArray[Any] = mapped_numbers(mapped, self.path, self.offset, shape=shape, dtype=self.dtype)
        if self.blocks is not None:
            self.blocks.verify(mapped, self.offset, self.offset + vectors.nbytes)
        return vectors


class SearchScope:
    """A set of quotes to search within: a filter, and the rows that pass it, looked up once, when first asked for."""

    def __init__(self, collection: Collection, where: Filter) -> None:
        self.collection = collection
        self.where = where

    @cached_property
    def rows(self) -> "Rows":
        """(n,) rows of the quotes that pass, ascending. Raises UsageError for documents that do not exist."""
        return self.collection.select(self.where)


@dataclass(frozen=True, slots=True)
class TopItems:
    """The best items for one question, best first; of equal scores the lower row comes first."""

    rows: "Rows"
    scores: "Scores"


class VectorIndex(Protocol):
    """Vectors of items, to be searched. While it is changed, only one thread may use it."""

    @property
    def rows(self) -> "Rows":
        """(n,) rows of all items, ascending."""
        ...

    def add(self, shard: Shard) -> None:
        """Add the items of a document; none of their rows is there yet.

        Raises ValueError, with the dimension of the shard, where that is another than the index's.
        """
        ...

    def remove(self, rows: "Rows") -> None:
        """Remove items; from now on no search finds them. Rows that are not there are ignored."""
        ...

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None = None) -> list[TopItems]:
        """At most `k` items for each question, which is a matrix (vectors, dimension) float32.

        Raises FingerprintMismatch for a question of another dimension, and CollectionError for files that are damaged.
        """
        ...

    def save(self, folder: Path) -> None:
        """Write the index into an empty folder, from which `open_index` can load it."""
        ...


@runtime_checkable
class DatabaseIndex(Protocol):
    """What a vector index also needs if its items lie in a database and not in its folder (`kinds.DATABASE_KINDS`).

    Such an index implements this and `VectorIndex`.
    """

    @property
    def keeps_removed(self) -> bool:
        """Whether its files may keep removed items, so that a new index has to be built to be rid of them."""
        ...

    def drop(self) -> None:
        """Remove the index from its database."""
        ...

    def drop_others(self, folders: Iterable[Path]) -> object:
        """Drop what killed runs of ours left in the database and none of the indexes in these folders uses."""
        ...

    def close(self) -> None:
        """End the connection. The items of an index that was never saved are dropped."""
        ...
