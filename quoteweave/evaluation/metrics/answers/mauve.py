"""MAUVE: how like the answers of a run are to the gold answers, as texts (Pillutla et al., NeurIPS 2021).

ALCE (arXiv 2305.14627, section 4) reports it as fluency. It compares two sets of texts rather than an answer with its
gold, so there is no row for a question. The package mauve-text computes it (GPL 3, installed only by the extra
`mauve`).
"""

import string
from collections.abc import Sequence
from typing import Any

from pydantic import Field

from quoteweave.core.errors import DatasetError, MissingExtra, ModelFailed, UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.core.records import Record
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.text.published_claims import alce_words

CHECKPOINT = "gpt2-large"
KNOWN_MODELS = ("gpt2", "bert")
"""Words that mauve-text looks for in the name of a model: it loads no other models."""
MAX_WORDS = 100
"""How many words of question and answer are read."""


class MauveScore(Record):
    """MAUVE of a run."""

    mauve: float = Field(description="from 0 to 1; the more alike, the higher")
    n: int = Field(description="answers that were compared with as many gold answers")
    left_out: int = Field(description="answers left out: failed, or without a gold answer")
    checkpoint: str = Field(description="the language model whose states are compared")


def mauve_score(
    answered: Sequence[tuple[Prediction, Example]],
    *,
    convention: Convention = "strict",
    checkpoint: str = CHECKPOINT,
    device: int = -1,
) -> MauveScore:
    """MAUVE of answers and gold answers, each after its question, as in ALCE's code (`compute_mauve` at 3fdc2ed).

    The first 100 words of question and text are read, without the punctuation at their end; 512 tokens; marks are
    removed from answers as in `alce_correctness`. `device` is the number of a GPU, or -1 for the processor. Raises
    UsageError for a model that mauve-text does not load, DatasetError if nothing can be compared, MissingExtra if
    mauve-text is not installed, ModelFailed for its errors.
    """
    _check_checkpoint(checkpoint)
    pairs = [
        (_read(example, text), _read(example, example.reference.answer))
        for prediction, example in answered
        if prediction.error is None
        and (text := alce_words(prediction, published=convention == "published")) is not None
        and example.reference.answer is not None
    ]
    if not pairs:
        raise DatasetError("there is no answer with a gold answer: MAUVE compares the two")
    compute = _library()
    try:
        result = compute(
            p_text=[gold for _, gold in pairs],
            q_text=[answer for answer, _ in pairs],
            device_id=device,
            max_text_length=512,
            verbose=False,
            batch_size=8,
            featurize_model_name=checkpoint,
        )
    except Exception as error:  # whatever the library, or the model that it runs, raises
        raise ModelFailed(f"MAUVE by {checkpoint}: {error}") from error
    return MauveScore(
        mauve=float(result.mauve), n=len(pairs), left_out=len(answered) - len(pairs), checkpoint=checkpoint
    )


def _check_checkpoint(checkpoint: str) -> None:
    """Refuse a model that the library would only refuse after all texts are prepared."""
    if not any(known in checkpoint for known in KNOWN_MODELS):
        raise UsageError(
            f"mauve-text tells the kind of a model by its name and loads {' and '.join(KNOWN_MODELS)} alone; "
            f"{checkpoint!r} has neither in it. Name another model, or rename the folder of such a one"
        )


def _library() -> Any:
    try:
        from mauve import compute_mauve
    except ModuleNotFoundError as error:
        raise MissingExtra("mauve-text", "mauve") from error
    return compute_mauve


def _read(example: Example, text: str | None) -> str:
    words = f"{example.query.text} {(text or '').strip()}".split()[:MAX_WORDS]
    return " ".join(words).rstrip(string.punctuation)
