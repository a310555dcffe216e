"""How far short answers agree: examples worked out by hand, and properties for any answers."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.examples import AnswerFormat
from quoteweave.evaluation.metrics.answers.mmlongbench import anls, edit_distance, short_answer_score


@pytest.mark.parametrize(
    ("gold", "told", "score"),
    [
        ("9", "9", 1),
        ("9", "9.0", 1),
        ("9", "9.7", 1),  # read as a decimal, then cut off
        ("9", "10", 0),
        ("9", "nine", 0),
        ("9", "", 0),
        ("8802", "8,802", 1),
        ("8802", "$8,802", 1),
        ("5", "5 steps", 1),
        ("5", "-5", 0),
        ("0", "0", 1),
        ("0", "inf", 0),
        ("0", "nan", 0),
        ("7", "9" * 400, 0),
        ("8%", "8", 1),
        ("about eight", "about eight", 1),  # gold that is no number is a text
    ],
)
def test_whole_numbers(gold: str, told: str, score: float) -> None:
    assert short_answer_score(gold, told, "int") == score


@pytest.mark.parametrize(
    ("gold", "told", "score"),
    [
        ("21%", "21%", 1),
        ("21%", "21", 1),
        ("21%", "0.21", 1),
        ("0.21", "21%", 1),
        ("0.21", "21", 1),
        ("21%", "2100", 1),
        ("21%", "2.1", 0),
        ("100", "101", 1),  # within 1 %
        ("100", "99", 1),
        ("100", "102", 0),
        ("1,358,000", "1358000", 1),
        ("$495.00", "495", 1),
        ("12.5 miles", "12.5", 1),
        ("3.91", "3.91 times", 1),
        ("0.053", "0.06", 0),
        ("0", "0.001", 0),
        ("-4.5", "−4.5", 1),
        ("4.5", "no number", 0),
        ("4.5", "1 or 4.5", 0),
    ],
)
def test_decimal_numbers(gold: str, told: str, score: float) -> None:
    assert short_answer_score(gold, told, "float") == score


@pytest.mark.parametrize(
    ("gold", "told", "score"),
    [
        ("Berlin", "berlin", 1),
        ('"Berlin"', "Berlin", 1),
        ("(Berlin)", "Berlin", 1),
        ("Berlin (Germany)", "Berlin", 1),
        ("['Berlin']", "Berlin", 1),
        ("$ 300 million", "300 million", 1),
        ("Berlin", "Berlim", 5 / 6),
        ("Berlin", "Dublin", 0),
        ("Berlin", "Madrid", 0),
        ("ab", "ax", 0),  # 0.5 is not above the threshold
        ("a b.", "a b", 3 / 4),
        ("no", "Not answerable", 0),
        # compared exactly
        ("15:00", "15:01", 0),
        ("10 45 a.m.", "10 46 a.m.", 0),
        ("2015-2016", "2015-2017", 0),
        ("2009-07", "2009-07", 1),
        ("December 31, 2014", "December 30, 2014", 0),
        ("3 May 1998", "3 May 1999", 0),
        ("1-800-275-2273", "1-800-275-2274", 0),
        ("0123 456789", "0123 456780", 0),
        ("jo@example.org", "jo@example.com", 0),
        ("https://example.org/a", "https://example.org/b", 0),
        ("www.example.org", "www.example.com", 0),
        ("train.py", "tram.py", 0),
        ("page 12", "page 13", 0),
        ("Figure 3", "Figure 4", 0),
        ("Page 12", "page 12", 1),
        # not dates, though they begin as one does
        ("market", "markets", 6 / 7),
        ("May", "Mays", 3 / 4),
    ],
)
def test_texts(gold: str, told: str, score: float) -> None:
    assert short_answer_score(gold, told, "str") == pytest.approx(score)
    assert short_answer_score(gold, told, "none") == pytest.approx(score)


@pytest.mark.parametrize(
    ("gold", "told", "score"),
    [
        ("['red', 'blue']", '["Blue", "red"]', 1),
        ("['red', 'blue']", "['red']", 0),
        ("['red', 'blue']", "['red', 'blue', 'green']", 0),
        ("['red', 'blue']", "red and blue", 0),
        ("['yellow', 'orange']", "['yellow', 'oranges']", 6 / 7),  # the least of the two
        ("['yellow', 'orange']", "['yellow', 'black']", 0),
        ("[9, 10]", "[10, 9]", 1),
        ("['9', '10']", "[10.0, 9]", 1),
        ("[9, 10]", "[9, 11]", 0),
        ("['5.3%', '5.2%']", "['5.3', '5.2']", 1),
        ("['5.3%', '5.2%']", "['5.3', '5.1']", 0),
        ("['$35,000', '$40,684']", "['35000', '40684']", 1),
        ("['Page 45', 'Page 50']", "['page 45', 'page 51']", 0),
        ("['White', '10%']", "['10', 'white']", 1),
        ("[]", "[]", 1),
        ("[]", "['red']", 0),
        ("0.66", "0.66", 1),  # a list of one
        ("red", "['red']", 1),
        ("['red']", "[red", 3 / 4),
        ("['red']", "[" * 10_000, 0),
        ("['red']", "[__import__('os').getcwd()]", 0),
    ],
)
def test_lists(gold: str, told: str, score: float) -> None:
    assert short_answer_score(gold, told, "list") == pytest.approx(score)


FORMATS = st.sampled_from(["int", "float", "str", "list", "none"])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="[](){}"), max_size=20)
NUMBERS = st.integers(-(10**9), 10**9)


@given(WORDS | st.text(max_size=40), WORDS | st.text(max_size=40), FORMATS)
def test_every_score_is_from_0_to_1(gold: str, told: str, answer_format: AnswerFormat) -> None:
    assert 0 <= short_answer_score(gold, told, answer_format) <= 1


@given(WORDS | st.text(max_size=40), FORMATS)
def test_the_gold_answer_itself_scores_1(gold: str, answer_format: AnswerFormat) -> None:
    assert short_answer_score(gold, gold, answer_format) == 1


@given(NUMBERS, NUMBERS)
def test_whole_numbers_agree_where_they_are_equal(gold: int, told: int) -> None:
    assert short_answer_score(str(gold), f"{told:,}", "int") == (gold == told)


@given(st.floats(0.001, 10**6).map(lambda value: round(value, 4)), st.floats(-0.009, 0.009))
def test_decimals_agree_within_the_tolerance_in_any_form(gold: float, off: float) -> None:
    for form in (gold, gold / 100, gold * 100):
        assert short_answer_score(f"{gold:.6f}", f"{form * (1 + off):.12f}", "float") == 1
        assert short_answer_score(f"{gold:.6f}", f"{form * 1.02:.12f}", "float") == 0


@given(st.lists(WORDS, max_size=5))
def test_the_order_of_a_list_does_not_matter(items: list[str]) -> None:
    assert short_answer_score(json.dumps(items), json.dumps(items[::-1]), "list") == 1


@given(WORDS, WORDS)
def test_similarity_is_symmetric_and_above_the_threshold_or_0(first: str, second: str) -> None:
    assert anls(first, second) == anls(second, first)
    assert anls(first, second) == 0 or anls(first, second) > 0.5
    assert (anls(first, second) == 1) == (first == second)


@given(WORDS, WORDS, WORDS)
def test_edit_distance_is_a_metric(first: str, second: str, third: str) -> None:
    there = edit_distance(first, second)
    assert there == edit_distance(second, first)
    assert (there == 0) == (first == second)
    assert there <= edit_distance(first, third) + edit_distance(third, second)
    assert abs(len(first) - len(second)) <= there <= max(len(first), len(second))


def test_edit_distance_by_hand() -> None:
    assert [edit_distance(*pair) for pair in (("kitten", "sitting"), ("", "abc"), ("flaw", "lawn"))] == [3, 3, 2]


def test_a_very_long_prediction_takes_no_time() -> None:
    assert short_answer_score("Berlin", "b" * 1_000_000, "str") == 0
    assert short_answer_score("['Berlin']", "(" * 100_000, "list") == 0
