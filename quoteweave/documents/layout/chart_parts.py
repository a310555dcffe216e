"""Finds the parts of a chart that are apart on a page: bars on one base line, labels of its axes, and its legend."""

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from quoteweave.core.boxes import Box, area, hull, intersection, share_in
from quoteweave.documents.charts.rectangles import LIKE, Colour, Rectangle, are_alike, drawn_on_ground
from quoteweave.documents.layout.blocks import NUMERIC
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.raw_page import Raster

# How far, in points, edges that are one line, or equal thicknesses, may differ.
SAME = 1.6
# Bars of a family: least number, least thickness and length of the longest in points, largest gap in thicknesses.
MIN_BARS = 3
MIN_THICKNESS, MIN_LENGTH = 4.0, 22.0
MAX_BLANK = 6.0
# The least ratio of the longest bar to the shortest: rows of shaded cells and bullets are all alike.
SPREAD = 1.15
# How much the steps between bars or labels of an axis may differ: as a share of a step, or in points.
UNEVEN, UNEVEN_POINTS = 0.1, 2.0

# Labels of an axis: their least number, most words of each, points between them and the drawing, share of its side.
AXIS_LABELS = 3
AXIS_LABEL_WORDS = 3
BELOW_GAP, BESIDE_GAP, BAR_LABEL_GAP = 20.0, 60.0, 120.0
AXIS_SHARE = 0.5
# The most words of a table cell beside bars, and the most points between it and the longest of them.
CELL_WORDS, LABEL_BLANK = 4, 12.0

# Swatches of a legend: sides in points, share of one colour, blank before the words in font sizes, and number of words.
SWATCH_SIDES = (3.0, 32.0)
SWATCH_HEIGHT = (0.3, 1.7)
MIN_OF_COLOUR = 0.5
SWATCH_BLANK = 1.3
LEGEND_WORDS = 8
# The largest distance between rows, in heights of a swatch, and between columns, in font sizes, of one legend.
LEGEND_PITCH, LEGEND_STEP = 3.0, 8.0
# The largest frame around a legend, in square points.
MAX_FRAME = 30_000.0
# The most points between a chart and its legend beside it, and above or below it; least number of pixels, of one in
# four, of each colour in the chart.
LEGEND_BESIDE, LEGEND_ABOVE = 120.0, 50.0
MIN_SAMPLES = 15
# The most swatches with words beside them, on a page and in a frame, and the most legends: each is compared with each.
MAX_SWATCHES, MAX_IN_FRAME, MAX_LEGENDS = 200, 30, 20


def bars_on_one_base(boxes: Sequence[Box]) -> Iterator[list[Box]]:
    """Groups of boxes on one line like the bars of a chart: equally thick, evenly spaced, different in length.

    Columns stand on their lower edges, horizontal bars on their left ones.
    """
    used_boxes: set[Box] = set()
    for base, start in ((3, 0), (0, 1)):
        free = sorted((box for box in boxes if box not in used_boxes), key=lambda box: box[base])
        while free:
            on_line = [box for box in free if abs(box[base] - free[0][base]) <= SAME]
            free = free[len(on_line) :]
            for family in _alike_in_thickness(on_line, start):
                if _are_evenly_apart([box[start] for box in family]) and _are_like_bars(family, start):
                    used_boxes.update(family)
                    yield family


def _alike_in_thickness(boxes: Sequence[Box], start: int) -> Iterator[list[Box]]:
    ungrouped = sorted(boxes, key=lambda box: box[start + 2] - box[start])
    while ungrouped:
        first = ungrouped[0][start + 2] - ungrouped[0][start]
        group = [box for box in ungrouped if box[start + 2] - box[start] - first <= max(SAME, 0.1 * first)]
        ungrouped = ungrouped[len(group) :]
        if len(group) >= MIN_BARS and first >= MIN_THICKNESS:
            yield sorted(group, key=lambda box: box[start])


def _are_like_bars(bars: Sequence[Box], start: int) -> bool:
    lengths = [bar[3 - start] - bar[1 - start] for bar in bars]
    thickness = statistics.median(bar[start + 2] - bar[start] for bar in bars)
    are_close = all(0 < b[start] - a[start + 2] <= MAX_BLANK * thickness for a, b in itertools.pairwise(bars))
    return are_close and max(lengths) >= max(MIN_LENGTH, SPREAD * min(lengths))


def _are_evenly_apart(places: Sequence[float]) -> bool:
    """Whether the steps between successive positions are alike."""
    steps = [b - a for a, b in itertools.pairwise(places)]
    usual = statistics.median(steps)
    return all(abs(step - usual) <= max(UNEVEN_POINTS, UNEVEN * usual) for step in steps)


def are_cells(bars: Sequence[Box], lines: SpatialIndex[Line]) -> bool:
    """Whether horizontal bars are in the rows of a table: each has a cell after all of them, or two before it."""
    if _are_columns(bars):
        return False
    x1, _, x2, _ = hull(bars)
    behind, before = [], []
    for bar in bars:
        near = lines.intersecting((x1 - BAR_LABEL_GAP, bar[1], x2 + BAR_LABEL_GAP, bar[3]))
        cells = [line for line in near if len(line.words) <= CELL_WORDS and _is_level(line.box, bar)]
        behind.append(sum(line.box[0] > x2 + LABEL_BLANK for line in cells))
        before.append(sum(line.box[2] <= x1 + 2 for line in cells))
    return min(behind) >= 1 or min(before) >= 2


def _are_columns(bars: Sequence[Box]) -> bool:
    return max(bar[3] for bar in bars) - min(bar[3] for bar in bars) <= SAME


def _is_level(label: Box, bar: Box) -> bool:
    return bar[1] - 2 <= (label[1] + label[3]) / 2 <= bar[3] + 2


def axis_labels(box: Box, labels: SpatialIndex[Line]) -> list[Box]:
    """The evenly spaced labels in a row directly below a drawing, and evenly spaced numbers in a column left of it.

    Neither is returned unless it extends along at least half of the drawing's side.
    """
    near = [line for line in labels.intersecting(box, BESIDE_GAP) if line.upright]
    short_lines = [line for line in near if len(line.words) <= AXIS_LABEL_WORDS]
    below = [line for line in short_lines if -2 <= line.box[1] - box[3] <= BELOW_GAP and _lies_along(line.box, box, 0)]
    numbers = [line for line in short_lines if all(NUMERIC.fullmatch(word.text) for word in line.words)]
    left = [line for line in numbers if line.box[2] <= box[0] + 2 and _lies_along(line.box, box, 1)]
    axis_boxes: list[Box] = []
    for lines, along, edges in ((below, 0, (1,)), (left, 1, (2, 0))):
        axis_boxes += next((axis for edge in edges if (axis := _axis(lines, box, along, edge))), [])
    return axis_boxes


def _lies_along(label: Box, box: Box, along: int) -> bool:
    middle = (label[along] + label[along + 2]) / 2
    slack = 8.0 if along else 0.5 * (label[2] - label[0])
    return box[along] - slack <= middle <= box[along + 2] + slack


def _axis(lines: Sequence[Line], box: Box, along: int, edge: int) -> list[Box]:
    """The labels in one row (`along` 0) or column (1), aligned at one `edge`; none if they are no axis."""
    boxes = [line.box for line in lines]
    first = min(boxes, key=lambda label: abs(label[edge] - box[3 if along == 0 else edge]), default=None)
    if first is None:
        return []
    in_line = (label for label in boxes if abs(label[edge] - first[edge]) <= SAME)
    label_boxes = sorted(in_line, key=lambda label: label[along])
    middles = [(label[along] + label[along + 2]) / 2 for label in label_boxes]
    is_long = len(label_boxes) >= AXIS_LABELS and middles[-1] - middles[0] >= AXIS_SHARE * (box[along + 2] - box[along])
    return label_boxes if is_long and _are_evenly_apart(middles) else []


def labels_of_bars(bars: Sequence[Box], labels: SpatialIndex[Line]) -> list[Box]:
    """The labels left of horizontal bars, one on the level of each; none if any bar has none."""
    if not bars or _are_columns(bars):
        return []
    label_boxes = []
    for bar in bars:
        near = labels.intersecting((bar[0] - BAR_LABEL_GAP, bar[1], bar[0], bar[3]))
        level_labels = [line for line in near if line.box[2] <= bar[0] + 2 and _is_level(line.box, bar)]
        before = max(level_labels, key=lambda line: line.box[2], default=None)
        if before is None:
            return []
        label_boxes.append(before.box)
    sides = (max(box[side] for box in label_boxes) - min(box[side] for box in label_boxes) for side in (0, 2))
    return label_boxes if min(sides) <= 2 * SAME else []


@dataclass(frozen=True, slots=True)
class Legend:
    """The swatches of a legend with their words."""

    box: Box
    colours: tuple[Colour, ...]


def find_legends(
    picture: Raster, clusters: Sequence[Box], specks: Sequence[Box], lines: Sequence[Line]
) -> tuple[list[Legend], bool]:
    """The groups of swatches of at least two colours below or beside each other, each with a few words beside it.

    Also returns whether there are more on the page than are examined.
    """
    labels = SpatialIndex([line for line in lines if line.upright and len(line.words) <= LEGEND_WORDS])
    all_swatches = (swatch for speck in specks for swatch in _swatches(picture, speck, labels))
    swatches = list(islice(all_swatches, MAX_SWATCHES + 1))
    legends, has_more = _legends(swatches[:MAX_SWATCHES], labels), len(swatches) > MAX_SWATCHES
    for frame in clusters:
        lines_inside = labels.intersecting(frame)
        if (
            area(frame) <= MAX_FRAME
            and len(lines_inside) > 1
            and all(share_in(line.box, frame) > 0.9 for line in lines_inside)
        ):
            swatches_inside = list(islice(_swatches(picture, frame, labels), MAX_IN_FRAME + 1))
            has_more = has_more or len(swatches_inside) > MAX_IN_FRAME
            framed = _legends(swatches_inside[:MAX_IN_FRAME], labels)
            legends += [Legend(frame, legend.colours) for legend in framed if len(legend.colours) == len(lines_inside)]
    return legends[:MAX_LEGENDS], has_more or len(legends) > MAX_LEGENDS


def _swatches(picture: Raster, box: Box, labels: SpatialIndex[Line]) -> Iterator[Rectangle]:
    """The swatches in a box that have words beside them: a single one, or several close together or in a frame."""
    if _has_size_of_swatch(box):
        parts = [box]
    elif len(labels.intersecting(box, 20)) > 1:
        words = SpatialIndex([word for line in labels.intersecting(box) for word in line.words])
        parts = [part for part in drawn_in(picture, box) if _has_size_of_swatch(part)]
        parts = [part for part in parts if not words.intersecting(part)]
    else:
        parts = []
    for part in parts:
        # Without words it belongs to no legend: dots of a chart look like swatches, and there may be hundreds.
        if _label(part, labels) is not None and (swatch := _swatch(picture, part)) is not None:
            yield swatch


def drawn_in(picture: Raster, box: Box) -> list[Box]:
    """The separate drawings in a box, on the commonest colour of its edge."""
    import cv2

    ink = drawn_on_ground(picture.cut(box, margin=1))
    _, _, components, _ = cv2.connectedComponentsWithStats(ink, connectivity=4)
    left, top = (int(max(0.0, edge - 1) * picture.scale) for edge in box[:2])
    return [
        (
            (left + x) / picture.scale,
            (top + y) / picture.scale,
            *((left + x + width) / picture.scale, (top + y + height) / picture.scale),
        )
        for x, y, width, height, _ in components[1:].tolist()
    ]


def _has_size_of_swatch(box: Box) -> bool:
    low, high = SWATCH_SIDES
    return low <= box[3] - box[1] <= high / 2 and low <= box[2] - box[0] <= high


def _swatch(picture: Raster, speck: Box) -> Rectangle | None:
    """A speck of one colour: a square or a dot, or a stroke with a mark on it."""
    pixels = picture.cut(speck).astype(np.int16)
    height, width = pixels.shape[:2]
    colour = np.median(pixels[height // 3 : -(height // 3) or None, width // 3 : -(width // 3) or None], axis=(0, 1))
    around = picture.cut(speck, margin=2).astype(np.int16)
    rim = np.median(np.concatenate([around[0], around[-1], around[:, 0], around[:, -1]]), axis=0)
    # A shape around a hole, such as the letter "o", has the background's colour in its middle.
    if np.abs(colour - rim).max() <= LIKE or (np.abs(pixels - colour).max(axis=2) <= LIKE).mean() < MIN_OF_COLOUR:
        return None
    red, green, blue = (int(channel) for channel in colour)
    return Rectangle(speck, (red, green, blue))


def _legends(swatches: Sequence[Rectangle], labels: SpatialIndex[Line]) -> list[Legend]:
    entries = [(swatch, label) for swatch in swatches if (label := _label(swatch.box, labels)) is not None]
    groups: list[list[tuple[Rectangle, Line]]] = []
    for entry in entries:
        near = [group for group in groups if any(_are_in_one_legend(entry, other) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([entry, *itertools.chain.from_iterable(near)])
    return [
        Legend(
            hull(box for swatch, label in group for box in (swatch.box, label.box)),
            tuple(swatch.colour for swatch, _ in group),
        )
        for group in groups
        if len(group) > 1
        and not any(are_alike(a.colour, b.colour) for (a, _), (b, _) in itertools.combinations(group, 2))
    ]


def _label(swatch: Box, labels: SpatialIndex[Line]) -> Line | None:
    """The words right of a swatch, or left of it if there are none on the right."""
    height = swatch[3] - swatch[1]
    near = [
        line
        for line in labels.intersecting(swatch, 20)
        if line.box[1] <= (swatch[1] + swatch[3]) / 2 <= line.box[3]
        and SWATCH_HEIGHT[0] * line.size <= height <= SWATCH_HEIGHT[1] * line.size
    ]
    right = [line for line in near if -1 <= line.box[0] - swatch[2] <= SWATCH_BLANK * line.size]
    left = [line for line in near if -1 <= swatch[0] - line.box[2] <= SWATCH_BLANK * line.size]
    return next(iter(right or left), None)


def _are_in_one_legend(a: tuple[Rectangle, Line], b: tuple[Rectangle, Line]) -> bool:
    """Whether two entries belong to one legend: their swatches are alike, in one column or one row, and close."""
    (swatch, label), (other_swatch, other_label) = a, b
    x, y = swatch.box, other_swatch.box
    if any(abs((x[side + 2] - x[side]) - (y[side + 2] - y[side])) > SAME for side in (0, 1)):
        return False
    height = max(x[3] - x[1], label.height)
    if abs(x[0] - y[0]) <= SAME:
        return max(x[1], y[1]) - min(x[3], y[3]) <= LEGEND_PITCH * height
    entry_box, other_entry_box = hull([x, label.box]), hull([y, other_label.box])
    gap = max(entry_box[0], other_entry_box[0]) - min(entry_box[2], other_entry_box[2])
    return abs(x[1] - y[1]) <= SAME and gap <= LEGEND_STEP * label.size


def chart_of(legend: Legend, pictures: Sequence[Box], picture: Raster) -> Box | None:
    """The nearest drawing that has a legend beside, above or below it, and that shows all its colours."""
    containing = [box for box in pictures if share_in(legend.box, box) > 0.5 and area(box) > 2 * area(legend.box)]
    if containing:
        return None
    near = sorted((gap, box) for box in pictures if (gap := _gap(legend.box, box)) is not None)
    return next((box for _, box in near if all(_shows(picture, box, colour) for colour in legend.colours)), None)


def _gap(legend: Box, box: Box) -> float | None:
    """Points between a legend and a larger drawing; None if it is too far away or at a corner."""
    if area(box) < area(legend) or share_in(legend, box) > 0.5 or area(intersection(legend, box)) > 0.2 * area(legend):
        return None
    gap_across = max(legend[0] - box[2], box[0] - legend[2])
    gap_down = max(legend[1] - box[3], box[1] - legend[3])
    is_beside = gap_down < 0 and gap_across <= LEGEND_BESIDE
    return max(gap_across, gap_down) if is_beside or (gap_across < 0 and gap_down <= LEGEND_ABOVE) else None


def _shows(picture: Raster, box: Box, colour: Colour) -> bool:
    pixels = picture.cut(box)[::2, ::2].astype(np.int16)
    return int((np.abs(pixels - np.array(colour)).max(axis=2) <= LIKE).sum()) >= MIN_SAMPLES
