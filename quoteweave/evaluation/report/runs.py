"""Score and compare the runs of a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from quoteweave.core.chat.usage import PriceLookup
from quoteweave.core.errors import UsageError
from quoteweave.core.examples import Example, Prediction
from quoteweave.evaluation.datasets import load_dataset
from quoteweave.evaluation.report.labels import MAIN
from quoteweave.evaluation.scoring.comparison import Comparison, compare_scores, run_names
from quoteweave.evaluation.scoring.saved_runs import (
    HEADLINE,
    LoadedRun,
    ScoringRequest,
    compared_figures,
    load_run,
    score_otherwise,
    score_run,
    scoring_notes,
)
from quoteweave.evaluation.scoring.scorer import convention_differences
from quoteweave.evaluation.scoring.scores import Scores
from quoteweave.evaluation.statistics.aggregates import Aggregate
from quoteweave.evaluation.statistics.intervals import Intervals, cluster_intervals
from quoteweave.evaluation.statistics.paired_tests import holm


@dataclass(frozen=True, slots=True)
class RunReport:
    """One run: its scores, the figures that differ by the other convention, and its contents."""

    path: Path
    scores: Scores
    other: Scores
    aggregates: Mapping[str, Aggregate]
    examples: Mapping[str, Example]
    predictions: Mapping[str, Prediction]

    @property
    def name(self) -> str:
        """The name of the run in the report, which no other run has."""
        return self.scores.name

    def value(self, figure: str) -> float | None:
        """The figure over all questions that count; None if it is undefined or not known."""
        estimate = self.scores.figures.get(figure)
        return None if estimate is None else estimate.value


@dataclass(frozen=True, slots=True)
class Report:
    """Runs over one dataset, in the given order; `comparisons` are of each later run with the first."""

    runs: Sequence[RunReport]
    comparisons: Sequence[Comparison]

    @property
    def first(self) -> Scores:
        """The scores of the first run, with which the others are compared; all have its dataset and convention."""
        return self.runs[0].scores

    @property
    def main(self) -> str | None:
        """The figure for plots and breakdowns; None if the runs have none of the possible ones."""
        return next((name for name in MAIN if any(run.value(name) is not None for run in self.runs)), None)

    @property
    def breakdowns(self) -> list[str]:
        """The breakdowns that any run has."""
        return list(dict.fromkeys(name for run in self.runs for name in run.scores.breakdowns))

    def known(self, figures: Sequence[str] | Mapping[str, str]) -> list[str]:
        """The named figures that at least one run has."""
        return [name for name in figures if any(run.value(name) is not None for run in self.runs)]


def make_report(
    requests: Sequence[ScoringRequest],
    *,
    intervals: Intervals = cluster_intervals,
    prices: PriceLookup = lambda _: None,
) -> Report:
    """Score each run and compare the later ones with the first. `prices` looks up models' prices.

    All runs are over the dataset and references of the first, which are read once.

    Raises UsageError without any run and for a run that is named twice, DatasetError for files that cannot be read.

        >>> request = ScoringRequest(run="ours.jsonl", dataset="mmdocrag-20", references="gold.jsonl")
        >>> make_report([request]).runs[0].name
        'ours'
    """
    paths = [request.run for request in requests]
    if not paths:
        raise UsageError("a report needs a run; name at least one")
    if len(set(paths)) != len(paths):
        raise UsageError("a run is named twice; name each run once")
    examples = load_dataset(requests[0].dataset, requests[0].references)
    runs = [
        _scored(request, load_run(request, examples), name, intervals=intervals, prices=prices)
        for request, name in zip(requests, run_names(paths), strict=True)
    ]
    return Report(runs, _compared(runs))


def _scored(
    request: ScoringRequest, loaded: LoadedRun, name: str, *, intervals: Intervals, prices: PriceLookup
) -> RunReport:
    scored = score_run(loaded, request, intervals=intervals, prices=prices)
    other = score_otherwise(loaded, request)
    # The figures that differ between the two conventions have their own table.
    apart = convention_differences(scored.scores, other, HEADLINE)
    notes = tuple(note for note in scoring_notes(scored.scores, other, loaded, request) if note not in apart)
    return RunReport(
        path=request.run,
        scores=scored.scores.model_copy(update={"name": name, "notes": notes}),
        other=other.model_copy(update={"name": name}),
        aggregates=scored.aggregates,
        examples={example.id: example for example in loaded.examples},
        predictions={prediction.example: prediction for prediction in loaded.predictions},
    )


def _compared(runs: Sequence[RunReport]) -> list[Comparison]:
    """Compare each later run with the first; p values are corrected over all of these comparisons together."""
    if len(runs) < 2:
        return []
    figures = [runs[0].aggregates[name] for name in compared_figures([run.scores for run in runs])]
    comparisons = [
        comparison for run in runs[1:] for comparison in compare_scores([run.scores, runs[0].scores], figures)
    ]
    corrected = holm([comparison.p for comparison in comparisons])
    return [comparison.model_copy(update={"p_holm": p}) for comparison, p in zip(comparisons, corrected, strict=True)]
