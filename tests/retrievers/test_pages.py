from made_collections import made_quote

from quoteweave.core.records import Hit, PageHit
from quoteweave.retrievers.pages.page_fusion import rank_pages


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
