"""Qwen3-Reranker: a language model that judges whether a passage answers a question (arXiv 2506.05176, section 2)."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import MissingExtra, ModelFailed
from quoteweave.models.checkpoints import locate_checkpoint
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.rerankers.local import LocalReranker, Pair, check_architecture

if TYPE_CHECKING:
    import numpy as np

# The prompt that the model was trained with; it must not be changed.
_BEFORE = (
    "<|im_start|>system\nJudge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n<|im_start|>user\n'
)
_PAIR = "<Instruct>: {instruction}\n<Query>: {question}\n<Document>: {passage}"
_AFTER = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"

# Control tokens written out in a question or document are read as plain text.
_PLAIN = {"add_special_tokens": False, "split_special_tokens": True}


@dataclass(frozen=True, slots=True)
class _Loaded:
    tokenizer: Any
    model: Any
    before: list[int]
    after: list[int]
    answers: list[int]
    """The tokens of yes and no."""
    room: int
    """Most tokens of instruction, question and passage together."""


class Qwen3Reranker(LocalReranker):
    """The score is the probability of "yes" against "no" as the next token.

    Input that is too long is cut at the passage's end; a question may take half of the room.
    """

    @cached_property
    def _loaded(self) -> _Loaded:
        try:
            from transformers import AutoModelForCausalLM, AutoTokenizer
        except ImportError as error:
            raise MissingExtra("transformers", "models") from error
        row = self.row
        folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=row.download_gb)
        hub = {"local_files_only": True, "trust_remote_code": self.hardware.trust_remote_code}
        with reporting_load_errors(self.name, folder):
            check_architecture(folder, "ForCausalLM")
            tokenizer = AutoTokenizer.from_pretrained(folder, **hub)
            model: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=self._dtype, **hub)
            model = model.to(self.hardware.chosen_device()).eval()
            vocabulary = tokenizer.get_vocab()
            if not {"yes", "no"} <= vocabulary.keys():
                raise ModelFailed(f"{folder} is no Qwen3-Reranker: its tokenizer has no token for yes, or for no")
        before, after = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (_BEFORE, _AFTER))
        positions = model.config.max_position_embeddings
        room = min(row.max_length or positions, positions) - len(before) - len(after)
        return _Loaded(tokenizer, model, before, after, [vocabulary["yes"], vocabulary["no"]], room)

    def _compute(self, question: str, passages: list[str]) -> list[float]:
        # Probabilities are computed in double precision from the margins: in single precision all of the best passages
        # would have the probability 1.
        return [_logistic(margin) for margin in super()._compute(question, passages)]

    def _batch(self, pairs: list[Pair]) -> "np.ndarray[Any, Any]":
        """(n,) the logit of yes minus that of no."""
        import torch

        loaded, rows = self._loaded, self._tokens(pairs)
        width = max(map(len, rows))
        tokens = torch.tensor([[0] * (width - len(row)) + row for row in rows], device=loaded.model.device)
        mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=loaded.model.device)
        with torch.inference_mode():
            logits = loaded.model(
                input_ids=tokens,
                attention_mask=mask,
                # Positions count from the first real token, so that it makes no difference how much is padded.
                position_ids=(mask.cumsum(1) - 1).clamp(min=0),
                # Logits of all tokens, over the whole vocabulary, would take gigabytes.
                logits_to_keep=1,
                use_cache=False,
            ).logits[:, -1, loaded.answers]
        yes, no = logits.float().cpu().numpy().T
        margins: np.ndarray[Any, Any] = yes - no
        return margins

    def _reads_all(self, question: str, passage: str) -> bool:
        (text,) = self._texts([(question, passage)])
        loaded = self._loaded
        if len(text.encode()) <= loaded.room:  # a token has a byte at least
            return True
        return len(loaded.tokenizer(text, truncation=False, verbose=False, **_PLAIN)["input_ids"]) <= loaded.room

    def _texts(self, pairs: list[Pair]) -> list[str]:
        questions = {question: self._cut_question(question) for question, _ in pairs}
        return [
            _PAIR.format(instruction=self.row.instruction, question=questions[question], passage=passage)
            for question, passage in pairs
        ]

    def _tokens(self, pairs: list[Pair]) -> list[list[int]]:
        loaded, texts = self._loaded, self._texts(pairs)
        cut = loaded.tokenizer(texts, truncation=True, max_length=loaded.room, **_PLAIN)["input_ids"]
        return [loaded.before + tokens + loaded.after for tokens in cut]

    def _cut_question(self, question: str) -> str:
        loaded = self._loaded
        ends = loaded.tokenizer(question, return_offsets_mapping=True, **_PLAIN)["offset_mapping"][: loaded.room // 2]
        return question[: ends[-1][1]] if ends else question


def _logistic(margin: float) -> float:
    return 1 / (1 + math.exp(-margin)) if margin >= 0 else math.exp(margin) / (1 + math.exp(margin))
