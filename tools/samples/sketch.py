"""A plan sketched by hand: lines that waver, lettering by pen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw

from samples.raster import SANS_ITALIC, font
from samples.sheet import Point, Rect

PENCIL = 52
# Places on the plan, in pixels from its top left corner.
STATIONS: tuple[tuple[str, Point], ...] = (
    ("A", (150, 330)),
    ("B", (270, 312)),
    ("C", (392, 296)),
    ("D", (512, 276)),
    ("E", (634, 262)),
    ("F", (756, 242)),
)
POOL: Point = (528, 388)


class Hand:
    """Draws on a page as an unsteady hand would."""

    def __init__(self, page: Image.Image, origin: Point) -> None:
        self._ink = ImageDraw.Draw(page)
        self._rng = np.random.default_rng(5)
        self._origin = origin

    def stroke(self, points: Sequence[Point], width: int = 3, *, closed: bool = False) -> None:
        """A wavering line through the points."""
        through = [*points, points[0]] if closed else list(points)
        path: list[Point] = []
        for (x0, y0), (x1, y1) in pairwise(through):
            steps = max(int(np.hypot(x1 - x0, y1 - y0) / 14), 1)
            path += [(x0 + (x1 - x0) * k / steps, y0 + (y1 - y0) * k / steps) for k in range(steps)]
        path.append(through[-1])
        drift = self._rng.normal(0.0, 1.1, (len(path), 2))
        drift = (drift + np.roll(drift, 1, axis=0)) / 1.6
        x, y = self._origin
        line = [(x + px + float(dx), y + py + float(dy)) for (px, py), (dx, dy) in zip(path, drift, strict=True)]
        self._ink.line(line, fill=PENCIL, width=width, joint="curve")

    def ring(self, middle: Point, across: float, down: float, width: int = 3) -> None:
        """A closed curve around a point."""
        angles = np.arange(0.0, 2 * np.pi, 0.35)
        points = [(middle[0] + across * float(np.cos(a)), middle[1] + down * float(np.sin(a))) for a in angles]
        self.stroke(points, width, closed=True)

    def dashes(self, start: Point, end: Point, count: int) -> None:
        """A broken line."""
        ux, uy = (end[0] - start[0]) / count, (end[1] - start[1]) / count
        for k in range(count):
            x, y = start[0] + ux * k, start[1] + uy * k
            self.stroke([(x, y), (x + ux * 0.6, y + uy * 0.6)], 2)

    def word(self, at: Point, text: str, size: int = 25, anchor: str = "mm") -> None:
        """Lettering in slanted capitals and small letters."""
        x, y = self._origin
        self._ink.text((x + at[0], y + at[1]), text, PENCIL, font(SANS_ITALIC, size), anchor)


def draw_sketch(page: Image.Image, area: Rect) -> None:
    """Draw the plan of the transect into an area of the page."""
    hand = Hand(page, (area.x, area.top))
    width, height = area.width, area.height
    hand.stroke([(0, 0), (width, 0), (width, height), (0, height)], closed=True)
    _forest(hand, height)
    _transect(hand)
    _pool(hand)
    _ditch(hand, height)
    _key(hand, width, height)


def _forest(hand: Hand, height: float) -> None:
    hand.stroke([(112, 6), (98, 120), (116, 240), (104, 360), (122, 460), (110, height - 6)])
    for x, y in ((40, 70), (72, 150), (34, 226), (66, 400), (36, 478)):
        hand.ring((x, y), 17, 17, 2)
        hand.stroke([(x, y + 17), (x, y + 36)], 2)
    hand.word((56, 312), "forest")


def _transect(hand: Hand) -> None:
    hand.stroke([STATIONS[0][1], STATIONS[-1][1]], 2)
    for name, (x, y) in STATIONS:
        hand.stroke([(x - 8, y - 8), (x + 8, y + 8)])
        hand.stroke([(x - 8, y + 8), (x + 8, y - 8)])
        hand.word((x, y - 32), name, 30)


def _pool(hand: Hand) -> None:
    x, y = POOL
    hand.ring(POOL, 84, 46)
    for row in (-26, -13, 16, 28):
        half = 58 - abs(row) * 0.7
        hand.stroke([(x - half, y + row), (x + half, y + row)], 1)
    hand.word((x, y + 2), "pool")


def _ditch(hand: Hand, height: float) -> None:
    edge = [(812, 6), (796, 130), (824, 250), (806, 380), (820, height - 6)]
    hand.stroke(edge, 2)
    hand.stroke([(x + 16, y) for x, y in edge], 2)
    hand.word((886, 300), "ditch")
    hand.dashes((116, 150), (792, 96), 25)
    hand.word((470, 90), "path")


def _key(hand: Hand, width: float, height: float) -> None:
    hand.stroke([(width - 46, 108), (width - 46, 40)])
    hand.stroke([(width - 56, 60), (width - 46, 38), (width - 36, 60)])
    hand.word((width - 46, 130), "N")
    hand.stroke([(170, height - 44), (291, height - 44)])
    hand.stroke([(170, height - 54), (170, height - 34)])
    hand.stroke([(291, height - 54), (291, height - 34)])
    hand.word((230, height - 72), "20 m", 23)
