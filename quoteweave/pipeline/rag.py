"""Answers questions: searches, gives the quotes to a generator, and checks what it writes."""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from quoteweave.core.answers import (
    C15,
    Answer,
    AnswerEvent,
    CitationEvent,
    Context,
    ContextSize,
    Event,
    ImageEvent,
    ThoughtEvent,
    replay_events,
)
from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.core.examples import Spending
from quoteweave.core.messages import pluralize
from quoteweave.core.protocols import Generator, Retriever, StreamingGenerator
from quoteweave.core.records import Filter, Query, Record
from quoteweave.endpoints.budget import record_spending
from quoteweave.endpoints.prices import add_spending
from quoteweave.generation.citations import image_event
from quoteweave.generation.gate.policies import Policy, StreamingFilter
from quoteweave.pipeline.gate import Gate
from quoteweave.pipeline.search import RetrievedContext, Search, Trace, UnreadNote
from quoteweave.pipeline.window import Window, fit_to_window
from quoteweave.retrievers.fusion import collection_of


class Answered(Record):
    """An answer, the context that its marks refer to, and the trace of the search.

    >>> rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
    >>> answered = rag.answer_with_context("How much grain was shipped in May?")
    >>> cited = answered.answer.citations[0]
    >>> answered.context.quote(cited.kind, cited.number).id == cited.quote_id
    True
    """

    answer: Answer = Field(description="the answer, checked")
    context: Context = Field(description="the quotes that its marks refer to")
    trace: Trace = Field(description="how they were found")

    def with_search_notes(self) -> Answer:
        """The answer with the notes of its search before its warnings, as people are shown them."""
        warnings = dict.fromkeys((*self.trace.notes, *self.answer.warnings))
        return self.answer.model_copy(update={"warnings": tuple(warnings)})


class SourcesEvent(RetrievedContext):
    """The retrieved context, sent before the answer is written."""

    type: Literal["sources"] = "sources"


StreamEvent = SourcesEvent | Event | ImageEvent
"""The events that `Rag.stream` yields. Each has a `type`, and the last is the `AnswerEvent`."""


class Rag:
    """Answers questions over a collection, from what a retriever, or a `Search` of several steps, finds.

    A retriever is used as `Search(retriever, collection=retriever.collection)`, so that contexts have the structure of
    documents; if it has no such attribute, contexts are its ranking alone.

    `where` applies to every question; a question may narrow it further with a filter of its own. `gate` checks answers;
    a policy stands for a gate with only that policy. If numbers, dates or quoted words of a sentence are not in the
    quotes that it cites, the sentence is reported or dropped, or the answer is refused; with None, nothing is checked.
    Quotes are cut to the `window`, with a warning.

    >>> rag = Rag(LexicalRetriever(collection), ExtractiveGenerator(), where=Filter(kind="text"), gate="drop")
    >>> rag.answer("How much grain was shipped in May?").text.splitlines()[0]
    'The harbour shipped 4,210 tonnes of grain in May [1].'
    """

    def __init__(
        self,
        search: Retriever | Search,
        generator: Generator,
        *,
        size: ContextSize = C15,
        where: Filter | None = None,
        gate: Gate | Policy | None = "report",
        window: Window | None = None,
    ) -> None:
        self._search = search if isinstance(search, Search) else Search(search, collection=collection_of(search))
        self._generator = generator
        self._size, self._where, self._window = size, where or Filter(), window
        self._gate = gate if isinstance(gate, Gate) else Gate(gate)

    def answer(self, question: str, *, where: Filter | None = None) -> Answer:
        """Return a cited answer to the question, or an abstention in plain words.

        Raises QuestionEmpty, QuestionTooLong, UsageError for a filter that names an unknown document, IndexMissing,
        FingerprintMismatch, CollectionError for damage, and ModelError or EndpointError of a model; BudgetSpent where
        limits are set.
        """
        return self.answer_with_context(question, where=where).answer

    async def answer_async(self, question: str, *, where: Filter | None = None) -> Answer:
        """The async form of `answer`; raises the same."""
        return (await self.answer_with_context_async(question, where=where)).answer

    def answer_with_context(self, question: str, *, where: Filter | None = None) -> Answered:
        """Answer the question, and return the context and the trace with the answer. Raises as `answer`."""
        return run_sync(self.answer_with_context_async(question, where=where))

    async def answer_with_context_async(self, question: str, *, where: Filter | None = None) -> Answered:
        """The async form of `answer_with_context`."""
        prepared = await self._prepare(question, where)
        return Answered(answer=await self._answer(prepared), context=prepared.context, trace=prepared.trace)

    def stream(self, question: str, *, where: Filter | None = None) -> AsyncGenerator[StreamEvent, None]:
        """Yield the sources, then the answer's events (`StreamEvent`) as they come; raises as `answer`.

        Errors of an empty question and an unknown document are raised by this call, those of the search before the
        first event, and those of a model possibly later. An image that the answer shows follows its citation.

        To stop reading early, close the stream (`contextlib.aclosing`), so that the model stops, too.
        """
        self._search.check(question, self._where.intersect(where))
        return self._stream(question, where)

    async def _stream(self, question: str, where: Filter | None) -> AsyncGenerator[StreamEvent, None]:
        prepared = await self._prepare(question, where)
        yield SourcesEvent(context=prepared.context, trace=prepared.trace)
        async with aclosing(self._events(prepared)) as events:
            async for event in events:
                yield event
                if isinstance(event, CitationEvent) and event.citation.kind == "image":
                    yield image_event(event.citation, prepared.context)

    async def _events(self, prepared: "_PreparedQuestion") -> AsyncGenerator[Event, None]:
        """Stream the events of an answer, checked and with the policy applied.

        Under `report`, or without a policy, events come as the text is written. Under `drop` each sentence is held back
        until its verdict is known. Under `refuse`, and if the generator does not stream, the whole answer is held back.
        """
        generator, policy = self._generator, self._gate.streaming_policy
        query, context, abstention = prepared.query, prepared.context, prepared.early_abstention
        if abstention is not None or policy == "refuse" or not isinstance(generator, StreamingGenerator):
            for event in replay_events(await self._answer(prepared)):
                yield event
            return
        sentence_filter = StreamingFilter(context, query.text) if policy == "drop" else None
        async with aclosing(generator.stream(query, context)) as events:
            async for event in events:
                if isinstance(event, AnswerEvent):
                    for shown_event in _end(await self._finish(event.answer, prepared), sentence_filter):
                        yield shown_event
                elif sentence_filter is None or isinstance(event, ThoughtEvent):
                    yield event
                else:
                    for shown_event in sentence_filter.take(event):
                        yield shown_event

    async def _answer(self, prepared: "_PreparedQuestion") -> Answer:
        if prepared.early_abstention is not None:
            return prepared.complete(prepared.early_abstention)
        return await self._finish(await self._generator.answer(prepared.query, prepared.context), prepared)

    async def _prepare(self, question: str, where: Filter | None) -> "_PreparedQuestion":
        started, query = time.perf_counter(), Query(text=question)
        within = self._where.intersect(where)
        with record_spending() as recorder:
            retrieved = await self._search.context(query, self._size, where=within)
        unread = self._search.unread_note(question, within)
        notes = tuple(note for note in retrieved.trace.notes if unread is None or note != unread.text)
        trace = retrieved.trace.model_copy(update={"notes": notes})
        context, cut_quotes = fit_to_window(retrieved.context, self._window, question)
        early_abstention = self._gate.check_context(question, context)
        return _PreparedQuestion(
            query, context, trace, early_abstention, started, cut_quotes, recorder.spending, unread
        )

    async def _finish(self, answer: Answer, prepared: "_PreparedQuestion") -> Answer:
        """Return the answer as it passes the gate, with the time and price of searching and checking."""
        with record_spending() as recorder:
            checked = await self._gate.apply(answer, prepared.context)
        return prepared.complete(add_spending(checked, recorder.spending))


@dataclass(frozen=True, slots=True)
class _PreparedQuestion:
    """A question with the context for the generator."""

    query: Query
    context: Context
    trace: Trace
    early_abstention: Answer | None
    """An abstention, if the generator need not be asked; else None."""
    started: float
    cut_quotes: int
    """How many quotes were cut to the window."""
    spending: Spending
    """Tokens and price of the model calls of the search."""
    unread: UnreadNote | None

    def complete(self, answer: Answer) -> Answer:
        """Add the time that the answer took, the cost of its search, and a warning on what it may lack.

        Files that could not be read are only mentioned if nothing answers the question, or if the question names one of
        them: readers would soon ignore a note that comes with every answer.
        """
        cut = pluralize(self.cut_quotes, "quote was", "quotes were")
        warnings = (f"{cut} cut to what the model can read.",) if self.cut_quotes else ()
        if self.unread is not None and (self.unread.is_asked_about or answer.status == "abstained"):
            warnings = (*warnings, self.unread.text)
        update = {"seconds": time.perf_counter() - self.started, "warnings": (*answer.warnings, *warnings)}
        return add_spending(answer, self.spending).model_copy(update=update)


def _end(answer: Answer, sentence_filter: StreamingFilter | None) -> list[Event]:
    """Return the last events; if the filter refuses the answer, the events of the refusal replace what remains."""
    if sentence_filter is None:
        return [AnswerEvent(answer=answer)]
    remaining = list(sentence_filter.end())
    return list(replay_events(answer)) if sentence_filter.refuses else [*remaining, AnswerEvent(answer=answer)]
