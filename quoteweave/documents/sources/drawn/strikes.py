"""Finds the characters of a PDF page that are struck out: by a line through them, or by an annotation.

A line strikes out what it goes through in the middle of the letters, from the edge of one to that of another. So it is
neither an underline nor a rule of a table, and a grid line of a chart, which goes on beside its labels, is none either.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from quoteweave.core.boxes import Box
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.drawn.objects import PageDrawing, Placed, as_shown, thickness
from quoteweave.documents.sources.pdf_text.characters import SPACE, Characters, Floats, Ints, Mask
from quoteweave.documents.sources.raw_page import Raster

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

# The most annotations that are examined, and pairs of a line and a letter near its level.
MAX_ANNOTATIONS, MAX_PAIRS = 5000, 200_000_000
# All in heights of a letter. The distance of a line from the middle of letters, at first sight; its greatest thickness,
# and how much of a letter is above and below it at least; how far from it the middle of a character of its row may be.
NEAR, MAX_THICKNESS, MIN_BEYOND, ROW = 0.45, 0.3, 0.2, 0.8
# How far a line reaches beyond the edges of letters: at the end of a word, where a space may follow, or within one.
MAX_OVERHANG, MAX_WITHIN_WORD, NEXT_LETTER = 0.7, 0.18, 0.3
# The least share of the letters in the reach of a line that it goes through, and of its length that these fill.
MIN_CROSSED, MIN_FILLED = 0.8, 0.5
# In points: lines on one level are one if the gap between them is smaller.
ONE_LEVEL, ONE_LINE = 0.3, 0.6
# How far, in points, from a line its ground is looked at; the least difference of its colour, 0 to 255; and the least
# share of its length that has it, of which letters without a line have about a third.
AWAY, CONTRAST, MIN_SEEN = 1.0, 40, 0.6


def struck_out(
    characters: Characters, drawing: PageDrawing, areas: Sequence[Box], to_points: Floats, draw: Callable[[], Raster]
) -> Mask:
    """Which characters (n) are struck out, by lines or in `areas` of the page, which `draw` renders.

    `to_points` (2, 3) maps PDF user space to points from the top left.
    """
    struck = np.zeros(len(characters.codes), dtype=bool)
    middles = (characters.boxes[:, :2] + characters.boxes[:, 2:]) / 2
    for x1, y1, x2, y2 in as_shown(areas, to_points).tolist():
        struck |= (middles >= (x1, y1)).all(axis=1) & (middles <= (x2, y2)).all(axis=1)
    letters = np.flatnonzero((characters.codes > SPACE) & np.isfinite(characters.boxes).all(axis=1))
    if not drawing.lines or not len(letters):
        return struck
    middles, heights = middles[letters, 1], characters.boxes[letters, 3] - characters.boxes[letters, 1]
    down, reach = np.argsort(middles, kind="stable"), ROW * float(heights.max())
    letters, levels = letters[down], middles[down]
    lines = list(_near_letters(_joined_lines(drawing.lines, to_points), characters.boxes[letters]))
    picture: Raster | None = None
    pairs = 0
    for at, (line, box) in enumerate(lines):
        thick = thickness(line)
        first, last = levels.searchsorted([(box[1] + box[3]) / 2 - reach, (box[1] + box[3]) / 2 + reach])
        pairs += int(last - first)
        if pairs > MAX_PAIRS:
            drawing.unexamined += len(lines) - at
            break
        crossed = _crossed_letters(characters, letters[first:last], box, thick)
        if len(crossed):
            picture = picture or draw()
            struck[crossed] |= _is_seen(picture, box, thick)
    return struck


def struck_areas(page: "PdfPage", drawing: PageDrawing) -> list[Box]:
    """The areas, in PDF user space, that annotations strike out; those beyond the limit are counted in `drawing`."""
    areas, count = list[Box](), int(pdfium.FPDFPage_GetAnnotCount(page.raw))
    drawing.unexamined += max(0, count - MAX_ANNOTATIONS)
    corners, hidden = pdfium.FS_QUADPOINTSF(), pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
    for at in range(min(count, MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
        if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_STRIKEOUT:
            is_shown = not pdfium.FPDFAnnot_GetFlags(annotation) & hidden
            for number in range(pdfium.FPDFAnnot_CountAttachmentPoints(annotation) if is_shown else 0):
                pdfium.FPDFAnnot_GetAttachmentPoints(annotation, number, corners)
                xs = corners.x1, corners.x2, corners.x3, corners.x4
                ys = corners.y1, corners.y2, corners.y3, corners.y4
                areas.append((min(xs), min(ys), max(xs), max(ys)))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return areas


def _joined_lines(lines: list[Placed], to_points: Floats) -> list[tuple[Placed, Box]]:
    """The level lines with their boxes as shown; those that continue each other are one."""
    joined = list[tuple[Placed, Box]]()
    boxes = as_shown([line.box for line in lines], to_points)
    level_lines = np.flatnonzero(boxes[:, 2] - boxes[:, 0] > boxes[:, 3] - boxes[:, 1])
    middles = (boxes[:, 1] + boxes[:, 3]) / 2
    for at in level_lines[np.lexsort((boxes[level_lines, 0], np.round(middles[level_lines] / ONE_LEVEL)))].tolist():
        x1, y1, x2, y2 = boxes[at].tolist()
        if joined:
            line, (left, top, right, bottom) = joined[-1]
            if abs(top + bottom - y1 - y2) <= 2 * ONE_LEVEL and left <= x1 <= right + ONE_LINE:
                joined[-1] = line, (left, min(top, y1), max(right, x2), max(bottom, y2))
                continue
        joined.append((lines[at], (x1, y1, x2, y2)))
    return joined


def _near_letters(lines: list[tuple[Placed, Box]], letters: Floats) -> Iterator[tuple[Placed, Box]]:
    """The lines on whose level the middles of letters are; most lines are between rows."""
    middles = np.sort((letters[:, 1] + letters[:, 3]) / 2)
    height = float(np.median(letters[:, 3] - letters[:, 1]))
    levels = np.array([(box[1] + box[3]) / 2 for _, box in lines])
    near = NEAR * max(height, 1.0)
    is_near = np.searchsorted(middles, levels + near) > np.searchsorted(middles, levels - near)
    return (line for line, has_letters in zip(lines, is_near.tolist(), strict=True) if has_letters)


def _crossed_letters(characters: Characters, letters: Ints, line: Box, thick: float) -> Ints:
    """The characters that a line strikes out; none if it is another kind of line."""
    boxes, none = characters.boxes[letters], letters[:0]
    x1, x2, level = line[0], line[2], (line[1] + line[3]) / 2
    heights, middles = boxes[:, 3] - boxes[:, 1], (boxes[:, :2] + boxes[:, 2:]) / 2
    in_middle = (level - boxes[:, 1] > MIN_BEYOND * heights) & (boxes[:, 3] - level > MIN_BEYOND * heights)
    is_under = (middles[:, 0] >= x1) & (middles[:, 0] <= x2)
    if not (is_under & in_middle).any():
        return none
    height = float(np.median(heights[is_under & in_middle]))
    in_row = np.abs(middles[:, 1] - level) < ROW * height
    crossed = np.flatnonzero(is_under & in_row)
    is_word = np.array([chr(code).isalnum() for code in characters.codes[letters[crossed]].tolist()])
    filled = float((boxes[crossed, 2] - boxes[crossed, 0]).sum())
    if (
        thick > MAX_THICKNESS * height
        or not is_word.any()
        or np.count_nonzero(in_middle[crossed] & is_word) < MIN_CROSSED * np.count_nonzero(is_word)
        or filled < MIN_FILLED * (x2 - x1)
    ):
        return none
    first, last = float(boxes[crossed, 0].min()), float(boxes[crossed, 2].max())
    is_beside = in_row & in_middle & ~is_under
    before = is_beside & (middles[:, 0] < first) & (boxes[:, 2] > first - NEXT_LETTER * height)
    after = is_beside & (middles[:, 0] > last) & (boxes[:, 0] < last + NEXT_LETTER * height)
    for is_within_word, beyond in ((before.any(), first - x1), (after.any(), x2 - last)):
        # pdfium may add the thickness of a line to its ends.
        least, most = (share * height + thick for share in (MAX_WITHIN_WORD, MAX_OVERHANG))
        if not -least <= beyond <= (least if is_within_word else most) or (is_within_word and is_word.sum() < 2):
            return none
    return letters[crossed]


def _is_seen(picture: Raster, line: Box, thick: float) -> bool:
    """Whether a line is seen, which may be in a layer that is not shown, cut off, or of the colour of its ground."""
    x1, y1, x2, y2 = line
    level, away = (y1 + y2) / 2, thick / 2 + AWAY
    on, above, below = (picture.cut((x1, at, x2, at))[0].astype(np.int16) for at in (level, level - away, level + away))
    ground = np.median(np.concatenate([above, below]), axis=0)
    return bool(np.mean(np.abs(on - ground).max(axis=1) > CONTRAST) > MIN_SEEN)
