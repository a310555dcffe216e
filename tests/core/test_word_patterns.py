import re

from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.text.word_patterns import alternation

WORDS = st.text(alphabet="ab|.+?", min_size=1, max_size=5)


def test_words_share_what_they_begin_with() -> None:
    assert alternation(["chap.", "chapter", "page", "pages"]) == r"(?:(?:chap(?:\.|ter)|page(?:s)?))"


@given(st.lists(WORDS, min_size=1), st.text(alphabet="ab|.+?", max_size=12))
def test_the_longest_word_that_stands_there_is_found(words: list[str], text: str) -> None:
    longest_first = "|".join(re.escape(word) for word in sorted(set(words), key=len, reverse=True))
    assert re.findall(alternation(words), text) == re.findall(longest_first, text)


@given(st.lists(WORDS, min_size=1), st.text(alphabet="ab|.+?", max_size=12))
def test_a_shorter_word_is_found_where_the_longest_does_not_fit(words: list[str], text: str) -> None:
    whole = re.fullmatch(f"{alternation(words)}b", text)
    assert (whole is not None) == any(text == f"{word}b" for word in words)
