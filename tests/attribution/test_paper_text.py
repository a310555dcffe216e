"""Pages of a paper's text, and passages found in it."""

from hypothesis import given
from hypothesis import strategies as st

from quoteweave.attribution.agent.observations import find_passages
from quoteweave.attribution.literature.sources.paper_text import PASSAGE_WORDS, find_in_text, join_pages, split_pages
from quoteweave.attribution.literature.sources.papers import Paper, PaperText

LINES = st.lists(st.text("abc é\t", max_size=8), max_size=4).map("\n\n".join)


@given(st.lists(LINES, min_size=1, max_size=5))
def test_pages_are_told_apart_again_whatever_is_on_them(pages: list[str]) -> None:
    found = split_pages(join_pages(pages))

    assert [page.split() for page in found] == [page.split() for page in pages]


def test_a_phrase_is_found_with_its_page_whatever_the_case_and_the_line_breaks() -> None:
    pages = [f"Page {n} speaks of ships.\nIt has nothing else." for n in range(20)]
    pages[13] += "\nThe Zürich\u00a0method, of 2016, COUNTS\tgrain twice."

    found = find_in_text(join_pages(pages), "zurich method of 2016 counts grain")

    assert [(one.page, one.exact) for one in found.passages] == [(13, True)]
    assert found.passages[0].text == "The Zürich method, of 2016, COUNTS grain twice."
    assert (found.exact, found.some) == (1, 0)


def test_words_that_do_not_stand_together_are_found_the_rarest_first() -> None:
    pages = ["The ships carry grain.", "The ships carry timber and zinc.", "The ships rest.", "Nothing of it."]

    found = find_in_text(join_pages(pages), "the zinc of ships")

    assert [one.page for one in found.passages] == [1, 0, 2]
    assert (found.exact, found.some) == (0, 3)
    assert [one.page for one in find_in_text(join_pages(pages), "the zinc of ships", 1).passages] == [1]


def test_a_long_paragraph_gives_the_part_that_has_the_words_once() -> None:
    filler = [f"w{n}" for n in range(1_000)]
    text = " ".join([*filler[:500], "grain", "ships", *filler[500:]])

    found = find_in_text(text, "grain ships")

    assert (len(found.passages), found.exact) == (1, 1)
    assert len(found.passages[0].text.split()) <= PASSAGE_WORDS
    assert "w499 grain ships w500" in found.passages[0].text


@given(st.integers(0, 900), st.integers(1, 50))
def test_a_phrase_of_up_to_fifty_words_is_found_wherever_it_stands(start: int, length: int) -> None:
    words = [f"w{n}" for n in range(1_000)]
    phrase = " ".join(words[start : start + length])

    assert phrase in find_in_text(" ".join(words), phrase).passages[0].text


def test_what_is_not_there_is_not_found() -> None:
    for words in ("zxqwv", "", "  ...  "):
        found = find_in_text("The ships carry grain.", words)
        assert (found.passages, found.exact, found.some) == ((), 0, 0)


def test_words_such_as_the_are_looked_for_where_there_are_no_others() -> None:
    found = find_in_text(join_pages(["Ships carry grain.", "To be or not to be."]), "to be")

    assert [(one.page, one.exact) for one in found.passages] == [(1, True)]


def test_the_agent_is_shown_the_passages_of_the_words_with_their_pages() -> None:
    pages = ["Ships carry grain.", "Timber went by rail. " * 100, "Of grain, 4,210 tonnes were shipped."]
    read = PaperText(outcome="full_text", text=join_pages(pages), pages=3)

    shown = find_passages(Paper(id="1", title="Grain"), read, "4,210 tonnes", 1_000).text

    assert shown.endswith("Passages with words of '4,210 tonnes':\n\n(page 3) Of grain, 4,210 tonnes were shipped.")
