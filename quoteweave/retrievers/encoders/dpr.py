"""DPR, which has separate encoders for questions and passages."""

from typing import TYPE_CHECKING, Any

from quoteweave.models.checkpoints import import_required, locate_checkpoint
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.encoders.text import TwoSidedEncoder

if TYPE_CHECKING:
    import torch


class DprEncoder(TwoSidedEncoder):
    """Dense passage retrieval (arXiv 2004.04906): the last layer's vector at [CLS], not normalised, by inner product.

    DPR was trained on passages as pairs of title and text; views are encoded as text alone. Each encoder is loaded when
    it is first needed. Another checkpoint is given as a folder that contains `question_encoder` and `ctx_encoder`.
    """

    questions, passages = "question_encoder", "ctx_encoder"

    def _load(self, side: str) -> tuple[Any, Any]:
        """Load the tokenizer and the model of one of the two encoders."""
        transformers = import_required("transformers")
        name = "DPRQuestionEncoder" if side == self.questions else "DPRContextEncoder"
        folder = locate_checkpoint(*self._checkpoint(side), download_gb=self.row.download_gb / 2)
        with reporting_load_errors(self.name, folder):
            tokenizer = getattr(transformers, f"{name}Tokenizer").from_pretrained(folder)
            model = getattr(transformers, name).from_pretrained(folder, dtype=self._dtype)
            return tokenizer, model.to(self.hardware.chosen_device()).eval()

    def _at_cls(self, output: Any) -> "torch.Tensor":
        vectors: torch.Tensor = output.pooler_output
        return vectors
