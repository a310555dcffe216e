"""Accuracy and F1 of short answers by hand, where some questions have none."""

from collections.abc import Sequence
from typing import Literal

import pytest
from made_selection import answered

from quoteweave.core.answers import Answer, TextBlock
from quoteweave.core.examples import AnswerFormat, Example, Prediction, Reference
from quoteweave.core.records import Query
from quoteweave.evaluation.metrics.answers.mmlongbench import MMLongBench
from quoteweave.evaluation.scoring.scorer import ScoringSettings, score_predictions
from quoteweave.evaluation.scoring.scores import Scores

METRIC = MMLongBench("own")


def asked(gold: str | None, answer_format: AnswerFormat | None, name: str = "q") -> Example:
    reference = Reference(short_answer=gold, answer_format=answer_format)
    return Example(id=name, query=Query(text="How many?"), document="a.pdf", domain="Report", reference=reference)


def given(text: str, status: Literal["answered", "abstained"] = "answered") -> Prediction:
    answer = Answer(
        question="How many?", status=status, text=text, blocks=(TextBlock(text=text),), model="m", seconds=0
    )
    return answered(text).model_copy(update={"answer": answer})


@pytest.mark.parametrize(
    ("gold", "answer_format", "prediction", "accuracy", "recall", "precision"),
    [
        ("4", "int", given("There are 4 [1]."), 1, 1, 1),
        ("4", "int", answered("There are 4 [1]."), 1, 1, 1),
        ("4", "int", answered("<think>Perhaps 5.</think>There are 4 [1]."), 1, 1, 1),
        ("4", "int", given("There are 5 [1]."), 0, 0, 0),
        ("4", "int", given("There are some [1]."), 0, 0, 0),
        ("4", "int", given("There are 4 [1].", "abstained"), 0, 0, None),
        ("4", "int", answered("Not answerable"), 0, 0, None),
        ("yellow", "str", answered("Yellows [1]."), 6 / 7, 6 / 7, 6 / 7),
        (None, "none", given("Nothing is said.", "abstained"), 1, None, None),
        (None, "none", answered("Not answerable."), 1, None, None),
        (None, "none", given("There are 4 [1]."), 0, None, 0),
        (None, "none", answered(""), 0, None, 0),
    ],
)
def test_by_hand(
    gold: str | None,
    answer_format: AnswerFormat,
    prediction: Prediction,
    accuracy: float,
    recall: float | None,
    precision: float | None,
) -> None:
    row = METRIC.row(prediction, asked(gold, answer_format))
    found = [row[f"mmlongbench.{name}"] for name in ("accuracy", "recall", "precision")]
    assert found == [pytest.approx(accuracy), pytest.approx(recall), pytest.approx(precision)]


def test_without_a_response_a_format_or_gold_it_is_undefined() -> None:
    assert METRIC.row(answered(None), asked("4", "int")) == {}
    assert METRIC.row(answered("4"), asked("4", None)) == {}
    assert METRIC.row(answered("4"), asked(None, "int")) == {}


def scored(lines: Sequence[tuple[str | None, AnswerFormat, Prediction]]) -> Scores:
    examples = [asked(gold, answer_format, str(n)) for n, (gold, answer_format, _) in enumerate(lines)]
    predictions = [one.model_copy(update={"example": str(n)}) for n, (_, _, one) in enumerate(lines)]
    return score_predictions(
        examples, predictions, metrics=[METRIC], settings=ScoringSettings(name="r", dataset="mmlongbench")
    )


def test_f1_joins_recall_of_the_answerable_and_precision_of_the_answered() -> None:
    scores = scored(
        [
            ("4", "int", given("4 [1]")),
            ("4", "int", given("5 [1]")),
            ("4", "int", given("Nothing.", "abstained")),
            ("yellow", "str", given("Yellows [1].")),
            (None, "none", given("Nothing.", "abstained")),
            (None, "none", given("4 [1]")),
        ]
    )
    told = {name: estimate.value for name, estimate in scores.figures.items()}
    total = 1 + 6 / 7
    recall, precision = total / 4, total / 4  # four can be answered, and four were
    assert told == {
        "mmlongbench.accuracy": pytest.approx((total + 1) / 6),
        "mmlongbench.recall": pytest.approx(recall),
        "mmlongbench.precision": pytest.approx(precision),
        "mmlongbench.f1.pooled": pytest.approx(2 * recall * precision / (recall + precision)),
    }
    by_format = scores.breakdowns["answer_format"]
    assert by_format["int"]["mmlongbench.recall"].value == pytest.approx(1 / 3)
    assert by_format["none"]["mmlongbench.accuracy"].value == 0.5
    assert by_format["none"]["mmlongbench.f1.pooled"].value is None  # none of them can be answered
    assert scores.breakdowns["domain"]["Report"]["mmlongbench.f1.pooled"].value == told["mmlongbench.f1.pooled"]


def test_f1_is_the_harmonic_mean_also_where_they_differ_and_0_where_all_abstain() -> None:
    scores = scored([("4", "int", given("4 [1]")), ("4", "int", given("No.", "abstained")), ("4", "int", given("9"))])
    recall, precision = 1 / 3, 1 / 2
    assert scores.figures["mmlongbench.f1.pooled"].value == pytest.approx(2 / (1 / recall + 1 / precision))
    silent = scored([("4", "int", given("No.", "abstained"))])
    assert silent.figures["mmlongbench.f1.pooled"].value == 0
    assert "mmlongbench.precision" not in silent.figures  # nowhere defined
