"""Quotes as other systems are shown them: title, words, summary of an image, and the stable URLs of a server."""

from collections.abc import Iterable
from typing import TypeVar
from urllib.parse import quote as percent_encode

from pydantic import Field

from quoteweave.core.answers import Answer, AnswerEvent, Citation, CitationEvent, Context, ImageEvent
from quoteweave.core.records import Hit, Kind, Quote, Record
from quoteweave.generation.answer_text import clip, escape_marks
from quoteweave.generation.citations import with_citations

MAX_SUMMARY_CHARACTERS = 120
MAX_EXCERPT_CHARACTERS = 300


def hit_fields(hit: Hit) -> dict[str, object]:
    """Return a hit as the command line and the server write it, without the key of its picture.

    `interchange.responses.FoundQuote` has these fields, and refuses others.
    """
    quote = hit.quote
    return {
        "rank": hit.rank,
        "score": hit.score,
        "quote_id": quote.id,
        "document": quote.document,
        "page": quote.page,
        "page_label": quote.page_label,
        "bbox": quote.bbox,
        "kind": quote.kind,
        "layout": quote.layout,
        "section": quote.section,
        "has_pages": quote.has_pages,
        "text": quote.shown_text,
    }


def numbered_hits(context: Context) -> list[tuple[Kind, int, Hit]]:
    """The hits of a context, texts first, each with the kind and the number by which marks name it."""
    texts: list[tuple[Kind, int, Hit]] = [("text", number, hit) for number, hit in enumerate(context.texts, 1)]
    return [*texts, *(("image", number, hit) for number, hit in enumerate(context.images, 1))]


def quote_title(quote: Quote) -> str:
    """The document and the quote's place in it: `port.pdf, page 3`."""
    return f"{quote.document}, {quote.place}"


def citation_title(citation: Citation) -> str:
    """The document and the cited quote's place in it, as `quote_title`."""
    return f"{citation.document}, {citation.place}"


def quote_text(quote: Quote) -> str:
    """All text of a quote; if it has none, its kind and place, since many systems refuse an empty text."""
    words = quote.shown_text
    return words if words.strip() else f"{quote.layout.capitalize()} without readable text ({quote_title(quote)})."


def image_summary(quote: Quote) -> str:
    """The summary of an image quote in its mark: its caption, else its title, on one line without brackets."""
    line = " ".join((quote.caption or "").split()) or f"{quote.layout.capitalize()}, {quote_title(quote)}"
    plain = escape_marks(line).translate(str.maketrans("[]", "()"))
    return clip(plain, MAX_SUMMARY_CHARACTERS)


def excerpt(citation: Citation) -> str:
    """The cited words on one line: those that support the claim if they are known, else the beginning of the quote.

    Empty if the citation does not carry the quote's words.
    """
    quoted = citation.quoted or ""
    words = " … ".join(quoted[span.start : span.end] for span in citation.spans) or quoted
    return clip(" ".join(words.split()), MAX_EXCERPT_CHARACTERS)


E = TypeVar("E", bound=Record)


class QuoteUrls(Record):
    """Makes the URLs under which a server shows one collection's quotes.

    Names and ids are percent-encoded, except for colons, since a path may hold them and every quote's id has two.

    >>> urls = QuoteUrls(base_url="https://docs.example/", collection="ports & harbours")
    >>> urls.quote("3f2a:0:1")
    'https://docs.example/c/ports%20%26%20harbours/q/3f2a:0:1'
    >>> urls.image("3f2a:0:1")
    'https://docs.example/v1/collections/ports%20%26%20harbours/quotes/3f2a:0:1/image'
    """

    base_url: str = Field(
        description="scheme, host and the path before the server's own; a slash at its end is dropped"
    )
    collection: str = Field(description="the name under which the collection is served")

    def quote(self, quote_id: str) -> str:
        """The stable URL of a quote: it shows the quote's place on its page."""
        return f"{self._base}/c/{_segment(self.collection)}/q/{_segment(quote_id)}"

    def image(self, quote_id: str) -> str:
        """The URL of the picture of a quote."""
        return f"{self._base}/v1/collections/{_segment(self.collection)}/quotes/{_segment(quote_id)}/image"

    def image_of(self, quote: Quote) -> str | None:
        """The URL of the picture of an image quote; None for a text quote, and for a table in a file without pages."""
        return self.image(quote.id) if quote.kind == "image" and quote.has_picture else None

    def page(self, document: str, number: int) -> str:
        """The URL of a page as JSON; `number` counts from 0. Slashes in the document's name stay."""
        return f"{self._base}/v1/collections/{_segment(self.collection)}/pages/{percent_encode(document)}/{number}"

    def citation(self, citation: Citation) -> Citation:
        """Return the citation with `url` and, if it cites an image quote that has a picture, `image_url`."""
        picture = self.image(citation.quote_id) if citation.kind == "image" and citation.has_picture else None
        return citation.model_copy(update={"url": self.quote(citation.quote_id), "image_url": picture})

    def citations(self, citations: Iterable[Citation]) -> tuple[Citation, ...]:
        """Return each citation with its URLs, in order."""
        return tuple(map(self.citation, citations))

    def answer(self, answer: Answer) -> Answer:
        """Return the answer with the URLs of all its citations, in its blocks too."""
        return with_citations(answer, self.citations(answer.citations))

    def event(self, event: E) -> E:
        """Return an event of a streamed answer with the URLs of the citations in it; other events as they are."""
        if isinstance(event, CitationEvent):
            return event.model_copy(update={"citation": self.citation(event.citation)})
        if isinstance(event, ImageEvent):
            return event.model_copy(update={"citation": self.citation(event.citation)})
        if isinstance(event, AnswerEvent):
            return event.model_copy(update={"answer": self.answer(event.answer)})
        return event

    @property
    def _base(self) -> str:
        return self.base_url.rstrip("/")


def _segment(text: str) -> str:
    return percent_encode(text, safe=":")
