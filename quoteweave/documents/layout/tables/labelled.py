"""Forms without rules: labels below each other, each with its value beside it ("Grade levels:", "11th, 12th")."""

from collections.abc import Iterator, Sequence
from statistics import median
from typing import NamedTuple

from quoteweave.core.boxes import hull
from quoteweave.documents.layout.blocks import NUMERIC, lines_to_rows
from quoteweave.documents.layout.tables.cells import Table
from quoteweave.documents.sources.lines import Line

# The least number of labels with a value that make a form, and the most words of a label.
MIN_LABELS = 3
MAX_LABEL_WORDS = 8
# How far, in points, the edges of labels, or of values, may differ; how far further lines of a value are indented.
ALIGNED = 4.0
MAX_INDENT = 20.0
# The largest space, in heights of a line, above a value's next line, and above the next label.
MAX_LEADING, MAX_SPACE = 0.8, 3.0
# The most lines of most values; the least of values that are also read by themselves, as text; the most of any value.
MAX_USUAL_LINES, MIN_TEXT_LINES, MAX_LINES = 2, 5, 20
_LABEL_ENDS = (":", "?")

_Entry = list[Line]
"""A label and the lines of its value."""


class Form(NamedTuple):
    """A table of labels and values, and those of its lines that are also read by themselves, value by value."""

    table: Table
    texts: tuple[tuple[Line, ...], ...]


def labelled_tables(lines: Sequence[Line]) -> list[Form]:
    """Tables of two columns: at least three labels below each other, with different words, most with short values.

    A label ends with ":" or "?". If a row without a label is directly above or below in the same two columns, they are
    rows of another table; and so they are if all values are numbers.
    """
    return [
        _form(entries)
        for entries in _forms(lines_to_rows([line for line in lines if line.upright]))
        if _is_form(entries)
    ]


def _forms(rows: Sequence[Sequence[Line]]) -> Iterator[list[_Entry]]:
    """Labels that follow each other, with their values, if no other row of their columns is directly above or below."""
    form: list[_Entry] = []
    is_part = False
    above: Sequence[Line] = ()
    for row in [*rows, ()]:
        if form and _continues_value(form[-1], row):
            form[-1] += row
        elif form and _is_entry(row) and _is_below(form[-1], row):
            form.append(list(row))
        else:
            if form and not is_part and not _is_below(form[-1], row):
                yield form
            form = [list(row)] if _is_entry(row) else []
            is_part = _is_below(above, row)
        above = row


def _is_entry(row: Sequence[Line]) -> bool:
    """Whether a row has a label and one line beside it."""
    return len(row) == 2 and row[0].text.endswith(_LABEL_ENDS) and len(row[0].words) <= MAX_LABEL_WORDS


def _is_below(upper: Sequence[Line], row: Sequence[Line]) -> bool:
    """Whether a row is below an entry or another row, in its two columns."""
    if len(upper) < 2 or len(row) < 2:
        return False
    space = min(line.box[1] for line in row) - max(line.box[3] for line in upper)
    are_beside = all(abs(line.box[0] - other.box[0]) < ALIGNED for line, other in zip(upper[:2], row[:2], strict=True))
    return are_beside and space < MAX_SPACE * upper[0].height


def _continues_value(entry: _Entry, row: Sequence[Line]) -> bool:
    """Whether a row is the next line of an entry's value."""
    if len(row) != 1:
        return False
    indent, space = row[0].box[0] - entry[1].box[0], row[0].box[1] - entry[-1].box[3]
    return -ALIGNED < indent < MAX_INDENT and space < MAX_LEADING * entry[1].height


def _is_form(form: Sequence[_Entry]) -> bool:
    if len(form) < MIN_LABELS or len({entry[0].text for entry in form}) < len(form):
        return False
    numbers = all(NUMERIC.fullmatch(word.text) for entry in form for word in entry[1].words)
    counts = [len(entry) - 1 for entry in form]
    return median(counts) <= MAX_USUAL_LINES and max(counts) <= MAX_LINES and not numbers


def _form(entries: Sequence[_Entry]) -> Form:
    lines = [line for entry in entries for line in entry]
    rows = tuple((entry[0].text, " ".join(line.text for line in entry[1:])) for entry in entries)
    texts = tuple(tuple(entry[1:]) for entry in entries if len(entry) > MIN_TEXT_LINES)
    return Form(Table(hull(line.box for line in lines), rows, tuple(lines)), texts)
