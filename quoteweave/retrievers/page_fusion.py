"""Fuse a retriever that scores pages with retrievers of any kind, page by page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import pstdev

from quoteweave.core.protocols import Explains, Explanation, Retriever, ScoresPages, collect_warnings
from quoteweave.core.records import Filter, Hit, PageHit, Query, Quote

# Hits of each retriever that are fused at least.
DEPTH = 100
# Units of page evidence per standard deviation of a retriever's scores among its hits. Chosen by
# hand for one small model (all-MiniLM-L6-v2) on the questions of MMDocIR and MMLongBench-Doc.
POINTS_PER_DEVIATION = 0.1
# What the page with the most evidence stands before others, in units of it: one standard deviation of another
# retriever is needed to move a page before it. The second look at its neighbours leaves it hardly any lead of its own.
LEAD = POINTS_PER_DEVIATION
# Share of its page's score that the worst-fitting quote gets.
MIN_PAGE_SHARE = 0.5

_Page = tuple[str, int]


class PageFusion:
    """Ranks pages by their evidence and by what other retrievers find on them, and their quotes by how well each fits.

    The evidence for a page comes from `evidence`, for all pages of which any retriever finds a quote. Each other
    retriever adds its best score on that page: measured above the lowest of its hits, in standard deviations of its
    hits' scores, and times `POINTS_PER_DEVIATION`, so that retrievers with different score ranges are calibrated alike.
    Unlike in fusion by ranks, a page with much evidence keeps its place whatever a weaker retriever finds, and the page
    with the most stands `LEAD` before the others. `weights`
    are one positive number for each retriever, the first for the evidence.
    """

    def __init__(
        self, evidence: ScoresPages, others: Sequence[Retriever], *, weights: Sequence[float], depth: int = DEPTH
    ) -> None:
        self._evidence, self._others = evidence, tuple(others)
        self._weights, self._depth = tuple(weights), depth

    def notes(self) -> tuple[str, ...]:
        """The notes of its retrievers."""
        return collect_warnings(self._evidence, *self._others)

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """Explain hits by the evidence for their pages. Raises what the evidence's retriever raises."""
        known = self._evidence
        return known.explain(query, hits, where=where) if isinstance(known, Explains) else Explanation()

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first; scores are in units of page evidence. Raises what retrievers raise."""
        if k < 1:
            return [[] for _ in queries]
        everyone = (self._evidence, *self._others)
        found = [retriever.search(queries, max(k, self._depth), where=where) for retriever in everyone]
        rankings = zip(*found, strict=True)
        return [self._joined(query, ranked, where)[:k] for query, ranked in zip(queries, rankings, strict=True)]

    def _joined(self, query: Query, rankings: Sequence[Sequence[Hit]], where: Filter | None) -> list[Hit]:
        quotes = {hit.quote.id: hit.quote for ranking in rankings for hit in ranking}
        worth = [
            {hit.quote.id: hit.score for hit in rankings[0]},
            *(_calibrated(ranking, self._depth) for ranking in rankings[1:]),
        ]
        best = [_best_of_pages(values, quotes) for values in worth]
        pages = list(dict.fromkeys(map(_page, quotes.values())))
        known = self._evidence.page_scores(query, pages, where=where)
        total = {page: self._weights[0] * score for page, score in zip(pages, known, strict=True)}
        if first := max(total, key=lambda page: total[page], default=None):
            total[first] += self._weights[0] * LEAD
        for of_pages, weight in zip(best[1:], self._weights[1:], strict=True):
            for page, value in of_pages.items():
                total[page] += weight * value
        fits = dict.fromkeys(quotes, 0.0)
        for values, of_pages in zip(worth, best, strict=True):
            for id, value in values.items():
                fits[id] += value / (of_pages[_page(quotes[id])] or 1.0)
        fittest = _best_of_pages(fits, quotes)
        scores = {
            id: total[_page(quote)]
            * (MIN_PAGE_SHARE + (1 - MIN_PAGE_SHARE) * fits[id] / (fittest[_page(quote)] or 1.0))
            for id, quote in quotes.items()
        }
        order = sorted(scores, key=lambda id: (-scores[id], id))
        return [Hit(rank=rank, score=scores[id], quote=quotes[id]) for rank, id in enumerate(order, 1)]


def _page(quote: Quote) -> _Page:
    return quote.document, quote.page


def _calibrated(ranking: Sequence[Hit], depth: int) -> dict[str, float]:
    """By quote id, how far each hit stands above the `depth`-th, in units of page evidence.

    The spread is that of the first `depth` hits, so that asking for more hits changes nothing.
    """
    scores = [hit.score for hit in ranking[:depth]]
    spread = pstdev(scores) if scores else 0.0
    return {
        hit.quote.id: POINTS_PER_DEVIATION * max(hit.score - min(scores), 0.0) / spread if spread else 0.0
        for hit in ranking
    }


def _best_of_pages(values: Mapping[str, float], quotes: Mapping[str, Quote]) -> dict[_Page, float]:
    best: dict[_Page, float] = defaultdict(float)
    for id, value in values.items():
        best[_page(quotes[id])] = max(best[_page(quotes[id])], value)
    return best


def rank_pages(hits: Sequence[Hit]) -> list[PageHit]:
    """The pages of `hits`, each at the rank of its best quote, with that quote's score."""
    best: dict[tuple[str, int], float] = {}
    for hit in hits:
        best.setdefault((hit.quote.document, hit.quote.page), hit.score)
    return [
        PageHit(rank=rank, score=score, document=document, page=page)
        for rank, ((document, page), score) in enumerate(best.items(), 1)
    ]
