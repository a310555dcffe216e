"""Labels under each other with their values beside them are a table; other lines beside each other are none."""

from collections.abc import Sequence

import pytest
from made_pages import A4, canvas, line, picture, prose

from quoteweave.documents.layout.analyse import analyse_layout
from quoteweave.documents.layout.blocks import LineBlock
from quoteweave.documents.layout.tables.cells import Table
from quoteweave.documents.layout.tables.labelled import labelled_tables
from quoteweave.documents.sources.lines import Line

FORM = [
    ("Title:", "Tides of the sound"),
    ("Needed before:", "Harbours, or what the office takes for"),
    ("", "as much, and a boat"),
    ("Articulated?", "No; but taught by a master of ships"),
    ("Grade levels:", "11th, 12th"),
]
ROWS = (
    ("Title:", "Tides of the sound"),
    ("Needed before:", "Harbours, or what the office takes for as much, and a boat"),
    ("Articulated?", "No; but taught by a master of ships"),
    ("Grade levels:", "11th, 12th"),
)


def lines(rows: Sequence[tuple[str, ...]], xs: Sequence[float] = (50, 220, 420)) -> list[Line]:
    return [
        line(text, x, 100 + 14 * at) for at, row in enumerate(rows) for x, text in zip(xs, row, strict=False) if text
    ]


def test_labels_with_their_values_beside_them_are_a_table() -> None:
    above, below = line("The course", 50, 80, bold=True), line("It is held in spring.", 50, 180)
    (form,) = labelled_tables([above, *lines(FORM), below])
    assert form.table.rows == ROWS
    assert form.texts == ()
    found = analyse_layout([*lines(FORM), *prose(50, 300)], picture(canvas()), A4).elements
    assert [one.rows for one in found if isinstance(one, Table)] == [ROWS]


@pytest.mark.parametrize(
    "rows",
    [
        FORM[3:],
        [("Title:", "Tides"), ("Title:", "Harbours"), ("Title:", "Boats")],
        [("Net sales:", "1,204"), ("Assets:", "988"), ("Debts:", "12")],
        [("Net sales:", "good", "bad"), ("Assets:", "bad", "good"), ("Debts:", "few", "none")],
        [("They said:", "in the town"), ("it was late", "there were"), ("and so on:", "piers"), ("or not?", "or two")],
        [("Holm", "deep"), ("Rowe:", "two fathoms"), ("Bay:", "deep"), ("Sound:", "deeper")],
        [("Rowe:", "two fathoms"), ("Bay:", "deep"), ("Sound:", "deeper"), ("Holm", "deep")],
        [
            row
            for name in ("Ada:", "Ben:", "Cy:")
            for row in ((name, "it was late when"), ("", "the ferry came"), ("", "to the pier"))
        ],
    ],
)
def test_other_lines_beside_each_other_are_none(rows: list[tuple[str, ...]]) -> None:
    assert labelled_tables(lines(rows)) == []


def test_what_stands_above_a_form_is_parted_as_with_it() -> None:
    above = [line("Harbour school", 50, 56), line("What it has", 50, 78)]
    layout = analyse_layout([*above, *lines([*ROWS, ("Needs:", "a boat")])], picture(canvas()), A4)
    assert [one.text for one in layout.elements if isinstance(one, LineBlock)] == ["Harbour school", "What it has"]


def test_a_long_value_is_also_read_by_itself() -> None:
    long = [("Taught with?", "It is taught with"), *(("", "the town and the port") for _ in range(4))]
    said = "It is taught with" + 4 * " the town and the port"
    elements = analyse_layout(lines([*FORM, *long, ("Needs:", "a boat")]), picture(canvas()), A4).elements
    assert [one.rows for one in elements if isinstance(one, Table)] == [
        (*ROWS, ("Taught with?", said), ("Needs:", "a boat"))
    ]
    assert [one.text for one in elements if isinstance(one, LineBlock)] == [said]


def test_labels_far_apart_or_at_other_edges_are_none() -> None:
    assert labelled_tables([*lines(FORM[:1]), *[line(text, x, 300) for text, x in (("A:", 50), ("b c", 220))]]) == []
    ragged = [line(label, 50 + 9 * at, 100 + 14 * at) for at, (label, _) in enumerate(ROWS)]
    assert labelled_tables([*ragged, *(one for one in lines(ROWS) if one.box[0] > 200)]) == []
