import asyncio
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from quoteweave.core.errors import EndpointRefused
from quoteweave.endpoints.embeddings import EmbeddingsClient
from quoteweave.testing import ModelServer, Reply
from quoteweave.testing.model_server import hashed_words


def test_a_text_refused_however_short_is_left_out_and_the_others_are_there() -> None:
    texts = ["bad " * 300, *(f"number {i}" for i in range(20)), "bad", "grain " * 400]

    def script(request: Mapping[str, Any]) -> Reply:
        refused = any("bad" in text or len(text) > 700 for text in request["input"])
        return Reply(status=400, text="not this") if refused else Reply()

    with ModelServer(script) as server:
        client = EmbeddingsClient("m", base_url=server.base_url, batch_size=4)
        embedded = asyncio.run(client.embed_some(texts))
        with pytest.raises(EndpointRefused, match="not this"):
            asyncio.run(client.embed(texts))
    assert (sorted(embedded.refused), embedded.cut) == ([0, 21], {22: 600})
    expected = [hashed_words(text) for text in [*texts[1:21], texts[22][:600]]]
    np.testing.assert_allclose(embedded.vectors, expected, rtol=1e-6)


def test_whether_the_only_text_or_the_request_is_at_fault_is_asked_with_a_dash() -> None:
    with ModelServer(lambda request: Reply(status=200 if request["input"] == ["-"] else 400)) as server:
        embedded = asyncio.run(EmbeddingsClient("m", base_url=server.base_url).embed_some(["bad"]))
    assert (embedded.vectors.shape[0], list(embedded.refused), len(server.requests)) == (0, [0], 2)
    with ModelServer(lambda _: Reply(status=400)) as server, pytest.raises(EndpointRefused):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url).embed_some(["bad"]))


@pytest.mark.parametrize("status", [401, 403, 404, 429])
def test_a_fault_that_is_not_of_the_texts_is_raised_at_once(status: int) -> None:
    with ModelServer(lambda _: Reply(status=status)) as server, pytest.raises(EndpointRefused):
        asyncio.run(EmbeddingsClient("m", base_url=server.base_url, max_retries=0).embed_some(["bad", "good"]))
    assert len(server.requests) == 1
