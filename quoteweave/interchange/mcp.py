"""Searches and quotes as clients of deep research expect them of an MCP server's tools `search` and `fetch`."""

from collections.abc import Iterable
from typing import TypedDict

from quoteweave.core.records import Hit, Quote
from quoteweave.interchange.quote_labels import quote_title, quote_words
from quoteweave.interchange.urls import QuoteUrls


class FoundQuote(TypedDict):
    """A result of `search`."""

    id: str
    title: str
    url: str


class FoundQuotes(TypedDict):
    """What `search` returns."""

    results: list[FoundQuote]


class FetchedQuote(FoundQuote):
    """What `fetch` returns."""

    text: str
    metadata: dict[str, str]


def search_results(hits: Iterable[Hit], urls: QuoteUrls) -> FoundQuotes:
    """Write hits as the results of `search`, best first."""
    return {"results": [_found(hit.quote, urls) for hit in hits]}


def fetched(quote: Quote, urls: QuoteUrls) -> FetchedQuote:
    """Write a quote as the result of `fetch`: all its text, and in `metadata` where it stands and what it is."""
    known = {
        "document": quote.document,
        "page": str(quote.page),
        "page_label": quote.page_label,
        "place": quote.place,
        "kind": quote.kind,
        "layout": quote.layout,
        "section": quote.section,
        "caption": quote.caption,
        "image_url": urls.image_of(quote),
    }
    metadata = {name: value for name, value in known.items() if value is not None}
    return {**_found(quote, urls), "text": quote_words(quote), "metadata": metadata}


def _found(quote: Quote, urls: QuoteUrls) -> FoundQuote:
    return {"id": quote.id, "title": quote_title(quote), "url": urls.quote(quote.id)}
