"""DPR, which has separate encoders for questions and passages."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import UsageError
from quoteweave.models.checkpoints import import_required, is_local, locate_checkpoint, weights_identity
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.encoders.text import TwoSidedEncoder

if TYPE_CHECKING:
    import torch

QUESTION, PASSAGE = "question_encoder", "ctx_encoder"


class DprEncoder(TwoSidedEncoder):
    """Dense passage retrieval (arXiv 2004.04906): the last layer's vector at [CLS], not normalised, by inner product.

    DPR was trained on passages as pairs of title and text; views are encoded as text alone. Each encoder is loaded when
    it is first needed. Another checkpoint is given as a folder that contains `question_encoder` and `ctx_encoder`.
    """

    questions, passages = QUESTION, PASSAGE

    def _identities(self) -> Mapping[str, str]:
        sides = {"checkpoint": PASSAGE, "query_checkpoint": QUESTION}
        return {name: weights_identity(*self._checkpoint(side)) for name, side in sides.items()}

    def _checkpoint(self, side: str) -> tuple[str, str]:
        row = self.row
        if is_local(row.checkpoint):
            return str(Path(row.checkpoint).expanduser().absolute() / side), row.revision
        if row.query_checkpoint is None:
            raise UsageError(f"{row.name} has two encoders: name a folder that holds {QUESTION} and {PASSAGE}")
        return (row.query_checkpoint, row.query_revision) if side == QUESTION else (row.checkpoint, row.revision)

    def _load(self, side: str) -> tuple[Any, Any]:
        """Load the tokenizer and the model of one of the two encoders."""
        transformers = import_required("transformers")
        name = "DPRQuestionEncoder" if side == QUESTION else "DPRContextEncoder"
        folder = locate_checkpoint(*self._checkpoint(side), download_gb=self.row.download_gb / 2)
        with reporting_load_errors(self.name, folder):
            tokenizer = getattr(transformers, f"{name}Tokenizer").from_pretrained(folder)
            model = getattr(transformers, name).from_pretrained(folder, dtype=self._dtype)
            return tokenizer, model.to(self.hardware.chosen_device()).eval()

    def _at_cls(self, output: Any) -> "torch.Tensor":
        vectors: torch.Tensor = output.pooler_output
        return vectors
