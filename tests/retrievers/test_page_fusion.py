import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from made_collections import made_quote, make_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Explains
from quoteweave.core.records import Filter, Hit, PageHit, Query
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.retrievers.make_retriever import make_fused
from quoteweave.retrievers.pages.page_fusion import (
    LEAD,
    MIN_PAGES,
    MIN_SHARE,
    POINTS_PER_DEVIATION,
    STANDS_OUT,
    TIE_BREAK,
    PageFusion,
    rank_pages,
)


class Given:
    """A retriever that gives the quotes of pages, with scores."""

    def __init__(self, collection: Collection, scores: Sequence[tuple[int, float]]) -> None:
        self._quotes = collection.document_quotes("a.pdf")
        self._scores = scores

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        found = [(quote, score) for page, score in self._scores for quote in self._quotes if quote.page == page]
        return [
            [Hit(rank=i, score=score, quote=quote) for i, (quote, score) in enumerate(found, 1)][:k] for _ in queries
        ]


QUOTES = [made_quote("timber timber", page=0), made_quote("timber and grain", page=1), made_quote("ships", page=9)]


def pages(retriever: PageFusion, question: str = "timber") -> list[int]:
    (hits,) = retriever.search([Query(text=question)], 10)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert sorted((hit.score for hit in hits), reverse=True) == [hit.score for hit in hits]
    return [page.page for page in rank_pages(hits)]


# Twelve pages, of which two have "timber".
MANY = [
    made_quote("timber timber grain", page=0),
    made_quote("timber and grain", page=1),
    *(made_quote(f"ship {page}", page=page) for page in range(2, 12)),
]
# Where one of twelve scores differs, it is √11 standard deviations above the mean.
ADDED = POINTS_PER_DEVIATION * (math.sqrt(11) - STANDS_OUT) + TIE_BREAK


def one_apart(page: int) -> list[tuple[int, float]]:
    """Scores of twelve pages that are all alike, but for one."""
    return [(page, 1.0), *((other, 0.0) for other in range(12) if other != page)]


def test_what_stands_out_among_what_others_find_is_added_to_the_evidence(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": MANY}) as collection:
        evidence, question = LexicalRetriever(collection), Query(text="timber")
        known = evidence.page_scores(question, [("a.pdf", page) for page in range(12)])
        (hits,) = PageFusion(evidence, [Given(collection, one_apart(9))], weights=(1, 1)).search([question], 20)
        assert known.index(max(known)) == 0
        found = {hit.quote.page: hit.score - known[hit.quote.page] for hit in hits}
        least = TIE_BREAK * MIN_SHARE
        expected = {**dict.fromkeys(range(12), least), 0: LEAD + least, 9: ADDED}
        assert found == pytest.approx(expected, abs=1e-9)
        assert pages(PageFusion(evidence, [Given(collection, one_apart(9))], weights=(1, 100)))[:2] == [9, 0]
        assert pages(PageFusion(evidence, [Given(collection, one_apart(9))], weights=(100, 0.01)))[0] == 0


def test_what_does_not_stand_out_orders_only_what_has_no_evidence(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": MANY}) as collection:
        evidence = LexicalRetriever(collection)
        even = Given(collection, [(page, 1 - 0.7**page) for page in range(11, -1, -1)])  # at most 0.9 deviations above
        fused = PageFusion(evidence, [even], weights=(1, 1))
        assert pages(fused) == [0, 1, *range(11, 3, -1)]
        assert pages(fused, "zinc") == list(range(11, 1, -1))


def test_the_page_with_the_most_evidence_keeps_a_lead(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": MANY}) as collection:
        evidence = LexicalRetriever(collection)
        question = Query(text="timber grain")
        first, second = evidence.page_scores(question, [("a.pdf", 0), ("a.pdf", 1)])
        assert first > second
        for better, expected in ((0.9, 0), (1.1, 1)):
            weight = (better * LEAD + first - second) / ADDED
            fused = PageFusion(evidence, [Given(collection, one_apart(1))], weights=(1, weight))
            assert pages(fused, question.text)[0] == expected


def test_a_retriever_of_whole_pages_is_calibrated_on_as_many_pages(tmp_path: Path) -> None:
    """Its first hundred hits are the quotes of ten pages, among which one alone could stand out by a little."""
    count = 4 * MIN_PAGES
    quotes = [made_quote(f"ship {page} {i}", page=page) for page in range(count) for i in range(10)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        other = Given(collection, [(0, 1.0), *((page, 0.0) for page in range(1, count))])
        fused = PageFusion(LexicalRetriever(collection), [other], weights=(1, 1))
        few, many = ({hit.quote.id: hit.score for hit in fused.search([Query(text="zinc")], k)[0]} for k in (20, 300))
    # 200 hits are of 20 pages.
    assert MIN_PAGES == 20
    assert max(few.values()) == pytest.approx(POINTS_PER_DEVIATION * (math.sqrt(19) - STANDS_OUT) + TIE_BREAK)
    assert few.items() <= many.items()


def test_where_scores_lie_makes_no_difference(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": QUOTES}) as collection:
        found = []
        for scale, shift in ((1, 0), (40, 7), (0.001, -3)):
            other = Given(collection, [(page, scale * score + shift) for page, score in ((1, 0.9), (9, 0.3), (0, 0.1))])
            fused = PageFusion(LexicalRetriever(collection), [other], weights=(1, 1))
            (hits,) = fused.search([Query(text="timber")], 10)
            found.append([(hit.quote.id, round(hit.score, 6)) for hit in hits])
    assert found[0] == found[1] == found[2]


class Listed:
    """A retriever that gives hits, and keeps how many it was asked for."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits, self.asked = hits, list[int]()

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.asked.append(k)
        return [list(self._hits[:k]) for _ in queries]


@pytest.mark.parametrize("length", [1, 5], ids=["pages of one quote", "one page"])
@pytest.mark.parametrize("scores", [(0.9, 0.8, 0.7, 0.6, 0.5), (0.5,) * 5], ids=["scores", "equal scores"])
def test_where_only_another_retriever_finds_anything_its_order_stays(
    tmp_path: Path, length: int, scores: Sequence[float]
) -> None:
    quotes = [made_quote(f"ship {i}", page=i // length) for i in range(5)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        backward = sorted(collection.document_quotes("a.pdf"), key=lambda quote: quote.id, reverse=True)
        ranked = enumerate(zip(backward, scores, strict=True), 1)
        found = [Hit(rank=i, score=score, quote=quote) for i, (quote, score) in ranked]
        fused = PageFusion(LexicalRetriever(collection), [Listed(found)], weights=(1, 1))
        (hits,) = fused.search([Query(text="zinc")], 10)
    assert [hit.quote.id for hit in hits] == [quote.id for quote in backward]
    assert all(hit.score > 0 for hit in hits)


def test_more_hits_are_fetched_only_while_they_are_of_more_pages(tmp_path: Path) -> None:
    quotes = [made_quote(f"ship {i}", page=i % 3) for i in range(100)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        found = [
            Hit(rank=i, score=1 / i, quote=quote) for i, quote in enumerate(collection.document_quotes("a.pdf"), 1)
        ]
        few, many = Listed(found), Listed(found)
        scores = []
        for other, k in ((few, 4), (many, 100)):
            fused = PageFusion(LexicalRetriever(collection), [other], weights=(1, 1), depth=4)
            scores.append({hit.quote.id: hit.score for hit in fused.search([Query(text="zinc")], k)[0]})
    assert few.asked == [4, 8]
    assert scores[0].items() <= scores[1].items()


def test_a_retriever_that_finds_nothing_or_all_alike_changes_no_order(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": QUOTES}) as collection:
        alone = [page.page for page in rank_pages(LexicalRetriever(collection).search([Query(text="timber")], 10)[0])]
        for scores in ([], [(9, 1.0), (1, 1.0), (0, 1.0)]):
            fused = PageFusion(LexicalRetriever(collection), [Given(collection, scores)], weights=(1, 1))
            assert pages(fused) == alone


def test_a_page_that_only_another_retriever_finds_is_among_the_hits(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": QUOTES, "b.pdf": ["zinc"]}) as collection:
        other = Given(collection, [(9, 0.9), (1, 0.1)])
        assert 9 in pages(PageFusion(LexicalRetriever(collection), [other], weights=(1, 1)), "zinc")


def test_fewer_hits_are_the_beginning_of_more(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": QUOTES}) as collection:
        other = Given(collection, [(1, 0.9), (9, 0.2), (0, 0.1)])
        fused = PageFusion(LexicalRetriever(collection), [other], weights=(1, 1))
        two, many = (fused.search([Query(text="timber")], k)[0] for k in (2, 50))
        assert two == many[:2]
        assert fused.search([Query(text="timber")], 0) == [[]]
        assert fused.search([], 5) == []


def test_it_is_the_rule_where_lexical_is_fused(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": QUOTES}) as collection:
        assert isinstance(make_fused(["bm25", "lexical"], None, collection), PageFusion)
        assert isinstance(make_fused(["lexical", "tfidf"], "pages:1,0.5", collection), PageFusion)
        assert not isinstance(make_fused(["lexical", "bm25"], "rrf", collection), PageFusion)
        assert not isinstance(make_fused(["tfidf", "bm25"], None, collection), PageFusion)
        with pytest.raises(UsageError, match="name lexical once, and others"):
            make_fused(["tfidf", "bm25"], "pages", collection)
        with pytest.raises(UsageError, match="write pages, rrf, scores"):
            make_fused(["lexical", "bm25"], "page", collection)


def test_asking_for_more_hits_changes_no_score(tmp_path: Path) -> None:
    quotes = [made_quote(f"timber {page}", page=page) for page in range(9)]
    with make_collection(tmp_path, {"a.pdf": quotes}) as collection:
        other = Given(collection, [(page, 1 / (page + 1)) for page in range(9)])
        fused = PageFusion(LexicalRetriever(collection), [other], weights=(1, 1), depth=3)
        few, many = ({hit.quote.id: hit.score for hit in fused.search([Query(text="timber")], k)[0]} for k in (2, 9))
    assert few.items() <= many.items()


def test_each_retriever_is_a_reason_of_its_own(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": MANY}) as collection:
        other, query = Given(collection, one_apart(9)), Query(text="timber")
        fused = PageFusion(LexicalRetriever(collection), [other], weights=(1, 1), names=["minilm"])
        (hits,) = fused.search([query], 20)
        explained = fused.explain(query, hits)
    by_page = {hit.quote.page: explained.reasons[hit.quote.id] for hit in hits}
    scores = {page.page: page.score for page in rank_pages(hits)}
    for page, reasons in by_page.items():
        assert math.isclose(sum(reason.points for reason in reasons), scores[page], abs_tol=0.02), page
    assert by_page[9][0].part == "minilm"
    assert by_page[9][0].detail.startswith("rank 1, score ")
    assert {reason.part for reason in by_page[0]} >= {"words", "lead", "minilm"}


def test_a_rule_of_fusion_is_explained_by_what_each_retriever_adds(tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.pdf": MANY}) as collection:
        query = Query(text="timber")
        fused = make_fused(["lexical", "bm25"], "rrf", collection)
        (hits,) = fused.search([query], 1)
        assert isinstance(fused, Explains)
        reasons = fused.explain(query, hits).reasons[hits[0].quote.id]
    assert [(reason.part, reason.detail.split(",")[0]) for reason in reasons[:2]] == [
        ("lexical", "rank 1"),
        ("bm25", "rank 1"),
    ]
    assert math.isclose(reasons[0].points + reasons[1].points, hits[0].score, abs_tol=0.001)


def hit(rank: int, document: str, page: int) -> Hit:
    return Hit(rank=rank, score=10 - rank, quote=made_quote("", page=page).model_copy(update={"document": document}))


def test_a_page_stands_where_its_best_quote_does() -> None:
    hits = [hit(1, "a", 3), hit(2, "b", 3), hit(3, "a", 3), hit(4, "a", 0)]
    assert rank_pages(hits) == [
        PageHit(rank=1, score=9, document="a", page=3),
        PageHit(rank=2, score=8, document="b", page=3),
        PageHit(rank=3, score=6, document="a", page=0),
    ]


def test_no_hits_give_no_pages() -> None:
    assert rank_pages([]) == []
