"""Checkpoints of the real architectures, tiny and random, as the tests of encoders load them.

Weights are drawn with a wide spread, so that vectors of different texts differ as much as those of trained models.
"""

import json
import shutil
import string
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

HIDDEN = 32
POSITIONS = 128
LONG = 600  # what the causal model reads, in bytes
WORDS = ("harbour", "ship", "revenue", "rose", "the", "of", "in", "what", "is", "table", "figure", "query", "passage")

# Texts that trip encoders up: of very different lengths, empty, in other scripts, with signs that are no words.
HARD_TEXTS = (
    "",
    "harbour",
    "The revenue of the harbour rose by 12.5 % in 2023, as Table 4 shows.",
    "what is the figure " * 60,
    "the ship is in the harbour " * 2000,
    "船は港にいます。収入はどのくらいですか？",
    "Сколько кораблей в гавани? كم عدد السفن",
    "🚢⚓️ 12 👩‍🔬 ∑∫",
    "...!?--- ;;",
    "   \n\t ",
    "https://example.com/figure.png",
    "lone \ud83d surrogate",
)


def wordpiece(folder: Path) -> Any:
    """A lower-casing BERT tokenizer of words, letters, digits and punctuation marks."""
    from transformers import BertTokenizer

    characters = [*string.ascii_lowercase, *string.digits]
    vocabulary = ["[PAD]", "[unused0]", "[unused1]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *string.punctuation]
    vocabulary += [*WORDS, *characters, *(f"##{character}" for character in characters)]
    tokenizer = BertTokenizer(
        vocab={token: number for number, token in enumerate(vocabulary)}, model_max_length=POSITIONS
    )
    tokenizer.save_pretrained(folder)
    return tokenizer


def bert_settings(vocabulary: int) -> dict[str, Any]:
    return {
        "vocab_size": vocabulary,
        "hidden_size": HIDDEN,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
        "initializer_range": 0.3,
    }


def bert(folder: Path, seed: int = 0) -> Path:
    """A plain checkpoint of transformers, as Contriever's is."""
    import torch
    from transformers import BertConfig, BertModel

    torch.manual_seed(seed)
    tokenizer = wordpiece(folder)
    BertModel(BertConfig(**bert_settings(len(tokenizer)))).save_pretrained(folder)
    return folder


def sentence_transformer(
    folder: Path,
    pooling: str,
    *,
    normalize: bool = True,
    prompts: Mapping[str, str] | None = None,
    similarity: Literal["cosine", "dot", "euclidean"] | None = None,
) -> Path:
    """A checkpoint of sentence-transformers over BERT, as those of BGE, E5, GTE and MiniLM are.

    The same checkpoint is made once in a process, and copied from then on.
    """
    import torch

    made = _sentence_transformer(pooling, normalize, tuple((prompts or {}).items()), similarity)
    torch.manual_seed(0)  # as where it is made
    return Path(shutil.copytree(Path(made.name, "model"), folder, dirs_exist_ok=True))


@cache
def _sentence_transformer(
    pooling: str,
    normalize: bool,
    prompts: tuple[tuple[str, str], ...],
    similarity: Literal["cosine", "dot", "euclidean"] | None,
) -> "tempfile.TemporaryDirectory[str]":
    """A folder with the checkpoint, which lasts as long as the process."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    folder = tempfile.TemporaryDirectory(prefix="checkpoint")
    plain = bert(Path(folder.name, "plain"))
    modules = [Transformer(str(plain)), Pooling(HIDDEN, pooling), *([Normalize()] if normalize else [])]
    model = SentenceTransformer(modules=modules, device="cpu", prompts=dict(prompts), similarity_fn_name=similarity)
    model.save(str(Path(folder.name, "model")))
    return folder


def static(folder: Path, dimension: int = 12, *, truncate: int | None = None) -> Path:
    """A checkpoint of sentence-transformers that is a table with a vector for each word, as model2vec's are."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    torch.manual_seed(0)
    vocabulary = {word: number for number, word in enumerate(("[UNK]", *WORDS))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    table = StaticEmbedding(tokenizer, embedding_dim=dimension)
    SentenceTransformer(modules=[table], device="cpu", truncate_dim=truncate).save(str(folder))
    return folder


def dpr(folder: Path) -> Path:
    """A folder of two: the encoder of questions and that of passages."""
    import torch
    from transformers import DPRConfig, DPRContextEncoder, DPRQuestionEncoder

    for seed, (name, kind) in enumerate(
        {"question_encoder": DPRQuestionEncoder, "ctx_encoder": DPRContextEncoder}.items()
    ):
        torch.manual_seed(seed)
        tokenizer = wordpiece(folder / name)
        kind(DPRConfig(**bert_settings(len(tokenizer)))).save_pretrained(folder / name)
    return folder


def byte_tokenizer(folder: Path) -> int:
    """A tokenizer whose tokens are bytes, with an end-of-text token after each text; returns how many there are."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    end = "<|endoftext|>"
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bytes_only = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate([end, *alphabet])}, merges=[]))
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    bytes_only.post_processor = processors.TemplateProcessing(
        single=f"$A {end}", pair=f"$A {end} $B {end}", special_tokens=[(end, 0)]
    )
    fast: Any = PreTrainedTokenizerFast
    fast(
        tokenizer_object=bytes_only, pad_token=end, eos_token=end, padding_side="left", model_max_length=LONG
    ).save_pretrained(folder)
    return len(alphabet) + 1


def qwen3_embedding(folder: Path) -> Path:
    """A causal model with rotary positions, its weights in bfloat16."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Normalize, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling
    from transformers import Qwen3Config, Qwen3Model

    torch.manual_seed(0)
    plain = folder.with_name(f"{folder.name}-plain")
    config = Qwen3Config(
        vocab_size=byte_tokenizer(plain),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        intermediate_size=64,
        max_position_embeddings=LONG,
        initializer_range=0.3,
    )
    model: Any = Qwen3Model(config)
    model.to(torch.bfloat16).save_pretrained(plain)
    modules = [Transformer(str(plain)), Pooling(HIDDEN, "lasttoken"), Normalize()]
    query = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
    SentenceTransformer(modules=modules, device="cpu", prompts={"query": query, "document": ""}).save(str(folder))
    return folder


def gpt2(folder: Path) -> Path:
    """A plain causal model whose positions are learned: each has a vector of its own."""
    import torch
    from transformers import GPT2Config, GPT2Model

    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=byte_tokenizer(folder),
        n_embd=HIDDEN,
        n_layer=2,
        n_head=4,
        n_positions=LONG,
        eos_token_id=0,
        bos_token_id=0,
    )
    GPT2Model(config).save_pretrained(folder)
    return folder


def clip(folder: Path) -> Path:
    """A checkpoint of sentence-transformers that reads pictures beside text, and says so."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel

    torch.manual_seed(0)
    plain = folder.with_name(f"{folder.name}-plain")
    shape = {"hidden_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": 4, "intermediate_size": 32}
    special = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    words = {**shape, **special, "vocab_size": byte_tokenizer(plain), "max_position_embeddings": 64}
    patches = {**shape, "image_size": 32, "patch_size": 16}
    CLIPModel(CLIPConfig(text_config=words, vision_config=patches, projection_dim=16)).save_pretrained(plain)
    image_processor: Any = CLIPImageProcessorPil
    image_processor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}).save_pretrained(plain)
    (plain / "processor_config.json").write_text(json.dumps({"processor_class": "CLIPProcessor"}), "utf-8")
    SentenceTransformer(modules=[Transformer(str(plain))], device="cpu").save(str(folder))
    return folder


def colbert(folder: Path, dimension: int = 16) -> Path:
    """The format of ColBERT's authors: BERT and a `linear.weight` in one file, markers in `artifact.metadata`."""
    import torch
    from safetensors.torch import save_file
    from transformers import BertConfig, BertModel

    torch.manual_seed(0)
    tokenizer = wordpiece(folder)
    config = BertConfig(**bert_settings(len(tokenizer)))
    weights = {f"bert.{name}": value for name, value in BertModel(config).state_dict().items()}
    weights["linear.weight"] = torch.randn(dimension, HIDDEN)
    save_file(
        {name: value.contiguous() for name, value in weights.items()}, folder / "model.safetensors", {"format": "pt"}
    )
    (folder / "config.json").write_text(json.dumps({**config.to_dict(), "architectures": ["HF_ColBERT"]}), "utf-8")
    metadata = {
        "query_token_id": "[unused0]",
        "doc_token_id": "[unused1]",
        "query_maxlen": 32,
        "doc_maxlen": 100,
        "mask_punctuation": True,
        "attend_to_mask_tokens": False,
        "dim": dimension,
    }
    (folder / "artifact.metadata").write_text(json.dumps(metadata), "utf-8")
    return folder


def modern_colbert(folder: Path, dimension: int = 16, *, expands: bool = True) -> Path:
    """ModernBERT and a projection in the form of PyLate, as GTE-ModernColBERT, LateOn and mxbai-edge-colbert are."""
    import torch
    from safetensors.torch import save_file
    from transformers import ModernBertConfig, ModernBertModel

    torch.manual_seed(0)
    tokenizer = wordpiece(folder)
    tokenizer.add_tokens(["[Q] ", "[D] "])
    tokenizer.save_pretrained(folder)
    config = ModernBertConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=POSITIONS,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.cls_token_id,
        eos_token_id=tokenizer.sep_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        initializer_range=0.3,
    )
    ModernBertModel(config).save_pretrained(folder)
    dense = folder / "1_Dense"
    dense.mkdir()
    sizes = {"in_features": HIDDEN, "out_features": dimension, "bias": False}
    activation = "torch.nn.modules.linear.Identity"
    (dense / "config.json").write_text(json.dumps({**sizes, "activation_function": activation}), "utf-8")
    save_file({"linear.weight": torch.randn(dimension, HIDDEN)}, dense / "model.safetensors", {"format": "pt"})
    kinds = {"": "sentence_transformers.models.Transformer", "1_Dense": "pylate.models.Dense.Dense"}
    modules = [{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(kinds.items())]
    (folder / "modules.json").write_text(json.dumps(modules), "utf-8")
    colbert_config = {
        "model_type": "ColBERT",
        "query_prefix": "[Q] ",
        "document_prefix": "[D] ",
        "query_length": 12,
        "document_length": 20,
        "do_query_expansion": expands,
        "attend_to_expansion_tokens": False,
        "skiplist_words": list(string.punctuation),
        "similarity_fn_name": "MaxSim",
    }
    (folder / "config_sentence_transformers.json").write_text(json.dumps(colbert_config), "utf-8")
    return folder
