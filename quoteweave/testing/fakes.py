"""Fakes of models, encoders and retrievers, whose results are given or follow from words alone."""

import hashlib
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from quoteweave.core.chat.completions import ChatMessage, Completion, CompletionDelta
from quoteweave.core.protocols import Expansion, Reranking, SettingValue
from quoteweave.core.records import Filter, Hit, Query, Quote

if TYPE_CHECKING:
    from PIL.Image import Image

    from quoteweave.core.protocols import Matrix

Spoil = Callable[["list[Matrix]"], "list[Matrix]"]


class FakeEncoder:
    """An Encoder that hashes each word into a direction, so that texts with common words have similar vectors.

    A text's vector is the sum of its words' vectors, scaled to length one; with `multi_vector` each word has its own.
    The word of a picture is the colour of its middle, as `#ff0000`. `views` and `queries` hold what each call was
    given. `spoil` gets the vectors of views before they are returned: it may change them, or raise.
    """

    def __init__(
        self,
        *,
        name: str = "fake",
        dimension: int = 64,
        reads: Literal["text", "image"] = "text",
        multi_vector: bool = False,
        settings: Mapping[str, SettingValue] | None = None,
        spoil: Spoil | None = None,
    ) -> None:
        self.name, self.reads, self.multi_vector = name, reads, multi_vector
        self.settings: Mapping[str, SettingValue] = {"checkpoint": name, "dimensions": dimension, **(settings or {})}
        self.spoil = spoil
        self.views: list[list[str]] = []
        self.queries: list[list[str]] = []
        self._dimension = dimension

    def encode_queries(self, texts: Sequence[str]) -> "list[Matrix]":
        """A matrix for each question."""
        self.queries.append(list(texts))
        return [self._encode(text) for text in texts]

    def encode_views(self, views: "Sequence[str] | Sequence[Image]") -> "list[Matrix]":
        """A matrix for each view."""
        texts = [view if isinstance(view, str) else colour(view) for view in views]
        self.views.append(texts)
        vectors = [self._encode(text) for text in texts]
        return vectors if self.spoil is None else self.spoil(vectors)

    def _encode(self, text: str) -> "Matrix":
        import numpy as np

        words = re.findall(r"#?\w+", text.casefold()) or [""]
        vectors = np.stack([self._direction(word) for word in words])
        if not self.multi_vector:
            vectors = vectors.sum(axis=0, keepdims=True)
        matrix: Matrix = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return matrix

    def _direction(self, word: str) -> "Matrix":
        import numpy as np

        seed = int.from_bytes(hashlib.sha256(word.encode("utf-8", "surrogatepass")).digest()[:8], "little")
        return np.random.default_rng(seed).standard_normal(self._dimension).astype(np.float32)


def colour(picture: "Image") -> str:
    """The colour in the middle of a picture, as `#ff0000`."""
    rgb = picture.convert("RGB").getpixel((picture.width // 2, picture.height // 2))
    return "#" + "".join(f"{part:02x}" for part in rgb) if isinstance(rgb, tuple) else ""


class FakeChat:
    """A StreamingChatModel that returns its replies in turn: a string as a completion; an exception is raised.

    Streams are cut into pieces of `size` characters. `requests` holds the messages of each call. Raises IndexError when
    there is no reply left.
    """

    def __init__(self, replies: Sequence[str | Completion | Exception], *, name: str = "fake", size: int = 3) -> None:
        self.name = name
        self._size = size
        self.requests: list[list[ChatMessage]] = []
        self._replies = list(replies)

    def request_settings(self) -> Mapping[str, object]:
        """Return nothing: a fake has no settings."""
        return {}

    async def complete(self, messages: Sequence[ChatMessage]) -> Completion:
        """The next reply."""
        self.requests.append(list(messages))
        reply = self._replies[len(self.requests) - 1]
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Completion) else Completion(text=reply, model=self.name)

    async def stream(self, messages: Sequence[ChatMessage]) -> AsyncGenerator[CompletionDelta | Completion, None]:
        """The next reply in pieces, its reasoning first, and then whole."""
        reply = await self.complete(messages)
        if reply.reasoning:
            yield CompletionDelta(reasoning=reply.reasoning)
        for start in range(0, len(reply.text), self._size):
            yield CompletionDelta(text=reply.text[start : start + self._size])
        yield reply


class FakeRetriever:
    """A Retriever that returns the same quotes for every query, in the order given, with scores 1, 1/2, 1/3…

    `filters` holds the `where` of each call; it filters nothing.
    """

    def __init__(self, quotes: Sequence[Quote]) -> None:
        self.filters: list[Filter | None] = []
        self._hits = [Hit(rank=rank, score=1 / rank, quote=quote) for rank, quote in enumerate(quotes, 1)]

    def search(self, queries: Sequence[Query], k: int, *, where: Filter | None = None) -> list[list[Hit]]:
        """The first `k` quotes, once for each query."""
        self.filters.append(where)
        return [self._hits[:k] for _ in queries]


class FakeReranker:
    """A Reranker that orders hits by `score`, a function of the question and the quote; ties stay in order.

    `queries` holds the question of each call.
    """

    def __init__(self, score: Callable[[str, Quote], float], *, name: str = "fake") -> None:
        self.name = name
        self.queries: list[str] = []
        self._score = score

    async def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """The hits, with their new scores and ranks."""
        self.queries.append(query.text)
        scored = sorted(((self._score(query.text, hit.quote), hit.quote) for hit in hits), key=lambda pair: -pair[0])
        ranked = (Hit(rank=rank, score=score, quote=quote) for rank, (score, quote) in enumerate(scored, 1))
        return Reranking(hits=tuple(ranked))


class FakeExpander:
    """An Expander that returns the same clauses for every question; if none are given, the question and `note`."""

    def __init__(self, clauses: Sequence[str] = (), *, note: str | None = None, name: str = "fake") -> None:
        self.name = name
        self._clauses, self._note = tuple(clauses), note

    async def expand(self, query: Query, *, where: Filter | None = None) -> Expansion:  # noqa: ARG002
        """The clauses."""
        return Expansion(clauses=self._clauses or (query.text,), note=self._note)
