"""A typewritten page of field notes with a sketch, as it comes from a scanner: a picture without any text."""

from __future__ import annotations

import math
import textwrap
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from samples.annotations import FIGURE, TEXT, Question, Sample
from samples.raster import TYPEWRITER, font, jpeg, noise, to_image
from samples.sheet import Mark, Point, Rect, Sheet
from samples.sketch import draw_sketch

PAGE = (595.28, 841.89)
# An A4 page at 150 dots per inch.
PIXELS = (1240, 1754)
TILT = math.radians(0.45)
LEFT, SIZE, LINE = 150, 25, 39
CHARACTERS = 62

HEADING = "HALLOW MOSS                 FIELD NOTES                  Sheet 7"
METHOD = (
    "Peat depth survey, transect 2. Observers: M. Oduya and L. Ferrant. "
    "Overcast, light wind from the north-west, air 9 C. Six stations, A to F, "
    "were pegged at intervals of 20 m, A being the one at the forest edge. "
    "Depth was probed with a threaded steel rod and read to the nearest "
    "centimetre from the top of the living moss."
)
READINGS = (
    "Station          A      B      C      D      E      F",
    "Depth (cm)      85    142    236    318    271    164",
    "Water (cm)      12      9      4      2      6     11",
)
FINDING = (
    "At station D the rod met a layer of wood at 290 cm. A birch twig was "
    "recovered from it and bagged as sample H7-3. Below the wood the peat is "
    "darker and smells of sulphur; the grey clay underneath was reached at "
    "every station except E, where the last rod bent."
)
CAPTION = "Sketch: plan of transect 2."
TO_DO = "To do: level the pegs; return to E with the spare rod."

QUESTIONS = (
    Question(
        "In the Hallow Moss field notes, what did the rod meet at station D, and at what depth?",
        "A layer of wood at 290 cm",
        (TEXT,),
        ("finding",),
    ),
    Question(
        "On the sketch of transect 2 at Hallow Moss, which station lies closest to the pool?",
        "Station D",
        (FIGURE,),
        ("sketch",),
    ),
)


class Typewriter:
    """Types lines of fixed-width letters onto a page and remembers where the paragraphs stand."""

    def __init__(self, page: Image.Image) -> None:
        self._ink = ImageDraw.Draw(page)
        self._font = font(TYPEWRITER, SIZE)
        self._rng = np.random.default_rng(73)
        self.y = 150
        self.boxes: dict[str, Rect] = {}

    def lines(self, name: str, lines: list[str]) -> None:
        """Type the lines; some letters come out heavier than others."""
        top, widest = self.y, max(len(line) for line in lines)
        step = self._font.getlength("0")
        for line in lines:
            for column, letter in enumerate(line):
                shade, lift = int(self._rng.integers(20, 62)), int(self._rng.integers(0, 2))
                at = (LEFT + column * step, self.y + lift)
                self._ink.text(at, letter, shade, self._font, stroke_width=0.5)
            self.y += LINE
        self.boxes[name] = Rect(LEFT, top, widest * step, self.y - top - LINE + SIZE * 1.15)

    def paragraph(self, name: str, text: str) -> None:
        """Type a paragraph, broken into lines by hand as on a machine."""
        self.lines(name, textwrap.wrap(text, CHARACTERS))
        self.y += 24


def build_field_notes(path: Path) -> Sample:
    """Write the document; return where its evidence stands."""
    picture, boxes = _scan()
    sheet = Sheet(path, PAGE, title="Hallow Moss field notes, sheet 7", author="M. Oduya, L. Ferrant")
    sheet.picture(Rect(0, 0, *PAGE), picture)
    sheet.save()
    marks = {name: [Mark(0, _on_page(box))] for name, box in boxes.items()}
    return Sample(path.name, "Research report / Introduction", PAGE, marks, QUESTIONS)


def _scan() -> tuple[bytes, dict[str, Rect]]:
    """The page as the scanner saw it, and the boxes on the page before it was laid on the glass askew."""
    page = Image.new("L", PIXELS, 246)
    typist = Typewriter(page)
    typist.lines("heading", [HEADING])
    typist.y += 30
    typist.paragraph("method", METHOD)
    typist.lines("readings", list(READINGS))
    typist.y += 24
    typist.paragraph("finding", FINDING)
    area = Rect(LEFT, typist.y + 10, 940, 560)
    draw_sketch(page, area)
    typist.y = int(area.bottom) + 26
    typist.paragraph("caption", CAPTION)
    typist.paragraph("to do", TO_DO)
    # The frame was drawn by an unsteady hand and strays a little outside.
    typist.boxes["sketch"] = Rect(area.x - 5, area.top - 5, area.width + 10, area.height + 10)
    tilted = page.rotate(math.degrees(TILT), Image.Resampling.BICUBIC, fillcolor=246)
    return jpeg(_glass(tilted.filter(ImageFilter.GaussianBlur(0.55))), 60), typist.boxes


def _glass(page: Image.Image) -> Image.Image:
    """Uneven light, the shadow of the left edge, and the noise of the sensor."""
    rng = np.random.default_rng(29)
    pixels = np.asarray(page, dtype=np.float64)
    pixels = pixels - 9.0 * noise(rng, pixels.shape, (4, 3), 2)
    pixels = pixels - 70.0 * np.exp(-np.arange(PIXELS[0]) / 9.0)[None, :]
    return to_image(pixels + rng.normal(0.0, 2.4, pixels.shape))


def _on_page(box: Rect) -> Rect:
    """The upright box, in points, around a box in pixels that was turned with its page."""
    corners = [(x, y) for x in (box.x, box.right) for y in (box.top, box.bottom)]
    turned = [_turn(corner) for corner in corners]
    x, top = min(p[0] for p in turned), min(p[1] for p in turned)
    return Rect(x, top, max(p[0] for p in turned) - x, max(p[1] for p in turned) - top)


def _turn(point: Point) -> Point:
    """Where a pixel ends on the page: turned counter-clockwise about the middle, then scaled to points."""
    dx, dy = point[0] - PIXELS[0] / 2, point[1] - PIXELS[1] / 2
    x = PIXELS[0] / 2 + dx * math.cos(TILT) + dy * math.sin(TILT)
    y = PIXELS[1] / 2 - dx * math.sin(TILT) + dy * math.cos(TILT)
    return x * PAGE[0] / PIXELS[0], y * PAGE[1] / PIXELS[1]
