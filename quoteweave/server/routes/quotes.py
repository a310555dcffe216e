"""Quotes and pages: their words, boxes and pictures."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import QuoteNotFound, UsageError
from quoteweave.core.records import Quote
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.interchange.responses import CitedIn, Neighbours, PageResponse, QuoteResponse, WordsResponse
from quoteweave.pipeline.highlighting import quote_regions
from quoteweave.server.depends import BaseUrl, Readable, Reader, ServedState
from quoteweave.server.document_pages import describe_page, find_page, page_word_boxes
from quoteweave.server.state.conversations import StoredQuote

router = APIRouter(tags=["quotes and pages"])
NEIGHBOURS = 3
"""Quotes that are shown before a quote and after it, at most."""

QuoteId = Annotated[str, Path(description="id of a quote", max_length=200)]
DocumentName = Annotated[str, Path(description="name of a document; it may hold slashes")]
PageNumber = Annotated[int, Path(ge=0, le=1_000_000, description="from 0")]


@router.get("/v1/collections/{collection}/quotes/{quote_id}", summary="A quote")
def read_quote(
    collection: Readable, quote_id: QuoteId, served: ServedState, grant: Reader, base_url: BaseUrl
) -> QuoteResponse:
    """Return a quote with its words, section, boxes and neighbours.

    One that a stored answer cites is shown as it was then, once the collection holds it no more.
    """
    urls = QuoteUrls(base_url=base_url, collection=collection.name)
    try:
        quote = collection.collection.quote(quote_id)
    except QuoteNotFound:
        stored = served.conversations.find_quote(collection.name, quote_id, grant.viewer)
        if stored is None:
            raise
        return _as_cited(stored, urls)
    return QuoteResponse(
        quote=quote,
        regions=quote_regions(quote, collection.collection),
        neighbours=_neighbours(quote, collection.collection),
        url=urls.quote(quote.id),
        image_url=urls.image_of(quote),
    )


def _as_cited(stored: StoredQuote, urls: QuoteUrls) -> QuoteResponse:
    return QuoteResponse(
        quote=stored.quote,
        regions=stored.regions,
        neighbours=Neighbours(previous=(), next=()),
        url=urls.quote(stored.quote.id),
        image_url=None,
        cited_in=CitedIn(conversation=stored.conversation, turn=stored.turn, created=stored.created),
    )


def _neighbours(quote: Quote, collection: Collection) -> Neighbours:
    quotes = [other for other in collection.document_quotes(quote.document) if other.retrievable or other == quote]
    index = next(index for index, other in enumerate(quotes) if other.id == quote.id)
    before, after = quotes[max(0, index - NEIGHBOURS) : index], quotes[index + 1 : index + 1 + NEIGHBOURS]
    return Neighbours(previous=tuple(before), next=tuple(after))


@router.get(
    "/v1/collections/{collection}/quotes/{quote_id}/image",
    summary="A quote's picture",
    response_class=Response,
    responses={200: {"content": {"image/png": {}, "image/jpeg": {}, "image/webp": {}}}},
)
async def quote_image(collection: Readable, quote_id: QuoteId, served: ServedState, request: Request) -> Response:
    """Return the picture of a quote, cut out of its page."""
    quote = await run_in_threadpool(collection.collection.quote, quote_id)
    return await served.pictures.quote(collection.collection, quote, request)


@router.get("/v1/collections/{collection}/pages/{document:path}/{page}/words", summary="The words of a page")
def page_words(collection: Readable, document: DocumentName, page: PageNumber) -> WordsResponse:
    """Return the words of a page with their boxes."""
    return page_word_boxes(collection, document, page)


@router.get(
    "/v1/collections/{collection}/pages/{document:path}/{page}/image",
    summary="A page's picture",
    response_class=Response,
    responses={200: {"content": {"image/png": {}, "image/jpeg": {}}}},
)
async def page_image(
    collection: Readable,
    document: DocumentName,
    page: PageNumber,
    served: ServedState,
    request: Request,
    quote: Annotated[str | None, Query(max_length=200, description="draw the box of this quote")] = None,
    format: Annotated[Literal["png", "jpeg"], Query(description="jpeg is smaller, and loses a little")] = "png",
    width: Annotated[int | None, Query(ge=1, le=10_000, description="reduce it to so many pixels across")] = None,
) -> Response:
    """Return a page as people see it, with a quote's box drawn if asked."""
    page_record = await run_in_threadpool(find_page, collection.collection, document, page)
    marked = None if quote is None else await run_in_threadpool(collection.collection.quote, quote)
    if marked is not None and (marked.document, marked.page) != (document, page):
        raise UsageError(f"the quote {marked.id} is on page {marked.page} of {marked.document!r}, not on this one")
    place, lossy = (document, page_record.number), format == "jpeg" and marked is None
    return await served.pictures.page(collection.collection, place, request, quote=marked, lossy=lossy, width=width)


@router.get("/v1/collections/{collection}/pages/{document:path}/{page}", summary="A page")
def read_page(collection: Readable, document: DocumentName, page: PageNumber, base_url: BaseUrl) -> PageResponse:
    """Return a page with its quotes, headers and footers included."""
    return describe_page(collection, document, page, base_url)
