"""Labels that hang beside their texts are read with them."""

from dataclasses import replace

import pytest
from made_pages import line, paragraph

from quoteweave.documents.layout.blocks import group_lines
from quoteweave.documents.layout.reading_order import join_labels
from quoteweave.documents.sources.lines import Line, translated

OPTIONS = {
    "-v": ["Print the lines of the program as they are read."],
    "-x": ["Print a trace of simple commands and of their", "arguments before they are executed."],
    "-B": ["The shell performs the expansion of braces."],
}


def page(entries: dict[str, list[str]], *, bold: bool = False, indent: float = 60) -> list[Line]:
    """The labels, and beside each its text, whose first line is on the same level."""
    lines, y = list[Line](), 100.0
    for label, text in entries.items():
        lines += [line(label, 50, y, bold=bold), *paragraph(text, 50 + indent, y)]
        y = lines[-1].box[3] + 9
    return lines


def texts(lines: list[Line]) -> list[str]:
    return sorted((block.text for block in group_lines(join_labels(lines))), key=str.casefold)


def test_each_option_is_read_with_what_it_does() -> None:
    assert texts(page(OPTIONS)) == sorted(
        (f"{name} {' '.join(text)}" for name, text in OPTIONS.items()), key=str.casefold
    )


def test_lists_of_labels_may_be_as_many_as_there_is_room_for() -> None:
    lists = [[translated(one, 5 * at, 150 * at) for one in page(OPTIONS, indent=60)] for at in range(15)]
    assert len(texts([one for lines in lists for one in lines])) == 15 * len(OPTIONS)


def test_what_goes_on_below_stays_a_paragraph_of_its_own() -> None:
    lines = page(OPTIONS)
    further = paragraph(["More is told of braces further below."], 110, lines[-1].box[3] + 14)
    assert further[0].text in texts([*lines, *further])


def test_letters_that_begin_a_point_apart_have_one_edge() -> None:
    """As "9:00" and "10:00" do, whichever points these are."""
    rows = ["Print what is left of it", "all."]
    at = [(50.4 + 0.6 * i, 36.0 * i) for i in range(3)]
    lines = [one for x, y in at for one in (line("10:00", x, y), *paragraph(rows, 150, y))]
    assert texts(lines) == ["10:00 Print what is left of it all."] * 3


def test_a_text_with_a_label_may_have_several_paragraphs() -> None:
    said = ["Nobody expected that the work would be over by", "then."]
    speakers = {name: [*said, "Boats had come back from the north on that day.", "So it was."] for name in "ABC"}
    assert texts(page(speakers)).count("Boats had come back from the north on that day. So it was.") == 3


def test_the_second_line_of_a_label_is_no_label() -> None:
    text = ["The harbour was dredged again in early", "spring and the council paid for the whole new quay", "then."]
    pairs = [(["On dredging", "in spring"], 100), (["Of storms", "in winter"], 150), (["Costs", "of ships"], 200)]
    lines = [one for label, y in pairs for one in (*paragraph(label, 50, y), *paragraph(text, 130, y))]
    assert join_labels(lines) == lines


def test_a_long_label_begins_an_entry_too() -> None:
    """The space behind it is no wider than between words, so that it is in one line with its text."""
    lines = page(OPTIONS)
    long = line("--posix-mode Change what differs.", 50, lines[-1].box[3] + 9)
    assert long.text in texts([*lines, long])


@pytest.mark.parametrize(
    "lines",
    [
        page(dict(list(OPTIONS.items())[:2])),
        page(OPTIONS, bold=True),
        page({"Monday is the day": ["wash up"], "Tuesday is also": ["iron"], "Friday": ["mend"]}, indent=120),
        [replace(one, upright=False) for one in page(OPTIONS)],
    ],
    ids=["two labels", "titles", "cells", "up the page"],
)
def test_what_is_no_list_of_labels_stays_as_it_is(lines: list[Line]) -> None:
    assert join_labels(lines) == lines


@pytest.mark.parametrize(
    "rows", [["the witness said that the quay was dry"] * 6, ["let x be 1", "print x and end it"] * 3]
)
def test_lines_that_are_numbered_in_the_margin_are_one_paragraph(rows: list[str]) -> None:
    lines = paragraph(rows, 80, 100)
    numbered = [*lines, *(line(str(number), 50, one.box[1]) for number, one in enumerate(lines, 21))]
    assert max(len(block.lines) for block in group_lines(join_labels(numbered))) == len(rows)
