"""FAISS indexes of one vector per item, in memory or memory-mapped."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.checksums import seal, verify
from quoteweave.core.errors import CollectionError, FingerprintMismatch
from quoteweave.index.base import SearchScope, Shard, TopItems
from quoteweave.index.faiss.factory import import_faiss, keep_positions, new_index, train_ivfpq
from quoteweave.index.faiss.search import FaissVectors, search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows

_VECTORS = "vectors.faiss"
_ITEMS = "items.npz"


class FaissIndex:
    """One vector per item, searched by inner product. FAISS knows vectors by position; their rows are kept here.

    Kinds: `flat` compares all, exactly; `fp16` does so in half the memory, with vectors in half precision; `hnsw`
    (Malkov and Yashunin 2018, arXiv 1603.09320) goes through a graph of neighbours, in more memory than `flat`; `ivfpq`
    (Jégou et al. 2011, doi 10.1109/TPAMI.2010.57) goes through the nearest lists of vectors, four numbers in a byte.

    `ivfpq` is trained when it is first saved with 9,984 items or more, and compares all exactly until then. Items added
    later use the same training; an index that has grown to many times its size is better rebuilt.

    From a folder it is opened memory-mapped; the first change reads it into memory. Searches skip removed items, whose
    vectors are deleted when the index is saved; `hnsw` is rebuilt for that. Where FAISS was built for GPUs and finds
    one with room for the vectors, `flat` is searched there unless a filter restricts the search; this has been tried
    with a stand-in for a GPU only.
    """

    def __init__(self, kind: str, dimension: int, folder: Path | None = None) -> None:
        self.kind = kind
        self.dimension = dimension
        self._folder = folder
        """The folder from which the vectors are mapped; None when they are in memory."""
        self._indexed = (
            _open(folder, dimension) if folder else FaissVectors(new_index(kind, dimension), np.empty(0, np.int64), 0)
        )

    @property
    def rows(self) -> "Rows":
        """(n,) rows of all items, ascending."""
        return np.sort(self._indexed.rows[self._indexed.rows >= 0])

    def add(self, shard: Shard) -> None:
        """Add the items of a document; none of their rows is there yet. Raises ValueError for another dimension."""
        if len(shard.rows):
            self.add_vectors(shard.rows, np.array(shard.vectors(), dtype=np.float32))

    def add_vectors(self, rows: "Rows", vectors: "Matrix") -> None:
        """Add items by their rows and vectors (n, dimension). Raises ValueError for another shape."""
        if vectors.shape != (len(rows), self.dimension):
            raise ValueError(f"vectors {vectors.shape} where the index takes {(len(rows), self.dimension)}")
        before, longest = self._in_memory(), np.linalg.norm(vectors.astype(np.float64), axis=1).max(initial=0)
        before.index.add(vectors)
        rows = np.concatenate([before.rows, rows])
        self._indexed = FaissVectors(before.index, rows, max(before.longest, float(longest)))

    def remove(self, rows: "Rows") -> None:
        """Remove items; from now on no search finds them. Rows that are not there are ignored."""
        before = self._indexed
        self._indexed = replace(before, rows=np.where(np.isin(before.rows, rows), -1, before.rows))

    def search(self, queries: "Sequence[Matrix]", k: int, scope: SearchScope | None = None) -> list[TopItems]:
        """At most `k` items for each question, a matrix (1, dimension) float32; of equal scores the lower row first.

        Raises FingerprintMismatch for a question of another shape.
        """
        for query in queries:
            if query.shape != (1, self.dimension):
                raise FingerprintMismatch(
                    f"the question's vectors have the shape {query.shape}, those of the index {(1, self.dimension)}; "
                    "search with the model that the index was built with, or build it again"
                )
        if not queries:
            return []
        rows = self._indexed.rows
        within = np.flatnonzero(rows >= 0) if scope is None else self._indexed.positions(scope.rows)
        return search(self._indexed, np.concatenate(queries), k, within if len(within) < len(rows) else None)

    def save(self, folder: Path) -> None:
        """Write the index into an empty folder. Raises OSError where the disk is full or refuses."""
        self.settle()
        faiss, indexed = import_faiss(), self._indexed
        with (folder / _VECTORS).open("wb") as file:
            # Python writes the file, as errors of FAISS do not say why the disk refused.
            faiss.write_index(indexed.index, faiss.PyCallbackIOWriter(file.write))
        np.savez(folder / _ITEMS, rows=indexed.rows, longest=indexed.longest)
        seal(folder, [_VECTORS, _ITEMS])

    def settle(self) -> None:
        """Drop removed items from the FAISS index, and train `ivfpq`; called before saving."""
        is_kept = self._indexed.rows >= 0
        if not is_kept.all() or self.kind == "ivfpq":
            indexed = self._in_memory()
            index = indexed.index if is_kept.all() else keep_positions(indexed.index, is_kept)
            self._indexed = FaissVectors(
                train_ivfpq(index) if self.kind == "ivfpq" else index, indexed.rows[is_kept], indexed.longest
            )

    def _in_memory(self) -> FaissVectors:
        # FAISS ends the process when a mapped index is changed.
        if self._folder is not None:
            self._indexed = replace(self._indexed, index=_read(self._folder / _VECTORS, mapped=False))
            self._folder = None
        return self._indexed


def _open(folder: Path, dimension: int) -> FaissVectors:
    # Vectors are verified too, since wrong bytes among them would give wrong scores and no error.
    verify(folder)
    try:
        with np.load(folder / _ITEMS, allow_pickle=False) as stored_items:
            rows, longest = stored_items["rows"], float(stored_items["longest"])
    except (OSError, EOFError, ValueError, KeyError) as error:
        raise _damaged(folder / _ITEMS) from error
    path = folder / _VECTORS
    index = _read(path, mapped=True)
    if (index.ntotal, index.d) != (len(rows), dimension):
        raise _damaged(path)
    return FaissVectors(index, rows, longest)


def _read(path: Path, *, mapped: bool) -> Any:
    faiss = import_faiss()
    try:
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC if mapped else 0)
    except RuntimeError as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> CollectionError:
    return CollectionError(f"{path} is {'damaged' if path.exists() else 'missing'}")
