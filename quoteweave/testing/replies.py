"""What the scripted model server answers with: replies as they are scripted, or worked out from the request."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.records import Record
from quoteweave.core.tokens import words

DIMENSION = 64


class Reply(Record):
    """What the server does with one request."""

    text: str = Field(default="ok", description="what a chat model says; of an error, its message")
    vectors: tuple[tuple[float, ...], ...] | None = Field(
        default=None, description="embeddings of the inputs; None has them made by `hashed_words`"
    )
    scores: tuple[float, ...] | None = Field(
        default=None, description="relevance of the documents; None has it made by `shared_words`"
    )
    finish_reason: str = "stop"
    usage: Usage | None = Usage(input_tokens=1, output_tokens=1)
    status: int = 200
    headers: Mapping[str, str] = Field(default_factory=dict)
    body: bytes | None = Field(default=None, description="sent as it is, in place of an answer or an error")
    delay_s: float = Field(default=0, description="seconds before it answers; ends early when the server is closed")
    close: bool = Field(default=False, description="close the connection without a word")

    def content(self, task: str, request: Mapping[str, Any]) -> bytes:
        """The body to send for the request to a path that ends in `task`; for a status from 400 an error."""
        if self.body is not None:
            return self.body
        if self.status >= 400:
            return json.dumps({"error": {"message": self.text, "type": "scripted"}}).encode()
        answer = {"completions": self._completion, "embeddings": self._embeddings, "rerank": self._reranking}[task]
        return json.dumps(answer(request)).encode()

    def _completion(self, request: Mapping[str, Any]) -> dict[str, object]:
        message = {"role": "assistant", "content": self.text}
        return {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 0,
            "model": request.get("model"),
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
            **self._usage("prompt_tokens", "completion_tokens"),
        }

    def _embeddings(self, request: Mapping[str, Any]) -> dict[str, object]:
        vectors: Sequence[Sequence[float]] | None = self.vectors
        if vectors is None:
            vectors = [hashed_words(text, request.get("dimensions") or DIMENSION) for text in request["input"]]
        items = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        # Some servers answer in another order than they were asked in; a client has to go by the index.
        return {"object": "list", "model": request.get("model"), "data": items[::-1], **self._usage("prompt_tokens")}

    def _reranking(self, request: Mapping[str, Any]) -> dict[str, object]:
        scores: Sequence[float] | None = self.scores
        if scores is None:
            scores = [shared_words(request["query"], document) for document in request["documents"]]
        results = [{"index": i, "relevance_score": score} for i, score in enumerate(scores)]
        return {"model": request.get("model"), "results": sorted(results, key=lambda r: -r["relevance_score"])}

    def _usage(self, *names: str) -> dict[str, object]:
        if self.usage is None:
            return {}
        return {"usage": dict(zip(names, (self.usage.input_tokens, self.usage.output_tokens), strict=False))}


def hashed_words(text: str, dimension: int = DIMENSION) -> list[float]:
    """A vector of length one that texts share in so far as they share words, the same on every machine."""
    vector = [0.0] * dimension
    for word in words(text) or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[1:]) % dimension] += 1 if digest[0] % 2 else -1
    length = math.sqrt(sum(number * number for number in vector)) or 1.0
    return [number / length for number in vector]


def shared_words(query: str, document: str) -> float:
    """The share of the question's words that the document holds; 0 for a question without words."""
    asked = set(words(query))
    return len(asked & set(words(document))) / max(1, len(asked))
