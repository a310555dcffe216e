"""Figures, spans, logs and health: what an operator sees, and that no text of people or documents is in it."""

import json
import logging
import re
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path

import httpx2
import psutil
import pytest
from command_line import Quoteweave
from forked_programs import ForkedProgram
from live_server import LiveServer, Serve
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.parser import text_string_to_metric_families
from uvicorn.config import STARTUP_FAILURE

from quoteweave.server.run import app_of_environment, run
from quoteweave.testing.model_server import ModelServer, Reply

QUESTION = "How many vessel calls did the port receive?"
ANSWERS = "/v1/collections/port/answers"


def figures(server: LiveServer) -> dict[tuple[str, ...], float]:
    text = server.client.get("/metrics").text
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}


def test_answers_and_requests_are_counted(serve: Serve) -> None:
    server = serve()
    for _ in range(2):
        server.client.post(ANSWERS, json={"question": QUESTION})
    server.client.post(ANSWERS, json={"question": QUESTION, "stream": True})
    server.client.get("/v1/collections/secret-name")
    found = figures(server)
    assert found["quoteweave_answer_seconds_count", "answered", "extractive", "port"] == 3
    assert found["quoteweave_citations_total", "none", "port"] == 3
    assert found["quoteweave_request_seconds_count", "/v1/collections/{collection}/answers", "200", "POST"] == 3
    assert found["quoteweave_documents", "port"] > 0
    assert found[("quoteweave_open_streams",)] == 0
    assert not any("secret-name" in " ".join(key) for key in found)


def test_retrieval_and_generation_are_spans_without_text(serve: Serve) -> None:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    server = serve()
    server.app.state.served.tracer = provider.get_tracer("quoteweave")
    body = server.client.post(ANSWERS, json={"question": QUESTION}).json()
    retrieval, chat = exporter.get_finished_spans()
    assert (retrieval.name, chat.name) == ("retrieval port", "chat extractive")
    assert retrieval.attributes is not None
    found = json.loads(str(retrieval.attributes["gen_ai.retrieval.documents"]))
    assert found[0]["id"] == body["context"]["texts"][0]["quote"]["id"]
    told = json.dumps([dict(span.attributes or {}) for span in (retrieval, chat)])
    assert "vessel" not in told
    assert chat.start_time == retrieval.end_time
    assert isinstance(trace.get_tracer("quoteweave"), object)


def test_a_request_is_logged_as_a_line_of_json_without_its_text(
    live: LiveServer, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "quoteweave.server"):
        response = live.client.post(ANSWERS, json={"question": QUESTION})
        live.client.get("/healthz")  # a request is logged when it has ended, before the next one of its connection
        lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "quoteweave.server"]
    (line,) = [line for line in lines if line["request_id"] == response.headers["x-request-id"]]
    assert (line["status"], line["route"]) == (200, "/v1/collections/{collection}/answers")
    assert "vessel" not in caplog.text


def test_a_client_that_leaves_ends_the_model_s_work(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    words = "One word after another is said [1]. " * 200
    with ModelServer([Reply(text=words, sizes=(4,), delays_s=(0.02,) * 2000)]) as model:
        server = serve(answers={"model": "m", "base_url": model.base_url, "check_topic": False})
        closed, streams = threading.Event(), server.app.state.served.metrics.streams
        end_stream = streams.dec

        def tell() -> None:
            end_stream()
            closed.set()

        monkeypatch.setattr(streams, "dec", tell)
        with server.client.stream("POST", ANSWERS, json={"question": QUESTION, "stream": True}) as response:
            for line in response.iter_lines():
                if line.startswith("event: text"):
                    break
        assert closed.wait(20), "the stream goes on though nobody reads it"
        assert figures(server)[("quoteweave_open_streams",)] == 0


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def test_a_server_that_is_told_to_end_ends_its_streams_and_itself(sample_collection: Path, tmp_path: Path) -> None:
    words = "One word after another is said [1]. " * 200
    with ModelServer([Reply(text=words, sizes=(4,), delays_s=(0.02,) * 2000)]) as model:
        config, port = tmp_path / "serve.toml", free_port()
        config.write_text(
            f'shutdown_seconds = 1\n[answers]\nmodel = "m"\nbase_url = "{model.base_url}"\ncheck_topic = false\n',
            "utf-8",
        )
        command = (
            *(sys.executable, "-m", "quoteweave", "serve", "-c", f"port={sample_collection}", "--port", str(port)),
            *("--config", str(config), "--state", str(tmp_path / "state")),
        )
        process = ForkedProgram(command, stderr=subprocess.PIPE)
        assert process.stderr is not None
        for line in process.stderr:
            if "startup complete" in line:
                break
        asked = {"question": QUESTION, "stream": True}
        with (
            httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client,
            client.stream("POST", ANSWERS, json=asked) as response,
        ):
            lines = response.iter_lines()
            for line in lines:
                if line.startswith("event: text"):
                    process.send_signal(signal.SIGTERM)
                    break
            rest = [line for line in lines if line]
        process.wait(30)
        assert rest[-2] == "event: error"
        assert json.loads(rest[-1].removeprefix("data: "))["problem"]["type"].endswith("shutting-down")


MODELS = ("torch", "transformers", "sentence_transformers", "onnxruntime", "faiss", "openai")
LIBRARIES = (*MODELS, "mcp", "mcp_types", "docx")
ANSWERING = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from quoteweave.server.app import make_app
from quoteweave.server.settings import ServerSettings
settings = ServerSettings(collections={"port": Path(sys.argv[1])}, state=Path(sys.argv[2]))
with TestClient(make_app(settings), base_url="http://127.0.0.1") as client:
    assert client.post("/v1/collections/port/answers", json={"question": sys.argv[3]}).json()["answer"]["citations"]
print(*sorted(sys.modules.keys() & set(sys.argv[4:])))
"""


def test_no_library_is_loaded_where_no_request_needs_it(sample_collection: Path, tmp_path: Path) -> None:
    command = (sys.executable, "-c", ANSWERING, str(sample_collection), str(tmp_path), QUESTION, *LIBRARIES)
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip() == ""


def serve_command(collection: Path, state: Path, port: int, workers: int) -> list[str]:
    address = ("--port", str(port), "--workers", str(workers), "--state", str(state))
    return [sys.executable, "-m", "quoteweave", "serve", "-c", f"port={collection}", *address]


@contextmanager
def running(collection: Path, state: Path, workers: int) -> Iterator[tuple["subprocess.Popen[str]", int, list[str]]]:
    """A server that has just told its address, its port and the lines before."""
    process = ForkedProgram(serve_command(collection, state, 0, workers), stderr=subprocess.PIPE)
    assert process.stderr is not None
    lines = list[str]()
    try:
        for line in process.stderr:
            if match := re.search(r"is serving port at http://127\.0\.0\.1:(\d+)", line):
                yield process, int(match[1]), lines
                break
            lines.append(line)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def test_an_address_is_told_once_it_answers(sample_collection: Path, tmp_path: Path) -> None:
    with running(sample_collection, tmp_path, 1) as (_, port, _):
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=30).status_code == 200


def test_nothing_listens_before_there_is_an_application(
    sample_collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()

    class ApplicationMade(Exception):
        pass

    def make_app(_: object) -> None:
        with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            pass
        raise ApplicationMade

    monkeypatch.setattr("quoteweave.server.run.make_app", make_app)
    given = {"collections": {"port": str(sample_collection)}, "state": str(tmp_path), "port": port}
    with pytest.raises(ApplicationMade):
        run(None, given, notify=print)


@pytest.mark.parametrize("workers", [1, 2])
def test_of_two_servers_that_start_together_one_gets_the_address(
    sample_collection: Path, tmp_path: Path, workers: int
) -> None:
    port = free_port()
    commands = [serve_command(sample_collection, tmp_path / name, port, workers) for name in ("one", "other")]
    both = [ForkedProgram(command, stderr=subprocess.PIPE) for command in commands]
    try:
        select.select(both, [], [], 60)
        (refused,) = [server for server in both if server.poll() is not None]
        (serving,) = [server for server in both if server is not refused]
        assert serving.stderr is not None
        assert any(f"is serving port at http://127.0.0.1:{port}" in line for line in serving.stderr)
    finally:
        for server in both:
            server.terminate()
        told = {server: server.communicate(timeout=30)[1] for server in both}
    assert refused.returncode == 2
    (line,) = told[refused].splitlines()
    assert f"127.0.0.1:{port} cannot be listened on" in line


def test_a_worker_that_cannot_start_says_why_in_one_line_and_has_the_server_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv("QUOTEWEAVE_SERVER_SETTINGS", json.dumps([str(tmp_path / "absent.toml"), {}]))
    with pytest.raises(SystemExit) as ended:
        app_of_environment()
    assert ended.value.code == STARTUP_FAILURE
    (record,) = caplog.records
    assert "absent.toml" in record.getMessage()
    assert record.exc_info is None


@pytest.mark.skipif(sys.platform == "win32", reason="the first of the processes to wake may take all there")
def test_workers_answer_once_the_address_is_told_share_connections_and_leave_the_address_to_no_other_server(
    sample_collection: Path, tmp_path: Path, quoteweave: Quoteweave
) -> None:
    with running(sample_collection, tmp_path / "state", 2) as (process, port, lines), ExitStack() as stack:
        assert httpx2.get(f"http://127.0.0.1:{port}/healthz", timeout=30).status_code == 200
        assert process.stderr is not None
        ready = (line for line in chain(lines, process.stderr) if "startup complete" in line)
        assert len(list(islice(ready, 2))) == 2
        workers = [one for one in psutil.Process(process.pid).children() if one.net_connections()]
        assert len(workers) == 2
        for worker in workers:
            worker.suspend()
        client = [stack.enter_context(socket.create_connection(("127.0.0.1", port), 30)) for _ in range(200)]
        for one in client:
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        for worker in workers:
            worker.resume()
        assert all(one.recv(16).startswith(b"HTTP/1.1 200") for one in client)
        # Each worker takes one request at a time, so that none gets all of them while the other waits.
        assert all(any(one.status == "ESTABLISHED" for one in worker.net_connections()) for worker in workers)
        again = quoteweave("serve", "-c", sample_collection, "--state", tmp_path, "--port", port, "--workers", 2)
        assert "cannot be listened on" in again.err
