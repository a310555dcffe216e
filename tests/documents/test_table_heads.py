"""Heads above tables, and the cells of their rows."""

from collections.abc import Sequence

import pytest
from made_pages import GREY, canvas, fill, line, picture

from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.table_heads import with_heads
from quoteweave.documents.layout.tables import Table, aligned_tables, cells_of
from quoteweave.documents.sources.lines import Line

BODY = [
    ("Net sales", "$", "1,204", "$", "988"),
    ("Membership fees", "", "38", "", "35"),
    ("Total", "$", "1,242", "$", "1,023"),
]
XS = (50, 195, 240, 305, 350)


def rows_at(rows: Sequence[Sequence[str]], top: float, xs: Sequence[float] = XS) -> list[Line]:
    return [
        line(text, x, top + 16 * at) for at, row in enumerate(rows) for text, x in zip(row, xs, strict=True) if text
    ]


def headed(above: Sequence[Line], body: Sequence[Sequence[str]] = BODY) -> tuple[tuple[str, ...], ...]:
    """The rows of a table of that body at 100 points, below these lines."""
    (table,) = aligned_tables(rows_at(body, 100))
    (found,) = with_heads([table], above)
    assert all(each.box[1] >= found.box[1] for each in found.lines)
    return found.rows


NUMBERS = (("Net sales", "$ 1,204", "$ 988"), ("Membership fees", "38", "35"), ("Total", "$ 1,242", "$ 1,023"))


def test_a_sign_is_part_of_the_cell_of_its_number() -> None:
    assert cells_of(rows_at(BODY, 100)) == NUMBERS
    joined = [line("Cash", 50, 100), line("1,258 $", 200, 100), line("2,277", 300, 100)]
    assert cells_of(joined) == (("Cash", "1,258", "$ 2,277"),)
    assert cells_of([line("Price in $", 50, 100), line("per tonne", 200, 100)]) == (("Price in $", "per tonne"),)


def test_years_above_the_columns_are_the_head() -> None:
    years = [line("2021", 220, 84), line("2020", 330, 84)]
    assert headed(years) == (("", "2021", "2020"), *NUMBERS)


def test_a_head_of_several_rows_is_one_with_the_names_of_its_groups_below() -> None:
    above = rows_at([("", "", "August 29,", "", "August 30,"), ("(in millions)", "", "2021", "", "2020")], 52)
    assert headed([*above, line("REVENUE", 50, 84)]) == (
        ("(in millions)", "August 29, 2021", "August 30, 2020"),
        ("REVENUE",),
        *NUMBERS,
    )


@pytest.mark.parametrize(
    "above",
    [
        [line("Statements of the harbour company", 180, 84)],
        [line("Fees", 50, 84), line("17", 240, 84), line("16", 350, 84)],
        [line("2021", 220, 40), line("2020", 330, 40)],
        [line("2021", 220, 84)],
        [line("REVENUE", 50, 84)],
        [],
    ],
    ids=["a title across", "a row of numbers", "far above", "one of two", "a group", "nothing"],
)
def test_what_is_no_head_is_left(above: Sequence[Line]) -> None:
    assert headed(above) == NUMBERS


def test_rows_of_a_head_that_are_the_tables_own_are_joined_as_well() -> None:
    body = [("", "", "August 29,", "", "August 30,"), ("", "", "2021", "", "2020"), *BODY]
    (table,) = aligned_tables(rows_at(BODY, 132))
    lines = rows_at(body, 100)
    whole = Table(table.box, cells_of(lines), tuple(lines))
    assert with_heads([whole], [])[0].rows == (("", "August 29, 2021", "August 30, 2020"), *NUMBERS)


def test_a_table_of_words_keeps_its_rows() -> None:
    rows = [("Berth", "", "Depth", "", "Use"), ("North", "", "low", "", "grain"), ("South", "", "deep", "", "coal")]
    assert headed([], rows) == tuple((row[0], row[2], row[4]) for row in rows)
    marks = rows_at([("", "", "S", "", "S"), ("", "", "P", "", "P"), *BODY], 100)
    table = Table((50, 100, 380, 180), cells_of(marks), tuple(marks))
    assert with_heads([table], [])[0].rows[:2] == (("S", "S"), ("P", "P"))


def test_no_row_of_a_shaded_table_is_lost() -> None:
    pixels = canvas()
    fill(pixels, (40, 96, 380, 224), GREY)
    rows = [("", "", "2021", "", "2020"), ("REVENUE", "", "", "", ""), *BODY, *BODY]
    (table,) = analyse_layout(rows_at(rows, 100), picture(pixels), (600.0, 800.0))
    assert isinstance(table, Table)
    assert table.rows == (("2021", "2020"), ("REVENUE",), *NUMBERS, *NUMBERS)


def test_two_names_over_one_column_are_no_row_of_a_head() -> None:
    """Cells that stand close make one column of two, whose names may not be joined."""
    assert headed(rows_at([("", "ACE", "MAY", "", "JUNE")], 84)) == NUMBERS


def test_the_parts_of_a_statement_all_have_the_head_of_the_first() -> None:
    (first,), (second,), (far,) = (aligned_tables(rows_at(BODY, top)) for top in (100, 180, 400))
    years = [line("2021", 220, 84), line("2020", 330, 84)]
    found = with_heads([second, far, first], [*years, line("LIABILITIES", 150, 160)])
    headed_rows = (("", "2021", "2020"), *NUMBERS)
    assert [table.rows for table in found] == [headed_rows, headed_rows, NUMBERS]
    (moved,) = aligned_tables(rows_at(BODY, 180, [x + 30 for x in XS]))
    assert [table.rows for table in with_heads([first, moved], years)] == [headed_rows, NUMBERS]
