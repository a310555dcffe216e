"""Hits to be reranked, and what must hold of them afterwards."""

from collections.abc import Sequence
from itertools import pairwise

from builders import make_quote

from quoteweave.core.records import Hit, Quote

TEXTS = ["timber by rail in spring", "grain by ship", "", "coal sales grew per cent", "the harbour shipped grain"]


def made_hits(texts: Sequence[str] = TEXTS) -> list[Hit]:
    """A hit for each text, in this order, with scores that fall."""
    return [Hit(rank=i + 1, score=10.0 - i, quote=text_quote(text, i)) for i, text in enumerate(texts)]


def text_quote(text: str, ordinal: int = 0) -> Quote:
    """A paragraph."""
    return make_quote(text, id=f"d:0:{ordinal}")


def check_order(given: Sequence[Hit], got: Sequence[Hit]) -> None:
    """Every quote once, ranks from 1, scores falling."""
    assert sorted(hit.quote.id for hit in got) == sorted(hit.quote.id for hit in given)
    assert [hit.rank for hit in got] == list(range(1, len(given) + 1))
    assert all(first.score >= second.score for first, second in pairwise(got))


def ordinals(hits: Sequence[Hit]) -> list[int]:
    """Which of the made hits these are, by their place before."""
    return [int(hit.quote.id.rpartition(":")[2]) for hit in hits]
