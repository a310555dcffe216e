"""Extractive reading models of a few thousand numbers, saved as the real ones are."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

TEXT = (
    "the harbour shipped grain timber coal by rail how much did ship came tonnes of is old in was wait for silos steel"
)
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,:_?"
QUESTION = "How much grain did the harbour ship?"
TELLS = ["The harbour is old.", "The harbour shipped 486 tonnes of grain.", "Coal came by rail."]
TELLS_NOTHING = ["Ships wait in the harbour.", "The silos for grain are of steel."]

Lesson = tuple[str, str, str]
"""A question, a passage, and the words of it that answer; "" where none do."""
LESSONS: Sequence[Lesson] = (
    (QUESTION, " ".join(TELLS), "486 tonnes"),
    (QUESTION, TELLS[1], "486 tonnes"),
    (QUESTION, " ".join(TELLS_NOTHING), ""),
    (QUESTION, TELLS[0], ""),
    (QUESTION, TELLS[2], ""),
)


def make_reader(folder: Path, lessons: Sequence[Lesson] = (), *, window: int = 64) -> Path:
    """A BERT that has learnt the lessons by heart; without any it is random."""
    import torch

    library = _transformers()
    folder.mkdir(parents=True, exist_ok=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*special, *TEXT.split(), *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(pieces), "utf-8")
    tokenizer = library.BertTokenizer(vocab=str(folder / "vocab.txt"), model_max_length=window)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = library.BertConfig(
        vocab_size=len(pieces),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=37,
        max_position_embeddings=window,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.3,
    )
    model = library.BertForQuestionAnswering(config)
    _teach(model, tokenizer, lessons)
    model.save_pretrained(folder)
    return folder


def _teach(model: Any, tokenizer: Any, lessons: Sequence[Lesson]) -> None:
    import torch

    if not lessons:
        return
    questions, passages, answers = zip(*lessons, strict=True)
    inputs = tokenizer(list(questions), list(passages), padding=True, return_tensors="pt")
    spans = []
    for row, (passage, answer) in enumerate(zip(passages, answers, strict=True)):
        start = passage.index(answer)
        ends = (start, start + len(answer) - 1)
        spans.append([inputs.char_to_token(row, end, sequence_index=1) if answer else 0 for end in ends])
    starts, last = torch.tensor(spans).T
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(60):
        optimizer.zero_grad()
        model(**inputs, start_positions=starts, end_positions=last).loss.backward()
        optimizer.step()


def _transformers() -> Any:
    import transformers

    return transformers  # as Any: what it exports is made at run time, and typed in part
