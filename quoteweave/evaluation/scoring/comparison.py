"""Compare runs over the same questions: paired differences, intervals, tests; and two judges of them.

Runs are named by what distinguishes them: their model, retriever or other settings, or else their paths.

MCiteBench (arXiv 2503.02589, appendix D.1 and Table 13) has two judges grade the answers of four models to the same 90
questions, and asks whether the order of the models stays the same. Here both figures of a run are over the same
answers: those for which both judges gave what the figure needs. By `strict`, a failed grade leaves its answer out of
both.
"""

import itertools
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from quoteweave.core.errors import DatasetError, UsageError
from quoteweave.core.records import Record
from quoteweave.core.runs import RUN_FILE, read_run_record
from quoteweave.evaluation.judges.agreement import EvidenceAgreement, entailment_agreement
from quoteweave.evaluation.judges.batch import JudgingItem
from quoteweave.evaluation.judges.evidence_verdicts import EvidenceVerdict
from quoteweave.evaluation.metrics.metric import Convention
from quoteweave.evaluation.metrics.registry import MetricOptions, evidence_metrics
from quoteweave.evaluation.scoring.scores import ScoredQuestion, Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate, Row, defined
from quoteweave.evaluation.statistics.intervals import jackknife_estimate
from quoteweave.evaluation.statistics.paired_tests import (
    FIRST,
    SECOND,
    difference_of,
    holm,
    joint,
    standardised,
)

_SUFFIXES = (".gz", ".jsonl", ".json")
_MAX_SETTINGS = 3
"""If runs differ in more settings than this, their names would be longer than their paths."""
_BY_VALUE = ("model", "retriever", "sentence_scorer")
"""Settings whose values can be understood without the setting's name."""


def run_names(paths: Sequence[Path]) -> list[str]:
    """Distinct names for saved runs.

    Run folders are named by the settings in which their records differ, such as `gpt-4.1` and `qwen3-8b`, or `images
    true` and `images false`. Files, and folders that differ in nothing or in more than three settings, are named by
    their file names without the ending that all share (`gpt-4.1_multimodal` for
    `gpt-4.1_multimodal_quotes20.jsonl.gz`); if file names are the same, by the part of their paths that differs, and if
    there is none, by their whole paths. A single run is named by its file name. Raises DatasetError for a run folder
    whose record cannot be read.

        >>> run_names([Path("gpt/answers.jsonl"), Path("qwen/answers.jsonl")])
        ['gpt', 'qwen']
    """
    for names in (_by_settings(paths), _by_file_name(paths), _by_differing_part(paths)):
        if all(names) and len(set(names)) == len(paths):
            return names
    return [str(path) for path in paths]


def _by_settings(paths: Sequence[Path]) -> list[str]:
    if len(paths) < 2 or not all((path / RUN_FILE).is_file() for path in paths):
        return []
    configs = [read_run_record(path).configuration for path in paths]
    keys = dict.fromkeys(key for config in configs for key in config)
    differing = [key for key in keys if any(config.get(key) != configs[0].get(key) for config in configs)]
    if len(differing) > _MAX_SETTINGS:
        return []
    shown_keys = sorted(differing, key=lambda key: key not in _BY_VALUE)
    values = {key: [config.get(key) for config in configs] for key in shown_keys}
    return [", ".join(_setting(key, config.get(key), values[key]) for key in shown_keys) for config in configs]


def _setting(key: str, value: object, values: Sequence[object]) -> str:
    """The setting in words. An unset one is named by the others' values, since `no captions` would mean false."""
    if value is None:
        named = all(isinstance(other, str | list | None) for other in values)
        return f"no {key}" if named else f"{key} not set"
    parts = value if isinstance(value, list) else [value]
    listed = ", ".join(part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts)
    return listed if key in _BY_VALUE else f"{key} {listed}"


def _by_file_name(paths: Sequence[Path]) -> list[str]:
    names = [_stem(path.name) for path in paths]
    if len(set(names)) < len(names):
        return names
    parts = [name.split("_") for name in names]
    while len(parts) > 1 and all(len(part) > 1 and part[-1] == parts[0][-1] for part in parts):
        parts = [part[:-1] for part in parts]
    return ["_".join(part) for part in parts]


def _by_differing_part(paths: Sequence[Path]) -> list[str]:
    parts = [path.parts for path in paths]
    while all(parts) and all(path_parts[0] == parts[0][0] for path_parts in parts):
        parts = [path_parts[1:] for path_parts in parts]
    while all(parts) and all(path_parts[-1] == parts[0][-1] for path_parts in parts):
        parts = [path_parts[:-1] for path_parts in parts]
    return ["/".join(path_parts) for path_parts in parts]


def _stem(name: str) -> str:
    for suffix in _SUFFIXES:
        name = name.removesuffix(suffix)
    return name


class Comparison(Record):
    """One figure of two runs, over the questions that count in both.

    >>> requests = [
    ...     ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl")
    ...     for run in ("ours.jsonl", "theirs.jsonl")
    ... ]
    >>> compare([score(request, intervals=None) for request in requests], ["overall.recall"])[0].n
    4
    """

    figure: str = Field(description="the name of the figure")
    first: str = Field(description="name of a run")
    second: str = Field(description="name of a run")
    first_value: float | None = Field(description="the first run's figure over the questions that count in both")
    second_value: float | None = Field(description="the second run's, likewise")
    difference: float | None = Field(
        description="first less second, where `relative` was asked for over the second; None where undefined"
    )
    low: float | None = Field(description="95 % interval of the difference, over clusters")
    high: float | None = Field(description="upper bound of the difference")
    p: float | None = Field(description="two-sided, were the difference 0: below 0.05 where the interval excludes 0")
    p_holm: float | None = Field(default=None, description="corrected for all the comparisons that were made")
    effect: float | None = Field(description="mean over standard deviation of the differences; None of pooled figures")
    n: int = Field(ge=0, description="questions that count in both")
    clusters: int = Field(ge=0, description="documents, or questions of none, that these come from")
    left_out: int = Field(ge=0, description="questions that count in only one, or in which the figure is undefined")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Both ends of the interval of the difference; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)


def compare_scores(
    runs: Sequence[Scores],
    figures: Sequence[Aggregate],
    *,
    relative: bool = False,
) -> tuple[Comparison, ...]:
    """Compare every pair of runs by every figure; p values are corrected by Holm's method over all of these together.

    `relative` gives differences, with their intervals and p values, as shares of the second run's figure; effects
    always refer to the plain difference.

    Raises DatasetError for runs that were not scored alike: over different datasets, or by another convention or
    grammar of marks.
    """
    for run in runs[1:]:
        _check_alike(runs[0], run)
    comparisons = [
        _compare_pair(pair, figure, relative=relative) for pair in itertools.combinations(runs, 2) for figure in figures
    ]
    corrected = holm([comparison.p for comparison in comparisons])
    return tuple(
        comparison.model_copy(update={"p_holm": p}) for comparison, p in zip(comparisons, corrected, strict=True)
    )


class _Paired(NamedTuple):
    """Joint rows of the questions that count in both runs, and their clusters."""

    rows: list[Row]
    clusters: list[str]
    apart: int


def _compare_pair(pair: tuple[Scores, Scores], figure: Aggregate, *, relative: bool) -> Comparison:
    paired = _paired(*pair)
    difference, shown_difference = difference_of(figure), difference_of(figure, relative=relative)
    estimate = jackknife_estimate(shown_difference, paired.rows, paired.clusters)
    counts = [values is not None for values in difference.values(paired.rows)]
    defined_rows = list(itertools.compress(paired.rows, counts))
    first, second = (
        figure.of([{name: row[side + name] for name in figure.columns if side + name in row} for row in defined_rows])
        for side in (FIRST, SECOND)
    )
    low, high = (None if estimate is None else estimate.interval()) or (None, None)
    return Comparison(
        figure=figure.name,
        first=pair[0].name,
        second=pair[1].name,
        first_value=first,
        second_value=second,
        difference=shown_difference.of(defined_rows),
        low=low,
        high=high,
        p=None if estimate is None else estimate.p(),
        effect=_effect(difference, defined_rows) if len(figure.columns) == 1 else None,
        n=len(defined_rows),
        clusters=len(set(itertools.compress(paired.clusters, counts))),
        left_out=len(paired.rows) - len(defined_rows) + paired.apart,
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
    for setting in ("dataset", "convention", "marks"):
        first_value, other_value = getattr(first, setting), getattr(other, setting)
        if first_value != other_value:
            raise DatasetError(
                f"{first.name} and {other.name} cannot be compared: {setting} {first_value!r} and {other_value!r}"
            )


@dataclass(frozen=True, slots=True)
class JudgedRun:
    """A run's answers, and the verdicts of two judges on them, by example."""

    name: str
    items: Sequence[JudgingItem]
    first: Mapping[str, EvidenceVerdict]
    second: Mapping[str, EvidenceVerdict]


class RunByJudges(Record):
    """One run's figure by each judge, and its ranks from 1; equal figures share their mean rank."""

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
    """Several runs as graded by two judges."""

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
    figures_of_runs = [_figure_by_both(run, figure, convention) for run in runs]
    ranks = [_ranks([values[position] for _, *values in figures_of_runs]) for position in (0, 1)]
    figure_pairs = [(first, second) for _, first, second in figures_of_runs if first is not None and second is not None]
    orders = [_order(first, second) for first, second in combinations(figure_pairs, 2)]
    return JudgeComparison(
        figure=figure,
        runs=tuple(
            RunByJudges(
                name=run.name,
                n=n,
                first=first,
                second=second,
                first_rank=ranks[0][position],
                second_rank=ranks[1][position],
                agreement=_sentence_agreement(run),
            )
            for position, (run, (n, first, second)) in enumerate(zip(runs, figures_of_runs, strict=True))
        ),
        kendall=_kendall(orders),
        same_order=None if not orders else all(by_first == by_second for by_first, by_second in orders),
    )


def _figure_by_both(run: JudgedRun, figure: str, convention: Convention) -> tuple[int, float | None, float | None]:
    """The number of answers, and the figure by each judge, over answers whose row is defined by both judges."""
    shared = run.first.keys() & run.second.keys()
    items = [item for item in run.items if item[1].id in shared]
    (first_aggregate, first_rows), (second_aggregate, second_rows) = (
        _rows({name: verdicts[name] for name in shared}, items, figure, convention)
        for verdicts in (run.first, run.second)
    )
    added = zip(first_aggregate.values(first_rows), second_aggregate.values(second_rows), strict=True)
    pairs = [
        rows for rows, sums in zip(zip(first_rows, second_rows, strict=True), added, strict=True) if None not in sums
    ]
    return len(pairs), first_aggregate.of([row for row, _ in pairs]), second_aggregate.of([row for _, row in pairs])


def _rows(
    shared: Mapping[str, EvidenceVerdict], items: Sequence[JudgingItem], figure: str, convention: Convention
) -> tuple[Aggregate, list[Row]]:
    """The aggregate of that name, and the rows over which it is computed."""
    metrics = evidence_metrics(shared, MetricOptions(convention=convention))
    aggregates = {aggregate.name: (metric, aggregate) for metric in metrics for aggregate in metric.aggregates}
    if figure not in aggregates:
        raise UsageError(f"these verdicts give no figure {figure!r}; there are: {', '.join(aggregates)}")
    metric, aggregate = aggregates[figure]
    return aggregate, [metric.row(*item) for item in items]


def _sentence_agreement(run: JudgedRun) -> EvidenceAgreement | None:
    agreement = entailment_agreement(run.first, run.second, [example for _, example in run.items])
    return agreement if agreement.figures else None


def _ranks(values: Sequence[float | None]) -> list[float | None]:
    known = [value for value in values if value is not None]
    return [
        None
        if value is None
        else 1 + sum(other > value for other in known) + (sum(other == value for other in known) - 1) / 2
        for value in values
    ]


def _order(first: tuple[float, float], second: tuple[float, float]) -> tuple[int, int]:
    """The signs of the difference of two runs, by each judge."""
    signs = [(a > b) - (a < b) for a, b in zip(first, second, strict=True)]
    return signs[0], signs[1]


def _kendall(orders: Sequence[tuple[int, int]]) -> float | None:
    """Tau-b (Kendall, Biometrika 33, 1945): concordant less discordant pairs, over the root of those untied by each."""
    untied = [sum(order[place] != 0 for order in orders) for place in (0, 1)]
    if not all(untied):
        return None
    return sum(by_first * by_second for by_first, by_second in orders) / math.sqrt(untied[0] * untied[1])
