"""TF-IDF over quotes: how often each has each word, kept beside bm25s's index of the same quotes, which says where.

A word weighs tf × idf with idf = ln((1 + n) / (1 + df)) + 1 for n quotes of which df have it, and vectors are compared
by their cosine (Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988; the smoothed idf is
the default of scikit-learn's TfidfVectorizer).
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


class Tfidf:
    """What `write_tfidf` wrote, memory-mapped. `bm25` is bm25s's index of the same quotes; None if they have no words.

    Raises OSError or ValueError where files are missing or damaged.
    """

    def __init__(self, folder: Path, bm25: Any) -> None:
        import numpy as np

        self._counts: npt.NDArray[np.integer[Any]] = np.load(folder / "counts.npy", mmap_mode="r")
        self._norms: npt.NDArray[np.float32] = np.load(folder / "norms.npy", mmap_mode="r")
        self._columns = None if bm25 is None else (bm25.scores["indptr"], bm25.scores["indices"])

    def cosines(self, words: Sequence[int]) -> "npt.NDArray[np.float32]":
        """Cosine (n,) of each quote with a question of these words; words that no quote has play no part."""
        import numpy as np

        scores, squares = np.zeros(len(self._norms), dtype=np.float32), 0.0
        if self._columns is None:
            return scores
        starts, quotes = self._columns
        for word, asked in Counter(words).items():
            having = slice(starts[word], starts[word + 1])
            if having.start < having.stop:
                idf = float(_idf(len(scores), having.stop - having.start))
                scores[quotes[having]] += np.float32(asked * idf * idf) * self._counts[having]
                squares += (asked * idf) ** 2
        if squares:
            scores /= np.float32(math.sqrt(squares)) * self._norms
        return scores


def write_tfidf(folder: Path, quotes: Sequence[Sequence[int]], *, words: int) -> None:
    """Write what TF-IDF needs of quotes, each given as its words, numbers below `words`, with repeats."""
    import numpy as np

    lengths = np.fromiter(map(len, quotes), dtype=np.int64, count=len(quotes))
    flat = np.fromiter(chain.from_iterable(quotes), dtype=np.int64, count=int(lengths.sum()))
    # By word, then by quote: the order of bm25s's columns.
    pairs, counts = np.unique(flat << 32 | np.repeat(np.arange(len(quotes)), lengths), return_counts=True)
    idf = _idf(len(quotes), np.bincount(pairs >> 32, minlength=words))
    squares = np.bincount(pairs & 0xFFFFFFFF, (counts * idf[pairs >> 32]) ** 2, minlength=len(quotes))
    # A quote without words gets length 1, so that it can be divided by.
    norms = np.sqrt(np.where(squares > 0, squares, 1))
    np.save(folder / "counts.npy", counts.astype(np.min_scalar_type(counts.max(initial=0))))
    np.save(folder / "norms.npy", norms.astype(np.float32))


def _idf(quotes: int, having: Any) -> Any:
    import numpy as np

    return np.log((1 + quotes) / (1 + having)) + 1
