"""Headers, footers and the labels of pages."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from made_elements import body, image, page, text

from quoteweave.documents.assembly import assemble
from quoteweave.documents.layout.page import PageContent, PageElement
from quoteweave.documents.margins import find_headers_and_footers, page_labels


def labels(*printed: str | None, y: float = 770) -> list[str]:
    pages = [page(i, body(), *([text(number, y)] if number else [])) for i, number in enumerate(printed)]
    return [each.label for each in assemble(pages).pages]


def test_what_repeats_in_the_margins_is_a_header_or_footer_digits_aside() -> None:
    pages = [page(i, text("Harbour report 2023", 20), body(), text(f"Page {i + 1} of 8, draft", 770)) for i in range(8)]
    assert find_headers_and_footers(pages) == {(i, 0): "header" for i in range(8)} | {
        (i, 2): "footer" for i in range(8)
    }


def test_what_stands_in_the_margins_once_or_lower_on_the_page_is_neither() -> None:
    once = [page(0, text("A title at the very top", 20), body()), *(page(i, body()) for i in range(1, 5))]
    assert find_headers_and_footers(once) == {}
    lower = [page(i, text("Exercise", 100), body(200)) for i in range(5)]
    assert find_headers_and_footers(lower) == {}


def numbered(number: int, y: float, *others: PageElement) -> PageContent:
    """A page with its number and a running title in one row, the number outside."""
    title = text("Notes on piers" if number % 2 else "Ada Quill", y, x=200)
    return page(number, bare(number + 1, y, 20 if number % 2 else 560), title, *others)


def bare(number: int, y: float, x: float) -> PageElement:
    """A number, ten points wide."""
    return replace(text(str(number), y), box=(x, y, x + 10, y + 12))


def test_the_first_row_may_be_a_header_far_below_the_edge_where_it_has_the_pages_number() -> None:
    pages = [
        page(0, text("Notes on piers", 90, size=20), body(200)),
        *(numbered(i, 82, body(200)) for i in range(1, 7)),
    ]
    assert find_headers_and_footers(pages) == {(i, at): "header" for i in range(1, 7) for at in (0, 1)}


@pytest.mark.parametrize(
    "made",
    [
        lambda i: numbered(i, 150, body(200)),
        lambda i: numbered(i, 82, text("What stands above it", 60), body(200)),
        lambda i: numbered(7 * i % 5, 82, body(200)),
        lambda i: page(i, bare(i + 1, 82, 50), text("True or false?", 82, x=70), body(200)),
        lambda i: page(i, text("9" * 4400, 82, x=400), text("Digits", 82, x=50), body(200)),
    ],
    ids=["lower", "not first", "other numbers", "number of an item", "no number of a page"],
)
def test_a_row_with_a_number_is_no_header(made: Callable[[int], PageContent]) -> None:
    pages = [replace(made(i), number=i) for i in range(5)]
    assert [place for place in find_headers_and_footers(pages) if place[1] < 2] == []


def test_what_stands_below_a_numbered_row_is_none_though_that_of_another_page_is_lower() -> None:
    rows = [text("Answer all questions.", 84), body(200)]
    pages = [numbered(i, 60 if i < 6 else 90, *rows) for i in range(7)]
    assert all(at < 2 for _, at in find_headers_and_footers(pages))


def test_the_last_row_may_be_a_footer_far_above_the_edge() -> None:
    pages = [page(i, body(200), text("Notes on piers", 690), bare(i + 9, 690, 560)) for i in range(4)]
    assert find_headers_and_footers(pages) == {(i, at): "footer" for i in range(4) for at in (1, 2)}


def test_a_line_must_repeat_at_the_same_height_on_enough_pages() -> None:
    def with_header(count: int, of: int) -> list[PageContent]:
        return [page(i, *([text("Harbour report", 20)] if i < count else []), body()) for i in range(of)]

    assert len(find_headers_and_footers(with_header(3, 10))) == 3
    assert find_headers_and_footers(with_header(2, 10)) == {}
    assert find_headers_and_footers(with_header(1, 1)) == {}
    moving = [page(i, text("Harbour report", 2 + 14 * i), body()) for i in range(4)]
    assert find_headers_and_footers(moving) == {}


def test_logos_that_repeat_are_headers_too() -> None:
    pages = [page(i, image("figure", (500, 10, 560, 50)), body()) for i in range(4)]
    assert find_headers_and_footers(pages) == {(i, 0): "header" for i in range(4)}


def test_the_name_of_a_section_in_one_row_with_a_header_is_a_header_too() -> None:
    names = ["7.5. WHAT IS A CONFFILE?", "7.7. WHAT IS A PRIORITY?", "7.8. WHAT IS A VIRTUAL PACKAGE?"]
    pages = [page(i, text("CHAPTER 7. BASICS", 20), text(name, 22, x=300), body()) for i, name in enumerate(names)]
    assert find_headers_and_footers(pages) == {(i, j): "header" for i in range(3) for j in range(2)}
    (title,) = (page(3, text("CHAPTER 7. BASICS", 20), text("A new part", 20, x=300, size=16), body()),)
    assert (3, 1) not in find_headers_and_footers([*pages, title])


@pytest.mark.parametrize(
    ("repeated", "own"),
    [
        (text("ACME Corp", 20), text("Why we lost market share", 20, x=300, bold=True)),
        (text("Form 1040", 20), text("Patient: John Smith", 20, x=300)),
        (text("7", 770), text("Source: IMF, World Economic Outlook 2023", 770, x=300)),
        (text("Annual report", 770), text("1 The lease was cancelled in May", 770, x=300)),
        (text("7", 770), text("4. NOTES OF ONE PAGE", 770, x=300)),
    ],
)
def test_what_is_said_once_beside_a_header_or_footer_is_kept(repeated: PageElement, own: PageElement) -> None:
    pages = [page(i, repeated, body()) for i in range(4)]
    pages[2] = page(2, repeated, own, body())
    assert (2, 1) not in find_headers_and_footers(pages)


def test_bold_titles_of_slides_are_titles_where_an_agenda_has_them_too() -> None:
    agenda = page(0, text("Results", 300, bold=True), text("Costs", 340, bold=True))
    slides = [page(i, text(name, 20, bold=True), body()) for i, name in enumerate(["Results", "Costs"], 1)]
    annex = [page(i, text("Annex tables", 20), body()) for i in range(3, 6)]
    assert set(find_headers_and_footers([agenda, *slides, *annex])) == {(i, 0) for i in range(3, 6)}


@pytest.mark.parametrize("name", ["2.1 THE OLD QUAY", "2.1. The old quay", "2.1 The old q…"])
def test_what_repeats_a_title_in_the_margin_is_a_header_and_begins_no_section(name: str) -> None:
    pages = [page(0, text("2.1 The old quay", 300, bold=True), body(320)), page(1, text(name, 20), body())]
    assert find_headers_and_footers(pages) == {}  # it may begin its section there
    pages += [page(i, text("CHAPTER 2. QUAYS", 20), body()) for i in range(2, 5)]
    assert find_headers_and_footers(pages) == {(i, 0): "header" for i in range(1, 5)}
    sections = {quote.section for quote in assemble(pages).quotes if quote.layout == "paragraph"}
    assert sections == {"2.1 The old quay"}


@pytest.mark.parametrize("number", ["7", "- 7 -", "Page 7", "vii", "7 of 12", "7/12"])
def test_a_page_number_that_stands_alone_in_the_margin_is_a_footer_on_one_page(number: str) -> None:
    assert find_headers_and_footers([page(0, body(), text(number, 770))]) == {(0, 1): "footer"}


def test_pages_are_labelled_by_the_file_first() -> None:
    pages = [page(0, body(), label="i"), page(1, body(), text("99", 770), label="1")]
    assert [each.label for each in assemble(pages).pages] == ["i", "1"]
    assert page_labels([], []) == []


def test_pages_are_labelled_by_numbers_that_count_up_in_the_margins() -> None:
    assert labels(None, "5", "6", "7", None, "9") == ["4", "5", "6", "7", "8", "9"]
    assert labels("12", "13", "14", y=20) == ["12", "13", "14"]


def test_pages_between_numbers_that_do_not_go_on_have_none_of_them() -> None:
    plates = [page(i, body()) for i in range(2, 4)]
    printed = [
        page(i, body(), text(str(5 + i - (2 if i > 3 else 0)), 70 if i < 2 else 40)) for i in (0, 1, 4, 5, 6, 7, 8)
    ]
    pages = sorted([*plates, *printed], key=lambda each: each.number)
    assert [each.label for each in assemble(pages).pages] == ["5", "6", "3", "4", "7", "8", "9", "10", "11"]


def test_numbers_that_do_not_count_up_are_no_labels() -> None:
    assert labels("2022", "12", "2023", "40") == ["1", "2", "3", "4"]
    assert labels("5", "6", None, None) == ["1", "2", "3", "4"]
    # Two of the pages would be called 0 and less; they may have numbers of their own.
    assert labels(None, "ii", "- iii -", "1", "2", "3") == ["1", "ii", "iii", "1", "2", "3"]
    assert labels(None, "ii", "iii", None, "40") == ["1", "2", "3", "4", "5"]
    assert labels(None, None, None, "1", "2", "3") == ["1", "2", "3", "1", "2", "3"]
