"""What a question asks for, and how much of it a text covers."""

import math

import pytest
from builders import make_context, make_quote

from quoteweave.generation.relevance import (
    MISSING_NAME,
    adjacency,
    coverage,
    overlap,
    parts_of,
    question_terms,
    subject_terms,
    weigh_terms,
    weights_by_document,
)


def test_the_words_that_only_ask_are_left_out() -> None:
    question = question_terms("According to the annual report, how many harbour dues does Merrow list for 2021?")
    assert question.terms == ("harbour", "due", "merrow", "2021")
    assert question.pairs == {("harbour", "due"), ("due", "merrow"), ("merrow", "2021")}
    assert question.names == {"merrow", "2021"}
    assert question.analysis.wants_number


def test_a_part_that_names_its_thing_by_a_pronoun_has_the_words_of_the_thing_and_no_verb() -> None:
    _, second = parts_of("What does the pump cost, and who sells its filter?")
    assert second.terms[0] == "pump"
    assert "cost" not in second.terms


@pytest.mark.parametrize(
    "question",
    [
        "May exports of grain?",
        "May 2021 harbour grain tonnes shipped?",
        "May: tonnes of grain?",
        "May and June exports?",
        "May the 3rd exports?",
        "May",
    ],
)
def test_the_month_of_may_stays_a_word_of_the_question(question: str) -> None:
    assert "may" in question_terms(question).terms


@pytest.mark.parametrize(
    "question",
    ["May I park at the quay?", "May dogs travel on the ferry?", "May the crew smoke?", "How much may it cost?"],
)
def test_a_question_for_permission_has_no_month(question: str) -> None:
    assert "may" not in question_terms(question).terms


def test_capitals_mean_nothing_where_all_are_capitals() -> None:
    assert question_terms("HOW DEEP IS THE HARBOUR?").names == frozenset()
    assert question_terms("How deep is the Harbour?").names == {"harbour"}


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When was it built?", True),
        ("What percentage fell?", True),
        ("Which year was best?", True),
        ("Who built it?", False),
        ("What is described?", False),
    ],
)
def test_questions_for_a_number(question: str, wanted: bool) -> None:
    assert question_terms(question).analysis.wants_number is wanted


def test_rare_words_and_missing_names_weigh_more() -> None:
    weights = weigh_terms(question_terms("dues of grain at Rotterdam"), [["due", "grain"], ["due"], ["due"]])
    raw = {
        "due": 0.6,  # ln(4 / 3.5) / ln(4 / 0.5) = 0.06, below the least weight
        "grain": max(0.6, math.log(4 / 1.5) / math.log(8)),
        "rotterdam": MISSING_NAME,
    }
    assert weights == pytest.approx({term: weight / sum(raw.values()) for term, weight in raw.items()})
    assert coverage(weights, ["due", "grain", "other"]) == pytest.approx(1 - weights["rotterdam"])


def test_what_all_quotes_of_a_document_have_weighs_less_in_it() -> None:
    hits = make_context(*(make_quote(text, document="manual.md") for text in ("jq builds", "jq")), "grain").hits
    found = weights_by_document(hits, {"jq": 0.5, "build": 0.25, "windows": 0.25})
    often, once = (math.log(3 / (count + 0.5)) / math.log(3 / 0.5) for count in (2, 1))
    jq, build = 0.5 * (1 + often) / 2, 0.25 * (1 + once) / 2
    own = {"jq": 0.75 * jq / (jq + build), "build": 0.75 * build / (jq + build), "windows": 0.25}
    assert found["manual.md"] == pytest.approx(own)
    assert found["report.pdf"] == pytest.approx({"jq": 0.5, "build": 0.25, "windows": 0.25})


def test_a_question_without_words_is_covered_by_nothing() -> None:
    weights = weigh_terms(question_terms("What is it?"), [["due"]])
    assert (weights, coverage(weights, ["due"])) == ({}, 0.0)


def test_neighbours_and_overlap() -> None:
    question = question_terms("vessel calls by quarter")
    assert adjacency(question, ["vessel", "call", "rose"]) == 0.5
    assert adjacency(question_terms("vessels"), ["vessel"]) == 0.0
    assert overlap(["a", "b"], ["b", "c"]) == pytest.approx(1 / 3)
    assert overlap([], []) == 0.0


def test_how_to_answer_is_not_what_is_asked() -> None:
    question = "How many ships came to Merrow? Answer in percentage terms, round to 2 decimal places."
    assert question_terms(question).terms == ("ship", "came", "merrow")


def test_a_question_of_one_endless_word_is_read_once() -> None:
    """Tried from each letter anew, 100,000 of them would take an hour."""
    assert subject_terms(question_terms(f"Why {'x' * 100_000}?")) == ["x" * 100_000]
    assert subject_terms(question_terms("Who hires part-time staff?")) == ["hire", "part", "time", "staff"]
