"""Limits of what one caller may ask for."""

import asyncio
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request
from live_server import LiveServer
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from quoteweave.core.errors import StateError
from quoteweave.server.access.limits import BodyLimit, TimeLimit, caller_of
from quoteweave.server.access.request_counts import RequestCounts
from quoteweave.server.problems import ProblemError, handle_problems


class Wire:
    """Gives an application the parts of a request, and keeps what it sends."""

    def __init__(self, parts: Iterator[bytes] | None = None, path: str = "/") -> None:
        self._parts, self._path = parts, path
        self.read = 0
        self.sent: list[Message] = []

    async def receive(self) -> Message:
        if self._parts is None:
            await asyncio.Event().wait()
        part = next(self._parts, None) if self._parts else None
        self.read += len(part or b"")
        return {"type": "http.request", "body": part or b"", "more_body": part is not None}

    async def send(self, message: Message) -> None:
        self.sent.append(message)

    def run(self, app: ASGIApp, headers: dict[str, str] | None = None) -> None:
        scope = {
            "type": "http",
            "method": "POST",
            "path": self._path,
            "raw_path": self._path.encode(),
            "root_path": "",
            "query_string": b"",
            "http_version": "1.1",
            "scheme": "http",
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 80),
            "headers": [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()],
        }
        asyncio.run(app(scope, self.receive, self.send))  # type: ignore[arg-type]

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}


def reading_app(limit: int) -> ASGIApp:
    app = FastAPI()
    handle_problems(app)

    @app.post("/")
    async def read(request: Request) -> int:
        return len(await request.body())

    app.add_middleware(BodyLimit, limit=lambda _: limit)
    return app


def endless(part: bytes) -> Iterator[bytes]:
    while True:
        yield part


def test_a_body_beyond_the_limit_is_read_on_so_far_that_its_sender_hears_of_it() -> None:
    for headers in ({}, {"Content-Length": "10000000000"}):
        wire = Wire(endless(b"x" * 1_000_000))
        wire.run(reading_app(1000), headers)
        assert (wire.status, wire.headers["content-type"]) == (413, "application/problem+json")
        assert wire.headers["connection"] == "close"
        assert 2**25 < wire.read < 2**25 + 2_100_000


def test_a_body_for_which_its_sender_asks_first_is_not_read_at_all() -> None:
    wire = Wire(endless(b"x" * 100))
    wire.run(reading_app(1000), {"Content-Length": "1001", "Expect": "100-continue"})
    assert (wire.status, wire.headers["content-type"], wire.read) == (413, "application/problem+json", 0)
    assert wire.headers["connection"] == "close"


def test_a_client_that_sends_ten_megabytes_before_it_reads_hears_that_they_are_too_many(live: LiveServer) -> None:
    question = b'{"question": "%s"}' % (b"grain " * 1_700_000)
    head = (
        f"POST /v1/collections/port/answers HTTP/1.1\r\nHost: 127.0.0.1:{live.port}\r\nContent-Length: {len(question)}"
    )
    with socket.create_connection(("127.0.0.1", live.port), timeout=60) as client:
        client.sendall(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode() + question)
        assert b" 413 " in client.recv(100)


def test_a_body_within_the_limit_is_read() -> None:
    wire = Wire(iter([b"x" * 600, b"x" * 400]))
    wire.run(reading_app(1000))
    assert (wire.status, wire.sent[1]["body"]) == (200, b"1000")


def test_whatever_an_application_makes_of_a_body_that_is_cut_off_it_is_told_as_too_large() -> None:
    async def careless(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})

    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        raise RuntimeError("cut off")

    for app in (careless, failing):
        wire = Wire(iter([b"x" * 100] * 20))
        wire.run(BodyLimit(app, limit=lambda _: 1000))
        assert (wire.status, wire.read) == (413, 2000)


def test_uploads_are_left_to_their_route() -> None:
    async def counting(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive())["more_body"]:
            pass
        await send({"type": "http.response.start", "status": 202, "headers": []})

    for path, status in (("/v1/collections/port/documents", 202), ("/v1/collections/port/documents/x", 413)):
        wire = Wire(iter([b"x" * 600] * 2), path)
        wire.run(BodyLimit(counting, limit=lambda _: 1000))
        assert wire.status == status


def test_a_request_for_which_nothing_is_sent_ends_with_a_problem() -> None:
    async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()

    wire = Wire()
    wire.run(TimeLimit(stuck, seconds=0))
    assert (wire.status, wire.headers["content-type"]) == (504, "application/problem+json")


def test_each_part_that_is_sent_or_read_gives_a_request_its_time_again() -> None:
    deadlines: list[float | None] = []

    async def streaming(scope: Scope, receive: Receive, send: Send) -> None:
        limit: Any = send.__self__.limit  # type: ignore[attr-defined]
        deadlines.append(limit.when())
        await receive()
        deadlines.append(limit.when())
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"part", "more_body": True})
        deadlines.append(limit.when())
        await send({"type": "http.response.body", "body": b"end"})
        deadlines.append(limit.when())

    Wire(iter([b"x" * 70_000])).run(TimeLimit(streaming, seconds=60))
    first, read, part, end = deadlines
    assert first is not None
    assert read is not None
    assert part is not None
    assert first < read < part
    assert end is None  # what runs behind a response has all the time it takes


def test_a_response_under_way_is_cut_off_and_not_completed() -> None:
    async def stuck(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        send.__self__.limit.reschedule(0)  # type: ignore[attr-defined]
        await receive()

    wire = Wire()
    with pytest.raises(TimeoutError):
        wire.run(TimeLimit(stuck, seconds=60))
    assert [message["type"] for message in wire.sent] == ["http.response.start"]


def test_a_time_out_of_the_application_itself_is_not_taken_for_the_limit() -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        raise TimeoutError("of its own")

    wire = Wire()
    with pytest.raises(TimeoutError, match="of its own"):
        wire.run(TimeLimit(failing, seconds=60))
    assert wire.sent == []


@pytest.mark.parametrize("shared", [False, True])
def test_requests_of_a_minute_are_counted_for_each_caller(tmp_path: Path, shared: bool) -> None:
    now = 1000.0
    file = tmp_path / "requests.sqlite" if shared else None
    one = RequestCounts(file, clock=lambda: now)
    other = RequestCounts(file, clock=lambda: now) if shared else one
    for counts in (one, other, one):
        counts.take("a", 3)
        counts.take("c", None)
        now += 10
    other.take("b", 3)
    with pytest.raises(ProblemError, match="3 requests a minute are allowed") as refused:
        other.take("a", 3)
    assert (refused.value.problem.status, refused.value.headers["Retry-After"]) == (429, "30")
    now += 29
    with pytest.raises(ProblemError):
        one.take("a", 3)
    now += 1
    one.take("a", 3)
    with pytest.raises(ProblemError):
        other.take("a", 3)
    with pytest.raises(ProblemError) as lowered:
        other.take("a", 1)  # as where the limit of a key was lowered
    assert lowered.value.headers["Retry-After"] == "60"


@pytest.mark.parametrize("shared", [False, True])
def test_requests_at_the_same_time_are_counted_for_each_caller_and_for_all(tmp_path: Path, shared: bool) -> None:
    file = tmp_path / "requests.sqlite" if shared else None
    one = RequestCounts(file, total=3)
    other = RequestCounts(file, total=3) if shared else one
    with one.hold("a", 2), one.hold("a", 2):
        with pytest.raises(ProblemError) as own, other.hold("a", 2):
            pass
        with one.hold("b", 2), pytest.raises(ProblemError) as all_together, one.hold("c", 2):
            pass
    assert (own.value.problem.status, all_together.value.problem.status) == (429, 503)
    assert own.value.headers["Retry-After"] == "1"
    with other.hold("a", 1):
        pass


def test_what_a_killed_process_had_under_way_does_not_count(tmp_path: Path) -> None:
    file = tmp_path / "requests.sqlite"
    script = (
        "import os; from pathlib import Path; from quoteweave.server.access.request_counts import RequestCounts\n"
        f"RequestCounts(Path({str(file)!r})).hold('a', 1).__enter__(); os._exit(9)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 9
    counts = RequestCounts(file)
    with counts.hold("a", 1), pytest.raises(ProblemError), counts.hold("a", 1):
        pass


def test_a_request_whose_end_could_not_be_counted_counts_no_longer_than_that(tmp_path: Path) -> None:
    file = tmp_path / "requests.sqlite"
    counts = RequestCounts(file)
    blocking = sqlite3.connect(file, isolation_level=None)
    with counts.hold("a", 1):
        blocking.execute("BEGIN IMMEDIATE")
    with pytest.raises(StateError, match=r"requests\.sqlite cannot be used"):
        counts.take("a", 5)
    blocking.execute("ROLLBACK")
    with counts.hold("a", 1), pytest.raises(ProblemError), counts.hold("a", 1):
        pass


def test_a_file_of_counts_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    file = tmp_path / "requests.sqlite"
    file.write_bytes(b"no database at all, but long enough to be read as one" * 100)
    with pytest.raises(StateError, match=r"requests\.sqlite cannot be used"):
        RequestCounts(file)


@pytest.mark.parametrize(
    ("client", "key", "caller"),
    [
        (("192.0.2.7", 5), None, "address 192.0.2.7"),
        (("2001:db8:1:2:3:4:5:6", 5), None, "address 2001:db8:1:2::/64"),
        (("192.0.2.7", 5), "k1", "key k1"),
        (("testclient", 5), None, "address testclient"),
        (None, None, "address unknown"),
    ],
)
def test_by_what_callers_are_counted(client: tuple[str, int] | None, key: str | None, caller: str) -> None:
    assert caller_of({"client": client}, key) == caller
