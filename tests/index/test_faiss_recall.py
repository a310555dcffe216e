"""What faster kinds of index are said to find, of vectors that lie in a collection."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from made_collections import make_collection

from quoteweave.collection.collection import Collection
from quoteweave.collection.records import IndexPlan
from quoteweave.index.faiss.index import FaissIndex
from quoteweave.index.recall import SAMPLE, FaissRecall, measure_faiss_recall, stored_sample, suggest_faster_kind

Matrix = npt.NDArray[np.float32]
ENOUGH = 10_184
PLAN = IndexPlan(
    name="bge", spec="bge@page", kind="flat", multi_vector=False, unit="page", view="text", settings={"model": "made"}
)


def clustered(number: int) -> Matrix:
    """Vectors of length 1 about 50 centres, as embeddings are."""
    chance = np.random.default_rng(0)
    vectors = chance.normal(size=(50, 16))[chance.integers(0, 50, number)] + chance.normal(size=(number, 16))
    made: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return made


def spec_of(kind: str) -> str:
    return f"bge@{kind}@page"


def index_of(vectors: Matrix) -> FaissIndex:
    index = FaissIndex("flat", vectors.shape[1])
    index.add_vectors(np.arange(len(vectors)), vectors)
    return index


def stored(folder: Path, *shards: Matrix) -> Collection:
    """A collection in which each document has the vectors of a shard."""
    names = [f"{number}.txt" for number in range(len(shards))]
    collection = make_collection(folder, {name: ["text"] for name in names})
    with collection.writer() as writer:
        for name, vectors in zip(names, shards, strict=True):
            collection.shards.put_vectors(PLAN.shards, f"key-{name}", vectors, [1] * len(vectors))
        writer.keep_shards(PLAN.shards, {name: f"key-{name}" for name in names})
    return collection


def test_recall_is_the_share_of_what_exact_search_finds() -> None:
    vectors = clustered(ENOUGH)
    measured = [measure_faiss_recall(kind, vectors) for kind in ("fp16", "hnsw", "ivfpq")]
    halves, graph, lists = (one.recall if one is not None else 0.0 for one in measured)
    assert halves > 0.99
    assert graph > 0.9
    assert 0.5 < lists < halves
    assert [one.items for one in measured if one is not None] == [ENOUGH - 200] * 3


@pytest.mark.parametrize(
    ("kind", "vectors", "measured"),
    [("hnsw", ENOUGH - 1, False), ("ivfpq", ENOUGH - 1, False), ("fp16", 210, True), ("fp16", 209, False)],
)
def test_of_too_few_vectors_recall_is_not_told(kind: str, vectors: int, measured: bool) -> None:
    assert (measure_faiss_recall(kind, clustered(vectors)) is not None) == measured


@pytest.mark.parametrize(("kind", "number"), [("fp16", 300), ("hnsw", ENOUGH), ("ivfpq", ENOUGH)])
def test_where_all_vectors_are_equal_what_is_found_is_as_good(kind: str, number: int) -> None:
    told = measure_faiss_recall(kind, np.zeros((number, 4), np.float32))
    assert told is not None
    assert (told.recall, told.items) == (1, number - 200)


@pytest.mark.parametrize("kind", ["fp16", "hnsw", "ivfpq"])
@pytest.mark.parametrize("shape", [(0, 0), (3, 16)])
def test_of_three_vectors_or_none_there_is_nothing_to_tell(kind: str, shape: tuple[int, int]) -> None:
    assert measure_faiss_recall(kind, np.zeros(shape, np.float32)) is None


def test_recall_is_told_in_one_line() -> None:
    said = "hnsw finds 98.4 % of the first 10 of exact search in 0.0012 s (measured on 11,800 of your own)"
    assert str(FaissRecall("hnsw", 0.984, 0.0012, 11_800)) == said


def test_the_sample_is_drawn_from_all_documents(tmp_path: Path) -> None:
    vectors = clustered(SAMPLE + 1000)
    with stored(tmp_path, vectors[:7], np.empty((0, 16), np.float32), vectors[7:6000], vectors[6000:]) as collection:
        sample = stored_sample(collection, PLAN)
    places = {vector.tobytes(): place for place, vector in enumerate(vectors)}
    drawn = [places[vector.tobytes()] for vector in sample]
    assert len(drawn) == len(set(drawn)) == SAMPLE
    assert sum(place < 6000 for place in drawn) == pytest.approx(SAMPLE * 6 / 13, rel=0.1)


def test_the_sample_of_few_vectors_is_all_of_them(tmp_path: Path) -> None:
    vectors = clustered(30)
    with stored(tmp_path, vectors[:20], vectors[20:]) as collection:
        assert stored_sample(collection, PLAN).tolist() == vectors.tolist()


def test_a_faster_kind_is_suggested_where_a_flat_search_is_slow(tmp_path: Path) -> None:
    vectors = clustered(ENOUGH)
    index = index_of(vectors)
    with stored(tmp_path / "my quotes", vectors) as collection:
        assert suggest_faster_kind(index, collection, PLAN, spec_of=spec_of, slow_s=60) is None
        line = suggest_faster_kind(index, collection, PLAN, spec_of=spec_of, slow_s=0)
        assert line is not None
        assert f"(measured on {ENOUGH - 200:,} of your own)" in line
        assert "hnsw finds 9" in line or "hnsw finds 100 %" in line
        assert line.endswith(f": quoteweave index build bge@hnsw@page -c '{collection.root}'")


@pytest.mark.parametrize("number", [0, 100])
def test_for_few_vectors_nothing_is_suggested(number: int, tmp_path: Path) -> None:
    vectors = clustered(number)
    with stored(tmp_path, vectors) as collection:
        assert suggest_faster_kind(index_of(vectors), collection, PLAN, spec_of=spec_of, slow_s=0) is None
