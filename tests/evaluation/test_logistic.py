"""The logistic regression against scikit-learn's, and leaving one row out."""

import warnings
from typing import Any

import numpy as np
import pytest

from quoteweave.evaluation.calibration import fit_logistic, left_out_log_odds


def made(n: int, signals: int, seed: int, noise: float = 1.0) -> tuple[Any, Any]:
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(n, signals))
    weights = draw.normal(size=signals)
    right = (rows @ weights + 0.7 + noise * draw.logistic(size=n) > 0).astype(float)
    right[:2] = 0, 1
    return rows, right


@pytest.mark.parametrize("l2", [0.01, 1.0, 30.0])
@pytest.mark.parametrize(("n", "signals", "noise"), [(12, 3, 1.0), (200, 3, 1.0), (200, 2, 0.0), (500, 1, 3.0)])
def test_it_finds_what_scikit_learn_finds(n: int, signals: int, noise: float, l2: float) -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    rows, right = made(n, signals, seed=n + signals, noise=noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of options that change between versions
        theirs = linear_model.LogisticRegression(C=1 / l2, solver="newton-cholesky", tol=1e-12, max_iter=1000)
        theirs.fit(rows, right)
    intercept, weights = fit_logistic(rows, right, l2=l2)
    assert intercept == pytest.approx(theirs.intercept_[0], abs=1e-6)
    assert weights == pytest.approx(theirs.coef_[0], abs=1e-6)


def test_without_signals_it_is_the_share_of_right_ones() -> None:
    intercept, weights = fit_logistic(np.empty((4, 0)), np.array([1.0, 1.0, 1.0, 0.0]))
    assert intercept == pytest.approx(np.log(3))
    assert len(weights) == 0


def test_rows_with_far_outliers_are_fitted_without_overflow() -> None:
    rows = np.array([[-1e4], [1e4], [0.1], [-0.1]])
    with np.errstate(all="raise", under="ignore"):
        intercept, weights = fit_logistic(rows, np.array([0.0, 1.0, 1.0, 0.0]))
    assert np.isfinite([intercept, *weights]).all()


def test_a_row_has_no_part_in_the_weights_that_judge_it() -> None:
    rows, right = made(30, 2, seed=1)
    intercept, weights = fit_logistic(rows, right)
    before = left_out_log_odds(rows, right, intercept, weights)
    changed = right.copy()
    changed[7] = 1 - changed[7]
    after = left_out_log_odds(rows, changed, intercept, weights)
    assert after[7] == pytest.approx(before[7], abs=1e-9)
    assert np.abs(after - before)[np.arange(30) != 7].min() > 1e-6


def test_rows_that_say_nothing_are_all_alike() -> None:
    right = np.array([1.0, 0.0, 1.0, 1.0])
    intercept, weights = fit_logistic(np.empty((4, 0)), right)
    assert left_out_log_odds(np.empty((4, 0)), right, intercept, weights) == pytest.approx([np.log(3)] * 4)
