"""Questions that are empty, very long, or ask for a chat model that the environment names."""

from pathlib import Path

import pytest
from command_line import Quoteweave, configured
from made_collections import stored_collection

from quoteweave.testing import ModelServer, Reply


@pytest.fixture
def port(tmp_path: Path) -> Path:
    return stored_collection(tmp_path, {"a.txt": ["Grain came by ship.", "Timber came by rail."]})


@pytest.mark.parametrize("command", ["search", "ask"])
def test_an_empty_question_is_refused_with_a_hint(quoteweave: Quoteweave, port: Path, command: str) -> None:
    for json in ([], ["--json"]):
        for question in ("", " \n"):
            got = quoteweave(command, question, "-c", port, *json)
            assert (got.code, got.out) == (2, "")
            assert "the question is empty; write it in quotation marks" in got.err
        assert quoteweave(command, "grain", "-c", port, *json).code == 0


@pytest.mark.parametrize("how", [[], ["--expand", "rules"], ["--expand", "rm3"]])
def test_a_long_question_is_not_repeated(quoteweave: Quoteweave, port: Path, how: list[str], tmp_path: Path) -> None:
    config = configured(tmp_path, **({"expand": how[1]} if how else {}))
    for command, options in (("search", how), ("ask", config)):
        got = quoteweave(command, "grain by ship " * 100, "-c", port, *options)
        assert got.code == 0
        assert len(got.err) < 1000


def test_a_plain_chat_is_the_model_of_the_environment(
    quoteweave: Quoteweave, port: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ModelServer(lambda _: Reply(text='["How did timber come?"]')) as server:
        assert quoteweave("search", "grain", "-c", port, "--expand", "chat").code == 2
        monkeypatch.setenv("QUOTEWEAVE_MODEL", "m")
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        got = quoteweave("search", "grain", "-c", port, "--expand", "chat")
    assert "the question is sent to 127.0.0.1" in got.err
    assert "Timber came by rail." in got.out


def test_a_run_of_questions_without_a_document_tells_how_to_search_all(
    quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    questions, config = tmp_path / "questions.jsonl", tmp_path / "config.toml"
    questions.write_text('{"question": "What came by rail?"}\n', "utf-8")
    run = ("run", "--dataset", "questions", "--references", questions, "--config", config, "-c", port, "--out")
    config.write_text("", "utf-8")
    assert 'within = "collection" searches them all' in quoteweave(*run, tmp_path / "refused").err
    config.write_text('within = "collection"\n', "utf-8")
    got = quoteweave(*run, tmp_path / "run")
    assert (got.code, "lacks a document" in got.err) == (0, False)
    questions.write_text('{"question": "What came by rail?", "document": "gone.pdf"}\n', "utf-8")
    told = quoteweave(*run, tmp_path / "other").err
    assert "The collection lacks a document that the dataset names for the question." in " ".join(told.split())
