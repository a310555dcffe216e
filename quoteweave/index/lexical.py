"""The lexical index: BM25 over quotes and pages, TF-IDF over quotes, and the labels by which people refer to pages.

It is stored in segments (`collection.segments.segment`), which change in the same transaction as the documents, so that
it always covers the catalogue. Statistics are over all segments, and hits of equal score come in the order of their
documents' names, so that the same documents give the same results, in whatever order and batches they were added.
"""

import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.collection import Collection
from quoteweave.collection.segments.builder import DEFINITION_PREFIXES, SYMBOLS
from quoteweave.collection.segments.section_names import last_part
from quoteweave.collection.segments.segment import FIELDS, QUOTE_FIELDS, Segment, read_segment
from quoteweave.collection.segments.store import damaged_index
from quoteweave.core.errors import CollectionError
from quoteweave.core.place_names import PlaceName
from quoteweave.core.text.tokens import name_words
from quoteweave.index.term_weights import (
    B,
    Field,
    Ids,
    concatenated,
    distinct,
    inverse_frequency,
    positions_between,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    from quoteweave.index.term_weights import Mask, Positions, Scores

# Change this whenever the same quotes would give another index, so that runs over the two are told apart. That rebuilds
# no index: if segments on disk would differ, raise `collection.segments.store.SEGMENT_RULES` too, and if older segments
# would be misread, `collection.folder.FORMAT`.
FINGERPRINT = "lexical-26"
# Scores per block: after the best of each block are compared, few scores are left to sort.
BLOCK = 128
# Fewest pages that show which words are common (`LexicalIndex.rarity`).
MIN_PAGES = 100
# So many different words, or more, are significant in what they lack; even one short text has the fewest of them.
FEW_WORDS, MANY_WORDS = 100, 2000


class LexicalIndex:
    """The index at one revision of its collection, read from segments that may be removed from then on.

    Positions of quotes are 0 … n-1, positions of pages 0 … m-1, document by document as the segments hold them.
    """

    def __init__(self, segments: Mapping[str, Segment]) -> None:
        self.segments = dict(segments)
        """The segments by the names of their files."""
        all_segments = self._segments = list(self.segments.values())
        pages = np.cumsum([0, *(segment.page_count for segment in all_segments)])
        self._page_bases: list[int] = pages[:-1].tolist()
        self.document_count = sum(len(segment.names) for segment in all_segments)
        """How many documents there are."""
        self.page_count = int(pages[-1])
        """How many pages with quotes there are."""
        counts = concatenated([segment.page_counts for segment in all_segments], np.int64)
        self.document_of: npt.NDArray[np.int64] = np.repeat(np.arange(len(counts)), counts)
        """(m,) the position of each page's document, 0 … d-1."""
        self.rows = concatenated([segment.rows for segment in all_segments], np.int64)
        """(n,) rows of the quotes in the catalogue."""
        self.page_of: npt.NDArray[np.int64] = concatenated(
            [segment.page_of.astype(np.int64) + base for segment, base in zip(all_segments, pages, strict=False)],
            np.int64,
        )
        """(n,) position of each quote's page."""
        self.is_image: npt.NDArray[np.bool_] = concatenated([segment.is_image for segment in all_segments], np.bool_)
        """(n,) whether each quote is an image quote."""
        names = [name for segment in all_segments for name in segment.names]
        self._documents = {name: at for at, name in enumerate(names)}
        quote_documents = self.document_of[self.page_of]
        self._fields = {
            field: Field(
                all_segments, field, quote_documents if field in QUOTE_FIELDS else self.document_of, len(names)
            )
            for field in FIELDS
        }
        # A question asks for the same words in several fields, and questions share words.
        self._find_ids = lru_cache(maxsize=65536)(partial(_find_in_segments, all_segments))
        self._pages_numbered = lru_cache(maxsize=1024)(lambda number: self.pages_with_reference(f"page #{number + 1}"))
        self._rarities = lru_cache(maxsize=65536)(lambda token: self._fields["pages"].idf(self._find_ids(token)))

    def no_points(self) -> "Scores":
        """(m,) an array of zeros, one for each page."""
        return np.zeros(self.page_count, dtype=np.float32)

    def best_on_pages(self, scores: "npt.NDArray[Any]") -> "Scores":
        """(m,) the best of the scores (n,), which are 0 or more, of each page's quotes; 0 for a page without quotes."""
        best = self.no_points()
        scored = np.flatnonzero(scores > 0)
        np.maximum.at(best, self.page_of[scored], scores[scored])  # three times as fast as `reduceat`
        return best

    def pages_with(self, quotes: "Positions | Mask") -> "Mask":
        """(m,) which pages have one of these quotes."""
        return self._page_mask(self.page_of[quotes])

    def _page_mask(self, pages: "Positions") -> "Mask":
        """(m,) True for these pages, False for others."""
        mask = np.zeros(self.page_count, dtype=np.bool_)
        mask[pages] = True
        return mask

    def best_quotes(self, quotes: "Positions", scores: "Scores", k: int) -> "Positions":
        """The `k` of these quotes with the best scores, best first; `scores` (n,) are those of all quotes."""
        return quotes[np.lexsort((self.tie_order[quotes], -scores[quotes]))][:k]

    def in_documents_of(self, pages: "Positions | Mask") -> "Scores":
        """(m,) 1 for each page of a document that has one of these pages, 0 for others."""
        document_flags = np.zeros(self.document_count, dtype=np.float32)
        document_flags[self.document_of[pages]] = 1
        return document_flags[self.document_of]

    @cached_property
    def documents_named(self) -> Mapping[str, Sequence[int]]:
        """The positions of the documents that have a word, as `core.text.tokens.words` stems it, in their name."""
        documents_of_word = defaultdict[str, list[int]](list)
        for name, at in self._documents.items():
            for word in set(name_words(name)):
                documents_of_word[word].append(at)
        return dict(documents_of_word)

    @cached_property
    def tie_order(self) -> "Positions":
        """(n,) the place of each quote when documents are ordered by name, which breaks ties."""
        return self._by_name([segment.quote_counts for segment in self._segments])

    @cached_property
    def page_order(self) -> "Positions":
        """(m,) the place of each page when documents are ordered by name."""
        return self._by_name([segment.page_counts for segment in self._segments])

    def _by_name(self, segment_counts: "list[npt.NDArray[Any]]") -> "Positions":
        """The place of each item when documents, with the given numbers of items, are ordered by name."""
        names, counts = list(self._documents), concatenated(segment_counts, np.int64)
        ranked = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        new_start = np.empty(len(names), dtype=np.int64)  # where each document's items begin in the new order
        new_start[ranked] = np.cumsum(counts[ranked]) - counts[ranked]
        old_start = np.cumsum(counts) - counts
        places: Positions = np.arange(int(counts.sum())) + np.repeat(new_start - old_start, counts)
        return places

    @property
    def max_idf(self) -> float:
        """The largest score of a word that occurs on only one page: its idf."""
        return math.log(1 + (self.page_count - 0.5) / 1.5) if self.page_count else 0.0

    def scores(self, field: str, tokens: Sequence[str], *, b: float = B, within: "Mask | None" = None) -> "Scores":
        """BM25 of every quote (n,) or page (m,) for a question's words; 0 where none of them occurs.

        If only the items `within` are searched, the idf of a word is the mean of that among them and that among all
        items, and lengths are relative to their mean length; the scores of other items are then 0.
        """
        return self._fields[field].bm25([self._find_ids(token) for token in tokens], b, within)

    def scores_in_documents(
        self, field: str, tokens: Sequence[str], documents: "Sequence[int] | Positions", *, b: float = B
    ) -> "tuple[Positions, Scores]":
        """The quotes or pages of some documents, ascending, and BM25 of each as if its document alone were searched.

        `documents` are the positions of the documents, ascending.
        """
        return self._fields[field].bm25_in_documents([self._find_ids(token) for token in tokens], b, documents)

    def document_scores(self, tokens: Sequence[str]) -> "Scores":
        """BM25 of every document (d,), as all words of its pages."""
        return self._fields["pages"].bm25_of_documents([self._find_ids(token) for token in tokens])

    def cosines(self, tokens: Sequence[str]) -> "Scores":
        """TF-IDF cosine (n,) of every quote for a question's words; 0 where none of them occurs."""
        return self._fields["quotes"].cosines(Counter(self._find_ids(token) for token in tokens))

    def idf(self, token: str) -> float:
        """The idf of a word among pages; 0 for one that stands on none."""
        return self._rarities(token)

    def rarity(self, token: str) -> float:
        """How rare a word is among pages, from near 0 for one on every page to 1 for one that stands on none.

        A smaller collection counts as one of `MIN_PAGES` pages, as it does not show which words are common. Nor do few
        different words (`variety`): a word of leases that are alike may be on all of them, and counts as if on one.
        """
        page_frequency, pages = self._fields["pages"].count(self._find_ids(token)), max(self.page_count, MIN_PAGES)
        on_one = inverse_frequency(MIN_PAGES, 1) / inverse_frequency(MIN_PAGES, 0)
        rarity = inverse_frequency(pages, page_frequency) / inverse_frequency(pages, 0)
        return max(rarity, (1 - self._variety) * on_one) if page_frequency else 1.0

    def variety(self, within: "Mask | None", document: int | None) -> float:
        """How many different words there are on the pages searched, `within` (m,) or all, as a share of `MANY_WORDS`.

        What one document says otherwise is not said by the others, so this is a third of the way from those of all
        pages searched to those of `document`, if one is given by its position. From near 0 to 1; 0 without words.
        """
        field, most = self._fields["pages"], 2 * MANY_WORDS
        count = field.distinct_tokens(within, most)
        if document is not None and count < most:
            in_document = self.document_of == document
            searched = in_document if within is None else in_document & within
            count = (2 * count + field.distinct_tokens(searched, most)) // 3
        return min(1.0, (count + FEW_WORDS) / (MANY_WORDS + FEW_WORDS)) if count else 0.0

    @cached_property
    def _variety(self) -> float:
        return self.variety(None, None)

    def has_word(self, token: str, within: "Mask | None") -> bool:
        """Whether one of the pages searched, `within` (m,) or all, holds a word."""
        if within is None:
            return self.idf(token) > 0
        return any_within(self._fields["pages"].items_with(self._find_ids(token)), within)

    def on_several_pages(self, token: str, page: int) -> bool:
        """Whether a word is on two or more pages of the document that contains `page`."""
        document = int(self.document_of[page])
        # All pages of a document are in one segment.
        segment = bisect_right(self._page_bases, page) - 1
        id, base = self._find_ids(token)[segment], self._page_bases[segment]
        if id is None:
            return False
        first, last = self.document_of.searchsorted([document, document + 1]) - base
        token_pages = self._segments[segment].fields["pages"].of(id)[0]
        return int(token_pages.searchsorted(last)) - int(token_pages.searchsorted(first)) > 1

    def pages_with_reference(self, name: str) -> "Positions":
        """Positions of the pages that have the `PlaceName` with that text, or show that layout (`layout_token`)."""
        return self._fields["references"].items_with(self._find_ids(name))

    def pages_meant_by(self, name: PlaceName) -> "Positions":
        """Like `pages_with_reference`; for a page number, the pages with that printed label and those at that position.

        'chapter last' is the last of each document, 'chapter 3 #-1' the last page of its chapter 3.
        """
        if name.is_page and name.value is not None:
            numbered = self.pages_with_reference(str(PlaceName("page", page=name.value)))
            return distinct(np.concatenate([self.pages_with_reference(str(name)), numbered]))
        pages = self.pages_with_reference(str(name.without_page))
        if name.is_page or name.page is None:
            return pages if name.page is None else self.pages_with_reference(str(name))
        documents = self.document_of[pages]
        first, end = (np.searchsorted(documents, distinct(documents), side) for side in ("left", "right"))
        positions = first + name.page - 1 if name.page > 0 else end + name.page
        pages_by_number: Positions = pages[positions[(positions >= first) & (positions < end)]]
        return pages_by_number

    def last_parts(self, kind: str) -> dict[int, PlaceName]:
        """The last part of a kind in each document that has one, such as 'chapter 9', by the document's position."""
        prefix = str(last_part(PlaceName(kind))) + " "
        return {
            document: PlaceName(kind, token.removeprefix(prefix))
            for token in self._tokens_beginning(prefix)
            for document in self.document_of[self.pages_with_reference(token)].tolist()
        }

    def definitions_beginning(self, prefix: str, most: int) -> list[str]:
        """At most `most` definitions with this prefix (`collection.segments.builder.acronym_prefix`), sorted."""
        first = bisect_left(self._definitions, prefix)
        return [token for token in self._definitions[first : first + most] if token.startswith(prefix)]

    @cached_property
    def _definitions(self) -> list[str]:
        """All definitions of acronyms on pages, by acronym and by what it stands for, sorted."""
        return sorted(token for prefix in DEFINITION_PREFIXES for token in self._tokens_beginning(prefix))

    def pages_with_symbols(self, text: str) -> "Mask":
        """(m,) which pages have a string of at most `MAX_SYMBOL_RUN` symbols, among those that `knows_symbols` has."""
        tokens = [token for token in self._symbols if text in token.removeprefix(f"{SYMBOLS} ")]
        return self._page_mask(concatenated(map(self.pages_with_reference, tokens), "int64"))

    @cached_property
    def knows_symbols(self) -> "Mask":
        """(m,) the pages whose symbols the index knows; pages that an earlier version stored are not among them."""
        return self._page_mask(self.pages_with_reference(SYMBOLS))

    @cached_property
    def _symbols(self) -> set[str]:
        return self._tokens_beginning(f"{SYMBOLS} ")

    def _tokens_beginning(self, prefix: str) -> set[str]:
        """The tokens of all segments that begin with this prefix."""
        encoded = prefix.encode("utf-8", "surrogatepass")
        found_tokens = (token for segment in self._segments for token in segment.beginning(encoded))
        return {token.decode("utf-8", "surrogatepass") for token in found_tokens}

    def quotes_with(self, tokens: Iterable[str], *, max_words: int | None = None) -> "Positions":
        """Positions of the quotes that hold all of these words, ascending; none for no words.

        With `max_words`, only quotes with at most that many words in all.
        """
        quotes = self._with("quotes", tokens)
        return quotes if max_words is None else quotes[self._fields["quotes"].lengths(quotes) <= max_words]

    def has_quote_with(self, tokens: Sequence[str], within: "Mask | None") -> bool:
        """Whether one quote on the pages searched, `within` (m,) or all, holds all of these words; False for none."""
        if within is None and len(tokens) == 1:
            return self._fields["quotes"].count(self._find_ids(tokens[0])) > 0
        quotes = self.quotes_with(tokens)
        return any_within(quotes if within is None else self.page_of[quotes], within)

    def pages_under(self, tokens: Iterable[str]) -> "Positions":
        """Positions of the pages under headings that hold all of these words, ascending; none for no words."""
        return self._with("outline", tokens)

    def _with(self, field: str, tokens: Iterable[str]) -> "Positions":
        items = sorted((self._fields[field].items_with(self._find_ids(token)) for token in set(tokens)), key=len)
        return reduce(partial(np.intersect1d, assume_unique=True), items) if items else np.empty(0, dtype=np.int64)

    def page(self, document: str, number: int) -> int | None:
        """The position of a document's page of that number (from 0); None where the index has none."""
        at = self._documents.get(document)
        if at is None:
            return None
        pages = self._pages_numbered(number)
        first = int(self.document_of[pages].searchsorted(at))  # of those in the document, or in one after it
        return int(pages[first]) if first < len(pages) and self.document_of[pages[first]] == at else None

    def pages_of(self, document: int) -> slice:
        """Positions of the pages of a document, given its own position."""
        return slice(*self.document_of.searchsorted([document, document + 1]).tolist())

    def quotes_on(self, pages: "Sequence[int] | Positions") -> "Positions":
        """Positions of the quotes of these pages, in order; the pages must be ascending."""
        return positions_between(self.page_of.searchsorted(pages), self.page_of.searchsorted(pages, "right"))


def _find_in_segments(segments: Sequence[Segment], token: str) -> Ids:
    encoded = token.encode("utf-8", "surrogatepass")
    return tuple(segment.find(encoded) for segment in segments)


def any_within(pages: "Positions", within: "Mask | None") -> bool:
    """Whether one of these pages is searched: `within` (m,), or all."""
    return bool(len(pages)) and (within is None or bool(within[pages].any()))


def best_positions(scores: "Scores", k: int, order: "Positions") -> "Positions":
    """Return the positions of the `k` best scores above 0, best first; of equal ones, those first in `order` (n,)."""
    # If there are more than k blocks, at least k scores reach the k-th best of the block maxima.
    blocks = len(scores) // BLOCK
    least = np.float32(0)
    if blocks > k:
        # Each block is a column: numpy finds the maxima of columns several times as fast as those of rows.
        least = np.partition(scores[: blocks * BLOCK].reshape(BLOCK, blocks).max(axis=0), -k)[-k]
    (candidates,) = (scores >= least if least > 0 else scores > 0).nonzero()
    if len(candidates) > k:
        # All ties at the cut are kept for now, or the arbitrary order of the partition would decide between them.
        matched = scores[candidates]
        candidates = candidates[matched >= np.partition(matched, -k)[-k]]
    return candidates[np.lexsort((order[candidates], -scores[candidates]))][:k]


def current_lexical_index(collection: Collection, opened: LexicalIndex | None = None) -> LexicalIndex:
    """Return the index of the collection's current documents: `opened` if that is still current.

    Raises CollectionError where a file of it is missing or damaged, with the command that rebuilds it.
    """
    opened_segments = opened.segments if opened is not None else {}
    while True:
        paths, documents = state = collection.segments()
        if opened is not None and [path.name for path in paths] == list(opened_segments):
            return opened
        try:
            index = LexicalIndex({path.name: opened_segments.get(path.name) or read_segment(path) for path in paths})
            if index.document_count != documents:
                raise CollectionError(f"it holds {index.document_count} of {documents} documents")
        except (CollectionError, OSError) as error:
            # A segment that is gone may have been merged with others just now.
            if collection.segments() == state:
                raise damaged_index(collection.root, error) from error
        else:
            return index
