"""Paired differences of two runs: interval, test, Holm correction, effect size."""

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.evaluation.statistics.aggregates import (
    FRACTION,
    PRODUCT,
    UNLIMITED,
    Aggregate,
    Limits,
    Row,
    check_finite,
    mean_of,
)
from quoteweave.evaluation.statistics.intervals import Interval, clustered_interval, jackknife_estimate

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums

FIRST, SECOND = "first ", "second "


def difference_of(figure: Aggregate, *, relative: bool = False) -> Aggregate:
    """The figure of one run less that of another, as a figure over joint rows with the columns of both (`joint`).

    `relative` divides it by that of the other run, and is undefined if that is 0.
    """
    number = len(figure.columns)

    def formula(sums: "Sums") -> "Sums":
        theirs = np.concatenate([sums[:1], sums[1 + number :]])
        other = figure.formula(theirs)
        difference: Sums = figure.formula(sums[: 1 + number]) - other
        return difference / np.abs(other) if relative else difference

    limits = UNLIMITED if relative else _difference_limits(figure.limits)
    columns = tuple(_side_column(side, column) for side in (FIRST, SECOND) for column in figure.columns)
    optional = frozenset(side + column for side in (FIRST, SECOND) for column in figure.optional)
    return Aggregate(figure.name, columns, formula, optional=optional, limits=limits)


def _side_column(side: str, column: str) -> str:
    return PRODUCT.join(side + part for part in column.split(PRODUCT))


def joint(ours: Row, theirs: Row) -> Row:
    """One row with the columns of both."""
    return {
        **{FIRST + name: value for name, value in ours.items()},
        **{SECOND + name: v for name, v in theirs.items()},
    }


def paired_difference(
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    clusters: Sequence[Hashable],
    *,
    limits: Limits = FRACTION,
) -> Interval | None:
    """95 % interval of the mean of `ours - theirs`, question by question, as `clustered_interval` makes it.

    The two hold the same questions in the same order, and lie between `limits`; `clusters` names the document of each,
    or the question itself. A question where either is undefined (None) is left out. Raises ValueError for sequences of
    unequal length, and for a value that is not finite.

        >>> gain = paired_difference([1, 1, 1], [1, 0, 0], ["a.pdf", "b.pdf", "c.pdf"])
        >>> round(gain.mean, 2), round(gain.low, 2), round(gain.high, 2)
        (0.67, -0.94, 1.0)
    """
    return clustered_interval(_differences(ours, theirs), clusters, limits=_difference_limits(limits))


def paired_test(
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    clusters: Sequence[Hashable],
    *,
    limits: Limits = FRACTION,
) -> float | None:
    """Two-sided p for the mean of `ours - theirs`, below 0.05 if the interval of `paired_difference` excludes 0.

    Takes the arguments of `paired_difference`, and raises ValueError where that does; None if there is no interval.

        >>> paired_test([1.0] * 8, [0.0] * 8, [f"{n}.pdf" for n in range(8)]) < 0.05
        True
    """
    rows = [{"value": difference} for difference in _differences(ours, theirs)]
    estimate = jackknife_estimate(mean_of("value", limits=_difference_limits(limits)), rows, clusters)
    return None if estimate is None else estimate.p()


def _differences(ours: Sequence[float | None], theirs: Sequence[float | None]) -> list[float | None]:
    check_finite([*ours, *theirs])
    return [None if a is None or b is None else a - b for a, b in zip(ours, theirs, strict=True)]


def _difference_limits(limits: Limits) -> Limits:
    low, high = limits
    return low - high, high - low


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Scand. J. Stat. 6, 1979); None values do not count as comparisons.

    >>> holm([0.01, 0.04, None])
    [0.02, 0.04, None]
    """
    ranked = sorted((p, position) for position, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, position) in enumerate(ranked):
        highest = max(highest, min(1.0, (len(ranked) - rank) * p))
        corrected[position] = highest
    return corrected


def standardised(values: Sequence[float]) -> float | None:
    """Cohen's d of paired differences (d_z): their mean over their standard deviation, with n - 1 in its denominator.

    None for fewer than two differences, and if all are the same.
    """
    if len(values) < 2:
        return None
    spread = float(np.std(values, ddof=1))
    return None if math.isclose(spread, 0.0, abs_tol=1e-15) else float(np.mean(values)) / spread
