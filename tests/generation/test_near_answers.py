"""What comes near an answer, and is one only where it says what is asked for: of the thing itself, and as it is now."""

import pytest
from harbour_quotes import ask, context, image, quote


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who directed the film?", "The director of photography of the film was Ida Holm."),
        ("Who managed the project?", "The project was audited by Ida Holm, manager of the bank."),
        ("Who manages the shop?", "The manager of the shop next door is Ida Holm."),
        ("Who edited the book?", "The book was reviewed by Ida Holm, editor of the Times."),
        ("What is the length of the quay?", "The length of the bridge over the quay road is 40 m."),
        ("How much is the price of the ticket?", "The price of the meal is 12 euros with a ticket."),
        ("When is the opening of the museum?", "The opening of the shop beside the museum is on 3 May."),
        ("What is the capacity of the lift?", "The capacity of the hall with the lift is 200 persons."),
        ("What is the height of the tower?", "The height of the mast on the tower is 40 m."),
        ("What is the bean hopper?", "Refill the bean hopper (refer to display)."),
        ("Should I wear a helmet?", "Many wear a helmet."),
        ("Should I water the plants in winter?", "The plants are watered in winter."),
        ("When was the ship built?", "The ship, built in Skarn, was sold in 1990."),
        ("When was the ferry founded?", "Ada Byron founded the ferry, which runs in winter, in 1990."),
        ("Who supervised the work?", "Supervisor Ida Holm was not told of the work."),
        ("Who stole the painting?", "Ida Holm reported the theft of the painting."),
        ("How often is the filter cleaned?", "The filter was cleaned once, in 1998."),
        ("How often did the ships call?", "The ships that called are seven times as large."),
        ("How often should the oil be changed?", "The oil should not be changed every week."),
        ("What does the archive print?", "The tool that checks the archive prints a report."),
        ("What does Heron build?", "Heron was built by Holm."),
        ("What does the charger cool?", "The charger is cooled by a fan."),
        ("What does an incremental backup save?", "So why not do a full backup monthly, and incremental saves daily."),
        ("What does the parameter $# expand to?", "The parameter $@ expands to the words, one for each parameter."),
        ("Which screen types support rich text?", "Many screen types support a rich text mode with bold words."),
        ("How late is the library open?", "The library opens at 9:00."),
        ("How late is the library open?", "The library is open for weeks after the fair."),
        ("How big is the fund?", "The fund of 3 trustees meets on Monday."),
        ("How big is the house?", "The house is 200 metres from the station."),
        ("How large is the garden?", "The garden is 3 minutes from the sea."),
        ("How large is the garden?", "The garden is 30 °C warm."),
        ("How fast does the ferry run?", "The ferry runs 3 trips per hour."),
        ("How fast does the ferry go?", "The ferry has 50 Mbps as you go."),
        ("How fast does the pump turn?", "The pump turns off with a force of 5 kN."),
        ("What is the maximum load of the lift?", "Max Holm built the lift for a load of 300 kg."),
        ("What is the maximum load of the lift?", "The lift bore a load of 300 kg."),
        ("Is parking included in the rent?", "Feel free to ask about parking and the rent."),
        ("Are dogs allowed in the flat?", "The tenant asked for permission to keep dogs in the flat."),
        ("How high is the deposit?", "Before 2010 a deposit of 300 euros was usual."),
        ("How much is the fee for a boat?", "Until 2019 the fee for a boat was 30 euros."),
        ("What if my bicycle is stolen?", "The stolen bicycle was found."),
        ("When did the season begin?", "The new season begins on 23 September 2023."),
        ("When is the tower open?", "The tower was open until 1999."),
        ("When does the tower close?", "The tower closed in 1999."),
        ("Is the lift working?", "The lift was working in May 2010."),
        ("Did the club win the cup?", "The club will win the cup."),
        ("Who built the ship?", "Ida Holm built a model for the ship."),
        ("Who ran the school?", "Ida Holm ran the marathon for the school."),
        ("Who made the film?", "The film was not made by Ida Holm."),
        ("What colour is the roof?", "The roof is not red."),
        ("How often does the board meet?", "The board meets in the room that is cleaned every week."),
        ("Can I take the dog on the ferry?", "The dog of the captain sleeps on the ferry."),
        ("Can I take a taxi to the harbour?", "The taxi driver of the harbour sold a boat."),
        ("What colour are the tablets?", "The tablets stand on the red shelf."),
        ("What colour is the door?", "The door of the white house is new."),
        ("How early does the shop open?", "The shop is open until 20:00."),
        ("How much is a ticket for children over 14?", "A ticket for children under 14 costs 4 pounds."),
        ("What should I do if the plate dried out?", "The background is often high because the plate dried out."),
        ("How often is the pool cleaned?", "Every guest says that the pool is cleaned well."),
        ("How often is the pool cleaned?", "The pool is cleaned by each guest."),
        ("How large is the hall?", "The hall holds 3 keys."),
        ("What if it rains on the tour?", "The tour is in the rain forest."),
        ("When did the school open?", "The second school will open in May 2031."),
        ("Can children under 12 use the pool?", "Children from 12 to 17 years use the pool for 2 euros."),
        ("Can groups of more than 20 persons use the pool?", "Groups of up to 20 persons can use the pool."),
    ],
)
def test_what_comes_near_is_no_answer(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "located"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Who directed the film?", "The director of the film was Ida Holm."),
        ("Who managed the project?", "Ida Holm, manager of the project, left."),
        ("Who manages the shop?", "Ida Holm is the manager of the shop."),
        ("Who edited the book?", "The book was edited by Ida Holm."),
        ("What is the length of the quay?", "The quay length is 300 m, and the length of the bridge 40 m."),
        ("What is the cost of the course?", "The course is 300 euros; the cost of materials is extra."),
        (
            "What is the population of the city?",
            "The city has 90,000 people; the population of the shire is 2 million.",
        ),
        ("What is the height of the mast?", "The height of the mast on the tower is 40 m."),
        ("What is the name of the captain?", "The name of the ship's captain is Ada Byron."),
        ("What is the price of tickets?", "The price of our tickets is 4 euros."),
        ("When is the hull painted?", "The hull is cleaned in April and painted in May."),
        ("When was the ship sold?", "The ship, built in 1950, was sold in 1990."),
        ("Who supervised the work?", "Supervisor of the work: Ida Holm."),
        ("Who stole the painting?", "Ida Holm stole the painting."),
        ("How often is the filter cleaned?", "The filter is cleaned once a year."),
        ("How often did the ships call?", "The ships called seven times."),
        ("How often should the oil be changed?", "The oil should be changed every week."),
        ("How late is the library open?", "The library is open until 21:00."),
        ("How late is the library open?", "The library is open 9:00–21:00."),
        ("How big is the fund?", "The fund of $30 million meets on Monday."),
        ("How big is the house?", "The house of 200 square metres is old."),
        ("How large is the garden?", "The garden measures 30 by 40 metres."),
        ("How large is the garden?", "The garden measures 2 hectares."),
        ("How fast does the ferry run?", "The ferry runs at 30 km an hour."),
        ("How fast does the pump turn?", "The pump turns at 20 m/s."),
        ("What is the maximum load of the lift?", "Max. load of the lift: 300 kg."),
        ("Is parking included in the rent?", "Parking is free with the rent."),
        ("Are dogs allowed in the flat?", "Dogs in the flat need permission."),
        ("How high is the deposit?", "A deposit of 300 euros is usual."),
        ("How much is the fee for a boat?", "The fee for a boat is 30 euros."),
        ("What if my bicycle is stolen?", "If a bicycle is stolen, we pay 500 euros."),
        ("How fast is the ferry?", "The ferry reaches 12 knots."),
        ("When did the season begin?", "The season began on 24 September 2022."),
        ("When does the tower close?", "The tower closes at 18:00."),
        ("When is the tower open?", "The tower is open until 18:00, as it was in 1901."),
        ("Who founded the club?", "Those who do not swim say that Ida Holm founded the club."),
        ("Who settled in the county?", "The Danes of Ola Ros settled first in the north of the county."),
        ("Who built the ship?", "In Osk Ida Holm built the big ship in two years."),
        ("Who ran the school?", "The school that Ida Holm ran was closed in 1950."),
        ("How often does the board meet?", "The board meets every week in the room that is clean."),
        ("Can I take my dog on the ferry?", "Dogs may travel on the ferry."),
        ("Can I get a refund for a lost ticket?", "There is no refund for a lost ticket."),
        ("How early does the shop open?", "The shop opens at 9:00."),
        ("How often does the bus run?", "Buses run every 20 minutes."),
        ("How often is the pool cleaned?", "The pool is cleaned after each use."),
        ("How much is a ticket for children under 14?", "A ticket costs 9 pounds, and for children under 14 4 pounds."),
        ("What should I do if nobody is home?", "Nobody home: try a neighbour."),
        ("What should I do if the plate dried out?", "If the plate dried out, use another one."),
        ("When does the season begin?", "The season begins on 23 September 2023."),
        ("Can children under 12 use the pool?", "Children under 12 must not use the pool."),
        ("Can groups of more than 20 persons use the pool?", "Groups of more than 20 persons can use the pool."),
        (
            "Can I take the cat in the first three months of the year?",
            "The cat may not come in the first three months of the year.",
        ),
        ("Who makes the tablets?", "The tablets are made by Castel Labs in Porto."),
        ("What does the tool print?", "The tool that checks the archive prints a report."),
        ("What does the fan cool?", "The charger is cooled by a fan."),
        ("What does an incremental backup save?", "An incremental backup saves what has changed since the last one."),
        ("What does the parameter $# expand to?", "The parameter $# expands to the number of words."),
        ("What does the tide gauge measure?", "The tide gauge measures the level of water every minute."),
        ("What did the board approve?", "The board approved the budget in May."),
        ("Which cabins have heated floors?", "Many cabins, such as Heron and Gull, have heated floors."),
        ("What colour are the tablets?", "The tablets are round and pale yellow."),
        ("What is Zelvotrin used for?", "Zelvotrin is a drug of Castel Labs. It is used for hay fever."),
    ],
)
def test_what_says_what_is_asked_for_is_one(question: str, text: str) -> None:
    assert ask(question, context([text])).status == "answered"


@pytest.mark.parametrize(
    ("text", "answers"),
    [("Water is included.", True), ("Hot water is included.", False), ("Water damage is included.", False)],
)
def test_a_part_of_it_is_another_thing_under_a_heading(text: str, answers: bool) -> None:
    answer = ask("Is water included in the rent?", context([quote(text, section="Rent")]))
    assert (answer.status == "answered") == answers


@pytest.mark.parametrize(
    ("question", "heading", "text", "answers"),
    [
        ("What should I do if the pump does not start?", "The pump does not start", "See page 4.", False),
        (
            "What should I do if the pump does not start?",
            "The pump does not start",
            "This fault was common in 1998.",
            False,
        ),
        ("What should I do if the pump does not start?", "The pump does not start", "Boil it in water.", True),
        ("What should I do if the pump leaks?", "The pump leaks", "Oil from the pump can stain wood.", False),
        ("What should I do if the pump leaks?", "The pump leaks", "Leaky pumps came from Osk.", False),
        ("Why is the pump loud?", "The pump is loud", "This is because the wheel is worn.", True),
        ("Why is the pump loud?", "The pump is loud", "Ida sold it because it is old.", False),
        ("Why is the pump loud?", "The pump is loud", "Use the other one instead, because it is quieter.", False),
    ],
)
def test_below_the_case_asked_of_stands_what_to_do_or_its_reason(
    question: str, heading: str, text: str, answers: bool
) -> None:
    assert (ask(question, context([quote(text, section=heading)])).status == "answered") == answers


def test_one_of_so_much_is_the_only_one_that_is_told_of() -> None:
    battery, frame = "The battery has a warranty of two years.", "The frame has a warranty of ten years."
    assert ask("How long is the warranty?", context([battery])).status == "answered"
    assert ask("How long is the warranty?", context([battery, frame])).status == "located"
    assert (
        ask("How long is the warranty?", context([battery, battery.replace("battery", "frame")])).status == "answered"
    )


@pytest.mark.parametrize(
    ("question", "rows", "says"),
    [
        ("Who scored the most goals?", "Player | Goals\nAda Byron | 17\nIda Holm | 15\nOla Ros | 9", "Ada Byron"),
        ("Who scored the most goals?", "Player | Goals\nAda Byron | 17\nOthers | 35\nOla Ros | 9", None),
        (
            "Who scored the most goals?",
            "Player | Goals\nAda Byron | 17\nOthers | 35\nOla Ros | 9\nIda Holm | 8",
            "Ada Byron is",
        ),
        (
            "How many goals did Skarn have?",
            "Pos. | Club | Goals\n1 | Osk | 17\n2 | Skarn | 15\n3 | Holm | 9",
            "Skarn (Goals: 15",
        ),
        ("Who scored the most goals?", "Team | Goals\nMerrow United | 17\nOld Skarn | 15\nOsk Rovers | 9", None),
        ("Who has the most goals?", "Island | Goals\nNorway | 17\nSweden | 15\nDenmark | 9", None),
        (
            "Which club has the highest number of goals?",
            "Club | Goals\nSkarn | 17\nOsk | 15\nOthers | 9",
            "Skarn is the highest",
        ),
        ("Which club has the highest number of goals?", "Club | Goals\nSkarn | 17\nOsk | 15\nOthers | 90", None),
        ("Which club has the lowest number of goals?", "Club | Goals\nSkarn | 17\nOsk | 15\nOthers | 90", None),
    ],
)
def test_who_has_the_most_is_a_person_and_the_most_is_of_one(question: str, rows: str, says: str | None) -> None:
    answer = ask(question, context(["The goals are listed."], [image("Goals", rows, layout="table")]))
    assert (answer.status == "answered") == (says is not None)
    assert says is None or says in answer.text


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("What is the fee for a fishing licence?", "55"),
        ("What is the fee for a drone license?", "30"),
        ("When was Thomas Gray of the state born?", None),
    ],
)
def test_both_spellings_of_a_word_count_where_both_stand_in_what_was_found(question: str, says: str | None) -> None:
    texts = ["The fee for a drone licence is 30 euros.", "The fee for a fishing license of the state is 55 euros."]
    answer = ask(question, context([*texts, "Thomas Grey of the state was born in 1950. Gray hair is no fee."]))
    assert (answer.status == "answered") == (says is not None)
    assert says is None or says in answer.text


def test_what_is_so_in_summer_bears_on_the_winter() -> None:
    given = context(["The pool is 25 metres long. It is open in summer only."])
    given = given.model_copy(update={"rarity": {"use": 1.0, "winter": 1.0, "pool": 0.6}, "variety": 0.2})
    assert ask("Can I use the pool in winter?", given).status == "located"
    assert ask("Can I use the sauna in winter?", given).status == "abstained"


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("How much does a boat for two persons cost?", True),
        ("How much does a boat for 4 persons cost?", True),
        ("How much does a boat for 3 persons cost?", False),
    ],
)
def test_a_number_before_what_it_counts_is_one_in_words_and_in_digits(question: str, answers: bool) -> None:
    texts = ["A boat for 2 persons costs 30 euros.", "A boat for four persons costs 50 euros."]
    assert (ask(question, context(texts)).status == "answered") == answers


def test_additional_things_are_not_those_that_are_counted() -> None:
    told = "The authors collect 11 rules. The annex has 39 additional rules for the authors to collect."
    answer = ask("How many rules did the authors collect?", context([told]))
    assert answer.status == "answered"
    assert "11 rules" in answer.text
    assert "39" not in answer.text


@pytest.mark.parametrize(
    ("question", "texts", "answers"),
    [
        ("What does -x do?", ["-x Print each command."], True),
        ("What does --quiet do?", ["-q, --quiet: Print no messages."], True),
        ("What does the errexit option do?", ["The errexit option is new.", "errexit Leave at once."], True),
        ("What does the keep option do?", ["--keep: Keep the folder after a run."], True),
        ("What does the k option do?", ["--keep: Keep the folder after a run."], False),
        ("What does -X do?", ["-x Print each command."], False),
        ("What does -x do?", ["The -x and -v options are turned off."], False),
        ("What does -x do?", ["-x Print each command.", "-x Mark each name for export."], False),
    ],
)
def test_an_entry_of_a_manual_tells_what_its_sign_or_term_does(question: str, texts: list[str], answers: bool) -> None:
    answer = ask(question, context(texts))
    assert (answer.status == "answered") is answers
    assert not answers or "new" not in answer.text


@pytest.mark.parametrize(
    ("question", "answers"),
    [("Who won the 10 km?", True), ("Who ran the 10 km?", False), ("Who gave the 10 km?", False)],
)
def test_a_column_of_doers_names_those_who_did_it_alone(question: str, answers: bool) -> None:
    table = image("Osk Run", "Date | Run | Winner\n3 May | 10 km | Ida Holm\n9 May | 21 km | Ada Byron", layout="table")
    assert (ask(question, context([], [table])).status == "answered") is answers
