"""What a page shows besides its text: rules, and clusters of ink. Works on drawn pages, digital and scanned alike."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box
from quoteweave.documents.lines import Line
from quoteweave.documents.pdf_page import Picture, Pixels

# Points. A rule is a thin line at least this long; ink closer than the gap belongs together; less is a bullet or icon.
RULE_LENGTH = 24.0
RULE_THICKNESS = 3.0
GAP = 10
LEAST_SIDE = 22.0
# How far a colour channel must be from the background's to count as ink: above JPEG noise, below a pale table header.
INK = 28
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


def find_drawing(picture: Picture, lines: Iterable[Line]) -> Drawing:
    """Mask the text and cluster what is left."""
    import cv2

    ink = _ink(picture)
    # Rules are looked for before the text is masked, for the mask cuts shaded headers to pieces.
    horizontal, vertical = _rules(ink, picture.scale, wide=True), _rules(ink, picture.scale, wide=False)
    for line in lines:
        for word in line.words:
            x1, y1, x2, y2 = _pixels(word.box, picture.scale, margin=1.0)
            ink[y1:y2, x1:x2] = 0
    height, width = (max(1, round(side / picture.scale)) for side in ink.shape)
    coarse = (cv2.resize(ink * 255, (width, height), interpolation=cv2.INTER_AREA) > 20).astype(np.uint8)
    return Drawing(horizontal, vertical, tuple(_clusters(_without_lone_rules(coarse))))


def _ink(picture: Picture) -> Mask:
    """1 where a pixel is of no background: not of the page's commonest colour, nor of a flat band along its edge."""
    import cv2

    sample = np.ascontiguousarray(picture.pixels[::STEP, ::STEP])
    codes = (sample >> 3).astype(np.int32) @ np.array([1 << 10, 1 << 5, 1], dtype=np.int32)
    counts = np.bincount(codes.ravel())
    common = [code for code in np.argsort(counts)[::-1][:4] if counts[code] > LEAST_BAND * codes.size]
    commonest = common[0] if common else int(counts.argmax())
    background = np.median(sample[codes == commonest], axis=0)
    ink = _unlike(picture.pixels, background)
    for code in common[1:]:
        flat = (1 - _unlike(sample, np.median(sample[codes == code], axis=0))) & _unlike(sample, background)
        band = _touching_the_edge(flat)
        if band.any():
            size = (ink.shape[1], ink.shape[0])
            ink &= 1 - cv2.resize(band, size, interpolation=cv2.INTER_NEAREST)
    return ink


def _unlike(pixels: Pixels, colour: npt.NDArray[np.float64]) -> Mask:
    import cv2

    low, high = (np.clip(colour + sign * INK, 0, 255) for sign in (-1, 1))
    return 1 - cv2.inRange(pixels, low, high) // 255


def _touching_the_edge(flat: Mask) -> Mask:
    """Large areas of one colour that reach the page's edge: the bands and margins that slides are decorated with."""
    import cv2

    solid = cv2.morphologyEx(flat, cv2.MORPH_OPEN, np.ones((5, 5), dtype=np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    at_edge = np.unique(np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]]))
    large = [label for label in at_edge if label and stats[label, cv2.CC_STAT_AREA] > LEAST_BAND * flat.size]
    return cv2.dilate(np.isin(labels, large).astype(np.uint8), np.ones((3, 3), dtype=np.uint8))


def _pixels(box: Box, scale: float, *, margin: float) -> tuple[int, int, int, int]:
    x1, y1 = (max(0, int((edge - margin) * scale)) for edge in box[:2])
    x2, y2 = (max(0, int((edge + margin) * scale) + 1) for edge in box[2:])
    return x1, y1, x2, y2


def _rules(ink: Mask, scale: float, *, wide: bool) -> tuple[Box, ...]:
    import cv2

    length, thickness = int(RULE_LENGTH * scale), RULE_THICKNESS * scale
    kernel = np.ones((1, length) if wide else (length, 1), dtype=np.uint8)
    stats = cv2.connectedComponentsWithStats(cv2.morphologyEx(ink, cv2.MORPH_OPEN, kernel), connectivity=8)[2][1:]
    thin = stats[:, cv2.CC_STAT_HEIGHT if wide else cv2.CC_STAT_WIDTH] <= thickness
    solid = stats[:, cv2.CC_STAT_AREA] > 0.85 * stats[:, cv2.CC_STAT_WIDTH] * stats[:, cv2.CC_STAT_HEIGHT]
    rules = [_box(row / scale) for row in stats[thin, :4].astype(np.float64)]
    # A filled rectangle, such as a shaded header, ends like a rule on each side.
    for row in stats[solid & ~thin, :4].astype(np.float64):
        x1, y1, x2, y2 = _box(row / scale)
        rules += [(x1, y1, x2, y1 + 1), (x1, y2 - 1, x2, y2)] if wide else [(x1, y1, x1 + 1, y2), (x2 - 1, y1, x2, y2)]
    return tuple(rules)


def _box(row: npt.NDArray[np.float64]) -> Box:
    x, y, width, height = (float(value) for value in row)
    return (x, y, x + width, y + height)


def _without_lone_rules(coarse: Mask) -> Mask:
    """A rule that touches nothing separates text or underlines it; it is no part of a picture."""
    import cv2

    count, labels, stats, _ = cv2.connectedComponentsWithStats(coarse, connectivity=8)
    thin = np.minimum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT]) <= RULE_THICKNESS
    keep = ~thin
    keep[0] = False
    return keep[labels].astype(np.uint8) if count > 1 else coarse


def _clusters(coarse: Mask) -> list[Box]:
    import cv2

    near = cv2.dilate(coarse, np.ones((GAP, GAP), dtype=np.uint8))
    _, labels = cv2.connectedComponents(near, connectivity=8)
    rows, columns = np.nonzero(coarse)
    owner = labels[rows, columns]
    found = []
    for label in np.unique(owner):
        ys, xs = rows[owner == label], columns[owner == label]
        box = (float(xs.min()), float(ys.min()), float(xs.max() + 1), float(ys.max() + 1))
        if min(box[2] - box[0], box[3] - box[1]) >= LEAST_SIDE:
            found.append(box)
    return found
