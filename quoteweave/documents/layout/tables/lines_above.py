"""The lines above a table, among which its head is searched."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from quoteweave.core.boxes import Box
from quoteweave.documents.layout.tables.cells import Table, rows_of_cells
from quoteweave.documents.layout.tables.columns import middle
from quoteweave.documents.sources.lines import Line

# No readable page needs more.
MAX_LINES_ABOVE = 500
# The largest height, in points, of the rows of a head and the names of groups between it and its table.
MAX_HEAD_HEIGHT = 100.0


class LinesAbove:
    """The lines of a page by their bottoms, and which of them are part of a table."""

    def __init__(self, lines: Iterable[Line], tables: Iterable[Table]) -> None:
        of_tables = [line for table in tables for line in table.lines]
        self._lines = sorted((line for line in (*lines, *of_tables) if line.upright), key=_bottom)
        self._taken = set(map(id, of_tables))

    def take(self, lines: Iterable[Line]) -> None:
        """Mark these lines as part of a table."""
        self._taken.update(map(id, lines))

    def free(self, box: Box) -> list[Line]:
        """The nearest lines above a box that are part of no table."""
        return [line for line in self.over(box) if id(line) not in self._taken]

    def rows_above(self, box: Box) -> list[list[Line]]:
        """Rows of cells that a head may have, of the nearest lines above a box that are part of no table."""
        near = self.over(box, box[1] - MAX_HEAD_HEIGHT)
        return rows_of_cells([line for line in near if id(line) not in self._taken])

    def over(self, box: Box, top: float = 0.0) -> list[Line]:
        """The nearest lines above a box, none of which ends above `top`, in points from the top of the page."""
        last = bisect_right(self._lines, box[1] + 2, key=_bottom)
        first = max(bisect_left(self._lines, top, key=_bottom), last - MAX_LINES_ABOVE)
        near = self._lines[first:last]
        return [line for line in near if box[0] <= middle(line) <= box[2]]


def _bottom(line: Line) -> float:
    return line.box[3]
