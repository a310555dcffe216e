"""What a client does where no server answers, another one does, or the server refuses; and where its key goes."""

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from email.utils import format_datetime

import pytest
from scripted_server import Scripted, ScriptedServer

from quoteweave import Client
from quoteweave.client import connection
from quoteweave.client.connection import ServerEvent, read_events, server_address
from quoteweave.core import errors
from quoteweave.interchange.problems import Problem, error_of_problem, problem_of_error

KEY = "qw_0123abcd_" + "9" * 64
COLLECTIONS = json.dumps(
    {"collections": [{"name": "port", "counts": None, "error": "damaged", "colour": "red"}], "of_a_newer": "version"}
).encode()
FOUND = Scripted(COLLECTIONS)


def problem(status: int, kind: str = "x", detail: str = "told", **headers: str) -> Scripted:
    body = {"type": f"urn:quoteweave:problem:{kind}", "title": "T", "status": status, "detail": detail, "newer": 1}
    sent = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Scripted(json.dumps(body).encode(), status, "application/problem+json", sent)


def stream(*events: tuple[str, object]) -> Scripted:
    text = "".join(f"event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n" for name, data in events)
    return Scripted(text.encode(), kind="text/event-stream")


@pytest.fixture(autouse=True)
def _no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_KEY", raising=False)


def test_fields_of_a_newer_server_are_left_out() -> None:
    with ScriptedServer(FOUND) as server:
        (found,) = Client(server.url).collections()
    assert (found.name, found.error) == ("port", "damaged")


def test_a_path_before_the_servers_own_is_kept() -> None:
    with ScriptedServer(FOUND) as server:
        Client(f"{server.url}/docs/").collections()
    assert server.received[0].path == "/docs/v1/collections"


def test_the_key_comes_from_the_argument_else_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(FOUND) as server:
        Client(server.url).collections()
        monkeypatch.setenv("QUOTEWEAVE_KEY", f" {KEY}\n")
        Client(server.url).collections()
        Client(server.url, "qw_other").collections()
    sent = [request.headers.get("authorization") for request in server.received]
    assert sent == [None, f"Bearer {KEY}", "Bearer qw_other"]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_the_key_goes_to_no_other_origin(status: int) -> None:
    with ScriptedServer(FOUND) as other:
        away = Scripted(status=status, headers=(("Location", f"{other.url}/v1/collections?key={KEY}"),))
        with ScriptedServer(away) as server, pytest.raises(errors.ServerBadResponse, match="not followed") as told:
            Client(server.url, KEY).collections()
    assert other.received == []
    assert KEY not in str(told.value)


def test_a_redirect_within_the_server_is_followed_with_the_key() -> None:
    onward = Scripted(status=307, headers=(("Location", "/elsewhere"),))
    with ScriptedServer(onward, FOUND) as server:
        Client(server.url, KEY).collections()
    assert [request.path for request in server.received] == ["/v1/collections", "/elsewhere"]
    assert server.received[1].headers["authorization"] == f"Bearer {KEY}"


def test_a_key_that_the_server_repeats_is_not_told() -> None:
    repeats = problem(422, "not-possible", f"no {KEY} here")
    with ScriptedServer(repeats) as server, pytest.raises(errors.UsageError, match=r"no \[redacted\] here"):
        Client(server.url, KEY).collections()
    assert KEY not in repr(server_address(server.url, KEY))


@pytest.mark.parametrize(
    ("url", "key", "told"),
    [
        ("localhost:8321", None, "no address of a server"),
        ("ftp://host", None, "no address of a server"),
        ("http://host/?key=secret", None, "http://host is no address"),
        ("http://host", "a\nb", "line break"),
        ("http://me:secret@host", "qw_key", "address of http://host holds a user name"),
    ],
)
def test_what_is_no_address_or_key_is_told_at_once(url: str, key: str | None, told: str) -> None:
    with pytest.raises(errors.UsageError, match=told) as error:
        Client(url, key)
    assert "secret" not in str(error.value)


def test_a_user_name_in_the_address_is_sent_where_there_is_no_key() -> None:
    with ScriptedServer(FOUND) as server:
        Client(server.url.replace("//", "//me:secret@")).collections()
    assert server.received[0].headers["authorization"].startswith("Basic ")


def test_a_server_that_is_not_there_is_told_with_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        with pytest.raises(errors.ServerUnreachable, match=rf"No answer from http://127\.0\.0\.1:{port}: .*Check"):
            Client(f"http://me:secret@127.0.0.1:{port}").collections()


@pytest.mark.parametrize(
    "reply",
    [
        Scripted(b"<html>Welcome</html>", kind="text/html"),
        Scripted(b"<html>Not here</html>", 404, "text/html"),
        Scripted(b'{"detail": "Not Found"}', 404),
        Scripted(b'{"collections": 7}'),
        Scripted(b"[" * 100_000),
        Scripted(
            b'{"type":"about:blank","title":"","status":404,"detail":"Not Found"}', 404, "application/problem+json"
        ),
        Scripted(b"{}", 500, "application/problem+json"),
    ],
)
def test_a_server_that_is_another_is_told(reply: Scripted) -> None:
    with ScriptedServer(reply) as server:
        with pytest.raises(errors.ServerBadResponse, match="not a quoteweave server's"):
            Client(server.url).collections()
        with pytest.raises(errors.ServerBadResponse, match="not a quoteweave server's"):
            list(Client(server.url, collection="port").stream("x"))


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        (problem(401, "missing-key"), errors.KeyRefused, "no key was sent.*QUOTEWEAVE_KEY"),
        (problem(403, "missing-scope"), errors.PermissionDenied, "told"),
        (problem(429, "too-many-requests"), errors.TooManyRequests, "told"),
        (problem(500, "internal"), errors.ServerError, "told"),
        (problem(504, "too-slow"), errors.ServerError, "told"),
        (problem(501, "missing-extra"), errors.ServerError, "told"),
        (problem(503, "model-unavailable"), errors.EndpointError, "told"),
        (problem(413, "upload-too-large"), errors.UsageError, "told"),
        (Scripted(b"<html>", 401, "text/html"), errors.KeyRefused, "401"),
        (Scripted(b"<html>", 403, "text/html"), errors.PermissionDenied, "403"),
        (Scripted(b"<html>", 502, "text/html"), errors.ServerUnreachable, "502"),
    ],
)
def test_a_refusal_has_a_class_of_its_own(reply: Scripted, kind: type[Exception], told: str) -> None:
    with ScriptedServer(reply) as server, pytest.raises(kind, match=told) as error:
        Client(server.url).collections()
    assert type(error.value) is kind
    assert len(server.received) == 1


@pytest.mark.parametrize("pause", ["0", format_datetime(datetime(2020, 1, 1, tzinfo=UTC), usegmt=True)])
@pytest.mark.parametrize("status", [429, 503])
def test_a_request_is_sent_again_where_the_server_says_when(status: int, pause: str) -> None:
    with ScriptedServer(problem(status, "busy", Retry_After=pause), FOUND) as server:
        assert Client(server.url).collections()
    assert len(server.received) == 2


@pytest.mark.parametrize(("pause", "requests"), [("0", 4), ("86400", 1), ("soon", 1)])
def test_it_is_not_sent_again_for_ever(pause: str, requests: int) -> None:
    with ScriptedServer(problem(429, Retry_After=pause)) as server, pytest.raises(errors.TooManyRequests):
        Client(server.url, max_retries=3).collections()
    assert len(server.received) == requests


DRIPPING = 0.2
THOUGHT = b'event: thought\ndata: {"type": "thought", "text": "hm"}\n\n'


@pytest.mark.parametrize("event", [b": still here\n\n", THOUGHT])
def test_a_stream_that_drips_ends_with_the_limit_of_the_call(event: bytes) -> None:
    with (
        ScriptedServer(Scripted(b"", kind="text/event-stream", endless=event)) as server,
        pytest.raises(errors.ServerUnreachable, match=r"within 1 s, the limit of a call"),
    ):
        list(Client(server.url, collection="port", timeout_s=DRIPPING).stream("How much?"))


def test_a_stream_that_never_pauses_ends_with_the_limit_of_the_call() -> None:
    async def events() -> AsyncIterator[ServerEvent]:
        while True:
            yield ServerEvent("thought", b"hm")

    async def read() -> None:
        async for _ in connection.within(events(), 0.05):
            pass

    with pytest.raises(TimeoutError):
        asyncio.run(read())


def test_a_body_that_drips_ends_with_the_limit_of_the_call() -> None:
    with (
        ScriptedServer(Scripted(b"", endless=b" ")) as server,
        pytest.raises(errors.ServerUnreachable, match=r"within 1 s, the limit of a call"),
    ):
        Client(server.url, timeout_s=DRIPPING).collections()


def test_a_job_may_take_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "TIMEOUTS_OF_A_CALL", 0)
    job = {"id": "j", "kind": "add", "collection": "port", "status": "done", "created": 0}
    with ScriptedServer(stream(("job", job))) as server:
        assert Client(server.url).wait_for_job("j").id == "j"
        with pytest.raises(errors.ServerUnreachable, match="the limit of a call"):
            Client(server.url).job("j")


def test_a_stream_that_ends_early_is_told_and_unknown_events_are_passed_over() -> None:
    line = "one\u2028two\x85three"
    with ScriptedServer(stream(("of-a-newer-version", {}), ("text", {"type": "text", "text": line}))) as server:
        events = Client(server.url, collection="port").stream("x")
        assert getattr(next(events), "text") == line  # noqa: B009
        with pytest.raises(errors.ServerUnreachable, match="ended its response early"):
            next(events)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_events_are_read_however_they_are_cut(newline: str, size: int) -> None:
    text = ': a comment\n\nevent: text\ndata: {"a":\ndata:  "\u2028"}\nid: 7\n\ndata: 1\n\nevent: cut\ndata: 2\n'
    data = text.replace("\n", newline).encode()

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(data), size):
            yield data[start : start + size]

    async def read() -> list[ServerEvent]:
        return [event async for event in read_events(parts())]

    assert asyncio.run(read()) == [
        ServerEvent("text", '{"a":\n "\u2028"}'.encode()),
        ServerEvent("message", b"1"),
    ]


@pytest.mark.parametrize(
    "error",
    [
        errors.UsageError("a"),
        errors.QuestionEmpty("a"),
        errors.QuestionTooLong("a"),
        errors.BudgetSpent("a"),
        errors.QuoteNotFound("a"),
        errors.CollectionLocked("a"),
        errors.IndexMissing("a"),
        errors.CollectionError("a"),
        errors.DocumentError("a"),
        errors.StorageError("a"),
        errors.EndpointError("a"),
    ],
)
def test_an_error_comes_back_as_itself(error: errors.QuoteweaveError) -> None:
    problem = Problem.model_validate_json(problem_of_error(error).model_dump_json())
    back = error_of_problem(problem.model_copy(update={"request_id": "r1"}))
    assert (type(back), str(back), back.__notes__) == (type(error), "a", ["The server's log names the request r1."])
