"""The made library in a process of its own, so that it takes no time from the process that is measured."""

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

from quoteweave.testing import LibraryServer


class LibraryProcess:
    """A server of the made library in a process of its own."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.semantic_scholar_url: str
        self.openalex_url: str
        self.semantic_scholar_url, self.openalex_url = pipe.recv()

    def arrivals(self) -> list[float]:
        """When requests came in; each time is returned once."""
        self._pipe.send("arrivals")
        times: list[float] = self._pipe.recv()
        return times


@contextmanager
def serving_library() -> Iterator[LibraryProcess]:
    """Run the server within the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve_library, args=(theirs,), daemon=True)
    process.start()
    theirs.close()
    try:
        yield LibraryProcess(ours)
    finally:
        ours.close()
        process.join()


def _serve_library(pipe: Connection) -> None:
    with LibraryServer() as server:
        pipe.send((server.semantic_scholar_url, server.openalex_url))
        sent = 0
        try:
            while pipe.recv():
                times = [request.at for request in server.requests]
                pipe.send(times[sent:])
                sent = len(times)
        except EOFError:
            return
