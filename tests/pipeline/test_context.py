from collections.abc import Sequence

import pytest
from made_collections import made_quote
from pydantic import ValidationError

from quoteweave.core.records import Filter, Hit, Kind, Query, Quote
from quoteweave.pipeline.context import C15, C20, TOP_10, Split, retrieve_context

QUERY = Query(text="grain")


class Shelf:
    """Finds whatever it holds of the kind asked for, in its own order."""

    def __init__(self, quotes: Sequence[Quote]) -> None:
        self.quotes = quotes
        self.asked: list[tuple[int, Filter | None]] = []

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        self.asked.append((k, where))
        kind = where.kind if where else None
        kept = [quote for quote in self.quotes if kind in (None, quote.kind)][:k]
        return [[Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(kept, 1)] for _ in queries]


def shelf(texts: int, images: int) -> Shelf:
    return Shelf(
        [made_quote(f"t{i}") for i in range(texts)] + [made_quote(f"i{i}", layout="chart") for i in range(images)]
    )


@pytest.mark.parametrize(("split", "texts", "images"), [(TOP_10, 7, 3), (C15, 10, 5), (C20, 12, 8)])
def test_a_split_fixes_how_many_of_each_kind(split: Split, texts: int, images: int) -> None:
    context = retrieve_context(QUERY, shelf(30, 30), split)
    assert [hit.quote.text for hit in context.texts] == [f"t{i}" for i in range(texts)]
    assert [hit.quote.text for hit in context.images] == [f"i{i}" for i in range(images)]
    assert [hit.rank for hit in context.images] == list(range(1, images + 1))


def test_c15_is_the_default() -> None:
    context = retrieve_context(QUERY, shelf(30, 30))
    assert (len(context.texts), len(context.images)) == (10, 5)


def test_one_kind_does_not_take_the_places_of_the_other() -> None:
    context = retrieve_context(QUERY, shelf(30, 1), C15)
    assert (len(context.texts), len(context.images)) == (10, 1)


@pytest.mark.parametrize(("kind", "texts", "images"), [("text", 10, 0), ("image", 0, 5)])
def test_a_filter_by_kind_leaves_the_other_empty(kind: Kind, texts: int, images: int) -> None:
    context = retrieve_context(QUERY, shelf(30, 30), C15, where=Filter(kind=kind))
    assert (len(context.texts), len(context.images)) == (texts, images)


def test_the_rest_of_a_filter_is_kept() -> None:
    retriever = shelf(1, 1)
    retrieve_context(QUERY, retriever, Split(texts=2, images=1), where=Filter(documents=("a",), last_page=3))
    kept = {"documents": ("a",), "last_page": 3}
    assert retriever.asked == [
        (2, Filter.model_validate({**kept, "kind": "text"})),
        (1, Filter.model_validate({**kept, "kind": "image"})),
    ]


def test_a_kind_of_which_none_is_wanted_is_not_searched() -> None:
    retriever = shelf(3, 3)
    context = retrieve_context(QUERY, retriever, Split(texts=0, images=2))
    assert (len(context.texts), len(context.images), len(retriever.asked)) == (0, 2, 1)


def test_a_split_counts_from_0() -> None:
    with pytest.raises(ValidationError):
        Split(texts=-1, images=0)
