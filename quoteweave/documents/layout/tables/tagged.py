"""Finds tables whose cells the file itself identifies by tags."""

from collections.abc import Mapping, Sequence
from itertools import takewhile

from quoteweave.core.boxes import Box, hull, share_in
from quoteweave.documents.layout.blocks import block_of, lines_to_rows
from quoteweave.documents.layout.tables.cells import Table
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf_text.tagged_lines import cells_by_table
from quoteweave.documents.sources.pdf_text.tags import CellTag

# The least share of a table, or of a line, inside what is drawn around it.
MIN_INSIDE = 0.5


def tagged_tables(lines: Sequence[Line], drawn: Sequence[Box]) -> list[Table]:
    """The tables of a page by the tags of its lines, each with what is `drawn` around it alone: its frame and rules.

    Rows of headers above all others become one row of names. A header that spans columns is repeated in each of them,
    other text is in the first, and a cell that spans all columns is alone in its row. A cell that spans rows is
    repeated in each.
    """
    return [_table_of_cells(cells, lines, drawn) for cells in cells_by_table(lines).values()]


def _table_of_cells(cells: Mapping[CellTag, Sequence[Line]], lines: Sequence[Line], drawn: Sequence[Box]) -> Table:
    table_lines = tuple(line for lines in cells.values() for line in lines)
    ids, box = set(map(id, table_lines)), hull(line.box for line in table_lines)
    frames_around = (frame for frame in drawn if share_in(box, frame) > MIN_INSIDE)
    frames = (
        frame
        for frame in frames_around
        if all(id(line) in ids for line in lines if share_in(line.box, frame) > MIN_INSIDE)
    )
    return Table(hull([box, *frames]), _rows_of_tags(cells), table_lines)


def _rows_of_tags(cells: Mapping[CellTag, Sequence[Line]]) -> tuple[tuple[str, ...], ...]:
    """The rows of a table, whose tags place its cells; several rows of headers become one, and empty rows are left out.

    A header over several columns names each of them; of a row with one cell, a title or a group's name, only that is
    given: [["Year", "2021", "2021"], ["Coal", "in", "out"]] of headers is the row ("Year Coal", "2021 in", "2021 out").
    """
    height, width = (1 + max(getattr(tag, side) for tag in cells) for side in ("row", "column"))
    grid = [[""] * width for _ in range(height)]
    header_rows, tags_by_row = set(range(height)), dict[int, set[CellTag]]()
    for tag, lines in cells.items():
        text = block_of([line for row in lines_to_rows(lines) for line in row]).text
        for number in range(tag.row, min(tag.row + tag.rows, height)):
            tags_by_row.setdefault(number, set()).add(tag)
            header_rows -= set() if tag.is_header else {number}
            for column in range(tag.column, min(tag.column + (tag.columns if tag.is_header else 1), width)):
                grid[number][column] = text
    # Such as a title within the table, or the name of a group of rows.
    single_cell_rows = {
        number
        for number, tags in tags_by_row.items()
        if len(tags) == 1 and (not any(grid[number][1:]) or all(tag.columns >= width > 1 for tag in tags))
    }
    rows = [tuple(row[:1]) if number in single_cell_rows else tuple(row) for number, row in enumerate(grid)]
    numbers = [number for number, row in enumerate(rows) if any(row)]
    titles = list(takewhile(single_cell_rows.__contains__, numbers))
    heads = list(takewhile(lambda number: number in header_rows - single_cell_rows, numbers[len(titles) :]))
    if len(heads) > 1:
        columns = zip(*(rows[at] for at in heads), strict=True)
        rows[heads[0]] = tuple(" ".join(dict.fromkeys(filter(None, column))) for column in columns)
        numbers = [number for number in numbers if number not in heads[1:]]
    return tuple(rows[number] for number in numbers)
