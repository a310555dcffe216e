"""`quoteweave ask --server` and `search --server`: the output of the same command on the collection's folder."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command_line import Outcome, Quoteweave
from live_server import LiveServer, Serve
from scripted_server import Scripted, ScriptedServer

from quoteweave import Client
from quoteweave.cli.remote import remote_collection
from quoteweave.core.records import Filter
from quoteweave.testing import ModelServer, Reply

QUESTION = "How many vessel calls did the port receive?"
SETTINGS = [
    (),
    ("--doc", "harbour-report.pdf", "--pages", "2-3"),
    ("--retriever", "bm25"),
    ("--explain",),
]


def comparable(value: Any) -> Any:
    """JSON without seconds, and without what only a server says."""
    if isinstance(value, dict):
        left_out = ("seconds", "url", "image_url", "image", "regions")
        return {key: comparable(each) for key, each in value.items() if key not in left_out}
    return [comparable(each) for each in value] if isinstance(value, list) else value


def same(got: Outcome, here: Outcome) -> None:
    assert got.code == here.code == 0, got.err
    assert (got.out, got.err) == (here.out, here.err)


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("command", ["ask", "search"])
def test_a_server_is_asked_as_a_folder_is(
    quoteweave: Quoteweave, live: LiveServer, sample_collection: Path, command: str, options: tuple[str, ...]
) -> None:
    asked = (command, QUESTION, *options)
    same(quoteweave(*asked, "--server", live.url), quoteweave(*asked, "-c", sample_collection))
    got, here = (quoteweave(*asked, "--json", *at) for at in (("--server", live.url), ("-c", sample_collection)))
    assert comparable(got.json()) == comparable(here.json())
    assert got.json().keys() == here.json().keys()


def test_events_are_those_of_the_folder(quoteweave: Quoteweave, live: LiveServer, sample_collection: Path) -> None:
    got = quoteweave("ask", QUESTION, "--events", "--server", live.url, "-c", "port").out.splitlines()
    here = quoteweave("ask", QUESTION, "--events", "-c", sample_collection).out.splitlines()
    assert [comparable(json.loads(line)) for line in got] == [comparable(json.loads(line)) for line in here]


def test_the_image_of_a_hit_is_where_the_server_shows_it(quoteweave: Quoteweave, live: LiveServer) -> None:
    found = quoteweave("search", "chart of calls", "--kind", "image", "--json", "--server", live.url).json()["hits"][0]
    assert found["image"] == found["image_url"]
    assert live.client.get(found["image"]).headers["content-type"] == "image/png"


def test_the_model_is_one_of_the_servers_and_its_destination_is_told(quoteweave: Quoteweave, serve: Serve) -> None:
    with ModelServer(lambda _: Reply(text="It received 1,058 calls [1].", sizes=(4,))) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url})
        got = quoteweave("ask", QUESTION, "--server", server.url)
        without = quoteweave("ask", QUESTION, "--server", server.url, "--model", "extractive")
        unknown = quoteweave("ask", QUESTION, "--server", server.url, "--model", "gpt-5")
        assert len(model.requests) == 1
    assert got.out.startswith("It received 1,058 calls [1].\n\n[1] ")
    assert re.search(r"the server sends the question and the quotes found to 127\.0\.0\.1:\d+$", got.err, re.MULTILINE)
    assert (without.code, without.err) == (0, "")
    assert (unknown.code, unknown.out) == (2, "")
    assert "'gpt-5' is not among the models" in unknown.err


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        (("ask", "x", "--html", "a.html", "--trust-remote-code"), "--html, --trust-remote-code: not with --server"),
        (("ask", "x", "--base-url", "http://127.0.0.1:9"), "--base-url: not with --server"),
        (("ask", "x", "--fallback", "extractive"), "--fallback: not with --server"),
        (("search", "x", "--device", "cpu", "--terms", "t.toml"), "--terms, --device: not with --server"),
    ],
)
def test_options_that_a_server_is_not_asked_with_are_refused(
    quoteweave: Quoteweave, options: tuple[str, ...], refused: str
) -> None:
    got = quoteweave(*options, "--server", "http://127.0.0.1:9")
    assert (got.code, got.out) == (2, "")
    assert refused in got.err


def test_the_folder_of_the_environment_names_nothing_on_a_server(
    quoteweave: Quoteweave, live: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QUOTEWEAVE_COLLECTION", "/no/such/folder")
    assert quoteweave("search", "calls", "--server", live.url).code == 0
    got = quoteweave("search", "calls", "--server", live.url, "-c", "nope")
    assert got.code == 1
    assert "no collection is served under the name 'nope'" in got.err


def test_a_server_that_cannot_be_asked_is_told_in_one_line(quoteweave: Quoteweave) -> None:
    for command in ("ask", "search"):
        got = quoteweave(command, "x", "--server", "http://127.0.0.1:9")
        assert (got.code, got.out) == (1, "")
        assert re.fullmatch(r"error: No answer from http://127\.0\.0\.1:9: .*\n", got.err)


def test_without_folder_and_server_both_are_named(quoteweave: Quoteweave) -> None:
    got = quoteweave("ask", "x")
    assert (got.code, got.out) == (2, "")
    assert "--collection (-c)" in got.err
    assert "--server" in got.err


def test_a_picture_of_a_quote_is_shown_in_a_terminal_or_it_is_told_why_not(
    live: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    served = remote_collection(live.url, None, Filter(kind="image"), {})
    found = Client(live.url).search("chart of calls", 1, where=served.where).hits[0]
    picture = served.crop(found.quote_id)
    assert picture is not None
    assert min(picture.size) > 50
    with ScriptedServer(Scripted(b"<html>", kind="text/html")) as other:
        assert remote_collection(other.url, "port", Filter(), {}).crop("0:0:0") is None
    assert capsys.readouterr().err.startswith("note: the picture of quote 0:0:0 cannot be shown: what the server sent ")
    assert served.crop("0:0:0") is None
    assert re.fullmatch(r"note: the picture of quote 0:0:0 cannot be shown: .*0:0:0.*\n", capsys.readouterr().err)
