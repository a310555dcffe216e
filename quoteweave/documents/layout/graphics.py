"""Finds the graphics of a rendered page, digital or scanned: ruling lines, and clusters of ink that is not text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box, area, hull, share_in
from quoteweave.documents.layout.chart_parts import are_cells, bars_on_one_base
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.raw_page import Raster

if TYPE_CHECKING:
    from cv2.typing import MatLike

# The least length, and the largest thickness, of a rule in points.
RULE_LENGTH = 24.0
RULE_THICKNESS = 3.0
# Rules within this many points of a longer one are part of it.
SAME = 2.0
MAX_RULES = 3000
# The least share of a coarse pixel that is inked in a shaded area.
SOLID = 0.9


def find_rules(
    picture: Raster, ink: "MatLike", words: npt.NDArray[np.float64], *, threshold: int, dark: bool
) -> tuple[tuple[Box, ...], tuple[Box, ...], int]:
    """Horizontal and vertical rules, in points, and how many of the shortest are left out.

    `ink` is 255 where a pixel is not background; `words` (n, 4) are the boxes of all words; `threshold` is the least
    contrast of a rule with both sides, 0 to 255; `dark` says whether light is drawn on a dark background.
    """
    import cv2

    left, top, right, bottom = _inked(ink, picture.scale)
    offset = np.array([left, top] * 2) / picture.scale
    ink, words = ink[top:bottom, left:right], words - offset
    if not ink.size:
        return (), (), 0
    channels = cv2.split(picture.pixels[top:bottom, left:right])
    strongest = cv2.max if dark else cv2.min
    shade = strongest(strongest(channels[0], channels[1]), channels[2])
    coarse, scale = downsampled(ink, picture.scale)
    solid = (coarse > SOLID * 255).astype(np.uint8)
    _even_out(solid, words * scale)
    rules, left_out = list[tuple[Box, ...]](), 0
    for wide in (True, False):
        thin = _thin_marks(shade, picture.scale, threshold, wide=wide, dark=dark)
        lines = _thin_rules(_bridged(thin, ink, picture.scale, wide=wide), picture.scale, wide=wide)
        edges = _edges_of_shading(solid, scale, wide=wide)
        longest = sorted([*lines, *edges], key=lambda rule: rule[0] - rule[2] + rule[1] - rule[3])
        left_out += len(longest[MAX_RULES:])
        rules.append(tuple(_shifted(rule, offset) for rule in _without_covered(longest[:MAX_RULES])))
    return rules[0], rules[1], left_out


def _inked(ink: "MatLike", scale: float) -> tuple[int, int, int, int]:
    """The part of a page, in pixels, beyond which nothing changes its rules: its ink, and a margin on all sides.

    The margin is as wide as what a rule is compared with. It begins at a square of `downsampled`, and ends at one or at
    the page's edge.
    """
    import cv2

    x, y, width, height = cv2.boundingRect(ink)
    if not width:
        return 0, 0, 0, 0
    step, margin = _step(ink, scale), 2 * _compared_pixels(scale)
    left, top = (max(0, edge - margin) // step * step for edge in (x, y))
    right, bottom = (-(-(edge + margin) // step) * step for edge in (x + width, y + height))
    return left, top, min(right, ink.shape[1]), min(bottom, ink.shape[0])


def _shifted(box: Box, offset: npt.NDArray[np.float64]) -> Box:
    x1, y1, x2, y2 = (np.array(box) + offset).tolist()
    return x1, y1, x2, y2


def _compared_pixels(scale: float) -> int:
    """How many pixels across a rule are compared with it."""
    return int(RULE_THICKNESS * scale) + 2 | 1


def _even_out(solid: npt.NDArray[np.uint8], words: npt.NDArray[np.float64]) -> None:
    """Fill each word with the background to its left and right; `words` are in pixels."""
    limits = np.array(solid.shape[::-1] * 2) - 1
    edges = np.clip(np.rint(words + np.array([-1, -1, 1, 1])).astype(int), 0, limits)
    for left, top, right, bottom in edges.tolist():
        rows = solid[top : bottom + 1]
        rows[:, left : right + 1] = (rows[:, left] & rows[:, right])[:, None]


def _thin_marks(shade: "MatLike", scale: float, threshold: int, *, wide: bool, dark: bool) -> "MatLike":
    """A mask that is 255 where a pixel differs from both sides of it, across the direction of a rule."""
    import cv2

    reach = _compared_pixels(scale)
    kernel = np.ones((reach, 1) if wide else (1, reach), dtype=np.uint8)
    contrast = cv2.morphologyEx(shade, cv2.MORPH_TOPHAT if dark else cv2.MORPH_BLACKHAT, kernel)
    return cv2.threshold(contrast, threshold, 255, cv2.THRESH_BINARY)[1]


def _bridged(thin: "MatLike", ink: "MatLike", scale: float, *, wide: bool) -> "MatLike":
    """The mask with gaps closed where another rule crosses: a rule is not thin there, so ink counts."""
    import cv2

    gap = int(RULE_THICKNESS * scale) + 1 | 1
    kernel = np.ones((1, gap) if wide else (gap, 1), dtype=np.uint8)
    return cv2.bitwise_and(cv2.morphologyEx(thin, cv2.MORPH_CLOSE, kernel), ink)


def _thin_rules(thin: "MatLike", scale: float, *, wide: bool) -> list[Box]:
    coarse, scale = downsampled(_long_parts(thin, scale, wide=wide), scale)
    boxes = [contour_box(shape, scale) for shape in outer_contours(coarse)]
    side = 1 if wide else 0
    return [box for box in boxes if box[side + 2] - box[side] <= RULE_THICKNESS + 1]


def _edges_of_shading(solid: "MatLike", scale: float, *, wide: bool) -> list[Box]:
    """The edges of filled rectangles, such as shaded headers, which count as rules."""
    import cv2

    ends: list[Box] = []
    long_parts = _long_parts(solid, scale, wide=wide)
    for shape in outer_contours(long_parts):
        x, y, width, height = cv2.boundingRect(shape)
        if cv2.countNonZero(long_parts[y : y + height, x : x + width]) > 0.85 * width * height:
            x1, y1, x2, y2 = contour_box(shape, scale)
            ends += (
                [(x1, y1, x2, y1 + 1), (x1, y2 - 1, x2, y2)] if wide else [(x1, y1, x1 + 1, y2), (x2 - 1, y1, x2, y2)]
            )
    return ends


def _long_parts(mask: "MatLike", scale: float, *, wide: bool) -> "MatLike":
    """Keep the parts of the mask that are as long as a rule."""
    import cv2

    length = max(3, int(RULE_LENGTH * scale) | 1)  # OpenCV shifts the result for an even length
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((1, length) if wide else (length, 1), dtype=np.uint8))


def _without_covered(longest: Sequence[Box]) -> list[Box]:
    """Drop rules that are on a longer one; the longest come first."""
    distinct: list[Box] = []
    for x1, y1, x2, y2 in longest:
        left, top, right, bottom = x1 + SAME, y1 + SAME, x2 - SAME, y2 - SAME
        if not any(a <= left and b <= top and right <= c and bottom <= d for a, b, c, d in distinct):
            distinct.append((x1, y1, x2, y2))
    return distinct


def outer_contours(mask: "MatLike") -> list["MatLike"]:
    """The outlines of connected areas that are not 0, in pixels."""
    import cv2

    outlines, levels = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    # The fourth number is the enclosing outline, which holes have and areas do not.
    return [outline for outline, level in zip(outlines, levels[0], strict=True) if level[3] < 0] if outlines else []


def downsampled(mask: "MatLike", scale: float) -> tuple["MatLike", float]:
    """Downsample the mask to squares about a point wide; return it with the squares per point."""
    import cv2

    step = _step(mask, scale)
    height, width = (side // step for side in mask.shape)
    cropped = mask[: height * step, : width * step]
    return cv2.resize(cropped, (width, height), interpolation=cv2.INTER_AREA), scale / step


def _step(mask: "MatLike", scale: float) -> int:
    """The side of a square about a point wide, in pixels."""
    sides: tuple[int, ...] = mask.shape
    return max(1, min(int(scale), *sides))


def contour_box(shape: "MatLike", scale: float) -> Box:
    """The box around an outline, in points."""
    import cv2

    x, y, width, height = cv2.boundingRect(shape)
    return (x / scale, y / scale, (x + width) / scale, (y + height) / scale)


# In points: the largest gap within a cluster of ink, and the least side of a drawing larger than a bullet or an icon.
GAP = 10.0
MIN_SIDE = 22.0
# A page with more clusters than this is a pattern; only the largest are kept.
MAX_CLUSTERS = 300
# The least shorter side, in points, of a small drawing such as a letter or a chart's dot; smaller ones may be dust.
MIN_SPECK = 3.0
# How far a colour channel must be from the background's to count as ink: above JPEG noise, below a pale table header.
INK = 28
# The least shorter side of a bar, in points, and the least share of its ink in areas of that size.
MIN_BAR, IN_AREAS = 4.0, 0.7
# The least share of a coarse pixel that must be inked.
DENSITY = 0.08
# The least share of the page of a second background. STEP: how many pixels are skipped when colours are counted.
MIN_BAND = 0.04
# The least share of the page's edge that has the page's background.
MIN_RIM = 0.1
STEP = 4

ByteMask = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class PageGraphics:
    """The ink of a page that is not text. All boxes are in points."""

    horizontal: tuple[Box, ...]  # rules
    vertical: tuple[Box, ...]
    clusters: tuple[Box, ...]  # drawings: figures, charts, shaded boxes
    specks: tuple[Box, ...] = ()  # small drawings: dots of a chart, letters drawn as outlines, bullets
    bars: tuple[tuple[Box, ...], ...] = ()  # families of clusters that are bars on one base line
    left_out: int = 0  # how many of the smallest clusters are not examined
    specks_left_out: int = 0  # how many of the smallest specks are not examined, excluding dust
    rules_left_out: int = 0  # how many of the shortest rules are not examined


def find_graphics(picture: Raster, lines: Sequence[Line]) -> PageGraphics:
    """Find the rules, then mask the text and cluster the rest."""
    words = word_boxes(word for line in lines for word in line.words)
    ink, dark = _ink(picture)
    horizontal, vertical, rules_left_out = find_rules(picture, ink, words, threshold=INK, dark=dark)
    erase_boxes(ink, words, picture.scale, margin=1.0)
    coarse, scale = downsampled(ink, picture.scale)
    drawn = (coarse > DENSITY * 255).astype(np.uint8)
    _remove_lone_rules(drawn, scale)
    near = SpatialIndex(lines)
    clusters, specks = _clusters(drawn, scale)
    clusters, left_out = clusters[:MAX_CLUSTERS], len(clusters[MAX_CLUSTERS:])
    unseen = sum(_shorter_side(box) >= MIN_SPECK for box in specks[MAX_CLUSTERS:])
    specks = specks[:MAX_CLUSTERS]
    families = (family for family in bars_on_one_base((*clusters, *specks)) if not are_cells(family, near))
    bars = tuple(tuple(family) for family in families if all(_is_solid(ink, bar, picture.scale) for bar in family))
    in_families = {bar for family in bars for bar in family}
    clusters = (*map(hull, bars), *(box for box in clusters if box not in in_families))
    specks = tuple(box for box in specks if box not in in_families)
    horizontal, vertical = (_outside_text(rules, near) for rules in (horizontal, vertical))
    return PageGraphics(horizontal, vertical, clusters, specks, bars, left_out, unseen, rules_left_out)


def _is_solid(ink: "MatLike", box: Box, scale: float) -> bool:
    """Whether most ink of a box is in areas, as in bars, rather than in strokes, as in letters."""
    import cv2

    x1, y1, x2, y2 = (round(edge * scale) for edge in box)
    if min(x2 - x1, y2 - y1) < MIN_BAR * scale:
        return False
    box_ink = ink[y1:y2, x1:x2]
    kernel = np.ones((round(MIN_BAR * scale),) * 2, dtype=np.uint8)
    return cv2.countNonZero(cv2.morphologyEx(box_ink, cv2.MORPH_OPEN, kernel)) > IN_AREAS * cv2.countNonZero(box_ink)


def _outside_text(rules: Sequence[Box], lines: SpatialIndex[Line]) -> tuple[Box, ...]:
    """Drop rules that are strokes of letters or underlines."""
    return tuple(rule for rule in rules if not any(share_in(rule, line.box) > 0.8 for line in lines.intersecting(rule)))


def _ink(picture: Raster) -> tuple["MatLike", bool]:
    """A mask that is 255 where a pixel is not background; and whether the background is dark.

    Backgrounds are the commonest colour along the page's edges, and flat bands along these edges.
    """
    import cv2

    sample = np.ascontiguousarray(picture.pixels[::STEP, ::STEP])
    red, green, blue = (sample[:, :, i].astype(np.int32) >> 3 for i in range(3))
    codes = red << 10 | green << 5 | blue
    counts = np.bincount(codes.ravel())
    large = np.flatnonzero(counts > MIN_BAND * codes.size)
    # Anything in the middle of a page is drawn on it, however large.
    edges = np.bincount(np.concatenate([codes[0], codes[-1], codes[:, 0], codes[:, -1]]), minlength=counts.size)
    rim = 2 * sum(codes.shape)
    common = sorted(large, key=lambda code: (edges[code] < MIN_RIM * rim, -int(counts[code]))) or [counts.argmax()]
    background = _median_colour(sample, codes == common[0])
    ink = cv2.bitwise_not(_mask_of_colour(picture.pixels, background))
    for code in common[1:4]:
        flat = _mask_of_colour(sample, _median_colour(sample, codes == code)) & ~_mask_of_colour(sample, background)
        band = _touching_the_edge(flat)
        if band.any():
            ink[cv2.resize(band, ink.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0] = 0
    return ink, bool(background.mean() < 128)


def _median_colour(sample: "MatLike", chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """The median colour of the chosen pixels, from a sample of one in eight."""
    pixels = sample.reshape(-1, 3)[np.flatnonzero(chosen)[::8]]  # the whole mask would copy all chosen pixels
    return np.asarray(np.median(pixels, axis=0), dtype=np.float64)


def _mask_of_colour(pixels: "MatLike", colour: npt.NDArray[np.float64]) -> ByteMask:
    """A mask that is 255 where a pixel has this colour."""
    import cv2

    low, high = (np.clip(colour + sign * INK, 0, 255) for sign in (-1, 1))
    return cv2.inRange(pixels, low, high).astype(np.uint8, copy=False)


def _touching_the_edge(flat: ByteMask) -> "MatLike":
    """Large areas of one colour that reach the page's edge: bands and margins with which slides are decorated."""
    import cv2

    solid = cv2.morphologyEx(flat, cv2.MORPH_OPEN, np.ones((5, 5), dtype=np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=4)
    large = stats[:, cv2.CC_STAT_AREA] > MIN_BAND * flat.size
    large[0] = False
    at_edge = np.zeros_like(large)
    at_edge[np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])] = True
    return cv2.dilate((large & at_edge)[labels].astype(np.uint8), np.ones((3, 3), dtype=np.uint8))


def erase_boxes(mask: npt.NDArray[Any], boxes: npt.NDArray[np.float64], scale: float, *, margin: float) -> None:
    """Set a mask to 0 in boxes (n, 4) and within a margin around each, all in points."""
    low = np.maximum(0, (boxes[:, :2] - margin) * scale).astype(int)
    high = np.maximum(0, ((boxes[:, 2:] + margin) * scale).astype(int) + 1)
    for (x1, y1), (x2, y2) in zip(low.tolist(), high.tolist(), strict=True):
        mask[y1:y2, x1:x2] = 0


def word_boxes(words: Iterable[Word]) -> npt.NDArray[np.float64]:
    """The boxes (n, 4) of words."""
    return np.array([word.box for word in words], dtype=np.float64).reshape(-1, 4)


def _remove_lone_rules(drawn: ByteMask, scale: float) -> None:
    """Remove rules that touch nothing: they separate or underline text and belong to no figure."""
    import cv2

    thin = [shape for shape in outer_contours(drawn) if min(cv2.boundingRect(shape)[2:]) <= RULE_THICKNESS * scale]
    cv2.drawContours(drawn, thin, -1, 0, cv2.FILLED)


def _clusters(drawn: ByteMask, scale: float) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """The boxes of clusters of ink, the largest first: those large enough for a figure, and the smaller ones."""
    import cv2

    reach = max(1, round(GAP / 2 * scale))
    # A border as wide as the dilation, because each cluster's box is that of its dilated ink, shrunk again.
    padded = cv2.copyMakeBorder(drawn, reach, reach, reach, reach, cv2.BORDER_CONSTANT, value=0)
    spread = cv2.dilate(padded, np.ones((2 * reach + 1, 2 * reach + 1), dtype=np.uint8))
    margin = 2 * reach / scale
    spread_boxes = (contour_box(shape, scale) for shape in outer_contours(spread))
    boxes = [(x1, y1, x2 - margin, y2 - margin) for x1, y1, x2, y2 in spread_boxes]
    large: list[Box] = []
    small: list[Box] = []
    for box in sorted(boxes, key=lambda box: -area(box)):
        (large if _shorter_side(box) >= MIN_SIDE else small).append(box)
    return tuple(large), tuple(small)


def _shorter_side(box: Box) -> float:
    return min(box[2] - box[0], box[3] - box[1])
