"""Rerankers behind a `/rerank` endpoint."""

from collections.abc import Sequence

from quoteweave.core.protocols import Reranking
from quoteweave.core.records import Hit, Query
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.retrievers.rerankers import cut_note, rerank_by_scores


class EndpointReranker:
    """Implements `core.protocols.Reranker`; the question and the quotes' words are sent to the endpoint.

    A passage is cut to `max_characters`, and a note says so: some servers refuse passages longer than their model's
    window.
    """

    def __init__(self, client: RerankClient, *, max_characters: int = 8000) -> None:
        self._client = client
        self._max_characters = max_characters

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self._client.model

    @property
    def destination(self) -> str:
        """The host, with its port, that question and quotes are sent to. Raises UsageError when no endpoint is set."""
        return self._client.address().destination

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """All hits, best first, with the endpoint's scores. Raises EndpointError, or UsageError without an endpoint."""
        return await rerank_by_scores(query, hits, self._score, self._note)

    def _note(self, _question: str, passages: list[str]) -> str | None:
        return cut_note(self.name, passages, self._max_characters)

    async def _score(self, question: str, passages: list[str]) -> list[float]:
        return await self._client.score(question, [passage[: self._max_characters] for passage in passages])
