import time
from collections.abc import Sequence

import pytest
from made_documents import made_quote

from quoteweave.collection.segments.section_names import names_of_pages
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Page, Quote

CONTENTS = "PART I\nItem 1. Ships | 2\nItem 2. Cranes | 4\nPART II\nItem 3. Rails | 5\nItem 4. Roads | 6"


def named(shown: Sequence[Sequence[str]], name: str, outline: Sequence[Sequence[str]] = ()) -> list[int]:
    """The pages of that name, of pages with these texts, which are titles unless they begin with "¶"."""
    pages = [
        Page(number=at, label=str(at + 1), width=100, height=100, text_source="file", headings=tuple(headings))
        for at, headings in enumerate(outline)
    ]
    found = names_of_pages(pages, quotes_of(shown))
    return [page for page in range(len(shown)) if PlaceName.parse(name) in found[page]]


def quotes_of(shown: Sequence[Sequence[str]]) -> list[Quote]:
    return [
        made_quote(text.removeprefix("¶"), page=page, ordinal=at, layout="paragraph" if text[0] == "¶" else "title")
        for page, texts in enumerate(shown)
        for at, text in enumerate(texts)
    ]


def test_an_item_does_not_end_its_part_and_contents_begin_none() -> None:
    shown = [
        ["Table of Contents", f"¶{CONTENTS}"],
        ["PART I", "Item 1. Ships"],
        ["Item 2. Cranes"],
        ["¶Cranes are tall.", "¶PART II Item 3. Rails"],
        ["Item 4. Roads"],
    ]
    assert named(shown, "part 1") == [1, 2, 3]
    assert named(shown, "part 2") == [3, 4]
    assert named(shown, "item 2") == [2, 3]
    assert named(shown, "contents") == [0]


def test_contents_go_on_where_the_next_page_has_their_lines() -> None:
    more = "¶Item 5. Wharves ... 7\nItem 6. Locks ... 8\nItem 7. Docks ... 9\nItem 8. Gates ... 10"
    assert named([["Contents", f"¶{CONTENTS}"], [more], ["¶Ships came."], [more]], "contents") == [0, 1]


def test_texts_are_looked_at_for_page_numbers_after_contents_alone_and_in_linear_time() -> None:
    long = "¶" + "Ships 7 " * 200_000
    began = time.process_time()
    assert named([[long], ["Contents"], [long], [long]], "contents") == [1]
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("name", "pages"), [("chapter 1", [1, 2]), ("chapter 2", [2, 3]), ("chapter 3", []), ("chapter last", [2, 3])]
)
def test_steps_of_a_manual_are_no_chapters_where_the_outline_has_its_own(name: str, pages: list[int]) -> None:
    outline = [
        ["Contents"],
        ["First Use", "Charging"],
        ["First Use", "Daily Use", "Charging", "Steps"],
        ["Daily Use", "Steps", "Alarms"],
    ]
    shown = [["Contents"], ["Charging", "1 Touch"], ["2 Touch", "Daily Use"], ["2 Touch", "3 Touch"]]
    assert named(shown, name, outline) == pages


def test_a_numbered_outline_says_where_its_chapters_are() -> None:
    outline = [["1 Safety"], ["1 Safety", "2 Parts"], ["2 Parts", "2.1 Pump"], ["3 Use"], ["3 Use", "3.1 Cups"]]
    shown = [["1 Safety"], ["¶Wear gloves.", "2 Parts"], ["2.1 Pump", "1 Turn it"], ["1 Safety first", "3 Use"], ["¶x"]]
    assert named(shown, "chapter 1", outline) == [0, 1]
    assert named(shown, "chapter 3", outline) == [3, 4]


def test_numbered_titles_count_in_order_where_there_is_no_outline() -> None:
    shown = [["1 Ships"], ["2 Cranes"], ["1 Turn it", "2 Press it"], ["3 Rails"], ["12 V battery"]]
    assert named(shown, "chapter 1") == [0]
    assert named(shown, "chapter 2") == [1, 2]
    assert named(shown, "chapter 3") == [3]
    assert named(shown, "chapter 12") == []


def test_after_a_gap_a_number_is_that_of_a_chapter_where_its_sections_or_the_next_follow() -> None:
    shown = [["1 Ships"], ["5 Cranes"], ["6 Rails"], ["7 Roads"]]
    assert [named(shown, f"chapter {at}") for at in (1, 5, 6, 7)] == [[0], [1], [2], [3]]
    assert named([["1 Ships"], ["5 Cranes"], ["5.1 Booms"]], "chapter 5") == [1, 2]
    assert named([["1 Ships"], ["5 Cranes"], ["¶x"]], "chapter 1") == [0]
    rules = [["2 Rules of the Sea"], ["1 Ships"], ["2 Cranes"], ["3 Rails"]]
    assert [named(rules, f"chapter {at}") for at in (1, 3)] == [[1], [3]]
    assert 2 in named(rules, "chapter 2")


def test_numbered_titles_with_no_text_between_are_steps() -> None:
    assert names_of([["Use", "1 Touch", "2 Press", "3 Turn", "¶It starts."]]) == set()
    assert names_of([["1 Ships", "¶Ships came.", "2 Cranes"]]) >= {"chapter 1", "chapter 2"}


@pytest.mark.parametrize("ending", ["Index", "About the Author", "Glossary"])
def test_front_and_back_matter_is_no_chapter(ending: str) -> None:
    titles = ["Cover", "Preface", "Acknowledgements", "Ships", "Cranes", "Rails", ending]
    outline = [[title] for title in titles]
    assert [named(outline, f"chapter {at}", outline) for at in range(1, 5)] == [[3], [4], [5], []]
    assert names_of([["Chapter 1 Ships"], ["Chapter 2 Cranes"], [ending], ["¶x"]], 3) == set()


def test_a_chapter_between_others_may_be_called_like_front_or_back_matter() -> None:
    outline = [[title] for title in ("Preface", "Trade Marks", "Copyright", "Index", "Designs", "Index of Names")]
    assert [named(outline, f"chapter {at}", outline) for at in range(1, 6)] == [[1], [2], [3], [4], []]


def test_all_names_of_a_heading_hold_until_the_next_of_their_rank() -> None:
    shown = [["PART I", "Item 7. Ships"], ["PART II Item 8"], ["¶Cranes."], ["Item 9. Rails"]]
    assert [named(shown, name) for name in ("part 1", "part 2", "item 8", "item 9")] == [[0], [1, 2, 3], [1, 2], [3]]


def test_a_heading_whose_number_is_not_sure_ends_the_chapter_before() -> None:
    shown = [["Chapter One"], ["Chapter Twenty One Pilots"], ["¶x"], ["Chapter Three"]]
    assert [named(shown, f"chapter {at}") for at in (1, 20, 21, 3)] == [[0], [], [], [3]]


def test_many_headings_and_titles_of_a_page_are_not_compared_one_by_one() -> None:
    outline = [[f"Topic {at} of ships" for at in range(6000)]]
    assert named([[f"Other {at} words" for at in range(6000)]], "chapter 1", outline) == [0]


def test_letters_are_appendices_behind_the_references() -> None:
    shown = [
        ["A. Survey"],
        ["References"],
        ["APPENDIX OUTLINE", "A Data"],
        ["B HOW SHIPS CAME"],
        ["C.1 Cranes", "K Street"],
    ]
    assert named(shown, "appendix") == [2, 3, 4]
    assert [named(shown, f"appendix {letter}") for letter in "abck"] == [[2], [3], [4], []]
    assert named(shown, "references") == [1]


def test_an_appendix_may_have_a_title_in_place_of_a_letter() -> None:
    shown = [["1 Ships"], ["2 Cranes"], ["Appendix: Technical data"], ["¶x"], ["Appendix: Spare parts"], ["References"]]
    assert named(shown, "appendix") == [2, 3, 4]
    assert named(shown, "chapter 2") == [1]


def names_of(shown: Sequence[Sequence[str]], page: int = 0) -> set[str]:
    """The names of one of these pages, without an outline."""
    return set(map(str, names_of_pages((), quotes_of(shown))[page]))


def test_roman_numerals_in_order_are_chapters_and_letters_sections_of_them() -> None:
    shown = [["I. SHIPS"], ["II. CRANES"], ["A. Data"], ["B. Methods"], ["III. RAILS"], ["IV. ROADS"], ["V. LOCKS"]]
    assert [named(shown, f"section {at}") for at in (1, 5, "a")] == [[0], [6], [2]]
    assert [named(shown, f"chapter {at}") for at in (1, 2, 5)] == [[0], [1, 2, 3], [6]]
    assert named([["H. Ships"], ["I. Cranes"]], "section i") == [1]
    assert named([["I. Ships"], ["X. Y. Smith"]], "chapter 10") == []


def test_a_page_with_contents_has_other_names_where_parts_begin_on_it() -> None:
    parts = ["1 Safety", "¶Wear gloves.", "2 Use", "¶Press it.", "References"]
    found = {"contents", "chapter 1", "chapter 2", "section 2", "references"}
    assert names_of([["Contents", "¶Safety\nUse", *parts]]) >= found
    assert names_of([["Contents", f"¶{CONTENTS}", *parts]]) >= found
    assert names_of([["Contents", f"¶{CONTENTS}"]]) == {"contents"}
    box = [["1 Safety"], ["2 Unpacking", "Contents", "¶One pump\nTwo hoses"], ["¶Keep the box."]]
    assert names_of(box, 1) >= {"chapter 2", "contents"}
    assert named(box, "chapter 2") == [1, 2]


def test_sentences_that_end_in_numbers_are_no_contents() -> None:
    sales = "¶" + "\n".join(f"In {year} sales were {year - 2009}" for year in range(2019, 2023))
    assert named([["Contents", f"¶{CONTENTS}"], ["1 Sales", sales]], "contents") == [0]
    assert named([["Contents", f"¶{CONTENTS}"], ["1 Sales", sales]], "chapter 1") == [1]


def test_chapters_begin_at_any_number_and_again_in_each_part() -> None:
    extract = [["5 Results"], ["5.1 Data"], ["5.2 Errors"], ["6 Summary"]]
    assert [named(extract, name) for name in ("chapter 5", "section 5.1", "section 5.2", "chapter 6")] == [
        [0, 1, 2],
        [1],
        [2],
        [3],
    ]
    assert named([["Chapter 3 Methods"], ["3.1 Data"], ["3.2 Models"]], "chapter 3") == [0, 1, 2]
    assert named([["Chapter 3 Methods"], ["3.1 Data"], ["3.2 Models"]], "section 3.2") == [2]
    assert named([["Part I", "1 Ships"], ["2 Cranes"], ["Part II"], ["1 Rails"]], "chapter 1") == [0, 3]
    assert named([["12 V battery"], ["1 Ships"], ["2 Cranes"]], "chapter 1") == [1]
    assert named([["1 Ships"], ["9.2 Rails"]], "section 9.2") == [1]


def test_references_of_a_chapter_do_not_end_the_chapters() -> None:
    shown = [["1 Ships"], ["References"], ["2 Cranes", "A Survey of Ports"], ["¶Ports are old."]]
    assert (named(shown, "appendix a"), named(shown, "chapter 2")) == ([], [2, 3])
    outline = [[each] for each in ("Intro", "Methods", "Results", "Discussion")]
    shown = [["Intro", "¶x", "References"], ["Methods"], ["Results"], ["Discussion"], ["¶x"]]
    assert [named(shown, f"chapter {at}", outline) for at in (1, 2, 3)] == [[0], [1], [2]]
    assert named(shown, "references", outline) == [0]
