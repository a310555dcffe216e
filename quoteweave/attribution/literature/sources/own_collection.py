"""A collection of one's own as a source of papers: its documents are the papers, with what their metadata say."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from quoteweave.attribution.literature.sources.paper_metadata import (
    ABSTRACT_PAGES,
    abstract_in,
    date_in,
    is_only_described,
    paper_of,
)
from quoteweave.attribution.literature.sources.paper_text import text_of_quotes
from quoteweave.attribution.literature.sources.papers import (
    Paper,
    PapersFound,
    PaperText,
    PublicationDate,
    Snippet,
    SnippetsFound,
    SortBy,
    require_order,
)
from quoteweave.collection.collection import Collection
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Document, Filter, Query, Quote
from quoteweave.pipeline.search import Search

CITED_POOL = 50
"""Documents found by relevance that are then ordered by citations, if that order is asked for."""
MAX_QUOTES = 5_000
"""Quotes that are searched for, at most, to find as many documents as are asked for."""
_QUOTES_PER_DOCUMENT = 5
_MAX_QUOTES_AT_ONCE = 300  # reading so many together is faster than reading them by page


class OwnCollection:
    """The documents of a collection as papers; implements `PaperSource`.

    Titles, authors, dates, citations and identifiers are the documents' metadata (`quoteweave add --meta`). If there is
    a limit of date, documents without a date are left out, as they may have been published later, and a note says how
    many they are. Its methods raise what `Search.find` raises, and CollectionError.

    >>> own = OwnCollection(collection, Search(LexicalRetriever(collection)))
    >>> asyncio.run(own.search("grain")).papers[0].title
    'port.md'
    """

    name = "collection"

    def __init__(self, collection: Collection, search: Search) -> None:
        self._collection, self._search = collection, search
        self._state = _State(-1, {})

    async def search(
        self, query: str, k: int = 10, *, by: SortBy = "relevance", before: PublicationDate | None = None
    ) -> PapersFound:
        """Return the documents of the best quotes; by citations, those most cited of the first 50 of them.

        Raises UsageError for an unknown order.
        """
        require_order(by)
        where, notes = self._allowed(before)
        names, search_notes = await self._documents(query, k if by == "relevance" else max(k, CITED_POOL), where)
        documents = self._current().documents
        papers = [paper_of(documents[name]) for name in names]
        if by == "citations":
            papers.sort(key=lambda paper: -1 if paper.citations is None else paper.citations, reverse=True)
            unknown = sum(paper.citations is None for paper in papers)
            if unknown:
                notes.append(f"The citations of {pluralize(unknown, 'document')} are not known; these stand last.")
        shown = tuple(self._with_abstract(documents[paper.id]) for paper in papers[:k])
        return PapersFound(papers=shown, notes=(*notes, *search_notes))

    async def search_snippets(self, query: str, k: int = 10, *, before: PublicationDate | None = None) -> SnippetsFound:
        """Return the best quotes as passages of their documents."""
        where, notes = self._allowed(before)
        retrieved = await self._search.find(Query(text=query), k, where=where)
        documents = self._current().documents
        snippets = tuple(
            Snippet(paper=paper_of(documents[quote.document]), text=quote.all_text(), section=quote.section)
            for quote in (hit.quote for hit in retrieved.hits)
            if quote.document in documents
        )
        return SnippetsFound(snippets=snippets, notes=(*notes, *retrieved.trace.notes))

    async def read(self, paper: Paper) -> PaperText:
        """Return the text of a document's quotes, page by page, without headers and footers."""
        name = paper.identifiers.get("document", paper.id)
        try:
            document, quotes = self._collection.document(name), self._collection.document_quotes(name)
        except UsageError:
            return PaperText(outcome="unreachable", text="", note=f"The collection has no document {name!r} any more.")
        return read_document(document, text_of_quotes(quotes))

    def _allowed(self, before: PublicationDate | None) -> tuple[Filter | None, list[str]]:
        """A filter for documents that may not have been published after a date, and a note on those without one."""
        if before is None:
            return None, []
        where, undated = self._current().published_by(before)
        note = (
            f"{pluralize(undated, 'document')} without a date (metadata `published` or `year`) left out, as "
            f"{'it' if undated == 1 else 'they'} may have been published after {before}."
        )
        return where, [note] if undated else []

    async def _documents(self, query: str, k: int, where: Filter | None) -> tuple[list[str], tuple[str, ...]]:
        """Names of the `k` documents whose best quotes rank first, and the notes of the search."""
        count = _QUOTES_PER_DOCUMENT * k
        while True:
            retrieved = await self._search.find(Query(text=query), count, where=where)
            names = list(dict.fromkeys(hit.quote.document for hit in retrieved.hits))
            if len(names) >= k or len(retrieved.hits) < count or count >= MAX_QUOTES:
                known, notes = self._current().documents, retrieved.trace.notes
                if len(names) < k and len(retrieved.hits) == count:
                    notes = (*notes, f"Only the documents of the first {count:,} quotes found are shown.")
                return [name for name in names if name in known][:k], notes
            count = min(4 * count, MAX_QUOTES)

    def _with_abstract(self, document: Document) -> Paper:
        quotes: list[Quote] = []
        with suppress(UsageError):  # it was removed a moment ago
            if document.quotes <= _MAX_QUOTES_AT_ONCE:
                quotes = self._collection.document_quotes(document.name)
            else:
                pages = range(min(ABSTRACT_PAGES, document.pages))
                quotes = [quote for page in pages for quote in self._collection.page_quotes(document.name, page)]
        return paper_of(document, abstract_in(document, quotes))

    def _current(self) -> "_State":
        """The documents as they are now, read again only when the collection has changed."""
        revision = self._collection.revision()
        if self._state.revision != revision:
            self._state = _State(revision, {document.name: document for document in self._collection.documents()})
        return self._state


@dataclass(frozen=True)
class _State:
    """The documents of one revision of the collection, by name."""

    revision: int
    documents: Mapping[str, Document]

    @cached_property
    def _dates(self) -> dict[str, PublicationDate | None]:
        return {name: date_in(document.metadata) for name, document in self.documents.items()}

    @cached_property
    def _filters(self) -> dict[str, tuple[Filter, int]]:
        return {}

    def published_by(self, before: PublicationDate) -> tuple[Filter, int]:
        """A filter for the documents that were published by a date, and how many have none; made once for each."""
        if str(before) not in self._filters:
            dates = self._dates.items()
            names = tuple(name for name, date in dates if date is not None and not date.may_follow(before))
            self._filters[str(before)] = Filter(documents=names), sum(date is None for _, date in dates)
        return self._filters[str(before)]


def read_document(document: Document, text: str) -> PaperText:
    """Return the text of a document as that of a paper; if it is only described, with why there is no full text."""
    if is_only_described(document):
        return PaperText(
            outcome="not_open_access",
            text=text,
            document=document.name,
            note="Its full text is not in the collection; this is its abstract.",
        )
    return PaperText(outcome="full_text", text=text, document=document.name, pages=max(1, document.pages))
