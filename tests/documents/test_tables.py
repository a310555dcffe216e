"""Tables: grids, stacks of rules, and aligned rows."""

from collections.abc import Sequence

import pytest
from made_pages import A4, canvas, fill, grid, line, paragraph, picture, prose, scatter

from quoteweave.core.boxes import Box, iou
from quoteweave.documents.layout import graphics as page_graphics
from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.blocks import block_of
from quoteweave.documents.layout.graphics import PageGraphics, find_graphics
from quoteweave.documents.layout.tables.aligned import aligned_tables
from quoteweave.documents.layout.tables.cells import Table, cells_of
from quoteweave.documents.layout.tables.ruled import grid_tables, ruled_tables
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Pixels

XS, YS = [50, 150, 250], [100, 120, 140, 160]
CELLS = [["Month", "Tonnes"], ["May", "1,204"], ["June", "988"]]


def cell_lines(cells: Sequence[Sequence[str]], xs: Sequence[float], ys: Sequence[float]) -> list[Line]:
    return [
        line(text, x + 5, y + 5)
        for y, row in zip(ys, cells, strict=False)
        for x, text in zip(xs, row, strict=False)
        if text
    ]


def grids(pixels: Pixels, lines: list[Line]) -> list[Table]:
    tables = grid_tables(find_graphics(picture(pixels), lines), lines)
    assert tables is not None
    return tables


def ruled(pixels: Pixels, lines: list[Line]) -> list[Table]:
    return ruled_tables(find_graphics(picture(pixels), lines), lines, A4[0])


def test_a_grid_has_the_cells_that_its_rules_close() -> None:
    pixels = canvas()
    grid(pixels, XS, YS)
    lines = cell_lines(CELLS, XS, YS)
    (table,) = grids(pixels, [*lines, *prose(50, 200)])
    assert table.rows == (("Month", "Tonnes"), ("May", "1,204"), ("June", "988"))
    assert iou(table.box, (50, 100, 251, 161)) > 0.97
    assert table.lines == tuple(lines)
    assert table.text == "Month | Tonnes\nMay | 1,204\nJune | 988"


def test_numbers_below_each_other_in_a_cell_are_not_one() -> None:
    pixels, ys = canvas(), [100, 130, 160]
    grid(pixels, XS, ys)
    lines = cell_lines([["Month", "Tonnes"], ["May", "10"]], XS, ys)
    (table,) = grids(pixels, [*lines, line("200", XS[1] + 5, ys[1] + 16)])
    assert table.rows == (("Month", "Tonnes"), ("May", "10; 200"))


def test_words_of_one_line_go_to_the_cells_they_stand_in() -> None:
    lines = [line("ab cd", 60, y + 5) for y in YS[:3]]
    # "ab" ends at 70 and "cd" starts at 72.5: between them stands a rule.
    pixels = canvas()
    grid(pixels, [50, 71, 110], YS)
    (table,) = grids(pixels, lines)
    assert table.rows == (("ab", "cd"),) * 3


def test_a_grid_without_words_or_with_labels_across_it_is_a_charts() -> None:
    pixels = canvas()
    grid(pixels, XS, YS)
    assert grids(pixels, []) == []
    assert grids(pixels, cell_lines([["", ""], ["", ""], ["988", ""]], XS, YS)) == []
    across = [line("1,204", 138, y - 5) for y in YS]
    assert grids(pixels, across) == []


def test_a_frame_is_no_table() -> None:
    pixels = canvas()
    grid(pixels, [50, 250], [100, 200])
    assert grids(pixels, prose(55, 110)) == []


def test_a_grid_of_thousands_of_crossings_is_left_alone_and_told() -> None:
    pixels = canvas()
    grid(pixels, list(range(10, 590, 7)), list(range(10, 790, 7)))
    left_out = analyse_layout(prose(50, 100), picture(pixels), A4).left_out
    assert "has more rules than are looked through for tables: a ruled table may not be read as one" in left_out
    assert analyse_layout([], picture(pixels), A4).left_out == ()


def test_rules_that_are_not_examined_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels, lines = canvas(), cell_lines(CELLS, XS, YS)
    grid(pixels, XS, YS)
    assert analyse_layout(lines, picture(pixels), A4).left_out == ()
    monkeypatch.setattr(page_graphics, "MAX_RULES", 2)
    (told,) = analyse_layout(lines, picture(pixels), A4).left_out
    assert told.startswith("has more rules than are looked through for tables")


def booktabs(pixels: Pixels, ys: list[float]) -> None:
    for y in ys:
        fill(pixels, (50, y, 350, y + 0.5))


def test_rows_between_rules_of_one_width_are_a_table() -> None:
    pixels = canvas()
    booktabs(pixels, [100, 120, 160])
    lines = cell_lines(CELLS, [50, 250], [103, 122, 140])
    (table,) = ruled(pixels, [line("Table 1: Cargo by month", 50, 80), *lines, *prose(50, 200)])
    assert table.rows == (("Month", "Tonnes"), ("May", "1,204"), ("June", "988"))
    assert iou(table.box, (50, 100, 350, 160)) > 0.97


def test_a_cell_of_two_lines_does_not_end_the_table() -> None:
    pixels = canvas()
    booktabs(pixels, [100, 120, 150, 170])
    lines = cell_lines([["Sign", "Meaning"]], [50, 250], [100])
    lines += [line("Wi-Fi", 55, 130), *paragraph(["Network is faulty and", "cannot be reached"], 255, 124)]
    lines += cell_lines([["Bell", "Alarm set"]], [50, 250], [150])
    (table,) = ruled(pixels, lines)
    assert iou(table.box, (50, 100, 350, 170)) > 0.97


def test_a_column_rule_makes_a_table_of_long_cells() -> None:
    pixels = canvas()
    booktabs(pixels, [100, 150, 200])
    fill(pixels, (120, 100, 120.5, 200.5))
    lines = [line("Take a screenshot", 130, 105, bold=True), *prose(130, 118, rows=2)]
    lines += [line("Scroll", 130, 155, bold=True), *prose(130, 168, rows=2)]
    assert [iou(table.box, (50, 100, 350, 200)) > 0.97 for table in ruled(pixels, lines)] == [True]


def test_paragraphs_between_rules_are_no_table() -> None:
    pixels = canvas()
    booktabs(pixels, [100, 200])
    wide = paragraph(["the harbour was dredged again in early spring, and so was the approach"] * 6, 55, 110)
    assert ruled(pixels, wide) == []


def test_one_row_between_two_rules_is_no_table() -> None:
    pixels = canvas()
    booktabs(pixels, [100, 120])
    assert ruled(pixels, cell_lines([["53", "37", "10"]], [50, 150, 250], [100])) == []


def test_bars_of_a_chart_are_no_rules_of_a_table() -> None:
    """A drawing that lies half between the rules: they part the groups of a chart."""
    pixels = canvas()
    booktabs(pixels, [200, 240, 280])
    scatter(pixels, (150, 100, 300, 270))
    lines = cell_lines([["Male", "40"], ["Female", "41"]], [50, 310], [210, 250])
    assert ruled(pixels, lines) == []


def test_an_algorithm_goes_down_to_its_last_rule() -> None:
    pixels = canvas()
    booktabs(pixels, [100, 118, 200])
    steps = paragraph(["function dredge(channel)", "for each metre do", "dig", "end for", "return"], 60, 124)
    (listing,) = ruled(pixels, [line("Algorithm 1 Dredging", 55, 104), *steps])
    assert iou(listing.box, (50, 100, 350, 200)) > 0.97
    assert listing.rows[0] == ("Algorithm 1 Dredging",)


def test_rows_whose_cells_stand_under_each_other_are_a_table_without_rules() -> None:
    rows = [["Space commerce", "109"], ["Reliability", "111"], ["Human resources", "115"], ["Cooperation", "118"]]
    lines = cell_lines(rows, [50, 300], [100, 115, 130, 145])
    (table,) = aligned_tables([*prose(50, 20, rows=3), *lines, *prose(50, 300, rows=3)])
    assert table.rows == tuple(map(tuple, rows))


@pytest.mark.parametrize(
    "rows",
    [
        [["May", "1,204"], ["June", "988"]],
        [["the quay was moved", "and so was the mole"]] * 4,
        [["Introduction . . . . . . . . 4", "9"]] * 4,
        [
            [f"Chapter {name} ........", str(page)]
            for name, page in (("one", 3), ("two", 9), ("three", 9), ("four", 12))
        ],
    ],
    ids=["two rows", "two columns of text", "a table of contents with leaders", "contents with dots that touch"],
)
def test_what_is_not_tabular_is_no_aligned_table(rows: list[list[str]]) -> None:
    assert aligned_tables(cell_lines(rows, [50, 300], [100 + 15 * i for i in range(len(rows))])) == []


def test_items_of_a_list_beside_text_are_no_rows() -> None:
    rows = [["•", "3 eggs", "for ten minutes"], ["•", "half a cup of sugar", "until it"], ["•", "milk", "has risen"]]
    ys = [100.0, 115.0, 130.0]
    assert aligned_tables(cell_lines(rows, [50, 70, 300], ys)) == []
    ticks = [["✓", *row[1:]] for row in rows]
    assert len(aligned_tables(cell_lines(ticks, [50, 70, 300], ys))) == 1


def test_cells_come_from_where_the_lines_stand() -> None:
    assert cells_of(cell_lines(CELLS, [50, 250], [100, 120, 140])) == tuple(map(tuple, CELLS))


def test_thousands_of_cells_and_rules_are_read() -> None:
    lines = [line("7", 5.8 * (i % 100), 8 * (i // 100), size=3) for i in range(8000)]
    aligned_tables(lines)
    box: list[Box] = [(10, y / 2, 500 + y % 90, y / 2 + 0.5) for y in range(1500)]
    graphics = PageGraphics(tuple(box), tuple((b, a, d, c) for a, b, c, d in box), ())
    assert grid_tables(graphics, lines) is None
    assert isinstance(ruled_tables(graphics, lines, 600), list)


def test_dots_lead_from_names_to_numbers_also_where_no_gap_is_left() -> None:
    dots = " " + "." * 20
    lines = [
        *(line(f"{name}{dots}", 50, y) for name, y in (("Trade payables", 100), ("Accrued expenses", 116))),
        *(line(number, x, y) for x in (700, 780) for number, y in (("93,307", 100), ("67,836", 116), ("1,520", 132))),
        line(f"Deferred revenue of 12 licences and of 7,293 contracts that run on{dots} $", 50, 132),
    ]
    (table,) = aligned_tables(lines)
    assert table.rows == (
        (f"Trade payables{dots}", "93,307", "93,307"),
        (f"Accrued expenses{dots}", "67,836", "67,836"),
        (f"Deferred revenue of 12 licences and of 7,293 contracts that run on{dots}", "$ 1,520", "1,520"),
    )
    joined = line(f"Americas{dots} $ 2,788 $ 2,314", 50, 100)
    assert cells_of([joined]) == ((f"Americas{dots}", "$ 2,788", "$ 2,314"),)


def test_names_of_groups_stand_between_the_rows_of_one_table() -> None:
    rows = [("May", "1,204", "988"), ("June", "988", "870"), ("July", "870", "901")]
    first, second = (
        [line(text, x, top + 14 * i) for i, row in enumerate(rows) for text, x in zip(row, (60, 200, 300), strict=True)]
        for top in (100, 156)
    )
    (table,) = aligned_tables([*first, line("The mole:", 50, 142), *second])
    assert table.rows == (*rows, ("The mole:",), *rows)
    text = line("The mole was closed from May to July for works on the quay", 50, 142)
    assert [each.rows for each in aligned_tables([*first, text, *second])] == [tuple(rows), tuple(rows)]
    title = line("The mole", 50, 142, size=14)
    assert [each.rows for each in aligned_tables([*first, title, *second])] == [tuple(rows), tuple(rows)]
    last = aligned_tables([*first, line("The mole:", 50, 142), *prose(50, 156)])
    assert [each.rows for each in last] == [tuple(rows)]


@pytest.mark.parametrize(
    ("texts", "cells"),
    [
        (["Cash", "$ 61 $ 3,038 $7,003"], ("Cash", "$ 61", "$ 3,038", "$7,003")),
        (["Cash", "352 $", "— $", "— $ 352"], ("Cash", "352", "$ —", "$ —", "$ 352")),
        (["Tax", "(21,603) (1,100,000)"], ("Tax", "(21,603)", "(1,100,000)")),
        (["Accuracy", "97.2 (1.3)"], ("Accuracy", "97.2 (1.3)")),
        (["Cash and investments ... $ 398 $ 373"], ("Cash and investments ...", "$ 398", "$ 373")),
        (["Kasse", "1.204 €", "988 €"], ("Kasse", "1.204 €", "988 €")),
        (["Kasse", "1.204 € 988 €"], ("Kasse", "1.204 €", "988 €")),
    ],
)
def test_amounts_are_cells_of_their_own_also_where_no_gap_is_left(texts: list[str], cells: tuple[str, ...]) -> None:
    assert cells_of([line(text, 50 + 150 * at, 100) for at, text in enumerate(texts)]) == (cells,)


def test_digits_stand_under_each_other_whatever_hangs_at_their_right() -> None:
    rows = [("Revenue", "862.7", "844.4"), ("Share", "18%", "20%"), ("Change", "(9)", "4 %")]
    lines = [
        line(text, right - 10 * len(text.rstrip(" %)")), 100 + 32 * at, size=20)
        for at, row in enumerate(rows)
        for text, right in zip(row, (120, 250, 400), strict=True)
    ]
    assert [table.rows for table in aligned_tables(lines)] == [tuple(rows)]


def test_numbers_alone_are_no_running_text() -> None:
    """Cells of three rows that stand close were a paragraph beside their table."""
    rows = ["$ 6,446 $ 104,624 $ 109,908", "$ 6,619 $ 107,029 $ 102,909", "$ 6,961 $ 102,464 $ 101,423"]
    assert not block_of(paragraph(rows, 50, 100)).prose


def between_rules(*bands: list[Line]) -> tuple[tuple[str, ...], ...]:
    pixels = canvas()
    for y in range(100, 100 + 60 * (len(bands) + 1), 60):
        fill(pixels, (50, y, 400, y + 1))
    (table,) = ruled(pixels, [one for band in bands for one in band])
    return table.rows


def test_a_label_in_the_middle_beside_its_value_is_in_one_row_with_it() -> None:
    head = [line("Mode", 60, 125), line("What it does", 200, 125)]
    matrix = [line("Matrix", 60, 206), *paragraph(["Measures light over the", "whole of the frame."], 200, 200)]
    spot = [line("Spot", 60, 265), line("Measures a spot.", 200, 260)]
    both = [*paragraph(["Long", "name"], 60, 320), line("Measures nothing.", 200, 326)]
    assert between_rules(head, matrix, spot, both) == (
        ("Mode", "What it does"),
        ("Matrix", "Measures light over the whole of the frame."),
        ("Spot", "Measures a spot."),
        ("Long name", "Measures nothing."),
    )


def test_a_label_beside_its_value_is_a_table_though_it_has_one_row() -> None:
    assert between_rules([line("Matrix", 60, 126), *paragraph(["Measures", "all"], 200, 120)]) == (
        ("Matrix", "Measures all"),
    )


def test_a_name_in_the_middle_beside_a_head_of_two_rows_is_no_label_of_it() -> None:
    head = [line("Model", 60, 126), line("Accuracy", 220, 120), line("Test", 200, 132), line("Hard", 250, 132)]
    rows = [line("Ours", 60, 185), line("39.5", 200, 185), line("35.3", 250, 185)]
    assert ("Test", "Hard") in between_rules(head, rows)
    assert ("Test Hard",) in between_rules([*head[:2], line("Test Hard", 200, 132)], rows)


def test_other_cells_between_two_rules_stay_rows() -> None:
    head = [line("Mode", 60, 125), line("What it does", 200, 125)]
    rows = [*paragraph(["Matrix", "Spot"], 60, 170), *paragraph(["all", "one"], 200, 170)]
    top = [line("Matrix", 60, 230), *paragraph(["Measures light", "over all"], 200, 230)]
    numbers = [line("Matrix", 60, 296), *paragraph(["12", "13"], 200, 290)]
    assert between_rules(head, rows, top, numbers) == (
        ("Mode", "What it does"),
        ("Matrix", "all"),
        ("Spot", "one"),
        ("Matrix", "Measures light"),
        ("over all",),
        ("12",),
        ("Matrix",),
        ("13",),
    )
