"""Finds rectangles of one colour on a rendered page: bars of charts and swatches of their legends."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area, hull
from quoteweave.documents.sources.raw_page import Pixels, Raster

# How far a colour channel may differ from the colour that it counts as: JPEG noise is some ten steps.
LIKE = 12
# How many colours of a picture are examined, and the least number of pixels of each: a swatch of four points has 64.
MAX_COLOURS = 24
# How many other colours are examined only to know whether bars are left out.
FURTHER_COLOURS = 8
MIN_PIXELS = 40
# The least shorter side of a rectangle, in points, and the least share of its box that it, or letters in it, fill.
MIN_SIDE = 2.5
FILLED = 0.9
# The width, in points, of a line that cuts a bar in two.
CUT = 2.0
# The largest size of a legend's dot, in points, and the share of its box that it fills: a circle fills 0.785.
DOT, FILLED_BY_DOT = 12.0, 0.7
# A rectangle that covers more of the picture than this is its background.
GROUND = 0.6
MAX_RECTANGLES = 400
# The least share of the edge around a word that has one colour for the word to be on that colour.
SURROUNDED = 0.8


Ink = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]
"""Red, green and blue, 0 to 255."""


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A filled rectangle in points, and its colour."""

    box: Box
    colour: Colour


def are_alike(colour: Colour, other: Colour) -> bool:
    """Whether two colours are the same, except for changes by drawing and compression."""
    return max(abs(a - b) for a, b in zip(colour, other, strict=True)) <= LIKE


def find_rectangles(picture: Raster, box: Box, words: Iterable[Box] = ()) -> list[Rectangle]:
    """Return the rectangles within a box of the page, from top to bottom; none if there are too many to be bars.

    `words` are the boxes of the words there: a rectangle with a word printed across it is still one.
    """
    pixels, (left, top) = without_words(picture, box, words)
    ground, *colours = _colours(pixels)
    if any(next(_boxes_of_colour(pixels, further, picture.scale), None) for further in colours[MAX_COLOURS:]):
        return []  # else some of the bars would be taken for all of them
    rectangles = [
        Rectangle((x1 + left, y1 + top, x2 + left, y2 + top), colour)
        for colour in colours[:MAX_COLOURS]
        for x1, y1, x2, y2 in _uncut([*_boxes_of_colour(pixels, colour, picture.scale)], pixels, ground, picture.scale)
    ]
    bars = [rectangle for rectangle in rectangles if area(rectangle.box) < GROUND * area(box)]
    return sorted(bars, key=lambda bar: (bar.box[1], bar.box[0])) if len(bars) <= MAX_RECTANGLES else []


def without_words(picture: Raster, box: Box, words: Iterable[Box]) -> tuple[Pixels, tuple[float, float]]:
    """The pixels of a box with words painted over in the colour around them, and its top left corner in points."""
    pixels = np.array(picture.cut(box))
    left, top = (max(0, int(edge * picture.scale)) / picture.scale for edge in box[:2])
    for x1, y1, x2, y2 in words:
        _wipe(pixels, (x1 - left, y1 - top, x2 - left, y2 - top), picture.scale)
    return pixels, (left, top)


def _wipe(pixels: Pixels, word: Box, scale: float) -> None:
    """Paint over a word in the colour that surrounds it, if there is one."""
    height, width = pixels.shape[:2]
    x1, y1 = (max(0, int(edge * scale) - 1) for edge in word[:2])
    x2, y2 = min(width, int(word[2] * scale) + 2), min(height, int(word[3] * scale) + 2)
    if x2 - x1 < 3 or y2 - y1 < 3:
        return
    place = pixels[y1:y2, x1:x2]
    rim = _rim(place)
    ground = _commonest_colours(rim, 1)[0]
    if (np.abs(rim - np.array(ground)).max(axis=1) <= LIKE).mean() >= SURROUNDED:
        place[:] = ground


def _colours(pixels: Pixels) -> list[Colour]:
    """The colour of most of the picture's edge, and the commonest others that differ clearly from commoner ones."""
    flat = pixels.reshape(-1, 3)
    chosen = _commonest_colours(_rim(pixels), 1)
    for colour in _commonest_colours(flat, 16 * MAX_COLOURS):
        if not any(are_alike(colour, other) for other in chosen):
            chosen.append(colour)
    return chosen[: 1 + MAX_COLOURS + FURTHER_COLOURS]


def drawn_on_ground(pixels: Pixels) -> Ink:
    """(height, width): 1 where something is drawn, which differs from the commonest colour of the picture's edge."""
    ground = np.array(_commonest_colours(_rim(pixels), 1)[0])
    ink: Ink = (np.abs(pixels - ground).max(axis=2) > LIKE).astype(np.uint8)
    return ink


def _rim(pixels: Pixels) -> Pixels:
    return np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])


def _commonest_colours(pixels: Pixels, count: int) -> list[Colour]:
    codes = pixels.astype(np.int32) @ np.array([1 << 16, 1 << 8, 1])
    # Exact colours are counted: a drawn bar has one, and in a scanned one's noise the commonest is in the middle.
    values, counts = np.unique(codes, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:count]
    common_codes = [int(values[at]) for at in order if counts[at] >= MIN_PIXELS] or [int(values[order[0]])]
    return [(code >> 16, code >> 8 & 255, code & 255) for code in common_codes]


def _boxes_of_colour(pixels: Pixels, colour: Colour, scale: float) -> Iterator[Box]:
    import cv2

    low, high = (np.clip(np.array(colour) + sign * LIKE, 0, 255) for sign in (-1, 1))
    mask: npt.NDArray[np.uint8] = cv2.inRange(pixels, low, high).astype(np.uint8, copy=False)
    # The blended pixels between two colours are a line one pixel wide, which may look like a third colour.
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), dtype=np.uint8)).astype(np.uint8, copy=False)
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for outline in outlines:
        x, y, width, height = cv2.boundingRect(outline)
        if min(width, height) < MIN_SIDE * scale:
            continue
        # An outline runs through the middle of its pixels.
        inner = (width - 1) * (height - 1)
        dot = max(width, height) <= DOT * scale and abs(width - height) <= 2
        if cv2.contourArea(outline) >= (FILLED_BY_DOT if dot else FILLED) * inner:
            yield (x / scale, y / scale, (x + width) / scale, (y + height) / scale)


def _uncut(boxes: list[Box], pixels: Pixels, ground: tuple[int, int, int], scale: float) -> list[Box]:
    """The boxes of one colour, joined where a grid line cuts them."""
    for start in (0, 1):
        joined: list[Box] = []
        for box in sorted(boxes, key=lambda box: (round(box[start]), box[1 - start])):
            last = joined[-1] if joined else None
            if last is not None and _is_cut_from(last, box, start) and not _is_ground(last, box, pixels, ground, scale):
                joined[-1] = hull([last, box])
            else:
                joined.append(box)
        boxes = joined
    return boxes


def _is_cut_from(box: Box, other: Box, start: int) -> bool:
    is_level = all(abs(box[side] - other[side]) <= 1 for side in (start, start + 2))
    return is_level and 0 <= other[1 - start] - box[3 - start] <= CUT


def _is_ground(box: Box, other: Box, pixels: Pixels, ground: tuple[int, int, int], scale: float) -> bool:
    """Whether the area between two boxes has the background's colour, so that they are separate."""
    x, y = (int(scale * middle) for middle in _middle_between(box, other))
    return bool(np.abs(pixels[y, x].astype(np.int16) - np.array(ground)).max() <= LIKE)


def _middle_between(box: Box, other: Box) -> tuple[float, float]:
    x = (max(box[0], other[0]) + min(box[2], other[2])) / 2
    y = (max(box[1], other[1]) + min(box[3], other[3])) / 2
    return x, y
