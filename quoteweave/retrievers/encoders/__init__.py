"""Encoders of text and images, one class for each loader of the catalogue, and what builds them."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from quoteweave.core.errors import UsageError, by_setting, join_ways
from quoteweave.core.protocols import Encoder
from quoteweave.models.checkpoints import Hardware, is_local, locate_checkpoint, read_config, tensor_shapes
from quoteweave.retrievers.catalogue import Loader, ModelRow
from quoteweave.retrievers.encoders.late_interaction import is_stanford, reads_pictures
from quoteweave.retrievers.encoders.text import truncate_dim

# Module and class of each loader; a module is imported when one of its models is built.
CLASSES: Mapping[Loader, tuple[str, str]] = MappingProxyType(
    {
        "sentence-transformers": ("sentence_transformer", "SentenceTransformerEncoder"),
        "dpr": ("dpr", "DprEncoder"),
        "adapted-bert": ("adapted_bert", "AdaptedBertEncoder"),
        "multi-vector": ("late_interaction", "LateInteractionEncoder"),
        "multi-vector-visual": ("visual", "VisualLateInteractionEncoder"),
        "colpali-engine": ("visual", "ColPaliEncoder"),
        "colpali-hf": ("visual", "ColPaliEncoder"),
        "dse-qwen2": ("dse", "DseQwen2Encoder"),
        "dse-phi3": ("dse", "DsePhi3Encoder"),
        "qwen3-vl": ("qwen_vl", "Qwen3VlEncoder"),
    }
)

# Model types of sentence-transformers that are not dense encoders.
OTHER_TYPES = ("CrossEncoder", "SparseEncoder")
# Files and fields in which checkpoints state the dimension of their vectors; the first one found counts.
DIMENSIONS: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "artifact.metadata": ("dim",),
        "*Dense*/config.json": ("out_features",),
        "*Pooling*/config.json": ("embedding_dimension", "word_embedding_dimension"),
        "config.json": ("embedding_dim", "projection_dim", "hidden_size", "d_model", "dim"),
    }
)
# Names of a StaticEmbedding's weights in sentence-transformers and in model2vec.
STATIC_TABLES = ("embedding.weight", "embeddings")


def make_encoder(row: ModelRow, hardware: Hardware, checkpoint: str | None = None) -> Encoder:
    """Build the encoder of a row, optionally with another checkpoint; no model is loaded yet.

    Raises UsageError for a row that runs code of its checkpoint without `Hardware.trust_remote_code`.
    """
    if row.remote_code and not hardware.trust_remote_code:
        chosen = row.at(checkpoint)
        raise UsageError(
            f"{row.name} runs Python code that comes with its checkpoint {chosen.checkpoint}, revision "
            f"{chosen.revision}, and can do on this machine whatever you can",
            remedy=join_ways(
                by_setting(
                    "read its .py files first, then allow it: {}",
                    "trust_remote_code",
                    in_python="trust_remote_code=True of Hardware",
                ),
                "take one that needs none, such as dse-qwen2 and colqwen2.5",
            ),
        )
    module, name = CLASSES[row.loader]
    encoder_class: Callable[[ModelRow, Hardware, str | None], Encoder] = getattr(
        import_module(f"quoteweave.retrievers.encoders.{module}"), name
    )
    return encoder_class(row, hardware, checkpoint)


def row_for_path(path: str) -> ModelRow:
    """Make the row of any checkpoint that sentence-transformers loads, from the checkpoint's own files.

    The prefixes are its prompts: `query`, and the first non-empty one of `document`, `passage` and `corpus`. Raises
    ModelNotFound where there is no model at `path`, UsageError for one whose vectors cannot be compared by inner
    products. A late-interaction model that reads pictures searches pictures, any other one text.
    """
    folder = locate_checkpoint(path)
    config = read_config(folder, "config_sentence_transformers.json")
    kind, similarity = config.get("model_type"), config.get("similarity_fn_name") or "cosine"
    multi_vector = kind == "MultiVectorEncoder" or is_stanford(folder)
    if kind in OTHER_TYPES or (not multi_vector and similarity not in ("cosine", "dot")):
        problem = f"is a {kind}" if kind in OTHER_TYPES else f"compares its vectors by {similarity}"
        raise UsageError(f"{path} {problem}; only vectors that inner products compare can be indexed")
    prompts = config.get("prompts") or {}
    is_visual = multi_vector and reads_pictures(folder)
    weights = sum(file.stat().st_size for pattern in ("*.safetensors", "*.bin") for file in folder.glob(pattern))
    return ModelRow(
        name="sentence-transformers",
        checkpoint=path,
        revision="main" if is_local(path) else folder.name,
        loader="multi-vector-visual" if is_visual else "multi-vector" if multi_vector else "sentence-transformers",
        pooling=None if multi_vector or (folder / "modules.json").is_file() else "mean",
        query_prefix=prompts.get("query") or "",
        passage_prefix=next((prompts[name] for name in ("document", "passage", "corpus") if prompts.get(name)), ""),
        dimension=_dimension(folder),
        multi_vector=multi_vector,
        reads="image" if is_visual else "text",
        normalize=multi_vector or similarity == "cosine",
        licence="unknown",
        download_gb=0,
        gpu_gb=round(1.5 * weights / 1e9, 2),
        source=path,
    )


def _dimension(folder: Path) -> int:
    """Dimension of the vectors: of the last projection, else the pooling, else the model, after any truncation.

    Raises UsageError where the checkpoint does not state it.
    """
    stated_dimensions = [
        read_config(file.parent, file.name).get(field)
        for pattern, fields in DIMENSIONS.items()
        for file in sorted(folder.glob(pattern), reverse=True)
        for field in fields
    ]
    for dimension in (*stated_dimensions, *_static_dimensions(folder)):
        if isinstance(dimension, int) and dimension > 0:
            return min(dimension, truncate_dim(folder) or dimension)
    raise UsageError(f"{folder} does not say how many numbers its vectors have")


def _static_dimensions(folder: Path) -> list[int]:
    """Widths of token embedding tables: a StaticEmbedding has no configuration that states its dimension."""
    return [
        shape[1]
        for file in sorted((*folder.glob("*.safetensors"), *folder.glob("*StaticEmbedding*/*.safetensors")))
        for name, shape in tensor_shapes(file).items()
        if name in STATIC_TABLES and len(shape) == 2
    ]
