"""How many text and image quotes a context holds (MMDocRAG, arXiv 2505.16470, section 4.1 and appendix C.3)."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.core.records import Record


class ContextSize(Record):
    """A number of quotes of each kind.

    >>> C20 == ContextSize(texts=12, images=8)
    True
    """

    texts: int = Field(ge=0)
    images: int = Field(ge=0)


TOP_10 = ContextSize(texts=7, images=3)
C15 = ContextSize(texts=10, images=5)
C20 = ContextSize(texts=12, images=8)


def max_fair_share(sizes: Sequence[int], room: int) -> int | None:
    """The largest cap such that sizes cut to it sum to at most `room` (max-min fairness); None if none must be cut."""
    left, ordered = room, sorted(sizes)
    for place, size in enumerate(ordered):
        share = left // (len(ordered) - place)
        if size > share:
            return share
        left -= size
    return None
