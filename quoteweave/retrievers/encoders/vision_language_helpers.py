"""Helpers of all encoders that are vision-language models."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import UsageError
from quoteweave.models.checkpoints import import_required

if TYPE_CHECKING:
    import numpy as np
    import torch
    from PIL.Image import Image


@contextmanager
def explain_torchvision_mismatch() -> Iterator[None]:
    """Turn import errors within, caused by a torchvision built for another torch or by none, into UsageError."""
    try:
        yield
    except Exception as error:
        if any("Torchvision library" in str(cause) for cause in _causes(error)):
            import_required("torchvision", "visual")
        mismatch = next((str(cause) for cause in _causes(error) if "torchvision::" in str(cause)), None)
        if mismatch is None:
            raise
        raise UsageError(
            f"torchvision does not fit the torch that is installed ({mismatch})",
            remedy="install both from one index, as in pip install torch torchvision --index-url "
            "https://download.pytorch.org/whl/cpu",
        ) from error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def prepare_questions(texts: Iterable[str], tokenizer: Any, *, prefix: str, length: int | None) -> list[str]:
    """Prepend the prefix to each question, and cut it to `length` tokens; None = the tokenizer's maximum.

    Special tokens written out in a question, such as <|image_pad|>, are removed.
    """
    return [_prepared(text, tokenizer, prefix, length) for text in texts]


def _prepared(text: str, tokenizer: Any, prefix: str, length: int | None) -> str:
    for token in tokenizer.added_tokens_decoder.values():
        if token.special:
            text = text.replace(token.content, " ")
    question = prefix + text
    most = length or tokenizer.model_max_length
    ends = tokenizer(question, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    return question[: ends[most - 1][1]] if len(ends) > most else question


def drop_padding(vectors: "torch.Tensor", mask: "torch.Tensor") -> "Sequence[np.ndarray[Any, Any]]":
    """Drop the vectors of padding: from (items, tokens, dimension) to (own tokens, dimension) float32 for each item.

    Libraries set vectors of padding to zero, but a zero vector takes part in MaxSim.
    """
    padded = vectors.float().cpu().numpy()
    return [item_vectors[is_token] for item_vectors, is_token in zip(padded, mask.bool().cpu().numpy(), strict=True)]


def count_qwen_tokens(picture: "Image", image_processor: Any) -> int:
    """Approximate number of image tokens of a picture after Qwen2-VL's processor has resized it."""
    size = image_processor.size
    pixels = min(max(picture.width * picture.height, size["shortest_edge"]), size["longest_edge"])
    return int(pixels // (image_processor.patch_size * image_processor.merge_size) ** 2)


def count_idefics_tokens(picture: "Image", processor: Any) -> int:
    """Approximate number of image tokens of a picture: it is scaled and cut into tiles, and shown whole once more."""
    longest, side = (getattr(processor.image_processor, name)["longest_edge"] for name in ("size", "max_image_size"))
    scale = longest / max(picture.size)
    tiles = math.prod(math.ceil(edge * scale / side) for edge in picture.size)
    return int(processor.image_seq_len * (tiles + 1))
