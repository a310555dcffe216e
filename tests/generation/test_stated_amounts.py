"""Whose a number is, how often and how late something is done, and what only follows from what a question asks of."""

import pytest
from harbour_quotes import ask, context, quote

from quoteweave.generation.extractive.acts.asked_acts import tells_of_another_act
from quoteweave.generation.extractive.acts.stated_amounts import own_amounts, own_counts, tells_how


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How heavy is the boat?", "The boat is 300 kg lighter than the old one."),
        ("How heavy is the boat?", "The boat carries 300 kg."),
        ("How long is the bridge?", "The bridge is 200 metres from the station."),
        ("How deep is the lake?", "The lake is 400 metres above the sea."),
        ("How long is the lease?", "The lease is 3 months old."),
        ("How long is the notice period?", "The notice period begins 3 days after the letter."),
        ("How long does the ferry take?", "The ferry takes passengers until 30 minutes before it leaves."),
        ("How fast does the ferry run?", "The ferry runs in winds of up to 60 km/h."),
        ("How far is the station from the hotel?", "The hotel is 3 km from the beach and near the station."),
        ("How much does the boat cost?", "The boat costs 300 euros less than the car."),
        ("How much is the fine for smoking?", "The fine is 20 euros for noise and is higher for smoking."),
        ("How much is the fee for a boat?", "The fee for a boat may be paid in 3 parts of 10 euros."),
        ("How much is the fee for a boat?", "Last year the fee for a boat was 30 euros."),
        ("How much is the deposit for the card?", "The deposit for the card is returned within 3 days."),
        ("What percentage of members voted?", "The percentage of members who voted fell by 5 percent."),
        ("How many rooms have a balcony?", "None of the 30 rooms has a balcony."),
        ("How many children were injured?", "Of 300 children in the camp few were injured."),
        ("How many beds does the hospital have?", "The hospital lost 30 beds in 2019."),
        ("How many employees does the firm have?", "The firm will hire 30 employees."),
        ("How often are the boilers inspected?", "The house is swept every day and the boilers are inspected."),
        ("How often is the bin emptied?", "The bin is emptied on every floor."),
        ("How often does the board review the accounts?", "The board reviews the monthly accounts with care."),
        ("How large is the cellar room of the flat?", "The flat has a lift, and as a cellar room number 6."),
        ("How many customers does the dairy have?", "The dairy suffered because two customers in Hull closed."),
        ("How many shops are in York?", "The firm has 12 shops in Leeds, York and Hull."),
        ("How many staff are in Osk?", "The firm has 260 staff at two sites, Osk and Skarn."),
        ("How many copies were sold this year?", "Last year we sold 1,800 copies."),
        ("How high was the fee in 2021?", "In 2021 the increase of the fee was 4 euros."),
        ("How late is the museum open?", "The museum is open to 12 at a time."),
        ("How late is the library open on Sundays?", "The library is open until 21:00 except on Sundays."),
        ("How early does the shop open?", "The shop opens at 12 Mill Lane."),
        ("Why was the bridge closed?", "Traffic rose because the bridge was closed."),
        ("Why was the race cancelled?", "Because the race was cancelled, hotels stood empty."),
        ("Why did the price rise?", "The price did not rise because of the tax."),
        ("Are dogs allowed on the beach?", "Dogs are allowed on the promenade above the beach."),
        ("Is the water safe to drink?", "Some guests believe that the water is safe to drink."),
        ("Can I freeze the sausages?", "The soup can be frozen without the sausages for three months."),
        ("Can children under 12 use the sauna?", "Children of 12 years or older may use the sauna."),
        ("Can groups of more than 20 persons use the pool?", "Groups of 20 persons or fewer can use the pool."),
        ("Is parking included in the rent?", "The parking is part of the square where the rent is paid."),
        ("Is insurance included in the fee?", "The fee is due even where additional insurance is bought."),
        ("Is the lift working?", "The lift was working in May 2010."),
        ("Why is the Crane 40 loud?", "The Crane 30 was loud because of its gears."),
        ("How many boats were sold this year?", "Last year the firm opened a quay, and 40 boats were sold."),
        ("How many boats were sold this year?", "The firm bought 40 boats, which were sold last year."),
        ("How high will the rent be next year?", "The rent is 400 euros and will rise next year."),
        ("How much do cruises cost?", "Cruises are covered with the option Sea, which costs 22 euros."),
        ("How many patients were screened?", "Of 612 patients screened, 438 were treated."),
        ("How many rooms are there?", "Of the 40 rooms, 12 have a balcony."),
        ("How many visitors came during May?", "400 visitors came in May and June."),
        ("How many York shops are there?", "The firm has 12 shops in Leeds and York."),
        ("How many boats does Osk have?", "The firm has 30 boats at Osk and Skarn."),
    ],
)
def test_what_is_told_of_something_else_is_no_answer(question: str, text: str) -> None:
    assert ask(question, context([quote(text)])).status != "answered"


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How heavy is the boat?", "The boat weighs 300 kg and carries 500 kg."),
        ("How high is the pass?", "The pass is 2,400 metres above the sea."),
        ("How long is the warranty?", "The warranty lasts 24 months from purchase."),
        ("How long may guests stay?", "Guests may stay for up to 14 nights in a row."),
        ("How many rooms have a balcony?", "12 of the 30 rooms have a balcony."),
        ("How large was the audience?", "The audience of 300 people left early."),
        ("How big is the car park?", "The car park has 60 spaces."),
        ("How often does the board meet?", "The board meets fortnightly."),
        ("How often does the board meet?", "The board meets on the first Monday of the month."),
        ("How often is the bin emptied?", "The bin is emptied on Mondays and Fridays."),
        ("How often are the lamps dusted?", "Every week the windows are washed and the lamps are dusted."),
        ("How often does the newsletter appear?", "The newsletter appears 12 times a year."),
        ("How late is the bar open?", "The bar is open until half past ten."),
        ("How late can I check in?", "You can check in between 14:00 and 20:00."),
        ("How early can I check in?", "You can check in after 14:00."),
        ("How often does the ferry sail?", "The ferry sails on Sundays."),
        ("How large is the crew of the ferry?", "The crew of the ferry numbers 12."),
        ("How many customers does the dairy have?", "The dairy has two customers because of its prices."),
        ("How many shops are in Leeds and York?", "The firm has 12 shops in Leeds and York."),
        ("How many shops are in York?", "The firm has 12 shops each in Leeds and York."),
        ("How many copies were sold last year?", "Last year we sold 1,800 copies, and 900 this year."),
        ("What is the reduction for students?", "The reduction for students is 5 euros."),
        (
            "How many rooms does the school in Leeds have?",
            "The school has 3 rooms in Leeds: Oak Room, Ash Room and Elm.",
        ),
        ("How many branches does the Bank of Leeds have?", "The Bank of Leeds has 40 branches in Leeds and York."),
        ("How many beds does the hospital have?", "Because it lost two wards, the hospital has 30 beds."),
        ("How high is the rent this year?", "The rent is 400 euros and will rise next year."),
        ("How many boats were sold this year?", "40 boats were sold this year, and 30 last year."),
        ("How much does the ferry cost?", "The ferry to Osk, which costs 20 euros, is full."),
        ("How many patients were treated?", "Of 612 patients screened, 438 were treated."),
        ("How many rooms have a balcony?", "Of the 40 rooms, 12 have a balcony."),
        ("How high was the rent last year?", "The rent is 400 euros this year and was 380 euros last year."),
        ("How high was the increase of the fee in 2021?", "In 2021 the increase of the fee was 4 euros."),
        ("Why was the foundry closed?", "The yard closed its foundry in 1990 because orders were falling."),
        ("Can groups of more than 20 persons use the pool?", "Only groups of up to 20 persons can use the pool."),
        ("Is breakfast included in the price?", "All prices come with breakfast."),
    ],
)
def test_what_is_told_of_the_thing_itself_answers(question: str, text: str) -> None:
    answer = ask(question, context([quote(text)]))
    assert answer.status == "answered"
    assert text.rstrip(".") in answer.text


def test_a_difference_is_an_amount_where_one_is_asked_for() -> None:
    told = "The boat is 300 kg lighter than the car."
    assert "300 kg" not in own_amounts(told, "How heavy is the boat?")
    assert "300 kg" in own_amounts(told, "How much lighter is the boat than the car?")


def test_a_whole_is_counted_where_all_are_asked_for() -> None:
    told = "Three of the 30 rooms are closed."
    assert "30" not in own_counts(told, "How many rooms are closed?")
    assert "30" in own_counts(told, "How many rooms are there?")


@pytest.mark.parametrize(
    "text",
    [
        "It was inspected once, in 1998.",
        "It is five times as large.",
        "It is twice the size.",
        "Every room has a bath.",
    ],
)
def test_no_frequency_is_told_by_other_times(text: str) -> None:
    assert tells_how("How often", text) is False


def test_each_act_has_a_frequency_of_its_own() -> None:
    told = "Night bus N8 replaces line 84 on weekdays."
    assert tells_of_another_act(told, "How often does night bus N8 run?", "amount")
    assert not tells_of_another_act(told, "How often does night bus N8 replace line 84?", "amount")


def test_the_number_by_which_a_thing_is_named_is_not_its_size() -> None:
    assert tells_how("How large", "The tenants get cellar room number 6.") is False
    assert tells_how("How large", "The tenants number 6.") is True
    assert tells_how("How large", "The guests take bus number 6.") is False


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When is the sauna closed?", "The sauna is closed on Mondays."),
        ("When is pay day?", "Pay day is the 25th of each month."),
        ("When is market day?", "Market day: Thursday."),
        ("When does a voucher expire?", "An unused voucher expires after 30 days."),
        ("When is the kiosk open?", "The kiosk is open 9 to 13 and 15 to 18."),
        ("When do the doors open on Sundays?", "The doors open at 10.15 a.m. on Sundays."),
        ("Who is the data protection officer?", "Our data protection officer is Signe Hvidtfeldt."),
        ("Who took the minutes?", "Minutes taken by: Joan Pickersgill."),
        ("Who is the Customer Relations Manager?", "Write to the Customer Relations Manager, Mr Desmond Achebe."),
        ("Who designed the hall?", "The present hall, designed by Kirsten Holm, was begun in 1976."),
        ("Who found the leak?", "The leak was found and fixed by Hanne Wit."),
    ],
)
def test_times_that_are_no_dates_and_names_in_any_place_answer(question: str, text: str) -> None:
    answer = ask(question, context([quote(text)]))
    assert answer.status == "answered"
    assert text.rstrip(".") in answer.text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("When does the lease end?", "The deposit is returned within six months of the end of the lease."),
        ("When was the pool closed?", "The pool was closed on Monday."),
        ("When is the hall heated?", "The choir sings on Fridays and the hall is heated."),
        ("When is the sauna closed on Mondays?", "The sauna is closed on Mondays."),
        ("When is the visitor welcome?", "The 25th visitor is welcome with a cake."),
    ],
)
def test_a_time_of_something_else_is_no_answer(question: str, text: str) -> None:
    assert ask(question, context([quote(text)])).status != "answered"


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("The page is 4.", False),
        ("The score was 3, and Ann won.", False),
        ("It is 2 in the morning.", False),
        ("In London, 45, the road is closed.", False),
        ("In New York, 45, the road is closed.", False),
        ("Members are 30 in number.", False),
        ("The bridge was built in 40 days.", False),
        ("Ann is 12.", True),
        ("She turned 30 in May.", True),
        ("Riders must be at least 18.", True),
        ("The potter Agnes Rowe, 46, paints.", True),
        ("The bridge was built about 40 years ago.", True),
    ],
)
def test_an_age_is_told_by_its_unit_or_of_somebody(text: str, tells: bool) -> None:
    assert tells_how("How old", text) is tells
