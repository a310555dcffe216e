"""A Milvus server on loopback, for tests: milvus-lite behind its real protocol, and a line to it that can be cut."""

import base64
import contextlib
import socket
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any


class MilvusServer:
    """Serves the folder at `uri` until it is closed; where it has a token, only those who send it."""

    def __init__(self, folder: Path, *, token: str | None = None) -> None:
        import grpc  # type: ignore[import-untyped]
        from milvus_lite.adapter.grpc.servicer import MilvusServicer
        from milvus_lite.db import MilvusLite
        from pymilvus.grpc_gen.milvus_pb2_grpc import add_MilvusServiceServicer_to_server

        self.tokens: set[str | None] = set()
        """What callers sent so far."""
        self._token = token
        self._database = MilvusLite(str(folder))
        self._server = grpc.server(ThreadPoolExecutor(4), interceptors=[self])
        add_MilvusServiceServicer_to_server(MilvusServicer(self._database), self._server)
        self.port: int = self._server.add_insecure_port("127.0.0.1:0")
        self.uri = f"http://127.0.0.1:{self.port}"
        self._server.start()

    def intercept_service(self, answer: Callable[[Any], Any], details: Any) -> Any:
        """Called by grpc before each call."""
        import grpc

        def refuse(_: Any, call: Any) -> None:
            call.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure")

        sent = dict(details.invocation_metadata).get("authorization")
        token = None if sent is None else base64.b64decode(sent).decode()
        self.tokens.add(token)
        allowed = self._token in (None, token)
        return answer(details) if allowed else grpc.unary_unary_rpc_method_handler(refuse)

    def close(self) -> None:
        self._server.stop(grace=None).wait()
        self._database.close()


class Line:
    """A way to a port of this machine, from another one at `uri`; it can be cut and mended."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._ends: list[socket.socket] = []
        self._port = 0
        self.mend()
        self.uri = f"http://127.0.0.1:{self._port}"

    def mend(self) -> None:
        """Lets callers in, at the same address as before."""
        self._door = socket.create_server(("127.0.0.1", self._port))
        self._port = self._door.getsockname()[1]
        threading.Thread(target=self._let_in, args=(self._door,), daemon=True).start()

    def hang_up(self) -> None:
        """Ends the calls that are going on; those who call again are let in."""
        while self._ends:
            _shut(self._ends.pop())

    def cut(self) -> None:
        """Ends all calls, and lets nobody in."""
        _shut(self._door)
        self._door.close()
        self.hang_up()

    def _let_in(self, door: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, far = door.accept()[0], socket.create_connection(("127.0.0.1", self._target))
                self._ends += (near, far)
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=_carry, args=ends, daemon=True).start()


def _carry(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    _shut(source)
    _shut(target)


def _shut(end: socket.socket) -> None:
    with contextlib.suppress(OSError):
        end.shutdown(socket.SHUT_RDWR)
