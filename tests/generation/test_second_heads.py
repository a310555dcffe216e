"""Tables in which other years stand below the first ones: two statements that were taken for one."""

import pytest
from harbour_quotes import ask, context, image

from quoteweave.generation.extractive.generator import UNCERTAIN_HEAD
from quoteweave.generation.extractive.tables.heads import parts_of, table_parts
from quoteweave.generation.highlights import find_highlights
from quoteweave.generation.sentences import text_of

INCOME = "In thousands | 2023 | 2022\nFreight | 48,210 | 41,905\nProfit | 25,925 | 21,575"
CASH = "Operations | 18,330 | 15,260\nDividends paid | 3,000 | 2,500"


def part_starts(rows: list[list[str]]) -> dict[int, bool]:
    return {part.start: part.has_head for part in table_parts(rows)}


def rows(text: str) -> list[list[str]]:
    return [line.split(" | ") for line in text.splitlines()]


@pytest.mark.parametrize(
    "head", ["In thousands | 2021 | 2020", "- | 2021 | 2020", "(restated) | 2021 | 2020", "2021 | 2020"]
)
def test_a_row_of_other_years_is_the_head_of_the_rows_below(head: str) -> None:
    table = f"{INCOME}\n{head}\n{CASH}"
    assert part_starts(rows(table)) == {0: True, 3: True}
    (_, income), (header, cash) = parts_of(rows(table))
    assert [row[0] for row in income] == ["Freight", "Profit"]
    assert list(header[1:]) == ["2021", "2020"]
    assert [row[0] for row in cash] == ["Operations", "Dividends paid"]


def test_a_row_of_years_with_a_name_of_its_own_may_be_a_head_or_none() -> None:
    assert part_starts(rows(f"{INCOME}\nCash flows | 2021 | 2020\n{CASH}")) == {0: True, 3: False}
    assert part_starts(rows(f"{INCOME}\nCash flows | 2021 | 2020")) == {0: True}


@pytest.mark.parametrize(
    "row", ["Staff | 1950 | 1890", "In thousands | 2023 | 2022", "Loans | 2,021 | 2,020", "Ends | 2031 | -"]
)
def test_what_is_no_row_of_other_years_begins_no_part(row: str) -> None:
    assert part_starts(rows(f"{INCOME}\n{row}\n{CASH}")) == {0: True}


@pytest.mark.parametrize(
    ("first", "second", "data", "said"),
    [
        ("In thousands | 2023", "In thousands | 2021", "Dividends | 870", "2021: 870"),
        ("In thousands | 2023 | 2022", "In thousands | 2022 | 2020", "Dividends | 870 | 860", "2022: 870"),
        ("In thousands | 2023 | 2022", "In thousands | 2021 | 2020 | 2019", "Dividends | 8 | 7 | 6", "2021: 8"),
    ],
    ids=["one year", "another step", "more years"],
)
def test_the_years_of_a_second_head_may_be_fewer_or_more(first: str, second: str, data: str, said: str) -> None:
    own = [" | ".join(["Freight", *["48"] * first.count("|")]), " | ".join(["Fuel", *["12"] * first.count("|")])]
    table = "\n".join([first, *own, second, data, data.replace("Dividends", "Interest")])
    assert answered("What were the dividends in 2023?", table) == ""
    assert f"Dividends ({said})" in answered(f"What were the dividends in {said[:4]}?", table)


@pytest.mark.parametrize("row", ["Matures | 2031 | 2030", "Founded | 1905 | 1904"])
def test_a_row_of_years_that_is_shorter_than_the_head_may_be_a_head_or_none(row: str) -> None:
    above = "In thousands | Note | 2023 | 2022\nFreight | 3 | 48,210 | 41,905"
    table = f"{above}\n{row}\nDebt | 5 | 3,000 | 2,500\nCash | 6 | 700 | 600"
    assert part_starts(rows(table)) == {0: True, 2: False}
    assert answered(f"What was the debt in {row[-11:-7]}?", table) == ""


def test_a_table_of_names_alone_is_answered_with_nothing() -> None:
    assert answered("What is the highest freight?", "Freight\nProfit") == ""
    assert parts_of([]) == [([], [])]


def test_a_table_without_years_has_one_part() -> None:
    assert part_starts(rows("Yard | Oslo | Rana\nFounded | 1905 | 1904\nStaff | 415 | 612")) == {0: True}


def answered(question: str, table: str) -> str:
    found = ask(question, context(images=[image("Table 1: Statements", table, layout="table")]))
    return found.text if found.status == "answered" else ""


def test_a_place_says_where_the_years_of_its_rows_are_uncertain() -> None:
    table = image("Table 1: Statements", f"{INCOME}\nCash flows | 2021 | 2020\n{CASH}", layout="table")
    found = ask("What were the dividends paid in 2021?", context(images=[table]))
    assert found.status == "located"
    assert found.warnings == (UNCERTAIN_HEAD,)
    assert "2023: 2021" not in found.text
    of_head = ask("What was the interest in 2023?", context(images=[table]))
    assert UNCERTAIN_HEAD not in of_head.warnings


@pytest.mark.parametrize(
    "head",
    [
        "Division | 2031 (£m) | Staff",
        "Division | 2030 (EUR) | 2029 (EUR)",
        "Division | 2030 $ | 2029 $",
        "Division | 2030 (€, restated) | 2029 (€)",
        "Division | 2030 (in millions) | 2029 (in millions)",
        "Division | 2030 (£'000) | 2029 (£'000)",
        "Division | 2030 (in USD m) | 2029 (in USD m)",
    ],
)
def test_years_with_a_unit_are_names_of_columns(head: str) -> None:
    data = "Yards | 402 | 2,310\nCoatings | 188 | 640"
    table = f"In thousands | 2031 | 2030\nFreight | 48,210 | 41,905\n{head}\n{data}"
    assert part_starts(rows(table)) == {0: True, 2: True}
    assert answered("What did Coatings have in 2028?", table) == ""
    assert f"Coatings ({head.split(' | ')[1]}: 188)" in answered(f"What were Coatings in {head[11:15]}?", table)


@pytest.mark.parametrize(
    "row",
    [
        "Notes due | 2031 ($500m) | 2035 ($200m)",
        "Opens | 2035 (in May) | 2031 (in June)",
        "Expo | 2031 (USA) | 2035 (UAE)",
        "Loans | 2031 (£m) | 2035 (£5m)",
    ],
)
def test_years_with_what_is_no_unit_are_values(row: str) -> None:
    table = f"{INCOME}\n{row}\nInterest | 12 | 14\nTaxes | 30 | 28"
    assert part_starts(rows(table)) == {0: True}
    assert answered("What was the interest in 2031?", table) == ""
    assert "Interest (2023: 12)" in answered("What was the interest in 2023?", table)


@pytest.mark.parametrize(
    "row",
    [
        "Auditor | Deloitte | since 2020",
        "Status | audited | restated 2024",
        "Pension plan | closed in 2019 | open",
        "Loan ends | 2031 | never",
    ],
)
def test_years_among_values_are_no_head(row: str) -> None:
    table = f"{INCOME}\n{row}\nInterest | 12 | 14\nTaxes | 30 | 28"
    assert part_starts(rows(table)) == {0: True}
    assert "Interest (2023: 12)" in answered("What was the interest in 2023?", table)


def test_years_among_other_names_may_be_a_head_or_a_row() -> None:
    assert part_starts(rows(f"{INCOME}\nDivision | 2021 | Staff\n{CASH}")) == {0: True, 3: False}
    above = "In thousands | 2023 | 2022 | 2021\nFreight | 8 | 7 | 6"
    assert part_starts(rows(f"{above}\nDivision | 2021 | 2019 | Staff\nYards | 4 | 3 | 9")) == {0: True, 2: False}


RATES = (
    "Room | Winter | Winter | Summer | Summer\n- | 1 person | 2 persons | 1 person | 2 persons\n"
    "Standard | € 95 | € 130 | € 80 | € 110\nSuite | € 190 | € 240 | € 170 | € 215"
)


def test_what_spans_several_columns_is_part_of_the_name_of_each() -> None:
    (header, below), *_ = parts_of(rows(RATES))
    assert header == ["Room", "Winter 1 person", "Winter 2 persons", "Summer 1 person", "Summer 2 persons"]
    assert [row[0] for row in below] == ["Standard", "Suite"]
    assert "Suite (Summer 2 persons: € 215)" in answered("What is the suite for 2 persons in summer?", RATES)
    assert answered("What is the suite in spring for 2 persons?", RATES) == ""
    table = image("Table 1: Rates", RATES, layout="table")
    found = find_highlights("Table 1 (Rates) lists Suite (Summer 2 persons: € 215).", table)
    assert sorted(text_of(table)[start:end] for start, end in found) == ["2 persons", "Suite", "Summer", "€ 215"]


def test_repeated_names_above_a_row_without_a_name_are_parted_by_no_numbers() -> None:
    ((_, below),) = parts_of(rows("Room | Winter | Winter\n- | 95 | 130\nSuite | 190 | 240"))
    assert len(below) == 2


def test_no_cell_is_said_to_be_of_a_year_above_another_head() -> None:
    for head in ("In thousands | 2021 | 2020", "Cash flows | 2021 | 2020"):
        table = f"{INCOME}\n{head}\n{CASH}"
        assert answered("What were the dividends paid in 2023?", table) == ""
        assert "Profit (2023: 25,925)" in answered("What was the profit in 2023?", table)


def test_a_cell_has_the_year_of_the_head_above_it() -> None:
    assert "Dividends paid (2021: 3,000)" in answered(
        "What were the dividends paid in 2021?", f"{INCOME}\n- | 2021 | 2020\n{CASH}"
    )


def test_a_row_of_one_name_in_two_parts_is_answered_with_neither_without_a_year() -> None:
    table = f"{INCOME}\n- | 2021 | 2020\nFreight | 39,870 | 40,112"
    assert answered("What was the freight?", table) == ""
    assert "Freight (2021: 39,870)" in answered("What was the freight in 2021?", table)


def test_the_name_of_a_cell_is_highlighted_where_it_stands_above_it() -> None:
    table = image("Table 1: Statements", f"{INCOME}\n- | 2021 | 2020\n{CASH}", layout="table")
    found = find_highlights("Table 1 (Statements) lists Dividends paid (2021: 3,000).", table)
    assert sorted(text_of(table)[start:end] for start, end in found) == ["2021", "3,000", "Dividends paid"]
    assert text_of(table).index("2021") in {start for start, _ in found}
