"""Reads one page: its elements with crops stored, its words in reading order, and OCR where there is no text layer."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from quoteweave.collection.stores.content import ImageStore
from quoteweave.core.boxes import Box, area, hull, share_in
from quoteweave.core.files.pictures import encode_picture
from quoteweave.core.records import ImageLayout, PageWords, Rotation, TextSource
from quoteweave.core.text.packed_words import PlacedWord, pack_words
from quoteweave.documents.charts.values import read_chart
from quoteweave.documents.layout.analyse import LayoutElement, analyse_layout
from quoteweave.documents.layout.blocks import BrokenWord, LineBlock, block_of, group_lines, lines_to_rows, text_by_rows
from quoteweave.documents.layout.figures import Figure
from quoteweave.documents.layout.spatial import SpatialIndex
from quoteweave.documents.layout.tables.cells import Table, cells_of
from quoteweave.documents.layout.unread.letters import count_missed
from quoteweave.documents.layout.unread.pictures import PagePictures, PageText, read_pictures
from quoteweave.documents.layout.unread.text_layer import count_unseen, unread_areas
from quoteweave.documents.layout.unread.tiles import is_shrunk
from quoteweave.documents.layout.used_lines import UsedLines, used_lines
from quoteweave.documents.sources.bookmarks import Bookmark
from quoteweave.documents.sources.lines import Line, with_bullets
from quoteweave.documents.sources.ocr import Ocr
from quoteweave.documents.sources.raw_page import Pixels, Raster, RawPage

# Replaces spaces inside a word, which packed words may not contain; one character may stand for several words: U+FDFA.
NO_BREAK_SPACE = "\u00a0"


class ReadingOrderWords:
    """Collects words element by element; a word in two elements is kept in the first."""

    def __init__(self) -> None:
        self._placed: list[PlacedWord] = []
        self._lines = 0
        self._added: set[int] = set()  # ids of word objects, which stay in memory as long as the page's elements

    def add(self, element: LayoutElement, *, ocr: bool) -> None:
        """Add the words of an element, row by row for tables and figures; `ocr` says whether OCR read them."""
        rows = [element.lines] if isinstance(element, LineBlock) else lines_to_rows(element.lines)
        self.add_lines((line for row in rows for line in row), ocr=ocr)

    def add_lines(self, lines: Iterable[Line], *, ocr: bool) -> None:
        """Add the words of lines, in the given order."""
        for line in lines:
            words = [word for word in line.words if id(word) not in self._added]
            self._added.update(map(id, words))
            self._placed += [(word.text.replace(" ", NO_BREAK_SPACE), word.box, self._lines, ocr) for word in words]
            self._lines += bool(words)

    def packed(self, page: int, as_shown: Callable[[Box], Box] = lambda box: box) -> PageWords:
        """Pack all words as those of the page with this number, with boxes on the page as shown."""
        placed = ((text, as_shown(box), line, ocr) for text, box, line, ocr in self._placed)
        return PageWords(page=page, packed=pack_words(placed))


def words_of_pages(words: Sequence[PageWords | None]) -> tuple[PageWords, ...]:
    """Number the words of consecutive pages from 0; a page that could not be read has none."""
    return tuple(PageWords.of(page, ()) if page_words is None else page_words for page, page_words in enumerate(words))


GARBLED = "has a text layer that looks garbled, and was kept as it is"
"""Part of the warning for a page if OCR is off, or reads no more than its text layer."""
UNSURE = (
    "was read by OCR, which is unsure of its words; other scripts than Latin and Chinese need their own OCR language"
)
"""Part of the warning for a page that is in another script, handwritten, or hardly legible."""
UNREAD = "shows what may be letters that OCR did not read, or not surely, as small print or handwriting"
"""Part of the warning for a page of which OCR read less than it shows."""
DRAWN = "shows what may be text that its text layer lacks, as pictures or outlines, which only OCR reads"
"""Part of the warning for a page with such text where OCR is off; the number of places follows."""
WITHOUT_TILES = (
    "has been read without tiles, in which OCR finds small print, as that ran out of memory or ran out of time; "
    "allow more"
)
"""Part of the warning for such a page if reading it in tiles exceeded a limit."""
UNSEEN = "has words that it does not show, as they are covered or have the colour of their ground, which were read"
"""Part of the warning for a page with such words."""
# Images larger than this share of the page are also split into parts, so that a citation is quick to check.
SPLIT_FROM_SHARE = 0.48
# The most characters of one text quote; half a page of a paper has twice as many.
MAX_TEXT_CHARACTERS = 1400
# The most characters of a table's first row that is repeated above each part of the table.
MAX_HEAD_CHARACTERS = 200
FoundLayout = Literal["text", ImageLayout]


@dataclass(frozen=True, slots=True)
class PageElement:
    """An element of a page, before its layout type is decided from the whole document."""

    found_as: FoundLayout
    box: Box
    text: str
    size: float = 0.0  # font size in points, 0 for images
    bold: bool = False
    lines: int = 0
    prose: bool = False
    image: str | None = None  # key of the stored crop
    ocr_text: str | None = None
    part: str = ""  # "part 1 of 2" for a part of a large image
    begins_item: bool = False  # whether it begins an item of a list, by the file's tags
    in_item: bool = False  # whether it is part of one
    broken_words: tuple[BrokenWord, ...] = ()  # at the ends of lines; whole in the text


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page with its elements in reading order."""

    number: int
    width: float
    height: float
    label: str | None  # the file's own label of the page
    source: TextSource
    elements: tuple[PageElement, ...]
    warnings: tuple[str, ...] = ()  # which parts of the page were left out, and why
    bookmarks: tuple[Bookmark, ...] = ()  # on the first page, those of the whole file
    words: PageWords | None = None  # None for a page that could not be read
    rotation: Rotation | None = None  # as stored in the file; None if it is not known


@dataclass(frozen=True, slots=True)
class PageReader:
    """Reads a page's lines and image into elements; without OCR if `ocr` is None."""

    images: ImageStore
    ocr: Ocr | None
    in_tiles: bool = True
    """Whether OCR reads a large picture in tiles as well, which takes more memory and time."""

    def read(self, raw: RawPage) -> PageContent:
        """Return the page's elements and words; OCR reads it if its text layer is missing, garbled or a mere stamp."""
        used = used_lines(raw, self.ocr, in_tiles=self.in_tiles)
        lines, source, raster, size = used.lines, used.source, used.picture, used.page_size
        lines = lines if used.is_garbled else with_bullets(lines)
        layout_elements, left_out = analyse_layout(lines, raster, size)
        page_text = PageText(raster, source, size, lines, SpatialIndex([word for line in lines for word in line.words]))
        outside = _unread_areas(used, lines, layout_elements, raw.buttons)
        pictures = read_pictures(page_text, layout_elements, outside, self.ocr, in_tiles=self.in_tiles)
        page_text = replace(page_text, ocr_lines=[line for lines in pictures.ocr_lines for line in lines or ()])
        elements: list[PageElement] = []
        words = ReadingOrderWords()
        for layout_element, ocr_lines in zip(pictures.elements, pictures.ocr_lines, strict=True):
            elements += self._page_elements(layout_element, page_text, ocr_lines)
            words.add(layout_element, ocr=source == "ocr")
            words.add_lines(ocr_lines or (), ocr=True)
        if used.is_scan:
            elements.append(self._whole_page(raster, size, text_by_rows(lines) if used.is_read else None))
        doubts = (*left_out, *self._doubts(used, pictures))
        shown = tuple(replace(element, box=used.box_as_shown(element.box)) for element in elements)
        return PageContent(
            raw.number,
            *raw.size,
            label=raw.label,
            source=source,
            elements=shown,
            warnings=(*raw.warnings, *(f"page {raw.number + 1} {doubt}" for doubt in doubts)),
            bookmarks=raw.bookmarks,
            words=words.packed(raw.number, used.box_as_shown),
            rotation=raw.rotation,
        )

    def _page_elements(
        self, layout_element: LayoutElement, page_text: PageText, ocr_lines: Sequence[Line] | None
    ) -> Sequence[PageElement]:
        """The page elements made from a layout element; `ocr_lines` are those that OCR read on it."""
        if isinstance(layout_element, LineBlock):
            return [_text_element(block) for block in split_long_block(layout_element)]
        if page_text.is_shown_whole(layout_element):
            return [_text_element(block) for block in group_lines(layout_element.lines)]
        found_as: FoundLayout = "table" if isinstance(layout_element, Table) else layout_element.layout
        box = page_text.box_of(layout_element)
        parts = _image_parts(PageElement(found_as, box, ""), layout_element, page_text.page_size)
        image = self._image(PageElement(found_as, box, layout_element.text), page_text, ocr_lines)
        if isinstance(layout_element, Figure):
            image = self._with_values(image, layout_element, page_text, ocr_lines)
        return [image, *(self._image(part, page_text, ocr_lines) for part in parts)]

    def _with_values(
        self, element: PageElement, figure: Figure, page_text: PageText, ocr_lines: Sequence[Line] | None
    ) -> PageElement:
        """Pair labels and values of a figure; if the pairs are certain, it becomes a chart with them as its text."""
        chart = read_chart(page_text.raster, element.box, figure.lines, page_text.lines)
        by_ocr = (
            None if ocr_lines is None else read_chart(page_text.raster, element.box, ocr_lines, page_text.ocr_lines)
        )
        if chart is None and by_ocr is None:
            return element
        box = hull(reading.box for reading in (chart, by_ocr) if reading is not None)
        text, ocr_text = element.text, element.ocr_text
        if chart is not None and page_text.source == "ocr":
            ocr_text = chart.text
        elif chart is not None:
            text = chart.text
        if by_ocr is not None:
            ocr_text = by_ocr.text
        key = element.image if box == element.box else self._store_crop(box, page_text)
        return replace(element, found_as="chart", box=box, text=text, ocr_text=ocr_text, image=key)

    def _doubts(self, used: UsedLines, pictures: PagePictures) -> Iterator[str]:
        """Reasons why the page's text may be wrong, or may not be what it shows."""
        if used.is_garbled:
            yield GARBLED
        elif used.source == "text_layer" and (unseen := count_unseen(used.picture, used.lines)):
            yield f"{UNSEEN}: {unseen:,}"
        yield from used.doubts
        is_counted = used.is_read and used.source != "text_layer" and not (used.is_unsure and self.in_tiles)
        missed = pictures.missed + (count_missed(used.picture, used.lines) if is_counted else 0)
        if used.is_unsure:
            yield UNSURE
        elif missed:
            yield f"{UNREAD}: {missed:,}"
        if missed and not self.in_tiles and is_shrunk(used.picture):
            yield WITHOUT_TILES
        if pictures.unread:
            yield f"{DRAWN}: {pictures.unread:,}"

    def _store_crop(self, box: Box, page_text: PageText) -> str:
        return self.images.put(encode_image(page_text.crop(box)), suffix=".png")

    def _image(self, element: PageElement, page_text: PageText, ocr_lines: Sequence[Line] | None) -> PageElement:
        """Store the crop and add the OCR text; a part of a large image gets its share of the whole image's text."""
        key = self._store_crop(element.box, page_text)
        if page_text.source == "ocr":
            return replace(element, text="", ocr_text=element.text, image=key)
        crop_lines = (
            None
            if ocr_lines is None
            else [line for line in ocr_lines if share_in(line.box, element.box) > 0.5 or not element.part]
        )
        return replace(element, image=key, ocr_text=None if crop_lines is None else text_by_rows(crop_lines))

    def _whole_page(self, raster: Raster, page_size: tuple[float, float], ocr_text: str | None) -> PageElement:
        key = self.images.put(encode_image(raster.pixels, lossy=True), suffix=".jpg")
        return PageElement("page", (0.0, 0.0, *page_size), "", image=key, ocr_text=ocr_text)


def _unread_areas(
    used: UsedLines, lines: Iterable[Line], elements: Iterable[LayoutElement], buttons: Iterable[Box]
) -> list[Box]:
    """What may be text that neither the text layer nor a figure, table or button has, in a picture or as outlines."""
    if used.source != "text_layer" or used.is_garbled:
        return []
    words = [word for line in lines for word in line.words]
    occupied = [element.box for element in elements if not isinstance(element, LineBlock)]
    return unread_areas(used.picture, words, [*occupied, *buttons])


def _text_element(block: LineBlock) -> PageElement:
    return PageElement(
        "text",
        block.box,
        block.text,
        block.size,
        block.bold,
        len(block.lines),
        block.prose,
        broken_words=block.broken_words,
        begins_item=block.begins_item,
        in_item=block.item is not None,
    )


def split_long_block(block: LineBlock) -> list[LineBlock]:
    """Split a long block between lines into even parts that can be checked quickly."""
    count = -(-sum(len(line.text) + 1 for line in block.lines) // MAX_TEXT_CHARACTERS)
    if count < 2:
        return [block]
    edges = [round(i * len(block.lines) / count) for i in range(count + 1)]
    first, *following = (block_of(block.lines[a:b]) for a, b in itertools.pairwise(edges) if b > a)
    return [replace(first, begins_item=block.begins_item), *following]


def _image_parts(image: PageElement, element: Figure | Table, page_size: tuple[float, float]) -> list[PageElement]:
    """The panels of a figure; for a large table, or a large figure whose panels omit words, the parts cut from it."""
    large = area(image.box) > SPLIT_FROM_SHARE * area((0, 0, *page_size))
    if isinstance(element, Figure) and (panels := element.panels_with_labels() if large else element.panels):
        return [_panel(image, element, panel, f"part {i} of {len(panels)}") for i, panel in enumerate(panels, 1)]
    return _cut(image, element, page_size) if large else []


def _panel(image: PageElement, figure: Figure, panel: Box, part: str) -> PageElement:
    panel_lines = [line for line in figure.lines if share_in(line.box, panel) > 0.5]
    return PageElement(image.found_as, panel, text_by_rows(panel_lines), part=part)


def _cut(image: PageElement, element: Figure | Table, page_size: tuple[float, float]) -> list[PageElement]:
    """Cut a large table between rows, whose names stay with them, and a large figure across its longer side."""
    box = image.box
    count = int(area(box) / (SPLIT_FROM_SHARE * page_size[0] * page_size[1])) + 1
    axis = 1 if isinstance(element, Table) or box[3] - box[1] >= box[2] - box[0] else 0
    step = (box[axis + 2] - box[axis]) / count
    edges = [
        box[axis],
        *(_clear_position(element.lines, axis, box[axis] + step * i) for i in range(1, count)),
        box[axis + 2],
    ]
    parts = []
    for i, (start, end) in enumerate(itertools.pairwise(edges), 1):
        cut = (box[0], start, box[2], end) if axis == 1 else (start, box[1], end, box[3])
        part_lines = [line for line in element.lines if start <= (line.box[axis] + line.box[axis + 2]) / 2 < end]
        text = text_by_rows(part_lines) if isinstance(element, Figure) else _below_its_head(element, cut, part_lines)
        parts.append(PageElement(image.found_as, cut, text, part=f"part {i} of {count}"))
    return parts


def _below_its_head(table: Table, cut: Box, lines: Sequence[Line]) -> str:
    """The text of a part of a table, preceded by the table's first row if that is a short header."""
    text = Table(cut, cells_of(lines), tuple(lines)).text
    head = table.text.partition("\n")[0]
    names = not any(cell.strip()[:1].isdigit() for cell in head.split("|")[1:])
    return f"{head}\n{text}" if names and len(head) <= MAX_HEAD_CHARACTERS and not text.startswith(head) else text


def _clear_position(lines: Sequence[Line], axis: int, near: float) -> float:
    """The position closest to `near`, within half an inch, at which no line is cut; `near` itself if there is none."""
    places = sorted({line.box[axis + 2] + 0.5 for line in lines} | {near}, key=lambda place: abs(place - near))
    for place in places:
        if abs(place - near) < 36 and not any(line.box[axis] < place < line.box[axis + 2] for line in lines):
            return place
    return near


def encode_image(pixels: Pixels, *, lossy: bool = False, width: int | None = None) -> bytes:
    """Encode pixels as PNG, or as JPEG, which needs a tenth of the space for a scanned page.

    A picture of more than `width` columns is reduced to that many.
    """
    from PIL import Image

    image = Image.fromarray(pixels)
    if width is not None and width < image.width:
        image = image.resize((width, max(1, round(image.height * width / image.width))), reducing_gap=2.0)
    return encode_picture(image, "JPEG" if lossy else "PNG", compress_level=1)
