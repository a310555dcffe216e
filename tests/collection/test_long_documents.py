"""Documents of very many quotes are indexed without holding all of these in memory."""

import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from made_documents import made_document, made_quote, put

from quoteweave.collection.catalog import stored_documents
from quoteweave.collection.collection import Collection
from quoteweave.collection.segments.builder import SegmentBuilder
from quoteweave.core.records import Quote

CHAPTERS = ("Grain", "Timber", "Coal", "Fish", "Stone")


class CountedQuotes:
    """Titles and paragraphs of 50 pages, made anew each time; `most` is how many existed at once."""

    def __init__(self) -> None:
        self._alive: weakref.WeakValueDictionary[int, Quote] = weakref.WeakValueDictionary()
        self.most = 0

    def __iter__(self) -> Iterator[tuple[int, Quote]]:
        for number in range(1000):
            page, ordinal = divmod(number, 20)
            if ordinal == 0 and page % 10 == 0:
                chapter = page // 10
                quote = made_quote(f"{chapter + 1} {CHAPTERS[chapter]}", page=page, layout="title")
            else:
                quote = made_quote(f"The harbour shipped {number} tonnes.", page=page, ordinal=ordinal)
            self._alive[number] = quote
            self.most = max(self.most, len(self._alive))
            yield number, quote


def test_the_quotes_of_a_long_document_are_indexed_page_by_page() -> None:
    quotes, builder = CountedQuotes(), SegmentBuilder()
    builder.add("long.txt", quotes)
    segment = builder.segment()
    assert segment is not None
    assert segment.quote_counts.tolist() == [1000]
    assert quotes.most <= 60  # 1000 where all are held
    listed = SegmentBuilder()
    listed.add("long.txt", iter(list(quotes)))
    other = listed.segment()
    assert other is not None
    assert other.vocabulary() == segment.vocabulary()
    assert {b"chapter 5", b"chapter last"} <= set(segment.vocabulary())


def test_a_long_document_is_indexed_and_described_like_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = made_document([f"{number // 2 + 1} Grain of pier {number}" for number in range(8)], image=None)
    files = []
    for most in (100, 3):
        monkeypatch.setattr(stored_documents, "MAX_IN_MEMORY", most)
        root = tmp_path / str(most)
        with Collection.create(root) as collection, collection.writer() as writer:
            put(writer, tmp_path, "a.txt", parsed)
            writer.rebuild_lexical()
            rebuilt = {path.name for path in (root / "lexical").iterdir()}
            writer.describe({"a.txt": {}})
            assert [quote.text for quote in collection.document_quotes("a.txt")] == [
                each.text for each in parsed.quotes
            ]
            files.append((rebuilt, {path.name for path in (root / "lexical").iterdir()}))
    assert files[0] == files[1]
