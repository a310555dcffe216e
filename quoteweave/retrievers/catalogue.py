"""The catalogue of models: one row each, read from `catalogue.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.models.checkpoints import DType

Loader = Literal[
    "sentence-transformers", "dpr", "multi-vector", "colpali-engine", "colpali-hf", "dse-qwen2", "dse-phi3"
]
Pooling = Literal["cls", "mean", "last"]


class ModelRow(Record):
    """What must be known of a model to encode with it as its makers did, and to say what that takes."""

    name: str = Field(description="as `--retriever` takes it")
    checkpoint: str = Field(description="id on the Hugging Face hub, or a local folder")
    revision: str = Field(default="main", description="commit of the checkpoint; `main` where none could be pinned")
    query_checkpoint: str | None = Field(default=None, description="where questions have an encoder of their own")
    query_revision: str = Field(default="main", description="commit of `query_checkpoint`")
    base: str | None = Field(default=None, description="what an adapter checkpoint is laid over")
    base_revision: str = Field(default="main", description="commit of `base`")
    loader: Loader = Field(description="the code that loads and runs it")
    pooling: Pooling | None = Field(default=None, description="token vectors to one; None where the loader knows")
    padding: Literal["left", "right"] = Field(
        default="right", description="where shorter texts of a batch are filled up"
    )
    query_prefix: str = Field(default="", description="put before a question, verbatim")
    passage_prefix: str = Field(default="", description="put before a passage, or the words shown with a picture")
    query_length: int | None = Field(
        default=None, gt=0, description="most tokens of a question; None = the checkpoint's own"
    )
    passage_length: int | None = Field(
        default=None, gt=0, description="most tokens of a passage; None = the checkpoint's own"
    )
    dimension: int = Field(gt=0, description="numbers in a vector")
    many: bool = Field(default=False, description="many vectors an item, scored by MaxSim, or one")
    reads: Literal["text", "image"] = "text"
    normalize: bool = Field(description="whether vectors are scaled to length 1, so that inner products are cosines")
    dtype: DType = Field(default="float32", description="what it computes in unless told otherwise")
    licence: str = Field(description="of the weights, as the model card names it")
    download_gb: float = Field(
        ge=0, description="10⁹ bytes to download, base and question encoder included; 0 = unknown"
    )
    gpu_gb: float = Field(ge=0, description="GPU memory that it wants for a small batch, in 10⁹ bytes; roughly")
    remote_code: bool = Field(default=False, description="runs code from the checkpoint, so only with an opt-in")
    source: str = Field(description="the paper, or the model card")

    def at(self, checkpoint: str | None) -> Self:
        """The row with another checkpoint in place of its own; itself for None."""
        if checkpoint in (None, self.checkpoint):
            return self
        return self.model_copy(
            update={"checkpoint": checkpoint, "revision": "main", "query_checkpoint": None, "download_gb": 0}
        )


@cache
def catalogue() -> Mapping[str, ModelRow]:
    """All rows by name, in the order of the table."""
    text = resources.files("quoteweave.retrievers").joinpath("catalogue.toml").read_text("utf-8")
    return MappingProxyType({name: ModelRow(name=name, **row) for name, row in tomllib.loads(text).items()})
