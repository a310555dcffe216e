"""Several rankings become one: by ranks, or by scores."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from quoteweave.core.errors import UsageError
from quoteweave.core.messages import counted
from quoteweave.core.protocols import Explains, Explanation, Retriever, notes_of
from quoteweave.core.records import Filter, Hit, Query, Quote

# Cormack et al. chose 60; the larger it is, the less the first places count beside the others.
RANK_CONSTANT = 60
# How many hits of each retriever are fused at least, so that what several find far down can come up.
DEPTH = 100

Ranking = Sequence[Hit]


class Rule(Protocol):
    """How rankings become one; `reciprocal_rank_fusion` and `score_fusion` are rules."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, /) -> list[Hit]:
        """Every quote of the rankings once, best first, ranks from 1."""
        ...


def reciprocal_rank_fusion(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[Hit]:
    """Every quote of the rankings once, by the sum of weight / (60 + rank) over the rankings that hold it.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
    SIGIR 2009; weights, 1 where left out, are added. Scores play no part. Of equal sums the better best rank comes
    first, then the lower quote id; so the order of the rankings plays no part either.
    """
    return _fused(rankings, weights, lambda ranking: [1 / (RANK_CONSTANT + at) for at in range(1, len(ranking) + 1)])


def score_fusion(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[Hit]:
    """Every quote of the rankings once, by the weighted sum of its scores, each scaled to 0 … 1 within its ranking.

    A ranking's best score becomes 1 and its lowest 0 (min-max); where all are equal, all become 1, as whatever was
    found fits better than what was not. A quote that a ranking lacks gets 0 from it, as its last one does. Ties are
    broken as in `reciprocal_rank_fusion`.
    """
    return _fused(rankings, weights, _scaled)


RULES: Mapping[str, Rule] = MappingProxyType({"rrf": reciprocal_rank_fusion, "scores": score_fusion})
"""The rules by the names that people write."""


def _scaled(ranking: Ranking) -> list[float]:
    scores = [hit.score for hit in ranking]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _fused(
    rankings: Sequence[Ranking], weights: Sequence[float] | None, worth: Callable[[Ranking], list[float]]
) -> list[Hit]:
    parts: dict[str, list[float]] = defaultdict(list)
    best: dict[str, int] = {}
    quotes: dict[str, Quote] = {}
    for ranking, weight in zip(rankings, checked_weights(weights, len(rankings)), strict=True):
        for rank, (hit, value) in enumerate(zip(ranking, worth(ranking), strict=True), 1):
            id = hit.quote.id
            parts[id].append(weight * value)
            best[id] = min(rank, best.get(id, rank))
            quotes[id] = hit.quote
    # An exact sum does not depend on the order of its parts.
    scores = {id: math.fsum(values) for id, values in parts.items()}
    order = sorted(scores, key=lambda id: (-scores[id], best[id], id))
    return [Hit(rank=rank, score=scores[id], quote=quotes[id]) for rank, id in enumerate(order, 1)]


def checked_weights(weights: Sequence[float] | None, rankings: int) -> Sequence[float]:
    """The weights, 1 each where left out. Raises UsageError where they are not one positive number for each."""
    if weights is None:
        return [1.0] * rankings
    if len(weights) != rankings:
        raise UsageError(
            f"{counted(len(weights), 'weight was', 'weights were')} given for "
            f"{counted(rankings, 'ranking')}; give one for each"
        )
    if not all(math.isfinite(weight) and weight > 0 for weight in weights):
        raise UsageError(
            f"the weights {', '.join(map(str, weights))} are not all above 0; leave a retriever out instead"
        )
    return weights


class FusedRetriever:
    """Asks several retrievers and fuses what they find by a rule.

    Each is asked once, for all questions, and for at least `depth` hits, so that asking for fewer gives the beginning
    of the same list. Raises UsageError for no retriever, or for weights that are not one positive number for each.
    """

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        rule: Rule = reciprocal_rank_fusion,
        *,
        weights: Sequence[float] | None = None,
        depth: int = DEPTH,
    ) -> None:
        if not retrievers:
            raise UsageError("fusion needs at least one retriever")
        self._retrievers = tuple(retrievers)
        self._rule = rule
        self._weights = checked_weights(weights, len(retrievers))
        self._depth = depth

    def notes(self) -> tuple[str, ...]:
        """Those of its retrievers."""
        return notes_of(*self._retrievers)

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """What those of its retrievers say that can explain. Raises what they raise."""
        said = [each.explain(query, hits, where=where) for each in self._retrievers if isinstance(each, Explains)]
        return Explanation(
            read=tuple(dict.fromkeys(line for one in said for line in one.read)),
            reasons={hit.quote.id: tuple(r for one in said for r in one.reasons.get(hit.quote.id, ())) for hit in hits},
        )

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first, with the rule's scores. Raises what the retrievers raise."""
        if k < 1:
            return [[] for _ in queries]
        found = [retriever.search(queries, max(k, self._depth), where=where) for retriever in self._retrievers]
        return [self._rule(rankings, self._weights)[:k] for rankings in zip(*found, strict=True)]
