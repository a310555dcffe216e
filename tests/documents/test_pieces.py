from hypothesis import given
from hypothesis import strategies as st

from quoteweave.documents.reflow.paginate import (
    LINE_BREAKS,
    LINE_CHARS,
    PROSE_BREAKS,
    TextLimit,
    line_count,
    split_text,
    width,
)

LIMIT = TextLimit(chars=40, lines=4)
SMALL_TEXT = st.text(alphabet="ab .!?\n\t。！字」)", max_size=400)


def without_space(text: str) -> str:
    return "".join(text.split())


def test_a_text_within_the_limit_stays_whole() -> None:
    assert split_text("One. Two.", PROSE_BREAKS, LIMIT) == ["One. Two."]


def test_prose_is_cut_after_the_last_sentence_that_fits() -> None:
    text = "The first sentence. The second one! Is this the third? Yes."
    assert split_text(text, PROSE_BREAKS, LIMIT) == ["The first sentence. The second one!", "Is this the third? Yes."]


def test_an_abbreviation_before_a_small_letter_ends_no_sentence() -> None:
    text = "Salt, pepper etc. are listed below. Sugar is not."
    assert split_text(text, PROSE_BREAKS, LIMIT) == ["Salt, pepper etc. are listed below.", "Sugar is not."]


def test_a_closing_quotation_mark_stays_with_its_sentence() -> None:
    assert (
        split_text('He said "It is late." Then he went to bed at once.', PROSE_BREAKS, LIMIT)[0]
        == 'He said "It is late."'
    )


def test_chinese_is_cut_at_its_full_stops_though_it_has_no_spaces() -> None:
    first, second = "天" * 20 + "。", "地" * 25 + "！」"
    assert split_text(first + second, PROSE_BREAKS, LIMIT) == [first, second]


def test_a_sentence_that_is_too_long_is_cut_between_words() -> None:
    pieces = split_text("word " * 20, PROSE_BREAKS, LIMIT)
    assert pieces == ["word word word word word word word word"] * 2 + ["word word word word"]


def test_a_word_that_is_too_long_is_cut_anywhere() -> None:
    assert "".join(split_text("x" * 100, PROSE_BREAKS, LIMIT)) == "x" * 100


def test_lists_are_cut_between_lines_even_where_sentences_end_elsewhere() -> None:
    text = "- One thing. And more.\n- Another thing.\n- A third thing."
    assert split_text(text, LINE_BREAKS, LIMIT) == ["- One thing. And more.\n- Another thing.", "- A third thing."]


def test_many_short_lines_are_cut_though_they_have_few_characters() -> None:
    assert [line_count(piece) for piece in split_text("a\n" * 12, LINE_BREAKS, LIMIT)] == [2, 2, 2, 2, 2, 2]


def test_wide_characters_take_two_columns() -> None:
    assert width("ab字。") == 6
    assert line_count("字" * 46) == 2
    assert line_count("a" * LINE_CHARS + "\n\nb") == 3


def test_blank_text_gives_nothing() -> None:
    assert split_text(" \n\t\n ", PROSE_BREAKS, LIMIT) == []


@given(SMALL_TEXT)
def test_nothing_but_space_is_lost_and_order_is_kept(text: str) -> None:
    for places in (PROSE_BREAKS, LINE_BREAKS):
        assert without_space("".join(split_text(text, places, LIMIT))) == without_space(text)


@given(SMALL_TEXT)
def test_every_piece_is_within_the_limit(text: str) -> None:
    for piece in split_text(text, PROSE_BREAKS, LIMIT):
        assert piece.strip()
        assert len(piece) <= LIMIT.chars
        assert line_count(piece) <= LIMIT.lines
