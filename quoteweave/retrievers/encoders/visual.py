"""Visual encoders: questions as text, crops and pages as pictures. ColPali, ColQwen2 and ColQwen2.5 are here."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, cast

from quoteweave.core.protocols import Setting
from quoteweave.models.batches import in_batches
from quoteweave.models.checkpoints import identity, is_local, locate
from quoteweave.retrievers.encoders.colpali_engine import EngineModel, adapter_of
from quoteweave.retrievers.encoders.colpali_hf import HfModel, is_hf
from quoteweave.retrievers.encoders.text import TextEncoder

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix

    Matrices = Sequence[np.ndarray[Any, Any]]

# At once, where the user does not say: so many whole pages, or as many crops as take no more memory, up to so many.
CPU_PAGES, CPU_CROPS = 2, 8
GPU_PAGES, GPU_CROPS = 8, 64
# Batches in what it is best given at once, so that each holds pictures of like size.
BATCHES_AT_ONCE = 4
# What a page becomes, in image tokens: ColPali 1,024, ColQwen2 at most 768.
PAGE_TOKENS = 1024

# Qwen2-VL refuses pictures more than 200 times as long as wide, and a few pixels are no picture to any model. Crops
# beyond these limits (pixels; times) get white around them.
LEAST_SIDE = 8
LONGEST = 100

# Part of the settings of ColPali and its like: changes when the words and signs around questions and pictures do. Those
# are their libraries' own.
PROMPTS = 2


class VisualEncoder(TextEncoder):
    """An encoder of pictures; a subclass encodes one batch of them, or of questions."""

    reads: Literal["text", "image"] = "image"

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """All that changes a vector."""
        return {**super().settings, "dimension": self.row.dimension, "canvas": f"{LEAST_SIDE} px, {LONGEST}:1"}

    @property
    def at_once(self) -> int:
        """How many views it makes good use of in one call. Raises MissingExtra without torch.

        A CPU, which has nothing of large batches, gets a few pages, so that little is lost when it is stopped.
        """
        return BATCHES_AT_ONCE * self.hardware.chosen_batch_size(cpu=CPU_PAGES, gpu=GPU_CROPS)

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each picture. Raises ModelNotFound, ModelFailed and UsageError."""
        if not views:
            return []
        hardware = self.hardware
        pages = hardware.chosen_batch_size(cpu=CPU_PAGES, gpu=GPU_PAGES)
        with self._turns.taken():
            return in_batches(
                [on_canvas(picture) for picture in cast("Sequence[Image]", views)],
                self._pictures,
                size_of=self._tokens,
                batch_size=hardware.chosen_batch_size(cpu=CPU_CROPS, gpu=GPU_CROPS),
                name=self.name,
                budget=None if hardware.batch_size else PAGE_TOKENS * pages,
            )

    def _batch(self, texts: list[str], *, query: bool) -> "Matrices":  # noqa: ARG002  # they are always questions
        return self._questions(texts)

    @abstractmethod
    def _questions(self, texts: list[str]) -> "Matrices":
        """A matrix of each question, in any floating type."""

    @abstractmethod
    def _pictures(self, pictures: "list[Image]") -> "Matrices":
        """A matrix of each picture, in any floating type."""

    @abstractmethod
    def _tokens(self, picture: "Image") -> int:
        """How many image tokens a picture becomes, more or less."""


class ColPaliEncoder(VisualEncoder):
    """ColPali (arXiv 2407.01449), ColQwen2 and ColQwen2.5: a normalised vector for each patch of a picture.

    A question is its tokens and ten more that fill it up, which are vectors of it too; of a picture the prompt's tokens
    are vectors as well. A checkpoint in transformers' own format (`-hf`; there is none of ColQwen2.5) is loaded by
    transformers alone; an original one, adapter or merged, by colpali-engine, which the extra `visual` installs.
    """

    @cached_property
    def settings(self) -> Mapping[str, Setting]:
        """All that changes a vector; the limits of pictures' sizes are the checkpoint's."""
        return {**super().settings, "prompts": PROMPTS}

    def _identities(self) -> Mapping[str, str]:
        base = self._base
        return {**super()._identities(), **({"base": identity(*base)} if base else {})}

    @property
    def _base(self) -> tuple[str, str] | None:
        """Checkpoint and revision of what an adapter is laid over: what its folder says, or else the catalogue."""
        row = self.row
        if not is_local(row.checkpoint):
            return (row.base, row.base_revision) if row.base else None
        named = adapter_of(locate(row.checkpoint)).get("base_model_name_or_path")
        return (named, row.base_revision if named == row.base else "main") if named else None

    @cached_property
    def _model(self) -> EngineModel | HfModel:
        row, base, device = self.row, self._base, self.hardware.chosen_device()
        folder = locate(row.checkpoint, row.revision, download_gb=None if base else row.download_gb)
        if is_hf(folder):
            return HfModel(row, folder, dtype=self._dtype, device=device)
        below = locate(*base, download_gb=row.download_gb) if base and adapter_of(folder) else None
        return EngineModel(row, folder, base=below, dtype=self._dtype, device=device)

    def _questions(self, texts: list[str]) -> "Matrices":
        return self._model.questions(texts)

    def _pictures(self, pictures: "list[Image]") -> "Matrices":
        return self._model.pictures(pictures)

    def _tokens(self, picture: "Image") -> int:
        return self._model.tokens(picture)


def on_canvas(picture: "Image") -> "Image":
    """The picture in RGB; one that is tiny, or very long, in the middle of a white one that is neither."""
    from PIL import Image

    width, height = picture.size
    size = (max(width, LEAST_SIDE, math.ceil(height / LONGEST)), max(height, LEAST_SIDE, math.ceil(width / LONGEST)))
    if size == picture.size:
        return picture if picture.mode == "RGB" else picture.convert("RGB")
    canvas = Image.new("RGB", size, "white")
    canvas.paste(picture, ((size[0] - width) // 2, (size[1] - height) // 2))
    return canvas
