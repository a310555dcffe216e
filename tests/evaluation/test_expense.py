"""Words, tokens, dollars and seconds, and where they are not known."""

import pytest
from made_answers import gold
from made_selection import answered

from quoteweave.core.answers import Usage
from quoteweave.core.chat.usage import Price
from quoteweave.evaluation.metrics.answers.expense import Expense, Latency

GPT = Price(input=2, output=8)


def by_model(name: str | None) -> Price | None:
    return GPT if name == "gpt" else None


def test_words_of_the_answer_alone_and_a_price_by_model() -> None:
    metric = Expense("own", by_model)
    took = {"model": "gpt", "usage": Usage(input_tokens=1000, output_tokens=500)}
    row = metric.row(answered("<think>hm hm</think>It rose [1], a lot.").model_copy(update=took), gold())
    assert row == {
        "words": 4,
        "words.squared": 16,
        "tokens.input": 1000,
        "tokens.output": 500,
        "usd": pytest.approx(0.006),
    }


@pytest.mark.parametrize(
    ("model", "usage"),
    [("other", Usage(input_tokens=1, output_tokens=1)), ("gpt", Usage(input_tokens=1)), ("gpt", Usage())],
)
def test_a_price_needs_a_known_model_and_both_counts(model: str, usage: Usage) -> None:
    prediction = answered("x").model_copy(update={"model": model, "usage": usage})
    assert Expense("own", by_model).row(prediction, gold())["usd"] is None


def test_the_mean_and_the_sum_of_prices() -> None:
    metric = Expense("own", lambda _: GPT)
    rows = [
        metric.row(answered(None).model_copy(update={"usage": Usage(input_tokens=n, output_tokens=0)}), gold())
        for n in (1_000_000, 3_000_000)
    ]
    figures = {figure.name: figure.of(rows) for figure in metric.aggregates}
    assert (figures["usd"], figures["usd.total"], figures["tokens.input"]) == (4, 8, 2_000_000)
    assert figures["words"] is None


def test_seconds_and_the_share_of_answers_within_some() -> None:
    metric = Latency()
    rows = [metric.row(answered("x").model_copy(update={"seconds": took}), gold()) for took in (0.5, 5.0, 40.5, None)]
    assert {figure.name: figure.of(rows) for figure in metric.aggregates} == {
        **{"seconds": 46 / 3, "seconds.total": 46},
        **{"within_1s": 1 / 3, "within_5s": 2 / 3, "within_10s": 2 / 3, "within_30s": 2 / 3, "within_60s": 1},
    }
    assert metric.aggregates[0].undefined(rows) == 1
