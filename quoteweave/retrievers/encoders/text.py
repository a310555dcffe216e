"""Base classes of local encoders: batching, one computation at a time, and a model for each of two sides."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

from quoteweave.core.concurrency.shared_calls import JointCalls
from quoteweave.core.errors import UsageError
from quoteweave.core.messages import replace_lone_surrogates
from quoteweave.core.protocols import SettingValue
from quoteweave.models.batches import encode_in_batches
from quoteweave.models.checkpoints import Hardware, is_local, read_config, weights_identity
from quoteweave.models.loading import ModelLock
from quoteweave.retrievers.catalogue import ModelRow

if TYPE_CHECKING:
    import numpy as np
    import torch
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix

# Texts per batch, unless the user sets it: enough to keep the cores busy, and small beside a GPU's memory.
CPU_BATCH = 32
GPU_BATCH = 64
# Preferred number of texts per call, as a number of batches and as a minimum: of many texts, those of similar length
# can share a batch.
BATCHES_AT_ONCE = 8
TEXTS_AT_ONCE = 256
# Tokens per text of a full batch, as many as BERT reads; batches of longer texts are smaller, to take no more memory.
FULL_LENGTH = 512
# Fields of a row that are part of an encoder's settings where they are not the usual ones.
RARE_FIELDS = ("title_separator", "query_suffix", "query_expansion", "punctuation", "square_pictures")
CHARACTERS_PER_TOKEN = 4
# A text with fewer bytes for each token that a model reads is not cut; figures have two or three to a token.
MIN_BYTES = 1.5


class TextEncoder(ABC):
    """Base of local encoders; a subclass encodes one batch. Weights load on first use, and threads take turns.

    Questions that threads ask while the model is busy are encoded together.
    """

    reads: Literal["text", "image"] = "text"

    def __init__(self, row: ModelRow, hardware: Hardware, checkpoint: str | None = None) -> None:
        self.row = row.at(checkpoint)
        self.hardware = hardware
        self._turns = ModelLock()
        self._joint_calls: JointCalls[str, Matrix] = JointCalls(at_once=CPU_BATCH)
        self._cut = 0

    @property
    def name(self) -> str:
        """The model's name in the catalogue."""
        return self.row.name

    @property
    def multi_vector(self) -> bool:
        """Whether an item has many vectors."""
        return self.row.multi_vector

    @property
    def at_once(self) -> int:
        """Preferred number of views per call. Raises MissingExtra without torch."""
        return max(TEXTS_AT_ONCE, BATCHES_AT_ONCE * self._batch_size)

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All settings that change a vector."""
        row = self.row
        fields = ("query_prefix", "passage_prefix", "pooling", "query_length", "passage_length", "normalize")
        usual = type(row).model_fields
        rare = [field for field in RARE_FIELDS if getattr(row, field) != usual[field].default]
        settings = {field: getattr(row, field) for field in (*fields, *rare)}
        return {**self._identities(), **settings, "dtype": self._dtype_name}

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix (vectors, dimension) for each question. Raises ModelNotFound and ModelFailed."""
        return self._joint_calls.run(partial(self._encode, query=True), texts)

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each text. Raises ModelNotFound and ModelFailed."""
        texts = [replace_lone_surrogates(text) for text in cast(Sequence[str], views)]
        matrices = self._encode(texts, query=False)
        self._cut += self._count_cut(texts)
        return matrices

    def _count_cut(self, texts: Sequence[str]) -> int:
        most = self.row.passage_length or float("inf")
        long = [self.row.passage_prefix + text for text in texts if len(text.encode()) > MIN_BYTES * most]
        if not long:
            return 0
        with self._turns.taken():
            return sum(len(tokens) > most for tokens in self._passage_tokenizer(long, verbose=False)["input_ids"])

    @property
    def _passage_tokenizer(self) -> Any:
        """The tokenizer of passages, of encoders whose row says how many tokens of one the model reads."""
        raise NotImplementedError

    def take_cut(self) -> int:
        """How many texts were longer than the model reads, and so cut, since this was last asked."""
        cut, self._cut = self._cut, 0
        return cut

    @abstractmethod
    def _batch(self, texts: list[str], *, query: bool) -> "Sequence[np.ndarray[Any, Any]]":
        """Encode one batch: a matrix for each text, in any floating type."""

    def _identities(self) -> Mapping[str, str]:
        return {"checkpoint": weights_identity(self.row.checkpoint, self.row.revision)}

    @property
    def _batch_size(self) -> int:
        return self.hardware.chosen_batch_size(cpu=CPU_BATCH, gpu=GPU_BATCH)

    @property
    def _dtype_name(self) -> str:
        return self.hardware.dtype or self.row.dtype

    @property
    def _dtype(self) -> "torch.dtype":
        import torch

        return cast("torch.dtype", getattr(torch, self._dtype_name))

    def _encode(self, texts: Sequence[str], *, query: bool) -> "list[Matrix]":
        def encode(batch: list[str]) -> "Sequence[np.ndarray[Any, Any]]":
            with self._turns.taken():
                return self._batch(batch, query=query)

        if not texts:
            return []
        if self.row.title_separator is not None and not query:
            texts = [text.replace("\n", self.row.title_separator, 1) for text in texts]
        batch_size = self._batch_size
        most = self.row.query_length if query else self.row.passage_length
        return encode_in_batches(
            [replace_lone_surrogates(text) for text in texts],
            encode,
            size_of=lambda text: min(len(text), CHARACTERS_PER_TOKEN * most) if most else len(text),
            batch_size=batch_size,
            name=self.name,
            budget=CHARACTERS_PER_TOKEN * FULL_LENGTH * batch_size,
        )


class TwoSidedEncoder(TextEncoder):
    """Base of encoders that have one model for questions and another for passages, each loaded when it is first needed.

    The vector of a text is that of the last layer at [CLS].
    """

    questions: ClassVar[str]
    """The name of the questions' side, which a local checkpoint's folder has too."""
    passages: ClassVar[str]
    base: ClassVar[str | None] = None
    """The same for what both sides are adapters of, if they are."""

    @abstractmethod
    def _load(self, side: str) -> tuple[Any, Any]:
        """Load the tokenizer and the model of one side."""

    @abstractmethod
    def _at_cls(self, output: Any) -> "torch.Tensor":
        """Take the vectors (texts, dimension) from the model's output."""

    def _identities(self) -> Mapping[str, str]:
        sides = {"checkpoint": self.passages, "query_checkpoint": self.questions, "base": self.base}
        return {name: weights_identity(*self._checkpoint(side)) for name, side in sides.items() if side is not None}

    def _checkpoint(self, side: str) -> tuple[str, str]:
        """Checkpoint and revision of a side, or of the base. Raises UsageError for a checkpoint that names one side."""
        row = self.row
        if is_local(row.checkpoint):
            return str(Path(row.checkpoint).expanduser().absolute() / side), row.revision
        if row.query_checkpoint is None:
            sides = " and ".join(filter(None, (self.base, self.questions, self.passages)))
            raise UsageError(f"{row.name} has two encoders: name a folder that holds {sides}")
        base = row.base or "", row.base_revision
        checkpoints = {self.questions: (row.query_checkpoint, row.query_revision), self.base: base}
        return checkpoints.get(side, (row.checkpoint, row.revision))

    @cached_property
    def _for_questions(self) -> tuple[Any, Any]:
        return self._load(self.questions)

    @cached_property
    def _for_passages(self) -> tuple[Any, Any]:
        return self._load(self.passages)

    @property
    def _passage_tokenizer(self) -> Any:
        return self._for_passages[0]

    def _batch(self, texts: list[str], *, query: bool) -> "Sequence[np.ndarray[Any, Any]]":
        import torch

        row = self.row
        tokenizer, model = self._for_questions if query else self._for_passages
        length = (row.query_length if query else row.passage_length) or tokenizer.model_max_length
        inputs = tokenizer(
            [(row.query_prefix if query else row.passage_prefix) + text for text in texts],
            padding=True,
            truncation=True,
            max_length=min(length, model.config.max_position_embeddings),
            return_tensors="pt",
        ).to(model.device)
        with torch.inference_mode():
            vectors = self._at_cls(model(**inputs)).float()
            if row.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=1)
        return [vector[None, :] for vector in vectors.cpu().numpy()]


def as_text(model: Any, texts: Sequence[str]) -> list[Any]:
    """Wrap texts so that sentence-transformers treats them as text, whatever they contain.

    A model that reads pictures too would treat a picture's URL as the picture, and fetch it.
    """
    return list(texts) if set(model.modalities) <= {"text", "message"} else [{"text": text} for text in texts]


def truncate_dim(folder: Path) -> int | None:
    """The dimension that a checkpoint of sentence-transformers truncates its vectors to; None = no truncation.

    Models trained by Matryoshka representation learning (arXiv 2205.13147) have one.
    """
    truncated = read_config(folder, "config_sentence_transformers.json").get("truncate_dim")
    return truncated if isinstance(truncated, int) and truncated > 0 else None
