"""Tables: ruled grids, stacks of horizontal rules, and rows whose cells stand under each other.

Grids are assembled by pdfplumber's table algorithms from rules found on the drawn page, so that a scanned table is
found like a digital one, and no page is parsed a second time.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box, area, hull
from quoteweave.documents.blocks import group, rows_of
from quoteweave.documents.drawing import Drawing
from quoteweave.documents.lines import Line
from quoteweave.documents.marks import NUMERIC

# Points by which rules may miss each other, and column edges may differ from row to row.
SNAP = 4.0
ALIGNED = 6.0
# Share of the space between two rules that icons may take; more is a chart between rules.
MOST_DRAWN = 0.15


@dataclass(frozen=True, slots=True)
class Table:
    """A table's box in points, its rows of cells (empty string for an empty cell), and the lines it took."""

    box: Box
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """Rows joined by newlines, cells by ' | '."""
        return "\n".join(" | ".join(cell or "-" for cell in row) for row in self.rows if any(row))


def grid_tables(drawing: Drawing, lines: Sequence[Line]) -> list[Table]:
    """Tables whose cells are ruled on all sides."""
    if len(drawing.horizontal) < 2 or len(drawing.vertical) < 2:
        return []
    from pdfplumber.table import cells_to_tables, edges_to_intersections, intersections_to_cells, merge_edges

    edges = [_edge(box, "h") for box in drawing.horizontal] + [_edge(box, "v") for box in drawing.vertical]
    # Hundreds of rules are a drawing or a map; assembling cells from them takes time that grows with their square.
    if len(edges) > 600:
        return []
    merged = merge_edges(edges, SNAP, SNAP, SNAP, SNAP)
    cells = intersections_to_cells(edges_to_intersections(merged, SNAP, SNAP))
    found = [_from_cells(table, lines) for table in cells_to_tables(cells)]
    return [table for table in found if table is not None]


def _edge(box: Box, orientation: str) -> dict[str, object]:
    middle_x, middle_y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    x0, x1 = (box[0], box[2]) if orientation == "h" else (middle_x, middle_x)
    top, bottom = (middle_y, middle_y) if orientation == "h" else (box[1], box[3])
    size = {"x0": x0, "x1": x1, "top": top, "bottom": bottom, "width": x1 - x0, "height": bottom - top}
    return {**size, "orientation": orientation, "object_type": "line", "page_number": 1}


def _from_cells(cells: Sequence[Box], lines: Sequence[Line]) -> Table | None:
    tops = sorted({cell[1] for cell in cells})
    lefts = sorted({cell[0] for cell in cells})
    if len(tops) < 2 or len(lefts) < 2 or len(cells) < 4:
        return None
    box = hull(cells)
    inside = [line for line in lines if _holds(box, line.box)]
    at = {(cell[1], cell[0]): cell for cell in cells}
    rows = tuple(
        tuple(_cell_text(at[top, left], inside) if (top, left) in at else "" for left in lefts) for top in tops
    )
    filled = sum(bool(cell) for row in rows for cell in row)
    # A grid without words is a chart's; one with words in few of its cells is a form's frame or a chart's.
    return Table(box, rows, tuple(inside)) if filled >= 3 and filled >= 0.3 * len(cells) else None


def _cell_text(cell: Box, lines: Sequence[Line]) -> str:
    words = [word.text for line in lines for word in line.words if _holds(cell, word.box)]
    return " ".join(words)


def _holds(outer: Box, inner: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] - 1 <= x <= outer[2] + 1 and outer[1] - 1 <= y <= outer[3] + 1


def ruled_tables(drawing: Drawing, lines: Sequence[Line], width: float) -> list[Table]:
    """Tables between horizontal rules of one width, as typeset in papers and reports."""
    found: list[Table] = []
    used: set[Box] = set()
    rules = sorted((rule for rule in drawing.horizontal if rule[2] - rule[0] > 0.12 * width), key=lambda rule: rule[1])
    for i, top in enumerate(rules):
        if top in used:
            continue
        stack = [top]
        for rule in rules[i + 1 :]:
            same = abs(rule[0] - top[0]) < SNAP * 2 and abs(rule[2] - top[2]) < SNAP * 2
            listing = len(stack) == 2 and _is_listing(stack[0], stack[1], lines)
            if not same:
                continue
            if not listing and not _tabular_between(stack[-1], rule, lines, drawing):
                break
            stack.append(rule)
        if len(stack) > 1:
            used.update(stack)
            box = hull(stack)
            inside = [line for line in lines if _holds(box, line.box)]
            found.append(Table(box, cells_of(inside), tuple(inside)))
    return found


def _tabular_between(upper: Box, lower: Box, lines: Sequence[Line], drawing: Drawing) -> bool:
    box = (upper[0], upper[3], upper[2], lower[1])
    inside = [line for line in lines if _holds(box, line.box)]
    drawn = sum(area(cluster) for cluster in drawing.clusters if _holds(box, cluster))
    if not inside or drawn > MOST_DRAWN * area(box):
        return False
    rows = rows_of(inside)
    if _is_listing(upper, lower, lines):
        return True
    several = sum(len(row) > 1 for row in rows)
    running = sum(len(block.lines) for block in group(inside) if block.prose and len(block.lines) > 2)
    wide = any(line.box[2] - line.box[0] > 0.8 * (box[2] - box[0]) for line in inside)
    return several >= 0.5 * len(rows) and (not wide or several > 1) and running < 0.5 * len(inside)


def _is_listing(upper: Box, lower: Box, lines: Sequence[Line]) -> bool:
    """Between these rules stands the head of an algorithm; its steps follow down to a third rule."""
    box = (upper[0], upper[3], upper[2], lower[1])
    inside = [line for line in lines if _holds(box, line.box)]
    return 0 < len(inside) <= 3 and inside[0].text.lower().startswith("algorithm")


def aligned_tables(lines: Sequence[Line]) -> list[Table]:
    """Tables without rules: at least three rows in a row whose cells stand under each other."""
    found: list[Table] = []
    run: list[list[Line]] = []
    for row in [*rows_of(lines), []]:
        if row and _tabular(row) and (not run or _follows(run[-1], row)):
            run.append(row)
            continue
        if len(run) >= 3:
            inside = _with_stragglers([line for part in run for line in part], lines)
            found.append(Table(hull(line.box for line in inside), cells_of(inside), tuple(inside)))
        run = [row] if row and _tabular(row) else []
    return found


def _with_stragglers(inside: Sequence[Line], lines: Sequence[Line]) -> list[Line]:
    """Also the short lines beside the rows: a first column whose cells stand between the others' baselines."""
    box = hull(line.box for line in inside)
    taken = {id(line) for line in inside}
    near = [
        line
        for line in lines
        if id(line) not in taken
        and len(line.words) <= 6
        and box[1] <= (line.box[1] + line.box[3]) / 2 <= box[3]
        and max(line.box[0] - box[2], box[0] - line.box[2]) < 4 * line.size
    ]
    return [*inside, *near]


def _tabular(row: Sequence[Line]) -> bool:
    if len(row) < 2 or any(len(line.words) > 9 for line in row) or any(" . . " in line.text for line in row):
        return False
    numbers = sum(bool(NUMERIC.fullmatch(line.words[0].text)) for line in row[1:])
    return len(row) >= 3 or (numbers > 0 and len(row[-1].words) <= 3)


def _follows(upper: Sequence[Line], lower: Sequence[Line]) -> bool:
    gap = min(line.box[1] for line in lower) - max(line.box[3] for line in upper)
    if gap > 3 * lower[0].height:
        return False
    shared = sum(any(_same_column(a.box, b.box) for b in upper) for a in lower)
    return shared >= 2 or shared == len(lower)


def _same_column(a: Box, b: Box) -> bool:
    centre = abs((a[0] + a[2]) - (b[0] + b[2])) / 2
    return min(abs(a[0] - b[0]), abs(a[2] - b[2]), centre) < ALIGNED


def cells_of(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """Rows of cells from where the lines stand, for tables without a grid."""
    return tuple(tuple(line.text for line in row) for row in rows_of(lines))
