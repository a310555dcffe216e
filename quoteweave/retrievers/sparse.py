"""Sparse retrievers: BM25 and TF-IDF."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.storage_errors import OTHER_VERSION, renewal_advice
from quoteweave.core.concurrency.recent_cache import RecentCache
from quoteweave.core.errors import CollectionError, note_text
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.core.text.question_analysis import check_question_length
from quoteweave.core.text.tokens import words
from quoteweave.index import lexical
from quoteweave.index.lexical import LexicalIndex

if TYPE_CHECKING:
    from quoteweave.index.term_weights import Mask, Scores

# Filters whose quotes are cached, a byte for each quote of the collection; a search asks for them several times.
CACHED_FILTERS = 8

MAX_INLINE_QUOTES = 50_000
"""An index with more quotes is searched in a thread of its own."""

NOTHING_THERE = "Nothing can be found yet: no document of the collection has any quotes."


class Bm25Retriever:
    """Plain BM25 over quotes: Lucene's formula with k1 = 1.5 and b = 0.75, to the last bit what bm25s gives by default.

    A quote's words are its caption, text, OCR text where it has no text, and what a vision model wrote of it; those of
    an image quote also its section's title, and what OCR alone reads on it. A part of an image is found by what is on
    it: its caption and its section's title are the whole image's.

    A word adds idf × tf / (tf + k1 (1 - b + b length / mean length)), with idf = ln(1 + r) and
    r = (n - df + 1/2) / (df + 1/2). rank-bm25's `BM25Okapi`, with the same k1 and b, differs in two things:
    - it multiplies by k1 + 1, which changes no ranking;
    - its idf is ln(r), lower than here by d = ln((n + 1) / (n - df + 1/2)): next to nothing for a word that few quotes
      have, ln 2 for one that half of them have. Where more have it, ln(r) is negative, and Okapi takes a quarter of the
      mean idf of all words (epsilon) in its place; here idf stays positive and goes on falling.
    So a question of one word gives the same ranking. One of several words, none of which more than half of the quotes
    have, can exchange two quotes only where their Okapi scores are nearer than (k1 + 1) times the sum of d over its
    words. With words that more have, rankings can differ by more. Of bm25s's methods "robertson" is nearest to Okapi:
    it lacks k1 + 1, and its idf is 0 where ln(r) is negative.

    >>> (hits,) = Bm25Retriever(collection).search([Query(text="timber")], k=1)
    >>> hits[0].quote.text
    'Timber went by rail.'
    """

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._opened: LexicalIndex | None = None
        self._masks: RecentCache[str, tuple[LexicalIndex, Mask]] = RecentCache(CACHED_FILTERS)

    @property
    def collection(self) -> Collection:
        """The collection that it searches."""
        return self._collection

    @property
    def runs_inline(self) -> bool:
        """Whether a search takes some milliseconds at most: the index is open, and of moderate size."""
        return self._opened is not None and self._opened.rows.size <= MAX_INLINE_QUOTES

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """Return at most `k` hits per query, best first; none where no word and no reference of the query is found.

        All documents that the collection lists are searched, even while another process writes. Raises
        UsageError for a filter that names an unknown document, QuestionTooLong, CollectionError when the collection
        cannot be read.
        """
        for query in queries:
            check_question_length(query.text)
        if k < 1:
            return [[] for _ in queries]
        while True:
            index = self._opened = lexical.current_lexical_index(self._collection, self._opened)
            allowed = self._allowed(index, where)
            results = [self._hits(index, self._scores(index, query.text, where, k), k, allowed) for query in queries]
            hits = [query_hits for query_hits in results if query_hits is not None]
            is_complete = len(hits) == len(results)
            if is_complete and allowed is None:
                return hits
            # The catalogue has the quotes and knows which pass the filter. It may be newer than the opened index: if a
            # document was replaced meanwhile, its quotes are others, and the search begins again.
            is_current = lexical.current_lexical_index(self._collection, index) is index
            if is_complete and is_current:
                return hits
            if is_current:
                raise CollectionError(
                    f"{self._collection.root} is damaged: its catalogue lacks quotes that its lexical index holds",
                    remedy=f"see what is wrong with: quoteweave check -c {shlex.quote(str(self._collection.root))}",
                )

    def warnings(self, where: Filter | None = None) -> tuple[str, ...]:
        """One sentence each if there are no quotes, files could not be read, or another version made the index."""
        index = self._opened = lexical.current_lexical_index(self._collection, self._opened)
        warnings = [] if index.rows.size else [NOTHING_THERE]
        if (unread := self._collection.unread_files_note(where)) is not None:
            warnings.append(unread)
        if index.rows.size and self._collection.has_older_segments():
            summary = f"{OTHER_VERSION}: some of what the documents say may not be found"
            warnings.append(note_text(summary, remedy=renewal_advice(self._collection.root)))
        return tuple(warnings)

    def _scores(self, index: LexicalIndex, question: str, where: Filter | None, k: int) -> "Scores":  # noqa: ARG002
        """(n,) scores, right for the best `k` quotes that pass the filter and all that tie with them; others are lower.

        Those of quotes that do not pass are meaningless. `where` is for retrievers that weigh words by what is
        searched.
        """
        return index.scores("quotes", words(question))

    def _allowed(self, index: LexicalIndex, where: Filter | None) -> "Mask | None":
        """(n,) which quotes pass the filter; None when all do. Raises UsageError for an unknown document."""
        if where is None or where == Filter():
            return None
        if where == Filter(kind=where.kind):
            return index.is_image if where.kind == "image" else ~index.is_image
        # Which quotes pass may change while the index does not, as when a document's metadata are edited.
        key = f"{self._collection.revision()} {where.model_dump_json()}"
        cached = self._masks.get(key)
        if cached is None or cached[0] is not index:
            cached = index, np.isin(index.rows, self._collection.select(where), assume_unique=True)
            self._masks.put(key, cached)
        return cached[1]

    def _hits(self, index: LexicalIndex, scores: "Scores", k: int, allowed: "Mask | None") -> list[Hit] | None:
        """The `k` best hits; None where the quote of one is no longer in the catalogue."""
        scores = scores if allowed is None else np.where(allowed, scores, np.float32(0))
        best = lexical.best_positions(scores, k, index.tie_order)
        quotes = self._collection.quotes_at(index.rows[best].tolist())
        scored = [(quote, float(scores[at])) for quote, at in zip(quotes, best, strict=True) if quote is not None]
        if len(scored) < len(best):
            return None
        return [Hit(rank=rank, score=score, quote=quote) for rank, (quote, score) in enumerate(scored, 1)]


class TfidfRetriever(Bm25Retriever):
    """TF-IDF over the same words: the cosine of a quote's vector and the question's, from 0 to 1.

    The formula is in `index.lexical`; it is that of scikit-learn's TfidfVectorizer over the same words.
    """

    def _scores(self, index: LexicalIndex, question: str, where: Filter | None, k: int) -> "Scores":  # noqa: ARG002
        return index.cosines(words(question))
