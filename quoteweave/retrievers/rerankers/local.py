"""Rerankers that run on this machine: their base, and cross-encoders of sentence-transformers.

They compute in batches, one computation at a time, in a worker thread. Cross-encoders read question and passage
together and give one score.
"""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from quoteweave.core.concurrency.recent_cache import RecentCache
from quoteweave.core.concurrency.shared_calls import JointCalls
from quoteweave.core.errors import MissingExtra, ModelFailed
from quoteweave.core.messages import replace_lone_surrogates
from quoteweave.core.protocols import Reranking
from quoteweave.core.records import Hit, Query
from quoteweave.models.batches import encode_in_batches
from quoteweave.models.checkpoints import Hardware, locate_checkpoint
from quoteweave.models.loading import ModelLock, reporting_load_errors
from quoteweave.retrievers.rerankers import RerankerRow, rerank_by_scores

if TYPE_CHECKING:
    import numpy as np
    import torch


# Passages per batch, unless the user sets it.
CPU_BATCH = 16
GPU_BATCH = 32
# Characters per passage of a full batch, about what BERT reads; batches of longer passages are smaller.
FULL_PASSAGE = 2048
# Most pairs of waiting requests that are scored together: those of two requests with a usual number of candidates.
PAIRS_AT_ONCE = 80
# Pairs that were cut, kept until those who asked for them are told: more than wait at any time.
CUT_PAIRS_KEPT = 1000
# Most tokens that a tokenizer adds to a pair, such as [CLS] and [SEP].
MAX_MARKERS = 8
Pair = tuple[str, str]
"""A question and a passage."""


class LocalReranker(ABC):
    """Base of local rerankers (`core.protocols.Reranker`); a subclass scores one batch. Weights load on first use.

    It computes in a worker thread, so that the event loop is not blocked. Threads take turns, so that weights are
    loaded once; requests that come while the model is busy are scored together.
    """

    def __init__(self, row: RerankerRow, hardware: Hardware | None = None) -> None:
        self.row = row
        self.hardware = hardware or Hardware()
        self._turns = ModelLock()
        self._joint_calls: JointCalls[Pair, float] = JointCalls(at_once=PAIRS_AT_ONCE)
        self._cut_pairs: RecentCache[Pair, bool] = RecentCache(CUT_PAIRS_KEPT)

    @property
    def name(self) -> str:
        """The name in the table of rerankers."""
        return self.row.name

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """All hits, best first, with the model's scores. Raises ModelNotFound, ModelFailed and MissingExtra."""
        return await rerank_by_scores(query, hits, self._score, self._note)

    @abstractmethod
    def _batch(self, pairs: list[Pair]) -> "np.ndarray[Any, Any]":
        """(n,) a score for each question and passage."""

    @abstractmethod
    def _reads_all(self, question: str, passage: str) -> bool:
        """Whether the model reads question and passage to their ends."""

    def _note(self, question: str, passages: list[str]) -> str | None:
        is_cut = any(self._cut_pairs.get(pair) for pair in _pairs(question, passages))
        return f"{self.name} ranked long quotes by their beginnings, as it reads no more" if is_cut else None

    async def _score(self, question: str, passages: list[str]) -> list[float]:
        return await asyncio.to_thread(self._compute, question, passages)

    def _compute(self, question: str, passages: list[str]) -> list[float]:
        return self._joint_calls.run(self._score_pairs, _pairs(question, passages))

    def _score_pairs(self, pairs: list[Pair]) -> list[float]:
        def scored(batch: list[Pair]) -> "list[np.ndarray[Any, Any]]":
            with self._turns.taken():
                for pair in batch:
                    if not self._reads_all(*pair):
                        self._cut_pairs.put(pair, True)
                return list(self._batch(batch).reshape(-1, 1, 1))

        batch_size = self.hardware.chosen_batch_size(cpu=CPU_BATCH, gpu=GPU_BATCH)
        scores = encode_in_batches(
            pairs,
            scored,
            size_of=lambda pair: len(pair[1]),
            batch_size=batch_size,
            name=self.name,
            budget=FULL_PASSAGE * batch_size,
        )
        return [float(score[0, 0]) for score in scores]

    @property
    def _dtype(self) -> "torch.dtype":
        import torch

        return cast("torch.dtype", getattr(torch, self.hardware.dtype or self.row.dtype))


def _pairs(question: str, passages: Sequence[str]) -> list[Pair]:
    question = replace_lone_surrogates(question)
    return [(question, replace_lone_surrogates(passage)) for passage in passages]


def check_architecture(folder: Path, ending: str) -> None:
    """Raise ModelFailed unless the architecture has this ending: libraries initialise missing layers at random."""
    architectures = json.loads((folder / "config.json").read_text("utf-8")).get("architectures") or ["none"]
    if not architectures[0].endswith(ending):
        raise ModelFailed(f"{folder} is no such reranker: its architecture is {architectures[0]}, not one {ending}")


RERANKER_ADVICE = "name a checkpoint that was trained to rerank, such as minilm-reranker or BAAI/bge-reranker-v2-m3"


class CrossEncoderReranker(LocalReranker):
    """Scores as `CrossEncoder.predict` gives them, with the activation that the checkpoint names."""

    @cached_property
    def _model(self) -> Any:
        try:
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise MissingExtra("sentence-transformers", "models") from error
        row = self.row
        folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=row.download_gb)
        with reporting_load_errors(self.name, folder, instead=RERANKER_ADVICE):
            if not (folder / "modules.json").is_file():
                check_architecture(folder, "ForSequenceClassification")
            model = CrossEncoder(
                str(folder),
                device=self.hardware.chosen_device(),
                model_kwargs={"dtype": self._dtype},
                local_files_only=True,
                trust_remote_code=self.hardware.trust_remote_code,
            )
            if model.num_labels != 1:
                raise ModelFailed(f"{folder} is no reranker: it gives {model.num_labels} scores for a passage, not one")
            if "image" in model.modalities:
                # It would treat a passage that is a picture's URL as the picture, and fetch it.
                raise ModelFailed(f"{folder} is a reranker of pictures too, and these cannot be used")
            if row.max_length is not None:
                model.max_seq_length = min(row.max_length, model.max_seq_length)
        return model

    def _batch(self, pairs: list[Pair]) -> "np.ndarray[Any, Any]":
        scores: np.ndarray[Any, Any] = self._model.predict(pairs, batch_size=len(pairs), show_progress_bar=False)
        return scores

    def _reads_all(self, question: str, passage: str) -> bool:
        most: int = self._model.max_seq_length
        if len(f"{question}{passage}".encode()) < most - MAX_MARKERS:  # a token has a byte at least
            return True
        return len(self._model.tokenizer(question, passage, truncation=False, verbose=False)["input_ids"]) <= most
