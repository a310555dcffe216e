"""What a request chooses of the gate and of abstention, and what a server does not let it choose."""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave
from live_server import LiveServer, Serve

from quoteweave import AsyncClient, Client
from quoteweave.core.confidence import Calibration, ConfidenceModel
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.server.run import check_answer_settings
from quoteweave.server.settings import ServerSettings, read_server_settings
from quoteweave.testing import ModelServer, Reply

QUESTION = "How many vessel calls did the port receive?"
ANSWERS = "/v1/collections/port/answers"
TRUE, FALSE = "It received 1,058 calls [1].", "It received 9,999 calls [1]."
WITHHELD = "What was found does not bear on the question well enough to answer it."


def calibration(retriever: str = "lexical", *, least: float = 1.0) -> Calibration:
    """A calibration by which every answer has a confidence of a half."""
    stage = ConfidenceModel(intercept=0.0, weights=(), threshold=least)
    return Calibration(
        retriever=retriever, model="extractive", risk=0.1, answers=20, before=stage, after=stage, curve=()
    )


@pytest.fixture
def strict(tmp_path: Path) -> Path:
    return written(tmp_path / "strict.json", calibration())


def written(path: Path, made: Calibration) -> Path:
    path.write_text(made.model_dump_json(), "utf-8")
    return path


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """A chat model whose second sentence is not what the quote says."""
    with ModelServer(lambda _: Reply(text=f"{TRUE} {FALSE}")) as found:
        yield found


def ask(server: LiveServer, question: str = QUESTION, **settings: object) -> dict[str, Any]:
    response = server.client.post(ANSWERS, json={"question": question, "settings": settings})
    assert response.status_code == 200, response.text
    answer: dict[str, Any] = response.json()["answer"]
    return answer


def refusal(server: LiveServer, settings: Mapping[str, object]) -> str:
    response = server.client.post(ANSWERS, json={"question": QUESTION, "settings": settings})
    assert response.status_code == 422, response.text
    return str(response.json()["detail"])


def test_a_request_chooses_the_gates_policy(serve: Serve, model: ModelServer) -> None:
    server = serve(answers={"model": "m", "base_url": model.base_url})
    found = {gate: ask(server, gate=gate) for gate in ("off", "report", "drop", "refuse")}
    assert [FALSE in found[gate]["text"] for gate in ("off", "report")] == [True, True]
    assert {one["verdict"] for one in found["off"]["citations"]} == {None}
    assert {one["verdict"] for one in found["report"]["citations"]} == {"supported", "unsupported"}
    assert found["drop"]["text"] == TRUE
    assert found["refuse"]["status"] == "abstained"


def test_a_request_chooses_a_calibration_or_none(serve: Serve, strict: Path) -> None:
    server = serve(calibrations={"strict": strict})
    assert server.client.get("/v1/models").json()["calibrations"] == ["strict"]
    assert ask(server)["status"] == ask(server, abstain="off")["status"] == "answered"
    withheld = ask(server, abstain="strict")
    assert (withheld["status"], withheld["text"]) == ("abstained", WITHHELD)
    assert "below the threshold of 1.000" in " ".join(withheld["warnings"])
    told = refusal(server, {"abstain": "lax"})
    assert told == "abstain: 'lax' is not among the calibrations of this server; there are: strict, off"


def test_a_request_gives_up_the_servers_own_calibration(serve: Serve, strict: Path) -> None:
    server = serve(answers={"abstain": strict})
    assert ask(server)["status"] == "abstained"
    assert ask(server, abstain="off")["status"] == "answered"


def test_a_calibration_for_another_retriever_is_refused_without_its_path(
    serve: Serve, strict: Path, tmp_path: Path
) -> None:
    other = written(tmp_path / "bm25.json", calibration("bm25"))
    server = serve(answers={"abstain": strict}, calibrations={"words": other})
    own = refusal(server, {"retriever": "bm25"})
    named = refusal(server, {"abstain": "words"})
    assert own.startswith(
        "the server's calibration: the calibration is for the retriever 'lexical', and this is 'bm25'"
    )
    assert named.startswith("the calibration words: the calibration is for the retriever 'bm25'")
    assert ask(server, retriever="bm25", abstain="words")["status"] == "abstained"


@pytest.mark.parametrize(
    "weaker",
    [{"gate": "report"}, {"gate": "off"}, {"abstain": "off"}, {"abstain": "lax"}, {"check_topic": False}],
)
def test_a_server_may_refuse_weaker_gates(
    serve: Serve, strict: Path, tmp_path: Path, weaker: dict[str, object]
) -> None:
    lax = written(tmp_path / "lax.json", calibration(least=0.0))
    own = {"answers": {"gate": "drop", "abstain": strict}, "calibrations": {"lax": lax}}
    told = refusal(serve(weaker_gates=False, **own), weaker)
    assert told == f"{next(iter(weaker))}: this server allows no gate that withholds less than its own; leave it out"


def test_a_server_that_refuses_weaker_gates_takes_those_that_withhold_as_much(
    serve: Serve, strict: Path, model: ModelServer
) -> None:
    answers = {"model": "m", "base_url": model.base_url, "gate": "drop", "check": "chat"}
    server = serve(weaker_gates=False, answers=answers, calibrations={"strict": strict})
    assert ask(server, gate="refuse", check_topic=True, check="chat")["status"] == "abstained"
    assert ask(server, model="extractive")["status"] == "answered"  # nothing of it is written
    assert ask(server, model="extractive", abstain="strict")["status"] == "abstained"


def test_the_forms_of_openai_choose_the_same(serve: Serve, strict: Path) -> None:
    server = serve(calibrations={"strict": strict}, weaker_gates=False)
    for settings, status in (({"abstain": "strict"}, "abstained"), ({}, "answered")):
        messages = [{"role": "user", "content": QUESTION}]
        chat = {"model": "port", "messages": messages, "quoteweave": {"settings": settings}}
        made = {"model": "port", "input": QUESTION, "quoteweave": {"settings": settings}}
        completion = server.client.post("/v1/chat/completions", json=chat).json()
        assert completion["choices"][0]["message"]["quoteweave"]["status"] == status
        message = server.client.post("/v1/responses", json=made).json()["output"][-1]
        assert message["quoteweave"]["status"] == status
        chat["quoteweave"] = {"settings": {"gate": "off"}}
        assert server.client.post("/v1/chat/completions", json=chat).status_code == 422


def test_the_client_and_the_command_line_choose_the_same(
    serve: Serve, strict: Path, quoteweave: Quoteweave, tmp_path: Path
) -> None:
    server = serve(calibrations={"strict": strict})
    settings = {"size": 20, "abstain": "strict", "gate": "refuse"}
    assert Client(server.url).models().calibrations == ("strict",)
    assert Client(server.url).answer(QUESTION, settings=settings).status == "abstained"
    assert asyncio.run(AsyncClient(server.url).answer(QUESTION, settings=settings)).status == "abstained"
    config = tmp_path / "ask.toml"
    config.write_text('size = 20\nabstain = "strict"\ngate = "refuse"\nretriever = ["bm25"]\n', "utf-8")
    at = ("--server", server.url, "--json")
    got = quoteweave("ask", QUESTION, *at, "--config", config, "--retriever", "lexical")
    assert got.json()["status"] == "abstained"
    assert len(got.json()["context"]["texts"]) == 12
    config.write_text('size = 20\nabstain = "off"\n', "utf-8")
    assert quoteweave("ask", QUESTION, *at, "--config", config).json()["status"] == "answered"


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('base_url = "http://127.0.0.1:9"', "settings.base_url: Extra inputs are not permitted"),
        ("[limits]\nconcurrency = 2", "limits: not with --server"),
        ('[[setting]]\nname = "a"\n[[setting]]\nname = "b"', "choose one with --setting"),
    ],
)
def test_what_a_file_may_not_say_to_a_server_is_told(
    live: LiveServer, quoteweave: Quoteweave, tmp_path: Path, content: str, told: str
) -> None:
    config = tmp_path / "ask.toml"
    config.write_text(content, "utf-8")
    got = quoteweave("ask", QUESTION, "--server", live.url, "--config", config)
    assert (got.code, got.out, told in got.err) == (2, "", True), got.err


def test_calibrations_that_cannot_be_read_are_told_before_the_server_listens(tmp_path: Path) -> None:
    file = tmp_path / "server.toml"
    file.write_text('[calibrations]\nstrict = "strict.json"\n[answers]\nabstain = "own.json"\n', "utf-8")
    written(tmp_path / "own.json", calibration())
    settings = read_server_settings(file, {})
    with pytest.raises(UsageError, match=r"calibrations\.strict: .*strict\.json cannot be read"):
        check_answer_settings(settings)
    written(tmp_path / "strict.json", calibration())
    check_answer_settings(settings)
    (tmp_path / "own.json").write_text("{}", "utf-8")
    with pytest.raises(DatasetError, match=r"answers\.abstain: .*own\.json is no calibration"):
        check_answer_settings(settings)


def test_no_calibration_is_called_off() -> None:
    with pytest.raises(ValueError, match="cannot be a calibration's name"):
        ServerSettings(calibrations={"off": Path("a.json")})
