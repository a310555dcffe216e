"""MMDocIR and BEIR on the command line: the folder that their pages describe, or its file, is what a run takes."""

import json
from pathlib import Path

import pytest
from command_line import Quoteweave
from made_collections import made_quote, put

from quoteweave.collection.collection import Collection

ASKED = {
    "doc_name": "port.pdf",
    "domain": "Brochure",
    "questions": [
        {
            "Q": "How many deep quays does the port have?",
            "A": "14",
            "type": "['Pure-text']",
            "page_id": [0],
            "layout_mapping": [{"page": 0, "page_size": [600, 800], "bbox": [10, 10, 200, 40]}],
        }
    ],
}


@pytest.fixture
def port(tmp_path: Path) -> Path:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "port.pdf", [made_quote("The port has 14 deep quays.")])
    return tmp_path / "c"


@pytest.mark.parametrize("named", ["mmdocir", "mmdocir/MMDocIR_annotations.jsonl"])
def test_mmdocir_is_run_and_scored_by_its_folder_or_its_file(
    named: str, quoteweave: Quoteweave, port: Path, tmp_path: Path
) -> None:
    (tmp_path / "mmdocir").mkdir()
    (tmp_path / "mmdocir" / "MMDocIR_annotations.jsonl").write_text(json.dumps(ASKED))
    (tmp_path / "run.toml").write_text('retriever = ["lexical"]', "utf-8")
    asked = ("--dataset", "mmdocir", "--references", tmp_path / named)
    ran = quoteweave("run", *asked, "--config", tmp_path / "run.toml", "--out", tmp_path / "run", "-c", port, "--json")
    assert (ran.code, ran.json()[0]["answered"]) == (0, 1), ran.err
    scored = quoteweave("eval", "score", tmp_path / "run", *asked, "--json")
    assert scored.code == 0, scored.err
    figures = scored.json()["figures"]
    assert figures["words"]["n"] == 1
    assert not [name for name in figures if "box" in name or "layout" in name], "answers keep no ranking"


def test_beir_is_run_by_its_folder(quoteweave: Quoteweave, port: Path, tmp_path: Path) -> None:
    (tmp_path / "beir" / "qrels").mkdir(parents=True)
    (tmp_path / "beir" / "queries.jsonl").write_text(json.dumps({"_id": "1", "text": "How many deep quays?"}))
    (tmp_path / "beir" / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\tport\t1\n")
    (tmp_path / "run.toml").write_text('retriever = ["lexical"]\nwithin = "collection"', "utf-8")
    asked = ("--dataset", "beir", "--references", tmp_path / "beir", "--config", tmp_path / "run.toml")
    ran = quoteweave("run", *asked, "--out", tmp_path / "run", "-c", port, "--json")
    assert (ran.code, ran.json()[0]["questions"]) == (0, 1), ran.err
