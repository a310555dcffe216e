"""`Client` and `AsyncClient` against a running server: the records and events of the same question in one process."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any, TypeVar

import pytest
from live_server import LiveServer, Serve

from quoteweave import AsyncClient, Client
from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Answer, TextEvent
from quoteweave.core.errors import (
    CollectionNotFound,
    EndpointError,
    QuestionEmpty,
    QuestionTooLong,
    QuoteNotFound,
    QuoteweaveError,
    UsageError,
)
from quoteweave.core.records import Filter, Record
from quoteweave.core.text.question_analysis import MAX_QUESTION_CHARACTERS
from quoteweave.pipeline.composition.make_rag import make_rag
from quoteweave.pipeline.rag import Rag, SourcesEvent, StreamEvent
from quoteweave.pipeline.settings import AnswerSettings
from quoteweave.testing import ModelServer, Reply
from quoteweave.testing.conformance import check_events

QUESTION = "How many vessel calls did the port receive?"
R = TypeVar("R", bound=Record)


@pytest.fixture(scope="module")
def rag(sample_collection: Path) -> Iterator[Rag]:
    with Collection.open(sample_collection) as collection:
        yield make_rag(collection, AnswerSettings())


@pytest.fixture
def client(live: LiveServer) -> Client:
    return Client(live.url)


def comparable(value: Any) -> Any:
    """JSON without URLs, regions and seconds, which differ from one asking to the next."""
    if isinstance(value, dict):
        return {k: comparable(v) for k, v in value.items() if k not in ("url", "image_url", "regions", "seconds")}
    return [comparable(each) for each in value] if isinstance(value, list) else value


def shown(events: list[StreamEvent]) -> list[Any]:
    return [comparable(event.model_dump(mode="json")) for event in events]


async def all_of(rag: Rag) -> list[StreamEvent]:
    async with aclosing(rag.stream(QUESTION)) as events:
        return [event async for event in events]


def test_an_answer_is_that_of_the_same_process(client: Client, rag: Rag) -> None:
    got, here = client.ask(QUESTION), rag.answer_with_context(QUESTION)
    assert comparable(got.answer.model_dump(mode="json")) == comparable(here.answer.model_dump(mode="json"))
    assert got.context == here.context
    assert got.trace.model_copy(update={"seconds": {}}) == here.trace.model_copy(update={"seconds": {}})
    assert got.answer.citations[0].regions == here.answer.citations[0].regions


def test_the_events_are_those_of_the_same_process(client: Client, rag: Rag) -> None:
    got, here = list(client.stream(QUESTION)), asyncio.run(all_of(rag))
    assert shown(got) == shown(here)
    assert isinstance(got[0], SourcesEvent)
    answer = check_events(got[1:], got[0].context)  # type: ignore[arg-type]
    assert answer.citations[0].url is not None


def test_both_clients_give_the_same(live: LiveServer, client: Client) -> None:
    async def ask() -> tuple[Answer, list[StreamEvent]]:
        asynchronous = AsyncClient(live.url)

        async def events() -> list[StreamEvent]:
            async with aclosing(asynchronous.stream(QUESTION)) as coming:
                return [event async for event in coming]

        return await asyncio.gather(asynchronous.answer(QUESTION), events())

    answer, events = asyncio.run(ask())
    assert comparable(answer.model_dump(mode="json")) == comparable(client.answer(QUESTION).model_dump(mode="json"))
    assert shown(events) == shown(list(client.stream(QUESTION)))


def test_filters_settings_and_history_are_sent(client: Client) -> None:
    found = client.search("vessel calls", 3, where=Filter(kind="image"), settings={"retriever": "bm25"})
    assert {hit.kind for hit in found.hits} == {"image"}
    (document,) = {hit.document for hit in client.search("calls", where=Filter(documents=("harbour-report.pdf",))).hits}
    assert document == "harbour-report.pdf"
    answer = client.answer(QUESTION, settings={"size": 20}, history=[{"role": "user", "content": "Good morning."}])
    assert answer.status == "answered"


def test_a_hit_leads_to_its_quote_its_page_and_its_picture(client: Client) -> None:
    hit = client.search("chart of vessel calls by quarter", 1, where=Filter(kind="image")).hits[0]
    found = client.quote(hit.quote_id)
    assert (found.quote.document, found.quote.all_text(), found.quote.place) == (hit.document, hit.text, hit.place)
    assert client.quote_image(hit.quote_id).startswith(b"\x89PNG")
    page = client.page(hit.document, hit.page)
    assert found.quote in page.quotes
    plain = client.page_image(hit.document, hit.page)
    assert plain != client.page_image(hit.document, hit.page, quote_id=hit.quote_id)
    assert len(client.page_image(hit.document, hit.page, form="jpeg", width=100)) < len(plain) / 10
    words = client.page_words(hit.document, hit.page)
    assert words is not None
    assert {word.text for word in words} & set(hit.text.split())


def test_documents_collections_and_models_are_listed(client: Client, live: LiveServer) -> None:
    (collection,) = client.collections()
    documents = client.documents().documents
    assert collection.name == "port"
    assert collection.counts is not None
    assert len(documents) == collection.counts.documents
    assert client.document(documents[0].name) == documents[0]
    assert [model.name for model in client.models().models] == ["extractive"]


@pytest.mark.parametrize(
    ("kind", "told", "ask"),
    [
        (CollectionNotFound, "'nope'", lambda client: client.ask("x", collection="nope")),
        (QuoteNotFound, "0:0:0", lambda client: client.quote("0:0:0")),
        (QuestionEmpty, "question: it is empty", lambda client: client.ask(" ")),
        (QuestionEmpty, "question: it is empty", lambda client: list(client.stream(""))),
        (QuestionEmpty, "question: it is empty", lambda client: client.search("")),
        (QuestionTooLong, "characters", lambda client: client.ask("x" * (MAX_QUESTION_CHARACTERS + 1))),
        (UsageError, "colour", lambda client: client.ask("x", settings={"colour": "red"})),
        (UsageError, "gpt-5", lambda client: client.ask("x", settings={"model": "gpt-5"})),
        (UsageError, "nope.pdf", lambda client: client.search("x", where=Filter(documents=("nope.pdf",)))),
        (UsageError, "nope.pdf", lambda client: client.page("nope.pdf", 0)),
        (UsageError, "a b/c?#%2F.pdf", lambda client: client.document("a b/c?#%2F.pdf")),
        (CollectionNotFound, "'nope'", lambda client: list(client.stream("x", collection="nope"))),
    ],
)
def test_errors_are_those_of_the_same_process(client: Client, kind: type[QuoteweaveError], told: str, ask: Any) -> None:
    with pytest.raises(kind) as error:
        ask(client)
    assert type(error.value) is kind
    assert told in str(error.value)
    assert "names the request" in error.value.__notes__[0]


def test_a_name_reaches_nothing_but_what_is_below_its_own_path(client: Client) -> None:
    with pytest.raises(UsageError, match="no name"):
        client.document("x/../../../models")
    with pytest.raises(UsageError, match="no name"):
        client.documents(collection="..")


def test_a_model_that_cannot_be_reached_is_an_error_of_the_endpoint_in_a_stream_too(serve: Serve) -> None:
    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    client, came = Client(server.url), list[StreamEvent]()
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9"):
        client.answer(QUESTION)
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9"):
        came.extend(client.stream(QUESTION))
    assert client.answer(QUESTION, settings={"model": "extractive"}).model == "extractive"


class EndlessModel(ModelServer):
    """A model that writes until whoever asked it leaves."""

    def __init__(self) -> None:
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m"}
        choices = [{"index": 0, "delta": {"role": "assistant", "content": "And on it goes. "}, "finish_reason": None}]
        event = f"data: {json.dumps(chunk | {'choices': choices})}\n\n".encode()
        kind = {"Content-Type": "text/event-stream"}
        super().__init__(lambda _: Reply(headers=kind, body=event, endless=event, every_s=0.01))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_stream_that_is_left_early_ends_the_servers_work(serve: Serve, asynchronous: bool) -> None:
    with EndlessModel() as model:
        server = serve(answers={"model": "m", "base_url": model.base_url})

        async def read() -> None:
            async with aclosing(AsyncClient(server.url).stream(QUESTION)) as events:
                assert any([isinstance(event, TextEvent) async for event in take(events)])

        async def take(events: Any) -> Any:
            async for event in events:
                yield event
                if isinstance(event, TextEvent):
                    return

        if asynchronous:
            asyncio.run(read())
        else:
            with closing(Client(server.url).stream(QUESTION)) as events:
                assert any(isinstance(event, TextEvent) for event in events)
        assert model.wait_until_left(30), "the model goes on writing"


def test_a_collection_must_be_named_where_there_are_several(serve: Serve, sample_collection: Path) -> None:
    server = serve(collections={"port": sample_collection, "harbour": sample_collection})
    with pytest.raises(UsageError, match="name one of port, harbour"):
        Client(server.url).answer(QUESTION)
    assert Client(server.url, collection="harbour").answer(QUESTION).citations[0].url is not None
    found = Client(server.url, collection="harbour").answer(QUESTION, collection="port")
    assert str(found.citations[0].url).startswith(f"{server.url}/c/port/")
