"""Rows of a statement outside its shading, and statements of one row below their years."""

from collections.abc import Sequence

import pytest
from made_pages import BLACK, GREY, canvas, fill, line, picture
from test_table_heads import BODY, NUMBERS, YEARS, rows_at

from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.blocks import lines_to_rows
from quoteweave.documents.layout.tables import adjoining
from quoteweave.documents.layout.tables.adjoining import tables_below_years, with_adjoining_rows
from quoteweave.documents.layout.tables.aligned import aligned_tables
from quoteweave.documents.layout.tables.cells import Table, is_data, rows_of_cells
from quoteweave.documents.layout.tables.heads import with_heads
from quoteweave.documents.sources.lines import Line

# Columns that are wider than their numbers, and years in the middle of each.
WIDE = (50, 395, 440, 535, 580)
CENTRED = ("", "2021", "", "2020", "")
TOTAL = ("Total", "$", "9,104", "$", "7,988")


def with_rows(*lines: Line) -> tuple[tuple[str, ...], ...]:
    """The rows of a table of the body at 100 points, on a page that has these lines too."""
    (found,) = with_adjoining_rows(aligned_tables(rows_at(BODY, 100)), lines)
    assert all(found.box[1] <= each.box[1] and each.box[3] <= found.box[3] for each in found.lines)
    return found.rows


def test_a_total_below_the_shaded_rows_is_one_of_them() -> None:
    assert with_rows(*rows_at([TOTAL], 148)) == (*NUMBERS, ("Total", "$ 9,104", "$ 7,988"))


def test_rows_above_are_taken_with_the_names_of_groups_between_them() -> None:
    above = [("Costs", "", "204", "", "88"), ("Revenue:", "", "", "", "")]
    assert with_rows(*rows_at(above, 68)) == (("Costs", "204", "88"), ("Revenue:",), *NUMBERS)


def test_a_name_beyond_which_no_row_stands_is_left() -> None:
    assert with_rows(line("Revenue:", 50, 84), line("Other", 50, 148)) == NUMBERS


ABOVE = line("Costs of the harbour and of the", 50, 74)


@pytest.mark.parametrize("name", ["ships", "Breakwater"], ids=["small letters", "a word for which no space was left"])
def test_a_row_above_is_taken_with_the_line_in_which_its_name_begins(name: str) -> None:
    rows = rows_at([(name, "", "204", "", "88")], 86)
    assert with_rows(ABOVE, *rows) == ((ABOVE.text,), (name, "204", "88"), *NUMBERS)


@pytest.mark.parametrize(
    "above",
    [
        pytest.param(line("Costs", 50, 74), id="a line with space left"),
        pytest.param(line("Costs of the harbour and of the:", 50, 74), id="the name of a group"),
        pytest.param(line("Costs of the harbour and of the", 50, 74, bold=True), id="another font"),
        pytest.param(line("Costs of the harbour and of the", 50, 64), id="far above"),
        pytest.param(line("Costs of the harbour in all the years that are", 50, 74), id="text over the columns"),
    ],
)
def test_a_line_in_which_no_name_begins_is_left(above: Line) -> None:
    assert with_rows(above, *rows_at([("Breakwater", "", "204", "", "88")], 86))[0] == ("Breakwater", "204", "88")


def test_dots_behind_a_word_need_no_space() -> None:
    rows = rows_at([("Piers ..................", "", "204", "", "88")], 86)
    assert with_rows(line("Costs of the harbour", 50, 74), *rows)[0][1:] == ("204", "88")


def test_a_row_whose_first_cell_stands_beside_the_beginning_of_its_name_is_whole() -> None:
    """As in a table of contents: the page stands beside the last line of a title."""
    xs = (50, 100, 350)
    rows = [("2.", "Quays", "17"), ("3.", "Cranes", "18"), ("4.", "Berths", "19")]
    first = [line("1.", 50, 76), line("Harbours and", 100, 76), line("Docks", 104, 88), line("16", 350, 88)]
    (found,) = with_adjoining_rows(aligned_tables(rows_at(rows, 100, xs)), first)
    assert found.rows == (("1.", "Harbours and"), ("Docks", "16"), *rows)


@pytest.mark.parametrize(
    "row",
    [
        pytest.param([("", "", "2019", "", "2018")], id="years"),
        pytest.param([("Total", "", "9,104", "", "see Note 3")], id="text"),
        pytest.param([("Total", "", "9,104", "", "")], id="one of two columns"),
        pytest.param([("", "9,104", "", "7,988", "")], id="no name"),
    ],
)
def test_a_row_that_does_not_go_on_in_the_columns_is_left(row: Sequence[Sequence[str]]) -> None:
    assert with_rows(*rows_at(row, 148)) == NUMBERS


def test_numbers_under_no_column_are_left() -> None:
    assert with_rows(*rows_at([TOTAL], 148, (50, 260, 272, 370, 382))) == NUMBERS


def test_a_row_far_below_is_left() -> None:
    assert with_rows(*rows_at([TOTAL], 172)) == NUMBERS


def test_a_ruled_grid_stays_as_it_is() -> None:
    lines = tuple(rows_at(BODY, 100))
    grid = Table((40, 96, 400, 148), (("Net sales", "", "1,204", "", "988"),), lines)
    assert with_adjoining_rows([grid], rows_at([TOTAL], 148)) == [grid]


def test_a_row_is_taken_by_one_table_alone() -> None:
    tables = aligned_tables(rows_at(BODY, 100)) + aligned_tables(rows_at(BODY, 164))
    first, second = with_adjoining_rows(tables, rows_at([TOTAL], 148))
    assert (len(first.rows), len(second.rows)) == (4, 3)


def test_however_many_lines_stand_around_a_table_few_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def counted(lines: Sequence[Line]) -> list[list[Line]]:
        seen.append(len(lines))
        return lines_to_rows(lines)

    monkeypatch.setattr(adjoining, "lines_to_rows", counted)
    (table,) = aligned_tables(rows_at(BODY, 100))
    many = [line("Total", 50, 148 + at / 100, size=0.1) for at in range(5000)]
    assert with_adjoining_rows([table], many) == [table]
    assert max(seen) <= 2 * adjoining.MAX_LINES_BESIDE


def test_one_row_below_its_years_is_a_table_with_them_as_its_head() -> None:
    lines = [*YEARS, *rows_at([("Interest", "$", "171", "$", "160")], 100)]
    assert with_heads(tables_below_years(lines), []) == [
        Table(
            (50, lines[0].box[1], lines[-1].box[2], lines[-1].box[3]),
            (("", "2021", "2020"), ("Interest", "$ 171", "$ 160")),
            (*YEARS, *lines[2:]),
        )
    ]


def test_what_the_numbers_are_may_stand_beside_the_years() -> None:
    lines = [line("(in millions)", 50, 84), *YEARS, *rows_at([("Interest", "$", "171", "$", "160")], 100)]
    (table,) = with_heads(tables_below_years(lines), [])
    assert table.rows == (("(in millions)", "2021", "2020"), ("Interest", "$ 171", "$ 160"))


@pytest.mark.parametrize(
    "row",
    [
        pytest.param(("Interest", "$", "171", "", ""), id="one number"),
        pytest.param(("Interest", "", "rose", "", "fell"), id="words"),
        pytest.param(("Interest", "", "—", "", "—"), id="signs"),
        pytest.param(("Ends", "", "2021", "", "2020"), id="years"),
    ],
)
def test_what_is_no_row_of_numbers_below_years_is_no_table(row: Sequence[str]) -> None:
    assert tables_below_years([*YEARS, *rows_at([row], 100)]) == []


def test_amounts_with_signs_and_percentages_are_numbers_and_dates_are_none() -> None:
    rows = [("Costs", "", "16 %", "", "$ 30"), ("", "", "29 August", "", "2020"), ("Fees", "", "US$ 30", "", "—")]
    assert [is_data(row) for row in rows_of_cells(rows_at(rows, 100))] == [True, False, True]


def test_every_line_of_a_page_stays_in_one_element() -> None:
    lines = [*YEARS, *rows_at([("Interest", "$", "171", "$", "160")], 100), line("Rates rose.", 50, 132)]
    found = analyse_layout(lines, picture(canvas()), (600.0, 800.0)).elements
    assert sorted(id(each) for element in found for each in element.lines) == sorted(map(id, lines))


def test_rows_below_the_last_rule_of_a_drawing_stay_below_it() -> None:
    names = ["Net", "Fees", "Rent", "Wages", "Taxes", "Fuel", "Other", "Profit"]
    rows = [(name, "", f"1,{at}04", "", f"{at}88") for at, name in enumerate(names)]
    pixels = canvas()
    fill(pixels, (32, 97, 36, 226), BLACK)  # a bar beside the rows, which makes them one drawing
    for top in (97, 129, 161, 193):
        fill(pixels, (40, top, 400, top + 16), GREY)
    (table,) = analyse_layout(rows_at(rows, 100), picture(pixels), (600.0, 800.0)).elements
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == names


def test_the_name_of_a_group_below_the_years_may_be_long() -> None:
    group = "Cash paid for amounts that are held as debts of leases:"
    (table,) = with_heads(
        aligned_tables(rows_at(BODY, 100, WIDE)), [*rows_at([CENTRED], 68, WIDE), line(group, 50, 84)]
    )
    assert table.rows[:2] == (("", "2021", "2020"), (group,))


def test_years_in_the_middle_of_wide_columns_are_the_head_of_what_stands_at_their_right() -> None:
    body = [("May", "", "204", "", "88"), ("June", "", "38", "", "35"), ("July", "", "242", "", "23")]
    (table,) = with_heads(aligned_tables(rows_at(body, 100, WIDE)), rows_at([CENTRED], 84, WIDE))
    assert table.rows == (("", "2021", "2020"), ("May", "204", "88"), ("June", "38", "35"), ("July", "242", "23"))


def test_two_rows_are_a_table_where_dots_lead_to_several_numbers() -> None:
    rows = [("Swaps ........", "", "663", "", "12"), ("Total ........", "", "663", "", "12")]
    assert [table.rows for table in aligned_tables(rows_at(rows, 100))] == [
        (("Swaps ........", "663", "12"), ("Total ........", "663", "12"))
    ]
    assert aligned_tables(rows_at([(*row[:3], "", "") for row in rows], 100)) == []


def test_two_rows_of_a_form_or_of_two_lists_of_pages_are_no_table() -> None:
    form = [
        ("Name ..........", "", "Date ........", "", "Town ...."),
        ("Firm ..........", "", "Sign ........", "", "Seal"),
    ]
    pages = [("Aim ......", "3", "Tools ......", "", "12"), ("Data ......", "5", "End ......", "", "14")]
    assert [aligned_tables(rows_at(rows, 100)) for rows in (form, pages)] == [[], []]
