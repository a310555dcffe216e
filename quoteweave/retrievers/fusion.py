"""Fuses several rankings into one by ranks or scores, or searches text and image quotes with a retriever for each.

The latter interleaves them in the fixed proportions of MMDocRAG.
"""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, cycle, islice
from types import MappingProxyType
from typing import Protocol, get_args

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import C15, C20, TOP_10, ContextSize
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Explains, Explanation, Reason, Retriever, collect_warnings
from quoteweave.core.records import Filter, Hit, Kind, Query

# Cormack et al. chose 60; the larger it is, the less the first ranks outweigh the others.
RANK_CONSTANT = 60
# At least this many hits of each retriever are fused, so that a quote which several find at low ranks can rise.
DEPTH = 100

Ranking = Sequence[Hit]


class FusionRule(Protocol):
    """A function that fuses rankings, such as `reciprocal_rank_fusion` and `score_fusion`."""

    def __call__(self, rankings: Sequence[Ranking], weights: Sequence[float] | None = None, /) -> list[Hit]:
        """Every quote of the rankings once, best first, ranks from 1."""
        ...


def reciprocal_rank_fusion(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[Hit]:
    """Every quote of the rankings once, by the sum of weight / (60 + rank) over the rankings that hold it.

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
    SIGIR 2009; weights, 1 where left out, are added. Scores play no part. Of equal sums the better best rank comes
    first, then the lower quote id; so the order of the rankings plays no part either.
    """
    return _fused_hits(rankings, weights, [_reciprocal_ranks(len(ranking)) for ranking in rankings])


def fuse_ranks(rankings: Sequence[Sequence[str]], weights: Sequence[float] | None = None) -> dict[str, float]:
    """Every id of the rankings once with its score, best first, as `reciprocal_rank_fusion` scores quotes.

    >>> list(fuse_ranks([["a", "b"], ["b", "c"]]))
    ['b', 'a', 'c']
    """
    return _combined_scores(rankings, weights, [_reciprocal_ranks(len(ranking)) for ranking in rankings])


def score_fusion(rankings: Sequence[Ranking], weights: Sequence[float] | None = None) -> list[Hit]:
    """Every quote of the rankings once, by the weighted sum of its scores, each scaled to 0 … 1 within its ranking.

    A ranking's best score becomes 1 and its lowest 0 (min-max); where all are equal, all become 1, as whatever was
    found fits better than what was not. A quote that a ranking lacks gets 0 from it, as its last one does. Ties are
    broken as in `reciprocal_rank_fusion`.
    """
    return _fused_hits(rankings, weights, [_scaled(ranking) for ranking in rankings])


FUSION_RULES: Mapping[str, FusionRule] = MappingProxyType({"rrf": reciprocal_rank_fusion, "scores": score_fusion})
"""The rules by their names in specs."""


def _reciprocal_ranks(size: int) -> list[float]:
    return [1 / (RANK_CONSTANT + rank) for rank in range(1, size + 1)]


def _scaled(ranking: Ranking) -> list[float]:
    scores = [hit.score for hit in ranking]
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 1.0 for score in scores]


def _fused_hits(
    rankings: Sequence[Ranking], weights: Sequence[float] | None, values: Sequence[Sequence[float]]
) -> list[Hit]:
    scores = _combined_scores([[hit.quote.id for hit in ranking] for ranking in rankings], weights, values)
    quotes = {hit.quote.id: hit.quote for ranking in rankings for hit in ranking}
    return [Hit(rank=rank, score=score, quote=quotes[id]) for rank, (id, score) in enumerate(scores.items(), 1)]


def _combined_scores(
    rankings: Sequence[Sequence[str]], weights: Sequence[float] | None, values: Sequence[Sequence[float]]
) -> dict[str, float]:
    """The weighted sum of each id's values over the rankings, best first; `values` are those of each ranking's ids."""
    values_of_id: dict[str, list[float]] = defaultdict(list)
    best_ranks: dict[str, int] = {}
    for ids, ranking_values, weight in zip(rankings, values, checked_weights(weights, len(rankings)), strict=True):
        for rank, (id, value) in enumerate(zip(ids, ranking_values, strict=True), 1):
            values_of_id[id].append(weight * value)
            best_ranks[id] = min(rank, best_ranks.get(id, rank))
    # An exact sum does not depend on the order of its parts.
    scores = {id: math.fsum(id_values) for id, id_values in values_of_id.items()}
    return {id: scores[id] for id in sorted(scores, key=lambda id: (-scores[id], best_ranks[id], id))}


def checked_weights(weights: Sequence[float] | None, rankings: int) -> Sequence[float]:
    """Return the weights; for None, 1 each. Raises UsageError unless there is one positive number for each ranking."""
    if weights is None:
        return [1.0] * rankings
    if len(weights) != rankings:
        raise UsageError(
            f"{pluralize(len(weights), 'weight was', 'weights were')} given for "
            f"{pluralize(rankings, 'ranking')}; give one for each"
        )
    if not all(math.isfinite(weight) and weight > 0 for weight in weights):
        raise UsageError(
            f"the weights {', '.join(map(str, weights))} are not all above 0; leave a retriever out instead"
        )
    return weights


def collection_of(*retrievers: Retriever) -> Collection | None:
    """The collection of the first of these retrievers that has an attribute `collection`; None if none has it."""
    collections = (getattr(retriever, "collection", None) for retriever in retrievers)
    return next((collection for collection in collections if isinstance(collection, Collection)), None)


class FusedRetriever:
    """Searches with several retrievers and fuses their rankings by a rule.

    Each retriever is called once for all questions and asked for `depth` hits, so that a search for fewer hits gives
    the beginning of the same list. For more hits, `depth` is doubled until it suffices. Explanations call the
    retrievers by their `names`. Raises UsageError for no retriever, or for weights that are not one positive number for
    each.

    >>> fused = FusedRetriever([LexicalRetriever(collection), Bm25Retriever(collection)], weights=[2, 1])
    >>> (hits,) = fused.search([Query(text="timber")], k=1)
    >>> hits[0].quote.text
    'Timber went by rail.'
    """

    def __init__(
        self,
        retrievers: Sequence[Retriever],
        rule: FusionRule = reciprocal_rank_fusion,
        *,
        weights: Sequence[float] | None = None,
        names: Sequence[str] | None = None,
        depth: int = DEPTH,
    ) -> None:
        if not retrievers:
            raise UsageError("fusion needs at least one retriever")
        self._retrievers = tuple(retrievers)
        self._rule = rule
        self._weights = checked_weights(weights, len(retrievers))
        self._names = names or [type(retriever).__name__ for retriever in retrievers]
        self._depth = depth

    @property
    def collection(self) -> Collection | None:
        """The collection that its retrievers search; None if none of them says which."""
        return collection_of(*self._retrievers)

    def warnings(self, where: Filter | None = None) -> tuple[str, ...]:
        """The warnings of its retrievers."""
        return collect_warnings(*self._retrievers, where=where)

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """Explain each hit by what each retriever adds to its score, with the reasons of those that give any.

        It searches again, as deep as a search for as many hits as the lowest rank among these. If they come from a
        deeper search, their scores can be higher than the sum of the reasons. The rarity of words is that of the first
        retriever that gives one. Raises what retrievers raise.
        """
        explanations = [
            retriever.explain(query, hits, where=where) if isinstance(retriever, Explains) else Explanation()
            for retriever in self._retrievers
        ]
        with_rarity = next((explanation for explanation in explanations if explanation.rarity), Explanation())
        return Explanation(
            interpretation=tuple(
                dict.fromkeys(chain.from_iterable(explanation.interpretation for explanation in explanations))
            ),
            reasons=self._reasons(query, hits, where, explanations) if hits else {},
            rarity=with_rarity.rarity,
            variety=with_rarity.variety,
            places=with_rarity.places,
            spellings=with_rarity.spellings,
            synonyms=with_rarity.synonyms,
        )

    def _reasons(
        self, query: Query, hits: Sequence[Hit], where: Filter | None, explanations: Sequence[Explanation]
    ) -> dict[str, tuple[Reason, ...]]:
        """By quote id, what each retriever that finds a quote adds to its score, largest first."""
        (rankings,) = self._rankings([query], max(hit.rank for hit in hits), where)
        added: dict[str, list[Reason]] = defaultdict(list)
        for at, (name, ranking) in enumerate(zip(self._names, rankings, strict=True)):
            hits_by_id, page_reasons = {hit.quote.id: hit for hit in ranking}, explanations[at].reasons
            rankings_of_one = [ranking if i == at else [] for i in range(len(rankings))]
            for id, points in ((hit.quote.id, hit.score) for hit in self._rule(rankings_of_one, self._weights)):
                detail = _hit_reason(hits_by_id[id], page_reasons.get(id, ()))
                added[id].append(Reason(part=name, points=round(points, 3), detail=detail))
        by_quote = {hit.quote.id: added.get(hit.quote.id, []) for hit in hits}
        return {id: tuple(sorted(reasons, key=lambda reason: -reason.points)) for id, reasons in by_quote.items()}

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first, with the rule's scores. Raises as `Retriever.search` of each."""
        if k < 1:
            return [[] for _ in queries]
        return [self._rule(ranked, self._weights)[:k] for ranked in self._rankings(queries, k, where)]

    def _rankings(self, queries: Sequence[Query], k: int, where: Filter | None) -> list[tuple[Ranking, ...]]:
        """For each query, the ranking of each retriever."""
        depth = depth_for(k, self._depth)
        by_retriever = [retriever.search(queries, depth, where=where) for retriever in self._retrievers]
        return list(zip(*by_retriever, strict=True))


def depth_for(k: int, least: int) -> int:
    """How many hits to ask of each retriever for `k` fused ones: `least`, doubled until it is at least `k`.

    Thanks to these steps, most searches for different `k` give the same scores, and so do their explanations.
    """
    return least << max(0, math.ceil(math.log2(k / least)))


def _hit_reason(hit: Hit, page_reasons: Sequence[Reason]) -> str:
    """The rank and score that a retriever gives a hit, and its own reasons for the hit's page, in its own points."""
    reasons = [
        f"{reason.part} {reason.points:.2f}" + (f" ({reason.detail})" if reason.detail else "")
        for reason in page_reasons
    ]
    rank_and_score = f"rank {hit.rank}, score {hit.score:.3f}"
    return f"{rank_and_score}; its page: {', '.join(reasons)}" if reasons else rank_and_score


# The kinds of each further block of hits, in the proportion of the largest context that the paper fixes.
FURTHER_BLOCK = ContextSize(texts=3, images=2)


class SplitHybrid:
    """Searches text quotes with `text` and image quotes with `visual`, and interleaves them in fixed proportions.

    Scores of different retrievers cannot be compared, so the kind of quote at each rank is fixed: of the first 10 ranks
    7 are text quotes and 3 image quotes, of 15 they are 10 and 5, of 20 they are 12 and 8 (MMDocRAG, arXiv 2505.16470,
    appendix C.3), and from there on 3 and 2 of every 5. Within these blocks each kind is spread evenly, text first. So
    a search for fewer hits gives the beginning of a search for more. Where one kind runs out, the other takes its
    ranks: a search returns as many hits as there are, and a context, which is searched one kind at a time, keeps its
    split.

    The score of an interleaved hit is 1 / rank and carries no more information than that. A filter by kind searches
    with one retriever alone and returns its hits unchanged.

    >>> hybrid = SplitHybrid(LexicalRetriever(collection), Bm25Retriever(collection))
    >>> (hits,) = hybrid.search([Query(text="timber")], k=2)
    >>> [(hit.quote.kind, hit.score) for hit in hits]
    [('text', 1.0), ('text', 0.5)]
    """

    def __init__(self, text: Retriever, visual: Retriever) -> None:
        self._text, self._visual = text, visual

    @property
    def collection(self) -> Collection | None:
        """The collection that its retrievers search; None if neither of them says which."""
        return collection_of(self._text, self._visual)

    def warnings(self, where: Filter | None = None) -> tuple[str, ...]:
        """The warnings of its retrievers."""
        return collect_warnings(self._text, self._visual, where=where)

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query. Raises as `Retriever.search` of each."""
        where = where or Filter()
        if k < 1:
            return [[] for _ in queries]
        if where.kind is not None:
            return (self._text if where.kind == "text" else self._visual).search(queries, k, where=where)
        texts = self._text.search(queries, k, where=where.model_copy(update={"kind": "text"}))
        images = self._visual.search(queries, k, where=where.model_copy(update={"kind": "image"}))
        return [_interleaved(*text_and_image_hits, k) for text_and_image_hits in zip(texts, images, strict=True)]


def _interleaved(texts: Sequence[Hit], images: Sequence[Hit], k: int) -> list[Hit]:
    hits_left: dict[Kind, Iterator[Hit]] = {"text": iter(texts), "image": iter(images)}
    hits = []
    for kind in islice(_kinds(), min(k, len(texts) + len(images))):
        other_kind: Kind = "image" if kind == "text" else "text"
        hits.append(next(hits_left[kind], None) or next(hits_left[other_kind]))
    return [Hit(rank=rank, score=1 / rank, quote=hit.quote) for rank, hit in enumerate(hits, 1)]


def _kinds() -> Iterator[Kind]:
    """The kind of quote at each rank, endlessly."""
    blocks = (TOP_10, _between(TOP_10, C15), _between(C15, C20))
    return chain(chain.from_iterable(map(_spread, blocks)), cycle(_spread(FURTHER_BLOCK)))


def _between(smaller: ContextSize, larger: ContextSize) -> ContextSize:
    return ContextSize(texts=larger.texts - smaller.texts, images=larger.images - smaller.images)


def _spread(size: ContextSize) -> list[Kind]:
    """Each kind at even distances: the i-th of n stands at (i - 1/2) / n of the way."""
    kinds: tuple[Kind, ...] = get_args(Kind)
    places = [((i + 0.5) / n, kind) for kind, n in enumerate((size.texts, size.images)) for i in range(n)]
    return [kinds[kind] for _, kind in sorted(places)]
