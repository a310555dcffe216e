"""Tables that were read as one, split where names of columns are repeated."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_pages import BLACK, canvas, fill, line, picture
from test_table_heads import BODY, NUMBERS, YEARS, rows_at

from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.tables.aligned import aligned_tables
from quoteweave.documents.layout.tables.cells import Table, cells_of
from quoteweave.documents.layout.tables.heads import with_heads
from quoteweave.documents.layout.tables.splitting import split_at_gutters
from quoteweave.documents.sources.lines import Line

Rows = tuple[tuple[str, ...], ...]
BASIS = ("2021:", "", "Cost", "", "Basis")
BASIS_BEFORE = ("2020:", "", "Cost", "", "Basis")


def table_of_rows(rows: Sequence[Sequence[str]]) -> Table:
    lines = rows_at(rows, 100)
    return Table((40, 96, 400, 100 + 16 * len(rows)), cells_of(lines), tuple(lines))


def parted(rows: Sequence[Sequence[str]], above: Sequence[Line] = ()) -> list[Rows]:
    """The rows of the tables that a table with these rows at 100 points is, below these lines."""
    return [table.rows for table in with_heads([table_of_rows(rows)], above)]


def test_the_same_names_for_another_year_begin_another_table() -> None:
    assert parted([BASIS, *BODY, BASIS_BEFORE, *BODY]) == [
        (("2021:", "Cost", "Basis"), *NUMBERS),
        (("2020:", "Cost", "Basis"), *NUMBERS),
    ]


def test_names_of_the_head_above_a_table_begin_another_one_in_it() -> None:
    above = [line("(in millions)", 50, 84), *YEARS]
    rows = [*BODY, ("Place of the balance", "", "2021", "", "2020"), *BODY]
    assert parted(rows, above) == [
        (("(in millions)", "2021", "2020"), *NUMBERS),
        (("Place of the balance", "2021", "2020"), *NUMBERS),
    ]


def test_what_names_the_rows_may_stand_in_both_heads() -> None:
    heads = [("In thousands", "", one, "", other) for one, other in (("2023", "2022"), ("2021", "2020"))]
    title = ("Statement of cash flows", *[""] * 4)
    assert parted([heads[0], *BODY, title, heads[1], *BODY]) == [
        (("In thousands", "2023", "2022"), *NUMBERS),
        (("In thousands", "2021", "2020"), *NUMBERS),
    ]


def test_a_head_of_two_rows_of_which_the_last_has_the_year_is_one() -> None:
    rows = [*BODY, ("", "", "Cost", "", "Fair"), ("2020:", "", "basis", "", "value"), ("Bonds:", *[""] * 4), *BODY]
    assert parted(rows, YEARS) == [
        (("", "2021", "2020"), *NUMBERS),
        (("2020:", "Cost basis", "Fair value"), ("Bonds:",), *NUMBERS),
    ]


def test_other_names_over_the_columns_of_numbers_begin_another_table() -> None:
    text = "Payments of leases are as follows:"
    rows = [*BODY, (text, *[""] * 4), ("", "", "Berths", "", "Quays"), *BODY]
    assert parted(rows, YEARS) == [(("", "2021", "2020"), *NUMBERS), (("", "Berths", "Quays"), *NUMBERS)]


def test_years_with_a_unit_over_the_columns_of_numbers_begin_another_table() -> None:
    rows = [*BODY, ("Revenue by division", *[""] * 4), ("Division", "", "2031 (£m)", "", "Staff"), *BODY]
    assert parted(rows, YEARS) == [(("", "2021", "2020"), *NUMBERS), (("Division", "2031 (£m)", "Staff"), *NUMBERS)]


def test_names_of_rows_and_columns_below_a_heading_begin_another_table() -> None:
    rows = [*BODY, ("Revenue by division", *[""] * 4), ("Division", "", "Berths", "", "Quays"), *BODY]
    lines = [replace(one, size=13.0) if one.text == "Revenue by division" else one for one in rows_at(rows, 100)]
    table = Table((40, 96, 400, 240), cells_of(lines), tuple(lines))
    heads = [found.rows[0] for found in with_heads([table], YEARS)]
    assert heads == [("", "2021", "2020"), ("Division", "Berths", "Quays")]
    assert len(parted(rows, YEARS)) == 1  # the name of a group of rows, in their own type


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(("Method", "", "straight", "", "falling"), id="a row of words with a name"),
        pytest.param(("", "", "n.m.", "", "N/A"), id="no names of columns"),
        pytest.param(("", "", "Cost", "", ""), id="one of two columns"),
        pytest.param(("Ends", "", "2031", "", "2030"), id="other years of a row"),
        pytest.param(("", "", "**", "", "**"), id="signs"),
        pytest.param(("Opened", "", "May 2019", "", "June 2021"), id="dates of a row"),
        pytest.param(("Opened", "", "May 2019", "", "Staff"), id="a date and a word of a row"),
        pytest.param(("Due", "", "2031 or later", "", "unlimited"), id="years of a row with words behind them"),
    ],
)
def test_a_row_without_numbers_that_is_no_head_parts_no_table(row: Sequence[str]) -> None:
    (rows,) = parted([*BODY, row, *BODY], YEARS)
    assert len(rows) == 2 + 2 * len(BODY)


def test_names_below_which_no_number_stands_begin_no_table() -> None:
    (rows,) = parted([*BODY, ("", "", "Chairman", "", "Director")], YEARS)
    assert rows[:4] == (("", "2021", "2020"), *NUMBERS)


def test_lines_of_text_beside_each_other_are_parted_nowhere() -> None:
    text = [("the quay was", "", "dredged", "", "again"), ("in", "", "spring of 12 days", "", "and 7 more")]
    (rows,) = parted([*text, *text, *text])
    assert len(rows) == 6


def test_a_second_head_is_also_that_of_the_rows_below_its_first_which_were_found_apart() -> None:
    """A row alone below a second head is joined to the table below, with the name of rows between them."""
    tables = [table_of_rows([BASIS, *BODY, BASIS_BEFORE, BODY[1]]), *aligned_tables(rows_at(BODY, 209))]
    one, two = with_heads(tables, [line("Held to the end:", 50, 196, size=9)])
    assert one.rows == (("2021:", "Cost", "Basis"), *NUMBERS)
    assert two.rows == (("2020:", "Cost", "Basis"), NUMBERS[1], ("Held to the end:",), *NUMBERS)


SHORT = [("Quay", "", "17", "", "16"), ("Pier", "", "28", "", "27"), ("Dock", "", "39", "", "38")]
SHORT_NUMBERS = tuple((name, one, other) for name, _, one, _, other in SHORT)


def beside(top: float, rows: Sequence[Sequence[str]] = SHORT) -> list[Rows]:
    """The rows of the tables in a frame with the body at 100 points, and at its right rows that begin at `top`."""
    lines = (*rows_at(BODY, 100), *rows_at(rows, top, (420, 480, 490, 530, 538)))
    return [table.rows for table in split_at_gutters([Table((40, 90, 560, 180), cells_of(lines), lines)])]


def test_tables_side_by_side_in_one_frame_are_two() -> None:
    assert beside(107) == [NUMBERS, SHORT_NUMBERS]


def test_rows_beside_each_other_are_of_one_table() -> None:
    assert beside(100) == [tuple((*one, *other) for one, other in zip(NUMBERS, SHORT_NUMBERS, strict=True))]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([(name, *[""] * 4) for name, *_ in SHORT], id="names"),
        pytest.param([("", *numbers) for _, *numbers in SHORT], id="numbers"),
        pytest.param(SHORT[:2], id="two rows"),
    ],
)
def test_what_is_no_table_by_itself_is_parted_from_none(rows: Sequence[Sequence[str]]) -> None:
    assert len(beside(107, rows)) == 1


def test_of_a_page_both_tables_of_a_frame_are_read() -> None:
    pixels = canvas()
    for top in (96, 112, 128, 144):
        fill(pixels, (40, top, 560, top + 1), BLACK)
    names = [(name, "", f"1,{at}04", "", f"{at}88") for at, name in enumerate(["Net", "Fees", "Rent"])]
    lines = [*rows_at(names, 99), *rows_at(SHORT, 106, (420, 480, 490, 530, 538))]
    found = analyse_layout(lines, picture(pixels), (600.0, 800.0)).elements
    assert [each.rows for each in found if isinstance(each, Table)] == [
        tuple((name, one, other) for name, _, one, _, other in names),
        SHORT_NUMBERS,
    ]


def test_what_stands_over_the_columns_of_a_second_head_is_the_name_of_its_rows() -> None:
    over = ("", "Sums of all the new berths as of 2021", "", "", "")
    rows = [*BODY, over, ("", "", "Berths", "", "Quays"), *BODY]
    assert parted(rows, YEARS) == [
        (("", "2021", "2020"), *NUMBERS),
        (("", "Berths", "Quays"), ("Sums of all the new berths as of 2021",), *NUMBERS),
    ]


@pytest.mark.parametrize(
    "text", ["Table 2 Sums of all the new berths of", "Sums of all the new berths then are:"], ids=["a caption", "text"]
)
def test_a_caption_and_text_over_a_second_head_are_of_no_table(text: str) -> None:
    rows = [*BODY, ("", text, "", "", ""), ("", "", "Berths", "", "Quays"), *BODY]
    assert parted(rows, YEARS)[1] == (("", "Berths", "Quays"), *NUMBERS)
