"""`quoteweave mcp`: the tools over standard input and output, as a client starts it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave
from forked_programs import ForkedProgram

from quoteweave.collection.collection import Collection

ROOT = Path(__file__).parents[2]
QUESTION = "How many vessel calls did the port receive?"
SETTINGS_LEFT_OUT = {
    name: value for name, value in os.environ.items() if not name.startswith(("QUOTEWEAVE_", "OPENAI_"))
}
ENVIRONMENT = {**SETTINGS_LEFT_OUT, "PYTHONPATH": str(ROOT)}


def command(*arguments: object) -> list[str]:
    return ["-m", "quoteweave.cli.app", "mcp", *map(str, arguments)]


def test_a_client_searches_reads_and_asks(sample_collection: Path) -> None:
    from mcp import Client, MCPError, StdioServerParameters
    from mcp_types import ImageContent, TextResourceContents

    async def use() -> None:
        started = StdioServerParameters(
            command=sys.executable, args=command("-c", f"port={sample_collection}"), env=ENVIRONMENT
        )
        async with Client(started) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["search", "fetch", "ask", "read_page"]
            first = (await client.call_tool("search", {"query": QUESTION})).structured_content["results"][0]
            fetched = (await client.call_tool("fetch", {"id": first["id"]})).structured_content
            with Collection.open(sample_collection) as collection:
                quote = collection.quote(first["id"].removeprefix("port/"))
            assert fetched["text"] == quote.all_text()
            answer = (await client.call_tool("ask", {"question": QUESTION})).structured_content
            assert "1,058" in answer["text"]
            # No server shows the quote, so the client reads its URL here.
            url = answer["citations"][0]["url"]
            assert url == f"quoteweave://local/c/port/q/{answer['citations'][0]['quote_id']}"
            (contents,) = (await client.read_resource(url)).contents
            assert isinstance(contents, TextResourceContents)
            assert contents.text == answer["citations"][0]["quoted"]
            (template,) = (await client.list_resource_templates()).resource_templates
            assert template.uri_template == "quoteweave://local/c/{collection}/q/{quote}"
            for wrong in ("quoteweave://local/c/port/q/0:0:0", "quoteweave://local/c/nope/q/1:0:0", "file:///etc/x"):
                with pytest.raises(MCPError, match=r"0:0:0|nope|/etc/x"):
                    await client.read_resource(wrong)
            page = await client.call_tool("read_page", {"document": "harbour-report.pdf", "page": 2})
            assert isinstance(page.content[1], ImageContent)

    asyncio.run(use())


def test_standard_output_carries_the_protocol_alone(sample_collection: Path, tmp_path: Path) -> None:
    settings = tmp_path / "serve.toml"
    settings.write_text(
        f'public_url = "https://docs.example.org"\nlog_level = "debug"\n[collections]\nport = "{sample_collection}"\n'
    )
    version = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    requests: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": version},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "search", "arguments": {"query": QUESTION}}},
        {"id": 3, "method": "tools/call", "params": {"name": "search", "arguments": {}}},
    ]
    with ForkedProgram(
        [sys.executable, *command("--config", settings)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env=SETTINGS_LEFT_OUT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for request in requests:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **request}) + "\n")
        process.stdin.flush()
        # The process ends when its input does, so the input is closed when all answers have come.
        answers = {answer["id"]: answer["result"] for answer in (json.loads(process.stdout.readline()) for _ in "123")}
        rest, _ = process.communicate(timeout=60)
    assert (rest, process.returncode) == ("", 0)
    assert answers[1]["serverInfo"]["name"] == "quoteweave"
    assert answers[2]["structuredContent"]["results"][0]["url"].startswith("https://docs.example.org/c/port/q/")
    assert answers[3]["isError"]


def test_an_interrupt_ends_it_while_it_waits(sample_collection: Path) -> None:
    with ForkedProgram(
        [sys.executable, *command("-c", sample_collection)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=SETTINGS_LEFT_OUT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT


def test_a_collection_that_cannot_be_read_is_named_in_the_log(sample_collection: Path, tmp_path: Path) -> None:
    Collection.create(tmp_path / "broken").close()
    (tmp_path / "broken" / "catalog.sqlite").write_bytes(b"no database " * 1000)
    with ForkedProgram(
        [sys.executable, *command("-c", sample_collection, "-c", tmp_path / "broken")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=SETTINGS_LEFT_OUT,
    ) as process:
        out, err = process.communicate("", timeout=60)
    assert (process.returncode, out) == (0, "")
    assert "WARNING broken cannot be read: " in err


def test_what_cannot_be_served_is_told_before_anything_else(quoteweave: Quoteweave, tmp_path: Path) -> None:
    nothing = quoteweave("mcp")
    assert (nothing.code, nothing.out) == (2, "")
    assert "there is nothing to serve" in nothing.err
    missing = quoteweave("mcp", "-c", tmp_path / "nope")
    assert (missing.code, missing.out) == (1, "")
    assert "nope" in missing.err
