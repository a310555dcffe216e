"""Answers requests: whole, or as the events of a stream, with the URLs at which the cited quotes are shown."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from quoteweave.core.answers import Answer, AnswerEvent, CitationEvent, Context, ImageEvent
from quoteweave.core.errors import EndpointUnreachable, QuestionTooLong, QuoteweaveError
from quoteweave.core.records import Filter, Query
from quoteweave.endpoints.budget import Budget, limit_task_spending
from quoteweave.interchange.quotes import QuoteUrls
from quoteweave.interchange.responses import AnswerResponse, ErrorEvent
from quoteweave.pipeline.follow_ups.rewriting import FollowUps, Message
from quoteweave.pipeline.highlighting import quote_regions
from quoteweave.pipeline.rag import Answered, Rag, SourcesEvent, StreamEvent
from quoteweave.pipeline.search import SearchResult, Trace
from quoteweave.server.access.control import Grant
from quoteweave.server.answers.requests import AnswerRequest, SearchRequest
from quoteweave.server.answers.stored_answers import StoredAnswer
from quoteweave.server.monitoring import AnswerSpans, Metrics
from quoteweave.server.problems import report_problem
from quoteweave.server.served import Served, ServedCollection
from quoteweave.server.settings import ServerSettings


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """A request with everything that is needed to answer it."""

    rag: Rag
    question: str
    history: tuple[Message, ...]
    follow_ups: FollowUps
    where: Filter
    urls: QuoteUrls
    collection: ServedCollection
    settings: ServerSettings
    metrics: Metrics
    spans: AnswerSpans

    async def answer(self, client: Request) -> Answered:
        """Return the answer with its URLs.

        Raises what `Rag.answer_async` raises, EndpointUnreachable if it takes too long, and ClientDisconnect if the
        client closes the connection, which stops the work.
        """
        return await _while_connected(client, self._answer())

    async def _answer(self) -> Answered:
        self._begin()
        async with self._time_limit():
            standalone = await self.follow_ups.rewrite(self.question, self.history)
            answered = await self.rag.answer_with_context_async(standalone.question, where=self.where)
        answer = standalone.add_usage(answered.answer)
        self._note_sources(answered.context, answered.trace)
        self._note_answer(answer)
        update = {"answer": self.urls.answer(answer), "trace": standalone.annotate(answered.trace)}
        return answered.model_copy(update=update)

    async def events(self) -> AsyncGenerator[StreamEvent | ErrorEvent, None]:
        """Yield the events of the answer with their URLs; an error is the last of them."""
        self._begin()
        self.metrics.streams.inc()
        try:
            async with self._time_limit(), aclosing(self._stream()) as events:
                async for event in events:
                    yield event
        except QuoteweaveError as error:
            yield ErrorEvent(problem=report_problem(error, {self.collection.name: self.collection.folder}))
        finally:
            self.metrics.streams.dec()

    async def _stream(self) -> AsyncGenerator[StreamEvent, None]:
        standalone = await self.follow_ups.rewrite(self.question, self.history)
        context = Context()
        async with aclosing(self.rag.stream(standalone.question, where=self.where)) as events:
            async for event in events:
                if isinstance(event, SourcesEvent):
                    context = event.context
                    self._note_sources(context, event.trace)
                    yield event.model_copy(update={"trace": standalone.annotate(event.trace)})
                    continue
                if isinstance(event, AnswerEvent):
                    event = AnswerEvent(answer=standalone.add_usage(event.answer))  # noqa: PLW2901 - usage added
                    self._note_answer(event.answer)
                yield self.urls.event(self._with_regions(event, context))

    def _with_regions(self, event: StreamEvent, context: Context) -> StreamEvent:
        """Add the region of the quote to a citation that was just written; words are located only in the answer."""
        if not isinstance(event, CitationEvent | ImageEvent):
            return event
        quote = context.quote(event.citation.kind, event.citation.number)
        pages = self.collection.collection
        regions = () if quote is None else quote_regions(quote, pages)
        return event.model_copy(update={"citation": event.citation.model_copy(update={"regions": regions})})

    def _note_sources(self, context: Context, trace: Trace) -> None:
        self.metrics.count_search(self.collection.name, trace)
        self.spans.retrieved(context)

    def _note_answer(self, answer: Answer) -> None:
        self.metrics.count_answer(self.collection.name, answer)
        self.spans.answered(answer)

    @asynccontextmanager
    async def _time_limit(self) -> AsyncIterator[None]:
        """Raise EndpointUnreachable if the block takes longer than the server allows for an answer."""
        seconds = self.settings.answer_seconds
        try:
            async with asyncio.timeout(seconds) as limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            late = EndpointUnreachable(
                f"the answer took longer than the {seconds:g} seconds that this server gives one"
            )
            late.while_answering = self.follow_ups.model is not None
            raise late from error

    def _begin(self) -> None:
        self.spans.begin()
        usd, tokens = self.settings.answer_usd, self.settings.answer_tokens
        if usd is not None or tokens is not None:
            limit_task_spending(Budget(max_usd=usd, max_tokens=tokens))


async def _while_connected(client: Request, work: Coroutine[object, object, Answered]) -> Answered:
    """Return what the work returns. If the client disconnects first, ends the work and raises ClientDisconnect."""

    async def leave() -> None:
        while (await client.receive())["type"] != "http.disconnect":
            pass

    working, leaving = asyncio.create_task(work), asyncio.create_task(leave())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        for task in (working, leaving):
            task.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


def prepare_answer(
    served: Served, collection: ServedCollection, request: AnswerRequest, *, base_url: str, grant: Grant
) -> PreparedAnswer:
    """Prepare a request. Raises UsageError for a setting that the server does not allow, and QuestionTooLong."""
    limits = grant.limits(served.settings)
    _check_length(request.question, limits.max_question)
    settings = served.answer_settings(collection, request.settings)
    return PreparedAnswer(
        rag=collection.rag(settings),
        question=request.question,
        history=request.history,
        follow_ups=collection.follow_ups(settings),
        where=request.filters,
        urls=QuoteUrls(base_url=base_url, collection=collection.name),
        collection=collection,
        settings=limits,
        metrics=served.metrics,
        spans=AnswerSpans(collection.name, request.question, served.tracer, limits.log_text),
    )


async def find_quotes(
    served: Served, collection: ServedCollection, request: SearchRequest, *, grant: Grant
) -> SearchResult:
    """Find the quotes that a request asks for. Raises as `prepare_answer`."""
    _check_length(request.question, grant.limits(served.settings).max_question)
    search = collection.search(served.answer_settings(collection, request.settings))
    spans = AnswerSpans(collection.name, request.question, served.tracer, served.settings.log_text)
    spans.begin()
    result = await search.find(Query(text=request.question), request.k, where=request.filters)
    spans.retrieved(Context(texts=result.hits))
    served.metrics.count_search(collection.name, result.trace)
    return result


def _check_length(question: str, max_characters: int) -> None:
    # A question of a hundred thousand characters would keep a thread busy for seconds while other requests wait.
    if len(question) > max_characters:
        raise QuestionTooLong(
            f"the question has {len(question):,} characters, and may have {max_characters:,} here: ask a shorter one; "
            "a text to be searched is added as a document"
        )


def to_response(stored: StoredAnswer) -> AnswerResponse:
    """Return the body of the response."""
    answered = stored.answered
    return AnswerResponse(
        **dict(answered),
        standalone_question=answered.trace.standalone_question,
        conversation=stored.conversation,
        turn=stored.turn,
    )
