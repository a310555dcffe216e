"""A value answers only where it is told as a fact, as it is now, and of the very thing that the question asks about."""

import pytest
from harbour_quotes import ask, context, quote


def _status(question: str, *texts: str) -> str:
    return ask(question, context(texts)).status


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How much is the rent?", "The landlord offered a rent of 300 euros."),
        ("How much is the fee?", "The council considered a fee of 20 euros."),
        ("How much is the rent?", "We expected a rent of 300 euros."),
        ("How high is the discount?", "The dealer offered a discount of 12 %."),
        ("What is the membership fee?", "They proposed a membership fee of 40 euros."),
        (
            "What is the speed limit in the harbour?",
            "The committee recommended a speed limit of 30 km/h in the harbour.",
        ),
        ("How many engineers does the company have in Skarn?", "The company plans to hire 40 engineers in Skarn."),
        ("When does the pool open?", "The members want the pool to open in May 2031."),
        ("How much is the rent?", "If the rent is 300 euros, the tenant pays 30 euros."),
    ],
)
def test_what_is_only_wanted_or_supposed_is_no_fact(question: str, text: str) -> None:
    assert _status(question, text) == "located"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the discount?", "The dealer offers a discount of 12 %."),
        ("How high is the pressure?", "The maker recommends a pressure of 4 bar."),
        ("What fee does the council plan?", "The council plans a fee of 20 euros."),
        ("How many adults did the survey ask?", "The survey asked 1,500 adults about boats."),
        ("How many employees does the company have?", "The company has 300 employees and plans to hire 40 engineers."),
        ("How much is the ticket to the island?", "If you come early, the ticket to the island is 30 euros."),
    ],
)
def test_what_is_offered_still_or_asked_for_is_told(question: str, text: str) -> None:
    assert _status(question, text) == "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the insurance premium?", "The premium includes insurance tax of 19 %."),
        ("How much is the annual premium?", "The annual premium for the boat includes insurance tax of 19 euros."),
        ("How much does the tour cost?", "The price of the tour includes a deposit of 40 euros for the key."),
        ("How much is the monthly rent of the flat?", "The monthly rent of the flat covers heating of 80 euros."),
    ],
)
def test_a_part_of_a_sum_is_not_the_sum(question: str, text: str) -> None:
    assert _status(question, text) == "located"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the insurance tax?", "The premium includes insurance tax of 19 %."),
        (
            "How much is the ticket to the island?",
            "The ticket to the island costs 30 euros, including 3 euros for a guide.",
        ),
        ("What is the deposit for the key?", "The price of the tour includes a deposit of 40 euros for the key."),
        ("How large is the oil tank?", "The oil tank contains 60 litres."),
    ],
)
def test_the_part_itself_and_a_sum_with_its_part_are_told(question: str, text: str) -> None:
    assert _status(question, text) == "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the membership fee?", "The membership fee was 20 euros in 2010."),
        ("How much is the membership fee?", "The membership fee was 20 euros when the club began."),
        ("How many inhabitants does the town have?", "In 2010 the town had 4,000 inhabitants."),
        ("Who is the director of the museum?", "In 2010 the director of the museum was Ida Holm."),
        ("What is the share of women in the club?", "In 2010 the share of women in the club was 20 %."),
    ],
)
def test_what_was_once_is_not_what_is_so(question: str, text: str) -> None:
    assert _status(question, text) == "located"
    assert _status(question.replace(" is ", " was ").replace(" does ", " did "), text) == "answered"


def test_what_a_report_tells_of_its_own_year_and_what_was_done_since_are_so() -> None:
    year = "The report for 2021 is new.", "In 2021 the harbour was busy."
    assert (
        _status("How many employees does the harbour have?", "In 2021 the harbour had 40 employees.", *year)
        == "answered"
    )
    assert (
        _status("How much is the membership fee?", "In 2010 the membership fee was raised to 35 euros.") == "answered"
    )


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What discount do students get?", "There is a discount of 10 % for the parents of students."),
        ("How high is the discount for students?", "Parents of students get a discount of 10 %."),
        ("How much do members pay?", "Friends of members pay 8 euros."),
        ("How much do employees pay for the course?", "The children of employees pay 30 euros for the course."),
        ("How much do members pay?", "Members’ guests pay 8 euros."),
    ],
)
def test_what_those_who_belong_to_a_group_pay_is_not_what_the_group_does(question: str, text: str) -> None:
    assert _status(question, text) == "located"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the discount for students?", "The students’ discount is 10 %."),
        ("How high is the discount for students?", "Students and parents of students get a discount of 10 %."),
        ("How much do members pay a year?", "Most of the members pay 30 euros a year."),
        ("When do shops open?", "The opening hours of shops are from 9:00 to 18:00."),
    ],
)
def test_what_belongs_to_a_group_itself_is_told(question: str, text: str) -> None:
    assert _status(question, text) == "answered"


def test_a_value_for_another_number_of_things_is_none_for_that_asked_for() -> None:
    text = "Members with two boats pay 90 euros a year."
    assert _status("How much do members with one boat pay a year?", text) == "located"
    assert _status("How much do members with 2 boats pay a year?", text) == "answered"
    assert _status("Can the radio connect to two boats?", "The radio can connect to 2 boats at once.") == "answered"


@pytest.mark.parametrize(
    ("question", "other", "text"),
    [
        (
            "What does the option -r of crane do?",
            "The option -R of crane repeats a move.",
            "The option -r of crane repeats a move.",
        ),
        (
            "What does the format %j stand for?",
            "The format %J stands for a number.",
            "The format %j stands for the day.",
        ),
        (
            "How many ships can the basin hold?",
            "Move one ship from the basin to the hold.",
            "The basin can hold 40 ships.",
        ),
        (
            "How large should the swap partition be?",
            "There might be a swap partition of 512 MB on the disk.",
            "The swap partition should be 512 MB.",
        ),
        (
            "What should I include in a crane report for harbourmail?",
            "Send cranes to harbourmail-users.",
            "Include the number of the crane in the report for harbourmail.",
        ),
        ("Is the crane reliable?", "Use the reliable crane for the quay.", "The crane is reliable."),
        ("Is the crane reliable?", "If the crane is reliable, the lamp is on.", "If it is dry, the crane is reliable."),
        (
            "Which setting gives a sharp picture?",
            "The setting gives a dull picture at 10.",
            "A setting of 75 gives a sharp picture.",
        ),
    ],
)
def test_what_is_named_advised_or_supposed_otherwise_does_not_answer(question: str, other: str, text: str) -> None:
    assert _status(question, other) == "located"
    answer = ask(question, context((other, text)))
    assert answer.status == "answered"
    assert text.rstrip(".") in answer.text
    assert other.rstrip(".") not in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What is the depth –in metres– of the quay?", "The depth of the quay is 12 metres."),
        ("What can you tell me about the wreck of the Anna?", "The wreck of the Anna lies at a depth of 40 metres."),
        ("What should I avoid when I clean the hull?", "Do not use acid when you clean the hull."),
        ("Is the deposit refunded if I cancel?", "If you cancel, the deposit is refunded."),
        ("Is there a fee for late payment?", "If payment is late, there is a fee of 5 euros."),
        ("How many ships could there be in the basin?", "There could be 40 ships in the basin."),
        ("What is the profit in annual_report?", "The profit is 420 million euros."),
    ],
)
def test_what_is_said_as_it_is_asked_answers(question: str, text: str) -> None:
    assert ask(question, context((quote(text, document="2021/annual_report.pdf"),))).status == "answered"


def test_how_a_command_is_typed_does_not_say_what_an_option_does() -> None:
    typed = quote("crane lift [-d] [-f] [-x | -X] [<load>…]", layout="list")
    assert ask("What does the option -X of crane lift do?", context((typed,))).status == "located"


def test_what_this_limit_is_belongs_to_the_name_in_the_sentence_before() -> None:
    said = "The {} setting bounds the number of cranes that may run at once. The default value of this bound is 100."
    answer = ask("What is the default of MAX_CRANES?", context((said.format("MAX_CRANES"),)))
    assert answer.status == "answered"
    assert "MAX_CRANES" in answer.text
    assert "100" in answer.text
    assert _status("What is the default of MAX_CRANES?", said.format("MAX_OLD_CRANES")) == "located"


def test_another_name_with_the_words_of_one_does_not_say_what_it_is() -> None:
    named = "A ship is a folder with the extension .harbour_pro, a file of cranes, and others."
    assert _status("What is Harbour?", named) == "located"


def test_a_line_that_is_the_heading_above_it_does_not_answer() -> None:
    text = "- --chain FILE\n\n  On startup, the crane writes its number to FILE."
    entry = quote(text, layout="list", section="--chain FILE")
    assert not ask("What does the option --chain do?", context((entry,))).text.startswith("--chain FILE")


@pytest.mark.parametrize(
    "text", ["Harbourmail is sometimes reported to lose mail.", "Harbourmail is easy to set up in a port."]
)
def test_an_act_or_a_property_is_no_definition(text: str) -> None:
    assert _status("What is Harbourmail?", text) == "located"
    assert _status("What is Harbourmail?", text, "Harbourmail is a program that delivers mail.") == "answered"


def test_an_entry_that_repeats_its_term_defines_nothing() -> None:
    circular = "Crane — Key reference for the Crane menu"
    assert _status("What is a crane?", circular) == "located"
    assert _status("What is a crane?", circular, "Crane — a machine that lifts loads") == "answered"


def test_a_sentence_that_says_where_to_look_tells_nothing_else() -> None:
    text = "See the notice of 3 May on the opening of the new crane."
    assert _status("When was the new crane opened?", text) == "located"
    assert _status("When was the new crane opened?", text, "The new crane was opened on 3 May.") == "answered"


@pytest.mark.parametrize(
    ("question", "another", "asked"),
    [
        ("When is the pump turned off?", "The pump is turned down at 23:00.", "The pump is turned off at 23:00."),
        ("When can I check in?", "Life jackets are checked each April.", "You can check in from 15:00."),
    ],
)
def test_a_verb_with_another_particle_is_another_act(question: str, another: str, asked: str) -> None:
    assert _status(question, another) == "located"
    assert _status(question, another, asked) == "answered"


def test_an_age_in_words_answers() -> None:
    assert _status("What is the minimum age?", "The minimum age is fourteen.") == "answered"


def test_when_a_meal_is_served_answers_what_time_it_is() -> None:
    text = "Breakfast is served in the conservatory from 7:30 to 9:45."
    assert _status("What time is breakfast?", text) == "answered"


def test_a_heading_that_names_the_time_asked_about_says_what_to_do_then() -> None:
    after, before = (
        quote(text, section=section)
        for section, text in (
            ("After an operation", "Your animal must not run."),
            ("Before an operation", "Your animal must not eat for twelve hours."),
        )
    )
    answer = ask("What should I do before an operation?", context((after, before)))
    assert answer.status == "answered"
    assert "eat" in answer.text
    assert "run" not in answer.text
    assert ask("What should I do before an operation?", context((after,))).status == "located"
