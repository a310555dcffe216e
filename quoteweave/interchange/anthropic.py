"""Anthropic's Messages API: quotes as `search_result` blocks, and Claude's citations of them as an answer.

A search result is a page, and each of its text blocks is one quote, so that the block indexes of a citation
(`search_result_location`) name quotes. Messages are read as the SDK's objects or as their JSON, whole or streamed.
"""

from collections.abc import Mapping, Sequence
from typing import Literal, NotRequired, TypedDict

from quoteweave.core.answers import Answer, Context
from quoteweave.core.records import Hit, Kind, Quote
from quoteweave.generation.picture_files import encode
from quoteweave.interchange.cited_text import statements
from quoteweave.interchange.quote_labels import quote_title, quote_words
from quoteweave.interchange.urls import QuoteUrls

MAX_PICTURE_PIXELS = 1_568 * 1_568
"""Larger pictures are shrunk before they are sent, as Claude would shrink them."""


class CitationsConfig(TypedDict):
    """Whether the model may cite a block."""

    enabled: bool


class TextContent(TypedDict):
    """A `text` block."""

    type: Literal["text"]
    text: str


class SearchResult(TypedDict):
    """A `search_result` block."""

    type: Literal["search_result"]
    source: str
    title: str
    content: list[TextContent]
    citations: CitationsConfig


class Base64Source(TypedDict):
    """The bytes of an image."""

    type: Literal["base64"]
    media_type: str
    data: str


class ImageContent(TypedDict):
    """An `image` block."""

    type: Literal["image"]
    source: Base64Source


ContentBlock = SearchResult | TextContent | ImageContent


class SearchResultLocation(TypedDict):
    """A citation of text blocks of a search result; the end is exclusive."""

    type: Literal["search_result_location"]
    search_result_index: int
    start_block_index: int
    end_block_index: int
    cited_text: str
    source: str
    title: str | None


class CitedText(TextContent):
    """A `text` block of a message, with its citations."""

    citations: NotRequired[list[SearchResultLocation] | None]


def search_result_blocks(
    context: Context, *, urls: QuoteUrls | None = None, pictures: Mapping[str, bytes] | None = None
) -> list[ContentBlock]:
    """Make the content blocks that give Claude the quotes of a context, for a user's message or a tool's result.

    One search result for each page, pages and quotes in the order of the context. `source` is the URL that shows the
    page at its first quote, or the document's name without `urls`. Image quotes give their words, and after all
    search results those with `pictures`, by quote id, give their image behind a line that names it. Raises UnfitPicture
    for a picture that is damaged or no PNG, JPEG, WebP or GIF.
    """
    blocks: list[ContentBlock] = [_search_result(page, urls) for page in _pages(context)]
    for hit in context.images:
        picture = (pictures or {}).get(hit.quote.id)
        if picture is not None:
            blocks += [{"type": "text", "text": f"The image of {quote_title(hit.quote)}:"}, _image(picture)]
    return blocks


def message_content(answer: Answer, context: Context, *, first_result: int = 0) -> list[CitedText]:
    """Write an answer as the text blocks of a message of Claude's, which cites the blocks of `search_result_blocks`.

    The marks are taken out: each becomes a citation of the block that ends where it stood. `first_result` is the number
    of search results that stand before those of this context in the request.
    """
    locations = _locations(context, first_result)
    blocks: list[CitedText] = []
    for statement in statements(answer):
        cited = [locations[citation.kind, citation.number] for citation in statement.citations]
        block: CitedText = {"type": "text", "text": statement.text}
        blocks.append({**block, "citations": cited} if cited else block)
    return blocks


def cited_quotes(context: Context, result: int, start: int, end: int) -> list[tuple[Kind, int, Quote]]:
    """Return the quotes that a citation names: blocks `start` to `end`, exclusive, of the search result `result`.

    Indexes count from 0, those of results among the results of this context. Empty where they name none.
    """
    pages = _pages(context)
    if not (0 <= result < len(pages) and 0 <= start < end <= len(pages[result])):
        return []
    return [(kind, number, hit.quote) for kind, number, hit in pages[result][start:end]]


_Numbered = tuple[Kind, int, Hit]


def _pages(context: Context) -> list[list[_Numbered]]:
    """The quotes with their numbers, together where they are of one page."""
    pages: dict[tuple[str, int], list[_Numbered]] = {}
    given: list[tuple[Kind, Sequence[Hit]]] = [("text", context.texts), ("image", context.images)]
    for kind, hits in given:
        for number, hit in enumerate(hits, 1):
            pages.setdefault((hit.quote.document, hit.quote.page), []).append((kind, number, hit))
    return list(pages.values())


def _search_result(page: Sequence[_Numbered], urls: QuoteUrls | None) -> SearchResult:
    first = page[0][2].quote
    return {
        "type": "search_result",
        "source": first.document if urls is None else urls.quote(first.id),
        "title": quote_title(first),
        "content": [{"type": "text", "text": quote_words(hit.quote)} for _, _, hit in page],
        "citations": {"enabled": True},
    }


def _image(picture: bytes) -> ImageContent:
    head, _, data = encode(picture, MAX_PICTURE_PIXELS).url.partition(";base64,")
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": head.removeprefix("data:"), "data": data},
    }


def _locations(context: Context, first_result: int) -> dict[tuple[Kind, int], SearchResultLocation]:
    """The citation that names each quote."""
    return {
        (kind, number): {
            "type": "search_result_location",
            "search_result_index": first_result + result,
            "start_block_index": block,
            "end_block_index": block + 1,
            "cited_text": quote_words(hit.quote),
            "source": page[0][2].quote.document,
            "title": quote_title(page[0][2].quote),
        }
        for result, page in enumerate(_pages(context))
        for block, (kind, number, hit) in enumerate(page)
    }
