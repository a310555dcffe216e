"""`quoteweave eval report`: from files of answers to a folder with a page, Markdown, plots and tables."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from builders import write_json_lines
from typer.testing import CliRunner, Result

from quoteweave.cli.eval.report import JSON, report
from quoteweave.core.errors import UsageError

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

GOLD = {"a": ["text1", "image1"], "b": ["text2"]}
SAID = {"one": {"a": "[1] ![x](image1)", "b": "[2]"}, "two": {"a": "[1]", "b": "[3]"}}

Report = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Report:
    write_json_lines(tmp_path / "gold.jsonl", [{"q_id": name, "gold_quotes": quotes} for name, quotes in GOLD.items()])
    for name, said in SAID.items():
        write_json_lines(tmp_path / f"{name}.jsonl", [{"q_id": each, "response": text} for each, text in said.items()])
    app = typer.Typer()
    app.command(epilog=JSON)(report)

    def invoked(*options: object) -> Result:
        fixed = ("--dataset", "mmdocrag-20", "--references", tmp_path / "gold.jsonl", "--out", tmp_path / "out")
        return CliRunner().invoke(app, list(map(str, (*fixed, *options))))

    return invoked


def test_it_writes_what_it_says(run: Report, tmp_path: Path) -> None:
    result = run(tmp_path / "one.jsonl", tmp_path / "two.jsonl", "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["runs"] == {str(tmp_path / "one.jsonl"): "one", str(tmp_path / "two.jsonl"): "two"}
    assert found["lost_pictures"] == 0
    assert "2 runs on mmdocrag-20" in Path(found["page"]).read_text("utf-8")
    assert "| one | **100.0**" in Path(found["markdown"]).read_text("utf-8")
    assert {Path(path).name for path in found["plots"]} >= {"selection.svg", "selection.pdf"}
    assert all(Path(path).is_file() for path in (*found["plots"], *found["tables"]))


def test_by_default_it_prints_where_the_report_is(run: Report, tmp_path: Path) -> None:
    result = run(tmp_path / "one.jsonl", "--convention", "published")
    assert result.stdout.splitlines() == [
        str(tmp_path / "out" / name) for name in ("report.html", "report.md", "plots", "tables")
    ]
    assert "published convention" in (tmp_path / "out" / "report.md").read_text("utf-8")


def test_pictures_that_cannot_be_shown_are_counted(run: Report, tmp_path: Path) -> None:
    quotes = {
        "text_quotes": [{"quote_id": f"text{n}", "page_id": n, "text": "Grain."} for n in range(1, 13)],
        "img_quotes": [
            {"quote_id": f"image{n}", "page_id": n, "img_path": f"{n}.png", "img_description": ""} for n in range(1, 9)
        ],
    }
    rest = {"question": "What?", "doc_name": "a.pdf", "domain": "Guidebook", "question_type": "Causal"}
    names = {"evidence_modality_type": ["text"], "answer_short": "grain", **quotes, **rest}
    write_json_lines(
        tmp_path / "gold.jsonl", [{"q_id": name, "gold_quotes": gold, **names} for name, gold in GOLD.items()]
    )
    (tmp_path / "1.png").write_bytes(b"no picture")
    result = run(tmp_path / "one.jsonl")
    assert "1 picture of quotes cannot be shown; name their folder with --image-folder\n" in result.stderr


def test_judgements_are_given_for_each_run_or_for_none(run: Report, tmp_path: Path) -> None:
    result = run(tmp_path / "one.jsonl", tmp_path / "two.jsonl", "--judgements", tmp_path / "one.jsonl")
    assert isinstance(result.exception, UsageError)
    assert "1 file of judgements for 2 runs" in str(result.exception)
