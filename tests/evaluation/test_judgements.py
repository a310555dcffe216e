"""Judgements are read as they were published, and counted by either convention."""

from pathlib import Path

import pytest
from builders import write_json_lines
from made_selection import answered, example

from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.judges.judgements import is_malformed, load_judgements
from quoteweave.evaluation.metrics.answers.judge_scores import JudgeScores
from quoteweave.evaluation.metrics.metric import Convention

WHOLE = {
    "Fluency": 5,
    "Citation Quality": 3,
    "Text-Image Coherence": 4,
    "Reasoning Logic": 2,
    "Factuality": 1,
}


def write(folder: Path, *lines: object) -> Path:
    path = folder / "judge.jsonl"
    write_json_lines(path, lines)
    return path


def misspelled() -> dict[str, int]:
    return {(" Factuality" if name == "Factuality" else name): score for name, score in WHOLE.items()}


def test_scores_and_their_average(tmp_path: Path) -> None:
    found = load_judgements(write(tmp_path, {"q_id": 7, "model": "x", "response": WHOLE}))
    row = JudgeScores(found).row(answered("x", "7"), example("7"))
    assert row == {
        "judge.fluency": 5,
        "judge.citation_quality": 3,
        "judge.text_image_coherence": 4,
        "judge.reasoning_logic": 2,
        "judge.factuality": 1,
        "judge.average": 3,
    }
    assert JudgeScores(found).row(answered("x", "8"), example("8")) == {}


@pytest.mark.parametrize(
    ("response", "factuality", "average"),
    [
        (misspelled(), 0, 14 / 5),
        ({}, 0, 0),
        ("I would say 4", 0, 0),
        (None, 0, 0),
        (WHOLE | {"Factuality": "1"}, 0, 14 / 5),
        (WHOLE | {"Factuality": 9}, 9, 23 / 5),
    ],
)
def test_what_is_missing_counts_0_as_published_and_nothing_otherwise(
    tmp_path: Path, response: object, factuality: float, average: float
) -> None:
    found = load_judgements(write(tmp_path, {"q_id": 1, "response": response}, {"q_id": 2, "response": WHOLE}))
    assert is_malformed(found["1"])
    row = JudgeScores(found, "published").row(answered("x", "1"), example("1"))
    assert row["judge.factuality"] == factuality
    assert row["judge.average"] == pytest.approx(average)
    assert JudgeScores(found, "strict").row(answered("x", "1"), example("1")) == {}


@pytest.mark.parametrize("score", [6, -1, 1e9])
def test_a_score_out_of_range_is_malformed(tmp_path: Path, score: float) -> None:
    found = load_judgements(write(tmp_path, {"q_id": 1, "response": WHOLE | {"Fluency": score}}))
    assert is_malformed(found["1"])
    assert not is_malformed(WHOLE)


@pytest.mark.parametrize("convention", ["strict", "published"])
def test_means_are_over_the_judgements_that_are_there(convention: Convention) -> None:
    judged = JudgeScores({"a": WHOLE, "b": WHOLE | {"Fluency": 2}}, convention)
    rows = [judged.row(answered("x", name), example(name)) for name in "abc"]
    values = {figure.name: figure.of(rows) for figure in judged.aggregates}
    assert values["judge.fluency"] == 3.5
    assert values["judge.average"] == pytest.approx((15 + 12) / 10)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([{"response": WHOLE}], "line 1, q_id"),
        ([{"q_id": 1, "response": WHOLE}, {"q_id": 1, "response": WHOLE}], "line 2, q_id"),
        ([], "no judgement"),
    ],
)
def test_a_file_that_is_no_judgements_is_refused(tmp_path: Path, lines: list[object], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        load_judgements(write(tmp_path, *lines))


def test_a_file_without_any_score_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="of 2 lines none has a score of 0 to 5"):
        load_judgements(write(tmp_path, {"q_id": 1, "response": "It rose [1]."}, {"q_id": 2, "response": "So."}))


def test_judgements_of_several_judges_are_not_mixed(tmp_path: Path) -> None:
    lines = [
        {"example": str(n), "scores": {"fluency": 5}, "model": model, "prompt": "a", "attempts": 1}
        for n, model in enumerate(["m", "m", "other"])
    ]
    assert len(load_judgements(write(tmp_path, *lines[:2]))) == 2
    with pytest.raises(DatasetError, match="mixes judgements by 2 judges"):
        load_judgements(write(tmp_path, *lines))


@pytest.mark.parametrize("score", ["NaN", "Infinity"])
def test_what_is_no_number_is_no_score(tmp_path: Path, score: str) -> None:
    path = tmp_path / "judge.jsonl"
    path.write_text(f'{{"q_id": 1, "response": {{"Fluency": {score}, "Factuality": 4}}}}\n')
    assert load_judgements(path) == {"1": {"Factuality": 4.0}}
