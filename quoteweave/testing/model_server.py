"""A scripted server of models on loopback, to test clients over real HTTP, faults included."""

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from quoteweave.testing.replies import Reply

Script = Sequence[Reply] | Callable[[Mapping[str, Any]], Reply]

PATHS = ("/v1/chat/completions", "/v1/embeddings", "/rerank", "/v1/rerank", "/v2/rerank")


class ModelServer:
    """Serves POST /v1/chat/completions, /v1/embeddings and /v1/rerank while its `with` block lasts.

    `/rerank` is served below /v2 and at the root as well.
    `script` is a list of replies, used up one a request (then it answers 400), or a function of the request's JSON;
    without one, every request is answered by `Reply()`. `paths`, `requests` and `headers` hold what came in, in order;
    header names are in lower case. `connections` is how many connections clients opened; they stay open between
    requests, as HTTP/1.1 has it.
    """

    def __init__(self, script: Script | None = None) -> None:
        self.paths: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self._script = script if script is not None else lambda _: Reply()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._http = _Http(self)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def base_url(self) -> str:
        """What a client is to be given as its base URL."""
        return f"http://127.0.0.1:{self._http.server_port}/v1"

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

    def _opened(self, connection: socket.socket) -> None:
        with self._lock:
            self.connections += 1
            self._open.add(connection)

    def _closed(self, connection: socket.socket) -> None:
        with self._lock:
            self._open.discard(connection)

    def _wait(self, seconds: float) -> None:
        if seconds:
            self._closing.wait(seconds)


class _Http(ThreadingHTTPServer):
    request_queue_size = 1024  # of 5, all but a few of many connections at once would be refused, and try again in 1 s

    def __init__(self, script: ModelServer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = script


class _Handler(BaseHTTPRequestHandler):
    server: _Http
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # or the body of an answer waits 40 ms for the receipt of its headers

    def setup(self) -> None:
        super().setup()
        self.server.script._opened(self.connection)

    def finish(self) -> None:
        self.server.script._closed(self.connection)
        with suppress(ConnectionError):
            super().finish()

    def do_POST(self) -> None:
        raw = self.rfile.read(length := int(self.headers["Content-Length"]))
        if len(raw) < length:  # whoever asks is gone
            self.close_connection = True
            return
        path = urlsplit(self.path).path
        if path not in PATHS:
            missing = Reply(status=404, text=f"no such path: {self.path}")
            self._send(missing, missing.content("", {}))
            return
        request = json.loads(raw)
        reply = self.server.script._reply(
            self.path, request, {name.lower(): value for name, value in self.headers.items()}
        )
        self.server.script._wait(reply.delay_s)
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
            self.server.script._wait(reply.delays_s[number] if number < len(reply.delays_s) else 0)
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
        while part is not None and not self.server.script._closing.is_set():
            self.wfile.write(part)
            self.server.script._wait(reply.every_s)

    def _start(self, reply: Reply, headers: Mapping[str, str]) -> None:
        self.send_response(reply.status)
        for name, value in {**headers, **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def handle(self) -> None:
        # A client that gave up waiting is part of what is tested, and no reason for a traceback.
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: `requests` holds what came in."""
