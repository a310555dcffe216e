"""Entailment by natural language inference (NLI) classifiers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import ModelFailed
from quoteweave.generation.entailment.local import EncodedPair, LoadedModel, LocalEntailment
from quoteweave.models.loading import max_positions

if TYPE_CHECKING:
    import numpy as np


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
        others = torch.cat([logits[:, :label], logits[:, label + 1 :]], dim=1)
        margins: np.ndarray[Any, Any] = (logits[:, label] - others.amax(dim=1)).cpu().numpy()
        return margins


def entailment_class(labels: dict[int, str], checkpoint: Path | str) -> int:
    """The index of the class that means entailment, ignoring case; `not_entailment` is another class.

    Raises ModelFailed, which names the classes, unless it is exactly one of several.
    """
    found = [number for number, label in labels.items() if label.strip().lower().startswith("entail")]
    if len(found) != 1 or len(labels) < 2:
        raise ModelFailed(
            f"{checkpoint} does not tell entailment from all else: its classes are {', '.join(labels.values())}; "
            "one of them must be called entailment in id2label of its config.json, and one must mean something else"
        )
    return found[0]
