"""The reranker of a row of the catalogue, by the code that loads it."""

from quoteweave.core.protocols import Reranker
from quoteweave.models.checkpoints import Hardware
from quoteweave.retrievers.rerankers import RerankerRow


def make_local_reranker(row: RerankerRow, hardware: Hardware | None = None, checkpoint: str | None = None) -> Reranker:
    """The reranker of that row, with another checkpoint in place of its own if one is named. Nothing is loaded yet."""
    if row.loader == "qwen3":
        from quoteweave.retrievers.rerankers.qwen3 import Qwen3Reranker

        return Qwen3Reranker(row.at(checkpoint), hardware)
    from quoteweave.retrievers.rerankers.cross_encoder import CrossEncoderReranker

    return CrossEncoderReranker(row.at(checkpoint), hardware)
