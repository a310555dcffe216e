"""The answer of a raw response, and what it cites by either grammar."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.evaluation.text.responses import CitedNumbers, MarkGrammar, answer_of, citations

MIXED = "A [3] and [1, 2]; B [4-6] ![chart](image2), (image5), ![x](Image 7), [image8], `[9]` and [10](http://a)."


def test_the_published_grammar_reads_single_numbers_and_image_names_wherever_they_stand() -> None:
    assert citations(MIXED, "published") == CitedNumbers(text=(3, 9, 10), image=(2, 5))


def test_our_grammar_reads_lists_ranges_and_bare_images_and_leaves_code_and_links() -> None:
    assert citations(MIXED, "own") == CitedNumbers(text=(3, 1, 2, 4, 5, 6), image=(2, 5, 7, 8))


@pytest.mark.parametrize("marks", ["published", "own"])
def test_a_quote_cited_twice_counts_once(marks: MarkGrammar) -> None:
    response = "[2] then [1], [2] again ![a](image1) and ![b](image1)"
    assert citations(response, marks) == CitedNumbers(text=(2, 1), image=(1,))


@pytest.mark.parametrize("marks", ["published", "own"])
@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<think>perhaps [1]</think>\n\nIt is [2].", "It is [2]."),
        ("Thought for 12 seconds\n\nIt is [2].", "It is [2]."),
        ("**Reasoned about charts for 1m 3 seconds\n\nIt is [2].", "It is [2]."),
        ("First [1].\n\nThinking took 3.2 seconds\n\nIt is [2].", "It is [2]."),
        ("7.5 seconds\n\nIt is [2].", "It is [2]."),
        ("It took 63 seconds.\n\nIt is [2].", "It took 63 seconds.\n\nIt is [2]."),
        ("12 seconds\n", "12 seconds"),
        ("12 seconds\nby the table [2].", "12 seconds\nby the table [2]."),
        ("", ""),
    ],
)
def test_thinking_is_cut_off(response: str, answer: str, marks: MarkGrammar) -> None:
    assert answer_of(response, marks).strip() == answer


def test_the_published_cut_falls_after_any_seconds_that_end_a_paragraph() -> None:
    response = "See [1].\n- LSTM: 598 seconds\n- SWEM: 63 seconds\n\nSo it is faster [2]."
    assert citations(response, "published").text == (2,)
    assert citations(response, "own").text == (1, 2)


def test_thinking_that_never_ends_is_no_answer() -> None:
    assert answer_of("<think>perhaps [1]", "own") == ""
    assert citations("<think>perhaps [1]", "published").text == (1,)


def test_only_the_last_thinking_section_is_followed_by_the_answer() -> None:
    response = "<think>a [1]</think>\n\nb [2] <think>c [3]</think>\n\nd [4]"
    assert citations(response, "own").text == (4,)
    assert citations(response, "published").text == (2, 3), "what stands between the first two ends"


def test_the_published_cut_wants_an_empty_line() -> None:
    response = "perhaps [1]</think>It is [2]."
    assert citations(response, "own").text == (2,)
    assert citations(response, "published").text == (1, 2)


def test_a_mark_that_is_written_otherwise_names_no_quote_by_the_published_grammar() -> None:
    found = citations("[3] and [03] and [003] ![a](image01)", "published")
    assert found.text[0] == 3
    assert all(number < 0 for number in (*found.text[1:], *found.image))
    assert len(set(found.text)) == 3
    assert citations("[3] and [03]", "own").text == (3,)


@pytest.mark.parametrize("marks", ["published", "own"])
def test_a_number_of_thousands_of_digits_is_read_without_trouble(marks: MarkGrammar) -> None:
    assert all(number > 10**6 for number in citations(f"[{'7' * 9000}]", marks).text)


@given(st.text("[](image0123456789 ,-<think>/s\n`!econd", max_size=200))
def test_any_text_can_be_read_and_every_quote_is_named_once(text: str) -> None:
    for marks in ("published", "own"):
        cited = citations(text, marks)
        for numbers in (cited.text, cited.image):
            assert len(set(numbers)) == len(numbers)
            assert all(number >= 0 for number in numbers)
