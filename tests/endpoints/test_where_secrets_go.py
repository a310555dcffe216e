"""What the environment says for one endpoint is sent to no other, by whatever client."""

import asyncio
from collections.abc import Callable

import pytest

from quoteweave.core.errors import EndpointRefused
from quoteweave.endpoints.chat import OpenAIChat
from quoteweave.endpoints.embeddings import EmbeddingsClient
from quoteweave.endpoints.rerank import RerankClient
from quoteweave.testing import ModelServer, Reply

KEY = "sk-secret-0123456789"
OF_OPENAI = {
    "OPENAI_API_KEY": KEY,
    "OPENAI_ADMIN_KEY": "sk-admin-0123456789",
    "OPENAI_ORG_ID": "org-of-mine",
    "OPENAI_PROJECT_ID": "project-of-mine",
    "OPENAI_CUSTOM_HEADERS": "X-Gateway: of-mine\nauthorization: Bearer of-mine",
}
SECRETS = (KEY, "sk-admin", "of-mine")
Ask = Callable[[str], None]


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*OF_OPENAI, "OPENAI_BASE_URL", "QUOTEWEAVE_RERANK_URL", "QUOTEWEAVE_RERANK_KEY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)


def chat(url: str) -> None:
    asyncio.run(OpenAIChat("m", base_url=url).complete([{"role": "user", "content": "?"}]))


def stream(url: str) -> None:
    async def read() -> None:
        async for _ in OpenAIChat("m", base_url=url).stream([{"role": "user", "content": "?"}]):
            pass

    asyncio.run(read())


def embed(url: str) -> None:
    asyncio.run(EmbeddingsClient("m", base_url=url).embed(["a"]))


def rerank(url: str) -> None:
    asyncio.run(RerankClient("m", base_url=url).score("a", ["b"]))


@pytest.mark.parametrize("own", [None, "http://127.0.0.1:9/v1"])
@pytest.mark.parametrize("ask", [chat, stream, embed, rerank])
def test_nothing_that_is_openais_goes_to_another_address(
    ask: Ask, own: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OF_OPENAI.items():
        monkeypatch.setenv(name, value)
    if own is not None:
        monkeypatch.setenv("OPENAI_BASE_URL", own)
    with ModelServer() as server:
        ask(server.base_url)
        ask(f"{server.base_url}?api-version=1")
    assert len(server.headers) == 2
    assert not [secret for secret in SECRETS if secret in str(server.headers)]
    assert not [name for headers in server.headers for name in headers if name in ("openai-organization", "x-gateway")]


@pytest.mark.parametrize("ask", [chat, stream, embed, rerank])
def test_all_of_it_goes_to_the_environments_own_address(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OF_OPENAI.items():
        monkeypatch.setenv(name, value)
    with ModelServer() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ask(server.base_url)
    (headers,) = server.headers
    assert headers["authorization"] == f"Bearer {KEY}"
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-of-mine", "project-of-mine")
    assert headers["x-gateway"] == "of-mine"


def test_the_key_for_reranking_goes_to_its_own_address_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTEWEAVE_RERANK_KEY", KEY)
    with ModelServer([Reply(), Reply(), Reply(status=401, text="who are you?")]) as server:
        monkeypatch.setenv("QUOTEWEAVE_RERANK_URL", f"{server.base_url}/rerank")
        rerank(server.base_url)
        monkeypatch.setenv("QUOTEWEAVE_RERANK_URL", "http://127.0.0.1:9/v1")
        rerank(server.base_url)
        with pytest.raises(EndpointRefused, match=r"no key was sent.*set QUOTEWEAVE_RERANK_URL to its address"):
            rerank(server.base_url)
    own, *others = (headers["authorization"] for headers in server.headers)
    assert own == f"Bearer {KEY}"
    assert KEY not in str(others)


def test_a_key_that_is_given_goes_where_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTEWEAVE_RERANK_KEY", "sk-of-the-environment")
    with ModelServer() as server:
        asyncio.run(RerankClient("m", base_url=server.base_url, api_key=KEY).score("a", ["b"]))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"


def test_a_reranker_at_openais_own_address_gets_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://models.test/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("QUOTEWEAVE_RERANK_URL", "http://rerank.test")
    monkeypatch.setenv("QUOTEWEAVE_RERANK_KEY", "sk-of-the-reranker")
    assert RerankClient("m", base_url="http://models.test/v1").address().key == KEY
    assert RerankClient("m").address().key == "sk-of-the-reranker"
