"""Names in the heads of tables that are above several columns, or were read as one line above several columns."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product, takewhile
from math import prod

from quoteweave.core.boxes import hull
from quoteweave.documents.layout.tables.cells import Row, is_data
from quoteweave.documents.layout.tables.columns import Column, columns_over, middle, places_in
from quoteweave.documents.sources.lines import Line

# The most rows of a head.
MAX_ROWS = 4
# The least space between two names in one line, in heights of the line, and in spaces between words of a name.
MIN_SPACE = 0.7
MIN_WIDER = 2.0
# How far, in points, the middle of a name may be from the middle of the columns below it.
MAX_OFF_MIDDLE = 2.0
# If there are more ways to assign a row of names to columns, they are uncertain.
MAX_WAYS = 1000

_Run = range
"""The columns, from 1, below a name; 0 for the names of the rows."""


def with_names_parted(rows: Sequence[Row], columns: Sequence[Column]) -> list[Row]:
    """The rows of a table, with a cell for each name above its numbers if several names were read as one line.

    Each of these is above a column of its own, and they are farther apart than the words of one name.
    """
    head = _rows_above_numbers(rows)
    return [*(_names_parted(row, columns) for row in head), *rows[len(head) :]]


def _rows_above_numbers(rows: Sequence[Row]) -> Sequence[Row]:
    return list(takewhile(lambda row: not is_data(row), rows))


def _names_parted(row: Row, columns: Sequence[Column]) -> Row:
    cells = [part for cell in row for part in _name_parts(cell)]
    places = places_in(cells, columns)
    is_sure = None not in places and len(set(places)) == len(places)
    return cells if is_sure and all(len(columns_over(cell, columns)) == 1 for cell in cells) else row


def _name_parts(cell: Line) -> list[Line]:
    """The parts of a line between which there is more space than within any of them."""
    spaces = [right.box[0] - left.box[2] for left, right in pairwise(cell.words)]
    wide_spaces = [space for space in spaces if space >= MIN_SPACE * cell.height]
    widest_other = max((space for space in spaces if space not in wide_spaces), default=0.0)
    if not wide_spaces or min(wide_spaces) < MIN_WIDER * widest_other:
        return [cell]
    starts = [0, *(at for at, space in enumerate(spaces, 1) if space in wide_spaces), len(cell.words)]
    parts = (cell.words[start:end] for start, end in pairwise(starts))
    return [replace(cell, words=words, box=hull(word.box for word in words)) for words in parts]


def names_with_spans(rows: Sequence[Row], columns: Sequence[Column]) -> tuple[int, tuple[str, ...]]:
    """How many rows of a head have names that span columns, and each column's names in all of them, the rows' first.

    Returns 0 and no names unless it is certain which columns each name spans: it is above their middle.
    """
    head = _rows_above_numbers(rows)
    if not 1 < len(head) <= MAX_ROWS or len(head) == len(rows):
        return 0, ()
    places = places_in(head[-1], columns)
    if None in places or len(set(places)) < len(places):
        return 0, ()
    lowest = {place: cell for place, cell in zip(places, head[-1], strict=True) if place}
    runs = [
        *(_runs_of(row, lowest, columns) for row in head[:-1]),
        [range(place or 0, (place or 0) + 1) for place in places],
    ]
    names = [list[str]() for _ in range(len(columns) + 1)]
    for row, row_runs in zip(head, runs, strict=True):
        for cell, run in zip(row, row_runs, strict=False):
            for at in run:
                names[at].append(cell.text)
    has_spans = any(len(run) > 1 for row_runs in runs for run in row_runs)
    return (len(head), tuple(map(" ".join, names))) if has_spans and all(runs) and all(names[1:]) else (0, ())


def _runs_of(row: Row, lowest: Mapping[int, Line], columns: Sequence[Column]) -> Sequence[_Run]:
    """The columns that each name of a row spans; none if that is uncertain.

    `lowest` are the names of columns in the last row of the head.
    """
    bounds = [
        (column.left, *lowest[at].box[::2], column.right) if at in lowest else (column.left, column.right)
        for at, column in enumerate(columns, 1)
    ]
    sides = [(min(bound), max(bound)) for bound in bounds]
    ways = [list(_ways(cell, sides, lowest)) for cell in row]
    if prod(map(len, ways)) > MAX_WAYS:
        return []
    fitting = [way for way in product(*ways) if all(left.stop <= right.start for left, right in pairwise(way))]
    if len(fitting) > 1:
        names = [lowest[at].text if at in lowest else "" for at in range(1, len(columns) + 1)]
        fitting = [way for way in fitting if _are_groups([run for run in way if run.start], names)]
    return fitting[0] if len(fitting) == 1 else []


def _ways(cell: Line, sides: Sequence[tuple[float, float]], lowest: Mapping[int, Line]) -> Iterator[_Run]:
    """The runs of columns that a name may span."""
    over = [at for at, (left, right) in enumerate(sides, 1) if cell.box[0] < right and left < cell.box[2]]
    if cell.box[2] <= sides[0][0]:
        yield range(1)
    elif len(over) == 1 and over[0] not in lowest:
        yield range(over[0], over[0] + 1)
    else:
        for first in range(1, len(sides) + 1):
            for last in range(first, len(sides) + 1):
                off_middle = abs(middle(cell) - (sides[first - 1][0] + sides[last - 1][1]) / 2)
                run = range(first, last + 1)
                is_named = first == last or all(at in lowest for at in run)
                if off_middle <= MAX_OFF_MIDDLE and is_named and all(at in run for at in over):
                    yield run


def _are_groups(runs: Sequence[_Run], names: Sequence[str]) -> bool:
    """Whether the runs have equal lengths and together all columns, with the same names of columns in each."""
    groups = [names[run.start - 1 : run.stop - 1] for run in runs]
    return len(groups) > 1 and sum(map(len, groups)) == len(names) and all(group == groups[0] for group in groups)
