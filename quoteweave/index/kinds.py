"""The kinds of vector index, by name: for items of one vector, and for items of many."""

from pathlib import Path

from quoteweave.core.errors import UsageError
from quoteweave.index.base import VectorIndex

FAISS_KINDS = ("flat", "fp16", "hnsw", "ivfpq")
SINGLE_VECTOR_KINDS = (*FAISS_KINDS, "milvus")
MULTI_VECTOR_KINDS = ("exact", "two-stage", "pool2", "pool3", "binary")
EXACT_KINDS = ("flat", "milvus", "exact")
DATABASE_KINDS = ("milvus",)
"""Kinds whose items lie in a database, to which the index's folder only points; they also implement `DatabaseIndex`."""


def default_kind(*, multi_vector: bool) -> str:
    """The kind that always fits: exact search."""
    return MULTI_VECTOR_KINDS[0] if multi_vector else SINGLE_VECTOR_KINDS[0]


def check_kind(kind: str, *, multi_vector: bool) -> None:
    """Raise UsageError, which lists the kinds, for a kind that does not fit items of one or of many vectors."""
    kinds = MULTI_VECTOR_KINDS if multi_vector else SINGLE_VECTOR_KINDS
    if kind not in kinds:
        allowed_items = "many vectors" if multi_vector else "one vector"
        raise UsageError(f"there is no index {kind!r} for items of {allowed_items}; choose one of: {', '.join(kinds)}")


def index_bytes_per_item(kind: str, dimension: int, vectors: float) -> float:
    """Estimate the bytes on disk that an index takes for an item with that many vectors, not counting the shards."""
    row = 8.0
    multi_vector = {"exact": 0.0, "two-stage": 4.0 * dimension, "binary": vectors * dimension / 8}
    pooled = {f"pool{factor}": 2.0 * dimension * vectors / factor for factor in (2, 3)}
    # HNSW has 64 links of four bytes at its lowest level; Milvus also stores the document and page of a quote.
    single_vector = {
        "flat": 4.0 * dimension,
        "fp16": 2.0 * dimension,
        "hnsw": 4.0 * dimension + 270,
        "ivfpq": dimension / 4 + 8,
    }
    return row + {**multi_vector, **pooled, **single_vector, "milvus": 4.0 * dimension + 300}[kind]


def open_index(kind: str, dimension: int, *, database_folder: Path, folder: Path | None = None) -> VectorIndex:
    """An index of that kind: as it was saved in `folder`, or empty.

    In `database_folder` an embedded database keeps its own files, beside the generations. Raises CollectionError for
    files that are damaged, MissingExtra where the library is not installed, and EndpointUnreachable for a server that
    is away.
    """
    if kind in FAISS_KINDS:
        from quoteweave.index.faiss.index import FaissIndex

        return FaissIndex(kind, dimension, folder)
    if kind == "milvus":
        from quoteweave.index.milvus.index import MilvusIndex

        return MilvusIndex(dimension, folder, database_folder=database_folder)
    from quoteweave.index.maxsim.index import MultiVectorIndex

    return MultiVectorIndex(kind, dimension, folder)
