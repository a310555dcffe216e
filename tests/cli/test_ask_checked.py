"""`quoteweave ask` with `check` in its file: a second opinion, told to people, in JSON and on the page."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave, configured
from lxml import html
from made_collections import made_quote, stored_collection

from quoteweave.testing import ModelServer, Reply

QUESTION = "What are the silos for grain made of?"
SAID = "Grain is stored in silos of steel [1]. The silos of grain belong to nobody [1]."


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": [made_quote("Grain is stored in silos of steel.")]})


def scripted(request: Mapping[str, Any]) -> Reply:
    asked = str(request["messages"][-1]["content"])
    if "supported" not in asked:
        return Reply(text=SAID)
    return Reply(text='{"supported": "no"}' if "belong to nobody" in asked else '{"supported": "yes"}')


def test_a_second_opinion_stands_beside_the_gate_s(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    with ModelServer(scripted) as server:
        model = ("--model", "m", "--base-url", server.base_url, *configured(tmp_path, check="chat"))
        got = quoteweave("ask", QUESTION, "-c", port, "--json", "--html", tmp_path / "a.html", *model)
        assert len(server.requests) == 3
    value = got.json()
    assert [citation["checker_verdict"] for citation in value["citations"]] == [True, False]
    assert value["warnings"][-1] == "The checker does not find 1 of 2 cited sentences supported by what is cited."
    page = html.document_fromstring((tmp_path / "a.html").read_text())
    assert [chip.get("class") for chip in page.find_class("chip")] == ["chip supported", "chip unsupported"]


def test_drop_heeds_it_and_shows_nothing_that_goes(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    with ModelServer(scripted) as server:
        config = configured(tmp_path, check=f"chat:judge@{server.base_url}", gate="drop")
        said = ("--base-url", server.base_url, *config)
        got = quoteweave("ask", QUESTION, "-c", port, "--model", "m", *said)
        assert {request["model"] for request in server.requests} == {"m", "judge"}
    assert "silos of steel [1]" in got.out
    assert "nobody" not in got.out
    assert "cited sentences and their quotes are sent to 127.0.0.1:" in got.err
    assert "The checker does not find it supported by what it cites." in got.err


def test_people_are_told_of_what_it_doubts(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    config = configured(tmp_path, check="chat")
    with ModelServer(scripted) as server:
        got = quoteweave("ask", QUESTION, "-c", port, "--model", "m", "--base-url", server.base_url, *config)
    assert "nobody" in got.out
    assert "does not support what cites it" in got.err
    assert "None" not in got.err


def test_a_plain_chat_wants_a_model(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    got = quoteweave("ask", QUESTION, "-c", port, *configured(tmp_path, check="chat"))
    assert got.code != 0
    assert "which chat model is to check?" in " ".join(got.err.split())
