"""The probe of source identification: how its questions are made, and what counts as right."""

import json
from pathlib import Path

import pytest
from builders import make_context
from made_selection import answered, example, quote

from quoteweave.core.examples import Example
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.datasets.mcitebench import source_question
from quoteweave.evaluation.metrics.answers.source_identification import (
    SourceIdentification,
    chosen_letter,
)

NAMES = ("1", "2", "Figure 1", "Figure 2", "Table 1")


def asked(name: str = "q", gold: tuple[str, ...] = ("Figure 2",), kind: str = "explanation") -> Example:
    given = make_context(*(quote("text" if name.isdigit() else "image", name) for name in NAMES))
    return example(name, gold, context=given).model_copy(update={"question_type": kind})


def test_five_options_one_of_them_right_in_an_order_by_seed_and_question() -> None:
    probe = source_question(asked())
    assert probe is not None
    assert probe.id == "q:source"
    assert list(probe.choices) == list("ABCDE")
    assert sorted(probe.choices.values()) == sorted(NAMES)
    assert probe.choices[str(probe.reference.short_answer)] == "Figure 2"
    assert source_question(asked()) == probe
    others = [source_question(asked(str(n))) for n in range(40)]
    assert {other.reference.short_answer for other in others if other} == set("ABCDE")
    assert len({str(source_question(asked(), seed=seed)) for seed in range(9)}) > 1


def test_which_questions_make_no_probe() -> None:
    assert source_question(asked(kind="locating")) is None
    assert source_question(asked(gold=("1", "2"))) is None
    assert source_question(asked(gold=("Table 9",))) is None
    assert source_question(example(gold=["1"]).model_copy(update={"question_type": "explanation"})) is None


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("B", "B"),
        ("**C.** It shows the curve.", "C"),
        ("(D) because", "D"),
        ("Answer: E", "E"),
        ("The correct answer is A, as …", "A"),
        ("Option B\nSource", "B"),
        ("Because of Figure 2", None),
        ("a table shows it", None),
        ("F", None),
        ("", None),
        ("C's", None),
    ],
)
def test_the_letter_chosen(response: str, letter: str | None) -> None:
    assert chosen_letter(response) == letter


def test_accuracy() -> None:
    probe = source_question(asked())
    assert probe is not None
    right = str(probe.reference.short_answer)
    wrong = next(letter for letter in probe.choices if letter != right)
    metric = SourceIdentification()
    rows = [
        metric.row(answered(said, probe.id), probe)
        for said in (right, f"<think>{wrong}</think>\n{right}.", wrong, "I cannot say.", None)
    ]
    assert [figure.of(rows) for figure in metric.aggregates] == [0.5, 0.25]
    assert metric.aggregates[0].undefined(rows) == 1
    assert metric.row(answered("A"), asked()) == {}


def test_a_dataset_of_probes_is_made_of_the_benchmarks_file(tmp_path: Path) -> None:
    row = {
        "question_id": "q",
        "question": "What rose?",
        "question_type": "explanation",
        "answer": "Calls.",
        "evidence_keys": ["Figure 2"],
        "idx_2_text": {"1": "a", "2": "b", "3": "c"},
        "idx_2_image": {"2": "two.png"},
        "idx_2_table": {"1": "one.png"},
    }
    other = {**row, "question_id": "r", "question_type": "locating"}
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in (row, other)))
    (probe,) = load_dataset("mcitebench-source", path)
    assert (probe.id, sorted(probe.choices.values())) == ("q:source", ["1", "2", "3", "Figure 2", "Table 1"])
    assert probe.choices[probe.reference.short_answer or ""] == "Figure 2"
