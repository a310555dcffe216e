"""What orders sentences, by name, and what encoders and rerankers make of sentences."""

import asyncio

import pytest

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import SentenceScorer
from quoteweave.generation.extractive.span_reader import SpanReader
from quoteweave.pipeline.composition.sentence_scorers import EncodedSentences, RerankedSentences, make_sentence_scorer
from quoteweave.retrievers.make_retriever import Resources
from quoteweave.testing import FakeEncoder, FakeReranker, ModelServer

PASSAGES = [["Grain came by ship.", "Coal came by rail."], ["Dogs need no ticket."]]
QUESTION = "grain ship"


def score(scorer: SentenceScorer, question: str = QUESTION) -> list[list[float | None]]:
    return asyncio.run(scorer.score(question, PASSAGES))


@pytest.mark.parametrize("many", [False, True])
def test_an_encoder_scores_by_inner_products_or_their_maxima(many: bool) -> None:
    encoder = FakeEncoder(multi_vector=many)
    (first, second), (third,) = score(EncodedSentences(encoder))
    assert first is not None
    assert second is not None
    assert third is not None
    assert first > max(second, third)
    if many:  # both words of the question stand in it, each a vector of length one
        assert first == pytest.approx(2.0)
    assert encoder.queries == [[QUESTION]]


def test_a_reranker_scores_each_sentence_in_its_place() -> None:
    reranker = FakeReranker(lambda question, quote: float(len(quote.text)))
    assert score(RerankedSentences(reranker)) == [[19.0, 18.0], [20.0]]
    assert reranker.queries == [QUESTION]


def test_a_rerank_endpoint_is_sent_the_sentences_and_that_is_told() -> None:
    told: list[str] = []
    with ModelServer() as server:
        scorer = make_sentence_scorer(f"endpoint:m@{server.base_url}", resources=Resources(notify=told.append))
        (first, second), (third,) = score(scorer)
    assert server.requests[0]["documents"] == [sentence for passage in PASSAGES for sentence in passage]
    assert (first or 0) > max(second or 0, third or 0)
    assert len(told) == 1
    assert "127.0.0.1" in told[0]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("minilm", EncodedSentences),
        ("colbert", EncodedSentences),
        ("bge=/a/folder", EncodedSentences),
        ("bge-reranker", RerankedSentences),
        ("minilm-reranker=/a/folder", RerankedSentences),
        ("cross-encoder=/a/folder", RerankedSentences),
        ("reader=/a/folder", SpanReader),
    ],
)
def test_a_name_makes_a_scorer_and_loads_nothing(name: str, made: type[SentenceScorer]) -> None:
    scorer = make_sentence_scorer(name)
    assert isinstance(scorer, made)
    assert scorer.name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("minilmm", "did you mean 'minilm'"),
        ("lexical", "there is no model that orders sentences 'lexical'; choose one of: dpr"),
        ("colpali", "colpali reads pictures; sentences are ordered by a model of text"),
        ("minilm@hnsw", "sentences are ordered without one; write minilm"),
        ("minilm@page", "sentences are ordered without one; write minilm"),
        ("reader", "write reader=PATH"),
        ("reader=", "write reader=PATH"),
        ("cross-encoder", "did you mean 'cross-encoder=PATH'"),
        ("chat", "have it write the answer, as model"),
        ("chat:m@http://host/v1", "have it write the answer, as model"),
    ],
)
def test_what_orders_no_sentences_is_refused_with_what_to_do(name: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        make_sentence_scorer(name)
