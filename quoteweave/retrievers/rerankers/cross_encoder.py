"""Cross-encoders of sentence-transformers, which read question and passage together and give one score."""

from functools import cached_property
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import MissingExtra, ModelFailed
from quoteweave.models.checkpoints import locate_checkpoint
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.rerankers.local import LocalReranker, Pair, check_architecture

if TYPE_CHECKING:
    import numpy as np


INSTEAD = "name a checkpoint that was trained to rerank, such as minilm-reranker or BAAI/bge-reranker-v2-m3"


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
        with reporting_load_errors(self.name, folder, instead=INSTEAD):
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
