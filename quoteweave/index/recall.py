"""Measures the recall of the faster kinds of index against exact search, on the user's own vectors and items."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan
from quoteweave.collection.stores.generations import build_command
from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.index.faiss.factory import ENOUGH_TO_TRAIN
from quoteweave.index.faiss.index import FaissIndex
from quoteweave.index.maxsim.index import MultiVectorIndex

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows, Scores


FIRST = 10
FAISS_QUESTIONS = 200
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
    """How many items it was measured on; with more items, recall is lower and a question takes longer."""

    def __str__(self) -> str:
        recall_words = f"finds {100 * self.recall:.1f} % of the first {FIRST} of exact search in {self.seconds:.2g} s"
        return f"{self.kind} {recall_words} (measured on {self.items:,} of your own)"


def stored_sample(collection: Collection, plan: IndexPlan) -> "Matrix":
    """(at most 12,000, dimension) a random sample, always the same one, of the vectors of an index of that plan."""
    keys = sorted(set(collection.shard_keys(plan.shards).values()))
    stored_vectors = [collection.shards.vectors(plan.shards, key) for key in keys]
    usable = [vectors for vectors in stored_vectors if vectors is not None and vectors.dimension]
    ends = np.cumsum([vectors.lengths.sum() for vectors in usable], dtype=np.int64)
    drawn = np.sort(np.random.default_rng(0).permutation(ends[-1] if usable else 0)[:SAMPLE])
    parts = [np.empty((0, usable[0].dimension if usable else 0), np.float32)]
    for document_vectors, end in zip(usable, ends, strict=True):
        size = int(document_vectors.lengths.sum())
        vectors = np.memmap(
            document_vectors.path,
            document_vectors.dtype,
            mode="r",
            offset=document_vectors.offset,
            shape=(size, document_vectors.dimension),
        )
        parts.append(vectors[drawn[(drawn >= end - size) & (drawn < end)] - (end - size)])
    return np.concatenate(parts)


def measure_faiss_recall(kind: str, vectors: "Matrix") -> FaissRecall | None:
    """Recall of `fp16`, `hnsw` or `ivfpq` on vectors (n, dimension), of which 200 at random are the questions.

    None for too few vectors: below 10,184, `hnsw` and `ivfpq` may compare them all, as exact search does. This is an
    estimate, as vectors of users' questions are unlike those of quotes. Takes about 5 s for 12,000 × 384.
    """
    item_count = len(vectors) - FAISS_QUESTIONS
    if item_count < (FIRST if kind == "fp16" else ENOUGH_TO_TRAIN):
        return None
    shuffled = vectors[np.random.default_rng(0).permutation(len(vectors))]
    queries = [query[None] for query in shuffled[item_count:]]
    scores_by_kind = []
    for index_kind in ("flat", kind):
        index = FaissIndex(index_kind, vectors.shape[1])
        index.add_vectors(np.arange(item_count), shuffled[:item_count])
        index.settle()
        firsts = zip(queries, index.search(queries, FIRST), strict=True)
        scores_by_kind.append([_scores(shuffled[result.rows], query) for query, result in firsts])
    shared = sum(
        int((scores >= exact_scores.min()).sum()) for exact_scores, scores in zip(*scores_by_kind, strict=True)
    )
    return FaissRecall(kind, shared / (FIRST * FAISS_QUESTIONS), _seconds(index, queries), item_count)


def _scores(vectors: "Matrix", query: "Matrix") -> "Scores":
    """Exact scores, since some kinds round theirs; then rounded, so that equal vectors have equal scores."""
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

    `index` is flat, and built by that plan; `spec_of` gives the spec of the same retriever with an index of a kind.
    None if a question takes at most `slow_s` seconds, which is measured by three searches. If it takes longer,
    measuring the recall takes about 10 s.
    """
    sample = stored_sample(collection, plan)
    flat_seconds = _seconds(index, [query[None] for query in sample[:3]])
    recalls = [measure_faiss_recall(kind, sample) for kind in ("hnsw", "ivfpq")] if flat_seconds > slow_s else []
    measured = [recall for recall in recalls if recall is not None]
    if not measured:
        return None
    best = max(measured, key=lambda recall: recall.recall)
    kinds = ", ".join(
        f"{recall.kind} finds {100 * recall.recall:.0f} % in {recall.seconds:.2g} s" for recall in measured
    )
    comparison = f"of the same quotes {kinds} (measured on {best.items:,} of your own)"
    return (
        f"a flat search takes {flat_seconds:.2g} s; {comparison}: {build_command(collection.root, spec_of(best.kind))}"
    )


def _seconds(index: FaissIndex, queries: "list[Matrix]") -> float:
    durations = []
    for query in queries[:TIMED]:
        start = time.perf_counter()
        index.search([query], FIRST)
        durations.append(time.perf_counter() - start)
    return median(durations) if durations else 0.0


MAXSIM_QUESTIONS = 32
QUESTION_VECTORS = 16
# Bounds of the work: at most this many items are searched, or as many as have at most this many vectors together.
ITEMS, MIN_ITEMS = 2000, 500
VECTORS = 400_000


@dataclass(frozen=True, slots=True)
class MaxSimRecall:
    """A kind's recall against exact search, and the disk space it takes."""

    kind: str
    recall: float
    """Share of its first ten that score at least as high as the tenth of exact search, of which many may be equal."""
    items: int
    """How many items it was measured on."""
    item_bytes: float
    """Mean bytes on disk that the kind takes for an item beside its vectors."""
    vector_bytes: float
    """Mean bytes on disk of the vectors of an item."""

    def __str__(self) -> str:
        recall_words = f"finds {100 * self.recall:.1f} % of the first {FIRST} of exact search"
        space_words = f"keeps {self.item_bytes:,.0f} bytes an item, whose vectors take {self.vector_bytes:,.0f}"
        return f"{self.kind} {recall_words}, and {space_words} (measured on {self.items:,} of your own)"


def measure_maxsim_recall(kind: str, index: MultiVectorIndex) -> MaxSimRecall | None:
    """Recall of `two-stage`, `pool2`, `pool3` or `binary` on items of an index, which itself may be of any kind.

    The questions are some vectors of random items, which are left out of their own results. This is an estimate, as
    vectors of users' questions are unlike these. None for so few items that all of them are scored exactly. Takes
    seconds; for `pool2` and `pool3` up to a minute. Raises CollectionError where vectors are missing or damaged,
    MissingExtra where a library is not installed.
    """
    chance = np.random.default_rng(0)
    places = _sample(index, chance)
    if MultiVectorIndex(kind, index.dimension).scored(FIRST + 1, len(places)) == len(places):
        return None
    exact, compressed = (_index_of(index_kind, index, places) for index_kind in ("exact", kind))
    queries = dict(_questions(index, np.sort(chance.permutation(places)[:MAXSIM_QUESTIONS]), chance))
    shared = sum(
        # Two equal scores may be rounded differently.
        int(((scores >= exact_scores.min()) | np.isclose(scores, exact_scores.min())).sum())
        for exact_scores, scores in zip(_first(exact, queries), _first(compressed, queries), strict=True)
    )
    return MaxSimRecall(
        kind=kind,
        recall=shared / (FIRST * len(queries)),
        items=len(places),
        item_bytes=_saved_bytes(compressed) / len(places),
        vector_bytes=exact.items.vector_bytes(exact.items.places()) / len(places),
    )


def _sample(index: MultiVectorIndex, chance: "np.random.Generator") -> "Rows":
    places = chance.permutation(index.items.places())[:ITEMS]
    vectors = np.cumsum(index.items.lengths[places])
    return np.sort(places[: max(MIN_ITEMS, int(np.searchsorted(vectors, VECTORS)))])


def _index_of(kind: str, index: MultiVectorIndex, places: "Rows") -> MultiVectorIndex:
    new_index = MultiVectorIndex(kind, index.dimension)
    for shard in index.items.shards(places):
        new_index.add(shard)
    return new_index


def _questions(
    index: MultiVectorIndex, places: "Rows", chance: "np.random.Generator"
) -> "Iterator[tuple[int, Matrix]]":
    """Yield the row of each item, and some successive vectors of it as a question."""
    for row, vectors in zip(index.rows[places].tolist(), index.items.each(places), strict=True):
        first = int(chance.integers(max(1, len(vectors) - QUESTION_VECTORS + 1)))
        yield row, vectors[first : first + QUESTION_VECTORS]


def _first(index: MultiVectorIndex, queries: "dict[int, Matrix]") -> "list[Scores]":
    """The first scores for each question, without the item that it comes from."""
    results = index.search(list(queries.values()), FIRST + 1)
    return [result.scores[result.rows != row][:FIRST] for row, result in zip(queries, results, strict=True)]


def _saved_bytes(index: MultiVectorIndex) -> int:
    with TemporaryFolder() as folder:
        index.save(folder)
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
