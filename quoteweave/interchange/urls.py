"""Where a server shows quotes: the stable URLs of a quote and of its picture, and records filled with them."""

from collections.abc import Iterable
from typing import TypeVar
from urllib.parse import quote as percent_encode

from pydantic import Field

from quoteweave.core.answers import Answer, AnswerEvent, Citation, CitationEvent, ImageEvent
from quoteweave.core.records import Quote, Record
from quoteweave.generation.citations import with_citations

E = TypeVar("E", bound=Record)


class QuoteUrls(Record):
    """Makes the URLs under which a server shows one collection's quotes.

    Names and ids are percent-encoded; a colon stays as it is, since a path may hold it and every quote's id has two.

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
        """The URL of the picture of an image quote, a PNG."""
        return f"{self._base}/v1/collections/{_segment(self.collection)}/quotes/{_segment(quote_id)}/image"

    def image_of(self, quote: Quote) -> str | None:
        """The URL of the quote's own picture; None for a text quote, which has none."""
        return self.image(quote.id) if quote.kind == "image" else None

    def page(self, document: str, number: int) -> str:
        """The URL of a page as JSON; `number` counts from 0. Slashes in the document's name stay."""
        return f"{self._base}/v1/collections/{_segment(self.collection)}/pages/{percent_encode(document)}/{number}"

    def citation(self, citation: Citation) -> Citation:
        """Return the citation with `url`, and with `image_url` where it cites an image quote."""
        picture = self.image(citation.quote_id) if citation.kind == "image" else None
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
