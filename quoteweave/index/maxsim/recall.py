"""Measures the recall of the two-stage MaxSim indexes against exact search, on the user's own items."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from quoteweave.core.files.temporary import TemporaryFolder
from quoteweave.index.maxsim.index import MultiVectorIndex

if TYPE_CHECKING:
    import numpy as np

    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows, Scores

FIRST = 10
QUESTIONS = 32
QUESTION_VECTORS = 16
# What bounds the work: so many items are searched, or as many as have so many vectors together.
ITEMS, FEWEST = 2000, 500
VECTORS = 400_000


@dataclass(frozen=True, slots=True)
class MaxSimRecall:
    """A kind's recall against exact search, and the disk space it takes."""

    kind: str
    recall: float
    """Share of its first ten that score at least as high as the tenth of exact search, of which many may be equal."""
    items: int
    """How many it was measured on."""
    item_bytes: float
    """What the kind keeps for an item on disk, beside its vectors; mean of the items."""
    vector_bytes: float
    """What the vectors of an item take on disk; mean of the items."""

    def __str__(self) -> str:
        found = f"finds {100 * self.recall:.1f} % of the first {FIRST} of exact search"
        kept = f"keeps {self.item_bytes:,.0f} bytes an item, whose vectors take {self.vector_bytes:,.0f}"
        return f"{self.kind} {found}, and {kept} (measured on {self.items:,} of your own)"


def measure_maxsim_recall(kind: str, index: MultiVectorIndex) -> MaxSimRecall | None:
    """Recall of `two-stage`, `pool2`, `pool3` or `binary` on items of an index, which itself may be of any kind.

    Items at random are asked for by some of their own vectors, and left out of what they find; questions of users lie
    elsewhere, so that this is an estimate. None where items are too few to tell, as all of them are scored exactly.
    Takes seconds; for `pool2` and `pool3` up to a minute. Raises CollectionError where vectors are missing or damaged,
    MissingExtra where a library is not installed.
    """
    import numpy as np

    chance = np.random.default_rng(0)
    places = _sample(index, chance)
    if MultiVectorIndex(kind, index.dimension).scored(FIRST + 1, len(places)) == len(places):
        return None
    exact, other = (_index_of(made, index, places) for made in ("exact", kind))
    queries = dict(_questions(index, np.sort(chance.permutation(places)[:QUESTIONS]), chance))
    shared = sum(
        # Of equal scores one may be rounded otherwise than the other.
        int(((found >= right.min()) | np.isclose(found, right.min())).sum())
        for right, found in zip(_first(exact, queries), _first(other, queries), strict=True)
    )
    return MaxSimRecall(
        kind=kind,
        recall=shared / (FIRST * len(queries)),
        items=len(places),
        item_bytes=_saved_bytes(other) / len(places),
        vector_bytes=exact.items.vector_bytes(exact.items.places()) / len(places),
    )


def _sample(index: MultiVectorIndex, chance: "np.random.Generator") -> "Rows":
    import numpy as np

    places = chance.permutation(index.items.places())[:ITEMS]
    vectors = np.cumsum(index.items.lengths[places])
    return np.sort(places[: max(FEWEST, int(np.searchsorted(vectors, VECTORS)))])


def _index_of(kind: str, index: MultiVectorIndex, places: "Rows") -> MultiVectorIndex:
    made = MultiVectorIndex(kind, index.dimension)
    for shard in index.items.shards(places):
        made.add(shard)
    return made


def _questions(
    index: MultiVectorIndex, places: "Rows", chance: "np.random.Generator"
) -> "Iterator[tuple[int, Matrix]]":
    """The row of each item, and some of its vectors that follow each other."""
    for row, vectors in zip(index.rows[places].tolist(), index.items.each(places), strict=True):
        first = int(chance.integers(max(1, len(vectors) - QUESTION_VECTORS + 1)))
        yield row, vectors[first : first + QUESTION_VECTORS]


def _first(index: MultiVectorIndex, queries: "dict[int, Matrix]") -> "list[Scores]":
    """The first scores for each question, without the item that asks."""
    found = index.search(list(queries.values()), FIRST + 1)
    return [one.scores[one.rows != row][:FIRST] for row, one in zip(queries, found, strict=True)]


def _saved_bytes(index: MultiVectorIndex) -> int:
    with TemporaryFolder() as folder:
        index.save(folder)
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
