"""Local entailment models, which decide whether a text entails a claim: NLI classifiers, and T5 as TRUE trained it."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import ModelFailed
from quoteweave.core.messages import replace_lone_surrogates
from quoteweave.models.batches import encode_in_batches
from quoteweave.models.checkpoints import (
    Hardware,
    import_required,
    is_local,
    locate_checkpoint,
    read_config,
    weights_identity,
)
from quoteweave.models.loading import ModelLock, check_tokenizer, max_positions, reporting_load_errors

if TYPE_CHECKING:
    import numpy as np


# Pairs per batch, unless the user sets it; fewer where they are longer than FULL_LENGTH tokens.
CPU_BATCH = 8
GPU_BATCH = 32
FULL_LENGTH = 512

EncodedPair = dict[str, list[int]]
"""The model inputs of one pair: token ids, and further inputs of the same length."""


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A loaded model with its tokenizer."""

    tokenizer: Any
    model: Any
    window: int
    """The most tokens that a pair may have."""


class LocalEntailment(ABC):
    """Base of local models that implement `core.protocols.Entailment`; a subclass tokenizes pairs and judges one batch.

    Of a pair longer than the model's window, the end of the premise is cut, never the claim. The model is loaded on
    first use. Threads take turns.
    """

    def __init__(
        self,
        checkpoint: str,
        hardware: Hardware | None = None,
        *,
        revision: str = "main",
        max_length: int | None = None,
    ) -> None:
        self.checkpoint = checkpoint
        self.hardware = hardware or Hardware()
        self.revision = revision
        self.max_length = max_length
        self.cut = 0
        """Number of premises cut so far."""
        self._turns = ModelLock()

    @property
    def name(self) -> str:
        """The checkpoint, the identity of its weights, its dtype, and the token limit of a pair if there is one.

        Raises ModelNotFound for a folder without a model.
        """
        weights = weights_identity(self.checkpoint, self.revision)
        length = f" {self.max_length} tokens" if self.max_length else ""
        model = weights if weights.startswith(self.checkpoint) else f"{self.checkpoint} {weights}"
        return f"{model} {self._dtype}{length}"

    def warnings(self) -> tuple[str, ...]:
        """A warning on the verdicts so far, if premises were cut: how many."""
        if not self.cut:
            return ()
        return (f"premises cut to the {self._loaded.window} tokens that {self.checkpoint} reads: {self.cut}",)

    def entails(self, pairs: Sequence[tuple[str, str]]) -> list[bool]:
        """Judge for each (premise, claim), in order, whether the premise entails the claim.

        Raises ModelNotFound, MissingExtra and ModelFailed; the last also for a claim that leaves no room for its
        premise, before anything is computed.
        """
        if not pairs:
            return []
        with self._turns.taken():
            rows = [self._truncate(premise, claim) for premise, claim in pairs]

        def judged(batch: list[EncodedPair]) -> "list[np.ndarray[Any, Any]]":
            with self._turns.taken():
                return list(self._margins(batch).reshape(-1, 1, 1))

        batch_size = self.hardware.chosen_batch_size(cpu=CPU_BATCH, gpu=GPU_BATCH)
        margins = encode_in_batches(
            rows,
            judged,
            size_of=lambda row: len(row["input_ids"]),
            batch_size=batch_size,
            name=self.checkpoint,
            budget=FULL_LENGTH * batch_size,
        )
        return [bool(margin[0, 0] > 0) for margin in margins]

    def reads_all(self, premise: str, claim: str) -> bool:
        """Whether a premise is not cut beside this claim. Raises as `entails`."""
        with self._turns.taken():
            row, _ = self._read(self._plain(premise), self._plain(claim))
        return len(row["input_ids"]) <= self._loaded.window

    @abstractmethod
    def _load(self, transformers: Any, folder: Path, dtype: Any) -> LoadedModel:
        """Load the tokenizer and the model in a folder, not yet on their device."""

    @abstractmethod
    def _read(self, premise: str, claim: str) -> tuple[EncodedPair, list[int]]:
        """Tokenize a pair without truncation; return its inputs and the positions of the premise's tokens."""

    @abstractmethod
    def _margins(self, rows: list[EncodedPair]) -> "np.ndarray[Any, Any]":
        """Judge one batch: (n,) above 0 where the premise entails the claim, else at most 0; NaN if undefined."""

    @cached_property
    def _loaded(self) -> LoadedModel:
        transformers = import_required("transformers")
        folder = locate_checkpoint(self.checkpoint, self.revision)
        check_tokenizer(folder)
        with reporting_load_errors(self.checkpoint, folder):
            loaded = self._load(transformers, folder, getattr(import_required("torch"), self._dtype))
            loaded.model.to(self.hardware.chosen_device()).eval()
        return loaded

    @property
    def _dtype(self) -> str:
        return self.hardware.dtype or "float32"

    @property
    def _hub(self) -> dict[str, bool]:
        return {"local_files_only": True, "trust_remote_code": self.hardware.trust_remote_code}

    def _tokens(self, *texts: str, offsets: bool = False) -> Any:
        """Tokenize a text or a pair."""
        return self._loaded.tokenizer(*texts, return_offsets_mapping=offsets, verbose=False)

    def _padded(self, rows: list[EncodedPair]) -> Any:
        """Pad rows to one length, as tensors on the model's device."""
        loaded = self._loaded
        width = max(len(row["input_ids"]) for row in rows)
        padded = loaded.tokenizer.pad(rows, padding="max_length", max_length=width, return_tensors="pt")
        return padded.to(loaded.model.device)

    def _plain(self, text: str) -> str:
        """Break up special tokens written out in a text, such as </s>, by a space.

        `split_special_tokens` would suffice for most tokenizers, but unigram ones have such tokens in their vocabulary.
        """
        text = replace_lone_surrogates(text)
        for mark in self._loaded.tokenizer.all_special_tokens:
            text = text.replace(mark, f"{mark[0]} {mark[1:]}")
        return text

    def _truncate(self, premise: str, claim: str) -> EncodedPair:
        row, places = self._read(self._plain(premise), self._plain(claim))
        excess = len(row["input_ids"]) - self._loaded.window
        if excess <= 0:
            return row
        if excess >= len(places):
            raise ModelFailed(
                f"a claim leaves no room for its premise in the {self._loaded.window} tokens that {self.checkpoint} "
                f"reads: {claim[:60]!r}"
            )
        self.cut += 1
        lost = set(places[-excess:])
        return {key: [value for i, value in enumerate(values) if i not in lost] for key, values in row.items()}


class NliEntailment(LocalEntailment):
    """A classifier; a pair is entailed if its most likely class is the one that the checkpoint calls entailment."""

    def _load(self, transformers: Any, folder: Path, dtype: Any) -> LoadedModel:
        config = transformers.AutoConfig.from_pretrained(folder, **self._hub)
        entailment_class(config.id2label, folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **self._hub)
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder, dtype=dtype, **self._hub)
        window = min(tokenizer.model_max_length, max_positions(model))
        return LoadedModel(tokenizer, model, min(self.max_length or window, window))

    def _read(self, premise: str, claim: str) -> tuple[EncodedPair, list[int]]:
        encoded = self._tokens(premise, claim)
        return dict(encoded), [i for i, sequence in enumerate(encoded.sequence_ids()) if sequence == 0]

    def _margins(self, rows: list[EncodedPair]) -> "np.ndarray[Any, Any]":
        """(n,) the logit of entailment minus the highest of the others."""
        import torch

        model = self._loaded.model
        label = entailment_class(model.config.id2label, self.checkpoint)
        with torch.inference_mode():
            logits = model(**self._padded(rows)).logits.float()
        other_logits = torch.cat([logits[:, :label], logits[:, label + 1 :]], dim=1)
        margins: np.ndarray[Any, Any] = (logits[:, label] - other_logits.amax(dim=1)).cpu().numpy()
        return margins


def entailment_class(labels: dict[int, str], checkpoint: Path | str) -> int:
    """The index of the class that means entailment, ignoring case; `not_entailment` is another class.

    Raises ModelFailed, which names the classes, unless it is exactly one of several.
    """
    indices = [number for number, label in labels.items() if label.strip().lower().startswith("entail")]
    if len(indices) != 1 or len(labels) < 2:
        raise ModelFailed(
            f"{checkpoint} does not tell entailment from all else: its classes are {', '.join(labels.values())}; "
            "one of them must be called entailment in id2label of its config.json, and one must mean something else"
        )
    return indices[0]


PREMISE_PREFIX, HYPOTHESIS_PREFIX = "premise: ", " hypothesis: "
YES, NO = "1", "0"
# A digit, the end token, and a separate space that some vocabularies need before the digit.
REPLY_TOKENS = 4


class T5Entailment(LocalEntailment):
    """A pair is entailed where the model answers 1, and not where it answers 0.

    T5's positions are relative, so a `max_length` above the length that the model was trained with (512 tokens, unless
    its config says otherwise) is allowed.
    """

    def _load(self, transformers: Any, folder: Path, dtype: Any) -> LoadedModel:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **self._hub)
        model = transformers.AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype, **self._hub)
        trained = getattr(model.config, "n_positions", None) or FULL_LENGTH
        return LoadedModel(tokenizer, model, self.max_length or min(tokenizer.model_max_length, trained))

    def _read(self, premise: str, claim: str) -> tuple[EncodedPair, list[int]]:
        encoded = self._tokens(f"{PREMISE_PREFIX}{premise}{HYPOTHESIS_PREFIX}{claim}", offsets=True)
        start, end = len(PREMISE_PREFIX), len(PREMISE_PREFIX) + len(premise)
        places = [i for i, (_, last) in enumerate(encoded.pop("offset_mapping")) if start < last <= end]
        return dict(encoded), places

    def _margins(self, rows: list[EncodedPair]) -> "np.ndarray[Any, Any]":
        """(n,) 1 for a yes, -1 for a no, NaN where the logits overflowed."""
        import numpy as np
        import torch

        loaded = self._loaded
        with torch.inference_mode():
            generated = loaded.model.generate(
                **self._padded(rows),
                max_new_tokens=REPLY_TOKENS,
                do_sample=False,
                num_beams=1,
                return_dict_in_generate=True,
                output_logits=True,
            )
        replies = loaded.tokenizer.batch_decode(generated.sequences, skip_special_tokens=True)
        # T5 overflows in float16, and its reply is then meaningless.
        sound = generated.logits[0].amax(dim=-1).isfinite().tolist()
        pairs = zip(replies, sound, strict=True)
        return np.array([self._verdict(reply.strip()) if finite else math.nan for reply, finite in pairs])

    def _verdict(self, reply: str) -> float:
        if reply not in (YES, NO):
            raise ModelFailed(
                f"{self.checkpoint} answered {reply!r}, neither {YES} nor {NO}; is it a T5 trained for entailment?"
            )
        return 1.0 if reply == YES else -1.0


T5_TYPES = ("t5", "mt5", "umt5")
GENERATIVE_ENDINGS = ("ForConditionalGeneration", "WithLMHeadModel")


def make_entailment(spec: str, hardware: Hardware | None = None, *, max_length: int | None = None) -> LocalEntailment:
    """Build the entailment model of a checkpoint: `/path/to/folder`, `owner/name` or `owner/name@revision`.

    The checkpoint's config.json determines its kind, so a checkpoint of the hub is downloaded at this point; weights
    are loaded on first use. Raises ModelNotFound where there is none, ModelFailed for a model of another kind.
    """
    checkpoint, _, revision = (spec, "", "") if is_local(spec) else spec.partition("@")
    config = read_config(locate_checkpoint(checkpoint, revision or "main"))
    architecture = (config.get("architectures") or ["none"])[0]
    model_class: type[LocalEntailment]
    if architecture.endswith("ForSequenceClassification"):
        model_class = NliEntailment
    elif config.get("model_type") in T5_TYPES and architecture.endswith(GENERATIVE_ENDINGS):
        model_class = T5Entailment
    else:
        raise ModelFailed(
            f"{spec} is no entailment model: its architecture is {architecture}, "
            "neither a T5 that generates nor one ForSequenceClassification"
        )
    return model_class(checkpoint, hardware, revision=revision or "main", max_length=max_length)
