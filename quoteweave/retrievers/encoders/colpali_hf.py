"""ColPali, ColQwen2 and ColModernVBERT in transformers' own format (`-hf`), through transformers alone."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import UsageError
from quoteweave.models.checkpoints import import_required, read_config
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.catalogue import ModelRow
from quoteweave.retrievers.encoders.vision_language_helpers import (
    count_qwen_tokens,
    drop_padding,
    explain_torchvision_mismatch,
    prepare_questions,
)

if TYPE_CHECKING:
    import numpy as np
    import torch
    from PIL.Image import Image

# transformers' model and processor for each type of configuration.
CLASSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "colpali": ("ColPaliForRetrieval", "ColPaliProcessor"),
        "colqwen2": ("ColQwen2ForRetrieval", "ColQwen2Processor"),
        "colmodernvbert": ("ColModernVBertForRetrieval", "ColModernVBertProcessor"),
    }
)


def is_hf(folder: Path) -> bool:
    """Whether the checkpoint is in transformers' own format."""
    return read_config(folder).get("model_type") in CLASSES


class ColPaliHfModel:
    """A model and its processor from transformers, with the checkpoint's prompts.

    The prefix of questions is the row's where it has one. Pictures are resized by Pillow, so that an installed
    torchvision changes no vector. Raises UsageError for a row with other prompts around questions and pictures.
    """

    def __init__(self, row: ModelRow, folder: Path, *, dtype: "torch.dtype", device: str) -> None:
        if row.query_suffix or row.passage_prefix:
            # The checkpoint's processor writes the prompts; those of the row would be recorded but not used.
            raise UsageError(
                f"{folder} is in transformers' own format, which cannot have the prompts of a published experiment; "
                f"name an original checkpoint of {row.name}, or leave out @mmdocir"
            )
        self._row = row
        with explain_torchvision_mismatch(), reporting_load_errors(row.name, folder):
            transformers = import_required("transformers")
            model, processor = (getattr(transformers, name) for name in CLASSES[read_config(folder)["model_type"]])
            self._model = model.from_pretrained(folder, dtype=dtype).to(device).eval()
            self._processor = processor.from_pretrained(folder, backend="pil")
        self._prefix = row.query_prefix or self._processor.query_prefix
        self._processor.query_prefix = ""

    def questions(self, texts: Sequence[str]) -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix (vectors, dimension) for each question, without vectors of padding."""
        tokenizer, length = self._processor.tokenizer, self._row.query_length
        questions = prepare_questions(texts, tokenizer, prefix=self._prefix, length=length)
        return self._vectors(self._processor.process_queries(text=questions))

    def pictures(self, pictures: "Sequence[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix (vectors, dimension) for each picture, without vectors of padding."""
        inputs = self._processor.process_images(images=list(pictures))
        inputs.pop("labels", None)
        if "image_grid_thw" in inputs:
            inputs["position_ids"] = self._positions(inputs)
        return self._vectors(inputs)

    def tokens(self, picture: "Image") -> int:
        """Approximate number of image tokens of a picture."""
        if hasattr(self._processor, "image_seq_length"):
            return int(self._processor.image_seq_length)
        if hasattr(self._processor, "image_seq_len"):  # tokens of each tile that a picture is cut into
            height, width = picture.height, picture.width
            parts, *_ = self._processor.image_processor.get_number_of_image_patches(height, width, {})
            return int(parts * self._processor.image_seq_len)
        return count_qwen_tokens(picture, self._processor.image_processor)

    def _positions(self, inputs: Any) -> "torch.Tensor":
        """Row and column positions of each patch on its picture (M-RoPE, arXiv 2409.12191, section 2.1).

        transformers 5 omits this for ColQwen2, which was trained with it, and would number patches like words.
        """
        vlm = self._model.vlm
        is_image = (inputs["input_ids"] == vlm.config.image_token_id).int()
        positions, _ = vlm.get_rope_index(
            inputs["input_ids"],
            mm_token_type_ids=is_image,
            image_grid_thw=inputs["image_grid_thw"],
            attention_mask=inputs["attention_mask"],
        )
        position_ids: torch.Tensor = positions
        return position_ids

    def _vectors(self, inputs: Any) -> "Sequence[np.ndarray[Any, Any]]":
        import torch

        with torch.inference_mode():
            vectors = self._model(**inputs.to(self._model.device)).embeddings
        return drop_padding(vectors, inputs["attention_mask"])
