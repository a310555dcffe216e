"""Retriever, context and generator, composed: a question in, a cited answer out."""

import asyncio
import time

from quoteweave.core.answers import Answer, Context
from quoteweave.core.crossing import wait_for
from quoteweave.core.protocols import Generator, Retriever
from quoteweave.core.records import Filter, Query, Record
from quoteweave.pipeline.context import C15, Split, retrieve_context


class Answered(Record):
    """An answer and the context that its marks refer to."""

    answer: Answer
    context: Context


class Rag:
    """Answers questions over a collection.

    `where` holds for every question; a question may narrow further with a filter of its own.
    """

    def __init__(
        self, retriever: Retriever, generator: Generator, *, split: Split = C15, where: Filter | None = None
    ) -> None:
        self._retriever, self._generator = retriever, generator
        self._split, self._where = split, where or Filter()

    async def answer_async(self, question: str, *, where: Filter | None = None) -> Answered:
        """Raises what the retriever raises, and an EndpointError where a model fails."""
        started = time.perf_counter()
        query = Query(text=question)
        context = await asyncio.to_thread(
            retrieve_context, query, self._retriever, self._split, where=self._where.and_also(where)
        )
        answer = await self._generator.answer(query, context)
        return Answered(answer=answer.model_copy(update={"seconds": time.perf_counter() - started}), context=context)

    def answer_with_context(self, question: str, *, where: Filter | None = None) -> Answered:
        """As `answer`, with the quotes that were put before the generator."""
        return wait_for(self.answer_async(question, where=where))

    def answer(self, question: str, *, where: Filter | None = None) -> Answer:
        """A cited answer to the question, or an abstention in plain words; raises as `answer_async`."""
        return self.answer_with_context(question, where=where).answer
