"""Pages of many vectors as a collection has them on disk, and indexes that refer to them.

Run as a script, it asks an index questions and does nothing else, so that the memory of searching can be measured.
"""

import argparse
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.collection.stores.vectors import ShardStore
from quoteweave.index.base import Shard
from quoteweave.index.maxsim.index import MultiVectorIndex

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[Any]

PAGES_IN_A_DOCUMENT = 100
QUESTION_VECTORS = 20
FINGERPRINT = "made"


def random_vectors(chance: "np.random.Generator", count: int, dimension: int) -> "Vectors":
    """(count, dimension) in single precision, of length 1."""
    import numpy as np

    vectors = chance.standard_normal((count, dimension), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def random_pages(count: int, vectors: int, dimension: int) -> "Iterator[Vectors]":
    """Pages (vectors, dimension) of random vectors in half precision."""
    import numpy as np

    chance = np.random.default_rng(1)
    for _ in range(count):
        yield random_vectors(chance, vectors, dimension).astype(np.float16)


def store(folder: Path, pages: "Iterable[Vectors]") -> list[Shard]:
    """Writes pages into shards of 100, one at a time in memory; rows count from 1."""
    import numpy as np

    shards: list[Shard] = []
    store, left, row = ShardStore(folder / "vectors"), iter(pages), 1
    while some := list(islice(left, PAGES_IN_A_DOCUMENT)):
        key = f"{len(shards):06d}"
        store.put_vectors(FINGERPRINT, key, np.concatenate(some), [len(page) for page in some])
        stored = store.vectors(FINGERPRINT, key)
        if stored is None:
            raise SystemExit(f"{folder} does not hold what was written into it")
        rows = np.arange(row, row + len(some))
        place = (stored.path, stored.offset, stored.dtype, stored.dimension)
        shards.append(Shard(key, *place, rows, (), stored.lengths))
        row += len(some)
    return shards


def saved_index(kind: str, shards: Sequence[Shard], folder: Path) -> tuple[MultiVectorIndex, Path]:
    """An index as a search finds it: saved, and opened again; with the folder that it was saved in."""
    index = MultiVectorIndex(kind, shards[0].dimension)
    for shard in shards:
        index.add(shard)
    saved = folder / "indexes" / kind
    saved.mkdir(parents=True)
    index.save(saved)
    return MultiVectorIndex(kind, shards[0].dimension, saved), saved


def main() -> None:
    """Ask a saved index questions."""
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the index was saved")
    parser.add_argument("--kind", default="exact", help="its kind (%(default)s)")
    parser.add_argument("--dimension", type=int, default=128, help="of its vectors (%(default)s)")
    parser.add_argument("--questions", type=int, default=5, help="to ask one after the other (%(default)s)")
    options = parser.parse_args()
    index = MultiVectorIndex(options.kind, options.dimension, options.folder)
    for number in range(options.questions):
        index.search([random_vectors(np.random.default_rng(number), QUESTION_VECTORS, options.dimension)], 10)


if __name__ == "__main__":
    main()
