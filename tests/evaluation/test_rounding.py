"""Figures as they are printed: exact, and half up."""

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.statistics.aggregates import Row, exact, half_up, mean_of, ratio_of


@pytest.mark.parametrize(
    ("value", "decimals", "printed"),
    [
        (Fraction(1245, 100), 1, "12.5"),  # a double of 12.45 rounds down
        (0.285, 2, "0.29"),
        (2.675, 2, "2.68"),
        (Fraction(-1, 2), 0, "-1"),
        (Fraction(-1, 1000), 2, "0.00"),
        (0.0, 1, "0.0"),
        (99.95, 1, "100.0"),
    ],
)
def test_a_half_is_rounded_up(value: Fraction | float, decimals: int, printed: str) -> None:
    assert half_up(value, decimals) == printed


@given(st.integers(-(10**8), 10**8), st.integers(0, 4))
def test_rounding_is_that_of_decimals(thousandths: int, decimals: int) -> None:
    wanted = (Decimal(thousandths) / 10**5).quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
    assert Decimal(half_up(Fraction(thousandths, 10**5), decimals)) == wanted


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), min_size=1, max_size=50))
def test_means_and_ratios_are_exact(pairs: list[tuple[int, int]]) -> None:
    rows: list[Row] = [{"a": a / b, "n": float(a), "d": float(b)} for a, b in pairs]
    assert exact(mean_of("a"), rows) == sum(Fraction(a, b) for a, b in pairs) / len(pairs)
    assert exact(ratio_of("r", "n", "d"), rows) == Fraction(sum(a for a, _ in pairs), sum(b for _, b in pairs))


def test_what_is_undefined_stays_so() -> None:
    assert exact(mean_of("a"), [{"a": None}, {}]) is None
    assert exact(ratio_of("r", "n", "d"), [{"n": 0.0, "d": 0.0}]) is None
    assert exact(mean_of("a"), [{"a": None}, {"a": 0.5}]) == Fraction(1, 2)
