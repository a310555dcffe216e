"""Connections of clients: how long a request's head may take, how many there may be, and how processes share them."""

import asyncio
import socket
import sys
from multiprocessing import reduction
from multiprocessing.synchronize import Event
from typing import Protocol

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 20.0
"""Seconds that a client has to send the whole head of each request on its connection."""
UNREAD_SECONDS = 30.0
"""Seconds for which a client may read nothing of what it was sent."""
_MAX_UNSENT = 64 << 10
"""Bytes of a response that the system may hold without having sent them."""
BACKLOG = 2_048
"""Connections that may wait until a process takes them."""
_MAX_FILES = 65_536


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[valid-type, misc]
    """uvicorn's HTTP protocol, extended to end connections on which no request comes in time, or nothing is read.

    uvicorn itself waits forever for the rest of a head, and for a client to read what it was sent, even where it closes
    the connection. So a client could use up all connections that the system allows the server.
    """

    head_seconds, unread_seconds = HEAD_SECONDS, UNREAD_SECONDS
    _head_timer: asyncio.TimerHandle | None = None
    _unread_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin a connection."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # so that writing pauses until the system has taken all
        _limit_unsent(transport)
        self._time_head()

    def data_received(self, data: bytes) -> None:
        """Read what the client has sent."""
        super().data_received(data)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        super().connection_lost(exc)
        self._stop_timer()
        self._stop_unread_timer()

    def pause_writing(self) -> None:
        """Wait for the client to read."""
        super().pause_writing()
        self._time_unread()

    def resume_writing(self) -> None:
        """Go on, as the client has read."""
        super().resume_writing()
        self._stop_unread_timer()

    def _time_unread(self) -> None:
        unread = self.transport.get_write_buffer_size()
        self._unread_timer = self.loop.call_later(self.unread_seconds, self._end_if_unread, unread)

    def _end_if_unread(self, unread_before: int) -> None:
        if self.transport.get_write_buffer_size() < unread_before:
            self._time_unread()
        else:
            self.transport.abort()

    def _stop_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def _time_head(self) -> None:
        if not self._is_waiting():
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._close_if_waiting)

    def _is_waiting(self) -> bool:
        """Whether the server waits for the head of a request."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _close_if_waiting(self) -> None:
        self._head_timer = None
        if self._is_waiting():
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def _limit_unsent(transport: asyncio.Transport) -> None:
    """Have the system take little more than it can send, so that soon more is written for a slow client that reads.

    Linux otherwise takes megabytes for a proxy on the same machine, and more only once a third of them is read.
    """
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # not on Windows
        connection: socket.socket = transport.get_extra_info("socket")
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _MAX_UNSENT)


def allow_many_connections() -> None:
    """Raise the limit of open files, which connections count as, as far as the system allows."""
    if sys.platform == "win32":  # has no such limit
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < limit:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


class SharedSocket(socket.socket):
    """A listening socket that the processes of a server share (not on Windows).

    Only one socket ever listens at the address, so that the system refuses it to every other server. `ready` is set
    once a process that it was passed on to (`multiprocessing`) takes connections from it.
    """

    ready: Event

    def listen(self, backlog: int = BACKLOG) -> None:  # noqa: ARG002 - asyncio passes how many it accepts at a time
        """Let `BACKLOG` connections wait until a process takes them, whichever process calls this."""
        super().listen(BACKLOG)

    def __reduce__(self) -> tuple[object, ...]:
        """Pass the socket itself, not a copy of its settings, to a process that is started."""
        kind = int(self.family), int(self.type), self.proto
        return _receive_socket, (reduction.DupFd(self.fileno()), kind, self.ready)


class _ReceivedSocket(SharedSocket):
    def listen(self, backlog: int = BACKLOG) -> None:
        super().listen(backlog)
        self.ready.set()


def _receive_socket(descriptor: "_Descriptor", kind: tuple[int, int, int], ready: Event) -> SharedSocket:
    received = _ReceivedSocket(*kind, fileno=descriptor.detach())
    received.ready = ready
    return received


class _Descriptor(Protocol):
    def detach(self) -> int: ...
