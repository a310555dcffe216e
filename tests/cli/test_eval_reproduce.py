"""`quoteweave eval reproduce`: what it prints, and how it ends."""

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from quoteweave.cli.eval import reproduce as matrix
from quoteweave.cli.eval.reproduce import reproduce as command
from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.evaluation.reproduction import Condition, Known

EXPECTED = {
    "text.recall.pooled": "50.0",
    "text.precision.pooled": "99.8",
    "overall.f1": "66.6",
    "image.f1.pooled": "1.0",
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "gold.jsonl").write_text('{"q_id": 0, "gold_quotes": ["text1", "text2"], "answer_short": ""}\n')
    (tmp_path / "answers.jsonl").write_text('{"q_id": 0, "response": "[1]"}\n')
    condition = Condition(
        paper="A paper",
        table="Table 1",
        row="A [model]",
        command="quoteweave eval score $DATA/answers.jsonl --dataset mmdocrag-20 --references $DATA/gold.jsonl",
        expected=EXPECTED,
        known={"overall.f1": Known(computed="66.7", reason="misprinted")},
    )
    monkeypatch.setattr(matrix, "load_matrix", lambda: [condition])
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.delenv("QUOTEWEAVE_DATA", raising=False)
    return tmp_path


def run(*arguments: object) -> Result:
    app = typer.Typer()
    app.command()(command)
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_each_figure_is_told_with_both_numbers_and_a_failure_ends_non_zero(data: Path) -> None:
    result = run("--data", data, "--json")
    found = json.loads(result.stdout)
    assert [(check["printed"], check["computed"], check["status"]) for check in found["checks"]] == [
        ("50.0", "50.0", "OK"),
        ("99.8", "100.0", "OKish"),
        ("66.6", "66.7", "known"),
        ("1.0", None, "FAIL"),
    ]
    assert found["counts"] == {"OK": 1, "OKish": 1, "known": 1, "FAIL": 1}
    assert result.exit_code == 1


def test_the_table_says_why_a_difference_is_known(data: Path) -> None:
    result = run("--data", data)
    assert "A [model]: Table 1 of A paper" in result.stdout
    assert "known: misprinted" in result.stdout
    assert "1 OK, 1 OKish, 1 known, 1 FAIL" in result.stdout


def test_all_right_ends_zero(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    condition = matrix.load_matrix()[0]  # type: ignore[attr-defined]  # the one of the fixture
    right = condition.model_copy(update={"expected": {"text.recall.pooled": "50.0"}})
    monkeypatch.setattr(matrix, "load_matrix", lambda: [right])
    assert run("--data", data).exit_code == 0


@pytest.mark.parametrize("named", [".", "data", "data/mmdocrag", "data/../data"])
def test_the_folder_itself_its_parent_and_the_benchmarks_own_will_do(
    named: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = data / "data" / "mmdocrag"
    folder.mkdir(parents=True)
    for name in ("gold.jsonl", "answers.jsonl"):
        (data / name).rename(folder / name)
    condition = matrix.load_matrix()[0]  # type: ignore[attr-defined]  # the one of the fixture
    moved = condition.model_copy(update={"command": condition.command.replace("$DATA", "$DATA/mmdocrag")})
    monkeypatch.setattr(matrix, "load_matrix", lambda: [moved])
    found = json.loads(run("--data", data / named, "--json").stdout)
    assert found["checks"][0]["computed"] == "50.0"


@pytest.mark.parametrize("named", ["elsewhere", "nowhere"])
def test_a_folder_without_the_files_is_told_with_what_was_looked_for(named: str, data: Path) -> None:
    (data / "elsewhere" / "pdf").mkdir(parents=True)
    error = run("--data", data / named).exception
    assert isinstance(error, DatasetError)
    assert "looked for answers.jsonl and 1 others" in str(error)
    assert str(data / named) in str(error)


def test_without_data_it_says_how_to_name_it(data: Path) -> None:
    error = run().exception
    assert isinstance(error, UsageError)
    assert "QUOTEWEAVE_DATA" in str(error)


def test_a_copy_of_the_authors_repository_will_do_and_rows_without_files_are_named(data: Path) -> None:
    repository = data / "MMDocRAG"
    for name, line in {
        "dataset/evaluation_20.jsonl": '{"q_id": 0, "gold_quotes": ["text1"], "answer_interleaved": "So [1]."}',
        "response/gpt-4o_pure-text_quotes20_response.jsonl": '{"q_id": 0, "response": "So [1]."}',
        "response/evaluation/gpt-4o_pure-text_quotes20_llm-judge.jsonl": '{"q_id": 0, "response": {"Fluency": 4}}',
    }.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(line + "\n")
    result = run("--data", repository, "--json")
    checks = json.loads(result.stdout)["checks"]
    assert {(check["table"], check["row"]) for check in checks} == {("Table 3, 20 quotes", "GPT-4o, pure-text")}
    assert {check["figure"] for check in checks} >= {"overall.f1", "bleu", "judge.average"}
    assert "not computed: Qwen2.5-3B-Inst, pure-text (15 quotes)" in result.stderr
