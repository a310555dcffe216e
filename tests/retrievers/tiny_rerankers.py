"""Rerankers of a few thousand random numbers, saved as the real ones are."""

from pathlib import Path
from typing import Any

TEXT = "the harbour shipped grain timber coal oil by ship and rail in spring summer sales grew fell per cent what did"
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
# The format in which Qwen3-Reranker reads a pair, as a chat template, for libraries that ask the checkpoint for it.
PAIR_TEMPLATE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
    "<Instruct>: {instruction}\n"
    "<Query>: {{{{ (messages | selectattr('role', 'eq', 'query') | first).content }}}}\n"
    "<Document>: {{{{ (messages | selectattr('role', 'eq', 'document') | first).content }}}}<|im_end|>\n"
    "<|im_start|>assistant\n<think>\n\n</think>\n\n\n"  # a template's last line break is left out
)


def make_cross_encoder(folder: Path, *, labels: int = 1, seed: int = 0) -> Path:
    """A BERT cross-encoder that reads at most 64 tokens."""
    import torch

    library = _transformers()
    folder.mkdir(parents=True, exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789.,?!"
    pieces = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *TEXT.split(),
        *letters,
        *(f"##{letter}" for letter in letters),
    ]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), "utf-8")
    library.BertTokenizer(vocab=str(vocabulary), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(seed)
    config = library.BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=37,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=0.5,
    )
    library.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def make_qwen3_reranker(folder: Path, *, positions: int = 512, answers: bool = True, seed: int = 0) -> Path:
    """A Qwen3 language model with a byte-level tokenizer that knows "yes" and "no", unless told otherwise."""
    import torch

    library = _transformers()
    tokenizer = _byte_level_tokenizer(answers)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    config = library.Qwen3Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        intermediate_size=48,
        max_position_embeddings=positions,
        tie_word_embeddings=True,
        initializer_range=0.3,
    )
    library.Qwen3ForCausalLM(config).save_pretrained(folder)
    return folder


def _byte_level_tokenizer(answers: bool) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    text = [TEXT, *(["yes no"] * 20 if answers else [])]
    trainer = trainers.BpeTrainer(
        vocab_size=400, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), special_tokens=SPECIAL
    )
    tokenizer.train_from_iterator([*text, "yes", "no"] if answers else text, trainer)
    return _transformers().PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=131072
    )


def _transformers() -> Any:
    import transformers

    return transformers  # as Any: what it exports is made at run time, and typed in part
