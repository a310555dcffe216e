"""Faulty endpoints, played by a server on loopback: each call must end in time, in little memory, with a clear error.

    python benchmarks/faults/endpoints.py [--only PART]

Prints the outcome of each fault, and the counts: `error` (a QuoteweaveError), `right` (the right answer in spite of the
fault), `silent` (a wrong result without any message), `raw` (another exception), `late` (more than 15 s; a call is
allowed 5). Exits with 1 if anything is silent, raw or late, or the memory exceeds 1.5 GB.
"""

import asyncio
import gzip
import json
import resource
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent.parent))

from common import Table, arguments, machine, print_results

from quoteweave.core.chat.completions import Completion
from quoteweave.core.errors import QuoteweaveError
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.embeddings import EmbeddingsClient
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.testing import ModelServer, Reply

KEY, TEXT = "sk-secret-0123456789", "It received 1,204 tonnes of grain [1]."
TIMEOUT_S, LATE_S, MAX_BYTES = 1.0, 15.0, 1.5e9
MESSAGES = [{"role": "user", "content": "How much grain?"}]
EVENTS = {"content-type": "text/event-stream"}
MIB = 2**20
OUTCOMES = ("error", "right", "silent", "raw", "late")


@dataclass(frozen=True, slots=True)
class Fault:
    """A client, what its server does, and whether the right result is possible in spite of it."""

    name: str
    ask: Callable[[str], Coroutine[None, None, bool]]
    reply: Reply
    may_be_right: bool = False


async def chat(url: str) -> bool:
    """Whether a whole completion is what the server should have sent."""
    model = OpenAIChat("m", base_url=url, api_key=KEY, timeout_s=TIMEOUT_S, max_retries=1)
    return (await model.complete(MESSAGES)).text == TEXT


async def stream(url: str) -> bool:
    """Whether a streamed completion is what the server should have sent."""
    model, text, last = OpenAIChat("m", base_url=url, api_key=KEY, timeout_s=TIMEOUT_S, max_retries=1), "", None
    async for item in model.stream(MESSAGES):
        last, text = item, text + ("" if isinstance(item, Completion) else item.text)
    return isinstance(last, Completion) and last.text == text == TEXT


async def embed(url: str) -> bool:
    """Whether the vectors of two texts are (1, 2) and (3, 4)."""
    client = EmbeddingsClient("m", base_url=url, api_key=KEY, timeout_s=TIMEOUT_S, max_retries=1)
    return bool((await client.embed(["a", "b"])).vectors.tolist() == [[1, 2], [3, 4]])


async def rerank(url: str) -> bool:
    """Whether the scores of two documents are 0.5 and 0.25."""
    client = RerankClient("m", base_url=url, api_key=KEY, timeout_s=TIMEOUT_S, max_retries=1)
    return await client.score("q", ["a", "b"]) == [0.5, 0.25]


ALL = {"chat": chat, "stream": stream, "embed": embed, "rerank": rerank}
RIGHT: dict[str, Any] = {
    "chat": {"choices": [{"message": {"content": TEXT}, "finish_reason": "stop"}]},
    "embed": {"data": [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [3, 4]}]},
    "rerank": {"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.25}]},
}


def chunk(**said: object) -> bytes:
    """An event of a streamed completion."""
    return b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, **said}]}).encode()


WORD, END, DONE = chunk(delta={"content": TEXT}), chunk(delta={}, finish_reason="stop"), b"data: [DONE]\n\n"


def body(name: str) -> bytes:
    """The right answer for a client, as its server would send it."""
    return WORD + END + DONE if name == "stream" else json.dumps(RIGHT[name]).encode()


def everywhere(name: str) -> Iterator[tuple[str, Reply, bool]]:
    """Faults of any server: name, reply, and whether the right result is possible in spite of it."""
    right, kind = body(name), EVENTS if name == "stream" else {}
    nested = b"[" * 500_000
    bomb = gzip.compress(bytes(300 * MIB), 1)
    for status in (301, 302, 303, 307, 308):
        elsewhere = {"location": "http://127.0.0.2:9/"}
        yield f"redirect {status} to another machine", Reply(status=status, headers=elsewhere), False
    yield "redirect to itself for ever", Reply(status=307, headers={"location": "/v1/chat/completions"}), False
    yield "redirect to nowhere", Reply(status=308, headers={"location": "http://["}), False
    for status in (400, 401, 403, 404, 418, 429, 500, 503):
        yield f"status {status} that echoes the key", Reply(status=status, text=f"you sent {KEY}"), False
    yield "asks for a pause of two minutes", Reply(status=503, headers={"retry-after": "119"}), False
    yield "an error with status 200", Reply(body=b'{"error": {"message": "overloaded"}}'), False
    yield "a web page", Reply(body=b"<html>hello</html>", headers={"content-type": "text/html"}), False
    yield "nothing", Reply(body=b"", headers=kind), False
    yield "closes without a word", Reply(close=True), False
    yield "never answers", Reply(delay_s=600), False
    yield "headers that drip", Reply(raw=b"HTTP/1.1 200 OK\r\nx: ", endless=b"y", every_s=0.3), False
    yield "endless headers", Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 2**18), False
    yield "no HTTP", Reply(raw=b"220 mail.example ESMTP\r\n"), False
    yield "a body that drips", Reply(endless=b" ", every_s=0.3, headers=kind), False
    yield "comments for ever", Reply(body=b"", endless=b": ping\n\n", every_s=0.3, headers=EVENTS), False
    yield "an endless line", Reply(body=right[:9], endless=b"a" * MIB, headers=kind), False
    zeros = b'{"data": [{"index": 0, "embedding": [0'
    yield "endless zeros", Reply(body=zeros, endless=b",0" * 2**19, headers=kind), False
    yield "a gzip bomb", Reply(body=bomb, headers={**kind, "content-encoding": "gzip"}), False
    yield "a gzip bomb as an error", Reply(status=500, body=bomb, headers={"content-encoding": "gzip"}), False
    yield "gzip that is none", Reply(body=right, headers={**kind, "content-encoding": "gzip"}), False
    short = zlib.compress(right)[:-9]
    # The part that a stream loses is behind its end mark.
    yield "deflate cut short", Reply(body=short, headers={**kind, "content-encoding": "deflate"}), name == "stream"
    yield "gzip", Reply(body=gzip.compress(right), headers={**kind, "content-encoding": "gzip"}), True
    yield "nested JSON", Reply(body=b"data: " + nested + b"\n\n" if name == "stream" else nested, headers=kind), False
    yield "nested JSON in an error", Reply(status=400, body=b'{"error": ' + nested), False
    yield "JSON cut short", Reply(body=right[: len(right) // 3], headers=kind), False
    yield "fewer bytes than it says", Reply(body=right, headers=kind, cut_after=len(right) // 2), False
    yield "no UTF-8", Reply(body=right.replace(b"t", b"\xff"), headers=kind), False
    yield "another type of content", Reply(body=right, headers={"content-type": "application/octet-stream"}), True
    yield "an unknown charset", Reply(body=right, headers={"content-type": "text/event-stream; charset=klingon"}), True
    other = b'data: {"hello": 1}\n\n' if name == "stream" else b'{"hello": 1}'
    yield "another JSON", Reply(body=other, headers=kind), False
    yield "a list", Reply(body=b"data: [1]\n\n" if name == "stream" else b"[1]", headers=kind), False


def of_chat() -> Iterator[tuple[str, Reply, bool]]:
    """Faults of whole completions."""
    yield "no choices", Reply(empty=True), False
    yield "an empty answer", Reply(text=" \n"), False
    yield "declines", Reply(refusal=f"not with {KEY}"), False
    yield "two million characters", Reply(text="[1] " * 500_000), False
    yield "half a character", Reply(body=b'{"choices": [{"message": {"content": "\\ud800"}}]}'), False
    yield "a number for a text", Reply(body=b'{"choices": [{"message": {"content": 7}}]}'), False
    yield "a million wrong choices", Reply(body=b'{"choices": [%s1]}' % (b"{}," * 1_000_000)), False


def of_stream() -> Iterator[tuple[str, Reply, bool]]:
    """Faults of streamed completions."""
    word = chunk(delta={"content": "a "})
    yield "a word now and then for ever", Reply(endless=word, every_s=0.3, headers=EVENTS), False
    yield "empty events for ever", Reply(endless=chunk(delta={}), every_s=0.3, headers=EVENTS), False
    yield "words without pause for ever", Reply(endless=chunk(delta={"content": "ab " * 2**15}), headers=EVENTS), False
    yield "lines of one event for ever", Reply(endless=b"data: 123456789\n" * 2**12, headers=EVENTS), False
    yield "ends without a reason", Reply(body=WORD + DONE, headers=EVENTS), False
    yield "ends without a word", Reply(body=DONE, headers=EVENTS), False
    yield "breaks off", Reply(text=TEXT, cut_after=2), False
    yield "a last chunk cut short", Reply(text=TEXT, malformed=True, usage=None), False
    failed = b'data: {"error": {"code": 500}}\n\n'
    yield "an error amid the answer", Reply(body=WORD + failed, headers=EVENTS), False
    yield "open after its end", Reply(body=WORD + END + DONE, endless=b"", every_s=0.3, headers=EVENTS), True
    yield "no usage and no end", Reply(body=WORD + END, endless=b": ping\n\n", every_s=0.3, headers=EVENTS), True
    yield "an answer that is not streamed", Reply(body=body("chat")), False
    yield "white space for ever", Reply(endless=chunk(delta={"content": " " * 2**15}), headers=EVENTS), False


def of_embed() -> Iterator[tuple[str, Reply, bool]]:
    """Faults of embeddings."""
    for name, vectors in {
        "a vector too few": ((1, 2),),
        "a vector too many": ((1, 2), (3, 4), (5, 6)),
        "vectors of two lengths": ((1, 2), (3,)),
        "vectors of no numbers": ((), ()),
        "NaN": ((1, float("nan")), (3, 4)),
        "numbers too large": ((1, 1e300), (3, 4)),
        "zeros": ((0, 0), (3, 4)),
    }.items():
        yield name, Reply(vectors=vectors), False
    for name, first in {
        "the same index twice": {"index": 1, "embedding": [1, 2]},
        "an index that was not asked": {"index": 7, "embedding": [1, 2]},
        "no index": {"embedding": [1, 2]},
        "words for numbers": {"index": 0, "embedding": ["1", "2"]},
        "null for a number": {"index": 0, "embedding": [1, None]},
        "base64": {"index": 0, "embedding": "AACAPwAAAEA="},
    }.items():
        data = json.dumps({"data": [first, RIGHT["embed"]["data"][1]]}).encode()
        yield name, Reply(body=data), False
    yield "another order", Reply(body=json.dumps({"data": RIGHT["embed"]["data"][::-1]}).encode()), True


def of_rerank() -> Iterator[tuple[str, Reply, bool]]:
    """Faults of rerankings."""
    yield "a score too few", Reply(scores=(0.5,)), False
    yield "a score too many", Reply(scores=(0.5, 0.25, 1)), False
    yield "NaN", Reply(scores=(0.5, float("nan"))), False
    for name, first in {
        "the same index twice": {"index": 1, "relevance_score": 0.5},
        "an index that was not asked": {"index": -1, "relevance_score": 0.5},
        "no score": {"index": 0},
        "words for numbers": {"index": 0, "relevance_score": "0.5"},
    }.items():
        yield name, Reply(body=json.dumps({"results": [first, RIGHT["rerank"]["results"][1]]}).encode()), False


OF_ONE: Mapping[str, Callable[[], Iterator[tuple[str, Reply, bool]]]] = {
    "chat": of_chat,
    "stream": of_stream,
    "embed": of_embed,
    "rerank": of_rerank,
}


def faults() -> Iterator[Fault]:
    """All faults."""
    for client, ask in ALL.items():
        for name, reply, right in (*everywhere(client), *OF_ONE[client]()):
            yield Fault(f"{client}: {name}", ask, reply, right)


def outcome(fault: Fault) -> tuple[str, str]:
    """The outcome of a call, as one word and in detail."""
    started = time.monotonic()
    with ModelServer(lambda _: fault.reply) as server:
        try:
            right = asyncio.run(fault.ask(server.base_url))
            kind, detail = ("right" if right and fault.may_be_right else "silent"), f"right: {right}"
        except QuoteweaveError as error:
            kind, detail = "error", str(error)
        except Exception as error:
            kind, detail = "raw", repr(error)
    took = time.monotonic() - started
    if KEY in detail:
        kind = "silent"
    return ("late" if took > LATE_S else kind), f"{took:.1f} s, {detail[:150]}"


def main() -> int:
    """Plays every fault. Returns the exit code."""
    parser = arguments(__doc__)
    parser.add_argument("--only", default="", metavar="PART", help="faults whose names hold this")
    options, found, counts = parser.parse_args(), machine(), Counter[str]()
    for fault in faults():
        if options.only in fault.name:
            kind, detail = outcome(fault)
            counts[kind] += 1
            print(f"{kind:6} {fault.name}: {detail}", file=sys.stderr, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows = [[kind, str(counts[kind])] for kind in OUTCOMES]
    rows.append(["memory, server included, GB", f"{peak / 1e9:.2f}"])
    figures = {"outcomes": {kind: counts[kind] for kind in OUTCOMES}, "peak_bytes": peak}
    print_results(found, figures, [Table(f"{counts.total()} faulty endpoints", ["", "counted"], rows)], options)
    return int(bool(counts["silent"] or counts["raw"] or counts["late"] or peak > MAX_BYTES))


if __name__ == "__main__":
    sys.exit(main())
