"""Shards of items made by hand, for the tests of what searches items of many vectors."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from quoteweave.index.base import SearchScope, Shard

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows

BEFORE = b"what stands before the numbers  "


class Among(SearchScope):
    """A scope of these rows."""

    def __init__(self, rows: Sequence[int]) -> None:
        self.rows: Rows = np.array(sorted(rows), np.int64)


def made_shard(path: Path, items: "Mapping[int, Matrix]", *, dimension: int = 0, dtype: str = "float16") -> Shard:
    """A new file with the vectors of items by row; its dimension is theirs."""
    dimension = next((matrix.shape[1] for matrix in items.values()), dimension)
    vectors: Any = np.concatenate([np.empty((0, dimension)), *items.values()]).astype(dtype)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(BEFORE + vectors.tobytes())
    lengths = np.array([len(matrix) for matrix in items.values()], np.int64)
    return Shard("made", path, len(BEFORE), vectors.dtype, dimension, np.array([*items], np.int64), (), lengths)


@cache
def topics(items: int, *, vectors: int = 12, dimension: int = 64) -> "Mapping[int, Matrix]":
    """Items whose vectors, of length 1, lie about their own direction and about one of a few that others share."""
    chance = np.random.default_rng(5)
    shared = chance.standard_normal((items // 20, dimension))
    matrices: dict[int, Matrix] = {}
    for row in range(1, items + 1):
        about = shared[row % len(shared)] + chance.standard_normal(dimension)
        scattered = about + 1.5 * chance.standard_normal((int(chance.integers(1, vectors + 1)), dimension))
        matrices[row] = (scattered / np.linalg.norm(scattered, axis=1, keepdims=True)).astype(np.float32)
    return matrices
