"""A scripted server of models on loopback, to test clients over real HTTP, faults included."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from quoteweave.testing.replies import Reply

Script = Sequence[Reply] | Callable[[Mapping[str, Any]], Reply]

PATHS = ("/v1/chat/completions", "/v1/embeddings", "/rerank", "/v1/rerank", "/v2/rerank")


class ModelServer:
    """Serves POST /v1/chat/completions, /v1/embeddings and /v1/rerank while its `with` block lasts.

    `/rerank` is served below /v2 and at the root as well.
    `script` is a list of replies, used up one a request (then it answers 400), or a function of the request's JSON;
    without one, every request is answered by `Reply()`. `paths`, `requests` and `headers` hold what came in, in order;
    header names are in lower case.
    """

    def __init__(self, script: Script | None = None) -> None:
        self.paths: list[str] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script = script if script is not None else lambda _: Reply()
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
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

    def _wait(self, seconds: float) -> None:
        self._closing.wait(seconds)


def _handler(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path not in PATHS:
                self._send(Reply(status=404, text=f"no such path: {self.path}"), {})
                return
            request = json.loads(raw)
            reply = server._reply(self.path, request, {name.lower(): value for name, value in self.headers.items()})
            if reply.delay_s:
                server._wait(reply.delay_s)
            if not reply.close:
                self._send(reply, request)

        def _send(self, reply: Reply, request: Mapping[str, Any]) -> None:
            content = reply.content(self.path.rpartition("/")[2], request)
            self.send_response(reply.status)
            for name, value in {"Content-Type": "application/json", **reply.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def handle(self) -> None:
            # A client that gave up waiting is part of what is tested, and no reason for a traceback.
            try:
                super().handle()
            except ConnectionError:
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: `requests` holds what came in."""

    return Handler
