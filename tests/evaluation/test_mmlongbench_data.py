"""MMLongBench-Doc's questions become examples; what is malformed is named by file, line and field."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from builders import write_json_lines

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.calibration import is_answerable
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.mmlongbench import load_mmlongbench

LINE: dict[str, Any] = {
    "doc_id": "port.pdf",
    "doc_type": "Brochure",
    "question": "How many quays are there?",
    "answer": "4 ",
    "evidence_pages": "[3, 1, 3]",
    "evidence_sources": "['Chart', 'Pure-text (Plain-text)']",
    "answer_format": "Int",
}
NEVER = LINE | {"question": "Who dug it?", "answer": "Not answerable", "evidence_pages": "[2]", "answer_format": "None"}


def write(path: Path, *lines: object) -> Path:
    write_json_lines(path, lines)
    return path


def test_a_question_becomes_an_example(tmp_path: Path) -> None:
    (example,) = load_dataset("mmlongbench", write(tmp_path / "samples.jsonl", LINE | {"extra": 1}))
    assert example.id == "port.pdf#0"
    assert (example.query.text, example.document) == ("How many quays are there?", "port.pdf")
    assert (example.domain, example.evidence_types) == ("Brochure", ("chart", "text"))
    assert (example.reference.short_answer, example.reference.answer_format) == ("4", "int")
    assert example.reference.pages == (2, 0)
    assert example.reference.answer is None
    assert is_answerable(example)


def test_one_that_cannot_be_answered_is_marked_and_has_no_gold(tmp_path: Path) -> None:
    (example,) = load_mmlongbench(write(tmp_path / "q.jsonl", NEVER))
    assert (example.reference.answer_format, example.reference.short_answer) == ("none", None)
    assert example.reference.pages == ()
    assert not is_answerable(example)


def test_questions_keep_their_order_and_count_by_document(tmp_path: Path) -> None:
    write(tmp_path / "samples.jsonl", LINE, LINE | {"doc_id": "b.pdf"}, NEVER)
    examples = load_mmlongbench(tmp_path)  # the folder
    assert [example.id for example in examples] == ["port.pdf#0", "b.pdf#0", "port.pdf#1"]


def test_one_list_of_questions_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "samples.json"
    path.write_text(json.dumps([LINE, NEVER], indent=1), "utf-8")
    assert [example.reference.answer_format for example in load_mmlongbench(path)] == ["int", "none"]


def test_page_0_names_no_page_and_a_text_without_a_format_is_a_text(tmp_path: Path) -> None:
    odd = LINE | {"evidence_pages": "[0]", "answer": "Berlin", "answer_format": "None"}
    (example,) = load_mmlongbench(write(tmp_path / "q.jsonl", odd))
    assert example.reference.pages == ()
    assert example.reference.answer_format == "str"
    assert is_answerable(example)
    with pytest.raises(DatasetError, match=r"q\.jsonl, line 2, evidence_pages: a second page 0; write pages from 1"):
        load_mmlongbench(write(tmp_path / "q.jsonl", odd, odd))


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"doc_id": ""}, "doc_id"),
        ({"doc_id": None}, "doc_id"),
        ({"question": ""}, "question"),
        ({"answer": ""}, "answer"),
        ({"answer": ["4"]}, "answer"),
        ({"answer_format": "Integer"}, "answer_format"),
        ({"evidence_pages": "[1"}, "evidence_pages: .*not a list"),
        ({"evidence_pages": "[__import__('os').getcwd()]"}, "evidence_pages: .*not a list"),
        ({"evidence_pages": "['first']"}, "evidence_pages.0"),
        ({"evidence_pages": [1, -2]}, "evidence_pages.1"),
        ({"evidence_sources": "[{}]"}, "evidence_sources.0"),
    ],
)
def test_what_is_malformed_is_named_by_file_line_and_field(
    change: dict[str, object], told: str, tmp_path: Path
) -> None:
    with pytest.raises(DatasetError, match=rf"samples\.jsonl, line 2, {told}"):
        load_mmlongbench(write(tmp_path / "samples.jsonl", LINE, LINE | change))


@pytest.mark.parametrize("field", [field for field in LINE if field != "doc_type"])
def test_what_is_missing_is_named(field: str, tmp_path: Path) -> None:
    line = {name: value for name, value in LINE.items() if name != field}
    with pytest.raises(DatasetError, match=f"line 1, {field}: Field required"):
        load_mmlongbench(write(tmp_path / "q.jsonl", line))


def test_a_file_that_is_not_there_or_empty_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"samples\.jsonl does not exist"):
        load_mmlongbench(tmp_path)
    with pytest.raises(DatasetError, match="holds no question"):
        load_dataset("mmlongbench", write(tmp_path / "q.jsonl"))


@pytest.mark.data
def test_the_published_questions_load(research_data: Path) -> None:
    folder = research_data / "mmlongbench"
    if not folder.is_dir():
        pytest.skip("no questions of MMLongBench-Doc")
    examples = load_mmlongbench(folder)
    formats = Counter(example.reference.answer_format for example in examples)
    assert formats == {"int": 102, "float": 46, "str": 86, "list": 56, "none": 63}
    assert len({example.id for example in examples}) == len(examples) == 353
    assert sum(not is_answerable(example) for example in examples) == 63
    documents = {example.document for example in examples}
    assert len(documents) == 44
    pdfs = {path.name for dataset in ("mmlongbench", "mmdocir") for path in (research_data / dataset / "pdf").iterdir()}
    assert documents <= pdfs
    types = {name for example in examples for name in example.evidence_types}
    assert types == {"text", "layout", "table", "chart", "figure"}
