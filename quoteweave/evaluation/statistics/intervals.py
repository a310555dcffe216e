"""Intervals of any aggregates over clusters of questions, and estimates: value, interval, and number of questions.

Questions about one document are correlated, so a figure's standard error is estimated from its values when each
document in turn is left out (the jackknife; for regressions "CV3": MacKinnon, Nielsen and Webb, Cluster-robust
inference, J. Econometrics 232, 2023). Intervals use Student's t with one degree of freedom less than there are
documents; those of figures with two limits are computed on the logit scale, which has no limits. Decision 31 compares
other methods.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from quoteweave.core.messages import join_names
from quoteweave.core.records import Record
from quoteweave.evaluation.statistics.aggregates import (
    FRACTION,
    UNLIMITED,
    Aggregate,
    Limits,
    Row,
    check_finite,
    mean_of,
)

Bounds = tuple[float, float]
LEVEL = 0.95
FEW_CLUSTERS = 10
"""With fewer clusters, readers are told that intervals are wide and their level is approximate."""
_MAX_NAMED = 3
"""How many figures a warning names."""
_ROUNDING = 1e-8
"""By what share a figure may change if it is summed in another order."""


Intervals = Callable[[Sequence[Aggregate], Sequence[Row], Sequence[str]], Mapping[str, Bounds | None]]
"""A method that gives an interval for each aggregate, by its name, from rows and the cluster of each; None for none."""


def cluster_intervals(
    figures: Sequence[Aggregate], rows: Sequence[Row], clusters: Sequence[Hashable], *, level: float = LEVEL
) -> dict[str, Bounds | None]:
    """Intervals of figures over the same rows, with the questions of a cluster taken together.

    None for a figure that is defined in fewer than two clusters, or undefined without one of them, and for a figure
    without two limits that is the same in all clusters, which say nothing about its spread. Raises ValueError unless
    `level` is a share between 0 and 1.

        >>> rows = [{"recall": 1.0}, {"recall": 0.0}, {"recall": 1.0}]
        >>> low, high = cluster_intervals([mean_of("recall")], rows, ["a.pdf", "b.pdf", "c.pdf"])["recall"]
        >>> round(low, 3), round(high, 3)
        (0.003, 0.999)
    """
    if not 0 < level < 1:
        raise ValueError(f"a level of {level}: it is a share between 0 and 1, such as 0.95")
    jackknifed = {figure.name: jackknife_estimate(figure, rows, clusters) for figure in figures}
    return {name: None if estimate is None else estimate.interval(level) for name, estimate in jackknifed.items()}


@dataclass(frozen=True, slots=True)
class JackknifeEstimate:
    """A figure and its standard error by the jackknife, from which consistent intervals and p values are computed.

    Fields:
        value: the figure
        error: its standard error; 0 if it is the same in all clusters
        clusters: the number of clusters, at least two
        limits: the limits between which it lies
        one_differs: whether all clusters but one have the same figure
    """

    value: float
    error: float
    clusters: int
    limits: Limits
    one_differs: bool = False

    def interval(self, level: float = LEVEL) -> Bounds | None:
        """The values that a test at `1 - level` does not reject, within the limits."""
        low, high = self.limits
        if self.error == 0:
            return self._of_equal_clusters(level)
        half = two_sided_critical_value(level, self.clusters - 1) * self.error
        if not self._has_two_limits:
            return max(low, self.value - half), min(high, self.value + half)
        position, half = self._logit(self.value), half * self._slope
        bounds = self._unlogit(position - half), self._unlogit(position + half)
        least = self._of_equal_clusters(level) if self.one_differs else None
        return bounds if least is None else (min(bounds[0], least[0]), max(bounds[1], least[1]))

    def p(self) -> float | None:
        """Two-sided p for a difference of 0: below 0.05 if the interval excludes 0, None without an interval."""
        if self.error == 0:
            return self._p_of_equal_clusters()
        far = self.value if not self._has_two_limits else (self._logit(self.value) - self._logit(0.0)) / self._slope
        p = t_two_sided(far / self.error, self.clusters - 1)
        least = self._p_of_equal_clusters() if self.one_differs else None
        return p if least is None else max(p, least)

    def _of_equal_clusters(self, level: float) -> Bounds | None:
        """The values that the number of clusters does not exclude if all are the same; None without two limits."""
        if not self._has_two_limits:
            return None
        low, high = self.limits
        # If another value occurred with probability q, n clusters without it would have the probability (1 - q)^n.
        other_chance = 1 - ((1 - level) / 2) ** (1 / self.clusters)
        return self.value - other_chance * (self.value - low), self.value + other_chance * (high - self.value)

    def _p_of_equal_clusters(self) -> float | None:
        if not self._has_two_limits:
            return None
        low, high = self.limits
        end = low if self.value > 0 else high
        return min(1.0, 2 * (end / (end - self.value)) ** self.clusters)

    @property
    def _has_two_limits(self) -> bool:
        return all(map(math.isfinite, self.limits))

    @property
    def _slope(self) -> float:
        """The slope of the logit at the value."""
        low, high = self.limits
        return (high - low) / ((self.value - low) * (high - self.value))

    def _logit(self, value: float) -> float:
        low, high = self.limits
        return math.log((value - low) / (high - value))

    def _unlogit(self, position: float) -> float:
        low, high = self.limits
        return low + (high - low) * (1 + math.tanh(position / 2)) / 2


def jackknife_estimate(
    figure: Aggregate, rows: Sequence[Row], clusters: Sequence[Hashable]
) -> JackknifeEstimate | None:
    """The figure with its jackknife standard error over clusters; None if that cannot be computed.

    When each of C clusters in turn is left out, the sums of the others stand for all (times C / (C - 1)), so that
    totals are treated like means. If the figure of any cluster is outside the limits, the figure has none: they do not
    apply to it.
    """
    table = figure.matrix(rows)
    members = table[:, 0] > 0
    added = _sums_by_cluster(table[members], list(itertools.compress(clusters, members)))
    number, value = len(added), figure.of_matrix(table)
    if number < 2 or value is None:
        return None
    sums_without_each = (added.sum(axis=0) - added).T
    without_each = figure.evaluate(sums_without_each * (number / (number - 1)))
    # Whether it is undefined may depend on the number of rows: on that of the others rather than of all.
    if not (np.isfinite(without_each) & np.isfinite(figure.evaluate(sums_without_each))).all():
        return None
    error = math.sqrt((number - 1) / number * float(((without_each - value) ** 2).sum()))
    if error <= max(1e-12, _ROUNDING * float(np.abs(without_each).max())):
        error = 0.0
    cluster_values = figure.evaluate(added.T)
    low, high = limits = _limits(figure, cluster_values)
    value = min(high, max(low, value))
    return JackknifeEstimate(value, 0.0 if value in limits else error, number, limits, _one_differs(cluster_values))


def _sums_by_cluster(table: NDArray[np.float64], clusters: Sequence[Hashable]) -> NDArray[np.float64]:
    """(clusters, columns): the sums over the rows of each cluster."""
    positions = {cluster: position for position, cluster in enumerate(dict.fromkeys(clusters))}
    members = np.array([positions[cluster] for cluster in clusters], dtype=np.int64)
    return np.stack([np.bincount(members, weights=column, minlength=len(positions)) for column in table.T], axis=1)


def _limits(figure: Aggregate, cluster_values: NDArray[np.float64]) -> Limits:
    known = cluster_values[np.isfinite(cluster_values)]
    low, high = figure.limits
    within = not known.size or (known.min() >= low - _ROUNDING and known.max() <= high + _ROUNDING)
    return figure.limits if within else UNLIMITED


def _one_differs(cluster_values: NDArray[np.float64]) -> bool:
    """Whether the figures of all clusters but one are the same; False for two, as it is unknown which one differs."""
    if len(cluster_values) < 3 or not np.isfinite(cluster_values).all():
        return False
    common = float(np.median(cluster_values))
    return int((np.abs(cluster_values - common) <= _ROUNDING * max(1.0, abs(common))).sum()) == len(cluster_values) - 1


def few_clusters(numbers: Mapping[str, int], cluster_name: str) -> str:
    """A warning if intervals come from few clusters, such as documents; empty if there are enough, or one.

    `numbers` are the clusters in which each figure is defined. Figures are only named if others have enough.

    >>> few_clusters({"recall": 2, "f1": 2}, "document")
    'only 2 documents: intervals are wide, and their level of 95 % is approximate'
    >>> few_clusters({"recall": 40, "f1": 2}, "document")
    'only 2 documents for f1: intervals are wide, and their level of 95 % is approximate'
    """
    small_numbers = {name: number for name, number in numbers.items() if 1 < number < FEW_CLUSTERS}
    if not small_numbers:
        return ""
    least, most = min(small_numbers.values()), max(small_numbers.values())
    number = str(most) if least == most else f"{least} to {most}"
    of = "" if len(small_numbers) == len(numbers) else f" for {join_names(list(small_numbers), _MAX_NAMED)}"
    return f"only {number} {cluster_name}s{of}: intervals are wide, and their level of 95 % is approximate"


class Interval(Record):
    """A mean over questions with its interval.

    >>> clustered_interval([1, 1, 0], ["a.pdf", "b.pdf", "c.pdf"]).clusters
    3
    """

    mean: float = Field(description="over the questions where it is defined")
    low: float | None = Field(description="None where clusters do not tell it (`cluster_intervals`)")
    high: float | None = Field(description="None where `low` is")
    n: int = Field(ge=1, description="questions where the figure is defined")
    clusters: int = Field(ge=1, description="clusters that they come from")


def clustered_interval(
    values: Sequence[float | None],
    clusters: Sequence[Hashable],
    *,
    level: float = LEVEL,
    limits: Limits = FRACTION,
) -> Interval | None:
    """Interval of a mean over questions, with those of a cluster taken together, as `cluster_intervals` computes it.

    `clusters` names the cluster of each value; `limits` are those between which values lie, infinite if there are none.
    None values are undefined and left out; returns None if no value is left. Raises ValueError for sequences of unequal
    length, for a value that is not finite, and for a level that is no share.

        >>> found = clustered_interval([1, 0, None, 1], ["a.pdf", "b.pdf", "b.pdf", "c.pdf"])
        >>> round(found.low, 3), round(found.high, 3), found.n
        (0.003, 0.999, 3)
    """
    check_finite(values)
    known = [(value, cluster) for value, cluster in zip(values, clusters, strict=True) if value is not None]
    if not known:
        return None
    figure = mean_of("value", limits=limits)
    rows, members = [{"value": value} for value, _ in known], [cluster for _, cluster in known]
    low, high = cluster_intervals((figure,), rows, members, level=level)["value"] or (None, None)
    mean = sum(value for value, _ in known) / len(known)
    return Interval(mean=mean, low=low, high=high, n=len(known), clusters=len(set(members)))


class Estimate(Record):
    """One figure over some questions.

    >>> estimates([mean_of("recall")], [{"recall": 1.0}, {"recall": None}], ["a.pdf", "b.pdf"])["recall"]
    Estimate(value=1.0, low=None, high=None, n=1, clusters=1, undefined=1)
    """

    value: float | None = Field(description="a fraction unless the figure's name says otherwise; None where undefined")
    low: float | None = Field(default=None, description="lower end of the 95 % interval, where one was made")
    high: float | None = Field(default=None, description="upper bound of its interval")
    n: int = Field(ge=0, description="questions that count in it")
    clusters: int | None = Field(
        default=None, description="documents, or questions of none, that these come from; None where not counted"
    )
    undefined: int = Field(default=0, ge=0, description="questions where it is undefined, left out")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both ends of its interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def estimates(
    figures: Sequence[Aggregate],
    rows: Sequence[Row],
    clusters: Sequence[str],
    intervals: Intervals | None = None,
) -> dict[str, Estimate]:
    """Each figure over these rows, with an interval if requested. A figure that is undefined everywhere is left out."""
    tables = {figure: figure.matrix(rows) for figure in figures}
    defined = [figure for figure, table in tables.items() if table[:, 0].any()]
    bounds = {} if intervals is None else intervals(defined, rows, clusters)
    by_name = {}
    for figure in defined:
        low, high = bounds.get(figure.name) or (None, None)
        value, counted = figure.of_matrix(tables[figure]), int(tables[figure][:, 0].sum())
        by_name[figure.name] = Estimate(
            value=value,
            low=low,
            high=high,
            n=counted,
            clusters=len(set(itertools.compress(clusters, tables[figure][:, 0]))),
            undefined=len(rows) - counted,
        )
    return by_name


def t_two_sided(t: float, freedom: int) -> float:
    """The probability of a value at least as far from 0 as `t` (Abramowitz and Stegun, 1964, 26.7.3 and 26.7.4).

    >>> round(t_two_sided(2.262, 9), 3)
    0.05
    """
    sine, cosine = abs(t) / math.hypot(t, math.sqrt(freedom)), math.sqrt(freedom) / math.hypot(t, math.sqrt(freedom))
    odd = freedom % 2
    term = cosine if odd else 1.0
    total = term if freedom > 1 else 0.0
    for step in range(3 if odd else 2, freedom - 1, 2):
        term *= cosine**2 * (step - 1) / step
        total += term
    within = 2 / math.pi * (math.atan2(sine, cosine) + sine * total) if odd else sine * total
    return min(1.0, max(0.0, 1 - within))


@lru_cache(maxsize=1024)
def two_sided_critical_value(level: float, freedom: int) -> float:
    """The distance from 0 within which the share `level` of all values lies; `level` is above 0 and below 1.

    >>> round(two_sided_critical_value(0.95, 9), 3)
    2.262
    """
    low, high = 0.0, 1.0
    while t_two_sided(high, freedom) > 1 - level:
        high *= 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_two_sided(middle, freedom) > 1 - level else (low, middle)
    return high
