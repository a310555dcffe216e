"""Where the characters of a quote stand on its page."""

from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.boxes import Box
from quoteweave.core.records import PageWord
from quoteweave.core.text.word_alignment import WordAlignment

COLUMN = (0.0, 0.0, 100.0, 200.0)


def page(*lines: str, left: float = 0, top: float = 0, first: int = 0, ocr: bool = False) -> list[PageWord]:
    """Words of lines 10 points high, each letter 5 points wide, with a blank of one between words."""
    words = []
    for number, line in enumerate(lines):
        at = left
        for word in line.split():
            y = top + 12 * number
            words.append(PageWord(word, (at, y, at + 5 * len(word), y + 10), first + number, ocr))
            at += 5 * (len(word) + 1)
    return words


def boxes(text: str, said: str, words: list[PageWord], bbox: Box = COLUMN) -> list[Box]:
    start = text.index(said)
    return list(WordAlignment(text, bbox, words).boxes(start, start + len(said)))


def test_a_box_for_each_line() -> None:
    words = page("The port had", "nine pilots.")
    assert boxes("The port had nine pilots.", "port had nine", words) == [(20, 0, 60, 10), (0, 12, 20, 22)]


def test_a_word_that_a_hyphen_parts_has_a_box_on_both_lines() -> None:
    words = page("of navi-", "gation now")
    assert boxes("of navigation now", "navigation", words) == [(15, 0, 40, 10), (0, 12, 30, 22)]
    assert boxes("of navigation now", "now", words) == [(35, 12, 50, 22)]


def test_words_of_another_column_are_not_taken() -> None:
    words = [*page("nine pilots"), *page("nine sailors", left=300, first=1)]
    assert boxes("nine sailors", "nine", words, (295, 0, 400, 20)) == [(300, 0, 320, 10)]


def test_evidence_that_runs_over_columns_is_boxed_in_each() -> None:
    words = [*page("dues rose", top=180), *page("by half", left=60, first=1)]
    assert boxes("dues rose by half", "rose by half", words) == [(25, 180, 45, 190), (60, 0, 95, 10)]


def test_cells_of_a_row_that_stand_apart_are_boxed_apart() -> None:
    words = [*page("Grain"), PageWord("512", (80, 0, 95, 10), 0)]
    assert boxes("Grain | 512", "Grain | 512", words) == [(0, 0, 25, 10), (80, 0, 95, 10)]


def test_the_same_words_twice_are_told_apart_by_what_stands_around() -> None:
    words = page("dues of grain", "dues of coal")
    assert boxes("dues of grain dues of coal", "dues of coal", words) == [(0, 12, 60, 22)]


def test_ligatures_accents_and_case_do_not_matter() -> None:
    assert boxes("office Zürich", "office Zürich", page("oﬃce ZÜRICH")) == [(0, 0, 55, 10)]


def test_what_is_not_on_the_page_has_no_boxes() -> None:
    words = page("other words here")
    assert boxes("nine pilots", "nine pilots", words) == []
    assert boxes("nine pilots", "nine pilots", []) == []
    # Less than four fifths of it is there.
    assert boxes("other words now", "other words now", words) == []


def test_rotated_words_have_the_boxes_that_they_have() -> None:
    words = [PageWord("up", (10, 90, 20, 100), 0), PageWord("wards", (10, 60, 20, 87), 0)]
    assert boxes("up wards", "up wards", words) == [(10, 60, 20, 100)]


def test_words_that_ocr_placed_are_estimates() -> None:
    assert WordAlignment("nine", COLUMN, page("nine", ocr=True)).estimated()
    assert not WordAlignment("nine", COLUMN, page("nine")).estimated()


@given(st.lists(st.text("abc-1 ", min_size=1, max_size=8), max_size=8), st.text("abc1 \n-", max_size=40))
def test_any_text_gives_boxes_of_the_page_s_words(lines: list[str], text: str) -> None:
    words = page(*lines)
    found = WordAlignment(text, COLUMN, words).boxes(0, len(text))
    edges = {edge for word in words for edge in word.bbox}
    assert all(edge in edges for box in found for edge in box)


def test_ever_the_same_words_are_given_up_in_little_time() -> None:
    words = page(" ".join(["0"] * 3000))
    assert boxes("0 1 " * 1500, "0 1", words) == []


def test_characters_of_scripts_without_spaces_stand_each_by_itself() -> None:
    words = [PageWord("港口的位置", (0, 0, 50, 10), 0), PageWord("很好", (0, 12, 20, 22), 1)]
    assert boxes("港口的位置很好", "港口", words) == [(0, 0, 50, 10)]


def from_the_right(*lines: str, right: float = 100) -> list[PageWord]:
    """As `page`, for a script that is written from right to left: each line begins at the right."""
    return [
        PageWord(word.text, (right - word.bbox[2], word.bbox[1], right - word.bbox[0], word.bbox[3]), word.line)
        for word in page(*lines)
    ]


def test_lines_from_right_to_left_are_boxed_where_they_stand() -> None:
    words = from_the_right("בנמל יש תשעה", "נתבים בלבד.")
    text = "בנמל יש תשעה נתבים בלבד."
    assert boxes(text, "יש תשעה נתבים", words) == [(40, 0, 75, 10), (75, 12, 100, 22)]
    arabic = from_the_right("في الميناء تسعة", "مرشدين فقط.")
    assert boxes("في الميناء تسعة مرشدين فقط.", "تسعة مرشدين", arabic) == [(25, 0, 45, 10), (70, 12, 100, 22)]


def test_a_number_within_a_line_from_right_to_left_has_its_box() -> None:
    words = from_the_right("נמכרו 1,204 טונות")
    assert boxes("נמכרו 1,204 טונות", "1,204", words) == [(45, 0, 70, 10)]
