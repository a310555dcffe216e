"""Pages, ranked by their quotes."""

from collections.abc import Sequence

from quoteweave.core.records import Hit, PageHit


def rank_pages(hits: Sequence[Hit]) -> list[PageHit]:
    """The pages of `hits`, each at the rank of its best quote, with that quote's score."""
    best: dict[tuple[str, int], float] = {}
    for hit in hits:
        best.setdefault((hit.quote.document, hit.quote.page), hit.score)
    return [
        PageHit(rank=rank, score=score, document=document, page=page)
        for rank, ((document, page), score) in enumerate(best.items(), 1)
    ]
