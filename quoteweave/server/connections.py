"""Connections of clients: how long one may take to ask, how many there may be, and which process gets one."""

import asyncio
import socket
import sys
import time

from uvicorn.protocols.http.auto import AutoHTTPProtocol

HEAD_SECONDS = 20.0
"""Seconds that a client has to send a whole head of a request, the first of its connection or a further one."""
BACKLOG = 2_048
"""Connections that wait until a process takes them."""
_MAX_FILES = 65_536


class TimedProtocol(AutoHTTPProtocol):  # type: ignore[valid-type, misc]
    """uvicorn's HTTP protocol, which closes connections on which no request comes in time.

    uvicorn itself waits for ever for the rest of a head: who opens connections and sends a byte now and then could
    take all those that the system allows the server.
    """

    head_seconds = HEAD_SECONDS
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Begin a connection."""
        super().connection_made(transport)
        self._time_head()

    def data_received(self, data: bytes) -> None:
        """Read what the client has sent."""
        super().data_received(data)
        self._time_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End a connection."""
        super().connection_lost(exc)
        self._stop_timer()

    def _time_head(self) -> None:
        if not self._is_waiting():
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.head_seconds, self._close_if_waiting)

    def _is_waiting(self) -> bool:
        """Whether the client is to send the head of a request."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _close_if_waiting(self) -> None:
        self._head_timer = None
        if self._is_waiting():
            self.transport.close()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def allow_many_connections() -> None:
    """Raise the number of files that this process may open, as connections are, as far as the system lets it."""
    if sys.platform == "win32":  # where there is no such limit
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class SharedAddress(socket.socket):
    """An address at which each process of a server listens with a socket of its own (Linux).

    The system shares connections out among them. From one socket, the process that wakes first takes all connections
    that come together. This one is bound and listens to nothing, so that a second server is refused the address.
    """

    def __reduce__(self) -> tuple[object, ...]:
        """Have the process that it is passed on to (`multiprocessing`) listen at its address."""
        return _listen_at, (int(self.family), self.getsockname())


def _listen_at(family: int, address: tuple[object, ...]) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    for option in (socket.SO_REUSEADDR, socket.SO_REUSEPORT):
        listening.setsockopt(socket.SOL_SOCKET, option, 1)
    listening.bind(address)
    listening.listen(BACKLOG)
    return listening


def wait_for_listener(address: tuple[object, ...]) -> None:
    """Return once a process listens at an address of this machine."""
    while True:
        try:
            socket.create_connection((str(address[0]), int(str(address[1]))), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
