"""The connections of the HTTP client: which are kept, asked and used again."""

import asyncio
from collections.abc import Iterator

import httpcore2
import httpx2
import pytest

from quoteweave.endpoints.http_client import BoundedClient
from quoteweave.testing import ModelServer, Reply

IDLE = 12
BODY = {"model": "m", "messages": []}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The connections that were asked whether the server has closed them, in order."""
    found: list[object] = []
    ask = httpcore2.AsyncHTTP11Connection.has_expired

    def counted(connection: httpcore2.AsyncHTTP11Connection) -> bool:
        found.append(connection)
        return ask(connection)

    monkeypatch.setattr(httpcore2.AsyncHTTP11Connection, "has_expired", counted)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    return found


async def post(client: BoundedClient, server: ModelServer) -> int:
    return (await client.post(f"{server.base_url}/chat/completions", json=BODY)).status_code


def held(count: int) -> Iterator[Reply]:
    """Replies that take a while, so that as many connections are open at once, and then some that do not."""
    yield from (Reply(delay_s=0.2) for _ in range(count))
    yield from (Reply() for _ in range(20))


def test_a_request_asks_no_idle_connection_but_the_one_it_takes(asked: list[object]) -> None:
    async def work(server: ModelServer) -> None:
        async with BoundedClient() as client:
            await asyncio.gather(*(post(client, server) for _ in range(IDLE)))
            asked.clear()
            await post(client, server)

    with ModelServer(list(held(IDLE))) as server:
        asyncio.run(work(server))
    assert server.connections == IDLE
    assert len(asked) <= 2  # the one that is taken, and the one that was idle longest


@pytest.mark.usefixtures("asked")
def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    async def work(server: ModelServer) -> list[int]:
        async with BoundedClient() as client:
            first = await post(client, server)
            await asyncio.to_thread(server.wait_until_left, 5)
            return [first, await post(client, server)]

    with ModelServer([Reply(headers={"connection": "close"}), Reply()]) as server:
        assert asyncio.run(work(server)) == [200, 200]
    assert server.connections == 2


@pytest.mark.usefixtures("asked")
def test_a_connection_whose_response_was_left_early_or_was_cancelled_is_closed() -> None:
    async def work(server: ModelServer) -> None:
        async with BoundedClient() as client:
            request = client.build_request("POST", f"{server.base_url}/chat/completions", json=BODY)
            response = await client.send(request, stream=True)
            await response.aclose()
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await post(client, server)
            assert await post(client, server) == 200

    with ModelServer([Reply(text="x" * 500_000), Reply(delay_s=5), Reply()]) as server:
        asyncio.run(work(server))
    assert server.connections == 3


@pytest.mark.usefixtures("asked")
def test_no_more_connections_are_opened_at_once_than_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quoteweave.endpoints.http_client.MAX_CONNECTIONS", 2)

    async def work(server: ModelServer) -> list[int]:
        async with BoundedClient() as client:
            with pytest.raises(httpx2.ConnectError):
                await client.get("http://127.0.0.1:9/")
            return await asyncio.gather(*(post(client, server) for _ in range(6)))

    with ModelServer([Reply(delay_s=0.02)] * 6) as server:
        assert asyncio.run(work(server)) == [200] * 6
    assert server.connections == 2


@pytest.mark.usefixtures("asked")
def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> int:
        async with BoundedClient() as client:
            return (await client.post("http://model.example/v1/chat/completions", json=BODY)).status_code

    with ModelServer([Reply()]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        assert asyncio.run(work()) == 200
    assert proxy.connections == 1
