"""ALCE's data and result files: passages as context, the answers that were made over them, what cannot be read."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.formats import load_predictions

DOCS = [{"id": "77", "title": "Ships", "text": "Twelve ships sailed.", "score": 1.5}, {"text": "It rained."}]
ASKED: dict[str, Any] = {
    "sample_id": 7,
    "question": "How many ships?",
    "answer": "Twelve ships sailed.",
    "qa_pairs": [{"question": "How many?", "short_answers": ["12", "twelve"]}],
    "docs": DOCS,
}
ANSWERED = {**ASKED, "output": "Twelve sailed [1]."}


def written(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content, indent=4), "utf-8")
    return path


def test_passages_are_the_context_under_the_numbers_that_answers_cite(tmp_path: Path) -> None:
    (example,) = load_dataset("alce", written(tmp_path / "asqa.json", [ASKED]))
    assert (example.id, example.query.text) == ("7", "How many ships?")
    assert (example.reference.answer, example.reference.short_answer) == ("Twelve ships sailed.", "12")
    assert example.reference.relevant is None
    assert example.context is not None
    first, second = (hit.quote for hit in example.context.texts)
    assert (first.id, first.document, first.text) == ("1", "Ships", "Ships\nTwelve ships sailed.")
    assert (second.id, second.document, second.text) == ("2", "", "It rained.")


def test_one_short_answer_stands_for_no_more_than_one_pair(tmp_path: Path) -> None:
    path = written(tmp_path / "asqa.json", [{**ASKED, "qa_pairs": ASKED["qa_pairs"] * 2}])
    assert load_dataset("alce", path)[0].reference.short_answer is None


def test_the_three_forms_of_a_file_say_the_same(tmp_path: Path) -> None:
    rows = [ANSWERED, {"question": "Why?", "docs": [], "output": None}]
    plain = "".join(f"{json.dumps(row)}\n" for row in rows)
    contents = {
        "lines.jsonl": plain.encode(),
        "lines.jsonl.gz": gzip.compress(plain.encode()),
        "list.json": json.dumps(rows, indent=4).encode(),
        "list-on-a-line.json": json.dumps(rows).encode(),
        "result.json": json.dumps({"args": {"ndoc": 2}, "data": rows}, indent=4).encode(),
        "result-on-a-line.json.gz": gzip.compress(json.dumps({"args": {"ndoc": 2}, "data": rows}).encode()),
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
        examples, (answered, silent) = load_dataset("alce", tmp_path / name), load_predictions(tmp_path / name)
        assert [example.id for example in examples] == ["7", "Why?"], name
        assert (answered.example, answered.response, answered.scope) == ("7", "Twelve sailed [1].", "context")
        assert answered.context == examples[0].context
        assert (silent.example, silent.error) == ("Why?", "no response")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"docs": [{"title": "no text"}]}, r"item 2, docs\.0\.text: Field required"),
        ({"docs": None}, "item 2, docs: "),
        ({"sample_id": 7}, "item 2, sample_id: '7' is item 1 already"),
        ({"output": ["One.", "Two."]}, "item 2, output: 2 answers to one question"),
    ],
)
def test_what_cannot_be_read_is_named(changes: dict[str, object], told: str, tmp_path: Path) -> None:
    path = written(tmp_path / "r.json", [ANSWERED, {**ANSWERED, "sample_id": 8, **changes}])
    with pytest.raises(DatasetError, match=rf"r\.json, {told}"):
        load_predictions(path)


@pytest.mark.parametrize("indent", [None, 4])
def test_a_list_that_is_cut_short_is_told(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([ANSWERED], indent=indent)[:-25], "utf-8")
    for load in (load_predictions, lambda cut: load_dataset("alce", cut)):
        with pytest.raises(DatasetError, match=r"r\.json, line \d+: .*cut short, get it anew"):
            load(path)


def test_what_holds_no_list_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="neither a list of objects nor one object a line"):
        load_dataset("alce", written(tmp_path / "r.json", {"rows": []}))
    (tmp_path / "empty.json").write_text("")
    with pytest.raises(DatasetError, match="holds no question"):
        load_dataset("alce", tmp_path / "empty.json")
