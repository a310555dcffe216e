"""OpenAI's own client asks for responses: whole and streamed, with what was found, and one after another."""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from live_server import LiveServer, Serve
from test_served_answers import ANSWERS, QUESTION
from test_served_follow_ups import FIRST, STANDALONE

from quoteweave.testing import ModelServer, Reply

if TYPE_CHECKING:
    import openai  # at run time by what uses it: it takes a second of each process that collects the tests

CHART = "Show the chart of vessel calls by quarter."
RESULTS: Any = ["file_search_call.results"]


@pytest.fixture(scope="module")
def client(live: LiveServer) -> "Iterator[openai.OpenAI]":
    import openai

    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def streamed(client: "openai.OpenAI", question: str, **more: Any) -> list[Any]:
    return list(client.responses.create(model="port", input=question, stream=True, **more))


def test_a_response_has_a_search_and_a_message_with_annotations(client: "openai.OpenAI", live: LiveServer) -> None:
    response = client.responses.create(model="port", input=QUESTION)
    ours = live.client.post(ANSWERS, json={"question": QUESTION}).json()["answer"]
    search, message = response.output
    assert (response.status, response.output_text) == ("completed", ours["text"])
    assert search.type == "file_search_call"
    assert (search.queries, search.results) == ([QUESTION], None)
    assert message.type == "message"
    content = message.content[0]
    assert content.type == "output_text"
    (cited,) = content.annotations
    assert cited.type == "url_citation"
    assert content.text[cited.start_index : cited.end_index] == "[1]"
    found = (message.model_extra or {})["quoteweave"]
    assert (found["citations"], found["status"], cited.url) == (
        ours["citations"],
        "answered",
        found["citations"][0]["url"],
    )


def test_the_results_of_the_search_come_where_they_are_included(client: "openai.OpenAI") -> None:
    response = client.responses.create(model="port", input=QUESTION, include=RESULTS)
    search, message = response.output
    assert search.type == "file_search_call"
    results = search.results or []
    context = (message.model_extra or {})["quoteweave"]["context"]
    assert len(results) == len(context["texts"]) + len(context["images"])
    assert results[0].filename == context["texts"][0]["quote"]["document"]
    assert (results[0].attributes or {})["quote_id"] == context["texts"][0]["quote"]["id"]


@pytest.mark.parametrize("question", [QUESTION, CHART, "Who won the world cup?"])
@pytest.mark.parametrize("footnotes", [False, True])
def test_what_is_streamed_is_what_is_sent_whole(client: "openai.OpenAI", question: str, footnotes: bool) -> None:
    body: Any = {"quoteweave": {"footnotes": footnotes}, "include": RESULTS}
    whole = client.responses.create(model="port", input=question, extra_body=body)
    events = streamed(client, question, extra_body=body)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert (events[0].type, events[-1].type) == ("response.created", "response.completed")
    content: Any = whole.output[1]
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text
    added = [event for event in events if event.type == "response.output_text.annotation.added"]
    # The client may give the annotation as a plain mapping.
    told = [dict(event.annotation) for event in added]
    assert told == [each.model_dump() for each in content.content[0].annotations]
    assert [event.annotation_index for event in added] == list(range(len(added)))
    last, ours = events[-1].response, (whole.output[1].model_extra or {})["quoteweave"]
    assert last.output_text == whole.output_text
    assert last.output[1].model_extra["quoteweave"] == ours
    assert last.output[0].results == whole.output[0].results  # type: ignore[union-attr]
    assert last.usage == whole.usage


def test_the_clients_own_stream_helper_reads_the_events(client: "openai.OpenAI") -> None:
    with client.responses.stream(model="port", input=QUESTION) as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert "1,058" in final.output_text
    assert kinds.index("response.file_search_call.completed") < kinds.index("response.output_text.delta")
    assert len(final.output) == 2


def test_the_async_client_streams_too(live: LiveServer) -> None:
    import openai

    async def ask() -> str:
        async with openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none") as client:
            stream = await client.responses.create(model="port", input=QUESTION, stream=True)
            return "".join([event.delta async for event in stream if event.type == "response.output_text.delta"])

    assert "1,058" in asyncio.run(ask())


@pytest.mark.parametrize("stream", [False, True])
def test_a_response_follows_a_stored_one(client: "openai.OpenAI", stream: bool) -> None:
    first = client.responses.create(model="port", input=FIRST)
    if stream:
        second = streamed(client, "And in 2021?", previous_response_id=first.id)[-1].response
    else:
        second = client.responses.create(model="port", input="And in 2021?", previous_response_id=first.id)
    third = client.responses.create(model="port", input="In 2023?", previous_response_id=second.id)
    assert third.output[1].model_extra["quoteweave"]["standalone_question"] == STANDALONE  # type: ignore[index]
    assert third.previous_response_id == second.id
    assert third.id.split("_")[1] == first.id.split("_")[1]


def test_a_response_that_follows_an_earlier_one_begins_another_conversation(client: "openai.OpenAI") -> None:
    first = client.responses.create(model="port", input=FIRST)
    client.responses.create(model="port", input="What about the tides at the harbour?", previous_response_id=first.id)
    other = client.responses.create(model="port", input="And in 2023?", previous_response_id=first.id)
    assert other.output[1].model_extra["quoteweave"]["standalone_question"] == STANDALONE  # type: ignore[index]
    assert other.id.split("_")[1] != first.id.split("_")[1]


def test_a_response_that_is_not_to_be_stored_is_not(client: "openai.OpenAI") -> None:
    import openai

    first = client.responses.create(model="port", input=FIRST, store=False)
    with pytest.raises(openai.BadRequestError, match="is stored") as raised:
        client.responses.create(model="port", input="And in 2023?", previous_response_id=first.id)
    assert (raised.value.param, first.model_extra) == ("previous_response_id", {"store": False})


def test_a_conversation_of_ours_can_be_named(client: "openai.OpenAI", live: LiveServer) -> None:
    kept = live.client.post(ANSWERS, json={"question": FIRST, "store": True}).json()["conversation"]
    response = client.responses.create(model="port", input="And in 2023?", conversation={"id": kept})
    assert "1,058" in response.output_text
    assert len(live.client.get(f"/v1/conversations/{kept}").json()["turns"]) == 2


def test_messages_are_read_and_what_has_no_effect_is_told(client: "openai.OpenAI") -> None:
    before = client.responses.create(model="port", input=FIRST)
    items: Any = [
        {"role": "user", "content": [{"type": "input_text", "text": FIRST}]},
        *[item.model_dump(exclude={"quoteweave"}) for item in before.output],
        {"role": "user", "content": "And in 2023?"},
    ]
    response = client.responses.create(
        model="port",
        input=items,
        instructions="Be brief.",
        tools=[{"type": "file_search", "vector_store_ids": ["x"]}],
        include=["file_search_call.results", "message.output_text.logprobs"],
    )
    found = (response.output[1].model_extra or {})["quoteweave"]
    assert found["standalone_question"] == STANDALONE
    assert any("Instructions have no effect" in note for note in found["notes"])
    assert any("no effect: tools, include (message.output_text.logprobs)." in note for note in found["notes"])
    assert response.instructions is None


@pytest.mark.parametrize(
    ("change", "status", "code", "param"),
    [
        ({"model": "other"}, 404, "model_not_found", "model"),
        ({"background": True}, 400, "unsupported_value", "background"),
        ({"text": {"format": {"type": "json_object"}}}, 400, "unsupported_value", "text.format"),
        ({"previous_response_id": "resp_1"}, 400, "unsupported_value", "previous_response_id"),
        ({"previous_response_id": "x", "conversation": "y"}, 400, "unsupported_value", "previous_response_id"),
        ({"conversation": "y"}, 404, "no_such_conversation", None),
        ({"input": []}, 400, "unsupported_value", "messages"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, 400, "unsupported_value", "input.0"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]},
            400, "unsupported_value", "input.0.content.0",
        ),
        ({"max_output_tokens": 0}, 422, "invalid_request", "max_output_tokens"),
    ],
)  # fmt: skip
def test_errors_have_openais_form_and_our_status(
    client: "openai.OpenAI", change: dict[str, Any], status: int, code: str, param: str | None
) -> None:
    import openai

    with pytest.raises(openai.APIStatusError) as raised:
        client.responses.create(**{"model": "port", "input": QUESTION, **change})
    assert (raised.value.status_code, raised.value.code, raised.value.param) == (status, code, param)


def test_a_stream_that_fails_ends_with_the_failed_response(serve: Serve) -> None:
    import openai

    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        events = streamed(client, QUESTION)
    *_, error, failed = events
    assert (error.type, error.code, failed.type) == ("error", "model_unavailable", "response.failed")
    assert (failed.response.status, failed.response.error.code) == ("failed", "model_unavailable")
    assert [item.type for item in failed.response.output] == ["file_search_call"]


def test_an_answer_that_was_cut_short_is_incomplete(serve: Serve) -> None:
    import openai

    reply = Reply(text="The port received 1,058 vessel calls in 2023 [1].", finish_reason="length")
    with ModelServer(lambda _: reply) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url, "api_key": "k", "retries": 0})
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            whole = client.responses.create(model="port", input=QUESTION, max_output_tokens=77)
            last = streamed(client, QUESTION)[-1]
        assert model.requests[0]["max_tokens"] == 77
    assert (whole.status, last.type) == ("incomplete", "response.incomplete")
    assert whole.incomplete_details is not None
    assert whole.incomplete_details.reason == "max_output_tokens"
    assert whole.usage is not None
    assert (whole.usage.input_tokens, whole.usage.output_tokens, whole.usage.total_tokens) == (1, 1, 2)
