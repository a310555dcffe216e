"""Tables and lists of tagged PDFs are read as the tags say, if they stand like that on the page."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tagged_pdf import Element, Text, tagged_pdf

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.records import ParsedDocument
from quoteweave.documents.parser import DocumentParser, ParserSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

LEAD: Text = (72, 720, "Prices of this year in every town that the ferry calls at are these.")
# Close together, and without rules: by where they stand, no words say where a cell ends.
CELLS: list[Text] = [
    *((72, 690, "Town"), (110, 690, "First class"), (168, 690, "Second class")),
    *((72, 676, "Bergen"), (110, 676, "42 a head"), (168, 676, "30 a head")),
    *((72, 662, "Moss"), (110, 662, "17 a head"), (168, 662, "12 a head, and")),
    (168, 650, "nothing for bicycles"),
]
TABLE: Element = (
    "Table",
    ("TR", ("TH", 0), ("TH", 1), ("TH", 2)),
    ("TR", ("TD", 3), ("TD", 4), ("TD", 5)),
    ("TR", ("TD", 6), ("TD", 7), ("TD", ("P", 8), ("P", 9))),
)


def parsed(path: Path) -> ParsedDocument:
    return DocumentParser(ImageStore(path.parent / "images"), ParserSettings(ocr=False)).parse(path)


def found(path: Path) -> list[tuple[str, str]]:
    return [(quote.layout, quote.text) for quote in parsed(path).quotes]


def tables(path: Path) -> list[str]:
    return [text for layout, text in found(path) if layout == "table"]


def test_cells_close_together_are_those_that_the_file_names(tmp_path: Path) -> None:
    path = tagged_pdf(tmp_path / "a.pdf", CELLS, TABLE, loose=[LEAD])
    table = "Town | First class | Second class\nBergen | 42 a head | 30 a head\nMoss | 17 a head | "
    table += "12 a head, and nothing for bicycles"
    assert found(path) == [("paragraph", LEAD[2]), ("table", table)]
    # Each word must occur once: a table that is found twice would have them twice.
    words = [word.text for page in parsed(path).page_words for word in page.words]
    assert sorted(words) == sorted(" ".join(text for _, _, text in [*CELLS, LEAD]).split())


def test_what_a_header_spans_is_named_in_each_column_and_what_spans_rows_in_each_row(tmp_path: Path) -> None:
    texts: list[Text] = [
        *((72, 690, "Town"), (120, 690, "Price")),
        *((120, 676, "First"), (168, 676, "Second")),
        *((72, 655, "Bergen"), (120, 662, "42"), (168, 662, "30")),
        *((120, 648, "44"), (168, 648, "31")),
        (72, 634, "In winter"),
    ]
    tree: Element = (
        "Table",
        ("TR", ("TH", {"RowSpan": 2}, 0), ("TH", {"ColSpan": 2}, 1)),
        ("TR", ("TH", 2), ("TH", 3)),
        ("TR", ("TD", {"RowSpan": 2}, 4), ("TD", 5), ("TD", 6)),
        ("TR", ("TD", 7), ("TD", 8)),
        ("TR", ("TD", {"ColSpan": 3}, 9)),
    )
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, tree))
    assert table == "Town | Price First | Price Second\nBergen | 42 | 30\nBergen | 44 | 31\nIn winter"


def test_an_empty_cell_keeps_its_place(tmp_path: Path) -> None:
    texts = [text for text in CELLS if text[2] not in ("42 a head", "Town", "nothing for bicycles")]
    tree: Element = (
        "Table",
        ("TR", ("TH",), ("TH", 0), ("TH", 1)),
        ("TR", ("TD", 2), ("TD",), ("TD", 3)),
        ("TR", ("TD", 4), ("TD", 5), ("TD", 6)),
    )
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, tree))
    assert table == "- | First class | Second class\nBergen | - | 30 a head\nMoss | 17 a head | 12 a head, and"


@pytest.mark.parametrize(
    "left_out", [("42 a head",), ("Bergen",), ("42 a head", "12 a head, and"), ("Town", "30 a head")]
)
def test_a_cell_that_the_file_leaves_out_moves_no_other(left_out: tuple[str, ...], tmp_path: Path) -> None:
    texts = [text for text in CELLS if text[2] not in left_out and not text[2].startswith("nothing")]
    rows: list[Element] = [
        ("TR", *(("TD", number) for number, text in enumerate(texts) if text[1] == height))
        for height in (690, 676, 662)
    ]
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, ("Table", *rows)))
    whole = "Town | First class | Second class\nBergen | 42 a head | 30 a head\nMoss | 17 a head | 12 a head, and"
    for cell in left_out:
        whole = whole.replace(cell, "-", 1)
    assert table == whole


def test_where_each_row_lacks_a_cell_nothing_is_taken_from_the_tags(tmp_path: Path) -> None:
    texts: list[Text] = [(72, 690, "Bergen"), (300, 690, "30"), (72, 676, "Moss"), (200, 676, "17")]
    tree: Element = ("Table", ("TR", ("TD", 0), ("TD", 1)), ("TR", ("TD", 2), ("TD", 3)))
    tagged, plain = (found(tagged_pdf(tmp_path / name, texts, *of)) for name, of in (("a.pdf", [tree]), ("b.pdf", [])))
    assert tagged == plain


def test_cells_that_touch_are_two(tmp_path: Path) -> None:
    texts: list[Text] = [
        *((72, 690, "Part"), (113, 690, "Left"), (131.2, 690, "Sold")),
        *((72, 676, "Bolt"), (120, 676, "12"), (131.2, 676, "57")),
        *((72, 662, "Nut"), (120, 662, "13"), (131.2, 662, "68")),
    ]
    tree: Element = (
        "Table",
        ("TR", ("TD", 0), ("TD", 1), ("TD", 2)),
        ("TR", ("TD", 3), ("TD", 4), ("TD", 5)),
        ("TR", ("TD", 6), ("TD", 7), ("TD", 8)),
    )
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, tree))
    assert table == "Part | Left | Sold\nBolt | 12 | 57\nNut | 13 | 68"


def test_a_row_that_a_cell_of_the_page_before_reaches_into_keeps_its_columns(tmp_path: Path) -> None:
    texts: list[Text] = [
        *((160, 690, "Item 29"), (240, 690, "87"), (160, 676, "Item 30"), (240, 676, "90")),
        *((72, 662, "Group 4"), (160, 662, "Item 31"), (240, 662, "93")),
    ]
    tree: Element = (
        "Table",
        ("TR", ("TD", 0), ("TD", 1)),
        ("TR", ("TD", 2), ("TD", 3)),
        ("TR", ("TD", 4), ("TD", 5), ("TD", 6)),
    )
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, tree))
    assert table == "- | Item 29 | 87\n- | Item 30 | 90\nGroup 4 | Item 31 | 93"


def test_words_within_a_table_that_have_no_tag_leave_it_to_where_they_stand(tmp_path: Path) -> None:
    loose: list[Text] = [LEAD, (114, 669, "not")]
    tagged, plain = (
        found(tagged_pdf(tmp_path / name, CELLS, *of, loose=loose)) for name, of in (("a.pdf", [TABLE]), ("b.pdf", []))
    )
    assert tagged == plain


def test_a_span_of_a_thousand_rows_and_columns_repeats_nothing(tmp_path: Path) -> None:
    tree: Element = (
        "Table",
        ("TR", ("TH", {"RowSpan": 1000, "ColSpan": 1000}, 0), ("TH", 1), ("TH", 2)),
        ("TR", ("TD", 3), ("TD", 4), ("TD", 5)),
        ("TR", ("TD", 6), ("TD", 7), ("TD", 8)),
    )
    text = " ".join(text for _, text in found(tagged_pdf(tmp_path / "a.pdf", CELLS, tree)))
    assert len(text) < 2000


def test_a_table_reaches_to_the_frame_that_is_drawn_around_it(tmp_path: Path) -> None:
    path = tagged_pdf(tmp_path / "a.pdf", CELLS, TABLE, loose=[LEAD], drawn="0 0 1 RG 3 w 60 630 220 76 re S")
    _, table = parsed(path).quotes
    assert table.layout == "table"
    assert table.bbox == pytest.approx((58.5, 84.5, 281.5, 163.5), abs=2)


def test_columns_may_stand_from_right_to_left(tmp_path: Path) -> None:
    texts: list[Text] = [
        *((240, 690, "Town"), (160, 690, "First"), (72, 690, "Second")),
        *((240, 676, "Bergen"), (160, 676, "42"), (72, 676, "30")),
        *((240, 662, "Moss"), (72, 662, "12")),
    ]
    tree: Element = (
        "Table",
        ("TR", ("TH", 0), ("TH", 1), ("TH", 2)),
        ("TR", ("TD", 3), ("TD", 4), ("TD", 5)),
        ("TR", ("TD", 6), ("TD", 7)),
    )
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, tree))
    assert table == "Town | First | Second\nBergen | 42 | 30\nMoss | - | 12"


def test_a_table_that_is_mostly_rows_of_one_cell_is_none(tmp_path: Path) -> None:
    tree: Element = ("Table", *(("TR", ("TD", number)) for number in (0, 3, 6, 9)))
    assert tables(tagged_pdf(tmp_path / "a.pdf", CELLS, tree)) == tables(tagged_pdf(tmp_path / "b.pdf", CELLS))


def test_names_that_the_file_has_for_types_are_followed(tmp_path: Path) -> None:
    tree: Element = (
        "Grid",
        ("Line", ("Box", 0), ("Box", 1), ("Box", 2)),
        ("Line", ("Box", 3), ("Box", 4), ("Box", 5)),
        ("Line", ("Box", 6), ("Box", 7), ("Box", 8, 9)),
    )
    roles = "/Grid /Table /Line /TR /Box /TD"
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", CELLS, tree, roles=roles))
    assert table.startswith("Town | First class | Second class\nBergen | 42 a head")


@pytest.mark.parametrize(
    "moved",
    [
        {3: (72, 704)},  # the second row begins above the first
        {5: (90, 676)},  # a cell stands before the one that it follows
        {8: (168, 690.5)},  # a cell of the third row stands in the first
    ],
)
def test_cells_that_stand_as_no_cells_do_are_none(moved: dict[int, tuple[float, float]], tmp_path: Path) -> None:
    texts = [(*moved.get(number, text[:2]), text[2]) for number, text in enumerate(CELLS)]
    tagged, plain = (
        found(tagged_pdf(tmp_path / name, texts, *tree)) for name, tree in (("a.pdf", [TABLE]), ("b.pdf", []))
    )
    assert tagged == plain


def test_a_page_laid_out_by_a_table_is_read_as_one_without_tags(tmp_path: Path) -> None:
    left = [(72.0, 700.0 - 12 * line, f"Line {line} of the left column of the page goes on") for line in range(20)]
    right = [(330.0, 700.0 - 12 * line, f"Line {line} of the right column of it goes on") for line in range(20)]
    texts = [*left, *right, (72.0, 440.0, "Foot"), (330.0, 440.0, "Note")]
    tree: Element = (
        "Table",
        ("TR", ("TD", *range(20)), ("TD", *range(20, 40))),
        ("TR", ("TD", 40), ("TD", 41)),
    )
    tagged, plain = (found(tagged_pdf(tmp_path / name, texts, *of)) for name, of in (("a.pdf", [tree]), ("b.pdf", [])))
    assert tagged == plain
    assert not [layout for layout, _ in tagged if layout == "table"]


def test_a_table_within_a_cell_is_read_and_not_the_one_around_it(tmp_path: Path) -> None:
    texts: list[Text] = [*CELLS, (330, 690, "Beside it"), (72, 620, "Below it"), (330, 620, "and here")]
    around: Element = (
        "Table",
        ("TR", ("TD", TABLE), ("TD", 10)),
        ("TR", ("TD", 11), ("TD", 12)),
    )
    (table,) = tables(tagged_pdf(tmp_path / "a.pdf", texts, around))
    assert table.startswith("Town | First class")
    assert "Beside" not in table


ITEMS: list[Text] = [
    (90, 690, "Tickets are sold aboard"),
    (90, 676, "Dogs travel free of charge where they"),
    (90, 664, "are kept on a lead"),
    (108, 650, "in the bow"),
    (90, 636, "1"),
    (98, 636, "Bicycles pay half"),
]
LIST: Element = (
    "L",
    ("LI", ("Lbl", 6), ("LBody", 0)),
    ("LI", ("Lbl", 7), ("LBody", 1, 2, ("L", ("LI", ("Lbl", 8), ("LBody", 3))))),
    ("LI", ("LBody", 5)),
)


def test_each_item_begins_with_a_bullet_where_its_own_is_drawn(tmp_path: Path) -> None:
    # The number of the last is text, and has no tag.
    (quote,) = found(tagged_pdf(tmp_path / "a.pdf", ITEMS, LIST))
    assert quote == (
        "list",
        "• Tickets are sold aboard\n• Dogs travel free of charge where they are kept on a lead\n• in the bow\n"
        "1 Bicycles pay half",
    )


def test_a_bullet_that_is_text_stays_as_it_is(tmp_path: Path) -> None:
    texts: list[Text] = [
        *((90, 690, "-"), (102, 690, "Tickets are sold aboard"), (90, 676, "o"), (102, 676, "Dogs travel free")),
        *((90, 662, "b\\)"), (102, 662, "Bicycles pay half")),
    ]
    tree: Element = ("L", *(("LI", ("Lbl", number), ("LBody", number + 1)) for number in (0, 2, 4)))
    assert found(tagged_pdf(tmp_path / "a.pdf", texts, tree)) == [
        ("list", "- Tickets are sold aboard\no Dogs travel free\nb) Bicycles pay half")
    ]


def test_a_title_within_a_list_is_no_item(tmp_path: Path) -> None:
    tree: Element = ("L", ("LI", ("H2", 0)), ("LI", 6, ("LBody", 1, 2)))
    texts = found(tagged_pdf(tmp_path / "a.pdf", ITEMS, tree))
    assert texts[:2] == [
        ("paragraph", "Tickets are sold aboard"),
        ("list", "• Dogs travel free of charge where they are kept on a lead"),
    ]


@pytest.mark.parametrize(
    "tree",
    [
        ("Table", ("TR", ("TH", {"ColSpan": 10**9}, 0), ("TD", {"RowSpan": -4}, 1)), ("TR", ("TD", 2), ("TD", 3))),
        ("TD", 0, ("TR", 1), ("LI", 2), ("Lbl", 3)),
        ("L", ("L", ("L", ("LI", ("LI", ("Table", ("TD", 0), ("TR", 1), ("TR", ("TD", 2), ("TD", 3)))))))),
        ("Table", *(("TR", ("TD", row), ("TD", row)) for row in range(10))),
    ],
)
def test_whatever_the_tags_are_no_word_is_lost(tree: Element, tmp_path: Path) -> None:
    path = tagged_pdf(tmp_path / "a.pdf", CELLS, tree, loose=[LEAD])
    words = [word.text for page in parsed(path).page_words for word in page.words]
    assert sorted(words) == sorted(" ".join(text for _, _, text in [*CELLS, LEAD]).split())


def test_tags_that_lie_deep_in_each_other_end(tmp_path: Path) -> None:
    tree: Element = TABLE
    for _ in range(400):
        tree = ("Div", tree)
    assert found(tagged_pdf(tmp_path / "a.pdf", CELLS, tree)) == found(tagged_pdf(tmp_path / "b.pdf", CELLS))


PAGE = """<h1>Ferries of the fjord</h1>
<p>Every ferry carries bicycles, and none of them sails on New Year's Day.</p>
<table><tr><th>Line</th><th>Towns</th><th>Runs</th></tr>
<tr><td>12</td><td>Moss and Horten, by Bastøy where anybody asks for it before noon</td><td>daily</td></tr>
<tr><td>14</td><td>Bergen</td><td>in summer</td></tr></table>
<p>What every ticket has:</p><ul><li>A seat indoors</li><li>Coffee<ul><li>with milk</li></ul></li></ul>"""
STYLES = [
    "",
    "th, td { border-bottom: 1px solid silver; padding: 8px } table { border-collapse: collapse; width: 100% }",
    "th { border-bottom: 2px solid black } td, th { text-align: left; padding: 3px 14px }",
    "th { background: navy; color: white } tr:nth-child(odd) { background: #eee } td { text-align: center }",
]


@pytest.mark.browser
@pytest.mark.parametrize("style", STYLES)
def test_a_page_that_a_browser_printed_has_its_table_and_its_list(
    style: str, chromium: "Browser", tmp_path: Path
) -> None:
    page = chromium.new_page()
    page.set_content(f'<!doctype html><meta charset="utf-8"><style>{style}</style>{PAGE}')
    page.pdf(path=tmp_path / "a.pdf", tagged=True)
    page.close()
    assert found(tmp_path / "a.pdf") == [
        ("title", "Ferries of the fjord"),
        ("paragraph", "Every ferry carries bicycles, and none of them sails on New Year's Day."),
        (
            "table",
            "Line | Towns | Runs\n12 | Moss and Horten, by Bastøy where anybody asks for it before noon | daily\n"
            "14 | Bergen | in summer",
        ),
        ("paragraph", "What every ticket has:"),
        ("list", "• A seat indoors\n• Coffee\n• with milk"),
    ]
