"""Searches FAISS indexes such that a score depends only on its question and its vector.

FAISS adds up in single precision in an order that depends on how many questions there are and where a vector lies, so
that even equal vectors get unequal scores. So here FAISS only proposes candidates, a few more than are wanted. Their
scores are then computed in double precision; if rounding could have left out a vector, more candidates are requested.
"""

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.index.base import TopItems
from quoteweave.index.faiss.factory import CHUNK, import_faiss

if TYPE_CHECKING:
    import numpy.typing as npt

    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows, Scores

    Positions = npt.NDArray[np.int64]
    Candidates = tuple[Scores, Positions]

SPARE = 16  # candidates beyond those wanted
MAX_ONE_BY_ONE = 3  # up to so many questions, comparing one by one is faster than multiplying matrices
MAX_ONE_BY_ONE_IN_HALVES = 16  # the same for half precision, which is converted before matrices are multiplied
MAX_ON_A_GPU = 2048  # most candidates that FAISS finds on a GPU
EF_SEARCH = 128  # HNSW: candidates kept during a search (efSearch)
COST_PER_CANDIDATE = 64  # HNSW: what a candidate costs, in vectors of a full comparison, random access included
PROBES = 64  # IVF: lists searched

# FAISS allows only one thread at a time to use a GPU's resources, even for searches.
_GPU = Lock()


class GpuCopy:
    """A copy of a flat index on the GPUs that FAISS sees, made by the first search; for any number of threads.

    What a GPU does has been tried with stand-ins for it only: copying, searching, and running out of memory.
    """

    def __init__(self) -> None:
        self._copy: Any = None
        self._tried = False

    def search(self, index: Any, queries: "Matrix", count: int) -> "Candidates | None":
        """The best `count` of the copy of `index`; None without a GPU or room on it, or if the index is not flat.

        If the search fails on the GPU, a RuntimeWarning says so, and the copy is never used again.
        """
        faiss = import_faiss()
        if not isinstance(index, faiss.IndexFlat) or not faiss.get_num_gpus():
            return None
        with _GPU:
            if not self._tried:
                self._tried, self._copy = True, _copied(index)
            if self._copy is None:
                return None
            try:
                scores, positions = self._copy.search(queries, count)
            except RuntimeError as error:
                self._copy, reason = None, str(error)
            else:
                return scores, positions
        warnings.warn(
            f"a search on the GPU failed ({reason}); this index is searched on the processor from now on",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


def _copied(index: Any) -> Any:
    try:
        return import_faiss().index_cpu_to_all_gpus(index)
    except RuntimeError:
        return None


@dataclass(frozen=True)
class FaissVectors:
    """A FAISS index with the rows of its vectors and an upper bound of their length."""

    index: Any
    rows: "Rows"
    """(positions,) the row of each vector; -1 if it was removed."""
    longest: float
    """Length that no vector exceeds."""
    gpu: GpuCopy = field(default_factory=GpuCopy, init=False)

    def positions(self, rows: "Rows") -> "Positions":
        """The positions of those of the rows that the index has, ascending."""
        order, known_rows = self._by_row
        places = np.searchsorted(known_rows, rows, side="right") - 1
        is_known = places >= 0
        is_known[is_known] = known_rows[places[is_known]] == rows[is_known]
        chosen = np.zeros(len(known_rows), dtype=np.bool_)
        chosen[order[places[is_known]]] = True
        return np.flatnonzero(chosen)

    @cached_property
    def _by_row(self) -> "tuple[Positions, Rows]":
        order = np.argsort(self.rows)
        return order, self.rows[order]


def search(indexed: FaissVectors, queries: "Matrix", k: int, within: "Positions | None") -> list[TopItems]:
    """The best `k` of all positions, or of those `within`, ascending, for each question (questions, dimension).

    The search is exact for flat and half-precision indexes. HNSW may miss some items, but its scores are exact; those
    of IVF-PQ are not. Both find `k` items if there are that many: if a narrow filter leaves too few in the graph or
    lists, all are compared.
    """
    count = _count(indexed.index, within)
    k = min(k, count)
    if k <= 0:
        return [TopItems(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]
    candidates = _quick(indexed.index, queries, min(count, k + SPARE), within)
    if candidates is None:
        return _exact(indexed, queries, k, within)
    results = _ranked(indexed, queries, k, candidates)
    incomplete = [i for i, result in enumerate(results) if len(result.rows) < k]
    if incomplete:
        exhaustive_results = _exhaustive(indexed, queries[incomplete], k, within)
        for i, result in zip(incomplete, exhaustive_results, strict=True):
            results[i] = result
    return results


def _quick(index: Any, queries: "Matrix", candidate_count: int, within: "Positions | None") -> "Candidates | None":
    """Candidates from the HNSW graph or the IVF lists; None if it has neither, or a full comparison is as fast."""
    count = _count(index, within)
    hidden = index.ntotal / count  # one of this many visited vectors passes the filter
    if _is_ivf(index):
        probes = hidden * max(PROBES, 4 * candidate_count * index.nlist / index.ntotal)
        return _through_lists(index, queries, candidate_count, within, min(index.nlist, round(probes)))
    faiss = import_faiss()
    effort = round(hidden * max(EF_SEARCH, 2 * candidate_count))
    if not isinstance(index, faiss.IndexHNSW) or effort * COST_PER_CANDIDATE >= count:
        return None
    parameters = faiss.SearchParametersHNSW(efSearch=effort, sel=_selector(index, within))
    scores, positions = index.search(queries, candidate_count, params=parameters)
    return scores, positions


def _through_lists(
    index: Any, queries: "Matrix", candidate_count: int, within: "Positions | None", probes: int
) -> "Candidates":
    parameters = import_faiss().SearchParametersIVF(nprobe=probes, sel=_selector(index, within))
    scores, positions = index.search(queries, candidate_count, params=parameters)
    return scores, positions


def _exhaustive(indexed: FaissVectors, queries: "Matrix", k: int, within: "Positions | None") -> list[TopItems]:
    if not _is_ivf(indexed.index):
        return _exact(indexed, queries, k, within)
    candidate_count = min(_count(indexed.index, within), k + SPARE)
    return _ranked(
        indexed, queries, k, _through_lists(indexed.index, queries, candidate_count, within, indexed.index.nlist)
    )


def _ranked(indexed: FaissVectors, queries: "Matrix", k: int, candidates: "Candidates") -> list[TopItems]:
    """The best `k` of the candidates, among which -1 stands for none."""
    rough, positions = candidates
    scores = rough if _is_ivf(indexed.index) else _scores(indexed.index, queries, positions)
    scores[positions < 0] = -np.inf
    order = np.lexsort((indexed.rows[positions], -scores))[:, :k]
    scores, positions = np.take_along_axis(scores, order, 1), np.take_along_axis(positions, order, 1)
    return [TopItems(indexed.rows[p[p >= 0]], s[p >= 0]) for p, s in zip(positions, scores, strict=True)]


def _exact(indexed: FaissVectors, queries: "Matrix", k: int, within: "Positions | None") -> list[TopItems]:
    count = _count(indexed.index, within)
    # The error of a sum of n products in single precision is at most n 2⁻²⁴ |x| |y|, whatever the order (Higham,
    # Accuracy and Stability of Numerical Algorithms, section 3.1); it is doubled for the rounding of the exact score.
    off_by = indexed.index.d * 2.0**-23 * indexed.longest * np.linalg.norm(queries.astype(np.float64), axis=1)
    best_of_query: dict[int, TopItems] = {}
    unsure, depth = np.arange(len(queries)), min(count, k + SPARE)
    while len(unsure):
        candidates = _nearest(indexed, queries[unsure], depth, within)
        for i, worst, best in zip(
            unsure, candidates[0][:, -1], _ranked(indexed, queries[unsure], k, candidates), strict=True
        ):
            if depth == count or worst + off_by[i] < best.scores[-1]:
                best_of_query[int(i)] = best
        unsure, depth = np.array([i for i in unsure if i not in best_of_query], dtype=np.int64), min(count, 4 * depth)
    return [best_of_query[i] for i in range(len(queries))]


def _nearest(indexed: FaissVectors, queries: "Matrix", depth: int, within: "Positions | None") -> "Candidates":
    """The best `depth` by FAISS's own scores, best first."""
    faiss, index = import_faiss(), _store(indexed.index)
    flat = isinstance(index, faiss.IndexFlat)
    candidates = indexed.gpu.search(indexed.index, queries, depth) if within is None and depth <= MAX_ON_A_GPU else None
    if candidates is not None:
        scores, positions = candidates
    elif len(queries) <= (MAX_ONE_BY_ONE if flat else MAX_ONE_BY_ONE_IN_HALVES):
        # With a selector, FAISS never multiplies matrices but compares one by one.
        selector = faiss.IDSelectorAll() if within is None else _selector(index, within)
        scores, positions = index.search(queries, depth, params=faiss.SearchParameters(sel=selector))
    elif within is None and flat:
        scores, positions = index.search(queries, depth)
    else:
        scores, positions = _by_chunks(index, queries, depth, within)
    return scores, positions


def _by_chunks(index: Any, queries: "Matrix", depth: int, within: "Positions | None") -> "Candidates":
    """The best `depth`, found fastest: matrices are multiplied with chunks of contiguous single-precision vectors."""
    faiss, count = import_faiss(), _count(index, within)
    scores = np.empty((len(queries), 0), np.float32)
    positions = np.empty((len(queries), 0), np.int64)
    for start in range(0, count, CHUNK):
        stop = min(count, start + CHUNK)
        chunk = np.arange(start, stop) if within is None else within[start:stop]
        vectors = _vectors(index, chunk)
        chunk_scores, chunk_places = faiss.knn(
            queries, vectors, min(depth, len(chunk)), metric=faiss.METRIC_INNER_PRODUCT
        )
        scores, positions = np.hstack([scores, chunk_scores]), np.hstack([positions, chunk[chunk_places]])
        order = np.argsort(-scores, axis=1)[:, :depth]
        scores, positions = np.take_along_axis(scores, order, 1), np.take_along_axis(positions, order, 1)
    return scores, positions


def _scores(index: Any, queries: "Matrix", positions: "Positions") -> "Scores":
    """Inner products (questions, candidates) in double precision, rounded to single; any number for position -1."""
    store, flat = _store(index), np.maximum(positions, 0).ravel()
    query_numbers = np.repeat(np.arange(len(queries)), positions.shape[1])
    scores = np.empty(len(flat), np.float32)
    for start in range(0, len(flat), CHUNK):
        part = slice(start, start + CHUNK)
        vectors = store.reconstruct_batch(flat[part]).astype(np.float64)
        scores[part] = np.einsum("nd,nd->n", vectors, queries[query_numbers[part]].astype(np.float64))
    return scores.reshape(positions.shape)


def _count(index: Any, within: "Positions | None") -> int:
    return int(index.ntotal) if within is None else len(within)


def _vectors(index: Any, positions: "Positions") -> "Matrix":
    follow = positions[-1] - positions[0] == len(positions) - 1
    if follow:
        vectors: Matrix = index.reconstruct_n(int(positions[0]), len(positions))
    else:
        vectors = index.reconstruct_batch(positions)
    return vectors


def _selector(index: Any, within: "Positions | None") -> Any:
    faiss = import_faiss()
    if within is None:
        return None
    if isinstance(index, faiss.IndexFlat):  # it visits only the positions of an array; others test each vector
        return faiss.IDSelectorArray(within)
    chosen = np.zeros(index.ntotal, dtype=np.bool_)
    chosen[within] = True
    return faiss.IDSelectorBitmap(np.packbits(chosen, bitorder="little"))


def _store(index: Any) -> Any:
    """The index that stores the vectors: the index itself, or the one below a graph."""
    faiss = import_faiss()
    return faiss.downcast_index(index.storage) if isinstance(index, faiss.IndexHNSW) else index


def _is_ivf(index: Any) -> bool:
    return isinstance(index, import_faiss().IndexIVF)
