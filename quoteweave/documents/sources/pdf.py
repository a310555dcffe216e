"""PDF files through pdfium: opened, counted, read and drawn page by page. Only `pdf_objects` opens them as well.

Coordinates are those of the page as shown, in points.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from quoteweave.core.boxes import Box
from quoteweave.core.errors import DamagedDocument, EncryptedDocument
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.annotations import (
    MAX_FIELDS,
    AnnotationContent,
    PageAnnotations,
    annotation_content,
    annotations_of,
)
from quoteweave.documents.sources.bookmarks import Bookmark, read_bookmarks
from quoteweave.documents.sources.drawn.covered import without_replaced
from quoteweave.documents.sources.drawn.doubtful import doubtful_places
from quoteweave.documents.sources.drawn.in_one_place import count_covered_by, count_in_one_place
from quoteweave.documents.sources.drawn.objects import (
    PageDrawing,
    count_undecoded_and_unexamined,
    count_without_size,
    page_drawing,
)
from quoteweave.documents.sources.drawn.strikes import struck_areas, struck_out
from quoteweave.documents.sources.lines import Line
from quoteweave.documents.sources.pdf_text.characters import (
    MOSTLY_UNKNOWN,
    Characters,
    count_misread,
    count_unknown_and_drawn,
    read_characters,
    tidied,
)
from quoteweave.documents.sources.pdf_text.spaced_letters import closed_up
from quoteweave.documents.sources.pdf_text.tagged_lines import tagged_lines
from quoteweave.documents.sources.pdf_text.tags import PageTags
from quoteweave.documents.sources.pdf_text.text_layer import count_outside, quarter_turns, read_runs
from quoteweave.documents.sources.raw_page import Doubtful, Raster, RawPage
from quoteweave.documents.sources.rendering import render_page, to_points_map, turned_map

if TYPE_CHECKING:
    from pypdfium2 import PdfPage

    from quoteweave.documents.sources.pdf_objects.objects import PdfObjects

# As on a hundred dense pages of a book; more would take longer than a page may.
MAX_CHARACTERS = 500_000
# The share of a page's characters, such as bullets and signs in formulas, that may be unknown without a warning.
FEW_UNKNOWN = 0.02


@dataclass(frozen=True, slots=True)
class TextLayer:
    """The lines of a page's text layer, in its own order, and what was left out of it."""

    lines: list[Line]
    left_out: int
    """How many characters were left out because of the limit."""
    outside: int
    """How many words are outside the page as shown."""
    unknown: int = 0
    """How many letters nothing identifies, if they are more than a few."""
    misread: int = 0
    """How many letters may be read as others for this reason, if they are more than a few."""
    is_misread: bool = False
    """Whether these are so many that the text is unusable."""
    turns: int = 0
    """Quarter turns, counter-clockwise, from the page as shown to where most text is upright, as `lines` are."""
    replaced: int = 0
    """How many pieces of text were left out because they are covered, and others are drawn in their place."""
    in_one_place: int = 0
    """How many words are drawn over another one."""
    unexamined: int = 0
    """How many lines, rectangles, notes and words were not examined, so that what they strike out or cover was read."""
    doubtful: Sequence[Doubtful] = ()
    """Where the page may show other words than these."""


def read_text_layer(
    page: "PdfPage",
    annotations: PageAnnotations | None = None,
    turns: int | None = None,
    *,
    drawing: PageDrawing | None = None,
) -> TextLayer:
    """The text layer of a pdfium page, without what is outside the page as shown.

    If the page has nothing but what `annotations` show, each line has the tag of one. `turns` are the quarter turns of
    the lines, by default those after which most text is upright; `drawing` is what the page draws, if it is known.
    """
    drawing = drawing or (PageDrawing() if annotations else page_drawing(page))
    textpage = page.get_textpage()
    try:
        raw, total = textpage.raw, textpage.count_chars()
        count = min(total, MAX_CHARACTERS)
        if turns is None:
            turns = quarter_turns(raw, count, to_points_map(page))
        to_points, size = turned_map(page, turns)
        characters = read_characters(raw, count, to_points)
        draw = partial(render_page, page, DPI, turns)
        characters, replaced = without_replaced(page, raw, characters, drawing, to_points, draw)
        characters = closed_up(raw, tidied(raw, characters, to_points), to_points)
        areas = () if annotations else struck_areas(page, drawing)
        if (struck := struck_out(characters, drawing, areas, to_points, draw)).any():
            characters = replace(characters, struck=struck)
        tags = annotations.tags(raw, count) if annotations is not None else PageTags(page, raw, count)
        if parts := tags.parts(characters.numbers.tolist()):
            characters = replace(characters, parts=np.array(parts))
        lines = tagged_lines(read_runs(raw, characters, to_points, size, tags))
        unknown, misread, is_misread = _unidentified(raw, count, characters)
        outside, in_one_place = count_outside(characters, size), count_in_one_place(characters, drawing)
        counts = (outside, unknown, misread, is_misread, turns, replaced, in_one_place, drawing.unexamined)
        return TextLayer(lines, total - count, *counts, doubtful_places(raw, characters, drawing, to_points))
    finally:
        textpage.close()


def _unidentified(raw: Any, count: int, characters: Characters) -> tuple[int, int, bool]:
    """`TextLayer.unknown`, `misread` and `is_misread`."""
    (unknown, drawn_count), misread = count_unknown_and_drawn(characters), count_misread(raw, count)
    least = FEW_UNKNOWN * drawn_count
    is_misread = misread > MOSTLY_UNKNOWN * drawn_count
    return unknown if unknown > least else 0, misread if misread > least else 0, is_misread


def _content_of(annotations: PageAnnotations, turns: int, inherits_value: Callable[[int], bool]) -> AnnotationContent:
    """What annotations show, turned like the lines of the page."""
    lines, left_out = list[Line](), 0
    page, (to_points, size) = annotations.page, turned_map(annotations.page, turns)

    def place(area: Box) -> Box:
        (x1, y1), (x2, y2) = (to_points[:, :2] @ corner + to_points[:, 2] for corner in (area[:2], area[2:]))
        return (min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))

    if annotations.drawn:
        annotations.keep_alone()
        layer = read_text_layer(page, annotations, turns)
        lines, left_out = layer.lines, layer.left_out
    content = annotation_content(annotations, lines, place, size, inherits_value)
    return replace(content, unread=content.unread + (left_out > 0))


DPI = 144.0
NAMES_LEFT_OUT = "the labels of its pages and its bookmarks were left out: reading it with them crashed twice"
"""The warning for each page of a file that is read without labels and bookmarks."""


class PageFrame(NamedTuple):
    """A page without its content."""

    size: tuple[float, float]
    """Width and height in points."""
    label: str | None
    """The label in the file."""


@dataclass(frozen=True, slots=True)
class PdfPages:
    """The pages of an open PDF. pdfium raises RuntimeError for one that cannot be loaded.

    Read or draw a page only once in an open file: afterwards, what annotations show on it is content of the page, so
    that a second reading cannot distinguish values from printed words, and boxes are drawings.
    """

    document: Any  # pypdfium2.PdfDocument
    objects: "Callable[[], PdfObjects | None]"
    """Its objects as they are in the file, loaded when first asked for; None if that is impossible."""
    skip_names: bool = False
    """Whether labels and bookmarks are left out, with a warning."""

    @property
    def count(self) -> int:
        """The number of pages that the file claims to have."""
        return len(self.document)

    def read(self, number: int) -> RawPage:
        """A page with its text layer, drawn, and what annotations show on it."""
        page = self.document[number]
        try:
            drawing = page_drawing(page)
            layer, rotation = read_text_layer(page, drawing=drawing), page.get_rotation()
            without_size = count_without_size(drawing)
            annotations = self._annotations(number, page)
            drawing = drawing if annotations.page is page else page_drawing(annotations.page)
            page = annotations.page
            picture = render_page(page, DPI)
            undecoded, unexamined = count_undecoded_and_unexamined(drawing, picture, to_points_map(page))
            warnings = [*_reading_warnings(number, layer, without_size, undecoded, unexamined)]
            label, bookmarks, name_warnings = self._names(number)
            content = _content_of(annotations, layer.turns, self._inherits_value(number))
            if covered := count_covered_by(layer.lines, content.lines):
                warnings.append(f"page {number + 1} has words under notes or form fields, which were read: {covered:,}")
            warnings += [
                *self._lost_content_warnings(number),
                *self._unread_warnings(number, annotations, content.unread),
            ]
            return RawPage(
                number,
                picture,
                layer.lines,
                label=label,
                warnings=(*warnings, *name_warnings),
                bookmarks=bookmarks,
                rotation=rotation,
                is_misread=layer.is_misread,
                turns=layer.turns,
                fields=content.lines,
                buttons=content.buttons,
                doubtful=layer.doubtful,
            )
        finally:
            page.close()

    def frame(self, number: int) -> PageFrame:
        """A page's size, and its label unless they are left out."""
        return PageFrame(self.document.get_page_size(number), None if self.skip_names else self._label(number))

    def _label(self, number: int) -> str | None:
        return self.document.get_page_label(number).strip() or None

    def _names(self, number: int) -> tuple[str | None, tuple[Bookmark, ...], tuple[str, ...]]:
        """The page's label, with the first page all bookmarks, and warnings about what was left out."""
        if self.skip_names:
            return None, (), (NAMES_LEFT_OUT,)
        bookmarks, bookmark_warnings = read_bookmarks(self.document) if number == 0 else ((), ())
        return self._label(number), bookmarks, bookmark_warnings

    def _annotations(self, number: int, page: "PdfPage") -> PageAnnotations:
        return annotations_of(self.document, number, page, self._count_fields)

    def _count_fields(self) -> int:
        objects = self.objects()
        if objects is None:
            return 0
        from quoteweave.documents.sources.pdf_objects.losses import count_fields

        return count_fields(objects, MAX_FIELDS)

    def _unread_warnings(self, number: int, annotations: PageAnnotations, unread: int) -> tuple[str, ...]:
        """Warnings about what is not read: notes, form fields, attached files and media, and forms in XFA."""
        of_document, of_page = self._associated(number)
        files = of_document + (pdfium.FPDFDoc_GetAttachmentCount(self.document.raw) if number == 0 else 0)
        warnings = []
        if number == 0 and pdfium.FPDF_GetFormType(self.document.raw) == pdfium.FORMTYPE_XFA_FULL:
            warnings.append("it is a form in XFA, of which its pages are no more than a placeholder; it was not read")
        if files > 0:
            warnings.append(f"files attached to it were not read: {files}")
        if count := sum(annotation.is_file for annotation in annotations.entries) + of_page:
            warnings.append(f"page {number + 1} has attached files or media, which were not read: {count}")
        if unread:
            warnings.append(f"page {number + 1} has notes or filled form fields, whose text was not read: {unread}")
        return tuple(warnings)

    def _lost_content_warnings(self, number: int) -> tuple[str, ...]:
        """Warnings about what pdfium loses of the page and, with the first page, about pages that it does not know."""
        objects = self.objects()
        if objects is None:
            return ()
        from quoteweave.documents.sources.pdf_objects.losses import document_losses, page_losses

        of_document = document_losses(objects, self.count) if number == 0 else ()
        return (*of_document, *page_losses(objects, number))

    def _associated(self, number: int) -> tuple[int, int]:
        """The number of files that belong to the document, given with its first page, and to the page."""
        objects = self.objects()
        if objects is None:
            return 0, 0
        from quoteweave.documents.sources.pdf_objects.losses import count_associated, count_associated_elsewhere

        page = objects.page(number)
        of_document = count_associated_elsewhere(objects) if number == 0 else 0
        return of_document, count_associated(objects, page.entries) if page else 0

    def _inherits_value(self, number: int) -> Callable[[int], bool]:
        from quoteweave.documents.sources.pdf_objects.losses import inherits_value

        objects = self.objects()
        page = objects.page(number) if objects is not None else None
        return partial(inherits_value, page.entries if page else {})

    def draw(self, number: int) -> Raster:
        """Render a page as shown; afterwards the open file cannot `read` its form fields."""
        page = self._annotations(number, self.document[number]).page
        try:
            return render_page(page, DPI)
        finally:
            page.close()


def _reading_warnings(
    number: int, layer: TextLayer, without_size: int, undecoded_images: int, unexamined_images: int
) -> Iterator[str]:
    """Warnings about what a page has and is not read, or is read and may be wrong."""
    if layer.left_out:
        more = f"the other {layer.left_out:,} were left out"
        yield f"page {number + 1} has more than {MAX_CHARACTERS:,} characters; {more}"
    unknown = "letters that its fonts do not identify, which"
    counts = {
        "words outside the part of it that is shown, which were not read": layer.outside,
        "text that is covered and has other text in its place, which was left out": layer.replaced,
        "words over other words in the same place, all of which were read": layer.in_one_place,
        "lines, rectangles, notes or words that are too many to examine, or over too many letters; text that they "
        "strike out or cover was read": layer.unexamined,
        # Misread letters are reported elsewhere, unless OCR reads the page.
        f"{unknown} were left out": 0 if layer.is_misread else layer.unknown,
        f"{unknown} may be read as others": 0 if layer.is_misread else layer.misread,
        "pieces of text of no size, or far outside it, which were not read": without_size,
        "images that are damaged, or in a form that is not read": undecoded_images,
        "images that are too many to examine, and may be damaged": unexamined_images,
    }
    for problem, count in counts.items():
        if count:
            yield f"page {number + 1} has {problem}: {count:,}"


@contextmanager
def open_pdf(path: Path, password: str | None, *, skip_names: bool = False) -> Iterator[PdfPages]:
    """Open a PDF, to be read without labels and bookmarks if `skip_names`.

    Raises EncryptedDocument, or DamagedDocument if it is not a PDF, truncated, without pages or gone.
    """
    import pypdfium2

    document = pypdfium2.PdfDocument(_load(path, password))
    with ExitStack() as opened:
        opened.callback(document.close)
        yield PdfPages(document, cache(lambda: opened.enter_context(_objects(path, password))), skip_names)


def _objects(path: Path, password: str | None) -> AbstractContextManager["PdfObjects | None"]:
    from quoteweave.documents.sources.pdf_objects.objects import open_objects  # it takes a moment to import

    return open_objects(path, password)


def _load(path: Path, password: str | None) -> Any:
    # For a file without pages pypdfium2 reports an older error, as if the file could not be opened.
    loaded = pdfium.FPDF_LoadDocument(bytes(path), password.encode() if password else None)
    if pdfium.FPDF_GetPageCount(loaded) > 0:
        return loaded
    if loaded:
        pdfium.FPDF_CloseDocument(loaded)
        raise DamagedDocument(f"{path.name!r} has no pages")
    error = pdfium.FPDF_GetLastError()
    if error == pdfium.FPDF_ERR_PASSWORD:
        reason = (
            "the password given is wrong"
            if password
            else "it is encrypted; give its password, or save a copy that needs none"
        )
        raise EncryptedDocument(f"{path.name!r}: {reason}")
    if error == pdfium.FPDF_ERR_SECURITY:
        raise EncryptedDocument(f"{path.name!r} is encrypted in a way that is not read; save it without encryption")
    is_gone = error == pdfium.FPDF_ERR_FILE
    why = "it is gone, or may not be read" if is_gone else "it is damaged or incomplete"
    raise DamagedDocument(f"{path.name!r} cannot be opened as a PDF; {why}")
