"""Exact match and token F1: examples worked out by hand, and properties for any texts."""

import pytest
from hypothesis import given
from made_answers import PROSE, gold
from made_selection import answered

from quoteweave.evaluation.metrics.answers.short_answer import ShortAnswer

METRIC = ShortAnswer("own")


@pytest.mark.parametrize(
    ("answer", "golden", "exact", "f1"),
    [
        ("The Eiffel Tower!", "eiffel tower", 1, 1),
        ("It is 42% [1].", "42%", 0, 2 / 4),
        ("42", "24", 0, 0),
        ("a b b", "b b c", 0, 4 / 5),  # "a" is an article
        ("", "42", 0, 0),
        ("", "the", 1, 1),
        ("42", "", 0, 0),
        ("theory", "the ory", 0, 0),
    ],
)
def test_by_hand(answer: str, golden: str, exact: float, f1: float) -> None:
    row = METRIC.row(answered(answer), gold(short=golden))
    assert row == {"exact_match": exact, "token_f1": pytest.approx(f1)}


def test_the_short_gold_answer_is_preferred() -> None:
    assert METRIC.row(answered("42"), gold("It is 42.", "42"))["exact_match"] == 1
    assert METRIC.row(answered("It is 42"), gold("It is 42."))["exact_match"] == 1


def test_without_a_response_or_gold_it_is_undefined() -> None:
    assert METRIC.row(answered(None), gold(short="42")) == METRIC.row(answered("42"), gold()) == {}


@given(answer=PROSE, golden=PROSE)
def test_f1_is_symmetric_and_1_where_the_match_is_exact(answer: str, golden: str) -> None:
    there, back = METRIC.row(answered(answer), gold(short=golden)), METRIC.row(answered(golden), gold(short=answer))
    f1, exact = there["token_f1"], there["exact_match"]
    assert f1 is not None
    assert exact is not None
    assert there == back
    assert exact <= f1 <= 1
