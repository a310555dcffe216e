import asyncio
from collections.abc import Sequence

import pytest
from made_collections import made_quote

from quoteweave.core.answers import Answer, ContextSize
from quoteweave.core.errors import EndpointUnreachable, UsageError
from quoteweave.core.records import Filter, Hit, Query
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.generation.chat_generator import CitedGenerator
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Rag
from quoteweave.testing import FakeChat, FakeRetriever, ModelServer, Reply

QUOTES = [made_quote("Grain came by ship."), made_quote("Timber came by rail.", page=4)]


def rag(*replies: str | Exception) -> Rag:
    return Rag(FakeRetriever(QUOTES), CitedGenerator(FakeChat(replies)))


def test_a_model_answers_and_its_marks_lead_to_the_quotes() -> None:
    answered = rag("Timber came by rail [2].").answer_with_context("How did timber come?")
    (citation,) = answered.answer.citations
    assert (citation.page, citation.number) == (4, 2)
    assert answered.context.quote("text", 2) == QUOTES[1]
    assert (answered.answer.question, answered.answer.status) == ("How did timber come?", "answered")


def test_without_a_model_the_answer_is_extracted() -> None:
    extracts = Rag(FakeRetriever(QUOTES), ExtractiveGenerator(), size=ContextSize(texts=2, images=0))
    answer = extracts.answer("What came by rail?")
    assert (answer.model, answer.status) == ("extractive", "answered")
    assert "Timber came by rail [2]." in answer.text


def test_seconds_count_from_question_to_answer() -> None:
    assert rag("So [1].").answer("q").seconds > 0


def test_it_works_inside_a_running_event_loop() -> None:
    async def asked() -> Answer:
        return rag("Grain [1].").answer("q")

    assert asyncio.run(asked()).text == "Grain [1]."


def test_it_can_be_awaited() -> None:
    answered = asyncio.run(rag("Grain [1].").answer_with_context_async("q"))
    assert answered.answer.text == "Grain [1]."
    assert answered.context.texts[0].quote == QUOTES[0]


def test_one_rag_answers_one_question_after_the_other_over_http() -> None:
    with ModelServer([Reply(text="One [1]."), Reply(text="Two [2].")]) as server:
        model = OpenAIChat("m", base_url=server.base_url)
        both = Rag(FakeRetriever(QUOTES), CitedGenerator(model))
        assert [both.answer(question).text for question in ("first?", "second?")] == ["One [1].", "Two [2]."]


def test_errors_of_the_model_come_through_as_they_are() -> None:
    error = EndpointUnreachable("no answer")
    with pytest.raises(EndpointUnreachable) as caught:
        rag(error).answer("q")
    assert caught.value is error


def test_errors_of_the_retriever_come_through_as_they_are() -> None:
    class Broken:
        def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
            raise UsageError("no document is named 'x'")

    async def inside() -> Answer:
        return Rag(Broken(), ExtractiveGenerator()).answer("q")

    with pytest.raises(UsageError, match="no document is named"):
        Rag(Broken(), ExtractiveGenerator()).answer("q")
    with pytest.raises(UsageError, match="no document is named"):
        asyncio.run(inside())


def test_a_question_s_own_filter_narrows_the_standing_one_further() -> None:
    retriever = FakeRetriever(QUOTES)
    standing = Rag(
        retriever,
        CitedGenerator(FakeChat(["a", "b"])),
        size=ContextSize(texts=1, images=0),
        where=Filter(documents=("a",)),
    )
    standing.answer("q")
    standing.answer("q", where=Filter(first_page=2))
    assert retriever.filters == [
        Filter(documents=("a",), kind="text"),
        Filter(documents=("a",), first_page=2, kind="text"),
    ]


def test_the_split_is_what_is_asked_for() -> None:
    answered = Rag(
        FakeRetriever(QUOTES), CitedGenerator(FakeChat(["a"])), size=ContextSize(texts=1, images=0)
    ).answer_with_context("q")
    assert (len(answered.context.texts), len(answered.context.images)) == (1, 0)
