import asyncio
import json
import math
import socket

import pytest

from quoteweave.core.errors import EndpointBadResponse, EndpointRefused, EndpointUnreachable, UsageError
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.testing import ModelServer, Reply

KEY = "sk-secret-0123456789"
OTHER_KEY = "sk-another-0123456789"
AT_ONCE = {"retry-after-ms": "1"}
NULLS = {"results": [{"index": i, "relevance_score": None} for i in range(3)]}
DOCUMENTS = ["timber by rail", "grain by ship", "coal"]
pytestmark = pytest.mark.usefixtures("bare_environment")


def score(*replies: Reply, documents: list[str] = DOCUMENTS, query: str = "grain") -> tuple[list[float], ModelServer]:
    with ModelServer(replies or None) as server:
        client = RerankClient("m", base_url=server.base_url, api_key=KEY, max_retries=0)
        return asyncio.run(client.score(query, documents)), server


def test_scores_come_in_the_order_of_the_documents() -> None:
    scores, server = score(Reply(scores=(0.1, 0.9, -3.5)))
    assert scores == [0.1, 0.9, -3.5]
    assert server.requests == [{"model": "m", "query": "grain", "documents": DOCUMENTS, "top_n": 3}]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_no_documents_are_no_request() -> None:
    assert asyncio.run(RerankClient("m", base_url="http://127.0.0.1:9/v1").score("grain", [])) == []


def test_blank_texts_are_sent_as_dashes() -> None:
    _, server = score(documents=["", "coal"], query=" ")
    assert (server.requests[0]["documents"], server.requests[0]["query"]) == (["-", "coal"], "-")


@pytest.mark.parametrize(
    ("typed", "path"),
    [
        ("", "/v1/rerank"),
        ("/", "/v1/rerank"),
        ("/v1", "/v1/rerank"),
        ("/v1/", "/v1/rerank"),
        ("/v2", "/v2/rerank"),
        ("/v1/rerank", "/v1/rerank"),
        ("/v2/rerank/", "/v2/rerank"),
        ("/rerank", "/rerank"),
    ],
)
def test_the_address_is_what_people_type(typed: str, path: str) -> None:
    with ModelServer() as server:
        url = server.base_url.removesuffix("/v1") + typed
        asyncio.run(RerankClient("m", base_url=url).score("grain", DOCUMENTS))
    assert server.paths == [path]


def test_its_own_variables_come_before_those_of_openai(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://openai.test/v1")
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    client = RerankClient("m")
    assert (client.address().host, client.address().key) == ("openai.test", OTHER_KEY)
    monkeypatch.setenv("QUOTEWEAVE_RERANK_URL", "http://rerank.test")
    assert (client.address().url, client.address().key) == ("http://rerank.test/v1", "none")
    monkeypatch.setenv("QUOTEWEAVE_RERANK_KEY", KEY)
    assert client.address().key == KEY
    assert RerankClient("m", base_url="http://given.test").address().host == "given.test"


def test_the_key_of_openai_is_sent_to_no_other_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)
    with ModelServer() as server:
        asyncio.run(RerankClient("m", base_url=server.base_url).score("grain", DOCUMENTS))
    assert OTHER_KEY not in server.headers[0]["authorization"]


def test_without_an_address_it_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", OTHER_KEY)  # OpenAI itself has no reranker
    said = r"as in endpoint:m@http.* or in QUOTEWEAVE_RERANK_URL, and set QUOTEWEAVE_RERANK_KEY"
    with pytest.raises(UsageError, match=said):
        asyncio.run(RerankClient("m").score("grain", DOCUMENTS))


@pytest.mark.parametrize("url", ["localhost:8000/v1", "ftp://a/v1", "http://[::1"])
def test_a_malformed_address_is_a_usage_error(url: str) -> None:
    with pytest.raises(UsageError, match="must look like http://localhost:8000/v1"):
        asyncio.run(RerankClient("m", base_url=url).score("grain", DOCUMENTS))


def test_overload_is_tried_again_and_no_more_than_it_may() -> None:
    busy = Reply(status=429, headers=AT_ONCE)
    with ModelServer([busy, Reply(status=503, headers=AT_ONCE), Reply(scores=(1, 2, 3)), busy, busy]) as server:
        client = RerankClient("m", base_url=server.base_url, max_retries=2)
        assert asyncio.run(client.score("grain", DOCUMENTS)) == [1, 2, 3]
        with pytest.raises(EndpointRefused, match="answered 429"):
            asyncio.run(RerankClient("m", base_url=server.base_url, max_retries=1).score("grain", DOCUMENTS))
    assert len(server.requests) == 5


def test_nobody_at_the_address_is_unreachable() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(EndpointUnreachable, match="check that the server runs"):
            asyncio.run(RerankClient("m", base_url=url, max_retries=0).score("grain", DOCUMENTS))


def test_a_document_too_long_is_named() -> None:
    with pytest.raises(EndpointRefused, match=r"the longest is document 2 of 2, with 6000 characters: 'grain "):
        score(Reply(status=400, text="too many tokens"), documents=["a", "grain " * 1000])


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Reply(body=b"not found"), "no list of relevance scores: body: Invalid JSON"),
        (Reply(body=b'{"data": []}'), "no list of relevance scores: results: Field required"),
        (Reply(body=b'{"results": [{"index": 0, "score": 1}]}'), r"results\.0\.relevance_score: Field required"),
        (Reply(scores=(1, 2)), "2 scores and not one for each of 3 documents"),
        (Reply(scores=(1, 2, 3, 4)), "4 scores and not one for each of 3 documents"),
        (Reply(body=json.dumps(NULLS).encode()), "not finite .* for document 1 of 3"),
        (Reply(scores=(1, math.nan, 3)), r"not finite .* for document 2 of 3: 'grain by ship'\.$"),
        (Reply(body=b'{"results": [' + b",".join([b'{"index": 0, "relevance_score": 1}'] * 3) + b"]}"), "3 scores"),
    ],
)
def test_what_is_no_score_for_each_document_is_a_bad_response(reply: Reply, problem: str) -> None:
    with pytest.raises(EndpointBadResponse, match=problem):
        score(reply)
