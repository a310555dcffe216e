"""Answers requests: whole, or as the events of a stream, with the URLs at which the cited quotes are shown."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Literal
from uuid import uuid4

from pydantic import Field
from sse_starlette import ServerSentEvent

from quoteweave.collection.collection import Collection
from quoteweave.core.answer_events import CitationEvent, ImageEvent
from quoteweave.core.answers import Answer, Context
from quoteweave.core.errors import EndpointUnreachable, QuoteweaveError
from quoteweave.core.records import Filter, Record
from quoteweave.endpoints.budget import Budget, limit_task_spending
from quoteweave.interchange.urls import QuoteUrls
from quoteweave.interchange.vercel import ui_message_stream
from quoteweave.pipeline.highlighting import quote_regions
from quoteweave.pipeline.rag import Answered, Rag, SourcesEvent, StreamEvent
from quoteweave.pipeline.search import Trace
from quoteweave.server.problems import Problem, problem_of
from quoteweave.server.requests import AnswerRequest
from quoteweave.server.served import Served, ServedCollection
from quoteweave.server.settings import ServerSettings


class AnswerResponse(Record):
    """An answer, the context that its marks refer to, and how that was found."""

    answer: Answer
    context: Context
    trace: Trace
    standalone_question: str | None = Field(
        default=None, description="the question as it was asked of the documents, where it was rewritten"
    )
    conversation: str | None = Field(default=None, description="id of the conversation that keeps it")
    turn: str | None = Field(default=None, description="id of the answer within its conversation")


class ErrorEvent(Record):
    """The last event of a stream that could not end with an answer."""

    type: Literal["error"] = "error"
    problem: Problem


@dataclass(frozen=True, slots=True)
class Asked:
    """A request with all that answers it."""

    rag: Rag
    question: str
    where: Filter
    urls: QuoteUrls
    collection: Collection
    settings: ServerSettings

    async def answer(self) -> Answered:
        """Return the answer with its URLs. Raises what `Rag.answer_async` raises, and where it takes too long."""
        self._limit()
        async with _time_limit(self.settings.answer_seconds):
            found = await self.rag.answer_with_context_async(self.question, where=self.where)
        return found.model_copy(update={"answer": self.urls.answer(found.answer)})

    async def events(self) -> AsyncGenerator[StreamEvent | ErrorEvent, None]:
        """Yield the events of the answer with their URLs; an error is the last of them."""
        self._limit()
        try:
            async with (
                _time_limit(self.settings.answer_seconds),
                aclosing(self.rag.stream(self.question, where=self.where)) as events,
            ):
                context = Context()
                async for event in events:
                    if isinstance(event, SourcesEvent):
                        context = event.context
                    yield self.urls.event(self._with_regions(event, context))
        except QuoteweaveError as error:
            yield ErrorEvent(problem=problem_of(error))

    def _with_regions(self, event: StreamEvent, context: Context) -> StreamEvent:
        """Add the place of its element to a citation that has just been written; its words come with the answer."""
        if not isinstance(event, CitationEvent | ImageEvent):
            return event
        quote = context.quote(event.citation.kind, event.citation.number)
        regions = () if quote is None else quote_regions(quote, self.collection)
        return event.model_copy(update={"citation": event.citation.model_copy(update={"regions": regions})})

    def _limit(self) -> None:
        usd, tokens = self.settings.answer_usd, self.settings.answer_tokens
        if usd is not None or tokens is not None:
            limit_task_spending(Budget(max_usd=usd, max_tokens=tokens))


def ask(served: Served, collection: ServedCollection, request: AnswerRequest, base_url: str) -> Asked:
    """Prepare a request. Raises UsageError for a setting that the server does not allow."""
    settings = served.answer_settings(collection, request.settings)
    return Asked(
        rag=collection.rag(settings, request.filters),
        question=request.question,
        where=request.filters,
        urls=QuoteUrls(base_url=base_url, collection=collection.name),
        collection=collection.collection,
        settings=served.settings,
    )


def to_response(answered: Answered) -> AnswerResponse:
    """Return the body of the response."""
    return AnswerResponse(answer=answered.answer, context=answered.context, trace=answered.trace)


async def sent_events(events: AsyncIterator[Record]) -> AsyncGenerator[ServerSentEvent, None]:
    """Turn events into server-sent events, named by their type."""
    async for event in events:
        yield ServerSentEvent(data=event.model_dump_json(), event=str(getattr(event, "type")))  # noqa: B009


async def ui_message_events(asked: Asked) -> AsyncGenerator[bytes, None]:
    """Write the events of the answer as Vercel's UI message stream, under an id of its own."""
    async with aclosing(_without_error_event(asked)) as events:
        async for sent in ui_message_stream(events, f"msg_{uuid4().hex}", urls=asked.urls):
            yield sent.encode()


async def _without_error_event(asked: Asked) -> AsyncGenerator[StreamEvent, None]:
    async with aclosing(asked.events()) as events:
        async for event in events:
            if isinstance(event, ErrorEvent):
                raise QuoteweaveError(event.problem.detail)
            yield event


@asynccontextmanager
async def _time_limit(seconds: float) -> AsyncIterator[None]:
    """End the block after so many seconds with EndpointUnreachable, which says so."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise EndpointUnreachable(
            f"the answer took longer than the {seconds:g} seconds that this server gives one"
        ) from error
