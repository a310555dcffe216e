"""What a statement gives of another than the question asks about, told by names and by who says "we"."""

import pytest
from harbour_quotes import ask, context, quote

ROWING = "Rowing and Canoe Club"
CLUB = "Minutes of the Rowing Club Holm"


def status(question: str, *texts: str, title: str = CLUB, section: str | None = None) -> str:
    quotes = [quote(text, document="note.md", section=section) for text in texts]
    return ask(question, context(quotes).model_copy(update={"titles": {"note.md": title}})).status


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the membership fee?", "The membership fee of the Skiff Club is 90 euros."),
        ("What is the membership fee?", "The Skiff Club's membership fee is 90 euros."),
        ("How many members does the club have?", "Our neighbour, the Skiff Club, has 240 members."),
        ("How many members does the club have?", "The neighbouring club has 240 members."),
        ("How many members does the Rowing Club Holm have?", "Its rival Varde Rowing has 240 members."),
        ("How many offers were received?", "The municipality of Teich received seven offers."),
        ("How long is the boathouse?", "Their boathouse is 30 metres long."),
        ("How much does a locker cost?", "At the Skiff Club, a locker costs 9 euros."),
        ("How much does a locker cost?", "In Varde a locker costs 9 euros."),
        ("How much is the fee?", "A fee of 90 euros is charged by the Skiff Club."),
        ("What is the telephone number?", "Telephone of the Skiff Club: 555 0190."),
        ("When does the regatta in Holm begin?", "The regatta in Varde begins at 10:00."),
        ("Who is the mayor of Holm?", "The council thanked Mayor Lise Dahl of Norby for the plough."),
        ("Who is the chair of the Holm council?", "The chair of the Varde council, Colin Marsh, was a guest."),
        ("Wer ist die Vorsitzende?", "Die Vorsitzende des TSV Moosach ist Karin Bohl."),
        ("Was kostet die Halle?", "Beim TSV Moosach kostet die Halle 15 Euro."),
        ("Wie viel Hafer ernten wir?", "Unser Nachbarhof Lohse erntet 9 t Hafer."),
    ],
)
def test_what_is_said_of_another_that_is_named_is_no_answer(question: str, text: str) -> None:
    assert status(question, text) != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the membership fee?", "The membership fee of the Rowing Club is 90 euros."),
        ("What is the membership fee of the Skiff Club?", "The membership fee of the Skiff Club is 90 euros."),
        ("How many members does the Skiff Club have?", "Our neighbour, the Skiff Club, has 240 members."),
        ("How many people does the supplier employ?", "The supplier Kartonia employs 640 people."),
        ("How many steps does the tower have?", "The Skarn Tower has 80 steps."),
        ("How many flats will the new building have?", "The new building on Mill Lane will have 12 flats."),
        ("Who is the architect of the school?", "The architect of the school in Teich is Nils Roth."),
        ("Who is the mayor of Varde?", "The mayor of Varde, Ida Storm, was a guest."),
        ("When was the slipway built?", "The slipway was built in 1931 by the town of Varde."),
        ("How many boats can I hire?", "A member (and all ABC guests) can hire a maximum of 3 boats."),
        ("When was the survey conducted?", "The National Survey of Latinos was conducted in May 2015."),
        ("How many children eat in the canteen?", "Ms Tanaka reported that 62 of 140 children eat in the canteen."),
        ("How much is the membership fee?", "The Association's membership fee is 900 euros."),
        ("How many boats were bought?", "In May, the Company bought nine boats."),
        ("Wer ist der Kassenwart?", "Unser Kassenwart ist Jens Thal."),
        ("Wer ist die Vorsitzende?", "Die Vorsitzende des Rudervereins Holm ist Karin Bohl."),
        ("How much did the bridge cost?", "The bridge, designed by Elsa Brandt, cost 2 million euros."),
        ("How much does the insurance cost?", "The insurance costs 900 euros a year at Alka."),
        ("When was the mayor elected?", "Ella Strand, the mayor, was elected in 2019."),
        (  # whose names are not read
            "À combien s'élèvent les dépenses ?",
            "M. Paul Girard a présenté les comptes : les recettes s'élèvent à 8 450 € et les dépenses à 7 310 €.",
        ),
    ],
)
def test_what_is_said_of_the_thing_asked_about_is_one_with_a_name_too(question: str, text: str) -> None:
    assert status(question, text) == "answered"


@pytest.mark.parametrize(
    ("question", "title", "answers"),
    [
        ("Who is the captain of Corby?", "Ashby beat Corby", False),
        ("Who is the captain of Ashby?", "Ashby beat Corby", True),
        ("Who is the captain of Corby?", "Corby beat Varde", False),
        ("Who is the captain of Ashby?", "Ashby and Corby", True),
    ],
)
def test_whose_captain_it_is_stands_before_the_word(question: str, title: str, answers: bool) -> None:
    text = "Corby lost after the Ashby captain Dan Wells had scored."
    assert (status(question, text, title=title) == "answered") == answers


def test_a_word_of_the_name_in_the_title_is_no_other() -> None:
    text = "The prize of Holm went to the Rowing captain Dan Wells."
    assert status("Who is the captain of Holm?", text, title="Notes of the Holm Rowing Club") == "answered"


def test_without_a_title_no_name_is_that_of_another() -> None:
    assert status("What is the membership fee?", "The membership fee of the Skiff Club is 90 euros.", title="") == (
        "answered"
    )


@pytest.mark.parametrize(
    ("question", "text", "section", "answers"),
    [
        ("How many boats do we keep?", 'A fisher from Tved said: "We keep 95 boats."', None, False),
        ("How many boats does the Rowing Club Holm keep?", 'A fisher said: "We keep 95 boats."', None, False),
        ("How many boats does the fisher keep?", 'A fisher from Tved said: "We keep 95 boats."', None, True),
        ("How many boats do we keep?", "We keep 95 boats.", None, True),
        ("How long has the club waited?", "“Our road is bad. We have waited for ten years.”", None, False),
        ("Wie weit fährt der Verein?", "Eine Mutter schreibt: „Wir fahren 12 Kilometer.“", None, False),
        ("When was the bridge built?", 'We were told: "The bridge was built in 1931."', None, True),
        ("How many boats do we keep?", "We keep 95 boats.", "Letter from a fisher", False),
        ("How many boats do we keep?", "We keep 95 boats.", "Boats of the club", True),
        ("How many boats does the club keep?", "Ada wrote:\n> Thanks.\n> We keep 95 boats.", None, False),
        ("How many boats do we keep?", "Ada wrote:\n> Thanks.\n> We keep 95 boats.", None, True),
        ("How many boats does the club keep?", "On 3 May Ada wrote:\nThanks. We keep 95 boats.", None, False),
        ("How many boats do we keep?", "On 3 May Ada wrote:\nThanks. We keep 95 boats.", None, True),
        ("How many boats does the club keep?", "Thanks!\n-----Original Message-----\nWe keep 95 boats.", None, False),
        ("How many boats does the club keep?", "Ada wrote:\n> Thanks.\nWe keep 95 boats.", None, True),
        ("How many boats does the fisher keep?", "We keep 95 boats.", "Letter from a fisher", True),
    ],
)
def test_we_are_those_who_speak_or_write(question: str, text: str, section: str | None, answers: bool) -> None:
    assert (status(question, text, section=section) == "answered") == answers


@pytest.mark.parametrize(
    ("question", "text", "answers"),
    [
        ("How many members does the club have?", "The club has 7 junior members.", False),
        ("How many junior members does the club have?", "The club has 7 junior members.", True),
        ("How many members does the club have?", "The club has 70 members.", True),
        ("How many boats are used by the club?", "The club rows nine widely-used boats.", True),
        ("Wie viele Mitglieder hat der Verein?", "Der Verein hat 45 junge Mitglieder.", False),
        ("Wie viele junge Mitglieder hat der Verein?", "Der Verein hat 45 junge Mitglieder.", True),
        ("How many boats were launched in May?", "The Ida, the fourth of the seven boats, was launched in May.", False),
    ],
)
def test_the_number_of_some_is_not_that_of_all(question: str, text: str, answers: bool) -> None:
    assert (status(question, text) == "answered") == answers


def test_a_title_with_and_names_one_thing_where_the_question_has_it_whole() -> None:
    founded = "The club was founded in 1921."
    assert status("When was the Rowing and Canoe Club founded?", founded, title=ROWING, section=ROWING) == "answered"
    of_several = "Handbook for juniors and adults"
    assert status("What is the fee for juniors?", "The fee is 9 euros.", title=of_several) != "answered"
