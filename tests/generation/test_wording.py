"""Words of documents, made fit to stand in an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.text.marks import parse_marks
from quoteweave.generation.answer_text import add_mark, clip, escape_marks, is_plainly_code, tidy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The silos\n  were  full.", "The silos were full."),
        ("The infor-\nmation of the Anglo-\nSaxon", "The information of the Anglo-Saxon"),
        ("• two rail sidings", "two rail sidings"),
        ("2. Take off bags", "Take off bags"),
        ("(b) a well-known case - and more", "a well-known case - and more"),
        (", which fell ;", "which fell ;"),
        ("-0.4 degrees", "-0.4 degrees"),
        ("日本の\n首都", "日本の首都"),
        ("\uf0a7 A bullet of a symbol font", "A bullet of a symbol font"),
    ],
)
def test_tidy(text: str, expected: str) -> None:
    assert tidy(text, 350) == expected


def test_long_sentences_are_cut_after_a_clause_else_after_a_word() -> None:
    assert clip("It rained, it snowed, it blew and blew", 30) == "It rained, it snowed…"
    assert clip("It rained and snowed and blew all day", 30) == "It rained and snowed and blew…"
    assert clip("x" * 40, 30) == "x" * 29 + "…"
    assert clip("short", 5) == "short"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as [12] and [1, 3-5] say", "as (12) and (1, 3-5) say"),
        ("look ![here](image3)!", "look [here](image3)!"),
        ("in `code [1]`", "in 'code (1)'"),
        ("the interval [0, 1] and a[i]", "the interval [0, 1] and a[i]"),
    ],
)
def test_marks_lose_their_look(text: str, expected: str) -> None:
    assert escape_marks(text) == expected


@given(st.text(st.sampled_from("![]()`1, -\nimage")), st.text(st.sampled_from("![]()`1, -\nimage")))
def test_our_mark_is_the_only_one_whatever_stands_around_it(before: str, after: str) -> None:
    text = f"{add_mark(escape_marks(before), '[7]')} {escape_marks(after)}"
    assert [mark.mark for mark in parse_marks(text)] == ["[7]"]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Dues rose.", "Dues rose [2]."),
        ("Dues rose .", "Dues rose [2]."),
        ("Did dues rise?", "Did dues rise [2]?"),
        ("a depth of 9.1 metres", "a depth of 9.1 metres [2]."),
        ("and so on...", "and so on... [2]"),
        ("and so on…", "and so on… [2]"),
    ],
)
def test_the_mark_stands_before_the_final_stop(sentence: str, expected: str) -> None:
    assert add_mark(sentence, "[2]") == expected


def test_a_prompt_begins_code_and_no_sentence() -> None:
    for prose in ("> Do not use the machine outdoors.", "% of sales - all ports", "# of items"):
        assert not is_plainly_code(prose)
    for code in (
        "> make test",
        "% flash -p m128 -e -U diag.hex",
        "# mount /dev/crane --all",
        "> Plot <- draw(x).",
        "> Plot the",
        "$ Make it so.",
        "> x <- 5",
    ):
        assert is_plainly_code(code)
