"""OpenAI's own client asks for chat completions: whole and streamed, with the same citations, and its own errors."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from live_server import LiveServer, Serve
from test_served_answers import ANSWERS, QUESTION
from test_served_follow_ups import FIRST, STANDALONE

from quoteweave.core.answers import Citation, Context
from quoteweave.server.access.keys import KeyRequest, KeyStore
from quoteweave.server.dialects.openai_errors import openai_error
from quoteweave.server.dialects.openai_requests import MAX_HISTORY, InputMessage, notes_on, read_conversation
from quoteweave.server.problems import ProblemError
from quoteweave.testing import ModelServer, Reply

if TYPE_CHECKING:
    import openai  # at run time by what uses it: it takes a second of each process that collects the tests

ASK: list[Any] = [{"role": "user", "content": QUESTION}]
CHART: list[Any] = [{"role": "user", "content": "Show the chart of vessel calls by quarter."}]


@pytest.fixture(scope="module")
def client(live: LiveServer) -> "Iterator[openai.OpenAI]":
    import openai

    with openai.OpenAI(base_url=f"{live.url}/v1", api_key="none", max_retries=0) as client:
        yield client


def extra(message: Any) -> dict[str, Any]:
    found: dict[str, Any] = message.model_extra["quoteweave"]
    return found


def streamed(client: "openai.OpenAI", messages: list[Any], **more: Any) -> list[Any]:
    return list(client.chat.completions.create(model="port", messages=messages, stream=True, **more))


def test_an_answer_is_a_completion_whose_annotations_are_its_citations(
    client: "openai.OpenAI", live: LiveServer
) -> None:
    completion = client.chat.completions.create(model="port", messages=ASK)
    ours = live.client.post(ANSWERS, json={"question": QUESTION}).json()
    (choice,) = completion.choices
    assert (completion.object, completion.model, choice.finish_reason) == ("chat.completion", "port", "stop")
    assert choice.message.content == ours["answer"]["text"]
    (annotation,) = choice.message.annotations or []
    cited = annotation.url_citation
    assert (choice.message.content or "")[cited.start_index : cited.end_index] == "[1]"
    assert cited.url == ours["answer"]["citations"][0]["url"]
    found = extra(choice.message)
    assert found["citations"] == ours["answer"]["citations"]
    assert (found["context"], found["status"], found["model"]) == (ours["context"], "answered", "extractive")
    assert completion.usage is not None
    assert completion.usage.total_tokens == 0


@pytest.mark.parametrize("messages", [ASK, CHART, [{"role": "user", "content": "Who won the world cup?"}]])
@pytest.mark.parametrize("footnotes", [False, True])
def test_what_is_streamed_is_what_is_sent_whole(client: "openai.OpenAI", messages: list[Any], footnotes: bool) -> None:
    options = {"quoteweave": {"footnotes": footnotes}}
    whole = client.chat.completions.create(model="port", messages=messages, extra_body=options).choices[0].message
    chunks = streamed(client, messages, extra_body=options)
    deltas = [chunk.choices[0].delta for chunk in chunks]
    assert "".join(delta.content or "" for delta in deltas) == whole.content
    annotations = [each for delta in deltas for each in (delta.model_extra or {}).get("annotations", ())]
    assert annotations == [each.model_dump() for each in whole.annotations or ()]
    *parts, last = [delta.model_extra["quoteweave"] for delta in deltas if "quoteweave" in (delta.model_extra or {})]
    assert last == extra(whole)
    told = [Citation.model_validate(each) for part in parts for each in part["citations"]]
    places = [(one.start, one.end, one.mark, one.quote_id, one.url) for one in told]
    assert places == [(o["start"], o["end"], o["mark"], o["quote_id"], o["url"]) for o in last["citations"]]
    assert deltas[0].role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks[-2:]] == [None, "stop"]


def test_an_image_is_shown_by_its_address_and_its_citation_covers_it(client: "openai.OpenAI", live: LiveServer) -> None:
    message = client.chat.completions.create(model="port", messages=CHART).choices[0].message
    shown = [one for one in extra(message)["citations"] if one["kind"] == "image"]
    assert shown
    for one in shown:
        assert (message.content or "")[one["start"] : one["end"]] == one["mark"]
        assert one["mark"].endswith(f"]({one['image_url']})")
    assert live.client.get(shown[0]["image_url"]).headers["content-type"].startswith("image/")


def test_messages_beyond_the_longest_history_are_left_out_with_a_note() -> None:
    said = [InputMessage(role="user", text=f"Question {n}", field=f"messages.{n}") for n in range(MAX_HISTORY + 2)]
    _, history = read_conversation(said)
    assert (len(history), history[0].content) == (MAX_HISTORY, "Question 1")
    assert notes_on((), said) == ("Only the last 200 messages before the question have an effect.",)
    assert notes_on((), said[1:]) == ()
    long = said[0].model_copy(update={"text": "x" * 200_001})
    assert notes_on((), (long, said[1])) == (
        "Only the first 200,000 characters of each message before the question have an effect.",
    )


def test_footnotes_list_the_sources_below_the_text(client: "openai.OpenAI") -> None:
    body = {"quoteweave": {"footnotes": True}}
    message = client.chat.completions.create(model="port", messages=ASK, extra_body=body).choices[0].message
    text, _, below = (message.content or "").partition("\n\nSources:\n\n")
    assert "1,058" in text
    assert below.startswith("- [1] ")
    assert extra(message)["citations"][0]["url"] in below


def test_a_stream_counts_tokens_where_it_is_asked_to(client: "openai.OpenAI") -> None:
    chunks = streamed(client, ASK, stream_options={"include_usage": True})
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert (chunks[-1].choices, chunks[-1].usage.total_tokens) == ([], 0)


def test_the_async_client_streams_too(live: LiveServer) -> None:
    import openai

    async def ask() -> str:
        async with openai.AsyncOpenAI(base_url=f"{live.url}/v1", api_key="none") as client:
            stream = await client.chat.completions.create(model="port", messages=ASK, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert "1,058" in asyncio.run(ask())


def test_a_conversation_is_read_and_instructions_are_told_to_have_no_effect(client: "openai.OpenAI") -> None:
    messages: list[Any] = [
        {"role": "system", "content": "Answer like a pirate."},
        {"role": "user", "content": [{"type": "text", "text": FIRST}]},
        {"role": "assistant", "content": "Fewer [1]."},
        {"role": "user", "content": "And in 2023?"},
    ]
    tools: Any = [{"type": "function", "function": {"name": "f"}}]
    completion = client.chat.completions.create(model="port", messages=messages, tools=tools, top_p=0.5, user="me")
    found = extra(completion.choices[0].message)
    assert (found["standalone_question"], found["rewritten_by"]) == (STANDALONE, "rule")
    assert "1,058" in (completion.choices[0].message.content or "")
    assert any("Instructions have no effect" in note for note in found["notes"])
    assert any("no effect: tools, top_p." in note for note in found["notes"])


def test_filters_and_settings_are_those_of_our_own_api(client: "openai.OpenAI") -> None:
    options = {"quoteweave": {"settings": {"retriever": "bm25", "size": 20}, "filters": {"kind": "text"}}}
    completion = client.chat.completions.create(model="port", messages=ASK, extra_body=options)
    context = Context.model_validate(extra(completion.choices[0].message)["context"])
    assert (len(context.texts), context.images) == (12, ())


@pytest.mark.parametrize(
    ("change", "status", "code", "param"),
    [
        ({"model": "other"}, 404, "model_not_found", "model"),
        ({"n": 2}, 400, "unsupported_value", "n"),
        ({"response_format": {"type": "json_object"}}, 400, "unsupported_value", "response_format"),
        ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "unsupported_value", "messages.0"),
        ({"messages": [{"role": "user", "content": " "}]}, 400, "unsupported_value", "messages.0"),
        ({"messages": []}, 422, "invalid_request", "messages"),
        ({"temperature": -1}, 422, "invalid_request", "temperature"),
        ({"messages": [{"role": "user", "content": "x" * 100_001}]}, 413, "context_length_exceeded", None),
        ({"extra_body": {"quoteweave": {"settings": {"model": "gpt-5"}}}}, 422, "not_possible", None),
        ({"extra_body": {"quoteweave": {"colour": "red"}}}, 422, "invalid_request", "quoteweave.colour"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
def test_errors_have_openais_form_and_our_status(
    client: "openai.OpenAI", change: dict[str, Any], status: int, code: str, param: str | None, stream: bool
) -> None:
    import openai

    with pytest.raises(openai.APIStatusError) as raised:
        client.chat.completions.create(**{"model": "port", "messages": ASK, "stream": stream, **change})
    assert (raised.value.status_code, raised.value.code, raised.value.param) == (status, code, param)
    assert raised.value.type == "invalid_request_error"
    assert raised.value.request_id


def test_what_this_server_does_not_have_is_refused_in_openais_form(client: "openai.OpenAI") -> None:
    import openai

    for ask in (
        lambda: client.responses.retrieve("resp_1"),
        lambda: client.embeddings.create(model="port", input="x"),
    ):
        with pytest.raises(openai.NotFoundError, match="is no request of this server"):
            ask()


def test_images_in_a_question_are_refused_in_words(client: "openai.OpenAI") -> None:
    import openai

    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    messages: Any = [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}]
    with pytest.raises(openai.BadRequestError, match="images are not") as raised:
        client.chat.completions.create(model="port", messages=messages)
    assert raised.value.param == "messages.0.content.1"


def test_collections_are_the_models_that_the_client_lists(client: "openai.OpenAI") -> None:
    import openai

    (model,) = client.models.list().data
    assert (model.id, model.object, model.owned_by) == ("port", "model", "quoteweave")
    assert model.created > 1_600_000_000
    assert client.models.retrieve("port") == model
    with pytest.raises(openai.NotFoundError) as raised:
        client.models.retrieve("other")
    assert raised.value.code == "model_not_found"


def test_a_model_that_cannot_be_asked_is_told_whole_and_streamed(serve: Serve) -> None:
    import openai

    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
        with pytest.raises(openai.InternalServerError) as raised:
            client.chat.completions.create(model="port", messages=ASK)
        assert (raised.value.status_code, raised.value.code, raised.value.type) == (
            503, "model_unavailable", "server_error",
        )  # fmt: skip
        with pytest.raises(openai.APIError, match=r"127\.0\.0\.1") as failed:
            streamed(client, ASK)
    assert failed.value.code == "model_unavailable"


def test_tokens_and_the_limit_are_those_of_the_chat_model(serve: Serve) -> None:
    import openai

    reply = Reply(text="The port received 1,058 vessel calls in 2023 [1].", reasoning="Hm.", finish_reason="length")
    with ModelServer(lambda _: reply) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url, "api_key": "k", "retries": 0})
        with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            whole = client.chat.completions.create(model="port", messages=ASK, temperature=0.5, max_tokens=77)
            chunks = streamed(client, ASK, stream_options={"include_usage": True})
        assert (model.requests[0]["temperature"], model.requests[0]["max_tokens"]) == (0.5, 77)
    assert whole.choices[0].finish_reason == chunks[-2].choices[0].finish_reason == "length"
    assert whole.usage == chunks[-1].usage
    assert whole.usage is not None
    assert whole.usage.total_tokens == 2
    thoughts = [(chunk.choices[0].delta.model_extra or {}).get("reasoning_content", "") for chunk in chunks[:-1]]
    assert "".join(thoughts) == "Hm."


def test_a_question_that_the_request_wants_kept_is_kept(client: "openai.OpenAI", live: LiveServer) -> None:
    asked = "How many vessel calls were there, tugs and dredgers left out?"  # words that no other test asks with
    client.chat.completions.create(model="port", messages=[{"role": "user", "content": asked}], store=True)
    client.chat.completions.create(model="port", messages=[{"role": "user", "content": asked + " Now?"}])
    found = live.client.get("/v1/conversations", params={"words": "dredgers left out"}).json()["conversations"]
    assert [one["title"] for one in found] == [asked]


def test_a_key_opens_its_collections_and_hides_the_others(
    serve: Serve, sample_collection: Path, tmp_path: Path
) -> None:
    import openai

    key = KeyStore(tmp_path / "state").add(KeyRequest("reader", collections=("port",)))[1]
    server = serve(collections={"port": sample_collection, "secret": sample_collection})
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=key, max_retries=0) as client:
        assert [model.id for model in client.models.list()] == ["port"]
        assert client.chat.completions.create(model="port", messages=ASK).choices
        for name in ("secret", "other"):
            with pytest.raises(openai.NotFoundError, match=f"under the name '{name}'") as raised:
                client.chat.completions.create(model=name, messages=ASK)
            assert raised.value.code == "model_not_found"
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-none", max_retries=0) as client:
        with pytest.raises(openai.AuthenticationError) as refused:
            client.responses.create(model="port", input=QUESTION)
        assert (refused.value.code, refused.value.type) == ("invalid_api_key", "authentication_error")


@pytest.mark.parametrize(
    ("status", "kind", "expected"),
    [
        (401, "missing-key", ("authentication_error", "invalid_api_key")),
        (403, "missing-scope", ("permission_error", "missing_scope")),
        (429, "too-many-requests", ("rate_limit_error", "rate_limit_exceeded")),
        (402, "budget-spent", ("insufficient_quota", "insufficient_quota")),
        (503, "shutting-down", ("server_error", "shutting_down")),
    ],
)
def test_each_status_has_openais_type(status: int, kind: str, expected: tuple[str, str]) -> None:
    error = openai_error(ProblemError(status, kind, "detail").problem)
    assert (error.type, error.code, error.message) == (*expected, "detail")
