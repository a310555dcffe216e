"""Helpers of all rerankers: the text that they read of a quote, and hits reordered by scores."""

from collections.abc import Awaitable, Callable, Sequence

from quoteweave.core.protocols import Reranking
from quoteweave.core.records import Hit, Query, Quote


def passage_text(quote: Quote) -> str:
    """The text that a reranker reads: a quote's words, preceded by its section's title for an image quote."""
    section = quote.section if quote.kind == "image" else None
    return "\n".join(part for part in (section, quote.words()) if part)


def reorder_by_scores(hits: Sequence[Hit], scores: Sequence[float]) -> tuple[Hit, ...]:
    """Sort hits by new scores, best first, with ranks from 1; ties keep their order."""
    scored = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])
    return tuple(Hit(rank=rank, score=score, quote=hit.quote) for rank, (score, hit) in enumerate(scored, 1))


def keep_order(hits: Sequence[Hit]) -> Reranking:
    """Keep the hits in their order with their scores, with ranks from 1."""
    return Reranking(hits=tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, 1)))


async def rerank_by_scores(
    query: Query, hits: Sequence[Hit], score: Callable[[str, list[str]], Awaitable[Sequence[float]]]
) -> Reranking:
    """Rerank hits by the scores that `score` gives to their passages; for a blank question they keep their order."""
    if not hits or not query.text.strip():
        return keep_order(hits)
    return Reranking(hits=reorder_by_scores(hits, await score(query.text, [passage_text(hit.quote) for hit in hits])))
