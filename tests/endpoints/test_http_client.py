"""The clients that whoever asks a server shares, and their connections."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from quoteweave.endpoints.http_client import BoundedClient, shared_client
from quoteweave.testing import ModelServer, Reply

BODY = {"model": "m", "messages": []}


async def post(client: BoundedClient, server: ModelServer) -> int:
    return (await client.post(f"{server.base_url}/chat/completions", json=BODY)).status_code


def test_each_server_has_a_client_which_all_its_addresses_share() -> None:
    async def work() -> list[BoundedClient]:
        urls = ("http://127.0.0.1:1/v1", "http://127.0.0.1:1/v2/", "http://127.0.0.1:2/v1", "https://127.0.0.1:1/v1")
        return [await shared_client(url) for url in urls]

    first, same, other, secure = asyncio.run(work())
    assert first is same
    assert len({id(client) for client in (first, other, secure)}) == 3
    assert all(client.is_closed for client in (first, other, secure))


def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    async def work(server: ModelServer) -> list[int]:
        async with BoundedClient() as client:
            first = await post(client, server)
            await asyncio.to_thread(server.wait_until_left, 5)
            return [first, await post(client, server)]

    with ModelServer([Reply(headers={"connection": "close"}), Reply()]) as server:
        assert asyncio.run(work(server)) == [200, 200]
    assert server.connections == 2


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


def test_no_certificates_are_read_for_a_server_without_encryption(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    program = (
        "import asyncio; from quoteweave.endpoints.http_client import shared_client;"
        "asyncio.run(shared_client('http://127.0.0.1:1/v1')); print('made')"
    )
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert made.stdout == "made\n"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> int:
        async with BoundedClient() as client:
            return (await client.post("http://model.example/v1/chat/completions", json=BODY)).status_code

    with ModelServer([Reply()]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.base_url.removesuffix("/v1"))
        assert asyncio.run(work()) == 200
    assert proxy.connections == 1
