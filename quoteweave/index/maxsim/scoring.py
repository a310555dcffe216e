"""MaxSim, the late-interaction score: each vector of a question is matched with the most similar vector of an item.

ColBERT (Khattab and Zaharia, arXiv 2004.12832, section 3.3, equation 3) and ColPali (Faysse et al., arXiv 2407.01449)
score an item by the sum, over the vectors of the question, of the largest inner product with any of its vectors.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol

from quoteweave.collection.arrays import np
from quoteweave.core.errors import MissingExtra
from quoteweave.index.base import TopItems
from quoteweave.index.faiss.factory import import_faiss
from quoteweave.index.maxsim.item_table import ItemTable, VectorBlock

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy.typing as npt

    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows, Scores
    from quoteweave.index.maxsim.item_table import Vectors

    Similarities = npt.NDArray[Any]


# Vectors of questions that are compared with a block at once: with no more, the block's similarities also fit into the
# processor's caches.
QUERY_VECTORS_AT_ONCE = 32
# Up to this many multiplications, OpenBLAS multiplies matrices in the calling thread, and faster than larger ones. Its
# own threads wait for each other in busy loops, so that beside other work they take several times as long as one.
PRODUCTS_AT_ONCE = 1 << 18
# Each thread has buffers of some 8 MB, and is worth starting if it has at least this many bytes to read.
_MAX_THREADS = 16
BYTES_FOR_A_THREAD = 4 << 20
# To convert half precision to single: its 15 bits below the sign move 13 places to the left, and the exponent's bias
# changes from 15 to 127.
_SHIFT = 13
_SIGN_MASK = -0x70002000
_EXPONENTS_APART = 2.0 ** (127 - 15)


class Similarity(Protocol):
    """Computes how similar vectors are to the vectors of questions; one thread may use it."""

    def read(self, parts: "Sequence[Vectors]") -> "Vectors":
        """Convert vectors, given in parts, for `compare`; the result is valid until the next call."""
        ...

    def compare(self, vectors: "Vectors", first: int, last: int) -> "Similarities":
        """(vectors, last - first) how similar these vectors are to those of the questions from `first` to `last`."""
        ...


class InnerProducts:
    """Inner products with the vectors of questions (n, dimension), in single precision."""

    def __init__(self, query_vectors: "Matrix") -> None:
        count, dimension = query_vectors.shape
        self._query_vectors = query_vectors.T.copy()
        self._at_once = max(1, PRODUCTS_AT_ONCE // (dimension * min(count, QUERY_VECTORS_AT_ONCE)))
        self._wide = np.empty((0, dimension), np.float32)

    def read(self, parts: "Sequence[Vectors]") -> "Vectors":
        """See `Similarity`; the vectors are in half or single precision, and must be finite."""
        count = sum(len(part) for part in parts)
        if count > len(self._wide):
            self._wide = np.zeros((count + -count % self._at_once, self._wide.shape[1]), np.float32)
        first = 0
        for part in parts:
            _widen(part, self._wide[first : first + len(part)])
            first += len(part)
        return self._wide[:count]

    def compare(self, vectors: "Vectors", first: int, last: int) -> "Similarities":
        """See `Similarity`."""
        count, dimension = vectors.shape
        padded = self._wide[: count + -count % self._at_once]
        products = padded.reshape(-1, self._at_once, dimension) @ self._query_vectors[:, first:last]
        return products.reshape(len(padded), last - first)[:count]


class SignBits:
    """How many numbers differ in sign from those of the vectors of questions (n, dimension), as a negative count."""

    def __init__(self, query_vectors: "Matrix") -> None:
        self._query_vectors = sign_bits(query_vectors)

    def read(self, parts: "Sequence[Vectors]") -> "Vectors":
        """See `Similarity`; the vectors are those that `sign_bits` returns."""
        return np.concatenate(parts)

    def compare(self, vectors: "Vectors", first: int, last: int) -> "Similarities":
        """See `Similarity`; 0 where all signs agree."""
        faiss, query_bits = import_faiss(), self._query_vectors[first:last]
        differing = np.empty((len(query_bits), len(vectors)), np.int32)
        pointers = [faiss.swig_ptr(array) for array in (query_bits, vectors, differing)]
        faiss.hammings(*pointers[:2], *differing.shape, vectors.shape[1], pointers[2])
        return np.negative(differing, out=differing).T


def search_items(
    table: ItemTable,
    queries: "Sequence[Matrix]",
    k: int,
    *,
    places: "Rows",
    similarity: "Callable[[Matrix], Similarity]" = InnerProducts,
) -> list[TopItems]:
    """The best `k` of the items at these ascending places for each question (at least one vector, dimension).

    `similarity` is called with the vectors of all questions. Large searches use several cores. Raises CollectionError
    where a file is missing or damaged.
    """
    if not queries:
        return []
    query_vectors, lengths = np.concatenate(queries), [len(query) for query in queries]

    def score(part_places: "Rows") -> "Scores":
        return maxsim(similarity(query_vectors), lengths, table.blocks(part_places), count=len(part_places))

    threads = _threads(table, places)
    if threads == 1:
        scores = score(places)
    else:
        # The pool is not that of an event loop, as none may be running here; and no thread outlives the search.
        with ThreadPoolExecutor(threads) as pool:
            scores = np.concatenate([*pool.map(score, np.array_split(places, threads))], axis=1)
    rows = table.rows[places]
    return [top_k(query_scores, rows, k) for query_scores in scores]


def maxsim(similar: Similarity, lengths: Sequence[int], blocks: "Iterable[VectorBlock]", *, count: int) -> "Scores":
    """(questions, count) the scores of the items in these blocks; `lengths` says how many vectors each question has."""
    scores = np.empty((len(lengths), count), np.float32)
    vector_count, query_starts = sum(lengths), np.cumsum([0, *lengths[:-1]])
    for block in blocks:
        vectors = similar.read(block.parts)
        similarities = (
            similar.compare(vectors, first, min(vector_count, first + QUERY_VECTORS_AT_ONCE))
            for first in range(0, vector_count, QUERY_VECTORS_AT_ONCE)
        )
        largest = [np.maximum.reduceat(similarity, block.starts, axis=0) for similarity in similarities]
        block_scores = np.add.reduceat(np.concatenate(largest, axis=1), query_starts, axis=1)
        scores[:, block.first : block.first + len(block.starts)] = block_scores.T
    return scores


def top_k(scores: "Scores", rows: "Rows", k: int) -> TopItems:
    """The `k` items of the highest scores, best first; of equal scores the lower row comes first."""
    chosen = np.arange(len(rows))
    if k < len(rows):
        least = np.partition(scores, -k)[-k]
        positions_above = np.flatnonzero(scores > least)
        chosen = np.concatenate([positions_above, np.flatnonzero(scores == least)[: k - len(positions_above)]])
    chosen = chosen[np.lexsort((rows[chosen], -scores[chosen]))]
    return TopItems(rows[chosen], scores[chosen])


def _widen(vectors: "Vectors", widened: "Matrix") -> None:
    """Copy vectors into `widened`. numpy's own conversion from half precision takes six times as long."""
    if vectors.dtype != np.float16:
        widened[...] = vectors
        return
    bits = widened.view(np.int32)
    bits[...] = vectors.view(np.int16)
    bits <<= _SHIFT
    bits &= _SIGN_MASK
    widened *= _EXPONENTS_APART


def _threads(table: ItemTable, places: "Rows") -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(cores, _MAX_THREADS, table.vector_bytes(places) // BYTES_FOR_A_THREAD))


def mean_direction(vectors: "Matrix") -> "Matrix":
    """(1, dimension) the normalised mean of the vectors (n, dimension)."""
    return _directions(vectors.mean(axis=0, keepdims=True))


def pool_tokens(vectors: "Matrix", factor: int) -> "Matrix":
    """(n // factor, dimension) the directions of clusters of the vectors (n, dimension), which have length 1.

    Clavié, Chaffin and Adams, "Reducing the Footprint of Multi-Vector Retrieval with Minimal Performance Impact via
    Token Pooling" (arXiv 2409.14683): Ward's clustering by cosine distance. As in the authors' code and in
    colpali-engine, Ward's method is given the matrix of distances and treats its rows as points. If vectors are equal,
    there may be fewer clusters, but there is always one. Raises MissingExtra.
    """
    clusters = max(len(vectors) // factor, 1)
    if clusters == 1:
        return mean_direction(vectors)
    try:
        from scipy.cluster.hierarchy import fcluster, ward
        from scipy.spatial.distance import squareform
    except ImportError:
        raise MissingExtra("scipy", "models") from None
    exact = vectors.astype(np.float64)
    distances = 1 - exact @ exact.T
    # Distances between these rows, by products of matrices: scipy's own function takes four times as long.
    products = distances @ distances
    squares = products.diagonal()
    separations = np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0))
    labels = fcluster(ward(squareform(separations, checks=False)), clusters, criterion="maxclust") - 1
    sums = np.zeros((labels.max() + 1, vectors.shape[1]), np.float32)
    np.add.at(sums, labels, vectors)
    return _directions(sums)


def sign_bits(vectors: "Matrix") -> "npt.NDArray[np.uint8]":
    """(n, bytes) one bit for each number of the vectors (n, dimension), set where it is above 0; zeros fill the rest.

    The number of bytes is 8, 16, 32 or another power of two, as FAISS compares these several times as fast as others.
    """
    bits = np.packbits(vectors > 0, axis=1)
    width = max(8, 1 << (bits.shape[1] - 1).bit_length())
    return np.pad(bits, ((0, 0), (0, width - bits.shape[1])))


def _directions(vectors: "Matrix") -> "Matrix":
    """The vectors with length 1; those of length 0 stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: Matrix = np.divide(vectors, lengths, out=vectors.copy(), where=lengths > 0)
    return directions
