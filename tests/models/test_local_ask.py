"""The command line with a chat model on this machine, from the question to the answer; nothing is sent."""

import base64
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from command_line import Quoteweave, configured
from made_collections import made_quote, put, stored_collection
from tiny_chat import make_chat, make_seeing_chat

from quoteweave.collection.collection import Collection

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAFklEQVR4nGP8z8DAwMDAxMDAwMDAAAANHQEDasKb6QAAAABJRU5ErkJggg=="


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"port.md": [made_quote("Grain is stored in silos of steel.")]})


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_chat(tmp_path_factory.mktemp("local") / "model")


def test_a_model_on_this_machine_answers_and_nothing_is_sent(
    quoteweave: Quoteweave, port: Path, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("something is sent")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    settings = {"max_tokens": 8, "device": "cpu", "gate": "off"}
    asked = ("--model", f"local={checkpoint}", *configured(tmp_path, **settings))
    got = quoteweave("ask", "Where is grain stored?", "-c", port, *asked, "--json")
    assert (got.code, got.err) == (0, "")
    answer = got.json()
    assert (answer["model"], answer["usage"]["output_tokens"]) == (f"local={checkpoint}", 8)
    assert answer["status"] == "answered"
    configured(tmp_path, **settings, rerank="chat")
    chosen = quoteweave("ask", "Where is grain stored?", "-c", port, *asked, "--json")
    assert (chosen.code, chosen.json()["text"]) == (0, answer["text"])


def test_calls_of_a_local_model_are_kept_for_the_same_weights(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    folder, calls = tmp_path / "model", tmp_path / "calls"
    asked = ("--model", f"local={folder}", *configured(tmp_path, max_tokens=8, calls=calls), "--json")
    answers = []
    for seed in (0, 0, 1):
        make_chat(folder, seed=seed)
        answers.append(quoteweave("ask", "Where is grain stored?", "-c", port, *asked).json()["text"])
    assert answers[0] == answers[1] != answers[2]
    assert len(list(calls.rglob("*.json"))) == 2


def test_a_local_model_that_is_not_there(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    got = quoteweave("ask", "grain?", "-c", port, "--model", f"local={tmp_path / 'none'}")
    assert (got.code, got.out) == (1, "")
    assert "is no model: a model is a folder that holds a config.json" in got.err


def test_a_run_asks_a_local_model(
    quoteweave: Quoteweave, checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    place = {"page_id": 0, "layout_id": 1}
    texts = [{"quote_id": f"text{n}", "type": "text", "text": "In silos.", **place} for n in range(1, 13)]
    images = [
        {"quote_id": f"image{n}", "type": "image", "img_path": "1.jpg", "img_description": "a silo", **place}
        for n in range(1, 9)
    ]
    question = {
        **{"q_id": 1, "doc_name": "port", "domain": "Report", "question": "Where is grain?"},
        **{"evidence_modality_type": ["text"], "question_type": "Descriptive", "text_quotes": texts},
        **{"img_quotes": images, "gold_quotes": ["text1"], "answer_short": "", "answer_interleaved": "In silos [1]."},
    }
    (tmp_path / "data.jsonl").write_text(json.dumps(question))
    (tmp_path / "c.toml").write_text(
        f'model = "local={checkpoint}"\nquotes = "dataset"\nmax_tokens = 6\n[limits]\nmax_usd = 1.0\n'
    )
    asked = ("--references", tmp_path / "data.jsonl", "--config", tmp_path / "c.toml", "--out", tmp_path / "runs")
    got = quoteweave("run", "--dataset", "mmdocrag-20", *asked, "--json")
    assert (got.code, "sent to" in got.err) == (0, False)
    (outcome,) = got.json()
    assert (outcome["answered"], outcome["price_usd"]) == (1, 0.0)


def test_a_local_model_that_sees_describes(quoteweave: Quoteweave, tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        key = collection.images.put(base64.b64decode(PIXEL), suffix=".png")
        put(writer, tmp_path, "a.pdf", [made_quote("", layout="chart", image=key)])
    seeing = make_seeing_chat(tmp_path / "model")
    got = quoteweave("describe", "-c", tmp_path / "c", "--model", f"local={seeing}", "--json")
    assert (got.code, got.json()["described"], got.json()["price_usd"]) == (0, 1, 0.0)
    assert "pictures and captions stay on this machine" in got.err
