"""Reads by OCR what a page shows beside its text: figures and tables, and what stands outside of these."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from quoteweave.core.boxes import Box, area
from quoteweave.core.records import TextSource
from quoteweave.documents.layout.analyse import LayoutElement
from quoteweave.documents.layout.blocks import LineBlock
from quoteweave.documents.layout.figures import Figure
from quoteweave.documents.layout.reading_order import in_reading_order
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.layout.tables.cells import Table
from quoteweave.documents.layout.unread.letters import count_missed, count_unread, is_likely_text, shows_unread_text
from quoteweave.documents.layout.unread.text_layer import MIN_TEXT, has_more_text, is_shown_twice
from quoteweave.documents.layout.unread.tiles import read_large
from quoteweave.documents.sources.lines import Line, Word, are_surely_read, count_letters, moved, translated
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Pixels, Raster

# How far, in points, a crop extends beyond its element.
CROP_MARGIN = 2.0
# How far, in points, a figure is shown beyond its box.
FIGURE_MARGIN = 3.0
# Fewer letters than this that OCR did not read, or of which it is unsure, often are none.
FEW = 5


@dataclass(frozen=True, slots=True)
class PageText:
    """A page and its text, from which the crops of elements are cut."""

    raster: Raster
    source: TextSource
    page_size: tuple[float, float]
    lines: Sequence[Line]
    words: SpatialIndex[Word]
    ocr_lines: Sequence[Line] = ()
    """All lines that OCR read on pictures of a page with a text layer."""

    def box_of(self, element: Figure | Table) -> Box:
        """The box of the element's crop."""
        margin = 0.0 if isinstance(element, Table) else FIGURE_MARGIN
        low = (max(0.0, edge - margin) for edge in element.box[:2])
        high = (min(side, edge + margin) for side, edge in zip(self.page_size, element.box[2:], strict=True))
        x1, y1, x2, y2 = (*low, *high)
        return (x1, y1, x2, y2)

    def crop(self, box: Box) -> Pixels:
        """What the page shows in a box, with a margin, which shows that nothing is cut off."""
        return self.raster.cut(box, margin=CROP_MARGIN)

    def is_shown_whole(self, element: Figure | Table) -> bool:
        """Whether it fills a scanned page, so that the whole-page quote already shows it."""
        return self.source != "text_layer" and area(self.box_of(element)) > 0.9 * self.page_size[0] * self.page_size[1]

    def words_on(self, box: Box) -> list[Word]:
        """The words on the crop of a box, in coordinates of the crop."""
        x, y = corner(box)
        near = self.words.intersecting(box, CROP_MARGIN)
        return [Word(word.text, moved(word.box, -x, -y)) for word in near]


def corner(box: Box) -> tuple[float, float]:
    """The top left corner of the crop of a box, in page coordinates."""
    return max(0.0, box[0] - CROP_MARGIN), max(0.0, box[1] - CROP_MARGIN)


class PagePictures(NamedTuple):
    """The elements of a page in reading order, with what else it shows, and what OCR read on them."""

    elements: Sequence[LayoutElement]
    ocr_lines: Sequence[Sequence[Line] | None]
    """For each element the lines that OCR read on it, in page coordinates; None if the text layer has its text."""
    missed: int = 0
    """How many shapes like letters OCR did not read, or not surely."""
    unread: int = 0
    """In how many places there may be text that was not read because OCR is off."""


class _ReadPicture(NamedTuple):
    lines: Sequence[Line] | None
    missed: int = 0


def read_pictures(
    page: PageText, elements: Sequence[LayoutElement], outside: Sequence[Box], ocr: Ocr | None, *, in_tiles: bool
) -> PagePictures:
    """Read figures and tables, and boxes outside of elements and text layer, which become figures if they are text.

    A box in which OCR reads nothing is kept: people and vision models may read what it shows.
    """
    if ocr is None:
        unread = len(outside) + sum(_shows_text(page, element) for element in elements)
        return PagePictures(elements, [None] * len(elements), unread=unread if page.source == "text_layer" else 0)
    known = [_read_element(page, element, ocr, in_tiles=in_tiles) for element in elements]
    read = [(Figure(box, "figure", ()), _read_outside(page, box, ocr, in_tiles=in_tiles)) for box in outside]
    added = [(figure, picture) for figure, picture in read if picture.lines is not None]
    lines_of = {id(element): picture.lines for element, picture in (*zip(elements, known, strict=True), *added)}
    ordered = in_reading_order([*elements, *(figure for figure, _ in added)]) if added else elements
    missed = sum(picture.missed for _, picture in added) + sum(picture.missed for picture in known)
    return PagePictures(ordered, [lines_of[id(element)] for element in ordered], missed)


def _shows_text(page: PageText, element: LayoutElement) -> bool:
    """Whether an element is a picture with what is likely to be text, and the text layer has no word of it."""
    if isinstance(element, LineBlock):
        return False
    crop, words = _crop_and_words(page, page.box_of(element))
    return not words and is_likely_text(crop)


def _read_element(page: PageText, element: LayoutElement, ocr: Ocr, *, in_tiles: bool) -> _ReadPicture:
    if isinstance(element, LineBlock) or page.source == "ocr" or page.is_shown_whole(element):
        return _ReadPicture(None)
    crop, words = _crop_and_words(page, page.box_of(element))
    if not shows_unread_text(crop, words):
        return _ReadPicture(None)
    lines = read_large(crop, ocr, words) if in_tiles else ocr.read(crop)
    missed = count_missed(crop, lines, words) if page.source == "text_layer" else 0
    return _ReadPicture(_on_page(lines, page.box_of(element)), missed)


def _read_outside(page: PageText, box: Box, ocr: Ocr, *, in_tiles: bool) -> _ReadPicture:
    """Read a box with what may be text outside of elements; no lines if it has no text, or only that of the layer."""
    box = page.box_of(Figure(box, "figure", ()))
    crop, words = _crop_and_words(page, box)
    read = read_large(crop, ocr) if in_tiles else ocr.read(crop)
    lines, letters = _on_page(read, box), count_letters(read)
    missed = count_unread(crop, [*words, *(word for line in read for word in line.words)])
    if not letters:  # the dots of a table of contents are no letters, counted again with what is around them
        return _ReadPicture(lines, missed) if missed >= MIN_TEXT else _ReadPicture(None)
    is_new = has_more_text(lines, page.lines) or is_shown_twice(lines, page.lines, page.raster, ocr)
    if not is_new and missed < MIN_TEXT:
        return _ReadPicture(None)
    missed += 0 if are_surely_read(read) else letters
    return _ReadPicture(lines, missed if missed >= FEW else 0)


def _on_page(lines: Sequence[Line], box: Box) -> list[Line]:
    """Lines of the crop of a box, in page coordinates."""
    x, y = corner(box)
    return [translated(line, x, y) for line in lines]


def _crop_and_words(page: PageText, box: Box) -> tuple[Raster, list[Word]]:
    """What a box shows, and the words of the text layer on it, in coordinates of the crop."""
    return Raster(page.crop(box), page.raster.scale), page.words_on(box)
