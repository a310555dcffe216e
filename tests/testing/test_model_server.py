import asyncio
import http.client
import json
from typing import Any

import pytest

from quoteweave.core.answers import Context
from quoteweave.core.protocols import ChatModel, Expander, Reranker, Retriever
from quoteweave.core.records import Filter, Query, Quote
from quoteweave.testing import FakeChat, FakeExpander, FakeReranker, FakeRetriever, ModelServer, Reply
from quoteweave.testing.replies import hashed_words, shared_words


def post(server: ModelServer, body: Any, path: str = "/v1/chat/completions") -> tuple[int, Any]:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(host, timeout=20)
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


def test_a_function_can_be_the_script() -> None:
    with ModelServer(lambda request: Reply(text=request["say"])) as server:
        assert post(server, {"say": "so"})[1]["choices"][0]["message"]["content"] == "so"


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


def test_it_closes_the_connection_without_a_word() -> None:
    with ModelServer([Reply(close=True)]) as server, pytest.raises(http.client.RemoteDisconnected):
        post(server, {})


def test_the_fakes_meet_their_protocols() -> None:
    quote = Quote(
        id="d:0:0", document="d", page=0, page_label="1", bbox=(0, 0, 1, 1), kind="text", layout="paragraph", text="a"
    )
    model: ChatModel = FakeChat(["yes"])
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
