"""Scores of items for words, from the postings of one field: BM25 and TF-IDF over all segments of an index."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from quoteweave.collection.arrays import np
from quoteweave.collection.segments.segment import Segment

if TYPE_CHECKING:
    import numpy.typing as npt

    Scores = npt.NDArray[np.float32]
    Positions = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]

# Lucene's BM25 (Kamphuis et al., "Which BM25 do you mean?", ECIR 2020), with the parameters that bm25s has by default.
K1, B = 1.5, 0.75
# Postings that are scored in one go, in a few megabytes.
POSTINGS_AT_ONCE = 1 << 17

Ids = tuple[int | None, ...]
"""The number of a token in each segment; None where the segment lacks it."""


class Occurrences(NamedTuple):
    """Which items of a field have some tokens: segment by segment, and in each token by token."""

    items: "Positions"
    """(p,) positions of items."""
    counts: "npt.NDArray[Any]"
    """(p,) how often the item has the token."""
    sizes: "Positions"
    """(s, t) how many items of each segment have each token."""

    @property
    def frequencies(self) -> "Positions":
        """(t,) how many items have each token."""
        frequencies: Positions = self.sizes.sum(axis=0)
        return frequencies

    def of_items(self, is_wanted: "Mask") -> "tuple[Positions, npt.NDArray[Any], Positions]":
        """Items of those that are wanted, `is_wanted` (n,), with counts, and which of the t tokens each has."""
        wanted_places = is_wanted[self.items].nonzero()[0]
        tokens = self.sizes.cumsum().searchsorted(wanted_places, "right") % self.sizes.shape[1]
        return self.items[wanted_places], self.counts[wanted_places], tokens


class Field:
    """The postings of one field in all segments, with the statistics over them."""

    def __init__(self, segments: Sequence[Segment], name: str, document_of: "Positions", documents: int) -> None:
        """`document_of` (n,) is the document, of so many `documents`, of each item, ascending."""
        self._segments, self._document_of, self._documents = segments, document_of, documents
        self._parts = parts = [segment.fields[name] for segment in segments]
        self._bases = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
        self._size: int = self._bases[-1]
        # Most pages stand under no heading; these must not lower the mean length of headings.
        self._sparse = name == "outline"
        self._saturation = lru_cache(maxsize=2)(self._saturation_of)
        self._tokens_within = lru_cache(maxsize=64)(self._count_tokens)
        self._saturation_in_document = lru_cache(maxsize=2)(self._find_saturation_in_document)
        # A question's words are scored among all items, then in the best documents.
        self._occurrences = lru_cache(maxsize=2)(self._find_occurrences)

    def items_with(self, ids: Ids) -> "Positions":
        """Positions of the items that have a token."""
        return self._find_occurrences((ids,)).items

    def distinct_tokens(self, within: "Mask | None", most: int) -> int:
        """How many different tokens the items, `within` (n,) or all, have; `most` where there are more."""
        return self._tokens_within(None if within is None else np.packbits(within).tobytes(), most)

    def _count_tokens(self, packed: bytes | None, most: int) -> int:
        within, distinct_tokens = None, set[bytes]()
        if packed is not None:
            within = np.unpackbits(np.frombuffer(packed, np.uint8), count=self._size).view(np.bool_)
        for segment, part, base in zip(self._segments, self._parts, self._bases, strict=False):
            (numbers,) = part.document_frequencies().nonzero()
            if within is not None:
                is_within = within[base : base + len(part.lengths)]
                if not is_within.any():
                    continue
                numbers = numbers[np.logical_or.reduceat(is_within[part.items], part.starts[numbers])]
            if len(numbers) >= most:
                return most
            distinct_tokens.update(map(segment.token, numbers.tolist()))
        return min(len(distinct_tokens), most)

    def lengths(self, positions: "Positions") -> "Positions":
        """How many tokens each of these items has."""
        return self._lengths[positions]

    def bm25(self, tokens: Sequence[Ids], b: float, within: "Mask | None") -> "Scores":
        """Scores (n,) of the items `within`, or all, for a question's tokens, each as often as the question has it."""
        scores, occurrences = np.zeros(self._size, dtype=np.float32), self._occurrences(tuple(tokens))
        if not len(occurrences.items):
            return scores
        items, counts, _ = occurrences
        weights = _idf(self._size, occurrences.frequencies)
        if within is None:
            weights = np.tile(weights, len(self._parts)).repeat(occurrences.sizes.ravel())
        else:
            items, counts, token = occurrences.of_items(within)
            among = _idf(int(np.count_nonzero(within)), np.bincount(token, minlength=len(weights)))
            weights, length = ((weights + among) / np.float32(2))[token], self._mean_length(within)
        for start in range(0, len(items), POSTINGS_AT_ONCE):
            chunk = slice(start, start + POSTINGS_AT_ONCE)
            if within is None:
                gains = self._saturation(b).take(items[chunk])
            else:
                gains = K1 * ((1 - b) + b * self._lengths.take(items[chunk]).astype(np.float64) / length)
            gains += counts[chunk]
            np.divide(counts[chunk], gains, out=gains)
            gains *= weights[chunk]
            # Tokens are added one after the other, as bm25s does, so that float32 sums agree to the last bit.
            np.add.at(scores, items[chunk], gains.astype(np.float32))
        return scores

    def bm25_in_documents(
        self, tokens: Sequence[Ids], b: float, documents: "Sequence[int] | Positions"
    ) -> "tuple[Positions, Scores]":
        """Positions of the items of documents, and scores of each as `bm25` gives them for its document alone.

        The positions of the documents ascend.
        """
        document_of = self._document_of
        searched = positions_between(*(document_of.searchsorted(documents, side) for side in ("left", "right")))
        query_counts, scores = Counter(tokens), np.zeros(self._size, dtype=np.float32)
        occurrences, (sizes, saturation) = self._occurrences(tuple(query_counts)), self._saturation_in_document(b)
        if not len(occurrences.items):
            return searched, scores[searched]
        is_searched = np.zeros(self._size, dtype=np.bool_)
        is_searched[searched] = True
        items, counts, token = occurrences.of_items(is_searched)
        document_index, shape = np.searchsorted(documents, document_of[items]), (len(query_counts), len(documents))
        frequencies = np.bincount(token * shape[1] + document_index, minlength=shape[0] * shape[1]).reshape(shape)
        among = np.log(1 + (sizes[documents] - frequencies + 0.5) / (frequencies + 0.5))
        rarity = np.array(
            [[inverse_frequency(self._size, frequency)] for frequency in occurrences.frequencies.tolist()]
        )
        idf = np.array([[times / 2] for times in query_counts.values()]) * (rarity + among)
        np.add.at(
            scores, items, (idf[token, document_index] * counts / (counts + saturation[items])).astype(np.float32)
        )
        return searched, scores[searched]

    def bm25_of_documents(self, tokens: Sequence[Ids]) -> "Scores":
        """BM25 (d,) of the documents, each as one long item."""
        scores, query_counts = np.zeros(self._documents, dtype=np.float32), Counter(tokens)
        items, counts, sizes = self._occurrences(tuple(query_counts))
        if not len(items):
            return scores
        token, document = (
            np.tile(np.arange(len(query_counts)), len(sizes)).repeat(sizes.ravel()),
            self._document_of[items],
        )
        begins = np.flatnonzero(differs_from_last(document) | differs_from_last(token))
        token, document, sums = token[begins], document[begins], np.add.reduceat(counts, begins, dtype=np.float64)
        times_and_frequencies = zip(
            query_counts.values(), np.bincount(token, minlength=len(query_counts)).tolist(), strict=True
        )
        weights = np.array(
            [times * inverse_frequency(len(scores), frequency) for times, frequency in times_and_frequencies]
        )
        np.add.at(
            scores, document, (weights[token] * sums / (sums + self._document_saturation[document])).astype(np.float32)
        )
        return scores

    def count(self, ids: Ids) -> int:
        """How many items have a token."""
        starts_and_ids = [(part.starts, id) for part, id in zip(self._parts, ids, strict=True) if id is not None]
        return sum(int(starts[id + 1]) - int(starts[id]) for starts, id in starts_and_ids)

    def idf(self, ids: Ids) -> float:
        """The idf of a token; 0 for one that no item has."""
        frequency = self.count(ids)
        return inverse_frequency(self._size, frequency) if frequency else 0.0

    def cosines(self, tokens: Mapping[Ids, int]) -> "Scores":
        """TF-IDF cosine (n,) of each item with a question in which each token occurs so often.

        A token weighs tf × idf with idf = ln((1 + n) / (1 + df)) + 1 for n items of which df have it, and vectors are
        compared by their cosine (Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988; the
        smoothed idf is the default of scikit-learn's TfidfVectorizer). Tokens that no item has play no part.
        """
        scores, squares = np.zeros(self._size, dtype=np.float32), 0.0
        for ids, times in tokens.items():
            items, counts, _ = self._find_occurrences((ids,))
            if len(items):
                idf = float(_smooth_idf(self._size, len(items)))
                scores[items] += np.float32(times * idf * idf) * counts.astype(np.float64)
                squares += (times * idf) ** 2
        if squares:
            scores /= np.float32(math.sqrt(squares)) * self._norms
        return scores

    def _find_occurrences(self, tokens: tuple[Ids, ...]) -> Occurrences:
        none = np.empty(0, dtype=np.uint8)
        postings, sizes, end = [(none, none)], list[list[int]](), 0
        for part, ids in zip(self._parts, zip(*tokens, strict=True), strict=False):
            postings += (segment_postings := [(none, none) if id is None else part.of(id) for id in ids])
            sizes.append([len(items) for items, _ in segment_postings])
        # A small segment's positions have fewer bytes, into which the base might not fit.
        items, counts = np.concatenate([part for part, _ in postings], dtype=np.int64), [part for _, part in postings]
        for base, segment_sizes in zip(self._bases, sizes, strict=False):
            items[end : (end := end + sum(segment_sizes))] += base
        shape = len(self._parts), len(tokens)
        return Occurrences(items, np.concatenate(counts), np.array(sizes, dtype=np.int64).reshape(shape))

    def _mean_length(self, within: "Mask | None") -> float:
        lengths = self._lengths if within is None else self._lengths[within]
        if self._sparse:
            lengths = lengths[lengths > 0]
        return float(lengths.mean()) or 1.0 if len(lengths) else 1.0

    @cached_property
    def _lengths(self) -> "Positions":
        """(n,) how many tokens each item has."""
        return concatenated([part.lengths for part in self._parts], np.int64)  # type: ignore[no-any-return]

    def _saturation_of(self, b: float) -> "npt.NDArray[np.float64]":
        """(n,) k1 (1 - b + b length / mean length), which a token's count is weighed against."""
        saturation: npt.NDArray[np.float64] = K1 * (
            (1 - b) + b * self._lengths.astype(np.float64) / self._mean_length(None)
        )
        return saturation

    def _find_saturation_in_document(self, b: float) -> "tuple[Positions, npt.NDArray[np.float64]]":
        """(d,) how many items each document has, and (n,) what `_saturation_of` gives in each item's document alone."""
        document_of, lengths = self._document_of, self._lengths.astype(np.float64)
        sizes = np.bincount(document_of, minlength=self._documents)
        counted = np.bincount(document_of, lengths > 0, self._documents) if self._sparse else sizes
        mean = np.bincount(document_of, lengths, self._documents) / np.maximum(counted, 1)
        return sizes, K1 * ((1 - b) + b * lengths / np.where(mean > 0, mean, 1)[document_of])

    @cached_property
    def _document_saturation(self) -> "npt.NDArray[np.float64]":
        """(d,) what `_saturation_of` gives for documents."""
        lengths = np.bincount(self._document_of, self._lengths, self._documents).astype(np.float64)
        mean = max(lengths.mean(), 1.0) if self._documents else 1.0
        saturation: npt.NDArray[np.float64] = K1 * ((1 - B) + B * lengths / mean)
        return saturation

    @cached_property
    def _norms(self) -> "Scores":
        """(n,) lengths of the TF-IDF vectors; 1 for an item without tokens, so that it can be divided by."""
        frequencies: Counter[bytes] = Counter()
        for segment, part in zip(self._segments, self._parts, strict=True):
            for token, count in zip(segment.vocabulary(), part.document_frequencies().tolist(), strict=True):
                frequencies[token] += count
        squares = np.zeros(self._size)
        for segment, part, base in zip(self._segments, self._parts, self._bases, strict=False):
            idf = _smooth_idf(
                self._size, np.array([frequencies[token] for token in segment.vocabulary()], dtype=np.int64)
            )
            weights = part.counts * np.repeat(idf, part.document_frequencies())
            # Tokens are sorted in every segment, so each sum adds its terms in the same order, whatever the segments.
            size = len(part.lengths)
            squares[base : base + size] = np.bincount(part.items, weights**2, minlength=size)
        norms: Scores = np.sqrt(np.where(squares > 0, squares, 1)).astype(np.float32)
        return norms


def _idf(item_count: int, frequencies: "Positions") -> "Scores":
    """(t,) the idf of each token."""
    return np.array([inverse_frequency(item_count, frequency) for frequency in frequencies.tolist()], dtype=np.float32)


def positions_between(starts: "Positions", stops: "Positions") -> "Positions":
    """The positions from each start to its stop, one range after the other."""
    sizes = stops - starts
    positions: Positions = np.arange(sizes.sum()) + (stops - sizes.cumsum()).repeat(sizes)
    return positions


def distinct(positions: "Positions") -> "Positions":
    """The positions, ascending, each once: as `np.unique`, which takes 30 ms to import `numpy.ma` when first called."""
    ordered = np.sort(positions)
    distinct_positions: Positions = ordered[differs_from_last(ordered)]
    return distinct_positions


def differs_from_last(values: "npt.NDArray[Any]") -> "Mask":
    """(n,) whether each value is another than the one before it; True for the first. `np.diff` takes twice the time."""
    differs = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def inverse_frequency(item_count: int, frequency: int) -> float:
    """Lucene's idf of a token that the given number of items have."""
    return math.log(1 + (item_count - frequency + 0.5) / (frequency + 0.5))


def _smooth_idf(item_count: int, frequencies: Any) -> Any:
    return np.log((1 + item_count) / (1 + frequencies)) + 1


def concatenated(arrays: "Iterable[npt.NDArray[Any]]", dtype: Any) -> Any:
    """Return arrays one after the other, as numbers of one kind; an empty array for none."""
    return np.concatenate([np.empty(0, dtype), *(array.astype(dtype, copy=False) for array in arrays)])
