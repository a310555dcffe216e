"""What is shown of an answer does not depend on how its text was cut into parts."""

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numbered_quotes import CONTEXT

from quoteweave.core.text.marks import MAX_MARK_CHARACTERS, Mark, MarkReader, parse_marks
from quoteweave.generation.citations import AnswerPart, MarkResolver, build_answer

PIECES = st.sampled_from(
    ["[", "]", "!", "(", ")", "1", "9", "0", ",", "-", " ", "\n", "`", "```", "a", "image", ".", "é", "\n\n", "    "]
) | st.sampled_from(["[1]", "[2, 9]", "[99]", "[1-3]", "![s](image1)", "![s](image9)", "![x", "](image2)", "[3](u)"])
PIECES |= st.sampled_from(["[image1]", "[image 9]", "[text 1]", "[quote", "[image"])
TEXTS = st.text() | st.lists(PIECES, max_size=30).map("".join)


def parts_of(text: str, sizes: Sequence[int]) -> list[str]:
    """The text cut into parts of these sizes, over and over."""
    parts, at = list[str](), 0
    for size in itertools.cycle(sizes):
        if at >= len(text):
            return parts
        parts.append(text[at : at + size])
        at += size
    return parts


SIZES = st.lists(st.integers(1, 7), min_size=1, max_size=5)


def shown_of(parts: Sequence[str]) -> list[AnswerPart]:
    resolver = MarkResolver(CONTEXT)
    return [*(one for part in parts for one in resolver.feed(part)), *resolver.end()]


@given(TEXTS, SIZES)
@example("`a\n`[1]`", [1])
@example("![a](image 1 ) [3](u)", [1])
@example("[99]\n   ```[1]\n```\n[2]", [1])
def test_marks_are_read_alike_however_the_text_is_cut(text: str, sizes: list[int]) -> None:
    reader = MarkReader()
    read = [*(one for part in parts_of(text, sizes) for one in reader.feed(part)), *reader.end()]
    assert [one for one in read if isinstance(one, Mark)] == parse_marks(text)
    assert "".join(one.mark if isinstance(one, Mark) else one for one in read) == text


@given(TEXTS, SIZES)
@example("[99]```\n[1]", [2])
@example("news! [99] [1]", [1])
def test_the_same_is_shown_however_the_text_is_cut(text: str, sizes: list[int]) -> None:
    answer = build_answer("why?", text, CONTEXT, model="m")
    resolver = MarkResolver(CONTEXT)
    shown = [*(one for part in parts_of(text, sizes) for one in resolver.feed(part)), *resolver.end()]
    assert "".join(one.text for one in shown) == answer.text
    assert tuple(citation for one in shown for citation in one.citations) == answer.citations
    assert tuple(resolver.unresolved) == answer.unresolved


@given(TEXTS, SIZES)
def test_a_mark_is_shown_whole_and_with_its_citations(text: str, sizes: list[int]) -> None:
    length = 0
    for one in shown_of(parts_of(text, sizes)):
        assert one.text
        assert all((c.start, c.end) == (length, length + len(one.text)) for c in one.citations)
        assert all(c.mark == one.text for c in one.citations)
        length += len(one.text)


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (["It grew [", "1", "]", "."], ["It grew", " ", "[1]", "."]),
        (["It grew [9", "9", "] f", "ast"], ["It grew", " ", "f", "ast"]),
        (["It grew [3]", "(http", "://a.b)"], ["It grew", " ", "[3](http", "://a.b)"]),
        (["So ![sales", " by year](ima", "ge2)", " "], ["So", " ", "![sales by year](image2)"]),
        (["`a[1]", "b`", " [1"], ["`a[1]b`", " ", "[1"]),
    ],
)
def test_text_is_shown_as_soon_as_it_is_certain(parts: list[str], shown: list[str]) -> None:
    resolver = MarkResolver(CONTEXT)
    told = [one.text for part in parts for one in resolver.feed(part)]
    assert [*told, *(one.text for one in resolver.end())] == shown


def test_what_is_certain_does_not_wait_for_more() -> None:
    resolver = MarkResolver(CONTEXT)
    assert [one.text for one in resolver.feed("The harbour ")] == ["The harbour"]
    assert [one.text for one in resolver.feed("grew [1] and")] == [" ", "grew", " ", "[1]", " ", "and"]


@pytest.mark.parametrize("begun", ["![never closed", "`never closed", "[1"])
def test_nothing_is_held_back_for_ever(begun: str) -> None:
    resolver = MarkResolver(CONTEXT)
    more = "1, " if begun == "[1" else "on and on "
    told = sum(len(one.text) for _ in range(1000) for one in resolver.feed(begun[:1] + more))
    assert len(more) * 1000 - told < 2 * MAX_MARK_CHARACTERS + 2000


@pytest.mark.parametrize("length", [MAX_MARK_CHARACTERS, MAX_MARK_CHARACTERS + 1])
def test_marks_have_a_greatest_length(length: int) -> None:
    text = f"![{'a' * (length - len('![](image1)'))}](image1) [2]"
    assert [mark.kind for mark in parse_marks(text)] == (
        ["image", "text"] if length == MAX_MARK_CHARACTERS else ["text"]
    )
    shown = shown_of(parts_of(text, [100]))
    assert [c.kind for one in shown for c in one.citations] == [mark.kind for mark in parse_marks(text)]


def test_marks_that_name_nothing_are_told_by_their_place_in_the_whole_text() -> None:
    resolver = MarkResolver(CONTEXT)
    for part in ("\n ", "\t[99]", " Fish."):
        resolver.feed(part)
    resolver.end()
    assert [(one.start, one.end, one.number) for one in resolver.unresolved] == [(3, 7, 99)]
