"""Compare two judges by the figures and the ranks that they give to several runs (MCiteBench, Table 13).

MCiteBench (arXiv 2503.02589, appendix D.1 and Table 13) has two judges grade the answers of four models to the same 90
questions, and asks whether the models' order stays. Here both figures of a run are of the same answers: those of which
both judges gave what the figure needs. By `strict` a grade that failed leaves its answer out of both.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from pydantic import Field

from quoteweave.core.errors import UsageError
from quoteweave.core.records import Record
from quoteweave.evaluation.judges.agreement import EvidenceAgreement, entailment_agreement
from quoteweave.evaluation.judges.batch import JudgingItem
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.metrics.registry import MetricOptions, evidence_metrics
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run's answers, and what two judges said of them, by example."""

    name: str
    items: Sequence[JudgingItem]
    first: Mapping[str, EvidenceVerdict]
    second: Mapping[str, EvidenceVerdict]


class RunByJudges(Record):
    """One run's figure by each judge, and its ranks, from 1; equal figures share the mean of their ranks."""

    name: str
    n: int = Field(description="answers of which the figure is defined by both judges")
    first: float | None
    second: float | None
    first_rank: float | None
    second_rank: float | None
    agreement: EvidenceAgreement | None = Field(
        description="of the first with the second on sentences; None where no sentence was judged by both"
    )


class JudgeComparison(Record):
    """Several runs by two judges."""

    figure: str
    runs: tuple[RunByJudges, ...]
    kendall: float | None = Field(
        description="tau-b of the two rows of figures; None for fewer than two runs, and where one judge ties all"
    )
    same_order: bool | None = Field(description="whether both judges order the runs alike; None for fewer than two")


def compare_judges(
    runs: Sequence[JudgedRun], *, figure: str = "accuracy", convention: Convention = "strict"
) -> JudgeComparison:
    """The figures, ranks and agreement. Raises UsageError for a figure that these verdicts do not give."""
    found = [_figures(run, figure, convention) for run in runs]
    ranks = [_ranks([values[place] for _, *values in found]) for place in (0, 1)]
    known = [(one, other) for _, one, other in found if one is not None and other is not None]
    orders = [_order(one, other) for one, other in combinations(known, 2)]
    return JudgeComparison(
        figure=figure,
        runs=tuple(
            RunByJudges(
                name=run.name,
                n=n,
                first=first,
                second=second,
                first_rank=ranks[0][place],
                second_rank=ranks[1][place],
                agreement=_sentences(run),
            )
            for place, (run, (n, first, second)) in enumerate(zip(runs, found, strict=True))
        ),
        kendall=_kendall(orders),
        same_order=None if not orders else all(one == other for one, other in orders),
    )


def _figures(run: JudgedRun, figure: str, convention: Convention) -> tuple[int, float | None, float | None]:
    """Over how many answers, and the figure by each judge: of those whose row is defined by both."""
    shared = run.first.keys() & run.second.keys()
    items = [item for item in run.items if item[1].id in shared]
    (one, first), (other, second) = (
        _rows({name: verdicts[name] for name in shared}, items, figure, convention)
        for verdicts in (run.first, run.second)
    )
    pairs = [
        rows for rows in zip(first, second, strict=True) if None not in (one.values(rows[0]), other.values(rows[1]))
    ]
    return len(pairs), one.of([row for row, _ in pairs]), other.of([row for _, row in pairs])


def _rows(
    shared: Mapping[str, EvidenceVerdict], items: Sequence[JudgingItem], figure: str, convention: Convention
) -> tuple[Aggregate, list[Row]]:
    """The aggregate of that name, and the rows that it is over."""
    metrics = evidence_metrics(shared, MetricOptions(convention=convention))
    aggregates = {aggregate.name: (metric, aggregate) for metric in metrics for aggregate in metric.aggregates}
    if figure not in aggregates:
        raise UsageError(f"these verdicts give no figure {figure!r}; there are: {', '.join(aggregates)}")
    metric, aggregate = aggregates[figure]
    return aggregate, [metric.row(*item) for item in items]


def _sentences(run: JudgedRun) -> EvidenceAgreement | None:
    found = entailment_agreement(run.first, run.second, [example for _, example in run.items])
    return found if found.figures else None


def _ranks(values: Sequence[float | None]) -> list[float | None]:
    known = [value for value in values if value is not None]
    return [
        None
        if value is None
        else 1 + sum(other > value for other in known) + (sum(other == value for other in known) - 1) / 2
        for value in values
    ]


def _order(one: tuple[float, float], other: tuple[float, float]) -> tuple[int, int]:
    """The signs of two runs' differences by each judge."""
    signs = [(a > b) - (a < b) for a, b in zip(one, other, strict=True)]
    return signs[0], signs[1]


def _kendall(orders: Sequence[tuple[int, int]]) -> float | None:
    """Tau-b (Kendall, Biometrika 33, 1945): concordant less discordant pairs, over the root of those untied by each."""
    untied = [sum(order[place] != 0 for order in orders) for place in (0, 1)]
    return sum(one * other for one, other in orders) / math.sqrt(untied[0] * untied[1]) if all(untied) else None
