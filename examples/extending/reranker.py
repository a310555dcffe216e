"""A reranker that prefers recent documents: each year of age takes a part of a hit's score."""

from collections.abc import Sequence

from quoteweave import Collection, Hit, Query, Reranking


class PreferRecent:
    """Multiplies scores by `keep` for each year between a document and the newest; without a year, it counts as oldest.

    The year is the document's metadata of that name, as `quoteweave add --meta year=2024` writes it.
    """

    name = "prefer-recent"

    def __init__(self, collection: Collection, keep: float = 0.9) -> None:
        years = {
            document.name: int(document.metadata["year"])
            for document in collection.documents()
            if "year" in document.metadata
        }
        newest, self._oldest = max(years.values(), default=0), min(years.values(), default=0)
        self._weights = {name: keep ** (newest - year) for name, year in years.items()}
        self._least = keep ** (newest - self._oldest)

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:  # noqa: ARG002 - age alone counts
        """All hits, by their weighted scores; ties stay in the order in which they were found."""
        scored = [(hit.score * self._weights.get(hit.quote.document, self._least), hit.quote) for hit in hits]
        scored.sort(key=lambda pair: -pair[0])
        ranked = (Hit(rank=rank, score=score, quote=quote) for rank, (score, quote) in enumerate(scored, 1))
        return Reranking(hits=tuple(ranked))
