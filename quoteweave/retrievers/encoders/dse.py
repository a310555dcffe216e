"""Document screenshot embedding (DSE, arXiv 2406.11251): one vector per picture, with Qwen2-VL or Phi-3-Vision."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quoteweave.core.protocols import SettingValue
from quoteweave.models.checkpoints import import_required, locate_checkpoint
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.encoders.qwen_vl import IMAGE_TOKEN, QwenVisionEncoder
from quoteweave.retrievers.encoders.vision_language_helpers import (
    explain_torchvision_mismatch,
    prepare_questions,
)
from quoteweave.retrievers.encoders.visual import VisualEncoder

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

# Qwen2-VL's chat template, with the token the model was trained to end on, whose hidden state is the embedding.
PROMPT_START = "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n<|im_start|>user\n<|vision_start|>"
PROMPT_AFTER_IMAGE = "<|vision_end|>"
PROMPT_END = "<|im_end|>\n<|im_start|>assistant\n<|endoftext|>"

# Phi-3-Vision reads every picture as a square of 4 × 4 crops of 336 pixels, and one small version of the whole.
PHI3_SIDE = 1344
PHI3_TOKENS = 17 * 144
PHI3_PICTURE = "<|image_1|>\n"
PHI3_END = "</s>"


class DseQwen2Encoder(QwenVisionEncoder):
    """DSE on Qwen2-VL.

    The prompt beside a picture is the row's `passage_prefix`. A question is encoded with the smallest black picture, as
    on the model card.
    """

    model_class = "Qwen2VLModel"
    # 4 to 2,560 image tokens.
    least_pixels, most_pixels = 56 * 56, 2560 * 28 * 28
    prompt = PROMPT_START + IMAGE_TOKEN + PROMPT_AFTER_IMAGE + PROMPT_END

    def _questions(self, texts: list[str]) -> "Sequence[np.ndarray[Any, Any]]":
        from PIL import Image

        row, tokenizer = self.row, self._loaded[1]
        questions = prepare_questions(texts, tokenizer, prefix=row.query_prefix, length=row.query_length)
        return self._vectors_beside(questions, [Image.new("RGB", (56, 56))] * len(texts))

    def _pictures(self, pictures: "list[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        return self._vectors_beside([self.row.passage_prefix] * len(pictures), pictures)

    def _vectors_beside(self, words: Sequence[str], pictures: "list[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        """The vectors of words, each beside a picture."""
        image_inputs, tokens = self._image_inputs(pictures)
        pairs = zip(tokens, words, strict=True)
        prompts = [PROMPT_START + image_tokens + PROMPT_AFTER_IMAGE + text + PROMPT_END for image_tokens, text in pairs]
        return self._vectors(prompts, image_inputs)


class DsePhi3Encoder(VisualEncoder):
    """DSE on Phi-3-Vision: the hidden state of the last token, normalised where the row says so.

    transformers does not include this model: the checkpoint comes with Python code of its own, which was written for
    transformers 4.4x and may fail with later versions when the model is loaded. **This class follows the model cards
    and has been run only with a stand-in for that code, never with a published checkpoint.**
    """

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All that changes a vector."""
        return {**super().settings, "side": PHI3_SIDE, "prompt": PHI3_PICTURE + PHI3_END}

    @cached_property
    def _loaded(self) -> tuple[Any, Any]:
        """The model and its processor."""
        row = self.row
        folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=row.download_gb)
        trusted = {"trust_remote_code": True, "local_files_only": True}
        with explain_torchvision_mismatch(), reporting_load_errors(row.name, folder, unused=("lm_head.",)):
            transformers = import_required("transformers")
            model = transformers.AutoModelForCausalLM.from_pretrained(
                folder, dtype=self._dtype, attn_implementation="eager", **trusted
            )
            processor = transformers.AutoProcessor.from_pretrained(folder, **trusted)
            processor.tokenizer.padding_side = "right"
            return model.to(self.hardware.chosen_device()).eval(), processor

    def _questions(self, texts: list[str]) -> "Sequence[np.ndarray[Any, Any]]":
        row, tokenizer = self.row, self._loaded[1].tokenizer
        questions = prepare_questions(texts, tokenizer, prefix=row.query_prefix, length=row.query_length)
        return self._vectors(tokenizer([text + PHI3_END for text in questions], padding="longest", return_tensors="pt"))

    def _pictures(self, pictures: "list[Image]") -> "Sequence[np.ndarray[Any, Any]]":
        # One by one: the published processors disagree on how several prompts with a picture each are put together.
        return [self._picture(picture) for picture in pictures]

    def _picture(self, picture: "Image") -> "np.ndarray[Any, Any]":
        prompt = PHI3_PICTURE + self.row.passage_prefix + PHI3_END
        resized = picture.resize((PHI3_SIDE, PHI3_SIDE)) if self.row.square_pictures else picture
        inputs = dict(self._loaded[1]([prompt], images=[resized], return_tensors="pt"))
        for name in ("input_ids", "attention_mask", "image_sizes"):
            inputs[name] = inputs[name].reshape(1, -1)  # some processors return them with one more axis
        return self._vectors(inputs)[0]

    def _tokens(self, picture: "Image") -> int:  # noqa: ARG002  # all are resized to one size, or take no more
        return PHI3_TOKENS

    def _vectors(self, inputs: Mapping[str, Any]) -> "Sequence[np.ndarray[Any, Any]]":
        import torch

        model = self._loaded[0]
        moved = {name: value.to(model.device) for name, value in inputs.items()}
        with torch.inference_mode():
            states = model(**moved, use_cache=False, output_hidden_states=True, return_dict=True).hidden_states[-1]
        last = moved["attention_mask"].sum(dim=1) - 1
        chosen = states[torch.arange(len(states), device=states.device), last].float()
        vectors = torch.nn.functional.normalize(chosen, dim=-1) if self.row.normalize else chosen
        return [vector[None, :] for vector in vectors.cpu().numpy()]
