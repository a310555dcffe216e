"""The scripted server in a process of its own, so that it takes no time from the process that is measured.

It gives the same reply to every request, or what a function returns for it, and records when it had received each
request in full. Times are those of `time.perf_counter`, which processes of one machine share on Linux, macOS and
Windows.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from quoteweave.testing.model_server import ModelServer, Reply


class ModelProcess:
    """The server that `serving` runs."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.base_url: str = pipe.recv()

    def arrivals(self) -> list[float]:
        """When requests had been received in full, in order; each time is returned once."""
        self._pipe.send("arrivals")
        times: list[float] = self._pipe.recv()
        return times


Script = Reply | Callable[[Mapping[str, Any]], Reply]
"""One reply for all requests, or a module's function that returns one for a request."""


@contextmanager
def serving(reply: Script) -> Iterator[ModelProcess]:
    """Run a server with these replies within the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, reply), daemon=True)
    process.start()
    theirs.close()  # so that, if the server does not start, reading the pipe ends and does not wait forever
    try:
        yield ModelProcess(ours)
    finally:
        ours.close()
        process.join()


def _serve(pipe: Connection, reply: Script) -> None:
    arrived: list[float] = []

    def script(request: Mapping[str, Any]) -> Reply:
        arrived.append(time.perf_counter())
        return reply(request) if callable(reply) else reply

    with ModelServer(script) as server:
        pipe.send(server.base_url)
        try:
            while pipe.recv():
                times = arrived[:]
                del arrived[: len(times)]
                server.requests.clear()
                pipe.send(times)
        except EOFError:
            return
