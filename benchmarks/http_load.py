"""A small load generator for HTTP/1.1 with persistent connections, so that it takes less time than the server."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle


@dataclass(slots=True)
class Load:
    """The times of requests, and their failures."""

    seconds: list[float] = field(default_factory=list)
    """Seconds from the first byte sent to the last one read, for each request that was answered with 200."""
    first_bytes: list[float] = field(default_factory=list)
    """Seconds until the first byte of the body."""
    errors: dict[str, int] = field(default_factory=dict)
    elapsed: float = 0.0

    @property
    def per_second(self) -> float:
        """Requests a second."""
        return len(self.seconds) / self.elapsed if self.elapsed else 0.0

    def quantile(self, share: float) -> float:
        """Milliseconds below which this share of the requests took."""
        ordered = sorted(self.seconds) or [float("nan")]
        return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def send_load(
    port: int, requests: Sequence[tuple[str, Mapping[str, object]]], *, connections: int, seconds: float
) -> Load:
    """Send these POST requests in turn over that many connections, for that many seconds."""
    load, end, turn = Load(), time.perf_counter() + seconds, cycle(requests)

    async def one() -> None:
        connection = Connection(port)
        while time.perf_counter() < end:
            path, body = next(turn)
            await _timed(connection, path, body, load)
        connection.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(connections)))
    load.elapsed = time.perf_counter() - started
    return load


async def _timed(connection: "Connection", path: str, body: Mapping[str, object], load: Load) -> None:
    started = time.perf_counter()
    try:
        status, first, _ = await connection.post(path, body)
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        load.errors[type(error).__name__] = load.errors.get(type(error).__name__, 0) + 1
        connection.close()
        return
    if status != 200:
        load.errors[str(status)] = load.errors.get(str(status), 0) + 1
        return
    load.seconds.append(time.perf_counter() - started)
    load.first_bytes.append(first - started)


class Connection:
    """A persistent connection to a port of loopback."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(
        self, path: str, body: Mapping[str, object], on_chunk: Callable[[bytes], bool] | None = None
    ) -> tuple[int, float, bytes]:
        """Return status, the time of the body's first byte, and the body; ends early where `on_chunk` says so."""
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        content = json.dumps(body).encode()
        writer.write(
            f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        status, headers = int(head.split(" ", 2)[1]), head.lower()
        if "transfer-encoding: chunked" in headers:
            return await self._chunks(reader, status, on_chunk)
        length = int(headers.partition("content-length:")[2].partition("\r\n")[0])
        received = await reader.readexactly(length)
        return status, time.perf_counter(), received

    async def _chunks(
        self, reader: asyncio.StreamReader, status: int, on_chunk: Callable[[bytes], bool] | None
    ) -> tuple[int, float, bytes]:
        parts, first = [], 0.0
        while size := int(await reader.readline(), 16):
            parts.append(await reader.readexactly(size))
            first = first or time.perf_counter()
            await reader.readexactly(2)
            if on_chunk is not None and on_chunk(parts[-1]):
                self.close()
                return status, first, b"".join(parts)
        await reader.readexactly(2)
        return status, first, b"".join(parts)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None
