"""Encoders on Qwen's vision-language models, and Qwen3-VL-Embedding (arXiv 2601.04720): one vector for each item."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from quoteweave.core.protocols import SettingValue
from quoteweave.models.checkpoints import import_required, locate_checkpoint
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.encoders.vision_language_helpers import (
    count_qwen_tokens,
    explain_torchvision_mismatch,
    prepare_questions,
)
from quoteweave.retrievers.encoders.visual import VisualEncoder

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

IMAGE_TOKEN = "<|image_pad|>"  # noqa: S105  # stands for a picture
# Qwen3-VL-Embedding's chat template; the system prompt is the instruction, and the vector that of the last token.
PROMPT_START = "<|im_start|>system\n"
PROMPT_BETWEEN = "<|im_end|>\n<|im_start|>user\n"
PROMPT_END = "<|im_end|>\n<|im_start|>assistant\n"
BEFORE_IMAGE, AFTER_IMAGE = "<|vision_start|>", "<|vision_end|>"


class QwenVisionEncoder(VisualEncoder):
    """Base class: a vector is the first `dimension` numbers of the last token's hidden state, normalised.

    Models whose vectors may be cut so are described in arXiv 2205.13147. It needs transformers only; pictures are
    resized by Pillow, whether or not torchvision is installed.
    """

    model_class: ClassVar[str]
    """Name of the model's class in transformers."""
    unused_weights: ClassVar[tuple[str, ...]] = ()
    """Beginnings of the names of weights that take no part in a vector, and may be missing."""
    least_pixels: ClassVar[int]
    most_pixels: ClassVar[int]
    """Pixels of a picture after resizing."""
    prompt: ClassVar[str]
    """The chat around an item, which changes its vector."""

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All that changes a vector."""
        pixels = {"min_pixels": self.least_pixels, "max_pixels": self.most_pixels}
        return {**super().settings, **pixels, "prompt": self.prompt}

    @cached_property
    def _loaded(self) -> tuple[Any, Any, Any]:
        """The model, the tokenizer and the image processor."""
        row = self.row
        folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=row.download_gb)
        with explain_torchvision_mismatch(), reporting_load_errors(row.name, folder, unused=self.unused_weights):
            transformers = import_required("transformers")
            model = getattr(transformers, self.model_class).from_pretrained(folder, dtype=self._dtype)
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, padding_side="left")
            processor = transformers.AutoImageProcessor.from_pretrained(folder, backend="pil")
            processor.size = {"shortest_edge": self.least_pixels, "longest_edge": self.most_pixels}
            return model.to(self.hardware.chosen_device()).eval(), tokenizer, processor

    def _tokens(self, picture: "Image") -> int:
        return count_qwen_tokens(picture, self._loaded[2])

    def _image_inputs(self, pictures: "list[Image]") -> tuple[Mapping[str, Any], list[str]]:
        """What the model reads of pictures, and the image tokens that stand for each of them in its prompt."""
        processor = self._loaded[2]
        image_inputs = processor(images=pictures, return_tensors="pt")
        counts = (image_inputs["image_grid_thw"].prod(-1) // processor.merge_size**2).tolist()
        return image_inputs, [IMAGE_TOKEN * count for count in counts]

    def _vectors(self, prompts: Sequence[str], image_inputs: Mapping[str, Any]) -> "Sequence[np.ndarray[Any, Any]]":
        import torch

        model, tokenizer, _ = self._loaded
        inputs = {**tokenizer(list(prompts), padding="longest", return_tensors="pt"), **image_inputs}
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == model.config.image_token_id).int()
        with torch.inference_mode():
            states = model(**{name: value.to(model.device) for name, value in inputs.items()}).last_hidden_state
        # Prompts are padded on the left, so that all end at the same position.
        vectors = torch.nn.functional.normalize(states[:, -1, : self.row.dimension].float(), dim=-1)
        return [vector[None, :] for vector in vectors.cpu().numpy()]


class Qwen3VlEncoder(QwenVisionEncoder):
    """Qwen3-VL-Embedding; questions and pictures have instructions of their own.

    The row's `query_prefix` is the instruction of questions, its `passage_prefix` that of pictures.
    """

    model_class = "Qwen3VLModel"
    unused_weights = ("lm_head.",)
    # As in the published code: 4 to 1,800 image tokens of 32 × 32 pixels.
    least_pixels, most_pixels = 4 * 32 * 32, 1800 * 32 * 32
    prompt = PROMPT_START + PROMPT_BETWEEN + BEFORE_IMAGE + IMAGE_TOKEN + AFTER_IMAGE + PROMPT_END

    def _questions(self, texts: list[str]) -> "Sequence[np.ndarray[Any, Any]]":
        tokenizer, row = self._loaded[1], self.row
        questions = prepare_questions(texts, tokenizer, prefix="", length=row.query_length)
        return self._vectors([_chat(row.query_prefix, text) for text in questions], {})

    def _pictures(self, pictures: "list[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        image_inputs, tokens = self._image_inputs(pictures)
        images = [BEFORE_IMAGE + image_tokens + AFTER_IMAGE for image_tokens in tokens]
        return self._vectors([_chat(self.row.passage_prefix, image) for image in images], image_inputs)


def _chat(instruction: str, content: str) -> str:
    return PROMPT_START + instruction + PROMPT_BETWEEN + content + PROMPT_END
