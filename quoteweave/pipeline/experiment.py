"""Many examples become predictions."""

from collections.abc import Container, Iterable, Iterator, Sequence

from quoteweave.core.protocols import Retriever
from quoteweave.core.records import Example, Filter, Hit, Prediction, Query
from quoteweave.core.runs import Scope
from quoteweave.retrievers.pages import rank_pages

SCOPES: tuple[Scope, ...] = ("document", "collection")

FIRST_DEPTH = 64


def run_retrieval(
    examples: Iterable[Example],
    retriever: Retriever,
    *,
    scope: Scope,
    documents: Container[str],
    quotes: int = 20,
    pages: int = 10,
) -> Iterator[Prediction]:
    """Asks every question, within its own document or over the whole collection; one prediction each, in order.

    `documents` names those that the collection holds; a question on another finds nothing within it. A prediction keeps
    the ranking down to where it holds `quotes` quotes that are not whole pages and `pages` distinct pages, so that
    figures at those depths are exact; or all of it, where it ends before. A question whose search raises is a
    prediction with that error, and the others go on.
    """
    for example in examples:
        if scope == "document" and example.document is not None and example.document not in documents:
            yield Prediction(example=example.id, scope=scope)
        else:
            yield _predict(example, retriever, scope, quotes, pages)


def _predict(example: Example, retriever: Retriever, scope: Scope, quotes: int, pages: int) -> Prediction:
    try:
        hits = _ranking(example.query, retriever, _filter(example, scope), quotes, pages)
        ranked = rank_pages(hits)[:pages]
    except Exception as error:  # whatever a retriever raises concerns this question; the run says so and goes on
        return Prediction(example=example.id, scope=scope, error=f"{type(error).__name__}: {error}")
    return Prediction(example=example.id, scope=scope, hits=tuple(hits), pages=tuple(ranked))


def _filter(example: Example, scope: Scope) -> Filter | None:
    if scope == "collection":
        return None
    if example.document is None:
        raise ValueError("the dataset names no document to search")
    return Filter(documents=(example.document,))


def _ranking(query: Query, retriever: Retriever, where: Filter | None, quotes: int, pages: int) -> Sequence[Hit]:
    depth = FIRST_DEPTH
    while True:
        hits = retriever.search([query], depth, where=where)[0]
        length = _length(hits, quotes, pages)
        if length is not None:
            return hits[:length]
        if len(hits) < depth:
            return hits
        depth *= 4


def _length(hits: Sequence[Hit], quotes: int, pages: int) -> int | None:
    """How many hits hold both, or None where all of them do not."""
    seen: set[tuple[str, int]] = set()
    parts = 0
    for place, hit in enumerate(hits, start=1):
        seen.add((hit.quote.document, hit.quote.page))
        parts += hit.quote.layout != "page"
        if parts >= quotes and len(seen) >= pages:
            return place
    return None
