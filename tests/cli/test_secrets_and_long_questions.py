"""Passwords of addresses stand in no file and no output, and questions that are too long are refused with a reason."""

from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines
from command_line import Quoteweave, configured
from made_collections import made_quote, stored_collection

from quoteweave.collection.collection import Collection
from quoteweave.core.errors import QuestionEmpty, QuestionTooLong
from quoteweave.core.runs import read_run
from quoteweave.core.text.question_analysis import MAX_QUESTION_CHARACTERS
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.pipeline.rag import Rag
from quoteweave.retrievers.lexical import LexicalRetriever
from quoteweave.testing import ModelServer, Reply

KEY, PASSWORD, TOKEN = "sk-very-secret-0123456789", "hunter2-PASSWORD", "t0ken-in-the-query"
BASIC = b64encode(f"user:{PASSWORD}".encode()).decode()
QUESTION = "How much grain did the port receive?"


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": [made_quote("The port received 1,204 tonnes of grain in 2023.")]})


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    asked = [{"id": "short", "question": QUESTION}, {"id": "long", "question": "grain " * 2_000_000}]
    write_json_lines(path, asked)
    return path


def echoing(server: ModelServer) -> Reply:
    """Says what was sent to it, as a broken gateway would."""
    sent = server.headers[-1]["authorization"]
    return Reply(text=f"It received 1,204 tonnes of grain [1]. {sent} {KEY} {PASSWORD} {TOKEN}", reasoning=sent)


def test_no_secret_is_in_any_file_or_output(
    quoteweave: Quoteweave, port: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said, codes = list[str](), list[int]()

    def script(request: Mapping[str, Any]) -> Reply:
        return Reply() if "input" in request or "documents" in request else echoing(server)

    with ModelServer(script) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("QUOTEWEAVE_RERANK_KEY", KEY)
        url = server.base_url.replace("http://", f"http://user:{PASSWORD}@") + f"?api_key={TOKEN}"
        spec = f"openai:m@{url}"
        config = tmp_path / "config.toml"
        config.write_text(
            f'model = "m"\nbase_url = "{url}"\nwithin = "collection"\nretriever = ["{spec}"]\n'
            f'rerank = "endpoint:r@{url}"\ncheck = "chat:m@{url}"\n[limits]\ncalls = "{tmp_path / "calls"}"\n'
        )
        page, calls = tmp_path / "answer.html", tmp_path / "calls"
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        full = configured(tmp_path, retriever=[spec], rerank=f"endpoint:r@{url}", expand=f"chat:m@{url}", calls=calls)
        checked = configured(elsewhere, check="chat")
        steps = ("--retriever", spec, "--rerank", f"endpoint:r@{url}", "--expand", f"chat:m@{url}")
        for command in (
            ("index", "build", spec, "-c", port),
            ("index", "build", spec, "-c", port, "--json"),
            ("plan", spec, "-c", port),
            ("search", QUESTION, "-c", port, *steps, "--json"),
            ("ask", QUESTION, "-c", port, "--model", "m", "--base-url", url, "--html", page, *full),
            ("ask", QUESTION, "-c", port, "--model", "m", "--base-url", url, "--events", *checked),
            (
                "run",
                "--dataset",
                "questions",
                "--references",
                questions,
                "--config",
                config,
                "--out",
                tmp_path / "run",
                "-c",
                port,
            ),
            ("index", "build", "-c", port),
            ("index", "remove", f"{spec}@hnsw", "-c", port),
            ("index", "remove", spec, "-c", port),
        ):
            got = quoteweave(*command)
            said += [got.out, got.err]
            codes.append(got.code)
    # Of the run one question is too long, and of one kind there is no index.
    assert codes == [0, 0, 0, 0, 0, 0, 1, 0, 2, 0]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix != ".toml"]
    assert page in written
    assert list(calls.rglob("*.json"))
    kept = [path.read_bytes().decode("utf-8", "replace") for path in written]
    secrets = (KEY, PASSWORD, TOKEN, BASIC, b64encode(KEY.encode()).decode()[:-3])
    found = [
        text[max(0, at - 80) : at + 80] for text in (*said, *kept) for one in secrets if (at := text.find(one)) >= 0
    ]
    assert not found
    assert "[redacted]" in page.read_text("utf-8")
    assert f"user:{PASSWORD}" not in str(server.paths)


def test_a_question_too_long_is_refused_with_what_to_do(quoteweave: Quoteweave, port: Path) -> None:
    for command in ("ask", "search"):
        got = quoteweave(command, "grain " * 20_000, "-c", port)
        assert (got.code, got.out) == (2, "")
        assert (
            "error: the question has 120,000 characters, and at most 100,000 are allowed: ask a shorter one" in got.err
        )
    assert quoteweave("search", ("grain " * 20_000)[:MAX_QUESTION_CHARACTERS], "-c", port).code == 0


def test_nor_is_one_asked_from_python(port: Path) -> None:
    with Collection.open(port) as collection:
        rag = Rag(LexicalRetriever(collection), ExtractiveGenerator())
        with pytest.raises(QuestionTooLong):
            rag.answer("grain " * 2_000_000)
        for question in ("", " \u3000\n"):
            with pytest.raises(QuestionEmpty, match="the question is empty"):
                rag.answer(question)


def test_an_empty_question_of_a_run_fails_alone(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    questions, config, out = tmp_path / "questions.jsonl", tmp_path / "config.toml", tmp_path / "run"
    asked = [{"id": "asked", "question": QUESTION}, {"id": "empty", "question": " "}]
    write_json_lines(questions, asked)
    config.write_text('within = "collection"\n')
    given = ("--dataset", "questions", "--references", questions, "--config", config, "--out", out, "-c", port)
    got = quoteweave("run", *given)
    assert got.code == 1
    errors = {one.example: one.error for one in read_run(out)[1]}
    assert errors["asked"] is None
    assert "the question is empty" in (errors["empty"] or "")


@pytest.mark.parametrize("model", ['model = "m"\n', ""])
def test_in_a_run_it_fails_alone(
    model: str, quoteweave: Quoteweave, port: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, out = tmp_path / "config.toml", tmp_path / "run"
    config.write_text(f'{model}within = "collection"\n')
    with ModelServer(lambda _: Reply(text="It received 1,204 tonnes [1].")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        got = quoteweave(
            "run",
            "--dataset",
            "questions",
            "--references",
            questions,
            "--config",
            config,
            "--out",
            out,
            "-c",
            port,
            "--json",
        )
    (outcome,) = got.json()
    assert (got.code, outcome["answered"], outcome["failed"]) == (1, 1, 1)
    errors = {one.example: one.error for one in read_run(out)[1]}
    assert errors["short"] is None
    assert "at most 100,000 are allowed" in (errors["long"] or "")


def test_a_run_counts_answers_that_never_end_as_failures(
    quoteweave: Quoteweave, port: Path, questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, out = tmp_path / "config.toml", tmp_path / "run"
    config.write_text('model = "m"\nwithin = "collection"\nretries = 0\ntimeout_s = 5\ncall_limit_s = 0.2\n')
    with ModelServer(lambda _: Reply(endless=b" ", every_s=0.01)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        got = quoteweave(
            "run",
            "--dataset",
            "questions",
            "--references",
            questions,
            "--config",
            config,
            "--out",
            out,
            "-c",
            port,
            "--json",
        )
    (outcome,) = got.json()
    assert (got.code, outcome["failed"]) == (1, 2)
    errors = {one.example: one.error or "" for one in read_run(out)[1]}
    assert "the limit of a call" in errors["short"]


def test_ask_takes_a_limit_for_the_whole_call(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    word = b'data: {"choices": [{"delta": {"content": "a "}}]}\n\n'
    events = {"content-type": "text/event-stream"}
    with ModelServer(lambda _: Reply(endless=word, every_s=0.01, headers=events)) as server:
        asked = ("ask", QUESTION, "-c", port, "--model", "m", "--base-url", server.base_url)
        for waits, limit in (({"timeout_s": 0.3}, "1.5"), ({"call_limit_s": 0.1}, "0.1")):
            got = quoteweave(*asked, *configured(tmp_path, **waits))
            assert got.code == 1
            assert f"within {limit} s, the limit of a call with all its attempts" in got.err


def test_the_limit_of_a_call_holds_for_every_endpoint_of_a_search(quoteweave: Quoteweave, tmp_path: Path) -> None:
    port = stored_collection(tmp_path, {"port.md": [made_quote("The port stores grain."), made_quote("Grain is dry.")]})
    with ModelServer() as whole:
        assert quoteweave("index", "build", f"openai:m@{whole.base_url}", "-c", port).code == 0
    waits, said = ("--call-limit", 0.1, "--retries", 0), "within 0.1 s, the limit of a call"
    with ModelServer(lambda _: Reply(endless=b" ", every_s=0.01)) as server:
        for spec in (
            ("--retriever", f"openai:m@{server.base_url}"),
            ("--rerank", f"endpoint:m@{server.base_url}"),
            ("--rerank", f"chat:m@{server.base_url}"),
            ("--expand", f"chat:m@{server.base_url}"),
        ):
            step, name = spec
            config = {step.strip("-"): [name] if step == "--retriever" else name, "call_limit_s": 0.1, "retries": 0}
            assert said in quoteweave("search", QUESTION, "-c", port, *spec, *waits).err, spec
            assert said in quoteweave("ask", QUESTION, "-c", port, *configured(tmp_path, **config)).err, spec
        check = configured(tmp_path, check=f"chat:m@{server.base_url}", call_limit_s=0.1, retries=0)
        assert said in quoteweave("ask", "What does the port store?", "-c", port, *check).err
        assert said in quoteweave("index", "build", f"openai:other@{server.base_url}", "-c", port, *waits).err


def test_a_time_that_is_none_is_refused(quoteweave: Quoteweave, port: Path) -> None:
    for option in ("--timeout", "--call-limit"):
        finite = "a finite number"
        for seconds, need in ((0, "greater than 0"), (-1, "greater than 0"), ("nan", finite), ("inf", finite)):
            got = quoteweave("search", QUESTION, "-c", port, option, seconds)
            assert got.code == 2
            assert f"{option} {seconds}: it has to be {need}" in got.err


def test_an_endpoint_is_told_questions_from_quotes(quoteweave: Quoteweave, port: Path) -> None:
    with ModelServer() as server:
        for suffix, sent, form in (
            ("@input_type", ("query", "passage", "m"), "input_type query for questions, passage for quotes"),
            ("@input_type:search_query,search_document", ("search_query", "search_document", "m"), "search_document"),
            ("@queries:m-query", (None, None, "m-query"), "model m-query for questions, m for quotes"),
            ("", (None, None, "m"), "questions and quotes alike"),
        ):
            spec = f"openai:m@{server.base_url}{suffix}"
            assert form in quoteweave("plan", spec, "-c", port).out
            server.requests.clear()
            assert quoteweave("index", "build", spec, "-c", port).code == 0
            assert quoteweave("search", QUESTION, "-c", port, "--retriever", spec).code == 0
            passage, query = server.requests
            assert (query.get("input_type"), passage.get("input_type"), query["model"]) == sent
            assert passage["model"] == "m"
    other = quoteweave("search", QUESTION, "-c", port, "--retriever", f"openai:m@{server.base_url}@input_type:a,b")
    assert other.code == 1, "an index of another form is not searched"
