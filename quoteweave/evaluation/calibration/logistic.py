"""Logistic regression with an L2 penalty, for a few signals and up to some thousand questions."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]
    Matrix = NDArray[np.float64]

STEPS = 100
TOLERANCE = 1e-10
L2 = 1.0
"""The penalty: what scikit-learn calls C is one over it."""


def fit(rows: "Matrix", right: "Vector", *, l2: float = L2) -> tuple[float, "Vector"]:
    """Intercept and weights that make `right` (n of 0 or 1) most likely given `rows` (n × signals, standardised).

    They minimise the sum of log losses and l2 / 2 · ‖weights‖²; the intercept is not penalised. Both 0 and 1 must come.
    """
    import numpy as np

    with_intercept = np.hstack([np.ones((len(rows), 1)), rows])
    penalty = np.array([0.0, *[l2] * rows.shape[1]])
    found = _newton(with_intercept, right, penalty, offset=0.0, start=np.zeros(len(penalty)))
    return float(found[0]), found[1:]


def left_out(rows: "Matrix", right: "Vector", intercept: float, weights: "Vector", *, l2: float = L2) -> "Vector":
    """The log-odds of each row by the weights of all other rows (leave-one-out), so that none is judged by itself.

    The intercept stays that of all rows. Fitted anew it would be lower without a right row and higher without a wrong
    one, and signals that say nothing would seem to be wrong each time.
    """
    import numpy as np

    penalty = np.full(rows.shape[1], l2)
    found = np.empty(len(rows))
    for place, row in enumerate(rows):
        others = np.arange(len(rows)) != place
        own = _newton(rows[others], right[others], penalty, offset=intercept, start=weights)
        found[place] = intercept + own @ row
    return found


def _newton(rows: "Matrix", right: "Vector", penalty: "Vector", *, offset: float, start: "Vector") -> "Vector":
    """Newton's method, steps halved where they would not lower the loss, which is convex."""
    import numpy as np

    def loss(at: "Vector") -> float:
        odds = offset + rows @ at
        return float(np.logaddexp(0, odds).sum() - right @ odds + penalty @ at**2 / 2)

    at, lowest = start, loss(start)
    for _ in range(STEPS):
        chances = (1 + np.tanh((offset + rows @ at) / 2)) / 2
        gradient = rows.T @ (chances - right) + penalty * at
        curvature = (rows.T * (chances * (1 - chances))) @ rows + np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        while (lower := loss(at - step)) > lowest and np.abs(step).max() > TOLERANCE:
            step = step / 2
        if np.abs(step).max(initial=0.0) <= TOLERANCE:
            break
        at, lowest = at - step, lower
    return at
