"""The scripted server in a process of its own, so that it takes no time of the interpreter that is measured.

It gives one reply to every request, or what a function makes of it, and notes when it had each of them whole. Notes
are of `time.perf_counter`, which processes of one machine share on Linux, macOS and Windows.
"""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from quoteweave.testing.model_server import ModelServer, Reply


class ModelProcess:
    """What runs behind `serving`."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.base_url: str = pipe.recv()

    def arrivals(self) -> list[float]:
        """When requests were there whole, in order; each is told once."""
        self._pipe.send("arrivals")
        told: list[float] = self._pipe.recv()
        return told


Script = Reply | Callable[[Mapping[str, Any]], Reply]
"""One reply for all requests, or a function of a module that makes one of a request."""


@contextmanager
def serving(reply: Script) -> Iterator[ModelProcess]:
    """A server that answers so, while the block lasts."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, reply), daemon=True)
    process.start()
    theirs.close()  # so that a server that does not start is an end of the pipe here, not a wait without one
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
                told = arrived[:]
                del arrived[: len(told)]
                server.requests.clear()
                pipe.send(told)
        except EOFError:
            return
