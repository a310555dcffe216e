"""Fuse a retriever that scores pages with retrievers of any kind, page by page."""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean, pstdev

from quoteweave.core.protocols import Explains, Explanation, Reason, Retriever, ScoresPages, collect_warnings
from quoteweave.core.records import Filter, Hit, PageHit, Query, Quote
from quoteweave.retrievers.fusion import depth_for

# At least `DEPTH` hits of each retriever are fused, and of those other than the evidence as many as it takes to cover
# `MIN_PAGES` pages: a retriever of whole pages gives all quotes of a page, so its first hundred are of few pages.
DEPTH = 100
MIN_PAGES = 20
# Standard deviations above the mean, among the pages that another retriever finds, from which on a page stands out.
STANDS_OUT = 1.5
# Units of page evidence for each standard deviation beyond. Both were chosen with one small model (all-MiniLM-L6-v2) on
# the questions of MMDocIR and MMLongBench-Doc, and again without each document: `benchmarks/hybrid_mmdocir.py`.
POINTS_PER_DEVIATION = 0.3
# Units added to the page with the most evidence: page feedback raises its neighbours so far that it hardly leads.
LEAD = POINTS_PER_DEVIATION
# Units for the best page of another retriever, and fewer in proportion for its others: they order pages without
# evidence.
TIE_BREAK = 1e-3
# Share of it for the worst of them: what is found stands before what is not.
MIN_SHARE = 1e-3
# Share of its page's score that the worst-fitting quote gets.
MIN_PAGE_SHARE = 0.5

_LEAD_DETAIL = "the page with the most evidence"

_Page = tuple[str, int]


class PageFusion:
    """Ranks pages by their evidence and by what other retrievers find on them, and their quotes by how well each fits.

    The evidence for a page comes from `evidence`, for all pages of which any retriever finds a quote. Each other
    retriever adds to the pages that stand out among those it finds: `POINTS_PER_DEVIATION` for each standard deviation
    by which a page's best score is more than `STANDS_OUT` above the mean, so that retrievers with different ranges of
    scores are calibrated alike. Pages that do not stand out keep the order that the evidence gives: a weaker retriever
    is wrong about most pages, but seldom about the few that it tells from all others. The page with the most evidence
    gains `LEAD`. Explanations call the other retrievers by their `names`. `weights` are one positive number for each
    retriever, the first for the evidence.
    """

    def __init__(
        self,
        evidence: ScoresPages,
        other_retrievers: Sequence[Retriever],
        *,
        weights: Sequence[float],
        names: Sequence[str] = (),
        depth: int = DEPTH,
    ) -> None:
        self._evidence, self._other_retrievers = evidence, tuple(other_retrievers)
        self._names = names or [type(retriever).__name__ for retriever in other_retrievers]
        self._weights, self._depth = tuple(weights), depth

    def warnings(self, where: Filter | None = None) -> tuple[str, ...]:
        """The warnings of its retrievers."""
        return collect_warnings(self._evidence, *self._other_retrievers, where=where)

    def explain(self, query: Query, hits: Sequence[Hit], *, where: Filter | None = None) -> Explanation:
        """Explain hits by the evidence for their pages and by what each other retriever adds, in units of evidence.

        Raises what retrievers raise.
        """
        evidence = self._evidence
        explanation = evidence.explain(query, hits, where=where) if isinstance(evidence, Explains) else Explanation()
        if not hits:
            return explanation
        scale = self._weights[0] / explanation.points_per_unit
        by_evidence = {
            id: [reason.model_copy(update={"points": round(scale * reason.points, 3)}) for reason in reasons]
            for id, reasons in explanation.reasons.items()
        }
        (rankings,) = self._rankings([query], self._depth, where)
        _, *added, lead = self._points(query, rankings, where)
        details = [dict.fromkeys(lead, _LEAD_DETAIL), *map(_best_hits, rankings[1:])]
        reasons = {}
        for id, page in ((hit.quote.id, _page(hit.quote)) for hit in hits):
            added_reasons = [
                Reason(part=part, points=round(points[page], 3), detail=detail[page])
                for part, points, detail in zip(("lead", *self._names), (lead, *added), details, strict=True)
                if page in points
            ]
            reasons[id] = tuple(sorted([*by_evidence.get(id, ()), *added_reasons], key=lambda reason: -reason.points))
        return explanation.model_copy(update={"reasons": reasons, "points_per_unit": 1.0})

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first; scores are in units of page evidence. Raises what retrievers raise."""
        if k < 1:
            return [[] for _ in queries]
        rankings = self._rankings(queries, k, where)
        return [self._fused_hits(query, ranked, where)[:k] for query, ranked in zip(queries, rankings, strict=True)]

    def _rankings(self, queries: Sequence[Query], k: int, where: Filter | None) -> list[tuple[list[Hit], ...]]:
        """For each query, the ranking of each retriever, that by evidence first."""
        depth = depth_for(k, self._depth)
        other_rankings = [_enough_hits(retriever, queries, depth, where) for retriever in self._other_retrievers]
        by_evidence = self._evidence.search(queries, max(k, self._depth), where=where)
        return list(zip(by_evidence, *other_rankings, strict=True))

    def _fused_hits(self, query: Query, rankings: Sequence[Sequence[Hit]], where: Filter | None) -> list[Hit]:
        quotes = {hit.quote.id: hit.quote for ranking in rankings for hit in ranking}
        points = self._points(query, rankings, where)
        total = {page: math.fsum(page_points.get(page, 0.0) for page_points in points) for page in points[0]}
        fits = _shares_of_best(rankings[0], 0.0)
        for ranking in rankings[1:]:
            if calibrating := self._calibrating(ranking):
                for id, share in _shares_of_best(ranking, min(hit.score for hit in calibrating)).items():
                    fits[id] = fits.get(id, 0.0) + share
        fittest = _best_of_pages((_page(quotes[id]), fit) for id, fit in fits.items())
        scores = {
            id: total[_page(quote)]
            * (MIN_PAGE_SHARE + (1 - MIN_PAGE_SHARE) * fits[id] / (fittest[_page(quote)] or 1.0))
            for id, quote in quotes.items()
        }
        positions = _best_positions(rankings)
        order = sorted(scores, key=lambda id: (-scores[id], positions[id], id))
        return [Hit(rank=rank, score=scores[id], quote=quotes[id]) for rank, id in enumerate(order, 1)]

    def _points(
        self, query: Query, rankings: Sequence[Sequence[Hit]], where: Filter | None
    ) -> list[dict[_Page, float]]:
        """The points by each retriever for the pages that any of them finds, and last, the lead of the first page."""
        pages = list(dict.fromkeys(_page(hit.quote) for ranking in rankings for hit in ranking))
        scores = dict(zip(pages, self._evidence.page_scores(query, pages, where=where), strict=True))
        first = max(scores, key=lambda page: scores[page], default=None)
        lead = {first: self._weights[0] * LEAD} if first is not None and scores[first] > 0 else {}
        points_of_others = [
            {page: weight * points for page, points in _points_of_pages(self._calibrating(ranking)).items()}
            for ranking, weight in zip(rankings[1:], self._weights[1:], strict=True)
        ]
        return [{page: self._weights[0] * score for page, score in scores.items()}, *points_of_others, lead]

    def _calibrating(self, ranking: Sequence[Hit]) -> Sequence[Hit]:
        """The hits by whose scores all others are calibrated: the same ones, however many were asked for."""
        size, before = self._depth, 0
        while size < len(ranking) and before < (count := _page_count(ranking[:size])) < MIN_PAGES:
            size, before = 2 * size, count
        return ranking[:size]


def _enough_hits(retriever: Retriever, queries: Sequence[Query], depth: int, where: Filter | None) -> list[list[Hit]]:
    """The first hits for each query: `depth` of them, doubled until they are of `MIN_PAGES` pages.

    It stops when twice as many hits are of no more pages.
    """
    rankings = retriever.search(queries, depth, where=where)
    counts = [0] * len(rankings)
    incomplete = list(range(len(rankings)))
    while incomplete := [
        i for i in incomplete if len(rankings[i]) >= depth and counts[i] < _page_count(rankings[i]) < MIN_PAGES
    ]:
        depth *= 2
        deeper_rankings = retriever.search([queries[i] for i in incomplete], depth, where=where)
        for i, hits in zip(incomplete, deeper_rankings, strict=True):
            counts[i], rankings[i] = _page_count(rankings[i]), hits
    return rankings


def _points_of_pages(hits: Sequence[Hit]) -> dict[_Page, float]:
    """What a retriever adds to the pages that it finds, in units of page evidence."""
    if not hits:
        return {}
    best = _best_of_pages((_page(hit.quote), hit.score) for hit in hits)
    low, high, mean = min(best.values()), max(best.values()), fmean(best.values())
    spread = pstdev(best.values())
    if high == low or not spread:
        return dict.fromkeys(best, TIE_BREAK)
    return {
        page: POINTS_PER_DEVIATION * max((score - mean) / spread - STANDS_OUT, 0.0)
        + TIE_BREAK * max((score - low) / (high - low), MIN_SHARE)
        for page, score in best.items()
    }


def _best_hits(hits: Sequence[Hit]) -> dict[_Page, str]:
    """The rank and score of the best quote of each page."""
    best: dict[_Page, str] = {}
    for hit in hits:
        best.setdefault(_page(hit.quote), f"rank {hit.rank}, score {hit.score:.3f}")
    return best


def _shares_of_best(hits: Sequence[Hit], least: float) -> dict[str, float]:
    """By quote id, the share that a quote's score, as far as it is above `least`, has of its page's best."""
    best = _best_of_pages((_page(hit.quote), hit.score) for hit in hits)
    return {
        hit.quote.id: (hit.score - least) / (best[_page(hit.quote)] - least) if hit.score > least else 0.0
        for hit in hits
    }


def _best_of_pages(scores: Iterable[tuple[_Page, float]]) -> dict[_Page, float]:
    best: dict[_Page, float] = {}
    for page, score in scores:
        best[page] = max(best.get(page, score), score)
    return best


def _best_positions(rankings: Sequence[Sequence[Hit]]) -> dict[str, int]:
    """By quote id, the best position that a ranking gives it."""
    positions: dict[str, int] = {}
    for ranking in rankings:
        for position, hit in enumerate(ranking):
            positions[hit.quote.id] = min(positions.get(hit.quote.id, position), position)
    return positions


def _page_count(hits: Sequence[Hit]) -> int:
    return len({_page(hit.quote) for hit in hits})


def _page(quote: Quote) -> _Page:
    return quote.document, quote.page


def rank_pages(hits: Sequence[Hit]) -> list[PageHit]:
    """The pages of `hits`, each at the rank of its best quote, with that quote's score."""
    best: dict[tuple[str, int], float] = {}
    for hit in hits:
        best.setdefault((hit.quote.document, hit.quote.page), hit.score)
    return [
        PageHit(rank=rank, score=score, document=document, page=page)
        for rank, ((document, page), score) in enumerate(best.items(), 1)
    ]
