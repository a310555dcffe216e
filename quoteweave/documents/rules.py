"""Rules on a drawn page: the lines of tables and charts, and the ends of shaded rectangles."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from quoteweave.core.boxes import Box
from quoteweave.documents.raw_page import Picture

if TYPE_CHECKING:
    from cv2.typing import MatLike

# Points. A rule is a thin line at least this long.
RULE_LENGTH = 24.0
RULE_THICKNESS = 3.0
# Rules that lie within this many points of a longer one are part of it.
SAME = 2.0
MOST_RULES = 3000
# Share of a coarse pixel that is inked where a shade lies.
SOLID = 0.9


def find_rules(
    picture: Picture, ink: "MatLike", words: npt.NDArray[np.float64], *, threshold: int, dark: bool
) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """Horizontal and vertical rules, in points.

    `ink` is 255 where a pixel is of no background; `words` (n, 4) are the boxes of all words; `threshold` is the least
    contrast of a rule to what lies on both sides of it, 0 to 255; `dark` whether light is drawn on a dark ground.
    """
    import cv2

    channels = cv2.split(picture.pixels)
    strongest = cv2.max if dark else cv2.min
    shade = strongest(strongest(channels[0], channels[1]), channels[2])
    coarse, scale = shrunk(ink, picture.scale)
    solid = (coarse > SOLID * 255).astype(np.uint8)
    _even_out(solid, words * scale)
    found = []
    for wide in (True, False):
        thin = _thin(shade, picture.scale, threshold, wide=wide, dark=dark)
        lines = _lines(_bridged(thin, ink, picture.scale, wide=wide), picture.scale, wide=wide)
        found.append(tuple(_distinct([*lines, *_ends(solid, scale, wide=wide)])))
    return found[0], found[1]


def _even_out(solid: npt.NDArray[np.uint8], words: npt.NDArray[np.float64]) -> None:
    """Let each word take the ground that it stands on, as seen to its left and right; `words` in pixels."""
    limits = np.array(solid.shape[::-1] * 2) - 1
    edges = np.clip(np.rint(words + np.array([-1, -1, 1, 1])).astype(int), 0, limits)
    for left, top, right, bottom in edges.tolist():
        rows = solid[top : bottom + 1]
        rows[:, left : right + 1] = (rows[:, left] & rows[:, right])[:, None]


def _thin(shade: "MatLike", scale: float, threshold: int, *, wide: bool, dark: bool) -> "MatLike":
    """255 where a pixel stands out from what lies on both sides of it, across the direction of a rule."""
    import cv2

    reach = int(RULE_THICKNESS * scale) + 2 | 1
    kernel = np.ones((reach, 1) if wide else (1, reach), dtype=np.uint8)
    contrast = cv2.morphologyEx(shade, cv2.MORPH_TOPHAT if dark else cv2.MORPH_BLACKHAT, kernel)
    return cv2.threshold(contrast, threshold, 255, cv2.THRESH_BINARY)[1]


def _bridged(thin: "MatLike", ink: "MatLike", scale: float, *, wide: bool) -> "MatLike":
    """A rule is not thin where another crosses it: there, ink counts."""
    import cv2

    gap = int(RULE_THICKNESS * scale) + 1 | 1
    kernel = np.ones((1, gap) if wide else (gap, 1), dtype=np.uint8)
    return cv2.bitwise_and(cv2.morphologyEx(thin, cv2.MORPH_CLOSE, kernel), ink)


def _lines(thin: "MatLike", scale: float, *, wide: bool) -> list[Box]:
    coarse, scale = shrunk(_long(thin, scale, wide=wide), scale)
    boxes = [box_of(shape, scale) for shape in shapes_of(coarse)]
    side = 1 if wide else 0
    return [box for box in boxes if box[side + 2] - box[side] <= RULE_THICKNESS + 1]


def _ends(solid: "MatLike", scale: float, *, wide: bool) -> list[Box]:
    """A filled rectangle, such as a shaded header, ends like a rule on each side."""
    import cv2

    ends: list[Box] = []
    long = _long(solid, scale, wide=wide)
    for shape in shapes_of(long):
        x, y, width, height = cv2.boundingRect(shape)
        if cv2.countNonZero(long[y : y + height, x : x + width]) > 0.85 * width * height:
            x1, y1, x2, y2 = box_of(shape, scale)
            ends += (
                [(x1, y1, x2, y1 + 1), (x1, y2 - 1, x2, y2)] if wide else [(x1, y1, x1 + 1, y2), (x2 - 1, y1, x2, y2)]
            )
    return ends


def _long(mask: "MatLike", scale: float, *, wide: bool) -> "MatLike":
    """What of the mask runs on for the length of a rule."""
    import cv2

    length = max(3, int(RULE_LENGTH * scale) | 1)  # OpenCV shifts what it opens with an even length
    return cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((1, length) if wide else (length, 1), dtype=np.uint8))


def _distinct(rules: Sequence[Box]) -> list[Box]:
    """Without those that lie on a longer one."""
    kept: list[Box] = []
    for x1, y1, x2, y2 in sorted(rules, key=lambda rule: rule[0] - rule[2] + rule[1] - rule[3])[:MOST_RULES]:
        grown = (x1 + SAME, y1 + SAME, x2 - SAME, y2 - SAME)
        if not any(k[0] <= grown[0] and k[1] <= grown[1] and grown[2] <= k[2] and grown[3] <= k[3] for k in kept):
            kept.append((x1, y1, x2, y2))
    return kept


def shapes_of(mask: "MatLike") -> list["MatLike"]:
    """The outlines of the connected areas that are not 0, in pixels."""
    import cv2

    outlines, levels = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    # The fourth number is the outline around this one: holes have one, areas none.
    return [outline for outline, level in zip(outlines, levels[0], strict=True) if level[3] < 0] if outlines else []


def shrunk(mask: "MatLike", scale: float) -> tuple["MatLike", float]:
    """The mean of each square of pixels, about a point wide; and how many such squares a point has."""
    import cv2

    step = max(1, min(int(scale), *mask.shape))
    height, width = (side // step for side in mask.shape)
    whole = mask[: height * step, : width * step]
    return cv2.resize(whole, (width, height), interpolation=cv2.INTER_AREA), scale / step


def box_of(shape: "MatLike", scale: float) -> Box:
    """The box around an outline, in points."""
    import cv2

    x, y, width, height = cv2.boundingRect(shape)
    return (x / scale, y / scale, (x + width) / scale, (y + height) / scale)
