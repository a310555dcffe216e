"""Characters become words: what pdfium may answer, and no PDF can be made to say."""

import numpy as np
import pytest

from quoteweave.core.boxes import Box
from quoteweave.documents.sources.pdf_text.characters import Characters
from quoteweave.documents.sources.pdf_text.text_layer import placed_words

PAGE = (600.0, 800.0)


def words(text: str, *, boxes: dict[int, Box] | None = None) -> list[tuple[str, Box]]:
    """Letters 5 points wide from (50, 100), with other boxes by their place."""
    edges = np.array([(50 + 5 * i, 100, 55 + 5 * i, 110) for i in range(len(text))], dtype=np.float64).reshape(-1, 4)
    for i, box in (boxes or {}).items():
        edges[i] = box
    codes = np.array([ord(c) for c in text], dtype=np.int64)
    found = placed_words(Characters(codes, edges, np.arange(len(text))), PAGE)
    return [(placed.word.text, placed.word.box) for placed in found]


def test_words_are_parted_by_spaces_of_any_kind_and_by_line_ends() -> None:
    assert [text for text, _ in words("a bc\u00a0d\u2003e\u3000f\r\ng")] == ["a", "bc", "d", "e", "f", "g"]
    assert words("ab c") == [("ab", (50, 100, 60, 110)), ("c", (65, 100, 70, 110))]
    assert words("") == words("  \n") == []


def test_a_hyphen_at_a_lines_end_ends_its_word() -> None:
    assert [text for text, _ in words("har\x02bour co\u00adop")] == ["har-", "bour", "co-op"]
    assert [text for text, _ in words("har\u2010\nbour")] == ["har-", "bour"]  # as browsers write it


def test_letters_far_from_each_other_are_of_two_words_and_dots_of_one() -> None:
    turned: dict[int, Box] = {at: (50, 300 + 5 * at, 60, 305 + 5 * at) for at in range(1, 7)}
    assert [text for text, _ in words("7spring", boxes=turned)] == ["7", "spring"]
    dots: dict[int, Box] = {4: (70, 109, 71, 110), 5: (76, 109, 77, 110)}
    assert [text for text, _ in words("abc/..", boxes=dots)] == ["abc/.."]


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf")])
def test_a_letter_without_a_place_takes_no_part_in_its_words_box(odd: float) -> None:
    assert words("abc d", boxes={1: (odd, odd, odd, odd)})[0] == ("abc", (50, 100, 65, 110))
    assert words("abc d", boxes={4: (70, odd, 75, odd)}) == [("abc", (50, 100, 65, 110))]


def test_words_outside_the_page_are_dropped_and_boxes_cut_at_its_edge() -> None:
    boxes: dict[int, Box] = {0: (-1e9, -5, 1e9, 5), 2: (700, 100, 705, 110), 4: (-20, 100, -5, 110)}
    assert words("a b c d", boxes=boxes) == [("a", (0, 0, 600, 5)), ("d", (80, 100, 85, 110))]


def test_codes_beyond_unicode_are_replaced() -> None:
    codes = np.array([65, 0x110000, 2**31 - 1], dtype=np.int64)
    edges = np.tile([50.0, 100, 55, 110], (3, 1))
    (placed,) = placed_words(Characters(codes, edges, np.arange(3)), PAGE)
    assert placed.word.text == "A\ufffd\ufffd"


def test_a_run_of_letters_too_long_for_a_word_stays_as_it_is() -> None:
    text = "مَ" * 200  # letters and marks: of each mark the letter below it is looked for
    boxes: dict[int, Box] = {at: (50 + at, 100, 51 + at, 110) for at in range(len(text))}
    assert words(text, boxes=boxes)[0][0] == text


@pytest.mark.filterwarnings("error")
def test_letters_that_are_read_from_the_right_without_a_place_stay_as_they_are() -> None:
    infinite = float("inf")
    assert words("مكتبة", boxes={1: (infinite, infinite, infinite, infinite)})[0][0] == "مكتبة"


@pytest.mark.parametrize("word", ["مكتبة", "النخيل.", "ספרייה"])
def test_letters_that_are_read_from_the_right_are_in_this_order_in_either_order_of_the_text_layer(word: str) -> None:
    def placed(order: list[int]) -> str:
        boxes: dict[int, Box] = {at: (300 - 6 * place, 100, 305 - 6 * place, 110) for at, place in enumerate(order)}
        return words("".join(word[place] for place in order), boxes=boxes)[0][0]

    logical = list(range(len(word)))
    assert placed(logical) == word
    assert placed(logical[::-1]) == word
    assert placed([*logical[-2::-1], logical[-1]]) == word  # with its last character behind the others


def test_the_letters_of_a_ligature_of_lam_and_alef_are_in_this_order() -> None:
    box = (50.0, 100.0, 58.0, 110.0)
    assert words("\u0627\u0644", boxes={0: box, 1: box})[0][0] == "\u0644\u0627"  # as pdfium gives "no"
    assert words("\u0627\u0644", boxes={0: (56, 100, 60, 110), 1: (50, 100, 55, 110)})[0][0] == "\u0627\u0644"


def test_a_mark_stays_behind_the_letter_that_it_stands_over() -> None:
    # The letters of "بَتْ" from left to right, each mark before its letter.
    boxes: dict[int, Box] = {at: (left, 100, left + 5, 110) for at, left in enumerate((50, 50, 56, 56))}
    assert words("\u0652\u062a\u064e\u0628", boxes=boxes)[0][0] == "\u0628\u064e\u062a\u0652"


@pytest.mark.parametrize("word", ["abc", "12", "א12", "عx"])
def test_what_is_not_read_from_the_right_alone_keeps_its_order(word: str) -> None:
    assert words(word)[0][0] == word
