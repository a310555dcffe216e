"""A shaded map of the railway, with its lettering in the picture."""

from __future__ import annotations

from typing import Literal

import numpy as np
from PIL import ImageDraw

from samples.raster import SANS, SANS_BOLD, SANS_ITALIC, Floats, font, jpeg, mix, noise, to_image

WIDTH, HEIGHT = 1000, 900
INK = (38, 38, 44)

# Name, height above the sea, place on the map, and the side of the dot on which the name stands.
Side = Literal["left", "right"]
STATIONS: tuple[tuple[str, str, tuple[int, int], Side], ...] = (
    ("Sölmatt", "612 m", (150, 800), "right"),
    ("Brünn", "748 m", (330, 712), "right"),
    ("Val-Fée", "961 m", (250, 580), "left"),
    ("Käsern", "1204 m", (470, 490), "right"),
    ("Grünegg", "1530 m", (400, 330), "left"),
    ("Grünhorn", "1842 m", (640, 210), "right"),
)
LINE = (
    *((150, 800), (168, 738), (246, 698), (330, 712), (372, 660), (340, 618), (250, 580), (236, 536), (300, 500)),
    *((400, 512), (470, 490), (506, 440), (462, 388), (400, 330), (404, 286), (480, 256), (560, 262), (640, 210)),
)
FOOTPATH = ((470, 490), (470, 552), (552, 572), (640, 548), (716, 590), (764, 600))
LAKE = (810, 622)


def route_map() -> bytes:
    """The map as JPEG."""
    image = to_image(_relief())
    ink = ImageDraw.Draw(image)
    _lake_and_river(ink)
    _footpath(ink)
    _railway(ink)
    for name, height, at, side in STATIONS:
        _station(ink, name, height, (at, side))
    _lettering(ink)
    _legend(ink)
    ink.rectangle((1, 1, WIDTH - 2, HEIGHT - 2), outline=INK, width=3)
    return jpeg(image, 84, subsample=False)


def _relief() -> Floats:
    """The ground: green in the valley, brown and gray above, white at the top, lit from the north-west."""
    rng = np.random.default_rng(1898)
    ys, xs = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float64)
    rise = 0.55 * (1 - ys / HEIGHT) + 0.25 * xs / WIDTH
    peak = 0.3 * np.exp(-(((xs - 720) / 210) ** 2) - ((ys - 110) / 170) ** 2)
    rough = noise(rng, (HEIGHT, WIDTH), (3, 3), 5) - 0.5
    ground = rise + peak + 0.4 * rough
    places = (0.0, 0.3, 0.55, 0.8, 1.0, 1.2)
    colours = ((206, 224, 186), (222, 232, 200), (236, 230, 206), (226, 216, 200), (236, 234, 232), (255, 255, 255))
    tint = np.stack([np.interp(ground, places, [colour[c] for colour in colours]) for c in range(3)], axis=-1)
    down, across = np.gradient(ground * 95.0)
    light = np.clip((1.0 + across * 0.55 + down * 0.55) / np.sqrt(1.0 + across**2 + down**2), 0.0, 1.5)
    return mix(tint, tint * light[..., None], np.full_like(ground, 0.36))


def _smooth(points: tuple[tuple[int, int], ...], steps: int = 12) -> list[tuple[float, float]]:
    """A curve through the points (Catmull-Rom)."""
    known = np.array([points[0], *points, points[-1]], dtype=np.float64)
    curve: list[tuple[float, float]] = []
    for a, b, c, d in zip(known, known[1:], known[2:], known[3:], strict=False):
        for t in np.arange(steps) / steps:
            place = 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
            curve.append((float(place[0]), float(place[1])))
    return [*curve, (float(points[-1][0]), float(points[-1][1]))]


def _lake_and_river(ink: ImageDraw.ImageDraw) -> None:
    x, y = LAKE
    angles = np.arange(0, 360, 6) * np.pi / 180
    shore = [(x + (58 + 9 * np.sin(3 * a)) * np.cos(a), y + (34 + 6 * np.cos(2 * a)) * np.sin(a)) for a in angles]
    river = _smooth(((770, 648), (700, 700), (560, 690), (470, 780), (330, 838), (200, 868), (60, 880)))
    ink.line(river, fill=(118, 170, 210), width=6, joint="curve")
    ink.polygon(shore, fill=(166, 206, 232), outline=(92, 146, 190))


def _footpath(ink: ImageDraw.ImageDraw) -> None:
    curve = _smooth(FOOTPATH)
    for start in range(0, len(curve) - 2, 4):
        ink.line(curve[start : start + 3], fill=(150, 48, 40), width=4)


def _railway(ink: ImageDraw.ImageDraw) -> None:
    curve = _smooth(LINE)
    ink.line(curve, fill=INK, width=7, joint="curve")
    # Short strokes across the line are the usual sign of a rack railway.
    for (x0, y0), (x1, y1) in zip(curve[::5], curve[1::5], strict=False):
        length = max(float(np.hypot(x1 - x0, y1 - y0)), 0.01)
        ox, oy = -(y1 - y0) / length * 9, (x1 - x0) / length * 9
        ink.line([(x0 - ox, y0 - oy), (x0 + ox, y0 + oy)], fill=INK, width=3)


def _station(ink: ImageDraw.ImageDraw, name: str, height: str, place: tuple[tuple[int, int], Side]) -> None:
    (x, y), side = place
    ink.ellipse((x - 13, y - 13, x + 13, y + 13), fill=(255, 255, 255), outline=INK, width=5)
    anchor = "lm" if side == "right" else "rm"
    edge = x + 26 if side == "right" else x - 26
    _halo(ink, (edge, y - 12), name, (SANS_BOLD, 30), anchor)
    _halo(ink, (edge, y + 20), height, (SANS, 25), anchor)


def _halo(ink: ImageDraw.ImageDraw, at: tuple[float, float], text: str, face: tuple[str, int], anchor: str) -> None:
    """Lettering with a pale edge, so that it can be read over the lines of the map."""
    ink.text(at, text, INK, font(*face), anchor, stroke_width=4, stroke_fill=(250, 248, 238))


def _lettering(ink: ImageDraw.ImageDraw) -> None:
    _halo(ink, (LAKE[0], LAKE[1] + 66), "Lac d'Émeraude", (SANS_ITALIC, 27), "mm")
    _halo(ink, (566, 724), "Söl", (SANS_ITALIC, 25), "mm")
    summit = (772, 96)
    ink.polygon(
        [(summit[0] - 13, summit[1] + 11), (summit[0] + 13, summit[1] + 11), (summit[0], summit[1] - 12)], fill=INK
    )
    _halo(ink, (summit[0] + 24, summit[1] - 8), "Piz Sôr", (SANS_ITALIC, 27), "lm")
    _halo(ink, (summit[0] + 24, summit[1] + 22), "2317 m", (SANS, 23), "lm")
    ink.line([(70, 150), (70, 60)], fill=INK, width=4)
    ink.polygon([(70, 44), (59, 76), (81, 76)], fill=INK)
    _halo(ink, (70, 178), "N", (SANS_BOLD, 28), "mm")


def _legend(ink: ImageDraw.ImageDraw) -> None:
    left, top = 706, 746
    ink.rectangle((left, top, WIDTH - 22, HEIGHT - 22), fill=(253, 252, 246), outline=INK, width=2)
    ink.line([(left + 20, top + 28), (left + 76, top + 28)], fill=INK, width=7)
    for step in range(5):
        ink.line([(left + 26 + step * 11, top + 20), (left + 26 + step * 11, top + 36)], fill=INK, width=3)
    for start in range(left + 20, left + 76, 19):
        ink.line([(start, top + 64), (start + 12, top + 64)], fill=(150, 48, 40), width=4)
    ink.line([(left + 20, top + 106), (left + 140, top + 106)], fill=INK, width=4)
    for end in (left + 20, left + 140):
        ink.line([(end, top + 98), (end, top + 114)], fill=INK, width=3)
    for offset, text in ((28, "rack railway"), (64, "footpath")):
        ink.text((left + 92, top + offset), text, INK, font(SANS, 23), "lm")
    ink.text((left + 154, top + 106), "1 km", INK, font(SANS, 23), "lm")
