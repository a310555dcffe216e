"""What commands report when an endpoint fails, and that no work is lost: real commands, real HTTP."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from command_line import Quoteweave
from made_collections import made_quote, stored_collection

from quoteweave.core.runs import read_run
from quoteweave.testing import ModelServer, Reply

QUESTION = "How much grain did the port receive in 2023?"
ANSWER = "It received 1,204 tonnes of grain [1]."
TOO_LONG = (
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9120 tokens",
    "the request exceeds the available context size, try increasing it",
    "input tokens (9120) exceed the limit",
    "prompt is too long: 9120 tokens > 8192 maximum",
)


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": [made_quote("The port received 1,204 tonnes of grain in 2023.")]})


@pytest.fixture
def ask(quoteweave: Quoteweave, port: Path) -> Callable[..., str]:
    """What stderr says, the line apart that tells where the question goes; stdout is empty and the exit code 1."""

    def failing(reply: Reply, *options: object, below: str = "") -> str:
        with ModelServer(lambda _: reply) as server:
            asked = ("--model", "m", "--base-url", server.base_url + below, "--json", *options)
            got = quoteweave("ask", QUESTION, "-c", port, *asked)
        assert (got.code, got.out) == (1, "")
        (said,) = [line for line in got.err.splitlines() if not line.startswith("sending ")]
        assert said.startswith(f"error: {server.base_url}")
        return said

    return failing


def test_a_model_that_the_endpoint_does_not_know(ask: Callable[..., str]) -> None:
    said = ask(Reply(status=404, text="The model `m` does not exist"))
    assert "answered 404 for the model m: The model `m` does not exist; check the model's name" in said


def test_without_key_and_address_nothing_is_said_to_be_sent(quoteweave: Quoteweave, port: Path) -> None:
    got = quoteweave("ask", QUESTION, "-c", port, "--model", "m")
    assert (got.code, got.out) == (2, "")
    assert got.err.startswith("error: No endpoint for the model m")


def test_an_address_that_is_none_of_an_api(ask: Callable[..., str]) -> None:
    said = ask(Reply(), below="/chat/completions")
    assert "answered 404" in said
    assert "the base URL, which usually ends in /v1" in said


def test_the_page_of_a_website_in_place_of_an_api(ask: Callable[..., str]) -> None:
    page = b"<!doctype html><title>Log in</title><script>alert(1)</script>"
    said = ask(Reply(body=page, headers={"content-type": "text/html"}))
    assert "something that is no chat completion" in said
    assert "check that the URL is that of an OpenAI-compatible API" in said
    assert "script" not in said


@pytest.mark.parametrize("text", TOO_LONG)
def test_a_context_too_long_tells_what_makes_it_shorter(text: str, ask: Callable[..., str]) -> None:
    said = ask(Reply(status=400, text=text))
    assert text in said
    assert "fewer or shorter quotes" in said
    assert "`window`" in said


def test_a_request_too_large_for_a_proxy_is_told_in_words(ask: Callable[..., str]) -> None:
    page = b"<html><head><title>413</title></head><body><h1>Request Entity Too Large</h1></body></html>"
    said = ask(Reply(status=413, body=page, headers={"content-type": "text/html"}))
    assert "answered 413 for the model m: 413 Request Entity Too Large; " in said
    assert "fewer or shorter quotes" in said
    assert "<" not in said


def test_another_fault_of_the_request_is_not_taken_for_a_long_one(ask: Callable[..., str]) -> None:
    assert "quotes" not in ask(Reply(status=400, text="temperature must be at most 2, got 7"))


def test_a_key_that_is_the_endpoints_own_is_not_in_what_is_told(ask: Callable[..., str]) -> None:
    said = ask(Reply(status=403, text="sk-very-secret may not use m\x1b[2J\r"), "--api-key", "sk-very-secret")
    assert "check what the API key may use" in said
    assert "sk-very-secret" not in said
    assert "\x1b" not in said


@pytest.mark.parametrize(
    "reply", [Reply(text=" \n"), Reply(text="", reasoning="hm"), Reply(text="<think>hm", finish_reason="length")]
)
def test_an_answer_of_nothing(reply: Reply, ask: Callable[..., str]) -> None:
    assert "sent an empty answer of the model m" in ask(reply)


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """Forty questions over one collection."""
    path = tmp_path / "questions.jsonl"
    rows = [{"id": f"q{number}", "question": f"{QUESTION} ({number})"} for number in range(40)]
    write_json_lines(path, rows)
    return path


@pytest.fixture
def run(quoteweave: Quoteweave, port: Path, dataset: Path, tmp_path: Path) -> Callable[..., Any]:
    def running(server: ModelServer, *options: object, concurrency: int = 4) -> Any:
        config = tmp_path / "config.toml"
        config.write_text(f'model = "m"\nwithin = "collection"\n[limits]\nconcurrency = {concurrency}\n')
        arguments = (
            "run",
            "--dataset",
            "questions",
            "--references",
            dataset,
            "--config",
            config,
            "--out",
            tmp_path / "run",
        )
        return quoteweave(*arguments, "-c", port, "--json", *options)

    return running


@pytest.fixture
def keyed(monkeypatch: pytest.MonkeyPatch, quoteweave: Quoteweave) -> Callable[[str, str], None]:
    """Sets address and key in the environment."""

    def given(url: str, key: str) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", key)

    return given


def answered(folder: Path) -> dict[str, str | None]:
    return {one.example: one.error for one in read_run(folder)[1]}


def test_a_key_that_expires_amid_a_run_costs_nothing_that_was_answered(
    run: Callable[..., Any], keyed: Callable[[str, str], None], tmp_path: Path
) -> None:
    def expiring(request: Mapping[str, Any]) -> Reply:
        old = server.headers[-1]["authorization"] == "Bearer sk-old-key"
        return Reply(status=401, text="sk-old-key expired") if old and len(server.requests) > 6 else Reply(text=ANSWER)

    with ModelServer(expiring) as server:
        keyed(server.base_url, "sk-old-key")
        first = run(server)
        assert (first.code, first.json()[0]["answered"]) == (1, 6)
        assert "10 questions in a row failed" in first.err
        assert "expired; check the API key" in first.err
        assert "what was answered is kept; the same command goes on from there" in first.err
        assert "sk-old-key" not in first.err
        asked = len(server.requests)
        # Of four questions at once, an answer may come behind three failures, whose count begins anew.
        assert asked <= 6 + 3 + 10 + 4, "it ends, and does not try the other questions"
        assert sum(error is None for error in answered(tmp_path / "run").values()) == 6

        keyed(server.base_url, "sk-new-key")
        second = run(server)
    (outcome,) = second.json()
    assert (second.code, outcome["asked"], outcome["answered"], outcome["failed"]) == (0, 34, 40, 0)
    assert len(server.requests) == asked + 34
    assert set(answered(tmp_path / "run").values()) == {None}


def test_one_question_too_long_fails_alone(
    run: Callable[..., Any], keyed: Callable[[str, str], None], tmp_path: Path
) -> None:
    def script(request: Mapping[str, Any]) -> Reply:
        return Reply(status=400, text=TOO_LONG[0]) if "(7)" in str(request["messages"]) else Reply(text=ANSWER)

    with ModelServer(script) as server:
        keyed(server.base_url, "k")
        got = run(server)
    (outcome,) = got.json()
    assert (got.code, outcome["answered"], outcome["failed"]) == (1, 39, 1)
    (error,) = filter(None, answered(tmp_path / "run").values())
    assert "`window`" in error


def test_without_key_and_address_nothing_is_asked_and_the_run_goes_on_later(
    run: Callable[..., Any], keyed: Callable[[str, str], None]
) -> None:
    with ModelServer(lambda _: Reply(text=ANSWER)) as server:
        got = run(server)
        assert (got.code, got.out, server.requests) == (2, "", [])
        assert "OPENAI_BASE_URL" in got.err
        assert "OPENAI_API_KEY" in got.err
        assert "sent to" not in got.err
