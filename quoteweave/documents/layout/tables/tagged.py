"""Tables whose cells the file itself names by tags."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from quoteweave.core.boxes import Box, hull, inside
from quoteweave.documents.layout.blocks import block_of, lines_to_rows
from quoteweave.documents.layout.tables.cells import Table
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.tags import CellTag

# Least share of a table, or of a line, that lies within what is drawn around it.
MIN_INSIDE = 0.5


def tagged_tables(lines: Sequence[Line], drawn: Sequence[Box]) -> list[Table]:
    """The tables of a page by the tags of its lines, each with what is `drawn` around it alone: its frame and rules.

    A header that spans columns is in each of them, and what spans rows is in each of these.
    """
    tables: dict[int, dict[CellTag, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if isinstance(line.tag, CellTag):
            tables[line.tag.table][line.tag].append(line)
    return [_table(cells, lines, drawn) for cells in tables.values()]


def _table(cells: Mapping[CellTag, Sequence[Line]], lines: Sequence[Line], drawn: Sequence[Box]) -> Table:
    own = tuple(line for lines in cells.values() for line in lines)
    ids, box = set(map(id, own)), hull(line.box for line in own)
    around = (frame for frame in drawn if inside(box, frame) > MIN_INSIDE)
    frames = (
        frame for frame in around if all(id(line) in ids for line in lines if inside(line.box, frame) > MIN_INSIDE)
    )
    return Table(hull([box, *frames]), _rows(cells), own)


def _rows(cells: Mapping[CellTag, Sequence[Line]]) -> tuple[tuple[str, ...], ...]:
    height = 1 + max(tag.row for tag in cells)
    width = max(tag.column + tag.columns for tag in cells)
    grid = [[""] * width for _ in range(height)]
    for tag, lines in cells.items():
        text = block_of([line for row in lines_to_rows(lines) for line in row]).text
        for row in grid[tag.row : tag.row + tag.rows]:
            for column in range(tag.column, tag.column + (tag.columns if tag.is_header else 1)):
                row[column] = text
    used = [column for column in range(width) if any(row[column] for row in grid)]
    rows = (tuple(row[column] for column in used) for row in grid if any(row))
    # Such as the name of a group of rows, or a title within the table.
    return tuple(row if any(row[1:]) else row[:1] for row in rows)
