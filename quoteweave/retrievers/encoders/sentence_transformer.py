"""Dense encoders of sentence-transformers: its own checkpoints, and plain transformers checkpoints with pooling."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import SettingValue
from quoteweave.models.checkpoints import import_required, is_local, locate_checkpoint, read_config
from quoteweave.models.loading import reporting_load_errors
from quoteweave.retrievers.catalogue import ModelRow
from quoteweave.retrievers.encoders.text import TextEncoder, as_text, truncate_dim

if TYPE_CHECKING:
    import numpy as np

POOLING_MODES = {"cls": "cls", "mean": "mean", "last": "lasttoken"}


class SentenceTransformerEncoder(TextEncoder):
    """One vector per text, as from `SentenceTransformer.encode` with the row's prefixes.

    A checkpoint with a `modules.json` defines its own pooling; where the row states one too, they have to agree, or
    UsageError is raised on first use. Any other checkpoint is pooled as the row states. Vectors are normalised where
    the row or the checkpoint demands it. Where a checkpoint has a `truncate_dim`, vectors are truncated to that
    dimension before they are normalised.
    """

    @cached_property
    def settings(self) -> Mapping[str, SettingValue]:
        """All settings that change a vector; truncation is recorded for local checkpoints, others have a revision."""
        truncated = truncate_dim(locate_checkpoint(self.row.checkpoint)) if is_local(self.row.checkpoint) else None
        return {**super().settings, **({"truncate_dim": truncated} if truncated else {})}

    @cached_property
    def model(self) -> Any:
        """The library's own model, loaded."""
        import_required("sentence_transformers")
        row = self.row
        folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=row.download_gb)
        # Vectors are pooled from those of the tokens, and many checkpoints were saved without BERT's own pooler.
        unused = () if _reads_pooler(folder) else ("pooler.",)
        with reporting_load_errors(self.name, folder, unused=unused):
            model = self._load(folder)
            # sentence-transformers loads the tokenizer anew and loses its padding side.
            if hasattr(model.tokenizer, "padding_side"):  # that of a StaticEmbedding never pads
                model.tokenizer.padding_side = row.padding
            _limit_lengths(model, row)
        return model.eval()

    @property
    def _passage_tokenizer(self) -> Any:
        return self.model.tokenizer

    def _load(self, folder: Path) -> Any:
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.base.modules import Transformer
        from sentence_transformers.sentence_transformer.modules import Pooling

        device, row = self.hardware.chosen_device(), self.row
        hub: dict[str, Any] = {"local_files_only": True, "trust_remote_code": self.hardware.trust_remote_code}
        weights = {"dtype": self._dtype}
        if (folder / "modules.json").is_file():
            model = SentenceTransformer(str(folder), device=device, model_kwargs=weights, **hub)
            _check_pooling(model, row, folder)
            return model
        if row.pooling is None:
            raise UsageError(f"{folder} does not say how {row.name} pools the vectors of its tokens")
        transformer = Transformer(
            str(folder), model_kwargs={**weights, **hub}, processor_kwargs={**hub}, config_kwargs={**hub}
        )
        pooling = Pooling(transformer.get_embedding_dimension(), POOLING_MODES[row.pooling])
        return SentenceTransformer(modules=[transformer, pooling], device=device)

    def _batch(self, texts: list[str], *, query: bool) -> "Sequence[np.ndarray[Any, Any]]":
        model, row = self.model, self.row  # loaded first, as this raises MissingExtra if a library is missing
        import torch
        from sentence_transformers.util import batch_to_device

        task = "query" if query else "document"
        prompt = row.query_prefix if query else row.passage_prefix
        with torch.inference_mode():
            features = batch_to_device(model.preprocess(as_text(model, texts), prompt=prompt, task=task), model.device)
            if row.padding == "left":
                # Otherwise positions count the padding, and a text gets another vector in a batch with a longer one.
                features["position_ids"] = (features["attention_mask"].cumsum(dim=1) - 1).clamp(min=0)
            vectors = model(features, task=task)["sentence_embedding"][:, : model.truncate_dim].float()
            if row.normalize:
                vectors = torch.nn.functional.normalize(vectors, dim=1)
        return list(vectors.cpu().numpy()[:, None, :])


def _reads_pooler(folder: Path) -> bool:
    modalities = read_config(folder, "sentence_bert_config.json").get("modality_config")
    return "pooler_output" in str(modalities)


def _check_pooling(model: Any, row: ModelRow, folder: Path) -> None:
    from sentence_transformers.sentence_transformer.modules import Pooling

    modes = [module.pooling_mode for module in model if isinstance(module, Pooling)]
    if row.pooling is not None and modes and modes != [POOLING_MODES[row.pooling]]:
        raise UsageError(
            f"{folder} is no checkpoint of {row.name}, which pools by {row.pooling}: it pools by {modes[0]}; "
            f"write sentence-transformers={folder} to use it as it is"
        )


def _limit_lengths(model: Any, row: ModelRow) -> None:
    """Set the lengths to which texts are cut: the row's, at most the checkpoint's maximum."""
    most = model.max_seq_length
    for field, length in (("query_length", row.query_length), ("document_length", row.passage_length)):
        if length is not None:
            setattr(model[0], field, length if most is None else min(length, most))
