"""Runs by a preset: how the model is asked, what is recorded, and what is refused."""

from pathlib import Path

import pytest
from made_runs import scripted_reply
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import UsageError
from quoteweave.core.runs import read_run_record
from quoteweave.generation.prompt_messages import ABSTENTION
from quoteweave.testing import ModelServer


def run(dataset: Path, *options: object) -> Result:
    named = ["run", "--dataset", "mmdocrag-20", "--references", dataset, "--out", dataset.parent / "out", "--limit", 1]
    return CliRunner().invoke(app, list(map(str, [*named, *options])))


def test_the_model_is_asked_by_the_papers_conditions(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUOTEWEAVE_MODEL", "m")
    with ModelServer(scripted_reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert run(dataset, "--preset", "mmdocrag-text").exit_code == 0
        (request,) = server.requests
    system, user = (message["content"] for message in request["messages"])
    assert "at least one image" in system
    assert ABSTENTION not in system
    assert "[1]\n    The port says 1." in user  # without document and page
    assert "image2\n    a chart of grain" in user
    assert "temperature" not in request
    record = read_run_record(dataset.parent / "out")
    assert record.configuration["preset"] == "mmdocrag-text"
    assert record.configuration["view"] == "vlm_text"
    assert "prompt cited_answer_system_text" in record.fingerprints


def test_without_configuration_or_model_nothing_is_asked(dataset: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_MODEL", raising=False)
    for options, message in (
        ((), "with --config FILE, or with --preset NAME"),
        (("--preset", "mmdocrag-text"), "says how a model is asked; name one"),
        (("--preset", "mmdocrag-judge"), "there are: mmdocrag-text"),
        (("--preset", "mmdocrag-multimodal"), "name one, with model"),
    ):
        result = run(dataset, *options)
        assert isinstance(result.exception, UsageError)
        assert message in str(result.exception)
