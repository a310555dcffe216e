"""Pairs the slices of a pie or ring chart with printed values and labels, where their angles confirm the values."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box
from quoteweave.documents.charts.bars import ChartRow
from quoteweave.documents.charts.rectangles import LIKE, Colour, are_alike, drawn_on_ground, without_words
from quoteweave.documents.charts.tokens import Token, amount, box_of, phrases_of, unit
from quoteweave.documents.sources.raw_page import Pixels, Raster

# In points: the width of separators between slices and of leader lines, and the least radius of a pie.
SEPARATOR, LEADER = 2.0, 3.0
MIN_RADIUS = 20.0
# The largest ratio of the sides of a disc, and the least share of its rim that is drawn.
ROUND, ON_RIM = 1.05, 0.97
# Radii, as shares of the whole, at which colours are sampled; the number of angles; the least share of them in slices.
RADII = (0.84, 0.88, 0.92)
ANGLES = 720
IN_SLICES = 0.93
MIN_SLICE = 4  # angles
MIN_SLICES, MAX_SLICES = 2, 16
# How far the angle of a slice may differ from its value, as a share of the whole.
OFF = 0.012
# The largest radius, in radii of the pie, of labels and values outside it; by how many angles they may be off.
OUTSIDE, OFF_SLICE = 1.45, 4
MAX_LABEL_WORDS = 8
# The largest gap between rows of one label, in font sizes.
BELOW = 0.4

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice of one colour, with its start and end in steps of the circle, clockwise from the top."""

    colour: Colour
    start: float
    end: float

    @property
    def share(self) -> float:
        """Its share of the whole, 0 to 1."""
        return (self.end - self.start) / ANGLES

    def contains(self, angle: float, *, slack: float = 0.0) -> bool:
        """Whether it includes this angle."""
        return any(self.start - slack <= angle + turn <= self.end + slack for turn in (-ANGLES, 0, ANGLES))


@dataclass(frozen=True, slots=True)
class Pie:
    """A disc or ring made of slices of different colours; its middle and radii in points."""

    middle: tuple[float, float]
    radius: float
    inner: float
    slices: tuple[Slice, ...]

    def polar(self, point: tuple[float, float]) -> tuple[float, float]:
        """The radius of a point as a share of the pie's, and its angle."""
        x, y = point[0] - self.middle[0], point[1] - self.middle[1]
        return math.hypot(x, y) / self.radius, math.degrees(math.atan2(x, -y)) % 360 * ANGLES / 360


def find_pie(picture: Raster, box: Box, words: Sequence[Box]) -> Pie | None:
    """Return the only disc or ring in a box, if it is made of slices of different colours."""
    pixels, (left, top) = without_words(picture, box, words)
    discs = list(_discs(pixels, picture.scale))
    if len(discs) != 1:
        return None
    x, y, radius = discs[0]
    samples = np.stack([_ring(pixels, (x, y), radius * share) for share in RADII])
    slices = _slices(np.median(samples, axis=0))
    if slices is None:
        return None
    middle = (left + x / picture.scale, top + y / picture.scale)
    return Pie(middle, radius / picture.scale, _inner(pixels, (x, y), radius, slices), tuple(slices))


def _discs(pixels: Pixels, scale: float) -> Iterator[tuple[float, float, float]]:
    """Middle and radius of round shapes, in pixels."""
    import cv2

    ink = drawn_on_ground(pixels)
    for way, size in ((cv2.MORPH_CLOSE, SEPARATOR), (cv2.MORPH_OPEN, LEADER)):
        ink = cv2.morphologyEx(ink, way, np.ones((round(size * scale),) * 2, dtype=np.uint8)).astype(np.uint8)
    outlines, _ = cv2.findContours(ink, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    for outline in outlines:
        x, y, width, height = cv2.boundingRect(outline)
        if min(width, height) < 2 * MIN_RADIUS * scale or max(width, height) > ROUND * min(width, height):
            continue
        middle, radius = (x + (width - 1) / 2, y + (height - 1) / 2), (width + height - 2) / 4
        distances = np.hypot(*(outline.reshape(-1, 2) - np.array(middle)).T)
        if (np.abs(distances - radius) <= max(2.0, 0.03 * radius)).mean() >= ON_RIM:
            yield (*middle, radius)


def _ring(pixels: Pixels, middle: tuple[float, float], radius: float) -> Floats:
    """The colours (ANGLES, 3) around a circle, clockwise from the top."""
    turns = np.arange(ANGLES) * 2 * math.pi / ANGLES
    x = np.clip(np.rint(middle[0] + radius * np.sin(turns)).astype(int), 0, pixels.shape[1] - 1)
    y = np.clip(np.rint(middle[1] - radius * np.cos(turns)).astype(int), 0, pixels.shape[0] - 1)
    return np.asarray(pixels[y, x], dtype=np.float64)


def _slices(ring: Floats) -> list[Slice] | None:
    """The slices in a circle of colours (ANGLES, 3); None if two are alike, or if much of the circle is in none."""
    same = np.abs(ring - np.roll(ring, 1, axis=0)).max(axis=1) <= LIKE
    edges = np.flatnonzero(~same)
    if len(edges) < MIN_SLICES:
        return None
    runs: list[tuple[int, int, Colour]] = []
    for start, end in itertools.pairwise([*edges.tolist(), int(edges[0]) + ANGLES]):
        if end - start < MIN_SLICE:
            continue
        red, green, blue = np.median(np.take(ring, range(start, end), axis=0, mode="wrap"), axis=0)
        colour = (int(red), int(green), int(blue))
        if runs and are_alike(runs[-1][2], colour):
            runs[-1] = (runs[-1][0], end, runs[-1][2])
        else:
            runs.append((start, end, colour))
    if len(runs) > 1 and are_alike(runs[0][2], runs[-1][2]):
        first, last = runs.pop(0), runs.pop()
        runs.append((last[0], first[1] + ANGLES, last[2]))
    are_distinct = all(not are_alike(a[2], b[2]) for a, b in itertools.combinations(runs, 2))
    if not are_distinct or not MIN_SLICES <= len(runs) <= MAX_SLICES:
        return None
    if sum(end - start for start, end, _ in runs) < IN_SLICES * ANGLES:
        return None
    # Half of what separates two slices is added to each.
    ends = [end for _, end, _ in runs]
    starts = [start for start, _, _ in runs[1:]] + [runs[0][0] + ANGLES]
    boundaries = [(end + start) / 2 for end, start in zip(ends, starts, strict=True)]
    slices = [
        Slice(colour, begin, end)
        for (_, _, colour), begin, end in zip(runs, [boundaries[-1] - ANGLES, *boundaries], boundaries, strict=False)
    ]
    return sorted(slices, key=lambda part: (part.start + MIN_SLICE) % ANGLES)


def _inner(pixels: Pixels, middle: tuple[float, float], radius: float, slices: Sequence[Slice]) -> float:
    """The radius, as a share of the whole, at which the slices begin; 0 for a disc."""
    for share in np.arange(0.8, 0.1, -0.05):
        ring = _ring(pixels, middle, radius * float(share))
        middles = [(int(part.start + part.end) // 2 % ANGLES, part.colour) for part in slices]
        if np.mean([np.abs(ring[at] - colour).max() <= LIKE for at, colour in middles]) < 0.5:
            return float(share)
    return 0.0


def read_pie(pie: Pie, tokens: Sequence[Token], names: dict[Colour, tuple[Token, ...]] | None) -> list[ChartRow] | None:
    """Return a row for each slice: its label and its only value; None if either is uncertain.

    `names` are those of a legend, by colour; without a legend, labels are the words in or at the slices.
    """
    name_ids = {id(token) for name in (names or {}).values() for token in name}
    values = _values_of_slices(pie, [token for token in tokens if token.is_value and id(token) not in name_ids])
    if values is None:
        return None
    if names is not None:
        labels = [names[part.colour] for part in pie.slices]
    else:
        used = {id(token) for token in values}
        slice_labels = _labels_of_slices(pie, [token for token in tokens if token.is_word and id(token) not in used])
        if slice_labels is None:
            return None
        labels = slice_labels
    return [ChartRow(label, (), (((0, 0, 0), value),)) for label, value in zip(labels, values, strict=True)]


def _values_of_slices(pie: Pie, numbers: Sequence[Token]) -> list[Token] | None:
    """The value of each slice: inside all slices, or outside at all; it must be the same share as the slice."""
    places = [(token, *pie.polar(token.middle)) for token in numbers]
    inside = [(token, angle) for token, radius, angle in places if pie.inner < radius <= 1]
    outside = [(token, angle) for token, radius, angle in places if 1 < radius <= OUTSIDE]
    for near, slack in ((inside, 0), (outside, OFF_SLICE), ([*inside, *outside], OFF_SLICE)):
        in_slices = [[token for token, angle in near if part.contains(angle, slack=slack)] for part in pie.slices]
        values = list(itertools.chain(*in_slices))
        if all(len(tokens) == 1 for tokens in in_slices) and _are_confirmed(pie, values):
            return values
    return None


def _are_confirmed(pie: Pie, values: Sequence[Token]) -> bool:
    try:
        amounts = [amount(token.text) for token in values]
    except ValueError:
        return False
    units = {unit(token.text) for token in values}
    total = 100.0 if units == {"%"} else sum(number for number, _ in amounts)
    shares = [(number / total, step / total) for number, step in amounts] if total > 0 else []
    if not shares or len(units) > 1 or len({id(token) for token in values}) < len(values):
        return False
    are_unlike = len({round(part.share, 2) for part in pie.slices}) > 1
    pairs = zip(shares, pie.slices, strict=True)
    return are_unlike and all(abs(share - part.share) <= OFF + step / 2 for (share, step), part in pairs)


def _labels_of_slices(pie: Pie, words: Sequence[Token]) -> list[tuple[Token, ...]] | None:
    """The words in each slice, or directly outside each; all must be in one of these places. None if a slice has none.

    A title above the slices is outside one of them, too: words that are both inside and outside are uncertain.
    """
    phrases = phrases_of(words, down=BELOW)
    inside = [(phrase, angle) for phrase in phrases for radius, angle in [pie.polar(_middle_of(phrase))] if radius <= 1]
    outside = [
        (phrase, angle)
        for phrase in phrases
        for radius, angle in [pie.polar(_nearest(phrase, pie.middle))]
        if radius > 1 and radius <= OUTSIDE
    ]
    in_slices = [(phrase, angle) for phrase, angle in inside if pie.polar(_middle_of(phrase))[0] > pie.inner]
    for near, elsewhere in ((in_slices, outside), (outside, in_slices)):
        phrases_of_slices = [[phrase for phrase, angle in near if part.contains(angle)] for part in pie.slices]
        texts = {" ".join(token.text for token in phrase) for phrase, _ in near}
        are_short = all(len(phrase) <= MAX_LABEL_WORDS for phrase, _ in near)
        is_sure = len(near) == len(pie.slices) == len(texts) and are_short
        if (
            is_sure
            and all(len(phrases_in_slice) == 1 for phrases_in_slice in phrases_of_slices)
            and (near is in_slices or not elsewhere)
        ):
            return [phrases_in_slice[0] for phrases_in_slice in phrases_of_slices]
    return None


def _middle_of(phrase: Sequence[Token]) -> tuple[float, float]:
    x1, y1, x2, y2 = box_of(phrase)
    return (x1 + x2) / 2, (y1 + y2) / 2


def _nearest(phrase: Sequence[Token], point: tuple[float, float]) -> tuple[float, float]:
    """The point of the words' box that is nearest to the given point."""
    x1, y1, x2, y2 = box_of(phrase)
    return min(max(point[0], x1), x2), min(max(point[1], y1), y2)
