"""The example of docs/datasets.md, from a BEIR corpus to figures, runs as it is written."""

import json
import re
from pathlib import Path

import pytest
import typer
from builders import write_json_lines
from typer.testing import CliRunner

from quoteweave.cli.eval.export import export
from quoteweave.cli.eval.score import score

GUIDE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text("utf-8")
PASSAGES = {"d1": ("Rain", "It rains in the hills."), "d2": ("Ships", "Twelve ships sailed.")}


def run(line: str) -> str:
    app = typer.Typer()
    app.command("export")(export)
    app.command("score")(score)
    result = CliRunner().invoke(app, line.removeprefix("quoteweave eval ").split())
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_corpus_is_searched_exported_and_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scifact" / "qrels").mkdir(parents=True)
    corpus = [{"_id": name, "title": title, "text": text} for name, (title, text) in PASSAGES.items()]
    queries = [{"_id": "q1", "text": "How many ships sailed?"}, {"_id": "q2", "text": "Where does it rain?"}]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        write_json_lines(tmp_path / "scifact" / f"{name}.jsonl", rows)
    qrels = "query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td1\t1\n"
    (tmp_path / "scifact" / "qrels" / "test.tsv").write_text(qrels)

    (example,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    exec(compile(example, "docs/datasets.md", "exec"), {})
    (exporting, scoring) = re.findall(
        r"^\$ (quoteweave eval (?:export lexical|score exported).*)$", GUIDE, re.MULTILINE
    )
    run(exporting)
    figures = json.loads(run(f"{scoring} --json"))["figures"]
    assert (figures["recall@1"]["value"], figures["ndcg@10"]["value"]) == (1, 1)
