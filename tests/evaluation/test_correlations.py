"""Pearson's r as an aggregate of sums: that of scipy, undefined where it is, compared between runs."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.scoring.scorer import CORRELATIONS
from quoteweave.evaluation.statistics.aggregates import Row, correlation_of
from quoteweave.evaluation.statistics.paired_tests import difference_of, joint

R = correlation_of("x", "y", "r")
VALUES = st.one_of(st.floats(0, 5), st.integers(0, 5).map(float))


@given(st.lists(st.tuples(VALUES, VALUES), min_size=3, max_size=30))
def test_it_is_that_of_scipy(pairs: list[tuple[float, float]]) -> None:
    from scipy import stats

    found = R.of([{"x": x, "y": y} for x, y in pairs])
    xs, ys = zip(*pairs, strict=True)
    if min(max(values) - min(values) for values in (xs, ys)) < 0.01:
        return  # as good as constant: undefined, or at the mercy of rounding
    assert found == pytest.approx(float(stats.pearsonr(xs, ys).statistic), abs=1e-6)


def test_questions_where_either_is_undefined_are_left_out() -> None:
    known: list[Row] = [{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 1.0}, {"x": 4.0, "y": 0.0}]
    assert R.of([*known, {"x": 9.0, "y": None}, {"x": 9.0}]) == R.of(known)
    assert R.undefined([*known, {"x": 9.0, "y": None}, {"x": 9.0}]) == 2


def test_it_is_undefined_for_two_questions_and_for_a_constant() -> None:
    assert R.of([{"x": 1.0, "y": 2.0}, {"x": 2.0, "y": 1.0}]) is None
    assert R.of([{"x": 0.1, "y": float(n)} for n in range(9)]) is None


def test_two_runs_are_compared_by_it() -> None:
    ours: list[Row] = [{"x": float(n), "y": float(n * n)} for n in range(5)]
    theirs: list[Row] = [{"x": float(n), "y": float(n % 2)} for n in range(5)]
    difference = difference_of(R).of([joint(a, b) for a, b in zip(ours, theirs, strict=True)])
    first, second = R.of(ours), R.of(theirs)
    assert first is not None
    assert second is not None
    assert difference == pytest.approx(first - second)
    assert math.isclose(second, 0, abs_tol=1e-12)


def test_the_correlations_of_a_run_are_of_the_f1_on_all_quotes() -> None:
    assert [one.name for one in CORRELATIONS] == [
        "correlation.judge.average",
        "correlation.bleu",
        "correlation.rouge_l.f1",
    ]
    assert {one.columns[0] for one in CORRELATIONS} == {"overall.f1"}
