"""Entailment models of a few thousand numbers, saved as the real ones are."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

TEXT = "the harbour shipped grain timber coal oil by ship and rail in spring sales grew fell per cent"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:_?"
THREE_WAY = {0: "contradiction", 1: "neutral", 2: "entailment"}

Lesson = tuple[str, str, bool]
"""A premise, a claim, and whether it is entailed."""


def make_bert_nli(folder: Path, *, labels: Mapping[int, str] = THREE_WAY, seed: int = 0) -> Path:
    """A BERT classifier with 64 positions, whose tokenizer knows of no limit."""
    return _wordpiece_nli(folder, "Bert", labels, seed=seed)


def make_roberta_nli(folder: Path) -> Path:
    """A RoBERTa classifier, which counts 65 positions and has 64 for tokens."""
    return _wordpiece_nli(folder, "Roberta", THREE_WAY, max_position_embeddings=65, type_vocab_size=2)


def make_deberta_nli(folder: Path, *, labels: Mapping[int, str] = THREE_WAY) -> Path:
    """A DeBERTa-v3 classifier, as they are published for NLI: relative positions and a unigram tokenizer."""
    library = _transformers()
    special = [(token, 0.0) for token in ("[PAD]", "[CLS]", "[SEP]", "[UNK]")]
    tokenizer = library.DebertaV2Tokenizer(vocab=special + _pieces(), unk_id=3)
    tokenizer.save_pretrained(folder)
    return _save_classifier(
        folder,
        "DebertaV2",
        labels,
        vocab_size=len(tokenizer),
        relative_attention=True,
        position_biased_input=False,
        pos_att_type=["p2c", "c2p"],
        position_buckets=16,
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        type_vocab_size=0,
    )


def make_t5(folder: Path, lessons: Sequence[Lesson] = (), *, window: int = 64) -> Path:
    """A T5 that has learnt the lessons by heart; a 0 is two tokens to it, as in T5's own vocabulary."""
    import torch

    library = _transformers()
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁1", -2.0)]
    tokenizer = library.T5Tokenizer(vocab=special + _pieces("premise: hypothesis:"), extra_ids=0)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = library.T5Config(
        vocab_size=len(tokenizer),
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=1,
        num_heads=4,
        dropout_rate=0.0,
        feed_forward_proj="gated-gelu",
        tie_word_embeddings=False,
        decoder_start_token_id=0,
        n_positions=window,
    )
    model = library.T5ForConditionalGeneration(config)
    _teach(model, tokenizer, lessons)
    model.save_pretrained(folder)
    return folder


def _teach(model: Any, tokenizer: Any, lessons: Sequence[Lesson]) -> None:
    import torch

    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    texts = [f"premise: {premise} hypothesis: {claim}" for premise, claim, _ in lessons]
    for _ in range(60 if lessons else 0):
        inputs = tokenizer(texts, padding=True, return_tensors="pt")
        answers = tokenizer([str(int(entailed)) for *_, entailed in lessons], padding=True, return_tensors="pt")
        labels = answers["input_ids"].masked_fill(answers["attention_mask"] == 0, -100)
        optimizer.zero_grad()
        model(**inputs, labels=labels).loss.backward()
        optimizer.step()


def _wordpiece_nli(folder: Path, kind: str, labels: Mapping[int, str], seed: int = 0, **named: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *TEXT.split(), *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces), "utf-8")
    _transformers().BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    settings = {"max_position_embeddings": 64, "pad_token_id": 0, **named}
    return _save_classifier(folder, kind, labels, seed, vocab_size=len(pieces), **settings)


def _save_classifier(folder: Path, kind: str, labels: Mapping[int, str], seed: int = 0, **named: Any) -> Path:
    import torch

    library = _transformers()
    torch.manual_seed(seed)
    settings = {"max_position_embeddings": 64, **named}
    config = getattr(library, f"{kind}Config")(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=37,
        initializer_range=0.5,
        id2label=dict(labels),
        label2id={label: number for number, label in labels.items()},
        **settings,
    )
    getattr(library, f"{kind}ForSequenceClassification")(config).save_pretrained(folder)
    return folder


def _pieces(words: str = "") -> list[tuple[str, float]]:
    word_pieces = [(f"▁{word}", -2.0) for word in dict.fromkeys(f"{words} {TEXT}".split())]
    return [*word_pieces, ("▁", -3.0), *((letter, -5.0) for letter in LETTERS)]


def _transformers() -> Any:
    import transformers

    return transformers  # as Any: what it exports is made at run time, and typed in part
