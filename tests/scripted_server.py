"""A server on loopback that gives scripted responses to any request, and keeps what was sent to it."""

import threading
from collections.abc import Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self


class Scripted(NamedTuple):
    """A response; the last of a script is given again and again."""

    body: bytes = b"{}"
    status: int = 200
    kind: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    endless: bytes = b""
    """Sent after the body a hundred times a second, until the client leaves or the server ends."""


class Received(NamedTuple):
    """A request."""

    path: str
    headers: dict[str, str]
    body: bytes


class ScriptedServer:
    """Answers requests while its `with` block lasts."""

    def __init__(self, *script: Scripted) -> None:
        self.received: list[Received] = []
        received, replies = self.received, iter(script[:-1])
        ended = self._ended = threading.Event()
        last = script[-1]

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                received.append(Received(self.path, headers, body))
                reply = next(replies, last)
                self.send_response(reply.status)
                sent: Sequence[tuple[str, str]] = (
                    ("Content-Type", reply.kind),
                    ("Connection", "close") if reply.endless else ("Content-Length", str(len(reply.body))),
                    *reply.headers,
                )
                for name, value in sent:
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(reply.body)
                with suppress(OSError):
                    while reply.endless and not ended.wait(0.01):
                        self.wfile.write(reply.endless)

            do_POST = do_DELETE = do_GET

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._ended.set()
        self._http.shutdown()
        self._http.server_close()
