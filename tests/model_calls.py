"""What models of transformers are given by whoever calls them: each batch, row by row, without its padding."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import pytest

Row = dict[str, list[int]]
"""The inputs of one text or pair by their names: token ids, and what else has a number for each token."""
Batch = list[Row]


@contextmanager
def watched_models(during: Callable[[Batch], AbstractContextManager[Any]] = nullcontext) -> Iterator[list[Batch]]:
    """The batches that models compute in this block; each is computed within `during`, which may raise instead."""
    import torch
    from transformers import PreTrainedModel

    batches: list[Batch] = []
    call, place = torch.nn.Module.__call__, threading.local()

    def watched(module: torch.nn.Module, *args: Any, **named: Any) -> Any:
        # Modules of sentence-transformers take all inputs in one mapping, models of transformers each by its name.
        inputs = args[0] if args and isinstance(args[0], Mapping) else named
        known = isinstance(module, PreTrainedModel) or inputs is not named
        if not known or getattr(place, "inside", False):
            return call(module, *args, **named)
        batch = rows_of(inputs)
        if batch:
            batches.append(batch)
        place.inside = True
        try:
            with during(batch) if batch else nullcontext():
                return call(module, *args, **named)
        finally:
            place.inside = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.nn.Module, "__call__", watched)
        yield batches


def rows_of(named: Mapping[str, Any]) -> Batch:
    import torch

    ids, mask = named.get("input_ids"), named.get("attention_mask")
    if ids is None or mask is None or ids.shape != mask.shape:
        return []
    inputs = {name: value for name, value in named.items() if torch.is_tensor(value) and value.shape == ids.shape}
    return [{name: value[at][mask[at].bool()].tolist() for name, value in inputs.items()} for at in range(len(ids))]


@contextmanager
def little_memory(batch: Batch) -> Iterator[None]:
    """Memory for two rows: what torch says of more."""
    if len(batch) > 2:
        raise RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB")
    yield
