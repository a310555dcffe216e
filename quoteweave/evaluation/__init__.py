"""Score retrieval and answers against gold references: metrics, intervals, comparisons, reports.

    from quoteweave.evaluation import ScoringRequest, compare, score

    runs = [score(ScoringRequest(run=run, dataset="mmdocrag-20", references="gold.jsonl")) for run in ("a", "b")]
    for comparison in compare(runs, ["overall.f1"]):
        print(comparison.difference, comparison.p)

Names load their module when they are first used: importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quoteweave.evaluation.datasets import DATASETS, load_dataset
    from quoteweave.evaluation.formats import load_predictions
    from quoteweave.evaluation.metrics.metric import Metric
    from quoteweave.evaluation.metrics.registry import METRICS, MetricOptions, list_metrics
    from quoteweave.evaluation.published import published_table
    from quoteweave.evaluation.published.leaderboard import leaderboard
    from quoteweave.evaluation.report.runs import make_report
    from quoteweave.evaluation.report.writing import write_report
    from quoteweave.evaluation.scoring.comparison import Comparison
    from quoteweave.evaluation.scoring.retrieval import score_retrieval
    from quoteweave.evaluation.scoring.saved_runs import ScoredRun, ScoringRequest, compare, score
    from quoteweave.evaluation.scoring.scorer import ScoringSettings, score_predictions
    from quoteweave.evaluation.scoring.scores import Scores
    from quoteweave.evaluation.statistics.aggregates import Aggregate, mean_of, ratio_of
    from quoteweave.evaluation.statistics.bootstrap import (
        Interval,
        bootstrap_intervals,
        clustered_interval,
        paired_difference,
    )
    from quoteweave.evaluation.statistics.estimates import Estimate
    from quoteweave.evaluation.statistics.paired_tests import holm, paired_test

_HOME = {
    "Aggregate": "statistics.aggregates",
    "Comparison": "scoring.comparison",
    "DATASETS": "datasets",
    "Estimate": "statistics.estimates",
    "Interval": "statistics.bootstrap",
    "METRICS": "metrics.registry",
    "Metric": "metrics.metric",
    "MetricOptions": "metrics.registry",
    "ScoredRun": "scoring.saved_runs",
    "Scores": "scoring.scores",
    "ScoringRequest": "scoring.saved_runs",
    "ScoringSettings": "scoring.scorer",
    "bootstrap_intervals": "statistics.bootstrap",
    "clustered_interval": "statistics.bootstrap",
    "compare": "scoring.saved_runs",
    "holm": "statistics.paired_tests",
    "leaderboard": "published.leaderboard",
    "list_metrics": "metrics.registry",
    "load_dataset": "datasets",
    "load_predictions": "formats",
    "make_report": "report.runs",
    "mean_of": "statistics.aggregates",
    "paired_difference": "statistics.bootstrap",
    "paired_test": "statistics.paired_tests",
    "published_table": "published",
    "ratio_of": "statistics.aggregates",
    "score": "scoring.saved_runs",
    "score_predictions": "scoring.scorer",
    "score_retrieval": "scoring.retrieval",
    "write_report": "report.writing",
}
__all__ = [
    "DATASETS",
    "METRICS",
    "Aggregate",
    "Comparison",
    "Estimate",
    "Interval",
    "Metric",
    "MetricOptions",
    "ScoredRun",
    "Scores",
    "ScoringRequest",
    "ScoringSettings",
    "bootstrap_intervals",
    "clustered_interval",
    "compare",
    "holm",
    "leaderboard",
    "list_metrics",
    "load_dataset",
    "load_predictions",
    "make_report",
    "mean_of",
    "paired_difference",
    "paired_test",
    "published_table",
    "ratio_of",
    "score",
    "score_predictions",
    "score_retrieval",
    "write_report",
]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'quoteweave.evaluation' has no attribute {name!r}")
    return getattr(import_module(f"quoteweave.evaluation.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
