"""Merges segments of the lexical index into one."""

from collections.abc import Collection, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from quoteweave.collection.segments.segment import FIELDS, OF_QUOTES, Postings, Segment, narrow, vocabulary_arrays

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, np.dtype[Any]]

# Postings that are moved at once, which takes some twenty bytes for each.
MOVED_AT_ONCE = 1_000_000


def merge_segments(old: Sequence[Segment], without: Collection[str], new: Sequence[Segment] = ()) -> Segment:
    """One segment of the documents of `old` but those named in `without`, whose words go too, and of `new`."""
    import numpy as np

    parts = [*(_Part(segment, without) for segment in old), *(_Part(segment, ()) for segment in new)]
    used = [part.used_tokens() for part in parts]
    vocabulary = sorted(set().union(*used))
    number = {token: i for i, token in enumerate(vocabulary)}
    numbers = [
        np.array([number.get(token, -1) for token in part.segment.vocabulary()], dtype=np.int64) for part in parts
    ]
    del used, number  # as large as all else that is needed
    quotes = [0, *accumulate(len(part.quotes) for part in parts)]
    pages = [0, *accumulate(int(part.page_counts.sum()) for part in parts)]
    return Segment(
        names=tuple(name for part in parts for name in part.names),
        quote_counts=np.concatenate([part.quote_counts for part in parts]),
        page_counts=np.concatenate([part.page_counts for part in parts]),
        # In one kind of number: numpy joins 64 bits with and without a sign as floats, which round.
        rows=np.concatenate([part.segment.rows[part.quotes].astype(np.int64) for part in parts]),
        page_of=np.concatenate([part.page_of() + base for part, base in zip(parts, pages, strict=False)]),
        is_image=np.concatenate([part.segment.is_image[part.quotes] for part in parts]),
        continued=np.concatenate([part.segment.continued[part.quotes] for part in parts]),
        **vocabulary_arrays(vocabulary),
        fields={
            field: _joined(
                [part.postings(field) for part in parts],
                numbers,
                bases=quotes if field in OF_QUOTES else pages,
                size=len(vocabulary),
            )
            for field in FIELDS
        },
    )


class _Part:
    """The part of a segment that goes into a merged one."""

    def __init__(self, segment: Segment, without: Collection[str]) -> None:
        import numpy as np

        self.segment = segment
        keep = np.array([name not in without for name in segment.names], dtype=np.bool_)
        self._all = bool(keep.all())
        self.names = [name for name, kept in zip(segment.names, keep, strict=True) if kept]
        self.quote_counts, self.page_counts = segment.quote_counts[keep], segment.page_counts[keep]
        self.quotes = np.flatnonzero(np.repeat(keep, segment.quote_counts))
        """Positions of the quotes that stay."""
        self._pages = np.flatnonzero(np.repeat(keep, segment.page_counts))

    def page_of(self) -> "Array":
        """The new position of each quote's page, within this part."""
        import numpy as np

        return np.searchsorted(self._pages, self.segment.page_of[self.quotes])

    def postings(self, field: str) -> Postings:
        """Those of the items that stay, in their new positions; tokens keep their numbers."""
        import numpy as np

        found = self.segment.fields[field]
        if self._all:
            return found
        staying = self.quotes if field in OF_QUOTES else self._pages
        position = np.full(len(found.lengths), -1, dtype=np.int64)
        position[staying] = np.arange(len(staying))
        items = position[found.items]
        kept = items >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        return Postings(before[found.starts], items[kept], found.counts[kept], found.lengths[staying])

    def used_tokens(self) -> list[bytes]:
        """Tokens that an item which stays has."""
        vocabulary = self.segment.vocabulary()
        if self._all:
            return vocabulary
        starts = [self.postings(field).starts for field in FIELDS]
        return [token for i, token in enumerate(vocabulary) if any(each[i] < each[i + 1] for each in starts)]


def _joined(parts: Sequence[Postings], numbers: "Sequence[Array]", *, bases: Sequence[int], size: int) -> Postings:
    """Postings over a common vocabulary of that size: of each token first those of the first part, and so on.

    `numbers` say for each part which number each of its tokens has in that vocabulary, and `bases` where its items
    begin.
    """
    import numpy as np

    having = [part.having() for part in parts]
    counts = [np.zeros(size, dtype=np.int64) for _ in parts]
    for count, number, lengths in zip(counts, numbers, having, strict=True):
        used = number >= 0
        count[number[used]] = lengths[used]
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(sum(counts, np.zeros(size, dtype=np.int64)), out=starts[1:])
    # As few bytes as will do: what is merged may be the words of a whole collection.
    whole = np.int32 if starts[-1] < np.iinfo(np.int32).max else np.int64
    items = np.empty(int(starts[-1]), dtype=np.uint32)
    times = np.empty(len(items), dtype=np.result_type(np.uint8, *(part.counts for part in parts)))
    taken = starts[:-1].copy()  # where the next part of each token's items goes
    for part, number, lengths, count, base in zip(parts, numbers, having, counts, bases, strict=False):
        # A token's items move together: each goes as far as the first of them.
        used = number >= 0
        moves = (taken[number[used]] - part.starts[:-1][used]).astype(whole)
        for tokens, old in _blocks(lengths[used]):
            places = np.repeat(moves[tokens], lengths[used][tokens])
            places += np.arange(old.start, old.stop, dtype=whole)
            items[places] = part.items[old].astype(np.uint32) + np.uint32(base)
            times[places] = part.counts[old]
        taken += count
    return Postings(starts, narrow(items), times, np.concatenate([part.lengths for part in parts]))


def _blocks(lengths: "Array") -> Iterator[tuple[slice, slice]]:
    """Stretches of tokens whose items are moved at once, and where those lie; `lengths` counts the items of each."""
    import numpy as np

    before = np.concatenate([[0], np.cumsum(lengths)])
    first = 0
    while first < len(lengths):
        found = int(np.searchsorted(before, before[first] + MOVED_AT_ONCE, side="right")) - 1
        last = max(first + 1, found)
        yield slice(first, last), slice(int(before[first]), int(before[last]))
        first = last
