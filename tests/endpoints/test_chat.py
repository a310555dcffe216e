import asyncio
import socket
import traceback

import pytest

from quoteweave.core.answers import Completion, Usage
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused, EndpointUnreachable, UsageError
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.testing import ModelServer, Reply

MESSAGES = [{"role": "user", "content": "Did sales grow?"}]
KEY = "sk-secret-0123456789"
AT_ONCE = {"retry-after-ms": "1"}


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)


def ask(*replies: Reply, max_retries: int = 0, timeout_s: float = 20) -> tuple[Completion, ModelServer]:
    with ModelServer(replies) as server:
        chat = OpenAIChat("m", base_url=server.base_url, api_key=KEY, max_retries=max_retries, timeout_s=timeout_s)
        return asyncio.run(chat.complete(MESSAGES)), server


def test_a_completion_comes_back_with_its_usage() -> None:
    completion, server = ask(Reply(text="Yes [1].", usage=Usage(input_tokens=12, output_tokens=3)))
    assert completion == Completion(
        text="Yes [1].", model="m", finish_reason="stop", usage=Usage(input_tokens=12, output_tokens=3)
    )
    assert server.requests == [{"model": "m", "messages": MESSAGES}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_usage_that_is_not_told_is_none() -> None:
    assert ask(Reply(usage=None))[0].usage == Usage(input_tokens=None, output_tokens=None)


def test_sampling_settings_are_sent_when_set() -> None:
    with ModelServer([Reply()]) as server:
        chat = OpenAIChat("m", base_url=server.base_url, temperature=0, max_tokens=50)
        asyncio.run(chat.complete(MESSAGES))
    assert (server.requests[0]["temperature"], server.requests[0]["max_tokens"]) == (0, 50)


def test_one_chat_serves_one_event_loop_after_another() -> None:
    with ModelServer([Reply(text="one"), Reply(text="two")]) as server:
        chat = OpenAIChat("m", base_url=server.base_url)
        assert [asyncio.run(chat.complete(MESSAGES)).text for _ in range(2)] == ["one", "two"]


def test_address_and_key_come_from_the_environment_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    chat = OpenAIChat("m")
    with ModelServer([Reply(), Reply()]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        asyncio.run(chat.complete(MESSAGES))
        monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
        asyncio.run(chat.complete(MESSAGES))
    keyless, keyed = (headers["authorization"] for headers in server.headers)
    assert KEY not in keyless
    assert keyed == f"Bearer {KEY}"


def test_without_address_and_key_it_says_what_to_set() -> None:
    with pytest.raises(UsageError, match=r"OPENAI_BASE_URL .*base_url.*OPENAI_API_KEY .*api_key"):
        asyncio.run(OpenAIChat("m").complete(MESSAGES))


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://a/v1", "http://", "http://[::1", "http://a:port/v1"])
def test_a_malformed_address_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="must look like http://localhost:8000/v1"):
        asyncio.run(OpenAIChat("m", base_url=url).complete(MESSAGES))


@pytest.mark.parametrize("key", ["sk-\nsecret", "sk-sécret"])
def test_a_key_that_no_header_can_carry_is_a_usage_error_without_the_key(key: str) -> None:
    with pytest.raises(UsageError, match="copy it again") as caught:
        asyncio.run(OpenAIChat("m", api_key=key).complete(MESSAGES))
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_is_not_tried_again_and_speaks_in_the_endpoints_words(status: int) -> None:
    with (
        ModelServer([Reply(status=status, text="the model m is not yours")]) as server,
        pytest.raises(EndpointRefused, match=f"127.0.0.1:.* answered {status} .*: the model m is not yours — "),
    ):
        asyncio.run(OpenAIChat("m", base_url=server.base_url, max_retries=2).complete(MESSAGES))
    assert len(server.requests) == 1


def test_too_many_requests_are_tried_again() -> None:
    completion, server = ask(
        Reply(status=429, headers=AT_ONCE), Reply(status=500, headers=AT_ONCE), Reply(), max_retries=2
    )
    assert completion.text == "ok"
    assert len(server.requests) == 3


def test_retries_are_bounded() -> None:
    busy = Reply(status=429, headers=AT_ONCE, text="slow down")
    with pytest.raises(EndpointRefused, match=r"answered 429 .*: slow down — wait"):
        ask(busy, busy, max_retries=1)
    with pytest.raises(EndpointUnreachable, match=r"answered 503 .* try again later"):
        ask(Reply(status=503, headers=AT_ONCE), Reply(status=503), max_retries=1)


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://user:{KEY}@127.0.0.1:{closed.getsockname()[1]}/v1"
        with pytest.raises(
            EndpointUnreachable, match=r"No answer from http://127\.0\.0\.1:\d+/v1: .*Check that"
        ) as caught:
            asyncio.run(OpenAIChat("m", base_url=url, max_retries=0).complete(MESSAGES))
    assert KEY not in str(caught.value)


def test_a_closed_connection_is_unreachable() -> None:
    with pytest.raises(EndpointUnreachable, match="Check that the server runs"):
        ask(Reply(close=True))


def test_an_answer_too_late_is_unreachable() -> None:
    with pytest.raises(EndpointUnreachable, match="timed out"):
        ask(Reply(delay_s=600), timeout_s=0.05)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b'{"choices": [', "Invalid JSON"),
        (b"<html>hello</html>", "Invalid JSON"),
        (b"\xff\xfe", "Invalid JSON"),
        (b"", "Invalid JSON"),
        (b"[]", "body: "),
        (b'{"error": "overloaded"}', "choices: Field required"),
        (b'{"choices": []}', "it holds no choices"),
        (b'{"choices": [{"message": null}]}', r"choices\.0\.message: "),
        (b'{"choices": [{"message": {"content": 3}}]}', r"choices\.0\.message\.content: "),
        (
            b'{"choices": [{"message": {"content": " "}, "finish_reason": "length"}]}',
            r"empty answer of the model m \(finish reason: length\)\. Ask again",
        ),
        (b'{"choices": [{"message": {"content": "\\ud800"}}]}', "Invalid JSON"),
    ],
)
def test_what_is_no_completion_is_a_bad_response(body: bytes, problem: str) -> None:
    with pytest.raises(EndpointBadResponse, match=problem):
        ask(Reply(body=body))


@pytest.mark.parametrize("key", [None, "x"])
def test_a_placeholder_for_a_key_hides_no_words(key: str | None) -> None:
    with (
        ModelServer([Reply(status=404, text="none of these models is called x")]) as server,
        pytest.raises(EndpointRefused, match="none of these models is called x"),
    ):
        asyncio.run(OpenAIChat("m", base_url=server.base_url, api_key=key, max_retries=0).complete(MESSAGES))


def test_a_model_that_declines_refuses() -> None:
    body = b'{"choices": [{"message": {"content": null, "refusal": "I will not."}}]}'
    with pytest.raises(EndpointRefused, match="declines to answer: I will not"):
        ask(Reply(body=body))


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=401, text=f"no such key: {KEY}"),
        Reply(status=400, body=f"no such key: {KEY}".encode()),
        Reply(status=400, body=f'{{"detail": [{{"input": "{KEY}"}}]}}'.encode()),
    ],
)
def test_the_key_is_in_no_message_even_when_the_endpoint_repeats_it(reply: Reply) -> None:
    with pytest.raises(EndpointRefused) as caught:
        ask(reply)
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert "…" in str(caught.value)
