"""Cells of tables, said in words."""

import pytest
from cells_said import cells_in_words
from harbour_quotes import DUES, TRAINS, ask, context, image, quote

from quoteweave.generation.extractive.tables.asked_names import AskedCells
from quoteweave.generation.extractive.tables.cells import find_cells
from quoteweave.generation.extractive.tables.heads import head_places, read_rows, split_header
from quoteweave.generation.gate.dates import extract_dates


def said(text: str, *words: str) -> str:
    return cells_in_words(text, words, {word: 1 / len(words) for word in words})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["grain"], "Grain (2021: 486; 2022: 512; Change: +5.3%)"),
        (["grain", "2022"], "Grain (2022: 512)"),
        (["grain", "timber"], "Grain (2021: 486; 2022: 512; Change: +5.3%) and Timber (2021: 331)"),
        (["fish"], ""),
        (["2021"], ""),
    ],
)
def test_rows_and_columns_that_the_question_names(words: list[str], expected: str) -> None:
    assert said(DUES, *words) == expected


def test_a_number_in_one_row_points_to_its_column_in_another() -> None:
    assert said(TRAINS, "10:40", "solmatt", "grunegg") == "Sölmatt (Train 2: 10:40) and Grünegg (Train 2: 11:28)"


def test_a_table_without_headings() -> None:
    assert said("Length | 189 m\nMass | 5,130 t\nCrew | 22", "length") == "Length (189 m)"
    assert said("Ship | Merrow\nCrew | 22", "crew") == "Crew (22)"
    assert said("Grain | 486 | 512\nTimber | 331 | 318", "grain") == "Grain (486; 512)"


def test_two_columns_have_names_where_all_values_are_mere_numbers() -> None:
    rain = "City | Rain in mm\nOslo | 763\nBergen | 2,495\nTromsø | 1 031"
    assert said(rain, "oslo") == "Oslo (Rain in mm: 763)"
    assert said(rain, "rain") == ""
    assert said("Ship | Merrow\nLength | 189 m\nCrew | 22", "ship", "crew") == "Ship (Merrow) and Crew (22)"


def test_one_name_too_few_names_no_column_unless_the_names_are_years() -> None:
    assert said("Item | Price\nA1 | 3 | 4\nB1 | 5 | 6", "a1") == "A1 (3; 4)"
    assert said("Item | Price\nA1 | 3 | 4\nB1 | 5 | 6", "a1", "price") == "A1 (3; 4)"
    assert head_places([["Item", "Price"], ["A1", "3", "4"]]) == (1, {})
    assert said("2021 | 2020\nA1 | 3 | 4\nB1 | 5 | 6", "a1", "2020") == "A1 (2020: 4)"
    assert said("2021 | Price\nA1 | 3 | 4\nB1 | 5 | 6", "a1", "price") == "A1 (3; 4)"


@pytest.mark.parametrize("first", ["Model", "-"])
def test_a_name_over_several_columns_is_joined_with_each_name_below_it(first: str) -> None:
    head = f"Model | Accuracy | Accuracy | Size\n{first} | Test set | Hard subset | Size"
    table = f"{head}\nAlpha | 82.6 | 76.2 | 7\nBeta | 1 | 2 | 3"
    assert said(table, "alpha", "test", "set") == "Alpha (Accuracy Test set: 82.6)"
    assert said(table, "alpha", "hard", "subset") == "Alpha (Accuracy Hard subset: 76.2)"
    assert said(table, "alpha", "size") == "Alpha (Size: 7)"
    assert head_places(read_rows(table)) == (2, {1: [(0, 1), (1, 1)], 2: [(0, 2), (1, 2)], 3: [(0, 3), (1, 3)]})


def test_a_head_of_three_rows_of_which_two_repeat_names_is_one() -> None:
    head = "Model | Accuracy | Accuracy\nModel | QuALITY | QuALITY\nModel | 1-shot | 5-shot"
    header, rows = split_header(read_rows(f"{head}\nAlpha | 82.6 | 76.2\nBeta | 1 | 2"))
    assert header == ["Model", "Accuracy QuALITY 1-shot", "Accuracy QuALITY 5-shot"]
    assert rows == [["Alpha", "82.6", "76.2"], ["Beta", "1", "2"]]


def test_a_row_of_values_below_a_name_that_spans_is_no_part_of_the_head() -> None:
    table = "Model | Accuracy | Accuracy\n- | 82.6 | 76.2\nBeta | 1 | 2"
    assert split_header(read_rows(table))[0] == ["Model", "Accuracy", "Accuracy"]


def test_only_lines_of_several_cells_are_rows() -> None:
    assert read_rows("Trade payables ........ | 9 | ...") == [["Trade payables", "9", ""]]
    assert read_rows("Dues of 2021\nGrain | 486 |\n\n a  b | c") == [["Grain", "486", ""], ["a b", "c"]]
    assert said("", "grain") == said("no table", "table") == ""


def test_nothing_is_said_where_the_names_leave_too_much() -> None:
    rows = "\n".join(f"Quay {number} | {number * 10}" for number in range(100))
    assert said(rows, "quay") == ""
    assert said("Year | Sales | Sales\nGrain | 486 | 512\nTimber | 331 | 318", "grain", "sale") == ""
    wide = "Goods | A | B | C | D\nGrain | 1 | 2 | 3 | 4\nTimber | 5 | 6 | 7 | 8"
    assert said(wide, "grain") == ""


def test_another_number_in_a_name_is_another_row_or_column() -> None:
    waves = "- | Wave I | Wave II | Wave III\nDistricts | 31 | 31 | 44\nPeople | 52 | 50 | 72"
    assert said(waves, "district", "wave", "iii") == "Districts (Wave III: 44)"
    quarters = "Port | Q1 2022 | Q1 2023\nTolland | 31 | 44\nMerrow | 52 | 50"
    assert said(quarters, "tolland", "q1", "2023") == "Tolland (Q1 2023: 44)"


@pytest.mark.parametrize(
    "names",
    ["2021 | 2022", "- | 2021 | 2022", "Goods | 2021 | 2022", "- | Fiscal year | -\nGoods | 2021 | 2022"],
)
def test_cells_come_with_the_names_of_their_columns(names: str) -> None:
    assert said(f"{names}\nGrain | 486 | 512\nTimber | 331 | 318", "grain") == "Grain (2021: 486; 2022: 512)"


def test_signs_in_cells_of_their_own_do_not_move_the_numbers() -> None:
    table = "- | 2021 | 2020 | 2019\nTaxes | 5 | 6 | 7\nNet income | $ | 5,007 $ | 4,002 $ | 3,659"
    assert said(table, "net", "incom", "2021") == "Net income (2021: 5,007 $)"
    odd = "- | 2021 | 2020 | 2019\nTaxes | 5 | 6 | 7\nNet income | 1 | 5,007 | 4,002 | 3,659"
    assert said(odd, "net", "incom", "2021") == ""


def test_what_is_left_over_is_not_what_is_asked_for() -> None:
    rows = "Group | 2022\nOther debt | 12\nTrade | 30"
    assert cells_in_words(rows, ["debt"], {"debt": 1.0}) == ""
    assert cells_in_words(rows.replace("Other ", ""), ["debt"], {"debt": 1.0}) == "debt (2022: 12)"


def test_what_the_title_says_too_is_no_row_where_another_is_named() -> None:
    table = "- | 2021 | 2020\nCanada | 1,456 | 1,310\nOther | 2,511 | 2,061\nInventories | 14,215 | 12,242"
    asked, weights = ["inventori", "canada", "2021"], {"inventori": 0.6, "canada": 0.3, "2021": 0.1}
    rows_in_words = "Canada (2021: 1,456)"
    assert cells_in_words(table, asked, weights, titled=["merchandis", "inventori"]) == rows_in_words
    assert cells_in_words(table, asked, weights) == f"{rows_in_words} and Inventories (2021: 14,215)"
    alone = cells_in_words(table, ["inventori", "2021"], weights, titled=["merchandis", "inventori"])
    assert alone == "Inventories (2021: 14,215)"


def test_a_year_names_the_column_whose_heading_is_a_date_in_it() -> None:
    dated = "- | 52 Weeks Ended August 29, 2021 | 52 Weeks Ended August 30, 2020\nFees | 3,877 | 3,541\nSales | 1 | 2"
    assert said(dated, "fee", "2020") == "Fees (52 Weeks Ended August 30, 2020: 3,541)"
    quarters = dated.replace("2021", "2020")
    assert said(quarters, "fee", "2020") == (
        "Fees (52 Weeks Ended August 29, 2020: 3,877; 52 Weeks Ended August 30, 2020: 3,541)"
    )
    assert "3,877" in said(dated, "fee", "2019")


def test_a_total_is_of_what_the_title_or_a_heading_says() -> None:
    table = "- | 2021 | 2020\nThereafter | 5 | 6\nTotal | 3,655 | 1,589"
    asked = ["total", "leas", "cost", "2020"]
    weights = dict.fromkeys(asked, 0.25)
    assert cells_in_words(table, asked, weights, titled=["matur", "leas"]) == ""
    assert cells_in_words(table, asked, weights, titled=["cost", "leas"]) == "Total (2020: 1,589)"


def test_numbers_without_headings_are_of_no_year_that_nothing_names() -> None:
    table = "Thereafter | 5 | 6\nLeases | 3,655 | 1,589"
    assert said(table, "leas", "2020") == ""
    assert said(table, "leas") == said(table.replace("Leases", "Leases in 2020"), "leas", "2020").replace(
        " in 2020", ""
    )
    asked, weights = ["leas", "2020"], {"leas": 1.0}
    assert cells_in_words(table, asked, weights, titled=["2020"]) == "Leases (3,655; 1,589)"
    assert cells_in_words(table, asked, weights, titled=["2021", "2020"]) == ""


SALES = "Region | Revenue | Profit\n- | 2023 | 2022 | 2023 | 2022\nNorth | 43 | 44 | (12) | 5\nSouth | 30 | 31 | 6 | 7"


@pytest.mark.parametrize("above", ["Region | Revenue | Profit", "Revenue | Profit", "- | Revenue | - | Profit | -"])
def test_names_that_stand_over_several_columns_are_part_of_the_name_of_each(above: str) -> None:
    table = SALES.replace("Region | Revenue | Profit", above)
    assert said(table, "north", "profit", "2022") == "North (Profit 2022: 5)"
    assert said(table, "north", "revenu", "2023") == "North (Revenue 2023: 43)"


def test_columns_have_no_names_where_it_is_uncertain_over_which_others_stand() -> None:
    table = SALES.replace("2023 | 2022 | 2023 | 2022", "2023 | 2022 | 2021 | 2020")
    assert said(table, "north", "2022") == said(table, "north", "profit", "2020") == ""


def test_two_amounts_that_touch_are_in_two_columns_or_in_none() -> None:
    table = "- | 2022 | 2021 | 2020\nTaxes | $ 9 | $ 8 | $ 7\nResult | $ 204 | $ 26,822 $ (53,985)"
    assert said(table, "result", "2020") == "Result (2020: $ (53,985))"
    assert said(table.replace("$ 204 |", "$ 204 | - |"), "result", "2020") == ""


@pytest.mark.parametrize("day", ["31.3.2003", "31.03.2003", "31/3/2003", "March 31, 2003"])
def test_the_day_of_a_column_may_be_written_otherwise_than_in_the_question(day: str) -> None:
    table = f"- | {day} | {day.replace('2003', '2002')}\nCash | 936 | 874\nDues | 11 | 12"
    asked, dates = ["cash", "31", "march", "2003"], extract_dates("on 31 March 2003")[0]
    (row,) = find_cells(table, AskedCells(asked, dict.fromkeys(asked, 0.25), dates=dates))
    assert str(row) == f"Cash ({day}: 936)"
    assert "31 march 2003" in row.heading_dates


def test_a_column_whose_name_is_said_apart_is_not_the_one_where_another_has_a_part_of_it() -> None:
    table = "- | Republican | Democrat | Lean Republican | No Lean\n"
    voters = image("Voters in 2018", f"{table}Male | 51 | 40 | 64 | 55\nHispanic | 7 | 18 | 13 | 23", layout="table")

    def byline_persons(question: str) -> tuple[str, str]:
        answer = ask(question, context(images=[voters]))
        return answer.status, answer.text

    status, _ = byline_persons("Which is larger in 2018: Republican who are Hispanic, or no leans who are male?")
    assert status == "located"
    assert byline_persons("How many of the Hispanic voters lean Republican?")[0] == "answered"
    assert "Hispanic (Republican: 7" in byline_persons("How many Republican voters are Hispanic?")[1]


def test_a_version_or_the_number_of_a_section_is_no_name_of_a_column() -> None:
    assert said("3.1 | 3.2.1 | 3.2.2\nCash | 936 | 874\nDues | 11 | 12", "cash") == "Cash (936; 874)"


@pytest.mark.parametrize("first", ["", "Region", "Year ended"])
def test_the_places_of_a_columns_names_are_those_of_its_name(first: str) -> None:
    rows = [[first, "Region", "Profit"], ["", "2023", "2022", "Q1", "2023", "2022", "Q1"], ["Oslo", *"123456"]]
    header, _ = split_header(rows)
    _, places = head_places(rows)
    assert header[1:] == [" ".join(rows[y][x] for y, x in places[at]) for at in range(1, 7)]
    assert [places[at][0] for at in (1, 6)] == [(0, 1), (0, 2)]


GROUPED = """- | 2022 | 2021
Assets:
Domestic | 160 | 176
Abroad | 14 | 14
Total assets | 174 | 190
Spending
Domestic | 6 | 8
Abroad | 3 | 3"""


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["asset", "abroad", "2022"], "Assets: Abroad (2022: 14)"),
        (["spend", "abroad", "2021"], "Spending: Abroad (2021: 3)"),
        (["total", "asset", "domest", "2021"], "Assets: Domestic (2021: 176)"),
        (["total", "asset", "2021"], "Total assets (2021: 190)"),
        (["abroad", "2021"], ""),
        (["asset", "spend", "abroad", "2021"], ""),
    ],
)
def test_of_rows_with_one_name_that_of_the_asked_group_is_taken(words: list[str], expected: str) -> None:
    assert said(GROUPED, *words) == expected


def test_a_group_ends_with_its_total() -> None:
    assert said(GROUPED.replace("Spending\n", ""), "asset", "abroad", "2021") == "Assets: Abroad (2021: 14)"


def test_rows_of_other_things_are_taken_where_these_are_asked_for() -> None:
    table = "- | 2022 | 2021\nInterest income | 6 | 8\nInterest income and other, net | 9 | 7"
    assert said(table, "interest", "incom", "net", "2021") == "Interest income (2021: 8)"
    assert said(table, "interest", "incom", "other", "net", "2021") == "Interest income and other, net (2021: 7)"


@pytest.mark.parametrize(
    ("spending", "words"),
    [
        pytest.param("Of which", ["wage", "abroad", "2022"], id="no name"),
        pytest.param("Other wages", ["wage", "abroad", "2022"], id="other things"),
        pytest.param("(1)", ["level", "1", "abroad", "2022"], id="a mark"),
        pytest.param("Gain on\nhedges | 5 | 5", ["gain", "abroad", "2022"], id="the beginning of a long name"),
        pytest.param("Rent | 5 | 4\nSpending", ["asset", "rent", "abroad", "2022"], id="another row is asked for"),
    ],
)
def test_what_names_no_group_or_not_all_that_is_asked_tells_no_row_from_another(
    spending: str, words: list[str]
) -> None:
    assert said(GROUPED.replace("Spending", spending), *words) == ""


def test_totals_end_a_group() -> None:
    table = GROUPED.replace("Total assets", "Totals").replace("Spending\n", "")
    assert said(table, "asset", "abroad", "2022") == "Assets: Abroad (2022: 14)"


def test_a_mark_between_its_rows_does_not_end_a_group() -> None:
    table = GROUPED.replace("Abroad | 14", "(1)\nAbroad | 14")
    assert said(table, "asset", "abroad", "2022") == "Assets: Abroad (2022: 14)"


FLOWS = "Pump | Max. flow (l/min) | Max. head (m) | Weight (kg)\nP 10 | 120 | 6.5 | 4.8\nP 20 | 165 | 8.0 | 5.6"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["maximum", "flow", "p", "20"], "P 20 (Max. flow (l/min): 165)"),
        (["maximum", "head", "p", "20"], "P 20 (Max. head (m): 8.0)"),
        (["weight", "p", "20"], "P 20 (Weight (kg): 5.6)"),
    ],
)
def test_a_column_is_named_without_its_unit_and_by_another_word(words: list[str], expected: str) -> None:
    assert said(FLOWS, *words) == expected


def test_the_minimum_is_not_the_maximum_that_a_table_has() -> None:
    given = context([quote("P 20 is a pump.")], [image("Pumps", FLOWS, layout="table")])
    assert ask("What is the maximum flow of the P 20?", given).status == "answered"
    assert ask("What is the minimum flow of the P 20?", given).status != "answered"
