"""Exact aggregates in fractions, and rounding half up as papers print figures."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor

from quoteweave.evaluation.statistics.aggregates import Aggregate, Row

_LARGEST = 10**6
"""Columns are counts and ratios of counts; no count of one question is larger."""


def exact(figure: Aggregate, rows: Sequence[Row]) -> Fraction | None:
    """The figure without any rounding; None where it is undefined.

    A double tells apart all fractions whose denominators are below a million, so each value is taken for the one that
    it stands for, and the sums and the formula are those of fractions.
    """
    import numpy as np

    counted = [values for row in rows if (values := figure.values(row)) is not None]
    sums = [sum(map(_fraction, column), Fraction(0)) for column in zip(*counted, strict=True)]
    if not counted:
        return None
    try:
        value = figure.evaluate(np.array([Fraction(len(counted)), *sums], dtype=object))
    except ZeroDivisionError:
        return None
    return Fraction(value.item() if isinstance(value, np.ndarray) else value)


def half_up(value: Fraction | float, decimals: int) -> str:
    """The value with so many decimals; a half is rounded away from zero."""
    held = Fraction(value).limit_denominator(10**9) if isinstance(value, float) else value
    scaled = floor(abs(held) * 10**decimals + Fraction(1, 2))
    whole, rest = divmod(scaled, 10**decimals)
    sign = "-" if held < 0 and scaled else ""
    return f"{sign}{whole}" + (f".{rest:0{decimals}d}" if decimals else "")


def _fraction(value: float) -> Fraction:
    return Fraction(value).limit_denominator(_LARGEST)
