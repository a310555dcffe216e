import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numbered_quotes import CONTEXT

from quoteweave.core.answers import Answer, ImageBlock, TextBlock
from quoteweave.core.records import Kind
from quoteweave.core.text.marks import MAX_RANGE, parse_marks
from quoteweave.generation.citations import build_answer

Numbered = list[tuple[Kind, int]]


def resolved(text: str) -> tuple[Numbered, Numbered]:
    """The numbers of a text's marks that name a quote, and those that name none."""
    numbers: Numbered = [(mark.kind, number) for mark in parse_marks(text) for number in mark.numbers]
    return [n for n in numbers if CONTEXT.quote(*n)], [n for n in numbers if not CONTEXT.quote(*n)]


def built(text: str) -> Answer:
    return build_answer("why?", text, CONTEXT, model="m")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[3]", [(3,)]),
        ("[1][2]", [(1,), (2,)]),
        ("[1, 2]", [(1, 2)]),
        ("[1,2;3]", [(1, 2, 3)]),
        ("[1-3]", [(1, 2, 3)]),
        ("[1\N{EN DASH}3]", [(1, 2, 3)]),
        ("[ 1 , 3 - 5 ]", [(1, 3, 4, 5)]),
        ("[2, 1-3, 2]", [(2, 1, 3)]),
        ("grew by 5%[1].", [(1,)]),
        ("[0]", [(0,)]),
        ("[2019]", [(2019,)]),
        ("[[3]](http://a.b)", [(3,)]),
        ("[1](a) [2]", [(2,)]),
        ("[text 1][Quote2, 3]", [(1,), (2, 3)]),
    ],
)
def test_text_marks(text: str, numbers: list[tuple[int, ...]]) -> None:
    marks = parse_marks(text)
    assert [mark.numbers for mark in marks] == numbers
    assert {mark.kind for mark in marks} == {"text"}


@pytest.mark.parametrize(
    "text",
    [
        "[text](http://a.b)",
        "[3](http://a.b)",
        "![3](http://a.b/c.png)",
        "[^1]",
        "[]",
        "[x] [ ]",
        "[1.5] [10:30] [-1] [1-] [,1]",
        "the interval [0, 1] and [0-1]",
        "[1234567890]",
        "[٣]",
        "`rows[1]` and ``rows[2]``",
        "```python\nrows[1]\n```",
        "```\nrows[1] and no end",
        "![chart](image)",
        "![chart](images/2)",
        "[chart](image2)",
        "[image2](a.png) [text 1](b) [context 1] [text] [image]",
    ],
)
def test_what_is_no_mark(text: str) -> None:
    assert parse_marks(text) == []


def test_marks_around_code_are_found() -> None:
    assert [mark.start for mark in parse_marks("a [1] `b[2]` c [3]\n```\nd[4]\n```\ne [5]")] == [2, 15, 34]


@pytest.mark.parametrize("target", ["image2", "image 2", "Image2", "image_2", "IMAGE-2", " image2 ", "image2.png"])
def test_ways_to_write_an_image_mark(target: str) -> None:
    (mark,) = parse_marks(f"See\n![Sales [a]\nby  year]({target})")
    assert (mark.kind, mark.numbers, mark.summary) == ("image", (2,), "Sales [a] by year")
    assert (mark.start, mark.mark[:2]) == (4, "![")


@pytest.mark.parametrize("mark", ["[image2]", "[ Image 2 ]", "[image_2]"])
def test_an_image_mark_without_a_summary(mark: str) -> None:
    (found,) = parse_marks(f"Sales rose {mark}.")
    assert (found.kind, found.numbers, found.summary, found.mark) == ("image", (2,), "", mark)


def test_a_mark_inside_a_summary_belongs_to_the_summary() -> None:
    (mark,) = parse_marks("![as in [1]](image2)")
    assert mark.kind == "image"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        (f"[1-{MAX_RANGE}]", tuple(range(1, MAX_RANGE + 1))),
        (f"[1-{MAX_RANGE + 1}]", (1, MAX_RANGE + 1)),
        ("[1-99999999]", (1, 99999999)),
        ("[5-3]", (5, 3)),
    ],
)
def test_a_range_too_wide_or_backwards_stands_for_its_ends(text: str, numbers: tuple[int, ...]) -> None:
    assert parse_marks(text)[0].numbers == numbers


def test_each_number_of_a_mark_is_cited_or_unresolved() -> None:
    answer = built("So [1, 9] and ![it](image2).")
    assert [(c.mark, c.start, c.end, c.quote_id, c.page, c.page_label) for c in answer.citations] == [
        ("[1]", 3, 6, "text:1", 1, "p1"),
        ("![it](image2)", 11, 24, "image:2", 2, "p2"),
    ]
    assert [(u.mark, u.start, u.end, u.kind, u.number) for u in answer.unresolved] == [("[1, 9]", 3, 9, "text", 9)]


def test_build_answer_cuts_the_text_where_images_stand() -> None:
    answer = built("Sales grew [1, 2].\n\n![Sales](image2)\n\n![Costs](image1) Costs fell [3].")
    first, sales, costs, last = answer.blocks
    assert isinstance(first, TextBlock)
    assert (first.text, [c.number for c in first.citations]) == ("Sales grew [1, 2].\n\n", [1, 2])
    assert isinstance(sales, ImageBlock)
    assert (sales.summary, sales.image, sales.citation.quote_id) == ("Sales", "ab/2.png", "image:2")
    assert isinstance(costs, ImageBlock)
    assert costs.image == "ab/1.png"
    assert isinstance(last, TextBlock)
    assert (last.text, [c.quote_id for c in last.citations]) == (" Costs fell [3].", ["text:3"])
    assert [c.quote_id for c in answer.citations] == ["text:1", "text:2", "image:2", "image:1", "text:3"]
    assert (answer.status, answer.warnings, answer.unresolved) == ("answered", (), ())


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It grew [99].", "It grew."),
        ("It grew [99] fast.", "It grew fast."),
        ("It grew[99].", "It grew."),
        ("It grew [98][99] [97].", "It grew."),
        ("It grew [1, 99].", "It grew [1]."),
        ("It grew [4-7, 1].", "It grew [4, 5, 1]."),
        ("[99] It grew", "It grew"),
        ("It grew [99]", "It grew"),
        ("One.\n\n![x](image9)\n\nTwo.", "One.\n\nTwo."),
        ("One.\n\n![x](image9)", "One."),
        ("- one [99]\n  - two [1]", "- one\n  - two [1]"),
        ("- [99] one", "- one"),
        ("(see [99])", "(see)"),
        ("[99]", ""),
    ],
)
def test_unresolved_numbers_leave_the_shown_text_tidy(text: str, shown: str) -> None:
    answer = built(text)
    assert answer.text == shown
    assert answer.unresolved
    assert all(text[mark.start : mark.end] == mark.mark for mark in answer.unresolved)


def test_a_warning_counts_the_marks_not_their_numbers() -> None:
    assert built("a [98, 99]").warnings == (
        "1 mark names a quote that was not given, and was taken out of the answer.",
    )
    assert built("a [98] [99]").warnings[0].startswith("2 marks name ")


@pytest.mark.parametrize("text", ["a [[99]1]", "![a](im[99]age1)", "[1[99]]", "a [[99] 1]", "[3]![x](image9)(u)"])
def test_text_stays_where_taking_a_mark_out_would_make_another(text: str) -> None:
    answer = built(text)
    assert answer.text == text
    assert len(answer.unresolved) == 1
    assert answer.warnings == ("1 mark names a quote that was not given, and was left where it stood.",)


PIECES = st.sampled_from(
    ["[", "]", "!", "(", ")", "1", "2", "9", "0", ",", "-", " ", "\n", "`", "```", "\0", "a", "image", ".", "text"]
) | st.sampled_from(["[1]", "[2, 9]", "[99]", "[1-3]", "![s](image1)", "![s](image9)", "![x", "](image2)", "[3](u)"])
TEXTS = st.text() | st.lists(PIECES, max_size=30).map("".join)


@given(TEXTS)
def test_marks_are_exact_ordered_and_apart(text: str) -> None:
    marks = parse_marks(text)
    assert all(text[mark.start : mark.end] == mark.mark for mark in marks)
    assert all(len(set(mark.numbers)) == len(mark.numbers) > 0 for mark in marks)
    assert all(one.end <= other.start for one, other in itertools.pairwise(marks))


@given(TEXTS)
@example("[[99]9]")
@example("[99]```\n[1]")
@example("```\n[99]\n```\n[1]")
@example("[3]![x](image9)(u)")
def test_what_is_built_is_exact_and_complete(text: str) -> None:
    answer = built(text)
    cited, missing = resolved(text)
    assert [(c.kind, c.number) for c in answer.citations] == cited
    assert [(u.kind, u.number) for u in answer.unresolved] == missing
    assert all(answer.text[c.start : c.end] == c.mark for c in answer.citations)
    assert all(text[u.start : u.end] == u.mark for u in answer.unresolved)
    # What is left of them was told of, and no mark has come into being.
    shown, left = resolved(answer.text)
    assert shown == cited
    assert bool(left) == any("left where" in warning for warning in answer.warnings)


@given(TEXTS)
def test_building_an_answers_own_text_changes_nothing(text: str) -> None:
    answer = built(text)
    again = built(answer.text)
    assert (again.text, again.blocks, again.citations) == (answer.text, answer.blocks, answer.citations)


@given(TEXTS)
def test_blocks_put_together_are_the_text_but_for_whitespace_between_images(text: str) -> None:
    answer = built(text)
    position, cited = 0, []
    for block in answer.blocks:
        if isinstance(block, ImageBlock):
            assert answer.text[position : block.citation.start].strip() == ""
            position = block.citation.end
            cited.append(block.citation)
        else:
            assert answer.text.startswith(block.text, position)
            assert all(position <= c.start and c.end <= position + len(block.text) for c in block.citations)
            position += len(block.text)
            cited += block.citations
    assert answer.text[position:].strip() == ""
    assert tuple(cited) == answer.citations


@given(st.text(alphabet="ab [].,\n", max_size=60))
def test_taking_marks_out_loses_no_word(text: str) -> None:
    marked = text.replace("a", "a[99]")
    assert re.sub(r"\s|\[99\]", "", built(marked).text) == re.sub(r"\s", "", text)


@pytest.mark.parametrize("piece", ["[", "![", "![a", "[1,", "[1 ", "`a\n", "`", "![ ![a]", "![a [b] ", "[99] ", " "])
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    # Quadratic reading of a text this long would take hours, and the test would be seen to hang.
    text = piece * (1_000_000 // len(piece)) if piece != "[99] " else piece * 10_000
    assert all(mark.mark == "[99]" for mark in parse_marks(text))
