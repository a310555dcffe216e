"""MaxSim indexes of items with many vectors: exact, and in two stages of which the second is exact."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from quoteweave.core.errors import FingerprintMismatch
from quoteweave.index.base import SearchScope, Shard, TopItems
from quoteweave.index.maxsim.candidates import open_candidates
from quoteweave.index.maxsim.item_table import ItemTable
from quoteweave.index.maxsim.scoring import search_items

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows

_CANDIDATES = "candidates"


class MultiVectorIndex:
    """Items of many vectors, which stay in their shards, scored by MaxSim in single precision.

    Kinds: `exact` scores all items, at a cost in time but none in memory. The others score exactly what a first stage
    hands on: `two-stage` by one mean vector an item, `pool2` and `pool3` by MaxSim over a half or a third as many
    vectors, `binary` by MaxSim over bits. `folder` is where such an index was saved. Raises CollectionError where its
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
        """Where the vectors of the items lie."""
        return self._items

    def add(self, shard: Shard) -> None:
        """Adds a document's items, but for those without vectors; none of their rows is there yet.

        Raises ValueError for vectors of another dimension; CollectionError where the shard's file is not whole and
        StorageError where the disk refuses, both unless the kind is `exact`, which reads and writes nothing here.
        """
        some = shard.lengths > 0
        if not some.any():
            return
        if shard.dimension != self.dimension:
            raise ValueError(f"{shard.path} holds vectors of {shard.dimension} numbers, the index {self.dimension}")
        shard = replace(shard, rows=shard.rows[some], lengths=shard.lengths[some], quotes=())
        if self._candidates is not None:
            self._candidates.add(shard)
        self._items.add(shard)

    def remove(self, rows: "Rows") -> None:
        """Removes items; from now on no search finds them. Rows that are not there are passed over."""
        self._items.remove(rows)
        if self._candidates is not None:
            self._candidates.remove(rows)

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None = None) -> list[TopItems]:
        """At most `k` items for each question, which is a matrix (vectors, dimension) float32.

        A question without vectors finds nothing. Raises FingerprintMismatch for a question of another dimension, and
        CollectionError for files that are missing or damaged.
        """
        import numpy as np

        for query in queries:
            if query.shape[1] != self.dimension:
                raise FingerprintMismatch(
                    f"the index holds vectors of {self.dimension} numbers, and the question has some of "
                    f"{query.shape[1]}; search with the model that it was built with, or build it again"
                )
        places = self._items.places(None if scope is None else scope.rows)
        asked = [query for query in queries if len(query)] if k > 0 and len(places) else []
        found = iter(self._search(asked, k, places, scope))
        nothing = TopItems(np.empty(0, np.int64), np.empty(0, np.float32))
        return [next(found) if asked and len(query) else nothing for query in queries]

    def scored(self, k: int, items: int) -> int:
        """How many of so many items are scored exactly where the best `k` are wanted."""
        return items if self._candidates is None else min(items, self._candidates.count(k, items))

    def save(self, folder: Path) -> None:
        """Writes the index into an empty folder; it refers to the shards by where they lie from there."""
        self._items.save(folder)
        if self._candidates is not None:
            (folder / _CANDIDATES).mkdir()
            self._candidates.save(folder / _CANDIDATES)

    def _search(self, asked: "Sequence[Matrix]", k: int, places: "Rows", scope: SearchScope | None) -> list[TopItems]:
        import numpy as np

        count = self.scored(k, len(places))
        if self._candidates is None or count == len(places):
            return search_items(self._items, asked, k, places=places)
        near = [self._items.places(np.sort(rows)) for rows in self._candidates.nearest(asked, count, scope)]
        return [search_items(self._items, [query], k, places=at)[0] for query, at in zip(asked, near, strict=True)]
