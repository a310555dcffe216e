"""Statements about another of several things than the one asked about, and those that only look like it."""

import asyncio

import pytest
from harbour_quotes import context

from quoteweave.core.answers import Answer
from quoteweave.core.records import Query
from quoteweave.generation.extractive.generator import ExtractiveGenerator
from quoteweave.generation.sentence_kinds import only_denied_words


def ask(question: str, *texts: str) -> Answer:
    return asyncio.run(ExtractiveGenerator().answer(Query(text=question), context(texts)))


@pytest.mark.parametrize(
    ("question", "answers", "does_not"),
    [
        (
            "Which file contains the licence of the upstream source?",
            "The file COPYING contains the licence of the upstream source.",
            "This file contains information about the copyright and licence of the upstream sources.",
        ),
        (
            "Who made the tower clock?",
            "The tower clock was made by Ada Byron.",
            "The tower clock is of 1532, and came from Saint Olaf's church.",
        ),
        (
            "How long is the warranty?",
            "The pump has a warranty of three years.",
            "Unlike others, the maker refuses a warranty of three years.",
        ),
        (
            "Why was the line closed?",
            "The line was closed in 1990, since nobody used it.",
            "The line was closed in 1990, since when a bus runs.",
        ),
        (
            "When did the plant in Merrow open?",
            "The plants in Skaw and Merrow opened in May 1998.",
            "The plant in Skaw opened in May 1998; the plant in Tolland opened in 2004.",
        ),
        (
            "When was Harbour 8 released?",
            "Harbour 8 was released on 3 May 2019.",
            "Posters were released from 8 to 14 July 2012, with a Harbour Day on 7 July.",
        ),
        (
            "What was the revenue in fiscal 2015?",
            "The revenue in fiscal 2015 was $4.8 billion.",
            "Cost of revenue of $744.3 million increased by 20% during fiscal 2015.",
        ),
        (
            "What was the total revenue in fiscal 2015?",
            "In fiscal 2015 a total of revenue of $4.8 billion was reported.",
            "The cost of total revenue was $744.3 million in fiscal 2015.",
        ),
        (
            "What share of captains berth at the mole?",
            "The share of captains who berth at the mole is 63%.",
            "Captains who do not berth at the mole are the most likely to sell their boats (37%).",
        ),
        (
            "Why did gross profit decrease in fiscal 2023?",
            "Gross profit decreased in fiscal 2023 because of lower sales.",
            "Our gross profit rate decreased in fiscal 2023 because of promotions and freight.",
        ),
        (
            "What drove the decrease in harbour income in fiscal 2023?",
            "The decrease in harbour income in fiscal 2023 was driven by fewer calls.",
            "Our dividend decreased in fiscal 2023, driven by the decrease in harbour income.",
        ),
        (
            "What is Grundel?",
            "Grundel is a mill that grinds shells.",
            "We chose the size by the mean of the heaps found in Grundel, which is about 6.7 shells.",
        ),
        (
            "When is the board meeting?",
            "The concert before the board meeting ends at 7, and the board meeting is on 3 May.",
            "The concert after the board meeting is on 3 May.",
        ),
        (
            "What does key E21 do?",
            "Key E21 stops the pump.",
            "Error E21 means that the water does not drain.",
        ),
        (
            "What does code E21 mean?",
            "Error E21 means that the water does not drain.",
            "The E21 key means that the pump stops.",
        ),
        (
            "What was sold in 2020?",
            "The mill was sold in 2020.",
            "Sales in 2020 were 9 million.",
        ),
        (
            "What happens if the tank is empty?",
            "If the tank is empty, the pump stops.",
            "The tank is emptied after each wash.",
        ),
        (
            "What happens if the lens is clean?",
            "If the lens is clean, a green lamp lights up.",
            "Clean the lens with a dry cloth.",
        ),
        (
            "Which files must be closed?",
            "The files Alpha and Beta must be closed.",
            "Files must be closed before they are moved.",
        ),
        (
            "What does the list command show?",
            "The list command shows all volumes.",
            "The list command is slow on large disks.",
        ),
        (
            "How big is a half plot?",
            "A half plot measures 125 square metres.",
            "A full plot measures 250 square metres; a half plot costs 34 euros.",
        ),
        (
            "How often is the front tank emptied?",
            "The front tank is emptied once a year.",
            "The rear tank next to the front tank is emptied once a year.",
        ),
        (
            "Is the archive out of order?",
            "The archive next to the lift is out of order.",
            "The lift next to the archive is out of order.",
        ),
        (
            "When is the summer party held?",
            "The summer party after the board meeting is held on 5 June.",
            "The lunch after the summer party is held on 5 June.",
        ),
        (
            "What does the density setting do?",
            "Use the density setting to print darker labels.",
            "Use the density setting with care.",
        ),
        (
            "Which gloves are thrown away?",
            "Gloves with holes are thrown away after use.",
            "Gloves are thrown away after use.",
        ),
        (
            "Which books are new?",
            "The books of Ada Byron are new.",
            "Which books are new is shown beside the entrance.",
        ),
        (
            "How much rain was there in April?",
            "Rain in April was 84 mm, 12 mm less than in May.",
            "Rain in May was 84 mm, 12 mm less than in April.",
        ),
        (
            "What does valve 3 do?",
            "Valve 3 drains the circuit.",
            "Valve 4 drains the circuit.",
        ),
        (
            "Who is the manager of the guide?",
            "The manager of the guide is Ada Byron.",
            "The manager of the shop is Ada Byron.",
        ),
        (
            "When does the night bus leave the guide?",
            "The night bus leaves the guide at 1:15.",
            "The night bus leaves the market at 1:15.",
        ),
        (
            "When does the bus to Skarn arrive?",
            "The bus to Skarn arrives at 12:25.",
            "The bus from Skarn arrives at 12:25.",
        ),
        (
            "How much did the front tank hold in May?",
            "The front tank held 31 litres in May.",
            "In May the front tank has a capacity of 48 litres.",
        ),
    ],
)
def test_another_of_several_is_no_answer(question: str, answers: str, does_not: str) -> None:
    assert ask(question, answers).status == "answered"
    assert ask(question, does_not).status != "answered"


def test_the_first_of_a_place_is_not_the_first_of_all_where_that_is_told_too() -> None:
    asia = "The tenth meeting, the first Harbour Day in Asia, was held in Hsinchu."
    answer = ask("Where was the first Harbour Day held?", asia, "The first Harbour Day was held in Skarn.")
    assert answer.status == "answered"
    assert "Skarn" in answer.text
    assert "Hsinchu" not in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When does the last ferry leave?", "The last ferry from Skarn leaves at 23:10."),
        ("When was the first bridge built?", "The first bridge in Skarn was built in 1901."),
        ("When was the first meeting held?", "The first meeting of the Board was held on 3 May 2019."),
        ("When did the second edition appear?", "The second edition of the Handbook appeared in 1999."),
        ("Where is the largest harbour?", "The largest harbour of Norland is in Skarn."),
        ("Which ships carry grain to Skarn?", "These ships, Ada and Brita, carry grain to Skarn."),
        (
            "When was the oldest tower built?",
            "The oldest tower in Skarn was built in 1820. The oldest tower is made of oak.",
        ),
        (
            "When was the last payment made?",
            "The last payment from Tolland was made on 3 May 2020. It was the last payment.",
        ),
        ("When does Line 6 leave the quay?", "Lines 1, 2, 3, 4, 5 and 6 leave the quay at 23:10."),
        ("When was Debian 8 released?", "In April 2015 the version 8 of Debian was released."),
    ],
)
def test_the_only_one_that_is_told_of_answers(question: str, text: str) -> None:
    assert ask(question, text).status == "answered"


def test_what_some_decline_to_do_is_denied_unless_it_is_said_of_others_too() -> None:
    assert only_denied_words("Just 7% decline to lean toward a party.") == {"lean"}
    assert only_denied_words("Of those who refuse to lean or do not lean, some lean.") == set()


@pytest.mark.parametrize(
    ("question", "text", "is_answered"),
    [
        ("How much is the guest fee?", "Guest fees increased 4% in 2021.", False),
        ("How much is the guest fee?", "The guest fee is 12 euros.", True),
        ("How much is the guest fee?", "The guest fee has risen by 2 euros to 12 euros.", True),
        ("What is the fee for the guest house?", "Guest house fee revenue grew 4% to $812.", False),
        ("What is the fee for the guest house?", "The guest house fee rose 4% to $12.", True),
        ("What is the revenue of the guest house?", "Guest house revenue grew 4% to $812.", True),
        ("How much did guest fees increase?", "Guest fees increased 4% in 2021.", True),
    ],
)
def test_a_change_or_what_another_changed_to_is_no_amount(question: str, text: str, is_answered: bool) -> None:
    assert (ask(question, text).status == "answered") == is_answered
