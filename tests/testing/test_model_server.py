import asyncio
import http.client
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from builders import make_quote

from quoteweave.core.answers import Context
from quoteweave.core.chat.completions import Completion, CompletionDelta
from quoteweave.core.protocols import Expander, Reranker, Retriever, StreamingChatModel
from quoteweave.core.records import Filter, Query
from quoteweave.testing import FakeChat, FakeExpander, FakeReranker, FakeRetriever, ModelServer, Reply
from quoteweave.testing.model_server import hashed_words, shared_words


def post(server: ModelServer, body: Any, path: str = "/v1/chat/completions") -> tuple[int, Any]:
    connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=20)
    try:
        connection.request("POST", path, json.dumps(body), {"X-Test": "1"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_replies_are_played_in_turn_and_requests_recorded() -> None:
    with ModelServer([Reply(text="one"), Reply(status=500, text="broken")]) as server:
        status, completion = post(server, {"model": "m", "n": 1})
        assert (status, completion["model"]) == (200, "m")
        assert completion["choices"][0]["message"] == {"role": "assistant", "content": "one"}
        assert completion["usage"] == {"prompt_tokens": 1, "completion_tokens": 1}
        status, error = post(server, {"n": 2})
        assert (status, error["error"]["message"]) == (500, "broken")
    assert [request["n"] for request in server.requests] == [1, 2]
    assert server.paths == ["/v1/chat/completions"] * 2
    assert server.headers[0]["x-test"] == "1"


def test_a_script_at_its_end_says_so() -> None:
    with ModelServer([]) as server:
        assert post(server, {}) == (
            400,
            {"error": {"message": "the script holds 0 replies and no more", "type": "scripted"}},
        )


def test_another_path_is_not_found_and_not_recorded() -> None:
    with ModelServer([Reply()]) as server:
        assert post(server, {}, path="/chat/completions")[0] == 404
    assert server.requests == []


def test_without_a_script_it_makes_embeddings_of_the_words_of_each_text() -> None:
    texts = ["Grain ships", "the grain ship", "timber"]
    with ModelServer() as server:
        status, answer = post(server, {"model": "m", "input": texts}, path="/v1/embeddings")
        _, shorter = post(server, {"model": "m", "input": texts, "dimensions": 8}, path="/v1/embeddings")
    vectors = {item["index"]: item["embedding"] for item in answer["data"]}
    assert (status, answer["model"], answer["usage"]) == (200, "m", {"prompt_tokens": 1})
    assert vectors[0] == vectors[1] == hashed_words("grain ship")
    assert vectors[0] != vectors[2]
    assert [item["index"] for item in answer["data"]] != [0, 1, 2]
    assert {len(item["embedding"]) for item in shorter["data"]} == {8}


@pytest.mark.parametrize("text", ["grain by ship", "", "…", "grain " * 1000, "港"])
def test_vectors_of_words_have_length_one(text: str) -> None:
    assert sum(number * number for number in hashed_words(text)) == pytest.approx(1)


@pytest.mark.parametrize("path", ["/v1/rerank", "/v2/rerank", "/rerank"])
def test_without_a_script_it_ranks_documents_by_the_words_of_the_question(path: str) -> None:
    request = {"model": "m", "query": "grain ships", "documents": ["timber", "a grain ship", "grain"]}
    with ModelServer() as server:
        _, answer = post(server, request, path=path)
    assert [(result["index"], result["relevance_score"]) for result in answer["results"]] == [(1, 1), (2, 0.5), (0, 0)]
    assert shared_words("", "grain") == 0


def test_vectors_and_scores_can_be_scripted() -> None:
    with ModelServer([Reply(vectors=((1, 2),)), Reply(scores=(0.5, 0.75))]) as server:
        _, embeddings = post(server, {"input": ["a", "b"]}, path="/v1/embeddings")
        _, reranking = post(server, {"query": "a", "documents": ["a", "b"]}, path="/v1/rerank")
    assert [item["embedding"] for item in embeddings["data"]] == [[1, 2]]
    assert [result["relevance_score"] for result in reranking["results"]] == [0.75, 0.5]


def read(server: ModelServer, body: Any) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=20)
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body))
        response = connection.getresponse()
        return response, response.read()
    finally:
        connection.close()


def events(raw: bytes) -> list[Any]:
    *chunks, done = raw.decode().removesuffix("\n\n").split("\n\n")
    assert done == "data: [DONE]"
    return [json.loads(chunk.removeprefix("data: ")) for chunk in chunks]


def deltas(raw: bytes) -> list[Any]:
    return [choice["delta"] for event in events(raw) for choice in event["choices"]]


def test_malformed_json_ends_in_the_middle() -> None:
    with ModelServer([Reply(malformed=True)]) as server, pytest.raises(json.JSONDecodeError):
        json.loads(read(server, {})[1])


def test_a_stream_has_chunks_of_the_sizes_scripted() -> None:
    with ModelServer([Reply(text="Sales grew", sizes=(1, 5), reasoning="hm")]) as server:
        response, raw = read(server, {"model": "m", "stream": True})
    assert response.headers["content-type"] == "text/event-stream"
    assert deltas(raw) == [
        {"role": "assistant", "content": ""},
        {"reasoning_content": "h"},
        {"reasoning_content": "m"},
        {"content": "S"},
        {"content": "ales "},
        {"content": "g"},
        {"content": "rew"},
        {},
    ]
    assert [event["choices"][0]["finish_reason"] for event in events(raw)] == [None] * 7 + ["stop"]


@pytest.mark.parametrize("reply", [Reply(delay_s=600), Reply(delays_s=(600, 600))])
def test_delays_end_when_the_server_is_closed(reply: Reply) -> None:
    asked = threading.Event()

    def script(request: Any) -> Reply:
        asked.set()
        return reply

    with ThreadPoolExecutor(1) as thread:
        with ModelServer(script) as server:
            answer = thread.submit(read, server, {"stream": True})
            assert asked.wait(20)
        answer.exception(timeout=20)  # whatever it is, it comes in time


def test_connections_are_kept_and_end_with_the_server() -> None:
    def ask() -> bytes:
        connection.request("POST", "/v1/chat/completions", b"{}")
        return connection.getresponse().read()

    with ModelServer() as server:
        connection = http.client.HTTPConnection(server.base_url.split("/")[2], timeout=20)
        assert ask() == ask()
        assert server.connections == 1
    with pytest.raises(ConnectionError):
        ask()
    connection.close()


def test_a_fake_streams_its_replies_in_pieces() -> None:
    async def items(chat: StreamingChatModel) -> list[CompletionDelta | Completion]:
        return [item async for item in chat.stream([])]

    whole = Completion(text="Grew [1]", reasoning="hm", model="fake")
    assert asyncio.run(items(FakeChat([whole], size=6))) == [
        CompletionDelta(reasoning="hm"),
        CompletionDelta(text="Grew ["),
        CompletionDelta(text="1]"),
        whole,
    ]


def test_the_fakes_meet_their_protocols() -> None:
    quote = make_quote("a", id="d:0:0")
    model: StreamingChatModel = FakeChat(["yes"])
    assert model.name == "fake"
    retriever: Retriever = FakeRetriever([quote, quote.model_copy(update={"id": "d:0:1"})])
    (first,), _ = retriever.search([Query(text="a"), Query(text="b")], 1, where=Filter(kind="text"))
    assert (first.rank, first.score, first.quote) == (1, 1.0, quote)
    assert Context(texts=(first,)).quote("text", 1) == quote
    reranker: Reranker = FakeReranker(lambda question, quote: float(quote.id == question))
    best, *rest = asyncio.run(reranker.rerank(Query(text="d:0:1"), retriever.search([Query(text="a")], 2)[0])).hits
    assert (best.quote.id, best.rank, best.score) == ("d:0:1", 1, 1.0)
    assert [(hit.quote.id, hit.rank) for hit in rest] == [("d:0:0", 2)]
    expander: Expander = FakeExpander(["b", "c"])
    assert asyncio.run(expander.expand(Query(text="a"))).clauses == ("b", "c")
    failed = asyncio.run(FakeExpander(note="gone").expand(Query(text="a")))
    assert (failed.clauses, failed.note) == (("a",), "gone")
