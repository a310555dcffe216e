"""Lines of a text layer, with the tags that fit where they stand: a table's cells below and beside each other."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.sources.lines import Line, TextRun, lines_of
from quoteweave.documents.sources.tags import CellTag

# Words of one cell; in tables with longer ones, pages are laid out.
MAX_CELL_WORDS = 150
# Points by which cells may reach into each other.
TOLERANCE = 2.0

_Rows = Mapping[int, Sequence[tuple[CellTag, Box]]]


def tagged_lines(runs: Iterable[TextRun]) -> list[Line]:
    """The lines of these runs. Cells that stand as no cells do have no tags, as where a page is laid out by a table."""
    runs = list(runs)
    lines = lines_of(runs)
    cells: dict[int, dict[CellTag, list[Line]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        if isinstance(line.tag, CellTag):
            cells[line.tag.table][line.tag].append(line)
    wrong = {table for table, own in cells.items() if not _is_table(own)}
    return lines_of(_without_tags(run, wrong) for run in runs) if wrong else lines


def _without_tags(run: TextRun, tables: set[int]) -> TextRun:
    return replace(run, tag=None) if isinstance(run.tag, CellTag) and run.tag.table in tables else run


def _is_table(cells: Mapping[CellTag, Sequence[Line]]) -> bool:
    if not all(line.upright for lines in cells.values() for line in lines):
        return False
    if any(sum(len(line.words) for line in lines) > MAX_CELL_WORDS for lines in cells.values()):
        return False
    rows: dict[int, list[tuple[CellTag, Box]]] = defaultdict(list)
    for tag, lines in cells.items():
        rows[tag.row].append((tag, hull(line.box for line in lines)))
    of_several = sum(len(row) > 1 for row in rows.values())
    return (
        1 < len(rows) <= 2 * of_several
        and _stand_below_each_other(rows)
        and all(map(_stand_side_by_side, rows.values()))
    )


def _stand_below_each_other(rows: _Rows) -> bool:
    of_one = ([box for tag, box in rows[number] if tag.rows == 1] for number in sorted(rows))
    bands = [hull(boxes) for boxes in of_one if boxes]
    return all(lower[1] >= upper[3] - TOLERANCE for upper, lower in pairwise(bands))


def _stand_side_by_side(row: Iterable[tuple[CellTag, Box]]) -> bool:
    """Whether the cells of a row stand from left to right, or all from right to left."""
    boxes = [box for _, box in sorted(row, key=lambda cell: cell[0].column)]
    return any(
        all(two[0] >= one[2] - TOLERANCE for one, two in pairwise(in_order)) for in_order in (boxes, boxes[::-1])
    )
