"""An endpoint that sends too much, too slowly or elsewhere: each call ends, in time and memory, with a clear error."""

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import Callable
from functools import cache

import pytest

from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import EndpointBadResponse, EndpointError, EndpointRefused, EndpointUnreachable
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.embeddings import EmbeddingsClient
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.testing import ModelServer, Reply

MESSAGES = [{"role": "user", "content": "Did sales grow?"}]
EVENTS = {"content-type": "text/event-stream"}
WORD = b'data: {"choices": [{"delta": {"content": "a "}}]}\n\n'
PATIENT, FAST = 20.0, 0.3
Ask = Callable[..., object]


def chat(url: str, timeout_s: float = PATIENT, call_limit_s: float | None = None) -> Completion:
    model = OpenAIChat("m", base_url=url, max_retries=0, timeout_s=timeout_s, call_limit_s=call_limit_s)
    return asyncio.run(model.complete(MESSAGES))


def stream(url: str, timeout_s: float = PATIENT, call_limit_s: float | None = None) -> Completion:
    async def read() -> Completion:
        model = OpenAIChat("m", base_url=url, max_retries=0, timeout_s=timeout_s, call_limit_s=call_limit_s)
        *_, last = [item async for item in model.stream(MESSAGES)]
        assert isinstance(last, Completion)
        return last

    return asyncio.run(read())


def embed(url: str, timeout_s: float = PATIENT, call_limit_s: float | None = None) -> object:
    client = EmbeddingsClient("m", base_url=url, max_retries=0, timeout_s=timeout_s, call_limit_s=call_limit_s)
    return asyncio.run(client.embed(["a", "b"]))


def rerank(url: str, timeout_s: float = PATIENT, call_limit_s: float | None = None) -> object:
    client = RerankClient("m", base_url=url, max_retries=0, timeout_s=timeout_s, call_limit_s=call_limit_s)
    return asyncio.run(client.score("a", ["b", "c"]))


ALL = [chat, stream, embed, rerank]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("ask", ALL)
def test_nothing_is_sent_to_where_a_redirect_to_another_machine_points(ask: Ask, status: int) -> None:
    with ModelServer() as other:
        elsewhere = other.base_url.replace("http://", "http://u:pass-word@")
        location = {"location": f"{elsewhere}/{_path(ask)}?token=t0ken-t0ken"}
        with (
            ModelServer(lambda _: Reply(status=status, headers=location)) as server,
            pytest.raises(EndpointRefused, match="set the base URL to it") as caught,
        ):
            ask(server.base_url)
    assert f"{server.base_url} answered {status} for the model m, a redirect to {other.base_url}, " in str(caught.value)
    assert "pass-word" not in str(caught.value)
    assert "t0ken" not in str(caught.value)
    assert (other.connections, len(server.requests)) == (0, 1)


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("ask", ALL)
def test_a_redirect_within_the_machine_is_followed_with_the_question(ask: Ask, status: int) -> None:
    with ModelServer([Reply(status=status, headers={"location": f"/v1/{_path(ask)}?again"}), Reply()]) as server:
        ask(server.base_url)
    assert len(server.requests) == 2
    assert server.requests[0] == server.requests[1]
    assert server.paths == [f"/v1/{_path(ask)}", f"/v1/{_path(ask)}?again"]


def _path(ask: Ask) -> str:
    return {"embed": "embeddings", "rerank": "rerank"}.get(ask.__name__, "chat/completions")


@pytest.mark.parametrize(
    "location",
    [
        "",
        "http://[",
        "https:///x",
        "ftp://127.0.0.1/x",
        "/v1/chat/completions",
        "http://\x1b[31mred/",
        "http://ex\xe4mple\xad\xa0/",
    ],
)
def test_a_redirect_to_nowhere_or_for_ever_is_refused(location: str) -> None:
    with (
        ModelServer(lambda _: Reply(status=307, headers={"location": location} if location else {})) as server,
        pytest.raises(EndpointRefused, match=r"answered 307 .* a redirect"),
    ):
        chat(server.base_url)
    assert len(server.requests) <= 6


def test_comments_are_no_sign_of_life() -> None:
    with (
        ModelServer(lambda _: Reply(headers=EVENTS, body=WORD, endless=b": ping\n\n", every_s=0.01)) as server,
        pytest.raises(EndpointUnreachable, match=r"timed out: nothing .* for 0\.3 s.* after 2 characters"),
    ):
        stream(server.base_url, timeout_s=FAST, call_limit_s=PATIENT)


def test_a_word_now_and_then_ends_with_the_limit_of_the_call() -> None:
    with (
        ModelServer(lambda _: Reply(headers=EVENTS, endless=WORD, every_s=0.01)) as server,
        pytest.raises(EndpointUnreachable, match=r"within 0\.3 s, the limit of a call .* after \d+ characters"),
    ):
        stream(server.base_url, call_limit_s=FAST)


def test_the_limit_of_a_call_goes_with_the_timeout() -> None:
    with (
        ModelServer(lambda _: Reply(headers=EVENTS, endless=WORD, every_s=0.01)) as server,
        pytest.raises(EndpointUnreachable, match=r"within 0\.5 s"),
    ):
        stream(server.base_url, timeout_s=0.1)


@pytest.mark.parametrize("ask", ALL)
def test_a_body_that_drips_ends_with_the_limit_of_the_call(ask: Ask) -> None:
    with (
        ModelServer(lambda _: Reply(endless=b" ", every_s=0.01)) as server,
        pytest.raises(EndpointUnreachable),
    ):
        ask(server.base_url, timeout_s=10, call_limit_s=FAST)


def test_attempts_and_their_pauses_count_within_the_limit() -> None:
    with ModelServer(lambda _: Reply(status=503, headers={"retry-after": "60"})) as server:
        model = OpenAIChat("m", base_url=server.base_url, max_retries=5, call_limit_s=FAST)
        with pytest.raises(EndpointUnreachable, match="the limit of a call with all its attempts"):
            asyncio.run(model.complete(MESSAGES))
    assert len(server.requests) == 1


@cache
def zeros() -> bytes:
    """200 MiB of them, packed."""
    return gzip.compress(bytes(200 * 2**20), 1)


@pytest.mark.parametrize("ask", ALL)
def test_a_gzip_bomb_is_not_unpacked(ask: Ask) -> None:
    reply = Reply(body=zeros(), headers={"content-encoding": "gzip", "content-type": "application/json"})
    _ends_small(ask, reply, EndpointBadResponse, "sent for the model m .*more than")


@pytest.mark.parametrize("status", [400, 500])
def test_nor_is_that_of_an_error(status: int) -> None:
    reply = Reply(status=status, body=zeros(), headers={"content-encoding": "gzip"})
    _ends_small(chat, reply, EndpointBadResponse, "MiB")


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json"])
@pytest.mark.parametrize("ask", ALL)
def test_an_endless_line_ends(ask: Ask, kind: str) -> None:
    reply = Reply(body=b'data: {"', headers={"content-type": kind}, endless=b"a" * 2**20)
    _ends_small(ask, reply, EndpointBadResponse, "MiB, which is more than is read")


@pytest.mark.parametrize(
    ("part", "told"),
    [
        (b"data: %s\n" % (b"1" * 2**12) * 2**7, "an event of more than 4 MiB"),
        (b'data: {"choices": [], "x": "%s"}\r\n\r\n' % (b"a" * 2**20), "more than 64 MiB"),
    ],
)
def test_endless_lines_and_events_end(part: bytes, told: str) -> None:
    _ends_small(stream, Reply(headers=EVENTS, endless=part), EndpointBadResponse, told)


def test_endless_headers_end() -> None:
    reply = Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 2**18)
    _ends_small(chat, reply, EndpointUnreachable, "No answer from")


def _ends_small(ask: Ask, reply: Reply, kind: type[EndpointError], told: str) -> None:
    """It raises that, and never holds more than a few times what is read at most."""
    with ModelServer(lambda _: reply) as server:
        tracemalloc.start()
        try:
            with pytest.raises(kind, match=told):
                ask(server.base_url)
            assert tracemalloc.get_traced_memory()[1] < 200 * 2**20
        finally:
            tracemalloc.stop()


NESTED = {
    "[": b"[" * 200_000,
    "closed": b"[" * 200_000 + b"]" * 200_000,
    "object": b'{"a":' * 200_000 + b"1" + b"}" * 200_000,
    "within": b'{"error": ' + b"[" * 900 + b"]" * 900 + b"}",
}


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("ask", ALL)
def test_json_nested_deeply_is_a_bad_response(ask: Ask, name: str) -> None:
    with ModelServer(lambda _: Reply(body=NESTED[name])) as server, pytest.raises(EndpointBadResponse):
        ask(server.base_url)


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("status", [200, 400, 500])
def test_so_are_events_and_errors(status: int, name: str) -> None:
    body = b"data: " + NESTED[name] + b"\n\n" if status == 200 else NESTED[name]
    with (
        ModelServer(lambda _: Reply(status=status, body=body, headers=EVENTS)) as server,
        pytest.raises(EndpointError) as caught,
    ):
        stream(server.base_url)
    assert len(str(caught.value)) < 1000


def test_a_stream_held_open_after_its_end_is_an_answer() -> None:
    body = WORD + b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
    with ModelServer(lambda _: Reply(headers=EVENTS, body=body, endless=b"", every_s=0.05)) as server:
        assert stream(server.base_url).text == "a "


@pytest.mark.parametrize(
    ("ask", "body"),
    [
        (chat, {"choices": [1] * 500_000}),
        (embed, {"data": [{}] * 500_000}),
        (embed, {"data": [{"index": 0, "embedding": ["x"] * 500_000}]}),
        (rerank, {"results": ["x"] * 500_000}),
    ],
)
def test_of_many_things_wrong_one_is_named(ask: Ask, body: dict[str, object]) -> None:
    _ends_small(ask, Reply(body=json.dumps(body).encode()), EndpointBadResponse, "that is no")


@pytest.mark.parametrize(
    "item", [{"index": 0, "embedding": ["0.5"]}, {"index": "0", "embedding": [0.5]}, {"index": 0, "embedding": [True]}]
)
def test_words_are_no_numbers_of_a_vector(item: dict[str, object]) -> None:
    body = json.dumps({"data": [item, {"index": 1, "embedding": [1]}]}).encode()
    with ModelServer([Reply(body=body)]) as server, pytest.raises(EndpointBadResponse, match="Input should be a valid"):
        embed(server.base_url)


def test_a_vector_of_zeros_is_none() -> None:
    with (
        ModelServer([Reply(vectors=((1, 0), (0, 0)))]) as server,
        pytest.raises(EndpointBadResponse, match="a vector of zeros, which is like no other, for text 2 of 2: 'b'"),
    ):
        embed(server.base_url)


@pytest.mark.parametrize("content", ["a" * 1_300_000, " " * 1_300_000])
def test_an_answer_longer_than_any_model_writes_is_refused(content: str) -> None:
    with (
        ModelServer([Reply(text=content, sizes=(8000,))]) as server,
        pytest.raises(EndpointBadResponse, match="more than 1,200,000 characters"),
    ):
        stream(server.base_url)


def test_bytes_that_are_no_text_are_not_made_up() -> None:
    body = b'{"choices": [{"message": {"content": "gr\xffin"}}]}'
    with ModelServer([Reply(body=body)]) as server, pytest.raises(EndpointBadResponse, match="no chat completion"):
        chat(server.base_url)
