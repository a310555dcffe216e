"""Saved rankings: what `eval retrieval` says of boxes, `eval score` of its run says too."""

import json
from pathlib import Path

import pytest
from builders import write_json_lines
from command_line import Quoteweave
from made_collections import made_quote, put

from quoteweave.collection.collection import Collection
from quoteweave.core.records import Layout

PAGES = "all that was found are whole pages, so that boxes are not scored"
MARKS = "[1, 2] and [1-3] are read too"
BOX = {"page": 0, "page_size": [600, 800]}


def asked(*boxes: list[int]) -> str:
    questions = [
        {"Q": f"How many deep quays? {n}", "A": "14", "type": "['Text']", "page_id": [0]}
        | {"layout_mapping": [{**BOX, "bbox": box}]}
        for n, box in enumerate(boxes)
    ]
    return json.dumps({"doc_name": "port.pdf", "domain": "Brochure", "questions": questions})


@pytest.mark.parametrize(("layout", "scored"), [("page", False), ("chart", True)])
def test_boxes_of_a_saved_ranking_are_scored_unless_all_that_was_found_are_whole_pages(
    layout: Layout, scored: bool, quoteweave: Quoteweave, tmp_path: Path
) -> None:
    quote = made_quote("The port has 14 deep quays.", layout=layout)
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "port.pdf", [quote])
    (tmp_path / "annotations.jsonl").write_text(asked([10, 10, 200, 40], [200, 40, 10, 10]))
    of = ("--dataset", "mmdocir", "--references", tmp_path)
    ran = quoteweave("eval", "retrieval", *of, "-c", tmp_path / "c", "--run", tmp_path / "run", "--json")
    assert (ran.code, PAGES in ran.err) == (0, not scored), ran.err
    found = quoteweave("eval", "score", tmp_path / "run", *of, "--scope", "document", "--json").json()
    assert found["figures"]["page_recall@1"]["value"] == 1
    assert any("box" in name or "layout" in name for name in found["figures"]) == scored
    unusable = [note for note in found["notes"] if "1 gold box reversed, without area or outside the page" in note]
    assert (len(unusable), PAGES in found["notes"]) == (int(scored), not scored)
    assert not [note for note in found["notes"] if MARKS in note], "a ranking has no marks"
    printed = quoteweave("eval", "score", tmp_path / "run", *of, "--scope", "document").out
    assert "undefined, and left out" not in printed, "the table has a column of it"


def test_gold_that_nothing_could_find_is_told_with_the_scores(quoteweave: Quoteweave, tmp_path: Path) -> None:
    with Collection.create(tmp_path / "c") as collection, collection.writer() as writer:
        put(writer, tmp_path, "port.pdf", [made_quote("The port has 14 deep quays.")])
    lines = [json.loads(asked([10, 10, 200, 40])), {**json.loads(asked([10, 10, 200, 40])), "doc_name": "gone.pdf"}]
    lines[0]["questions"][0]["page_id"] = [77]
    write_json_lines(tmp_path / "annotations.jsonl", lines)
    of = ("--dataset", "mmdocir", "--references", tmp_path)
    ran = quoteweave("eval", "retrieval", *of, "-c", tmp_path / "c", "--run", tmp_path / "run")
    assert (ran.code, "gone.pdf: not in the collection" in " ".join(ran.err.split())) == (1, True)
    notes = quoteweave("eval", "score", tmp_path / "run", *of, "--scope", "document", "--json").json()["notes"]
    (told,) = [note for note in notes if "nothing can be found there" in note]
    assert "1 question with gold on pages that their documents lack, such as page 78 of port.pdf" in told
    assert "1 question on documents that were not read, such as gone.pdf" in told
