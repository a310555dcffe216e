"""Geometry of boxes on a page. A box is (x1, y1, x2, y2) in points from the page's top left."""

import itertools
from collections.abc import Iterable, Sequence

Box = tuple[float, float, float, float]
PAGE_SIDE = 1000.0
"""The width and the height of every page in the unit of cited boxes (CiteVQA, arXiv 2605.12882)."""


def area(box: Box) -> float:
    """The area in square points; 0 for an empty or reversed box."""
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def intersection(a: Box, b: Box) -> Box:
    """The box common to both; its area is 0 if they do not overlap."""
    return (max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))


def hull(boxes: Iterable[Box]) -> Box:
    """The smallest box that contains all of them. Raises ValueError when there are no boxes."""
    columns = list(zip(*boxes, strict=True))
    if not columns:
        raise ValueError("hull of no boxes")
    return (min(columns[0]), min(columns[1]), max(columns[2]), max(columns[3]))


def fraction_of(box: Box, size: tuple[float, float]) -> Box:
    """Return the box as fractions of a page's width and height, cut to the page: 0 to 1, to six digits."""
    x1, y1, x2, y2 = (round(min(1.0, max(0.0, edge / side)), 6) for edge, side in zip(box, (*size, *size), strict=True))
    return (x1, y1, x2, y2)


def iou(a: Box, b: Box) -> float:
    """Intersection over union, 0 to 1."""
    common = area(intersection(a, b))
    union = area(a) + area(b) - common
    return common / union if union > 0 else 0.0


def share_in(a: Box, b: Box) -> float:
    """The share of `a`'s area that lies within `b`, 0 to 1; 0 for an empty `a`."""
    return area(intersection(a, b)) / area(a) if area(a) > 0 else 0.0


def union_area(boxes: Sequence[Box]) -> float:
    """Area covered by at least one box, overlaps counted once, in square points."""
    cuts = sorted({edge for box in boxes if area(box) > 0 for edge in (box[0], box[2])})
    total = 0.0
    for left, right in itertools.pairwise(cuts):
        spans = sorted((box[1], box[3]) for box in boxes if area(box) > 0 and box[0] <= left and box[2] >= right)
        total += (right - left) * _covered_length(spans)
    return total


def _covered_length(spans: Sequence[tuple[float, float]]) -> float:
    covered, end = 0.0, float("-inf")
    for start, stop in spans:
        covered += max(0.0, stop - max(start, end))
        end = max(end, stop)
    return covered
