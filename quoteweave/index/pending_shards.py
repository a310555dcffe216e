"""Shards in progress: parts are stored as they are encoded, so that a killed run loses at most one part."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan
from quoteweave.collection.writer import Writer, part_fingerprint

if TYPE_CHECKING:
    Vectors = np.ndarray[Any, Any]


@dataclass(slots=True)
class PendingShard:
    """The shard of one or more documents with equal views, some of which are still to be encoded."""

    key: str
    names: list[str]
    places: Sequence[int]
    """The items that have views, in the order in which these are encoded."""
    lengths: list[int]
    """The number of vectors of each item; 0 for an item that has none, or none yet."""
    done: int = 0
    """How many of the places have been processed."""
    _vectors: "list[Vectors]" = field(default_factory=list)
    _parts: int = 0
    _in_parts: int = 0
    """How many of the places, and of the matrices, are in stored parts."""
    _matrices_in_parts: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether all views have been processed."""
        return self.done == len(self.places)

    def add(self, matrix: "Vectors | None") -> None:
        """Add the encoder's output for the next view; None if the view was unreadable."""
        if matrix is not None:
            self.lengths[self.places[self.done]] = len(matrix)
            self._vectors.append(matrix)
        self.done += 1

    def resume(self, collection: Collection, plan: IndexPlan, dimension: int) -> int:
        """Load the parts that a stopped run left; return the dimension of their vectors, or else the given one.

        Parts of another dimension are not of this shard, nor is one with its last view, which would have completed it.
        """
        while (arrays := collection.shards.get(part_fingerprint(plan.shards, self._parts), self.key)) is not None:
            vectors, lengths = arrays["vectors"], arrays["lengths"]
            fits = not len(vectors) or dimension in (0, vectors.shape[1])
            if not fits or self.done + len(lengths) >= len(self.places):
                break
            for place, length in zip(self.places[self.done :], lengths.tolist(), strict=False):
                self.lengths[place] = length
            if len(vectors):
                dimension = vectors.shape[1]
                self._vectors.append(vectors)
            self.done += len(lengths)
            self._stored_part()
        return dimension

    def store_part(self, collection: Collection, writer: Writer, plan: IndexPlan) -> None:
        """Store what was added since the last part. Raises StorageError where the disk is full or refuses."""
        fingerprint = part_fingerprint(plan.shards, self._parts)
        lengths = [self.lengths[place] for place in self.places[self._in_parts : self.done]]
        put_shard(collection, plan, (fingerprint, self.key), self._vectors[self._matrices_in_parts :], lengths)
        writer.keep_shards(fingerprint, {self.names[0]: self.key})
        self._stored_part()

    def store(self, collection: Collection, writer: Writer, plan: IndexPlan, names: Sequence[str]) -> None:
        """Store the shard and tie it to these documents. Raises StorageError where the disk is full or refuses."""
        put_shard(collection, plan, (plan.shards, self.key), self._vectors, self.lengths)
        writer.keep_shards(plan.shards, dict.fromkeys(names, self.key))
        if self._parts:
            writer.drop_shard_parts(plan.shards, self.names[0])

    def _stored_part(self) -> None:
        self._parts, self._in_parts, self._matrices_in_parts = self._parts + 1, self.done, len(self._vectors)


def put_shard(
    collection: Collection,
    plan: IndexPlan,
    name: tuple[str, str],
    vectors: "Sequence[Vectors]",
    lengths: Sequence[int],
) -> None:
    """Store vectors as a shard under a fingerprint and a key."""
    joined = np.concatenate(vectors) if vectors else np.empty((0, 0), dtype=plan.dtype)
    collection.shards.put_vectors(*name, joined, lengths)
