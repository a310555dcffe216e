"""The lexical index: BM25 over quotes and pages, TF-IDF over quotes, and the labels by which people refer to pages.

It lies in segments (`collection.segments.segment`), which change in the same transaction as the documents: what is in
the catalogue is in the index. Statistics are over all segments, and hits of equal score come in the order of their
documents' names, so that the same documents give the same results, in whatever order and batches they were added.
"""

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial, reduce
from typing import TYPE_CHECKING, Any

from quoteweave.collection.collection import Collection
from quoteweave.collection.segments.segment import FIELDS, Segment, read_segment
from quoteweave.collection.segments.store import damaged_index
from quoteweave.core.errors import CollectionError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Positions = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

# Changes whenever the same quotes would give another index.
FINGERPRINT = "lexical-6"
# Lucene's BM25 (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020), with the parameters that bm25s has by default.
K1, B = 1.5, 0.75
# Pages among which it first shows which words are common (`LexicalIndex.rarity_share`).
FEW_PAGES = 100


class LexicalIndex:
    """The index at one revision of its collection, read from segments that may be removed from then on.

    Positions of quotes are 0 … n-1, positions of pages 0 … m-1, document by document as the segments hold them.
    """

    def __init__(self, segments: Mapping[str, Segment]) -> None:
        import numpy as np

        self.segments = dict(segments)
        """By the name of their file."""
        parts = list(self.segments.values())
        self._parts = parts
        pages = np.cumsum([0, *(part.page_count for part in parts)])
        self._page_bases: list[int] = pages[:-1].tolist()
        self.document_count = sum(len(part.names) for part in parts)
        """How many documents there are."""
        self.page_count = int(pages[-1])
        """How many pages with quotes there are."""
        counts = _concatenated([part.page_counts for part in parts], np.int64)
        self.document_of: npt.NDArray[np.int64] = np.repeat(np.arange(len(counts)), counts)
        """(m,) the position of each page's document, 0 … d-1."""
        self.rows = _concatenated([part.rows for part in parts], np.int64)
        """(n,) rows of the quotes in the catalogue."""
        self.page_of: npt.NDArray[np.int64] = _concatenated(
            [part.page_of.astype(np.int64) + base for part, base in zip(parts, pages, strict=False)], np.int64
        )
        """(n,) position of each quote's page."""
        self.is_image: npt.NDArray[np.bool_] = _concatenated([part.is_image for part in parts], np.bool_)
        """(n,) whether each quote is an image quote."""
        self._continued = _concatenated([part.continued for part in parts], np.int64)
        names = [name for part in parts for name in part.names]
        self._documents = {name: at for at, name in enumerate(names)}
        self._fields = {field: _Field(parts, field) for field in FIELDS}
        # A question asks for the same words in several fields, and questions share words.
        self._ids = lru_cache(maxsize=4096)(partial(_find, parts))
        self._numbered = lru_cache(maxsize=1024)(lambda number: self.pages_named(f"page #{number + 1}"))
        self._rarities = lru_cache(maxsize=65536)(lambda token: self._fields["pages"].idf(_find(parts, token)))

    @cached_property
    def continuations(self) -> "tuple[Positions, Positions]":
        """Positions of the texts that continue another (`core.text.continuations`), and of those that they continue."""
        import numpy as np

        later = np.flatnonzero(self._continued)
        return later, later - self._continued[later]

    @cached_property
    def order(self) -> "Positions":
        """(n,) the place of each quote when documents are ordered by name, which breaks ties."""
        return self._by_name([part.quote_counts for part in self._parts])

    @cached_property
    def page_order(self) -> "Positions":
        """(m,) the place of each page when documents are ordered by name."""
        return self._by_name([part.page_counts for part in self._parts])

    def _by_name(self, of_parts: "list[npt.NDArray[Any]]") -> "Positions":
        """The place of each item when documents, which have so many each, are ordered by name."""
        import numpy as np

        names = [name for part in self._parts for name in part.names]
        counts = _concatenated(of_parts, np.int64)
        ranked = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
        start = np.empty(len(names), dtype=np.int64)  # of each document's items in the new order
        start[ranked] = np.cumsum(counts[ranked]) - counts[ranked]
        old = np.cumsum(counts) - counts
        places: Positions = np.arange(int(counts.sum())) + np.repeat(start - old, counts)
        return places

    @property
    def unit(self) -> float:
        """What a word that stands on one page alone adds to its score at most: the idf of such a word."""
        return math.log(1 + (self.page_count - 0.5) / 1.5) if self.page_count else 0.0

    def scores(self, field: str, tokens: Sequence[str], *, b: float = B, within: "Mask | None" = None) -> "Scores":
        """BM25 of every quote (n,) or page (m,) for a question's words; 0 where none of them occurs.

        Where only some items are searched, these `within`, a word is as rare as it is among them and among all: its idf
        is the mean of both; and a text is as long as it is beside these. The scores of others mean nothing then.
        """
        return self._fields[field].bm25([self._ids(token) for token in tokens], b, within)

    def document_scores(self, tokens: Sequence[str]) -> "Scores":
        """BM25 of every document (d,), as all words of its pages."""
        return self._fields["pages"].grouped(
            [self._ids(token) for token in tokens], self.document_of, self.document_count
        )

    def cosines(self, tokens: Sequence[str]) -> "Scores":
        """TF-IDF cosine (n,) of every quote for a question's words; 0 where none of them occurs."""
        return self._fields["quotes"].cosines(Counter(self._ids(token) for token in tokens))

    def rarity(self, token: str) -> float:
        """The idf of a word among pages; 0 for one that stands on none."""
        return self._rarities(token)

    def rarity_share(self, token: str) -> float:
        """How rare a word is among pages, from near 0 for one on every page to 1 for one that stands on none.

        As among `FEW_PAGES` where there are fewer: these do not tell which words are common.
        """
        having, pages = self._fields["pages"].having(self._ids(token)).size, max(self.page_count, FEW_PAGES)
        return _idf(pages, having) / _idf(pages, 0) if having else 1.0

    def on_several_pages(self, token: str, page: int) -> bool:
        """Whether a word is on two or more pages of the document that contains `page`."""
        document = int(self.document_of[page])
        # All pages of a document are in one segment.
        part = bisect_right(self._page_bases, page) - 1
        id, base = self._ids(token)[part], self._page_bases[part]
        if id is None:
            return False
        first, last = self.document_of.searchsorted([document, document + 1]) - base
        items = self._parts[part].fields["pages"].of(id)[0]
        return int(items.searchsorted(last)) - int(items.searchsorted(first)) > 1

    def pages_named(self, name: str) -> "Positions":
        """Positions of the pages of that name (`core.text.mentions`), or that show that kind (`kind_token`)."""
        return self._fields["references"].having(self._ids(name))

    def pages_called(self, name: str) -> "Positions":
        """As `pages_named`; for the number of a page both those where it is printed and those in that place."""
        import numpy as np

        pages, number = self.pages_named(name), name.removeprefix("page ")
        return np.union1d(pages, self.pages_named(f"page #{number}")) if number.isdecimal() else pages

    def names_beginning(self, prefix: str, most: int) -> list[str]:
        """The first `most` names of pages that begin so (`collection.segments.builder.acronym_prefix`), sorted."""
        encoded = prefix.encode("utf-8", "surrogatepass")
        # The first of all are among the first of each.
        found = {token for part in self._parts for token in part.beginning(encoded, most)}
        return [token.decode("utf-8", "surrogatepass") for token in sorted(found)[:most]]

    def quotes_with(self, tokens: Iterable[str]) -> "Positions":
        """Positions of the quotes that hold all of these words, ascending; none for no words."""
        import numpy as np

        found = sorted((self._fields["quotes"].having(self._ids(token)) for token in set(tokens)), key=len)
        return reduce(partial(np.intersect1d, assume_unique=True), found) if found else np.empty(0, dtype=np.int64)

    def page(self, document: str, number: int) -> int | None:
        """The position of a document's page of that number (from 0); None where the index has none."""
        at = self._documents.get(document)
        if at is None:
            return None
        pages = self._numbered(number)
        found = int(self.document_of[pages].searchsorted(at))
        return int(pages[found]) if found < len(pages) and self.document_of[pages[found]] == at else None

    def quotes_of(self, page: int) -> "Positions":
        """Positions of the quotes of a page, in order."""
        import numpy as np

        first, last = np.searchsorted(self.page_of, [page, page + 1])
        return np.arange(first, last)


_Ids = tuple[int | None, ...]
"""The number of a token in each segment."""


def _find(segments: Sequence[Segment], token: str) -> _Ids:
    encoded = token.encode("utf-8", "surrogatepass")
    return tuple(segment.find(encoded) for segment in segments)


class _Field:
    """The postings of one field in all segments, with the statistics over them."""

    def __init__(self, segments: Sequence[Segment], name: str) -> None:
        import numpy as np

        self._segments = segments
        self._parts = parts = [segment.fields[name] for segment in segments]
        self._bases = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
        self._size: int = self._bases[-1]
        # Most pages stand under no heading, which says nothing of how long headings are.
        self._sparse = name == "outline"

    def having(self, ids: _Ids) -> "Positions":
        """Positions of the items that have a token."""
        return self._found(ids)[0]

    def bm25(self, tokens: Sequence[_Ids], b: float, within: "Mask | None") -> "Scores":
        """Scores (n,) of all items for a question's tokens, which count as often as they occur."""
        import numpy as np

        scores = np.zeros(self._size, dtype=np.float32)
        length = self._mean_length(within)
        gains = {ids: self._gains(ids, b, length, within) for ids in set(tokens)}
        for ids in tokens:
            # One after the other, as bm25s adds them, so that sums of float32 agree to the last bit.
            items, gain = gains[ids]
            scores[items] += gain
        return scores

    def grouped(self, tokens: Sequence[_Ids], group_of: "Positions", groups: int) -> "Scores":
        """BM25 (g,) of the groups to which items belong (n,), ascending, each as one long item."""
        import numpy as np

        lengths = np.bincount(group_of, self._lengths, minlength=groups)
        saturation = K1 * ((1 - B) + B * lengths / max(lengths.mean(), 1.0)) if groups else lengths
        scores = np.zeros(groups, dtype=np.float32)
        for ids, times in Counter(tokens).items():
            items, counts = self._found(ids)
            if len(items):
                # Items ascend, and so do their groups: those that have the token are few among all.
                of = group_of[items]
                first = np.flatnonzero(np.diff(of, prepend=-1))
                found, sums = of[first], np.add.reduceat(counts, first)
                gain = times * _idf(groups, len(found)) * sums / (sums + saturation[found])
                scores[found] += gain.astype(np.float32)
        return scores

    def idf(self, ids: _Ids) -> float:
        """The idf of a token; 0 for one that no item has."""
        found = [(part.starts, id) for part, id in zip(self._parts, ids, strict=True) if id is not None]
        having = sum(int(starts[id + 1]) - int(starts[id]) for starts, id in found)
        return _idf(self._size, having) if having else 0.0

    def cosines(self, tokens: Mapping[_Ids, int]) -> "Scores":
        """TF-IDF cosine (n,) of each item with a question in which each token occurs so often.

        A token weighs tf × idf with idf = ln((1 + n) / (1 + df)) + 1 for n items of which df have it, and vectors are
        compared by their cosine (Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988; the
        smoothed idf is the default of scikit-learn's TfidfVectorizer). Tokens that no item has play no part.
        """
        import numpy as np

        scores, squares = np.zeros(self._size, dtype=np.float32), 0.0
        for ids, asked in tokens.items():
            items, counts = self._found(ids)
            if len(items):
                idf = float(_smooth_idf(self._size, len(items)))
                scores[items] += np.float32(asked * idf * idf) * counts
                squares += (asked * idf) ** 2
        if squares:
            scores /= np.float32(math.sqrt(squares)) * self._norms
        return scores

    def _gains(self, ids: _Ids, b: float, mean_length: float, within: "Mask | None") -> "tuple[Positions, Scores]":
        """Positions of the items that have a token, and what it adds to their scores."""
        import numpy as np

        items, counts = self._found(ids)
        if not len(items):
            return items, np.empty(0, dtype=np.float32)
        idf = np.float32(_idf(self._size, len(items)))
        if within is not None:
            among = _idf(int(np.count_nonzero(within)), int(np.count_nonzero(within[items])))
            idf = (idf + np.float32(among)) / np.float32(2)
        if b == B and within is None:
            gains = self._saturation.take(items)
        else:
            gains = K1 * ((1 - b) + b * self._lengths.take(items).astype(np.float64) / mean_length)
        gains += counts
        np.divide(counts, gains, out=gains)
        gains *= idf
        return items, gains.astype(np.float32)

    def _mean_length(self, within: "Mask | None") -> float:
        lengths = self._lengths if within is None else self._lengths[within]
        if self._sparse:
            lengths = lengths[lengths > 0]
        return float(lengths.mean()) or 1.0 if len(lengths) else 1.0

    @cached_property
    def _lengths(self) -> "Positions":
        """(n,) how many tokens each item has."""
        import numpy as np

        return _concatenated([part.lengths for part in self._parts], np.int64)  # type: ignore[no-any-return]

    def _found(self, ids: _Ids) -> "tuple[Positions, npt.NDArray[np.float64]]":
        """Positions of the items that have a token, and how often."""
        import numpy as np

        parts = zip(self._parts, self._bases, ids, strict=False)
        found = [(base, *part.of(id)) for part, base, id in parts if id is not None]
        positions = np.empty(sum(len(items) for _, items, _ in found), dtype=np.int64)
        times = np.empty(len(positions))
        start = 0
        for base, items, counts in found:
            end = start + len(items)
            positions[start:end] = items  # in more bytes each than a small segment's own, which the base may not fit
            positions[start:end] += base
            times[start:end] = counts
            start = end
        return positions, times

    @cached_property
    def _saturation(self) -> "npt.NDArray[np.float64]":
        """(n,) k1 (1 - b + b length / mean length), which a token's count is weighed against."""
        import numpy as np

        lengths = self._lengths.astype(np.float64)
        saturation: npt.NDArray[np.float64] = K1 * ((1 - B) + B * lengths / self._mean_length(None))
        return saturation

    @cached_property
    def _norms(self) -> "Scores":
        """(n,) lengths of the TF-IDF vectors; 1 for an item without tokens, so that it can be divided by."""
        import numpy as np

        having: Counter[bytes] = Counter()
        for segment, part in zip(self._segments, self._parts, strict=True):
            for token, count in zip(segment.vocabulary(), part.having().tolist(), strict=True):
                having[token] += count
        squares = np.zeros(self._size)
        for segment, part, base in zip(self._segments, self._parts, self._bases, strict=False):
            idf = _smooth_idf(self._size, np.array([having[token] for token in segment.vocabulary()], dtype=np.int64))
            weights = part.counts * np.repeat(idf, part.having())
            # Tokens are sorted in every segment, so the terms of a sum are added in the same order in each.
            size = len(part.lengths)
            squares[base : base + size] = np.bincount(part.items, weights**2, minlength=size)
        norms: Scores = np.sqrt(np.where(squares > 0, squares, 1)).astype(np.float32)
        return norms


def _idf(items: int, having: int) -> float:
    """Lucene's idf of a token that so many of the items have."""
    return math.log(1 + (items - having + 0.5) / (having + 0.5))


def _smooth_idf(items: int, having: Any) -> Any:
    import numpy as np

    return np.log((1 + items) / (1 + having)) + 1


def _concatenated(arrays: "Iterable[npt.NDArray[Any]]", dtype: Any) -> Any:
    import numpy as np

    return np.concatenate([np.empty(0, dtype), *(array.astype(dtype, copy=False) for array in arrays)])


def current_lexical_index(collection: Collection, opened: LexicalIndex | None = None) -> LexicalIndex:
    """The index of the documents that the collection holds now; `opened` if it still is that.

    Raises CollectionError where a file of it is missing or damaged, with the command that makes it anew.
    """
    known = opened.segments if opened is not None else {}
    while True:
        paths, documents = state = collection.segments()
        if opened is not None and [path.name for path in paths] == list(known):
            return opened
        try:
            found = LexicalIndex({path.name: known.get(path.name) or read_segment(path) for path in paths})
            if found.document_count != documents:
                raise CollectionError(f"it holds {found.document_count} of {documents} documents")
        except (CollectionError, OSError) as error:
            # A segment that is gone may just have been merged with others.
            if collection.segments() == state:
                raise damaged_index(collection.root, error) from error
        else:
            return found
