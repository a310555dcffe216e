"""OpenAI's chat completions and Responses: an answer's citations as annotations, and hits as file search results.

An annotation (`url_citation`) covers the mark in the text that `shown_text` returns; offsets count characters. The
citations of answers need URLs, which `quotes.QuoteUrls.answer` fills in. Made for the API of openai 3.x.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NotRequired, TypedDict

from quoteweave.core.answers import Answer, Citation
from quoteweave.core.records import Hit, Quote
from quoteweave.interchange.quotes import QuoteUrls, citation_title, quote_text
from quoteweave.interchange.shown_text import ShownText, shown_text

MAX_ATTRIBUTE_CHARACTERS = 512
"""Characters of an attribute's value that the API allows, at most."""


class UrlCitation(TypedDict):
    """A cited URL, and where in the text it is cited; the end is exclusive."""

    start_index: int
    end_index: int
    title: str
    url: str


class ChatAnnotation(TypedDict):
    """An item of the `annotations` of a chat completion's message."""

    type: Literal["url_citation"]
    url_citation: UrlCitation


class ResponseAnnotation(UrlCitation):
    """An item of the `annotations` of a response's `output_text`."""

    type: Literal["url_citation"]


class ChatMessage(TypedDict):
    """The message of a chat completion. `citations` are ours, and no field of OpenAI's."""

    role: Literal["assistant"]
    content: str
    refusal: None
    annotations: list[ChatAnnotation]
    citations: list[dict[str, object]]


class ChatDelta(TypedDict):
    """The `delta` of a streamed chat completion's chunk."""

    content: NotRequired[str]
    annotations: NotRequired[list[ChatAnnotation]]
    citations: NotRequired[list[dict[str, object]]]


class OutputText(TypedDict):
    """The content of a response's message."""

    type: Literal["output_text"]
    text: str
    annotations: list[ResponseAnnotation]
    logprobs: list[object]


class FileSearchResult(TypedDict):
    """A hit as a result of the file search tool."""

    file_id: str
    filename: str
    text: str
    score: float | None
    attributes: dict[str, str | float | bool]


class FileSearchCall(TypedDict):
    """An output item that says what was searched, and what was found."""

    id: str
    type: Literal["file_search_call"]
    status: Literal["completed"]
    queries: list[str]
    results: list[FileSearchResult]


def chat_message(answer: Answer, *, with_sources: bool = False) -> ChatMessage:
    """Write an answer as the message of a chat completion; `with_sources` lists its sources below the text.

    Raises ValueError for an answer whose citations have no URL.
    """
    shown = shown_text(answer)
    return {
        "role": "assistant",
        "content": shown.text + (sources_list(shown.citations) if with_sources else ""),
        "refusal": None,
        "annotations": [chat_annotation(citation) for citation in shown.citations],
        "citations": typed_citations(shown.citations),
    }


def chat_delta(part: ShownText) -> ChatDelta:
    """Write the next part of a streamed answer as a chunk's `delta`. Raises as `chat_message`."""
    delta: ChatDelta = {}
    if part.text:
        delta["content"] = part.text
    if part.citations:
        delta["annotations"] = [chat_annotation(citation) for citation in part.citations]
        delta["citations"] = typed_citations(part.citations)
    return delta


def output_text(answer: Answer) -> OutputText:
    """Write an answer as the content of a response's message. Raises as `chat_message`."""
    shown = shown_text(answer)
    return {
        "type": "output_text",
        "text": shown.text,
        "annotations": [response_annotation(citation) for citation in shown.citations],
        "logprobs": [],
    }


def chat_annotation(citation: Citation) -> ChatAnnotation:
    """A citation of shown text as an annotation of a chat message. Raises ValueError where it has no URL."""
    return {"type": "url_citation", "url_citation": _url_citation(citation)}


def response_annotation(citation: Citation) -> ResponseAnnotation:
    """A citation of shown text as an annotation of a response's text. Raises ValueError where it has no URL."""
    return {"type": "url_citation", **_url_citation(citation)}


def typed_citations(citations: Iterable[Citation]) -> list[dict[str, object]]:
    """The whole record of each citation, for clients that read more than URLs."""
    return [citation.model_dump(mode="json") for citation in citations]


def sources_list(citations: Iterable[Citation]) -> str:
    """The cited quotes as a list of links, for clients that show no annotations; empty without citations.

    It begins with an empty line, so that it can be added to the text.
    """
    sources = {(citation.kind, citation.number): citation for citation in citations}
    lines = [
        f"- {f'[{number}]' if kind == 'text' else f'Image {number}:'} {citation_title(citation)}: {citation.url}"
        for (kind, number), citation in sources.items()
    ]
    return "\n".join(["", "", "Sources:", "", *lines]) if lines else ""


def file_search_call(call_id: str, queries: Sequence[str], hits: Sequence[Hit], urls: QuoteUrls) -> FileSearchCall:
    """Write a search as the output item of a file search; `queries` are the question and its clauses."""
    return {
        "id": call_id,
        "type": "file_search_call",
        "status": "completed",
        "queries": list(queries),
        "results": file_search_results(hits, urls),
    }


def file_search_results(hits: Sequence[Hit], urls: QuoteUrls) -> list[FileSearchResult]:
    """Write hits as results of a file search, one for each quote, named by its document's id.

    The API's scores lie between 0 and 1. If those of the hits do not, they are only given in the attributes, with the
    rank.
    """
    comparable = all(0 <= hit.score <= 1 for hit in hits)
    return [_file_search_result(hit, urls, score=hit.score if comparable else None) for hit in hits]


def _file_search_result(hit: Hit, urls: QuoteUrls, *, score: float | None) -> FileSearchResult:
    quote = hit.quote
    return {
        "file_id": quote.id.rsplit(":", 2)[0],
        "filename": quote.document,
        "text": quote_text(quote),
        "score": score,
        "attributes": {"rank": float(hit.rank), "score": hit.score, **_attributes(quote, urls)},
    }


def _attributes(quote: Quote, urls: QuoteUrls) -> dict[str, str | float | bool]:
    """Attributes of a quote. Values too long for the API are left out and not cut, as a cut URL leads nowhere."""
    known: dict[str, str | float | None] = {
        "quote_id": quote.id,
        "page": float(quote.page),
        "page_label": quote.page_label,
        "kind": quote.kind,
        "layout": quote.layout,
        "section": quote.section,
        "url": urls.quote(quote.id),
        "image_url": urls.image_of(quote),
    }
    return {
        name: value
        for name, value in known.items()
        if value is not None and not (isinstance(value, str) and len(value) > MAX_ATTRIBUTE_CHARACTERS)
    }


def _url_citation(citation: Citation) -> UrlCitation:
    if citation.url is None:
        raise ValueError(f"the citation of {citation.quote_id!r} has no URL: fill them in with QuoteUrls.answer")
    return {
        "start_index": citation.start,
        "end_index": citation.end,
        "title": citation_title(citation),
        "url": citation.url,
    }
