"""What all rerankers share: what they read of a quote, and how scores become an order."""

from collections.abc import Awaitable, Callable, Sequence

from quoteweave.core.protocols import Reranking
from quoteweave.core.records import Hit, Query, Quote


def passage(quote: Quote) -> str:
    """What a reranker reads: the quote's words, and of an image quote its section's title, which says what it is of."""
    section = quote.section if quote.kind == "image" else None
    return "\n".join(part for part in (section, quote.words()) if part)


def in_order(hits: Sequence[Hit], scores: Sequence[float]) -> tuple[Hit, ...]:
    """The hits by their new scores, best first, equal ones as they were, with ranks from 1."""
    scored = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])
    return tuple(Hit(rank=rank, score=score, quote=hit.quote) for rank, (score, hit) in enumerate(scored, 1))


def as_they_are(hits: Sequence[Hit]) -> Reranking:
    """The hits with their scores, ranks from 1."""
    return Reranking(hits=tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, 1)))


async def reranked(
    query: Query, hits: Sequence[Hit], score: Callable[[str, list[str]], Awaitable[Sequence[float]]]
) -> Reranking:
    """The hits by what `score` makes of the question and their passages; a blank question leaves them as they are."""
    if not hits or not query.text.strip():
        return as_they_are(hits)
    return Reranking(hits=in_order(hits, await score(query.text, [passage(hit.quote) for hit in hits])))
