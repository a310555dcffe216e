"""ROUGE-L by hand, and against rouge-score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_answers import PROSE, gold
from made_selection import answered

from quoteweave.evaluation.metrics.answers.rouge import RougeL, f_measure, lcs_length
from quoteweave.evaluation.statistics.aggregates import Row

METRIC = RougeL("own")


def row(answer: str | None, golden: str | None) -> Row:
    return METRIC.row(answered(answer), gold(golden))


def test_three_words_in_order_of_five_and_of_four() -> None:
    assert row("A: b x C d", "a b c y") == pytest.approx(
        {
            "rouge_l.precision": 3 / 5,
            "rouge_l.recall": 3 / 4,
            "rouge_l.f1": 2 / 3,
            "rouge_l.beta_1.2": 2.44 * 0.75 * 0.6 / (0.75 + 1.44 * 0.6),
        }
    )


def test_marks_are_no_words() -> None:
    assert row("it rose [1]", "it rose [2]")["rouge_l.f1"] == 1


@pytest.mark.parametrize(("answer", "golden"), [(None, "a"), ("a", None), ("a", "–"), ("a", "[1]")])
def test_without_a_response_or_gold_words_it_is_undefined(answer: str | None, golden: str | None) -> None:
    assert row(answer, golden) == {}


@pytest.mark.parametrize("answer", ["", "…", "other"])
def test_nothing_in_common_is_0(answer: str) -> None:
    assert set(row(answer, "a b").values()) == {0}


def test_beta_above_1_favours_recall() -> None:
    assert f_measure(0.2, 0.8, 1.2) > f_measure(0.2, 0.8) == f_measure(0.8, 0.2) > f_measure(0.8, 0.2, 1.2)


@given(answer=PROSE, golden=PROSE)
def test_equals_rouge_score(answer: str, golden: str) -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rougeL"]).score(golden, answer)["rougeL"]
    ours = row(answer, golden) or {f"rouge_l.{name}": 0.0 for name in ("precision", "recall", "f1")}
    assert ours["rouge_l.precision"] == pytest.approx(theirs.precision)
    assert ours["rouge_l.recall"] == pytest.approx(theirs.recall)
    assert ours["rouge_l.f1"] == pytest.approx(theirs.fmeasure)


WORDS = st.lists(st.sampled_from("abc"), max_size=90)


@given(a=WORDS, b=WORDS)
def test_common_subsequence_equals_the_table(a: list[str], b: list[str]) -> None:
    line = [0] * (len(b) + 1)
    for x in a:
        above = line[:]
        for place, y in enumerate(b, start=1):
            line[place] = above[place - 1] + 1 if x == y else max(above[place], line[place - 1])
    assert lcs_length(a, b) == line[-1]
