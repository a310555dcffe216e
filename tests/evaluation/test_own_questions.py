import json
from pathlib import Path

import pytest

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.datasets import load_dataset


def written(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    return path


def test_a_question_alone_and_one_with_all_that_can_be_known(tmp_path: Path) -> None:
    whole = {"question": "Why?", "id": "w", "document": "a.pdf", "pages": [1, 3], "answer": "So.", "short_answer": "so"}
    never = {"question": "Who was Napoleon's tailor?", "answerable": False}
    plain, full, open_one = load_dataset("questions", written(tmp_path / "q.jsonl", {"question": "How?"}, whole, never))
    assert open_one.reference.relevant == {}
    assert (plain.id, plain.query.text, plain.document, plain.reference.pages) == ("1", "How?", None, ())
    assert plain.reference.relevant is None
    assert (full.id, full.document, full.reference.pages) == ("w", "a.pdf", (0, 2))
    assert (full.reference.answer, full.reference.short_answer) == ("So.", "so")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"question": ""}, "line 2, question"),
        ({"question": "a", "page": 1}, "line 2, page"),
        ({"question": "a", "pages": [0], "document": "a"}, "line 2, pages.0"),
        ({"question": "a", "pages": [1]}, "line 2, pages: of which document"),
        ({"question": "a", "pages": [1], "document": "a", "answerable": False}, "line 2, pages: there are none"),
        ({"question": "a", "id": "1"}, "line 2, id: '1' is on line 1 already"),
    ],
)
def test_what_is_wrong_is_told_by_line_and_field(line: object, told: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError) as caught:
        load_dataset("questions", written(tmp_path / "q.jsonl", {"question": "b"}, line))
    assert told in str(caught.value)
