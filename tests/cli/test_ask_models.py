"""`quoteweave ask` with all that can be said of a chat model."""

from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, make_collection

from quoteweave.testing import ModelServer, Reply

GRAIN = "Grain is stored in silos of steel."


@pytest.fixture
def port(tmp_path: Path) -> Path:
    make_collection(tmp_path, {"port.md": [made_quote(GRAIN)]}).close()
    return tmp_path / "collection"


def test_what_is_said_of_the_model_is_sent(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer() as server:
        quoteweave(
            *("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url),
            *("--max-tokens", 99, "--temperature", 0.5, "--no-thinking"),
            *("--extra", 'reasoning_effort="low"', "--extra", "top_k = 4"),
        )
    (request,) = server.requests
    assert (request["max_tokens"], request["temperature"]) == (99, 0.5)
    assert request["chat_template_kwargs"] == {"enable_thinking": False}
    assert (request["reasoning_effort"], request["top_k"]) == ("low", 4)


def test_how_long_an_endpoint_is_waited_for(quoteweave: Quoteweave, port: Path) -> None:
    busy = Reply(status=503, headers={"retry-after-ms": "1"})
    with ModelServer([busy, busy, busy, busy]) as server:
        asked = ("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url)
        assert quoteweave(*asked, "--retries", 3).code == 1
    assert len(server.requests) == 4
    with ModelServer([Reply(delay_s=600)]) as server:
        asked = ("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url)
        got = quoteweave(*asked, "--retries", 0, "--timeout", 0.05)
    assert (got.code, len(server.requests)) == (1, 1)
    assert "timed out" in got.err


def test_a_kept_call_is_answered_without_endpoint_or_key(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    with ModelServer([Reply(text="In silos [1].")]) as server:
        asked = ("ask", "grain?", "-c", port, "--model", "m", "--calls", tmp_path / "calls", "--json")
        first = quoteweave(*asked, "--base-url", server.base_url)
        again = quoteweave(*asked)
    assert (first.code, again.code, len(server.requests)) == (0, 0, 1)
    assert again.json()["text"] == first.json()["text"] == "In silos [1]."
    assert quoteweave(*asked, "--temperature", 1).code == 2  # another call, which lacks a key


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (("--extra", "effort"), "write it as KEY=JSON"),
        (("--extra", "effort=low"), "a word of JSON has quotation marks"),
        (("--extra", "=1"), "write it as KEY=JSON"),
        (("--temperature", "inf"), "temperature: Input should be a finite number"),
        (("--timeout", "0"), "--timeout 0: it has to be greater than 0"),
        (("--model", "local="), "write local=/path/to/folder"),
        (("--model", "local=x", "--extra", "top_k=1"), "runs on this machine, so that no request takes top_k"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_sent(
    wrong: tuple[str, ...], told: str, quoteweave: Quoteweave, port: Path
) -> None:
    with ModelServer() as server:
        got = quoteweave("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url, *wrong)
    assert (got.code, got.out, server.requests) == (2, "", [])
    assert told in " ".join(got.err.split())
