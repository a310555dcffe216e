"""Visual encoders, which encode questions as text and crops or pages as pictures: their base, and late interaction."""

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from quoteweave.core.errors import ModelFailed
from quoteweave.core.protocols import SettingValue
from quoteweave.models.batches import encode_in_batches
from quoteweave.models.checkpoints import adapter_config, is_local, locate_checkpoint, weights_identity
from quoteweave.models.loading import capture_log
from quoteweave.retrievers.encoders.colpali_engine import ColPaliEngineModel
from quoteweave.retrievers.encoders.colpali_hf import ColPaliHfModel, is_hf
from quoteweave.retrievers.encoders.late_interaction import load_multi_vector, locate_multi_vector, reads_pictures
from quoteweave.retrievers.encoders.text import TextEncoder, as_text
from quoteweave.retrievers.encoders.vision_language_helpers import (
    count_qwen_tokens,
    explain_torchvision_mismatch,
    prepare_questions,
)

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix

    Matrices = Sequence[np.ndarray[Any, Any]]

# Batch sizes, unless the user sets one: the number of whole pages, and the most crops that may take their place if
# they need no more memory.
CPU_PAGES, CPU_CROPS = 2, 8
GPU_PAGES, GPU_CROPS = 8, 64
# Best number of batches per call, so that each can hold pictures of similar size.
BATCHES_AT_ONCE = 4
# Image tokens of a page: 1,024 for ColPali, at most 768 for ColQwen2.
PAGE_TOKENS = 1024

# Qwen2-VL refuses pictures more than 200 times as long as wide, and no model can use a picture of a few pixels. Crops
# beyond these limits (least side in pixels; greatest aspect ratio) are padded with white.
MIN_SIDE = 8
MAX_ASPECT_RATIO = 100

# Version of the prompts around questions and pictures, which ColPali's libraries define; part of the settings.
PROMPTS_VERSION = 2


class VisualEncoder(TextEncoder):
    """Base of encoders of pictures; a subclass encodes one batch of pictures, or of questions."""

    reads: Literal["text", "image"] = "image"

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All that changes a vector."""
        return {**super().settings, "dimension": self.row.dimension, "canvas": f"{MIN_SIDE} px, {MAX_ASPECT_RATIO}:1"}

    @property
    def at_once(self) -> int:
        """Preferred number of views per call. Raises MissingExtra without torch.

        A CPU, which gains nothing from large batches, gets a few pages, so that little is lost if it is interrupted.
        """
        return BATCHES_AT_ONCE * self.hardware.chosen_batch_size(cpu=CPU_PAGES, gpu=GPU_CROPS)

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each picture; a text is encoded like a question, unless a subclass differs.

        Raises ModelNotFound, ModelFailed and UsageError.
        """
        texts = [view for view in views if isinstance(view, str)]
        pictures = [view for view in views if not isinstance(view, str)]
        text_matrices, picture_matrices = iter(self._encode(texts, query=False)), iter(self._encode_pictures(pictures))
        return [next(text_matrices if isinstance(view, str) else picture_matrices) for view in views]

    def _encode_pictures(self, pictures: "Sequence[Image]") -> "list[Matrix]":
        if not pictures:
            return []
        hardware = self.hardware
        pages = hardware.chosen_batch_size(cpu=CPU_PAGES, gpu=GPU_PAGES)
        with self._turns.taken():
            return encode_in_batches(
                [pad_to_limits(picture) for picture in pictures],
                self._pictures,
                size_of=self._tokens,
                batch_size=hardware.chosen_batch_size(cpu=CPU_CROPS, gpu=GPU_CROPS),
                name=self.name,
                budget=None if hardware.batch_size else PAGE_TOKENS * pages,
            )

    def _batch(self, texts: list[str], *, query: bool) -> "Matrices":  # noqa: ARG002  # texts are read as questions
        return self._questions(texts)

    @abstractmethod
    def _questions(self, texts: list[str]) -> "Matrices":
        """Encode one batch: a matrix for each question, in any floating type."""

    @abstractmethod
    def _pictures(self, pictures: "list[Image]") -> "Matrices":
        """Encode one batch: a matrix for each picture, in any floating type."""

    @abstractmethod
    def _tokens(self, picture: "Image") -> int:
        """Approximate number of image tokens of a picture."""


class ColPaliEncoder(VisualEncoder):
    """ColPali (arXiv 2407.01449), ColQwen2, ColQwen2.5 and colSmol: a normalised vector for each patch of a picture.

    A question has a vector for each of its tokens and for ten augmentation tokens; a picture also has vectors for the
    tokens of its prompt. A checkpoint in transformers' own format (`-hf`; there is none of ColQwen2.5 and colSmol) is
    loaded by transformers alone; an original one, adapter or merged, by colpali-engine, which the extra `visual`
    installs.
    """

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All settings that change a vector; limits on pictures' sizes are part of the checkpoint."""
        return {**super().settings, "prompts": PROMPTS_VERSION}

    def _identities(self) -> Mapping[str, str]:
        base = self._base
        return {**super()._identities(), **({"base": weights_identity(*base)} if base else {})}

    @property
    def _base(self) -> tuple[str, str] | None:
        """Checkpoint and revision of an adapter's base model: by its folder if local, else by the catalogue."""
        row = self.row
        if not is_local(row.checkpoint):
            return (row.base, row.base_revision) if row.base else None
        base_name = adapter_config(locate_checkpoint(row.checkpoint)).get("base_model_name_or_path")
        return (base_name, row.base_revision if base_name == row.base else "main") if base_name else None

    @cached_property
    def _model(self) -> ColPaliEngineModel | ColPaliHfModel:
        row, base, device = self.row, self._base, self.hardware.chosen_device()
        folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=None if base else row.download_gb)
        if is_hf(folder):
            return ColPaliHfModel(row, folder, dtype=self._dtype, device=device)
        base_folder = locate_checkpoint(*base, download_gb=row.download_gb) if base and adapter_config(folder) else None
        return ColPaliEngineModel(row, folder, base=base_folder, dtype=self._dtype, device=device)

    def _questions(self, texts: list[str]) -> "Matrices":
        return self._model.questions(texts)

    def _pictures(self, pictures: "list[Image]") -> "Matrices":
        return self._model.pictures(pictures)

    def _tokens(self, picture: "Image") -> int:
        return self._model.tokens(picture)


class VisualLateInteractionEncoder(VisualEncoder):
    """Late interaction over pictures: any checkpoint that sentence-transformers loads as a MultiVectorEncoder.

    The prompts, chat template, augmentation tokens, sizes of pictures, projection and the choice of vectors that are
    scored are the checkpoint's, as `encode_query` and `encode_document` of the library use them. A text that is no
    question is encoded as a document. The model's special tokens are removed from texts.
    """

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All that changes a vector; the library resizes pictures by torchvision where that is installed."""
        return {**super().settings, "resized_by": "torchvision" if find_spec("torchvision") else "pillow"}

    @cached_property
    def _model(self) -> Any:
        folder = locate_multi_vector(self.row)
        if not reads_pictures(folder):
            raise ModelFailed(
                f"{folder} reads no pictures, by its sentence_bert_config.json; name a checkpoint of {self.name}, or "
                f"write sentence-transformers={folder} to search text"
            )
        with explain_torchvision_mismatch():
            return load_multi_vector(self.row, folder, self.hardware, dtype=self._dtype)

    def _batch(self, texts: list[str], *, query: bool) -> "Matrices":
        model, row = self._model, self.row
        length = row.query_length if query else row.passage_length
        cut = prepare_questions(texts, model.tokenizer, prefix="", length=length)
        # Some models read all text as questions; the library's warning about it is suppressed.
        with capture_log("sentence_transformers.base.modules.transformer", "always renders text as a query"):
            return self._encoded(model.encode_query if query else model.encode_document, as_text(model, cut))

    def _questions(self, texts: list[str]) -> "Matrices":
        return self._batch(texts, query=True)

    def _pictures(self, pictures: "list[Image]") -> "Matrices":
        return self._encoded(self._model.encode_document, pictures)

    def _encoded(self, encode: Any, views: "Sequence[Any]") -> "Matrices":
        vectors: Matrices = encode(list(views), batch_size=len(views), show_progress_bar=False, convert_to_numpy=True)
        return vectors

    def _tokens(self, picture: "Image") -> int:
        processor = getattr(self._model.processor, "image_processor", None)
        return count_qwen_tokens(picture, processor) if hasattr(processor, "merge_size") else PAGE_TOKENS


def pad_to_limits(picture: "Image") -> "Image":
    """Convert a picture to RGB; a tiny or very elongated one is centred on a white canvas within the limits."""
    from PIL import Image

    width, height = picture.size
    size = (
        max(width, MIN_SIDE, math.ceil(height / MAX_ASPECT_RATIO)),
        max(height, MIN_SIDE, math.ceil(width / MAX_ASPECT_RATIO)),
    )
    if size == picture.size:
        return picture if picture.mode == "RGB" else picture.convert("RGB")
    canvas = Image.new("RGB", size, "white")
    canvas.paste(picture, ((size[0] - width) // 2, (size[1] - height) // 2))
    return canvas
