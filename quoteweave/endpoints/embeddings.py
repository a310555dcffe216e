"""Embedding models behind an OpenAI-compatible `/v1/embeddings`: OpenAI itself, and local servers such as vLLM."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, FailFast

from quoteweave.core.errors import EndpointRefused
from quoteweave.core.messages import pluralize
from quoteweave.endpoints.address import EndpointAddress, openai_address
from quoteweave.endpoints.connection import Connection, RetryPolicy, excerpt, sendable_text

if TYPE_CHECKING:
    from quoteweave.core.protocols import Matrix

# How many requests are under way at the same time, at most.
MAX_CONCURRENT_REQUESTS = 4
# UTF-8 bytes in a request, at most. A token has three or four on average, and OpenAI takes 300,000 tokens at once.
BYTES_AT_ONCE = 400_000
_WANTED = "list of embeddings"
# Status codes with which servers refuse a request that is too large, or a text in it that is too long.
_TOO_MUCH = (400, 413, 422)
# Texts are never cut to fewer characters; a model that takes no more is not fit for quotes.
_MIN_CHARACTERS = 200


class _Item(BaseModel):
    model_config = ConfigDict(strict=True)  # so that true and "0.5" are not read as numbers

    index: int
    embedding: Annotated[list[float | None], FailFast()]  # some servers write null for NaN


class _Usage(BaseModel):
    prompt_tokens: int | None = None


class _Body(BaseModel):
    """The part of a list of embeddings that is read."""

    data: Annotated[list[_Item], FailFast()]
    usage: _Usage | None = None


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The embeddings of some texts, and which of these were cut or refused."""

    vectors: "Matrix"
    """(texts not refused, dimension) float32, in the order of the texts; not normalized here."""
    tokens: int | None
    """Tokens read; None if the endpoint does not report them."""
    cut: Mapping[int, int] = field(default_factory=dict)
    """Texts that were too long, by index, with the number of characters that were embedded."""
    refused: Mapping[int, EndpointRefused] = field(default_factory=dict)
    """Texts that the endpoint refused in any form, by index."""


class EmbeddingsClient:
    """A client of an embedding endpoint. Every call sends its texts there.

    `base_url`, `api_key`, `timeout_s`, `max_retries` and `call_limit_s` (of each request) are those of `OpenAIChat`. A
    request holds at most `batch_size` texts, and a few are under way at once. `dimensions` and `input_type` are sent
    only when set: some models can shorten their vectors, and some tell questions from passages by that field ("query"
    and "passage" with NVIDIA, "search_query" and "search_document" with Cohere, "query" and "document" with Voyage).

    A request that the endpoint refuses as faulty (400, 413, 422) is sent again in halves, until the text at fault is
    found. That text is then halved until it is accepted, down to 200 characters, because endpoints refuse texts of more
    tokens than their model reads, and do not say how many characters that is. A text that is still refused is left out
    if the endpoint accepts others.
    """

    def __init__(  # noqa: PLR0913 - one more than the limit, each a plain setting of the endpoint with a default
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float = 120,
        max_retries: int = 5,
        call_limit_s: float | None = None,
        batch_size: int = 32,
        dimensions: int | None = None,
        input_type: str | None = None,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self.input_type = input_type
        self._base_url = base_url
        self._api_key = api_key
        self._retry_policy = RetryPolicy(timeout_s, max_retries, call_limit_s)
        self._batch_size = batch_size

    def address(self) -> EndpointAddress:
        """The endpoint's address, from the options or the environment. Raises UsageError if neither sets it."""
        return openai_address(self.model, self._base_url, self._api_key)

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """Return a vector for each text. Raises what `embed_some` does, and EndpointRefused for a refused text."""
        embedded = await self.embed_some(texts)
        for refusal in embedded.refused.values():
            raise refusal
        return embedded

    async def embed_some(self, texts: Sequence[str]) -> Embeddings:
        """Return a vector for each text, in order, except those that the endpoint refuses however short they are cut.

        Raises UsageError when neither URL nor key is set or one of them is malformed, EndpointUnreachable when the
        server does not answer or fails on its side (5xx), EndpointRefused when it turns down whatever it is sent (4xx),
        and EndpointBadResponse when what it sends is not one finite vector for each text.
        """
        import numpy as np

        connection = Connection(self.model, self.address(), self._retry_policy)
        halving = _HalvingRetry(texts, partial(self._batch, connection))
        try:
            async with connection, asyncio.TaskGroup() as tasks:
                batches = _batches(texts, self._batch_size)
                started = [tasks.create_task(halving.embedded(batch)) for batch in batches]
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None
        parts = [part for task in started for part in task.result()]
        for batch, part in parts:
            first, other = parts[0][1].vectors.shape[1], part.vectors.shape[1]
            if first != other:
                raise connection.bad_content(
                    f"vectors of {first} and of {other} numbers, these for {_text_name(texts, batch[0])}"
                )
        vectors = [part.vectors for _, part in parts] or [np.empty((0, self.dimensions or 0), dtype=np.float32)]
        tokens = [part.tokens for _, part in parts if part.tokens is not None]
        return Embeddings(
            np.concatenate(vectors), sum(tokens) if len(tokens) == len(parts) else None, halving.cut, halving.refused
        )

    async def _batch(self, connection: Connection, texts: Sequence[str], batch: range) -> Embeddings:
        # The SDK's own method is not used, as it asks for base64, which not every server knows.
        request: dict[str, object] = {"model": self.model, "encoding_format": "float"}
        request["input"] = [sendable_text(texts[i]) for i in batch]
        if self.dimensions is not None:
            request["dimensions"] = self.dimensions
        if self.input_type is not None:
            request["input_type"] = self.input_type
        longest = max(batch, key=lambda i: len(texts[i]))
        subject = "this one" if len(batch) == 1 else f"the longest of these {len(batch)}"
        advice = (
            f"send shorter texts, or fewer at once (batch_size); {subject} has "
            f"{len(texts[longest])} characters and is {_text_name(texts, longest)}"
        )
        reply = connection.parse(await connection.post("/embeddings", request, advice=advice), _Body, _WANTED)
        items = sorted(reply.data, key=lambda item: item.index)
        vectors = self._vectors(connection, items, [_text_name(texts, i) for i in batch])
        return Embeddings(vectors, reply.usage.prompt_tokens if reply.usage else None)

    def _vectors(self, connection: Connection, items: list[_Item], names: list[str]) -> "Matrix":
        """Check and convert the vectors of a batch; `names` identify its texts in errors."""
        import numpy as np

        if [item.index for item in items] != list(range(len(names))):
            raise connection.bad_content(
                f"{pluralize(len(items), 'embedding')} and not one for each of "
                f"{pluralize(len(names), 'text')}, the first of them {names[0]}"
            )
        dimension = self.dimensions or len(items[0].embedding)
        for item, text in zip(items, names, strict=True):
            if len(item.embedding) != dimension or not dimension:
                numbers = f"a vector of {len(item.embedding)} numbers where {dimension or 'some'} were expected"
                raise connection.bad_content(f"{numbers}, for {text}")
        with np.errstate(over="ignore"):  # numbers that overflow become infinite, and are refused as such
            vectors = np.array([item.embedding for item in items], dtype=np.float32)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            text = names[int(np.argmin(finite))]
            raise connection.bad_content(f"numbers that are not finite (NaN or infinite) for {text}")
        if not (some := vectors.any(axis=1)).all():
            raise connection.bad_content(
                f"a vector of zeros, which is like no other, for {names[int(np.argmin(some))]}"
            )
        return vectors


class _HalvingRetry:
    """Sends the texts of one call: a refused batch is sent again in halves, and a single refused text is cut."""

    def __init__(self, texts: Sequence[str], send: Callable[[Sequence[str], range], Awaitable[Embeddings]]) -> None:
        self.cut: dict[int, int] = {}
        self.refused: dict[int, EndpointRefused] = {}
        self._texts = list(texts)
        self._send = send
        self._gate = asyncio.Semaphore(MAX_CONCURRENT_REQUESTS)
        self._accepted_some = False

    async def embedded(self, batch: range) -> list[tuple[range, Embeddings]]:
        """Return the embeddings of a batch, in parts. Raises EndpointRefused if other texts would be refused too."""
        try:
            return [(batch, await self._sent(self._texts, batch))]
        except EndpointRefused as error:
            if error.status not in _TOO_MUCH:
                raise
            refusal = error
        if len(batch) > 1:
            middle = len(batch) // 2
            return [*await self.embedded(batch[:middle]), *await self.embedded(batch[middle:])]
        (number,) = batch
        text = self._texts[number]
        if len(text) > _MIN_CHARACTERS:
            self.cut[number] = max(_MIN_CHARACTERS, len(text) // 2)
            self._texts[number] = text[: self.cut[number]]
            return await self.embedded(batch)
        await self._check_accepts_any(refusal)
        self.cut.pop(number, None)
        self.refused[number] = refusal
        return []

    async def _sent(self, texts: Sequence[str], batch: range) -> Embeddings:
        async with self._gate:
            part = await self._send(texts, batch)
        self._accepted_some = True
        return part

    async def _check_accepts_any(self, refusal: EndpointRefused) -> None:
        """Raise the refusal unless the endpoint accepts some text, which shows that the text is at fault."""
        if not self._accepted_some:
            try:
                await self._sent(["-"], range(1))
            except EndpointRefused:
                raise refusal from None


def _text_name(texts: Sequence[str], number: int) -> str:
    """Identify a text in a message by its number and its beginning."""
    return f"text {number + 1} of {len(texts)}: {excerpt(texts[number])!r}"


def _batches(texts: Sequence[str], most: int) -> Iterator[range]:
    """Group texts into batches of at most `most` texts and `BYTES_AT_ONCE` bytes, unless one text alone has more."""
    start = size = 0
    for i, text in enumerate(texts):
        bytes_here = len(text.encode("utf-8", "replace"))
        if i - start == most or (i > start and size + bytes_here > BYTES_AT_ONCE):
            yield range(start, i)
            start, size = i, 0
        size += bytes_here
    if start < len(texts):
        yield range(start, len(texts))
