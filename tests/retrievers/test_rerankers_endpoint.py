import asyncio

import pytest
from reranked_hits import TEXTS, made_hits, ordinals

from quoteweave.core.errors import EndpointBadResponse, EndpointUnreachable, UsageError
from quoteweave.core.protocols import Reranker
from quoteweave.core.records import Query
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.retrievers.rerankers.endpoint import EndpointReranker
from quoteweave.testing import ModelServer, Reply, check_reranker

GRAIN = Query(text="Which harbour shipped grain?")
pytestmark = pytest.mark.usefixtures("bare_environment")


def client(server: ModelServer) -> RerankClient:
    return RerankClient("m", base_url=server.base_url, max_retries=0)


def test_hits_come_back_in_the_order_of_the_endpoints_scores() -> None:
    hits = made_hits()
    with ModelServer() as server:
        reranker: Reranker = EndpointReranker(client(server))
        got = asyncio.run(check_reranker(reranker, GRAIN, hits)).hits
    assert ordinals(got) == [4, 1, 0, 2, 3]  # three of its words, two, and none, in the order there was
    assert [hit.score for hit in got] == pytest.approx([1, 2 / 3, 0, 0, 0])
    assert reranker.name == "m"
    assert server.requests[0]["documents"] == [text or "-" for text in TEXTS]


def test_no_hits_and_no_question_ask_nothing() -> None:
    reranker = EndpointReranker(RerankClient("m", base_url="http://127.0.0.1:9"))
    assert asyncio.run(reranker.rerank(GRAIN, [])).hits == ()
    assert asyncio.run(reranker.rerank(Query(text=""), made_hits())).hits == tuple(made_hits())


def test_one_hit_gets_its_score() -> None:
    with ModelServer([Reply(scores=(0.25,))]) as server:
        (hit,) = asyncio.run(EndpointReranker(client(server)).rerank(GRAIN, made_hits(["grain"]))).hits
    assert (hit.rank, hit.score) == (1, 0.25)


def test_long_passages_are_cut() -> None:
    with ModelServer() as server:
        reranker = EndpointReranker(client(server), max_characters=5)
        cut, whole = (asyncio.run(reranker.rerank(GRAIN, made_hits([text]))) for text in ("grain by ship", "grain"))
    assert server.requests[0]["documents"] == ["grain"]
    assert (cut.note, whole.note) == ("m ranked long quotes by their first 5 characters", None)


def test_what_is_sent_goes_to_its_destination() -> None:
    assert EndpointReranker(RerankClient("m", base_url="https://api.rerank.test")).destination == "api.rerank.test"
    local = RerankClient("m", base_url="http://me:secret@127.0.0.1:8000/v1")
    assert EndpointReranker(local).destination == "127.0.0.1:8000"
    with pytest.raises(UsageError, match="QUOTEWEAVE_RERANK_URL"):
        _ = EndpointReranker(RerankClient("m")).destination


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(status=500), EndpointUnreachable),
        (Reply(close=True), EndpointUnreachable),
        (Reply(scores=(1.0,)), EndpointBadResponse),
        (Reply(body=b"garbage"), EndpointBadResponse),
    ],
)
def test_a_failing_endpoint_is_an_error_not_an_order(reply: Reply, error: type[Exception]) -> None:
    with ModelServer([reply]) as server, pytest.raises(error):
        asyncio.run(EndpointReranker(client(server)).rerank(GRAIN, made_hits()))
