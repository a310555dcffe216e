"""One page, analysed as a whole."""

from made_pages import A4, GREY, canvas, fill, grid, ink_words, line, paragraph, picture, prose, scatter

from quoteweave.core.boxes import iou
from quoteweave.documents.layout.analyse import LayoutElement, analyse_layout
from quoteweave.documents.layout.blocks import LineBlock
from quoteweave.documents.layout.figures import Figure
from quoteweave.documents.layout.tables.cells import Table
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Pixels


def elements(pixels: Pixels, lines: list[Line], page: tuple[float, float] = A4) -> list[LayoutElement]:
    ink_words(pixels, lines)
    return analyse_layout(lines, picture(pixels), page).elements


def kinds(found: list[LayoutElement]) -> list[str]:
    return [type(element).__name__ for element in found]


def test_an_empty_page_has_no_elements() -> None:
    assert elements(canvas(), []) == []


def test_text_figure_and_table_come_in_reading_order_and_hold_every_line() -> None:
    pixels = canvas()
    scatter(pixels, (50, 200, 250, 300))
    grid(pixels, [50, 150, 250], [400, 420, 440, 460])
    cells = [line(text, x, y) for y in (405, 425, 445) for text, x in (("May", 55), ("1,204", 155))]
    caption = line("Figure 1: The quay and the mole", 50, 308)
    lines = [*prose(50, 50), caption, *cells, *prose(50, 500), *prose(320, 50)]
    found = elements(pixels, lines)
    assert kinds(found) == ["LineBlock", "Figure", "LineBlock", "Table", "LineBlock", "LineBlock"]
    assert {id(each) for element in found for each in element.lines} == set(map(id, lines))
    assert iou(found[1].box, (50, 200, 250, 300)) > 0.9
    assert found[3].text == "May | 1,204\nMay | 1,204\nMay | 1,204"


def test_a_paragraph_on_a_picture_is_in_both() -> None:
    pixels = canvas((800.0, 500.0), (20, 60, 90))
    scatter(pixels, (100, 100, 700, 400))
    quote = paragraph(["the harbour was dredged again", "in early spring and the quay was moved"], 300, 200, size=12)
    found = analyse_layout(quote, picture(pixels), (800.0, 500.0)).elements
    figure, block = (next(e for e in found if isinstance(e, kind)) for kind in (Figure, LineBlock))
    assert set(figure.lines) == set(block.lines) == set(quote)


def test_a_shaded_paragraph_is_text() -> None:
    pixels = canvas()
    fill(pixels, (40, 90, 260, 165), GREY)
    assert kinds(elements(pixels, prose(50, 100))) == ["LineBlock"]


def test_a_shaded_table_is_a_table() -> None:
    pixels = canvas()
    fill(pixels, (40, 90, 360, 170), GREY)
    rows = [("Month", "2022", "2023"), ("May", "1,204", "988"), ("June", "988", "1,012"), ("July", "870", "901")]
    lines = [
        line(text, x, 100 + 16 * i) for i, row in enumerate(rows) for text, x in zip(row, (50, 200, 300), strict=True)
    ]
    (table,) = elements(pixels, lines)
    assert isinstance(table, Table)
    assert table.rows == tuple(rows)


def test_two_grids_drawn_in_one_piece_are_one_table_with_the_rows_between_them() -> None:
    """A row that spans all columns has no rule at its right."""
    pixels = canvas()
    for top in (112, 164):
        grid(pixels, [50, 150, 250], [top, top + 20, top + 40])
    for y in (100, 152):
        fill(pixels, (50, y, 250, y + 1))
        fill(pixels, (50, y, 51, y + 14))
    titles = [line("The quay", 100, 101.5, size=9), line("The mole", 100, 153.5, size=9)]
    cells = [line("words here", x, y) for y in (117, 137, 169, 189) for x in (60, 160)]
    (table,) = elements(pixels, [*titles, *cells])
    assert isinstance(table, Table)
    assert iou(table.box, (50, 100, 251, 205)) > 0.95
    assert table.rows.count(("words here", "words here")) == 4
    assert ("The quay",) in table.rows


def test_rows_without_rules_are_a_table_beside_paragraphs() -> None:
    rows = [line(text, x, 300 + 15 * i) for i in range(5) for text, x in (("Space commerce", 50), ("109", 400))]
    found = elements(canvas(), [*prose(50, 100), *rows, *prose(50, 500)])
    assert kinds(found) == ["LineBlock", "Table", "LineBlock"]


def test_the_grid_is_kept_where_rules_alone_tell_the_same_table() -> None:
    pixels = canvas()
    grid(pixels, [50, 150, 250], [100, 140, 180])
    lines = [line("two", 55, 105), line("lines", 55, 120), line("1,204", 155, 105), line("more", 55, 145)]
    lines.append(line("988", 155, 145))
    (table,) = elements(pixels, lines)
    assert isinstance(table, Table)
    assert table.rows == (("two lines", "1,204"), ("more", "988"))


def on_a_picture(texts: list[Line], *, numbers: bool = False) -> list[str]:
    """The texts of blocks on a picture in the middle of a page with running text below."""
    pixels = canvas()
    scatter(pixels, (100, 100, 500, 400))
    ticks = [line(f"{n},000", 110, 120 + 30 * n) for n in range(1, 9)] if numbers else []
    found = analyse_layout([*texts, *ticks, *prose(50, 500, rows=12)], picture(pixels), A4).elements
    figure = next(element for element in found if isinstance(element, Figure))
    assert set(texts) <= set(figure.lines)
    return [element.text for element in found if isinstance(element, LineBlock) and element.box[1] < 450]


def test_headings_and_short_texts_on_a_picture_are_read_by_themselves() -> None:
    assert on_a_picture([line("Is the harbour safe?", 150, 200, size=18)]) == ["Is the harbour safe?"]
    slide = canvas()
    scatter(slide, (100, 100, 500, 400))
    alone = [line("You told no story", 150, 200, size=18)]
    found = analyse_layout(alone, picture(slide), A4).elements
    assert [element.text for element in found if isinstance(element, LineBlock)] == ["You told no story"]
    address = paragraph(["The Limes", "3 Foreland Road", "Bembridge PO35"], 150, 200)
    assert on_a_picture(address) == ["The Limes 3 Foreland Road Bembridge PO35"]


def test_labels_of_a_picture_and_of_a_chart_are_no_texts() -> None:
    assert on_a_picture([line("Foreland Road", 150, 200), line("1,204", 300, 200, size=18)]) == []
    long_label = paragraph(["people who were", "born in the town", "or in the county"], 150, 200)
    assert on_a_picture(long_label, numbers=True) == []


def test_a_large_area_in_the_middle_of_a_page_is_drawn_and_no_background() -> None:
    pixels = canvas()
    fill(pixels, (60, 60, 540, 740), (140, 210, 245))
    (figure,) = elements(pixels, [])
    assert isinstance(figure, Figure)
    assert iou(figure.box, (60, 60, 540, 740)) > 0.95
