import json
from pathlib import Path

import pytest
from made_mcitebench import line, locating, write

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.datasets import load_dataset

LINE: dict[str, object] = {
    "question_id": "q",
    "pdf_id": "p",
    "question_type": "locating",
    "question": "Which is faster?",
    "answer": "The second.",
    "evidence_keys": ["Figure 3", "Section 2"],
    "evidence_contents": ["images/c.jpg", "It took two hours."],
    "evidence_modal": ["figure", "text"],
    "idx_2_text": {"1": "It rained.", "2": "It took two hours."},
    "idx_2_image": {"3": "images/c.jpg"},
    "idx_2_table": {"1": "images/t.jpg"},
    "meta_data": {"Gold": "B", "A": "The first.", "B": "The second."},
}


def written(path: Path, **changes: object) -> Path:
    path.write_text(json.dumps({**LINE, **changes}) + "\n")
    return path


def test_items_go_by_the_names_that_answers_cite(tmp_path: Path) -> None:
    (example,) = load_dataset("mcitebench", written(tmp_path / "d.jsonl"))
    assert example.context is not None
    assert [hit.quote.id for hit in example.context.texts] == ["1", "2"]
    assert [(hit.quote.id, hit.quote.layout) for hit in example.context.images] == [
        ("Figure 3", "figure"),
        ("Table 1", "table"),
    ]
    assert example.reference.relevant == {"Figure 3": 1, "2": 1}
    assert (example.choices, example.reference.short_answer) == ({"A": "The first.", "B": "The second."}, "B")
    assert (example.document, example.question_type, example.evidence_types) == ("p", "locating", ("figure", "text"))


def test_evidence_that_is_not_shown_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / "d.jsonl", evidence_keys=["Figure 9"], evidence_contents=["images/z.jpg"])
    with pytest.raises(DatasetError, match="line 1, evidence_keys: 'Figure 9' is not among what is shown"):
        load_dataset("mcitebench", path)


@pytest.mark.data
def test_the_published_examples(research_data: Path) -> None:
    examples = load_dataset("mcitebench", research_data / "mcitebench" / "data_example.jsonl")
    assert [example.question_type for example in examples] == ["explanation", "explanation", "locating"]
    assert [sorted(example.reference.relevant or {}) for example in examples] == [
        ["Table 2", "Table 6"],
        ["Figure 1"],
        ["Figure 1"],
    ]
    assert [example.reference.short_answer for example in examples] == [None, None, "B"]


def test_sources_are_listed_as_the_file_lists_them_and_shown_by_number(tmp_path: Path) -> None:
    (example,) = load_dataset("mcitebench", write(tmp_path, [locating()]))
    assert example.context is not None
    assert example.sources == ("Figure 3", "2", "Table 1", "Table 2", "1")
    shown = [hit.quote for hit in example.context.hits]
    assert [quote.id for quote in shown] == ["1", "2", "Figure 3", "Table 1", "Table 2"]
    assert [quote.image for quote in shown[2:]] == [f"paper-q/images/q-{name}.png" for name in ("f3", "t1", "t2")]
    assert (list(example.choices), example.reference.short_answer) == (list("ABCD"), "B")
    assert example.reference.explanation == "The curve of coal goes up."


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"question_type": "objective"}, "line 1, question_type: 'objective' is none of explanation, locating"),
        ({"evidence_count": 2}, "line 1, evidence_count: 2, where 1 piece is named"),
        ({"evidence_keys": []}, "line 1, evidence_keys: missing, where the line has evidence"),
        ({"distractor_contents": ["Salt came by sea."]}, "line 1, distractor_contents: 'Salt came by sea.' is not"),
    ],
)
def test_another_version_of_the_dataset_is_told(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        load_dataset("mcitebench", write(tmp_path, [{**line(), **changes}]))


def test_a_folder_in_the_place_of_the_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is a folder; name a file in it"):
        load_dataset("mcitebench", tmp_path)
