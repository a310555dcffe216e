"""`POST /v1/collections/{c}/answers` and `…/search`: cited answers, whole or streamed, and hits."""

from typing import Annotated

from fastapi import APIRouter, Body, Request
from starlette.responses import Response

from quoteweave.interchange.quotes import QuoteUrls, hit_fields
from quoteweave.interchange.responses import AnswerResponse, FoundQuote, SearchResponse
from quoteweave.pipeline.highlighting import all_quote_regions
from quoteweave.pipeline.search import SearchResult
from quoteweave.server.answers.answering import find_quotes, prepare_answer, to_response
from quoteweave.server.answers.event_streams import NamedEvents, VercelEvents, respond_with_events
from quoteweave.server.answers.requests import AnswerRequest, SearchRequest
from quoteweave.server.answers.stored_answers import AnswerRecorder
from quoteweave.server.depends import BaseUrl, Readable, Reader, ServedState, record_response
from quoteweave.server.examples import ANSWER_EXAMPLES, SEARCH_EXAMPLES
from quoteweave.server.json_bodies import JsonRoute
from quoteweave.server.served import ServedCollection

router = APIRouter(tags=["answers"], route_class=JsonRoute)


@router.post("/v1/collections/{collection}/search", summary="Find quotes", response_model=SearchResponse)
async def search(
    collection: Readable,
    request: Annotated[SearchRequest, Body(openapi_examples=SEARCH_EXAMPLES)],
    served: ServedState,
    grant: Reader,
    base_url: BaseUrl,
) -> Response:
    """Find the quotes that bear on a question, best first."""
    result = await find_quotes(served, collection, request, grant=grant)
    return record_response(_response(result, request.question, collection, base_url))


def _response(result: SearchResult, question: str, collection: ServedCollection, base_url: str) -> SearchResponse:
    urls, hits = QuoteUrls(base_url=base_url, collection=collection.name), []
    all_regions = all_quote_regions([hit.quote for hit in result.hits], collection.collection)
    for hit, regions in zip(result.hits, all_regions, strict=True):
        image = urls.image_of(hit.quote)
        links = {"regions": regions, "url": urls.quote(hit.quote.id), "image": image, "image_url": image}
        hits.append(FoundQuote.model_validate({**hit_fields(hit), **links}))
    return SearchResponse(question=question, hits=tuple(hits), trace=result.trace)


@router.post(
    "/v1/collections/{collection}/answers",
    summary="Answer a question",
    response_model=AnswerResponse,
    responses={200: {"content": {"text/event-stream": {}}}},
)
async def answer(
    collection: Readable,
    request: Annotated[AnswerRequest, Body(openapi_examples=ANSWER_EXAMPLES)],
    served: ServedState,
    grant: Reader,
    base_url: BaseUrl,
    client: Request,
) -> Response:
    """Answer a question with a citation for every claim; with `stream` as events while the answer is written."""
    recorder = AnswerRecorder(served, grant, collection=collection.name, request=request)
    await recorder.find_conversation()
    prepared = prepare_answer(served, collection, recorder.with_history(), base_url=base_url, grant=grant)
    if request.stream:
        writer = VercelEvents(prepared.urls) if request.format == "vercel" else NamedEvents()
        events = recorder.events(prepared.events())
        response = respond_with_events(events, writer, grace=served.settings.shutdown_seconds)
        response.headers.update(recorder.headers)
        return response
    return record_response(to_response(await recorder.keep(await prepared.answer(client))))
