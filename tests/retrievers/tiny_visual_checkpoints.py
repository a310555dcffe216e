"""Checkpoints of visual models, tiny and random, in the forms in which the real ones are published; and pictures.

Weights are drawn with a wide spread, so that vectors of different pictures differ as much as those of trained models.
"""

import json
import re
import shutil
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

needs_engine = pytest.mark.skipif(find_spec("colpali_engine") is None, reason="colpali-engine is not in .venv/visual")

DIMENSION = 128  # of colpali-engine's models, which know no other
WIDTH = 32
PATCH = 14
PALI_SIDE = 56  # pixels: 4 × 4 patches
MIN_PIXELS, MAX_PIXELS = 56 * 56, 16 * 28 * 28  # 4 and 16 image tokens of Qwen2-VL
QWEN_SIGNS = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
# Adapters of the ColPali family change every projection of the language model, and the last one.
ADAPTED = r"(.*(language|text)_model.*(up|gate|down|k|q|v|o)_proj|.*custom_text_proj|linear)"


def noise(width: int, height: int) -> Image.Image:
    """A picture of random pixels, the same for the same width."""
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def qwen_tokenizer() -> Any:
    end = QWEN_SIGNS[0]
    return bytes_and(*QWEN_SIGNS, pad_token=end, eos_token=end)


def qwen_vl(kind: str = "qwen2_vl") -> Any:
    """The configuration of a Qwen2-VL or Qwen2.5-VL with two layers each for words and for patches."""
    from transformers import AutoConfig

    tokenizer = qwen_tokenizer()
    text = {
        **text_layers(len(tokenizer)),
        "max_position_embeddings": 4096,
        "rope_scaling": {"type": "mrope", "mrope_section": [2, 3, 3]},
        "bos_token_id": 0,
        "eos_token_id": 0,
    }
    vision: dict[str, Any] = {"depth": 2, "hidden_size": WIDTH, "num_heads": 2, "patch_size": PATCH}
    if kind == "qwen2_vl":
        vision |= {"embed_dim": WIDTH, "mlp_ratio": 2}
    else:
        # Windows of 2 × 2 image tokens in the first layer, as most layers of the real model have them.
        vision |= {"out_hidden_size": WIDTH, "intermediate_size": 48, "window_size": 56, "fullatt_block_indexes": [1]}
    names = {"image_token_id": 5, "video_token_id": 6, "vision_start_token_id": 3, "vision_end_token_id": 4}
    ids = {name: tokenizer.convert_tokens_to_ids(QWEN_SIGNS[place]) for name, place in names.items()}
    return AutoConfig.for_model(kind, text_config=text, vision_config=vision, tie_word_embeddings=True, **ids)


def qwen_pictures(backend: str = "pil") -> Any:
    from transformers import Qwen2VLImageProcessor, Qwen2VLImageProcessorPil

    kind = Qwen2VLImageProcessorPil if backend == "pil" else Qwen2VLImageProcessor
    return kind(size={"shortest_edge": MIN_PIXELS, "longest_edge": MAX_PIXELS})


def colqwen(folder: Path, kind: str = "qwen2_vl") -> Path:
    """As `vidore/colqwen2-v1.0-merged` is, or the same of ColQwen2.5."""
    from colpali_engine.models import ColQwen2, ColQwen2_5, ColQwen2_5_Processor, ColQwen2Processor
    from transformers import Qwen2VLVideoProcessor

    model, processor = (ColQwen2, ColQwen2Processor) if kind == "qwen2_vl" else (ColQwen2_5, ColQwen2_5_Processor)
    randomised(model(qwen_vl(kind))).save_pretrained(folder)
    colqwen_processor = processor(
        qwen_pictures("torchvision"), qwen_tokenizer(), video_processor=Qwen2VLVideoProcessor()
    )
    colqwen_processor.save_pretrained(folder)
    return folder


def colpali(folder: Path) -> Path:
    """As `vidore/colpali-v1.3-merged` is."""
    from colpali_engine.models import ColPali, ColPaliProcessor
    from transformers import SiglipImageProcessor

    processor = ColPaliProcessor(_pali_pictures(SiglipImageProcessor), _pali_tokenizer())
    randomised(ColPali(_pali_config())).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def colsmol(folder: Path) -> Path:
    """As the base of `vidore/colSmol-256M` is: SigLIP's patches beside the words of a Llama; tiles of 32 pixels."""
    from colpali_engine.models import ColIdefics3, ColIdefics3Processor
    from transformers import AutoConfig, Idefics3ImageProcessor

    signs = ("<|im_start|>", "<end_of_utterance>", "<fake_token_around_image>", "<image>", "<global-img>")
    parts = [f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]
    tokenizer = bytes_and(*signs, *parts, pad_token=signs[0], bos_token=signs[0], eos_token=signs[1])
    side = 32
    pictures = Idefics3ImageProcessor(size={"longest_edge": 2 * side}, max_image_size={"longest_edge": side})
    processor = ColIdefics3Processor(pictures, tokenizer, image_seq_len=(side // 8 // 2) ** 2)
    layers = {"hidden_size": WIDTH, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    words = {**text_layers(len(processor.tokenizer)), "model_type": "llama", "max_position_embeddings": 16384}
    image = processor.tokenizer.convert_tokens_to_ids("<image>")
    ends = {"pad_token_id": processor.tokenizer.pad_token_id, "bos_token_id": 0, "eos_token_id": 1}
    config = AutoConfig.for_model(
        "idefics3",
        image_token_id=image,
        scale_factor=2,
        text_config={**words, **ends},
        vision_config={"image_size": side, "patch_size": 8, **layers},
        **ends,
    )
    randomised(ColIdefics3(config)).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def adapter_over(merged: Path, folder: Path) -> Path:
    """An adapter, as `vidore/colqwen2-v1.0` or `vidore/colpali-v1.3` is, over a base beside it, `folder`-base.

    Both have the names of weights that the published ones have, which are those of transformers before 5.
    """
    import colpali_engine.models
    import torch
    from peft import LoraConfig, get_peft_model
    from safetensors.torch import load_file, save_file

    kind = json.loads((merged / "config.json").read_text("utf-8"))["architectures"][0]
    base = Path(shutil.copytree(merged, folder.with_name(f"{folder.name}-base")))
    shutil.copytree(merged, folder, ignore=shutil.ignore_patterns("config.json", "model.safetensors"))
    model = getattr(colpali_engine.models, kind).from_pretrained(merged)
    if kind == "ColPali":
        model.model.lm_head.weight = model.model.model.language_model.embed_tokens.weight
    torch.manual_seed(1)
    lora = LoraConfig(r=4, lora_alpha=4, init_lora_weights=False, target_modules=ADAPTED)
    get_peft_model(model, lora).save_pretrained(str(folder))
    described = json.loads((folder / "adapter_config.json").read_text("utf-8"))
    described["base_model_name_or_path"] = str(base)
    (folder / "adapter_config.json").write_text(json.dumps(described), "utf-8")

    def renamed(path: Path, rename: Callable[[str], str]) -> None:
        save_file({rename(name): weight for name, weight in load_file(path).items()}, path, {"format": "pt"})

    if kind == "ColPali":
        renamed(
            folder / "adapter_model.safetensors", lambda name: re.sub("model.model.language_model", _OLD_PALI, name)
        )
    elif kind != "ColIdefics3":
        renamed(base / "model.safetensors", lambda name: re.sub("^language_model", "model", name))
        renamed(folder / "adapter_model.safetensors", lambda name: name.replace(".language_model.", ".model."))
    return folder


_OLD_PALI = "model.language_model.model"


def colqwen2_hf(folder: Path, like: Path | None = None) -> Path:
    """As `vidore/colqwen2-v1.0-hf` is; with the weights of an original checkpoint, if one is given."""
    from safetensors.torch import load_file
    from transformers import ColQwen2Config, ColQwen2ForRetrieval, ColQwen2Processor

    model = randomised(ColQwen2ForRetrieval(ColQwen2Config(vlm_config=qwen_vl().to_dict(), embedding_dim=DIMENSION)))
    if like is not None:
        weights = load_file(like / "model.safetensors")
        projection = {name: f"embedding_proj_layer.{name.partition('.')[2]}" for name in weights if "text_proj" in name}
        model.load_state_dict({projection.get(name, f"vlm.{name}"): weight for name, weight in weights.items()})
    model.save_pretrained(folder)
    ColQwen2Processor(qwen_pictures(), qwen_tokenizer()).save_pretrained(folder)
    return folder


def colpali_hf(folder: Path) -> Path:
    """As `vidore/colpali-v1.3-hf` is."""
    from transformers import ColPaliConfig, ColPaliForRetrieval, ColPaliProcessor, SiglipImageProcessorPil

    config = ColPaliConfig(vlm_config=_pali_config().to_dict(), embedding_dim=DIMENSION)
    randomised(ColPaliForRetrieval(config)).save_pretrained(folder)
    ColPaliProcessor(_pali_pictures(SiglipImageProcessorPil), _pali_tokenizer()).save_pretrained(folder)
    return folder


def colmodernvbert(folder: Path) -> Path:
    """As `ModernVBERT/colmodernvbert-merged` is: SigLIP's patches beside the words of a ModernBERT."""
    from transformers import ColModernVBertConfig, ColModernVBertForRetrieval, ColModernVBertProcessor
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    signs = ("[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "<global-img>")
    parts = [f"<row_{row}_col_{column}>" for row in range(1, 5) for column in range(1, 5)]
    names = dict(zip(("unk_token", "cls_token", "sep_token", "pad_token", "mask_token"), signs, strict=False))
    tokenizer = bytes_and(*signs, *parts, **names)
    side = 32
    pictures = Idefics3ImageProcessorPil(size={"longest_edge": 2 * side}, max_image_size={"longest_edge": side})
    processor = ColModernVBertProcessor(pictures, tokenizer, image_seq_len=(side // 8 // 2) ** 2)
    layers = {"hidden_size": WIDTH, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    ends = {"pad_token_id": 3, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
    config = ColModernVBertConfig(
        vlm_config={
            "model_type": "modernvbert",
            "image_token_id": processor.image_token_id,
            "pixel_shuffle_factor": 2,
            "text_config": {"model_type": "modernbert", "vocab_size": len(processor.tokenizer), **layers, **ends},
            "vision_config": {"model_type": "siglip_vision_model", "image_size": side, "patch_size": 8, **layers},
        },
        embedding_dim=DIMENSION,
    )
    randomised(ColModernVBertForRetrieval(config)).save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder


def dse_qwen2(folder: Path) -> Path:
    """As `MrLight/dse-qwen2-2b-mrl-v1` is: a Qwen2-VL with its output layer, the names of its weights those of old."""
    from safetensors.torch import load_file, save_file
    from transformers import Qwen2VLForConditionalGeneration

    randomised(Qwen2VLForConditionalGeneration(qwen_vl())).save_pretrained(folder)
    weights = load_file(folder / "model.safetensors")
    old = {re.sub(r"^model\.visual", "visual", re.sub(r"^model\.language_model", "model", n)): n for n in weights}
    save_file({name: weights[now] for name, now in old.items()}, folder / "model.safetensors", {"format": "pt"})
    qwen_tokenizer().save_pretrained(folder)
    qwen_pictures().save_pretrained(folder)
    return folder


def qwen3_vl(folder: Path) -> Path:
    """As `Qwen/Qwen3-VL-Embedding-2B` is: a Qwen3-VL without its output layer."""
    from transformers import Qwen2VLImageProcessorPil, Qwen3VLConfig, Qwen3VLModel

    tokenizer = qwen_tokenizer()
    ids = dict(zip(QWEN_SIGNS, tokenizer.convert_tokens_to_ids(list(QWEN_SIGNS)), strict=True))
    rope = {"rope_type": "default", "mrope_section": [4, 2, 2], "mrope_interleaved": True, "rope_theta": 10000.0}
    config = Qwen3VLConfig(
        text_config={**text_layers(len(tokenizer)), "head_dim": 16, "rope_parameters": rope},
        vision_config={
            "depth": 2,
            "hidden_size": WIDTH,
            "intermediate_size": 48,
            "num_heads": 2,
            "out_hidden_size": WIDTH,
            "patch_size": 16,
            "num_position_embeddings": 16,
            "deepstack_visual_indexes": [0],
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    randomised(Qwen3VLModel(config)).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    Qwen2VLImageProcessorPil(patch_size=16).save_pretrained(folder)
    return folder


def text_layers(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": WIDTH,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
    }


def _pali_config() -> Any:
    from transformers import PaliGemmaConfig

    tokenizer = _pali_tokenizer()
    words = len(tokenizer) + 1152  # which PaliGemma's processor adds, for places and segments of pictures
    layers = {"intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 2}
    text = {**text_layers(words), "model_type": "gemma", "head_dim": 16, "max_position_embeddings": 4096}
    vision = {**layers, "hidden_size": WIDTH, "image_size": PALI_SIDE, "patch_size": PATCH, "projection_dim": WIDTH}
    return PaliGemmaConfig(
        text_config=text,
        vision_config={**vision, "model_type": "siglip_vision_model", "vision_use_head": False},
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
        projection_dim=WIDTH,
        hidden_size=WIDTH,
        vocab_size=words,
    )


def _pali_tokenizer() -> Any:
    signs = {"pad_token": "<pad>", "eos_token": "<eos>", "bos_token": "<bos>", "unk_token": "<unk>"}
    return bytes_and(*signs.values(), "<image>", **signs, extra_special_tokens={"image_token": "<image>"})


def _pali_pictures(kind: Any) -> Any:
    image_processor = kind(size={"height": PALI_SIDE, "width": PALI_SIDE})
    image_processor.image_seq_length = (PALI_SIDE // PATCH) ** 2
    return image_processor


def bytes_and(*signs: str, **roles: Any) -> Any:
    """A tokenizer of bytes, and of signs that stand for themselves, some in a role."""
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(signs))
    tokenizer_class: Any = transformers.PreTrainedTokenizerFast
    return tokenizer_class(tokenizer_object=tokenizer, padding_side="left", **roles)


def randomised(model: Any) -> Any:
    import torch

    torch.manual_seed(0)
    for name, weight in model.named_parameters():
        if weight.ndim > 1:
            torch.nn.init.normal_(weight, std=0.2)
        elif name.endswith("bias"):
            torch.nn.init.normal_(weight, std=0.1)
    return model.eval()
