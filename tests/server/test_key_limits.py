"""Limits that a key has of its own, in place of the server's: of size, of rate, and of requests at the same time."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from live_server import LiveServer, Serve

from quoteweave.collection.collection import Collection
from quoteweave.server.access.keys import KeyLimits, KeyRequest, KeyStore
from quoteweave.server.settings import ServerSettings

PORT = "/v1/collections/port"
Header = dict[str, str]


@pytest.fixture
def keys(tmp_path: Path) -> KeyStore:
    return KeyStore(tmp_path / "state")


def made(keys: KeyStore, name: str, **limits: int) -> Header:
    """The header of a new key that may write, with these limits of its own."""
    return {"Authorization": f"Bearer {keys.add(KeyRequest(name, ('write',), limits=limits))[1]}"}


def result(response: Any) -> tuple[int, str | None]:
    """The status, and of a problem its kind."""
    found = response.json().get("type") if response.status_code >= 400 else None
    return response.status_code, found and found.rpartition(":")[2]


def test_each_limit_of_a_key_is_a_setting_of_the_server() -> None:
    assert set(KeyLimits.model_fields) <= set(ServerSettings.model_fields)


def test_a_key_may_ask_longer_or_only_shorter_questions_than_the_server_takes(serve: Serve, keys: KeyStore) -> None:
    short, usual, long = made(keys, "short", max_question=10), made(keys, "usual"), made(keys, "long", max_question=50)
    server = serve(max_question=30)
    for header, most in ((short, 10), (usual, 30), (long, 50)):
        for path, field in ((f"{PORT}/search", "question"), (f"{PORT}/answers", "question")):
            fits, too_long = ({field: "x" * size} for size in (most, most + 1))
            assert result(server.client.post(path, json=fits, headers=header)) == (200, None)
            assert result(server.client.post(path, json=too_long, headers=header)) == (413, "question-too-long")


def test_the_forms_of_other_apis_hold_to_the_length_of_a_keys_questions(serve: Serve, keys: KeyStore) -> None:
    header, question = made(keys, "short", max_question=10), "x" * 11
    client = serve().client
    chat = {"model": "port", "messages": [{"role": "user", "content": question}]}
    for path, body in (("/v1/chat/completions", chat), ("/v1/responses", {"model": "port", "input": question})):
        assert client.post(path, json=body, headers=header).status_code == 413
    accept = {"Accept": "application/json, text/event-stream", **header}
    for tool, field in (("search", "query"), ("ask", "question")):
        params = {"name": tool, "arguments": {field: question}}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        assert "may have 10 here" in client.post("/mcp", json=call, headers=accept).text


def test_a_key_may_send_longer_or_only_shorter_bodies_than_the_server_takes(serve: Serve, keys: KeyStore) -> None:
    long, usual, short = made(keys, "long", max_body=8192), made(keys, "usual"), made(keys, "short", max_body=1024)
    client, accept = serve(max_body=4096).client, {"Accept": "application/json, text/event-stream"}
    listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    for header, most in ((short, 1024), (usual, 4096), (long, 8192)):
        for path, body in ((f"{PORT}/search", {"question": "grain"}), ("/mcp", listing)):
            fits = _padded(body, most)
            sent = {"Content-Type": "application/json", **accept, **header}
            assert client.post(path, content=fits, headers=sent).status_code == 200, (path, most)
            assert result(client.post(path, content=fits + b" ", headers=sent)) == (413, "body-too-large")


def _padded(body: object, size: int) -> bytes:
    return json.dumps(body).encode().ljust(size)


def test_a_key_may_upload_more_or_less_than_the_server_takes(
    keys: KeyStore, tmp_path: Path, empty_collection: Path
) -> None:
    small = made(keys, "small", max_upload=2000)
    together = made(keys, "together", max_upload_request=5000)
    large = made(keys, "large", max_upload=6000, max_upload_request=20_000)
    usual = made(keys, "usual")
    settings = ServerSettings(
        collections={"port": empty_collection}, state=tmp_path / "state", max_upload=4000, max_upload_request=10_000
    )
    refused = (413, "upload-too-large")
    with LiveServer(settings) as server:
        for header, sizes, expected in (
            (small, [2001], refused),
            (small, [2000], (202, None)),
            (usual, [4001], refused),
            (together, [3000, 3000], refused),
            (large, [6001], refused),
            (large, [6000, 5000], (202, None)),
        ):
            files = [("files", (f"{at}-{size}.txt", b"x" * size)) for at, size in enumerate(sizes)]
            assert result(server.client.post(f"{PORT}/documents", files=files, headers=header)) == expected, sizes


@pytest.fixture
def empty_collection(tmp_path: Path) -> Path:
    Collection.create(tmp_path / "empty").close()
    return tmp_path / "empty"


def test_a_key_may_have_more_or_fewer_requests_under_way(serve: Serve, keys: KeyStore) -> None:
    server = serve(concurrency=2)
    limits: tuple[tuple[int, dict[str, int]], ...] = ((1, {"concurrency": 1}), (2, {}), (3, {"concurrency": 3}))
    for most, own in limits:
        for under_way, expected in ((most - 1, (200, None)), (most, (429, "too-many-at-once"))):
            # A key for each case: when the server hears that a client has gone is not known.
            header = made(keys, f"{most} {under_way}", **own)
            with waiting(server, header, under_way):
                response = server.client.get("/v1/models", headers=header)
                assert result(response) == expected
                assert ("retry-after" in response.headers) == (expected[0] == 429)


@contextmanager
def waiting(server: LiveServer, header: Header, count: int) -> Iterator[None]:
    """Requests of a key that have been let in, and whose bodies have not come."""
    head = f"POST {PORT}/search HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {header['Authorization']}\r\n"
    clients = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(count)]
    try:
        for client in clients:
            client.sendall(f"{head}Expect: 100-continue\r\nContent-Length: 20\r\n\r\n".encode())
            assert client.recv(100).startswith(b"HTTP/1.1 100 ")  # its route reads the body by now
        yield
    finally:
        for client in clients:
            client.close()
