"""Paragraphs, bullets, bold and marks of an answer's text."""

from builders import make_context
from example_answers import make_answer, make_quote
from hypothesis import given
from hypothesis import strategies as st

from quoteweave.core.answers import Context
from quoteweave.pipeline.answer_page.markup import Passage, Run, passages


def context() -> Context:
    texts = [make_quote("a.pdf:0", "words", (0, top, 10, top + 10)) for top in (0, 20, 40)]
    return make_context(*texts, make_quote("a.pdf:0", "bars", (0, 60, 10, 70), "chart"))


def read(text: str) -> list[Passage]:
    return passages(make_answer("?", text, context()))


def plain(passage: Passage) -> list[str]:
    cells = [cell for row in passage.rows for cell in row]
    return ["".join(run.text for run in line) for line in (*passage.lines, *cells)]


def test_blank_lines_part_paragraphs_and_single_line_ends_stay_within_one() -> None:
    first, second = read("One\ntwo.\n  \n\nThree.")
    assert plain(first) == ["One", "two."]
    assert plain(second) == ["Three."]
    assert not first.bulleted


def test_bullets_of_one_list_stay_together_over_blank_lines() -> None:
    before, bullets, after = read("Two things:\n- one\n\n* two\n• three\nAfter.")
    assert (plain(before), bullets.bulleted, after.bulleted) == (["Two things:"], True, False)
    assert plain(bullets) == ["one", "two", "three"]


def test_bold_is_read_and_all_other_markup_is_literal() -> None:
    (passage,) = read("# A **b c** _d_ ** e ** <i>f</i> [g](http://h) -i 2*3**4")
    bold = [run.text for run in passage.lines[0] if run.bold]
    assert bold == ["b c"]
    assert plain(passage) == ["# A b c _d_ ** e ** <i>f</i> [g](http://h) -i 2*3**4"]


def test_a_mark_stands_in_its_place_even_within_bold() -> None:
    (passage,) = read("Up **by far [2]**.")
    assert [(run.text, run.bold, run.is_mark) for run in passage.lines[0]] == [
        ("Up ", False, False),
        ("by far\u00a0", True, False),
        ("[2]", True, True),
        (".", False, False),
    ]


def test_a_mark_of_several_numbers_keeps_those_that_name_nothing() -> None:
    (passage,) = read("Said [1, 9, 3].")
    mark = passage.lines[0][1]
    assert [citation.number for citation in mark.citations] == [1, 3]
    assert [left.number for left in mark.unresolved] == [9]


def test_an_image_alone_on_its_line_becomes_a_figure_without_a_paragraph() -> None:
    before, figure, after = read("Before.\n\n![rising **bars**\n\n- here](image1).\n\nAfter.")
    assert figure.lines == ()
    assert [block.summary for block in figure.figures] == ["rising **bars**\n\n- here"]
    assert (before.figures, after.figures) == ((), ())


def test_an_image_within_a_sentence_keeps_its_mark_and_its_figure_follows() -> None:
    (passage,) = read("As ![bars](image1) shows, it rose [1].")
    assert [run.text for run in passage.lines[0] if run.is_mark] == ["![bars](image1)", "[1]"]
    assert len(passage.figures) == 1


def test_an_image_behind_a_sentence_is_one_citation_with_its_figure() -> None:
    (passage,) = read("It rose [1]. ![bars](image1)")
    assert [run.text for run in passage.lines[0] if run.is_mark] == ["[1]"]
    assert len(passage.figures) == 1


def test_the_figure_of_a_bullet_follows_it_and_not_the_list() -> None:
    first, second = read("- One. ![bars](image1)\n- Two [1].\n- Three.")
    assert ([len(first.lines), len(first.figures)], [len(second.lines), len(second.figures)]) == ([1, 1], [2, 0])


def said(cell: tuple[Run, ...]) -> str:
    return "".join(run.text for run in cell)


def test_a_markdown_table_is_a_table() -> None:
    before, table, after = read(
        "So:\n\n| Group | 2022 |\n|:---|---:|\n| **Grain** | 512 [1] |\n| Coal |  |\n\nThat is all."
    )
    assert [[said(cell) for cell in row] for row in table.rows] == [
        ["Group", "2022"],
        ["Grain", "512\u00a0[1]"],
        ["Coal", ""],
    ]
    assert table.rows[1][0][0].bold
    assert [run.is_mark for run in table.rows[1][1]] == [False, True]
    assert (table.lines, before.rows, after.rows) == ((), (), ())


def test_bars_without_a_rule_are_no_table() -> None:
    (passage,) = read("| a | b |\n| c | d |")
    assert (passage.rows, len(passage.lines)) == ((), 2)


pieces = st.sampled_from(
    [
        "word",
        " ",
        "\n",
        "\n\n",
        "- ",
        "| ",
        "|word|\n|-|\n|",
        "**",
        "[1]",
        "[2, 3]",
        "[8]",
        "![s **t\n](image1)",
        "![](image4)",
        "*",
        "é漢",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join))
def test_no_word_and_no_mark_is_lost_or_told_twice(text: str) -> None:
    answer = make_answer("?", text, context())
    read_passages = passages(answer)
    lines = [line for part in read_passages for line in (*part.lines, *(cell for row in part.rows for cell in row))]
    told = [citation for line in lines for run in line for citation in run.citations]
    shown = [block.citation for part in read_passages for block in part.figures]
    assert [c for c in answer.citations if c.kind == "text"] == [c for c in told if c.kind == "text"]
    assert shown == [c for c in answer.citations if c.kind == "image"]
    words = "".join("".join(plain(part)) for part in read_passages)
    assert words.count("word") == text.count("word")
    assert words.count("漢") == text.count("漢")


def test_code_between_fences_keeps_its_lines_and_is_no_other_markup() -> None:
    before, code, after = read("Run [1]:\n\n```\n- a **b**\n\n  [2] | c\n```\n[2]\n\n")
    assert plain(before) == ["Run\u00a0[1]:"]
    assert (code.code, code.lines) == ("- a **b**\n\n  [2] | c", ())
    assert plain(after) == ["[2]"]
    assert after.lines[0][0].citations


def test_a_fence_that_is_never_closed_ends_with_the_text() -> None:
    (code,) = read("```\nrun\n\nagain")
    assert code.code == "run\n\nagain"
