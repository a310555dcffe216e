"""Answers that do not come to their end: they take too long, cost too much, or their server is killed."""

import json
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from forked_programs import ForkedProgram
from live_server import Serve
from test_served_answers import problem, read_events

from quoteweave.endpoints.prices import PRICES_VARIABLE
from quoteweave.testing import ModelServer, Reply

QUESTION = "How many vessel calls did the port receive?"
ANSWERS = "/v1/collections/port/answers"
CALLED = "It received 1,058 calls [1]."


def test_an_answer_that_takes_too_long_ends_with_the_reason_and_ends_the_models_work(serve: Serve) -> None:
    with ModelServer([Reply(body=b"", endless=b" ", every_s=0.05)] * 2) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url}, answer_seconds=0.5)
        told = problem(server.client.post(ANSWERS, json={"question": QUESTION}), 503, "model-unavailable")
        assert told["detail"] == "the answer took longer than the 0.5 seconds that this server gives one"
        assert told["fallback"] == "extractive"
        streamed = read_events(server.client.post(ANSWERS, json={"question": QUESTION, "stream": True}).text)
        assert [name for name, _ in streamed] == ["sources", "error"]
        assert streamed[-1][1]["problem"]["detail"] == told["detail"]
        assert model.wait_until_left(60), "the model goes on writing"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (ANSWERS, {"question": QUESTION}),
        ("/v1/chat/completions", {"model": "port", "messages": [{"role": "user", "content": QUESTION}]}),
        ("/v1/responses", {"model": "port", "input": QUESTION}),
    ],
)
def test_a_client_that_leaves_ends_the_models_work(serve: Serve, path: str, body: dict[str, Any]) -> None:
    asked = threading.Event()

    def reply(_: Any) -> Reply:
        asked.set()
        return Reply(body=b"", endless=b" ", every_s=0.05)

    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(content)}"
    )
    with ModelServer(reply) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url})
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(f"{head}\r\n\r\n".encode() + content)
            assert asked.wait(60)
        assert model.wait_until_left(30), "the model goes on writing"


def test_an_answer_that_would_cost_more_than_it_may_is_not_asked_for(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.toml"
    prices.write_text("[chat]\nm = { input = 1.0, output = 10.0 }\n", "utf-8")
    monkeypatch.setenv(PRICES_VARIABLE, str(prices))
    with ModelServer(lambda _: Reply(text=CALLED)) as model:
        answers = {"model": "m", "base_url": model.base_url, "max_tokens": 100, "retries": 0}
        for most, status in ((0.000_01, 402), (1.0, 200)):
            server = serve(answers=answers, answer_usd=most)
            assert server.client.post(ANSWERS, json={"question": QUESTION}).status_code == status
        assert len(model.requests) == 1


@contextmanager
def process_of(collection: Path, config: Path, state: Path) -> Iterator[tuple["subprocess.Popen[str]", httpx2.Client]]:
    """A server in a process of its own, and a client of it."""
    command = [sys.executable, "-m", "quoteweave", "serve", "-c", f"port={collection}", "--port", "0"]
    process = ForkedProgram([*command, "--config", str(config), "--state", str(state)], stderr=subprocess.PIPE)
    assert process.stderr is not None
    address = next(line for line in process.stderr if "is serving" in line).split(" at ")[1].split()[0]
    try:
        with httpx2.Client(base_url=address, timeout=60) as client:
            yield process, client
    finally:
        process.kill()
        process.communicate(timeout=30)


def test_a_server_that_is_killed_while_it_answers_keeps_what_was_answered_and_nothing_of_the_rest(
    sample_collection: Path, tmp_path: Path
) -> None:
    asked = 0

    def reply(_: Any) -> Reply:
        nonlocal asked
        asked += 1
        delays = (0.0,) * 4 + (600.0,) if asked == 2 else ()
        return Reply(text=CALLED, sizes=(4,), delays_s=delays)

    with ModelServer(reply) as model:
        config = tmp_path / "serve.toml"
        config.write_text(f'[answers]\nmodel = "m"\nbase_url = "{model.base_url}"\n', "utf-8")
        with process_of(sample_collection, config, tmp_path / "state") as (process, client):
            first = client.post(ANSWERS, json={"question": QUESTION, "store": True}).json()
            again = {"question": QUESTION, "conversation": first["conversation"], "stream": True}
            with client.stream("POST", ANSWERS, json=again) as response:
                lines = response.iter_lines()
                assert "event: text" in lines
                process.send_signal(signal.SIGKILL)
                with pytest.raises(httpx2.RemoteProtocolError):
                    list(lines)
        with process_of(sample_collection, config, tmp_path / "state") as (_, client):
            kept = f"/v1/conversations/{first['conversation']}"
            (turn,) = client.get(kept).json()["turns"]
            assert turn["answered"]["answer"]["text"] == first["answer"]["text"] == CALLED
            assert client.post(ANSWERS, json={**again, "stream": False}).json()["answer"]["text"] == CALLED
            assert len(client.get(kept).json()["turns"]) == 2
