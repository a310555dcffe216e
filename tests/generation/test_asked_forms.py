"""What a question asks for by its form: behind a preposition, by a unit, by name, the most of something, a share."""

import pytest
from harbour_quotes import ask, context, quote

WEEK = "What happens if the filter is not changed within one week?"
CHANGED = "The filter must be changed within one week; otherwise, the message is shown again."


@pytest.mark.parametrize(
    ("question", "answers", "does_not"),
    [
        # behind a preposition
        (
            "By when must the form be returned?",
            ["The form must be returned by 3 May 2021."],
            [
                "The form of 3 May 2021 must be returned.",
                "The form must be returned after the meeting of 3 May 2021.",
                "The form must be returned; the fee is paid by 3 May 2021.",
                "The form must be returned by 3 members.",
            ],
        ),
        ("Until when is the pool open?", ["The pool is open until 3 May 2021."], ["The pool is open from 3 May 2021."]),
        (
            "Since when has the ferry been running?",
            ["The ferry has been running since 1987."],
            ["The ferry has been running until 1987."],
        ),
        (
            "From where was the boat launched?",
            ["The boat was launched from Merrow on 3 May."],
            [
                "The year saw the launch of the boat in Merrow.",
                "The boat was launched in the year of Merrow.",
                "The boat from Merrow was launched at ten.",
            ],
        ),
        (
            "To whom must the keys be returned?",
            ["The keys must be returned to Ada Byron."],
            ["Ada Byron must return the keys.", "The keys must be returned to Merrow Hall."],
        ),
        (
            "With whom did the club sign the contract?",
            ["The club signed the contract with Osk Marine Ltd."],
            ["The club signed the contract on 3 May 2020."],
        ),
        (
            "On which days did the inspection take place?",
            ["This inspection took place on 7 and 10 July 2015."],
            ["The inspection took place in 2015.", "The inspection took place in Merrow."],
        ),
        (
            "In which months is the pool closed?",
            ["The pool is closed in January and March."],
            ["The pool is closed since 2015."],
        ),
        (
            "In which languages were the interviews held?",
            ["The interviews were held in both English and Spanish."],
            ["The interviews were held in Merrow.", "The interviews were held in English houses of Merrow."],
        ),
        (
            "On which exchange is the stock traded?",
            ["The common stock of the firm is traded on the Merrow Stock Market."],
            ["The stock is traded on Mondays.", "The stock is traded on 3 May 2020."],
        ),
        (
            "For which company did Ada Byron work?",
            ["Ada Byron worked for Osk Marine."],
            ["Ada Byron worked with the Osk Marine."],
        ),
        # places
        (
            "Where was the boat launched?",
            ["The boat was launched in Merrow on November 3."],
            ["The boat was launched on November 3.", "The boat was launched in May."],
        ),
        (
            "Where is the deposit held?",
            ["The deposit is held by the Deposit Protection Service."],
            ["The deposit is held by Ada Byron."],
        ),
        (
            "Where is the nearest defibrillator?",
            ["The nearest defibrillator hangs beside the chandlery door."],
            [
                "The nearest defibrillator was checked; the key is in the office.",
                "The key of the nearest defibrillator is in the office.",
            ],
        ),
        (
            "Where is the sauna?",
            ["The sauna is in the old mill."],
            ["The sauna is in the hands of the town.", "The sauna is in a bad state."],
        ),
        (
            "Where are her papers?",
            ["Her papers are in the National Library of Osk."],
            ["Her papers are on the history of Merrow."],
        ),
        # names
        (
            "What is the name of the registered manager?",
            ["The registered manager is Ada Byron.", "Ada Byron is the registered manager."],
            ["The home had a registered manager.", "The registered manager met Ida Holm."],
        ),
        (
            "What is the name of the ferry?",
            ["The ferry is called Halcyon.", "The ferry, Halcyon, sails to Merrow."],
            [
                "The ferry is Norwegian.",
                "The ferry sails to Merrow.",
                "The ferry, Ada Byron said, was lost.",
                "The ferry, Monday to Friday, is full.",
                "The ferry: Merrow to Osk in 3 hours.",
            ],
        ),
        (
            "What is the name of the provider of meals?",
            ["The provider of meals is Osk Kitchens."],
            ["People were provided with meals.", "The provider of meals said so."],
        ),
        # counts and units
        (
            "How many applications under the Act came in during 2015?",
            ["In 2015 807 applications under the Act came in."],
            ["In 2015 the Act had 807 pages under which applications came in."],
        ),
        (
            "How many witnesses did the counsel call?",
            ["The counsel called no witnesses."],
            [
                "The counsel called no experts of the witnesses.",
                "The counsel called no witnesses from Osk but 30 others.",
            ],
        ),
        ("How many hours does the battery last?", ["The battery lasts 12 hrs."], ["The battery lasts 12 days."]),
        (
            "How much horsepower does the sedan have?",
            ["The sedan has a 301-hp engine."],
            ["The sedan has a 3 litre engine.", "The sedan has 2 engines; the van has 40 hp."],
        ),
        (
            "How many years does enrolment in the programme last?",
            ["Enrolment in the programme is valid for 20 years."],
            [
                "Enrolment in the programme is open for 20 students.",
                "The card for enrolment in the programme is valid for 20 years.",
            ],
        ),
        (
            "How much time do students have to nominate a supervisor?",
            ["Students are given up to 5 months to nominate a supervisor."],
            [
                "Students are given up to 5 pages to nominate a supervisor.",
                "Students have to nominate a supervisor 5 months after the exam.",
            ],
        ),
        # shares
        (
            "What percentage of adults favour the plan?",
            ["70% of adults favour the plan.", "70% of all U.S. adults favour the plan."],
            ["85% of Black adults favour the plan.", "70% of adults strongly favour the plan."],
        ),
        (
            "What share of Democrats favour the plan?",
            ["Most Democrats (54%) favour the plan."],
            ["White Democrats (54%) favour the plan.", "Most Democrats favour the plan; 54% of White Democrats do."],
        ),
        # the most of it
        (
            "What is the highest number of guests the home may take?",
            ["The home may take a maximum of 32 guests."],
            ["The home may take guests for a maximum of 32 days.", "The home has a number of 32 guests."],
        ),
        (
            "What is the longest time a tent may stay?",
            ["A tent may stay for up to 3 weeks."],
            ["A tent may stay after 3 weeks.", "A tent may stay at a distance of up to 3 metres."],
        ),
        # what is needed
        (
            "What do I need to descale the kiln?",
            ["To descale the kiln you need two bottles of cleaner."],
            ["The kiln needs regular descaling.", "You need to descale the kiln every week."],
        ),
        # conditions
        (WEEK, [CHANGED], ["The filter must be changed within one week."]),
        (WEEK.replace(" not", ""), ["If the filter is changed within one week, a message is shown."], [CHANGED]),
        (
            "When does the filter have to be installed?",
            ["The filter has to be installed after each 15,000 drinks."],
            ["The filter has to be installed by the customer."],
        ),
        (
            "Who may be the chair of the board?",
            [
                "Only a member of the staff may be the chair of the board.",
                "The chair of the board has to be a teacher.",
            ],
            ["The board may be asked by the chair.", "Members may ask the chair of the board."],
        ),
        # values
        (
            "What is the clearance height of the spout?",
            ["Set the desired height; the clearance height of the spout is 70 mm."],
            ["The desired height is 70 mm, and the clearance height of the spout is fixed."],
        ),
        (
            "What is the default compression?",
            ["The default compression is now zstd."],
            ["The default compression is now in use."],
        ),
        (
            "How tall is the Harbinger Window?",
            ["The largest is the Harbinger Window of 1902, which is 6.4 metres high."],
            ["The Harbinger Window is beside the Long Window, which is 6.4 metres high."],
        ),
        (
            "How large is Ruddertowne?",
            ["Ruddertowne consists of 2.36 acres of land."],
            ["Ruddertowne consists of 3 parts.", "Ruddertowne contains 3 shops."],
        ),
        (
            "How much does a family ticket cost?",
            ["Family ticket (two adults): £14.50."],
            ["Dog on a family ticket: £14.50.", "Family ticket: £14.50 off."],
        ),
        (
            "What is the emergency telephone number?",
            ["Emergency line (at night): 07700 900418."],
            ["Office line: 07700 900418."],
        ),
        (
            "When will v1 be switched off?",
            ["v1 will be switched off on 3 May 2022."],
            ["v2 will be switched off on 3 May 2022."],
        ),
        # reasons and examples
        (
            "Why did the board deny the appeal of Byron?",
            [
                "The board denied the appeal of Byron, reasoning that the plan did not meet the code.",
                "The board denied the appeal of Byron on the ground that the plan was late.",
            ],
            [
                "The board denied the appeal of Byron on the ground floor.",
                "For these reasons the board denied the appeal of Byron.",
            ],
        ),
        (
            "How is the inconsistency of pairs computed?",
            ["The inconsistency of pairs is calculated as conflicts by all."],
            [
                "Hence, the inconsistency of pairs in this example is computed as one of six.",
                "Anybody can calculate the inconsistency of pairs.",
            ],
        ),
        (
            "Why did the board turn down the appeal of Byron?",
            ["The board denied the appeal of Byron because it came late."],
            ["The board heard the appeal of Byron because it came late."],
        ),
    ],
)
def test_what_is_asked_for_is_told_and_what_comes_near_is_not(
    question: str, answers: list[str], does_not: list[str]
) -> None:
    assert [text for text in answers if ask(question, context([text])).status != "answered"] == []
    assert [text for text in does_not if ask(question, context([text])).status == "answered"] == []


RATE = "A total of 510 persons responded, for a response rate of 86%."
SURVEYED = [
    "The survey was long.",
    "Few knew of the survey.",
    "The survey had 40 questions.",
    "A survey is a lot of work.",
]


@pytest.mark.parametrize(
    ("question", "others", "answered"),
    [
        ("What was the response rate of the survey?", SURVEYED, True),
        ("What was the response rate of the survey?", ["Few came.", "Many left.", "One stayed.", "It rained."], False),
        ("What was the response rate of the teachers?", ["The teachers left."] * 4, False),
        ("What was the rate of the survey?", SURVEYED, False),
    ],
)
def test_what_the_document_is_about_need_not_be_said_again(question: str, others: list[str], answered: bool) -> None:
    found = [quote(text, page=page) for page, text in enumerate([RATE, *others])]
    answer = ask(question, context(found))
    assert (answer.status == "answered" and "86%" in answer.text) == answered
