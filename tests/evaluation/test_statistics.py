"""Clustered bootstrap intervals, on cases small enough to enumerate, and against scipy where there are no clusters."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.statistics.bootstrap import clustered_interval, paired_difference
from quoteweave.evaluation.statistics.paired_tests import paired_test


def test_enumerated_by_hand() -> None:
    # Document a has questions 1, 1, 1 and b has 0. Of the draws aa, ab, ba, bb the means are 1, 3/4, 3/4, 0.
    interval = clustered_interval([1, 1, 1, 0], ["a", "a", "a", "b"], level=0.2, resamples=20_000)
    assert interval is not None
    assert (interval.mean, interval.n, interval.clusters) == (0.75, 4, 2)
    assert (interval.low, interval.high) == (0.75, 0.75)
    wide = clustered_interval([1, 1, 1, 0], ["a", "a", "a", "b"], level=0.95, resamples=20_000)
    assert wide is not None
    assert (wide.low, wide.high) == (0, 1)


def test_bounds_are_quantiles_of_all_possible_resamples() -> None:
    values, clusters = [0.1, 0.9, 0.5, 0.2, 0.8, 0.7], ["a", "a", "b", "c", "c", "c"]
    documents = {"a": (1.0, 2), "b": (0.5, 1), "c": (1.7, 3)}
    means = sorted(
        sum(documents[name][0] for name in draw) / sum(documents[name][1] for name in draw)
        for draw in itertools.product("abc", repeat=3)
    )
    low, high = np.quantile(means, [0.25, 0.75], method="inverted_cdf")
    interval = clustered_interval(values, clusters, level=0.5, resamples=50_000)
    assert interval is not None
    assert interval.low == pytest.approx(low)
    assert interval.high == pytest.approx(high)


def test_questions_of_one_document_tell_less_than_questions_of_many() -> None:
    values = [1, 1, 1, 1, 0, 0, 0, 0] * 3
    together = clustered_interval(values, [place // 4 for place in range(24)])
    apart = clustered_interval(values, list(range(24)))
    assert together is not None
    assert apart is not None
    assert together.mean == apart.mean
    assert together.low is not None
    assert apart.low is not None
    assert together.low < apart.low - 0.05


def test_without_clusters_it_is_the_percentile_bootstrap_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(7).uniform(size=60)
    theirs = stats.bootstrap((values,), np.mean, n_resamples=50_000, method="percentile", rng=1).confidence_interval
    ours = clustered_interval(values.tolist(), list(range(60)), resamples=50_000)
    assert ours is not None
    assert ours.low == pytest.approx(theirs.low, abs=0.002)
    assert ours.high == pytest.approx(theirs.high, abs=0.002)


def test_undefined_values_are_left_out() -> None:
    with_gaps = clustered_interval([1, None, 0, None], ["a", "a", "b", "c"])
    assert with_gaps == clustered_interval([1, 0], ["a", "b"])
    assert with_gaps is not None
    assert (with_gaps.n, with_gaps.clusters) == (2, 2)
    assert clustered_interval([None, None], ["a", "b"]) is None
    assert clustered_interval([], []) is None


def test_one_document_has_a_mean_and_no_interval() -> None:
    interval = clustered_interval([1, 0], ["a", "a"])
    assert interval is not None
    assert (interval.mean, interval.low, interval.high) == (0.5, None, None)


def test_the_seed_decides_and_nothing_else() -> None:
    values, clusters = np.random.default_rng(0).uniform(size=30).tolist(), [place % 7 for place in range(30)]
    assert clustered_interval(values, clusters, seed=3) == clustered_interval(values, clusters, seed=3)
    assert clustered_interval(values, clusters, seed=3) != clustered_interval(values, clusters, seed=4)


def test_a_paired_difference_is_the_interval_of_the_differences() -> None:
    ours, theirs, clusters = [1.0, 0.5, None, 1.0], [0.5, 0.5, 1.0, None], ["a", "b", "b", "c"]
    assert paired_difference(ours, theirs, clusters) == clustered_interval([0.5, 0.0], ["a", "b"])


def test_a_constant_gain_is_certain_however_questions_differ() -> None:
    theirs = np.random.default_rng(1).uniform(size=20)
    interval = paired_difference((theirs + 0.25).tolist(), theirs.tolist(), [place % 5 for place in range(20)])
    assert interval is not None
    assert [interval.mean, interval.low, interval.high] == pytest.approx([0.25, 0.25, 0.25])


def test_what_is_not_finite_is_refused() -> None:
    for values in ([1.0, float("nan")], [float("inf"), 0.0]):
        with pytest.raises(ValueError, match="is no finite number"):
            clustered_interval(values, ["a", "b"])
        with pytest.raises(ValueError, match="is no finite number"):
            paired_test(values, [0.0, 0.0], ["a", "b"])


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        clustered_interval([1, 2], ["a"])
    with pytest.raises(ValueError, match="zip"):
        paired_difference([1], [1, 2], ["a"])


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=20))
def test_an_interval_lies_within_the_values_and_around_most_of_its_resamples(pairs: list[tuple[float, int]]) -> None:
    values, clusters = [value for value, _ in pairs], [cluster for _, cluster in pairs]
    interval = clustered_interval(values, clusters, resamples=200)
    assert interval is not None
    assert min(values) - 1e-9 <= interval.mean <= max(values) + 1e-9
    if interval.low is not None and interval.high is not None:
        assert min(values) - 1e-9 <= interval.low <= interval.high <= max(values) + 1e-9
