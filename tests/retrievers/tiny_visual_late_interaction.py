"""Late-interaction checkpoints that read pictures, tiny and random, saved by sentence-transformers' own classes."""

import json
import shutil
from pathlib import Path
from typing import Any

import tiny_visual_checkpoints as tiny

DIMENSION = 16
QUESTION_END = "<|endoftext|>" * 3

OMNI_SIGNS = {
    "pad": "<|endoftext|>",
    "start": "<|im_start|>",
    "end": "<|im_end|>",
    "vision_bos": "<|vision_bos|>",
    "vision_eos": "<|vision_eos|>",
    "image": "<|IMAGE|>",
    "video": "<|VIDEO|>",
    "audio": "<|AUDIO|>",
    "audio_bos": "<|audio_bos|>",
    "audio_eos": "<|audio_eos|>",
}

# Brings the code of a model that transformers does not have, as tomoro-colqwen3 does; its language model's last layer
# is neither saved nor used.
OWN_CODE = """
import torch
from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration, Qwen3VLPreTrainedModel
from transformers.utils import ModelOutput


class OwnConfig(Qwen3VLConfig):
    model_type = "own_colqwen3"


class OwnModel(Qwen3VLPreTrainedModel):
    config_class = OwnConfig

    def __init__(self, config):
        super().__init__(config)
        self.vlm = Qwen3VLForConditionalGeneration(config)
        self.projection = torch.nn.Linear(config.text_config.hidden_size, 16, bias=False)
        self.post_init()

    def forward(self, input_ids=None, attention_mask=None, **seen):
        seen.pop("return_dict", None)
        states = self.vlm.model(input_ids=input_ids, attention_mask=attention_mask, **seen).last_hidden_state
        vectors = torch.nn.functional.normalize(self.projection(states), dim=-1)
        return ModelOutput(embeddings=vectors * attention_mask.unsqueeze(-1))
"""


def like_transformers_own(folder: Path) -> Path:
    """A ColQwen2 in transformers' own format, with sentence-transformers' files beside it; needs no torchvision."""
    from sentence_transformers import MultiVectorEncoder

    plain = tiny.colqwen2_hf(folder.with_name(f"{folder.name}-plain"))
    MultiVectorEncoder(str(plain), device="cpu").save(str(folder))
    return folder


def colqwen3(folder: Path) -> Path:
    """A Qwen3-VL with a projection, a chat that ends questions in augmentation tokens, and prompts."""
    from sentence_transformers.base.modules import Transformer

    plain = tiny.qwen3_vl(folder.with_name(f"{folder.name}-plain"))
    _qwen3_processor().save_pretrained(plain)
    return _save(Transformer(str(plain)), folder, prompts={"query": "Find: ", "document": "Shown: "})


def omni(folder: Path) -> Path:
    """As `vidore/colqwen-omni-v0.1` is: Qwen2.5-Omni's thinker without its last layer, and a projection."""
    from safetensors.torch import load_file, save_file
    from sentence_transformers.base.modules import Transformer
    from transformers import (
        Qwen2_5OmniProcessor,
        Qwen2_5OmniThinkerForConditionalGeneration,
        Qwen2VLVideoProcessor,
        WhisperFeatureExtractor,
    )

    roles = {f"{name}_token": sign for name, sign in OMNI_SIGNS.items() if name not in ("pad", "start", "end")}
    end = OMNI_SIGNS["pad"]
    tokenizer = tiny.bytes_and(*OMNI_SIGNS.values(), pad_token=end, eos_token=end, extra_special_tokens=roles)
    plain = folder.with_name(f"{folder.name}-plain")
    model: Any = Qwen2_5OmniThinkerForConditionalGeneration
    tiny.randomised(model(_omni_config(tokenizer))).save_pretrained(plain)
    pictures, videos = tiny.qwen_pictures("torchvision"), Qwen2VLVideoProcessor()
    chat = _chat(OMNI_SIGNS["vision_bos"] + OMNI_SIGNS["image"] + OMNI_SIGNS["vision_eos"])
    processor: Any = Qwen2_5OmniProcessor
    extractor: Any = WhisperFeatureExtractor
    heard = extractor(feature_size=8)
    processor(pictures, videos, heard, tokenizer, chat_template=chat).save_pretrained(plain)
    read = {"method": "forward", "method_output_name": ["hidden_states", -1]}
    modalities: Any = {"text": read, "image": read, "message": {**read, "format": "structured"}}
    transformer = Transformer(
        str(plain), transformer_task="any-to-any", modality_config=modalities, module_output_name="token_embeddings"
    )
    _save(transformer, folder, bias=True)
    weights = load_file(folder / "model.safetensors")
    kept = {name: weight for name, weight in weights.items() if not name.startswith("lm_head")}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    return folder


def own_code(folder: Path) -> Path:
    """As `TomoroAI/tomoro-colqwen3-embed-4b` is: a Qwen3-VL in a model whose code comes with the checkpoint."""
    from safetensors.torch import load_file, save_file

    colqwen3(folder)
    weights = load_file(folder / "model.safetensors")
    projection = load_file(folder / "1_Dense" / "model.safetensors")["linear.weight"]
    # Once colpali-engine is imported, transformers saves a Qwen3-VL with this before each name.
    plain = {name.removeprefix("model."): weight for name, weight in weights.items()}
    ours = {f"vlm.model.{name}": weight for name, weight in plain.items()} | {"projection.weight": projection}
    save_file(ours, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    code = {"AutoConfig": "modeling_own.OwnConfig", "AutoModel": "modeling_own.OwnModel"}
    config |= {"model_type": "own_colqwen3", "architectures": ["OwnModel"], "auto_map": code}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    (folder / "modeling_own.py").write_text(OWN_CODE, "utf-8")
    read = {"method": "forward", "method_output_name": "embeddings"}
    modalities = {"text": read, "image": read, "message": {**read, "format": "structured"}}
    transformer_config = {
        "transformer_task": "retrieval",
        "modality_config": modalities,
        "module_output_name": "token_embeddings",
    }
    (folder / "sentence_bert_config.json").write_text(json.dumps(transformer_config), "utf-8")
    modules = json.loads((folder / "modules.json").read_text("utf-8"))
    kept = [module for module in modules if not module["type"].endswith(("Dense", "Normalize"))]
    for place, module in enumerate(kept):
        module |= {"idx": place, "name": str(place)}
    (folder / "modules.json").write_text(json.dumps(kept), "utf-8")
    shutil.rmtree(folder / "1_Dense")
    return folder


def _save(transformer: Any, folder: Path, *, bias: bool = False, prompts: dict[str, str] | None = None) -> Path:
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    torch.manual_seed(0)
    token = "token_embeddings"  # what modules pass on
    straight = torch.nn.Identity()
    projection = Dense(tiny.WIDTH, DIMENSION, bias=bias, activation_function=straight, module_input_name=token)
    modules = [transformer, projection, Normalize(module_input_name=token), MultiVectorMask()]
    MultiVectorEncoder(modules=modules, device="cpu", prompts=prompts).save(str(folder))
    return folder


def _chat(picture: str) -> str:
    shown = f"{{% if part.type == 'image' %}}{picture}{{% else %}}{{{{ part.text }}}}{{% endif %}}"
    turn = f"{{% for part in turn.content %}}{shown}{{% endfor %}}"
    turns = f"{{% for turn in messages %}}<|im_start|>{{{{ turn.role }}}}\n{turn}<|im_end|>\n{{% endfor %}}"
    return turns + f"{{% if task == 'query' %}}{QUESTION_END}{{% endif %}}"


def _qwen3_processor() -> Any:
    from transformers import Qwen2VLImageProcessor, Qwen3VLProcessor, Qwen3VLVideoProcessor

    size = {"shortest_edge": 4 * 32 * 32, "longest_edge": 16 * 32 * 32}
    chat = _chat("<|vision_start|><|image_pad|><|vision_end|>")
    pictures = Qwen2VLImageProcessor(patch_size=16, size=size)
    processor: Any = Qwen3VLProcessor
    return processor(pictures, tiny.qwen_tokenizer(), Qwen3VLVideoProcessor(), chat_template=chat)


def _omni_config(tokenizer: Any) -> Any:
    from transformers import Qwen2_5OmniThinkerConfig

    ids = {name: tokenizer.convert_tokens_to_ids(sign) for name, sign in OMNI_SIGNS.items()}
    width = tiny.WIDTH
    ears = {"d_model": width, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 48}
    eyes = {"depth": 2, "hidden_size": width, "num_heads": 2, "patch_size": tiny.PATCH, "out_hidden_size": width}
    rope = {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 10000.0}
    config: Any = Qwen2_5OmniThinkerConfig
    return config(
        audio_config={**ears, "output_dim": width, "num_mel_bins": 8, "max_source_positions": 50, "n_window": 10},
        vision_config={**eyes, "intermediate_size": 48, "window_size": 56, "fullatt_block_indexes": [1]},
        text_config={**tiny.text_layers(len(tokenizer)), "max_position_embeddings": 4096, "rope_parameters": rope},
        image_token_id=ids["image"],
        video_token_id=ids["video"],
        audio_token_id=ids["audio"],
        vision_start_token_id=ids["vision_bos"],
        vision_end_token_id=ids["vision_eos"],
        audio_start_token_id=ids["audio_bos"],
        audio_end_token_id=ids["audio_eos"],
        user_token_id=ids["start"],
    )
