"""ALCE's post-hoc citing: answers written without passages, or saved, cited afterwards and scored as others are."""

import json
from pathlib import Path

import pytest
from builders import write_json_lines
from typer.testing import CliRunner, Result

from quoteweave.cli.app import app
from quoteweave.core.errors import UsageError
from quoteweave.core.runs import read_run
from quoteweave.testing import ModelServer, Reply

PASSAGES = [
    {"title": "Rain", "text": "It rained in Callao for a week."},
    {"title": "Fleet", "text": "In 1839 twelve ships of the fleet sailed to Lima."},
    {"title": "Coal", "text": "Coal was loaded at the pier by 40 men."},
]
WRITTEN = "In 1839 twelve ships sailed to Lima. In 1839 nineteen ships were loaded with coal. It was raining?"


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    path = tmp_path / "asqa.json"
    path.write_text(
        json.dumps([{"sample_id": name, "question": f"How many {name}?", "docs": PASSAGES} for name in ("a", "b")])
    )
    return path


def invoke(*options: object) -> Result:
    return CliRunner().invoke(app, list(map(str, options)))


def run(asked: Path, *options: object) -> Result:
    return invoke("run", "--dataset", "alce", "--references", asked, "--out", asked.parent / "out", *options)


def responses(asked: Path) -> list[str | None]:
    return [one.response for one in read_run(asked.parent / "out")[1]]


CHECKED = "In 1839 twelve ships sailed to Lima [2]. In 1839 nineteen ships were loaded with coal. It was raining?"
UNCHECKED = (
    "In 1839 twelve ships sailed to Lima [2]. In 1839 nineteen ships were loaded with coal [2]. It was raining [1]?"
)


@pytest.mark.parametrize(("preset", "cited"), [("alce-post-hoc", UNCHECKED), ("alce-post-hoc-checked", CHECKED)])
def test_answers_are_written_without_passages_and_cited_by_the_questions_own(
    asked: Path, monkeypatch: pytest.MonkeyPatch, preset: str, cited: str
) -> None:
    monkeypatch.setenv("QUOTEWEAVE_MODEL", "m")
    with ModelServer(lambda _: Reply(text=WRITTEN)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        result = run(asked, "--preset", preset)
        again = run(asked, "--preset", preset)
        requests = [json.dumps(request) for request in server.requests]
    assert (result.exit_code, again.exit_code) == (0, 0), result.output
    assert len(requests) == 2, "what was answered is not asked again"
    assert not any("Callao" in request or "Fleet" in request for request in requests)
    assert responses(asked) == [cited, cited]


def test_saved_answers_lose_their_marks_and_are_cited_anew(asked: Path) -> None:
    saved = asked.parent / "saved.jsonl"
    lines = [{"q_id": "a", "response": "In 1839 twelve ships[1] sailed to Lima [3]."}, {"q_id": "b", "response": "?"}]
    write_json_lines(saved, lines)
    result = run(asked, "--preset", "alce-post-hoc-checked", "--answers", saved)
    assert result.exit_code == 0, result.output
    assert "2 questions to answer with saved answers" in result.stderr
    assert responses(asked) == ["In 1839 twelve ships sailed to Lima [2].", "?"]
    scored = invoke("eval", "score", asked.parent / "out", "--dataset", "alce", "--references", asked, "--json")
    assert scored.exit_code == 0, scored.output


def test_a_question_without_a_saved_answer_fails_alone(asked: Path) -> None:
    saved = asked.parent / "saved.jsonl"
    saved.write_text(json.dumps({"q_id": "a", "response": WRITTEN}) + "\n")
    result = run(asked, "--preset", "alce-post-hoc", "--answers", saved)
    assert result.exit_code == 1
    assert "question 'b' failed: there is no saved answer" in result.stderr
    assert responses(asked) == [UNCHECKED, None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--preset", "alce-post-hoc"], "name what is cited: a model that writes"),
        (["--preset", "alce-5", "--answers", "x"], "--answers is of presets that cite saved answers"),
        (["--preset", "alce-post-hoc", "-c", "x"], "cites the dataset's own passages"),
    ],
)
def test_wrong_use_is_refused(asked: Path, options: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QUOTEWEAVE_MODEL", raising=False)
    error = run(asked, *options).exception
    assert isinstance(error, UsageError)
    assert message in str(error)
