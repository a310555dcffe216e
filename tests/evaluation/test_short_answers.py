"""Short answers read out of long ones, by hand, and what holds for any text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_answers import PROSE

from quoteweave.core.examples import AnswerFormat
from quoteweave.evaluation.metrics.answers.mmlongbench import NOT_ANSWERABLE, short_answer
from quoteweave.evaluation.text.abstentions import is_abstention


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Not answerable", True),
        ("not  answerable.", True),
        ("Unanswerable", True),
        ("The question cannot be answered from the documents.", True),
        ("It is not answerable whether he came.", False),
        ("", False),
        ("No", False),
    ],
)
def test_what_says_that_there_is_no_answer(text: str, *, yes: bool) -> None:
    assert is_abstention(text) is yes
    assert (short_answer("Who?", f"{text} [1]", "str") == NOT_ANSWERABLE) is yes


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("How many quays?", "There are 4 quays [1].", "4"),
        ("How many quays?", "4", "4"),
        ("How many quays?", "The port has four quays [2].", "4"),
        ("How many quays?", "One says that there are many [2].", None),
        ("How many quays?", "There are many [1].", None),
        ("How many quays?", "", None),
        # the first cited sentence, and what is not in the question
        ("How many ships came in 1998?", "In 1998 there came 1,204 ships, and 9 sank [1]. 7 stayed [2].", "1,204"),
        ("Which of 3 and 4?", "Of 3 and 4 it is 3 [1].", None),
        ("Are there 4 quays?", "There are 4 quays [1].", "4"),  # the only number
        ("How many quays?", "In 2 words: they were counted. There are 14 [1].", "14"),
        # whole numbers before others
        ("How many quays?", "2.5 % more, that is 14 [1].", "14"),
        ("How many quays?", "It is 2.5 [1].", "2.5"),
        # numbers of pages, figures and tables, marks and names are none
        ("How many quays?", "Table 2 on page 7 (Figure 3) reads 14 [1].", "14"),
        ("How many quays?", "The COVID-19 and 2nd quay, B2 [12].", None),
        ("How many quays?", "It reads 14. ![8 ships on page 9](image3)", "14"),
        ("How many quays?", "It reads 14 [1].\n\nThis is from pages 3 and 5 of 2021.pdf.", "14"),
        # years are none unless they are asked for, and what is counted goes before other numbers
        ("How many quays?", "In 1998 there were many [1].", None),
        ("In what year were they dug?", "They were dug in 1998 [1].", "1998"),
        ("How many deep quays are there?", "On 29 August 815 ships lay at 14 deep quays [1].", "14"),
        ("On which page are the quays?", "They are on page 7 [1].", "7"),
    ],
)
def test_whole_numbers(question: str, text: str, found: str | None) -> None:
    assert short_answer(question, text, "int") == found


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("What share?", "In all 12 ports it was 21.5% [1].", "21.5%"),
        ("What share?", "It was 21 per cent of 300 [1].", "21 per cent"),
        ("What is the ratio?", "It is 0.35 [1].", "0.35"),
        ("What was paid?", "They paid $1,250 [1].", "$1,250"),
        ("What is the change?", "It is -4.5 [1].", "-4.5"),
        ("What is the depth?", "The depth is 2.5-3.5 metres [1].", "2.5"),
        ("What share?", "Most of it [1].", None),
    ],
)
def test_decimal_numbers(question: str, text: str, found: str | None) -> None:
    assert short_answer(question, text, "float") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- red [1]\n- blue [2]\n", ["red", "blue"]),
        ("1. red [1].\n2) blue and white [2]", ["red", "blue and white"]),
        ("The colours are red, blue and green [1].", ["red", "blue", "green"]),
        ("It has these colours: red; blue, or green [1].", ["red", "blue", "green"]),
        ("They include red and blue [1]. It is new [2].", ["red", "blue"]),
        ('It reads “red” and "blue" [1].', ["red", "blue"]),
        ("Red [1]. Blue and white [1]. This is from page 2.", ["Red", "Blue and white"]),
        ("Red [1].", ["Red"]),
        ("['red', 'blue']", ["red", "blue"]),
    ],
)
def test_lists(text: str, found: list[str]) -> None:
    told = short_answer("Which colours?", text, "list")
    assert told is not None
    assert json.loads(told.replace("'", '"')) == found


def test_a_list_of_numbers_is_no_mark() -> None:
    assert short_answer("Which pages?", "[14, 15]", "list") == "[14, 15]"
    assert short_answer("Which pages?", "", "list") is None


@pytest.mark.parametrize(
    ("question", "text", "found"),
    [
        ("Where is it?", "Berlin", "Berlin"),
        ("Where is it?", "In Berlin [1].", "In Berlin"),
        ("Where is it?", "It lies in Berlin, as all know [1]. In Berlin (report.pdf, page 3) [2].", "In Berlin"),
        ("What is written there?", "On the gate stands “No entry” [1].", "No entry"),
        ('What does "No entry" mean?', 'By "No entry" is meant "Keep out" [1].', "Keep out"),
        ("Who is it?", "It is Mr. S. Smith of the U.S. Navy [1].", "It is Mr. S. Smith of the U.S. Navy"),
        ("Where is it?", "It is there. [1] Or in Berlin. [2]", "It is there"),
        ("Where is it?", "![a map](image1)", None),
        ("Where is it?", "", None),
    ],
)
def test_texts(question: str, text: str, found: str | None) -> None:
    assert short_answer(question, text, "str") == found


@given(PROSE | st.text(max_size=80), PROSE | st.text(max_size=80), st.sampled_from(["int", "float", "str", "list"]))
def test_what_is_found_stands_in_the_answer(question: str, text: str, answer_format: AnswerFormat) -> None:
    found = short_answer(question, text, answer_format)
    if found is not None and answer_format in ("float", "str") and found != NOT_ANSWERABLE:
        assert found
        assert "".join(found.split()) in "".join(text.split())


def test_a_long_answer_takes_no_time() -> None:
    for text in ("(" * 20_000, "1," * 10_000, " \t" * 10_000, ". " * 10_000, "page 1, " * 2_500, '"' * 20_000):
        for answer_format in ("int", "float", "str", "list"):
            short_answer("How many?", text, answer_format)
