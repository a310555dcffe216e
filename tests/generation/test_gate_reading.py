"""What the gate reads in a text, by hand."""

from decimal import Decimal

import pytest

from quoteweave.generation.gate.amounts import stated_scales
from quoteweave.generation.gate.facts import normalize_notation, read_evidence, read_sentence


def numbers(text: str) -> list[Decimal]:
    return [amount.value for amount in read_sentence(text).amounts]


def dates(text: str) -> list[tuple[int, int | None, int | None]]:
    return [(date.month, date.day, date.year) for date in read_sentence(text).dates]


@pytest.mark.parametrize(
    "text",
    [
        "1,204",
        "1204",
        "1,204¹",
        "1,204²³",
        "1 204",
        "1\u00a0204",
        "1'204",
        "1 204.0",
        "1204,0",
        "1.204,0",
        "1.204 thousand",
        "1.204k",
    ],
)
def test_ways_to_write_one_number(text: str) -> None:
    assert numbers(f"It was {text} calls.") == [1204]


@pytest.mark.parametrize(
    "text", ["$5 million", "$5m", "$ 5 million", "5 million dollars", "5,000,000 USD", "US$5m", "USD 5 mn", "$5.0 M"]
)
def test_ways_to_write_one_sum_of_money(text: str) -> None:
    (amount,) = read_sentence(f"It cost {text}.").amounts
    assert (amount.value, amount.unit and amount.unit.dimension) == (Decimal(5_000_000), "dollar")


@pytest.mark.parametrize(
    "text", ["12.4%", "12.4 %", "12,4 %", "12.4 per cent", "12.4 percent", "12.4 percentage points"]
)
def test_ways_to_write_one_percentage(text: str) -> None:
    (amount,) = read_sentence(f"It rose by {text} in all.").amounts
    assert (amount.value, amount.unit and amount.unit.dimension) == (Decimal("12.4"), "percent")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("three", 3),
        ("forty-one", 41),
        ("nineteen", 19),
        ("a hundred and five", 105),
        ("two thousand three hundred", 2300),
        ("six million", 6_000_000),
    ],
)
def test_numbers_written_out(text: str, value: int) -> None:
    assert numbers(f"There were {text} of them.") == [value]


def test_a_comma_is_a_decimal_comma_only_where_it_cannot_part_thousands() -> None:
    assert numbers("12,4 and 0,125 and 3,125") == [Decimal("12.4"), Decimal("0.125"), 3125]
    assert numbers("1,2,3") == [1, 2, 3]


def test_ranges_are_their_two_ends_and_seasons_two_years() -> None:
    assert numbers("300–420 tonnes") == [300, 420]
    assert numbers("in 2022–23") == [2022, 2023]


def test_metres_are_no_millions() -> None:
    metres, money = read_sentence("5 m for $5m").amounts
    assert [metres.value, money.value] == [5, 5_000_000]


@pytest.mark.parametrize(
    "text",
    [
        "17 February 2023",
        "17th of Feb. 2023",
        "February 17, 2023",
        "2023-02-17",
        "17/02/2023",
        "2/17/2023",
        "17.2.2023",
    ],
)
def test_ways_to_write_one_date(text: str) -> None:
    assert dates(f"On {text} it stormed.") == [(2, 17, 2023)]
    assert numbers(f"On {text} it stormed.") == []


def test_months_need_their_capital() -> None:
    assert dates("In May it may march to March 2024.") == [(5, None, None), (3, None, 2024)]


def test_times_of_day() -> None:
    assert [minutes for _, minutes in read_sentence("at 07:40, 7:40 am, 3 p.m. and 15:00").clocks] == [
        460,
        460,
        900,
        900,
    ]


def test_numbers_of_figures_pages_and_codes_are_no_amounts() -> None:
    facts = read_sentence("Figure 2 on page 14 shows H7-3, COVID-19 and version 2.0.1.")
    assert (facts.amounts, facts.codes) == ((), ("H7-3", "COVID-19", "2.0.1"))


def test_quoted_words_are_read_apart() -> None:
    facts = read_sentence('He wrote “the 3 rods … were bent” and "no" on 5 sheets.')
    assert facts.quoted == ("the 3 rods", "were bent", "no")
    assert [amount.value for amount in facts.amounts] == [5]


def test_confusions_of_ocr_are_read_both_ways_in_quotes_only() -> None:
    read = {amount.value for amount in read_evidence("In 2O23 l,2O4 calls, 12. 4 m, 5l of oil, 4l0").amounts}
    assert {2023, 1204, Decimal("12.4"), 5, 410} <= read
    assert 51 not in read
    assert numbers("In 2O23") == []


@pytest.mark.parametrize(
    ("text", "scales"),
    [
        ("in thousand tonnes", [1000]),
        ("Parameters (M) | Length (m) | Cost (bn)", [10**6, 10**9]),
        ("Revenue ($m)", [10**6]),
        ("in miliardi di euro", [10**9]),
        ("Rs. in crores", [10**7]),
        ("5 thousand", []),
        ("two million", []),
        ("thousands", [1000]),
    ],
)
def test_what_tables_say_that_their_numbers_are_in(text: str, scales: list[int]) -> None:
    assert list(stated_scales(normalize_notation(text))) == scales


@pytest.mark.parametrize("text", ["3 × 10⁻⁵", "3 x 10^-5", "3·10^{-5}", "3 * 10**-5", "3e-5", "3.0E-05", "0.00003"])
def test_ways_to_write_one_power_of_ten(text: str) -> None:
    assert numbers(f"The film had {text} ohm in all.") == [Decimal("0.00003")]


def test_powers_of_small_numbers_and_footnotes_of_others() -> None:
    assert numbers("It had 2¹⁰ cells, 10⁶ of them alive, in 50 m² of 1,204¹ sales².") == [1024, 10**6, 50, 1204]
    assert numbers("It took 10⁹⁹ years and 10^99 days.") == [10, 99, 10, 99]
    in_document = [amount.value for amount in read_evidence("A dose of 10⁶ cells, 3 × 10⁻⁵ at most.").amounts]
    assert in_document == [10**6, 10, Decimal("0.00003")]
