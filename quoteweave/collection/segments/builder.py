"""Builds a segment of the lexical index from quotes: counts the tokens by which quotes and pages are found."""

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from quoteweave.collection.arrays import np
from quoteweave.collection.segments.acronyms import definitions_in, definitions_in_table
from quoteweave.collection.segments.merge import merge_segments
from quoteweave.collection.segments.section_names import names_of_pages
from quoteweave.collection.segments.segment import FIELDS, PostingsBuilder, Segment, make_segment
from quoteweave.core.boxes import Box, area, share_in
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Page, Quote
from quoteweave.core.text.references.mentions import labels_in, page_names
from quoteweave.core.text.tokens import Vocabulary, symbol_runs, words

# Most words that are gathered before they are counted; each takes some forty bytes.
MAX_GATHERED = 400_000
# Most different words among them; each takes some four hundred bytes until they are counted.
MAX_DIFFERENT = 100_000

# The end of the caption of a part of an image.
PART = lazy_regex(r"\bpart \d+ of \d+\)?$", re.IGNORECASE)


class SegmentBuilder:
    """Counts the words of documents, added one by one, into one segment."""

    def __init__(self) -> None:
        self._counted: list[Segment] = []
        self._document_pages: dict[int, Page] = {}
        self._section_names: dict[int, set[PlaceName]] = {}
        self._begin()

    def add(self, name: str, quotes: Iterable[tuple[int, Quote]], pages: Sequence[Page] = ()) -> None:
        """Add a document: its quotes with their rows in the catalogue, page by page, headers and footers included.

        `pages` say how many pages it has and to which headings each page belongs. The quotes are iterated over
        several times; those of an iterator are kept in memory.
        """
        repeatable_quotes = list(quotes) if isinstance(quotes, Iterator) else quotes
        self._document_pages = {page.number: page for page in pages}
        self._section_names = names_of_pages(pages, _WithoutRows(repeatable_quotes))
        self._documents.append((name, 0, 0))
        for _, page in groupby(repeatable_quotes, key=lambda quote_with_row: quote_with_row[1].page):
            if len(self._fields["quotes"].tokens) >= MAX_GATHERED or len(self._vocabulary) >= MAX_DIFFERENT:
                self._count()
                self._documents.append((name, 0, 0))
            self._add_page(list(page))

    def segment(self) -> Segment | None:
        """The segment; None where no document was added."""
        if self._documents:
            self._count()
        self._document_pages, self._section_names = {}, {}
        if len(self._counted) < 2:
            return self._counted[0] if self._counted else None
        merged = merge_segments(self._counted, ())
        return _joined_by_document(replace(merged, fields=dict(merged.fields)))

    def _begin(self) -> None:
        self._documents: list[tuple[str, int, int]] = []
        self._rows: list[int] = []
        self._page_of: list[int] = []
        self._is_image: list[bool] = []
        self._fields = {field: PostingsBuilder() for field in FIELDS}
        self._vocabulary = Vocabulary()
        self._pages = 0

    def _count(self) -> None:
        """Make a segment of what has been gathered."""
        quotes = {
            "rows": np.array(self._rows, dtype=np.int64),
            "page_of": np.array(self._page_of, dtype=np.int64),
            "is_image": np.array(self._is_image, dtype=np.bool_),
        }
        self._counted.append(make_segment(self._documents, quotes, self._fields, list(self._vocabulary)))
        self._begin()

    def _add_page(self, page_quotes: Sequence[tuple[int, Quote]]) -> None:
        tokens = [self._tokens(quote) for _, quote in page_quotes]
        first_quote = len(self._rows)
        for (row, quote), quote_tokens in zip(page_quotes, tokens, strict=True):
            if quote.retrievable:
                self._fields["quotes"].add(len(self._rows), quote_tokens)
                self._rows.append(row)
                self._page_of.append(self._pages)
                self._is_image.append(quote.kind == "image")
        self._add_words_of_page([quote for _, quote in page_quotes], tokens)
        name, quotes, pages = self._documents[-1]
        self._documents[-1] = (name, quotes + len(self._rows) - first_quote, pages + 1)
        self._pages += 1

    def _tokens(self, quote: Quote) -> "array[int]":
        """The tokens of a quote: its words; for an image also its section's title, and words that only OCR reads.

        The caption and section title are left out for a part of an image: they describe the whole image.
        """
        if quote.kind == "text":
            return self._vocabulary.of_text(quote.all_text())
        tokens = words(_image_words(quote))
        known_words = set(tokens)
        tokens += [word for word in words(quote.ocr_text or "") if word not in known_words]
        return self._vocabulary.of_words(tokens)

    def _add_words_of_page(self, quotes: Sequence[Quote], tokens: "Sequence[array[int]]") -> None:
        number, counted_ids = self._pages, _without_repeats(quotes)
        for quote, quote_tokens in zip(quotes, tokens, strict=True):
            if quote.id in counted_ids:
                self._fields["pages"].add(number, quote_tokens)
        page = self._document_pages.get(quotes[0].page)
        headings = page.headings if page else ()
        for heading in headings:
            self._fields["outline"].add(number, self._vocabulary.of_text(heading))
        names = {*self._page_tokens(quotes), *map(str, self._section_names[quotes[0].page])}
        self._fields["references"].add(number, self._vocabulary.of_words(sorted(names)))

    def _page_tokens(self, quotes: Sequence[Quote]) -> Iterator[str]:
        """The names by which people refer to the page and to its figures and tables, and other tokens of the page."""
        first, count = quotes[0], len(self._document_pages)
        yield from map(str, page_names(first.page_label, first.page, count or None))
        yield SYMBOLS
        quote_texts = (text for quote in quotes if quote.retrievable for text in _texts_of(quote))
        yield from (f"{SYMBOLS} {run}" for run in symbol_runs("\n".join(quote_texts)))
        for quote in quotes:
            if quote.caption or quote.layout == "caption":
                yield from map(str, labels_in(quote.caption or quote.text))
            if quote.kind == "image":
                yield layout_token(quote.layout)
            yield from _definition_tokens(quote)


class _WithoutRows:
    """Iterates over the quotes without their rows, any number of times."""

    def __init__(self, quotes_with_rows: Iterable[tuple[int, Quote]]) -> None:
        self._quotes_with_rows = quotes_with_rows

    def __iter__(self) -> Iterator[Quote]:
        return (quote for _, quote in self._quotes_with_rows)


def _image_words(quote: Quote) -> str:
    """The words of an image and its section's title; for a part of an image, without caption and title."""
    if quote.caption is not None and PART.search(quote.caption):
        return quote.model_copy(update={"caption": None}).all_text()
    return f"{quote.all_text()}\n{quote.section or ''}"


def _joined_by_document(segment: Segment) -> Segment:
    """The segment with consecutive parts of one document joined under its name."""
    first = np.array([i == 0 or name != segment.names[i - 1] for i, name in enumerate(segment.names)])
    starts = np.flatnonzero(first)
    return replace(
        segment,
        names=tuple(segment.names[i] for i in starts),
        quote_counts=np.add.reduceat(segment.quote_counts, starts),
        page_counts=np.add.reduceat(segment.page_counts, starts),
    )


def _definition_tokens(quote: Quote) -> Iterator[str]:
    """Two tokens for each acronym that a text or table defines in several words: for it and for its meaning."""
    if quote.kind == "text":
        definitions = definitions_in(quote.text)
    else:
        definitions = definitions_in_table(quote.text) if quote.layout == "table" else []
    for short, long in definitions:
        acronym, meaning_words = words(short), words(long)
        if len(acronym) == 1 and len(meaning_words) > 1:
            yield acronym_prefix(acronym[0]) + " ".join(long.casefold().split())
            yield meaning_prefix(meaning_words) + short


DEFINITION_PREFIXES = ("acronym ", "meaning ")
"""Prefixes of the tokens for what an acronym stands for, and for the acronym of a sequence of words."""


SYMBOLS = "symbols"
"""Prefix of the tokens for the symbols that occur on a page (`core.text.tokens.symbol_runs`). Alone it is a token too,
which says that a page's symbols were recorded: segments of earlier versions lack it."""


def _texts_of(quote: Quote) -> Iterator[str]:
    """All text that is written in a quote."""
    yield from filter(None, (quote.text, quote.caption, quote.ocr_text))


def acronym_prefix(word: str) -> str:
    """The prefix of the tokens that say what an acronym, as `words` gives it, stands for."""
    return f"acronym {word} = "


def meaning_prefix(meaning_words: Sequence[str]) -> str:
    """The prefix of the tokens that say which acronym these words have."""
    return f"meaning {' '.join(meaning_words)} = "


def layout_token(layout: str) -> str:
    """The token of a page that shows an element of that layout, such as a chart."""
    # It cannot be mistaken for another token: words contain no space, and names of places begin otherwise.
    return f"shows {layout}"


def _without_repeats(quotes: Sequence[Quote]) -> set[str]:
    """Ids of the quotes that give the page's text once: without the whole page, and without what a picture repeats.

    The parts of a large table, and paragraphs set on a picture, lie within another quote that has the same words.
    """
    pictures = [(i, q.bbox) for i, q in enumerate(quotes) if q.kind == "image" and q.layout != "page" and q.all_text()]
    counted_ids = {
        quote.id
        for i, quote in enumerate(quotes)
        if quote.layout != "page" and not any(_lies_within(i, quote.bbox, j, picture) for j, picture in pictures)
    }
    return counted_ids or {quote.id for quote in quotes}


def _lies_within(i: int, quote: Box, j: int, picture: Box) -> bool:
    """Whether a quote lies within a picture that counts in its place; of two quotes in one place, the first counts."""
    # Comparing edges first is faster than computing areas, and few boxes overlap.
    if i == j or quote[1] >= picture[3] or quote[3] <= picture[1] or share_in(quote, picture) <= 0.95:
        return False
    return j < i or area(picture) > 1.02 * area(quote)
