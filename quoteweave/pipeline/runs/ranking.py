"""Runs a retriever over examples and yields a prediction for each."""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from quoteweave.core.answers import CONTEXT_SIZES, Context
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.errors import DatasetError, MissingExtra, ModelNotFound, error_reason
from quoteweave.core.examples import Example, Prediction, Scope
from quoteweave.core.protocols import Expander, Expansion, Retriever
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.core.text.question_analysis import check_question
from quoteweave.pipeline.search import POOL, Search
from quoteweave.retrievers.pages.page_fusion import rank_pages

SCOPES: tuple[Scope, ...] = ("document", "collection")

FIRST_DEPTH = 64
# A ranking is kept until it has so many quotes that are not whole pages and so many distinct pages, as figures need.
QUOTES, PAGES = 20, 10


def run_retrieval(
    examples: Iterable[Example],
    retriever: Retriever,
    *,
    scope: Scope,
    documents: Container[str],
    search: Search | None = None,
) -> Iterator[Prediction]:
    """Search for every question, within its own document or over the whole collection; yield predictions in order.

    `documents` are the names of those in the collection; a question on another document finds nothing within it. A
    prediction keeps the ranking until it has `QUOTES` quotes that are not whole pages and `PAGES` distinct pages, so
    that figures at those depths are exact, or to its end. Within a document, the prediction of a question with gold
    boxes also keeps the contexts that `search` makes for a generator. If a search raises an error, its prediction has
    that error, and the others go on. Raises ModelNotFound and MissingExtra, which concern all questions.
    """
    for example in examples:
        if scope == "document" and example.document is not None and example.document not in documents:
            yield Prediction(example=example.id, scope=scope)
        else:
            boxed = search if scope == "document" and example.reference.boxes else None
            yield _predict(example, retriever, scope, boxed)


def _predict(example: Example, retriever: Retriever, scope: Scope, search: Search | None) -> Prediction:
    contexts, notes = dict[str, Context](), tuple[str, ...]()
    try:
        check_question(example.query.text)
        where = _filter(example, scope)
        hits = _ranking(example.query, retriever, where)
        if search is not None:
            sizes = tuple(CONTEXT_SIZES.values())
            contexts_by_size, trace = run_sync(search.contexts(example.query, sizes, where=where))
            contexts, notes = dict(zip(CONTEXT_SIZES, contexts_by_size, strict=True)), trace.notes
    except (ModelNotFound, MissingExtra):
        raise
    except Exception as error:  # any other error concerns this question alone: it is recorded, and the run goes on
        return Prediction(example=example.id, scope=scope, error=error_reason(error))
    pages = tuple(rank_pages(hits)[:PAGES])
    return Prediction(example=example.id, scope=scope, hits=tuple(hits), pages=pages, contexts=contexts, notes=notes)


def _filter(example: Example, scope: Scope) -> Filter | None:
    if scope == "collection":
        return None
    if example.document is None:
        raise DatasetError("the dataset names no document to search; search the whole collection")
    return Filter(documents=(example.document,))


def _ranking(query: Query, retriever: Retriever, where: Filter | None) -> Sequence[Hit]:
    """Search deeper until there are enough hits, or the ranking ends."""
    depth = FIRST_DEPTH
    while True:
        hits = retriever.search([query], depth, where=where)[0]
        enough = _length(hits)
        if enough is not None or len(hits) < depth:
            return hits[:enough]
        depth *= 4


def _length(hits: Sequence[Hit]) -> int | None:
    """Return how many of the first hits have enough quotes and pages; None if even all of them do not."""
    pages: set[tuple[str, int]] = set()
    quotes = 0
    for position, hit in enumerate(hits, start=1):
        pages.add((hit.quote.document, hit.quote.page))
        quotes += hit.quote.layout != "page"
        if quotes >= QUOTES and len(pages) >= PAGES:
            return position
    return None


class SearchRetriever:
    """A `Search` that expands or reranks, adapted to the `Retriever` protocol for `run_retrieval`.

    A reranker orders only its pool, so that with `reranks` a ranking ends there. `on_note` receives the notes of each
    question.
    """

    def __init__(self, search: Search, *, reranks: bool, on_note: Callable[[str], None] = lambda _: None) -> None:
        self._search, self._most, self._on_note = search, POOL if reranks else None, on_note

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first. Raises what the search raises."""
        depth = k if self._most is None else min(k, self._most)
        results = [run_sync(self._search.find(query, depth, where=where)) for query in queries]
        for note in (note for result in results for note in result.trace.notes):
            self._on_note(note)
        return [list(result.hits) for result in results]


class RememberingExpander:
    """Caches the clauses of another expander, so that both scopes and deeper searches use the same ones.

    They are cached by the question, so that it must not wrap an expander whose clauses depend on the filter.
    """

    def __init__(self, expander: Expander) -> None:
        self._expander = expander
        self._expansions: dict[str, Expansion] = {}

    @property
    def name(self) -> str:
        """The name of the wrapped expander."""
        return self._expander.name

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:
        """Return the cached expansion, or ask the wrapped expander; raises what that raises."""
        expansion = self._expansions.get(query.text)
        if expansion is None:
            expansion = await self._expander.expand(query, where=where)
            if expansion.note is None:
                self._expansions[query.text] = expansion
        return expansion
