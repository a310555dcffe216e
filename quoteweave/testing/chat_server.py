"""A scripted OpenAI-compatible chat server on loopback, to test clients over real HTTP, faults included."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from pydantic import Field

from quoteweave.core.answers import Usage
from quoteweave.core.records import Record


class Reply(Record):
    """What the server does with one request."""

    text: str = "ok"
    finish_reason: str = "stop"
    usage: Usage | None = Usage(input_tokens=1, output_tokens=1)
    status: int = 200
    headers: Mapping[str, str] = Field(default_factory=dict)
    body: bytes | None = Field(default=None, description="sent as it is, in place of a completion or an error")
    delay_s: float = Field(default=0, description="seconds before it answers; ends early when the server is closed")
    close: bool = Field(default=False, description="close the connection without a word")

    def content(self, model: object) -> bytes:
        """The body to send: a chat completion, or for a status from 400 an error whose message is `text`."""
        if self.body is not None:
            return self.body
        if self.status >= 400:
            return json.dumps({"error": {"message": self.text, "type": "scripted"}}).encode()
        message = {"role": "assistant", "content": self.text}
        completion: dict[str, object] = {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
        }
        if self.usage is not None:
            tokens = {"prompt_tokens": self.usage.input_tokens, "completion_tokens": self.usage.output_tokens}
            completion["usage"] = tokens
        return json.dumps(completion).encode()


Script = Sequence[Reply] | Callable[[Mapping[str, Any]], Reply]


class ChatServer:
    """Serves POST /v1/chat/completions while its `with` block lasts.

    `script` is a list of replies, used up one a request (then it answers 400), or a function of the request's JSON.
    `requests` and `headers` hold what came in, in order; header names are in lower case.
    """

    def __init__(self, script: Script) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self._script = script
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

    def _reply(self, request: dict[str, Any], headers: dict[str, str]) -> Reply:
        with self._lock:
            self.requests.append(request)
            self.headers.append(headers)
            if callable(self._script):
                return self._script(request)
            if len(self.requests) > len(self._script):
                return Reply(status=400, text=f"the script holds {len(self._script)} replies and no more")
            return self._script[len(self.requests) - 1]

    def _wait(self, seconds: float) -> None:
        self._closing.wait(seconds)


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            if self.path != "/v1/chat/completions":
                self._send(Reply(status=404, text=f"no such path: {self.path}"), None)
                return
            request = json.loads(raw)
            reply = server._reply(request, {name.lower(): value for name, value in self.headers.items()})
            if reply.delay_s:
                server._wait(reply.delay_s)
            if not reply.close:
                self._send(reply, request.get("model"))

        def _send(self, reply: Reply, model: object) -> None:
            content = reply.content(model)
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
