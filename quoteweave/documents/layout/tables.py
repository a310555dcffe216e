"""Tables: ruled grids, stacks of horizontal rules, and rows whose cells stand under each other.

Grids are assembled by pdfplumber's table algorithms from rules found on the drawn page, so that a scanned table is
found like a digital one, and no page is parsed a second time.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area, hull, inside
from quoteweave.core.text.mentions import rise_steadily
from quoteweave.core.text.tokens import RAISED
from quoteweave.documents.layout.blocks import NUMERIC, SIZE_RATIO, group_lines, lines_to_rows
from quoteweave.documents.layout.drawing import PageGraphics
from quoteweave.documents.layout.reading_order import TOLERANCE, split_at_gaps
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import Line, Word

# Points by which rules may miss each other, and column edges may differ from row to row.
SNAP = 4.0
ALIGNED = 6.0
# Share of the space between two rules that icons may take; more is a chart between rules.
MAX_DRAWN = 0.15
# More rules are a drawing or a map; assembling cells takes time that grows with the square of where they meet.
MAX_RULES = 1000
MAX_CROSSINGS = 2500
# A cell of more words than this, without a number beside it, is text.
MAX_TEXT_WORDS = 9
# Words of a number beside a name: "$ 1,204".
MAX_NUMBER_WORDS = 2
# More cells than this in a row are no table's.
MAX_COLUMNS = 60
_SIGN = re.compile(r"[A-Z]{0,3}[$€£¥₹]")
SIGN_ALONE = re.compile(r"[A-Z]{0,3}\W{1,3}")
"""A sign without a number: "—", "US$", and "*" where a note says why."""
# Rows between rows of cells that have but the name of a group, or the beginning of a long name; the space above them,
# in heights of a line; and points by which they stand left or right of the other names.
MAX_NAMES_BETWEEN = 3
MAX_PITCH_BETWEEN = 1.5
MAX_INDENT = 30.0
LEADERS = re.compile(r"[.·…]{4}[.·…\s]*[A-Z]{0,3}[$€£¥₹]?\s*$")
"""The dots that lead from a name to its numbers, with the sign of a currency."""
_LEADING_WORD = re.compile(r"[.·…]{4}$")
_FEW_DOTS = ("...", "…")
"""What leads from a long name to amounts right behind it."""
_SIGNED, _IN_BRACKETS = re.compile(r"[A-Z]{0,3}[$€£¥₹]\(?\d[\d.,]*\)?"), re.compile(r"\(\d{1,3}(?:,\d{3})+\)")
_AMOUNT = re.compile(r"[(−–—-]?\s*[\d.]|[–—-](?!\S)")
_HANGING = f"%){RAISED}"
"""What hangs at the right of a column, whose digits stand under each other."""


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


def grid_tables(drawing: PageGraphics, lines: Sequence[Line]) -> list[Table]:
    """Tables whose cells are ruled on all sides."""
    rules = len(drawing.horizontal) + len(drawing.vertical)
    if min(len(drawing.horizontal), len(drawing.vertical)) < 2 or rules > 2 * MAX_RULES:
        return []
    from pdfplumber.table import cells_to_tables, edges_to_intersections, intersections_to_cells, merge_edges

    edges = [_edge(box, "h") for box in drawing.horizontal] + [_edge(box, "v") for box in drawing.vertical]
    merged = merge_edges(edges, SNAP, SNAP, SNAP, SNAP)
    across = sum(edge["orientation"] == "h" for edge in merged)
    if across * (len(merged) - across) > 40 * MAX_CROSSINGS:
        return []
    crossings = edges_to_intersections(merged, SNAP, SNAP)
    if len(crossings) > MAX_CROSSINGS:
        return []
    near = SpatialIndex(lines)
    found = (_from_cells(table, near) for table in cells_to_tables(intersections_to_cells(crossings)))
    return [table for table in found if table is not None]


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
    words = {(cell[1], cell[0]): _words(cell, lines) for cell in cells}
    rows = [[" ".join(word.text for word in words.get((top, left), ())) for left in lefts] for top in tops]
    # The labels of a chart lie across its grid.
    settled = sum(inside(word.box, cell) > 0.6 for cell in cells for word in words[cell[1], cell[0]])
    box = hull(cells)
    if not _is_filled(rows, len(cells)) or settled < 0.7 * len(_words(box, lines)):
        return None
    return Table(box, tuple(tuple(row) for row in rows), _held(box, lines))


def _is_filled(rows: Sequence[Sequence[str]], cells: int) -> bool:
    """A grid without words is a chart's; with words in few cells, or in half of its rows or columns, it is no table."""
    filled = sum(bool(cell) for row in rows for cell in row)
    lines = (sum(any(line) for line in part) > 0.5 * len(part) for part in (rows, list(zip(*rows, strict=True))))
    return filled >= 3 and filled >= 0.3 * cells and all(lines)


def _words(box: Box, lines: SpatialIndex[Line]) -> list[Word]:
    return [word for line in lines.intersecting(box) for word in line.words if _holds(box, word.box)]


def _held(box: Box, lines: SpatialIndex[Line]) -> tuple[Line, ...]:
    return tuple(line for line in lines.intersecting(box, 1) if _holds(box, line.box))


def _holds(outer: Box, inner: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] - 1 <= x <= outer[2] + 1 and outer[1] - 1 <= y <= outer[3] + 1


def ruled_tables(drawing: PageGraphics, lines: Sequence[Line], width: float) -> list[Table]:
    """Tables between horizontal rules of one width, as typeset in papers and reports."""
    found: list[Table] = []
    near = SpatialIndex(lines)
    rules = sorted((rule for rule in drawing.horizontal if rule[2] - rule[0] > 0.12 * width), key=lambda rule: rule[1])
    waiting = dict.fromkeys(rules[:MAX_RULES])
    while waiting:
        first = next(iter(waiting))
        alike = [rule for rule in waiting if _same_width(first, rule)]
        stack = _stack(alike, drawing, near)
        for rule in stack:
            del waiting[rule]
        box = hull(stack)
        if len(stack) > 1 and not any(_cuts_through(box, cluster) for cluster in drawing.clusters):
            own = _held(box, near)
            found.append(Table(box, cells_of(own), own))
    return [table for table in found if len(table.rows) > 1]


def _stack(rules: Sequence[Box], drawing: PageGraphics, lines: SpatialIndex[Line]) -> list[Box]:
    """The first rule, and those that follow it with a table between them."""
    verticals = np.array(drawing.vertical, dtype=np.float64).reshape(-1, 4)
    stack = [rules[0]]
    for rule in rules[1:]:
        # The steps of an algorithm follow its head down to a third rule.
        steps = len(stack) == 2 and _is_listing(_between(stack[0], stack[1]), lines)
        between = _between(stack[-1], rule)
        if not steps and not _has_column(between, rules, verticals) and not _tabular(between, drawing, lines):
            break
        stack.append(rule)
    return stack


def _cuts_through(box: Box, cluster: Box) -> bool:
    """Whether a drawing lies half in the box: then the rules around it are bars of a chart, or part its groups."""
    return area(cluster) > 0.1 * area(box) and 0.05 < inside(cluster, box) < 0.7


def _same_width(a: Box, b: Box) -> bool:
    return abs(a[0] - b[0]) < SNAP * 2 and abs(a[2] - b[2]) < SNAP * 2


def _between(upper: Box, lower: Box) -> Box:
    return (upper[0], upper[3], upper[2], lower[1])


def _tabular(box: Box, drawing: PageGraphics, lines: SpatialIndex[Line]) -> bool:
    """Whether what stands between two rules is rows of cells, or the head of an algorithm."""
    own = _held(box, lines)
    drawn = sum(area(cluster) for cluster in drawing.clusters if inside(cluster, box) > 0.5)
    if not own or drawn > MAX_DRAWN * area(box):
        return False
    if _is_listing(box, lines):
        return True
    # Bands, not rows: a cell of two lines has its neighbour's one line beside both.
    bands = split_at_gaps(own, axis=1, gap=-TOLERANCE)
    several = sum(len(split_at_gaps(band, axis=0, gap=0)) > 1 for band in bands)
    running = sum(len(block.lines) for block in group_lines(own) if block.prose and len(block.lines) > 2)
    wide = any(line.box[2] - line.box[0] > 0.8 * (box[2] - box[0]) for line in own)
    return several >= 0.5 * len(bands) and (not wide or several > 1) and running < 0.5 * len(own)


def _has_column(box: Box, rules: Sequence[Box], verticals: npt.NDArray[np.float64]) -> bool:
    """Whether a vertical rule (n, 4) that starts and ends at these rules runs through the box."""
    x1, y1, x2, y2 = verticals.T
    within = (x1 > box[0] + SNAP) & (x2 < box[2] - SNAP) & (y1 < box[1] + SNAP) & (y2 > box[3] - SNAP)
    ends = verticals[within][:, 1::2, None]
    return bool((np.abs(ends - np.array([rule[1] for rule in rules])) < SNAP).any(axis=2).all(axis=1).any())


def _is_listing(box: Box, lines: SpatialIndex[Line]) -> bool:
    """Whether the head of an algorithm stands here."""
    own = _held(box, lines)
    return 0 < len(own) <= 3 and own[0].text.lower().startswith("algorithm")


def aligned_tables(lines: Sequence[Line]) -> list[Table]:
    """Tables without rules: at least three rows in a row whose cells stand under each other.

    Between them may stand the names of groups of rows, and the beginning of a long name.
    """
    found: list[Table] = []
    run: list[_Row] = []
    between: list[_Row] = []
    for row in [*map(_Row, lines_to_rows(lines)), _Row([])]:
        if row.has_cells and (not run or _follows(run[-1].parts, row.parts, (between or run)[-1].parts)):
            run += [*between, row]
            between = []
        elif (
            run
            and len(between) < MAX_NAMES_BETWEEN
            and _names_rows(row.cells, run[-1].cells, (between or run)[-1].cells)
        ):
            between.append(row)
        else:
            if sum(each.has_cells for each in run) >= 3 and not _lists_pages(run):
                own = [line for each in run for line in each.lines]
                found.append(Table(hull(line.box for line in own), cells_of(own), tuple(own)))
            run, between = [row] if row.has_cells else [], []
    return found


class _Row:
    """Lines that stand in one row, and its cells."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines, self.cells = lines, _with_signs(lines)
        self.parts = [part for line in lines for part in _parted(line, signs_follow=_signs_follow(lines))]
        """The cells before signs are put to their numbers: columns are where the numbers are."""
        self.has_cells = _is_row(self.cells)


def _lists_pages(rows: Sequence[_Row]) -> bool:
    """Whether rows are those of a table of contents: dots lead from most names to one number, and no number falls."""
    cells = [row.cells for row in rows if row.has_cells]
    led = [row[1].text for row in cells if len(row) == 2 and LEADERS.search(row[0].text)]
    pages = [int(text) for text in led if text.isdecimal()]
    return 2 * len(led) > len(cells) and len(pages) == len(led) and rise_steadily(pages)


def _names_rows(row: Sequence[Line], last: Sequence[Line], above: Sequence[Line]) -> bool:
    """Whether a row has but the name of a group of rows, or the beginning of a long name.

    It stands below the row `above`, and left of the cells of the last row that has some.
    """
    return (
        len(row) == 1
        and row[0].size <= SIZE_RATIO * last[0].size
        and row[0].box[1] - max(line.box[3] for line in above) <= MAX_PITCH_BETWEEN * row[0].height
        and last[0].box[0] - MAX_INDENT <= row[0].box[0] <= last[0].box[0] + MAX_INDENT
        and row[0].box[2] <= last[1].box[0]
    )


def _is_row(row: Sequence[Line]) -> bool:
    if (
        not 2 <= len(row) <= MAX_COLUMNS
        or any(len(line.words) > MAX_TEXT_WORDS and id(line) not in numbers_beside(row) for line in row)
        or any(" . . " in line.text for line in row)
    ):
        return False
    numbers = sum(bool(NUMERIC.fullmatch(line.words[0].text)) for line in row[1:])
    return len(row) >= 3 or (numbers > 0 and len(row[-1].words) <= 3)


def numbers_beside(row: Sequence[Line]) -> dict[int, str]:
    """The ids of the lines of a row beside which a number stands next, with that; "" where dots lead to one."""
    led = {id(line): "" for line in row if LEADERS.search(line.text)}
    beside = ((name, cell.text) for name, cell in pairwise(row) if len(cell.words) <= MAX_NUMBER_WORDS)
    return led | {id(name): number for name, number in beside if NUMERIC.fullmatch(number.split()[-1])}


def _follows(upper: Sequence[Line], lower: Sequence[Line], above: Sequence[Line]) -> bool:
    """Whether a row below the row `above` has its cells under those of `upper`."""
    gap = min(line.box[1] for line in lower) - max(line.box[3] for line in above)
    if gap > 3 * lower[0].height:
        return False
    shared = sum(any(_same_column(a, b) for b in upper) for a in lower)
    return shared >= 2 or shared == len(lower)


def _same_column(one: Line, other: Line) -> bool:
    a, b = one.box, other.box
    centre = abs((a[0] + a[2]) - (b[0] + b[2])) / 2
    digits = abs(_right_of_digits(one) - _right_of_digits(other))
    return min(abs(a[0] - b[0]), abs(a[2] - b[2]), centre, digits) < ALIGNED


def _right_of_digits(cell: Line) -> float:
    """Where a cell ends but for what hangs: the digits of "18%" stand over those of "862.7"."""
    left, _, right, _ = cell.words[-1].box
    text = cell.words[-1].text
    if text == "%" and len(cell.words) > 1:
        return cell.words[-2].box[2]
    return left + (right - left) * len(text.rstrip(_HANGING)) / len(text)


def cells_of(lines: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """Rows of cells from where the lines stand, for tables without a grid."""
    return tuple(tuple(cell.text for cell in row) for row in rows_of_cells(lines))


def rows_of_cells(lines: Sequence[Line]) -> list[list[Line]]:
    """Rows of cells, each a line. A currency's sign, far as it may stand before its number, is in the same cell."""
    return [_with_signs(row) for row in lines_to_rows(lines)]


def _with_signs(row: Sequence[Line]) -> list[Line]:
    """The cells of a row, with each sign at the end of one put before the number of the next, unless signs follow."""
    cells, signs_follow = list[Line](), _signs_follow(row)
    for cell in (cell for line in row for cell in _parted(line, signs_follow=signs_follow)):
        *before, last = cells[-1].words if cells else (None,)
        if last is not None and not signs_follow and _SIGN.fullmatch(last.text) and _AMOUNT.match(cell.text):
            signed = _cell(cell, [last, *cell.words])
            cells[-1:] = [_cell(cells[-1], before), signed] if before else [signed]
        else:
            cells.append(cell)
    return cells


def _signs_follow(row: Sequence[Line]) -> bool:
    """Whether signs stand behind their numbers, as they do where the last one ends the row: "1.204 €"."""
    *_, number, last = ("", "", *(word.text for line in row[-1:] for word in line.words))
    return _SIGN.fullmatch(last) is not None and NUMERIC.fullmatch(number) is not None


def _parted(line: Line, *, signs_follow: bool) -> Iterator[Line]:
    """The name and the amounts of a line in which dots lead from one to the others, or amounts that have signs alone.

    The space between such cells is no wider than that between words.
    """
    texts = [word.text for word in line.words]
    begin = _begin_of_amounts(texts)
    more = (at for at in range(begin + 1, len(texts)) if _begins_amount(texts, at, signs_follow=signs_follow))
    starts = sorted({0, begin, *more} - {len(texts)})
    for start, stop in pairwise([*starts, len(texts)]):
        yield _cell(line, line.words[start:stop]) if len(starts) > 1 else line


def _begin_of_amounts(texts: Sequence[str]) -> int:
    """The first word behind the dots that lead to amounts; 0 where all are amounts, and their number where none is."""
    name = len(texts) - sum(1 for _ in takewhile(_is_of_amount, reversed(texts)))
    if name and texts[name - 1].endswith(_FEW_DOTS):
        return name
    return next((at for at, text in enumerate(texts, 1) if _LEADING_WORD.search(text)), len(texts)) if name else 0


def _is_of_amount(text: str) -> bool:
    return not text.endswith(_FEW_DOTS) and any(form.fullmatch(text) for form in (NUMERIC, _SIGN, _SIGNED, SIGN_ALONE))


def _begins_amount(texts: Sequence[str], at: int, *, signs_follow: bool) -> bool:
    """Whether a word is the first of an amount: one with a sign, or in brackets as the word before it is."""
    if signs_follow:
        return _SIGN.fullmatch(texts[at - 1]) is not None
    if _SIGN.fullmatch(texts[at]):
        return at + 1 < len(texts) and _AMOUNT.match(texts[at + 1]) is not None
    return _SIGNED.fullmatch(texts[at]) is not None or all(map(_IN_BRACKETS.fullmatch, texts[at - 1 : at + 1]))


def _cell(line: Line, words: Sequence[Word]) -> Line:
    return replace(line, words=tuple(words), box=hull(word.box for word in words))


def over_each_other(cells: Iterable[Line]) -> list[list[Line]]:
    """The cells that stand over each other, from left to right."""
    found: list[list[Line]] = []
    right = 0.0
    for cell in sorted(cells, key=lambda cell: cell.box):
        if found and cell.box[0] < right:
            found[-1].append(cell)
        else:
            found.append([cell])
        right = max(right, cell.box[2])
    return found


def is_number(cell: Line) -> bool:
    """Whether a cell has but a number, with signs and marks, or signs alone: "$ 1,204", "24.0 %", "—".

    Two numbers are of two columns whose cells touch.
    """
    numbers = [word for word in cell.words if not SIGN_ALONE.fullmatch(word.text)]
    return len(numbers) < 2 and all(NUMERIC.fullmatch(word.text) for word in numbers)
