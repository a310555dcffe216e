"""Splits tables side by side in one frame, whose rows are at different heights."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from quoteweave.documents.layout.tables.cells import Table, cells_of, is_data, is_number, rows_of_cells, top_of
from quoteweave.documents.sources.lines import Line

# The least width of the space between two tables, in heights of a line.
MIN_GUTTER = 2.0
# The least number of rows of names and numbers that each of them has.
MIN_ROWS = 3
# The largest share of these rows that may be beside a line of the other table, and the least share of the height that
# such lines have in common.
MAX_BESIDE = 0.34
MIN_SHARED = 0.5


def split_at_gutters(tables: Iterable[Table]) -> Iterator[Table]:
    """The tables, each split where a wide empty space runs from its top to its bottom between two tables.

    Both have names beside their numbers, and most rows of each are beside no line of the other. A table with ruled
    cells is left unchanged.
    """
    for table in tables:
        yield from [table] if table.has_grid else _split_at_gutter(table)


def _split_at_gutter(table: Table) -> list[Table]:
    lines = sorted(table.lines, key=lambda line: line.box[0])
    place = _gutter(lines)
    if place is None:
        return [table]
    left, top, right, bottom = table.box
    middle = (max(line.box[2] for line in lines[:place]) + lines[place].box[0]) / 2
    parts = list[Table]()
    for start, end in ((left, middle), (middle, right)):
        part_lines = tuple(line for line in table.lines if start <= (line.box[0] + line.box[2]) / 2 <= end)
        parts += _split_at_gutter(Table((start, top, end, bottom), cells_of(part_lines), part_lines))
    return parts


def _gutter(lines: Sequence[Line]) -> int | None:
    """The first of the lines, from left to right, that is right of a space between two tables, or None."""
    reach = 0.0
    for place, line in enumerate(lines):
        if place and line.box[0] - reach >= MIN_GUTTER * line.height and _are_two(lines[:place], lines[place:]):
            return place
        reach = max(reach, line.box[2])
    return None


def _are_two(left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether both sides have rows of names and numbers, most of which are beside no line of the other side."""
    for side, other_side in ((left, right), (right, left)):
        rows = [row for row in rows_of_cells(side) if is_data(row) and not is_number(row[0])]
        lines = sorted(other_side, key=top_of)
        tallest = max(line.height for line in other_side)
        beside_lines = sum(any(_is_beside(row[-1], line) for line in _near(row[-1], lines, tallest)) for row in rows)
        if len(rows) < MIN_ROWS or beside_lines > MAX_BESIDE * len(rows):
            return False
    return True


def _near(line: Line, lines: Sequence[Line], tallest: float) -> Sequence[Line]:
    """Those of the lines, which are sorted by their tops, that may be beside a line."""
    return lines[bisect_left(lines, line.box[1] - tallest, key=top_of) : bisect_left(lines, line.box[3], key=top_of)]


def _is_beside(line: Line, other: Line) -> bool:
    shared = min(line.box[3], other.box[3]) - max(line.box[1], other.box[1])
    return shared > MIN_SHARED * min(line.height, other.height)
