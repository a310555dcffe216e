"""The risk–coverage curve: worked by hand, its properties, and the bound on the risk against scipy."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.calibration import (
    area_under_curve,
    greatest_coverage,
    optimal_area,
    risk_coverage,
    risk_upper_bound,
)

ANSWERS = st.lists(st.tuples(st.sampled_from([0.1, 0.2, 0.3, 0.5, 0.8, 0.9]), st.booleans()), min_size=1, max_size=30)
BY_HAND = [(0.9, True), (0.8, True), (0.6, False), (0.6, True), (0.3, False)]


def curve_of(answers: list[tuple[float, bool]]) -> list[tuple[float, int, float, float]]:
    points = risk_coverage([confidence for confidence, _ in answers], [right for _, right in answers])
    return [(point.threshold, point.answers, point.coverage, point.risk) for point in points]


def test_a_curve_by_hand() -> None:
    # Answers with the same confidence are given together.
    assert curve_of(BY_HAND) == [(0.9, 1, 0.2, 0), (0.8, 2, 0.4, 0), (0.6, 4, 0.8, 0.25), (0.3, 5, 1, 0.4)]


def test_its_area_by_hand() -> None:
    points = risk_coverage(*zip(*BY_HAND, strict=True))
    assert area_under_curve(points) == pytest.approx((0 + 0 + 0.25 + 0.25 + 0.4) / 5)
    # Three right ones first: 0, 0, 0, 1/4, 2/5.
    assert optimal_area([right for _, right in BY_HAND]) == pytest.approx((1 / 4 + 2 / 5) / 5)


def test_without_answers_nothing_is_defined() -> None:
    assert (risk_coverage([], []), area_under_curve(()), optimal_area([]), greatest_coverage((), 1.0)) == (
        (),
        None,
        None,
        None,
    )


def test_the_threshold_gives_the_most_answers_that_keep_the_risk() -> None:
    points = risk_coverage(*zip(*BY_HAND, strict=True))
    found = {risk: point.threshold for risk in (0, 0.24, 0.25, 0.4) if (point := greatest_coverage(points, risk))}
    assert found == {0: 0.8, 0.24: 0.8, 0.25: 0.6, 0.4: 0.3}
    # A risk that is exceeded on the way may be kept again with more answers.
    points = risk_coverage([0.9, 0.8, 0.7, 0.6], [False, True, True, True])
    assert [point.risk for point in points] == [1, 1 / 2, 1 / 3, 1 / 4]
    last = greatest_coverage(points, 0.3)
    assert last is not None
    assert last.coverage == 1
    assert greatest_coverage(points, 0.2) is None


@given(ANSWERS)
def test_coverage_grows_to_all_and_risk_is_a_share(answers: list[tuple[float, bool]]) -> None:
    points = risk_coverage(*zip(*answers, strict=True))
    coverages = [point.coverage for point in points]
    assert coverages == sorted(set(coverages))
    assert [point.threshold for point in points] == sorted({confidence for confidence, _ in answers}, reverse=True)
    assert points[-1].coverage == 1
    assert points[-1].risk == sum(not right for _, right in answers) / len(answers)
    assert all(0 <= point.risk <= 1 for point in points)


@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_order_of_answers_does_not_matter(answers: list[tuple[float, bool]], order: random.Random) -> None:
    shuffled = order.sample(answers, len(answers))
    assert curve_of(shuffled) == curve_of(answers)


@given(ANSWERS)
def test_no_area_is_less_than_the_least(answers: list[tuple[float, bool]]) -> None:
    found, least = (
        area_under_curve(risk_coverage(*zip(*answers, strict=True))),
        optimal_area([right for _, right in answers]),
    )
    assert found is not None
    assert least is not None
    assert least <= found + 1e-12
    assert 0 <= found <= 1


@pytest.mark.parametrize(("wrong", "answers"), [(0, 1), (0, 29), (1, 10), (5, 50), (49, 50), (50, 50), (30, 3000)])
def test_the_bound_is_that_of_clopper_and_pearson(wrong: int, answers: int) -> None:
    beta = pytest.importorskip("scipy.stats").beta
    expected = 1.0 if wrong == answers else beta.ppf(0.95, wrong + 1, answers - wrong)
    assert risk_upper_bound(wrong, answers) == pytest.approx(expected, abs=1e-9)
