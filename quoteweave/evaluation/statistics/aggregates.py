"""Aggregates are functions of column sums over rows: means, pooled ratios and their F1 alike.

So one way of summing serves the figure itself, its bootstrap (clusters drawn: sums weighted) and its permutation test
(rows of two systems swapped: sums exchanged).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.float64]

Row = Mapping[str, float | None]
"""The columns of one question. None is undefined: it is counted, and left out."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`formula` of the sums of `columns` over the rows in which all of these are defined.

    It is given an array (1 + columns, …): the number of such rows, then the sum of each column; and gives an array (…),
    NaN where the figure is undefined.
    """

    name: str
    columns: tuple[str, ...]
    formula: "Callable[[Sums], Sums]"

    def matrix(self, rows: Sequence[Row]) -> "Sums":
        """(rows, 1 + columns): what each row adds to the sums; zeros for a row in which a column is undefined."""
        import numpy as np

        table = np.zeros((len(rows), 1 + len(self.columns)))
        for place, row in enumerate(rows):
            values = [row.get(column) for column in self.columns]
            if None not in values:
                table[place] = [1, *values]
        return table

    def of(self, rows: Sequence[Row]) -> float | None:
        """The figure of these rows; None where it is undefined. Sums are exact (Shewchuk's), whatever the order."""
        import numpy as np

        sums = np.array([math.fsum(column) for column in self.matrix(rows).T])
        return defined(self.evaluate(sums))

    def evaluate(self, sums: "Sums") -> "Sums":
        """The formula, where a division by zero is undefined rather than a warning."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            return self.formula(sums)

    def undefined(self, rows: Sequence[Row]) -> int:
        """In how many rows a column of it is undefined."""
        return sum(any(row.get(column) is None for column in self.columns) for row in rows)


def mean_of(column: str, name: str | None = None) -> Aggregate:
    """The mean over questions of a column."""
    return Aggregate(name or column, (column,), lambda sums: sums[1] / sums[0])


def ratio_of(name: str, numerator: str, denominator: str) -> Aggregate:
    """The sum of one column over the sum of another."""
    return Aggregate(name, (numerator, denominator), lambda sums: sums[1] / sums[2])


def total_of(name: str, column: str) -> Aggregate:
    """The sum of a column over the questions in which it is defined; undefined where it is in none."""

    def formula(sums: "Sums") -> "Sums":
        total: Sums = sums[1] * sums[0] / sums[0]  # no questions: 0 / 0
        return total

    return Aggregate(name, (column,), formula)


def pooled_f1(name: str, common: str, cited: str, gold: str) -> Aggregate:
    """2 Σ common / (Σ cited + Σ gold): the F1 over all pairs together."""
    return Aggregate(name, (common, cited, gold), lambda sums: 2 * sums[1] / (sums[2] + sums[3]))


def defined(value: "Sums | float") -> float | None:
    """None for a value that is not a number."""
    number = float(value)
    return number if math.isfinite(number) else None
