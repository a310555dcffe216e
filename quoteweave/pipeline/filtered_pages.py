"""Reads the pages around the quotes that a search has found, under the filter of that search."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.messages import join_names
from quoteweave.core.records import BODY_LAYOUTS, Filter, Hit, PageWord, Quote
from quoteweave.core.text.references.file_names import FILE_ENDING, files_named_in, names_of, with_files_as_documents
from quoteweave.core.text.whole_document.structure_questions import document_nouns

MIN_SENTENCE = 5
"""A quote with so many words and a full stop at its end is a sentence, and so below a document's title."""
MAX_TITLE_LINE = 80
"""Characters, at most, of the first line of a plain text if it is the title."""
_NO_TITLE = lazy_regex(
    r"(?:table of )?contents|inhalt(?:sverzeichnis)?|sommaire|table des mati[èe]res|índice|[(\[].*[)\]]", re.IGNORECASE
)
_KIND_WORDS = frozenset(
    {"user", "user's", "user’s", "owner's", "owner’s", "operating", "reference", "quick", "start", "review"}
)
"""Words that stand beside nouns for documents in headings that only say what kind of document it is: "User Guide"."""


class FilteredPages:
    """The quotes of pages that pass a filter, in reading order, without headers and footers; each page is read once."""

    def __init__(self, collection: Collection, where: Filter) -> None:
        self._collection, self.where = collection, where
        self._pages: dict[tuple[str, int], list[Quote]] = {}

    def of_page(self, document: str, page: int) -> list[Quote]:
        """The quotes of a page; none if it does not pass the filter, or its document was removed since the search."""
        if (document, page) not in self._pages:
            self._pages[document, page] = self._read(document, page) if page >= 0 else []
        return self._pages[document, page]

    def _read(self, document: str, page: int) -> list[Quote]:
        on_page = Filter(documents=(document,), first_page=page, last_page=page)
        try:
            return self._collection.quotes(self.where.intersect(on_page))
        except UsageError:
            return []

    def titles(self, documents: Iterable[str]) -> dict[str, str]:
        """The title on the first page of each document, as far as headings show it; documents without one are left out.

        In a file without pages, a heading below a sentence is not the title, unless there are other headings below it.
        """
        titles = {name: _title(self.of_page(name, 0)) for name in dict.fromkeys(documents)}
        return {name: title for name, title in titles.items() if title}

    def words_of_page(self, document: str, page: int) -> list[PageWord]:
        """The words on a page, without those read by OCR; none if they are not known."""
        try:
            page_words = self._collection.page_words(document, page)
        except UsageError:
            return []
        return [word for word in page_words.words if not word.ocr] if page_words else []

    def documents(self) -> list[str]:
        """The names of the documents that pass the filter."""
        return [document.name for document in self._collection.documents() if self.where.admits(document)]

    def all_titles(self) -> dict[str, str]:
        """The titles of all documents that pass the filter, read together, and from headings alone."""
        first_headings = self.where.intersect(Filter(layouts=("title",), first_page=0, last_page=0))
        headings: dict[str, list[Quote]] = {}
        for heading in self._collection.quotes(first_headings):
            headings.setdefault(heading.document, []).append(heading)
        titles = {name: _best_heading(document_headings) for name, document_headings in headings.items()}
        return {name: title for name, title in titles.items() if title}

    def after(self, quote: Quote) -> Iterator[Quote]:
        """The quotes after a quote, on its page and the next."""
        page_quotes = self.of_page(quote.document, quote.page)
        at = _position(quote, page_quotes)
        if at < len(page_quotes):
            yield from page_quotes[at + 1 :]
            yield from self.of_page(quote.document, quote.page + 1)

    def before(self, quote: Quote) -> Iterator[Quote]:
        """The quotes before a quote, on its page and then on the page before, the nearest first."""
        page_quotes = self.of_page(quote.document, quote.page)
        at = _position(quote, page_quotes)
        if at < len(page_quotes):
            yield from reversed(page_quotes[:at])
            yield from reversed(self.of_page(quote.document, quote.page - 1) if quote.has_pages else [])


def _title(quotes: Sequence[Quote]) -> str:
    """The title of a document by its first page; "" without one."""
    first_sentence = next((at for at, quote in enumerate(quotes) if _is_sentence(quote)), len(quotes))
    headings_above = [quote for quote in quotes[:first_sentence] if quote.layout == "title"]
    headings_below = [quote for quote in quotes[first_sentence:] if quote.layout == "title"][:1]
    if (
        headings_below
        and not headings_below[0].has_pages
        and not any(quote.section == headings_below[0].text for quote in quotes if quote.layout == "title")
    ):
        headings_below = []
    return _best_heading(headings_above or headings_below) or _first_line(quotes[:first_sentence])


def _first_line(quotes: Sequence[Quote]) -> str:
    """The first line of a text without headings and pages, if it is no sentence or salutation; else ""."""
    first = quotes[0] if quotes else None
    line = "" if first is None or first.has_pages or first.layout == "title" else first.text.partition("\n")[0].strip()
    return line if line[-1:].isalnum() and len(line) <= MAX_TITLE_LINE else ""


def _best_heading(headings: Iterable[Quote]) -> str:
    """The first heading that says what a document is about, else the first that says its kind; "" without one."""
    texts = [" ".join(heading.text.split()) for heading in headings]
    titles = [text for text in texts if not _NO_TITLE.fullmatch(text)]
    kinds = document_nouns() | _KIND_WORDS
    return next((text for text in titles if not kinds.issuperset(text.casefold().split())), titles[0] if titles else "")


def _is_sentence(quote: Quote) -> bool:
    return (
        quote.layout in BODY_LAYOUTS
        and len(quote.text.split()) >= MIN_SENTENCE
        and quote.text.rstrip().endswith((".", "!", "?", "。"))
    )


def _position(quote: Quote, among: Sequence[Quote]) -> int:
    """The index of a quote; if it is no longer there, the index after the last."""
    return next((at for at, candidate in enumerate(among) if candidate.id == quote.id), len(among))


class NamedFiles(NamedTuple):
    """What a question's names of files make of the question and its filter."""

    question: str
    """The question, with "the document" for each name of a file that a document has."""
    where: Filter
    """The filter, within the documents that have such a name if there are any."""
    note: str | None
    """A sentence on what it is narrowed to; None if it is not."""
    lost: tuple[str, ...]
    """The names that no document has."""


def within_named_files(question: str, collection: Collection, where: Filter) -> NamedFiles:
    """Narrow the filter to the documents whose files a question names."""
    has_names = FILE_ENDING.search(question) is not None
    documents = FilteredPages(collection, where).documents() if has_names else []
    # Another note tells of files that could not be read.
    unread_files = [failure.name for failure in collection.failures()] if has_names else []
    names = files_named_in(question, (*documents, *unread_files))
    named_documents = tuple(document for document in documents if names.keys() & names_of(document))
    known_names = {name for document in (*named_documents, *unread_files) for name in names_of(document)}
    lost = tuple(written_name for name, written_name in names.items() if name not in known_names)
    question = with_files_as_documents(question, named_documents)
    if not 0 < len(named_documents) < len(documents):
        return NamedFiles(question, where, None, lost)
    note = f"Asked within {join_names(named_documents)}, which the question names."
    return NamedFiles(question, where.intersect(Filter(documents=named_documents)), note, lost)


def lost_files_note(lost: Sequence[str], hits: Iterable[Hit]) -> str | None:
    """A note on files' names in a question that no document has, and that no hit mentions: all documents were asked."""
    texts = [hit.quote.all_text().casefold() for hit in hits] if lost else []
    unknown = [name for name in lost if not any(name.casefold() in text for text in texts)]
    if not unknown:
        return None
    return f"No document that was asked is named {join_names(unknown)}, and no quote that was found has this name."


def nothing_passes_note(collection: Collection, sizes_and_filters: Sequence[tuple[int, Filter | None]]) -> str | None:
    """A note if no quote passes any of the filters of which quotes are wanted, though there are quotes."""
    filters = [where for k, where in sizes_and_filters if k]
    if not filters or any(collection.select(where).size for where in filters) or not collection.select().size:
        return None
    return "No quote passes the filter, so that nothing was searched."
