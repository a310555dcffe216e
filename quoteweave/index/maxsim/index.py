"""MaxSim indexes of items with many vectors: exact ones, and ones with two stages, of which the second is exact.

The first stage compares fewer or smaller vectors, and quickly finds the few items that the second one scores.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from uuid import uuid4
from weakref import finalize

from quoteweave.collection.arrays import np
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.core.errors import FingerprintMismatch
from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.index.base import SearchScope, Shard, TopItems
from quoteweave.index.maxsim.item_table import ItemTable
from quoteweave.index.maxsim.scoring import (
    InnerProducts,
    SignBits,
    mean_direction,
    pool_tokens,
    search_items,
    sign_bits,
)

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows
    from quoteweave.index.maxsim.item_table import Vectors
    from quoteweave.index.maxsim.scoring import Similarity

    Compress = Callable[[Matrix], Vectors]


# Candidates, as a multiple of the items that are wanted or as a share of all items, whichever is more, so that large
# indexes keep their recall. With MiniLM's token vectors, mean vectors find at least 97 % of the best ten items, and
# compressed ones 99.7 % (measured by benchmarks/maxsim_speed.py, also on stretches of pages that are much alike).
TIMES_POOLED, SHARE_POOLED = 15, 1 / 15
TIMES_COMPRESSED, SHARE_COMPRESSED = 10, 1 / 100
# Searches for fewer items get as many candidates as a search for this many.
MIN_WANTED = 10


class CandidateIndex(Protocol):
    """A compact index of the items, which finds candidates for exact scoring."""

    def add(self, shard: Shard) -> None:
        """Add the items of a shard, all of which have vectors."""
        ...

    def remove(self, rows: "Rows") -> None:
        """Remove items; rows that are not there are ignored."""
        ...

    def count(self, k: int, item_count: int) -> int:
        """How many candidates to find so that the best `k` of so many items are most probably among them."""
        ...

    def nearest(self, queries: "Sequence[Matrix]", count: int, scope: SearchScope | None) -> "list[Rows]":
        """(count,) rows, or as many as there are, of the items that probably are the best for each question."""
        ...

    def save(self, folder: Path) -> None:
        """Write the index into an empty folder."""
        ...


class MeanVectorCandidates:
    """One mean vector per item, in a flat FAISS index; queries are averaged too."""

    def __init__(self, dimension: int, folder: Path | None) -> None:
        from quoteweave.index.faiss.index import FaissIndex

        self._index = FaissIndex("flat", dimension, folder)

    def add(self, shard: Shard) -> None:
        """See `CandidateIndex`."""
        self._index.add_vectors(
            shard.rows, np.concatenate([mean_direction(vectors) for vectors in _vectors_by_item(shard)])
        )

    def remove(self, rows: "Rows") -> None:
        """See `CandidateIndex`."""
        self._index.remove(rows)

    def count(self, k: int, item_count: int) -> int:
        """See `CandidateIndex`."""
        return _count(k, item_count, TIMES_POOLED, SHARE_POOLED)

    def nearest(self, queries: "Sequence[Matrix]", count: int, scope: SearchScope | None) -> "list[Rows]":
        """See `CandidateIndex`."""
        means = [query.mean(axis=0, keepdims=True) for query in queries]
        return [results.rows for results in self._index.search(means, count, scope)]

    def save(self, folder: Path) -> None:
        """See `CandidateIndex`."""
        self._index.save(folder)


class CompressedCandidates:
    """Fewer or smaller vectors for each item, on disk like the originals; in a temporary folder until saved.

    `compress` makes them of an item's vectors, and `similarity` compares them with the vectors of questions.
    """

    def __init__(self, compress: "Compress", similarity: "Callable[[Matrix], Similarity]", folder: Path | None) -> None:
        self._compress, self._similarity = compress, similarity
        self._items = ItemTable() if folder is None else ItemTable.open(folder)
        self._passing: TemporaryFolder | None = None

    def add(self, shard: Shard) -> None:
        """See `CandidateIndex`."""
        if self._passing is None:
            self._passing = TemporaryFolder()
            finalize(self, self._passing.remove)
        path = self._passing.path / f"{uuid4().hex}.bin"
        lengths = []
        with guard_writing(path), path.open("wb") as file:
            for vectors in _vectors_by_item(shard):
                compressed = self._compress(vectors)
                file.write(compressed.tobytes())
                lengths.append(len(compressed))
        placed = replace(shard, path=path, offset=0, dtype=compressed.dtype, dimension=compressed.shape[1], blocks=None)
        self._items.add(replace(placed, lengths=np.array(lengths)))

    def remove(self, rows: "Rows") -> None:
        """See `CandidateIndex`."""
        self._items.remove(rows)

    def count(self, k: int, item_count: int) -> int:
        """See `CandidateIndex`."""
        return _count(k, item_count, TIMES_COMPRESSED, SHARE_COMPRESSED)

    def nearest(self, queries: "Sequence[Matrix]", count: int, scope: SearchScope | None) -> "list[Rows]":
        """See `CandidateIndex`."""
        places = self._items.places(None if scope is None else scope.rows)
        results = search_items(self._items, queries, count, places=places, similarity=self._similarity)
        return [result.rows for result in results]

    def save(self, folder: Path) -> None:
        """See `CandidateIndex`."""
        self._items.save_with_vectors(folder)


def open_candidates(kind: str, dimension: int, folder: Path | None) -> CandidateIndex | None:
    """Open the candidate index of a kind, as saved in `folder`, or empty; None for a kind that needs none.

    Raises CollectionError for files that are damaged, MissingExtra where the library is not installed.
    """
    if kind == "exact":
        return None
    if kind == "two-stage":
        return MeanVectorCandidates(dimension, folder)
    if kind == "binary":
        return CompressedCandidates(sign_bits, SignBits, folder)
    return CompressedCandidates(partial(_pooled_tokens, factor=int(kind.removeprefix("pool"))), InnerProducts, folder)


def _count(k: int, item_count: int, times: int, share: float) -> int:
    return max(times * max(k, MIN_WANTED), int(share * item_count))


def _pooled_tokens(vectors: "Matrix", factor: int) -> "Vectors":
    return pool_tokens(vectors, factor).astype(np.float16)


def _vectors_by_item(shard: Shard) -> "Iterator[Matrix]":
    table = ItemTable()
    table.add(shard)
    return table.each(table.places())


_CANDIDATES = "candidates"


class MultiVectorIndex:
    """Items of many vectors, which stay in their shards, scored by MaxSim in single precision.

    Kinds: `exact` scores all items, which takes time but no memory. The others score exactly the candidates of a first
    stage, which compares one mean vector per item (`two-stage`), half or a third as many vectors by MaxSim (`pool2`,
    `pool3`), or bits by MaxSim (`binary`). `folder` is where such an index was saved. Raises CollectionError where its
    files are damaged, MissingExtra where a library is not installed.
    """

    def __init__(self, kind: str, dimension: int, folder: Path | None = None) -> None:
        self.kind, self.dimension = kind, dimension
        self._items = ItemTable() if folder is None else ItemTable.open(folder)
        self._candidates = open_candidates(kind, dimension, folder and folder / _CANDIDATES)

    @property
    def rows(self) -> "Rows":
        """(n,) rows of all items, ascending."""
        return self._items.rows

    @property
    def items(self) -> ItemTable:
        """The table of where the vectors of the items lie."""
        return self._items

    def add(self, shard: Shard) -> None:
        """Add a document's items, except for those without vectors; none of their rows is there yet.

        Raises ValueError for vectors of another dimension; CollectionError where the shard's file is not whole and
        StorageError where the disk refuses, both unless the kind is `exact`, which reads and writes nothing here.
        """
        has_vectors = shard.lengths > 0
        if not has_vectors.any():
            return
        if shard.dimension != self.dimension:
            raise ValueError(f"{shard.path} holds vectors of {shard.dimension} numbers, the index {self.dimension}")
        shard = replace(shard, rows=shard.rows[has_vectors], lengths=shard.lengths[has_vectors], quotes=())
        if self._candidates is not None:
            self._candidates.add(shard)
        self._items.add(shard)

    def remove(self, rows: "Rows") -> None:
        """Remove items; from now on no search finds them. Rows that are not there are ignored."""
        self._items.remove(rows)
        if self._candidates is not None:
            self._candidates.remove(rows)

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None = None) -> list[TopItems]:
        """At most `k` items for each question, which is a matrix (vectors, dimension) float32.

        A question without vectors finds nothing. Raises FingerprintMismatch for a question of another dimension, and
        CollectionError for files that are missing or damaged.
        """
        for query in queries:
            if query.shape[1] != self.dimension:
                raise FingerprintMismatch(
                    f"the index holds vectors of {self.dimension} numbers, and the question has some of "
                    f"{query.shape[1]}; search with the model that it was built with, or build it again"
                )
        places = self._items.places(None if scope is None else scope.rows)
        searchable = [query for query in queries if len(query)] if k > 0 and len(places) else []
        results = iter(self._search(searchable, k, places, scope))
        nothing = TopItems(np.empty(0, np.int64), np.empty(0, np.float32))
        return [next(results) if searchable and len(query) else nothing for query in queries]

    def scored(self, k: int, item_count: int) -> int:
        """How many of that many items are scored exactly in a search for the best `k`."""
        return item_count if self._candidates is None else min(item_count, self._candidates.count(k, item_count))

    def save(self, folder: Path) -> None:
        """Write the index into an empty folder; it refers to the shards by paths relative to that folder."""
        self._items.save(folder)
        if self._candidates is not None:
            (folder / _CANDIDATES).mkdir()
            self._candidates.save(folder / _CANDIDATES)

    def _search(self, queries: "Sequence[Matrix]", k: int, places: "Rows", scope: SearchScope | None) -> list[TopItems]:
        count = self.scored(k, len(places))
        if self._candidates is None or count == len(places):
            return search_items(self._items, queries, k, places=places)
        candidate_places = [
            self._items.places(np.sort(rows)) for rows in self._candidates.nearest(queries, count, scope)
        ]
        return [
            search_items(self._items, [query], k, places=places_of_query)[0]
            for query, places_of_query in zip(queries, candidate_places, strict=True)
        ]
