"""Segments of the lexical index: immutable files, each of which says where the words of some documents occur.

A segment is written once, together with the transaction that stores its documents, and never changed. When documents
are added, it is merged with segments that are not much larger; when one is removed, it is written again without that
document's words. Scores are not stored but computed from counts (`index.lexical`), with statistics over all segments,
so that they do not depend on the order in which documents were added, nor on how many at once.

A file is named by the xxh3-128 of its bytes, which is verified when the file is opened. It holds arrays in numpy's own
format, one after the other, each beginning at a multiple of 64 bytes, so that they can be used without copying.
"""

import json
import mmap
import re
from abc import abstractmethod
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import accumulate, pairwise, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.collection.storage_errors import guard_writing
from quoteweave.collection.stores.content import atomic_write
from quoteweave.core.errors import CollectionError
from quoteweave.core.files.whole_files import remove_path

if TYPE_CHECKING:
    Array = np.ndarray[Any, np.dtype[Any]]

SUFFIX = ".seg"
_UNNAMED = f"unnamed{SUFFIX}"  # while its bytes are not all known, a file has this name
FIELDS = ("quotes", "pages", "outline", "references")
"""What is counted: words of each quote, words of each page, words of the outline's headings to which the page belongs,
and the names with which people refer to the page and what is on it."""
QUOTE_FIELDS = frozenset({"quotes"})
# In the length of a page, a number counts as a quarter of a word: a table of numbers does not make a page a long text.
NUMBERS_PER_WORD = {"pages": 4}
_ALIGNMENT = 64
_TOKEN_STEP = (
    16  # one in so many tokens is also kept in a list, so that a token is found quickly while most stay in the file
)
_READ_AT_ONCE = 2**18
# The header that numpy writes for a one-dimensional array. numpy's own reader parses it as Python code, which may fail
# when several threads do so at once (SystemError: AST constructor recursion depth mismatch, CPython 3.11).
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '([|<>=]?\w+)', 'fortran_order': False, 'shape': \((\d+),\), \} *\n", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Postings:
    """Which items of one field have each token, and how often. Items are quotes or pages, by their position."""

    starts: "Array"
    """(v + 1,) where the items of each token begin; the last number is p."""
    items: "Array"
    """(p,) positions of items, ascending within a token."""
    counts: "Array"
    """(p,) how often the item has the token."""
    lengths: "Array"
    """(n,) how many tokens each item has, repeats counted; several numbers may count as one token."""

    def document_frequencies(self) -> "Array":
        """(v,) how many items have each token."""
        counts: Array = np.diff(self.starts.astype(np.int64))
        return counts

    def of(self, token: int) -> "tuple[Array, Array]":
        """The items that have a token, and how often."""
        span = slice(int(self.starts[token]), int(self.starts[token + 1]))
        return self.items[span], self.counts[span]


@dataclass(frozen=True, slots=True)
class ChunkedPostings:
    """Postings of which only those of some tokens are in memory at a time."""

    starts: "Array"
    chunks: "Iterator[tuple[Array, Array]]"
    """Items and counts of consecutive groups of tokens."""
    lengths: "Array"
    items: "np.dtype[Any]"
    """The type in which all item numbers are written."""

    def in_memory(self) -> Postings:
        """Return all postings in memory."""
        items, counts = zip(*self.chunks, strict=True) if len(self.starts) > 1 else ([], [])
        empty = np.zeros(0, dtype=np.uint8)
        return Postings(
            narrow(self.starts), np.concatenate([empty, *items]), np.concatenate([empty, *counts]), self.lengths
        )


class ChunkedFields(Mapping[str, Postings]):
    """The postings of each field, made whenever they are asked for."""

    @abstractmethod
    def chunks(self, field: str) -> ChunkedPostings:
        """The postings of a field, some tokens at a time."""

    def __getitem__(self, field: str) -> Postings:
        return self.chunks(field).in_memory()

    def __iter__(self) -> Iterator[str]:
        return iter(FIELDS)

    def __len__(self) -> int:
        return len(FIELDS)


@dataclass(frozen=True)
class Segment:
    """The counted words of some documents. Positions of quotes and pages count from 0, document by document."""

    names: tuple[str, ...]
    """Names of the d documents, in the order of their quotes."""
    quote_counts: "Array"
    """(d,) how many retrievable quotes each document has."""
    page_counts: "Array"
    """(d,) how many pages with quotes each document has."""
    rows: "Array"
    """(n,) int64, the row of each retrievable quote in the catalogue."""
    page_of: "Array"
    """(n,) the position of each quote's page."""
    is_image: "Array"
    """(n,) bool, whether each quote is an image quote."""
    tokens: "Array"
    """(bytes,) uint8, the v tokens in UTF-8, one after the other, sorted as bytes."""
    token_ends: "Array"
    """(v,) where each token ends."""
    fields: Mapping[str, Postings]

    def release(self) -> None:
        """Tell the system that it may reclaim the memory of the mapped file.

        It would do so anyway when memory is short; until then the file counts as this process's memory.
        """
        file = self.tokens.base.obj if isinstance(self.tokens.base, memoryview) else None
        if isinstance(file, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            file.madvise(mmap.MADV_DONTNEED)

    @cached_property
    def page_count(self) -> int:
        """How many pages there are."""
        return int(self.page_counts.sum())

    @property
    def merge_cost(self) -> int:
        """The cost of merging it: the number of its postings, quotes and documents."""
        return sum(len(postings.items) for postings in self.fields.values()) + len(self.rows) + len(self.names)

    @cached_property
    def _text(self) -> bytes:
        return self.tokens.tobytes()

    @cached_property
    def _ends(self) -> memoryview:
        # Reading a single number from a memoryview is several times as fast as from an array.
        return self.token_ends.data

    def token(self, number: int) -> bytes:
        """A token, by its number."""
        start = self._ends[number - 1] if number else 0
        return self._text[start : self._ends[number]]

    @cached_property
    def _stepped_tokens(self) -> list[bytes]:
        return [self.token(number) for number in range(0, len(self.token_ends), _TOKEN_STEP)]

    def find(self, token: bytes) -> int | None:
        """The number of a token; None where no item has it."""
        count = len(self.token_ends)
        # Searching a Python list first takes a tenth of the time of a search with `key`.
        after = bisect_left(self._stepped_tokens, token) * _TOKEN_STEP
        number = bisect_left(range(count), token, max(after - _TOKEN_STEP, 0), min(after, count), key=self.token)
        return number if number < count and self.token(number) == token else None

    def beginning(self, prefix: bytes) -> list[bytes]:
        """The tokens with this prefix, sorted."""
        count = len(self.token_ends)
        first = bisect_left(range(count), prefix, key=self.token)
        return list(takewhile(lambda token: token.startswith(prefix), map(self.token, range(first, count))))

    def vocabulary(self) -> list[bytes]:
        """All tokens, sorted."""
        ends = [0, *self.token_ends.tolist()]
        return [self._text[start:end] for start, end in pairwise(ends)]


class PostingsBuilder:
    """Collects the tokens of the items of a field, and makes the postings of a segment from them."""

    def __init__(self) -> None:
        self.tokens = array("i")
        self.items = array("i")

    def add(self, item: int, tokens: "array[int]") -> None:
        """Add tokens of an item by their numbers, which begin at 1; more tokens of the same item may be added later."""
        self.tokens += tokens
        self.items += array("i", (item,)) * len(tokens)

    def postings(self, order: "Array", size: int, numbers: "Array", numbers_per_word: int) -> Postings:
        """Make the postings. `order` gives each token's number in the segment, `numbers` whether the token is a number.

        In the length of an item, `numbers_per_word` numbers count as one word.
        """
        places, item_positions = np.array(self.tokens, dtype=np.int64) - 1, np.array(self.items, dtype=np.int64)
        tokens = order[places]
        pairs, counts = np.unique(tokens << 32 | item_positions, return_counts=True)
        starts = np.zeros(len(order) + 1, dtype=np.int64)
        np.cumsum(np.bincount(pairs >> 32, minlength=len(order)), out=starts[1:])
        number_counts = np.bincount(item_positions, numbers[places], minlength=size).astype(np.int64)
        lengths = np.bincount(item_positions, minlength=size) - number_counts + -(-number_counts // numbers_per_word)
        return Postings(narrow(starts), narrow(pairs & 0xFFFFFFFF), narrow(counts), narrow(lengths))


def vocabulary_arrays(tokens: Sequence[bytes]) -> "dict[str, Array]":
    """Sorted tokens as a segment's `tokens` and `token_ends`."""
    return {
        "tokens": np.frombuffer(b"".join(tokens), dtype=np.uint8),
        "token_ends": np.fromiter(accumulate(map(len, tokens)), dtype=np.int64, count=len(tokens)),
    }


def make_segment(
    documents: "Sequence[tuple[str, int, int]]",
    quotes: "Mapping[str, Array]",
    counted: Mapping[str, PostingsBuilder],
    vocabulary: Sequence[str],
) -> Segment:
    """A segment of documents, each given by name and numbers of quotes and pages.

    `quotes` holds the arrays of quotes by name; `counted` the tokens of each field, numbered as in `vocabulary` from 1.
    """
    encoded = [token.encode() for token in vocabulary]
    ranked = sorted(range(len(encoded)), key=encoded.__getitem__)
    order = np.empty(len(encoded), dtype=np.int64)
    order[ranked] = np.arange(len(encoded))
    sizes = {True: len(quotes["rows"]), False: sum(pages for _, _, pages in documents)}
    numbers = np.array([token[:1].isdigit() for token in encoded], dtype=np.bool_)
    return Segment(
        names=tuple(name for name, _, _ in documents),
        quote_counts=np.array([count for _, count, _ in documents], dtype=np.int64),
        page_counts=np.array([pages for _, _, pages in documents], dtype=np.int64),
        **quotes,
        **vocabulary_arrays([encoded[i] for i in ranked]),
        fields={
            field: counted[field].postings(order, sizes[field in QUOTE_FIELDS], numbers, NUMBERS_PER_WORD.get(field, 1))
            for field in FIELDS
        },
    )


def write_segment(folder: Path, segment: Segment) -> str:
    """Write a segment into the folder and return its file name. Raises StorageError where the disk refuses."""
    import xxhash

    digest, unnamed = xxhash.xxh3_128(), folder / _UNNAMED
    with atomic_write(unnamed) as file:
        for piece in _file_bytes(_arrays(segment)):
            digest.update(piece)
            file.write(piece)
    name = f"{digest.hexdigest()}{SUFFIX}"
    with guard_writing(unnamed):
        if (folder / name).is_dir():
            remove_path(folder / name)
        unnamed.replace(folder / name)
    return name


@dataclass(frozen=True, slots=True)
class ArrayChunks:
    """An array of `count` numbers, given in consecutive pieces."""

    kind: "np.dtype[Any]"
    count: int
    pieces: "Iterable[Array]"


def _arrays(segment: Segment) -> "Iterator[ArrayChunks]":
    """All arrays, in the order of the file, one field's postings after the other.

    Each array's pieces have to be read to the end before the next array is asked for, which may depend on them.
    """
    names = json.dumps(segment.names, ensure_ascii=False).encode("utf-8", "surrogatepass")
    arrays = [np.frombuffer(names, dtype=np.uint8), segment.quote_counts, segment.page_counts, segment.rows]
    yield from map(_one_chunk, [*arrays, segment.page_of, segment.is_image, segment.tokens, segment.token_ends])
    for field in FIELDS:
        if not isinstance(segment.fields, ChunkedFields):
            postings = segment.fields[field]
            yield from map(_one_chunk, (postings.starts, postings.items, postings.counts, postings.lengths))
            continue
        merged = segment.fields.chunks(field)
        counts: list[Array] = []
        count = int(merged.starts[-1])
        yield _one_chunk(merged.starts)
        # The counts are written after the items and are kept until then; as a rule they take a byte each.
        yield ArrayChunks(merged.items, count, _items(merged.chunks, counts))
        kind = np.min_scalar_type(max((chunk_counts.max(initial=0) for chunk_counts in counts), default=0))
        yield ArrayChunks(kind, count, counts)
        yield _one_chunk(merged.lengths)


def _items(chunks: "Iterable[tuple[Array, Array]]", counts: "list[Array]") -> "Iterator[Array]":
    """Yield the items; append the counts that belong to them to `counts`."""
    for chunk_items, chunk_counts in chunks:
        counts.append(chunk_counts)
        yield chunk_items


def _one_chunk(numbers: "Array") -> ArrayChunks:
    narrowed = narrow(numbers)
    return ArrayChunks(narrowed.dtype, len(narrowed), [narrowed])


def _file_bytes(arrays: Iterable[ArrayChunks]) -> "Iterator[bytes | memoryview]":
    """The bytes of a file, piece by piece."""
    from numpy.lib import format as npy

    for numbers in arrays:
        head = BytesIO()
        form = npy.header_data_from_array_1_0(np.empty(0, dtype=numbers.kind))
        npy.write_array_header_1_0(head, {**form, "shape": (numbers.count,)})
        yield head.getbuffer()
        for piece in numbers.pieces:
            yield np.ascontiguousarray(piece.astype(numbers.kind, copy=False)).data
        yield bytes(-(len(head.getbuffer()) + numbers.count * numbers.kind.itemsize) % _ALIGNMENT)


def narrow(numbers: "Array") -> "Array":
    """Return whole numbers, none below 0, in the smallest type that holds them."""
    if numbers.dtype == np.bool_:
        return numbers
    if numbers.dtype.kind not in "ui":
        raise TypeError(f"an index holds whole numbers, not {numbers.dtype}")
    return numbers.astype(np.min_scalar_type(numbers.max(initial=0)), copy=False)


def read_segment(path: Path) -> Segment:
    """The segment of a file, mapped into memory; the file may be removed from then on.

    Raises FileNotFoundError, and CollectionError where the file is damaged.
    """
    import xxhash

    with path.open("rb") as file:
        digest, buffer = xxhash.xxh3_128(), memoryview(bytearray(_READ_AT_ONCE))
        # Read, not mapped: the whole file would count as this process's memory.
        while count := file.readinto(buffer):
            digest.update(buffer[:count])
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if file.tell() else b""
    if f"{digest.hexdigest()}{SUFFIX}" != path.name or not isinstance(mapped, mmap.mmap):
        raise CollectionError(f"{path} is damaged: its bytes are not those that were written")

    def next_array() -> "Array":
        header = _HEADER.match(mapped, mapped.tell())
        if header is None:
            raise CollectionError(f"{path} has no array at byte {mapped.tell():,}, as this version writes it")
        values: Array = np.frombuffer(mapped, header[1].decode(), count=int(header[2]), offset=header.end())
        mapped.seek(header.end() + values.nbytes)
        mapped.seek(-mapped.tell() % _ALIGNMENT, 1)
        return values

    return Segment(
        names=tuple(json.loads(next_array().tobytes())),
        quote_counts=next_array(),
        page_counts=next_array(),
        rows=next_array(),
        page_of=next_array(),
        is_image=next_array(),
        tokens=next_array(),
        token_ends=next_array(),
        fields={
            field: Postings(starts=next_array(), items=next_array(), counts=next_array(), lengths=next_array())
            for field in FIELDS
        },
    )
