import asyncio
from pathlib import Path

import numpy as np
import pytest

from quoteweave.core.errors import EndpointUnreachable, UsageError
from quoteweave.core.fingerprints import fingerprint
from quoteweave.core.protocols import Encoder
from quoteweave.endpoints.embeddings import EmbeddingsClient
from quoteweave.retrievers.encoders.endpoint import EndpointEncoder
from quoteweave.testing import ModelServer, Reply
from quoteweave.testing.model_server import hashed_words

pytestmark = pytest.mark.usefixtures("bare_environment")


def test_it_is_an_encoder_of_one_vector_a_text_scaled_to_length_one() -> None:
    with ModelServer([Reply(vectors=((3, 4), (0, -2), (1, 0)))]) as server:
        encoder: Encoder = EndpointEncoder(EmbeddingsClient("m", base_url=server.base_url))
        vectors = encoder.encode_views(["a", "b", "c"])
    assert (encoder.name, encoder.reads, encoder.multi_vector) == ("m", "text", False)
    assert [str(vector.dtype) for vector in vectors] == ["float32"] * 3
    assert [vector.shape for vector in vectors] == [(1, 2)] * 3
    np.testing.assert_allclose(np.concatenate(vectors), [[0.6, 0.8], [0.0, -1.0], [1.0, 0.0]], rtol=1e-6)


def test_prefixes_are_put_before_questions_and_passages() -> None:
    with ModelServer() as server:
        client = EmbeddingsClient("m", base_url=server.base_url)
        encoder = EndpointEncoder(client, query_prefix="query: ", passage_prefix="passage: ")
        (question,), (passage,) = encoder.encode_queries(["grain"]), encoder.encode_views(["grain"])
    assert [request["input"] for request in server.requests] == [["query: grain"], ["passage: grain"]]
    np.testing.assert_allclose(question[0], hashed_words("query: grain"), rtol=1e-6)
    np.testing.assert_allclose(passage[0], hashed_words("passage: grain"), rtol=1e-6)


def test_long_texts_are_cut_and_told() -> None:
    told: list[str] = []
    with ModelServer() as server:
        client = EmbeddingsClient("m", base_url=server.base_url)
        short = EndpointEncoder(client, passage_prefix="p: ", max_characters=8, notify=told.append)
        short.encode_views(["grain by ship"])
        EndpointEncoder(client).encode_queries(["what " * 10_000])
    assert server.requests[0]["input"] == ["p: grain"]
    assert told == ["texts too long for m are cut, one to 8 characters: 'p: grain by ship'"]
    assert len(server.requests[1]["input"][0]) == 8000


def test_that_texts_are_cut_is_told_once() -> None:
    told: list[str] = []
    with ModelServer(
        lambda request: Reply(status=400 if any(len(text) > 500 for text in request["input"]) else 200)
    ) as server:
        encoder = EndpointEncoder(EmbeddingsClient("m", base_url=server.base_url), notify=told.append)
        for _ in range(2):
            assert len(encoder.encode_views(["grain " * 150, "timber"])) == 2
    assert told == [f"texts too long for m are cut, one to 450 characters: '{'grain ' * 10}…'"]


def test_nothing_to_encode_is_nothing() -> None:
    encoder = EndpointEncoder(EmbeddingsClient("m", base_url="http://127.0.0.1:9/v1"))
    assert encoder.encode_views([]) == []


def test_it_encodes_within_a_running_event_loop_too() -> None:
    async def encoded(encoder: EndpointEncoder) -> int:
        return len(encoder.encode_queries(["a", "b"]))

    with ModelServer() as server:
        assert asyncio.run(encoded(EndpointEncoder(EmbeddingsClient("m", base_url=server.base_url)))) == 2


def test_tokens_are_counted() -> None:
    with ModelServer([Reply(), Reply(usage=None), Reply()]) as server:
        encoder = EndpointEncoder(EmbeddingsClient("m", base_url=server.base_url))
        for _ in range(3):
            encoder.encode_views(["a"])
    assert encoder.tokens == 2


def test_settings_are_known_without_a_request_and_change_with_what_changes_a_vector() -> None:
    local, remote = (EmbeddingsClient("m", base_url=url) for url in ("http://localhost:1/v1", "https://a.test/v1"))
    encoders = [
        EndpointEncoder(local),
        EndpointEncoder(remote),
        EndpointEncoder(EmbeddingsClient("other", base_url="http://localhost:1/v1")),
        EndpointEncoder(EmbeddingsClient("m", base_url="http://localhost:1/v1", dimensions=256)),
        EndpointEncoder(local, query_prefix="q"),
        EndpointEncoder(local, passage_prefix="q"),
        EndpointEncoder(local, max_characters=100),
    ]
    assert len({fingerprint(encoder.settings) for encoder in encoders}) == len(encoders)
    elsewhere = EndpointEncoder(EmbeddingsClient("m", base_url="http://localhost:2/v1/", api_key="k", batch_size=1))
    assert elsewhere.settings == encoders[0].settings
    assert encoders[1].destination == "a.test"


def test_without_an_endpoint_it_says_what_to_set() -> None:
    encoder = EndpointEncoder(EmbeddingsClient("m"))
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        _ = encoder.settings
    with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
        encoder.encode_queries(["a"])


def test_a_failing_endpoint_is_an_error_not_a_vector() -> None:
    with ModelServer([Reply(close=True)]) as server, pytest.raises(EndpointUnreachable):
        EndpointEncoder(EmbeddingsClient("m", base_url=server.base_url, max_retries=0)).encode_queries(["a"])


def test_quotes_are_found_through_http(tmp_path: Path) -> None:
    quotes = ["grain came by ship", "timber came by rail", "coal was sold in spring"]
    with ModelServer() as server:
        encoder = EndpointEncoder(EmbeddingsClient("m", base_url=server.base_url))
        passages = np.concatenate(encoder.encode_views(quotes))
        (question,) = encoder.encode_queries(["Who sold coal?"])
    assert int(np.argmax(passages @ question[0])) == 2
