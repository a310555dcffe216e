"""Lines of a text layer, with those tags that fit their positions: a table's cells below and beside each other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from quoteweave.core.boxes import Box, hull, share_in
from quoteweave.documents.sources.lines import Line, TextRun, lines_of
from quoteweave.documents.sources.pdf_text.tags import CellTag, Tag

# The most words of a cell; tables with longer cells arrange pages.
MAX_CELL_WORDS = 150
# The most words of a table, counting those of a cell in each row and column that it spans.
MAX_TABLE_WORDS = 20_000
# How far, in points, cells may overlap.
TOLERANCE = 2.0

_Cells = Mapping[CellTag, Sequence[Line]]
_Boxes = Mapping[CellTag, Box]
_Band = tuple[float, float]


def tagged_lines(runs: Iterable[TextRun]) -> list[Line]:
    """The lines of these runs, with cells assigned to the columns in which they are.

    Files may omit a cell if it is empty, so that the next cell of its row has the number of its column. Cells whose
    positions are not those of cells get no tags, as when a table arranges a page.
    """
    runs = list(runs)
    lines = lines_of(runs)
    corrected: dict[Tag, Tag | None] = {}
    for number, cells in cells_by_table(lines).items():
        other_lines = [line for line in lines if not (isinstance(line.tag, CellTag) and line.tag.table == number)]
        by_position = _tags_by_position(cells) if _is_table(cells, other_lines) else {}
        corrected |= {tag: by_position.get(tag) for tag in cells}
    changed = any(tag != new_tag for tag, new_tag in corrected.items())
    return lines_of(_with_corrected_tag(run, corrected) for run in runs) if changed else lines


def _with_corrected_tag(run: TextRun, corrected: Mapping[Tag, Tag | None]) -> TextRun:
    return run if run.tag is None else replace(run, tag=corrected.get(run.tag, run.tag))


def cells_by_table(lines: Iterable[Line]) -> Mapping[int, _Cells]:
    """The lines of each tagged cell, by the numbers of the tables."""
    tables: dict[int, dict[CellTag, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if isinstance(line.tag, CellTag):
            tables[line.tag.table][line.tag].append(line)
    return tables


def _is_table(cells: _Cells, other_lines: Sequence[Line]) -> bool:
    if not all(line.upright for lines in cells.values() for line in lines):
        return False
    counts = {tag: sum(len(line.words) for line in lines) for tag, lines in cells.items()}
    if max(counts.values()) > MAX_CELL_WORDS:
        return False
    last_row, last_column = max(tag.row for tag in cells), max(tag.column for tag in cells)
    repeated = (
        count * min(tag.rows, 1 + last_row - tag.row) * min(tag.columns, 1 + last_column - tag.column)
        for tag, count in counts.items()
    )
    box = hull(line.box for lines in cells.values() for line in lines)
    # Such as something drawn by a form, whose tags are unknown: it is part of a cell.
    return sum(repeated) <= MAX_TABLE_WORDS and not any(share_in(line.box, box) > 0.5 for line in other_lines)


def _tags_by_position(cells: _Cells) -> dict[CellTag, CellTag]:
    """Each tag as it is, or with the column in which its cell stands; empty if the cells do not stand as in a table."""
    boxes = {tag: hull(line.box for line in lines) for tag, lines in cells.items()}
    rows: dict[int, list[CellTag]] = defaultdict(list)
    for tag in sorted(boxes, key=lambda tag: (tag.row, tag.column)):
        rows[tag.row].append(tag)
    rows_of_several = sum(len(row) > 1 for row in rows.values())
    if not 1 < len(rows) <= 2 * rows_of_several or not _are_below_each_other(rows, boxes):
        return {}
    width = max(tag.column for tag in cells) + 1
    reached = {(tag.row + below, tag.column) for tag in cells for below in range(min(tag.rows, len(rows) * 2))}
    # Where a row fills all columns, its tags are right, and show where the columns are; other rows may lack a cell.
    full = {number for number, row in rows.items() if _covers(row, number, reached, width)}
    certain = [tag for number in full for tag in rows[number] if tag.columns == 1]
    bands = [_band([_across(boxes[tag]) for tag in certain if tag.column == at]) for at in range(width)]
    columns = [band for band in bands if band is not None]
    if len(columns) < width or not _are_apart(columns):
        return {}
    tags: dict[CellTag, CellTag] = {}
    for number, row in rows.items():
        moved = row if number in full else _moved_cells(row, boxes, columns)
        if moved is None or not _are_apart([_across(boxes[tag]) for tag in row]):
            return {}
        tags |= dict(zip(row, moved, strict=True))
    return tags


def _across(box: Box) -> _Band:
    return box[0], box[2]


def _band(cells: Sequence[_Band]) -> _Band | None:
    """The range from the left of a column to its right; None without cells, or if they have no range in common."""
    if not cells:
        return None
    ordered = sorted(cells)
    right = ordered[0][1]
    for left, end in ordered:
        if left > right:
            return None  # they belong to two columns, as when each row lacks one
        right = max(right, end)
    return ordered[0][0], right


def _covers(row: Sequence[CellTag], number: int, reached: set[tuple[int, int]], width: int) -> bool:
    """Whether the cells of a row, with those that extend into it from above, fill all columns."""
    covered = {at for tag in row for at in range(tag.column, min(tag.column + tag.columns, width))}
    return all(at in covered or (number, at) in reached for at in range(width))


def _moved_cells(row: Sequence[CellTag], boxes: _Boxes, bands: Sequence[_Band]) -> list[CellTag] | None:
    """The cells of a row with the columns above which they are; None if that is uncertain."""
    moved: list[CellTag] = []
    for tag in row:
        left, _, right, _ = boxes[tag]
        count = min(tag.columns, len(bands))
        if count == 1:
            over = [at for at, band in enumerate(bands) if left < band[1] and right > band[0]]
        else:
            starts = range(len(bands) - count + 1)
            over = [
                at
                for at in starts
                if bands[at][0] - TOLERANCE <= left and right <= bands[at + count - 1][1] + TOLERANCE
            ]
        if len(over) != 1 or (moved and over[0] <= moved[-1].column):
            return None
        moved.append(replace(tag, column=over[0], columns=count))
    return moved


def _are_apart(bands: Sequence[_Band]) -> bool:
    """Whether they follow each other from left to right, or all from right to left."""
    orders = (bands, bands[::-1])
    return any(all(right[0] >= left[1] - TOLERANCE for left, right in pairwise(ordered)) for ordered in orders)


def _are_below_each_other(rows: Mapping[int, Sequence[CellTag]], boxes: _Boxes) -> bool:
    single_row_boxes = ([boxes[tag] for tag in rows[number] if tag.rows == 1] for number in sorted(rows))
    bands = [hull(row_boxes) for row_boxes in single_row_boxes if row_boxes]
    return all(lower[1] >= upper[3] - TOLERANCE for upper, lower in pairwise(bands))
