"""Late interaction through sentence-transformers' MultiVectorEncoder: its loading, and ColBERT, which reads text."""

import string
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from quoteweave.collection.arrays import np
from quoteweave.core.errors import ModelFailed
from quoteweave.models.checkpoints import Hardware, import_required, locate_checkpoint, read_config
from quoteweave.models.loading import capture_log, reporting_load_errors
from quoteweave.retrievers.catalogue import ModelRow
from quoteweave.retrievers.encoders.text import TextEncoder, as_text

if TYPE_CHECKING:
    import torch


# The model types of late-interaction models in sentence-transformers, and in PyLate before it.
LATE_INTERACTION = ("MultiVectorEncoder", "ColBERT")
# Where sentence-transformers says what its transformer reads, and which of its outputs it takes.
MODULE_CONFIG = "sentence_bert_config.json"


class LateInteractionEncoder(TextEncoder):
    """ColBERT: one normalised vector per token (arXiv 2004.12832, section 3.2; version 2: 2112.01488).

    A question is [CLS] [Q] and its tokens, padded with [MASK] to `query_length` tokens and cut there. The masks are
    part of the question: each gives a vector that is scored. No token attends to them, though, unless the checkpoint
    says so: the weights come from the authors' code, which interprets the paper like this. A passage is [CLS] [D] and
    its tokens, and the vectors of punctuation marks are left out.

    The checkpoint has the authors' format (a `linear.weight` beside BERT's, lengths and markers in `artifact.metadata`)
    or that of sentence-transformers.
    """

    @cached_property
    def _model(self) -> Any:
        row = self.row
        model = load_multi_vector(row, locate_multi_vector(row), self.hardware, dtype=self._dtype)
        _set_lengths(model, row)
        return model

    @property
    def _passage_tokenizer(self) -> Any:
        return self._model.tokenizer

    def _batch(self, texts: list[str], *, query: bool) -> "Sequence[np.ndarray[Any, Any]]":
        model = self._model
        encode = model.encode_query if query else model.encode_document
        # Cutting long questions is part of the model; the library's warning about it is suppressed.
        with capture_log("sentence_transformers.base.modules.transformer", "query_expansion"):
            vectors: list[np.ndarray[Any, Any]] = encode(
                as_text(model, texts), batch_size=len(texts), show_progress_bar=False, convert_to_numpy=True
            )
        if self.row.punctuation == "zeroed" and not query:
            return [_with_zeros(text_vectors, text) for text_vectors, text in zip(vectors, texts, strict=True)]
        return vectors


def locate_multi_vector(row: ModelRow) -> Path:
    """The folder of a row's checkpoint. Raises ModelNotFound, and ModelFailed for a model without late interaction."""
    import_required("sentence_transformers")
    folder = locate_checkpoint(row.checkpoint, row.revision, download_gb=row.download_gb)
    _check_projection(row, folder)
    return folder


def load_multi_vector(row: ModelRow, folder: Path, hardware: Hardware, *, dtype: "torch.dtype") -> Any:
    """Load the checkpoint in a folder as a MultiVectorEncoder, with the row's markers. Raises ModelFailed."""
    library = import_required("sentence_transformers")
    with reporting_load_errors(row.name, folder, unused=_unused_weights(folder)):
        model = library.MultiVectorEncoder(
            str(folder),
            device=hardware.chosen_device(),
            local_files_only=True,
            trust_remote_code=hardware.trust_remote_code,
            model_kwargs={"dtype": dtype},
            prompts=_markers(row),
        )
    return model.eval()


def _unused_weights(folder: Path) -> tuple[str, ...]:
    """Beginnings of the names of weights that take no part in vectors.

    Vectors come from the tokens' hidden states. BERT's pooler is not used, nor is a language model's output layer,
    which predicts the next token, unless the checkpoint takes its vectors from there.
    """
    outputs = str(read_config(folder, MODULE_CONFIG).get("modality_config"))
    return "pooler.", *(() if "logits" in outputs else ("lm_head.", "vlm.lm_head."))


def reads_pictures(folder: Path) -> bool:
    """Whether a checkpoint of sentence-transformers says that it reads pictures."""
    return "image" in (read_config(folder, MODULE_CONFIG).get("modality_config") or ())


def _markers(row: ModelRow) -> dict[str, str] | None:
    """The row's own markers before questions and passages; None for those of the checkpoint."""
    row_markers = {"query": row.query_prefix, "document": row.passage_prefix}
    return {task: marker for task, marker in row_markers.items() if marker} or None


def _with_zeros(vectors: "np.ndarray[Any, Any]", text: str) -> "np.ndarray[Any, Any]":
    """Append a vector of zeros where the text has punctuation; for MaxSim it does as well as one for each mark."""
    if not any(character in string.punctuation for character in text):
        return vectors
    return np.concatenate([vectors, np.zeros_like(vectors, shape=(1, vectors.shape[1]))])


def is_stanford(folder: Path) -> bool:
    """Whether the checkpoint has the original (Stanford) format of ColBERT."""
    return "HF_ColBERT" in (read_config(folder).get("architectures") or ())


def _check_projection(row: ModelRow, folder: Path) -> None:
    """Raise ModelFailed for a model without late interaction, to which the library would add a random projection."""
    kind = read_config(folder, "config_sentence_transformers.json").get("model_type")
    if not is_stanford(folder) and kind not in LATE_INTERACTION:
        advice = f"name a checkpoint of ColBERT, or write sentence-transformers={folder} for one vector a text"
        if row.reads == "image":
            advice = f"name one of {row.name} that holds sentence-transformers' own files, as its newest version does"
        content = f"a {kind}" if kind else "one without a projection"
        raise ModelFailed(f"{folder} holds no late-interaction model, but {content}; {advice}")


def _set_lengths(model: Any, row: ModelRow) -> None:
    """Set the lengths to which texts are padded and cut: the row's, at most the checkpoint's maximum."""
    transformer, most = model[0], model.max_seq_length
    if row.passage_length is not None:
        transformer.document_length = row.passage_length if most is None else min(row.passage_length, most)
    if not row.query_expansion:
        transformer.query_expansion = None
    if row.query_length is not None:
        length = row.query_length if most is None else min(row.query_length, most)
        if transformer.query_expansion is None:
            transformer.query_length = length
        else:
            transformer.query_expansion = {**transformer.query_expansion, "length": length}
