"""MMDocIR's annotations become examples; what is malformed is named by file, line and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import GoldBox
from quoteweave.evaluation.datasets.mmdocir import load_mmdocir

QUESTION: dict[str, Any] = {
    "Q": "Which year was best?",
    "A": "2014",
    "type": "['Chart', 'Generalized-text (Layout)']",
    "page_id": [4, 6, 4],
    "layout_mapping": [{"page": 4, "page_size": [612.0, 792.0], "bbox": [366, 229.5, 514, 383]}],
}
DOCUMENT: dict[str, Any] = {"doc_name": "a b.pdf", "domain": "Report", "questions": [QUESTION]}


def write(folder: Path, *lines: object) -> Path:
    text = "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
    (folder / "annotations.jsonl").write_text(text, encoding="utf-8")
    return folder


def question(**changes: object) -> dict[str, Any]:
    return DOCUMENT | {"questions": [QUESTION, QUESTION | changes]}


@pytest.mark.parametrize(
    ("box", "usable"),
    [
        ([0, 0, 612, 792], True),
        ([-0.6, 0, 612.4, 792.9], True),
        ([514, 383, 366, 229.5], False),
        ([366, 383, 514, 229.5], False),
        ([366, 229.5, 366, 383], False),
        ([366, 229.5, 700, 383], False),
        ([-90, 229.5, 514, 383], False),
    ],
)
def test_boxes_in_which_nothing_can_be_found_are_left_out_and_counted(
    box: list[float], usable: bool, tmp_path: Path
) -> None:
    layouts = [{"page": 4, "page_size": [612.0, 792.0], "bbox": box}, {"page": 5, "bbox": [0, 0, 9000, 9000]}]
    _, example = load_mmdocir(write(tmp_path, question(layout_mapping=layouts)))
    assert [found.page for found in example.reference.boxes] == ([4, 5] if usable else [5])
    assert example.reference.unusable_boxes == (not usable)


def test_a_question_becomes_an_example(tmp_path: Path) -> None:
    (example,) = load_mmdocir(write(tmp_path, DOCUMENT))
    assert example.id == "a b.pdf#0"
    assert example.query.text == "Which year was best?"
    assert example.document == "a b.pdf"
    assert example.domain == "Report"
    assert example.evidence_types == ("chart", "layout")
    assert example.reference.answer == "2014"
    assert example.reference.pages == (4, 6)
    assert example.reference.boxes == (GoldBox(page=4, bbox=(366, 229.5, 514, 383)),)


def test_documents_and_questions_keep_their_order(tmp_path: Path) -> None:
    other = DOCUMENT | {"doc_name": "c.pdf"}
    folder = write(tmp_path, DOCUMENT | {"questions": [QUESTION, QUESTION]}, "", other)
    assert [example.id for example in load_mmdocir(folder)] == ["a b.pdf#0", "a b.pdf#1", "c.pdf#0"]


@pytest.mark.parametrize(
    ("raw", "names"),
    [
        ("['Pure-text (Plain-text)', 'Table']", ("text", "table")),
        ("['Figure', 'Figure']", ("figure",)),
        ("[]", ()),
        (["Chart"], ("chart",)),
        ("multimodal-t", ("table",)),
        ("Some new type", ("Some new type",)),
    ],
)
def test_evidence_types_are_shortened_and_unknown_ones_kept(tmp_path: Path, raw: object, names: tuple[str]) -> None:
    (_, example) = load_mmdocir(write(tmp_path, question(type=raw)))
    assert example.evidence_types == names


def test_fields_that_are_not_read_may_come_and_boxes_may_be_missing(tmp_path: Path) -> None:
    bare = {"Q": "What?", "type": "Table", "page_id": [], "extra": 1}
    (example,) = load_mmdocir(write(tmp_path, {"doc_name": "c.pdf", "page_indices": [0, 3], "questions": [bare]}))
    assert example.reference.pages == ()
    assert example.reference.boxes == ()
    assert example.reference.answer is None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{'doc_name': 1", "the line: Invalid JSON"),
        ("[1, 2]", "the line: "),
        ({"questions": []}, "doc_name: "),
        (DOCUMENT | {"doc_name": ""}, "doc_name: "),
        (DOCUMENT | {"questions": "none"}, "questions: "),
        (question(Q=None), "questions.1.Q: "),
        (question(type="['Chart'"), "questions.1.type: .*not a list"),
        (question(type="[__import__('os').getcwd()]"), "questions.1.type: .*not a list"),
        (question(type="[{}]"), r"questions.1.type.0: "),
        (question(page_id=[3, -1]), "questions.1.page_id.1: "),
        (question(page_id=["first"]), "questions.1.page_id.0: "),
        (question(layout_mapping=[{"page": 1, "bbox": [1, 2, 3]}]), "questions.1.layout_mapping.0.bbox.3: "),
        (question(layout_mapping=[{"bbox": [1, 2, 3, 4]}]), "questions.1.layout_mapping.0.page: "),
        (question(layout_mapping=[{"page": 1, "bbox": [1, 2, 3, float("nan")]}]), "layout_mapping.0.bbox.3: "),
        (DOCUMENT, "doc_name: 'a b.pdf' is on line 1 already"),
    ],
)
def test_what_is_malformed_is_named_by_file_line_and_field(tmp_path: Path, line: object, told: str) -> None:
    with pytest.raises(DatasetError, match=rf"annotations\.jsonl, line 3, .*{told}"):
        load_mmdocir(write(tmp_path, DOCUMENT, "", line))


def test_bytes_that_are_no_text_are_an_error_of_their_line(tmp_path: Path) -> None:
    (tmp_path / "annotations.jsonl").write_bytes(json.dumps(DOCUMENT).encode() + b'\n{"doc_name": "\xff"}\n')
    with pytest.raises(DatasetError, match="line 2"):
        load_mmdocir(tmp_path)


def test_a_folder_without_annotations_or_questions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"no annotations\.jsonl in"):
        load_mmdocir(tmp_path)
    with pytest.raises(DatasetError, match="no question"):
        load_mmdocir(write(tmp_path, DOCUMENT | {"questions": []}))


@pytest.mark.data
def test_the_published_annotations_load(research_data: Path) -> None:
    folder = research_data / "mmdocir"
    examples = load_mmdocir(folder)
    assert len({example.id for example in examples}) == len(examples)
    assert {name for example in examples for name in example.evidence_types} == {
        "text",
        "layout",
        "table",
        "chart",
        "figure",
    }
    for example in examples:
        assert example.document is not None
        assert (folder / "pdf" / example.document).is_file()
        assert {box.page for box in example.reference.boxes} == set(example.reference.pages)
