"""Runs items through a model in batches of similar length, smaller when memory runs out, and checks the vectors."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from quoteweave.core.errors import ModelFailed, by_setting, join_ways
from quoteweave.core.messages import pluralize

if TYPE_CHECKING:
    import numpy as np

    from quoteweave.core.protocols import Matrix

    Matrices = Sequence[np.ndarray[Any, Any]]


T = TypeVar("T")

# Parts of torch's messages for lack of memory on CUDA, MPS and the CPU. Only CUDA has an error class of its own for it,
# and that is a RuntimeError too.
NO_MEMORY = ("out of memory", "not enough memory", "can't allocate memory", "ALLOC_FAILED")


def encode_in_batches(
    items: Sequence[T],
    encode: "Callable[[list[T]], Matrices]",
    *,
    size_of: Callable[[T], int],
    batch_size: int,
    name: str,
    budget: int | None = None,
) -> "list[Matrix]":
    """A float32 matrix (vectors, dimension) for each item, in the order of `items`.

    `encode` gets at most `batch_size` items at once, the longest by `size_of` first, so that items of like length are
    together and memory runs out at once or never. When it does, batches are half as large from there on, down to one.
    With a `budget`, a batch of several items is no larger than that, counted as its items times the size of its
    longest. Raises ModelFailed, which names the model, when a single item does not fit, when `encode` does not give one
    matrix an item, and when a matrix holds a number that is not finite.
    """
    sizes = [size_of(item) for item in items]
    order = sorted(range(len(items)), key=lambda i: -sizes[i])
    done: dict[int, Matrix] = {}
    while len(done) < len(order):
        start = len(done)
        longest = max(1, sizes[order[start]])
        room = batch_size if budget is None else min(batch_size, max(1, budget // longest))
        batch = order[start : start + room]
        matrices = _attempt(encode, [items[i] for i in batch], name)
        if matrices is None:
            batch_size = (len(batch) + 1) // 2
            continue
        if len(matrices) != len(batch):
            raise ModelFailed(f"{name} gave {pluralize(len(matrices), 'result')} for {pluralize(len(batch), 'item')}")
        done.update((i, _checked(matrix, i, items, name)) for i, matrix in zip(batch, matrices, strict=True))
    return [done[i] for i in range(len(items))]


@contextmanager
def catch_out_of_memory(name: str) -> Iterator[None]:
    """Raise ModelFailed, with advice, if the block runs out of memory."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _out_of_memory(error):
            raise
        raise ModelFailed(
            f"{name} does not fit into memory: {_first_line(error)}",
            remedy=join_ways(
                by_setting("try a smaller {}", "batch_size"),
                by_setting("{} bfloat16 (half the memory)", "dtype"),
                by_setting("another {}", "device"),
                "a smaller model",
            ),
        ) from error


def _attempt(encode: "Callable[[list[T]], Matrices]", batch: list[T], name: str) -> "Matrices | None":
    """Encode the batch; None if memory ran out and a smaller batch can still be tried."""
    if len(batch) == 1:
        with catch_out_of_memory(name):
            return encode(batch)
    try:
        return encode(batch)
    except (RuntimeError, MemoryError) as error:
        if not _out_of_memory(error):
            raise
    # Not in the `except` clause: there, the error's traceback still refers to the tensors of the failed batch.
    _release()
    return None


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0].rstrip(".") or "no memory left"


def _out_of_memory(error: BaseException) -> bool:
    return isinstance(error, MemoryError) or any(words in str(error) for words in NO_MEMORY)


def _release() -> None:
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def _checked(matrix: "np.ndarray[Any, Any]", number: int, items: Sequence[Any], name: str) -> "Matrix":
    import numpy as np

    vectors = np.ascontiguousarray(matrix, dtype=np.float32)
    if vectors.ndim == 2 and np.isfinite(vectors).all():
        return vectors
    item = items[number][-1] if isinstance(items[number], tuple) else items[number]
    item_name = f"item {number}" + (f" ({item[:60]!r})" if isinstance(item, str) else "")
    if vectors.ndim != 2:
        raise ModelFailed(f"{name} gave an array of shape {vectors.shape} for {item_name}, not rows of vectors")
    advice = "the weights are damaged, or the dtype is too narrow for them"
    raise ModelFailed(
        f"{name} gave numbers that are not finite (NaN or infinite) for {item_name}: {advice}",
        remedy=by_setting("try {} float32 or bfloat16", "dtype"),
    )
