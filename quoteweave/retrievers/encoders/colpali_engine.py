"""Original checkpoints of ColPali, ColQwen2 and ColQwen2.5, merged or as an adapter, through colpali-engine."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import ModelFailed, UsageError
from quoteweave.models.checkpoints import described, required
from quoteweave.models.loading import loading
from quoteweave.retrievers.catalogue import ModelRow
from quoteweave.retrievers.encoders.vision_language_helpers import (
    as_question,
    attended,
    fitting_torchvision,
    qwen_tokens,
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
    }
)
# Tokens that fill a question up, as many as in training.
FILLING = 10


def adapter_of(folder: Path) -> dict[str, Any]:
    """What an adapter says of itself; empty for a folder that holds a whole model."""
    return {} if (folder / "config.json").is_file() else described(folder, "adapter_config.json")


class EngineModel:
    """A model and its processor as colpali-engine makes them, with its prompts; the question's prefix is the row's.

    Since 0.3.13 colpali-engine puts no prefix before questions, where these checkpoints were trained with "Query: ".
    Since 0.3.12 a question of ColPali's no longer ends, after the ten tokens that fill it up, in the line break with
    which PaliGemma ends all its prompts; ColPali was trained with it, and its `-hf` form keeps it. It is a vector more.
    """

    def __init__(self, row: ModelRow, folder: Path, *, base: Path | None, dtype: "torch.dtype", device: str) -> None:
        kind = str(described(base or folder).get("model_type"))
        if kind not in CLASSES:
            known = ", ".join(CLASSES)
            raise UsageError(f"{base or folder} is no checkpoint for {row.name}: its type is {kind}, none of {known}")
        self._row = row
        self._is_pali = kind == "paligemma"
        with fitting_torchvision(), loading(row.name, base or folder):
            models = required("colpali_engine.models", "visual")
            model, processor = (getattr(models, name) for name in CLASSES[kind])
            self._model = _load(model, folder, base, dtype).to(device).eval()
            self._processor = processor.from_pretrained(folder)
        self._processor.query_prefix = ""

    def questions(self, texts: Sequence[str]) -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix (vectors, dimension) for each question, without vectors of padding."""
        import torch

        row, tokenizer = self._row, self._processor.tokenizer
        asked = [as_question(text, tokenizer, prefix=row.query_prefix, length=row.query_length) for text in texts]
        filled = self._processor.query_augmentation_token * FILLING + ("\n" if self._is_pali else "")
        inputs = self._processor.process_queries(texts=asked, suffix=filled)
        if self._is_pali:
            # All tokens see each other. Without this, PaliGemma lets them in a batch without padding, and only there.
            inputs["token_type_ids"] = torch.zeros_like(inputs["input_ids"])
        return self._vectors(inputs)

    def pictures(self, pictures: "Sequence[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        """A matrix (vectors, dimension) for each picture, without vectors of padding."""
        inputs = self._processor.process_images(list(pictures))
        inputs.pop("labels", None)  # for which PaliGemma would compute a loss
        return self._vectors(inputs)

    def tokens(self, picture: "Image") -> int:
        """How many image tokens a picture becomes, more or less."""
        if self._is_pali:
            return int(self._processor.image_seq_length)
        return qwen_tokens(picture, self._processor.image_processor)

    def _vectors(self, inputs: Any) -> "Sequence[np.ndarray[Any, Any]]":
        import torch

        # Without this, PaliGemma scores all words of its vocabulary at each of the page's tokens: a gigabyte a page.
        spared = {"logits_to_keep": 1} if self._is_pali else {}
        with torch.inference_mode():
            vectors = self._model(**inputs.to(self._model.device), **spared)
        return attended(vectors, inputs["attention_mask"])


def _load(kind: Any, folder: Path, base: Path | None, dtype: "torch.dtype") -> Any:
    model = kind.from_pretrained(base or folder, dtype=dtype)
    if base is not None:
        _lay_over(model, folder)
    if kind.__name__ == "ColPali":
        # Its output layer is the embedding layer, which loading forgets.
        model.model.lm_head.weight = model.model.model.language_model.embed_tokens.weight
    return model


def _lay_over(model: Any, folder: Path) -> None:
    """Loads an adapter, whose weights have the names that layers had when it was trained."""
    from transformers.conversion_mapping import get_model_conversion_mapping

    names = get_model_conversion_mapping(model, key_mapping=type(model)._checkpoint_conversion_mapping)
    found = model.load_adapter(str(folder), weight_mapping=names)
    astray = {*found.missing_keys, *found.unexpected_keys}
    if astray:
        # One whose weights find no place changes nothing, and the model ranks as if it had not been trained.
        raise ModelFailed(
            f"{folder} holds no adapter of {type(model).__name__}: {len(astray)} of its weights are astray, "
            f"{min(astray)} for one; name an adapter that was trained over this base, or a merged checkpoint"
        )
