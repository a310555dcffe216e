"""Rerankers: hits in a better order. Those that compute on this machine are rows of `rerankers.toml`."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.models.checkpoints import DType


class RerankerRow(Record):
    """What must be known of a model to rerank with it as its makers did, and to say what that takes."""

    name: str = Field(description="as `--rerank` takes it")
    checkpoint: str = Field(description="id on the Hugging Face hub, or a local folder")
    revision: str = Field(default="main", description="commit of the checkpoint; `main` where none could be pinned")
    loader: Literal["cross-encoder", "qwen3"] = Field(description="the code that loads and runs it")
    instruction: str = Field(default="", description="what the model is told to judge by, where it reads that")
    max_length: int | None = Field(
        default=None, gt=0, description="most tokens of question and passage together; None = the checkpoint's own"
    )
    dtype: DType = Field(default="float32", description="what it computes in unless told otherwise")
    licence: str = Field(default="unknown", description="of the weights, as the model card names it")
    download_gb: float = Field(default=0, ge=0, description="10⁹ bytes to download; 0 = unknown")
    gpu_gb: float = Field(
        default=0, ge=0, description="GPU memory that it wants for a small batch, in 10⁹ bytes; roughly"
    )
    source: str = Field(default="", description="the paper, or the model card")

    def at(self, checkpoint: str | None) -> Self:
        """The row with another checkpoint in place of its own; itself for None."""
        if checkpoint in (None, self.checkpoint):
            return self
        return self.model_copy(update={"checkpoint": checkpoint, "revision": "main", "download_gb": 0})


@cache
def reranker_rows() -> Mapping[str, RerankerRow]:
    """All rows by name, in the order of the table."""
    text = resources.files("quoteweave.retrievers.rerankers").joinpath("rerankers.toml").read_text("utf-8")
    return MappingProxyType({name: RerankerRow(name=name, **row) for name, row in tomllib.loads(text).items()})


def row_for_path(checkpoint: str) -> RerankerRow:
    """A row for any other cross-encoder that sentence-transformers can load: as its checkpoint says."""
    return RerankerRow(name=checkpoint, checkpoint=checkpoint, loader="cross-encoder")
