"""The block diagram of the paper: boxes and arrows."""

from __future__ import annotations

from dataclasses import dataclass

from samples.sheet import Face, Pen, Rect, Sheet

DIAGRAM_HEIGHT = 116.0
BOX = (78.0, 36.0)
UPPER, LOWER = 4.0, 76.0
NAME = Face("Helvetica", 8.2, "#111111")
NOTE = Face("Helvetica-Oblique", 7, "#444444")
PEN = Pen("#333333", 0.9)


@dataclass(frozen=True)
class Node:
    """A box of the diagram: its place among five, its row, and its name on one or two lines."""

    place: int
    top: float
    name: tuple[str, ...]
    source: bool = False


NODES = {
    "strings": Node(0, UPPER, ("Thermistor", "strings"), source=True),
    "control": Node(1, UPPER, ("Quality", "control")),
    "lags": Node(2, UPPER, ("Lag", "estimation")),
    "index": Node(3, UPPER, ("Break-up", "index")),
    "bulletin": Node(4, UPPER, ("Warning", "bulletin")),
    "dye": Node(2, LOWER, ("Dye tests",), source=True),
    "stage": Node(3, LOWER, ("Stage gauge",), source=True),
    "weather": Node(4, LOWER, ("Weather", "forecast"), source=True),
}
# From, to, and what is passed on.
ARROWS = (
    ("strings", "control", ""),
    ("control", "lags", ""),
    ("lags", "index", ""),
    ("index", "bulletin", ""),
    ("dye", "lags", "travel times"),
    ("stage", "index", "daily rise"),
    ("weather", "bulletin", "next 7 days"),
)


def draw_diagram(sheet: Sheet, area: Rect) -> None:
    """Draw the boxes and the arrows between them."""
    for node in NODES.values():
        _node(sheet, node, _box(node, area))
    for start, end, note in ARROWS:
        first, second = _box(NODES[start], area), _box(NODES[end], area)
        if first.top == second.top:
            middle = first.top + first.height / 2
            sheet.arrow([(first.right, middle), (second.x, middle)], PEN)
        else:
            x = first.x + first.width / 2
            sheet.arrow([(x, first.top), (x, second.bottom)], PEN)
            sheet.label((x + 5, (first.top + second.bottom) / 2 + 2.5), note, NOTE)


def _box(node: Node, area: Rect) -> Rect:
    step = (area.width - BOX[0] - 8) / 4
    return Rect(area.x + 2 + node.place * step, area.top + node.top, *BOX)


def _node(sheet: Sheet, node: Node, box: Rect) -> None:
    sheet.rect(box, PEN, fill="#e4e9ee" if node.source else "#ffffff", radius=4)
    baseline = box.top + box.height / 2 + 3 - 5 * (len(node.name) - 1)
    for line in node.name:
        sheet.label((box.x + box.width / 2, baseline), line, NAME, "centre")
        baseline += 10
