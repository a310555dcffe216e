"""The catalogue of models, `catalogue.toml`, and its rows as published experiments ran them, `published_rows.toml`."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.records import Record
from quoteweave.models.checkpoints import DType

Loader = Literal[
    "sentence-transformers",
    "dpr",
    "adapted-bert",
    "multi-vector",
    "multi-vector-visual",
    "colpali-engine",
    "colpali-hf",
    "dse-qwen2",
    "dse-phi3",
    "qwen3-vl",
]
Pooling = Literal["cls", "mean", "last"]


class ModelRow(Record):
    """One row of the catalogue: how to run an encoder as its authors did, and what resources that takes."""

    name: str = Field(description="as `--retriever` takes it")
    checkpoint: str = Field(description="id on the Hugging Face hub, or a local folder")
    revision: str = Field(default="main", description="commit of the checkpoint; `main` where none could be pinned")
    query_checkpoint: str | None = Field(default=None, description="where questions have an encoder of their own")
    query_revision: str = Field(default="main", description="commit of `query_checkpoint`")
    base: str | None = Field(default=None, description="base model of an adapter checkpoint")
    base_revision: str = Field(default="main", description="commit of `base`")
    loader: Loader = Field(description="the code that loads and runs it")
    pooling: Pooling | None = Field(default=None, description="pooling of token vectors; None where the loader decides")
    padding: Literal["left", "right"] = Field(
        default="right", description="where shorter texts of a batch are filled up"
    )
    query_prefix: str = Field(default="", description="put before a question, verbatim")
    passage_prefix: str = Field(default="", description="put before a passage, or the words shown with a picture")
    title_separator: str | None = Field(
        default=None, description="put in place of a passage's first line end, where that ends a title"
    )
    query_suffix: str = Field(default="", description="put after a question, in place of what its loader puts there")
    query_expansion: bool = Field(default=True, description="whether ColBERT fills questions up with masks")
    punctuation: Literal["dropped", "zeroed"] = Field(
        default="dropped", description="what becomes of the vectors of a passage's punctuation marks in ColBERT"
    )
    square_pictures: bool = Field(default=True, description="whether DSE on Phi-3-Vision makes pictures square")
    query_length: int | None = Field(
        default=None, gt=0, description="maximum tokens of a question; None = the checkpoint's own limit"
    )
    passage_length: int | None = Field(
        default=None, gt=0, description="maximum tokens of a passage; None = the checkpoint's own limit"
    )
    dimension: int = Field(gt=0, description="numbers in a vector")
    multi_vector: bool = Field(default=False, description="whether an item has many vectors, scored by MaxSim, not one")
    reads: Literal["text", "image"] = "text"
    normalize: bool = Field(description="whether vectors are scaled to length 1, so that inner products are cosines")
    dtype: DType = Field(default="float32", description="number type it computes in by default")
    licence: str = Field(description="licence of the weights, as the model card names it")
    download_gb: float = Field(
        ge=0, description="10⁹ bytes to download, base and question encoder included; 0 = unknown"
    )
    gpu_gb: float = Field(ge=0, description="approximate GPU memory for a small batch, in 10⁹ bytes")
    remote_code: bool = Field(default=False, description="runs code from the checkpoint, so only with an opt-in")
    source: str = Field(description="the paper, or the model card")

    def at(self, checkpoint: str | None) -> Self:
        """This row with another checkpoint; the row itself where `checkpoint` is None or its own."""
        if checkpoint in (None, self.checkpoint):
            return self
        return self.model_copy(
            update={"checkpoint": checkpoint, "revision": "main", "query_checkpoint": None, "download_gb": 0}
        )


@cache
def catalogue() -> Mapping[str, ModelRow]:
    """All rows of the catalogue by name, in the order of the file."""
    rows = shipped_toml("quoteweave.retrievers", "catalogue.toml")
    return MappingProxyType({name: ModelRow(name=name, **row) for name, row in rows.items()})


@cache
def published_rows(experiment: str) -> Mapping[str, ModelRow]:
    """The rows of an experiment by name, such as those of `mmdocir`, in the order of the file."""
    rows = {
        name: ModelRow.model_validate({**catalogue()[name].model_dump(), **changes})
        for name, changes in shipped_toml("quoteweave.retrievers", "published_rows.toml")[experiment].items()
    }
    return MappingProxyType(rows)


def published_row(experiment: str, name: str) -> ModelRow:
    """The row of a model as an experiment ran it. Raises UsageError for a model that it did not have."""
    rows = published_rows(experiment)
    if name not in rows:
        raise UsageError(f"{experiment} has no {name!r}; it has: {', '.join(rows)}")
    return rows[name]
