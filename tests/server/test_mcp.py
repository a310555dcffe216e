"""The MCP tools over streamable HTTP, called by the SDK's own client, in both eras of the protocol."""

import asyncio
import base64
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import httpx2
import pytest
from fastapi import FastAPI
from live_server import LiveServer, Serve
from made_collections import make_collection
from starlette.testclient import TestClient

from quoteweave.collection.collection import Collection
from quoteweave.core.answers import Citation
from quoteweave.server.access.keys import KeyRequest, KeyStore
from quoteweave.server.app import make_app
from quoteweave.server.served import Served, ServedCollection
from quoteweave.server.settings import ServerSettings
from quoteweave.testing import ModelServer, Reply

if TYPE_CHECKING:
    from mcp import Client
    from mcp_types import CallToolResult, Tool

QUESTION = "How many vessel calls did the port receive?"
CHART = "Show the chart of vessel calls by quarter."
WORD = b'data: {"id":"c","object":"chat.completion.chunk","created":0,"model":"m","choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'  # noqa: E501

LISTED = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"accept": "application/json, text/event-stream"}

T = TypeVar("T")


def use(server: LiveServer, work: Callable[["Client"], Awaitable[T]], mode: str = "auto", key: str | None = None) -> T:
    """What the work with a client of this server returns."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    async def run() -> T:
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http), mode=mode) as client,
        ):
            return await work(client)

    return asyncio.run(run())


def call(server: LiveServer, tool: str, **arguments: object) -> "CallToolResult":
    """The result of one call; the client checks it against the tool's output schema."""
    return use(server, lambda client: client.call_tool(tool, arguments))


def found(server: LiveServer, tool: str, **arguments: object) -> dict[str, Any]:
    """The structured content of a call that succeeds."""
    result = call(server, tool, **arguments)
    assert not result.is_error, result.content
    structured: dict[str, Any] = result.structured_content
    return structured


def refused(server: LiveServer, tool: str, **arguments: object) -> str:
    """What a call that fails says."""
    from mcp_types import TextContent

    result = call(server, tool, **arguments)
    assert result.is_error
    assert result.structured_content is None
    (content,) = result.content
    assert isinstance(content, TextContent)
    return content.text


def pictures(result: "CallToolResult") -> list[bytes]:
    from mcp_types import ImageContent

    return [base64.b64decode(one.data) for one in result.content if isinstance(one, ImageContent)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_listed_as_ones_that_only_read(live: LiveServer, mode: str) -> None:
    async def listed(client: "Client") -> list["Tool"]:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in use(live, listed, mode)}
    assert list(tools) == ["search", "fetch", "ask", "read_page"]
    assert tools["search"].input_schema["required"] == ["query"]
    assert tools["fetch"].input_schema["required"] == ["id"]
    for tool in tools.values():
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        assert tool.output_schema is not None
        assert all("description" in field for field in tool.input_schema["properties"].values())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_search_and_fetch_have_the_form_of_deep_research(live: LiveServer, sample_collection: Path, mode: str) -> None:
    from mcp_types import TextContent

    async def research(client: "Client") -> list["CallToolResult"]:
        searched = await client.call_tool("search", {"query": QUESTION})
        first = searched.structured_content["results"][0]
        return [searched, await client.call_tool("fetch", {"id": first["id"]})]

    searched, fetched = use(live, research, mode)
    for result in (searched, fetched):
        (content,) = result.content
        assert isinstance(content, TextContent)
        assert json.loads(content.text) == result.structured_content
    results, item = searched.structured_content["results"], fetched.structured_content
    assert len(results) == 10
    assert all(list(one) == ["id", "title", "url"] and one["url"].startswith(live.url) for one in results)
    assert list(item) == ["id", "title", "text", "url", "metadata"]
    assert {key: item[key] for key in ("id", "title", "url")} == results[0]
    with Collection.open(sample_collection) as collection:
        quote = collection.quote(item["id"].removeprefix("port/"))
    assert item["text"] == quote.all_text()
    assert (item["metadata"]["document"], item["metadata"]["page"]) == (quote.document, str(quote.page))
    shown = live.client.get(item["url"], headers={"accept": "application/json"})
    assert shown.json()["quote"]["id"] == quote.id


def test_a_search_may_be_narrowed_to_documents(live: LiveServer) -> None:
    # Some clients write a list as a string of JSON.
    for documents in (["visitor-guide.pdf"], '["visitor-guide.pdf"]', "visitor-guide.pdf"):
        results = found(live, "search", query="Where may visitors park?", documents=documents, limit=2)["results"]
        assert [one["title"].partition(",")[0] for one in results] == ["visitor-guide.pdf"] * 2
    assert "nope.pdf" in refused(live, "search", query="x", documents=["nope.pdf"])


def test_an_answer_has_its_citations_with_words_boxes_and_urls(live: LiveServer) -> None:
    from mcp_types import TextContent

    result = call(live, "ask", question=QUESTION)
    answer = result.structured_content
    assert answer["status"] == "answered"
    (citation,) = [Citation.model_validate(one) for one in answer["citations"]]
    assert answer["text"][citation.start : citation.end] == citation.mark == "[1]"
    assert citation.regions[0].words
    assert citation.quoted is not None
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert content.text.startswith(answer["text"])
    assert f"[1] harbour-report.pdf, page 3 (id port/{citation.quote_id})\n  {citation.url}" in content.text
    words = " ".join(citation.quoted[citation.spans[0].start : citation.spans[0].end].split())
    assert f"“{words}”" in content.text
    shown = live.client.get(str(citation.url), headers={"accept": "application/json"})
    assert shown.json()["quote"]["id"] == citation.quote_id
    assert found(live, "fetch", id=f"port/{citation.quote_id}")["text"] == citation.quoted


def test_an_answer_says_what_its_search_lacks(serve: Serve, tmp_path: Path) -> None:
    with make_collection(tmp_path, {"a.md": ["Grain came by ship."]}) as collection, collection.writer() as writer:
        writer.fail("b.pdf", root=tmp_path, reason="is damaged", content=None)
    server = serve(collections={"port": tmp_path / "collection"})
    told = "1 file could not be read: what it says is missing here"
    assert found(server, "ask", question="Who won the world cup?")["warnings"][-1] == told
    assert found(server, "ask", question="How did grain come?")["warnings"] == []


def test_the_images_that_an_answer_shows_come_with_it(live: LiveServer) -> None:
    from mcp_types import TextContent

    result = call(live, "ask", question=CHART)
    (citation,) = [one for one in result.structured_content["citations"] if one["kind"] == "image"]
    (picture,) = pictures(result)
    assert picture == live.client.get(citation["image_url"]).content
    label = result.content[1]
    assert isinstance(label, TextContent)
    assert label.text.startswith("image1, harbour-report.pdf, page 3: ")


def test_a_picture_that_is_too_large_is_told_and_not_sent(live: LiveServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("quoteweave.server.mcp.tools.MAX_PICTURES", 100)
    result = call(live, "ask", question=CHART)
    assert pictures(result) == []
    (warning,) = [one for one in result.structured_content["warnings"] if "too large" in one]
    assert live.url in warning
    (page,) = pictures(call(live, "read_page", document="harbour-report.pdf", page=2))
    assert page.startswith(b"\xff\xd8")


def test_a_page_is_read_with_its_words_quotes_and_picture(live: LiveServer) -> None:
    result = call(live, "read_page", document="harbour-report.pdf", page=2)
    page = result.structured_content
    assert (page["page_label"], page["pages"], page["image"]) == ("3", 5, True)
    assert "1,058 vessel calls" in " ".join(page["words"].split())
    (picture,) = pictures(result)
    assert picture.startswith(b"\x89PNG")
    assert picture == live.client.get("/v1/collections/port/pages/harbour-report.pdf/2/image").content
    quote = page["quotes"][3]
    assert found(live, "fetch", id=quote["id"])["text"] == quote["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("fetch", {"id": "port/0:0:0"}, "no quote has the id '0:0:0'"),
        ("fetch", {"id": "0:0:0"}, "COLLECTION/QUOTE"),
        ("fetch", {"id": "nope/0:0:0"}, "there is none of the name 'nope'; there are: port"),
        ("search", {"query": "x", "collection": "nope"}, "there is none of the name 'nope'; there are: port"),
        ("search", {"query": "x", "limit": 0}, "limit: "),
        ("search", {}, "query: "),
        ("search", {"query": ""}, "query: it is empty"),
        ("ask", {"question": " \n"}, "question: it is empty"),
        ("ask", {"question": "x", "colour": "red"}, "colour: "),
        ("read_page", {"document": "harbour-report.pdf", "page": 999}, "has no page 999"),
        ("read_page", {"document": "../../etc/passwd", "page": 0}, "passwd"),
    ],
)
def test_what_cannot_be_is_an_error_that_says_why(
    live: LiveServer, tool: str, arguments: dict[str, object], told: str
) -> None:
    said = refused(live, tool, **arguments)
    assert told in said
    assert "Traceback" not in said
    assert "pydantic" not in said


def test_a_tool_that_there_is_not_is_an_error_of_the_protocol(live: LiveServer) -> None:
    from mcp import MCPError

    async def delete(client: "Client") -> None:
        with pytest.raises(MCPError, match="there are: search, fetch, ask, read_page"):
            await client.call_tool("delete_everything")

    use(live, delete)


def test_an_unexpected_error_tells_nothing_of_the_server(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise ValueError("/secret/path")

    server = serve()
    monkeypatch.setattr(ServedCollection, "search", fail)
    said = refused(server, "search", query="x")
    assert "secret" not in said
    assert "mistake of the server" in said
    assert "/secret/path" in caplog.text


def test_one_of_several_collections_has_to_be_named(serve: Serve, sample_collection: Path) -> None:
    server = serve(collections={"port": sample_collection, "harbour": sample_collection})
    assert refused(server, "search", query="x").endswith("name one of them: port, harbour")
    assert refused(server, "ask", question="x").endswith("name one of them: port, harbour")
    for name in ("port", "harbour"):
        first = found(server, "search", query=QUESTION, collection=name)["results"][0]
        assert first["id"].startswith(f"{name}/")
        assert first["url"].startswith(f"{server.url}/c/{name}/q/")
        assert found(server, "fetch", id=first["id"])["metadata"]["collection"] == name


def test_a_key_opens_its_own_collections(serve: Serve, sample_collection: Path, tmp_path: Path) -> None:
    from mcp_types import TextContent

    keys = KeyStore(tmp_path / "state")
    key = keys.add(KeyRequest("reader", collections=["port"]))[1]
    server = serve(collections={"port": sample_collection, "secret": sample_collection})

    async def look(client: "Client") -> list["CallToolResult"]:
        asked: list[dict[str, object]] = [{}, {"collection": "secret"}, {"collection": "nope"}]
        return [await client.call_tool("search", {"query": QUESTION, **more}) for more in asked]

    own, secret, missing = use(server, look, key=key)
    assert own.structured_content["results"][0]["id"].startswith("port/")
    told = [result.content[0].text for result in (secret, missing) if isinstance(result.content[0], TextContent)]
    assert told == [f"collection: there is none of the name {name!r}; there are: port" for name in ("secret", "nope")]
    refused = server.client.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    assert refused.status_code == 401


def test_links_begin_with_the_public_address(serve: Serve) -> None:
    server = serve(public_url="https://docs.example.org/port/")
    assert found(server, "search", query="x")["results"][0]["url"].startswith("https://docs.example.org/port/c/port/q/")


def test_calls_at_the_same_time_get_each_its_own_answer(live: LiveServer) -> None:
    async def ask_all(client: "Client") -> list[str]:
        told: dict[int, str] = {}

        async def ask(number: int) -> None:
            question = f"{QUESTION} ({number})"
            told[number] = (await client.call_tool("ask", {"question": question})).structured_content["question"]

        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(ask, number)
        return [told[number] for number in range(8)]

    assert use(live, ask_all) == [f"{QUESTION} ({number})" for number in range(8)]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_progress_is_told_to_a_client_that_asks(live: LiveServer, mode: str) -> None:
    told: list[tuple[float, str | None]] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def ask(client: "Client") -> "CallToolResult":
        return await client.call_tool("ask", {"question": QUESTION}, progress_callback=on_progress)

    assert not use(live, ask, mode).is_error
    assert told[0] == (1, "15 quotes found; the answer is being written")
    assert sorted(count for count, _ in told) == [count for count, _ in told]


class WatchedModel(ModelServer):
    """A chat model that writes until the connection is closed."""

    def __init__(self) -> None:
        super().__init__(lambda _: Reply(headers={"content-type": "text/event-stream"}, endless=WORD, every_s=0.01))


def test_a_cancelled_call_stops_the_model(serve: Serve) -> None:
    with WatchedModel() as model:
        server = serve(answers={"model": "m", "base_url": model.base_url})

        async def give_up(client: "Client") -> None:
            async def on_progress(progress: float, total: float | None, message: str | None) -> None:
                if "written" in str(message) and model.requests:
                    scope.cancel()

            with anyio.CancelScope() as scope:
                await client.call_tool("ask", {"question": QUESTION}, progress_callback=on_progress)
            assert await anyio.to_thread.run_sync(model.wait_until_left, 30)

        use(server, give_up)
    assert len(model.requests) == 1


def test_a_model_that_cannot_be_asked_is_an_error(serve: Serve) -> None:
    server = serve(answers={"model": "m", "base_url": "http://127.0.0.1:9/v1", "retries": 0})
    assert "127.0.0.1:9" in refused(server, "ask", question=QUESTION)
    assert found(server, "search", query=QUESTION)["results"]


def test_only_known_hosts_and_pages_are_answered(live: LiveServer, serve: Serve) -> None:
    def status(server: LiveServer, **more: str) -> int:
        return server.client.post("/mcp", json=LISTED, headers={**HEADERS, **more}).status_code

    assert status(live) == 200
    assert status(live, host="evil.example") == 421
    assert status(live, origin="https://evil.example") == 403
    assert status(live, origin=live.url) == 200
    named = serve(allowed_hosts=["reports.example.org"], cors_origins=["https://app.example.org"])
    assert status(named, host="reports.example.org", origin="https://reports.example.org") == 200
    assert status(named, origin="https://app.example.org") == 200
    assert live.client.get("/mcp", headers=HEADERS).status_code == 405
    assert 'route="/mcp"' in live.client.get("/metrics").text


@pytest.fixture
def app(sample_collection: Path, tmp_path: Path) -> FastAPI:
    """An application that no test has started."""
    return make_app(ServerSettings(collections={"port": sample_collection}, state=tmp_path))


def test_an_application_may_be_started_again(app: FastAPI) -> None:
    for _ in range(2):
        with TestClient(app, base_url="http://127.0.0.1") as client:
            assert client.post("/mcp", json=LISTED, headers=HEADERS).status_code == 200


def test_a_first_request_that_is_given_up_keeps_no_other_from_an_answer(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    from quoteweave.server.mcp import server as mcp_server

    make, made = mcp_server.make_session_manager, []

    async def ask() -> list[int]:
        transport = httpx2.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client,
        ):
            with anyio.CancelScope() as scope:

                def make_while_the_client_leaves(served: Served) -> object:
                    made.append(served)
                    anyio.from_thread.run_sync(scope.cancel)
                    return make(served)

                monkeypatch.setattr(mcp_server, "make_session_manager", make_while_the_client_leaves)
                await client.post("/mcp", json=LISTED, headers=HEADERS)
            assert scope.cancelled_caught
            return [
                response.status_code
                for response in await asyncio.gather(
                    *(client.post("/mcp", json=LISTED, headers=HEADERS) for _ in range(3))
                )
            ]

    assert asyncio.run(ask()) == [200, 200, 200]
    assert len(made) == 2  # by the first, and once for all others


def test_without_the_sdk_the_rest_is_served_and_the_log_says_what_to_install(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with TestClient(app, base_url="http://127.0.0.1") as client:
        with monkeypatch.context() as missing:
            missing.delitem(sys.modules, "quoteweave.server.mcp.server", raising=False)
            missing.setitem(sys.modules, "mcp.server.streamable_http_manager", None)
            refused = client.post("/mcp", json=LISTED, headers=HEADERS)
            assert refused.status_code == 501
            assert "is not installed; whoever runs the server" in refused.json()["detail"]
            assert "pip install 'quoteweave[server]'" in caplog.text
            assert client.get("/v1/collections").status_code == 200
        assert client.post("/mcp", json=LISTED, headers=HEADERS).status_code == 200
