"""Risk–coverage curves of selective answering, their area, and the threshold to choose on them.

Coverage is the share of answers that is given, risk the share of these that is wrong (Geifman and El-Yaniv, Selective
Classification for Deep Neural Networks, 2017). The area under the curve is the mean, over all answers, of the risk
where the threshold is that answer's own confidence (Geifman, Uziel and El-Yaniv, Bias-Reduced Uncertainty Estimation
for Deep Neural Classifiers, 2019); answers of the same confidence are given together or not at all.
"""

import math
from collections.abc import Sequence

from quoteweave.core.confidence import RiskCoveragePoint

LEVEL = 0.95
_HALVINGS = 60


def risk_coverage(confidences: Sequence[float], right: Sequence[bool]) -> tuple[RiskCoveragePoint, ...]:
    """A point for each confidence that occurs, from the greatest to the least; the last gives all answers.

    Empty without answers. Raises ValueError for sequences of unequal length.
    """
    ranked = sorted(zip(confidences, right, strict=True), key=lambda one: -one[0])
    points, wrong = [], 0
    for given, (confidence, is_right) in enumerate(ranked, start=1):
        wrong += not is_right
        if given == len(ranked) or ranked[given][0] < confidence:
            coverage, risk = given / len(ranked), wrong / given
            points.append(RiskCoveragePoint(threshold=confidence, answers=given, coverage=coverage, risk=risk))
    return tuple(points)


def area(curve: Sequence[RiskCoveragePoint]) -> float | None:
    """AURC, from 0 (best) to 1; None without answers, where it is undefined."""
    if not curve:
        return None
    before = [0, *(point.answers for point in curve)]
    shares = zip(curve, before, strict=False)
    return math.fsum((point.answers - fewer) * point.risk for point, fewer in shares) / curve[-1].answers


def optimal_area(right: Sequence[bool]) -> float | None:
    """The AURC were every right answer surer than every wrong one: what no confidence can be better than."""
    ranked = sorted(right, reverse=True)
    return area(risk_coverage([1 / place for place in range(1, len(ranked) + 1)], ranked))


def greatest_coverage(curve: Sequence[RiskCoveragePoint], risk: float) -> RiskCoveragePoint | None:
    """The point with the most coverage whose risk is at most `risk`; None where none is."""
    return next((point for point in reversed(curve) if point.risk <= risk), None)


def risk_upper_bound(wrong: int, answers: int, *, level: float = LEVEL) -> float:
    """The risk on new questions is no greater than this with so much confidence, one-sided (Clopper and Pearson 1934).

    The greatest chance p at which `wrong` or fewer of `answers` would be wrong with probability 1 - `level`.
    """
    if wrong >= answers:
        return 1.0
    low, high = wrong / answers, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _at_most(wrong, answers, middle) > 1 - level else (low, middle)
    return high


def _at_most(wrong: int, answers: int, chance: float) -> float:
    """The chance that `wrong` or fewer of `answers` are wrong where each is with this chance, above 0 and below 1."""
    ways = (math.lgamma(answers + 1) - math.lgamma(k + 1) - math.lgamma(answers - k + 1) for k in range(wrong + 1))
    kept, lost = math.log(chance), math.log1p(-chance)
    return math.fsum(math.exp(way + k * kept + (answers - k) * lost) for k, way in enumerate(ways))
