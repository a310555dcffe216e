"""Text quotes from one retriever and image quotes from another, in the fixed splits of MMDocRAG."""

from collections.abc import Iterator, Sequence
from itertools import chain, cycle, islice
from typing import get_args

from quoteweave.core.context_sizes import C15, C20, TOP_10, Split
from quoteweave.core.protocols import Retriever, notes_of
from quoteweave.core.records import Filter, Hit, Kind, Query

# What each further block of hits is made of, in the proportion of the largest split that the paper fixes.
BEYOND = Split(texts=3, images=2)


class SplitHybrid:
    """Asks `text` for text quotes and `visual` for image quotes, and joins what they find by place.

    Scores of different retrievers cannot be compared, so which kind stands at a place is fixed: of the first 10 places
    7 are for text quotes and 3 for image quotes, of 15 10 and 5, of 20 12 and 8 (MMDocRAG, arXiv 2505.16470, appendix
    C.3), and from there on 3 and 2 of each 5. Within these blocks each kind is spread evenly, text first. So fewer hits
    are always the beginning of more. Where one kind runs out, the other takes its places: a search gives as many hits
    as there are, and a context, which asks for each kind by itself, keeps its split.

    The score of a joined hit is 1 / rank and says no more than its place. A filter by kind asks one retriever alone
    and gives its hits as they are.
    """

    def __init__(self, text: Retriever, visual: Retriever) -> None:
        self._text, self._visual = text, visual

    def notes(self) -> tuple[str, ...]:
        """Those of its retrievers."""
        return notes_of(self._text, self._visual)

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query. Raises what the retrievers raise."""
        where = where or Filter()
        if k < 1:
            return [[] for _ in queries]
        if where.kind is not None:
            return (self._text if where.kind == "text" else self._visual).search(queries, k, where=where)
        texts = self._text.search(queries, k, where=where.model_copy(update={"kind": "text"}))
        images = self._visual.search(queries, k, where=where.model_copy(update={"kind": "image"}))
        return [_joined(*found, k) for found in zip(texts, images, strict=True)]


def _joined(texts: Sequence[Hit], images: Sequence[Hit], k: int) -> list[Hit]:
    left: dict[Kind, Iterator[Hit]] = {"text": iter(texts), "image": iter(images)}
    hits = []
    for kind in islice(_kinds(), min(k, len(texts) + len(images))):
        other: Kind = "image" if kind == "text" else "text"
        hits.append(next(left[kind], None) or next(left[other]))
    return [Hit(rank=rank, score=1 / rank, quote=hit.quote) for rank, hit in enumerate(hits, 1)]


def _kinds() -> Iterator[Kind]:
    """Which kind stands at each place, without end."""
    blocks = (TOP_10, _between(TOP_10, C15), _between(C15, C20))
    return chain(chain.from_iterable(map(_spread, blocks)), cycle(_spread(BEYOND)))


def _between(smaller: Split, larger: Split) -> Split:
    return Split(texts=larger.texts - smaller.texts, images=larger.images - smaller.images)


def _spread(split: Split) -> list[Kind]:
    """Each kind at even distances: the i-th of n stands at (i - 1/2) / n of the way."""
    kinds: tuple[Kind, ...] = get_args(Kind)
    places = [((i + 0.5) / n, kind) for kind, n in enumerate((split.texts, split.images)) for i in range(n)]
    return [kinds[kind] for _, kind in sorted(places)]
