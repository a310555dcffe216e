"""Finds tables with rules: grids, and stacks of horizontal rules.

Grids are assembled by pdfplumber's table algorithms from rules found on the drawn page, so that a scanned table is
found like a digital one, and no page is parsed a second time.
"""

from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area, hull, share_in
from quoteweave.core.text.units import join_cell_lines
from quoteweave.documents.layout.blocks import group_lines
from quoteweave.documents.layout.graphics import PageGraphics
from quoteweave.documents.layout.reading_order import TOLERANCE, split_at_gaps
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.layout.tables.cells import Table, cells_of, is_number
from quoteweave.documents.sources.lines import Line, Word

# How many points rules may miss each other by.
SNAP = 4.0
# The largest share of the space between two rules that icons may take; a larger one is a chart between rules.
MAX_DRAWN = 0.15
# More rules are a drawing or a map; the time of assembling cells grows with the square of their crossings.
MAX_RULES = 1000
MAX_CROSSINGS = 2500
# In heights of a line: how far the middles of a label and its value may differ, and the space between lines of a cell.
MAX_OFF_MIDDLE = 0.35
MAX_LEADING = 0.8
MAX_LABEL_LINES = 2


def grid_tables(graphics: PageGraphics, lines: Sequence[Line]) -> list[Table] | None:
    """Tables whose cells are ruled on all sides; None if there are too many rules to look for them."""
    if min(len(graphics.horizontal), len(graphics.vertical)) < 2:
        return []
    if len(graphics.horizontal) + len(graphics.vertical) > 2 * MAX_RULES:
        return None
    from pdfplumber.table import cells_to_tables, edges_to_intersections, intersections_to_cells, merge_edges

    edges = [_edge(box, "h") for box in graphics.horizontal] + [_edge(box, "v") for box in graphics.vertical]
    merged = merge_edges(edges, SNAP, SNAP, SNAP, SNAP)
    horizontal = sum(edge["orientation"] == "h" for edge in merged)
    if horizontal * (len(merged) - horizontal) > 40 * MAX_CROSSINGS:
        return None
    crossings = edges_to_intersections(merged, SNAP, SNAP)
    if len(crossings) > MAX_CROSSINGS:
        return None
    near = SpatialIndex(lines)
    tables = (_from_cells(table, near) for table in cells_to_tables(intersections_to_cells(crossings)))
    return [table for table in tables if table is not None]


def _edge(box: Box, orientation: str) -> dict[str, object]:
    middle_x, middle_y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    x0, x1 = (box[0], box[2]) if orientation == "h" else (middle_x, middle_x)
    top, bottom = (middle_y, middle_y) if orientation == "h" else (box[1], box[3])
    size = {"x0": x0, "x1": x1, "top": top, "bottom": bottom, "width": x1 - x0, "height": bottom - top}
    return {**size, "orientation": orientation, "object_type": "line", "page_number": 1}


def _from_cells(cells: Sequence[Box], lines: SpatialIndex[Line]) -> Table | None:
    tops = sorted({cell[1] for cell in cells})
    lefts = sorted({cell[0] for cell in cells})
    if len(tops) < 2 or len(lefts) < 2 or len(cells) < 4:
        return None
    words = {(cell[1], cell[0]): _words_in(cell, lines) for cell in cells}
    rows = [[join_cell_lines(_by_rows(words.get((top, left), ()))) for left in lefts] for top in tops]
    # In a chart, labels cross the lines of its grid.
    settled = sum(share_in(word.box, cell) > 0.6 for cell in cells for word in words[cell[1], cell[0]])
    box = hull(cells)
    if not _is_filled(rows, len(cells)) or settled < 0.7 * len(_words_in(box, lines)):
        return None
    return Table(box, tuple(tuple(row) for row in rows), _lines_in(box, lines))


def _by_rows(words: Iterable[Word]) -> Iterator[str]:
    """The words of a cell, a text for each of its rows; a word below the one before begins another row."""
    bottom, row = float("inf"), list[str]()
    for word in words:
        if (word.box[1] + word.box[3]) / 2 > bottom:
            yield " ".join(row)
            row = []
        bottom = word.box[3]
        row.append(word.text)
    yield " ".join(row)


def _is_filled(rows: Sequence[Sequence[str]], cells: int) -> bool:
    """Whether a grid has enough words: one without is a chart's; one with few, or in half its rows, is no table."""
    filled = sum(bool(cell) for row in rows for cell in row)
    lines = (sum(any(line) for line in part) > 0.5 * len(part) for part in (rows, list(zip(*rows, strict=True))))
    return filled >= 3 and filled >= 0.3 * cells and all(lines)


def _words_in(box: Box, lines: SpatialIndex[Line]) -> list[Word]:
    return [word for line in lines.intersecting(box) for word in line.words if _contains_middle(box, word.box)]


def _lines_in(box: Box, lines: SpatialIndex[Line]) -> tuple[Line, ...]:
    return tuple(line for line in lines.intersecting(box, 1) if _contains_middle(box, line.box))


def _contains_middle(outer: Box, inner: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] - 1 <= x <= outer[2] + 1 and outer[1] - 1 <= y <= outer[3] + 1


def ruled_tables(graphics: PageGraphics, lines: Sequence[Line], width: float) -> list[Table]:
    """Tables between horizontal rules of equal width, as typeset in papers and reports."""
    tables: list[Table] = []
    near = SpatialIndex(lines)
    rules = sorted((rule for rule in graphics.horizontal if rule[2] - rule[0] > 0.12 * width), key=lambda rule: rule[1])
    waiting = dict.fromkeys(rules[:MAX_RULES])
    while waiting:
        first = next(iter(waiting))
        equally_wide = [rule for rule in waiting if _have_same_width(first, rule)]
        stack = _stack(equally_wide, graphics, near)
        for rule in stack:
            del waiting[rule]
        box = hull(stack)
        if len(stack) > 1 and not any(_cuts_through(box, cluster) for cluster in graphics.clusters):
            lines_within = _lines_in(box, near)
            tables.append(Table(box, _rows_between_rules(stack, lines_within), lines_within))
    return [table for table in tables if len(table.rows) > 1 or table.has_grid]


def _rows_between_rules(rules: Sequence[Box], lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """Rows of cells; in two columns, one row between two rules that contain only a label and its value."""
    tops = [rule[1] for rule in rules]
    bands: list[list[Line]] = [[] for _ in range(len(rules) + 1)]
    for line in lines:
        bands[bisect(tops, (line.box[1] + line.box[3]) / 2)].append(line)
    values, cells = [_value_beside(band) for band in bands], cells_of(lines)
    if not any(values) or max(map(len, cells)) > 2:
        return cells
    rows: list[tuple[str, ...]] = []
    for band, value in zip(bands, values, strict=True):
        label = [line for line in band if line not in value]
        rows += [(_joined_text(label), _joined_text(value))] if value else cells_of(band)
    return tuple(rows)


def _value_beside(lines: Sequence[Line]) -> Sequence[Line]:
    """The lines of the only value beside the only label, if one is centred on the other; else none."""
    columns = split_at_gaps(lines, axis=0, gap=0) if len(lines) > 1 and all(line.upright for line in lines) else []
    if len(columns) != 2 or any(map(is_number, lines)):
        return ()
    label, value = (sorted(column, key=lambda line: line.box[1]) for column in columns)
    off_middle = abs((label[0].box[1] + label[-1].box[3]) - (value[0].box[1] + value[-1].box[3])) / 2
    height = label[0].height
    are_alone = len(label) == len(value) == 1 and off_middle < height
    is_centred = len(label) != len(value) and len(label) <= MAX_LABEL_LINES and off_middle < MAX_OFF_MIDDLE * height
    return value if are_alone or (is_centred and _is_cell(label) and _is_cell(value)) else ()


def _is_cell(lines: Sequence[Line]) -> bool:
    """Whether lines are directly below each other, none beside another, unlike names below that of several columns."""
    gaps = ((lower.box[1] - upper.box[3], lower.height) for upper, lower in pairwise(lines))
    return all(-0.5 * height < gap < MAX_LEADING * height for gap, height in gaps)


def _joined_text(lines: Sequence[Line]) -> str:
    return " ".join(line.text for line in sorted(lines, key=lambda line: line.box[1]))


def _stack(rules: Sequence[Box], graphics: PageGraphics, lines: SpatialIndex[Line]) -> list[Box]:
    """The first rule, and those that follow it with a table between them."""
    verticals = np.array(graphics.vertical, dtype=np.float64).reshape(-1, 4)
    stack = [rules[0]]
    for rule in rules[1:]:
        # The steps of an algorithm are between its head and a third rule.
        is_algorithm = len(stack) == 2 and _is_listing(_box_between(stack[0], stack[1]), lines)
        between = _box_between(stack[-1], rule)
        is_table = _has_column(between, rules, verticals) or _is_tabular(between, graphics, lines)
        if not is_algorithm and not is_table:
            break
        stack.append(rule)
    return stack


def _cuts_through(box: Box, cluster: Box) -> bool:
    """Whether a drawing is half inside the box: then the rules around it are bars of a chart, or separate groups."""
    return area(cluster) > 0.1 * area(box) and 0.05 < share_in(cluster, box) < 0.7


def _have_same_width(a: Box, b: Box) -> bool:
    return abs(a[0] - b[0]) < SNAP * 2 and abs(a[2] - b[2]) < SNAP * 2


def _box_between(upper: Box, lower: Box) -> Box:
    return (upper[0], upper[3], upper[2], lower[1])


def _is_tabular(box: Box, graphics: PageGraphics, lines: SpatialIndex[Line]) -> bool:
    """Whether rows of cells, or the head of an algorithm, are between two rules."""
    box_lines = _lines_in(box, lines)
    drawn = sum(area(cluster) for cluster in graphics.clusters if share_in(cluster, box) > 0.5)
    if not box_lines or drawn > MAX_DRAWN * area(box):
        return False
    if _is_listing(box, lines):
        return True
    # Bands rather than rows: a cell of two lines has a neighbour's single line beside both.
    bands = split_at_gaps(box_lines, axis=1, gap=-TOLERANCE)
    of_several = sum(len(split_at_gaps(band, axis=0, gap=0)) > 1 for band in bands)
    prose_lines = sum(len(block.lines) for block in group_lines(box_lines) if block.prose and len(block.lines) > 2)
    is_wide = any(line.box[2] - line.box[0] > 0.8 * (box[2] - box[0]) for line in box_lines)
    return of_several >= 0.5 * len(bands) and (not is_wide or of_several > 1) and prose_lines < 0.5 * len(box_lines)


def _has_column(box: Box, rules: Sequence[Box], verticals: npt.NDArray[np.float64]) -> bool:
    """Whether a vertical rule (n, 4) that starts and ends at these rules runs through the box."""
    x1, y1, x2, y2 = verticals.T
    within = (x1 > box[0] + SNAP) & (x2 < box[2] - SNAP) & (y1 < box[1] + SNAP) & (y2 > box[3] - SNAP)
    ends = verticals[within][:, 1::2, None]
    return bool((np.abs(ends - np.array([rule[1] for rule in rules])) < SNAP).any(axis=2).all(axis=1).any())


def _is_listing(box: Box, lines: SpatialIndex[Line]) -> bool:
    """Whether the head of an algorithm is here."""
    box_lines = _lines_in(box, lines)
    return 0 < len(box_lines) <= 3 and box_lines[0].text.lower().startswith("algorithm")
