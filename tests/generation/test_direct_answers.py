"""Questions that a sentence answers directly, or several cells of a table together, and others that look like these."""

import pytest
from harbour_quotes import STORM, ask, context, image, quote

from quoteweave.generation.extractive.generator import ExtractiveGenerator

BOATS = (
    "Boat | Price | Length (m) | Crew | Fuel (%)\nSkua | € 49 | 8 | 2 | 40\nTern | € 129 | 12 | 4 | 55\n"
    "Gull | € 29 | 5 | 1 | 20\nEider | € 89 | 10 | 3 | 61"
)

LOOM = (
    "The guild lends its hand loom for 8 euros a day. "
    "A deposit of 50 euros is taken and returned when the loom comes back."
)


@pytest.mark.parametrize(
    ("question", "text", "says"),
    [
        ("How long is the warranty?", "The warranty lasts three years from the date of purchase.", "three years"),
        (
            "How long is the Merrow mole?",
            "The Merrow mole is of granite. It is 412 metres long and has 9 arches.",
            "412",
        ),
        ("Who are the hosts?", "Your hosts are Randi Moen and Lars Moen.", "Randi Moen"),
        ("Who is the harbour master?", "Ada Byron Harbour Master", "Ada Byron"),
        ("Who founded Merrow Shipping?", "Merrow Shipping builds boats. It was founded in 1957 by Ada Merrow.", "Ada"),
        ("What is the inner diameter of the hose?", "Connect a hose of 16 mm inner diameter to the outlet.", "16 mm"),
        ("What is valve gape?", "Valve gape, the angle between the shells, is a sign of stress.", "the angle"),
        ("By how much was the catch larger at night?", "The catch at night was 31% larger than by day.", "31%"),
        ("How many days of leave do part-time staff get?", "Part-time staff get 16 days of leave.", "16"),
        ("How many adults were surveyed?", "In all, 1,500 adults were surveyed by telephone.", "1,500"),
        ("Who is the mayor?", "The mayor, Helen Prosser, presented the budget.", "Helen Prosser"),
        ("By how much does council tax rise?", "Council tax rises by 3.5%.", "3.5%"),
        ("What was the income in 2024?", "In 2024 income was 45.9 million pounds.", "45.9"),
        ("How much does the new bridge cost?", "The new bridge over the Till costs 5.4 million pounds.", "5.4"),
        ("When will the new bridge be finished?", "The new bridge will be finished in spring 2027.", "2027"),
        ("Quand aura lieu la prochaine assemblée ?", "La prochaine assemblée aura lieu le 13 mai 2025.", "2025"),
        (
            "Wann wurde der Verein gegründet?",
            "Der Verein sitzt in Weimar. Er wurde am 3. April 1962 gegründet.",
            "1962",
        ),
        ("Quand le musée a-t-il été fondé ?", "Le musée a été fondé en 1974 par Jeanne Perrot.", "1974"),
        ("Pourquoi la filature a-t-elle fermé ?", "La filature a fermé parce que le nylon était moins cher.", "nylon"),
        ("Combien coûte l'entrée ?", "L'entrée coûte 8,50 euros.", "8,50"),
        (
            "¿Cuántas toneladas de aceite produjo la cooperativa?",
            "La cooperativa produjo 412 toneladas de aceite.",
            "412",
        ),
        ("¿Quién es la presidenta?", "Tiene 318 socios y su presidenta es Carmen Ruiz Ortega.", "Carmen"),
        ("¿Dónde está la sede?", "La sede está en Baeza.", "Baeza"),
        ("Wer hat den Verein gegründet?", "Ute Hansen gründete den Verein im Mai.", "Hansen"),
        ("How much is the deposit for the hand loom?", LOOM, "A deposit of 50 euros"),
        ("When is the sluice closed?", "The sluice is closed when the river rises above 4 m.", "rises above 4 m"),
        ("When are the nets mended?", "The nets are mended before the boats leave.", "before the boats leave"),
        ("When is the deposit returned?", "The deposit is returned after the keys have been handed in.", "the keys"),
        ("When does the fair begin?", "The fair takes place from 11 to 13 July in Odby.", "from 11 to 13 July"),
        ("How heavy is the fire door?", "The fire door is red. The door weighs 40 kg.", "40 kg"),
        ("When was harbour.pdf last updated?", "This document was last updated on 3 May 2021.", "3 May 2021"),
    ],
)
def test_a_sentence_answers_directly(question: str, text: str, says: str) -> None:
    answer = ask(question, context([text]))
    assert answer.status == "answered"
    assert says in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How long is the mole?", "The mole opened 15 years ago."),
        ("How many adults were surveyed?", "Across three surveys, 19,718 adults were invited to join."),
        ("Which tasks are used?", "If the tasks are used well, the crew may be able to rest."),
        ("When did the clinic open?", "The clinic is open on weekdays from 8:00 to 18:30."),
        ("Who is the mayor?", "The mayor, in May, presented the budget."),
        ("Who are the hosts?", "The hosts are proud of Tolland and of Mount Merrow."),
        ("What is valve gape?", "Valve gape, the crab and the otter are three things."),
        ("How many days of leave do part-time staff get?", "Full-time staff get 28 days of leave."),
        ("How long did the crew sleep on board?", "The crew took part on board for six weeks."),
        ("In which year were the most boats built?", "We built 11 boats, three more than in 2023."),
        ("How many rooms does the Lodge have?", "The Seeblick is a hotel. It has 84 rooms and lies beside the Lodge."),
        (
            "How much did the van of 2001 cost?",
            "The ferry came in May. It cost 480,000 euros and replaces the van of 2001.",
        ),
        (
            "Was kostete der Wagen von 2001?",
            "Im Mai kam das Boot. Es kostete 480.000 Euro und ersetzt den Wagen von 2001.",
        ),
        ("How much is the deposit for the wire loom?", LOOM),
        ("How much is the deposit for the hand loom?", f"{LOOM} It has a wire loom, too."),
        ("When is the sluice closed?", "The sluice is not closed when the river rises above 4 m."),
        ("When is the sluice closed?", "When the sluice is closed, a lamp is lit."),
        ("When was the sluice closed?", "The sluice is closed when the river rises above 4 m."),
        ("When is the garden open?", "The garden is open even if it rains."),
        ("When is the gate locked?", "The gate is locked as soon as possible."),
        ("When are guests admitted?", "Guests are admitted regardless of when they arrive."),
        ("When does the choir sing?", "The choir sings once again."),
        ("When is the hut named?", "The hut is named after its founder."),
        ("When is the pool cleaned?", "The pool is cleaned before a filter."),
        ("When does the boiler start?", "The boiler rarely starts if the pressure is low."),
        ("When is the office closed?", "The office is closed and the pump starts when it rains."),
        ("When is the pump switched off?", "The pump, which can be switched off by hand, starts when it rains."),
        ("How heavy is the fire door?", "The fire door is red. The door of the shed weighs 40 kg."),
        ("How heavy is the fire door?", "The fire door is red. The door handle weighs 2 kg."),
        ("How many seats does the city bus have?", "The city bus is new. The bus behind it has 60 seats."),
        ("How many seats does the city bus have?", "The city bus is new. The next bus has 60 seats."),
        ("How much does the city bus cost?", "The city bus is new. The bus tickets cost 6 euros."),
        ("When was harbour.pdf printed?", "The passport document was printed on 3 May 2021."),
        ("How heavy is harbour.pdf?", "The document folder weighs 3 kg."),
    ],
)
def test_a_sentence_of_something_else_does_not(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        (
            "When is Hotel Merrow closed?",
            "It has 62 rooms. Its sister house, the Lodge, has 14 and is closed in May.",
            False,
        ),
        ("When is Hotel Merrow closed?", "It has 62 rooms. Its sister house is closed in November.", False),
        ("When is Hotel Merrow closed?", "It has 62 rooms. Its inn Seeblick is closed in May.", False),
        ("When is Hotel Merrow closed?", "It has 62 rooms. Its restaurant is closed in May.", False),
        ("When is Hotel Merrow open?", "Its doors are open from May to September.", True),
        ("When is Hotel Merrow open?", "Its season is from May to September, when it is open.", True),
        ("When is the sister house of Hotel Merrow closed?", "Its sister house, the Lodge, is closed in May.", True),
    ],
)
def test_what_belongs_to_it_is_another_thing(question: str, text: str, answers: bool) -> None:
    answer = ask(question, context([quote(text, section="Hotel Merrow", document="hotel.pdf")]))
    assert (answer.status == "answered") == answers


def test_what_it_is_may_stand_in_the_sentence_before() -> None:
    text = "The ferry came in May. It cost 480,000 euros and replaces the van of 2001."
    assert "480,000" in ask("How much did the ferry cost?", context([text])).text
    assert ask("How much did the ferry cost?", context([text])).status == "answered"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("Which boats have a crew above 2?", "2 of 4 rows are above 2"),  # one has two
        ("Which boats have fuel above 50%?", "2 of 4 rows are above 50%: Tern (55) and Eider (61)"),
        ("Which boats cost more than 60 euros?", "2 of 4 rows are above 60 euros: Tern (€ 129) and Eider (€ 89)"),
        ("Which boats have a price over 60?", "2 of 4 rows are above 60: Tern (€ 129) and Eider (€ 89)"),
        ("Which boats have a length below 9 m?", "2 of 4 rows are below 9 m: Skua (8) and Gull (5)"),
        ("Which boats have a length below 9 feet?", None),
        ("Which boat is the cheapest?", "in Price, Gull is the lowest of 4 rows"),
        ("Which boat is the longest?", "in Length (m), Tern is the highest of 4 rows"),
        ("What is the total crew of all boats?", "is 10"),
        ("What is the total crew of the four boats?", "is 10"),
        ("What is the total crew of the five boats?", None),
        ("What is the average price of all boats?", "is € 74"),
        ("How much does the Eider cost?", "Eider (Price: € 89)"),
    ],
)
def test_cells_answer_together(question: str, says: str | None) -> None:
    answer = ask(question, context(images=[image("Table 1: Boats", BOATS, layout="table")]))
    assert (answer.status == "answered") == (says is not None)
    assert says is None or says in answer.text


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("How long is the blade of the X100?", "Blade length (X100: 45 cm)"),
        ("How loud is the blade of the X100?", None),
        ("How long is the cable of the X100?", None),
    ],
)
def test_a_row_is_named_by_what_is_measured(question: str, says: str | None) -> None:
    table = "Data | X100 | X200\nBlade length | 45 cm | 60 cm\nNoise level | 89 dB | 94 dB"
    answer = ask(question, context(images=[image("Table 1: Hedge trimmers", table, layout="table")]))
    assert (answer.status == "answered") == (says is not None)
    assert says is None or says in answer.text


def test_what_was_spent_is_the_expenditure_but_not_in_thousands_above_a_number() -> None:
    table = "Office | 2024 | 2025\nRoads | 6,980 | 8,240\nParks | 1,790 | 1,905\nCare | 12,750 | 13,060"
    given = context(images=[image("Table 1: Expenditure by office (thousand pounds)", table, layout="table")])
    assert "Roads (2024: 6,980)" in ask("How much was spent on roads in 2024?", given).text
    assert ask("Which offices spend more than 10,000 in 2025?", given).status != "answered"


def test_a_table_that_lacks_names_of_rows_is_not_computed() -> None:
    table = "Sample | Surface | Capacity\nOP-900 | 48 | 241\n- | 31 | 274\nOP-1200 | 9 | 312\nOP-1400 | 6 | 298"
    given = context(images=[image("Table 1: Capacity of the samples", table, layout="table")])
    assert ask("What is the average capacity of all samples?", given).status != "answered"
    assert ask("Which sample has the highest capacity?", given).status != "answered"


def test_of_two_places_that_say_as_much_the_one_where_to_turn_is_shown() -> None:
    opens, turns = "The clinic and its desk are open on weekdays.", "Call the clinic at 01632 960 120, or write."
    given = context([quote(opens), quote(turns)]).model_copy(
        update={"rarity": {"phone": 0.9, "clinic": 0.5, "night": 0.9}, "variety": 0.3}
    )
    answer = ask("What is the phone number of the night clinic?", given)
    assert answer.status == "located"
    assert "01632 960 120" in answer.text


def test_a_table_with_a_total_is_not_summed() -> None:
    table = f"{BOATS}\nTotal | € 296 | 35 | 11 | 176"
    answer = ask(
        "What is the total crew of all boats?", context(images=[image("Table 1: Boats", table, layout="table")])
    )
    assert "the sum of" not in answer.text


def test_an_article_in_a_name_makes_no_question_foreign() -> None:
    text = "The crime rate of Angeles was 12 percent."
    assert ask("What was the crime rate of Los Angeles?", context([text])).status != "answered"


def test_a_place_is_shown_for_a_light_verb_that_no_page_has() -> None:
    given = context([quote("Die Prüfung leitete Frau Dr. Silke Hahn in Kassel.")])
    stems = {"fand": 1.0, "statt": 1.0, "prufung": 0.5}
    answer = ask("Wo fand die Prüfung statt?", given.model_copy(update={"rarity": stems, "variety": 0.6}))
    assert answer.status != "abstained"


@pytest.mark.parametrize(
    "question",
    [
        "How many sailors does the company have?",
        "How many sailors does the cooperative have?",
        "Which of the boats have over 200,000 sailors?",
        "Who is the richest of the sailors?",
    ],
)
def test_a_place_is_shown_though_the_question_calls_it_otherwise(question: str) -> None:
    given = context([quote("We hired 96 sailors, and 1,284 sailors serve on all boats.")])
    stems = {
        "company": 1.0,
        "compani": 1.0,
        "cooper": 1.0,
        "cooperative": 1.0,
        "200000": 1.0,
        "richest": 1.0,
        "sailor": 0.5,
    }
    assert ask(question, given.model_copy(update={"rarity": stems, "variety": 0.6})).status != "abstained"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("When does the harbour lease end?", "2031"),
        ("When does the quay licence end?", "Never"),
        ("Does the quay licence end?", "Never"),
        ("When did the quay licence start?", "2020"),
        ("When does the mole licence end?", None),
        ("Who ends the harbour lease?", None),
        ("When was the harbour lease signed?", None),
    ],
)
@pytest.mark.parametrize(
    "table",
    [
        "Item | Harbour lease | Quay licence\nStarts | 2021 | 2020\nEnds | 2031 | Never",
        "Contract | Starts | Ends\nHarbour lease | 2021 | 2031\nQuay licence | 2020 | Never",
    ],
)
def test_cells_that_are_years_or_deny_tell_when(table: str, question: str, says: str | None) -> None:
    answer = ask(question, context([], [image("Table 1: Contracts", table, layout="table")]))
    assert (answer.status == "answered") == (says is not None)
    assert says is None or says in answer.text


@pytest.mark.parametrize(
    ("question", "text", "status"),
    [
        ("How large is the hall?", "The hall holds 400 people.", "answered"),
        ("How large is the hall?", "The hall seats 400.", "answered"),
        ("How big is the hall?", "The hall has room for 400 people.", "answered"),
        ("How large is the bus?", "The bus carries 52 passengers.", "answered"),
        ("How large is the hall?", "The hall holds 3 meetings a year.", "located"),
        ("How much is the fee?", "In 2010 the fee was 20 euros. Today the fee is 35 euros.", "answered"),
    ],
)
def test_for_how_many_there_is_room_tells_how_large(question: str, text: str, status: str) -> None:
    assert ask(question, context([text])).status == status


@pytest.mark.parametrize(
    ("question", "status"),
    [("What is the largest size?", "located"), ("At which offset is the size largest?", "answered")],
)
def test_a_row_that_is_named_by_a_number_is_the_highest_only_of_such_numbers(question: str, status: str) -> None:
    table = "Offset | Size\n0 | 16\n16 | 2\n18 | 1\n72 | 20"
    assert ask(question, context(images=[image("Table 1: The header", table, layout="table")])).status == status


def test_an_early_abstention_has_the_question_as_it_was_asked() -> None:
    question = "What does harbour.pdf say about wine?"
    nothing = ExtractiveGenerator().early_abstention(question, context([STORM]))
    assert nothing is not None
    assert nothing.question == question
