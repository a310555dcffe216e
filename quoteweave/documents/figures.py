"""Figures and charts: clusters of ink, with the labels that belong to them."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from quoteweave.core.boxes import Box, area, hull, inside, intersection
from quoteweave.core.records import Layout
from quoteweave.documents.blocks import Block, group, rows_of
from quoteweave.documents.lines import Line
from quoteweave.documents.marks import CAPTION, NUMERIC

# Points between a drawing and a label above or below it, and beside it; share of the page between two panels.
LABEL_GAP = 11.0
ROW_LABEL_GAP = 28.0
PANEL_GAP = 0.1
# A cluster that covers more of the page than this is its background, unless it holds next to no text.
BACKGROUND = 0.85
LEAST_AREA = 1200.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure's box in points, with the lines that are part of it."""

    box: Box
    layout: Layout
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        """The labels, row by row."""
        return "\n".join(" ".join(line.text for line in row) for row in rows_of(self.lines))


def find_figures(clusters: Sequence[Box], lines: Sequence[Line], page: tuple[float, float]) -> list[Figure]:
    """Clusters that are pictures, grown by their labels; panels side by side become one figure.

    Shaded boxes of running text and page backgrounds are no figures: their lines are left to be read as text.
    """
    blocks = group(lines)
    captions = [block for block in blocks if CAPTION.match(block.text)]
    prose = [block for block in blocks if block.prose and len(block.lines) > 1]
    labels = [line for line in _lines(blocks) if line not in set(_lines(captions)) | set(_lines(prose))]
    boxes = [box for box in clusters if _is_picture(box, prose, lines, page)]
    walls = [*_lines(prose), *_lines(captions)]
    boxes = _merge(boxes, walls, captions, 0.0)
    boxes = [_grow(box, labels) for box in boxes]
    boxes = _merge(boxes, walls, captions, PANEL_GAP * page[0])
    if page[0] > page[1]:
        boxes = _infographics(boxes, labels, prose, page)
    return [_figure(box, lines) for box in boxes if area(box) >= LEAST_AREA]


def _lines(blocks: Sequence[Block]) -> list[Line]:
    return [line for block in blocks for line in block.lines]


def _is_picture(box: Box, prose: Sequence[Block], lines: Sequence[Line], page: tuple[float, float]) -> bool:
    share = area(box) / (page[0] * page[1])
    running = sum(area(intersection(block.box, box)) for block in prose)
    letters = sum(len(line.text) for line in lines if inside(line.box, box) > 0.5)
    if share > BACKGROUND:
        return letters < 40
    return running < 0.25 * area(box)


def _grow(box: Box, labels: Sequence[Line]) -> Box:
    """Take in the labels that overlap the box or stand close to it, and those close to these, twice."""
    for _ in range(2):
        near = [line for line in labels if _belongs(line, box)]
        box = hull([box, *(line.box for line in near)])
    return box


def _belongs(line: Line, box: Box) -> bool:
    if inside(line.box, box) > 0.3:
        return True
    if len(line.words) > 8:
        return False
    level = min(line.box[3], box[3]) - max(line.box[1], box[1])
    if level > 0.6 * line.height:
        return max(line.box[0] - box[2], box[0] - line.box[2]) < ROW_LABEL_GAP
    across = min(line.box[2], box[2]) - max(line.box[0], box[0])
    title = line.box[3] <= box[1] + 2 and line.bold and len(line.words) > 3
    apart = max(line.box[1] - box[3], box[1] - line.box[3])
    return apart < LABEL_GAP and not title and across > 0.6 * (line.box[2] - line.box[0])


def _merge(boxes: Sequence[Box], walls: Sequence[Line], captions: Sequence[Block], gap: float) -> list[Box]:
    """Unite boxes that overlap, and panels side by side or stacked with no text and no two captions between them."""
    merged = list(boxes)
    again = True
    while again:
        again = False
        for a, b in itertools.combinations(merged, 2):
            common = area(intersection(a, b))
            if common > 0.02 * min(area(a), area(b)) or (
                _panels(a, b, walls, gap) and not _captioned_apart(a, b, captions)
            ):
                merged = [box for box in merged if box not in (a, b)] + [hull([a, b])]
                again = True
                break
    return merged


def _panels(a: Box, b: Box, walls: Sequence[Line], gap: float) -> bool:
    for along, across in ((0, 1), (1, 0)):
        level = min(a[across + 2], b[across + 2]) - max(a[across], b[across])
        sides = sorted((a[across + 2] - a[across], b[across + 2] - b[across]))
        apart = max(a[along], b[along]) - min(a[along + 2], b[along + 2])
        if level > 0.6 * sides[0] and sides[0] > 0.6 * sides[1] and apart < gap:
            return not _parted(a, b, walls, along)
    return False


def _parted(a: Box, b: Box, walls: Sequence[Line], along: int) -> bool:
    if along == 0:
        between = (min(a[2], b[2]), max(a[1], b[1]), max(a[0], b[0]), min(a[3], b[3]))
    else:
        between = (max(a[0], b[0]), min(a[3], b[3]), min(a[2], b[2]), max(a[1], b[1]))
    return any(area(intersection(line.box, between)) > 0.2 * area(line.box) for line in walls)


def _infographics(
    boxes: Sequence[Box], labels: Sequence[Line], prose: Sequence[Block], page: tuple[float, float]
) -> list[Box]:
    """On a slide, drawings and the scattered labels around them are one picture."""
    loose = [line for line in labels if len(line.words) <= 6 and not any(inside(line.box, box) > 0.5 for box in boxes)]
    reach = (0.015 * page[0], 0.025 * page[1])
    groups: list[list[Box]] = []
    for box in [*boxes, *(line.box for line in loose)]:
        near = [group for group in groups if any(_close(box, other, reach) for other in group)]
        groups = [group for group in groups if group not in near] + [[box, *(b for group in near for b in group)]]
    drawn = set(boxes)
    united = [hull(group) for group in groups if len(group) > 5 and drawn & set(group)]
    united = [box for box in united if _is_picture(box, prose, [], page)]
    apart = [box for box in boxes if not any(inside(box, whole) > 0.9 for whole in united)]
    return _merge([*united, *apart], [], [], 0.0)


def _close(a: Box, b: Box, reach: tuple[float, float]) -> bool:
    return all(max(a[i], b[i]) - min(a[i + 2], b[i + 2]) < 2 * reach[i] for i in (0, 1))


def _captioned_apart(a: Box, b: Box, captions: Sequence[Block]) -> bool:
    """Each has a caption of its own right above or below it."""
    own = [{id(block) for block in captions if _captions(block.box, box)} for box in (a, b)]
    return bool(own[0] - own[1]) and bool(own[1] - own[0])


def _captions(caption: Box, box: Box) -> bool:
    across = min(caption[2], box[2]) - max(caption[0], box[0])
    apart = max(caption[1] - box[3], box[1] - caption[3])
    return across > 0.5 * (caption[2] - caption[0]) and -5 < apart < 40


def _figure(box: Box, lines: Sequence[Line]) -> Figure:
    own = tuple(line for line in lines if inside(line.box, box) > 0.6)
    numbers = sum(bool(NUMERIC.fullmatch(word.text)) for line in own for word in line.words)
    # Axes and bars carry numbers; a photograph or a diagram has few.
    chart = numbers >= 4 and numbers >= 0.15 * sum(len(line.words) for line in own)
    return Figure(box, "chart" if chart else "figure", own)
