"""Plain questions on everyday texts whose grammar says what answers them, each beside near misses."""

import pytest
from harbour_quotes import ask, context, image, quote

from quoteweave.core.records import Quote
from quoteweave.generation.extractive.criteria.ellipsis import filled_in_clauses
from quoteweave.generation.gate.dates import months_within

LOCK = "How do I turn on the child lock?"
RINK = "The rink costs 4 euros from November to February, the skate park 2 euros from March to October."
SWARMS = "In 2023, members caught 41 swarms, nine of them were in church towers."


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where can I buy rolls?", "Fresh rolls are sold at the kiosk on the market square from 6:30 am."),
        ("Where can I buy maps?", "Maps can be bought at the kiosk."),
        ("Where can I buy season tickets?", "Season tickets are sold at the till; a photograph is needed."),
        ("Where do I find spare fuses?", "You will find spare fuses in the drawer below the cooker."),
        ("Where can I get coffee?", "Coffee and sandwiches are to be had in the saloon."),
        ("Where is the key?", "The key is in the small safe beside the door."),
        ("Where do helpers meet?", "Helpers meet at 9 am at the slipway."),
        ("Where does Year 2 go?", "Year 2 goes to Chester Zoo."),
        ("Where does waste with salt go?", "Waste with salt goes into the blue bin, oil into the yellow one."),
        ("Where may I smoke?", "Smoking is allowed on the balcony only."),
        (LOCK, "The child lock is turned on by pressing both arrow keys."),
        ("How do I turn off the radio?", "The radio is switched off by pressing the red key."),
        ("When is the hot water turned off?", "The hot water is switched off from November to February."),
        ("How long is the bridge?", "The bridge, 62 metres long, may be used by cyclists."),
        ("How many lessons does a course have?", "A course comprises twelve lessons and costs 110 euros."),
        ("May I bring my dog?", "Dogs must stay outside."),
        ("Can I bring a phone?", "Mobile phones have to stay at home."),
        ("Are towels included?", "Towels are not included."),
        ("Are towels included?", "Bed linen is included, towels are not."),
        ("How much is a sun bed?", "A locker costs 1 euro, a sun bed 4 euros a day."),
        ("How high is the smallest grant?", "The largest grant is 6,000 euros, the smallest 500 euros."),
        (
            "When is the blue bin emptied?",
            "The grey bin is emptied on Mondays, and the blue one on every second Friday.",
        ),
        ("How many swarms were in church towers?", SWARMS),
        ("What is the rent in July?", "The rent is 840 euros in spring and 1,120 euros from June to August."),
        ("How much did the Heron cost?", "The Heron was bought for 1,870 euros."),
        ("What does the rink cost in January?", RINK),
        ("What does the skate park cost in July?", RINK),
        ("When did the survey take place?", "The survey took place between April and October."),
        ("How many gardens were surveyed?", "In all, 120 gardens were surveyed."),
        ("How much do knives cost?", "A knife costs 9 euros."),
        ("What does the wax melter cost?", "The wax melter is free of charge, but must be booked."),
    ],
)
def test_a_plain_sentence_answers(question: str, text: str) -> None:
    assert ask(question, context([text])).text.startswith(text.rstrip("."))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where can I buy rolls?", "Rolls are sold at the weekend."),
        ("Where can I buy rolls?", "Roll holders are sold at the kiosk."),
        ("Where can I buy rolls?", "Rolls are not sold at the kiosk."),
        ("Where can I buy a boat?", "Boats are hired at the kiosk."),
        ("Where can I hire a boat?", "Boats are sold at the kiosk."),
        ("Where can I get a map?", "The map is available in the spring."),
        ("Where do I find the fuses?", "You will find the fuse wire in the drawer below the cooker."),
        ("Where is the key?", "The key of the shed is in the small safe beside the door."),
        ("Where is the key?", "The key is in a poor state."),
        ("Where is the shed key?", "The house key is in the small safe."),
        ("Where do helpers meet?", "Members meet at 9 am at the slipway, helpers get a cake."),
        (LOCK, "The child lock is turned off by pressing both arrow keys."),
        (LOCK, "The child lock is not turned on by pressing both arrow keys."),
        ("How long is the bridge?", "The path to the bridge, 62 metres long, is steep."),
        ("How high is the bridge?", "The bridge, 62 metres long, may be used by cyclists."),
        ("How long is the old bridge?", "The new bridge, 62 metres long, may be used by cyclists."),
        ("How many members does the club have?", "The club includes 7 junior members."),
        ("May I bring my cat?", "Dogs must stay outside."),
        ("Is parking included?", "Bed linen is included, towels are not."),
        ("Is the door locked?", "If the door is locked, ring the bell."),
        ("How high is the middle grant?", "The largest grant is 6,000 euros, the smallest 500 euros."),
        ("When is the green bin emptied?", "The grey bin is emptied on Mondays, and the blue one on Fridays."),
        ("How many swarms were in church towers in 2022?", SWARMS),
        ("What is the rent in April?", "The rent is 840 euros in winter and 1,120 euros from June to August."),
        ("How much is a week in July?", "From June to August: 62 euros, 390 euros."),
        ("When did the survey take place?", "During the survey, most visits took place between 11 pm and 2 am."),
        ("How many gardens were surveyed?", "In 2019, a smaller survey with 60 gardens found hedgehogs in 31."),
        ("How many guests came in July?", "From June to August, 300 guests came."),
        ("How much did the Heron cost?", "The Heron was repaired by the yard Lemke for 1,870 euros."),
        ("What does the boat cost?", "The oars of the boat are sold for 70 euros."),
        ("What does the boat cost?", "The boat oars are sold for 70 euros."),
        ("What does the boat cost?", "The fuel of the boat is free of charge."),
        ("What does the wax melter cost?", "The wax melter is free of charge for pupils."),
        ("Where can I buy eggs?", "Eggs are sold in a box of six."),
        ("Where can I get programmes?", "Programmes are available in the English language."),
        ("Where can I buy corn?", "Corn is bought at the gate."),
        ("Where can I find a wallet?", "A wallet was found at the pond."),
        ("Where can I get wool?", "Wool is seldom available in the shop."),
        ("Where is the statue?", "The statue is on a loan."),
        ("Where is the bridge?", "The bridge is in the news again."),
        ("Where does Year 2 go?", "Children in Reception, Year 1 and Year 2 eat free."),
        ("Where may I smoke?", "Smoking is not allowed on the balcony."),
        ("Where may I smoke?", "Fishing is allowed on the balcony, and people smoke."),
        ("How do I clean the filter?", "The tank is cleaned by shaking the filter."),
        ("May I bring children?", "Children must remain outside the kitchen."),
        ("May I bring guests?", "Guests must stay at home if they are ill."),
        ("When is the garden open?", "The roof terrace is not open on Mondays, the garden on Tuesdays."),
        ("What does the fair cost in July?", "The fair costs 5 euros, except from June to August."),
        (
            "How much do boats of 8 metres pay in June?",
            "Boats of 8 metres pay 12 euros a night, not from June to July.",
        ),
        ("What does the slipway cost in May?", "The slipway costs 9 euros except from May to June."),
        ("What is the rent in May?", "The rent is 80 euros; registration runs from April to June."),
        ("What does the rink cost in July?", RINK),
        ("What do lessons for adults cost in July?", "From June to August, lessons cost 60 euros."),
        ("What does the boat cost?", "The boat was bought for 200 euros."),
        ("How much did the boat cost?", "The boat was sold for 200 euros."),
        ("What does the tour cost?", "For children the tour is free of charge."),
    ],
)
def test_what_is_said_of_another_thing_act_or_time_does_not(question: str, text: str) -> None:
    assert ask(question, context([text])).status != "answered"


def quote_of_flat(text: str, section: str) -> Quote:
    return quote(text, section=section, document="flat.md", has_pages=False)


@pytest.mark.parametrize(
    ("question", "section", "text", "answers"),
    [
        ("Where is the key to the flat?", "Arrival", "The key is in the small safe beside the door.", True),
        ("How high is the deposit for the flat?", "Rent", "The deposit of 500 euros is paid on arrival.", True),
        ("Where do the guests of the flat meet?", "Arrival", "We meet on Mondays at 7 pm in the garden.", False),
        ("Where is the key to the shed?", "Arrival", "The key is in the small safe beside the door.", False),
        ("How high is the deposit for the boat?", "Rent", "The deposit of 500 euros is paid on arrival.", False),
        ("Where is the key to the flat?", "Bicycle shed", "The key is in the small safe beside the door.", False),
        ("How high is the deposit for the flat?", "The anglers' hut", "The deposit is 500 euros.", False),
        ("How high is the deposit for the flat?", "Branch in Sorn", "The deposit is 500 euros.", False),
    ],
)
def test_what_the_document_is_about_need_not_be_repeated(question: str, section: str, text: str, answers: bool) -> None:
    other = quote_of_flat("Hand the key over on departure, or pay 80 euros.", "Departure")
    others = [other] if section == "Bicycle shed" else []
    given = context([quote_of_flat(text, section), *others])
    assert (ask(question, given).status == "answered") == answers


def test_we_are_those_of_whom_the_document_is() -> None:
    met = quote("We meet on Fridays at 7.30 pm in the schoolhouse.", section="Meetings", document="beekeepers.md")
    assert ask("Where do the beekeepers meet?", context([met])).status == "answered"
    assert ask("Where do the fishermen meet?", context([met])).status != "answered"
    letter = quote("We meet on Monday at 7:45 in the school yard.", section="Travel", document="letter.md")
    sent = context([letter]).model_copy(update={"titles": {"letter.md": "Letter to parents"}})
    assert ask("Where do the parents meet?", sent).status != "answered"
    complaint = context([met]).model_copy(update={"titles": {"beekeepers.md": "Complaints about the beekeepers"}})
    assert ask("Where do the beekeepers meet?", complaint).status != "answered"


def test_the_year_of_the_title_is_that_of_what_it_says() -> None:
    told = quote(
        "The pool has three basins. It opens on 10 May.", section="Pool: times and prices 2025", document="p.md"
    )
    given = context([told]).model_copy(update={"titles": {"p.md": "Pool: times and prices 2025"}})
    assert ask("When does the pool open in 2025?", given).status == "answered"
    assert ask("When does the pool open in 2024?", given).status != "answered"
    for text in ("Last year 300 guests came.", "Until 2024 a ticket cost 4 euros."):
        earlier = context([quote(text, section="Pool: times and prices 2025", document="p.md")])
        earlier = earlier.model_copy(update={"titles": given.titles})
        assert ask("How many guests came in 2025?", earlier).status != "answered"
        assert ask("What did a ticket cost in 2025?", earlier).status != "answered"


def test_the_title_does_not_name_where_a_train_to_another_place_goes() -> None:
    told = quote("The train to Kiel leaves at 9:40.", section="Travel", document="guide.md", has_pages=False)
    for title, answers in (("Guide to Oslo", False), ("Guide to Kiel", True)):
        given = context([told]).model_copy(update={"titles": {"guide.md": title}})
        place = title.removeprefix("Guide to ")
        assert (ask(f"When does the train to {place} leave?", given).status == "answered") == answers


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Are dogs allowed in the Birkenhof?", "Dogs are not allowed."),
        ("How high is the deposit in the Birkenhof?", "The deposit is 300 euros."),
    ],
)
def test_the_title_does_not_name_what_a_heading_says_is_another(question: str, text: str) -> None:
    for heading, answers in (("Rules", True), ("The other flat", False)):
        told = quote(text, section=heading, document="guide.md", has_pages=False)
        given = context([told]).model_copy(update={"titles": {"guide.md": "Guide to the Birkenhof"}})
        assert (ask(question, given).status == "answered") == answers


@pytest.mark.parametrize(
    ("question", "heading", "text", "answers"),
    [
        ("When is the next meeting?", "Next meeting", "25 June 2024, 6 pm, room 12.", True),
        ("When is the next trip?", "Next meeting", "25 June 2024, 6 pm, room 12.", False),
        ("When was the next meeting announced?", "Next meeting", "25 June 2024, 6 pm, room 12.", False),
        ("When is the next meeting?", "Next meeting", "25 June 2024: the hall is painted.", False),
        (
            "When is the next meeting?",
            "7. Date of next meeting",
            "Tuesday, 25 June 2024, 18:00, as room 12 is let.",
            True,
        ),
        ("When is the next meeting?", "7. Date of last meeting", "Tuesday, 25 June 2024.", False),
        ("When is the next meeting?", "7. Date of next meeting", "On 25 June 2024 the hall is painted.", False),
        ("When is the next meeting?", "After the next meeting", "25 June 2024, 6 pm, room 12.", False),
        ("How do I change the hours of night mode?", "Night mode", "To change the hours, turn the knob.", True),
        ("How do I change the hours of day mode?", "Night mode", "To change the hours, turn the knob.", False),
        ("How do I leave night mode?", "Night mode", "To change the hours, turn the knob.", False),
        ("How do I change the line of rods with a reel?", "Rods without a reel", "To change the line, cut it.", False),
    ],
)
def test_a_heading_names_what_the_sentence_below_tells_of(
    question: str, heading: str, text: str, answers: bool
) -> None:
    below = quote(text, section=heading, document="minutes.md", has_pages=False)
    assert (ask(question, context([below])).status == "answered") == answers


TIMES = "Months | Monday | Weekend\nMay | closed | 9:00 - 19:00\nJune to August | 12:00 - 20:00 | 8:00 - 20:00"


def test_a_row_of_months_is_that_of_each() -> None:
    table = quote(TIMES, layout="table", caption="Opening times", image="ab/ab.png")
    assert "12:00" in ask("What are the opening times on Mondays in July?", context(images=[table])).text
    april = ask("What are the opening times on Mondays in April?", context(images=[table]))
    assert april.status != "answered"


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Linen is included, towels are not.", ["Towels are not included."]),
        ("A locker costs 1 euro, a sun bed 4 euros.", ["A sun bed costs 4 euros."]),
        ("The fee is due by 3 May, the remainder by 11 June.", ["The remainder is due by 11 June."]),
        ("In 2023 it had 164 members; 52 of them were pupils.", ["In 2023 52 members were pupils."]),
        ("We saw 12 gardens with 3 tunnels; 4 of them were new.", []),
        ("It closes at 8 pm, on Saturdays at 6 pm.", []),
        ("The lake is 3 km long, at most 40 m deep.", []),
        ("The rent is 840 euros in winter and 1,120 euros in summer.", []),
    ],
)
def test_a_clause_is_filled_in_from_the_one_before(text: str, clauses: list[str]) -> None:
    assert filled_in_clauses(text) == clauses


@pytest.mark.parametrize(
    ("text", "months"),
    [
        ("from November to January", {"novemb", "decemb", "januari"}),
        ("10 May to 4 August", {"june", "juli"}),
        ("June 2024 to August 2025", set()),
        ("May or June", set()),
    ],
)
def test_months_are_within_a_span_that_holds_them_wholly(text: str, months: set[str]) -> None:
    assert months_within(text) == months


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("How long is the warranty in Norway?", True),
        ("How long is the warranty in Sweden?", False),
        ("How long is the lease in Norway?", False),
    ],
)
def test_it_behind_a_place_or_case_is_the_thing_of_the_sentence_before(question: str, answers: bool) -> None:
    told = context([quote("The warranty is two years from purchase. In Norway it is five years.")])
    answer = ask(question, told)
    assert (answer.status == "answered") == answers
    assert not answers or "In Norway it is five years" in answer.text


TRIPS = (
    "Year | Destination | Date | Cost (£)\nYear 3 | Dover Castle | 3 June | 14\nYear 4 | Science Museum | 10 June | 22"
)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("How much does the trip to the Science Museum cost?", "Science Museum (Cost (£): 22)"),
        ("How much does the trip to the Science Museum in Rome cost?", None),
        ("How much does the lunch at the Science Museum cost?", None),
        ("Where does Year 3 go?", "Year 3 (Destination: Dover Castle)"),
        ("Where does Year 5 go?", None),
    ],
)
def test_a_price_or_destination_is_looked_up_by_any_cell(question: str, says: str | None) -> None:
    # The name of the table is its caption, or the heading above it.
    for table in (image("Trips", TRIPS, layout="table"), image(None, TRIPS, layout="table", section="Trips")):
        answer = ask(question, context([], [table]))
        assert (answer.status == "answered") == (says is not None)
        assert says is None or says in answer.text
