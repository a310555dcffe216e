"""Clients that hold connections open: they lose them, and the others are answered meanwhile."""

import asyncio
import contextlib
import logging
import queue
import socket
import threading
from collections.abc import Iterator

import pytest
from live_server import LiveServer, Serve

from quoteweave.server.connections import TimedProtocol, allow_many_connections

HEAD = b"POST /v1/collections/port/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
# An answer that is too long to be sent at once to a client that reads nothing, and the fastest of these to make.
PICTURE = b"GET /v1/collections/port/pages/harbour-report.pdf/0/image HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
MANY = 1000


@contextlib.contextmanager
def held_open(server: LiveServer, sent: bytes) -> Iterator[list[socket.socket]]:
    """Many connections on which this is sent, and nothing is read."""
    allow_many_connections()  # both ends are in this process
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(MANY):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=60))
            one.sendall(sent)
            held.append(one)
        yield held


@pytest.mark.parametrize(
    ("sent", "path"),
    [
        (b"", "/v1/collections"),
        (HEAD + b"X-Long: ", "/v1/collections"),
        (HEAD + b"Content-Length: 1000\r\n\r\n{", "/healthz"),
        (PICTURE * 3, "/healthz"),
    ],
    ids=["silent", "half a head", "half a body", "unread"],
)
def test_others_are_answered_while_many_connections_are_held_open(live: LiveServer, sent: bytes, path: str) -> None:
    with held_open(live, sent):
        assert live.client.get(path).status_code == 200


@pytest.mark.parametrize("sent", [b"", b"GET / HT", HEAD])
def test_who_sends_no_whole_head_in_time_loses_the_connection(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(TimedProtocol, "head_seconds", 0.1)
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(sent)
        while connection.recv(1 << 16):
            pass


def test_who_reads_nothing_loses_the_connection_and_no_error_is_logged(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lost, lose = threading.Event(), TimedProtocol.connection_lost

    def losing(protocol: TimedProtocol, error: Exception | None) -> None:
        lose(protocol, error)
        lost.set()

    monkeypatch.setattr(TimedProtocol, "unread_seconds", 0.1)
    monkeypatch.setattr(TimedProtocol, "connection_lost", losing)
    server = serve()
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(PICTURE * 100)
        assert lost.wait(30)
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.skipif(not hasattr(socket, "TCP_NOTSENT_LOWAT"), reason="this system cannot limit what it holds")
def test_the_system_holds_little_for_a_slow_client_so_that_it_is_seen_to_read(
    live: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits, make = queue.Queue[int](), TimedProtocol.connection_made

    def making(protocol: TimedProtocol, transport: asyncio.Transport) -> None:
        make(protocol, transport)
        connection = transport.get_extra_info("socket")
        limits.put(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT))

    monkeypatch.setattr(TimedProtocol, "connection_made", making)
    with socket.create_connection(("127.0.0.1", live.port), timeout=60):
        assert 0 < limits.get(timeout=60) <= 1 << 17
