"""Quotes are cut to a window: the longest, to one length, and no more than has to be."""

from hypothesis import given
from hypothesis import strategies as st
from test_arranging import quote

from quoteweave.core.answers import Context
from quoteweave.core.estimates import PICTURE_TOKENS, tokens_of
from quoteweave.core.records import Hit
from quoteweave.pipeline.fitting import PROMPT_TOKENS, fit


def context(*texts: str) -> Context:
    return Context(texts=tuple(Hit(rank=1, score=1, quote=quote("text", "t", text=text)) for text in texts))


def sizes(made: Context) -> list[int]:
    return [tokens_of(hit.quote.words()) for hit in (*made.texts, *made.images)]


@given(st.lists(st.integers(0, 3000), max_size=8), st.integers(0, 4000))
def test_it_fits_and_only_the_longest_are_cut(lengths: list[int], room: int) -> None:
    texts = ["x" * length for length in lengths]
    whole = context(*texts)
    made, count = fit(whole, PROMPT_TOKENS + room, pictures=False)
    before, after = sizes(whole), sizes(made)
    assert count == sum(a < b for a, b in zip(after, before, strict=True))
    assert sum(after) <= room
    if count == 0:
        assert made == whole
    else:
        longest = max(after)
        assert all(b <= longest + 1 or a >= longest - 1 for a, b in zip(after, before, strict=True))
        assert sum(before) > room


def test_without_a_window_nothing_is_cut() -> None:
    assert fit(context("x" * 10**6), None, pictures=False) == (context("x" * 10**6), 0)


def test_pictures_take_their_room_and_are_not_cut() -> None:
    shown = quote("image", "i", text="x" * 4000, image="a.png")
    made = Context(texts=context("y" * 4000).texts, images=(Hit(rank=1, score=1, quote=shown),))
    cut, count = fit(made, PROMPT_TOKENS + PICTURE_TOKENS + 500, pictures=True)
    assert (count, cut.images) == (1, made.images)
    assert len(cut.texts[0].quote.words()) < 2004
    _, count = fit(made, PROMPT_TOKENS + PICTURE_TOKENS + 500, pictures=False)
    assert count == 2


def test_other_scripts_take_a_token_a_character() -> None:
    assert tokens_of("港" * 100) >= 100 > tokens_of("x" * 100)
