"""Searches for a question: expands it, searches, pools and reranks (MMDocRAG, section 4.8, Table 7)."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NamedTuple, ParamSpec, TypeVar

from pydantic import Field

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import C15, Context, ContextSize
from quoteweave.core.boxes import area
from quoteweave.core.concurrency.pools import run_in_pool, run_inline_if_short, wait_for_turn
from quoteweave.core.protocols import (
    Expander,
    Expansion,
    Explains,
    Explanation,
    Reason,
    Reranker,
    Retriever,
    RunsInline,
    collect_warnings,
)
from quoteweave.core.records import Filter, Hit, Kind, Query, Record, copy_key
from quoteweave.core.text.question_analysis import analyse_question, check_question
from quoteweave.generation.relevance import definitions_first
from quoteweave.pipeline.filtered_pages import (
    FilteredPages,
    NamedFiles,
    lost_files_note,
    nothing_passes_note,
    within_named_files,
)
from quoteweave.pipeline.introduced import add_introduced
from quoteweave.pipeline.whole_document.document_structure import structure_context
from quoteweave.pipeline.whole_document.front_matter import add_front_matter
from quoteweave.pipeline.whole_document.further_documents import (
    MAX_SEARCHED,
    find_further,
    repeated_words,
    replace_copies,
)
from quoteweave.retrievers.fusion import reciprocal_rank_fusion

# How many candidates of each kind a reranker gets by default.
POOL = 40
MAX_DEFINING = 100
"""Among so many texts, at most, those that say what something is are looked for."""

P = ParamSpec("P")
T = TypeVar("T")


class Trace(Record):
    """How the hits of a search were found: clauses, notes, reasons and seconds.

    >>> trace = asyncio.run(Search(LexicalRetriever(collection)).find(Query(text="timber"), k=1)).trace
    >>> trace.clauses, trace.reranker
    (('timber',), None)
    """

    clauses: tuple[str, ...] = Field(description="what was searched for")
    notes: tuple[str, ...] = Field(default=(), description="what was missing, went wrong or narrowed it, in sentences")
    interpretation: tuple[str, ...] = Field(
        default=(), description="how the question was read beyond its words, a line each"
    )
    reasons: Mapping[str, tuple[Reason, ...]] = Field(
        default_factory=dict, description="by quote id, what speaks for its page; only where that was asked for"
    )
    candidates: Mapping[str, int] = Field(default_factory=dict, description="quotes pooled, by kind; or 'all'")
    expander: str | None = Field(default=None, description="its name, where one was used")
    reranker: str | None = Field(default=None, description="its name, where one was used")
    seconds: Mapping[str, float] = Field(default_factory=dict, description="what each step took")
    standalone_question: str | None = Field(
        default=None, description="the question as it was asked of the documents, where it followed others"
    )
    rewritten_by: Literal["model", "rule"] | None = Field(
        default=None, description="what rewrote the question; None where it was not rewritten"
    )


class SearchResult(Record):
    """Hits, best first, and how they were found."""

    hits: tuple[Hit, ...]
    trace: Trace


class RetrievedContext(Record):
    """A context, and how it was found."""

    context: Context = Field(description="the quotes that were found, of each kind")
    trace: Trace = Field(description="how they were found")


class Search:
    """Finds the quotes that are relevant to a question.

    An expander turns the question into several clauses. Each is searched for separately, and their rankings are fused
    by reciprocal rank. A reranker orders the `pool` best quotes, separately for each kind if a context is asked for; it
    reads the original question, not the clauses.

    >>> search = Search(LexicalRetriever(collection), pool=20)
    >>> asyncio.run(search.find(Query(text="timber"), k=1)).hits[0].quote.text
    'Timber went by rail.'
    """

    def __init__(
        self,
        retriever: Retriever,
        *,
        expander: Expander | None = None,
        reranker: Reranker | None = None,
        pool: int = POOL,
        explain: bool = False,
        collection: Collection | None = None,
    ) -> None:
        """With `explain`, a trace says why its hits have their ranks (`reasons`).

        With a `collection`, contexts get documents' structure and the quotes that their texts introduce, and quotes
        that repeat the words of another are dropped; without it, a context is the ranking as it is.
        """
        self._retriever, self._expander, self._reranker, self._pool = retriever, expander, reranker, pool
        self._explains = retriever if isinstance(retriever, Explains) else None
        self._inline = retriever if isinstance(retriever, RunsInline) else None
        self._explain, self._collection = explain, collection

    def check(self, question: str, where: Filter | None = None) -> None:
        """Raise what a search would raise for these alone, without searching.

        That is QuestionEmpty, QuestionTooLong and, where the collection is known, UsageError for an unknown document.
        """
        check_question(question)
        if self._collection is not None:
            self._collection.check_filter(where or Filter())

    async def find(self, query: Query, k: int, *, where: Filter | None = None) -> SearchResult:
        """Return at most `k` quotes of any kind.

        Raises QuestionEmpty, QuestionTooLong, what `Retriever.search` raises (UsageError, IndexMissing,
        FingerprintMismatch, CollectionError), and ModelError or EndpointError of expander and reranker.
        """
        check_question(query.text)
        await wait_for_turn()
        state = _SearchState(query)
        await self._expand(state, where)
        (hits,) = await self._ranked(state, [(k, where)])
        return SearchResult(hits=tuple(hits), trace=self._trace(state))

    async def context(self, query: Query, size: ContextSize = C15, *, where: Filter | None = None) -> RetrievedContext:
        """Return the best quotes of each kind, ranked within their kind. A filter by kind leaves the other kind empty.

        They include what the best texts introduce (`pipeline.introduced`). If a question asks what one document
        consists of, the context has that document's structure and the quotes that show it (`document_structure`).
        Raises what `find` raises.
        """
        (context,), trace = await self.contexts(query, (size,), where=where)
        return RetrievedContext(context=context, trace=trace)

    async def contexts(
        self, query: Query, sizes: Sequence[ContextSize], *, where: Filter | None = None
    ) -> tuple[list[Context], Trace]:
        """Return a context of each size, as `context` does, from one search for the largest. Raises as `context`.

        If the question names documents by their files, they come from these alone. If it asks what a document consists
        of, each context has all quotes that show it, whatever its size.
        """
        check_question(query.text)
        await wait_for_turn()
        state, named = _SearchState(query), NamedFiles(query.text, where or Filter(), None, ())
        if self._collection is not None:
            with state.timed("search"):
                named = await self._run(query, within_named_files, query.text, self._collection, named.where)
                structured = await self._run(query, structure_context, named.question, self._collection, named.where)
            state.add_notes(named.note)
            if structured is not None:
                state.add_notes(lost_files_note(named.lost, structured.hits))
                self._note_warnings(state, named.where)
                state.interpretation.append("asks what the document consists of")
                return [structured] * len(sizes), self._trace(state)
        await self._expand(state, named.where)
        ranked = await self._texts_and_images(state, sizes, named.where)
        state.add_notes(lost_files_note(named.lost, [hit for hits in ranked for hit in hits]))
        contexts = [await self._filled(state, size, ranked, named.where) for size in sizes]
        return contexts, self._trace(state)

    async def _texts_and_images(
        self, state: "_SearchState", sizes: Sequence[ContextSize], where: Filter
    ) -> Sequence[Sequence[Hit]]:
        """Return the best texts and images, as many as the largest size has; if asked, what defines a term is first."""
        texts, images = max(size.texts for size in sizes), max(size.images for size in sizes)
        may_reorder = self._collection is not None and self._reranker is None
        defining = may_reorder and analyse_question(state.query.text).asks == "definition"
        texts = max(texts, MAX_DEFINING) if defining else texts
        kinds: tuple[tuple[Kind, int], ...] = (("text", texts), ("image", images))
        sizes_and_filters = [
            (k if where.kind in (None, kind) else 0, where.model_copy(update={"kind": kind})) for kind, k in kinds
        ]
        ranked = await self._ranked(state, sizes_and_filters, distinct=self._collection is not None)
        return [definitions_first(state.query.text, ranked[0]), ranked[1]] if defining else ranked

    async def _filled(
        self, state: "_SearchState", size: ContextSize, ranked: Sequence[Sequence[Hit]], where: Filter
    ) -> Context:
        """Return the context of one size from ranked texts and images."""
        texts, images = tuple(ranked[0][: size.texts]), tuple(ranked[1][: size.images])
        explanation = state.explanation
        context = Context(
            texts=texts,
            images=images,
            rarity=explanation.rarity,
            variety=explanation.variety,
            places=explanation.places,
            spellings=explanation.spellings,
            synonyms=explanation.synonyms,
        )
        if self._collection is None:
            return context
        with state.timed("search"):
            words_held, further = repeated_words(state.query.text, context), list[Hit]()
            if words_held and self._explains is not None:  # others may have to encode the question again
                (hits,) = await self._run(state.query, self._retriever.search, [state.query], MAX_SEARCHED, where=where)
                further = find_further(hits, words_held)
                context = replace_copies(context, further)
            pages = FilteredPages(self._collection, where)
            for add in (add_introduced, add_front_matter):
                context = await self._run(state.query, add, state.query.text, context, pages, size)
            documents = {hit.quote.document for hit in context.hits}
            other_documents = tuple(hit for hit in further if hit.quote.document not in documents)
            return context.model_copy(update={"further": other_documents})

    async def _expand(self, state: "_SearchState", where: Filter | None) -> None:
        if self._expander is not None:
            with state.timed("expand"):
                state.expansion = await self._expander.expand(state.query, where=where)
            state.add_notes(state.expansion.note)

    async def _ranked(
        self, state: "_SearchState", sizes_and_filters: Sequence[tuple[int, Filter | None]], *, distinct: bool = False
    ) -> list[Sequence[Hit]]:
        """Return the `k` best hits of each filter, `distinct` ones if wanted; an empty list where `k` is 0."""
        # One filter's warnings are enough, as filters that are searched together differ only in the kind of quotes.
        self._note_warnings(state, sizes_and_filters[0][1])
        with state.timed("search"):
            # All filters are searched in one call. Otherwise each filter would queue up again, and with many questions
            # at once even the first would have to wait for all others.
            pools = await self._run(
                state.query, self._pools, state.expansion.clauses, sizes_and_filters, distinct=distinct
            )
        ranked = [
            await self._best(state, pool, k, where) if k else []
            for pool, (k, where) in zip(pools, sizes_and_filters, strict=True)
        ]
        if self._collection is not None and not any(ranked):
            state.add_notes(await self._run(state.query, nothing_passes_note, self._collection, sizes_and_filters))
        if self._explains is not None:
            of_kinds = [(hits, where) for hits, (k, where) in zip(ranked, sizes_and_filters, strict=True) if k]
            # How the question was read is the same for both kinds of quotes; only reasons are needed for each hit.
            for hits, where in of_kinds if self._explain else of_kinds[:1]:
                await self._run(state.query, self._take_explanation, self._explains, state, hits, where)
        if self._explain:
            self._note_missing_reasons(state, any(ranked))
        return ranked

    def _note_warnings(self, state: "_SearchState", where: Filter | None) -> None:
        state.add_notes(*collect_warnings(self._retriever, where=where))

    def unread_note(self, question: str, where: Filter | None) -> "UnreadNote | None":
        """The note on files that could not be read, which searches give as well; None if all were read."""
        note = self._collection.unread_files_note(where) if self._collection else None
        if self._collection is None or note is None:
            return None
        names = (Path(failure.name).name for failure in self._collection.failures())
        return UnreadNote(note, any(name.casefold() in question.casefold() for name in names))

    async def _run(self, query: Query, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a function that searches, in a thread unless it takes little time."""
        if self._inline is not None and self._inline.runs_inline:
            return await run_inline_if_short("search", query.text, function, *args, **kwargs)
        return await run_in_pool("search", function, *args, **kwargs)

    def _note_missing_reasons(self, state: "_SearchState", has_hits: bool) -> None:
        if has_hits and not any(state.reasons.values()):
            state.add_notes("This retriever does not say why its hits rank where they do; lexical does.")
        elif self._reranker is not None:
            state.add_notes("The reasons are those of the search; the reranker gives none for its order.")
        elif len(state.expansion.clauses) > 1:
            state.add_notes("The reasons are those of the question as it was asked; its clauses were searched for too.")

    def _take_explanation(
        self, retriever: Explains, state: "_SearchState", hits: Sequence[Hit], where: Filter | None
    ) -> None:
        explanation = retriever.explain(state.query, hits if self._explain else (), where=where)
        state.interpretation += [line for line in explanation.interpretation if line not in state.interpretation]
        state.reasons.update(explanation.reasons)
        state.explanation = explanation

    def _pools(
        self, clauses: Sequence[str], sizes_and_filters: Sequence[tuple[int, Filter | None]], *, distinct: bool
    ) -> list[Sequence[Hit]]:
        queries = [Query(text=clause) for clause in clauses]
        pooled = self._reranker is not None or len(queries) > 1
        return [
            self._pool_of(queries, max(k, self._pool) if pooled else k, where, distinct=distinct) if k else []
            for k, where in sizes_and_filters
        ]

    def _pool_of(self, queries: Sequence[Query], most: int, where: Filter | None, *, distinct: bool) -> Sequence[Hit]:
        """Return the best hits; if `distinct`, search deeper to replace hits that only repeat others."""
        depth = most
        while True:
            rankings = self._retriever.search(queries, depth, where=where)
            pooled = (rankings[0] if len(rankings) == 1 else reciprocal_rank_fusion(rankings))[:depth]
            hits = without_repeats(pooled) if distinct else pooled
            if len(hits) >= most or len(pooled) < depth:
                return hits[:most]
            depth *= 2

    async def _best(self, state: "_SearchState", pooled: Sequence[Hit], k: int, where: Filter | None) -> Sequence[Hit]:
        state.candidates[where.kind if where and where.kind else "all"] = len(pooled)
        if self._reranker is not None and pooled:
            with state.timed("rerank"):
                reranking = await self._reranker.rerank(state.query, pooled)
            state.add_notes(reranking.note)
            pooled = reranking.hits
        return pooled[:k]

    def _trace(self, state: "_SearchState") -> Trace:
        return Trace(
            clauses=state.expansion.clauses,
            notes=tuple(state.notes),
            interpretation=tuple(state.interpretation),
            reasons=state.reasons,
            candidates=state.candidates,
            expander=self._expander.name if self._expander else None,
            reranker=self._reranker.name if self._reranker else None,
            seconds=state.seconds,
        )


class UnreadNote(NamedTuple):
    """A note on files that could not be read."""

    text: str
    is_asked_about: bool
    """Whether the question names one of them."""


def without_repeats(hits: Sequence[Hit]) -> list[Hit]:
    """Drop hits whose text equals that of a higher-ranked hit of the same document and kind.

    Of equal quotes on one page, the smallest is kept, at the best rank: for example a picture and not the whole page.
    """
    first_hits: dict[tuple[str, ...], Hit] = {}
    for hit in hits:
        quote = hit.quote
        key = (quote.document, quote.kind, copy_key(quote))
        first = first_hits.setdefault(key, hit)
        if quote.page == first.quote.page and area(quote.bbox) < area(first.quote.bbox):
            first_hits[key] = first.model_copy(update={"quote": quote})
    ranked = enumerate(first_hits.values(), 1)
    return [hit if hit.rank == rank else hit.model_copy(update={"rank": rank}) for rank, hit in ranked]


class _SearchState:
    """The state of one question's search."""

    def __init__(self, query: Query) -> None:
        self.query = query
        self.expansion = Expansion(clauses=(query.text,))
        self.notes: list[str] = []
        self.interpretation: list[str] = []
        self.reasons: dict[str, tuple[Reason, ...]] = {}
        self.explanation = Explanation()
        """The last explanation; its reasons are only those of the hits that were explained last."""
        self.candidates: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def add_notes(self, *notes: str | None) -> None:
        """Add those that are not there already, as texts and images may both give them."""
        self.notes = list(dict.fromkeys((*self.notes, *filter(None, notes))))

    @contextmanager
    def timed(self, step: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[step] = self.seconds.get(step, 0.0) + time.perf_counter() - started
