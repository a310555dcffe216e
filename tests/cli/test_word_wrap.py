"""Streamed text is broken between words, however it comes in parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.cli.console import WordWrap


def wrapped(text: str, width: int, size: int) -> str:
    wrap = WordWrap(width)
    return "".join(wrap.feed(text[at : at + size]) for at in range(0, len(text), size)) + wrap.end()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("one two three", "one two\nthree"),
        ("one  two\n\nthree four", "one  two\n\nthree\nfour"),
        ("incomprehensible it is", "incomprehensible\nit is"),
        ("東京都 は首", "東京都\nは首"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 4, 100])
def test_lines_end_between_words(text: str, shown: str, size: int) -> None:
    assert wrapped(text, 9, size) == shown


@given(st.text("ab \n", max_size=60), st.integers(1, 5), st.integers(1, 9))
def test_no_word_is_lost_or_cut_and_no_line_too_long(text: str, size: int, width: int) -> None:
    shown = wrapped(text, width, size)
    assert shown.split() == text.split()
    assert all(len(line.rstrip()) <= width or " " not in line.strip() for line in shown.split("\n"))
