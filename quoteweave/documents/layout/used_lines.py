"""Determines the lines of a page: those of its text layer, or of OCR, which also reads scans that lie on their side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from quoteweave.core.boxes import Box, area
from quoteweave.core.records import TextSource
from quoteweave.documents.layout.field_lines import with_fields, without_words_in
from quoteweave.documents.layout.graphics import erase_boxes, find_graphics, word_boxes
from quoteweave.documents.layout.unread.tiles import read_large
from quoteweave.documents.sources.lines import (
    SURE,
    Line,
    are_surely_read,
    certain_letters,
    count_letters,
    is_garbled,
    may_be_garbled,
)
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Raster, RawPage
from quoteweave.documents.sources.shown_words import Shown, compare_with_shown, count_misdrawn

OTHER_WORDS = "has a text layer with other words than it shows, and was read by OCR instead"
"""Part of the warning for a page whose text layer OCR contradicts."""
PARTLY_OTHER = "has words in places where it shows others, or none, which were read"
"""Part of the warning for a page of whose text layer OCR contradicts a part."""
MISDRAWN = "has digits whose font draws other signs, which were read as digits"
"""Part of the warning for a page with such digits."""
# A page with fewer characters than this in its text layer is read by OCR.
MIN_LETTERS = 20
# A page with fewer than this may have a stamp over a scan, such as a library's or a court's.
STAMP_LETTERS = 200
# A row of a scan's ink: its share of the page's width, its height in points; how many rows are text, not ornaments.
ROW_WIDTH = 0.3
ROW_HEIGHT = 5.0
MIN_ROWS = 4
# The largest difference of colour, 0 to 255, in a page that counts as blank; faint pencil differs more.
MAX_BLANK_DIFFERENCE = 8
# How far around words, in points, the page may have another colour.
WORD_MARGIN = 2.0
# OCR is reported as unsure of a page with so many letters. A line's density counts letters that are as wide as high.
MIN_UNSURE_LETTERS, MIN_DENSITY = 5, 0.4
# A page is only taken for turned if so many letters were read. Of the longest lines, so many are tried turned, and the
# page is turned if they can be read better by this factor.
MIN_TURNED_LETTERS, TRIED, BETTER = 10, 5, 1.25


@dataclass(frozen=True, slots=True)
class UsedLines:
    """The lines of a page that are used, their source, and the picture on which they are upright."""

    lines: Sequence[Line]
    source: TextSource
    picture: Raster
    is_scan: bool
    """Whether the page also becomes an image quote."""
    is_read: bool
    """Whether OCR read it, even if its lines are not used."""
    is_garbled: bool = False
    """Whether the lines are a garbled text layer."""
    turns: int = 0
    """Quarter turns, counter-clockwise, from the page as shown to the picture and the lines."""
    is_unsure: bool = False
    """Whether OCR read the lines, and is not sure of them."""
    doubts: tuple[str, ...] = ()
    """How the text layer and what the page shows differ."""

    @property
    def page_size(self) -> tuple[float, float]:
        """Width and height of the picture in points."""
        return self.picture.size

    def box_as_shown(self, box: Box) -> Box:
        """The box on the page as shown for a box on the picture."""
        width, height = self.page_size
        for _ in range(-self.turns % 4):
            x1, y1, x2, y2 = box
            box, width, height = (y1, width - x2, y2, width - x1), height, width
        return box


def used_lines(raw: RawPage, ocr: Ocr | None, *, in_tiles: bool = True) -> UsedLines:
    """The lines of the text layer, or of OCR if there is none, a garbled one, one of other words, or a mere stamp.

    A large picture of which OCR misses much is also read in tiles, unless not `in_tiles`.
    """
    raster, letters = raw.picture.turned(raw.turns), count_letters(raw.lines)
    garbled = _is_garbled(raw, raster, ocr)
    shown = Shown.AS_READ if ocr is None or garbled else compare_with_shown(raw.lines, raw.doubtful, raster, ocr)
    differs = shown is Shown.MOSTLY_OTHER
    lines = with_fields(raw.lines, raw.fields)
    count = count_letters(lines)
    # A form may be laid over a scan.
    stamped = count >= MIN_LETTERS and letters < STAMP_LETTERS and _shows_scan(raster, lines, raster.size)
    scanned = count < MIN_LETTERS or stamped or garbled or differs
    is_read = scanned and ocr is not None and (garbled or differs or not _is_blank_beside(lines, raster))
    if is_read and ocr is not None:
        ocr_lines, upright, turns = _read_upright(raster, ocr, in_tiles=in_tiles)
        # Codes and sequences, and languages unlike those of Europe, may look garbled without being so.
        least = letters + count if stamped else count if count < MIN_LETTERS else 0.5 * count
        better = not is_garbled(ocr_lines) and count_letters(ocr_lines) > least
        # The few words of a title page are right, and OCR misses small ones.
        if better or differs or not lines or (count < MIN_LETTERS and garbled):
            return _lines_of_ocr(raw, ocr_lines, upright, turns, (OTHER_WORDS,) if differs else ())
    return UsedLines(
        lines,
        "text_layer" if lines else "none",
        raster,
        scanned,
        is_read,
        garbled or (ocr is None and may_be_garbled(raw.lines)),  # which OCR would have decided
        raw.turns,
        doubts=tuple(_doubts(raw, shown)),
    )


def _lines_of_ocr(
    raw: RawPage, ocr_lines: Sequence[Line], upright: Raster, turns: int, doubts: tuple[str, ...]
) -> UsedLines:
    """The lines that OCR read on a picture that was turned so to be read, with what annotations show."""
    return UsedLines(
        ocr_lines if turns else with_fields(without_words_in(ocr_lines, raw.fields), raw.fields),
        "ocr" if ocr_lines else "none",
        upright,
        is_scan=True,
        is_read=True,
        turns=raw.turns + turns,
        is_unsure=count_letters(ocr_lines) >= MIN_UNSURE_LETTERS and _read_share(ocr_lines) < SURE,
        doubts=doubts,
    )


def _doubts(raw: RawPage, shown: Shown) -> Iterator[str]:
    """How the text layer, which is used, differs from what the page shows."""
    if shown is Shown.PARTLY_OTHER:
        yield PARTLY_OTHER
    if misdrawn := count_misdrawn(raw.doubtful):
        yield f"{MISDRAWN}: {misdrawn:,}"


def _is_garbled(raw: RawPage, raster: Raster, ocr: Ocr | None) -> bool:
    """Whether the text layer is garbled; of a short one that may be, OCR decides."""
    garbled = raw.is_misread or is_garbled(raw.lines)
    if ocr is not None and not garbled and may_be_garbled(raw.lines):
        return not _has_words_of(raw.lines, ocr.read(raster))
    return garbled


def _read_upright(picture: Raster, ocr: Ocr, *, in_tiles: bool) -> tuple[Sequence[Line], Raster, int]:
    """Lines of a picture, with the picture and the quarter turns by which it was turned to read them."""
    lines = read_large(picture, ocr) if in_tiles else ocr.read(picture)
    turns = _turns(picture, lines, ocr)
    if turns:
        turned = picture.turned(turns)
        turned_lines = read_large(turned, ocr) if in_tiles else ocr.read(turned)
        if certain_letters(turned_lines) >= certain_letters(lines):
            return turned_lines, turned, turns
    return lines, picture, 0


def _turns(picture: Raster, lines: Sequence[Line], ocr: Ocr) -> int:
    """Quarter turns after which the lines are upright, judged by how well OCR reads some of them so."""
    letters = count_letters(lines)
    if letters < MIN_TURNED_LETTERS:
        return 0
    on_side = 2 * count_letters(line for line in lines if not line.upright) > letters
    if are_surely_read(lines):
        return 1 if on_side else 0  # OCR itself turns each line that is higher than wide, always in this direction
    turns = 3 if on_side else 2
    longest = sorted(lines, key=lambda line: -len(line.text))[:TRIED]
    cuts = (Raster(picture.cut(line.box, margin=WORD_MARGIN), picture.scale) for line in longest)
    reread = [line for cut in cuts for line in ocr.read(cut.turned(turns))]
    return turns if are_surely_read(reread) and certain_letters(reread) > BETTER * certain_letters(longest) else 0


def _has_words_of(lines: Sequence[Line], ocr_lines: Sequence[Line]) -> bool:
    """Whether OCR read at least one in four words of the text layer, or nothing of which it is sure."""
    words, ocr_words = _long_words(lines), _long_words(ocr_lines)
    is_unsure = not ocr_lines or not are_surely_read(ocr_lines)
    return is_unsure or 4 * len(words & ocr_words) >= len(words)


def _long_words(lines: Sequence[Line]) -> set[str]:
    return {word.text.casefold() for line in lines for word in line.words if len(word.text) > 2}


def _read_share(lines: Sequence[Line]) -> float:
    """The share of the lines' length of which OCR is sure; a long line of few letters is in a script that it lacks."""
    lengths = [max(line.box[2] - line.box[0], line.box[3] - line.box[1]) for line in lines]
    letters = [sum(len(word.text) for word in line.words) for line in lines]
    sure_lengths = (
        line.sureness * length
        for line, length, count in zip(lines, lengths, letters, strict=True)
        if count * line.size >= MIN_DENSITY * length
    )
    return sum(sure_lengths) / sum(lengths)


def _shows_scan(raster: Raster, lines: Sequence[Line], page_size: tuple[float, float]) -> bool:
    """Whether a picture fills most of the page, or there are rows of ink where lines of text would be."""
    drawn = find_graphics(raster, lines)
    rows = [box for box in drawn.specks if box[2] - box[0] > ROW_WIDTH * page_size[0] and box[3] - box[1] > ROW_HEIGHT]
    return len(rows) >= MIN_ROWS or any(area(box) > 0.6 * page_size[0] * page_size[1] for box in drawn.clusters)


def _is_blank_beside(lines: Sequence[Line], raster: Raster) -> bool:
    """Whether the page has only one colour outside the words of its text layer, so that OCR has nothing to read."""
    is_outside = np.ones(raster.pixels.shape[:2], dtype=bool)
    erase_boxes(is_outside, word_boxes(word for line in lines for word in line.words), raster.scale, margin=WORD_MARGIN)
    shown = raster.pixels[is_outside]
    return not shown.size or int(np.ptp(shown, axis=0).max()) <= MAX_BLANK_DIFFERENCE
