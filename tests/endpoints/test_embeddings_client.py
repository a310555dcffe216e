import asyncio
import math
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from quoteweave.core.answers import Usage
from quoteweave.core.errors import EndpointBadResponse, EndpointRefused, EndpointUnreachable, UsageError
from quoteweave.endpoints import embeddings
from quoteweave.endpoints.embeddings import Embeddings, EmbeddingsClient
from quoteweave.testing import ModelServer, Reply
from quoteweave.testing.model_server import hashed_words

KEY = "sk-secret-0123456789"
AT_ONCE = {"retry-after-ms": "1"}
TEXTS = ["grain by ship", "timber by rail", "coal"]
pytestmark = pytest.mark.usefixtures("bare_environment")


def embed(
    *replies: Reply, texts: Sequence[str] = TEXTS, max_retries: int = 0, dimensions: int | None = None
) -> tuple[Embeddings, ModelServer]:
    with ModelServer(replies or None) as server:
        client = EmbeddingsClient(
            "m", base_url=server.base_url, api_key=KEY, max_retries=max_retries, dimensions=dimensions
        )
        return asyncio.run(client.embed(texts)), server


def scripted(vectors: Sequence[Sequence[float]]) -> Reply:
    return Reply(vectors=tuple(tuple(vector) for vector in vectors))


def test_each_text_gets_its_own_vector_whatever_the_order_of_the_answer() -> None:
    embedded, server = embed(Reply(usage=Usage(input_tokens=12, output_tokens=None)))
    np.testing.assert_allclose(embedded.vectors, [hashed_words(text) for text in TEXTS], rtol=1e-6)
    assert (str(embedded.vectors.dtype), embedded.tokens) == ("float32", 12)
    assert server.requests == [{"model": "m", "encoding_format": "float", "input": TEXTS}]
    assert server.paths == ["/v1/embeddings"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_vectors_have_the_length_that_the_endpoint_gave_them() -> None:
    assert embed(scripted([[3, 4]]), texts=["a"])[0].vectors.tolist() == [[3.0, 4.0]]


def test_dimensions_are_asked_for_when_set() -> None:
    embedded, server = embed(dimensions=8)
    assert server.requests[0]["dimensions"] == 8
    assert embedded.vectors.shape == (3, 8)


def test_many_texts_go_in_several_requests_and_come_back_in_order_with_all_their_tokens() -> None:
    texts = [f"text number {i}" for i in range(11)]
    with ModelServer() as server:
        client = EmbeddingsClient("m", base_url=server.base_url, batch_size=3)
        embedded = asyncio.run(client.embed(texts))
    np.testing.assert_allclose(embedded.vectors, [hashed_words(text) for text in texts], rtol=1e-6)
    assert sorted(len(request["input"]) for request in server.requests) == [2, 3, 3, 3]
    assert embedded.tokens == 4


def test_a_request_holds_no_more_bytes_than_an_endpoint_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embeddings, "BYTES_AT_ONCE", 10)
    texts = ["aaaa", "bbbb", "éééé", "a text longer than any request", "c"]
    with ModelServer() as server:
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url).embed(texts))
    sent = sorted((request["input"] for request in server.requests), key=lambda sent: texts.index(sent[0]))
    assert sent == [["aaaa", "bbbb"], ["éééé"], [texts[3]], ["c"]]


def test_tokens_are_unknown_when_one_answer_does_not_tell_them() -> None:
    def reply(request: Mapping[str, Any]) -> Reply:
        return Reply(usage=None) if "coal" in request["input"] else Reply()

    with ModelServer(reply) as server:
        client = EmbeddingsClient("m", base_url=server.base_url, batch_size=1)
        assert asyncio.run(client.embed(TEXTS)).tokens is None


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_blank_text_is_sent_as_a_dash(blank: str) -> None:
    _, server = embed(texts=["a", blank])
    assert server.requests[0]["input"] == ["a", "-"]


def test_a_lone_surrogate_is_sent_as_a_question_mark() -> None:
    _, server = embed(texts=["grain \ud800 ship"])
    assert server.requests[0]["input"] == ["grain ? ship"]


def test_no_texts_are_no_requests() -> None:
    embedded, server = embed(texts=[], dimensions=8)
    assert (embedded.vectors.shape, embedded.tokens, server.requests) == ((0, 8), 0, [])


def test_one_client_serves_one_event_loop_after_another() -> None:
    with ModelServer() as server:
        client = EmbeddingsClient("m", base_url=server.base_url)
        one, two = (asyncio.run(client.embed(["a"])) for _ in range(2))
    np.testing.assert_array_equal(one.vectors, two.vectors)


def test_without_address_and_key_it_says_what_to_set() -> None:
    with pytest.raises(UsageError, match=r"OPENAI_BASE_URL .*OPENAI_API_KEY "):
        asyncio.run(EmbeddingsClient("m").embed([]))


def test_address_and_key_come_from_the_environment_of_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    client = EmbeddingsClient("m")
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        asyncio.run(client.embed(["a"]))
        assert client.address().host == "127.0.0.1"
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(client.address())


def test_a_key_alone_is_one_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert EmbeddingsClient("m").address().host == "api.openai.com"


@pytest.mark.parametrize("own", [None, "http://127.0.0.1:9/v1", "no URL"])
def test_the_key_of_the_environment_is_sent_to_no_other_machine(
    monkeypatch: pytest.MonkeyPatch, own: str | None
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    if own is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", own)
    with ModelServer([Reply(), Reply(status=401, text="who are you?")]) as server:
        client = EmbeddingsClient("m", base_url=server.base_url)
        asyncio.run(client.embed(["a"]))
        with pytest.raises(EndpointRefused, match=r"no key was sent.*set OPENAI_BASE_URL to its address"):
            asyncio.run(client.embed(["a"]))
    assert KEY not in str(server.headers)


def test_the_key_of_the_environment_is_for_its_own_machine_and_for_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert EmbeddingsClient("m", base_url="https://api.openai.com/v1/").address().key == KEY
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1")
    assert EmbeddingsClient("m", base_url="https://models.example:443/v2").address().key == KEY
    assert EmbeddingsClient("m", base_url="http://models.example/v1").address().key != KEY
    assert EmbeddingsClient("m", base_url="https://else.example/v1", api_key="mine").address().key == "mine"


def longest_taken(most: int) -> Callable[[Mapping[str, Any]], Reply]:
    """A server whose model reads texts of at most so many characters."""

    def script(request: Mapping[str, Any]) -> Reply:
        too_long = any(len(text) > most for text in request["input"])
        return Reply(status=400, text="this model's maximum context length is 512 tokens") if too_long else Reply()

    return script


def test_a_text_that_is_too_long_is_cut_and_the_others_are_whole() -> None:
    texts = [f"number {i}" for i in range(9)] + ["grain " * 400] + ["timber"] * 3
    with ModelServer(longest_taken(700)) as server:
        embedded = asyncio.run(EmbeddingsClient("m", base_url=server.base_url, batch_size=13).embed(texts))
    assert embedded.cut == {9: 600}
    expected = [hashed_words(text) for text in [*texts[:9], texts[9][:600], *texts[10:]]]
    np.testing.assert_allclose(embedded.vectors, expected, rtol=1e-6)
    assert len(server.requests) <= 1 + 2 * 4 + 2, "halves, not one by one"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_what_shorter_texts_would_not_mend_is_not_tried_with_them(status: int) -> None:
    with ModelServer(lambda _: Reply(status=status)) as server, pytest.raises(EndpointRefused):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url).embed(["grain " * 400] * 8))
    assert len(server.requests) == 1


def test_an_endpoint_that_refuses_everything_is_left_alone_soon() -> None:
    with ModelServer(lambda _: Reply(status=400, text="no")) as server, pytest.raises(EndpointRefused, match="no"):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url, batch_size=32).embed(["grain " * 400] * 32))
    assert len(server.requests) <= 12


def test_overload_is_tried_again() -> None:
    busy = Reply(status=429, headers={"Retry-After": "0"})
    embedded, server = embed(busy, Reply(status=500, headers=AT_ONCE), Reply(), max_retries=2)
    assert (len(embedded.vectors), len(server.requests)) == (3, 3)


def test_retries_are_bounded() -> None:
    failing = Reply(status=500, headers=AT_ONCE, text="broken")
    with (
        ModelServer([failing] * 9) as server,
        pytest.raises(EndpointUnreachable, match=r"answered 500 .*: broken; .* try again later"),
    ):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url, max_retries=2).embed(["a"]))
    assert len(server.requests) == 3


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
        with pytest.raises(EndpointUnreachable, match=r"No answer from http://127\.0\.0\.1:\d+/v1: "):
            asyncio.run(EmbeddingsClient("m", base_url=url, max_retries=0, batch_size=1).embed(TEXTS))


def test_a_text_that_is_refused_however_short_is_named() -> None:
    with (
        ModelServer(lambda request: Reply(status=400 if "grain" in str(request) else 200, text="no grain")) as server,
        pytest.raises(
            EndpointRefused,
            match=r"answered 400 .*: no grain; send shorter.* has 200 characters and is text 2 of 3: 'grain .*…'$",
        ),
    ):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url).embed(["short", "grain " * 2000, "tiny"]))


def test_a_wrong_key_is_no_matter_of_the_texts_and_is_not_shown() -> None:
    with pytest.raises(EndpointRefused, match=r"no such key: \[redacted\]; check the API key$") as caught:
        embed(Reply(status=401, text=f"no such key: {KEY}"))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(body=b"<html>"), "no list of embeddings: body: Invalid JSON"),
        (Reply(body=b'{"error": "overloaded"}'), "no list of embeddings: it says 'overloaded'"),
        (Reply(body=b'{"data": [{"index": 0, "embedding": [1, null]}]}'), r"not finite .* for text 1 of 1: 'a'\.$"),
        (Reply(body=b'{"data": [{"index": 0, "embedding": [1, "x"]}]}'), r"data\.0\.embedding\.1: "),
        (Reply(body=b'{"data": [{"index": 0, "embedding": "AACAPw=="}]}'), r"data\.0\.embedding: "),
        (
            Reply(body=b'{"data": [{"index": 1, "embedding": [1]}]}'),
            r"1 embedding and not one for each of 1 text, the first of them text 1 of 1: 'a'\.$",
        ),
        (scripted([]), "0 embeddings and not one for each of 1"),
        (scripted([[1, 2], [1, 2]]), "2 embeddings and not one for each of 1"),
        (scripted([[]]), "a vector of 0 numbers where some were expected, for text 1 of 1: 'a'"),
        (scripted([[1, math.nan]]), r"not finite \(NaN or infinite\) for text 1"),
        (scripted([[1, -math.inf]]), r"not finite \(NaN or infinite\) for text 1"),
        (scripted([[1, 1e300]]), r"not finite \(NaN or infinite\) for text 1"),
    ],
)
def test_what_is_no_vector_for_each_text_is_a_bad_response(reply: Reply, problem: str) -> None:
    with pytest.raises(EndpointBadResponse, match=problem):
        embed(reply, texts=["a"])


def test_vectors_of_another_dimension_than_asked_for_are_a_bad_response() -> None:
    with pytest.raises(EndpointBadResponse, match="a vector of 2 numbers where 8 were expected"):
        embed(scripted([[1, 2]]), texts=["a"], dimensions=8)


def test_vectors_of_different_dimensions_are_a_bad_response_within_and_across_requests() -> None:
    with pytest.raises(EndpointBadResponse, match="a vector of 3 numbers where 2 were expected, for text 2 of 2: 'b'"):
        embed(scripted([[1, 2], [1, 2, 3]]), texts=["a", "b"])

    def reply(request: Mapping[str, Any]) -> Reply:
        return scripted([[1.0] * len(request["input"][0])])

    with (
        ModelServer(reply) as server,
        pytest.raises(EndpointBadResponse, match="of 1 and of 2 numbers, these for text 2 of 3: 'bb'"),
    ):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url, batch_size=1).embed(["a", "bb", "ccc"]))


def test_the_number_of_a_bad_text_counts_all_texts_of_the_call() -> None:
    def reply(request: Mapping[str, Any]) -> Reply:
        return scripted([[math.nan if text == "coal" else 1.0] for text in request["input"]])

    with ModelServer(reply) as server, pytest.raises(EndpointBadResponse, match="for text 3 of 3: 'coal'"):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url, batch_size=2).embed(TEXTS))
