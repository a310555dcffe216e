"""A server of files on this machine, whose answers a test writes as they are to stand on the wire."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Answer = bytes | Callable[["Request", socket.socket], None]


def answer(body: bytes = b"", *headers: str, status: str = "200 OK", length: bool = True) -> bytes:
    """A whole response of HTTP."""
    lines = [f"HTTP/1.1 {status}", *headers, "Connection: close", *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join([*lines, "", ""]).encode() + body


def redirect(location: str) -> bytes:
    """A response that leads on."""
    return answer(b"", f"Location: {location}", status="302 Found")


@dataclass(frozen=True, slots=True)
class Request:
    """What the server was asked."""

    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class FileServer:
    """Answers by path; what it knows no answer for is status 404."""

    port: int
    answers: dict[str, Answer] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    stopped: threading.Event = field(default_factory=threading.Event)

    def url(self, path: str, host: str = "127.0.0.1", scheme: str = "http") -> str:
        return f"{scheme}://{host}:{self.port}{path}"


@contextmanager
def file_server(context: ssl.SSLContext | None = None) -> Iterator[FileServer]:
    """Run a server on a free port of this machine, with TLS where there is a context."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = FileServer(listening.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, listening, context), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopped.set()
            with socket.create_connection(("127.0.0.1", server.port)):
                thread.join()


def _serve(server: FileServer, listening: socket.socket, context: ssl.SSLContext | None) -> None:
    while True:
        connection, _ = listening.accept()
        if server.stopped.is_set():
            connection.close()
            return
        threading.Thread(target=_answer, args=(server, connection, context), daemon=True).start()


def _answer(server: FileServer, connection: socket.socket, context: ssl.SSLContext | None) -> None:
    with suppress(OSError):  # whoever asked may leave at any time
        secured = connection if context is None else context.wrap_socket(connection, server_side=True)
        with secured:
            received = b""
            while b"\r\n\r\n" not in received:
                part = secured.recv(65536)
                if not part:
                    return
                received += part
            line, *header_lines = received.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
            headers = {
                name.lower(): value for name, _, value in (header_line.partition(": ") for header_line in header_lines)
            }
            request = Request(line.split(" ")[1], headers)
            server.requests.append(request)
            reply = server.answers.get(request.path, answer(status="404 Not Found"))
            if isinstance(reply, bytes):
                secured.sendall(reply)
            else:
                reply(request, secured)
