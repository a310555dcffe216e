"""Contexts of fixed sizes, text and image quotes apart (MMDocRAG, arXiv 2505.16470, sections 4.1 and 4.8)."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.core.answers import Context
from quoteweave.core.protocols import Retriever
from quoteweave.core.records import Filter, Hit, Query, Record


class Split(Record):
    """How many quotes of each kind."""

    texts: int = Field(ge=0)
    images: int = Field(ge=0)


TOP_10 = Split(texts=7, images=3)
C15 = Split(texts=10, images=5)
C20 = Split(texts=12, images=8)


def retrieve_context(query: Query, retriever: Retriever, split: Split = C15, *, where: Filter | None = None) -> Context:
    """The best quotes of each kind, ranked within their kind. A filter by kind leaves the other kind empty."""
    where = where or Filter()
    texts = _best(query, retriever, split.texts, where, "text")
    images = _best(query, retriever, split.images, where, "image")
    return Context(texts=tuple(texts), images=tuple(images))


def _best(query: Query, retriever: Retriever, k: int, where: Filter, kind: str) -> Sequence[Hit]:
    if k == 0 or where.kind not in (None, kind):
        return []
    return retriever.search([query], k, where=where.model_copy(update={"kind": kind}))[0]
