"""Hits to be reranked."""

from collections.abc import Sequence

from builders import make_quote

from quoteweave.core.records import Hit, Quote

TEXTS = ["timber by rail in spring", "grain by ship", "", "coal sales grew per cent", "the harbour shipped grain"]


def made_hits(texts: Sequence[str] = TEXTS) -> list[Hit]:
    """A hit for each text, in this order, with scores that fall."""
    return [Hit(rank=i + 1, score=10.0 - i, quote=text_quote(text, i)) for i, text in enumerate(texts)]


def text_quote(text: str, ordinal: int = 0) -> Quote:
    """A paragraph."""
    return make_quote(text, id=f"d:0:{ordinal}")


def ordinals(hits: Sequence[Hit]) -> list[int]:
    """Which of the made hits these are, by their place before."""
    return [int(hit.quote.id.rpartition(":")[2]) for hit in hits]
