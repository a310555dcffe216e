"""A connection to Milvus, embedded in a folder or on a server, with its errors converted to ours.

When a call finds the connection lost, pymilvus itself connects again and repeats the call; so all calls that the index
makes are ones that may be repeated.
"""

import errno
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote, urlsplit

from quoteweave.core.errors import (
    CollectionError,
    CollectionLocked,
    EndpointRefused,
    EndpointUnreachable,
    MissingExtra,
    QuoteweaveError,
    StorageError,
    UsageError,
)
from quoteweave.endpoints.redaction import Redactor

URI_VARIABLE = "QUOTEWEAVE_MILVUS_URI"
TOKEN_VARIABLE = "QUOTEWEAVE_MILVUS_TOKEN"  # noqa: S105 - the name of a variable, not a token
CALL_S = 120.0
"""Seconds without an answer after which a call has failed."""
_CONNECT_S = 10.0
_CONNECT_FAILED = 2  # pymilvus's code, and Milvus's own for a service that is not available
_NO_SUCH_COLLECTION = 100
_MAKE_ROOM = "make room on that disk, then try again"
_ALLOW = "allow writing there, which an embedded Milvus needs even to be searched, or use an index of another kind"
# Errors of the disk, which do not mean that the index is damaged. They are recognised by their messages, as they may
# come from the server.
_REFUSALS = {
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
    errno.EFBIG: "raise the limit on the size of files, then try again",
    errno.EROFS: _ALLOW,
    errno.EACCES: _ALLOW,
    errno.EPERM: _ALLOW,
    errno.EIO: "check that disk, then try again",
}
# gRPC shares connections between channels, even failed ones; with a pool of its own, a new channel connects at once.
_SERVER_OPTIONS = {"grpc.use_local_subchannel_pool": 1}
# A proxy set in the environment must not be used for loopback, and the embedded server disconnects a client that sends
# keepalive pings.
_EMBEDDED_OPTIONS = {**_SERVER_OPTIONS, "grpc.enable_http_proxy": 0, "grpc.keepalive_time_ms": 2**31 - 1}


@dataclass(frozen=True, slots=True)
class Server:
    """The address of a Milvus server, and the token for it."""

    uri: str
    """The address without secrets, so that it may be shown in messages and written to files."""
    token: str = field(default="", repr=False)

    @property
    def redactor(self) -> Redactor:
        """A redactor that hides the token, and the password in it."""
        return Redactor(secret for secret in (self.token, self.token.partition(":")[2]) if len(secret) >= 6)

    @classmethod
    def at(cls, uri: str, token: str | None = None) -> Self:
        """Parse a URI; its user and password are the token if none is given. Raises UsageError for an invalid URI."""
        try:
            parts = urlsplit(uri)
            host, port = parts.hostname, parts.port
        except ValueError:
            host = port = None
        if not host or parts.scheme not in ("http", "https"):
            # An invalid URI is not shown, as secrets in it cannot be told from the rest.
            raise UsageError(
                f"the URI of Milvus must look like http://localhost:19530; set {URI_VARIABLE} so, or leave it unset to "
                "keep indexes in the collection's own folder"
            )
        host = f"[{host}]" if ":" in host else host
        place = host if port is None else f"{host}:{port}"
        user = ":".join(unquote(part) for part in (parts.username, parts.password) if part)
        return cls(f"{parts.scheme}://{place}{parts.path.rstrip('/')}", token or user)


class Milvus:
    """A client of one Milvus, connected until it is closed.

    `at` is a server, or the folder of an embedded one, which runs in this process as long as a client here uses it.
    Raises MissingExtra, EndpointUnreachable, EndpointRefused, CollectionLocked where another process has the folder
    open, StorageError where it cannot be written.
    """

    def __init__(self, at: Server | Path) -> None:
        connect = _client_class()
        self._at = at if isinstance(at, Server) else at.resolve()
        self._client: Any = None
        self.closed = False
        uri, token, options = _reach(self._at)
        try:
            with self._failures():
                self._client = connect(uri, token=token, timeout=_CONNECT_S, dedicated=True, grpc_options=options)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def client(self) -> Iterator[Any]:
        """The client of pymilvus, whose errors become ours on leaving the block. Raises UsageError once closed."""
        if self.closed:
            raise _closed()
        with self._failures():
            yield self._client

    def close(self) -> None:
        """Close the connection. The embedded Milvus stops, and frees its folder, with the last one in this process."""
        if self.closed:
            return
        self.closed = True
        if self._client is not None:
            self._client.close()
        if isinstance(self._at, Path):
            _leave(self._at)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        from grpc import RpcError  # type: ignore[import-untyped]
        from pymilvus import MilvusException

        try:
            yield
        except (RpcError, MilvusException) as error:
            raise self._meaning(error) from error
        except ValueError as error:
            # gRPC raises this for a channel that another thread closed during a call.
            if self.closed:
                raise _closed() from error
            raise

    def _meaning(self, error: Any) -> QuoteweaveError:
        from grpc import StatusCode

        if self.closed:
            return _closed()
        code, reason = _code_and_reason(error)
        if isinstance(self._at, Server):
            reason = self._at.redactor.clean(reason)
        if code == _NO_SUCH_COLLECTION:
            return CollectionError("Milvus does not have this index any more; build it again")
        if isinstance(self._at, Path):
            failed = CollectionError(f"the embedded Milvus in {self._at} failed: {reason}; build the index again")
            return _refusal(self._at, reason) or failed
        if code in (StatusCode.UNAUTHENTICATED, StatusCode.PERMISSION_DENIED):
            return EndpointRefused(
                f"the Milvus at {self._at.uri} does not let us in: {reason}; set {TOKEN_VARIABLE} to its token, or to "
                f"user:password, and {URI_VARIABLE} to its address: a token goes only where you said yourself"
            )
        if self._client is None or code in (_CONNECT_FAILED, StatusCode.UNAVAILABLE, StatusCode.DEADLINE_EXCEEDED):
            return EndpointUnreachable(
                f"no Milvus answers at {self._at.uri}: {reason}; start one there (its standalone form is one Docker "
                f"container: milvus.io/docs, standalone_embed.sh start), or set {URI_VARIABLE} to where it runs; a new "
                "index lies in the collection's own folder where that is not set"
            )
        return EndpointRefused(f"the Milvus at {self._at.uri} refused: {reason}")


def _closed() -> UsageError:
    return UsageError("the Milvus index is closed; open it again to use it")


def _refusal(folder: Path, reason: str) -> StorageError | None:
    """The error to raise if it was the disk that refused; None otherwise."""
    advice = next((advice for number, advice in _REFUSALS.items() if os.strerror(number) in reason), None)
    return StorageError(f"cannot write {folder}: {reason}; {advice}") if advice else None


def _code_and_reason(error: Any) -> tuple[object, str]:
    # If connecting failed, the cause says more than pymilvus's error does.
    from grpc import RpcError

    for raised in (error, error.__cause__):
        if isinstance(raised, RpcError):
            return raised.code(), str(raised.details())
    return error.code, str(error.message)


def _client_class() -> Any:
    ours = "pymilvus" not in sys.modules
    if ours:
        # gRPC writes a line to stderr whenever a server ends a connection; it reads this setting only once.
        os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    try:
        from pymilvus import MilvusClient
    except ImportError:
        raise MissingExtra("pymilvus", "milvus") from None
    if ours:
        # pymilvus logs to stderr, even errors that it raises. If the caller imported it before, its log is left alone.
        for name in ("pymilvus", "pymilvus.milvus_client", "milvus_lite"):
            logging.getLogger(name).handlers[:] = [logging.NullHandler()]
    return MilvusClient


def _reach(at: Server | Path) -> tuple[str, str, dict[str, int]]:
    if isinstance(at, Server):
        return at.uri, at.token, _SERVER_OPTIONS
    return f"http://127.0.0.1:{_enter(at)}", "", _EMBEDDED_OPTIONS


@dataclass(slots=True)
class _Embedded:
    server: Any
    database: Any
    port: int
    users: int = 0


# A process may open a folder only once, so there is one server for a folder: all indexes of a collection share it.
_running: dict[Path, _Embedded] = {}
_guard = threading.Lock()


def _enter(folder: Path) -> int:
    """The port of the folder's server, which is started for its first user."""
    with _guard:
        if folder not in _running:
            _running[folder] = _started(folder)
        _running[folder].users += 1
        return _running[folder].port


def _leave(folder: Path) -> None:
    with _guard:
        _running[folder].users -= 1
        if not _running[folder].users:
            embedded = _running.pop(folder)
            embedded.server.stop(grace=None).wait()
            embedded.database.close()


def _started(folder: Path) -> _Embedded:
    try:
        from milvus_lite.adapter.grpc.server import start_server_in_thread
        from milvus_lite.exceptions import DataDirLockedError, MilvusLiteError
    except ImportError:
        raise MissingExtra("milvus-lite", "milvus") from None
    try:
        folder.mkdir(parents=True, exist_ok=True)  # this fails if there is a file of the user's in its place
        return _Embedded(*start_server_in_thread(str(folder)))
    except DataDirLockedError as error:
        raise CollectionLocked(
            f"another process has the Milvus index in {folder} open",
            remedy=f"close that one first, or run a Milvus server, set {URI_VARIABLE} and build the index there",
        ) from error
    except (OSError, MilvusLiteError) as error:
        damaged = CollectionError(f"cannot open {folder}: {error}; remove it, then build the index again")
        raise _refusal(folder, str(error)) or damaged from error
