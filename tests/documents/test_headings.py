"""The titles under which pages stand, from bookmarks and from pages of contents."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_elements import body, image, page, text

from quoteweave.collection.stores.content import ImageStore
from quoteweave.documents.assembly import assemble
from quoteweave.documents.layout.outline import page_headings
from quoteweave.documents.parser import DocumentParser, ParserSettings
from quoteweave.documents.sources.bookmarks import Bookmark

ENTRIES = {"Letter to shareholders": 2, "1 Business": 3, "1.1 Risks": 4, "2 Balance sheets": 6, "Index": 8}


def headings(bookmarks: Sequence[Bookmark], count: int) -> list[tuple[str, ...]]:
    first, *others = (page(i) for i in range(count))
    return page_headings([replace(first, bookmarks=tuple(bookmarks)), *others], [[]] * count, ["?"] * count)


def under_contents(contents: str, count: int = 8) -> list[tuple[str, ...]]:
    return [
        each.headings for each in assemble([page(0, text(contents)), *(page(i, body()) for i in range(1, count))]).pages
    ]


def test_a_bookmark_covers_the_pages_to_the_one_on_which_the_next_of_its_level_begins() -> None:
    outline = [Bookmark(0, "A", 1), Bookmark(1, "A1", 1), Bookmark(1, "A2", 3), Bookmark(0, "B", 4)]
    assert headings(outline, 6) == [(), ("A", "A1"), ("A", "A1"), ("A", "A1", "A2"), ("A", "B", "A2"), ("B",)]


def test_siblings_that_begin_on_one_page_all_count_there_and_the_last_goes_on() -> None:
    outline = [Bookmark(0, "A", 0), Bookmark(0, "B", 0), Bookmark(0, "B", 0), Bookmark(0, "C", 0)]
    assert headings(outline, 2) == [("A", "B", "C"), ("C",)]


def test_an_outline_that_jumps_in_levels_and_back_in_pages_is_taken_page_by_page() -> None:
    outline = [Bookmark(2, "deep", 2), Bookmark(0, "A", 3), Bookmark(1, "A1", 0)]
    assert headings(outline, 4) == [("A1",), ("A1",), ("A1", "deep"), ("A", "A1", "deep")]


def test_the_most_bookmarks_on_the_most_pages_take_little_time() -> None:
    began = time.process_time()
    found = headings([Bookmark(i % 8, f"T{i}", (7 * i) % 20_000) for i in range(20_000)], 20_000)
    assert time.process_time() - began < 2
    assert max(map(len, found)) <= 9


@pytest.mark.parametrize(
    "entry",
    ["{} ........ {}", "{} . . . . . . {}", "{} | {}", "{} {}", "{}\t{}", "{}…………{}", "{} .... 0{}", "| {} | | {} "],
)
def test_without_bookmarks_the_page_of_contents_says_what_stands_where(entry: str) -> None:
    lines = [entry.format(title, number) for title, number in ENTRIES.items()]
    expected = [
        (),
        ("Letter to shareholders",),
        ("Letter to shareholders", "1 Business"),
        ("1 Business", "1.1 Risks"),
        ("1 Business", "1.1 Risks"),
        ("1 Business", "2 Balance sheets", "1.1 Risks"),
        ("2 Balance sheets",),
        ("2 Balance sheets", "Index"),
    ]
    assert under_contents("\n".join(lines)) == expected


def test_dots_end_a_line_of_contents_where_lines_were_joined() -> None:
    joined = " ".join(f"{title} ............. {number}" for title, number in ENTRIES.items())
    assert under_contents(joined)[7] == ("2 Balance sheets", "Index")


def test_numbers_are_those_printed_on_the_pages() -> None:
    contents = "\n".join(f"{title} | {number}" for title, number in {"One": 1, "Two": 2, "Three": 2, "Four": 3}.items())
    pages = [page(0, text(contents), label="i"), *(page(i, body(), label=str(i)) for i in range(1, 4))]
    assert [each.headings for each in assemble(pages).pages] == [
        (),
        ("One",),
        ("One", "Two", "Three"),
        ("Three", "Four"),
    ]


def test_contents_lead_to_pages_behind_them_where_numbers_occur_twice() -> None:
    contents = "\n".join(f"{title} | {number}" for title, number in {"One": 1, "Two": 2, "Three": 2, "Four": 3}.items())
    cover, listing = page(0, body(), label="1"), page(1, text(contents), label="2")
    pages = [cover, listing, *(page(i + 1, body(), label=str(i)) for i in range(1, 4))]
    found = [each.headings for each in assemble(pages).pages]
    assert found == [(), (), ("One",), ("One", "Two", "Three"), ("Three", "Four")]


def test_contents_lead_to_the_pages_that_are_numbered_on_not_to_an_appendix_that_begins_again() -> None:
    contents = "\n".join(["Foreword | 1", "Piers | 3", "Ships | 5", "Sails | 7", "Ropes | 9"])
    labels = [*range(1, 11), *range(1, 6)]
    pages = [page(i, text(contents) if i == 1 else body(), label=str(label)) for i, label in enumerate(labels)]
    found = [each.headings for each in assemble(pages).pages]
    assert found[:4] == [("Foreword",), ("Foreword",), ("Foreword", "Piers"), ("Piers",)]
    assert found[8:] == [("Sails", "Ropes"), *[("Ropes",)] * 6]


def test_bookmarks_go_before_contents() -> None:
    first = replace(page(0, text("One 1\nTwo 2\nThree 3\nFour 4")), bookmarks=(Bookmark(0, "A", 0),))
    assert [each.headings for each in assemble([first, *(page(i, body()) for i in range(1, 4))]).pages] == [("A",)] * 4


@pytest.mark.parametrize(
    "lines",
    [
        "One 1\nTwo 2\nThree 3",  # too few
        "One 4\nTwo 2\nThree 3\nFour 1\nFive 5",  # up and down
        "One 2\nTwo 2\nThree 2\nFour 2",  # all the same
        "One 1\nTwo 20\nThree 30\nFour 40",  # to pages that are not there
        "Table 1: Ships 1\nTable 2: Cranes 2\nFigure 1: Quays 3\nFigure 2: Locks 4",  # lists of figures and tables
        "Ships 2019 105 1\nCranes 45.6 1144 2\nQuays 12 3.5 99 3\nLocks 1,234 56 4",  # rows of numbers
        "Ships1\nCranes2\nQuays3\nLocks4",
        "12 1\n13 2\n14 3\n15 4",
        "",
    ],
)
def test_other_lines_that_end_in_numbers_are_not_contents(lines: str) -> None:
    assert set(under_contents(lines)) == {()}


def test_contents_stand_among_the_first_pages_and_not_in_a_chart() -> None:
    lines = "One 1\nTwo 2\nThree 3\nFour 4"
    late = [*(page(i, body()) for i in range(15)), page(15, text(lines))]
    assert {each.headings for each in assemble(late).pages} == {()}
    chart = [page(0, image("chart", (50, 50, 300, 300), lines)), *(page(i, body()) for i in range(1, 5))]
    assert {each.headings for each in assemble(chart).pages} == {()}


@given(st.text(st.sampled_from("abc .·…_|019\n\t") | st.characters()), st.integers(1, 3))
def test_any_text_is_read(contents: str, count: int) -> None:
    for titles in under_contents(contents, count):
        assert all(title == " ".join(title.split()) and 3 <= len(title) <= 200 for title in titles)


@pytest.mark.parametrize("unit", [".", ". ", "…_ ", "a ", " ", "1 ", "a | ", "a .... ", "a .... 1 ", "\n"])
def test_long_texts_take_little_time(unit: str) -> None:
    began = time.process_time()
    page_headings([page(0, text(unit * (500_000 // len(unit))))], [["paragraph"]], ["1"])
    assert time.process_time() - began < 2


def test_a_made_file_with_contents_has_headings(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "a.pdf"), pagesize=(612, 792))
    for row, (title, number) in enumerate(ENTRIES.items()):
        canvas.drawString(72, 700 - 16 * row, title)
        canvas.drawRightString(540, 700 - 16 * row, str(number))
    for number in range(1, 8):
        canvas.showPage()
        canvas.drawString(72, 700, f"The harbour was dredged in spring, says page {number + 1}.")
    canvas.save()
    parsed = DocumentParser(ImageStore(tmp_path / "images"), ParserSettings(ocr=False)).parse(tmp_path / "a.pdf")
    assert parsed.pages[3].headings == ("1 Business", "1.1 Risks")
