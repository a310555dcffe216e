"""What to implement to extend quoteweave: small protocols, met by any object of the right shape."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from quoteweave.core.answers import Answer, Completion, Context
from quoteweave.core.records import Filter, Hit, ParsedDocument, Prediction, Query, Reference


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
