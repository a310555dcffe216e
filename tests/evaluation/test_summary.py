"""Means leave undefined values out, and count them."""

from quoteweave.evaluation.metrics.summary import Row, mean_over_questions, undefined

ROWS: list[Row] = [{"a": 1.0, "b": None}, {"a": 0.0, "b": None}, {"a": None, "b": None}]


def test_undefined_is_not_zero() -> None:
    assert mean_over_questions(ROWS, ("a", "b")) == {"a": 0.5, "b": None}
    assert undefined(ROWS, ("a", "b")) == {"a": 1, "b": 3}


def test_no_questions_have_no_mean() -> None:
    assert mean_over_questions([], ("a",)) == {"a": None}
    assert undefined([], ("a",)) == {"a": 0}
