"""Intervals and p values over clusters: against textbook methods, and where these say nothing."""

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.statistics.aggregates import (
    AMOUNT,
    UNLIMITED,
    Row,
    correlation_of,
    mean_of,
    ratio_of,
    total_of,
)
from quoteweave.evaluation.statistics.intervals import (
    cluster_intervals,
    jackknife_estimate,
    t_two_sided,
    two_sided_critical_value,
)
from quoteweave.evaluation.statistics.paired_tests import difference_of, joint

VALUES = [3.0, 7.0, 4.0, 9.0, 2.0, 5.0]
WORDS: list[Row] = [{"a": value, "b": value} for value in VALUES]
ALONE = [str(n) for n in range(6)]


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 44, 2001])
def test_t_is_that_of_scipy(freedom: int) -> None:
    for t in (0.0, 0.3, 2.5, 9.0):
        assert t_two_sided(t, freedom) == pytest.approx(2 * scipy.stats.t.sf(t, freedom), abs=1e-13)
    assert two_sided_critical_value(0.95, freedom) == pytest.approx(scipy.stats.t.ppf(0.975, freedom))


def test_without_limits_and_clusters_a_mean_has_the_t_interval_of_textbooks() -> None:
    (found,) = cluster_intervals([mean_of("a", limits=UNLIMITED)], WORDS, ALONE).values()
    assert found == pytest.approx(scipy.stats.ttest_1samp(VALUES, 0).confidence_interval(0.95))


def test_a_total_is_as_uncertain_as_the_mean_times_the_number() -> None:
    figures = [mean_of("a", limits=AMOUNT), total_of("sum", "a")]
    found = cluster_intervals(figures, WORDS, ALONE)
    assert found["sum"] == pytest.approx([6 * end for end in found["a"] or ()])


def test_correlations_have_intervals_on_the_scale_of_fisher_s_z() -> None:
    rows: list[Row] = [{"x": float(n), "y": float(n * n % 7)} for n in range(12)]
    found = jackknife_estimate(correlation_of("x", "y", "r"), rows, list(range(12)))
    assert found is not None
    z, error = math.atanh(found.value), found.error / (1 - found.value**2)
    half = scipy.stats.t.ppf(0.975, 11) * error
    assert found.interval() == pytest.approx((math.tanh(z - half), math.tanh(z + half)))


def test_questions_of_one_document_tell_less_than_questions_of_many() -> None:
    rows: list[Row] = [{"a": float(n // 4 % 2)} for n in range(24)]
    (together,) = cluster_intervals([mean_of("a")], rows, [n // 4 for n in range(24)]).values()
    (apart,) = cluster_intervals([mean_of("a")], rows, list(range(24))).values()
    assert together is not None
    assert apart is not None
    assert together[0] < apart[0] - 0.05


def test_what_clusters_cannot_tell_has_no_interval() -> None:
    rows: list[Row] = [{"a": 1.0, "b": 1.0, "gold": 2.0}, {"a": 0.0, "b": 0.0, "gold": 0.0}, {"b": 1.0, "gold": 0.0}]
    figures = [mean_of("a"), mean_of("b"), ratio_of("r", "b", "gold", limits=AMOUNT), mean_of("none")]
    found = cluster_intervals(figures, rows, ["x", "x", "y"])
    assert [name for name, bounds in found.items() if bounds is None] == ["a", "r", "none"]
    assert cluster_intervals([mean_of("a")], [], []) == {"a": None}


def test_the_same_in_all_clusters_leaves_what_their_number_does_not_rule_out() -> None:
    """Of ten documents all right, 0.69 ^ 10 is the chance that they are were 31 % wrong: 2.5 %."""
    rows: list[Row] = [{"a": 1.0, "half": 0.5, "words": 7.0}] * 20
    figures = [mean_of("a"), mean_of("half"), mean_of("words", limits=AMOUNT)]
    found = cluster_intervals(figures, rows, [n // 2 for n in range(20)])
    other = 1 - 0.025**0.1
    assert found["a"] == pytest.approx((1 - other, 1.0))
    assert found["half"] == pytest.approx((0.5 - other / 2, 0.5 + other / 2))
    assert found["words"] is None


def test_a_figure_outside_its_limits_has_none() -> None:
    ours, without = cluster_intervals([mean_of("a"), mean_of("b", limits=UNLIMITED)], WORDS, ALONE).values()
    assert ours == without


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 6)), min_size=2, max_size=20),
    st.booleans(),
)
def test_intervals_lie_within_limits_hold_the_figure_and_agree_with_p(
    drawn: list[tuple[int, int, int]], relative: bool
) -> None:
    rows: list[Row] = [joint({"a": ours / 4}, {"a": theirs / 4}) for ours, theirs, _ in drawn]
    found = jackknife_estimate(difference_of(mean_of("a"), relative=relative), rows, [cluster for *_, cluster in drawn])
    if found is None or (bounds := found.interval()) is None:
        return
    low, high = bounds
    assert low - 1e-9 <= found.value <= high + 1e-9
    assert relative or -1 <= low <= high <= 1
    p = found.p()
    assert p is not None
    assert 0 <= p <= 1
    assert (p < 0.05) == (low > 0 or high < 0)


def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    """Ten documents of unequal size, shares that go together within them (decision 31)."""
    rng, held = np.random.default_rng(5), 0
    for _ in range(400):
        sizes, share = rng.integers(1, 13, size=10), rng.beta(2.7, 6.3, size=10)
        right = rng.binomial(sizes, share)
        rows = [{"a": float(n < right[place])} for place, size in enumerate(sizes) for n in range(size)]
        (bounds,) = cluster_intervals([mean_of("a")], rows, np.repeat(range(10), sizes).tolist()).values()
        assert bounds is not None
        held += bounds[0] <= 0.3 <= bounds[1]
    assert 0.92 <= held / 400 <= 0.98


def test_more_certainty_takes_wider_intervals() -> None:
    widths = [
        high - low
        for level in (0.5, 0.8, 0.95, 0.99)
        for low, high in [cluster_intervals([mean_of("b", limits=AMOUNT)], WORDS, ALONE, level=level)["b"] or (0, 0)]
    ]
    assert all(narrow < wide for narrow, wide in pairwise(widths))


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan])
def test_a_level_is_a_share(level: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        cluster_intervals([mean_of("a")], [{"a": 1.0}, {"a": 0.0}], ["x", "y"], level=level)


def test_a_correlation_that_two_documents_would_not_have_has_no_interval() -> None:
    rows: list[Row] = [{"x": x, "y": y} for x, y in ((0.0, 0.0), (1.0, 1.0), (2.0, 0.2), (3.0, 0.9))]
    figures = [correlation_of("x", "y", "r")]
    assert cluster_intervals(figures, rows[:3], ALONE[:3]) == {"r": None}
    assert cluster_intervals(figures, rows, ALONE[:4])["r"] is not None


def test_one_document_that_hardly_differs_leaves_as_much_open_as_none() -> None:
    rows: list[Row] = [joint({"a": 1.0 - (n == 0) / 1000}, {"a": 0.0}) for n in range(10)]
    found = jackknife_estimate(difference_of(mean_of("a")), rows, list(range(10)))
    alike = jackknife_estimate(difference_of(mean_of("a")), rows[1:2] * 10, list(range(10)))
    assert found is not None
    assert alike is not None
    assert found.interval() == pytest.approx(alike.interval(), abs=1e-3)
    assert found.p() == pytest.approx(alike.p(), rel=0.01)
