"""An answer without a model, where the model fails."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

import pytest
from harbour_quotes import EVERYTHING

from quoteweave.core.answers import Answer, Event
from quoteweave.core.chat.completions import Completion, CompletionDelta
from quoteweave.core.errors import EndpointRefused, EndpointUnreachable, UsageError
from quoteweave.core.records import Query
from quoteweave.generation.chat_generator import CitedGenerator, FallbackGenerator
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.testing import FakeChat
from quoteweave.testing.conformance import check_events

QUERY = Query(text="Why did grain gain?")
SAID = "Grain gained because of a dry harvest inland, which filled the silos early [3]."


def falling_back(chat: FakeChat) -> FallbackGenerator:
    return FallbackGenerator(CitedGenerator(chat), ExtractiveGenerator())


def answered(chat: FakeChat) -> Answer:
    return asyncio.run(falling_back(chat).answer(QUERY, EVERYTHING))


def streamed(chat: FakeChat) -> Answer:
    async def read() -> list[Event]:
        return [event async for event in falling_back(chat).stream(QUERY, EVERYTHING)]

    return check_events(asyncio.run(read()), EVERYTHING)


@pytest.mark.parametrize("ask", [answered, streamed])
@pytest.mark.parametrize("error", [EndpointUnreachable("no route", remedy="start it"), EndpointRefused("too long")])
def test_where_the_endpoint_fails_the_documents_answer_and_say_so(ask: type, error: Exception) -> None:
    answer = ask(FakeChat([error]))
    assert (answer.model, answer.status) == ("extractive", "answered")
    assert answer.text.startswith(SAID)
    assert answer.warnings == (f"The model could not be asked, so this answer was put together without it: {error}",)


@pytest.mark.parametrize("ask", [answered, streamed])
def test_where_it_does_not_the_model_answers(ask: type) -> None:
    answer = ask(FakeChat(["Because of the harvest [3]."]))
    assert (answer.model, answer.text, answer.warnings) == ("fake", "Because of the harvest [3].", ())


def test_other_errors_are_raised() -> None:
    with pytest.raises(UsageError):
        answered(FakeChat([UsageError("a prompt lacks a field")]))


class FailsLate(FakeChat):
    async def stream(self, messages: Sequence[object]) -> AsyncGenerator[CompletionDelta | Completion, None]:
        yield CompletionDelta(text="Grain gained because ")
        raise EndpointUnreachable("gone")


def test_what_was_sent_cannot_be_taken_back() -> None:
    with pytest.raises(EndpointUnreachable):
        streamed(FailsLate([]))
