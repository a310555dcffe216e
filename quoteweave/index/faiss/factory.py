"""Creates, trains and compacts the FAISS index behind each kind."""

from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.core.errors import MissingExtra

if TYPE_CHECKING:
    import numpy.typing as npt

# HNSW: links of a node on each level, and how many candidates are considered for them. Larger numbers find more and
# take longer.
LINKS = 32
CANDIDATES = 128
# IVF-PQ: k-means wants this many vectors for each centroid, and each part of a vector has 256 centroids.
VECTORS_FOR_A_CENTROID = 39
MAX_FOR_A_CENTROID = 64
ENOUGH_TO_TRAIN = 256 * VECTORS_FOR_A_CENTROID
NUMBERS_IN_A_BYTE = 4
CHUNK = 16_384  # vectors that are in memory at once when they have to be copied


def import_faiss() -> Any:
    """Import FAISS. Raises MissingExtra if it is not installed.

    Sets, for the whole process, the threshold from which FAISS multiplies matrices instead of comparing vectors one by
    one: 20 questions, or in newer versions 20 numbers in all questions together. With the default threshold, newer
    versions take eleven times as long for 64 questions.
    """
    try:
        import faiss
    except ImportError as error:
        raise MissingExtra("faiss", "models") from error
    faiss.cvar.distance_compute_blas_threshold = 20
    return faiss


def new_index(kind: str, dimension: int) -> Any:
    """An empty FAISS index of a kind; for `ivfpq` a flat one, from which `train_ivfpq` makes it."""
    faiss = import_faiss()
    if kind == "fp16":
        return faiss.IndexScalarQuantizer(dimension, faiss.ScalarQuantizer.QT_fp16, faiss.METRIC_INNER_PRODUCT)
    if kind == "hnsw":
        index = faiss.IndexHNSWFlat(dimension, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = CANDIDATES
        return index
    return faiss.IndexFlatIP(dimension)


def train_ivfpq(index: Any) -> Any:
    """Make an IVF-PQ index of the vectors of a flat one: one byte for four numbers, in 4 √n lists.

    Returns the index itself if it was trained before, or has fewer vectors than training takes (9,984).
    """
    faiss, count, dimension = import_faiss(), index.ntotal, index.d
    if isinstance(index, faiss.IndexIVF) or count < ENOUGH_TO_TRAIN:
        return index
    lists = min(round(4 * count**0.5), count // VECTORS_FOR_A_CENTROID)
    parts = max(n for n in range(1, max(1, dimension // NUMBERS_IN_A_BYTE) + 1) if dimension % n == 0)
    trained = faiss.IndexIVFPQ(faiss.IndexFlatIP(dimension), dimension, lists, parts, 8, faiss.METRIC_INNER_PRODUCT)
    sample = np.random.default_rng(0).permutation(count)[: max(ENOUGH_TO_TRAIN, MAX_FOR_A_CENTROID * lists)]
    trained.train(index.reconstruct_batch(np.sort(sample)))
    for start in range(0, count, CHUNK):
        trained.add(index.reconstruct_n(start, min(CHUNK, count - start)))
    return trained


def keep_positions(index: Any, is_kept: "npt.NDArray[np.bool_]") -> Any:
    """Reduce the index to these positions, renumbered; `index` may be modified in place."""
    faiss = import_faiss()
    if isinstance(index, faiss.IndexHNSW):  # vectors cannot be removed from a graph
        rebuilt = new_index("hnsw", index.d)
        rebuilt.add(index.reconstruct_batch(np.flatnonzero(is_kept)))
        return rebuilt
    index.remove_ids(faiss.IDSelectorBitmap(np.packbits(~is_kept, bitorder="little")))
    if isinstance(index, faiss.IndexIVF):  # its lists still have the old positions
        numbers = np.cumsum(is_kept) - 1
        for number in range(index.nlist):
            size = index.invlists.list_size(number)
            if not size:  # an empty list has no array of ids
                continue
            ids = faiss.rev_swig_ptr(index.invlists.get_ids(number), size)
            ids[:] = numbers[ids]
    return index
