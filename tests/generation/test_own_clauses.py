"""Sentences of which another clause or verb has the answer, and those that answer though they have several."""

import pytest
from harbour_quotes import ask, context, quote

from quoteweave.core.records import Quote

_OF_ANOTHER = [
    # Another verb of the same subject has the date, the place or the reason.
    ("When was the ferry designed?", "The ferry was designed by Ada Byron and launched in 1967."),
    ("When was the anchor lost?", "The anchor was lost off Skaw and raised by a tug in 1988."),
    ("When was the anchor raised?", "The anchor was lost in 1951 and raised by a tug off Skaw."),
    ("When was the sail laid out?", "The sail was laid out for the crew and opened by Ole Dahl in 1988."),
    ("Where was the mast carved?", "The mast was carved by Ole Dahl and hung in Merrow."),
    ("When did the council buy the crane?", "The council bought the crane and sold it in 1999."),
    ("When was the permit granted?", "The permit was granted by the council and expires on 3 May 2027."),
    ("Why was the quay painted yellow?", "The quay was raised because of floods and painted yellow."),
    ("Why did the fees increase?", "Costs as a percentage of the fees decreased, due to increased work."),
    # Another clause has it.
    (
        "How many tonnes did the port export in 2019?",
        "In 2018 the port exported 410 tonnes, whereas in 2019 it stored 95 tonnes.",
    ),
    (
        "How many points did the green crew get?",
        "Last year the red crew won with 31 points, ahead of the blue crew with 29; the green crew came last.",
    ),
    ("When was the north gate built?", "The north gate is closed and the south gate, built in 1931, is open."),
    ("How high is the oldest crane?", "The oldest crane is a gantry and the oldest silo measures 31 metres."),
    ("Where is the smallest boat from?", "The smallest anchor is from Skaw; the smallest boat dates from 1890."),
    (
        "How much does a berth in the marina cost?",
        "A berth in the dock costs 30 euros, and a shed in the marina 45 euros.",
    ),
    # Of another office, number, load or difference.
    (
        "Who is the deputy treasurer?",
        "The deputy treasurer is elected every year. The treasurer, Ida Holm, lives in Merrow.",
    ),
    ("Who is the assistant warden?", "The assistant warden is on leave. The warden, Max Bell, keeps the keys."),
    ("How much do boats with two masts pay?", "Boats with more than two masts pay 25 euros."),
    ("How much do crews with five people pay?", "Crews with fewer than five people pay 12 euros."),
    ("How heavy is the crane?", "The crane lifts twelve crates or 800 kg."),
    ("How heavy is the cart?", "The winch takes 90 kg and the cart 40 kg."),
    ("How many pilots were surveyed?", "Overall six-in-ten pilots like the harbour, according to a survey of pilots."),
    ("What was the delay of the ferry in minutes?", "The ferry had a delay that was 12 minutes longer than before."),
    ("When was the survey conducted?", "The panel was created in 2014, with a survey that was conducted by phone."),
]


@pytest.mark.parametrize(("question", "text"), _OF_ANOTHER)
def test_what_another_clause_tells_does_not_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When was the ferry launched?", "The ferry was designed by Ada Byron and launched in 1967."),
        ("When was the ferry designed?", "The ferry was designed and built in 1967."),
        ("When was the ferry painted?", "In 1967 the ferry was bought by the council and painted."),
        ("Where was the mast hung?", "The mast was carved by Ole Dahl and hung in Merrow."),
        ("When was the gear sold?", "The gear was sold to schools and libraries in 2019."),
        ("When was the mill built?", "The mill was built by monks and retired soldiers in 1902."),
        ("When was the permit stamped?", "The permit was granted by the council and was stamped on 3 May 2017."),
        ("Why was the quay raised?", "The quay was raised because of floods and widened by two metres."),
        (
            "How many tonnes did the port store in 2019?",
            "In 2018 the port exported 410 tonnes, whereas in 2019 it stored 95 tonnes.",
        ),
        (
            "How many tonnes did the port export in 2019?",
            "In 2018 the port exported 410 tonnes, and in 2019 95 tonnes.",
        ),
        ("When was the south gate built?", "The north gate is closed and the south gate, built in 1931, is open."),
        (
            "How many cranes does the new dock have?",
            "The old dock has 14 cranes and the new dock, opened in 2003, has 22.",
        ),
        ("How high is the oldest silo?", "The oldest crane is a gantry and the oldest silo measures 31 metres."),
        (
            "How much does a berth in the dock cost?",
            "A berth in the dock costs 30 euros, and a shed in the marina 45 euros.",
        ),
        ("When was the boathouse of the club built?", "The club has a boathouse, and the boathouse was built in 1950."),
        ("When was the bar opened?", "On 3 May 2019 the hall was closed and the bar was opened."),
        ("What is the cost of the course?", "The course is 300 euros; the cost of materials is extra."),
        ("Who is the deputy treasurer?", "The treasurer is Ida Holm, and the deputy treasurer is Max Bell."),
        ("Who is the vice president?", "The vice president, Ida Holm, lives in Merrow."),
        ("How much do boats with two masts pay?", "Boats with two masts pay 25 euros."),
        ("How much do boats with two masts pay?", "Boats with at least two masts pay 25 euros."),
        ("How heavy is the crane?", "The crane lifts 800 kg and weighs 3 tonnes."),
        ("How heavy is the cart?", "The winch weighs 90 kg and the cart 40 kg."),
        ("How many pilots were surveyed?", "In all 600 pilots were surveyed."),
        ("What was the delay of the ferry in minutes?", "The delay of the ferry was 12 minutes."),
        ("When was the survey conducted?", "The survey that was conducted in May 2014 has 600 answers."),
        ("Why is the crane behind the shed?", "The crane is behind the shed because of the wind."),
        ("Why is the crane behind the shed?", "It stands behind the shed because the crane must be kept dry."),
    ],
)
def test_the_clause_of_what_is_asked_answers(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "answered"


def _of_report(text: str) -> list[Quote]:
    title = "Port of Skaw: report 2018"
    return [quote(title, layout="title"), quote(text, section=title)]


@pytest.mark.parametrize(
    ("question", "text", "status"),
    [
        ("How many boats were built in 2018?", "In 2017 the yard built 44 boats.", "located"),
        ("How many boats were sold in 2018?", "The yard sold 44 boats in May 2016.", "located"),
        ("When does the bar in Skaw open?", "The bar in Tolland opens at 9:00.", "located"),
        ("Why is the port behind the dunes?", "Sand is stored behind the dunes because it must dry.", "located"),
        ("How many boats were built in 2018?", "The yard built 44 boats, 5 more than in 2017.", "answered"),
        ("How many boats were built in 2018?", "The yard built 44 boats (2017: 39).", "answered"),
        ("When does the bar in Skaw open?", "The bar opens at 9:00.", "answered"),
        ("When does the bar in Skaw open?", "The bars in Tolland and Skaw open at 9:00.", "answered"),
        ("When does the bar in Skaw open?", "The bar in the cellar opens at 9:00.", "answered"),
    ],
)
def test_a_heading_does_not_name_the_year_or_place_of_another(question: str, text: str, status: str) -> None:
    assert ask(question, context(_of_report(text))).status == status
