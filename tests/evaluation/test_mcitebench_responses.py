"""MCiteBench's response files, which repeat the dataset's lines: read as answers, and scored against themselves."""

import gzip
import json
from pathlib import Path

import pytest
from builders import write_json_lines

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.formats import load_predictions
from quoteweave.evaluation.metrics.citations.source_selection import SourceSelection
from quoteweave.evaluation.scoring.matching import match_predictions


def test_responses_become_predictions(tmp_path: Path) -> None:
    path = tmp_path / "gpt-4o-2024-11-20.jsonl.gz"
    rows = [{"question_id": 1, "question": "?", "response": "See Table 2."}, {"question_id": "b", "response": None}]
    path.write_bytes(gzip.compress("".join(f"{json.dumps(row)}\n" for row in rows).encode()))
    answered, silent = load_predictions(path)
    assert (answered.example, answered.response, answered.scope) == ("1", "See Table 2.", "context")
    assert answered.model == "gpt-4o-2024-11-20"
    assert (silent.example, silent.error) == ("b", "no response")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"response": "x"}\n', "line 2, question_id: Field required$"),
        ('{"question_id": "b", "resp', "line 2, .*may be cut short: get it anew"),
    ],
)
def test_what_cannot_be_read_is_named(line: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(f'{{"question_id": "a", "response": "x"}}\n{line}')
    with pytest.raises(DatasetError, match=rf"m\.jsonl, {told}"):
        load_predictions(tmp_path / "m.jsonl")


@pytest.mark.data
def test_a_file_of_responses_is_its_own_references(research_data: Path, tmp_path: Path) -> None:
    lines = (research_data / "mcitebench" / "data_example.jsonl").read_text("utf-8").splitlines()
    responses = ["By Table 2 it is [1].", "As Figure 1(b) shows.", "B"]
    path = tmp_path / "model.jsonl"
    answered = ({**json.loads(line), "response": said} for line, said in zip(lines, responses, strict=True))
    write_json_lines(path, answered)
    examples = load_dataset("mcitebench", path)
    assert examples == load_dataset("mcitebench", research_data / "mcitebench" / "data_example.jsonl")
    metric = SourceSelection("own")
    made = match_predictions(examples, load_predictions(path))
    found = [metric.row(*both).get("source_by_rule.f1") for both in zip(made, examples, strict=True)]
    assert found == [pytest.approx(1 / 2), 1, 0]
