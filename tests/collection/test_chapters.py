from collections.abc import Sequence

import pytest
from made_documents import made_page, made_quote

from quoteweave.collection.segments.chapters import Chapters, Outline, chapters_of


def chapters_in(shown: Sequence[Sequence[str]], outline: Sequence[Sequence[str]] = ()) -> Chapters:
    """The chapters of pages with these texts, which are titles unless they begin with "¶"."""
    pages = [made_page(at).model_copy(update={"headings": tuple(headings)}) for at, headings in enumerate(outline)]
    quotes = [
        made_quote(text.removeprefix("¶"), page=page, ordinal=at, layout="paragraph" if text[0] == "¶" else "title")
        for page, texts in enumerate(shown)
        for at, text in enumerate(texts)
    ]
    return chapters_of(Outline(pages), quotes)


def numbers_of(chapters: Chapters) -> list[str]:
    return [heading.name.number for heading in chapters.numbered if heading.name.kind == "chapter"]


MANUAL = [["Use"], ["Use", "Cleaning"], ["Cleaning", "Filters"], ["Repair"]]
STEPS = [["Use", "1 Touch it", "¶Wait."], ["2 Press it", "¶Wait."], ["Cleaning", "3 Turn it", "¶Wait."], ["Repair"]]


def test_numbered_titles_that_an_outline_lacks_are_no_chapters() -> None:
    found = chapters_in(STEPS, MANUAL)
    assert found.outline == {"Use": 1, "Cleaning": 2, "Repair": 3}
    assert str(found.last) == "chapter 3"
    assert not found.title_ids


def test_titles_that_follow_one_another_without_text_are_no_chapters_beside_some_that_do_not() -> None:
    shown = [["1 Oak", "¶x"], ["1 Lid", "2 Box", "3 Key", "¶x"], ["2 Elm", "¶x"], ["3 Ash", "¶x"]]
    found = chapters_in(shown)
    assert [heading.text for heading in found.numbered] == ["1 Oak", "2 Elm", "3 Ash"]
    assert found.is_complete


def test_where_two_titles_say_chapter_others_with_a_number_are_none() -> None:
    found = chapters_in([["Chapter 1 Oak", "¶x", "2 Leaves"], ["Chapter 2 Elm", "¶x", "3 Leaves"]])
    assert [heading.text for heading in found.numbered] == ["Chapter 1 Oak", "Chapter 2 Elm"]
    assert found.is_complete


@pytest.mark.parametrize(
    ("titles", "numbers"),
    [
        (["9 V battery", "1 Oak", "2 Elm", "3 Ash"], ["1", "2", "3"]),
        (["5 Oak", "6 Elm"], ["5", "6"]),
        (["6 cars at noon", "8 cars at night"], []),
        (["0.04 litres", "1 Oak", "2 Elm"], ["1", "2"]),
        (["1 May 2020", "2 May 2020", "3 May 2020"], []),
        (["1 Oak", "2 ships", "2 Elm", "3 ships", "3 Ash"], ["1", "2", "3"]),
        # A list of contents without the first chapter's entry, and then the text.
        (["4.1 Bark", "6.1 Sap", "1 Oak", "2 Elm", "3 Ash", "4 Fir", "4.1 Bark"], ["1", "2", "3", "4"]),
        # Titles of chapters that were not found, and some of other things.
        (["2.1 Bark", "2.2 Sap", "4.1 Cone", "1 Turn it", "5.1 Root", "6.1 Seed"], ["2", "4", "5", "6"]),
    ],
)
def test_chapters_are_the_longest_series_of_numbers(titles: list[str], numbers: list[str]) -> None:
    assert numbers_of(chapters_in([[title] for title in titles])) == numbers


def test_a_chapter_of_the_outline_that_no_title_names_is_one() -> None:
    outline = [["1 Oak"], ["2 Elm"], ["2 Elm", "3 Ash"], ["3 Ash", "4 Fir"]]
    found = chapters_in([["1 Oak"], ["2 Elm"], ["3.1 Bark"], ["4 Fir"]], outline)
    assert [heading.text for heading in found.numbered] == ["1 Oak", "2 Elm", "3 Ash", "3.1 Bark", "4 Fir"]
    assert not any(heading.is_inner for heading in found.numbered)
    assert found.is_complete


def test_a_title_that_goes_on_behind_a_heading_of_the_outline_is_that_heading() -> None:
    outline = [["1 Broad Oaks"], ["2 Tall Elms"], ["2 Tall Elms", "2.1 Bark"], ["3 White Ashes"]]
    found = chapters_in([["1 Broad Oaks"], ["2 Tall Elms 2.1 Bark"], ["¶x"], ["3 White Ashes"]], outline)
    assert numbers_of(found) == ["1", "2", "3"]


@pytest.mark.parametrize(
    "outline",
    [
        [["The Whole Book"], ["The Whole Book", "Oak"], ["The Whole Book"]],
        [["Part I"], ["Part II"], ["Part III"]],
        [["Item 1. Ships"], ["Item 2. Cranes"]],
    ],
)
def test_the_title_of_the_whole_parts_and_items_are_no_chapters(outline: list[list[str]]) -> None:
    assert chapters_in([["x"] for _ in outline], outline).outline == {}


def test_chapters_end_before_appendices() -> None:
    outline = [["Oak"], ["Elm"], ["Appendix 1"], ["Tables of oaks"]]
    assert chapters_in([["x"] for _ in outline], outline).outline == {"Oak": 1, "Elm": 2}


def test_chapters_of_the_outline_may_have_one_name() -> None:
    titles = [["1 Harbour", "¶x"], ["2 Harbour", "¶x"], ["3 Harbour", "¶x"], ["4 Mole", "¶x"]]
    assert numbers_of(chapters_in(titles, [[each[0]] for each in titles])) == ["1", "2", "3", "4"]
    assert numbers_of(chapters_in(titles)) == []
