"""Measures the recall of the faster kinds of index against exact search, on the user's own vectors."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan
from quoteweave.collection.stores.generations import build_command
from quoteweave.index.faiss.factory import ENOUGH_TO_TRAIN
from quoteweave.index.faiss.index import FaissIndex

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Scores

FIRST = 10
QUESTIONS = 200
TIMED = 20
SAMPLE = 12_000
SLOW_S = 0.1


@dataclass(frozen=True, slots=True)
class FaissRecall:
    """How well and how fast a kind finds what exact search finds."""

    kind: str
    recall: float
    """Share of its first ten that score at least as high as the tenth of exact search, of which many may be equal."""
    seconds: float
    """Median time of one question."""
    items: int
    """How many it was measured on; of more it finds less, and takes longer."""

    def __str__(self) -> str:
        found = f"finds {100 * self.recall:.1f} % of the first {FIRST} of exact search in {self.seconds:.2g} s"
        return f"{self.kind} {found} (measured on {self.items:,} of your own)"


def stored_sample(collection: Collection, plan: IndexPlan) -> "Matrix":
    """(at most 12,000, dimension) of the vectors that an index of that plan is made of; at random, always the same."""
    import numpy as np

    keys = sorted(set(collection.shard_keys(plan.shards).values()))
    found = [collection.shards.vectors(plan.shards, key) for key in keys]
    stored = [one for one in found if one is not None and one.dimension]
    ends = np.cumsum([one.lengths.sum() for one in stored], dtype=np.int64)
    drawn = np.sort(np.random.default_rng(0).permutation(ends[-1] if stored else 0)[:SAMPLE])
    parts = [np.empty((0, stored[0].dimension if stored else 0), np.float32)]
    for one, end in zip(stored, ends, strict=True):
        size = int(one.lengths.sum())
        vectors = np.memmap(one.path, one.dtype, mode="r", offset=one.offset, shape=(size, one.dimension))
        parts.append(vectors[drawn[(drawn >= end - size) & (drawn < end)] - (end - size)])
    return np.concatenate(parts)


def measure_faiss_recall(kind: str, vectors: "Matrix") -> FaissRecall | None:
    """Recall of `fp16`, `hnsw` or `ivfpq` on vectors (n, dimension), of which 200 at random are the questions.

    None where they are too few to tell: below 10,184, `hnsw` and `ivfpq` may compare them all, as exact search does.
    Questions of users lie elsewhere than quotes, so that this is an estimate. Takes about 5 s for 12,000 × 384.
    """
    import numpy as np

    items = len(vectors) - QUESTIONS
    if items < (FIRST if kind == "fp16" else ENOUGH_TO_TRAIN):
        return None
    shuffled = vectors[np.random.default_rng(0).permutation(len(vectors))]
    queries = [query[None] for query in shuffled[items:]]
    found = []
    for made in ("flat", kind):
        index = FaissIndex(made, vectors.shape[1])
        index.add_vectors(np.arange(items), shuffled[:items])
        index.settle()
        firsts = zip(queries, index.search(queries, FIRST), strict=True)
        found.append([_scores(shuffled[one.rows], query) for query, one in firsts])
    shared = sum(int((others >= right.min()).sum()) for right, others in zip(*found, strict=True))
    return FaissRecall(kind, shared / (FIRST * QUESTIONS), _seconds(index, queries), items)


def _scores(vectors: "Matrix", query: "Matrix") -> "Scores":
    """Exact, since some kinds round theirs; rounded then, so that equal vectors have equal scores."""
    import numpy as np

    scores: Scores = np.einsum("nd,d->n", vectors.astype(np.float64), query[0].astype(np.float64)).astype(np.float32)
    return scores


def suggest_faster_kind(
    index: FaissIndex,
    collection: Collection,
    plan: IndexPlan,
    *,
    spec_of: Callable[[str], str],
    slow_s: float = SLOW_S,
) -> str | None:
    """A line that names a faster kind, with its recall on a sample of the vectors, where a flat search is slow.

    `index` is flat, and made after that plan; `spec_of` gives the spec of the same retriever with an index of a kind.
    None where one question takes up to `slow_s` seconds, which three searches tell; where it takes longer, measuring
    takes about 10 s.
    """
    sample = stored_sample(collection, plan)
    took = _seconds(index, [query[None] for query in sample[:3]])
    found = [measure_faiss_recall(kind, sample) for kind in ("hnsw", "ivfpq")] if took > slow_s else []
    measured = [one for one in found if one is not None]
    if not measured:
        return None
    best = max(measured, key=lambda one: one.recall)
    kinds = ", ".join(f"{one.kind} finds {100 * one.recall:.0f} % in {one.seconds:.2g} s" for one in measured)
    comparison = f"of the same quotes {kinds} (measured on {best.items:,} of your own)"
    return f"a flat search takes {took:.2g} s; {comparison}: {build_command(collection.root, spec_of(best.kind))}"


def _seconds(index: FaissIndex, queries: "list[Matrix]") -> float:
    taken = []
    for query in queries[:TIMED]:
        start = time.perf_counter()
        index.search([query], FIRST)
        taken.append(time.perf_counter() - start)
    return median(taken) if taken else 0.0
