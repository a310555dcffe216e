"""Which caption belongs to which picture."""

import pytest
from made_elements import body, image, text

from quoteweave.core.records import Layout
from quoteweave.documents.layout.captions import find_captions
from quoteweave.documents.layout.page import PageElement


def captions(*elements: PageElement) -> dict[int, str]:
    names: list[Layout] = [
        "caption"
        if element.text.startswith(("Figure", "Tab"))
        else "paragraph"
        if element.found_as == "text"
        else element.found_as
        for element in elements
    ]
    return find_captions(elements, names)


def test_a_caption_goes_to_the_nearest_picture_and_to_one_alone() -> None:
    found = captions(
        image("figure", (50, 100, 250, 200)),
        text("Figure 1: The quay", 205),
        image("chart", (50, 250, 250, 350)),
        text("Figure 2: Tonnes by month", 355),
    )
    assert found == {0: "Figure 1: The quay", 2: "Figure 2: Tonnes by month"}


def test_figures_are_captioned_below_and_tables_above() -> None:
    """Between a table and a figure stands a caption at the same distance from both."""
    above, below = image("figure", (50, 100, 250, 200)), image("figure", (50, 228, 250, 320))
    assert captions(above, text("Figure 1: The quay", 208), below) == {0: "Figure 1: The quay"}
    first, second = image("table", (50, 100, 250, 200)), image("table", (50, 228, 250, 320))
    assert captions(first, text("Table 1: Tonnes", 208), second) == {2: "Table 1: Tonnes"}
    assert captions(first, text("Tabelle 1: Tonnen", 208), second) == {2: "Tabelle 1: Tonnen"}


def test_a_page_whose_tables_are_captioned_below_is_read_so() -> None:
    """Each caption stands a little closer to its own table, but the first is above the second as well."""
    tables = image("table", (50, 100, 250, 200)), image("table", (50, 232, 250, 320))
    found = captions(tables[0], text("Table 1: Up", 206), tables[1], text("Table 2: Down", 326))
    assert found == {0: "Table 1: Up", 2: "Table 2: Down"}
    figures = image("figure", (50, 100, 250, 200)), image("figure", (50, 232, 250, 320))
    found = captions(text("Figure 1: Up", 82), figures[0], text("Figure 2: Down", 214), figures[1])
    assert found == {1: "Figure 1: Up", 3: "Figure 2: Down"}


def test_captions_far_away_or_in_another_column_are_not_taken() -> None:
    picture = image("figure", (50, 100, 250, 200))
    assert captions(picture, text("Figure 1: The quay", 270)) == {}
    assert captions(picture, text("Figure 1: The quay", 205, x=320)) == {}


def test_without_a_caption_a_title_right_above_is_taken() -> None:
    title, subtitle = text("Cargo grew", 60, bold=True), text("Tonnes a month", 76)
    assert captions(title, subtitle, image("chart", (50, 100, 250, 200))) == {2: "Cargo grew Tonnes a month"}
    assert captions(body(30), image("chart", (50, 100, 250, 200))) == {}


def test_parts_are_captioned_like_the_whole() -> None:
    whole, *parts = (
        image("table", (50, 100, 250, 700)),
        *(image("table", (50, y, 250, y + 300), part=f"part {i} of 2") for i, y in ((1, 100), (2, 400))),
    )
    assert captions(text("Table 1: Tonnes", 85), whole, *parts) == {
        1: "Table 1: Tonnes",
        2: "Table 1: Tonnes (part 1 of 2)",
        3: "Table 1: Tonnes (part 2 of 2)",
    }
    assert captions(whole, *parts) == {1: "Part 1 of 2", 2: "Part 2 of 2"}


@pytest.mark.parametrize(
    "note",
    ["* Estimated values", "a Includes transit cargo", "(1) Net of fees", "Source: Harbour Board", "Note: in tonnes"],
)
def test_a_note_below_a_table_is_no_caption_of_the_next(note: str) -> None:
    above, below = image("table", (50, 100, 250, 200)), image("table", (50, 230, 250, 320))
    assert captions(above, text(note, 206), below) == {}
    assert captions(above, text(note, 206), text("b Without fish", 218), below) == {}


def test_small_print_below_a_chart_is_no_caption_of_the_next() -> None:
    above, below = image("chart", (50, 100, 250, 200)), image("chart", (50, 230, 250, 320))
    assert captions(body(20), above, text("Survey of adults in 2024", 206, size=7), below) == {}
    assert captions(body(20), above, text("Catch by month", 212), below) == {3: "Catch by month"}


def test_a_numbered_title_above_a_table_is_still_its_title() -> None:
    table = image("table", (50, 230, 250, 320))
    assert captions(body(30), text("1 Cargo by port", 206, bold=True), table) == {2: "1 Cargo by port"}
