"""Tables drawn from rows of strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from samples.flow import Flow
from samples.sheet import Face, Pen, Rect, Sheet

PAD = 5.0


@dataclass(frozen=True)
class Table:
    """The rows, the first of which names the columns, and how to set them."""

    rows: Sequence[Sequence[str]]
    widths: Sequence[float]
    font: str
    bold: str
    size: float
    row_height: float
    rules: Literal["grid", "horizontal"] = "grid"
    shade: str = ""
    """The colour behind the first row."""
    total: bool = True
    """Whether the last row sums up the others."""

    @property
    def height(self) -> float:
        """The height of the whole."""
        return self.row_height * len(self.rows)

    @property
    def width(self) -> float:
        """The width of the whole."""
        return sum(self.widths)


def place_table(flow: Flow, table: Table, name: str) -> None:
    """Draw the table next in the column and remember its box under the name."""

    def draw(box: Rect) -> None:
        flow.sheet.mark(name, draw_table(flow.sheet, table, box.x, box.top))

    flow.block(table.height, draw)
    flow.gap(5)


def draw_table(sheet: Sheet, table: Table, x: float, top: float) -> Rect:
    """Draw the table with its top left corner at the point; return its box."""
    box = Rect(x, top, table.width, table.height)
    if table.shade:
        sheet.rect(Rect(x, top, box.width, table.row_height), Pen(width=0), fill=table.shade)
    if table.rules == "grid":
        _grid(sheet, table, box)
    else:
        _horizontal_rules(sheet, table, box)
    for number, row in enumerate(table.rows):
        strong = number == 0 or (table.total and number == len(table.rows) - 1)
        face = Face(table.bold if strong else table.font, table.size)
        baseline = top + number * table.row_height + table.row_height / 2 + table.size * 0.35
        _row(sheet, table, row, (x, baseline), face)
    return box


def _row(sheet: Sheet, table: Table, row: Sequence[str], start: tuple[float, float], face: Face) -> None:
    x, baseline = start
    for column, (cell, width) in enumerate(zip(row, table.widths, strict=True)):
        # Names read best from the left; numbers compare best when their last digits stand in line.
        if column == 0:
            sheet.label((x + PAD, baseline), cell, face)
        else:
            sheet.label((x + width - PAD, baseline), cell, face, "right")
        x += width


def _grid(sheet: Sheet, table: Table, box: Rect) -> None:
    pen = Pen("#555555", 0.5)
    for number in range(len(table.rows) + 1):
        y = box.top + number * table.row_height
        sheet.line([(box.x, y), (box.right, y)], pen)
    x = box.x
    for width in (*table.widths, 0.0):
        sheet.line([(x, box.top), (x, box.bottom)], pen)
        x += width


def _horizontal_rules(sheet: Sheet, table: Table, box: Rect) -> None:
    last = box.bottom - table.row_height
    rules = [(box.top, 1.0), (box.top + table.row_height, 0.5), (box.bottom, 1.0)]
    if table.total:
        rules.append((last, 0.5))
    for y, width in rules:
        sheet.line([(box.x, y), (box.right, y)], Pen(width=width))
