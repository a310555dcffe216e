"""`quoteweave ask` while a chat model writes, over real HTTP."""

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave, configured
from made_collections import made_quote, stored_collection

from quoteweave.core.answers import (
    Answer,
    AnswerEvent,
    CitationEvent,
    Context,
    Event,
    ImageEvent,
    TextEvent,
    ThoughtEvent,
)
from quoteweave.testing import ModelServer, Reply, check_events

TEXT = "Silos of steel hold grain [1], as [7] says. And <b>so</b> \x1b[31mon."
KINDS: dict[str, type[Event | ImageEvent]] = {
    "thought": ThoughtEvent,
    "text": TextEvent,
    "citation": CitationEvent,
    "image": ImageEvent,
    "answer": AnswerEvent,
}


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": [made_quote("Grain is stored in silos of steel.")]})


def asking(server: ModelServer, *more: object) -> tuple[object, ...]:
    return ("ask", "Where is grain stored?", "--model", "m", "--base-url", server.base_url, *more)


def test_text_then_sources_and_the_request_is_a_stream(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer([Reply(text=TEXT, sizes=(3,))]) as server:
        got = quoteweave(*asking(server), "-c", port)
    assert got.code == 0
    assert server.requests[0]["stream"] is True
    text, _, sources = got.out.partition("\n\n")
    assert text == "Silos of steel hold grain [1], as says. And <b>so</b> [31mon."
    assert sources.startswith("[1] ")
    assert "port.md, page 1" in sources
    assert "1 mark names a quote that was not given" in got.err


def test_json_asks_for_the_answer_whole(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer([Reply(text=TEXT)]) as server:
        got = quoteweave(*asking(server, "--json"), "-c", port)
    assert (got.code, server.requests[0].get("stream")) == (0, None)
    assert got.json()["text"].startswith("Silos of steel hold grain [1], as says.")


def test_events_are_json_a_line_and_keep_the_contract(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer([Reply(text=TEXT, reasoning="Hm.", sizes=(2, 5))]) as server:
        got = quoteweave(*asking(server, "--events"), "-c", port)
    sources, *lines = (json.loads(line) for line in got.out.splitlines())
    assert (sources["type"], next(iter(sources["trace"]))) == ("sources", "clauses")
    events = [KINDS[line["type"]].model_validate(line) for line in lines]
    answer = check_events(events, Context.model_validate(sources["context"]))
    assert isinstance(events[0], ThoughtEvent)
    assert answer.citations[0].verdict is not None


def test_the_same_is_said_in_every_form(quoteweave: Quoteweave, port: Path) -> None:
    def answer(value: dict[str, Any]) -> Answer:
        known = {key: value[key] for key in Answer.model_fields if key in value}
        return Answer.model_validate({**known, "seconds": 0})

    with ModelServer(lambda _: Reply(text=TEXT, sizes=(4,))) as server:
        streamed = quoteweave(*asking(server, "--events"), "-c", port).out.splitlines()[-1]
        whole = quoteweave(*asking(server, "--json"), "-c", port).json()
    assert answer(json.loads(streamed)["answer"]) == answer(whole)


def test_an_answer_that_breaks_off_leaves_what_came_and_says_so(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    with ModelServer([Reply(text=TEXT, sizes=(6,), cut_after=5)]) as server:
        got = quoteweave(*asking(server, *configured(tmp_path, retries=0)), "-c", port)
    assert got.code == 1
    assert got.out == "Silos of steel hold grai\n"
    assert got.err.splitlines()[-1].startswith("error: ")
    assert "broke off after 24 characters" in got.err


@pytest.mark.parametrize("form", [(), ("--events",)])
def test_kept_calls_are_streamed_without_a_server(
    quoteweave: Quoteweave, port: Path, tmp_path: Path, form: tuple[str, ...]
) -> None:
    with ModelServer([Reply(text=TEXT)]) as server:
        kept = asking(server, *configured(tmp_path, calls=tmp_path / "calls"), *form)
        first = quoteweave(*kept, "-c", port)
    again = quoteweave(*kept, "-c", port)
    assert (again.code, len(server.requests)) == (0, 1)
    assert again.out.count("Silos of steel") == first.out.count("Silos of steel")
