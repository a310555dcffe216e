"""Whether two runs over the same questions differ: paired differences, their intervals and permutation tests."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pydantic import Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.records import Record
from quoteweave.evaluation.bootstrap import bootstrap_intervals, number_clusters, sums_by_cluster
from quoteweave.evaluation.figures import Figure, Row, defined
from quoteweave.evaluation.scores import ScoredQuestion, Scores

if TYPE_CHECKING:
    from quoteweave.evaluation.figures import Sums

PERMUTATIONS = 10_000
_OURS, _THEIRS = "first ", "second "
_CHUNK = 1_000_000
"""Coins that are held at a time."""


class Comparison(Record):
    """One figure of two runs, over the questions that count in both."""

    figure: str
    first: str = Field(description="name of a run")
    second: str
    first_value: float | None
    second_value: float | None
    difference: float | None = Field(description="first less second; None where undefined")
    low: float | None = Field(description="95 % bootstrap interval of the difference, clusters resampled in both alike")
    high: float | None
    p: float | None = Field(description="two-sided permutation test, rows swapped within clusters")
    p_holm: float | None = Field(default=None, description="corrected for all the comparisons that were made")
    effect: float | None = Field(description="mean over standard deviation of the differences; None of pooled figures")
    n: int = Field(ge=0, description="questions that count in both")
    left_out: int = Field(ge=0, description="questions that count in only one, or in which the figure is undefined")


def compare(
    runs: Sequence[Scores],
    figures: Sequence[Figure],
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> tuple[Comparison, ...]:
    """Every pair of runs by every figure; p values corrected by Holm's method over all of these together.

    Raises DatasetError for runs that were not scored alike: of another dataset, convention or grammar of marks.
    """
    for run in runs[1:]:
        _check_alike(runs[0], run)
    found = [
        _compared(pair, figure, permutations, seed) for pair in itertools.combinations(runs, 2) for figure in figures
    ]
    corrected = holm([comparison.p for comparison in found])
    return tuple(comparison.model_copy(update={"p_holm": p}) for comparison, p in zip(found, corrected, strict=True))


def difference_of(figure: Figure) -> Figure:
    """The figure of one run less that of another, as a figure of joint rows (`joint`): all columns of both."""
    number = len(figure.columns)

    def formula(sums: "Sums") -> "Sums":
        theirs = np.concatenate([sums[:1], sums[1 + number :]])
        difference: Sums = figure.formula(sums[: 1 + number]) - figure.formula(theirs)
        return difference

    columns = (*(_OURS + column for column in figure.columns), *(_THEIRS + column for column in figure.columns))
    return Figure(figure.name, columns, formula)


def joint(ours: Row, theirs: Row) -> Row:
    """One row of the columns of both."""
    return {
        **{_OURS + name: value for name, value in ours.items()},
        **{_THEIRS + name: v for name, v in theirs.items()},
    }


def permutation_test(
    difference: Figure,
    rows: Sequence[Row],
    clusters: Sequence[str],
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float | None:
    """Two-sided p of a difference (`difference_of`) over joint rows, were the two runs interchangeable.

    Each cluster tosses a coin whether its rows are swapped between the runs, all of them together because they rise and
    fall together; so pooled figures can be tested as well as means. With b of m permutations at least as far from 0 as
    what was seen, p = (b + 1) / (m + 1) (Phipson and Smyth, Stat. Appl. Genet. Mol. Biol. 9, 2010); a permutation in
    which the figure is undefined counts among the b. None where the difference itself is undefined.
    """
    observed = difference.of(rows)
    if observed is None:
        return None
    members, number = number_clusters(clusters)
    sums = sums_by_cluster(difference.matrix(rows), members, number)
    half = (sums.shape[1] - 1) // 2
    swapped = sums[:, [0, *range(1 + half, 1 + 2 * half), *range(1, 1 + half)]]
    rng, beyond = np.random.default_rng(seed), 0
    for size in _sizes(permutations, number):
        coins = rng.integers(0, 2, size=(size, number)).astype(np.float64)
        values = difference.evaluate((sums.sum(axis=0) + coins @ (swapped - sums)).T)
        beyond += int((~(np.abs(values) < abs(observed) - 1e-12)).sum())
    return (beyond + 1) / (permutations + 1)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Scand. J. Stat. 6, 1979); None are not counted among the comparisons."""
    ranked = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, place) in enumerate(ranked):
        highest = max(highest, min(1.0, (len(ranked) - rank) * p))
        corrected[place] = highest
    return corrected


def standardised(values: Sequence[float]) -> float | None:
    """Cohen's d of paired differences (d_z): their mean over their standard deviation, n - 1 in its denominator.

    None for fewer than two, and where all are the same.
    """
    if len(values) < 2:
        return None
    spread = float(np.std(values, ddof=1))
    return None if math.isclose(spread, 0.0, abs_tol=1e-15) else float(np.mean(values)) / spread


class _Paired(NamedTuple):
    """Joint rows of the questions that count in both runs, and their clusters."""

    rows: list[Row]
    clusters: list[str]
    apart: int


def _compared(pair: tuple[Scores, Scores], figure: Figure, permutations: int, seed: int) -> Comparison:
    paired = _paired(*pair)
    difference = difference_of(figure)
    bounds = bootstrap_intervals([difference], paired.rows, paired.clusters, seed=seed)[figure.name]
    p = permutation_test(difference, paired.rows, paired.clusters, permutations=permutations, seed=seed)
    known = [row for row in paired.rows if difference.undefined([row]) == 0]
    first, second = (
        figure.of([{column: row[side + column] for column in figure.columns} for row in known])
        for side in (_OURS, _THEIRS)
    )
    low, high = bounds or (None, None)
    return Comparison(
        figure=figure.name,
        first=pair[0].name,
        second=pair[1].name,
        first_value=first,
        second_value=second,
        difference=difference.of(known),
        low=low,
        high=high,
        p=p,
        effect=_effect(difference, known) if len(figure.columns) == 1 else None,
        n=len(known),
        left_out=len(paired.rows) - len(known) + paired.apart,
    )


def _effect(difference: Figure, rows: Sequence[Row]) -> float | None:
    values = [value for row in rows if (value := defined(difference.evaluate(difference.matrix([row])[0]))) is not None]
    return standardised(values)


def _paired(ours: Scores, theirs: Scores) -> _Paired:
    first, second = _counting(ours), _counting(theirs)
    shared = [name for name in first if name in second]
    rows = [joint(first[name].row, second[name].row) for name in shared]
    apart = len(first) + len(second) - 2 * len(shared)
    return _Paired(rows, [first[name].cluster for name in shared], apart)


def _counting(scores: Scores) -> Mapping[str, ScoredQuestion]:
    questions = scores.questions
    if scores.convention == "strict":
        questions = tuple(question for question in questions if question.error is None)
    return {question.example: question for question in questions}


def _check_alike(first: Scores, other: Scores) -> None:
    for what in ("dataset", "convention", "marks"):
        here, there = getattr(first, what), getattr(other, what)
        if here != there:
            raise DatasetError(f"{first.name} and {other.name} cannot be compared: {what} {here!r} and {there!r}")


def _sizes(total: int, width: int) -> list[int]:
    """`total` cut into parts of about _CHUNK / width."""
    size = max(1, _CHUNK // max(1, width))
    return [min(size, total - start) for start in range(0, total, size)]
