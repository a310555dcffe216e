"""Estimates of aggregates: value, interval, and the number of questions behind them."""

from collections.abc import Sequence

from pydantic import Field

from quoteweave.core.records import Record
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row
from quoteweave.evaluation.statistics.bootstrap import RESAMPLES, Intervals


class Estimate(Record):
    """One figure over some questions.

    >>> estimates([mean_of("recall")], [{"recall": 1.0}, {"recall": None}], ["a.pdf", "b.pdf"])["recall"]
    Estimate(value=1.0, low=None, high=None, n=1, undefined=1)
    """

    value: float | None = Field(description="a fraction unless the figure's name says otherwise; None where undefined")
    low: float | None = Field(default=None, description="lower end of the 95 % interval, where one was made")
    high: float | None = None
    n: int = Field(ge=0, description="questions that count in it")
    undefined: int = Field(default=0, ge=0, description="questions where it is undefined, left out")


def estimates(
    figures: Sequence[Aggregate],
    rows: Sequence[Row],
    clusters: Sequence[str],
    intervals: Intervals | None = None,
    *,
    resamples: int = RESAMPLES,
) -> dict[str, Estimate]:
    """Each figure of these rows, with an interval where asked for. One that is nowhere defined is left out."""
    known = [figure for figure in figures if figure.undefined(rows) < len(rows)]
    bounds = {} if intervals is None else intervals(known, rows, clusters, resamples=resamples)
    return {figure.name: _estimate(figure, rows, bounds.get(figure.name)) for figure in known}


def _estimate(figure: Aggregate, rows: Sequence[Row], bounds: tuple[float, float] | None) -> Estimate:
    undefined = figure.undefined(rows)
    low, high = bounds or (None, None)
    return Estimate(value=figure.of(rows), low=low, high=high, n=len(rows) - undefined, undefined=undefined)
