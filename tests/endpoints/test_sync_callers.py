"""A caller without an event loop, who asks one question after another."""

import gc
import threading

import pytest
from openai import DefaultAsyncHttpxClient

from quoteweave.core.crossing import wait_for
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.http_client import shared_client
from quoteweave.testing import ModelServer

MESSAGES = [{"role": "user", "content": "Did sales grow?"}]


def ask(server: ModelServer) -> None:
    wait_for(OpenAIChat("m", base_url=server.base_url).complete(MESSAGES))


def test_questions_one_after_another_share_a_connection() -> None:
    with ModelServer() as server:
        for _ in range(3):
            ask(server)
        assert server.connections == 1


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_a_thread_that_ends_closes_its_connections() -> None:
    clients: list[DefaultAsyncHttpxClient] = []

    def twice() -> None:
        ask(server)
        ask(server)
        clients.append(wait_for(shared_client()))

    with ModelServer() as server:
        thread = threading.Thread(target=twice)
        thread.start()
        thread.join()
        assert server.connections == 1
    assert clients[0].is_closed
    gc.collect()


def test_a_server_that_comes_back_is_asked_again() -> None:
    for _ in range(2):
        with ModelServer() as server:
            ask(server)
            ask(server)
