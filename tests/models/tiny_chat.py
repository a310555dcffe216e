"""Chat models of a few thousand random numbers, saved as the real ones are."""

from pathlib import Path
from typing import Any

SIGNS = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<image>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_chat(folder: Path, *, template: str | None = TEMPLATE, positions: int = 8192, seed: int = 0) -> Path:
    """A Qwen2 language model whose tokenizer reads bytes."""
    import torch

    library = _transformers()
    tokenizer = byte_tokenizer(template)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = library.Qwen2Config(**_layers(len(tokenizer)), max_position_embeddings=positions, eos_token_id=_end())
    library.Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


def make_seeing_chat(folder: Path) -> Path:
    """A LLaVA that sees a picture of 28 pixels a side as four patches."""
    import torch

    library = _transformers()
    tokenizer = byte_tokenizer(TEMPLATE)
    torch.manual_seed(0)
    config = library.LlavaConfig(
        text_config={
            **_layers(len(tokenizer)),
            "model_type": "qwen2",
            "max_position_embeddings": 8192,
            "eos_token_id": _end(),
        },
        vision_config={
            "model_type": "clip_vision_model",
            "hidden_size": 32,
            "intermediate_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 28,
            "patch_size": 14,
        },
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    library.LlavaForConditionalGeneration(config).save_pretrained(folder)
    size = {"height": 28, "width": 28}
    pictures = library.CLIPImageProcessorPil(size={"shortest_edge": 28}, crop_size=size)
    library.LlavaProcessor(
        pictures,
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=TEMPLATE,
    ).save_pretrained(folder)
    return folder


def byte_tokenizer(template: str | None) -> Any:
    """One token a byte, and the signs of a conversation."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={token: number for number, token in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(SIGNS))
    return _transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token=SIGNS[2], pad_token=SIGNS[0], chat_template=template
    )


def _end() -> int:
    return int(byte_tokenizer(None).convert_tokens_to_ids(SIGNS[2]))


def _layers(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": 32,
        "intermediate_size": 48,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "initializer_range": 0.3,
    }


def _transformers() -> Any:
    import transformers

    return transformers  # as Any: what it exports is made at run time, and typed in part
