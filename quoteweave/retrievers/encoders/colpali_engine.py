"""Original checkpoints of ColPali, ColQwen2, ColQwen2.5 and colSmol, merged or adapters, through colpali-engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import UsageError
from quoteweave.models.checkpoints import import_required, read_config
from quoteweave.models.loading import load_adapter, reporting_load_errors
from quoteweave.retrievers.catalogue import ModelRow
from quoteweave.retrievers.encoders.vision_language_helpers import (
    count_idefics_tokens,
    count_qwen_tokens,
    drop_padding,
    explain_torchvision_mismatch,
    prepare_questions,
)

if TYPE_CHECKING:
    import numpy as np
    import torch
    from PIL.Image import Image

# colpali-engine's model and processor for each type of configuration.
CLASSES: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "paligemma": ("ColPali", "ColPaliProcessor"),
        "qwen2_vl": ("ColQwen2", "ColQwen2Processor"),
        "qwen2_5_vl": ("ColQwen2_5", "ColQwen2_5_Processor"),
        "idefics3": ("ColIdefics3", "ColIdefics3Processor"),
    }
)
# Augmentation tokens appended to a question, as many as in training.
AUGMENTATION_TOKENS = 10


class ColPaliEngineModel:
    """A model and its processor from colpali-engine, with its prompts; the prefix of questions is the row's.

    Since 0.3.13 colpali-engine puts no prefix before questions, where these checkpoints were trained with "Query: ".
    Since 0.3.12 a question for ColPali no longer ends, after its ten augmentation tokens, in the line break with which
    PaliGemma ends all its prompts; ColPali was trained with it, and its `-hf` form keeps it. Here the line break is
    added; it gives one more vector.
    """

    def __init__(self, row: ModelRow, folder: Path, *, base: Path | None, dtype: "torch.dtype", device: str) -> None:
        kind = str(read_config(base or folder).get("model_type"))
        if kind not in CLASSES:
            known_types = ", ".join(CLASSES)
            raise UsageError(
                f"{base or folder} is no checkpoint for {row.name}: its type is {kind}, none of {known_types}"
            )
        self._row = row
        self._is_pali, self._is_idefics = kind == "paligemma", kind == "idefics3"
        with explain_torchvision_mismatch(), reporting_load_errors(row.name, base or folder):
            models = import_required("colpali_engine.models", "visual")
            model, processor = (getattr(models, name) for name in CLASSES[kind])
            self._model = _load(model, folder, base, dtype).to(device).eval()
            self._processor = processor.from_pretrained(folder)
        self._processor.query_prefix = ""
        if row.passage_prefix:
            self._processor.visual_prompt_prefix = row.passage_prefix

    def questions(self, texts: Sequence[str]) -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix (vectors, dimension) for each question, without vectors of padding."""
        import torch

        row, tokenizer = self._row, self._processor.tokenizer
        questions = prepare_questions(texts, tokenizer, prefix=row.query_prefix, length=row.query_length)
        suffix = row.query_suffix or self._processor.query_augmentation_token * AUGMENTATION_TOKENS
        suffix += "\n" if self._is_pali else ""
        inputs = self._processor.process_queries(texts=questions, suffix=suffix)
        if self._is_pali:
            # Makes all tokens attend to each other; without it, PaliGemma does so only in batches without padding.
            inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        return self._vectors(inputs)

    def pictures(self, pictures: "Sequence[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix (vectors, dimension) for each picture, without vectors of padding."""
        inputs = self._processor.process_images(list(pictures))
        inputs.pop("labels", None)  # with them, PaliGemma would compute a loss
        return self._vectors(inputs)

    def tokens(self, picture: "Image") -> int:
        """Approximate number of image tokens of a picture."""
        if self._is_pali:
            return int(self._processor.image_seq_length)
        if self._is_idefics:
            return count_idefics_tokens(picture, self._processor)
        return count_qwen_tokens(picture, self._processor.image_processor)

    def _vectors(self, inputs: Any) -> "Sequence[np.ndarray[Any, Any]]":
        import torch

        # Without this, PaliGemma computes logits over its vocabulary for each token of a page: a gigabyte per page.
        options = {"logits_to_keep": 1} if self._is_pali else {}
        with torch.inference_mode():
            vectors = self._model(**inputs.to(self._model.device), **options)
        return drop_padding(vectors, inputs["attention_mask"])


def _load(kind: Any, folder: Path, base: Path | None, dtype: "torch.dtype") -> Any:
    model = kind.from_pretrained(base or folder, dtype=dtype)
    if base is not None:
        _load_adapter(model, folder)
    if kind.__name__ == "ColPali":
        # The output layer shares its weights with the embedding layer, which loading does not restore.
        model.model.lm_head.weight = model.model.model.language_model.embed_tokens.weight
    return model


def _load_adapter(model: Any, folder: Path) -> None:
    """Load an adapter, whose weights have the names that layers had when it was trained."""
    from transformers.conversion_mapping import get_model_conversion_mapping

    renamed_layers = getattr(type(model), "_checkpoint_conversion_mapping", None)  # ColIdefics3 renamed nothing
    names = get_model_conversion_mapping(model, key_mapping=renamed_layers)
    load_adapter(model, folder, names=names, instead="name one that was trained over this base, or a merged checkpoint")
