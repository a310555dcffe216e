"""Servers on loopback, with a thread for each connection, which close all connections when they end."""

import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class LoopbackServer:
    """Answers HTTP/1.1 on a free port while its `with` block lasts; `handler` says how.

    `connections` is how many connections clients have opened; they stay open between requests.
    """

    def __init__(self, handler: "type[LoopbackHandler]") -> None:
        self.connections = 0
        self._lock = threading.Condition()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._http = LoopbackHttp(self, handler)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def port(self) -> int:
        """The port that the server listens on."""
        return self._http.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        with self._lock:
            for connection in self._open:
                with suppress(OSError):  # the client may have closed it
                    connection.shutdown(socket.SHUT_RDWR)

    def wait_until_left(self, seconds: float) -> bool:
        """Wait until clients have closed all their connections; return False if some are still open."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._open, seconds)

    def _opened(self, connection: socket.socket) -> None:
        with self._lock:
            self.connections += 1
            self._open.add(connection)

    def _closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)
            self._lock.notify_all()

    def _wait(self, seconds: float) -> bool:
        """Wait until the server is being closed, but no longer than this; return whether it is."""
        return self._closing.wait(seconds) if seconds else self._closing.is_set()


class LoopbackHttp(ThreadingHTTPServer):
    """The socket of a server, with a thread for each connection."""

    request_queue_size = 1024  # with 5, most of many connections at once would be refused, and tried again after 1 s

    def __init__(self, owner: LoopbackServer, handler: "type[LoopbackHandler]") -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.owner = owner


class LoopbackHandler(BaseHTTPRequestHandler):
    """Base class of handlers of the requests of one connection."""

    server: LoopbackHttp
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else the body of an answer waits 40 ms until its headers are acknowledged

    def setup(self) -> None:
        """Count the connection as open."""
        super().setup()
        self.server.owner._opened(self.connection)

    def finish(self) -> None:
        """No longer count the connection."""
        self.server.owner._closed(self.connection)
        with suppress(ConnectionError):
            super().finish()

    def handle(self) -> None:
        """Answer the requests of the connection."""
        # Some tests let clients give up waiting, which is no reason to print a traceback.
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def read_body(self) -> bytes | None:
        """Return the body of the request; None if the client has disconnected."""
        length = int(self.headers.get("Content-Length", "0"))
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True
            return None
        return body

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing: the server's `requests` hold what was received."""
