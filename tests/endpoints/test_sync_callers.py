"""A caller without an event loop, who asks one question after another."""

import threading

from quoteweave.core.concurrency.sync_bridge import run_sync
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.testing import ModelServer

MESSAGES = [{"role": "user", "content": "Did sales grow?"}]


def ask(server: ModelServer) -> None:
    run_sync(OpenAIChat("m", base_url=server.base_url).complete(MESSAGES))


def test_questions_one_after_another_share_a_connection() -> None:
    with ModelServer() as server:
        for _ in range(3):
            ask(server)
        assert server.connections == 1


def test_threads_share_connections_which_outlive_them() -> None:
    with ModelServer() as server:
        for _ in range(2):
            thread = threading.Thread(target=ask, args=(server,))
            thread.start()
            thread.join()
        ask(server)
        assert server.connections == 1


def test_a_server_that_comes_back_is_asked_again() -> None:
    for _ in range(2):
        with ModelServer() as server:
            ask(server)
            ask(server)
