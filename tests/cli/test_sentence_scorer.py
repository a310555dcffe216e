"""The key `sentence_scorer` of asks and runs: a model orders the sentences of answers without a chat model."""

from pathlib import Path

import pytest
from command_line import Quoteweave, configured
from made_collections import made_quote, stored_collection
from made_runs import RunIt
from tiny_reader import LESSONS, QUESTION, TELLS, TELLS_NOTHING, make_reader

from quoteweave.cli.eval.calibrate import retriever_and_model
from quoteweave.core.errors import UsageError
from quoteweave.core.runs import read_run
from quoteweave.testing import ModelServer, Reply


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_reader(tmp_path_factory.mktemp("reader"), LESSONS)


@pytest.fixture
def port(tmp_path: Path) -> Path:
    quotes = [made_quote(" ".join(TELLS)), made_quote(" ".join(TELLS_NOTHING), page=1)]
    return stored_collection(tmp_path, {"port.md": quotes})


def test_a_reading_model_answers_on_this_machine(
    quoteweave: Quoteweave, port: Path, reader: Path, tmp_path: Path
) -> None:
    config = configured(tmp_path, sentence_scorer=f"reader={reader}")
    got = quoteweave("ask", QUESTION, "-c", port, *config, "--json")
    assert (got.code, got.err) == (0, "")
    assert (got.json()["status"], got.json()["model"]) == ("answered", "extractive")
    assert got.json()["text"].startswith("The harbour shipped 486 tonnes of grain [")


@pytest.mark.parametrize(
    ("name", "told", "code"),
    [
        ("nothing", "there is no model that orders sentences 'nothing'", 2),
        ("reader=/not/there", "/not/there is no model", 1),
    ],
)
def test_wrong_names_are_told(
    name: str, told: str, code: int, quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    got = quoteweave("ask", QUESTION, "-c", port, *configured(tmp_path, sentence_scorer=name))
    assert (got.code, got.out) == (code, "")
    assert told in got.err


def test_beside_a_chat_model_it_is_for_the_fallback_alone(
    quoteweave: Quoteweave, port: Path, reader: Path, tmp_path: Path
) -> None:
    config = configured(tmp_path, sentence_scorer=f"reader={reader}", retries=0)
    asked = ("ask", QUESTION, "-c", port, *config, "--model", "m")
    with ModelServer([Reply(status=500)]) as server:
        refused = quoteweave(*asked, "--base-url", server.base_url)
        assert (refused.code, refused.out, server.requests) == (2, "", [])
        got = quoteweave(*asked, "--base-url", server.base_url, "--fallback", "extractive", "--json")
    assert "leave out sentence_scorer or the model, or (ask) add --fallback extractive" in " ".join(refused.err.split())
    assert got.json()["text"].startswith("The harbour shipped 486 tonnes of grain [")
    assert "The model could not be asked" in got.json()["warnings"][-1]


def test_a_run_says_what_ordered_its_sentences(run_it: RunIt, reader: Path, tmp_path: Path) -> None:
    result = run_it(f'quotes = "dataset"\nsentence_scorer = "reader={reader}"\n', "--limit", 2)
    assert result.exit_code == 0
    assert (
        retriever_and_model(tmp_path / "runs")[1] == f"extractive; sentence-scorer reader={reader}"
    )  # what a calibration is for
    assert read_run(tmp_path / "runs")[0].configuration["sentence_scorer"] == f"reader={reader}"
    wrong = run_it(
        'model = "m"\nquotes = "dataset"\nsentence_scorer = "minilm"\n', url="http://127.0.0.1:9/v1", out="b"
    )
    assert isinstance(wrong.exception, UsageError)
    assert "leave out sentence_scorer or the model" in str(wrong.exception)
