"""Entailment by T5 as TRUE trained it (arXiv 2204.04991) and ALCE measures citations with it (arXiv 2305.14627)."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import ModelFailed
from quoteweave.generation.entailment.local import FULL_LENGTH, EncodedPair, LoadedModel, LocalEntailment

if TYPE_CHECKING:
    import numpy as np

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
            given = loaded.model.generate(
                **self._padded(rows),
                max_new_tokens=REPLY_TOKENS,
                do_sample=False,
                num_beams=1,
                return_dict_in_generate=True,
                output_logits=True,
            )
        replies = loaded.tokenizer.batch_decode(given.sequences, skip_special_tokens=True)
        # T5 overflows in float16, and its reply is then meaningless.
        sound = given.logits[0].amax(dim=-1).isfinite().tolist()
        pairs = zip(replies, sound, strict=True)
        return np.array([self._verdict(reply.strip()) if finite else math.nan for reply, finite in pairs])

    def _verdict(self, reply: str) -> float:
        if reply not in (YES, NO):
            raise ModelFailed(
                f"{self.checkpoint} answered {reply!r}, neither {YES} nor {NO}; is it a T5 trained for entailment?"
            )
        return 1.0 if reply == YES else -1.0
