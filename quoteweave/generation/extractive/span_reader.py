"""Extractive reading models, which find the span of a passage that answers a question, or that none does.

They are trained as on SQuAD 2.0 (arXiv 1806.03822): each token gets a start and an end logit, and where those of the
first token add up to more than those of any span, the passage does not answer.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import ModelFailed
from quoteweave.core.messages import replace_lone_surrogates
from quoteweave.models.batches import encode_in_batches
from quoteweave.models.checkpoints import Hardware, import_required, locate_checkpoint, read_config
from quoteweave.models.loading import ModelLock, check_tokenizer, max_positions, reporting_load_errors

if TYPE_CHECKING:
    import numpy as np

    from quoteweave.core.protocols import Matrix

# Windows per batch, unless the user sets it; fewer where they are longer than FULL_LENGTH tokens.
CPU_BATCH, GPU_BATCH = 8, 32
FULL_LENGTH = 512
MAX_ANSWER_TOKENS = 30
"""The most tokens of an answer, as is usual for SQuAD."""
OVERLAP = 128
"""Tokens shared by consecutive windows of a long passage, at most a quarter of a window."""
ARCHITECTURE_ENDING = "ForQuestionAnswering"


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Any
    model: Any
    window: int
    """The most tokens of question and passage together."""


@dataclass(frozen=True, slots=True)
class PassageWindow:
    """One input of the model: the question, and as much of a passage as fits."""

    passage: int
    row: dict[str, list[int]]
    sentences: tuple[int, ...]
    """For each token, the index from 0 of its sentence in the passage; -1 for tokens outside the passage."""
    nothing: int
    """Position of the token whose logits stand for "no answer"."""


class SpanReader:
    """Implements `core.protocols.SentenceScorer` with a checkpoint of transformers, a folder or a name on the hub.

    At most one sentence per passage has a score: the one with the most likely answer, if that is likelier than no
    answer. The score is the sum of the answer's logits, less that of no answer. Long passages are read in windows. It
    computes in a worker thread, and the model is loaded on first use.
    """

    def __init__(self, checkpoint: str, hardware: Hardware | None = None) -> None:
        self.checkpoint = checkpoint
        self.hardware = hardware or Hardware()
        self._turns = ModelLock()

    @property
    def name(self) -> str:
        """The checkpoint, as it was named."""
        return self.checkpoint

    async def score(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        """Score each passage's best sentence, others None. Raises ModelNotFound, ModelFailed and MissingExtra."""
        return await asyncio.to_thread(self._compute, replace_lone_surrogates(question), passages)

    def _compute(self, question: str, passages: Sequence[Sequence[str]]) -> list[list[float | None]]:
        with self._turns.taken():
            windows = [
                window for number, passage in enumerate(passages) for window in self._windows(question, number, passage)
            ]
        batch_size = self.hardware.chosen_batch_size(cpu=CPU_BATCH, gpu=GPU_BATCH)
        logits = encode_in_batches(
            windows,
            self._logits,
            size_of=lambda window: len(window.sentences),
            batch_size=batch_size,
            name=self.checkpoint,
            budget=FULL_LENGTH * batch_size,
        )
        scores: list[list[float | None]] = [[None] * len(passage) for passage in passages]
        for number, sentence_scores in enumerate(scores):
            windows_of_passage = [pair for pair in zip(windows, logits, strict=True) if pair[0].passage == number]
            if (best := best_sentence(windows_of_passage)) is not None:
                sentence_scores[best[0]] = best[1]
        return scores

    @cached_property
    def _loaded(self) -> _Loaded:
        transformers = import_required("transformers")
        folder = locate_checkpoint(self.checkpoint)
        architecture = (read_config(folder).get("architectures") or ["none"])[0]
        if not architecture.endswith(ARCHITECTURE_ENDING):
            raise ModelFailed(
                f"{self.checkpoint} is no reading model: its architecture is {architecture}, not one "
                f"{ARCHITECTURE_ENDING}; name a checkpoint that was trained on questions with and without answers, "
                "as those of SQuAD 2.0"
            )
        check_tokenizer(folder)
        hub = {"local_files_only": True, "trust_remote_code": self.hardware.trust_remote_code}
        with reporting_load_errors(self.checkpoint, folder):
            dtype = getattr(import_required("torch"), self.hardware.dtype or "float32")
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **hub)
            model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder, dtype=dtype, **hub)
            model.to(self.hardware.chosen_device()).eval()
            if tokenizer.cls_token_id is None or not tokenizer.is_fast:
                raise ModelFailed(f"{folder} has no tokenizer that can be used: it needs a token [CLS] and a fast form")
            tokenizer.padding_side = "right"
        return _Loaded(tokenizer, model, min(tokenizer.model_max_length, max_positions(model)))

    def _windows(self, question: str, number: int, passage: Sequence[str]) -> list[PassageWindow]:
        loaded = self._loaded
        tokenizer, window = loaded.tokenizer, loaded.window
        text = replace_lone_surrogates(" ".join(passage))
        # The sentence of each character; a space between two belongs to the second, as in tokenizers.
        sentence_of = [at for at, sentence in enumerate(passage) for _ in range(len(sentence) + (at > 0))]
        # Special tokens written out in a document are read as plain text.
        how = {"return_offsets_mapping": True, "split_special_tokens": True, "verbose": False}
        token_spans = tokenizer(question, add_special_tokens=False, **how)["offset_mapping"][: window // 2]
        encoded = tokenizer(
            question[: token_spans[-1][1]] if token_spans else "",
            text,
            truncation="only_second",
            max_length=window,
            stride=min(OVERLAP, window // 4),
            return_overflowing_tokens=True,
            **how,
        )
        windows = []
        for at, offsets in enumerate(encoded["offset_mapping"]):
            row = {key: encoded[key][at] for key in tokenizer.model_input_names if key in encoded}
            pairs = zip(encoded.sequence_ids(at), offsets, strict=True)
            sentences = tuple(sentence_of[start] if of == 1 and start < end else -1 for of, (start, end) in pairs)
            windows.append(PassageWindow(number, row, sentences, row["input_ids"].index(tokenizer.cls_token_id)))
        return windows

    def _logits(self, windows: list[PassageWindow]) -> "list[np.ndarray[Any, Any]]":
        """Compute one batch: the start and end logits (2, tokens) of each window."""
        import torch

        loaded = self._loaded
        with self._turns.taken(), torch.inference_mode():
            rows = loaded.tokenizer.pad([window.row for window in windows], return_tensors="pt")
            output = loaded.model(**rows.to(loaded.model.device))
            stacked = torch.stack([output.start_logits, output.end_logits], dim=1).float().cpu().numpy()
        return [logits[:, : len(window.sentences)] for logits, window in zip(stacked, windows, strict=True)]


def best_sentence(windows: "Sequence[tuple[PassageWindow, Matrix]]") -> tuple[int, float] | None:
    """The sentence with the most likely answer of a passage, and its score above that of no answer.

    Each window has logits (2, tokens). None if no answer is likelier; its lowest score over all windows counts.
    """
    spans = [span for window, logits in windows if (span := _best_span(window, logits)) is not None]
    if not spans:
        return None
    sentence, score = max(spans, key=lambda span: span[1])
    nothing = min(float(logits[:, window.nothing].sum()) for window, logits in windows)
    return (sentence, score - nothing) if score > nothing else None


def _best_span(window: PassageWindow, logits: "Matrix") -> tuple[int, float] | None:
    """The sentence with the most likely answer within it, and the sum of its logits; None without any text."""
    import numpy as np

    sentences = np.array(window.sentences)
    within = (sentences[:, None] == sentences[None, :]) & (sentences[:, None] >= 0)
    longer = np.arange(len(sentences))[None, :] - np.arange(len(sentences))[:, None]
    fits = within & (longer >= 0) & (longer < MAX_ANSWER_TOKENS)
    sums = np.where(fits, logits[0][:, None] + logits[1][None, :], -np.inf)
    start = int(sums.max(axis=1).argmax())
    best = float(sums[start].max())
    return (window.sentences[start], best) if best > -np.inf else None
