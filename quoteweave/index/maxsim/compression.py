"""Compression of an item's vectors, accurate enough to find candidates."""

from typing import TYPE_CHECKING

from quoteweave.core.errors import MissingExtra

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from quoteweave.core.protocols import Matrix


def mean_direction(vectors: "Matrix") -> "Matrix":
    """(1, dimension) the normalised mean of the vectors (n, dimension)."""
    return _directions(vectors.mean(axis=0, keepdims=True))


def pool_tokens(vectors: "Matrix", factor: int) -> "Matrix":
    """(n // factor, dimension) the directions of clusters of the vectors (n, dimension), which have length 1.

    Clavié, Chaffin and Adams, "Reducing the Footprint of Multi-Vector Retrieval with Minimal Performance Impact via
    Token Pooling" (arXiv 2409.14683): Ward's clustering by cosine distance. As in the authors' own code, and in
    colpali-engine's, what Ward's method compares is the rows of the matrix of distances. Equal vectors may leave fewer
    clusters, and there is always one. Raises MissingExtra.
    """
    import numpy as np

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
    # By products of matrices: scipy's own way from these rows to how far they lie apart takes four times as long.
    products = distances @ distances
    squares = products.diagonal()
    apart = np.sqrt(np.maximum(squares[:, None] + squares - 2 * products, 0))
    labels = fcluster(ward(squareform(apart, checks=False)), clusters, criterion="maxclust") - 1
    sums = np.zeros((labels.max() + 1, vectors.shape[1]), np.float32)
    np.add.at(sums, labels, vectors)
    return _directions(sums)


def sign_bits(vectors: "Matrix") -> "npt.NDArray[np.uint8]":
    """(n, bytes) one bit for each number of the vectors (n, dimension), set where it is above 0; then zeros.

    The bytes are 8, 16, 32 or another power of two, which FAISS compares several times as fast as what lies between.
    """
    import numpy as np

    bits = np.packbits(vectors > 0, axis=1)
    width = max(8, 1 << (bits.shape[1] - 1).bit_length())
    return np.pad(bits, ((0, 0), (0, width - bits.shape[1])))


def _directions(vectors: "Matrix") -> "Matrix":
    """The vectors with length 1; those of length 0 stay."""
    import numpy as np

    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    directions: Matrix = np.divide(vectors, lengths, out=vectors.copy(), where=lengths > 0)
    return directions
