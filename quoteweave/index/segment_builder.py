"""Quotes become a segment of the lexical index: what a quote and a page are found by, as counted words."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from quoteweave.core.boxes import area, inside
from quoteweave.core.records import Quote
from quoteweave.core.references import labels_in
from quoteweave.core.tokens import words
from quoteweave.index.segments import FIELDS, Counting, Segment, make_segment


class IndexedDocument(NamedTuple):
    """A document as the index counts it."""

    name: str
    rows: Sequence[int]
    """Of its quotes, in the catalogue."""
    quotes: Sequence[Quote]
    """Headers and footers included."""


def segment_of(documents: Iterable[IndexedDocument]) -> Segment:
    """A segment of these documents."""
    import numpy as np

    builder = _Builder()
    for document in documents:
        builder.add(document)
    quotes = {
        "rows": np.array(builder.rows, dtype=np.int64),
        "page_of": np.array(builder.page_of, dtype=np.int64),
        "is_image": np.array(builder.is_image, dtype=np.bool_),
    }
    return make_segment(builder.documents, quotes, builder.counted, list(builder.vocabulary))


class _Builder:
    """What a segment is made from, gathered document by document."""

    def __init__(self) -> None:
        self.documents: list[tuple[str, int, int]] = []
        self.rows: list[int] = []
        self.page_of: list[int] = []
        self.is_image: list[bool] = []
        self.counted = {field: Counting() for field in FIELDS}
        self.vocabulary: dict[str, int] = {}
        self._pages = 0

    def add(self, document: IndexedDocument) -> None:
        before = len(self.rows)
        pages: dict[int, list[tuple[Quote, list[int]]]] = defaultdict(list)
        numbers = {page: self._pages + i for i, page in enumerate(sorted({quote.page for quote in document.quotes}))}
        for row, quote in zip(document.rows, document.quotes, strict=True):
            tokens = self._numbers(_words(quote))
            pages[quote.page].append((quote, tokens))
            if quote.retrievable:
                self.counted["quotes"].add(len(self.rows), tokens)
                self.rows.append(row)
                self.page_of.append(numbers[quote.page])
                self.is_image.append(quote.kind == "image")
        for page, quotes in pages.items():
            self._add_page(numbers[page], quotes)
        self._pages += len(pages)
        self.documents.append((document.name, len(self.rows) - before, len(pages)))

    def _add_page(self, number: int, quotes: Sequence[tuple[Quote, list[int]]]) -> None:
        own = _without_repeats([quote for quote, _ in quotes])
        for quote, tokens in quotes:
            if quote.id in own:
                self.counted["pages"].add(number, tokens)
        for caption in {quote.caption for quote, _ in quotes if quote.caption}:
            self.counted["captions"].add(number, self._numbers(words(caption)))
        first = quotes[0][0]
        labelled = [quote.caption or quote.text for quote, _ in quotes if quote.caption or quote.layout == "caption"]
        names = {page_name(first.page_label), page_name(str(first.page + 1))}
        labels = {label for text in labelled for label in labels_in(text)}
        self.counted["references"].add(number, self._numbers(sorted(names | labels)))

    def _numbers(self, tokens: Iterable[str]) -> list[int]:
        vocabulary = self.vocabulary
        return [vocabulary.setdefault(token, len(vocabulary)) for token in tokens]


def page_name(number: str) -> str:
    """The token for a page that people call by that number."""
    # Words have no space in them, and labels of figures begin otherwise.
    return f"page {number}"


def _words(quote: Quote) -> list[str]:
    """What a quote is found by: its words; for an image also its section's title, and what OCR alone reads on it."""
    found = words(quote.words())
    if quote.kind == "image":
        found += words(quote.section or "")
        known = set(found)
        found += [word for word in words(quote.ocr_text or "") if word not in known]
    return found


def _without_repeats(quotes: Sequence[Quote]) -> set[str]:
    """Ids of the quotes that together say the page once: neither the whole page, nor what a picture on it says already.

    Parts of a large table, and paragraphs set on a picture, stand inside a quote that holds their words too.
    """
    pictures = [(i, q) for i, q in enumerate(quotes) if q.kind == "image" and q.layout != "page" and q.words()]
    kept = {
        quote.id
        for i, quote in enumerate(quotes)
        if quote.layout != "page" and not any(_repeats(i, quote, j, other) for j, other in pictures)
    }
    return kept or {quote.id for quote in quotes}


def _repeats(i: int, quote: Quote, j: int, picture: Quote) -> bool:
    """Of two quotes in one place, the first counts."""
    if i == j or inside(quote.bbox, picture.bbox) <= 0.95:
        return False
    return j < i or area(picture.bbox) > 1.02 * area(quote.bbox)
