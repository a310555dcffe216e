"""What the tools are given and what they return. Their descriptions are read by language models."""

import json
from typing import Annotated

from pydantic import BeforeValidator, Field

from quoteweave.core.answers import AnswerStatus, Citation
from quoteweave.core.boxes import Box
from quoteweave.core.records import Kind, Layout, Record
from quoteweave.server.answers.requests import Question

MAX_RESULTS = 50
_DOCUMENTS = (
    "Names of the documents to search, as they stand in titles and citations; leave it out to search all of them."
)
_COLLECTION = "Name of the collection of documents. It may be left out where there is only one."


def _as_list(value: object) -> object:
    """Read a single name as a list of one, and a string with a JSON list as that list: clients send either."""
    if not isinstance(value, str):
        return value
    try:
        decoded = json.loads(value)
    except ValueError:
        return [value]
    return decoded if isinstance(decoded, list) else [value]


CollectionArgument = Annotated[str | None, Field(description=_COLLECTION)]
DocumentsArgument = Annotated[tuple[str, ...] | None, BeforeValidator(_as_list), Field(description=_DOCUMENTS)]


class SearchArguments(Record):
    """What to search for."""

    query: Question = Field(description="A question, or words that the passage is likely to have.")
    collection: CollectionArgument = None
    documents: DocumentsArgument = None
    limit: int = Field(default=10, ge=1, le=MAX_RESULTS, description="How many results.")


class FetchArguments(Record):
    """Which quote to read."""

    id: str = Field(min_length=1, description="The `id` of a search result, or of a quote of read_page.")


class AskArguments(Record):
    """What to answer."""

    question: Question = Field(description="A whole question that stands by itself.")
    collection: CollectionArgument = None
    documents: DocumentsArgument = None


class ReadPageArguments(Record):
    """Which page to read."""

    document: str = Field(min_length=1, description="Name of the document, as it stands in titles and citations.")
    page: int = Field(
        ge=0,
        le=1_000_000,
        description="The page counted from 0, as the field `page` of citations and metadata has it: the first page "
        "is 0. It is not the number printed on the page, which `page_label` has.",
    )
    collection: CollectionArgument = None


class FoundItem(Record):
    """A search result."""

    id: str = Field(description="Give this to fetch.")
    title: str = Field(description="The document and the place in it.")
    url: str = Field(description="Where a person can see the quote on its page. Cite this URL.")


class SearchResults(Record):
    """The quotes that bear on the query, best first."""

    results: tuple[FoundItem, ...]


class FetchedItem(Record):
    """A quote with its words."""

    id: str
    title: str = Field(description="The document and the place in it.")
    text: str = Field(description="The quote's words.")
    url: str = Field(description="Where a person can see the quote on its page. Cite this URL.")
    metadata: dict[str, str] = Field(
        description="collection, document, page (from 0), page_label (as printed), kind, layout, and section if any."
    )


class CitedAnswer(Record):
    """An answer with its citations."""

    collection: str
    question: str
    status: AnswerStatus = Field(
        description="answered; located: no sentence says it, and the cited places bear on it; abstained: the documents "
        "do not say."
    )
    text: str = Field(description="The answer. Its marks, as [1], are resolved by the citations.")
    citations: tuple[Citation, ...] = Field(
        description="One for each mark: its quote, URL, page, quoted words, and boxes on the page. "
        "COLLECTION/QUOTE_ID is the id for fetch."
    )
    warnings: tuple[str, ...] = Field(description="What may be lacking.")
    model: str = Field(description="The model that wrote the answer; extractive: sentences of the documents.")


class PageQuote(Record):
    """A quote of the page."""

    id: str = Field(description="Give this to fetch.")
    kind: Kind
    layout: Layout
    section: str | None = Field(description="The title that it stands under.")
    bbox: Box = Field(description="Points from the top left of the page.")
    text: str
    url: str


class PageContent(Record):
    """A page with its quotes."""

    collection: str
    document: str
    page: int = Field(description="From 0.")
    page_label: str = Field(description="The number or label printed on the page.")
    pages: int = Field(description="How many pages the document has.")
    width: float = Field(description="Points.")
    height: float = Field(description="Points.")
    words: str | None = Field(description="The words of the page, line by line; null where only the quotes have them.")
    quotes: tuple[PageQuote, ...] = Field(description="In reading order, headers and footers included.")
    image: bool = Field(description="Whether the page's picture follows as image content.")
