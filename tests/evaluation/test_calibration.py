"""Fitting confidences and thresholds on questions whose answers are known."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.confidence import Signals
from quoteweave.core.errors import DatasetError
from quoteweave.evaluation.calibration import CalibrationExample, CalibrationReport, calibrate

SHARES = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])
QUESTIONS = st.lists(
    st.builds(
        CalibrationExample,
        st.builds(Signals, score=st.sampled_from([None, -2.0, 1.0, 5.0]), bearing=SHARES, support=SHARES),
        st.booleans(),
        st.sampled_from([True, False, None]),
    ),
    max_size=20,
)
BOTH = [
    CalibrationExample(Signals(score=3.0, bearing=0.9, support=1.0), True, True),
    CalibrationExample(Signals(score=1.0, bearing=0.2, support=0.5), False, False),
]


def one(
    bearing: float, right: bool | None, *, answerable: bool = True, score: float | None = 5.0
) -> CalibrationExample:
    return CalibrationExample(Signals(score=score, bearing=bearing, support=0.5), answerable, right)


def fitted(asked: Sequence[CalibrationExample], risk: float = 0.1) -> CalibrationReport:
    return calibrate(asked, retriever="bm25", model="m", risk=risk)


def test_where_right_and_wrong_lie_apart_the_threshold_lies_between() -> None:
    asked = [one(0.9, True)] * 20 + [one(0.3, False, answerable=False)] * 20
    found = fitted(asked, risk=0)
    calibration = found.calibration
    assert calibration is not None
    assert (found.right, found.wrong, found.declined, found.has_few_answers) == (20, 20, 0, False)
    # Either only the right answers are given, with no risk, or all answers.
    assert found.aurc == pytest.approx((20 * 0 + 20 * 0.5) / 40)
    assert [(point.answers, point.risk) for point in found.curve] == [(20, 0), (40, 0.5)]
    for stage in (calibration.before, calibration.after):
        # Score and support are the same for all answers, so they get no weight.
        assert [weight.signal for weight in stage.weights] == ["bearing"]
        assert stage.confidence(asked[0].signals) >= stage.threshold > stage.confidence(asked[-1].signals)
    groups = {name: (group.questions, group.answered, group.asked, group.given) for name, group in found.groups.items()}
    assert groups == {"answerable": (20, 20, 20, 20), "unanswerable": (20, 20, 0, 0)}


def test_the_range_of_what_it_was_fitted_on_is_kept() -> None:
    calibration = fitted([one(0.9, True)] * 20 + [one(0.3, False)] * 20).calibration
    assert calibration is not None
    assert [(weight.least, weight.most) for weight in calibration.after.weights] == [(0.3, 0.9)]


def test_before_the_model_is_asked_no_right_answer_is_lost() -> None:
    asked = [one(0.9, True)] * 20 + [one(0.5, True), one(0.5, False), one(0.3, False), one(0.3, None), one(0.1, None)]
    calibration = fitted(asked, risk=0.5).calibration
    assert calibration is not None
    kept = [calibration.before.confidence(each.signals) >= calibration.before.threshold for each in asked]
    assert kept == [True] * 22 + [False] * 3


def test_signals_that_say_nothing_give_no_curve() -> None:
    found = fitted([one(0.5, True)] * 3 + [one(0.5, False)])
    # All are given or none: one point, at the share of wrong answers.
    assert [(point.answers, point.risk) for point in found.curve] == [(4, 0.25)]
    assert found.curve[0].threshold == pytest.approx(0.75)
    assert found.aurc == 0.25
    assert (found.chosen, found.calibration, found.greatest_risk, found.groups) == (None, None, None, {})


def test_few_answers_are_told() -> None:
    assert fitted([one(0.9, True)] * 19 + [one(0.1, False)] * 30).has_few_answers
    assert not fitted([one(0.9, True)] * 20 + [one(0.1, False)] * 20).has_few_answers


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ([], "no answer of the run is known"),
        ([one(0.5, None)], "no answer of the run is known"),
        ([one(0.5, True), one(0.4, True)], "all of 2 answers are right"),
        ([one(0.5, False), one(0.4, None)], "of 1 answer none is right"),
    ],
)
def test_nothing_is_fitted_where_nothing_can_be_told_apart(asked: list[CalibrationExample], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        fitted(asked)


def test_where_nothing_was_found_no_answer_is_given() -> None:
    found = fitted([*[one(0.9, True)] * 5, *[one(0.3, False)] * 5, one(0, False, score=None)], risk=0.4)
    assert found.curve[-1].threshold == 0
    assert (found.wrong, found.nothing_found) == (6, 1)
    assert found.calibration is not None
    assert found.calibration.after.threshold > 0


@given(QUESTIONS, st.sampled_from([0.0, 0.1, 0.3, 0.7]))
def test_the_threshold_keeps_the_risk_and_no_other_gives_more(questions: list[CalibrationExample], risk: float) -> None:
    found = fitted([*BOTH, *questions], risk)
    keeping = [point for point in found.curve if point.risk <= risk]
    assert found.chosen == max(keeping, key=lambda point: point.coverage, default=None)
    assert (found.calibration is None) == (found.chosen is None)
    assert found.least_aurc <= found.aurc + 1e-12
    if found.chosen is not None:
        assert found.greatest_risk is not None
        assert found.greatest_risk >= found.chosen.risk
        given_answers = sum(group.given for group in found.groups.values())
        assert given_answers <= found.chosen.answers


@given(QUESTIONS, st.randoms(use_true_random=False))
def test_the_order_of_questions_does_not_matter(questions: list[CalibrationExample], order: random.Random) -> None:
    asked = [*BOTH, *questions]
    ours, theirs = fitted(asked, 0.3), fitted(order.sample(asked, len(asked)), 0.3)
    assert ours.aurc == pytest.approx(theirs.aurc, abs=1e-6)
    assert [point.threshold for point in ours.curve] == pytest.approx([point.threshold for point in theirs.curve])
    assert [point.answers for point in ours.curve] == [point.answers for point in theirs.curve]
