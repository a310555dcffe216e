"""The smaller vectors that represent an item's own: their mean, pooled tokens, and signs."""

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

from quoteweave.core.errors import MissingExtra
from quoteweave.index.maxsim.scoring import SignBits, mean_direction, pool_tokens, sign_bits

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

needs_engine = pytest.mark.skipif(find_spec("colpali_engine") is None, reason="colpali-engine is not in .venv/visual")


def directions(count: int, dimension: int, *, about: int) -> "Matrix":
    """Vectors of length 1 that lie about a few directions."""
    chance = np.random.default_rng(count)
    vectors = chance.standard_normal((about, dimension))[chance.integers(about, size=count)]
    vectors = vectors + 0.4 * chance.standard_normal((count, dimension))
    scaled: Matrix = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return scaled


def test_the_mean_has_length_one() -> None:
    vectors = np.array([[3, 0], [0, 1], [0, 7]], np.float32)
    np.testing.assert_allclose(mean_direction(vectors), [[3 / 73**0.5, 8 / 73**0.5]], rtol=1e-6)


def test_vectors_that_cancel_have_no_direction() -> None:
    assert mean_direction(np.array([[1, 2], [-1, -2]], np.float32)).tolist() == [[0, 0]]


def test_tokens_that_are_near_are_pooled() -> None:
    slant = 1 / 26**0.5
    vectors = np.array([[1, 0], [0, 1], [5 * slant, slant], [slant, 5 * slant]], np.float32)
    near = np.array([1 + 5 * slant, slant])
    near /= np.linalg.norm(near)
    pooled = pool_tokens(vectors, 2)
    np.testing.assert_allclose(pooled[np.argsort(-pooled[:, 0])], [near, near[::-1]], rtol=1e-6)


@pytest.mark.parametrize(("count", "factor", "left"), [(1, 2, 1), (2, 3, 1), (3, 2, 1), (9, 2, 4), (9, 3, 3)])
def test_as_many_are_left_as_the_factor_says(count: int, factor: int, left: int) -> None:
    pooled = pool_tokens(directions(count, 16, about=count), factor)
    assert (pooled.shape, pooled.dtype.name) == ((left, 16), "float32")
    np.testing.assert_allclose(np.linalg.norm(pooled, axis=1), 1, rtol=1e-6)


def test_equal_tokens_are_one() -> None:
    vectors = np.tile(directions(1, 16, about=1), (8, 1))
    np.testing.assert_allclose(pool_tokens(vectors, 2), vectors[:1], rtol=1e-6)


@needs_engine
@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("count", [2, 5, 40, 170])
def test_pooled_tokens_are_those_of_colpali_engine(count: int, factor: int) -> None:
    import torch
    from colpali_engine.compression import HierarchicalTokenPooler

    vectors = directions(count, 24, about=max(1, count // 6))
    (right,) = HierarchicalTokenPooler().pool_embeddings([torch.from_numpy(vectors)], pool_factor=factor)
    np.testing.assert_allclose(pool_tokens(vectors, factor), right.numpy(), atol=1e-6)


def test_signs_are_bits_in_a_power_of_two_of_bytes() -> None:
    bits = sign_bits(np.array([[1, -1, 0, 0.5, -0.0, 2, 3, -4, 5]], np.float32))
    assert bits.tolist() == [[0b10010110, 0b10000000, 0, 0, 0, 0, 0, 0]]
    widths = [sign_bits(np.ones((1, dimension), np.float32)).shape[1] for dimension in (64, 65, 128, 384, 513, 1024)]
    assert widths == [8, 16, 16, 64, 128, 128]


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = directions(6, 8, about=2)
    monkeypatch.setitem(sys.modules, "scipy.cluster.hierarchy", None)
    with pytest.raises(MissingExtra, match=r"scipy is not installed.*quoteweave\[models\]"):
        pool_tokens(vectors, 2)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingExtra, match=r"faiss is not installed.*quoteweave\[models\]"):
        SignBits(vectors).compare(sign_bits(vectors), 0, 6)
