"""Intervals of plain values, and of paired differences."""

import pytest

from quoteweave.evaluation.statistics.intervals import clustered_interval
from quoteweave.evaluation.statistics.paired_tests import paired_difference, paired_test


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


def test_a_paired_difference_is_the_interval_of_the_differences() -> None:
    ours, theirs, clusters = [1.0, 0.5, None, 1.0], [0.5, 0.5, 1.0, None], ["a", "b", "b", "c"]
    assert paired_difference(ours, theirs, clusters) == clustered_interval([0.5, 0.0], ["a", "b"], limits=(-1, 1))


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
