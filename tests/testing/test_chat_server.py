import http.client
import json
from typing import Any

import pytest

from quoteweave.core.answers import Context
from quoteweave.core.protocols import ChatModel, Retriever
from quoteweave.core.records import Filter, Query, Quote
from quoteweave.testing import ChatServer, FakeChat, FakeRetriever, Reply


def post(server: ChatServer, body: Any, path: str = "/v1/chat/completions") -> tuple[int, Any]:
    host = server.base_url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(host, timeout=20)
    try:
        connection.request("POST", path, json.dumps(body), {"X-Test": "1"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_replies_are_played_in_turn_and_requests_recorded() -> None:
    with ChatServer([Reply(text="one"), Reply(status=500, text="broken")]) as server:
        status, completion = post(server, {"model": "m", "n": 1})
        assert (status, completion["model"]) == (200, "m")
        assert completion["choices"][0]["message"] == {"role": "assistant", "content": "one"}
        assert completion["usage"] == {"prompt_tokens": 1, "completion_tokens": 1}
        status, error = post(server, {"n": 2})
        assert (status, error["error"]["message"]) == (500, "broken")
    assert [request["n"] for request in server.requests] == [1, 2]
    assert server.headers[0]["x-test"] == "1"


def test_a_script_at_its_end_says_so() -> None:
    with ChatServer([]) as server:
        assert post(server, {}) == (
            400,
            {"error": {"message": "the script holds 0 replies and no more", "type": "scripted"}},
        )


def test_a_function_can_be_the_script() -> None:
    with ChatServer(lambda request: Reply(text=request["say"])) as server:
        assert post(server, {"say": "so"})[1]["choices"][0]["message"]["content"] == "so"


def test_another_path_is_not_found_and_not_recorded() -> None:
    with ChatServer([Reply()]) as server:
        assert post(server, {}, path="/chat/completions")[0] == 404
    assert server.requests == []


def test_it_closes_the_connection_without_a_word() -> None:
    with ChatServer([Reply(close=True)]) as server, pytest.raises(http.client.RemoteDisconnected):
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
