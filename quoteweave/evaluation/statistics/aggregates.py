"""Aggregates are functions of column sums over rows; so are means, pooled ratios and their F1.

So one way of summing serves both a figure and its standard error (a cluster is left out by subtracting its sums).

An aggregate can also be computed exactly, in fractions, and rounded half up as papers print figures.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Sums = NDArray[np.float64]


Row = Mapping[str, float | None]
"""The columns of one question. None means undefined: it is counted, and left out."""


PRODUCT = " * "
"""Separates the names of two columns whose product an aggregate sums."""


Limits = tuple[float, float]
"""The limits between which a figure lies; infinite if it has none."""
FRACTION: Limits = (0.0, 1.0)
AMOUNT: Limits = (0.0, math.inf)
CORRELATION: Limits = (-1.0, 1.0)
UNLIMITED: Limits = (-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A figure computed by `formula` from the sums of `columns` over the rows in which all of these are defined.

    The formula takes an array (1 + columns, …), which has the number of such rows and then the sum of each column, and
    returns an array (…), NaN if the figure is undefined. A column written as two names with `PRODUCT` between them is
    their product. Columns in `optional` count 0 if a row lacks them. `by_domain`: also report the mean over domains, as
    papers do (`mean_over_domains`).

        >>> share = Aggregate("share", ("cited", "gold"), lambda sums: sums[1] / sums[2])
        >>> share.of([{"cited": 1, "gold": 2}, {"cited": 2, "gold": 2}, {"cited": None, "gold": 5}])
        0.75

    Fields:
        name: the figure's name
        columns: the columns of rows whose sums the formula takes
        formula: computes the figure from the sums
        optional: columns that count 0 if a row lacks them
        by_domain: whether the mean over domains is also reported
        limits: the limits of the figure and of its interval; by default, a figure is a fraction
    """

    name: str
    columns: tuple[str, ...]
    formula: "Callable[[Sums], Sums]"
    optional: frozenset[str] = frozenset()
    by_domain: bool = False
    limits: Limits = FRACTION

    def values(self, rows: Sequence[Row]) -> "list[tuple[float, ...] | None]":
        """What each row adds to the sums of the columns; None for a row that does not count."""
        if not self.columns:
            return [()] * len(rows)
        columns = [_column(rows, name, 0.0 if name in self.optional else None) for name in self.columns]
        values_by_row = zip(*columns, strict=True)
        return [None if None in values else cast("tuple[float, ...]", values) for values in values_by_row]

    def matrix(self, rows: Sequence[Row]) -> "Sums":
        """(rows, 1 + columns): what each row adds to the sums; zeros for a row in which a column is undefined."""
        import numpy as np

        none = (0.0,) * (1 + len(self.columns))
        table = [none if values is None else (1.0, *values) for values in self.values(rows)]
        return np.array(table, dtype=float).reshape(len(rows), len(none))

    def of(self, rows: Sequence[Row]) -> float | None:
        """The figure over these rows; None if it is undefined. Sums are exact (Shewchuk's), whatever the order."""
        return self.of_matrix(self.matrix(rows))

    def of_matrix(self, table: "Sums") -> float | None:
        """The figure over the rows from which `matrix` made this table."""
        import numpy as np

        return defined(self.evaluate(np.array([math.fsum(column) for column in table.T.tolist()])))

    def evaluate(self, sums: "Sums") -> "Sums":
        """The formula, with division by zero undefined instead of a warning."""
        import numpy as np

        with np.errstate(divide="ignore", invalid="ignore"):
            return self.formula(sums)

    def undefined(self, rows: Sequence[Row]) -> int:
        """The number of rows in which one of its columns is undefined."""
        return self.values(rows).count(None)


def check_finite(values: Iterable[float | None]) -> None:
    """Raise ValueError for a value that is not finite: undefined is None, and one NaN would make a mean undefined."""
    for value in values:
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{value} is no finite number; None stands for what is undefined")


def _column(rows: Sequence[Row], name: str, otherwise: float | None) -> list[float | None]:
    first, product, second = name.partition(PRODUCT)
    if not product:
        return [row.get(name, otherwise) for row in rows]
    pairs = ((row.get(first), row.get(second)) for row in rows)
    return [None if ours is None or theirs is None else ours * theirs for ours, theirs in pairs]


def mean_of(column: str, *, by_domain: bool = False, limits: Limits = FRACTION) -> Aggregate:
    """The mean of a column over questions, with values between `limits`.

    >>> mean_of("recall").of([{"recall": 1.0}, {"recall": 0.5}, {"recall": None}])
    0.75
    """
    return Aggregate(column, (column,), lambda sums: sums[1] / sums[0], by_domain=by_domain, limits=limits)


SQUARED = ".squared"


def deviation_of(column: str) -> Aggregate:
    """The population standard deviation of a column over questions (`ddof=0` in numpy), called `COLUMN.std`.

    Rows come from `with_squares`.

        >>> rows = [with_squares({"recall": value}, "recall") for value in (1.0, 0.5, None)]
        >>> deviation_of("recall").of(rows)
        0.25
    """

    def formula(sums: "Sums") -> "Sums":
        import numpy as np

        spread: Sums = np.sqrt(np.maximum(sums[2] / sums[0] - (sums[1] / sums[0]) ** 2, 0))
        return spread

    return Aggregate(f"{column}.std", (column, column + SQUARED), formula, limits=AMOUNT)


def with_squares(row: Row, *columns: str) -> Row:
    """The columns of a question, and the squares of those named."""
    values = {column: row.get(column) for column in columns}
    return {**row, **{column + SQUARED: None if value is None else value**2 for column, value in values.items()}}


DOMAIN = "domain"
DOMAIN_MEAN = ".mean_over_domains"
"""The suffix of figures that are means over domains."""


def mean_over_domains(mean: Aggregate, domains: Sequence[str]) -> Aggregate:
    """The mean over domains of the mean over each domain's questions: "macro" in MMDocIR (arXiv 2501.08828, Table 5).

    `mean` has one column; rows come from `with_domain`. Questions without a known domain do not count, nor do domains
    without questions, as when a domain's only document is left out for a standard error.
    """
    (column,) = mean.columns
    pairs = [pair for domain in domains for pair in (_in_domain(column, domain), _in_domain(DOMAIN, domain))]

    def formula(sums: "Sums") -> "Sums":
        import numpy as np

        totals, counts = sums[3::2], sums[4::2]
        has_questions = counts > 0
        means = np.where(has_questions, totals / np.where(has_questions, counts, 1), 0)
        average: Sums = means.sum(axis=0) / has_questions.sum(axis=0)
        return average

    columns = (column, DOMAIN, *pairs)
    return Aggregate(f"{mean.name}{DOMAIN_MEAN}", columns, formula, optional=frozenset(pairs), limits=mean.limits)


def with_domain(row: Row, domain: str | None) -> Row:
    """The columns of a question, and each again as a column of its domain; without a domain, the row itself."""
    if domain is None:
        return row
    known = {**row, DOMAIN: 1.0}
    return {**known, **{_in_domain(column, domain): value for column, value in known.items()}}


def _in_domain(column: str, domain: str) -> str:
    return f"{column} of {domain}"


def ratio_of(name: str, numerator: str, denominator: str, *, limits: Limits = FRACTION) -> Aggregate:
    """The sum of one column over the sum of another.

    >>> ratio_of("recall.pooled", "found", "gold").of([{"found": 1, "gold": 1}, {"found": 1, "gold": 3}])
    0.5
    """
    return Aggregate(name, (numerator, denominator), lambda sums: sums[1] / sums[2], limits=limits)


def correlation_of(x: str, y: str, name: str) -> Aggregate:
    """Pearson's r of two columns over the rows in which both are defined; undefined for fewer than three rows.

    It is also undefined if a column is the same in all rows.

        >>> rows = [{"f1": 0.0, "score": 1.0}, {"f1": 0.5, "score": 3.0}, {"f1": 1.0, "score": 5.0}]
        >>> correlation_of("f1", "score", "r").of(rows)
        1.0
    """
    columns = (x, y, f"{x}{PRODUCT}{x}", f"{y}{PRODUCT}{y}", f"{x}{PRODUCT}{y}")

    def formula(sums: "Sums") -> "Sums":
        import numpy as np

        n, sx, sy, sxx, syy, sxy = sums
        spread_x, spread_y = n * sxx - sx * sx, n * syy - sy * sy
        # Even for equal values, rounding leaves a spread, which is tiny compared with their squares.
        spread = (n > 2) & (spread_x > 1e-9 * n * sxx) & (spread_y > 1e-9 * n * syy)
        r = (n * sxy - sx * sy) / np.sqrt(np.where(spread, spread_x * spread_y, np.nan))
        clipped: Sums = np.clip(r, -1, 1)
        return clipped

    return Aggregate(name, columns, formula, limits=CORRELATION)


def total_of(name: str, column: str) -> Aggregate:
    """The sum of a column over the questions in which it is defined; undefined if there are none."""

    def formula(sums: "Sums") -> "Sums":
        total: Sums = sums[1] * sums[0] / sums[0]  # no questions: 0 / 0
        return total

    return Aggregate(name, (column,), formula, limits=AMOUNT)


def pooled_f1(name: str, common: str, cited: str, gold: str) -> Aggregate:
    """2 Σ common / (Σ cited + Σ gold): the F1 over all pairs together."""
    return Aggregate(name, (common, cited, gold), lambda sums: 2 * sums[1] / (sums[2] + sums[3]))


def defined(value: "Sums | float") -> float | None:
    """The value, or None for NaN."""
    number = float(value)
    return number if math.isfinite(number) else None


_MAX_DENOMINATOR = 10**6
"""Columns are counts and ratios of counts; no count for one question is larger."""


def exact(figure: Aggregate, rows: Sequence[Row]) -> Fraction | None:
    """The figure without any rounding; None if it is undefined.

    A double distinguishes all fractions whose denominators are below a million. So each value is read as the fraction
    that it represents, and the sums and the formula are computed with fractions.
    """
    import numpy as np

    counted = [values for values in figure.values(rows) if values is not None]
    sums = [_sum(column) for column in zip(*counted, strict=True)]
    if not counted:
        return None
    try:
        value = figure.evaluate(np.array([Fraction(len(counted)), *sums], dtype=object))
    except ZeroDivisionError:
        return None
    return Fraction(value.item() if isinstance(value, np.ndarray) else value)


def half_up(value: Fraction | float, decimals: int) -> str:
    """The value with the given number of decimals; a half is rounded away from zero."""
    fraction = Fraction(value).limit_denominator(10**9) if isinstance(value, float) else value
    scaled = floor(abs(fraction) * 10**decimals + Fraction(1, 2))
    integer_part, decimal_part = divmod(scaled, 10**decimals)
    sign = "-" if fraction < 0 and scaled else ""
    return f"{sign}{integer_part}" + (f".{decimal_part:0{decimals}d}" if decimals else "")


def _sum(values: Iterable[float]) -> Fraction:
    """The exact sum; the fraction of equal values, which are frequent, is only computed once."""
    fractions = ((Fraction(value).limit_denominator(_MAX_DENOMINATOR), n) for value, n in Counter(values).items())
    return sum((fraction * n for fraction, n in fractions), Fraction(0))
