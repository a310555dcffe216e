"""The tools themselves: each takes a call and its arguments, and returns what the client is sent."""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent
from starlette.concurrency import run_in_threadpool

from quoteweave.core.answers import Answer, AnswerEvent, Citation, ImageBlock, TextEvent, ThoughtEvent
from quoteweave.core.errors import QuoteweaveError
from quoteweave.core.messages import pluralize
from quoteweave.core.records import Filter, Quote, Record
from quoteweave.interchange.problems import Problem
from quoteweave.interchange.quotes import citation_title, quote_text, quote_title
from quoteweave.interchange.responses import ErrorEvent
from quoteweave.pipeline.rag import Answered, SourcesEvent
from quoteweave.server.answers.answering import PreparedAnswer, find_quotes, prepare_answer
from quoteweave.server.answers.requests import AnswerRequest, SearchRequest
from quoteweave.server.document_pages import describe_page, page_word_boxes
from quoteweave.server.mcp.call import Call, id_of
from quoteweave.server.mcp.records import (
    AskArguments,
    CitedAnswer,
    FetchArguments,
    FetchedItem,
    FoundItem,
    PageContent,
    PageQuote,
    ReadPageArguments,
    SearchArguments,
    SearchResults,
)
from quoteweave.server.pictures import media_type
from quoteweave.server.problems import ProblemError, problem_of
from quoteweave.server.served import ServedCollection

MAX_PICTURES = 700_000
"""Bytes of the pictures of one result, at most: some clients refuse results of more than a megabyte in base64."""


@dataclass(frozen=True, slots=True)
class ToolEntry:
    """A tool as clients are told of it, and what runs it."""

    title: str
    description: str
    arguments: type[Record]
    output: type[Record]
    run: Callable[[Call, Any], Awaitable[CallToolResult]]


async def search(call: Call, arguments: SearchArguments) -> CallToolResult:
    """Find quotes."""
    collection = await run_in_threadpool(call.collection, arguments.collection)
    request = SearchRequest(question=arguments.query, k=arguments.limit, filters=Filter(documents=arguments.documents))
    result = await find_quotes(call.served, collection, request, grant=call.grant)
    urls = call.urls(collection)
    items = [
        FoundItem(id=id_of(collection, hit.quote), title=_title(hit.quote), url=urls.quote(hit.quote.id))
        for hit in result.hits
    ]
    return _result(SearchResults(results=tuple(items)))


async def fetch(call: Call, arguments: FetchArguments) -> CallToolResult:
    """Read a quote."""
    collection, quote = await run_in_threadpool(call.quote, arguments.id)
    return _result(_fetched_item(call, collection, quote))


async def ask(call: Call, arguments: AskArguments) -> CallToolResult:
    """Answer a question."""
    collection = await run_in_threadpool(call.collection, arguments.collection)
    # The answer is not stored: the tool is declared to be read-only, and the client keeps its own conversation.
    request = AnswerRequest(question=arguments.question, filters=Filter(documents=arguments.documents), store=False)
    prepared = prepare_answer(call.served, collection, request, base_url=call.base_url, grant=call.grant)
    answer = await _answer(prepared, call)
    if isinstance(answer, Problem):
        return failure(answer.detail)
    images, notes = await _shown_images(call, collection, answer)
    record = CitedAnswer(
        collection=collection.name,
        question=answer.question,
        status=answer.status,
        text=answer.text,
        citations=answer.citations,
        warnings=(*answer.warnings, *notes),
        model=answer.model,
    )
    return _result(record, images, text=_readable(record))


async def read_page(call: Call, arguments: ReadPageArguments) -> CallToolResult:
    """Read a page."""
    collection = await run_in_threadpool(call.collection, arguments.collection)
    opened, place = collection.collection, (arguments.document, arguments.page)
    page = await run_in_threadpool(describe_page, collection, *place, call.base_url)
    words = (await run_in_threadpool(page_word_boxes, collection, *place)).words
    pictures: list[ContentBlock] = []
    if page.has_pages:
        content = await call.served.pictures.page_content(opened, *place)
        if len(content) > MAX_PICTURES:
            content = await call.served.pictures.page_content(opened, *place, lossy=True)
        pictures.append(_image(content))
    lines: dict[int, list[str]] = {}
    for word in words or ():
        lines.setdefault(word.line, []).append(word.text)
    record = PageContent(
        collection=collection.name,
        document=arguments.document,
        page=arguments.page,
        page_label=page.page.label,
        pages=page.pages,
        width=page.page.width,
        height=page.page.height,
        words=None if words is None else "\n".join(" ".join(line) for line in lines.values()),
        quotes=tuple(_page_quote(call, collection, quote) for quote in page.quotes),
        image=bool(pictures),
    )
    return _result(record, pictures)


def _fetched_item(call: Call, collection: ServedCollection, quote: Quote) -> FetchedItem:
    """Return a quote in the form that clients for research read."""
    metadata = {
        "collection": collection.name,
        "document": quote.document,
        "page": str(quote.page),
        "page_label": quote.page_label,
        "kind": quote.kind,
        "layout": quote.layout,
    }
    if quote.section:
        metadata["section"] = quote.section
    return FetchedItem(
        id=id_of(collection, quote),
        title=_title(quote),
        text=quote_text(quote),
        url=call.urls(collection).quote(quote.id),
        metadata=metadata,
    )


def failure(message: str) -> CallToolResult:
    """Return the result of a call that failed; models read the message."""
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


TOOLS: Mapping[str, ToolEntry] = {
    "search": ToolEntry(
        "Search documents",
        "Find the passages, tables and figures of the documents that bear on a question, best first. Returns ids, "
        "titles (document and page) and URLs; read the words with fetch. Use this to look for evidence yourself; use "
        "ask for a finished answer.",
        SearchArguments,
        SearchResults,
        search,
    ),
    "fetch": ToolEntry(
        "Read a quote",
        "Read the words of one passage, table or figure by the id that search gave, with its document, page and URL. "
        "Cite the URL with whatever you take from it.",
        FetchArguments,
        FetchedItem,
        fetch,
    ),
    "ask": ToolEntry(
        "Answer from the documents",
        "Answer a question from the documents alone. Every claim has a mark, as [1], with a citation: document, page, "
        "quoted words, boxes on the page and a URL. Figures and tables that the answer shows follow as images. Where "
        "the documents do not say it, the status is abstained. Keep the marks and URLs when you pass the answer on.",
        AskArguments,
        CitedAnswer,
        ask,
    ),
    "read_page": ToolEntry(
        "Read a page",
        "Read a whole page of a document: its words, its quotes with their ids and boxes, and its picture. Use it to "
        "see what stands around a quote, or to look at a chart, table or formula.",
        ReadPageArguments,
        PageContent,
        read_page,
    ),
}
"""Every tool by its name; `search` and `fetch` have the form that deep research clients require."""


async def _answer(prepared: PreparedAnswer, call: Call) -> Answer | Problem:
    """Return the answer, with the notes of its search among its warnings, or the problem that ended it.

    A cancelled call closes the stream, so that the model stops.
    """
    answer, sources, characters = None, None, 0
    async with aclosing(prepared.events()) as events:
        async for event in events:
            if isinstance(event, ErrorEvent):
                return event.problem
            if isinstance(event, AnswerEvent):
                answer = event.answer
            elif isinstance(event, SourcesEvent):
                sources = event
                quote_count = len(event.context.texts) + len(event.context.images)
                await call.progress.notify(f"{pluralize(quote_count, 'quote')} found; the answer is being written")
            elif isinstance(event, ThoughtEvent):
                await call.progress.notify("the model is thinking")
            elif isinstance(event, TextEvent):
                characters += len(event.text)
                await call.progress.notify(f"{pluralize(characters, 'character')} written")
    if answer is None or sources is None:
        raise RuntimeError("the stream of the answer ended without the answer")
    return Answered(answer=answer, context=sources.context, trace=sources.trace).with_search_notes()


async def _shown_images(
    call: Call, collection: ServedCollection, answer: Answer
) -> tuple[list[ContentBlock], list[str]]:
    """Return the images that the answer shows, each under a line that names it, and notes on those not sent."""
    contents: list[ContentBlock] = []
    notes, bytes_left = [], MAX_PICTURES
    image_blocks = [block for block in answer.blocks if isinstance(block, ImageBlock) and block.citation.has_picture]
    for block in {block.citation.quote_id: block for block in image_blocks}.values():
        title = f"{block.citation.name}, {citation_title(block.citation)}"
        try:
            quote = await run_in_threadpool(collection.collection.quote, block.citation.quote_id)
            content = await call.served.pictures.quote_content(collection.collection, quote)
        except (QuoteweaveError, ProblemError) as error:
            notes.append(f"{title}: its picture cannot be shown: {problem_of(error).detail}")
            continue
        if len(content) > bytes_left:
            notes.append(f"{title}: its picture is too large to be sent here; see {block.citation.url}")
            continue
        bytes_left -= len(content)
        contents += [TextContent(text=f"{title}: {block.summary}"), _image(content)]
    return contents, notes


def _readable(record: CitedAnswer) -> str:
    """Write an answer as text: the answer, its sources with their URLs and quoted words, and warnings."""
    sources: dict[str, str] = {}
    for citation in record.citations:
        words = _supporting_words(citation)
        lines = [
            f"{citation.name} {citation_title(citation)} (id {record.collection}/{citation.quote_id})",
            f"  {citation.url}",
        ]
        sources.setdefault(citation.name, "\n".join([*lines, f"  “{words}”"] if words else lines))
    parts = [record.text]
    if sources:
        parts.append("\n".join(["Sources:", *sources.values()]))
    return "\n\n".join([*parts, *(f"Warning: {warning}" for warning in record.warnings)])


def _supporting_words(citation: Citation) -> str:
    """Return the words that support the claim, or all words of the quote if these are not known; on one line."""
    quoted = citation.quoted or ""
    parts = [quoted[span.start : span.end] for span in citation.spans] or [quoted]
    return " … ".join(" ".join(part.split()) for part in parts)


def _title(quote: Quote) -> str:
    """Return the document and the place in it; if the place is a page, with its section."""
    title = quote_title(quote)
    section = " ".join((quote.section or "").split())
    return f"{title}: {section}" if section and quote.has_pages else title


def _page_quote(call: Call, collection: ServedCollection, quote: Quote) -> PageQuote:
    return PageQuote(
        id=id_of(collection, quote),
        kind=quote.kind,
        layout=quote.layout,
        section=quote.section,
        bbox=quote.bbox,
        text=quote.shown_text,
        url=call.urls(collection).quote(quote.id),
    )


def _image(content: bytes) -> ImageContent:
    return ImageContent(data=base64.b64encode(content).decode(), mime_type=media_type(content))


def _result(record: Record, images: Sequence[ContentBlock] = (), *, text: str | None = None) -> CallToolResult:
    """Return a record as structured content, and as text for models: `text`, or else the record as JSON."""
    structured = record.model_dump(mode="json")
    text_shown = json.dumps(structured, ensure_ascii=False) if text is None else text
    return CallToolResult(content=[TextContent(text=text_shown), *images], structured_content=structured)
