"""A scripted server of models on loopback, to test clients over real HTTP, including faults.

Its replies are scripted, or computed from the request.
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import cycle
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.records import Record
from quoteweave.core.text.tokens import words
from quoteweave.testing.loopback import LoopbackHandler, LoopbackServer

DIMENSION = 64


class Reply(Record):
    """What the server does with one request.

    Other faults need no field of their own: "too many requests" is `status=429, headers={"retry-after": "1"}`, an
    enormous answer is a long `text`, a mark out of range is `text="[99]"`.
    """

    text: str = Field(default="ok", description="what a chat model says; of an error, its message")
    reasoning: str | None = Field(default=None, description="what a chat model says before its answer")
    reasoning_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    tool_calls: tuple[tuple[str, str], ...] = Field(
        default=(), description="name and arguments of the tools that a chat model calls; never streamed"
    )
    refusal: str | None = Field(default=None, description="said by a chat model in place of `text`")
    empty: bool = Field(default=False, description="a completion without choices")
    malformed: bool = Field(default=False, description="JSON that ends in the middle; of a stream, its last chunk's")
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
    raw: bytes | None = Field(default=None, description="sent in place of all, status line and headers included")
    endless: bytes | None = Field(
        default=None, description="sent after `body` over and over, until the client leaves or the server is closed"
    )
    every_s: float = Field(default=0, description="seconds before each time that `endless` is sent")
    delay_s: float = Field(default=0, description="seconds before it answers; ends early when the server is closed")
    close: bool = Field(default=False, description="close the connection without a word")
    cut_after: int | None = Field(
        default=None, ge=0, description="chunks of a stream, or bytes of another body, before the connection breaks"
    )
    sizes: tuple[int, ...] = Field(
        default=(16,), min_length=1, description="characters in each chunk of a stream, over and over"
    )
    delays_s: tuple[float, ...] = Field(
        default=(), description="seconds before each chunk of a stream, none after the last; end like `delay_s`"
    )

    def content(self, task: str, request: Mapping[str, Any]) -> bytes:
        """The body of the response to a request whose path ends in `task`; an error for a status of 400 or more."""
        if self.body is not None:
            return self.body
        if self.status >= 400:
            return json.dumps({"error": {"message": self.text, "type": "scripted"}}).encode()
        answer = {"completions": self._completion, "embeddings": self._embeddings, "rerank": self._reranking}[task]
        return self._json(answer(request), complete=not self.malformed)

    def streams(self, request: Mapping[str, Any]) -> bool:
        """Whether the request is answered by `events`, not by `content`."""
        return request.get("stream") is True and self.body is None and self.status < 400

    def events(self, request: Mapping[str, Any]) -> list[bytes]:
        """A streamed completion as server-sent events: one for each chunk, the last of which says that it is done."""
        deltas: list[tuple[dict[str, str], str | None]] = [({"role": "assistant", "content": ""}, None)]
        for name, fields in self._message_fields().items():
            deltas += [({name: part}, None) for part in _parts(fields, self.sizes)]
        chunks = [self._chunk(request, "delta", *delta) for delta in [*deltas, ({}, self.finish_reason)]]
        usage = self._usage("prompt_tokens", "completion_tokens")
        if usage and (request.get("stream_options") or {}).get("include_usage"):
            chunks.append({**chunks[0], "choices": [], **usage})
        last = len(chunks) - 1
        data = [self._json(chunk, complete=i < last or not self.malformed) for i, chunk in enumerate(chunks)]
        return [b"data: %s\n\n" % event for event in [*data, b"[DONE]"]]

    def _completion(self, request: Mapping[str, Any]) -> dict[str, object]:
        message: dict[str, Any] = {"role": "assistant", "content": None, **self._message_fields()}
        if self.tool_calls:
            message["tool_calls"] = [
                {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
                for number, (name, arguments) in enumerate(self.tool_calls)
            ]
        completion = self._chunk(request, "message", message, self.finish_reason)
        return {**completion, "object": "chat.completion", **self._usage("prompt_tokens", "completion_tokens")}

    def _message_fields(self) -> dict[str, str]:
        answer = {"content": self.text} if self.refusal is None else {"refusal": self.refusal}
        return answer if self.reasoning is None else {self.reasoning_field: self.reasoning, **answer}

    def _chunk(
        self, request: Mapping[str, Any], name: str, fields: Mapping[str, Any], finish_reason: str | None
    ) -> dict[str, object]:
        return {
            "id": "chatcmpl-scripted",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": request.get("model"),
            "choices": [] if self.empty else [{"index": 0, name: fields, "finish_reason": finish_reason}],
        }

    @staticmethod
    def _json(value: object, *, complete: bool) -> bytes:
        data = json.dumps(value).encode()
        return data if complete else data[: len(data) // 2]

    def _embeddings(self, request: Mapping[str, Any]) -> dict[str, object]:
        vectors: Sequence[Sequence[float]] | None = self.vectors
        if vectors is None:
            vectors = [hashed_words(text, request.get("dimensions") or DIMENSION) for text in request["input"]]
        items = [{"object": "embedding", "index": i, "embedding": vector} for i, vector in enumerate(vectors)]
        # Reversed, because some servers answer in another order than requested: clients must go by the index.
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


def _parts(text: str, sizes: Sequence[int]) -> Iterator[str]:
    start = 0
    for size in cycle(sizes):
        if start >= len(text):
            return
        yield text[start : start + size]
        start += size


def hashed_words(text: str, dimension: int = DIMENSION) -> list[float]:
    """A vector of length one; texts that share words have similar vectors. It is the same on every machine."""
    vector = [0.0] * dimension
    for word in words(text) or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        vector[int.from_bytes(digest[1:]) % dimension] += 1 if digest[0] % 2 else -1
    if not any(vector):  # where words cancel each other out; no model returns a vector of zeros
        vector[0] = 1.0
    length = math.sqrt(sum(number * number for number in vector))
    return [number / length for number in vector]


def shared_words(query: str, document: str) -> float:
    """The share of the question's words that the document contains; 0 for a question without words."""
    query_words = set(words(query))
    return len(query_words & set(words(document))) / max(1, len(query_words))


Script = Sequence[Reply] | Callable[[Mapping[str, Any]], Reply]

PATHS = ("/v1/chat/completions", "/v1/embeddings", "/rerank", "/v1/rerank", "/v2/rerank")


class ModelServer(LoopbackServer):
    """Serves POST /v1/chat/completions, /v1/embeddings and /v1/rerank while its `with` block lasts.

    `/rerank` is served below /v2 and at the root as well.
    `script` is a list of replies, used one for each request (after the last, the server answers 400), or a function of
    the request's JSON; without it, every request is answered by `Reply()`. `paths`, `requests` and `headers` hold what
    was received, in order; header names are in lower case. `connections` is how many connections clients have opened;
    they stay open between requests, as usual in HTTP/1.1.
    """

    def __init__(self, script: Script | None = None) -> None:
        super().__init__(_Handler)
        self.paths: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script = script if script is not None else lambda _: Reply()

    @property
    def base_url(self) -> str:
        """The base URL for clients."""
        return f"http://127.0.0.1:{self.port}/v1"

    def _reply(self, path: str, request: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self._lock:
            self.paths.append(path)
            self.requests.append(request)
            self.headers.append(headers)
            if callable(self._script):
                return self._script(request)
            if len(self.requests) > len(self._script):
                return Reply(status=400, text=f"the script holds {len(self._script)} replies and no more")
            return self._script[len(self.requests) - 1]


class _Handler(LoopbackHandler):
    @property
    def _script(self) -> ModelServer:
        return cast(ModelServer, self.server.owner)

    def do_POST(self) -> None:
        raw = self.read_body()
        if raw is None:
            return
        path = urlsplit(self.path).path
        if path not in PATHS:
            missing = Reply(status=404, text=f"no such path: {self.path}")
            self._send(missing, missing.content("", {}))
            return
        request = json.loads(raw)
        reply = self._script._reply(self.path, request, {name.lower(): value for name, value in self.headers.items()})
        self._script._wait(reply.delay_s)
        if reply.close:
            self.close_connection = True
        elif reply.raw is not None:
            self.wfile.write(reply.raw)
            self._repeat(reply, reply.endless)
        elif reply.endless is not None:
            self._send_endlessly(reply, reply.endless)
        elif path == PATHS[0] and reply.streams(request):
            self._stream(reply, request)
        else:
            self._send(reply, reply.content(path.rpartition("/")[2], request))

    def _send(self, reply: Reply, content: bytes) -> None:
        self._start(reply, {"Content-Type": "application/json", "Content-Length": str(len(content))})
        self.wfile.write(content[: reply.cut_after])
        self.close_connection = reply.cut_after is not None

    def _stream(self, reply: Reply, request: Mapping[str, Any]) -> None:
        self._start(reply, {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"})
        for number, event in enumerate(reply.events(request)):
            self._script._wait(reply.delays_s[number] if number < len(reply.delays_s) else 0)
            if number == reply.cut_after:
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%s\r\n" % (len(event), event))
        self.wfile.write(b"0\r\n\r\n")

    def _send_endlessly(self, reply: Reply, part: bytes) -> None:
        self._start(reply, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
        if reply.body:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(reply.body), reply.body))
        self._repeat(reply, b"%x\r\n%s\r\n" % (len(part), part) if part else b"")

    def _repeat(self, reply: Reply, part: bytes | None) -> None:
        self.close_connection = True
        while part is not None and not self._script._closing.is_set():
            self.wfile.write(part)
            self._script._wait(reply.every_s)

    def _start(self, reply: Reply, headers: Mapping[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()
