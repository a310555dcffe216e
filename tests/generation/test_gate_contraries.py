"""The contrary of what is cited is never supported, and what its own words say is."""

from types import ModuleType

import pytest
from builders import make_context, make_quote
from made_gate_answers import built, verdict

from quoteweave.generation.gate.answer_check import check_citations
from quoteweave.generation.gate.contraries import other_cells, other_subjects

TABLE = "Clinic | Beds | Wards\nSt Alba | 540 | 12\nSt Bera | 310 | 9"
SENTENCES = "St Alba has 540 beds. St Bera has 310 beds. The lift is old."


def reason(sentence: str, quote: str) -> str | None:
    context = make_context(quote)
    (citation,) = check_citations(built(f"{sentence[:-1]} [1].", context), context).citations
    return citation.reason


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The port lost 1,058 vessel calls.", "The port received 1,058 vessel calls."),
        ("The board approved the 2020 plan for 12 ships.", "The board rejected the 2020 plan for 12 ships."),
        ("The plant closed in May 2020.", "The plant opened in May 2020."),
        ("The lease ends on 1 May 2024.", "The lease begins on 1 May 2024."),
        ("Children take 2 tablets daily.", "Adults take 2 tablets daily."),
        ("Exactly 30 people attended.", "About 30 people attended."),
        # The other word stands elsewhere in what is cited.
        ("The port lost 1,058 vessel calls.", "The port received 1,058 vessel calls. It lost 3 cranes."),
        ("Exports reached 40 tonnes.", "Imports reached 40 tonnes. Exports are not known."),
    ],
)
def test_a_word_that_is_lacking_where_its_number_is_told_leaves_a_sentence_unchecked(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unchecked"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Sales fell by 10 % in 2023.", "Sales rose by 10 % in 2023."),
        ("The drug increased deaths by 20 %.", "The drug reduced deaths by 20 %."),
        ("Costs were $3 million higher than in 2021.", "Costs were $3 million lower than in 2021."),
        (
            "Operating profit was $45 million in 2022.",
            "Operating loss was $45 million in 2022, after a profit in 2021.",
        ),
        ("Smoking is forbidden on floor 3.", "Smoking is allowed on floor 3. It is forbidden in the lift."),
        ("The vaccine was ineffective in 95 % of patients.", "The vaccine was effective in 95 % of patients."),
        ("The minimum load is 300 kg.", "The maximum load is 300 kg, the minimum load is 20 kg."),
        ("The southern pier is 210 metres long.", "The northern pier is 210 metres long, the southern one 90."),
    ],
)
def test_the_opposite_of_a_word_is_not_supported(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) in ("unchecked", "unsupported")


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Take 2 tablets after meals.", "Take 2 tablets before meals."),
        ("Store it above 25 °C.", "Store it below 25 °C."),
        ("Payment is due after 30 days.", "Payment is due within 30 days."),
        ("The permit of 2021 is valid from 30 June 2025.", "The permit of 2021 is valid until 30 June 2025."),
        ("Room 12 is reached without a key.", "Room 12 is reached with a key."),
        ("Prices rose to 5 %.", "Prices rose by 5 %."),
        ("Wait until the light is off for 5 s.", "Wait until the light is on for 5 s."),
    ],
)
def test_an_opposite_preposition_before_the_same_word_is_not_supported(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unchecked"
    assert verdict(quote, sentence) == "unchecked"
    assert verdict(quote, quote) == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote", "outcome"),
    [
        ("Temperature was 5 °C.", "Temperature was −5 °C.", "unchecked"),
        ("Temperature was -5 °C.", "Temperature was 5 °C.", "unchecked"),
        ("Temperature was -5 °C.", "Temperature was −5 °C.", "supported"),
        ("The balance changed by -150 units.", "The balance changed by +150 units.", "unchecked"),
        ("The result was $45 million.", "The result was $(45) million.", "unchecked"),
        ("The result was a loss of $45 million.", "The result, a loss, was $(45) million.", "supported"),
        ("Sales fell by 7 %.", "Sales changed by -7 %.", "supported"),
        ("The rate was 4.1 % in 2018-19.", "The rate was 4.1 % in 2018-19.", "supported"),
        ("Grain fell by 6.9 %.", "Group | Change\nGrain | –6.9%\nFish | +11.0%", "supported"),
        ("Grain rose by 6.9 %.", "Group | Change\nGrain | –6.9%\nFish | +11.0%", "unchecked"),
        ("Fish rose by 11.0 %.", "Group | Change\nGrain | –6.9%\nFish | +11.0%", "supported"),
        ("Grain fell from 318 to 296.", "Grain | 318 | 296", "supported"),
        ("Grain rose from 318 to 296.", "Grain | 318 | 296", "unchecked"),
    ],
)
def test_a_sign_is_part_of_a_number(sentence: str, quote: str, outcome: str) -> None:
    assert verdict(sentence, quote) == outcome


@pytest.mark.parametrize(
    ("sentence", "quote", "outcome"),
    [
        ("Over 12 % of ships were late.", "Under 12 % of ships were late.", "unchecked"),
        ("12 % of ships were late.", "More than 12 % of ships were late.", "unchecked"),
        ("Twelve ships were late.", "More than twelve ships were late.", "unchecked"),
        ("More than 12 ships were late.", "More than twelve ships were late.", "supported"),
        ("Children over 12 pay half.", "Children under 12 pay half.", "unchecked"),
        ("30 people attended.", "Up to 30 people attended.", "unchecked"),
        ("1204 people attended.", "Fewer than 1,204 people attended.", "unchecked"),
        ("12 million people live there.", "10-12 million people live there.", "unchecked"),
        ("10 to 12 million people live there.", "10-12 million people live there.", "supported"),
        ("Over 12 % of ships were late.", "More than 12 % of ships were late.", "supported"),
        ("No fewer than 12 ships were late.", "At least 12 ships were late.", "unchecked"),  # "no" is read as a denial
        ("The ship sank with 12 people.", "The ship, over 20 years old, sank with 12 people.", "supported"),
    ],
)
def test_a_bound_is_part_of_a_number(sentence: str, quote: str, outcome: str) -> None:
    assert verdict(sentence, quote) == outcome


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Version 2.10 fixes it.", "Version 2.1 fixes it."),
        ("Python 3.1 has 12 of the functions.", "Python 3.10 has 12 of the functions."),
    ],
)
def test_the_number_of_a_version_is_no_decimal(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unchecked"
    assert verdict(sentence, sentence) == "supported"
    assert verdict("The pump weighs 2.10 kg.", "The pump weighs 2.1 kg.") == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The company paid $5 million.", "The company denied that it paid $5 million."),
        ("The company paid $5 million.", "The company refused to say whether it paid $5 million."),
        ("The grant of $5 million was lost.", "Without it, the grant of $5 million would be lost."),
        ("The crew reached 8,000 metres.", "The crew failed to reach 8,000 metres."),
        ("Revenue was $5 million in 2025.", "The firm expects revenue of $5 million in 2025."),
        ("The pump stops at 5 bar.", "The pump stops at 5 bar if the valve is open."),
        ("The firm pays 5 % dividends.", "The firm ceased to pay 5 % dividends."),
        ("300 jobs were lost.", "It is a myth that 300 jobs were lost."),
        ("The bank lost $5 million.", "The bank almost lost $5 million."),
        ("The 12 ships were late.", "Few of the 12 ships were late."),
        ("Flights above 120 m are banned.", "Flights above 120 m are banned, except for tests."),
        ("The tenant may end the lease in 30 days.", "The tenant may end the lease in 30 days if it leaks."),
        ("The tenant may let the 2 rooms.", "The tenant may let the 2 rooms only with consent."),
        ("The members of the club paid 5 euros.", "Some of the members of the club paid 5 euros."),
        ("All members paid 5 euros.", "Most members paid 5 euros."),
        ("It sold its ships for 5 euros.", "It sold most of its ships for 5 euros."),
        ("Every member paid 5 euros.", "Many members paid 5 euros."),
        ("Output fell by 5 % because of rain.", "Output fell by 5 %. There was rain."),
    ],
)
def test_what_is_denied_or_doubted_is_not_said(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unchecked"
    assert verdict(quote, quote) == "supported"


def test_a_number_of_another_sentence_with_all_words_is_not_supported() -> None:
    quote = "Revenue was $5 million. Costs were $3 million."
    assert verdict("Costs were $5 million.", quote) == "unchecked"
    assert verdict("Costs were $3 million.", quote) == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        (
            "The council approved the tram line on 2 June.",
            "The council approved the tram line on 14 May. It met on 2 June.",
        ),
        ("The warranty of 24 months covers tyres.", "The warranty lasts 24 months. It does not cover tyres."),
        ("Sales rose from 98 to 95.", "In May sales rose. Sales went from 98 to 95 in June."),
        ("The share rose by 5.7 %.", "The share rose by 5.7 percentage points."),
        ("The share rose by 5.7 percentage points.", "The share rose by 5.7 %."),
        ("At $10, tea is the most costly.", "Coffee costs $12. Tea costs $10."),
    ],
)
def test_what_the_closest_sentence_does_not_say_is_not_supported(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "unchecked"


@pytest.mark.parametrize(
    ("sentence", "quote", "outcome"),
    [
        ("The rate is 5 % a year.", "The rate is 5 % a month.", "unchecked"),
        ("The rate is 5 % a month.", "The rate is 5 % a month in all 3 years.", "supported"),
    ],
)
def test_the_period_behind_a_number_is_part_of_what_is_said(sentence: str, quote: str, outcome: str) -> None:
    assert verdict(sentence, quote) == outcome


@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("Calls dropped by 12 %.", "Calls fell by 12 %."),
        ("In 2012 the museum bought 14 paintings.", "The museum buys few. 14 paintings were bought in 2012."),
        ("According to the report, the hall seats 500 people.", "The hall seats 500 people."),
        ("Exports fell by 3 %.", "Imports rose by 5 % while exports fell by 3 %."),
        ("The temperature reached 40 °C.", "The tem-\nperature reached 40 °C."),
        ("The dam is 12 metres high.", "The height of the dam is 12 metres."),
        ("Employees can take 25 days of leave.", "Employees may take 25 days of leave."),
        ("The pump runs at 40 bar.", "If the filter is blocked, replace it. The pump runs at 40 bar."),
        ("According to the mayor, it would cost $5 million.", "The mayor said that it would cost $5 million."),
        ("If it leaks, the tenant may end the lease.", "The tenant may end the lease if it leaks."),
        ("Output fell by 5 % because of rain.", "Output fell by 5 % due to rain."),
        ("Sales rose from 900 thousand to 1.2 million.", "Sales rose from 900 thousand to 1.2 million in May."),
        ("Growth slowed from 12 % to 8 %.", "Growth slowed from 12 % to 8 % in May."),
        ("The bank provided $5 million to Chad.", "The bank provided the state of Chad with $5 million."),
        ("12 athletes from Kenya ran.", "12 athletes from Kenya ran in the event."),
        ("Guests who stay overnight pay 30 euros.", "Guests pay 30 euros if they stay overnight."),
        ("The ministry closed 30 schools in the reform.", "As part of the reform, the ministry closed 30 schools."),
        ("The museum had 8 million visitors.", "Paris's most visited museum had 8 million visitors."),
        ("64% of members voted yes.", "Most members (64%) voted yes."),
        (
            "The house has 48 flats and 2 lifts.",
            "Some flats leak. The house was built of stone. It has 48 flats and 2 lifts.",
        ),
        ("Sometimes, the pump stops after 5 minutes.", "The pump sometimes stops after 5 minutes."),
        ("Costs rose by 5 % because of wages.", "Wages pushed up costs, which rose by 5 %."),
    ],
)
def test_what_says_the_same_in_known_words_is_supported(sentence: str, quote: str) -> None:
    assert verdict(sentence, quote) == "supported"


@pytest.mark.parametrize(
    ("sentence", "quote", "said"),
    [
        ("Sales fell by 10 %.", "Sales rose by 10 %.", "one says that something rises, and the other that it falls"),
        ("The port sank 58 ships.", "The port received 58 ships.", "“sank” for “received”"),
        ("It was 5 °C.", "It was −5 °C.", "“5 °C” where what it cites has “−5 °C”"),
        ("Over 12 % came.", "Under 12 % came.", "“Over 12” where what it cites has “Under 12”"),
        ("30 pupils sit here.", "20 to 30 pupils sit here.", "“30” where what it cites has “20 to 30”"),
        ("It paid $5 million.", "The firm denied that it paid $5 million.", "“denied”"),
    ],
)
def test_the_reason_names_what_differs(sentence: str, quote: str, said: str) -> None:
    assert said in (reason(sentence, quote) or "")


def test_tables_are_read_for_words_too() -> None:
    table = make_quote("Group | 2022 | 2023\nGrain | 512 | 547", layout="table")
    assert verdict("Grain came to 547.", table) == "supported"
    assert verdict("Coal came to 547.", table) != "supported"


@pytest.mark.parametrize(
    ("module", "limit", "quote"),
    [
        (other_cells, "MAX_CELLS", TABLE),
        (other_subjects, "MAX_SENTENCES", SENTENCES),
    ],
)
def test_what_is_too_long_to_be_compared_is_not_supported(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, limit: str, quote: str
) -> None:
    sentence = "There are 540 beds at St Alba."
    assert verdict(sentence, quote) == "supported"
    monkeypatch.setattr(module, limit, 2)
    assert verdict(sentence, quote) == "unchecked"
    assert reason(sentence, quote) == "What it cites is too long to be compared with it."
    assert verdict("St Alba has 540 beds.", SENTENCES) == "supported", "it is a sentence of what it cites"


def test_a_sentence_that_is_too_long_to_be_compared_is_not_supported() -> None:
    wards = [f"ward{number}" for number in range(120)]
    cited = f"St Alba has 540 beds in {', '.join(wards)}."
    assert verdict(cited, cited) == "supported"
    reordered = f"In {', '.join(wards)}, St Alba has 540 beds."
    assert verdict(reordered, cited) == "unchecked"
    assert reason(reordered, cited) == "It is too long to be compared with what it cites."


CLOSE = ", as the board of the trust and the wards of the town have agreed on 3 May, in its second session of the year"


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize(
    ("sentence", "quote"),
    [
        ("The drug killed 40 patients.", "The drug cured 40 patients and killed 3"),
        ("Infants need 8 hours of sleep.", "Adults need 8 hours of sleep and infants need 14 hours"),
        ("The tenant is paid a deposit by the landlord.", "The tenant pays the landlord a deposit"),
        ("The revenue was 17 euros in 2020.", "The revenue was 17 euros in 2019 and 12 euros in 2020"),
    ],
)
def test_a_word_is_compared_in_a_long_sentence_too(sentence: str, quote: str, times: int) -> None:
    assert verdict(sentence, f"{quote}{CLOSE * times}.") != "supported"


def test_a_sentence_of_the_evidence_that_is_too_long_to_be_compared_does_not_support() -> None:
    long = f"St Alba has 540 beds{CLOSE * 20}."
    assert verdict("There are 540 beds at St Alba.", long) == "unchecked"
    assert reason("There are 540 beds at St Alba.", long) == "What it cites is too long to be compared with it."
    assert verdict("There are 540 beds at St Alba.", long.replace(", as", ". As")) == "supported"


@pytest.mark.parametrize("rows", [20, 30, 90])
@pytest.mark.parametrize(
    "sentence",
    ["The wards have {total} beds in total.", "Ward A0 has 137 beds and ward B1 has 150: {two} in all."],
)
def test_what_is_worked_out_from_many_numbers_is_not_blamed(rows: int, sentence: str) -> None:
    beds = [137 + 13 * ward for ward in range(rows)]
    wards = (f"Ward {chr(65 + at % 26)}{at} | {number}" for at, number in enumerate(beds))
    claim = sentence.format(total=sum(beds), two=sum(beds[:2]))
    assert verdict(claim, "\n".join(["Ward | Beds", *wards])) == "unchecked"
