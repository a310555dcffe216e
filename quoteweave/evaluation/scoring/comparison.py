"""Compare runs over the same questions: paired differences, intervals, permutation tests."""

import itertools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import Field

from quoteweave.core.errors import DatasetError
from quoteweave.core.records import Record
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, defined
from quoteweave.evaluation.statistics.bootstrap import bootstrap_intervals
from quoteweave.evaluation.statistics.paired_tests import (
    FIRST,
    PERMUTATIONS,
    SECOND,
    difference_of,
    holm,
    joint,
    least_p,
    permutation_test,
    standardised,
)


class Comparison(Record):
    """One figure of two runs, over the questions that count in both.

    >>> requests = [
    ...     ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl")
    ...     for run in ("ours.jsonl", "theirs.jsonl")
    ... ]
    >>> compare([score(request, intervals=None) for request in requests], ["overall.recall"])[0].n
    4
    """

    figure: str
    first: str = Field(description="name of a run")
    second: str
    first_value: float | None
    second_value: float | None
    difference: float | None = Field(
        description="first less second, where `relative` was asked for over the second; None where undefined"
    )
    low: float | None = Field(description="95 % bootstrap interval of the difference, clusters resampled in both alike")
    high: float | None
    p: float | None = Field(description="two-sided permutation test, rows swapped within clusters")
    p_holm: float | None = Field(default=None, description="corrected for all the comparisons that were made")
    at_floor: bool = Field(
        default=False, description="no permutation came as far as what was seen: p is at most what is given"
    )
    effect: float | None = Field(description="mean over standard deviation of the differences; None of pooled figures")
    n: int = Field(ge=0, description="questions that count in both")
    left_out: int = Field(ge=0, description="questions that count in only one, or in which the figure is undefined")


def compare_scores(
    runs: Sequence[Scores],
    figures: Sequence[Aggregate],
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    relative: bool = False,
) -> tuple[Comparison, ...]:
    """Every pair of runs by every figure; p values corrected by Holm's method over all of these together.

    `relative` gives differences and their intervals as shares of the second run's figure; p values and effects are of
    the plain difference.

    Raises DatasetError for runs that were not scored alike: of another dataset, convention or grammar of marks.
    """
    for run in runs[1:]:
        _check_alike(runs[0], run)
    found = [
        _compared(pair, figure, permutations, seed, relative=relative)
        for pair in itertools.combinations(runs, 2)
        for figure in figures
    ]
    corrected = holm([comparison.p for comparison in found])
    return tuple(comparison.model_copy(update={"p_holm": p}) for comparison, p in zip(found, corrected, strict=True))


class _Paired(NamedTuple):
    """Joint rows of the questions that count in both runs, and their clusters."""

    rows: list[Row]
    clusters: list[str]
    apart: int


def _compared(
    pair: tuple[Scores, Scores], figure: Aggregate, permutations: int, seed: int, *, relative: bool
) -> Comparison:
    paired = _paired(*pair)
    difference, shown = difference_of(figure), difference_of(figure, relative=relative)
    bounds = bootstrap_intervals([shown], paired.rows, paired.clusters, seed=seed)[figure.name]
    p = permutation_test(difference, paired.rows, paired.clusters, permutations=permutations, seed=seed)
    known = [row for row in paired.rows if difference.undefined([row]) == 0]
    first, second = (
        figure.of([{name: row[side + name] for name in figure.columns if side + name in row} for row in known])
        for side in (FIRST, SECOND)
    )
    low, high = bounds or (None, None)
    return Comparison(
        figure=figure.name,
        first=pair[0].name,
        second=pair[1].name,
        first_value=first,
        second_value=second,
        difference=shown.of(known),
        low=low,
        high=high,
        p=p,
        at_floor=p is not None and p <= least_p(permutations),
        effect=_effect(difference, known) if len(figure.columns) == 1 else None,
        n=len(known),
        left_out=len(paired.rows) - len(known) + paired.apart,
    )


def _effect(difference: Aggregate, rows: Sequence[Row]) -> float | None:
    values = [value for row in rows if (value := defined(difference.evaluate(difference.matrix([row])[0]))) is not None]
    return standardised(values)


def _paired(ours: Scores, theirs: Scores) -> _Paired:
    first, second = _counting(ours), _counting(theirs)
    shared = [name for name in first if name in second]
    rows = [joint(first[name].columns(), second[name].columns()) for name in shared]
    apart = len(first) + len(second) - 2 * len(shared)
    return _Paired(rows, [first[name].cluster for name in shared], apart)


def _counting(scores: Scores) -> Mapping[str, ScoredQuestion]:
    return {question.example: question for question in scores.questions if question.counts_by(scores.convention)}


def _check_alike(first: Scores, other: Scores) -> None:
    for what in ("dataset", "convention", "marks"):
        here, there = getattr(first, what), getattr(other, what)
        if here != there:
            raise DatasetError(f"{first.name} and {other.name} cannot be compared: {what} {here!r} and {there!r}")
