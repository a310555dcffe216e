"""Paired differences of two runs: permutation test, Holm correction, effect size."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.evaluation.statistics.aggregates import PRODUCT, Aggregate, Row, check_finite, mean_of
from quoteweave.evaluation.statistics.bootstrap import number_clusters, sums_by_cluster

if TYPE_CHECKING:
    from quoteweave.evaluation.statistics.aggregates import Sums

PERMUTATIONS = 10_000
FIRST, SECOND = "first ", "second "
_CHUNK = 1_000_000
"""Coins that are held at a time."""
_ROUNDING = 1e-8
"""Share of the largest difference of any permutation: more than what summing in another order may change."""


def difference_of(figure: Aggregate, *, relative: bool = False) -> Aggregate:
    """The figure of one run less that of another, as a figure of joint rows (`joint`): all columns of both.

    `relative` divides it by that of the other, and is undefined where that is 0.
    """
    number = len(figure.columns)

    def formula(sums: "Sums") -> "Sums":
        theirs = np.concatenate([sums[:1], sums[1 + number :]])
        other = figure.formula(theirs)
        difference: Sums = figure.formula(sums[: 1 + number]) - other
        return difference / np.abs(other) if relative else difference

    columns = tuple(_of_side(side, column) for side in (FIRST, SECOND) for column in figure.columns)
    optional = frozenset(side + column for side in (FIRST, SECOND) for column in figure.optional)
    return Aggregate(figure.name, columns, formula, optional=optional)


def _of_side(side: str, column: str) -> str:
    return PRODUCT.join(side + part for part in column.split(PRODUCT))


def joint(ours: Row, theirs: Row) -> Row:
    """One row of the columns of both."""
    return {
        **{FIRST + name: value for name, value in ours.items()},
        **{SECOND + name: v for name, v in theirs.items()},
    }


def permutation_test(
    difference: Aggregate,
    rows: Sequence[Row],
    clusters: Sequence[str],
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float | None:
    """Two-sided p of a difference (`difference_of`) over joint rows, were the two runs interchangeable.

    Each cluster tosses a coin whether its rows are swapped between the runs, all of them together because they rise and
    fall together; so pooled figures can be tested as well as means. With C clusters of which all 2^C ways to swap are
    no more than `permutations`, each is tried once, and p is the share of them at least as far from 0 as what was seen.
    Else, with b of m random permutations as far, p = (b + 1) / (m + 1) (Phipson and Smyth, Stat. Appl. Genet. Mol.
    Biol. 9, 2010). A permutation in which the figure is undefined counts as being as far. None where the difference
    itself is undefined.
    """
    observed = difference.of(rows)
    if observed is None:
        return None
    members, number = number_clusters(clusters)
    sums = sums_by_cluster(difference.matrix(rows), members, number)
    half = (sums.shape[1] - 1) // 2
    swapped = sums[:, [0, *range(1 + half, 1 + 2 * half), *range(1, 1 + half)]]
    values = np.concatenate(
        [
            np.empty(0),
            *(
                np.abs(difference.evaluate((sums.sum(axis=0) + coins @ (swapped - sums)).T))
                for coins in _coins(number, permutations, seed)
            ),
        ]
    )
    # To swap all rows, or none, gives what was seen but for rounding, which grows with the sums.
    rounding = max(1e-12, _ROUNDING * np.max(values, initial=0.0, where=np.isfinite(values)))
    as_far = int((~(values < abs(observed) - rounding)).sum())
    return as_far / len(values) if _exhaustive(number, permutations) else (as_far + 1) / (permutations + 1)


def _exhaustive(number: int, permutations: int) -> bool:
    """Whether so many clusters can be swapped in no more ways than there are permutations."""
    return number < permutations.bit_length()


def _coins(number: int, permutations: int, seed: int) -> Iterator["Sums"]:
    """(some permutations, clusters): 1 where the rows of a cluster are swapped; all ways once, or random ones."""
    if _exhaustive(number, permutations):
        start = 0
        for size in _sizes(2**number, number):
            ways = np.arange(start, start := start + size)
            yield (ways[:, None] >> np.arange(number) & 1).astype(np.float64)
        return
    rng = np.random.default_rng(seed)
    for size in _sizes(permutations, number):
        yield rng.integers(0, 2, size=(size, number)).astype(np.float64)


def least_p(permutations: int) -> float:
    """The least p of random permutations: its value where none came as far as what was seen."""
    return 1 / (permutations + 1)


def paired_test(
    ours: Sequence[float | None],
    theirs: Sequence[float | None],
    clusters: Sequence[str],
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> float | None:
    """Two-sided p of the mean of `ours - theirs`, by `permutation_test`; None where no question has both values.

    The two hold the same questions in the same order, `clusters` the document of each, or the question itself. Raises
    ValueError for sequences of unequal length, and for a value that is not finite: None is undefined.

        >>> paired_test([1.0] * 8, [0.0] * 8, [f"{n}.pdf" for n in range(8)]) < 0.05
        True
    """
    check_finite([*ours, *theirs])
    mean = mean_of("value")
    rows = [joint({mean.name: a}, {mean.name: b}) for a, b in zip(ours, theirs, strict=True)]
    return permutation_test(difference_of(mean), rows, clusters, permutations=permutations, seed=seed)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction (Scand. J. Stat. 6, 1979); None are not counted among the comparisons.

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
    """Cohen's d of paired differences (d_z): their mean over their standard deviation, n - 1 in its denominator.

    None for fewer than two, and where all are the same.
    """
    if len(values) < 2:
        return None
    spread = float(np.std(values, ddof=1))
    return None if math.isclose(spread, 0.0, abs_tol=1e-15) else float(np.mean(values)) / spread


def _sizes(total: int, width: int) -> list[int]:
    """`total` cut into parts of about _CHUNK / width."""
    size = max(1, _CHUNK // max(1, width))
    return [min(size, total - start) for start in range(0, total, size)]
