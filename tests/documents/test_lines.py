"""Words and runs become lines."""

import pytest

from quoteweave.documents.sources.lines import TextRun, Word, count_letters, lines_of, with_bullets


def run(*words: tuple[str, float, float], y: float = 100, size: float = 10, bold: bool = False) -> TextRun:
    placed = tuple(Word(text, (left, y, right, y + size)) for text, left, right in words)
    return TextRun(placed, size, y + 0.8 * size, "Serif", bold, True)


def texts(*runs: TextRun) -> list[str]:
    return [line.text for line in lines_of(runs)]


def test_runs_on_one_baseline_join_and_a_columns_gap_parts_them() -> None:
    assert texts(run(("The", 0, 15)), run(("tide", 18, 35))) == ["The tide"]
    assert texts(run(("Left", 0, 20), ("right", 60, 80))) == ["Left", "right"]
    # 1.6 font sizes part columns: here 16 points.
    assert texts(run(("a", 0, 5)), run(("b", 20.9, 26))) == ["a b"]
    assert texts(run(("a", 0, 5)), run(("b", 21.1, 26))) == ["a", "b"]


def test_runs_on_different_baselines_stay_apart() -> None:
    assert texts(run(("one", 0, 15)), run(("two", 0, 15), y=112)) == ["one", "two"]


def test_right_to_left_text_goes_on_to_the_left_in_the_order_it_is_read() -> None:
    assert texts(run(("שלום", 60, 85)), run(("עולם", 30, 57))) == ["שלום עולם"]


def test_a_line_is_bold_and_as_large_as_most_of_its_letters() -> None:
    small_note = run(("1", 40, 43), size=6, y=98)
    (line,) = lines_of([run(("Introduction", 0, 38), bold=True), small_note])
    assert (line.bold, line.size, line.font) == (True, 10, "Serif")
    assert line.box == (0, 98, 43, 110)
    (line,) = lines_of([run(("a", 0, 5), bold=True), run(("longer", 8, 38))])
    assert not line.bold


@pytest.mark.parametrize(
    ("initial", "rest", "page", "text"),
    [
        ("T", "he", "", "The port"),
        ("“T", "he", "", "“The port"),
        ("L", "ARGE", "", "LARGE port"),
        ("A", "fter", "after", "After port"),
        ("A", "small,", "", "A small, port"),
        ("Z", "wodą", "wodą", "Z wodą port"),
        ("3", "ports", "", "3 ports port"),
    ],
)
def test_a_large_initial_that_is_sunk_into_its_paragraph_is_of_its_first_word(
    initial: str, rest: str, page: str, text: str
) -> None:
    large = run((initial, 50, 70), size=36)  # its baseline is 18.8 below
    lines = lines_of([large, run((rest, 72, 90), ("port", 93, 110)), run((page or "x", 50, 60), y=300)])
    assert lines[0].text == text
    assert (lines[0].box, lines[0].size) == ((50, 100, 110, 110), 10) or initial == "3"


def test_a_large_letter_on_the_line_or_before_a_raised_one_is_a_word() -> None:
    assert texts(run(("T", 50, 70), size=24, y=88.8), run(("he", 72, 90))) == ["T he"]
    assert texts(run(("T", 50, 62), size=14), run(("he", 63, 70), size=7)) == ["T he"]


def test_text_that_runs_up_the_page_joins_by_where_it_stands() -> None:
    up = [
        TextRun((Word(text, (50, top, 60, top + 30)),), 10, 200, "", False, False)
        for text, top in (("Axis", 160), ("label", 120))
    ]
    beside = TextRun((Word("other", (90, 120, 100, 150)),), 10, 200, "", False, False)
    lines = lines_of([*up, beside])
    assert [line.text for line in lines] == ["Axis label", "other"]
    assert not lines[0].upright


def test_text_that_runs_up_the_page_in_columns_is_split_at_them() -> None:
    words = tuple(
        Word(text, (x, y, x + 10, y + 30)) for text, x, y in (("Smoke", 50, 160), ("alarm", 50, 127), ("Lamp", 90, 160))
    )
    assert texts(TextRun(words, 10, 200, "", False, False)) == ["Smoke alarm", "Lamp"]  # heads of a table


def test_a_label_of_two_lines_that_runs_down_the_page_stays_one() -> None:
    words = (Word("Axis", (50, 100, 60, 130)), Word("(metres)", (37, 100, 47, 140)))
    assert texts(TextRun(words, 10, 200, "", False, False)) == ["Axis (metres)"]


def test_letters_are_counted_without_spaces() -> None:
    assert count_letters(lines_of([run(("The", 0, 15), ("tide", 18, 35))])) == 7
    assert count_letters([]) == 0


def listed(*texts: str, x: float = 0) -> list[str]:
    runs = [
        run(*((word, x + 20 * at, x + 18 + 20 * at) for at, word in enumerate(text.split(" "))), y=20 * row)
        for row, text in enumerate(texts)
    ]
    return [line.text for line in with_bullets(lines_of(runs))]


@pytest.mark.parametrize("sign", ["\x99", "\uf0a8", ">"])
def test_a_glyph_that_begins_several_lines_at_one_edge_is_a_bullet(sign: str) -> None:
    assert listed(f"{sign} Open the lid.", "and wait", f"{sign} Close it.") == [
        "• Open the lid.",
        "and wait",
        "• Close it.",
    ]


@pytest.mark.parametrize(
    "texts",
    [
        ["\uf095 Phone 5", "\uf0e0 Mail a"],
        ["> Open the lid.", "> x <- 5"],
        ["> Print, then", "> print it"],
        ["> Plot <- draw(x)", "> Plot two = 5"],
        ["✓ Yes it is", "✓ Yes it was"],
        ["Touch \uf095", "Hold \uf095"],
    ],
)
def test_other_signs_stay(texts: list[str]) -> None:
    assert listed(*texts) == texts


def test_an_arrow_within_a_path_that_a_picture_parts_stays() -> None:
    rows = [
        run(("Touch", 0, 30), y=100),
        run((">", 60, 65), ("Timer", 68, 90), ("alone", 92, 110), y=100),
        run((">", 60, 65), ("Audio", 68, 90), ("alone", 92, 110), y=120),
    ]
    assert with_bullets(lines_of(rows)) == lines_of(rows)
    assert [line.words[0].text for line in with_bullets(lines_of(rows[1:]))] == ["•", "•"]


def test_a_glyph_alone_is_a_bullet_before_text_and_none_behind_it() -> None:
    glyphs = [run(("\uf055", 100, 105), y=100), run(("\uf055", 100, 105), y=120)]
    before = [run(("Data", 60, 95), y=100), run(("Pages", 60, 95), y=120)]
    after = [run(("Data", 125, 150), y=100), run(("Pages", 125, 150), y=120)]
    behind, leading = lines_of([*before, *glyphs]), with_bullets(lines_of([*glyphs, *after]))
    assert with_bullets(behind) == behind
    assert [line.text for line in leading if line.box[0] < 105] == ["•", "•"]


def test_glyphs_at_different_edges_stay() -> None:
    lines = lines_of([run(("\uf095", 0, 9), ("a", 10, 15)), run(("\uf095", 40, 49), ("b", 50, 55), y=120)])
    assert with_bullets(lines) == lines
