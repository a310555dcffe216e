"""The retriever for every encoder: it encodes questions and searches an index of a collection's vectors."""

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.views import PageMap
from quoteweave.core.concurrency.recent_cache import RecentCache
from quoteweave.core.errors import CollectionError
from quoteweave.core.protocols import Encoder, ImageProvider
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.core.text.question_analysis import check_question_length
from quoteweave.index.base import SearchScope, TopItems
from quoteweave.index.embedding import EmbedProgress, check_vectors
from quoteweave.index.encoder_index import EncoderIndex, IndexReport, make_plan
from quoteweave.index.opening import OpenedIndex, with_rebuild_advice
from quoteweave.retrievers.spec import RetrieverSpec

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix
    from quoteweave.index.base import Rows

# A context is built by searching the same question once per kind of quote, always with the same two filters.
CACHED_QUESTIONS = 256
CACHED_SCOPES = 8


class VectorRetriever:
    """Ranks quotes, or whole pages, by the inner product of their vectors with the question's (MaxSim for several).

    `spec` selects the index: its kind, the view of a quote that the encoder reads, and whether items are quotes or
    pages. A ranked page yields all its quotes that pass the filter, in page order and with the page's score.
    Visual encoders need `pictures`. Raises UsageError for a spec that does not fit the encoder. Thread-safe.
    """

    def __init__(
        self,
        collection: Collection,
        encoder: Encoder,
        *,
        spec: RetrieverSpec | None = None,
        pictures: ImageProvider | None = None,
    ) -> None:
        spec = spec or RetrieverSpec(name=encoder.name)
        plan = make_plan(encoder, spec.shown, kind=spec.kind, unit=spec.unit, view=spec.view)
        self.collection, self.encoder = collection, encoder
        self.encoder_index = EncoderIndex(collection, encoder, plan, pictures)
        self._opened: OpenedIndex | None = None
        self._opening = Lock()
        self._questions: RecentCache[str, Matrix] = RecentCache(CACHED_QUESTIONS)
        self._scopes: RecentCache[str, SearchScope] = RecentCache(CACHED_SCOPES)

    def refresh(
        self, progress: EmbedProgress | None = None, *, wait_s: float | None = 0.0, replace: bool = False
    ) -> IndexReport:
        """Build the index or bring it up to date; wait `wait_s` seconds for another writer, for None without limit.

        Raises CollectionLocked, and what `EncoderIndex.refresh` raises.
        """
        with self.collection.writer(wait_s) as writer:
            return self.encoder_index.refresh(writer, progress, replace=replace)

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """Return at most `k` hits per query, best first; none for a blank query.

        Nothing is written: documents that the index lacks are not found, as `warnings` reports, and quotes removed
        since it was built are never among the hits. Raises IndexMissing where it was never built, FingerprintMismatch
        where it was built with other settings, CollectionError where it is damaged, UsageError for a filter that names
        an unknown document, QuestionTooLong, and whatever the encoder raises.
        """
        hits: list[list[Hit]] = [[] for _ in queries]
        opened, (pending, vectors) = self._current(), self._encode_queries(queries, k)
        depth = k
        while pending:
            opened, top_items = self._find(opened, vectors, depth, where)
            for i, ranked in zip(pending, self._ranked(opened, top_items, where), strict=True):
                hits[i] = ranked[:k]
            # Where too few hits are left, because quotes were removed since, more are fetched.
            incomplete = [at for at, i in enumerate(pending) if len(hits[i]) < k and len(top_items[at].rows) == depth]
            pending, vectors, depth = [pending[at] for at in incomplete], [vectors[at] for at in incomplete], 2 * depth
        return hits

    def search_rows(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[TopItems]:
        """Like `search`, but return only row numbers and scores; a page has the row of its first quote.

        Rows of quotes that were removed since the index was brought up to date may be among them.
        """
        opened, (positions, vectors) = self._current(), self._encode_queries(queries, k)
        rows = [TopItems(np.empty(0, np.int64), np.empty(0, np.float32)) for _ in queries]
        if positions:
            for i, top_items in zip(positions, self._find(opened, vectors, k, where)[1], strict=True):
                rows[i] = top_items
        return rows

    def warnings(self, where: Filter | None = None) -> tuple[str, ...]:
        """What searches cannot find, a sentence each: files that could not be read, documents that the index lacks."""
        notes = self.collection.unread_files_note(where), self.encoder_index.missing_documents_note()
        return tuple(note for note in notes if note is not None)

    def _current(self) -> OpenedIndex:
        with self._opening:
            self._opened = self.encoder_index.current(self._opened)
            return self._opened

    def _encode_queries(self, queries: Sequence[Query], k: int) -> "tuple[list[int], list[Matrix]]":
        """Return positions and vectors of the queries that are not blank; new ones are encoded in one call."""
        positions = [i for i, query in enumerate(queries) if query.text.strip()] if k > 0 else []
        for i in positions:
            check_question_length(queries[i].text)
        texts = [queries[i].text for i in positions]
        vectors_by_text = {text: vectors for text in texts if (vectors := self._questions.get(text)) is not None}
        new_texts = [text for text in dict.fromkeys(texts) if text not in vectors_by_text]
        if new_texts:
            encoded, name = self.encoder.encode_queries(new_texts), self.encoder.name
            check_vectors(
                name,
                encoded,
                [f"the question {text[:60]!r}" for text in new_texts],
                multi_vector=self.encoder.multi_vector,
            )
            for text, vectors in zip(new_texts, encoded, strict=True):
                vectors_by_text[text] = vectors
                self._questions.put(text, vectors)
        return positions, [vectors_by_text[text] for text in texts]

    def _find(
        self, opened: OpenedIndex, vectors: "Sequence[Matrix]", k: int, where: Filter | None
    ) -> tuple[OpenedIndex, list[TopItems]]:
        """Search; return what was found, and the index it was found in."""
        try:
            return opened, opened.search(vectors, k, self._scope(opened, where))
        except CollectionError as error:
            # Another process may have published the next generation, and removed the files of this one.
            newer = self._current()
            if newer is opened:
                raise with_rebuild_advice(error, self.collection, self.encoder_index.plan.spec) from error
        return newer, newer.search(vectors, k, self._scope(newer, where))

    def _scope(self, opened: OpenedIndex, where: Filter | None) -> SearchScope | None:
        """The rows that pass the filter, cached until the collection changes; None for a filter that passes all."""
        if where is None or where == Filter():
            return None
        key = f"{self.collection.revision()} {opened.folder} {where.model_dump_json()}"
        scope = self._scopes.get(key)
        if scope is None:
            pages = opened.pages
            scope = SearchScope(self.collection, where) if pages is None else PageScope(self.collection, where, pages)
            self._scopes.put(key, scope)
        return scope

    def _ranked(self, opened: OpenedIndex, results: Sequence[TopItems], where: Filter | None) -> list[list[Hit]]:
        """The hits for each question, all quotes loaded in one read; quotes that were removed since are left out."""
        scope = self._scope(opened, where)
        scored = [_scored_rows(opened, top_items, scope) for top_items in results]
        rows = list({row for ranked in scored for row, _ in ranked})
        quotes = dict(zip(rows, self.collection.quotes_at(rows), strict=True))
        if None in quotes.values():
            self.encoder_index.require_rows(opened)
        present = [[(quote, score) for row, score in ranked if (quote := quotes[row]) is not None] for ranked in scored]
        return [
            [Hit(rank=rank, score=score, quote=quote) for rank, (quote, score) in enumerate(ranked, 1)]
            for ranked in present
        ]


class PageScope(SearchScope):
    """The pages with a quote that passes a filter, each represented by the row of its first quote."""

    def __init__(self, collection: Collection, where: Filter, pages: PageMap) -> None:
        super().__init__(collection, where.of_pages())
        self.quotes = SearchScope(collection, where)
        self._pages = pages

    @cached_property
    def rows(self) -> "Rows":
        """(n,) first rows of these pages, ascending. Raises UsageError for documents that do not exist."""
        return self._pages.firsts_of(self.quotes.rows)


def _scored_rows(opened: OpenedIndex, top_items: TopItems, scope: SearchScope | None) -> list[tuple[int, float]]:
    """Row and score of each quote that was found, by itself or through its page."""
    ranked = list(zip(top_items.rows.tolist(), top_items.scores.tolist(), strict=True))
    if opened.pages is None:
        return ranked
    passing = scope.quotes.rows if isinstance(scope, PageScope) else None
    scored = []
    for first, score in ranked:
        rows = opened.pages.rows_of(first)
        passing_rows = rows if passing is None else rows[np.isin(rows, passing)]
        scored += [(row, score) for row in passing_rows.tolist()]
    return scored
