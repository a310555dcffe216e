"""MaxSim is what its formula says, whatever the lengths and signs, and however items fall into blocks and files."""

import os
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from made_shards import Among, made_shard

from quoteweave.index.maxsim import item_table
from quoteweave.index.maxsim import scoring as maxsim
from quoteweave.index.maxsim.index import MultiVectorIndex
from quoteweave.index.maxsim.scoring import InnerProducts, SignBits, sign_bits, top_k
from quoteweave.testing.vector_fixtures import brute_force

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

needs_engine = pytest.mark.skipif(find_spec("colpali_engine") is None, reason="colpali-engine is not in .venv/visual")


def matrix(*vectors: tuple[float, ...]) -> "Matrix":
    return np.array(vectors, np.float32)


def test_a_worked_example(tmp_path: Path) -> None:
    items = {
        1: matrix((-1, -1), (-2, -1), (-0.5, -3)),  # -0.5 and -1: nothing above 0 may come in between
        2: matrix((0.5, 0.25), (1, 0)),  # 1 and 0.25
        3: matrix((0, 1)),  # 0 and 1
        4: matrix((0.125, 0.125), (0.25, 0.75), (0, 0)),  # 0.25 and 0.75
    }
    index = MultiVectorIndex("exact", 2)
    index.add(made_shard(tmp_path / "shard", items))
    (found,) = index.search([matrix((1, 0), (0, 1))], 10)
    assert found.rows.tolist() == [2, 3, 4, 1]
    assert found.scores.tolist() == [1.25, 1, 1, -1.5]


numbers = st.integers(-3, 3).map(float)
matrices = st.integers(1, 5).flatmap(lambda length: arrays(np.float32, (length, 3), elements=numbers))


@given(
    made=st.lists(matrices, min_size=1, max_size=12),
    negative=st.booleans(),
    document_of=st.lists(st.integers(0, 2), min_size=12, max_size=12),
    among=st.none() | st.sets(st.integers(0, 30)),
    queries=st.lists(matrices, max_size=4),
    k=st.integers(1, 14),
    numbers_at_once=st.sampled_from([1, 12, 30, 1 << 20]),
    asked_at_once=st.sampled_from([1, 3, 32]),
    products_at_once=st.sampled_from([1, 18, 1 << 18]),
    threads=st.sampled_from([1, 2, 5]),
)
def test_exact_search_is_brute_force(
    made: "list[Matrix]",
    negative: bool,
    document_of: list[int],
    among: set[int] | None,
    queries: "list[Matrix]",
    k: int,
    numbers_at_once: int,
    asked_at_once: int,
    products_at_once: int,
    threads: int,
) -> None:
    items = {2 * at: -np.abs(vectors) - 1 if negative else vectors for at, vectors in enumerate(made)}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(item_table, "NUMBERS_AT_ONCE", numbers_at_once)
        patch.setattr(maxsim, "QUERY_VECTORS_AT_ONCE", asked_at_once)
        patch.setattr(maxsim, "PRODUCTS_AT_ONCE", products_at_once)
        patch.setattr(maxsim, "BYTES_FOR_A_THREAD", 1)
        patch.setattr(os, "sched_getaffinity", lambda _: set(range(threads)), raising=False)
        index = MultiVectorIndex("exact", 3)
        for document in range(3):
            own = {row: items[row] for row in items if document_of[row // 2] == document}
            index.add(made_shard(Path(folder, str(document)), own, dimension=3))
        found = index.search(queries, k, None if among is None else Among([*among]))
    right = [brute_force(items, query, k, among) for query in queries]
    assert [one.rows.tolist() for one in found] == [one.rows.tolist() for one in right]
    assert [one.scores.tolist() for one in found] == [one.scores.tolist() for one in right]


@pytest.mark.parametrize("asked", [1, 20, 32, 33, 300])
def test_scores_are_those_of_double_precision(tmp_path: Path, asked: int) -> None:
    chance = np.random.default_rng(asked)
    items = {row: chance.standard_normal((int(chance.integers(1, 90)), 128)).astype(np.float16) for row in range(200)}
    index = MultiVectorIndex("exact", 128)
    index.add(made_shard(tmp_path / "shard", {row: vectors.astype(np.float32) for row, vectors in items.items()}))
    query = chance.standard_normal((asked, 128)).astype(np.float32)
    (found,) = index.search([query], 200)
    right = brute_force({row: vectors.astype(np.float32) for row, vectors in items.items()}, query, 200)
    np.testing.assert_allclose(found.scores, right.scores, rtol=1e-5)


@needs_engine
def test_scores_are_those_of_colpali_engine(tmp_path: Path) -> None:
    import torch
    from colpali_engine.utils.processing_utils import BaseVisualRetrieverProcessor

    chance = np.random.default_rng(0)
    # The reference pads with zeros, so each vector of a question must have a similarity above 0.
    items = {row: chance.standard_normal((int(chance.integers(40, 90)), 32)).astype(np.float32) for row in range(150)}
    queries = [chance.standard_normal((length, 32)).astype(np.float32) for length in (20, 7, 31)]
    index = MultiVectorIndex("exact", 32)
    index.add(made_shard(tmp_path / "shard", items, dtype="float32"))
    scores = BaseVisualRetrieverProcessor.score_multi_vector(
        [torch.from_numpy(query) for query in queries], [torch.from_numpy(vectors) for vectors in items.values()]
    )
    for found, right in zip(index.search(queries, 150), scores, strict=True):
        np.testing.assert_allclose(found.scores, right[found.rows], rtol=1e-4)
        assert sorted(found.rows.tolist()) == list(items)


def test_every_number_of_half_precision_is_read_as_it_is() -> None:
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[np.isfinite(halves)]
    read = InnerProducts(np.ones((1, 1), np.float32)).read([halves[:, None]])
    assert read[:, 0].tolist() == halves.astype(np.float64).tolist()


@pytest.mark.parametrize("dimension", [1, 8, 63, 64, 65, 128, 129, 384, 700])
def test_signs_that_differ_are_counted(dimension: int) -> None:
    chance = np.random.default_rng(dimension)
    asked, vectors = (chance.integers(-1, 2, (n, dimension)).astype(np.float32) for n in (3, 11))
    differing = ((asked > 0)[:, None] != (vectors > 0)[None]).sum(axis=2)
    similar = SignBits(asked)
    found = similar.compare(similar.read([sign_bits(vectors[:4]), sign_bits(vectors[4:])]), 1, 3)
    assert found.T.tolist() == (-differing[1:]).tolist()


@given(st.lists(st.integers(-2, 2), max_size=12), st.integers(1, 14))
def test_the_best_are_the_first_of_all_in_order(scores: list[int], k: int) -> None:
    rows = np.arange(10, 10 + len(scores))
    found = top_k(np.array(scores, np.float32), rows, k)
    right = sorted(zip((-score for score in scores), rows.tolist(), strict=True))[:k]
    assert list(zip((-found.scores).tolist(), found.rows.tolist(), strict=True)) == right
