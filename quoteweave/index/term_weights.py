"""Scores of items for words, from the postings of one field: BM25 and TF-IDF over all segments of an index."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from quoteweave.collection.segments.segment import Segment

if TYPE_CHECKING:
    import numpy as np
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


class Groups(NamedTuple):
    """Groups of a field's items, such as the documents of pages."""

    of: "Positions"
    """(n,) the group of each item, ascending."""
    saturation: "npt.NDArray[np.float64]"
    """(g,) k1 (1 - b + b length / mean length) of each group."""


class Field:
    """The postings of one field in all segments, with the statistics over them."""

    def __init__(self, segments: Sequence[Segment], name: str) -> None:
        import numpy as np

        self._segments = segments
        self._parts = parts = [segment.fields[name] for segment in segments]
        self._bases = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
        self._size: int = self._bases[-1]
        # Most pages stand under no heading; these must not lower the mean length of headings.
        self._sparse = name == "outline"
        self._saturation = lru_cache(maxsize=2)(self._saturation_of)
        self._tokens_within = lru_cache(maxsize=64)(self._count_tokens)
        self._places = lru_cache(maxsize=16)(self._places_of)  # of all quotes, then of those of the best documents

    def items_with(self, ids: Ids) -> "Positions":
        """Positions of the items that have a token."""
        return self._found(ids)[0]

    def distinct_tokens(self, within: "Mask | None", most: int) -> int:
        """How many different tokens the items, `within` (n,) or all, have; `most` where there are more."""
        import numpy as np

        return self._tokens_within(None if within is None else np.packbits(within).tobytes(), most)

    def _count_tokens(self, packed: bytes | None, most: int) -> int:
        import numpy as np

        within, found = None, set[bytes]()
        if packed is not None:
            within = np.unpackbits(np.frombuffer(packed, np.uint8), count=self._size).view(np.bool_)
        for segment, part, base in zip(self._segments, self._parts, self._bases, strict=False):
            (numbers,) = part.document_frequencies().nonzero()
            if within is not None:
                kept = within[base : base + len(part.lengths)]
                if not kept.any():
                    continue
                numbers = numbers[np.logical_or.reduceat(kept[part.items], part.starts[numbers])]
            if len(numbers) >= most:
                return most
            found.update(map(segment.token, numbers.tolist()))
        return min(len(found), most)

    def lengths(self, positions: "Positions") -> "Positions":
        """How many tokens each of these items has."""
        return self._lengths[positions]

    def bm25(self, tokens: Sequence[Ids], b: float, within: "Mask | None") -> "Scores":
        """Scores (n,) of all items for a question's tokens, each counted as often as the question has it."""
        import numpy as np

        scores = np.zeros(self._size, dtype=np.float32)
        if not tokens or not self._parts:
            return scores
        first, frequencies = self._places(tuple(tokens))
        if not frequencies.any():
            return scores
        length = None if within is None else self._mean_length(within)
        for batch in _batches(frequencies.sum(axis=0)):
            found = [
                self._found_of_each(part, first[part, batch], frequencies[part, batch])
                for part in range(len(self._parts))
            ]
            weights = self._idf_of_each(frequencies[:, batch], [positions for positions, _ in found], within)
            for (positions, counts), each in zip(found, frequencies[:, batch], strict=True):
                if length is None:
                    gains = self._saturation(b).take(positions)
                else:
                    gains = K1 * ((1 - b) + b * self._lengths.take(positions).astype(np.float64) / length)
                gains += counts
                np.divide(counts, gains, out=gains)
                gains *= weights.repeat(each)
                # Tokens are added one after the other, as bm25s does, so that float32 sums agree to the last bit.
                np.add.at(scores, positions, gains.astype(np.float32))
        return scores

    def bm25_of_ranges(
        self, tokens: Sequence[Ids], b: float, starts: "Positions", stops: "Positions"
    ) -> "tuple[Positions, Scores]":
        """Positions of the items of each range, and scores of each as `bm25` gives them for that range alone.

        Ranges ascend without overlaps, and may be empty.
        """
        import numpy as np

        items, sizes = positions_between(starts, stops), stops - starts
        scores, asked = np.zeros(len(items), dtype=np.float32), Counter(tokens)
        if not any(map(self.count, asked)):
            return items, scores
        moved = sizes.cumsum() - stops  # added to an item's position, gives its index in `items`
        lengths = self._lengths[items].astype(np.float64)
        of = np.arange(len(sizes)).repeat(sizes)
        counted = np.bincount(of, lengths > 0, len(sizes)) if self._sparse else sizes
        mean = np.bincount(of, lengths, len(sizes)) / np.maximum(counted, 1)
        saturation = K1 * ((1 - b) + b * lengths / np.where(mean > 0, mean, 1)[of])
        first, frequencies = self._places(tuple(asked))
        rarity = np.array([[inverse_frequency(self._size, each)] for each in frequencies.sum(axis=0).tolist()])
        half = np.array([[times / 2] for times in asked.values()])
        apart = np.arange(len(asked))[:, None] * (self._size + 1)  # so that the items of all tokens ascend
        for part, each in enumerate(frequencies):
            if starts[-1] < self._bases[part] or stops[0] > self._bases[part + 1] or not each.any():
                continue
            positions, counts = self._found_of_each(part, first[part], each)
            keys = positions + apart[:, 0].repeat(each)
            begin, end = keys.searchsorted(starts + apart), keys.searchsorted(stops + apart)  # (t, r)
            having = end - begin
            among = np.log(1 + (sizes - having + 0.5) / (having + 0.5))
            each_having, found = having.ravel(), positions_between(begin.ravel(), end.ravel())
            own = positions[found] + np.broadcast_to(moved, having.shape).ravel().repeat(each_having)
            idf, often = (half * (rarity + among)).ravel().repeat(each_having), counts[found]
            np.add.at(scores, own, (idf * often / (often + saturation[own])).astype(np.float32))
        return items, scores

    def grouped(self, tokens: Sequence[Ids], groups: "Groups") -> "Scores":
        """BM25 (g,) of the groups to which items belong, each as one long item."""
        import numpy as np

        scores, asked = np.zeros(len(groups.saturation), dtype=np.float32), Counter(tokens)
        items_and_counts = [self._found(ids) for ids in asked]
        sizes = [len(items) for items, _ in items_and_counts]
        if not any(sizes):
            return scores
        items, counts = map(np.concatenate, zip(*items_and_counts, strict=True))
        token, of = np.arange(len(asked)).repeat(sizes), groups.of[items]
        begins = np.flatnonzero(differs_from_last(of) | differs_from_last(token))
        token, of, sums = token[begins], of[begins], np.add.reduceat(counts, begins, dtype=np.float64)
        having = zip(asked.values(), np.bincount(token, minlength=len(asked)).tolist(), strict=True)
        weights = np.array([times * inverse_frequency(len(scores), each) for times, each in having])
        np.add.at(scores, of, (weights[token] * sums / (sums + groups.saturation[of])).astype(np.float32))
        return scores

    def groups(self, of: "Positions", count: int) -> "Groups":
        """The groups (g,) to which items belong (n,), ascending, for `grouped`."""
        import numpy as np

        lengths = np.bincount(of, self._lengths, minlength=count).astype(np.float64)
        mean = max(lengths.mean(), 1.0) if count else 1.0
        return Groups(of, K1 * ((1 - B) + B * lengths / mean))

    def count(self, ids: Ids) -> int:
        """How many items have a token."""
        found = [(part.starts, id) for part, id in zip(self._parts, ids, strict=True) if id is not None]
        return sum(int(starts[id + 1]) - int(starts[id]) for starts, id in found)

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
        import numpy as np

        scores, squares = np.zeros(self._size, dtype=np.float32), 0.0
        for ids, asked in tokens.items():
            items, counts = self._found(ids)
            if len(items):
                idf = float(_smooth_idf(self._size, len(items)))
                scores[items] += np.float32(asked * idf * idf) * counts.astype(np.float64)
                squares += (asked * idf) ** 2
        if squares:
            scores /= np.float32(math.sqrt(squares)) * self._norms
        return scores

    def _places_of(self, tokens: tuple[Ids, ...]) -> "tuple[Positions, Positions]":
        """Where the postings of each token begin in each segment (s, t), and how many there are."""
        import numpy as np

        numbers = np.array([[-1 if id is None else id for id in ids] for ids in tokens], dtype=np.int64).T
        parts = list(zip(self._parts, numbers, strict=True))
        first = np.array([part.starts[each] for part, each in parts], dtype=np.int64)
        last = np.array([part.starts[each + 1] for part, each in parts], dtype=np.int64)
        return first, np.where(numbers >= 0, last - first, 0)

    def _found_of_each(self, part: int, first: "Positions", frequencies: "Positions") -> "tuple[Positions, Any]":
        """Positions of the items of a segment that have each token, token by token, and how often."""
        import numpy as np

        postings, spans = self._parts[part], list(map(slice, first.tolist(), (first + frequencies).tolist()))
        positions = np.concatenate([postings.items[span] for span in spans], dtype=np.int64)
        positions += self._bases[part]
        return positions, np.concatenate([postings.counts[span] for span in spans])

    def _idf_of_each(self, frequencies: "Positions", found: "Sequence[Positions]", within: "Mask | None") -> "Scores":
        """(t,) the idf of each token; `frequencies` (s, t) count the items with it, `found` has their positions."""
        import numpy as np

        idf = partial(inverse_frequency, self._size)
        weights = np.array([idf(count) for count in frequencies.sum(axis=0).tolist()], dtype=np.float32)
        if within is None:
            return weights
        idf, counts = partial(inverse_frequency, int(np.count_nonzero(within))), np.zeros(len(weights))
        for positions, each in zip(found, frequencies, strict=True):
            counts += np.bincount(np.arange(len(each)).repeat(each), within[positions], len(each))
        among = np.array([idf(int(count)) for count in counts.tolist()], dtype=np.float32)
        return (weights + among) / np.float32(2)

    def _mean_length(self, within: "Mask | None") -> float:
        lengths = self._lengths if within is None else self._lengths[within]
        if self._sparse:
            lengths = lengths[lengths > 0]
        return float(lengths.mean()) or 1.0 if len(lengths) else 1.0

    @cached_property
    def _lengths(self) -> "Positions":
        """(n,) how many tokens each item has."""
        import numpy as np

        return concatenated([part.lengths for part in self._parts], np.int64)  # type: ignore[no-any-return]

    def _found(self, ids: Ids) -> "tuple[Positions, npt.NDArray[Any]]":
        """Positions of the items that have a token, and how often."""
        import numpy as np

        parts = zip(self._parts, self._bases, ids, strict=False)
        found = [(base, *part.of(id)) for part, base, id in parts if id is not None]
        if not found:
            return np.empty(0, dtype=np.int64), np.empty(0)
        # A small segment's positions have fewer bytes, into which the base might not fit.
        positions, end = np.concatenate([items for _, items, _ in found], dtype=np.int64), 0
        for base, items, _ in found:
            positions[end : (end := end + len(items))] += base
        return positions, np.concatenate([counts for _, _, counts in found])

    def _saturation_of(self, b: float) -> "npt.NDArray[np.float64]":
        """(n,) k1 (1 - b + b length / mean length), which a token's count is weighed against."""
        import numpy as np

        saturation: npt.NDArray[np.float64] = K1 * (
            (1 - b) + b * self._lengths.astype(np.float64) / self._mean_length(None)
        )
        return saturation

    @cached_property
    def _norms(self) -> "Scores":
        """(n,) lengths of the TF-IDF vectors; 1 for an item without tokens, so that it can be divided by."""
        import numpy as np

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


def _batches(frequencies: "Positions") -> Iterator[slice]:
    """Split tokens, with the given numbers of items each, into groups with about `POSTINGS_AT_ONCE` postings."""
    import numpy as np

    if frequencies.sum() < POSTINGS_AT_ONCE:
        yield slice(0, len(frequencies))
        return
    ends = [*(np.flatnonzero(np.diff(frequencies.cumsum() // POSTINGS_AT_ONCE)) + 1).tolist(), len(frequencies)]
    yield from (slice(*each) for each in pairwise([0, *ends]))


def positions_between(starts: "Positions", stops: "Positions") -> "Positions":
    """The positions from each start to its stop, one range after the other."""
    import numpy as np

    sizes = stops - starts
    positions: Positions = np.arange(sizes.sum()) + (stops - sizes.cumsum()).repeat(sizes)
    return positions


def distinct(positions: "Positions") -> "Positions":
    """The positions, ascending, each once: as `np.unique`, which takes 30 ms to import `numpy.ma` when first called."""
    import numpy as np

    ordered = np.sort(positions)
    found: Positions = ordered[differs_from_last(ordered)]
    return found


def differs_from_last(values: "npt.NDArray[Any]") -> "Mask":
    """(n,) whether each value is another than the one before it; True for the first. `np.diff` takes twice the time."""
    import numpy as np

    differs = np.ones(len(values), dtype=np.bool_)
    np.not_equal(values[1:], values[:-1], out=differs[1:])
    return differs


def inverse_frequency(items: int, frequency: int) -> float:
    """Lucene's idf of a token that the given number of items have."""
    return math.log(1 + (items - frequency + 0.5) / (frequency + 0.5))


def _smooth_idf(items: int, frequencies: Any) -> Any:
    import numpy as np

    return np.log((1 + items) / (1 + frequencies)) + 1


def concatenated(arrays: "Iterable[npt.NDArray[Any]]", dtype: Any) -> Any:
    """Return arrays one after the other, as numbers of one kind; an empty array for none."""
    import numpy as np

    return np.concatenate([np.empty(0, dtype), *(array.astype(dtype, copy=False) for array in arrays)])
