"""Quotes are cut to a window: the longest, to one length, and no more than has to be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_arranging import quote

from quoteweave.core.answers import Context
from quoteweave.core.chat.usage import estimate_message_tokens, estimate_tokens
from quoteweave.core.records import Hit, Query, Quote
from quoteweave.generation.prompt_messages import CitedMessages
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


def hits(kind: str, many: int, text: str, section: str | None) -> tuple[Hit, ...]:
    layout = "paragraph" if kind == "text" else "chart"
    said = {"document": "reports/2023/annual report of the harbour board.pdf", "page": 0, "page_label": "1"}
    said |= {"bbox": (0.0, 0.0, 1.0, 1.0), "kind": kind, "layout": layout, "text": text, "section": section}
    quotes = [Quote.model_validate({"id": f"{kind}{n}", **said}) for n in range(many)]
    return tuple(Hit(rank=n, score=1, quote=quote) for n, quote in enumerate(quotes, 1))


@pytest.mark.parametrize("text", ["barley " * 3000, "12\n" * 5000])
@pytest.mark.parametrize("section", [None, "Chapter 4: what the harbour board reported on grain, coal and tin in 2023"])
@pytest.mark.parametrize("question", ["How much?", "How much? " * 400])
@pytest.mark.parametrize("answer", [0, 1000])
def test_prompt_and_answer_keep_to_the_window(text: str, section: str | None, question: str, answer: int) -> None:
    context = Context(texts=hits("text", 12, text, section), images=hits("image", 8, text, section))
    made, count = fit_to_window(context, Window(tokens=8000, answer=answer), question)
    messages = CitedMessages().of(Query(text=question), made, {})
    assert count == 20
    assert 6000 < estimate_message_tokens(messages) + answer <= 8000


def test_titles_as_long_as_pages_do_not_fill_the_window() -> None:
    context = Context(texts=hits("text", 12, "barley " * 3000, "A title without an end. " * 500), images=())
    made, count = fit_to_window(context, Window(tokens=8000), "How much?")
    assert count == 12
    assert 6000 < estimate_message_tokens(CitedMessages().of(Query(text="How much?"), made, {})) <= 8000
