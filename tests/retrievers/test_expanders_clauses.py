"""Which questions are split into parts, and which are not."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.errors import UsageError
from quoteweave.core.protocols import Expander, Expansion
from quoteweave.core.records import Query
from quoteweave.retrievers.expanders.rules import MAX_QUESTION_CHARACTERS, ClauseSplitter, split_question

TWO_PARTS = [
    ("What is photosynthesis, and how does it compare with respiration in plants?", 1),
    ("What was the revenue of Acme in 2019 and what was its net income in 2020?", 1),
    ("Who founded Acme Corporation and when was the company listed?", 1),
    ("Who is the CEO of Acme and who is the CFO of Acme?", 1),
    ("In which year was the bridge built and at what price was the contract awarded?", 1),
    ("How many vessels were registered in 2022? And which port was the busiest?", 1),
    ("What was the tonnage of grain? What was the tonnage of timber?", 0),
    ("List the members of the board; describe the duties of the chair.", 0),
    ("Compare the two tables and explain which method has the lower error.", 1),
    ("Did exports rise in 2021, and did imports fall in the same year?", 1),
    ("Does the pump work at night, and is it noisy at full load?", 1),
    ("Which quarter had the most vessel calls, and then how many passengers were carried in that quarter?", 2),
    ("Please describe the trial of 2004, but also explain how the patients were chosen.", 2),
    ("How is the model trained on images, what is the learning rate of the encoder?", 0),
    ("What is the “plan, and how is it” of Acme (and who is it for), and where is the head office of Bolt?", 1),
    ("How many ships are there? What is the battery capacity?", 0),
    ("how many ships are there? what is the battery capacity", 0),
    ("What is photosynthesis? How do plants grow?", 0),
    ("What does Fig. 3 show? What does Fig. 4 show?", 0),
    ("What is the revenue and how does the tonnage change?", 1),
    ("What is the battery capacity and how long does charging take?", 1),
    ("Who is the CEO and when was Acme founded?", 1),
    ("Which model is best, and by how much does the error fall?", 1),
    ("How much did sales rise and how many shops were opened?", 1),
    ("When was Will in May and where did June live?", 1),
    ("Was ist Photosynthese? Wie unterscheidet sie sich von der Atmung?", 0),
    ("什么是光合作用？它和呼吸作用有什么不同？", 0),
    ("ما هي عاصمة فرنسا الكبيرة؟ كم عدد سكان المدينة؟", 0),
]
WHOLE = [
    "What is the difference between research and development spending?",
    "Who is the author of War and Peace?",
    "What do Marks and Spencer sell?",
    "Is the share in 2010 and 2020 the same?",
    "What was the sum of 1,204 and 2,300 in the table?",
    "When and where did the flood happen?",
    "How and why did prices rise?",
    "Who and how many were hurt in the flood?",
    "How many men and how many women answered the survey?",
    "What percentage of women and what percentage of men agreed with the statement?",
    "Which company was founded in Paris and is listed in London?",
    "Which country exports grain and does not import timber?",
    "Name the ship that was built in 1912 and which is shown in Figure 3.",
    "What is the name of the town where the river ends and where the mill stands?",
    "What is the difference between what was planned in 2010 and what was built by 2020?",
    "When the dam was built, what was the cost?",
    "If the company had five employees in 2010, how many did it have in 2020?",
    "According to the report of 2019, how many people were employed?",
    "In 2019, what was the revenue of the company?",
    "What is the capital and what is the population of the largest country of Africa?",
    "Where is the office of Acme, and where?",
    "Which group grew most in 2020, and what about 2021?",
    "What color is the car, and how many does it show?",
    'What does the phrase "what is seen by all and what is not seen by any" mean?',
    "What did the chair (who is the founder of Acme, and how was she chosen?) say of the merger?",
    "What did Dr. J. Smith Jr. say of the U.S. economy?",
    "What does Fig. 3 of the report by Prof. Miller show about sales?",
    "The report lists five regions. Which of these had the highest growth in 2020?",
    "When was the last shock recorded in the table? The answer needs the year, month and day.",
    "What is this value in millions? Give me an integer.",
    "What is the share of women? And in 2020?",
    "Show the city and state of birth; no more.",
    "How big is the ship? How big is it?",
    "How many are there? What is it?",
    "Which group grew most in 2020? What about 2021?",
    "What is the mass of the sun? Why?",
    "Where is the port and what is it called?",
    "What is the capital and what is the population of Chad?",
    "What is the difference between A and B?",
    "What is the difference between what was planned and how much was built by 2020?",
    "What changed between when the ship was built and where the ship was sold?",
    "How many Procter and Gamble employees are there?",
    "Who wrote “Who? What? When?” and who read it?",
    "grain",
    "grain and timber and ships and cranes",
    "東京の人口と面積は？",
    "Население города и площадь?",
]


@pytest.mark.parametrize(("question", "joined"), TWO_PARTS)
def test_two_parts_are_told_apart(question: str, joined: int) -> None:
    first, second = split_question(question)
    assert question.startswith(first)
    assert question.endswith(second)
    between = question[len(first) : len(question) - len(second)]
    assert len(between.strip(" ,;").split()) == joined


@pytest.mark.parametrize("question", WHOLE)
def test_what_is_one_question_stays_whole(question: str) -> None:
    assert split_question(question) == [question]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "What were the revenues of Apple and Microsoft in 2020 and 2021, respectively?",
            ["What were the revenues of Apple in 2020?", "What were the revenues of Microsoft in 2021?"],
        ),
        (
            "What are the populations of Paris, New York and the United States respectively?",
            [
                "What are the populations of Paris?",
                "What are the populations of New York?",
                "What are the populations of the United States?",
            ],
        ),
        (
            "How large are the totals of Table 2 and Figure 3, respectively, in tonnes?",
            ["How large are the totals of Table 2 in tonnes?", "How large are the totals of Figure 3 in tonnes?"],
        ),
        (
            'What do "net sales" and “gross, all in” mean respectively?',
            ['What do "net sales" mean?', "What do “gross, all in” mean?"],
        ),
    ],
)
def test_respectively_gives_a_clause_for_each_item(question: str, parts: list[str]) -> None:
    assert split_question(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "How did revenue and profit change between 2010 and 2020, respectively?",
        "What are the horizontal and vertical axis of Figure 3 respectively?",
        "What were the shares of men and women in Paris and London, respectively?",
        "What were the sales of Apple and Microsoft in 2019, 2020 and 2021, respectively?",
        "What do they show respectively?",
        "What were the sales of Apple and Microsoft in 2020 and 2021?",
    ],
)
def test_respectively_without_lists_that_match_stays_whole(question: str) -> None:
    assert split_question(question) == [question]


def test_three_parts_with_one_question_after_the_other() -> None:
    question = "Who wrote the report? When was it published in print, and how many copies were sold in 2020?"
    assert split_question(question) == [
        "Who wrote the report?",
        "When was it published in print",
        "how many copies were sold in 2020?",
    ]


def test_several_questions_in_a_row_are_told_apart() -> None:
    question = "Who is the author? When was the book published? How many pages are there?"
    assert split_question(question) == [f"{part}?" for part in question.removesuffix("?").split("? ")]


def test_the_question_itself_comes_first() -> None:
    question = "Who founded Acme Corporation\nand when was the company listed?"
    expander: Expander = ClauseSplitter()
    assert asyncio.run(expander.expand(Query(text=question))) == Expansion(
        clauses=(question, "Who founded Acme Corporation", "when was the company listed?")
    )


def test_parts_that_are_alike_come_once() -> None:
    got = asyncio.run(ClauseSplitter().expand(Query(text="Who wrote the report? Who wrote the report?")))
    assert got.clauses == ("Who wrote the report? Who wrote the report?", "Who wrote the report?")


def test_more_parts_than_allowed_leave_the_question_whole_and_say_so() -> None:
    question = " ".join(f"Who wrote report {i}?" for i in range(4))
    assert len(asyncio.run(ClauseSplitter(most=4).expand(Query(text=question))).clauses) == 5
    got = asyncio.run(ClauseSplitter(most=3).expand(Query(text=question)))
    assert got.clauses == (question,)
    assert got.note == "The question was searched for as a whole: its 4 parts are more than 3."
    with pytest.raises(UsageError, match="1 parts"):
        ClauseSplitter(most=1)


@pytest.mark.parametrize("question", ["", " \n", "?", "? ?", "!?", ";", "and", ", what", "...", "respectively"])
def test_questions_that_say_nothing_stay_as_they_are(question: str) -> None:
    assert asyncio.run(ClauseSplitter().expand(Query(text=question))) == Expansion(clauses=(question,))


def test_a_text_is_no_question() -> None:
    question = "What was the tonnage of grain? " * 2000
    assert len(question.split()) > 10_000
    assert split_question(question) == [question]
    assert len(split_question(question[: MAX_QUESTION_CHARACTERS - 10])) > 1


@given(
    st.lists(
        st.sampled_from([*"?;,.!\"“”()'", " and ", " what ", "is ", "Acme ", "2020 ", "grain ", "？", "how "]),
        max_size=60,
    )
)
def test_parts_are_pieces_of_the_question_in_order(pieces: list[str]) -> None:
    question = "".join(pieces)
    parts = split_question(question)
    line, at = " ".join(question.split()), 0
    for part in parts if len(parts) > 1 else ():
        assert part
        at = line.index(part, at) + len(part)


@given(st.text(max_size=300))
def test_any_text_can_be_asked(question: str) -> None:
    clauses = asyncio.run(ClauseSplitter().expand(Query(text=question))).clauses
    assert clauses[0] == question
    assert len(clauses) <= 7
