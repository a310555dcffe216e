"""MMLongBench-Doc on the command line: asked without a model and scored, and its pages looked for."""

import json
import shutil
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, put

from quoteweave.collection.collection import Collection


def line(question: str, answer: str, answer_format: str, pages: str = "[]", document: str = "port.pdf") -> str:
    fields = {"doc_id": document, "doc_type": "Brochure", "question": question, "answer": answer}
    sources = "['Pure-text (Plain-text)']" if pages != "[]" else "[]"
    return json.dumps({**fields, "answer_format": answer_format, "evidence_pages": pages, "evidence_sources": sources})


@pytest.fixture
def samples_file(tmp_path: Path) -> Path:
    path = tmp_path / "samples.jsonl"
    lines = [
        line("How many deep quays does the port have?", "14", "Int", "[1]"),
        line("Which share of the grain came by rail?", "21.5%", "Float", "[2]"),
        line("The port has how many deep quays?", "15", "Int", "[1]"),
        line("Who was Napoleon's tailor?", "Not answerable", "None"),
    ]
    path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture
def port(tmp_path: Path) -> Path:
    quotes = [
        made_quote("The port has 14 deep quays."),
        made_quote("The share of the grain that came by rail was 21.5 %.", page=1),
    ]
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "port.pdf", quotes)
    return tmp_path / "c"


def test_a_run_without_a_model_is_scored(
    quoteweave: Quoteweave, samples_file: Path, port: Path, tmp_path: Path
) -> None:
    (tmp_path / "run.toml").write_text('retriever = ["lexical"]', "utf-8")
    out, asked = tmp_path / "run", ("--references", samples_file)
    ran = quoteweave(
        "run", "--dataset", "mmlongbench", *asked, "--config", tmp_path / "run.toml", "--out", out, "-c", port, "--json"
    )
    assert (ran.code, ran.json()[0]["answered"], ran.json()[0]["abstained"]) == (0, 3, 1), ran.err
    scored = quoteweave("eval", "score", out, "--dataset", "mmlongbench", *asked, "--json")
    assert scored.code == 0, scored.err
    value = scored.json()
    told = {name: value["figures"][f"mmlongbench.{name}"]["value"] for name in ("accuracy", "recall", "f1.pooled")}
    assert told == {"accuracy": 3 / 4, "recall": pytest.approx(2 / 3), "f1.pooled": pytest.approx(2 / 3)}
    by_format = value["breakdowns"]["answer_format"]
    assert {name: group["mmlongbench.accuracy"]["value"] for name, group in by_format.items()} == {
        "int": 0.5,
        "float": 1,
        "none": 1,
    }
    assert "overall.f1" not in value["figures"]  # it is not told which quotes are gold
    assert any("read by rule: not comparable" in note for note in value["notes"])
    printed = quoteweave("eval", "score", out, "--dataset", "mmlongbench", *asked).out
    assert "mmlongbench.accuracy" in printed
    assert "mmlongbench.f1.pooled" in printed


def test_its_pages_are_looked_for(quoteweave: Quoteweave, samples: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "pdf").mkdir(parents=True)
    name = "harbour-report.pdf"
    shutil.copy(samples / "pdf" / name, folder / "pdf")
    lines = [
        line("How much grain was shipped?", "1", "Int", "[2]", document=name),
        line("Who was Napoleon's tailor?", "Not answerable", "None", document=name),
    ]
    (folder / "samples.jsonl").write_text("\n".join(lines), "utf-8")
    arguments = ("--dataset", "mmlongbench", "--references", folder, "-c", tmp_path / "c", "--json")
    found = quoteweave("eval", "retrieval", *arguments)
    assert found.code == 0, found.err
    value = found.json()
    assert (value["dataset"], value["questions"], value["unread"]) == ("mmlongbench", 2, {})
    assert value["undefined"]["in_document"]["page_recall@1"] == 1
    assert value["in_document"]["page_recall@10"] == 1
