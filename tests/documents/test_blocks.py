"""Lines become blocks."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_pages import line, paragraph, prose

from quoteweave.documents.layout.blocks import block_of, group_lines, lines_to_rows, text_by_rows
from quoteweave.documents.sources.lines import Line


def texts(lines: list[Line]) -> list[str]:
    return [block.text for block in sorted(group_lines(lines), key=lambda block: (block.box[0] > 300, block.box[1]))]


def test_lines_under_each_other_are_one_block_and_a_wider_gap_parts_two() -> None:
    assert texts([*paragraph(["one two", "three four"], 50, 100), *paragraph(["five six", "seven"], 50, 140)]) == [
        "one two three four",
        "five six seven",
    ]


def test_columns_stay_apart() -> None:
    left, right = prose(50, 100), prose(320, 100)
    blocks = group_lines([row for pair in zip(left, right, strict=True) for row in pair])
    assert sorted(block.box[0] for block in blocks) == [50, 320]


@pytest.mark.parametrize("length", [4, 5, 9])
def test_lines_beside_a_large_initial_are_of_its_paragraph(length: int) -> None:
    rows = paragraph(["word " * 12] * length, 50, 100)
    first = replace(rows[0], beside_initial=rows[2].baseline)
    beside = [line("word " * 12, 80, row.box[1]) for row in rows[1:3]]
    (block,) = group_lines([first, *beside, *rows[3:]])
    assert len(block.lines) == length


def test_a_title_is_no_part_of_the_paragraph_below() -> None:
    title = line("Dredging", 50, 80, size=16)
    bold = line("Spring", 50, 170, bold=True)
    assert texts([title, *paragraph(["the quay", "was moved"], 50, 100), bold, *paragraph(["and so on"], 50, 182)]) == [
        "Dredging",
        "the quay was moved",
        "Spring",
        "and so on",
    ]


def test_a_caption_right_below_a_paragraph_is_no_part_of_it() -> None:
    full = "the harbour was dredged again in early"
    below = [line(f"{full} spring.", 50, 100), line("Table 1. Ships by month", 90, 122)]
    assert texts(below) == [f"{full} spring.", "Table 1. Ships by month"]
    within = [line(f"{full} spring, as we show in", 50, 100), line("Table 1. The quay was moved.", 50, 112)]
    assert len(texts(within)) == 1
    sentence = [line(f"{full} spring and summer.", 50, 100), line("Table 1 shows the ships of all months.", 50, 112)]
    assert len(texts(sentence)) == 1


def test_a_paragraph_starts_at_an_indent_and_after_a_short_last_line() -> None:
    wide = "the harbour was dredged again in early spring"
    indented = [line(wide, 50, 100), line(wide, 50, 112), line(wide, 65, 124), line(wide, 50, 136)]
    assert [len(block.lines) for block in group_lines(indented)] == [2, 2]
    ended = [line(wide, 50, 100), line("in spring.", 50, 112), line(wide, 50, 124), line(wide, 50, 136)]
    assert [len(block.lines) for block in group_lines(ended)] == [2, 2]


def test_items_of_a_list_are_blocks_and_keep_their_hanging_lines() -> None:
    rows = [line("• the ferry leaves", 50, 100), line("at noon", 62, 112), line("• the crane stays", 50, 124)]
    assert texts(rows) == ["• the ferry leaves at noon", "• the crane stays"]


def test_a_bullet_set_apart_by_a_tab_is_one_line_with_its_text() -> None:
    assert texts(
        [line("1.", 50, 100), line("first of all", 80, 100), line("2.", 50, 112), line("second", 80, 112)]
    ) == [
        "1. first of all",
        "2. second",
    ]


def test_a_number_behind_a_number_is_in_one_line_only() -> None:
    assert sorted(" ".join(texts([line("1.", 50, 100), line("2.", 62, 100), line("tide", 74, 100)])).split()) == [
        "1.",
        "2.",
        "tide",
    ]


def test_the_number_of_an_equation_does_not_lead_the_text_of_the_next_column() -> None:
    left = [*paragraph(["the harbour was dredged again in early spring"] * 2, 50, 100), line("d = a + b", 70, 130)]
    left += [line("(1)", 230, 130), *paragraph(["the harbour was dredged again in early spring"] * 2, 50, 150)]
    blocks = group_lines([*left, *prose(275, 106)])
    assert "(1)" in [block.text for block in blocks]
    assert [len(block.lines) for block in blocks if block.box[0] == 275] == [5]


def test_references_start_where_they_stand_out_to_the_left() -> None:
    wide = "a b c d e f g h i j k l m n o p q r s t"
    rows = [line(wide, 50 if i % 3 == 0 else 70, 100 + 12 * i) for i in range(9)]
    assert [len(block.lines) for block in group_lines(rows)] == [3, 3, 3]


def test_paragraphs_below_a_long_list_are_no_references() -> None:
    items = [line(f"• item {i} of a list that", 67, 100 + 24 * i) for i in range(6)]
    rest = [line("goes on below its first line", 75, 112 + 24 * i) for i in range(6)]
    full = "the quay was moved to the north and the cranes were moved with"
    paragraph_lines = [line(full, 65, 253), *(line(f"{full} it", 50, 265 + 12 * i) for i in range(5))]
    blocks = texts([*items, *rest, *paragraph_lines])
    assert blocks[-1] == " ".join([full, *[f"{full} it"] * 5])


def test_references_of_one_line_are_entries_of_their_own() -> None:
    full = "a title that is long enough to reach the right margin of the"
    rows = [
        (50, f"Adams {full} page."),
        (50, f"Baker {full} page."),
        (50, f"Clark {full} page"),
        (70, "and goes on"),
        (70, "to its end."),
        (70, "In 2020."),
        (50, f"Davis {full} page."),
        (50, f"Evans {full} page"),
        (70, "and goes on"),
        (70, "once more."),
    ]
    found = texts([line(words, x, 100 + 12 * i) for i, (x, words) in enumerate(rows)])
    assert [entry.partition(" ")[0] for entry in found] == ["Adams", "Baker", "Clark", "Davis", "Evans"]


@pytest.mark.parametrize("word", ["people.", "steady,", "well-known"])
def test_a_paragraph_above_an_indented_list_is_one_block(word: str) -> None:
    """Lines of fewer than half stand at the left, as first lines of references do."""
    full = "the quay was moved to the north and the cranes were moved with 240"
    above = [line(full, 50, 100), line(f"{word} in spring", 50, 112), line("The crew of each crane must", 50, 134)]
    items = [line(f"{number}. check it.", 67, 144 + 12 * number) for number in range(1, 5)]
    assert texts([*above, *items])[:2] == [f"{full} {word} in spring", "The crew of each crane must"]


@pytest.mark.parametrize("name", ["Ives,", "Иванов,", "Žižek,", "Łukasz"])
def test_a_full_line_of_references_is_not_joined_with_the_next_name(name: str) -> None:
    full = "Reed, A. The quays of the northern harbours and their cranes in 240"
    entries = [line(full, 50, 100), line("years", 67, 112), line(full, 50, 124), line(f"{name} B. Cranes", 50, 136)]
    entries += [line("of the harbour", 67, 148), line("and more", 67, 160), line("of them", 67, 172)]
    assert any(text.startswith(name) for text in texts(entries))


def test_lines_of_code_above_indented_ones_are_no_paragraph() -> None:
    full = "dict(type='Dredge', quay='north', crane='at the end of the pier', tide=0.1),"
    rows = [
        line(full, 50, 100),
        line("dict(name=quay,", 50, 112),
        *(line(f"key{i}=100000,", 70, 124 + 12 * i) for i in range(4)),
    ]
    assert texts(rows)[0] == full


def test_hyphenated_words_are_put_together_and_compounds_kept() -> None:
    block = block_of(paragraph(["the (har-", "bour) is well-", "Known - or", "un-", "known"], 0, 0))
    assert block.text == "the (harbour) is well- Known - or unknown"
    assert block.broken_words == (("har", "bour"), ("un", "known"))
    assert block_of(paragraph(["abc-", "ⓐ def"], 0, 0)).broken_words == ()


def test_what_a_block_says_of_its_lines() -> None:
    block = block_of([line("a", 0, 0, bold=True), line("b", 0, 12, size=14), line("c", 0, 30)])
    assert (block.size, block.bold, block.prose) == (10, False, False)
    assert block_of(prose(0, 0)).prose


def test_a_line_between_two_others_parts_them() -> None:
    rows = [line("upper text here", 50, 100), line("lower text here", 50, 118), line("small", 55, 109.5, size=6)]
    assert len(group_lines(rows)) == 3


def test_rows_go_from_top_to_bottom_and_left_to_right() -> None:
    rows = [line("d", 0, 30), line("b", 50, 2), line("c", 90, 1), line("a", 0, 0)]
    assert [[each.text for each in row] for row in lines_to_rows(rows)] == [["a", "b", "c"], ["d"]]
    assert text_by_rows(rows) == "a b c\nd"
    assert lines_to_rows([]) == []


words = st.sampled_from(["tide", "1.", "•", "harbour wall", "see Figure 2", "the quay was moved again this spring"])
placed = st.builds(
    line,
    words,
    st.floats(0, 550),
    st.floats(0, 780),
    size=st.sampled_from([6.0, 10.0, 18.0]),
    bold=st.booleans(),
    upright=st.booleans(),
)


@given(st.lists(placed, max_size=60))
def test_every_word_is_in_exactly_one_block_and_lines_run_downwards(lines: list[Line]) -> None:
    blocks = group_lines(lines)
    found = [word for block in blocks for each in block.lines for word in each.words]
    assert sorted(map(repr, found)) == sorted(repr(word) for each in lines for word in each.words)
    for block in blocks:
        baselines = [each.baseline for each in block.lines]
        assert baselines == sorted(baselines)


@given(st.lists(placed, max_size=60))
def test_every_line_is_in_exactly_one_row(lines: list[Line]) -> None:
    assert sorted(id(each) for row in lines_to_rows(lines) for each in row) == sorted(map(id, lines))


@pytest.mark.parametrize("make", [lambda i: line("a", 5 + i % 500, 400), lambda i: line("•", 5, i / 10)])
def test_thousands_of_lines_in_one_place_are_grouped(make: Callable[[int], Line]) -> None:
    lines = [make(i) for i in range(4000)]
    assert sum(len(each.words) for block in group_lines(lines) for each in block.lines) == len(lines)


def test_a_line_that_stands_right_under_another_is_not_indented() -> None:
    """OCR draws boxes of unequal height, and a hanging quotation mark moves the left edge of all lines but its own."""
    rows = ["the harbour was dredged", "again in early spring,", "and the quay was moved", "to the north of it, where"]
    lefts, sizes = (42, 56, 57, 60), (20, 20, 20, 17)
    lines = [
        line(row, x, 100 + 24 * i, size=size) for i, (row, x, size) in enumerate(zip(rows, lefts, sizes, strict=True))
    ]
    assert len(texts(lines)) == 1
