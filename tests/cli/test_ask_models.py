"""`quoteweave ask` with all that can be said of a chat model."""

from pathlib import Path

import pytest
from command_line import Quoteweave, configured
from made_collections import made_quote, stored_collection

from quoteweave.testing import ModelServer, Reply

GRAIN = "Grain is stored in silos of steel."


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": [made_quote(GRAIN)]})


def test_what_is_said_of_the_model_is_sent(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    config = tmp_path / "ask.toml"
    config.write_text(
        'max_tokens = 99\ntemperature = 0.5\nthinking = false\n[extra]\nreasoning_effort = "low"\ntop_k = 4\n'
    )
    with ModelServer() as server:
        quoteweave("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url, "--config", config)
    (request,) = server.requests
    assert (request["max_tokens"], request["temperature"]) == (99, 0.5)
    assert request["chat_template_kwargs"] == {"enable_thinking": False}
    assert (request["reasoning_effort"], request["top_k"]) == ("low", 4)


def test_how_long_an_endpoint_is_waited_for(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    busy = Reply(status=503, headers={"retry-after-ms": "1"})
    with ModelServer([busy, busy, busy, busy]) as server:
        asked = ("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url)
        assert quoteweave(*asked, *configured(tmp_path, retries=3)).code == 1
    assert len(server.requests) == 4
    with ModelServer([Reply(delay_s=600)]) as server:
        asked = ("ask", "grain?", "-c", port, "--model", "m", "--base-url", server.base_url)
        got = quoteweave(*asked, *configured(tmp_path, retries=0, timeout_s=0.05))
    assert (got.code, len(server.requests) <= 1) == (1, True)  # beside other work it has not even arrived by then
    assert "timed out" in got.err


def test_a_kept_call_is_answered_without_endpoint_or_key(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    with ModelServer([Reply(text="In silos [1].")]) as server:
        calls = tmp_path / "calls"
        asked = ("ask", "grain?", "-c", port, "--model", "m", *configured(tmp_path, calls=calls), "--json")
        first = quoteweave(*asked, "--base-url", server.base_url)
        again = quoteweave(*asked)
    assert (first.code, again.code, len(server.requests)) == (0, 0, 1)
    assert again.json()["text"] == first.json()["text"] == "In silos [1]."
    configured(tmp_path, temperature=1, calls=calls)
    assert quoteweave(*asked).code == 2  # another call, which lacks a key


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ("temperature = inf", "ask.toml: temperature: Input should be a finite number"),
        ("timeout_s = 0", "ask.toml: timeout_s: Input should be greater than 0"),
        ('retreiver = ["bm25"]', "ask.toml: retreiver is no key; did you mean retriever?"),
        ("[limits]\nmax_dollars = 3", "ask.toml: limits.max_dollars is no key; there are: concurrency"),
        ('api_key = "k"', "ask.toml: api_key: a key does not belong in a file"),
        ("trust_remote_code = true", "only where the command itself allows it; give --trust-remote-code instead"),
        ('model = "local="', "write local=/path/to/folder"),
        ('model = "local=x"\nextra = { top_k = 1 }', "runs on this machine, so that no request takes top_k"),
        ('[[setting]]\nname = "a"\n[[setting]]\nname = "b"', "choose one with --setting; there are: a, b"),
    ],
)
def test_what_cannot_be_is_told_before_anything_is_sent(
    config: str, told: str, quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    (tmp_path / "ask.toml").write_text(config)
    with ModelServer() as server:
        asked = ("ask", "grain?", "-c", port, "--base-url", server.base_url, "--config", tmp_path / "ask.toml")
        got = quoteweave(*asked)
    assert (got.code, got.out, server.requests) == (2, "", [])
    assert told in " ".join(got.err.split())


def test_the_file_of_a_run_answers_one_question_and_options_come_first(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    config = tmp_path / "ask.toml"
    config.write_text(
        'quotes = "dataset"\nmodel = "m"\ntemperature = 0.5\n[[setting]]\nname = "a"\nretriever = ["bm25"]\n'
        '[[setting]]\nname = "b"\norder = "shuffled"\nsize = 20\n'
    )
    with ModelServer(lambda _: Reply(text="In silos [1].")) as server:
        asked = ("ask", "grain?", "-c", port, "--base-url", server.base_url, "--config", config, "--setting")
        assert quoteweave(*asked, "b", "--json").json()["model"] == "m"
        assert quoteweave(*asked, "b", "--model", "n", "--json").json()["model"] == "n"
    assert [(request["model"], request["temperature"]) for request in server.requests] == [("m", 0.5), ("n", 0.5)]
