import asyncio
import gc
import socket
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor

import anyio
import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused, EndpointUnreachable, UsageError
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.http_client import shared_client
from quoteweave.testing import ModelServer, Reply

MESSAGES = [{"role": "user", "content": "Did sales grow?"}]
KEY = "sk-secret-0123456789"
AT_ONCE = {"retry-after-ms": "1"}
pytestmark = pytest.mark.usefixtures("bare_environment")


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


@pytest.mark.parametrize("on", [True, False])
def test_thinking_is_told_to_the_chat_template_when_set(on: bool) -> None:
    with ModelServer([Reply()]) as server:
        asyncio.run(OpenAIChat("m", base_url=server.base_url, thinking=on).complete(MESSAGES))
    assert server.requests == [
        {"model": "m", "messages": MESSAGES, "chat_template_kwargs": {"enable_thinking": on}},
    ]


def test_extra_fields_are_sent_and_win_over_settings_but_not_over_the_question() -> None:
    extra = {"enable_thinking": False, "top_p": 0.5, "temperature": 1, "messages": []}
    with ModelServer([Reply()]) as server:
        asyncio.run(OpenAIChat("m", base_url=server.base_url, temperature=0, extra=extra).complete(MESSAGES))
    assert server.requests == [{**extra, "model": "m", "messages": MESSAGES}]


def test_an_address_with_an_api_version_is_asked_as_azure_wants_it() -> None:
    with ModelServer([Reply()]) as server:
        url = f"{server.base_url}?api-version=2024-10-21"
        asyncio.run(OpenAIChat("m", base_url=url, api_key=KEY).complete(MESSAGES))
    assert server.paths == ["/v1/chat/completions?api-version=2024-10-21"]
    assert server.headers[0]["api-key"] == KEY
    assert "authorization" not in server.headers[0]


def test_a_key_for_azure_goes_nowhere_else() -> None:
    with ModelServer() as other, ModelServer([Reply(status=307, headers={"location": other.base_url})]) as server:
        chat = OpenAIChat("m", base_url=f"{server.base_url}?api-version=1", api_key=KEY)
        with pytest.raises(EndpointRefused, match="answered 307"):
            asyncio.run(chat.complete(MESSAGES))
        assert other.connections == 0


def test_what_one_caller_is_told_to_remember_is_not_sent_by_another() -> None:
    async def two(server: ModelServer) -> None:
        for key in ("one", "two"):
            await OpenAIChat("m", base_url=server.base_url, api_key=key).complete(MESSAGES)

    with ModelServer([Reply(headers={"set-cookie": "session=1; Path=/"}), Reply()]) as server:
        asyncio.run(two(server))
    assert "cookie" not in server.headers[1]


def test_one_chat_serves_one_event_loop_after_another() -> None:
    with ModelServer([Reply(text="one"), Reply(text="two")]) as server:
        chat = OpenAIChat("m", base_url=server.base_url)
        assert [asyncio.run(chat.complete(MESSAGES)).text for _ in range(2)] == ["one", "two"]


def test_requests_of_one_event_loop_share_a_connection() -> None:
    async def twice(server: ModelServer) -> None:
        for chat in (OpenAIChat("m", base_url=server.base_url), OpenAIChat("n", base_url=server.base_url)):
            await chat.complete(MESSAGES)

    with ModelServer() as server:
        asyncio.run(twice(server))
        assert server.connections == 1
        asyncio.run(twice(server))
        assert server.connections == 2


def test_threads_each_have_their_own_event_loop() -> None:
    with ModelServer(lambda request: Reply(text=request["model"])) as server, ThreadPoolExecutor(4) as threads:
        chats = [OpenAIChat(str(i), base_url=server.base_url) for i in range(8)]
        completions = list(threads.map(lambda chat: asyncio.run(chat.complete(MESSAGES)), chats))
    assert [completion.text for completion in completions] == [str(i) for i in range(8)]


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_the_client_is_closed_with_its_event_loop() -> None:
    clients = []

    async def ask_once(server: ModelServer) -> None:
        await OpenAIChat("m", base_url=server.base_url).complete(MESSAGES)
        clients.append(await shared_client(server.base_url))
        assert not clients[0].is_closed

    with ModelServer() as server:
        asyncio.run(ask_once(server))
    assert clients[0].is_closed
    gc.collect()


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
        pytest.raises(EndpointRefused, match=f"127.0.0.1:.* answered {status} .*: the model m is not yours; "),
    ):
        asyncio.run(OpenAIChat("m", base_url=server.base_url, max_retries=2).complete(MESSAGES))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply(status=400, text="This model's maximum context length is 8192 tokens"), "window"),
        (Reply(status=413, text="no"), "window"),
        (Reply(status=400, text="Output blocked by content filtering policy"), "content_filter"),
        (Reply(status=400, text="triggering Azure OpenAI's content management policy"), "content_filter"),
        (Reply(refusal="I cannot help with that"), "content_filter"),
        (Reply(text="", finish_reason="content_filter"), "content_filter"),
        (Reply(status=400, text="no field 'top_k'"), None),
        (Reply(status=403, text="your content policy forbids this key"), None),
    ],
)
def test_why_a_request_was_refused_is_told_where_it_is_known(reply: Reply, reason: str | None) -> None:
    with pytest.raises(EndpointRefused) as caught:
        ask(reply)
    assert caught.value.reason == reason


def test_too_many_requests_are_tried_again() -> None:
    completion, server = ask(
        Reply(status=429, headers=AT_ONCE), Reply(status=500, headers=AT_ONCE), Reply(), max_retries=2
    )
    assert completion.text == "ok"
    assert len(server.requests) == 3


def test_retries_are_bounded() -> None:
    busy = Reply(status=429, headers=AT_ONCE, text="slow down")
    with pytest.raises(EndpointRefused, match=r"answered 429 .*: slow down; wait"):
        ask(busy, busy, max_retries=1)
    with pytest.raises(EndpointUnreachable, match=r"answered 503 .* try again later"):
        ask(Reply(status=503, headers=AT_ONCE), Reply(status=503), max_retries=1)


def pauses(monkeypatch: pytest.MonkeyPatch, *replies: Reply) -> list[float]:
    """How long the client would have slept before it tried again, each time.

    Others sleep as they would: what a server of an earlier test has left in another thread may poll.
    """
    slept: list[float] = []
    really = anyio.sleep

    async def sleep(seconds: float) -> None:
        if sys._getframe(1).f_globals["__name__"].startswith("openai"):
            slept.append(seconds)
        else:
            await really(seconds)

    monkeypatch.setattr("anyio.sleep", sleep)
    ask(*replies, max_retries=len(replies) - 1)
    return slept


def test_it_waits_as_long_as_the_server_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = [Reply(status=429, headers={"retry-after": seconds}) for seconds in ("1", "120")]
    assert pauses(monkeypatch, *busy, Reply()) == [1, 120]


def test_pauses_grow_and_vary_where_the_server_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    # Half a second, doubled each time up to eight, less up to a quarter at random.
    first, *_, seventh = pauses(monkeypatch, *[Reply(status=500)] * 7, Reply())
    assert 0.375 <= first <= 0.5
    assert 6 <= seventh <= 8


def test_who_asks_for_more_than_two_minutes_is_not_waited_for() -> None:
    with pytest.raises(EndpointRefused, match="answered 429"):
        ask(Reply(status=429, headers={"retry-after": "121"}), Reply(), max_retries=1)


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://user:{KEY}@127.0.0.1:{closed.getsockname()[1]}/v1"
        with pytest.raises(
            EndpointUnreachable, match=r"No answer from http://127\.0\.0\.1:\d+/v1: .*check that"
        ) as caught:
            asyncio.run(OpenAIChat("m", base_url=url, max_retries=0).complete(MESSAGES))
    assert KEY not in str(caught.value)


def test_a_closed_connection_is_unreachable() -> None:
    with pytest.raises(EndpointUnreachable, match="check that the server runs"):
        ask(Reply(close=True))


def test_an_answer_that_breaks_off_is_unreachable() -> None:
    with pytest.raises(EndpointUnreachable, match="check that the server runs"):
        ask(Reply(cut_after=20))


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
        (b'{"error": "overloaded"}', "it says 'overloaded'"),
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
    assert "[redacted]" in str(caught.value)
