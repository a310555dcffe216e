"""Fall back to a second generator where the endpoint of the first fails."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from quoteweave.core.answers import Answer, AnswerEvent, Context, Event, TextEvent, replay_events
from quoteweave.core.errors import EndpointError, note_text
from quoteweave.core.protocols import Generator, StreamingGenerator
from quoteweave.core.records import Query


class FallbackGenerator:
    """Answers with `first`; where its endpoint fails, with `second` and a warning that gives the reason."""

    def __init__(self, first: Generator, second: Generator) -> None:
        self.first, self.second = first, second

    async def answer(self, query: Query, context: Context) -> Answer:
        """Return the answer of one of them. Raises what `second` raises, and other errors of `first`."""
        try:
            return await self.first.answer(query, context)
        except EndpointError as error:
            return await self._second(query, context, error)

    async def stream(self, query: Query, context: Context) -> AsyncGenerator[Event, None]:
        """Yield the events of the answer.

        Raises EndpointError where the endpoint fails after part of its answer was sent, which cannot be undone.
        """
        if not isinstance(self.first, StreamingGenerator):
            for event in replay_events(await self.answer(query, context)):
                yield event
            return
        sent = False
        try:
            async with aclosing(self.first.stream(query, context)) as events:
                async for event in events:
                    sent = sent or isinstance(event, TextEvent | AnswerEvent)
                    yield event
        except EndpointError as error:
            if sent:
                raise
            for event in replay_events(await self._second(query, context, error)):
                yield event

    async def _second(self, query: Query, context: Context, error: EndpointError) -> Answer:
        answer = await self.second.answer(query, context)
        warning = note_text(
            f"The model could not be asked, so this answer was put together without it: {error.summary}",
            remedy=error.remedy,
        )
        return answer.model_copy(update={"warnings": (*answer.warnings, warning)})
