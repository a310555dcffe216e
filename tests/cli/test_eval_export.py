"""`quoteweave eval export`: the two files, what is said of what they leave out, and what cannot be written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from quoteweave.cli.eval.export import JSON
from quoteweave.cli.eval.export import export as command
from quoteweave.core.errors import DatasetError, QuoteweaveError, StorageError, UsageError
from quoteweave.core.examples import Prediction
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.formats import load_predictions

Export = Callable[..., Result]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    (tmp_path / "qrels.txt").write_text("1 0 a 1\n2 0 b 2\n3 0 c 1\n4 0 d 0\n")
    with open_run(tmp_path / "my run", RunRecord(configuration={})) as run:
        run.append(Prediction(example="1", items={"b": 3.0, "a": 0.1}))
        run.append(Prediction(example="2"))
        run.append(Prediction(example="3", error="timed out"))
        run.append(Prediction(example="4", items={"d": 1}))
    app = typer.Typer()
    app.command(epilog=JSON)(command)

    def invoke(*options: object, run: object = tmp_path / "my run") -> Result:
        named = ["--dataset", "trec", "--references", tmp_path / "qrels.txt", "--trec", tmp_path / "out"]
        return CliRunner().invoke(app, list(map(str, (run, *named, *options))))

    return invoke


def raised(result: Result) -> str:
    assert isinstance(result.exception, QuoteweaveError), result.output
    return str(result.exception)


def test_both_files_hold_what_counts(export: Export, tmp_path: Path) -> None:
    result = export()
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "run.trec").read_text() == "1 Q0 b 1 3.0 my%20run\n1 Q0 a 2 0.1 my%20run\n"
    assert (tmp_path / "out" / "qrels.trec").read_text() == "1 0 a 1\n2 0 b 2\n"
    assert result.stdout == f"{tmp_path}/out/run.trec and {tmp_path}/out/qrels.trec: 2 questions\n"
    assert [line.partition(",")[0] for line in result.stderr.splitlines()] == [
        "1 question failed",
        "1 question without known gold",
        "1 question found nothing",
    ]
    (back,) = load_predictions(tmp_path / "out" / "run.trec")
    assert back.items == {"b": 3.0, "a": 0.1}


def test_files_are_written_whole_or_not_at_all(export: Export, tmp_path: Path) -> None:
    export()
    names, earlier = ("run.trec", "qrels.trec"), tmp_path / "earlier"
    earlier.mkdir()
    for name in names:
        (tmp_path / "out" / name).write_text("of an earlier run\n")
        (earlier / name).hardlink_to(tmp_path / "out" / name)
    assert export().exit_code == 0
    for name in names:
        assert (tmp_path / "out" / name).read_text() != "of an earlier run\n"
        assert (earlier / name).read_text() == "of an earlier run\n", "it was written over, which a crash may cut short"


def test_json(export: Export, tmp_path: Path) -> None:
    found = json.loads(export("--json").stdout)
    assert found == {
        **{name: str(tmp_path / "out" / f"{name}.trec") for name in ("run", "qrels")},
        **{"questions": 2, "failed": 1, "undefined": 1, "empty": 1},
    }
    assert [key for key in found if f"{key}:" not in JSON and f"{key}," not in JSON] == []


def test_one_scope_of_several(export: Export, tmp_path: Path) -> None:
    with open_run(tmp_path / "both", RunRecord(configuration={})) as run:
        run.append(Prediction(example="1", scope="document", items={"a": 1.0}))
        run.append(Prediction(example="1", scope="collection", items={"x": 1.0}))
    assert "several scopes (collection, document); name one with --scope" in raised(export(run=tmp_path / "both"))
    result = export("--scope", "document", "--partial", run=tmp_path / "both")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out" / "run.trec").read_text() == "1 Q0 a 1 1.0 both\n"
    refused = export("--scope", "context", run=tmp_path / "both")
    assert isinstance(refused.exception, UsageError)
    assert raised(refused) == "--scope context: the run has collection, document"


def test_what_cannot_be_written_is_told(export: Export, tmp_path: Path) -> None:
    nothing = export("--items", "pages")
    assert isinstance(nothing.exception, DatasetError)
    assert "ranks no pages for which trec tells gold; see --items and --scope" in raised(nothing)
    (tmp_path / "out").write_text("a file")
    refused = export()
    assert isinstance(refused.exception, StorageError)


@pytest.mark.parametrize("name", ["all.trec", "all.json"])
def test_rankings_alone_need_no_gold_and_are_read_back(name: str, export: Export, tmp_path: Path) -> None:
    app = typer.Typer()
    app.command(epilog=JSON)(command)
    named = [tmp_path / "my run", "--dataset", "trec", "--references", tmp_path / "qrels.txt"]
    result = CliRunner().invoke(app, list(map(str, [*named, "--ranking", tmp_path / name])))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{tmp_path / name}: 3 questions\n"
    assert result.stderr.splitlines() == ["1 question found nothing", "1 question failed, left out"]
    found = {one.example: one.items for one in load_predictions(tmp_path / name)}
    # A TREC run has no line for what found nothing.
    nothing: dict[str, dict[str, float]] = {"2": {}} if name.endswith(".json") else {}
    assert found == {"1": {"b": 3.0, "a": 0.1}, "4": {"d": 1.0}, **nothing}
    value = json.loads(CliRunner().invoke(app, list(map(str, [*named, "--ranking", tmp_path / name, "--json"]))).stdout)
    assert value == {"file": str(tmp_path / name), "questions": 3, "empty": 1, "failed": 1}


def test_a_run_of_answers_says_what_keeps_rankings(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(json.dumps({"q_id": 1, "gold_quotes": ["text1"]}) + "\n")
    (tmp_path / "run.jsonl").write_text(json.dumps({"q_id": 1, "response": "Ships [1]."}) + "\n")
    app = typer.Typer()
    app.command(epilog=JSON)(command)
    named = [tmp_path / "run.jsonl", "--dataset", "mmdocrag-20", "--references", tmp_path / "gold.jsonl"]
    for option, where in (("--trec", "out"), ("--ranking", "out.json")):
        result = CliRunner().invoke(app, list(map(str, [*named, option, tmp_path / where])))
        assert "rankings are kept by 'quoteweave eval retrieval --run'" in raised(result)


def test_answers_in_the_form_of_the_rag_track(tmp_path: Path) -> None:
    row = {"question": "What?", "sample_id": "q", "docs": [{"title": "A", "text": "Ships."}, {"text": "Grain."}]}
    (tmp_path / "asked.json").write_text(json.dumps([row]))
    (tmp_path / "run.jsonl").write_text(json.dumps({"q_id": "q", "response": "Ships [1]. They sailed [7]."}) + "\n")
    app = typer.Typer()
    app.command(epilog=JSON)(command)

    def invoke(*options: object) -> Result:
        named = [tmp_path / "run.jsonl", "--dataset", "alce", "--references", tmp_path / "asked.json", *options]
        return CliRunner().invoke(app, list(map(str, named)))

    path = tmp_path / "rag.jsonl"
    result = invoke("--trec-rag", path, "--year", 2024)
    assert (result.exit_code, result.stdout) == (0, f"{path}: 1 answer\n")
    assert result.stderr == "1 citation of quotes that do not exist, left out\n"
    (line,) = map(json.loads, path.read_text().splitlines())
    assert (line["topic_id"], line["references"]) == ("q", ["1", "2"])
    assert [one["citations"] for one in line["answer"]] == [[0], []]
    (back,) = load_predictions(path)
    assert back.response == "Ships [1]. They sailed."
    earlier = tmp_path / "earlier.jsonl"
    earlier.hardlink_to(path)
    value = json.loads(invoke("--trec-rag", path, "--team", "us", "--json").stdout)
    assert not earlier.samefile(path), "it was written over, which a crash may cut short"
    assert value == {"file": str(path), "answers": 1, "failed": 0, "out_of_range": 1, "dropped": 0, "long": 0}
    assert "give --team NAME" in raised(invoke("--trec-rag", path))
    for both in ((), ("--trec", tmp_path / "out", "--trec-rag", path)):
        assert "say what to write" in raised(invoke(*both))


def test_gold_alone_shows_no_quotes_to_export(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(json.dumps({"q_id": 1, "gold_quotes": ["text1"]}) + "\n")
    (tmp_path / "run.jsonl").write_text(json.dumps({"q_id": 1, "response": "Ships [1]."}) + "\n")
    app = typer.Typer()
    app.command(epilog=JSON)(command)
    asked = [tmp_path / "run.jsonl", "--dataset", "mmdocrag-20", "--references", tmp_path / "gold.jsonl"]
    result = CliRunner().invoke(app, list(map(str, [*asked, "--trec-rag", tmp_path / "rag.jsonl", "--year", 2024])))
    assert "gold alone names no quotes that were shown; give the dataset's own file" in raised(result)
