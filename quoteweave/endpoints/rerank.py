"""A client of reranking endpoints (`/rerank`), in the format that Jina, Cohere (v2) and vLLM share."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, FailFast

from quoteweave.core.errors import UsageError
from quoteweave.core.messages import pluralize
from quoteweave.endpoints.address import EndpointAddress, option_or_environment, same_origin
from quoteweave.endpoints.connection import Connection, RetryPolicy, excerpt, sendable_text

URL_VARIABLE = "QUOTEWEAVE_RERANK_URL"
KEY_VARIABLE = "QUOTEWEAVE_RERANK_KEY"
_WITHHELD = (
    f"no key was sent, as {KEY_VARIABLE} goes to {URL_VARIABLE} alone; if the key is this server's, set {URL_VARIABLE} "
    "to its address"
)
_WANTED = "list of relevance scores"


class _Result(BaseModel):
    model_config = ConfigDict(strict=True)

    index: int
    relevance_score: float | None  # some servers write null for NaN


class _Body(BaseModel):
    """The part of a response with a ranking that is read."""

    results: Annotated[list[_Result], FailFast()]


class RerankClient:
    """A client of a reranking endpoint. Every call sends its question and documents there.

    `base_url` and `api_key` come from the options, else from QUOTEWEAVE_RERANK_URL and QUOTEWEAVE_RERANK_KEY, else from
    OPENAI_BASE_URL and OPENAI_API_KEY, which are read at each call. A key of the environment is only sent to the
    environment's address, as others may come from somebody else's file. `/rerank` is added to the base URL, or
    `/v1/rerank` if the URL is only a host; a URL that ends in `/rerank` is used unchanged. `timeout_s` and
    `max_retries` are those of `OpenAIChat`.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 120,
        max_retries: int = 2,
        call_limit_s: float | None = None,
    ) -> None:
        self.model = model
        self._base_url = base_url
        self._api_key = api_key
        self._retry_policy = RetryPolicy(timeout_s, max_retries, call_limit_s)

    def address(self) -> EndpointAddress:
        """Where questions and documents are sent. Raises UsageError when no URL is set, or one is malformed."""
        environment_url = option_or_environment(None, URL_VARIABLE) or option_or_environment(None, "OPENAI_BASE_URL")
        url = option_or_environment(self._base_url, URL_VARIABLE) or environment_url
        if not url:
            raise UsageError(
                f"No endpoint for the reranker {self.model}",
                remedy=f"name its address, as in endpoint:{self.model}@http://localhost:8000/v1 or in {URL_VARIABLE}, "
                f"and set {KEY_VARIABLE} where it wants a key",
            )
        key, withheld = self._key(url, environment_url)
        address = EndpointAddress(url, key or "none", withheld)
        parts = urlsplit(url)
        path = parts.path.rstrip("/").removesuffix("/rerank") if parts.path.strip("/") else "/v1"
        return replace(address, url=parts._replace(path=path).geturl())

    def _key(self, url: str, environment_url: str) -> tuple[str, str]:
        """The key for an address, or why the environment's key is not sent there."""
        option_key, key = (self._api_key or "").strip(), option_or_environment(None, KEY_VARIABLE)
        if option_key or (key and same_origin(url, environment_url)):
            return option_key or key, ""
        if same_origin(url, option_or_environment(None, "OPENAI_BASE_URL")):
            return option_or_environment(None, "OPENAI_API_KEY"), ""
        return "", _WITHHELD if key else ""

    async def score(self, query: str, documents: Sequence[str]) -> list[float]:
        """Score the relevance of each document to the question, in order; higher is better.

        Raises UsageError when no URL is set or URL or key are malformed, EndpointUnreachable when the server does not
        answer or fails on its side (5xx), EndpointRefused when it turns the request down (4xx; a document may be too
        long), and EndpointBadResponse when what it sends is not one finite score for each document.
        """
        if not documents:
            return []
        longest = max(range(len(documents)), key=lambda i: len(documents[i]))
        advice = (
            f"send shorter or fewer documents; the longest is document {longest + 1} of {len(documents)}, with "
            f"{len(documents[longest])} characters: {excerpt(documents[longest])!r}"
        )
        request = {
            "model": self.model,
            "query": sendable_text(query),
            "documents": [sendable_text(document) for document in documents],
            "top_n": len(documents),
        }
        async with Connection(self.model, self.address(), self._retry_policy) as connection:
            reply = connection.parse(await connection.post("/rerank", request, advice=advice), _Body, _WANTED)
            return _scores(connection, reply.results, documents)


def _scores(connection: Connection, results: list[_Result], documents: Sequence[str]) -> list[float]:
    results = sorted(results, key=lambda result: result.index)
    if [result.index for result in results] != list(range(len(documents))):
        raise connection.bad_content(
            f"{pluralize(len(results), 'score')} and not one for each of {pluralize(len(documents), 'document')}"
        )
    scores = [math.nan if result.relevance_score is None else result.relevance_score for result in results]
    for number, (score, document) in enumerate(zip(scores, documents, strict=True), 1):
        if not math.isfinite(score):
            raise connection.bad_content(
                f"a score that is not finite (NaN or infinite) for document {number} of {len(documents)}: "
                f"{excerpt(document)!r}"
            )
    return scores
