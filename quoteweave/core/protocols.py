"""What to implement to extend quoteweave: small protocols, met by any object of the right shape."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import Field

from quoteweave.core.answers import Answer, Completion, Context
from quoteweave.core.records import Filter, Hit, ParsedDocument, Prediction, Query, Quote, Record, Reference

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from PIL.Image import Image

    Matrix = npt.NDArray[np.float32]

Setting = str | int | float | bool | None


class Parser(Protocol):
    """A file becomes pages and quotes."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same file would give other quotes."""
        ...

    def parse(self, path: Path) -> ParsedDocument:
        """Raises a DocumentError that says what is wrong with the file."""
        ...


class Describer(Protocol):
    """Says in words what an image quote shows."""

    @property
    def name(self) -> str:
        """Changes whenever the same picture would be described in other words; part of the parser's fingerprint."""
        ...

    async def describe(self, image: bytes, caption: str | None) -> str:
        """`image` is the crop as an image file; the words become the quote's `vlm_text`."""
        ...


class Retriever(Protocol):
    """Questions become ranked quotes."""

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """At most `k` hits a query, best first, ranks from 1. A query that matches nothing gives an empty list."""
        ...


class Encoder(Protocol):
    """Questions and views become vectors, and inner products of these say how well they fit.

    The same view gives the same vector (to 1e-5 in fp32) whatever stands beside it in a batch.
    """

    @property
    def name(self) -> str:
        """As the catalogue of models, or its maker, calls it."""
        ...

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All that changes a vector: checkpoint and revision, prefixes, pooling, maximum length, image size, dtype.

        Known without loading any weights.
        """
        ...

    @property
    def reads(self) -> Literal["text", "image"]:
        """The views that it encodes: strings, or pictures."""
        ...

    @property
    def many(self) -> bool:
        """Whether an item becomes many vectors, scored by MaxSim (late interaction), or exactly one."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix (vectors, dimension) for each question, in order. Raises ModelError or EndpointError."""
        ...

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix (vectors, dimension) for each view, in order. Raises ModelError or EndpointError."""
        ...


class Pictures(Protocol):
    """Where visual encoders get what they look at: crops of quotes, and whole pages."""

    def crop_key(self, quote: Quote) -> str | None:
        """Changes whenever the crop does; None where the quote's document has no pictures. Draws nothing."""
        ...

    def crop(self, quote: Quote) -> "Image":
        """The quote cut out of its page, in RGB. Raises DocumentError where it cannot be drawn."""
        ...

    def page_key(self, document: str, page: int) -> str | None:
        """Changes whenever the page's picture does; None where the document has none. Draws nothing."""
        ...

    def page(self, document: str, page: int) -> "Image":
        """A page as people see it, in RGB. Raises DocumentError where it cannot be drawn."""
        ...


class Reranker(Protocol):
    """Hits become hits in a better order."""

    @property
    def name(self) -> str:
        """The model's name, as traces and runs record it."""
        ...

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> list[Hit]:
        """All of `hits`, best first, with its scores and ranks from 1. Raises ModelError or EndpointError."""
        ...


class Expansion(Record):
    """What an expander made of a question."""

    clauses: tuple[str, ...] = Field(min_length=1, description="to search for, each by itself")
    note: str | None = Field(default=None, description="what went wrong, where the question had to do")


class Expander(Protocol):
    """A question becomes several that are easier to find answers to."""

    @property
    def name(self) -> str:
        """As traces and runs record it."""
        ...

    async def expand(self, query: Query) -> Expansion:
        """The questions to search for. Falls back to the question alone, and says so in `note`, when a model fails."""
        ...


class ChatModel(Protocol):
    """A model that completes a conversation in the OpenAI chat form."""

    @property
    def name(self) -> str:
        """The model's name, as answers and runs record it."""
        ...

    async def complete(self, messages: Sequence[Mapping[str, object]]) -> Completion:
        """Raises an EndpointError when the model cannot be had or answers nothing."""
        ...


class Generator(Protocol):
    """A question and its context become a cited answer."""

    async def answer(self, query: Query, context: Context) -> Answer:
        """Raises an EndpointError when its model fails; abstaining is an answer, not an error."""
        ...


class Metric(Protocol):
    """One row for each question; the summary is made from the rows. None means undefined, which is not zero."""

    def row(self, prediction: Prediction, reference: Reference) -> Mapping[str, float | None]:
        """The figures of one question, counts included."""
        ...

    def summarise(self, rows: Sequence[Mapping[str, float | None]]) -> Mapping[str, float | None]:
        """The figures of all questions, from their rows alone."""
        ...
