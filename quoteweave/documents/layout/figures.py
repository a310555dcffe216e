"""Finds figures and charts: clusters of ink with the labels that belong to them."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from quoteweave.core.boxes import Box, area, hull, intersection, share_in
from quoteweave.core.text.references.mentions import caption_label
from quoteweave.documents.layout.blocks import (
    NOTE,
    NUMERIC,
    PAGE_NUMBER,
    SECTION_NUMBER,
    LineBlock,
    block_of,
    group_lines,
    text_by_rows,
)
from quoteweave.documents.layout.chart_parts import Legend, axis_labels, chart_of, labels_of_bars
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import Line, count_letters
from quoteweave.documents.sources.raw_page import Raster

# The most points between a drawing and a label above or below it, and beside it; PANEL_GAP is a share of the page.
LABEL_GAP = 11.0
ROW_LABEL_GAP = 28.0
# The most points between an axis and its title, which is centred below it, and the most words of the title.
AXIS_TITLE_GAP, AXIS_TITLE_WORDS = 16.5, 4
# A line of at least so many labels, most with a digit, with gaps at least as wide as the line is high, is an axis.
AXIS_LABELS = 3
PANEL_GAP = 0.1
# A cluster that covers more of the page than this is its background, unless it contains next to no text.
BACKGROUND = 0.85
MIN_AREA = 1200.0
# Shares of a slide's width and height within which drawings and labels belong together; the most labels of a slide.
SLIDE_REACH = (0.03, 0.05)
MAX_LABELS = 1000
# The share of a figure that a panel takes: a smaller part is an icon, a larger one is the figure itself.
MIN_PANEL, MAX_PANEL = 0.1, 0.8


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's box in points, with the lines that are part of it."""

    box: Box
    layout: Literal["figure", "chart"]
    lines: tuple[Line, ...]
    panels: tuple[Box, ...] = ()  # the drawings that it consists of, if they are large enough to be asked about

    @property
    def text(self) -> str:
        """The labels, row by row."""
        return text_by_rows(self.lines)

    def panels_with_labels(self) -> tuple[Box, ...]:
        """The panels, each extended by the lines nearest to it; empty if they would overlap or be the whole figure.

        Together they contain every line.
        """
        parts = {panel: [panel] for panel in self.panels}
        for line in self.lines:
            nearest = min(parts, key=lambda panel: _distance_between(line.box, panel), default=None)
            if nearest is not None and share_in(line.box, nearest) <= 0.5:
                parts[nearest].append(line.box)
        extended = [hull(boxes) for boxes in parts.values()]
        are_apart = not any(_overlaps(a, b) for a, b in itertools.combinations(extended, 2))
        return tuple(extended) if are_apart and all(area(box) < MAX_PANEL * area(self.box) for box in extended) else ()


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a page, by its possible relations to the drawings."""

    lines: SpatialIndex[Line]  # all lines
    prose: SpatialIndex[LineBlock]
    captions: SpatialIndex[LineBlock]
    walls: SpatialIndex[Line]  # prose and captions, which separate drawings
    labels: SpatialIndex[Line]  # the rest, which may belong to drawings


@dataclass(frozen=True, slots=True)
class ChartParts:
    """The parts of a page's charts that are apart from their drawings."""

    picture: Raster
    bars: Sequence[Sequence[Box]]  # families of bars, each of which is one cluster
    legends: Sequence[Legend]


def find_figures(
    clusters: Sequence[Box],
    lines: Sequence[Line],
    page_size: tuple[float, float],
    *,
    specks: Sequence[Box] = (),
    parts: ChartParts | None = None,
) -> list[Figure]:
    """Return the clusters that are figures, extended by nearby labels and specks; adjacent panels become one figure.

    Shaded boxes of running text and page backgrounds are not figures: their lines are read as text.
    """
    text = _classify_text(lines)
    small = SpatialIndex([_Part(box, True) for box in specks if not text.walls.intersecting(box)])
    pictures = [box for box in clusters if not _is_background(box, text, page_size) and not _is_mostly_prose(box, text)]
    pictures = _merged(pictures, _overlaps)
    bars = {hull(family): family for family in parts.bars} if parts is not None else {}
    grown = {box: _grown(box, text.labels, small, bars.get(box, ())) for box in pictures}
    panels = _merged([*grown.values()], _overlaps)
    if parts is not None:
        panels = _merged(_with_legends(panels, parts, text), _overlaps)
    gap = PANEL_GAP * page_size[0]
    pictures = _merged(panels, lambda a, b: _overlaps(a, b) or _are_panels(a, b, text, gap))
    # If labels make up most of a picture, the drawing is one of its panels.
    panels += [box for box, grown_box in grown.items() if area(box) < 0.5 * area(grown_box)]
    if page_size[0] > page_size[1]:
        pictures = _infographics(pictures, text, page_size)
    return [_figure(box, text.lines, panels) for box in pictures if area(box) >= MIN_AREA]


def _classify_text(lines: Sequence[Line]) -> _Text:
    blocks = [part for block in group_lines(lines) for part in _split_at_caption(block)]
    captions = [block for block in blocks if caption_label(block.text) is not None]
    prose = [block for block in blocks if block.prose and len(block.lines) > 1]
    columns = [block for block in blocks if not block.prose and _is_narrow_column(block)]
    walls = [line for block in (*prose, *captions, *columns) for line in block.lines]
    parting = {id(line) for line in walls}
    labels = [line for block in blocks for line in block.lines if id(line) not in parting]
    return _Text(
        SpatialIndex(lines), SpatialIndex(prose), SpatialIndex(captions), SpatialIndex(walls), SpatialIndex(labels)
    )


def _split_at_caption(block: LineBlock) -> list[LineBlock]:
    """The blocks with a caption directly below the labels of an axis separated from these."""
    at = next((row for row, line in enumerate(block.lines) if caption_label(line.text) is not None), 0)
    return [block_of(block.lines[:at]), block_of(block.lines[at:])] if at and not block.prose else [block]


def _is_narrow_column(block: LineBlock) -> bool:
    """Whether this is narrow running text beside a chart: few words per line, but more than axis labels have."""
    return len(block.lines) > 3 and sum(len(line.words) for line in block.lines) >= 3.2 * len(block.lines)


def _is_background(box: Box, text: _Text, page_size: tuple[float, float]) -> bool:
    inner = (line for line in text.lines.intersecting(box) if share_in(line.box, box) > 0.5)
    return area(box) > BACKGROUND * page_size[0] * page_size[1] and count_letters(inner) >= 40


def _is_mostly_prose(box: Box, text: _Text) -> bool:
    """Whether the box is a shaded or framed box of running text rather than a drawing that text flows around."""
    return sum(area(intersection(prose_box, box)) for prose_box in _prose_in(box, text)) >= 0.25 * area(box)


def _prose_in(box: Box, text: _Text) -> Iterator[Box]:
    """Boxes around the lines of each paragraph that are inside the box."""
    for block in text.prose.intersecting(box):
        line_boxes = [line.box for line in block.lines if share_in(line.box, box) > 0.5]
        if line_boxes:
            yield hull(line_boxes)


def _with_legends(panels: Sequence[Box], parts: ChartParts, text: _Text) -> list[Box]:
    """The panels, extended by a legend beside them if nothing else is between."""
    extended = list(panels)
    for legend in parts.legends:
        box = chart_of(legend, extended, parts.picture)
        if box is None:
            continue
        with_legend = hull([box, legend.box])
        other_panels = (other for other in extended if other != box and share_in(other, legend.box) < 0.9)
        if not any(_overlaps(other, with_legend) for other in other_panels) and not _has_walls(with_legend, box, text):
            extended[extended.index(box)] = with_legend
    return extended


def _has_walls(extended: Box, box: Box, text: _Text) -> bool:
    walls = text.walls.intersecting(extended)
    return any(share_in(line.box, extended) > 0.2 and share_in(line.box, box) < 0.5 for line in walls)


def _grown(box: Box, labels: SpatialIndex[Line], specks: "SpatialIndex[_Part]", bars: Sequence[Box]) -> Box:
    """Extend the box by overlapping or close labels and specks, in two rounds, and by the labels of its axes."""
    box = hull([box, *labels_of_bars(bars, labels)])
    for _ in range(2):
        near = [line.box for line in labels.intersecting(box, ROW_LABEL_GAP) if _is_label_of(line, box)]
        drawn = [part.box for part in specks.intersecting(box, ROW_LABEL_GAP) if _is_beside(part.box, box)]
        box = hull([box, *near, *drawn])
    box = hull([box, *axis_labels(box, labels)])
    title = _axis_title(box, labels)
    return box if title is None else hull([box, title])


def _is_beside(speck: Box, box: Box) -> bool:
    """Whether a speck (a dot, or letters drawn as outlines) is beside the box, or directly above or below it."""
    shared_height = min(speck[3], box[3]) - max(speck[1], box[1])
    shared_width = min(speck[2], box[2]) - max(speck[0], box[0])
    gap = max(speck[1] - box[3], box[1] - speck[3])
    is_level = shared_height > 0.6 * (speck[3] - speck[1])
    return is_level or (gap < LABEL_GAP and shared_width > 0.6 * (speck[2] - speck[0]))


def _is_label_of(line: Line, box: Box) -> bool:
    if share_in(line.box, box) > 0.3:
        return True
    numbers = sum(bool(NUMERIC.fullmatch(word.text)) for word in line.words)
    # The number of labels of an axis is not limited.
    if len(line.words) > 8 and numbers < 0.6 * len(line.words) and not _is_axis(line):
        return False
    shared_height = min(line.box[3], box[3]) - max(line.box[1], box[1])
    if shared_height > 0.6 * line.height:
        return max(line.box[0] - box[2], box[0] - line.box[2]) < ROW_LABEL_GAP
    shared_width = min(line.box[2], box[2]) - max(line.box[0], box[0])
    is_off_centre = abs((line.box[0] + line.box[2]) - (box[0] + box[2])) > 0.1 * (box[2] - box[0])
    is_title = line.box[3] <= box[1] + 2 and line.bold and len(line.words) > 3 and is_off_centre
    gap = max(line.box[1] - box[3], box[1] - line.box[3])
    return gap < LABEL_GAP and not is_title and shared_width > 0.6 * (line.box[2] - line.box[0])


def _is_axis(line: Line) -> bool:
    """Whether a line consists of labels far apart, most with a number, as on an axis: "Feb 01   Feb 03   Feb 05"."""
    labels = [[line.words[0].text]]
    for before, after in itertools.pairwise(line.words):
        if after.box[0] - before.box[2] > line.height:
            labels.append([])
        labels[-1].append(after.text)
    with_number = sum(any(map(str.isdecimal, "".join(label))) for label in labels)
    return len(labels) >= AXIS_LABELS and with_number > 0.6 * len(labels)


def _axis_title(box: Box, labels: SpatialIndex[Line]) -> Box | None:
    """The box of an axis's title, directly below its labels, which are the last row of a box; None if there is none."""
    below = labels.intersecting(box, AXIS_TITLE_GAP)
    axis = [line for line in below if box[3] - line.height < line.box[3] <= box[3]]
    words = [word.text for line in axis for word in line.words]
    numbers = sum(any(map(str.isdecimal, word)) for word in words)
    if numbers < max(AXIS_LABELS, 0.4 * len(words)):
        return None
    size = max(line.size for line in axis)
    titles = [line.box for line in below if line.box[1] >= box[3] and _is_axis_title(line, size, box)]
    return min(titles, key=lambda title: title[1], default=None)


def _is_axis_title(line: Line, size: float, box: Box) -> bool:
    """Whether a line, no heading, has a few words centred below an axis, hardly larger than its labels' `size`."""
    off_centre = abs((line.box[0] + line.box[2]) - (box[0] + box[2])) / 2
    is_centred = off_centre < 0.05 * (box[2] - box[0]) and len(line.words) <= AXIS_TITLE_WORDS
    is_heading = line.bold or line.size > 1.1 * size or line.text.isupper() or SECTION_NUMBER.match(line.text)
    return is_centred and not is_heading and not NOTE.match(line.text) and not PAGE_NUMBER.fullmatch(line.text)


def _merged(boxes: Sequence[Box], together: Callable[[Box, Box], bool]) -> list[Box]:
    """Join boxes that belong together until no two of them do."""
    merged: list[Box] = []
    for box in boxes:
        while (other := next((other for other in merged if together(other, box)), None)) is not None:
            merged.remove(other)
            box = hull([other, box])  # noqa: PLW2901 - it goes on growing
        merged.append(box)
    return merged


def _overlaps(a: Box, b: Box) -> bool:
    return area(intersection(a, b)) > 0.02 * min(area(a), area(b))


def _are_panels(a: Box, b: Box, text: _Text, gap: float) -> bool:
    """Whether they are side by side or stacked, similar in size, with no text and no two captions between them."""
    for along, across in ((0, 1), (1, 0)):
        shared = min(a[across + 2], b[across + 2]) - max(a[across], b[across])
        shorter, longer = sorted((a[across + 2] - a[across], b[across + 2] - b[across]))
        distance = max(a[along], b[along]) - min(a[along + 2], b[along + 2])
        if shared > 0.6 * shorter and shorter > 0.6 * longer and distance < gap:
            return not _are_parted(a, b, text.walls, along) and not _have_own_captions(a, b, text.captions)
    return False


def _are_parted(a: Box, b: Box, walls: SpatialIndex[Line], along: int) -> bool:
    if along == 0:
        between = (min(a[2], b[2]), max(a[1], b[1]), max(a[0], b[0]), min(a[3], b[3]))
    else:
        between = (max(a[0], b[0]), min(a[3], b[3]), min(a[2], b[2]), max(a[1], b[1]))
    return any(share_in(line.box, between) > 0.2 for line in walls.intersecting(between))


def _have_own_captions(a: Box, b: Box, captions: SpatialIndex[LineBlock]) -> bool:
    """Whether each box has its own caption directly above or below it."""
    of_a, of_b = (
        {id(block) for block in captions.intersecting(box, 40) if _is_caption_of(block.box, box)} for box in (a, b)
    )
    return bool(of_a - of_b) and bool(of_b - of_a)


def _is_caption_of(caption: Box, box: Box) -> bool:
    shared_width = min(caption[2], box[2]) - max(caption[0], box[0])
    gap = max(caption[1] - box[3], box[1] - caption[3])
    return shared_width > 0.5 * (caption[2] - caption[0]) and -5 < gap < 40


@dataclass(frozen=True, slots=True)
class _Part:
    """A drawing or a label on a slide."""

    box: Box
    drawn: bool


def _infographics(pictures: Sequence[Box], text: _Text, page_size: tuple[float, float]) -> list[Box]:
    """On a slide, join drawings and the scattered labels around them to one picture."""
    short = [line for line in text.labels.items if len(line.words) <= 6]
    loose = [line for line in short if not any(share_in(line.box, box) > 0.5 for box in pictures)]
    if len(loose) > MAX_LABELS:
        return list(pictures)
    parts = [*(_Part(box, True) for box in pictures), *(_Part(line.box, False) for line in loose)]
    groups = _close_together(parts, (SLIDE_REACH[0] * page_size[0], SLIDE_REACH[1] * page_size[1]))
    large = (group for group in groups if len(group) > 5 and any(part.drawn for part in group))
    united = [hull(part.box for part in group) for group in large]
    united = [box for box in united if not _is_mostly_prose(box, text)]
    separate = [box for box in pictures if not any(share_in(box, united_box) > 0.9 for united_box in united)]
    return _merged([*united, *separate], _overlaps)


def _close_together(parts: Sequence[_Part], reach: tuple[float, float]) -> list[list[_Part]]:
    """Groups in which each part is within `reach` points along x and y of another."""
    near = SpatialIndex(parts)
    waiting = {id(part): part for part in parts}
    groups: list[list[_Part]] = []
    while waiting:
        members = [waiting.popitem()[1]]
        for part in members:  # the list grows meanwhile
            x1, y1, x2, y2 = part.box
            close_parts = near.intersecting((x1 - reach[0], y1 - reach[1], x2 + reach[0], y2 + reach[1]))
            members += [neighbour for other in close_parts if (neighbour := waiting.pop(id(other), None))]
        groups.append(members)
    return groups


def _figure(box: Box, lines: SpatialIndex[Line], panels: Sequence[Box]) -> Figure:
    inner_lines = tuple(line for line in lines.intersecting(box) if share_in(line.box, box) > 0.6)
    numbers = sum(bool(NUMERIC.fullmatch(word.text)) for line in inner_lines for word in line.words)
    # Axes and bars have numbers; a photograph or a diagram has few.
    is_chart = numbers >= 4 and numbers >= 0.15 * sum(len(line.words) for line in inner_lines)
    inner = [
        panel for panel in panels if share_in(panel, box) > 0.9 and MIN_PANEL < area(panel) / area(box) < MAX_PANEL
    ]
    in_order = tuple(sorted(inner, key=lambda panel: (panel[1], panel[0])))
    return Figure(box, "chart" if is_chart else "figure", inner_lines, in_order)


def _distance_between(a: Box, b: Box) -> float:
    """Points between two boxes; 0 if they touch."""
    return math.hypot(max(a[0] - b[2], b[0] - a[2], 0.0), max(a[1] - b[3], b[1] - a[3], 0.0))
