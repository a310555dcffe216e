"""Heads above tables, and the cells of their rows."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from made_pages import GREY, canvas, fill, line, paragraph, picture

from quoteweave.core.boxes import hull
from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.blocks import LineBlock
from quoteweave.documents.layout.tables.aligned import aligned_tables
from quoteweave.documents.layout.tables.cells import Table, cells_of, table_of
from quoteweave.documents.layout.tables.heads import with_heads
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


Rows = tuple[tuple[str, ...], ...]


def spread(words: Sequence[tuple[str, float]], top: float) -> Line:
    """A line of words that begin there."""
    lines = [line(text, x, top) for text, x in words]
    return replace(lines[0], words=tuple(one.words[0] for one in lines), box=hull(one.box for one in lines))


def test_a_space_through_all_rows_that_parts_the_cells_of_some_parts_those_of_all() -> None:
    rows = [
        [spread([("Loss", 50), ("1,204.50", 82), ("3.5", 134)], 100)],
        [line("Gain", 50, 116), spread([("980.00", 92), ("12.0", 134)], 116)],
        *(
            [line(name, 50, top), line(amount, 92, top), line("1.0", 134, top)]
            for name, amount, top in (("Tax", "224.50", 132), ("Sum", "199.25", 148))
        ),
    ]
    numbers = (
        ("Loss", "1,204.50", "3.5"),
        ("Gain", "980.00", "12.0"),
        ("Tax", "224.50", "1.0"),
        ("Sum", "199.25", "1.0"),
    )
    assert cells_of([cell for row in rows for cell in row]) == numbers
    # Which of the spaces in a name parts it from its number is not certain.
    names = [spread([("Old", 50), ("ox", 80)], 100), line("5", 134, 100)]
    others = [line(text, x, top) for top in (116, 132) for text, x in (("Tax", 50), ("6", 134))]
    assert cells_of([*names, *others]) == (("Old ox", "5"), ("Tax", "6"), ("Tax", "6"))


def centred(text: str, middle: float, top: float) -> Line:
    """A line with its middle there."""
    box = line(text, 0, top).box
    return line(text, middle - (box[2] - box[0]) / 2, top)


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
    (table,) = analyse_layout(rows_at(rows, 100), picture(pixels), (600.0, 800.0)).elements
    assert isinstance(table, Table)
    assert table.rows == (("", "2021", "2020"), ("REVENUE",), *NUMBERS, *NUMBERS)


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


YEARS = [line("2021", 220, 84), line("2020", 330, 84)]


def test_a_cell_stands_under_the_name_above_it_where_its_row_lacks_others() -> None:
    lacking = [
        ("Disposals", "", "", "$", "(16)"),
        ("", "$", "1,204", "", ""),
        ("Fees", "", "38", "", ""),
        ("", "", "7", "", "9"),
        ("Rent", "", "4 (2)", "", "5"),
    ]
    lines = rows_at([*BODY, *lacking], 100)
    (found,) = with_heads([Table((50, 100, 400, 240), cells_of(lines), tuple(lines))], YEARS)
    assert found.rows[4:] == (
        ("Disposals", "", "$ (16)"),
        ("$ 1,204",),
        ("Fees", "38", ""),
        ("", "7", "9"),
        ("Rent", "4 (2)", "5"),
    )


def test_a_row_whose_cells_are_under_no_certain_name_has_not_as_many_as_there_are_names() -> None:
    wide = [line("Fees", 50, 148), line("from 38 to 45 and from 35 to 40", 200, 148), line("41", 365, 148)]
    (table,) = aligned_tables([*rows_at(BODY, 100), *wide])
    (found,) = with_heads([table], YEARS)
    assert found.rows[0] == ("", "2021", "2020")
    assert found.rows[-1] == ("Fees", "from 38 to 45 and from 35 to 40 41")


def test_words_below_a_statement_do_not_join_its_columns() -> None:
    """The head stands over the second of a year's two columns; a director's name reaches over both years."""
    xs = (50, 200, 260, 320, 380)
    body = [
        ("Capital", "", "", "1,039", ""),
        ("Reserves", "1,204", "2,243", "988", "2,027"),
        ("Secured", "23", "", "46", ""),
        ("Total", "", "2,266", "", "2,073"),
    ]
    lines = [*rows_at(body, 100, xs), line("Auditors", 50, 164), line("SAMIR KUMAR", 200, 164)]
    lines += [line("RAMESH SHAH PODDAR OF DELHI", 262, 164, size=9)]
    table = Table((50, 100, 420, 180), cells_of(lines), tuple(lines))
    (found,) = with_heads([table], [line("2003", 262, 84), line("2002", 382, 84)])
    assert found.rows[:4] == (
        ("", "", "2003", "", "2002"),
        ("Capital", "", "", "1,039", ""),
        body[1],
        ("Secured", "23", "", "46", ""),
    )


def test_no_head_names_a_column_in_which_two_cells_of_a_row_stand() -> None:
    """A wide number joins the columns of two years."""
    rows = [("Fees", "38", "35"), ("Rent", "4", "5"), ("Total", "42", "40")]
    lines = rows_at(rows, 100, (50, 240, 300))
    lines += [line("Range", 50, 148), line("35 to 42 to 51 to 64", 235, 148)]
    table = Table((50, 100, 350, 164), cells_of(lines), tuple(lines))
    head = [line("2021", 240, 84), line("Change", 400, 84)]
    assert with_heads([table], head)[0].rows == cells_of(lines)


def test_a_code_above_codes_is_no_head() -> None:
    rows = [("5.", "North", "GA05"), ("6.", "South", "GA06"), ("7.", "West", "GA07")]
    (table,) = aligned_tables(rows_at(rows, 100, (50, 90, 300)))
    assert with_heads([table], rows_at([("", "Rockdale", "GA04")], 84, (50, 90, 300)))[0].rows == tuple(rows)
    quarters = rows_at([("", "Place", "Q1")], 84, (50, 90, 300))
    assert with_heads([table], quarters)[0].rows[0] == ("", "Place", "Q1")


@pytest.mark.parametrize(
    "between",
    [
        [line("Year ended June 2019", 210, 164)],
        [line("High of the", 220, 164), line("Low", 330, 164)],
        [line("The quay was moved to the other side of the harbour", 50, 164)],
    ],
    ids=["a head that spans columns", "names side by side", "text"],
)
def test_a_head_is_not_that_of_a_table_below_what_may_be_another(between: Sequence[Line]) -> None:
    (first,), (second,) = (aligned_tables(rows_at(BODY, top)) for top in (100, 184))
    low = [line("S", 220, 174, size=4)]
    assert [table.rows for table in with_heads([first, second], [*YEARS, *between, *low])] == [
        (("", "2021", "2020"), *NUMBERS),
        NUMBERS,
    ]
    named = with_heads([first, second], [*YEARS, line("Fiscal 2019:", 50, 164)])
    assert named[1].rows == (("", "2021", "2020"), *NUMBERS)


def test_a_row_of_years_below_numbers_begins_another_table() -> None:
    text = "The costs of leases were as follows:"
    others = [("", "", "2019", "", "2018")]
    lines = [*rows_at(BODY, 100), line(text, 50, 148), *rows_at(others, 164), *rows_at(BODY, 180)]
    table = Table((40, 96, 400, 240), cells_of(lines), tuple(lines))
    first, second = with_heads([table], YEARS)
    assert first.rows == (("", "2021", "2020"), *NUMBERS)
    assert second.rows == (("", "2019", "2018"), *NUMBERS)
    assert (first.box, second.box) == ((40, 84, 400, 142), (40, 164, 400, 240))
    found = analyse_layout([*YEARS, *lines], picture(canvas()), (600.0, 800.0)).elements
    assert [element.text for element in found if isinstance(element, LineBlock)] == [text]
    assert sum(isinstance(element, Table) for element in found) == 2
    # The head and the first row of the second table, which the first table had taken.
    taken = Table((40, 96, 400, 190), cells_of(lines[:-8]), tuple(lines[:-8]))
    rest = Table((40, 196, 400, 240), cells_of(lines[-8:]), tuple(lines[-8:]))
    assert [each.rows for each in with_heads([taken, rest], YEARS)] == [first.rows, second.rows]


def test_long_names_of_rows_are_no_paragraph_beside_their_numbers() -> None:
    names = [
        "Net cash provided by the operations",
        "Net cash used in the new harbour",
        "Net cash used in paying back loans",
    ]
    numbers = [
        line(text, x, 100 + 12 * at) for at, text in enumerate(("8,958", "(3,535)", "(6,488)")) for x in (300, 380)
    ]
    found = analyse_layout([*paragraph(names, 50, 100), *numbers], picture(canvas()), (600.0, 800.0)).elements
    assert [element.rows[0] for element in found if isinstance(element, Table)] == [(names[0], "8,958", "8,958")]


def test_lines_that_are_counted_at_their_right_are_a_paragraph() -> None:
    text = ["the harbour was dredged again in early spring"] * 5
    counted = [line(str(at), 400, 100 + 12 * at) for at in range(5)]
    found = analyse_layout([*paragraph(text, 50, 100), *counted], picture(canvas()), (600.0, 800.0)).elements
    assert not any(isinstance(element, Table) for element in found)


def test_a_name_of_many_words_has_its_number_beside_it() -> None:
    name = "Fee of a to b or of c to d in e"
    lines = [*rows_at(BODY, 100), line(name, 50, 148), line("17", 240, 148), line("16", 350, 148)]
    (table,) = aligned_tables(lines)
    assert table.rows == (*NUMBERS, (name, "17", "16"))


def test_cells_that_touch_do_not_join_the_columns_of_other_rows() -> None:
    lines = [*rows_at(BODY, 100), line("Fees", 50, 148), line("26,822 53,985", 246, 148)]
    table = Table((50, 100, 400, 160), cells_of(lines), tuple(lines))
    assert with_heads([table], YEARS)[0].rows == (("", "2021", "2020"), *NUMBERS, ("Fees", "26,822 53,985"))


@pytest.mark.parametrize("unit", ["£", "£’000", "US$", "%"])
def test_what_the_numbers_are_in_stands_below_their_years(unit: str) -> None:
    head = [line("2021", 220, 72), line("2020", 330, 72), line(unit, 225, 86), line(unit, 335, 86)]
    assert headed(head)[0] == ("", f"2021 {unit}", f"2020 {unit}")


def test_a_heading_above_the_years_is_no_part_of_their_names() -> None:
    heading = line("Income and spending of the trust", 50, 64, size=15)
    assert headed([heading, line("2021", 220, 84), line("2020", 330, 84)])[0] == ("", "2021", "2020")


SCORES = (("Alpha", "39.5", "35.3"), ("Beta", "55.4", "46.1"), ("Gamma", "82.6", "76.2"))


def ruled(head: Sequence[Line], body: Sequence[Sequence[str]] = SCORES, xs: Sequence[float] = (50, 204, 255)) -> Rows:
    """The rows of a table with this head over that body at 100 points."""
    (found,) = with_heads([table_of([*head, *rows_at(body, 100, xs)])], [])
    return found.rows


def test_names_that_were_read_as_one_line_are_parted_by_the_columns_below_them() -> None:
    names = spread([("Test", 190), ("set", 212), ("Hard", 245), ("subset", 269)], 84)
    assert ruled([line("Model", 50, 84), names]) == (("Model", "Test set", "Hard subset"), *SCORES)


def test_a_line_whose_words_stand_close_or_over_one_column_is_one_name() -> None:
    close = spread([("Test", 200), ("or", 222), ("hard", 234), ("subset", 258)], 84)
    assert ruled([line("Model", 50, 84), close])[0] == ("Model", close.text)
    beside = spread([("Test", 190), ("set", 207), ("Hard", 233), ("subset", 420)], 84)
    assert ruled([line("Model", 50, 84), beside])[0] == ("Model", beside.text)


def test_a_name_over_the_middle_of_several_columns_is_a_part_of_the_name_of_each() -> None:
    low = [line("Test", 202, 84), line("Hard", 253, 84)]
    above = centred("Accuracy", (low[0].box[0] + low[1].box[2]) / 2, 68)
    assert ruled([line("Model", 50, 68), above, *low]) == (("Model", "Accuracy Test", "Accuracy Hard"), *SCORES)
    off = centred("Accuracy", (low[0].box[0] + low[1].box[2]) / 2 + 9, 68)
    assert not any("Accuracy" in name for name in ruled([line("Model", 50, 68), off, *low])[0][2:])


def test_names_over_groups_of_columns_are_parts_of_the_names_of_their_own() -> None:
    xs = (50, 204, 255, 306, 357)
    body = [(*row, "1.5", "2.5") for row in SCORES]
    low = [line(name, x - 2, 84) for name, x in zip(("Test", "Hard", "Test", "Hard"), xs[1:], strict=True)]
    above = [
        centred(name, (low[at].box[0] + low[at + 1].box[2]) / 2, 68) for name, at in (("Accuracy", 0), ("Recall", 2))
    ]
    names = ("Model", "Accuracy Test", "Accuracy Hard", "Recall Test", "Recall Hard")
    assert ruled([line("Model", 50, 68), *above, *low], body, xs) == (names, *body)


def test_a_name_over_one_of_three_columns_is_no_part_of_the_names_beside_it() -> None:
    xs = (50, 204, 255, 306, 357, 408, 459)
    body = [(*row, "1.5", "2.5", "3.5", "4.5") for row in SCORES]
    low = [line(name, x, 84) for name, x in zip(("Low", "High", "Size", "Cost", "Fast", "Slow"), xs[1:], strict=True)]
    above = [centred(name, (low[at].box[0] + low[at].box[2]) / 2, 68) for name, at in (("Most", 1), ("Very", 4))]
    rows = ruled([line("Model", 50, 68), *above, *low], body, xs)
    assert not any(name.startswith(("Most Low", "Most Size", "Very Cost", "Very Slow")) for row in rows for name in row)
