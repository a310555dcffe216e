"""Rerankers, which put hits in a better order. Local models are rows of `rerankers.toml`."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Literal, Self

from pydantic import Field

from quoteweave.core.files.toml import shipped_toml
from quoteweave.core.protocols import Reranking
from quoteweave.core.records import Hit, Query, Quote, Record
from quoteweave.models.checkpoints import DType


class RerankerRow(Record):
    """One row of the rerankers' table: how to run a model as its authors did, and what resources that takes."""

    name: str = Field(description="as `--rerank` takes it")
    checkpoint: str = Field(description="id on the Hugging Face hub, or a local folder")
    revision: str = Field(default="main", description="commit of the checkpoint; `main` where none could be pinned")
    loader: Literal["cross-encoder", "qwen3"] = Field(description="the code that loads and runs it")
    instruction: str = Field(default="", description="task instruction, for models that read one")
    max_length: int | None = Field(
        default=None, gt=0, description="maximum tokens of question and passage together; None = the checkpoint's own"
    )
    dtype: DType = Field(default="float32", description="number type it computes in by default")
    licence: str = Field(default="unknown", description="licence of the weights, as the model card names it")
    download_gb: float = Field(default=0, ge=0, description="10⁹ bytes to download; 0 = unknown")
    gpu_gb: float = Field(
        default=0, ge=0, description="GPU memory that it wants for a small batch, in 10⁹ bytes; roughly"
    )
    source: str = Field(default="", description="the paper, or the model card")

    def at(self, checkpoint: str | None) -> Self:
        """This row with another checkpoint; the row itself where `checkpoint` is None or its own."""
        if checkpoint in (None, self.checkpoint):
            return self
        return self.model_copy(update={"checkpoint": checkpoint, "revision": "main", "download_gb": 0})


@cache
def reranker_rows() -> Mapping[str, RerankerRow]:
    """All local rerankers by name, in the order of the file."""
    rows = shipped_toml("quoteweave.retrievers.rerankers", "rerankers.toml")
    return MappingProxyType({name: RerankerRow(name=name, **row) for name, row in rows.items()})


def reranker_row_for_path(checkpoint: str) -> RerankerRow:
    """Make a row for any other cross-encoder of sentence-transformers, with the checkpoint's own settings."""
    return RerankerRow(name=checkpoint, checkpoint=checkpoint, loader="cross-encoder")


def passage_text(quote: Quote) -> str:
    """The text that a reranker reads: a quote's words, preceded by its section's title for an image quote."""
    section = quote.section if quote.kind == "image" else None
    return "\n".join(part for part in (section, quote.all_text()) if part)


def reorder_by_scores(hits: Sequence[Hit], scores: Sequence[float]) -> tuple[Hit, ...]:
    """Sort hits by new scores, best first, with ranks from 1; ties keep their order."""
    scored = sorted(zip(scores, hits, strict=True), key=lambda pair: -pair[0])
    return tuple(Hit(rank=rank, score=score, quote=hit.quote) for rank, (score, hit) in enumerate(scored, 1))


def keep_order(hits: Sequence[Hit]) -> Reranking:
    """Keep the hits in their order with their scores, with ranks from 1."""
    return Reranking(hits=tuple(hit.model_copy(update={"rank": rank}) for rank, hit in enumerate(hits, 1)))


def cut_note(reranker: str, passages: Iterable[str], most: int) -> str | None:
    """A note for the trace if a passage has more than `most` characters, all that the reranker is sent of it."""
    is_cut = any(len(passage) > most for passage in passages)
    return f"{reranker} ranked long quotes by their first {most:,} characters" if is_cut else None


async def rerank_by_scores(
    query: Query,
    hits: Sequence[Hit],
    score: Callable[[str, list[str]], Awaitable[Sequence[float]]],
    note: Callable[[str, list[str]], str | None] = lambda _question, _passages: None,
) -> Reranking:
    """Rerank hits by the scores that `score` gives to their passages; for a blank question they keep their order.

    `note` is called after it, and says what the scores leave out, if anything.
    """
    if not hits or not query.text.strip():
        return keep_order(hits)
    passages = [passage_text(hit.quote) for hit in hits]
    ranked = reorder_by_scores(hits, await score(query.text, passages))
    return Reranking(hits=ranked, note=note(query.text, passages))
