"""Agreement between a judge and human raters, computed from the contingency table of their scores.

`exact` and `within_one`: the share of answers whose two scores are equal, or at most 1 apart.
`kappa`: Cohen's kappa with quadratic weights (Cohen, Psychological Bulletin 70, 1968).
`spearman`: the correlation of ranks, equal scores at their mean rank.
`kendall`: tau-b, which allows for equal scores (Kendall, Biometrika 33, 1945).
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.judgements import ASPECTS, HIGHEST, Judgement, malformed
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row
from quoteweave.evaluation.statistics.bootstrap import Intervals, bootstrap_intervals
from quoteweave.evaluation.statistics.estimates import Estimate, estimates

Sums = NDArray[np.float64]
SIZE = HIGHEST + 1
_APART = np.subtract.outer(np.arange(SIZE), np.arange(SIZE))


class Agreement(Record):
    """A judge's scores beside people's."""

    n: int = Field(ge=0, description="answers that both have scored")
    left_out: int = Field(ge=0, description="answers that one of them alone has scored, or whose scores are malformed")
    figures: Mapping[str, Estimate] = Field(
        description="such as fluency.kappa; intervals are bootstraps that draw questions"
    )


def agreement(
    judge: Mapping[str, Judgement],
    human: Mapping[str, Judgement],
    *,
    intervals: Intervals | None = bootstrap_intervals,
) -> Agreement:
    """Judgements by the names of examples; intervals resample these.

    Raises DatasetError where no answer is scored by both, and for scores that are not whole."""
    both = [name for name in judge if name in human and not malformed(judge[name]) and not malformed(human[name])]
    if not both:
        raise DatasetError("no answer has five scores by both the judge and people; check that the ids agree")
    rows = [_row(judge[name], human[name], name) for name in both]
    figures = [
        Aggregate(f"{aspect}.{name}", _columns(aspect), formula)
        for aspect in ASPECTS
        for name, formula in FORMULAS.items()
    ]
    left_out = len(judge.keys() | human.keys()) - len(both)
    return Agreement(n=len(both), left_out=left_out, figures=estimates(figures, rows, both, intervals))


def _columns(aspect: str) -> tuple[str, ...]:
    """The table's cells, row by row: people's score, then the judge's."""
    return tuple(f"{aspect}.{human}.{judge}" for human in range(SIZE) for judge in range(SIZE))


def _row(judge: Judgement, human: Judgement, name: str) -> Row:
    row = dict.fromkeys((column for aspect in ASPECTS for column in _columns(aspect)), 0.0)
    for aspect, published in ASPECTS.items():
        by_people, by_judge = human[published], judge[published]
        if not (by_people.is_integer() and by_judge.is_integer()):
            raise DatasetError(f"{published} of {name!r} is scored {by_people:g} and {by_judge:g}; it must be whole")
        row[f"{aspect}.{int(by_people)}.{int(by_judge)}"] = 1.0
    return row


def _table(sums: Sums) -> Sums:
    """(SIZE, SIZE, …): how often people gave the one score and the judge the other."""
    return sums[1:].reshape(SIZE, SIZE, *sums.shape[1:])


def _share_within(distance: int) -> Callable[[Sums], Sums]:
    def share(sums: Sums) -> Sums:
        near = np.abs(_APART) <= distance
        found: Sums = _table(sums)[near].sum(axis=0) / sums[0]
        return found

    return share


def _kappa(sums: Sums) -> Sums:
    """1 - Σ w O / Σ w E, with w = (i - j)², O the table and E that of independent scores with its margins."""
    table = _table(sums)
    weights = _APART**2.0
    expected = np.einsum("i...,j...->ij...", table.sum(axis=1), table.sum(axis=0)) / sums[0]
    observed, by_chance = (np.einsum("ij,ij...->...", weights, counts) for counts in (table, expected))
    kappa: Sums = 1 - observed / by_chance
    return kappa


def _spearman(sums: Sums) -> Sums:
    table = _table(sums)
    counts = table.sum(axis=1), table.sum(axis=0)
    # Mean ranks, centred: those below a score, and half of those that share it, less half of all.
    human, judge = (np.cumsum(count, axis=0) - count / 2 - sums[0] / 2 for count in counts)
    spread = (counts[0] * human**2).sum(axis=0) * (counts[1] * judge**2).sum(axis=0)
    rho: Sums = np.einsum("ij...,i...,j...->...", table, human, judge) / np.sqrt(spread)
    return rho


def _kendall(sums: Sums) -> Sums:
    table = _table(sums)
    order = np.sign(_APART).astype(float)
    ordered = np.einsum("ij...,ik,jl,kl...->...", table, order, order, table, optimize=True)
    untied = [sums[0] ** 2 - (count**2).sum(axis=0) for count in (table.sum(axis=1), table.sum(axis=0))]
    tau: Sums = ordered / np.sqrt(untied[0] * untied[1])
    return tau


FORMULAS: Mapping[str, Callable[[Sums], Sums]] = {
    "exact": _share_within(0),
    "within_one": _share_within(1),
    "kappa": _kappa,
    "spearman": _spearman,
    "kendall": _kendall,
}
