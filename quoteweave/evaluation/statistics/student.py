"""Student's t distribution with a whole number of degrees of freedom."""

import math
from functools import lru_cache


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
