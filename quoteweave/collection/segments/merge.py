"""Merges segments of the lexical index into one."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.segments.segment import (
    FIELDS,
    QUOTE_FIELDS,
    ChunkedFields,
    ChunkedPostings,
    Postings,
    Segment,
)

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

# How many postings are moved at once; each takes some twenty bytes.
MOVED_AT_ONCE = 200_000
# How many tokens of each part are merged at once; each takes some three hundred bytes, and a file may hold a million.
TOKENS_AT_ONCE = 8_000


def merge_segments(old: Sequence[Segment], without: Collection[str], new: Sequence[Segment] = ()) -> Segment:
    """One segment of the documents of `old`, except those named in `without` and their words, and of `new`.

    The postings, most of its size, are merged whenever they are asked for: while they are written, only those of some
    tokens of one field are in memory.
    """
    parts = [*(_Part(segment, without) for segment in old), *(_Part(segment, ()) for segment in new)]
    vocabulary, numbers = _merged_vocabulary(parts)
    quotes = [0, *accumulate(len(part.quotes) for part in parts)]
    pages = [0, *accumulate(int(part.page_counts.sum()) for part in parts)]
    return Segment(
        names=tuple(name for part in parts for name in part.names),
        quote_counts=np.concatenate([part.quote_counts for part in parts]),
        page_counts=np.concatenate([part.page_counts for part in parts]),
        # Converted to one type: numpy joins signed and unsigned 64-bit integers as floats, which are not exact.
        rows=np.concatenate([part.segment.rows[part.quotes].astype(np.int64) for part in parts]),
        page_of=np.concatenate([part.page_of() + base for part, base in zip(parts, pages, strict=False)]),
        is_image=np.concatenate([part.segment.is_image[part.quotes] for part in parts]),
        **vocabulary,
        fields=_MergedFields(parts, numbers, quotes, pages, len(vocabulary["token_ends"])),
    )


class _Part:
    """What remains of a segment in a merged one."""

    def __init__(self, segment: Segment, without: Collection[str]) -> None:
        self.segment = segment
        document_mask = np.array([name not in without for name in segment.names], dtype=np.bool_)
        self._keeps_all = bool(document_mask.all())
        self.names = [name for name, is_kept in zip(segment.names, document_mask, strict=True) if is_kept]
        self.quote_counts, self.page_counts = segment.quote_counts[document_mask], segment.page_counts[document_mask]
        self.quotes = np.flatnonzero(np.repeat(document_mask, segment.quote_counts))
        """Positions of the quotes that remain."""
        self._pages = np.flatnonzero(np.repeat(document_mask, segment.page_counts))

    def page_of(self) -> "Array":
        """The new position of each quote's page, within this part."""
        return np.searchsorted(self._pages, self.segment.page_of[self.quotes])

    def postings(self, field: str) -> Postings:
        """The postings of the items that remain, with their new positions; token numbers do not change."""
        postings_before = self.segment.fields[field]
        if self._keeps_all:
            return postings_before
        kept_items = self.quotes if field in QUOTE_FIELDS else self._pages
        position = np.full(len(postings_before.lengths), -1, dtype=np.int64)
        position[kept_items] = np.arange(len(kept_items))
        new_items = position[postings_before.items]
        is_kept = new_items >= 0
        before = np.concatenate([[0], np.cumsum(is_kept)])
        return Postings(
            before[postings_before.starts],
            new_items[is_kept],
            postings_before.counts[is_kept],
            postings_before.lengths[kept_items],
        )

    def used(self) -> "Array":
        """(v,) whether any remaining item has the token."""
        if self._keeps_all:
            return np.ones(len(self.segment.token_ends), dtype=np.bool_)
        is_used: Array = np.logical_or.reduce([self.postings(field).document_frequencies() > 0 for field in FIELDS])
        return is_used


@dataclass(frozen=True, slots=True)
class _MergedFields(ChunkedFields):
    """The postings of each field, merged anew each time they are asked for."""

    parts: Sequence[_Part]
    numbers: "Sequence[Array]"
    """For each part, the new number of each of its tokens, or -1."""
    quotes: Sequence[int]
    """Where the quotes of each part begin; the last number is how many there are."""
    pages: Sequence[int]
    tokens: int
    """How many tokens there are."""

    def chunks(self, field: str) -> ChunkedPostings:
        part_postings = [part.postings(field) for part in self.parts]
        bases = self.quotes if field in QUOTE_FIELDS else self.pages
        # Arrays as long as the vocabulary take most of the memory where nearly every word is new, so few are made.
        starts = np.zeros(self.tokens + 1, dtype=np.int64)
        for part, number in zip(part_postings, self.numbers, strict=True):
            is_used = number >= 0
            starts[1:][number[is_used]] += part.document_frequencies()[is_used]
        np.cumsum(starts, out=starts)
        joined = (self._joined(part_postings, starts, tokens, bases) for tokens in _blocks(starts))
        lengths = np.concatenate([part.lengths for part in part_postings])
        return ChunkedPostings(starts, joined, lengths, np.min_scalar_type(max(0, bases[-1] - 1)))

    def _joined(
        self, part_postings: Sequence[Postings], starts: "Array", tokens: range, bases: Sequence[int]
    ) -> "tuple[Array, Array]":
        """Items and counts of a range of tokens: for each token, those of the first part first, and so on."""
        begin = starts[tokens.start]
        merged_items = np.empty(int(starts[tokens.stop] - begin), dtype=np.min_scalar_type(max(0, bases[-1] - 1)))
        merged_counts = np.empty(
            len(merged_items), dtype=np.result_type(np.uint8, *(part.counts for part in part_postings))
        )
        next_positions = starts[tokens.start : tokens.stop] - begin  # where the next part's items of each token go
        for part, new_numbers, base, merge_part in zip(part_postings, self.numbers, bases, self.parts, strict=False):
            # The numbers ascend, except those of tokens that are no longer used (-1), which have no items.
            own_tokens = slice(*np.searchsorted(np.maximum.accumulate(new_numbers), [tokens.start, tokens.stop]))
            is_used = new_numbers[own_tokens] >= 0
            first, last = int(part.starts[own_tokens.start]), int(part.starts[own_tokens.stop])
            offsets = part.starts[own_tokens.start : own_tokens.stop + 1].astype(np.int64) - first
            lengths, targets = np.diff(offsets)[is_used], new_numbers[own_tokens][is_used] - tokens.start
            # The items of a token stay together: all are shifted as far as the first.
            positions = np.repeat(next_positions[targets] - offsets[:-1][is_used], lengths)
            positions += np.arange(last - first)
            merged_items[positions] = part.items[first:last].astype(np.uint32) + np.uint32(base)
            merged_counts[positions] = part.counts[first:last]
            next_positions[targets] += lengths
            merge_part.segment.release()
        return merged_items, merged_counts


def _merged_vocabulary(parts: Sequence[_Part]) -> "tuple[dict[str, Array], list[Array]]":
    """The tokens in use, as a segment has them, and for each part the new number of each of its tokens, or -1."""
    used_of_parts = [part.used() for part in parts]
    numbers = [np.full(len(part_used), -1, dtype=np.int32) for part_used in used_of_parts]
    texts: list[bytes] = []
    lengths = [np.zeros(0, dtype=np.int64)]
    count = 0
    for chunks in _chunks([part.segment for part in parts]):
        chunk_tokens = [
            [part.segment.token(i) if part_used[i] else None for i in chunk]
            for part, part_used, chunk in zip(parts, used_of_parts, chunks, strict=True)
        ]
        tokens = sorted({token for part_tokens in chunk_tokens for token in part_tokens if token is not None})
        number = {token: i for i, token in enumerate(tokens, count)}
        for numbers_of_part, chunk, part_tokens in zip(numbers, chunks, chunk_tokens, strict=True):
            numbers_of_part[chunk.start : chunk.stop] = [
                -1 if token is None else number[token] for token in part_tokens
            ]
        texts.append(b"".join(tokens))
        lengths.append(np.array([len(token) for token in tokens], dtype=np.int64))
        count += len(tokens)
    joined = np.frombuffer(b"".join(texts), dtype=np.uint8)
    return {"tokens": joined, "token_ends": np.cumsum(np.concatenate(lengths))}, numbers


def _chunks(segments: Sequence[Segment]) -> Iterator[list[range]]:
    """Ranges of the tokens of all segments: in each step, up to the same token in every segment."""
    counts = [len(segment.token_ends) for segment in segments]
    starts = [0] * len(segments)
    while starts != counts:
        lasts = [start + TOKENS_AT_ONCE for start in starts]
        ahead = zip(segments, lasts, counts, strict=True)
        limit = min((segment.token(last) for segment, last, count in ahead if last < count), default=None)
        stops = (
            counts
            if limit is None
            else [
                bisect_right(range(count), limit, start, key=segment.token)
                for segment, start, count in zip(segments, starts, counts, strict=True)
            ]
        )
        yield [range(start, stop) for start, stop in zip(starts, stops, strict=True)]
        starts = list(stops)


def _blocks(starts: "Array") -> "Iterator[range]":
    """Ranges of tokens whose items are moved at once; `starts` says where the items of each token begin."""
    first = 0
    while first < len(starts) - 1:
        last_fitting = int(np.searchsorted(starts, starts[first] + MOVED_AT_ONCE, side="right")) - 1
        last = max(first + 1, last_fitting)
        yield range(first, last)
        first = last
