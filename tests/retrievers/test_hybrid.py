"""Two retrievers joined in fixed splits."""

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path

import pytest
from builders import make_quote
from hypothesis import given
from hypothesis import strategies as st
from made_collections import made_quote, make_collection

from quoteweave.core.answers import C15, C20, TOP_10, ContextSize
from quoteweave.core.records import Filter, Hit, Kind, Query
from quoteweave.retrievers.fusion import SplitHybrid
from quoteweave.retrievers.sparse import Bm25Retriever, TfidfRetriever

QUERY = Query(text="grain")


class Shelf:
    """Finds quotes of the kind asked for, in its own order, and remembers how it was asked."""

    def __init__(self, name: str, texts: int = 100, images: int = 100) -> None:
        self.quotes = [make_quote(f"{name} t{i}", id=f"{name} t{i}") for i in range(texts)]
        self.quotes += [make_quote(f"{name} i{i}", id=f"{name} i{i}", layout="chart") for i in range(images)]
        self.asked: list[tuple[int, int, Filter | None]] = []

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.asked.append((len(queries), k, where))
        found = [quote for quote in self.quotes if where is None or where.kind in (None, quote.kind)][:k]
        return [[Hit(rank=rank, score=40 - rank, quote=quote) for rank, quote in enumerate(found, 1)] for _ in queries]


def search(hybrid: SplitHybrid, k: int, where: Filter | None = None) -> list[Hit]:
    return hybrid.search([QUERY], k, where=where)[0]


def names(hits: Sequence[Hit]) -> list[str]:
    return [hit.quote.text for hit in hits]


def split_of(hits: Sequence[Hit]) -> ContextSize:
    images = sum(hit.quote.kind == "image" for hit in hits)
    return ContextSize(texts=len(hits) - images, images=images)


@pytest.mark.parametrize("split", [TOP_10, C15, C20])
def test_the_splits_of_the_paper(split: ContextSize) -> None:
    hits = search(SplitHybrid(Shelf("text"), Shelf("visual")), split.texts + split.images)
    assert split_of(hits) == split
    texts, images = ([hit for hit in hits if hit.quote.kind == kind] for kind in ("text", "image"))
    assert names(texts) == [f"text t{i}" for i in range(split.texts)]
    assert names(images) == [f"visual i{i}" for i in range(split.images)]


def test_the_order_of_the_first_twenty() -> None:
    hits = search(SplitHybrid(Shelf("text"), Shelf("visual")), 20)
    assert "".join(hit.quote.kind[0] for hit in hits) == "titttittit" + "titit" + "ititi"
    assert [hit.rank for hit in hits] == list(range(1, 21))


def test_beyond_twenty_three_in_five_are_text() -> None:
    hits = search(SplitHybrid(Shelf("text"), Shelf("visual")), 100)
    for k in range(20, 101, 5):
        assert split_of(hits[:k]) == ContextSize(texts=3 * k // 5, images=2 * k // 5)


def test_a_score_says_the_place_and_no_more() -> None:
    assert [hit.score for hit in search(SplitHybrid(Shelf("text"), Shelf("visual")), 4)] == [1, 1 / 2, 1 / 3, 1 / 4]


@pytest.mark.parametrize(("kind", "name"), [("text", "text t"), ("image", "visual i")])
def test_a_filter_by_kind_asks_one_retriever_and_keeps_its_scores(kind: Kind, name: str) -> None:
    text, visual = Shelf("text"), Shelf("visual")
    where = Filter(kind=kind, documents=("a",), last_page=3)
    hits = search(SplitHybrid(text, visual), 3, where)
    assert [(hit.quote.text, hit.score) for hit in hits] == [(f"{name}0", 39), (f"{name}1", 38), (f"{name}2", 37)]
    assert sorted((text.asked, visual.asked), key=len) == [[], [(1, 3, where)]]


def test_the_rest_of_a_filter_is_kept_and_each_is_asked_once() -> None:
    text, visual = Shelf("text"), Shelf("visual")
    where = Filter(documents=("a",), metadata={"year": "2023"})
    found = SplitHybrid(text, visual).search([QUERY, QUERY, QUERY], 7, where=where)
    assert len(found) == 3
    assert text.asked == [(3, 7, where.model_copy(update={"kind": "text"}))]
    assert visual.asked == [(3, 7, where.model_copy(update={"kind": "image"}))]


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 30))
def test_places_that_one_kind_leaves_empty_go_to_the_other(texts: int, images: int, k: int) -> None:
    hybrid = SplitHybrid(Shelf("text", texts), Shelf("visual", 0, images))
    everything = search(hybrid, 50)
    assert len(everything) == texts + images == len({hit.quote.id for hit in everything})
    assert search(hybrid, k) == everything[:k]
    for kind in ("text", "image"):
        own = [int(hit.quote.text.rpartition(" ")[2][1:]) for hit in everything if hit.quote.kind == kind]
        assert own == sorted(own)


def test_neither_kind_waits_long_for_its_share() -> None:
    hits = search(SplitHybrid(Shelf("text"), Shelf("visual")), 100)
    images = accumulate(hit.quote.kind == "image" for hit in hits)
    assert all(abs(n - place * (0.3 if place <= 10 else 0.4)) <= 1.5 for place, n in enumerate(images, 1))


@pytest.mark.parametrize("k", [0, -1])
def test_no_hits_are_asked_of_nobody(k: int) -> None:
    text, visual = Shelf("text"), Shelf("visual")
    assert SplitHybrid(text, visual).search([QUERY, QUERY], k) == [[], []]
    assert SplitHybrid(text, visual).search([], 5) == []
    assert text.asked == [(0, 5, Filter(kind="text"))]


def test_over_a_collection(tmp_path: Path) -> None:
    quotes = [made_quote("Grain by ship"), made_quote("Grain, tonnes", layout="chart"), made_quote("Timber")]
    with make_collection(tmp_path, {"a.pdf": quotes, "b.pdf": ["grain grain"]}) as collection:
        hybrid = SplitHybrid(Bm25Retriever(collection), TfidfRetriever(collection))
        assert names(search(hybrid, 50)) == ["grain grain", "Grain, tonnes", "Grain by ship"]
        assert names(search(hybrid, 50, Filter(documents=("a.pdf",)))) == ["Grain by ship", "Grain, tonnes"]
        assert search(hybrid, 5, Filter(documents=())) == []
        assert hybrid.search([Query(text=""), Query(text="word " * 10_000), Query(text="鉄道")], 5) == [[], [], []]
