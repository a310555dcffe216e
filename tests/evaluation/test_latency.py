"""Seconds from question to answer, as runs record them."""

from made_answers import gold
from made_selection import answered

from quoteweave.evaluation.metrics.answers.expense import Latency


def test_seconds_and_the_share_of_answers_within_some() -> None:
    metric = Latency()
    rows = [metric.row(answered("x").model_copy(update={"seconds": took}), gold()) for took in (0.5, 5.0, 40.5, None)]
    assert {figure.name: figure.of(rows) for figure in metric.aggregates} == {
        **{"seconds": 46 / 3, "seconds.total": 46},
        **{"within_1s": 1 / 3, "within_5s": 2 / 3, "within_10s": 2 / 3, "within_30s": 2 / 3, "within_60s": 1},
    }
    assert metric.aggregates[0].undefined(rows) == 1
