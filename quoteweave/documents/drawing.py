"""What a page shows besides its text: rules, and clusters of ink. Works on drawn pages, digital and scanned alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area, inside
from quoteweave.documents.lines import Line
from quoteweave.documents.nearby import Nearby
from quoteweave.documents.raw_page import Picture
from quoteweave.documents.rules import RULE_THICKNESS, box_of, find_rules, shapes_of, shrunk

if TYPE_CHECKING:
    from cv2.typing import MatLike

# Points: ink closer than the gap belongs together; a smaller side is a bullet's or an icon's.
GAP = 10.0
LEAST_SIDE = 22.0
# A page with more clusters than this is a pattern; the largest are kept.
MOST_CLUSTERS = 300
# How far a colour channel must be from the background's to count as ink: above JPEG noise, below a pale table header.
INK = 28
# Share of a coarse pixel that must be inked.
DENSITY = 0.08
# A second background is at least this share of the page; pixels skipped when colours are counted.
LEAST_BAND = 0.04
STEP = 4

Mask = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Drawing:
    """The ink of a page that is not text. All boxes in points."""

    horizontal: tuple[Box, ...]  # rules
    vertical: tuple[Box, ...]
    clusters: tuple[Box, ...]  # what is drawn: figures, charts, shaded boxes
    specks: tuple[Box, ...] = ()  # what is drawn and small: dots of a chart, letters drawn as outlines, bullets


def find_drawing(picture: Picture, lines: Sequence[Line]) -> Drawing:
    """Find the rules, then mask the text and cluster what is left."""
    words = np.array([word.box for line in lines for word in line.words], dtype=np.float64).reshape(-1, 4)
    ink, dark = _ink(picture)
    horizontal, vertical = find_rules(picture, ink, words, threshold=INK, dark=dark)
    _erase(ink, words, picture.scale)
    coarse, scale = shrunk(ink, picture.scale)
    drawn = (coarse > DENSITY * 255).astype(np.uint8)
    _remove_lone_rules(drawn, scale)
    near = Nearby(lines)
    clusters, specks = _clusters(drawn, scale)
    return Drawing(_outside(horizontal, near), _outside(vertical, near), clusters, specks)


def _outside(rules: Sequence[Box], lines: Nearby[Line]) -> tuple[Box, ...]:
    """Without those that are strokes of letters, or underline words."""
    return tuple(rule for rule in rules if not any(inside(rule, line.box) > 0.8 for line in lines.meeting(rule)))


def _ink(picture: Picture) -> tuple["MatLike", bool]:
    """255 where a pixel is of no background; and whether the background is dark.

    Backgrounds are the page's commonest colour, and flat bands along its edges.
    """
    import cv2

    sample = np.ascontiguousarray(picture.pixels[::STEP, ::STEP])
    red, green, blue = (sample[:, :, i].astype(np.int32) >> 3 for i in range(3))
    codes = red << 10 | green << 5 | blue
    counts = np.bincount(codes.ravel())
    large = np.flatnonzero(counts > LEAST_BAND * codes.size)
    common = sorted(large, key=lambda code: -int(counts[code])) or [counts.argmax()]
    background = _middle(sample, codes == common[0])
    ink = cv2.bitwise_not(_like(picture.pixels, background))
    for code in common[1:4]:
        flat = _like(sample, _middle(sample, codes == code)) & ~_like(sample, background)
        band = _touching_the_edge(flat)
        if band.any():
            ink[cv2.resize(band, ink.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0] = 0
    return ink, bool(background.mean() < 128)


def _middle(sample: "MatLike", chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The median colour; one pixel in eight tells it."""
    return np.asarray(np.median(sample[chosen][::8], axis=0), dtype=np.float64)


def _like(pixels: "MatLike", colour: npt.NDArray[np.float64]) -> Mask:
    """255 where a pixel is of this colour."""
    import cv2

    low, high = (np.clip(colour + sign * INK, 0, 255) for sign in (-1, 1))
    return cv2.inRange(pixels, low, high).astype(np.uint8, copy=False)


def _touching_the_edge(flat: Mask) -> "MatLike":
    """Large areas of one colour that reach the page's edge: the bands and margins that slides are decorated with."""
    import cv2

    solid = cv2.morphologyEx(flat, cv2.MORPH_OPEN, np.ones((5, 5), dtype=np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    large = stats[:, cv2.CC_STAT_AREA] > LEAST_BAND * flat.size
    large[0] = False
    at_edge = np.zeros_like(large)
    at_edge[np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])] = True
    return cv2.dilate((large & at_edge)[labels].astype(np.uint8), np.ones((3, 3), dtype=np.uint8))


def _erase(ink: "MatLike", words: npt.NDArray[np.float64], scale: float) -> None:
    """Clear the words, and a point around each."""
    low = np.maximum(0, (words[:, :2] - 1) * scale).astype(int)
    high = np.maximum(0, (words[:, 2:] + 1) * scale + 1).astype(int)
    for (x1, y1), (x2, y2) in zip(low.tolist(), high.tolist(), strict=True):
        ink[y1:y2, x1:x2] = 0


def _remove_lone_rules(drawn: Mask, scale: float) -> None:
    """A rule that touches nothing separates text or underlines it; it is no part of a picture."""
    import cv2

    thin = [shape for shape in shapes_of(drawn) if min(cv2.boundingRect(shape)[2:]) <= RULE_THICKNESS * scale]
    cv2.drawContours(drawn, thin, -1, 0, cv2.FILLED)


def _clusters(drawn: Mask, scale: float) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """The boxes of ink that belongs together, the largest first: those of pictures, and smaller ones."""
    import cv2

    reach = max(1, round(GAP / 2 * scale))
    # A border as wide as the ink is spread: each cluster's box is that of its spread ink, less that much all round.
    padded = cv2.copyMakeBorder(drawn, reach, reach, reach, reach, cv2.BORDER_CONSTANT, value=0)
    spread = cv2.dilate(padded, np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8))
    margin = 2 * reach / scale
    spread_boxes = (box_of(shape, scale) for shape in shapes_of(spread))
    boxes = [(x1, y1, x2 - margin, y2 - margin) for x1, y1, x2, y2 in spread_boxes]
    large: list[Box] = []
    small: list[Box] = []
    for box in sorted(boxes, key=lambda box: -area(box)):
        (large if min(box[2] - box[0], box[3] - box[1]) >= LEAST_SIDE else small).append(box)
    return tuple(large[:MOST_CLUSTERS]), tuple(small[:MOST_CLUSTERS])
