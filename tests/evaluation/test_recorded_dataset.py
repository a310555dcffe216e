"""A run that was made over another version of its dataset is not scored in silence."""

import json
from pathlib import Path

import pytest
from made_citevqa import element, question, tag, written
from made_mcitebench import line

from quoteweave.core.answers import Answer
from quoteweave.core.errors import DatasetError
from quoteweave.core.examples import Prediction
from quoteweave.core.fingerprints import file_sha256
from quoteweave.core.runs import RunRecord, open_run
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.scoring.saved_runs import ScoringRequest, score


def references(path: Path, dataset: str, question: str) -> Path:
    lines = {
        "questions": {"id": "q", "question": question, "answer": "grain"},
        "mcitebench": {**line("q"), "question": question},
    }
    path.write_text(json.dumps(lines[dataset]) + "\n")
    return path


def notes(folder: Path, dataset: str, made_over: Path, scored_by: Path) -> list[str]:
    """What is said of a run over one file of a dataset that is scored by another."""
    record = RunRecord(configuration={"dataset": dataset}, fingerprints={"references": file_sha256(made_over)})
    with open_run(folder / "run", record) as run:
        for example in load_dataset(dataset, made_over):
            answer = Answer(
                question=example.query.text, text="grain", blocks=(), status="answered", model="m", seconds=0
            )
            run.append(Prediction(example=example.id, scope="context", response="grain", answer=answer))
    found = score(ScoringRequest(run=folder / "run", dataset=dataset, references=scored_by), intervals=None)
    return [note for note in found.scores.notes if "made over another" in note]


@pytest.mark.parametrize("dataset", ["questions", "mcitebench"])
def test_another_version_with_the_same_ids_is_noticed(tmp_path: Path, dataset: str) -> None:
    old = references(tmp_path / "old.jsonl", dataset, "What was shipped?")
    new = references(tmp_path / "new.jsonl", dataset, "What was sunk?")
    file, question = notes(tmp_path, dataset, old, new)
    assert f"the run was made over another file than {new}" in file
    assert question.startswith("1 answer is to another question, or over other quotes, than the dataset has under")


@pytest.mark.parametrize("dataset", ["questions", "mcitebench"])
def test_nothing_is_said_of_the_file_that_was_asked(tmp_path: Path, dataset: str) -> None:
    old = references(tmp_path / "old.jsonl", dataset, "What was shipped?")
    assert notes(tmp_path, dataset, old, old) == []


def test_a_file_that_lost_questions_since_is_named(tmp_path: Path) -> None:
    """The error names the file of questions, not only the answers that it no longer asks for."""
    old = references(tmp_path / "old.jsonl", "questions", "What was shipped?")
    cut = tmp_path / "cut.jsonl"
    cut.write_text(json.dumps({"id": "other", "question": "Why?", "answer": "grain"}) + "\n")
    with pytest.raises(DatasetError, match=r"the dataset does not ask.*made over another file than .*cut\.jsonl"):
        notes(tmp_path, "questions", old, cut)


def test_a_copy_with_other_spaces_asks_the_same_questions(tmp_path: Path) -> None:
    old = references(tmp_path / "old.jsonl", "questions", "What was shipped?")
    copy = references(tmp_path / "copy.jsonl", "questions", "What  was shipped? ")
    (note,) = notes(tmp_path, "questions", old, copy)
    assert "another file" in note


@pytest.mark.parametrize(("field", "value"), [("question", "What was sunk?"), ("idx_2_image", {"3": "images/new.jpg"})])
def test_a_file_of_responses_over_another_version_is_noticed(tmp_path: Path, field: str, value: object) -> None:
    shown, asked = {**line("q"), "idx_2_image": {"3": "images/old.jpg"}}, tmp_path / "data.jsonl"
    asked.write_text(json.dumps(shown) + "\n")
    for other, noticed in (({}, []), ({field: value}, ["q"])):
        (tmp_path / "model.jsonl").write_text(json.dumps({**shown, **other, "response": "Grain [1]."}) + "\n")
        request = ScoringRequest(run=tmp_path / "model.jsonl", dataset="mcitebench", references=asked)
        found = [note for note in score(request, intervals=None).scores.notes if "over other quotes" in note]
        assert len(found) == len(noticed)
        assert all(f"the same id ({name})" in note for name, note in zip(noticed, found, strict=True))


def test_citevqas_answers_to_another_question_are_noticed(tmp_path: Path) -> None:
    asked = written(tmp_path / "data.json", question(element()))
    answers = written(tmp_path / "m.json", {**question(element()), "Question": "Why?", "model_predict": tag()})
    found = score(ScoringRequest(run=answers, dataset="citevqa", references=asked), intervals=None)
    assert any("over other quotes" in note for note in found.scores.notes)
