"""Quotes are cut to a window: the longest, to one length, and no more than has to be."""

from hypothesis import given
from hypothesis import strategies as st
from test_arranging import quote

from quoteweave.core.answers import Context
from quoteweave.core.chat.usage import estimate_tokens
from quoteweave.core.records import Hit
from quoteweave.generation.prompt_pictures import PictureLimits
from quoteweave.pipeline.window import PROMPT_TOKENS, Window, fit_to_window


def context(*texts: str) -> Context:
    return Context(texts=tuple(Hit(rank=1, score=1, quote=quote("text", "t", text=text)) for text in texts))


def sizes(made: Context) -> list[int]:
    return [estimate_tokens(hit.quote.all_text()) for hit in made.hits]


@given(st.lists(st.integers(0, 3000), max_size=8), st.integers(0, 4000))
def test_it_fits_and_only_the_longest_are_cut(lengths: list[int], room: int) -> None:
    texts = ["x" * length for length in lengths]
    whole = context(*texts)
    made, count = fit_to_window(whole, Window(tokens=PROMPT_TOKENS + room))
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
    assert fit_to_window(context("x" * 10**6), None) == (context("x" * 10**6), 0)


def test_pictures_take_their_room_and_are_not_cut() -> None:
    shown = quote("image", "i", text="x" * 4000, image="a.png")
    made = Context(texts=context("y" * 4000).texts, images=(Hit(rank=1, score=1, quote=shown),))
    cut, count = fit_to_window(made, Window(tokens=PROMPT_TOKENS + 2000 + 500, pictures=True))
    assert (count, cut.images) == (1, made.images)
    assert len(cut.texts[0].quote.all_text()) < 2004
    _, count = fit_to_window(made, Window(tokens=PROMPT_TOKENS + 500))
    assert count == 2


def test_pictures_beyond_the_number_that_is_shown_take_words() -> None:
    shown = quote("image", "i", text="x" * 4000, image="a.png")
    made = Context(images=(Hit(rank=1, score=1, quote=shown), Hit(rank=2, score=1, quote=shown)))
    one = PictureLimits(max_pictures=1, max_pixels=75_000)
    cut, count = fit_to_window(made, Window(tokens=PROMPT_TOKENS + 100 + 500, pictures=True, limits=one))
    assert (count, cut.images[0]) == (1, made.images[0])
    assert estimate_tokens(cut.images[1].quote.all_text()) == 500


def test_other_scripts_take_a_token_a_character() -> None:
    assert estimate_tokens("港" * 100) >= 100 > estimate_tokens("x" * 100)
