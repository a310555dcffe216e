"""What the encoders of text share: a row of the catalogue, batches, and one thread at a time."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from quoteweave.core.protocols import Setting
from quoteweave.models.batches import in_batches, well_formed
from quoteweave.models.checkpoints import Hardware, described, identity
from quoteweave.models.loading import Turns
from quoteweave.retrievers.catalogue import ModelRow

if TYPE_CHECKING:
    import numpy as np
    import torch
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix

# Texts at once, where the user does not say: what keeps the cores busy, and leaves most of a GPU to the model.
CPU_BATCH = 32
GPU_BATCH = 64
# What it is best given at once, so that each batch holds texts of like length: so many batches, and at least so many.
BATCHES_AT_ONCE = 8
TEXTS_AT_ONCE = 256
# A batch is full when its texts are as long as what BERT reads. Where a model reads more, batches of longer texts are
# smaller, so that they take no more memory.
FULL_LENGTH = 512
CHARACTERS_PER_TOKEN = 4


class TextEncoder(ABC):
    """An encoder of text; a subclass encodes one batch. Nothing is loaded before the first one. Threads take turns."""

    reads: Literal["text", "image"] = "text"

    def __init__(self, row: ModelRow, hardware: Hardware, checkpoint: str | None = None) -> None:
        self.row = row.at(checkpoint)
        self.hardware = hardware
        self._turns = Turns()

    @property
    def name(self) -> str:
        """As the catalogue calls it."""
        return self.row.name

    @property
    def many(self) -> bool:
        """Whether a text becomes many vectors."""
        return self.row.many

    @property
    def at_once(self) -> int:
        """How many views it makes good use of in one call. Raises MissingExtra without torch."""
        return max(TEXTS_AT_ONCE, BATCHES_AT_ONCE * self._batch_size)

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """All that changes a vector."""
        row = self.row
        fields = ("query_prefix", "passage_prefix", "pooling", "query_length", "passage_length", "normalize")
        return {**self._identities(), **{field: getattr(row, field) for field in fields}, "dtype": self._dtype_name}

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix (vectors, dimension) for each question. Raises ModelNotFound and ModelFailed."""
        return self._encode(texts, query=True)

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each text. Raises ModelNotFound and ModelFailed."""
        return self._encode(cast(Sequence[str], views), query=False)

    @abstractmethod
    def _batch(self, texts: list[str], *, query: bool) -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix of each text, in any floating type."""

    def _identities(self) -> Mapping[str, str]:
        return {"checkpoint": identity(self.row.checkpoint, self.row.revision)}

    @property
    def _batch_size(self) -> int:
        return self.hardware.chosen_batch_size(cpu=CPU_BATCH, gpu=GPU_BATCH)

    @property
    def _dtype_name(self) -> str:
        return self.hardware.dtype or self.row.dtype

    @property
    def _dtype(self) -> "torch.dtype":
        import torch

        return cast("torch.dtype", getattr(torch, self._dtype_name))

    def _encode(self, texts: Sequence[str], *, query: bool) -> "list[Matrix]":
        def encode(batch: list[str]) -> "Sequence[np.ndarray[Any, Any]]":
            with self._turns.taken():
                return self._batch(batch, query=query)

        if not texts:
            return []
        batch_size = self._batch_size
        most = self.row.query_length if query else self.row.passage_length
        return in_batches(
            [well_formed(text) for text in texts],
            encode,
            size_of=lambda text: min(len(text), CHARACTERS_PER_TOKEN * most) if most else len(text),
            batch_size=batch_size,
            name=self.name,
            budget=CHARACTERS_PER_TOKEN * FULL_LENGTH * batch_size,
        )


def as_text(model: Any, texts: Sequence[str]) -> list[Any]:
    """The texts as sentence-transformers takes them for text whatever they say.

    A model that reads pictures too would take the address of a picture for the picture, and fetch it.
    """
    return list(texts) if set(model.modalities) <= {"text", "message"} else [{"text": text} for text in texts]


def truncated_to(folder: Path) -> int | None:
    """How many of a vector's first numbers a checkpoint of sentence-transformers says to keep; None = all.

    As those do that were trained so that these say most (Matryoshka representation learning, arXiv 2205.13147).
    """
    said = described(folder, "config_sentence_transformers.json").get("truncate_dim")
    return said if isinstance(said, int) and said > 0 else None
