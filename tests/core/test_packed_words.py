"""Words of a page come back from their packed bytes as they were, their boxes to a quarter of a point."""

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.records import PageWord, PageWords
from quoteweave.core.text.packed_words import MAX_STEPS, STEPS_PER_POINT, pack_words, unpack_words

MAX_EDGE = MAX_STEPS / STEPS_PER_POINT
edges = st.floats(-MAX_EDGE, MAX_EDGE, allow_nan=False)
texts = st.text(st.characters(codec="utf-8", exclude_characters=" "), max_size=12)
placed = st.tuples(texts, st.tuples(edges, edges, edges, edges), st.integers(0, 10**6), st.booleans())


@given(st.lists(placed, max_size=30))
def test_packing_loses_no_more_than_an_eighth_of_a_point(words: list[tuple[str, tuple[float, ...], int, bool]]) -> None:
    packed = pack_words(words)  # type: ignore[arg-type]
    found = unpack_words(packed)
    assert [(text, line, ocr) for text, _, line, ocr in found] == [(text, line, ocr) for text, _, line, ocr in words]
    for (_, box, _, _), (_, before, _, _) in zip(found, words, strict=True):
        assert box == pytest.approx(before, abs=0.5 / STEPS_PER_POINT, rel=0)
    assert pack_words(found) == packed


def test_records_of_a_page_survive_packing_and_json() -> None:
    rows = ["the harbour was dredged again in early spring and the cranes were moved"] * 40
    words = [
        PageWord(word, (72 + 31.4 * i, 72 + 12.3 * row, 99.7 + 31.4 * i, 84 + 12.3 * row), row)
        for row, text in enumerate(rows)
        for i, word in enumerate(text.split())
    ]
    page = PageWords.of(3, words)
    assert len(zlib.compress(page.packed)) < 2 * len(words)  # most of it repeats
    assert [word.text for word in page.words] == [word.text for word in words]
    assert PageWords.model_validate_json(page.model_dump_json()) == page


def test_what_lies_kilometres_away_is_placed_at_the_furthest_step() -> None:
    ((_, box, _, _),) = unpack_words(pack_words([("far", (0, 0, 1e30, 1), 0, False)]))
    assert box == (0, 0, MAX_EDGE, 1)


@pytest.mark.parametrize("box", [(0, 0, float("inf"), 1), (float("nan"), 0, 1, 1)])
def test_boxes_that_are_not_finite_are_refused(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(ValueError, match="not finite"):
        PageWords.of(0, [PageWord("a", box, 0)])


def test_a_word_with_a_space_is_refused() -> None:
    with pytest.raises(ValueError, match="a word holds a space"):
        PageWords.of(0, [PageWord("a b", (0, 0, 1, 1), 0)])


@pytest.mark.parametrize("packed", [b"", b"1234567", b"other bytes", pack_words([("a", (0, 0, 1, 1), 0, False)])[:-4]])
def test_other_bytes_are_no_words(packed: bytes) -> None:
    with pytest.raises(ValueError, match="these are no packed words"):
        unpack_words(packed)
