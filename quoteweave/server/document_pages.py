"""Documents and pages as both the HTTP API and the MCP tools show them."""

from quoteweave.collection.collection import Collection
from quoteweave.core.boxes import fraction_of
from quoteweave.core.errors import UsageError
from quoteweave.core.records import Document, Page
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.interchange.responses import PageResponse, PageWordBox, WordsResponse
from quoteweave.server.problems import ProblemError
from quoteweave.server.served import ServedCollection


def find_document(collection: Collection, name: str) -> Document:
    """Return a document. Raises ProblemError where there is none of that name."""
    try:
        return collection.document(name)
    except UsageError as error:
        raise no_such_document(error) from error


def no_such_document(error: UsageError) -> ProblemError:
    """Return the problem of a name that no document has, with the error's message."""
    return ProblemError(404, "no-such-document", error.summary)


def find_page(collection: Collection, document: str, page: int) -> Page:
    """Return a page, counted from 0. Raises ProblemError where there is no such document or page."""
    try:
        return collection.page(document, page)
    except UsageError as error:
        raise ProblemError(404, "no-such-page", error.summary) from error


def describe_page(collection: ServedCollection, document: str, page: int, base_url: str) -> PageResponse:
    """Return a page with its quotes, headers and footers included. Raises as `find_page`."""
    opened = collection.collection
    record, document_record = find_page(opened, document, page), opened.document(document)
    quotes = tuple(opened.page_quotes(document, page))
    has_pages = record.text_source != "file" if not quotes else quotes[0].has_pages
    urls = QuoteUrls(base_url=base_url, collection=collection.name)
    return PageResponse(
        document=document,
        page=record,
        pages=document_record.pages,
        has_pages=has_pages,
        quotes=quotes,
        image_url=f"{urls.page(document, page)}/image" if has_pages else None,
    )


def page_word_boxes(collection: ServedCollection, document: str, page: int) -> WordsResponse:
    """Return the words of a page with their boxes. Raises as `find_page`."""
    page_record = find_page(collection.collection, document, page)
    page_words = collection.collection.page_words(document, page)

    if page_words is None:
        return WordsResponse(document=document, page=page, words=None)
    size = (page_record.width, page_record.height)
    boxes = tuple(
        PageWordBox(
            text=word.text, bbox=word.bbox, bbox_fraction=fraction_of(word.bbox, size), line=word.line, ocr=word.ocr
        )
        for word in page_words.words
    )
    return WordsResponse(document=document, page=page, words=boxes)
