"""An answer while it is written, and what the gate lets through of it, and when."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing

from quoteweave.core.answer_events import AnswerEvent, Event, ThoughtEvent, replay_events
from quoteweave.core.answers import Answer, Context
from quoteweave.core.protocols import Generator, StreamingGenerator
from quoteweave.core.records import Query
from quoteweave.generation.gate import Policy
from quoteweave.generation.gate.streaming_gate import StreamingGate

Finish = Callable[[Answer], Awaitable[Answer]]


async def answer_events(
    generator: Generator, query: Query, context: Context, policy: Policy | None, finish: Finish
) -> AsyncGenerator[Event, None]:
    """The events of the answer that `finish` makes of what the generator writes: it checks it, and applies the policy.

    Under `report`, or without a policy, they come as it writes; under `drop` a sentence is held back until it is known
    whether it is supported, under `refuse` the whole answer, and so it is where a generator does not stream. Raises
    what the generator and `finish` raise.
    """
    if policy == "refuse" or not isinstance(generator, StreamingGenerator):
        for event in replay_events(await finish(await generator.answer(query, context))):
            yield event
        return
    async with aclosing(generator.stream(query, context)) as written:
        sieve = StreamingGate(context, query.text) if policy == "drop" else None
        async for event in written:
            if isinstance(event, AnswerEvent):
                answer = await finish(event.answer)
                for shown in _end(answer, sieve):
                    yield shown
            elif sieve is None or isinstance(event, ThoughtEvent):
                yield event
            else:
                for shown in sieve.take(event):
                    yield shown


def _end(answer: Answer, sieve: StreamingGate | None) -> list[Event]:
    shown = [] if sieve is None else list(sieve.end())
    return list(replay_events(answer)) if sieve is not None and sieve.refuses else [*shown, AnswerEvent(answer=answer)]
