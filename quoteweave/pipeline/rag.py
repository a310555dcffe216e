"""Search and generator, composed: a question in, a cited answer out."""

import time

from quoteweave.core.answers import Answer, Context
from quoteweave.core.crossing import wait_for
from quoteweave.core.protocols import Generator, Retriever
from quoteweave.core.records import Filter, Query, Record
from quoteweave.core.splits import C15, Split
from quoteweave.generation.gate import Policy
from quoteweave.pipeline.gating import gated
from quoteweave.pipeline.search import Search, Trace


class Answered(Record):
    """An answer, the context that its marks refer to, and how that was found."""

    answer: Answer
    context: Context
    trace: Trace


class Rag:
    """Answers questions over a collection, from what a retriever, or a `Search` of several steps, finds.

    `where` holds for every question; a question may narrow further with a filter of its own. `gate` says what becomes
    of sentences whose numbers, dates or quoted words are not in the quotes that they cite: reported, taken out, or the
    answer withheld; None checks nothing.
    """

    def __init__(
        self,
        search: Retriever | Search,
        generator: Generator,
        *,
        split: Split = C15,
        where: Filter | None = None,
        gate: Policy | None = "report",
    ) -> None:
        self._search = search if isinstance(search, Search) else Search(search)
        self._generator = generator
        self._split, self._where, self._gate = split, where or Filter(), gate

    async def answer_async(self, question: str, *, where: Filter | None = None) -> Answered:
        """Raises what the search raises, and an EndpointError where a model fails."""
        started = time.perf_counter()
        query = Query(text=question)
        found = await self._search.context(query, self._split, where=self._where.and_also(where))
        answer = await self._generator.answer(query, found.context)
        timed = gated(answer, found.context, self._gate).model_copy(update={"seconds": time.perf_counter() - started})
        return Answered(answer=timed, context=found.context, trace=found.trace)

    def answer_with_context(self, question: str, *, where: Filter | None = None) -> Answered:
        """As `answer`, with the quotes that were put before the generator."""
        return wait_for(self.answer_async(question, where=where))

    def answer(self, question: str, *, where: Filter | None = None) -> Answer:
        """A cited answer to the question, or an abstention in plain words; raises as `answer_async`."""
        return self.answer_with_context(question, where=where).answer
