from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.errors import ModelFailed
from quoteweave.models.batches import catch_out_of_memory, encode_in_batches

Encode = Callable[[list[str]], Sequence[np.ndarray[Any, Any]]]
CUDA = "CUDA out of memory. Tried to allocate 20.00 MiB.\nmore of it"


def lengths(texts: list[str]) -> list[np.ndarray[Any, Any]]:
    """One vector a text: its length."""
    return [np.full((1, 1), len(text), dtype=np.float32) for text in texts]


def run(texts: Sequence[str], encode: Encode, batch_size: int = 8, budget: int | None = None) -> list[float]:
    found = encode_in_batches(texts, encode, size_of=len, batch_size=batch_size, name="tiny", budget=budget)
    return [float(matrix[0, 0]) for matrix in found]


class Recorded:
    """Encodes, and keeps the batches; out of memory when one has more than `room` items."""

    def __init__(self, room: int = 10**9, error: Exception | None = None) -> None:
        self.room, self.error = room, error or RuntimeError(CUDA)
        self.batches: list[list[str]] = []

    def __call__(self, texts: list[str]) -> Sequence[np.ndarray[Any, Any]]:
        self.batches.append(texts)
        if len(texts) > self.room:
            raise self.error
        return lengths(texts)


texts = st.lists(st.text(max_size=20), max_size=30)


@given(texts, st.integers(1, 9), st.integers(1, 9))
def test_vectors_come_back_in_order_whatever_the_batch_and_the_memory(
    items: list[str], batch_size: int, room: int
) -> None:
    encode = Recorded(room)
    assert run(items, encode, batch_size) == [len(item) for item in items]
    assert all(len(batch) <= batch_size for batch in encode.batches)


@given(texts, st.integers(1, 9))
def test_the_longest_come_first_so_that_batches_hold_items_of_like_length(items: list[str], batch_size: int) -> None:
    encode = Recorded()
    run(items, encode, batch_size)
    given_ones = [len(item) for batch in encode.batches for item in batch]
    assert given_ones == sorted(given_ones, reverse=True)


@given(texts, st.integers(1, 60))
def test_batches_of_several_stay_within_the_budget(items: list[str], budget: int) -> None:
    encode = Recorded()
    assert run(items, encode, 5, budget) == [len(item) for item in items]
    assert all(len(batch) == 1 or len(batch) * len(batch[0]) <= budget for batch in encode.batches)


def test_a_budget_makes_batches_of_long_items_small_and_of_short_ones_full() -> None:
    encode = Recorded()
    run(["x" * 10] * 4 + ["x"] * 7, encode, 4, budget=20)
    assert [len(batch) for batch in encode.batches] == [2, 2, 4, 3]


def test_out_of_memory_halves_this_batch_and_all_that_follow() -> None:
    encode = Recorded(room=3)
    assert run(["x"] * 10, encode, 8) == [1.0] * 10
    assert [len(batch) for batch in encode.batches] == [8, 4, 2, 2, 2, 2, 2]


def test_what_torch_says_of_full_memory_is_understood() -> None:
    import torch

    encode = Recorded(room=1, error=torch.OutOfMemoryError(CUDA))
    assert run(["x", "xx"], encode, 2) == [1.0, 2.0]


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("MPS backend out of memory (MPS allocated: 9.00 GB)"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:117] . DefaultCPUAllocator: can't allocate memory: you tried …"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 9 bytes."),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
        MemoryError(),
    ],
)
def test_what_every_other_device_says_of_full_memory_is_understood(error: Exception) -> None:
    encode = Recorded(room=1, error=error)
    assert run(["x", "xx"], encode, 2) == [1.0, 2.0]


def test_one_item_that_does_not_fit_ends_with_advice() -> None:
    with pytest.raises(
        ModelFailed,
        match=r"tiny does not fit .*20.00 MiB; try a smaller batch_size, dtype bf.*device, or a sm",
    ):
        run(["x"] * 3, Recorded(room=0))


def test_a_model_that_failed_is_not_asked_for_less() -> None:
    encode = Recorded(room=0, error=ModelFailed("weights are missing"))
    with pytest.raises(ModelFailed, match="weights are missing"):
        run(["x"] * 8, encode)
    assert len(encode.batches) == 1


def test_other_errors_are_left_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        run(["x"] * 3, Recorded(room=0, error=RuntimeError("shapes cannot be multiplied")))
    with pytest.raises(RuntimeError, match="shapes"), catch_out_of_memory("tiny"):
        raise RuntimeError("shapes")


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_is_refused_and_the_item_named(wrong: float) -> None:
    def encode(batch: list[str]) -> list[np.ndarray[Any, Any]]:
        return [np.array([[1.0, wrong if text == "bad" else 2.0]]) for text in batch]

    with pytest.raises(ModelFailed, match=r"tiny gave numbers that are not finite .* for item 2 \('bad'\)"):
        run(["good", "goods", "bad", "x"], encode)


def test_wrong_numbers_and_shapes_of_results_are_refused() -> None:
    with pytest.raises(ModelFailed, match="tiny gave 2 results for 3 items"):
        run(["x"] * 3, lambda batch: lengths(batch[1:]))
    with pytest.raises(ModelFailed, match=r"tiny gave an array of shape \(4,\) for item 0 .*, not rows of vectors"):
        run(["x"], lambda batch: [np.zeros(4)])


def test_matrices_are_float32_and_may_have_any_number_of_rows() -> None:
    def encode(batch: list[str]) -> list[np.ndarray[Any, Any]]:
        return [np.ones((len(text), 3), dtype=np.float16).T.copy().T for text in batch]

    found = encode_in_batches(["a", "abc", ""], encode, size_of=len, batch_size=2, name="tiny")
    assert [(matrix.shape, matrix.dtype, matrix.flags.c_contiguous) for matrix in found] == [
        ((1, 3), np.dtype(np.float32), True),
        ((3, 3), np.dtype(np.float32), True),
        ((0, 3), np.dtype(np.float32), True),
    ]


def test_nothing_is_encoded_for_no_items() -> None:
    encode = Recorded()
    assert run([], encode) == []
    assert encode.batches == []
