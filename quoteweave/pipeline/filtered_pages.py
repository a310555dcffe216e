"""Reads the pages of documents around what a search has found, under the filter of that search."""

from collections.abc import Iterable, Iterator, Sequence

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Filter, PageWord, Quote


class FilteredPages:
    """The quotes of pages that pass a filter, in reading order, without headers and footers; each page is read once."""

    def __init__(self, collection: Collection, where: Filter) -> None:
        self._collection, self.where = collection, where
        self._pages: dict[tuple[str, int], list[Quote]] = {}

    def of_page(self, document: str, page: int) -> list[Quote]:
        """Those of a page; none where it does not pass the filter, or its document was removed since the search."""
        if (document, page) not in self._pages:
            self._pages[document, page] = self._read(document, page) if page >= 0 else []
        return self._pages[document, page]

    def _read(self, document: str, page: int) -> list[Quote]:
        near = Filter(documents=(document,), first_page=page, last_page=page)
        try:
            return self._collection.quotes(self.where.intersect(near))
        except UsageError:
            return []

    def titles(self, documents: Iterable[str]) -> dict[str, str]:
        """The first heading on the first page of each document; none of one without a heading there."""
        first = {one: self.of_page(one, 0) for one in dict.fromkeys(documents)}
        headings = {name: next((one for one in found if one.layout == "title"), None) for name, found in first.items()}
        return {name: " ".join(one.text.split()) for name, one in headings.items() if one is not None}

    def words_of_page(self, document: str, page: int) -> list[PageWord]:
        """The words that stand on a page, without those read by OCR; none where they are not known."""
        try:
            found = self._collection.page_words(document, page)
        except UsageError:
            return []
        return [word for word in found.words if not word.ocr] if found else []

    def documents(self) -> list[str]:
        """The names of the documents that pass the filter."""
        return [one.name for one in self._collection.documents() if self.where.admits(one)]

    def all_titles(self) -> dict[str, str]:
        """The titles, as `titles` knows them, of all documents that pass the filter, read at once."""
        first = self.where.intersect(Filter(layouts=("title",), first_page=0, last_page=0))
        found = self._collection.quotes(first)
        return {one.document: " ".join(one.text.split()) for one in reversed(found)}

    def after(self, quote: Quote) -> Iterator[Quote]:
        """Those after a quote on its page and the next."""
        own = self.of_page(quote.document, quote.page)
        yield from own[_position(quote, own) + 1 :]
        if _position(quote, own) < len(own):
            yield from self.of_page(quote.document, quote.page + 1)

    def before(self, quote: Quote) -> Iterator[Quote]:
        """Those before a quote on its page, and then on the page before, the nearest first."""
        own = self.of_page(quote.document, quote.page)
        yield from reversed(own[: _position(quote, own)] if _position(quote, own) < len(own) else [])
        if _position(quote, own) < len(own) and quote.has_pages:
            yield from reversed(self.of_page(quote.document, quote.page - 1))


def _position(quote: Quote, among: Sequence[Quote]) -> int:
    """The index of a quote; after the last where it is no longer there."""
    return next((at for at, one in enumerate(among) if one.id == quote.id), len(among))
