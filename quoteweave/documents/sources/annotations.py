"""Reads what annotations show on a page: the values of form fields, notes written on it, and stamps.

pdfium only gives the text of a page's content. So what annotations show is made content of the page in memory, as for
printing; then the page is drawn and read like any other, so that its picture and its text agree.
"""

import ctypes
import itertools
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from quoteweave.core.boxes import Box, hull
from quoteweave.documents.sources import pdfium
from quoteweave.documents.sources.drawn.objects import text_objects
from quoteweave.documents.sources.lines import Line, Word
from quoteweave.documents.sources.pdf_text.characters import operations
from quoteweave.documents.sources.pdf_text.tags import FIRST_FIELD, AnnotationTags, ItemTag

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage
    from pypdfium2.raw import FPDF_TEXTPAGE

# The most annotations of a page, and the most options of a list, that are examined.
MAX_ANNOTATIONS = 5000
# The most fields of a form whose values are drawn if they have no appearance: twice as many take pdfium a second.
MAX_FIELDS = 5000
TICKED, EMPTY = {False: "☑", True: "◉"}, {False: "☐", True: "○"}
"""The characters for boxes, and for round boxes, only one of which can be ticked."""
_FILES = ("FILEATTACHMENT", "SOUND", "MOVIE", "SCREEN", "RICHMEDIA", "THREED")
# Flags of a field: each character has its own cell (_COMB); it is a push button (_BUTTON).
_COMB, _BUTTON = 1 << 24, 1 << 16


@dataclass(frozen=True, slots=True)
class Annotation:
    """An annotation that is not a link."""

    number: int
    """Its number on the page, from 0."""
    area: Box
    """Left, bottom, right and top in PDF user space."""
    is_field: bool
    is_shown: bool
    """Whether it is drawn on the page, if it has an appearance."""
    shows_text: bool
    text: str
    """The value of a field, or a note."""
    is_file: bool = False
    """Whether it has a file or media."""
    sign: str = ""
    """The character for a box that can be ticked."""
    is_comb: bool = False
    options: Mapping[str, bool] | None = None
    """The options of a list, and whether they are chosen."""
    is_button: bool = False
    """Whether it is a push button, whose words are no value."""


@dataclass(frozen=True, slots=True)
class PageAnnotations:
    """The annotations of a page, and the page with what they show as part of its content."""

    page: "PdfPage"
    entries: Sequence[Annotation]
    more: int = 0
    """How many annotations were not examined."""
    drawn: Mapping[int, int] = field(default_factory=dict)
    """The part of the page's last object that shows each annotation, by its number; empty if nothing is to be read."""

    def keep_alone(self) -> None:
        """Remove everything else from the page, which is not drawn afterwards."""
        for at in range(pdfium.FPDFPage_CountObjects(self.page.raw) - 2, -1, -1):
            page_object = pdfium.FPDFPage_GetObject(self.page.raw, at)
            pdfium.FPDFPage_RemoveObject(self.page.raw, page_object)
            pdfium.FPDFPageObj_Destroy(page_object)

    def tags(self, text: "FPDF_TEXTPAGE", count: int) -> AnnotationTags:
        """The annotation of each of the first `count` characters, once the page has nothing else."""
        form = pdfium.FPDFPage_GetObject(self.page.raw, 0)
        annotation_by_text: dict[int, int] = {}
        for number, at in self.drawn.items():
            part = pdfium.FPDFFormObj_GetObject(form, at)
            texts = text_objects(pdfium.FPDFFormObj_GetObject, part, pdfium.FPDFFormObj_CountObjects(part))
            annotation_by_text |= {ctypes.addressof(text_object.contents): number for text_object in texts}
        return AnnotationTags([annotation_by_text.get(address, -1) for address in operations(text, np.arange(count))])


def annotations_of(
    document: "PdfDocument", number: int, page: "PdfPage", count_fields: Callable[[], int]
) -> PageAnnotations:
    """The annotations of a page; if a page with what they show replaces `page`, the latter is closed.

    A field has no appearance if the program that filled it in leaves that to the reader: pdfium then makes one, unless
    `count_fields` returns so many fields that this takes too long.
    """
    more = _remove_excess(page)
    annotations = _read_annotations(document, page)
    if not any(annotation.is_field or (annotation.is_shown and annotation.shows_text) for annotation in annotations):
        return PageAnnotations(page, annotations, more)
    has_fields = any(annotation.is_field for annotation in annotations)
    is_form = has_fields and pdfium.FPDF_GetFormType(document.raw) != pdfium.FORMTYPE_NONE
    if is_form and not document.formenv and count_fields() <= MAX_FIELDS:
        page.close()
        log = logging.getLogger("pypdfium2")
        if not log.hasHandlers():  # otherwise it prints that it does not run forms in XFA
            log.addHandler(logging.NullHandler())
        document.init_forms()
        page = document[number]
        annotations = _read_annotations(document, page)
    _make_appearances(page)
    counts, before = _count_objects(page), pdfium.FPDFPage_CountObjects(page.raw)
    pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
    page.close()
    page = document[number]
    drawn = _annotation_parts(pdfium.FPDFPage_GetObject(page.raw, before), counts)
    return PageAnnotations(page, annotations, more, drawn)


def _remove_excess(page: "PdfPage") -> int:
    """Remove the annotations beyond the limit from a page, so that they are not drawn; return their number."""
    count = int(pdfium.FPDFPage_GetAnnotCount(page.raw))
    for at in range(count - 1, MAX_ANNOTATIONS - 1, -1):
        pdfium.FPDFPage_RemoveAnnot(page.raw, at)
    return max(0, count - MAX_ANNOTATIONS)


def _read_annotations(document: "PdfDocument", page: "PdfPage") -> list[Annotation]:
    form = document.formenv.raw if document.formenv else None
    annotations = (_annotation(page.raw, at, form) for at in range(pdfium.FPDFPage_GetAnnotCount(page.raw)))
    return [annotation for annotation in annotations if annotation is not None]


def _annotation(page: Any, number: int, form: Any) -> Annotation | None:
    """An annotation; None for links, and for pop-ups, whose text is that of another annotation."""
    raw = pdfium.FPDFPage_GetAnnot(page, number)
    try:
        kind = pdfium.FPDFAnnot_GetSubtype(raw)
        if kind in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
            return None
        flags, area = pdfium.FPDFAnnot_GetFlags(raw), pdfium.FS_RECTF()
        pdfium.FPDFAnnot_GetRect(raw, area)
        annotation = Annotation(
            number,
            (area.left, area.bottom, area.right, area.top),
            is_field=kind == pdfium.FPDF_ANNOT_WIDGET,
            is_shown=not flags & _hidden_flags(),
            shows_text=_shows_text(raw),
            text=_string(raw, "Contents") or _string(raw, "RC"),
            is_file=kind in [getattr(pdfium, f"FPDF_ANNOT_{name}") for name in _FILES],
        )
        return _field(raw, form, annotation) if annotation.is_field else annotation
    finally:
        pdfium.FPDFPage_CloseAnnot(raw)


def _field(raw: Any, form: Any, annotation: Annotation) -> Annotation:
    """The annotation with the data of its field; without a form, with its own data. A push button has no text."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(form, raw) if form else -1
    if kind == pdfium.FPDF_FORMFIELD_PUSHBUTTON or (kind < 0 and _is_button(raw)):
        return replace(annotation, is_field=False, shows_text=False, text="", is_button=True)
    is_box = kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
    if is_box or (kind < 0 and pdfium.FPDFAnnot_HasKey(raw, b"AS")):
        is_ticked, is_round = _string(raw, "AS") not in ("", "Off"), kind == pdfium.FPDF_FORMFIELD_RADIOBUTTON
        sign = (TICKED if is_ticked else EMPTY)[is_round]
        return replace(annotation, sign=sign, text=sign if is_ticked else "")
    rich = _string(raw, "RV")
    if kind < 0:
        value = _string(raw, "V") or rich
        return replace(annotation, text=value if value != "Off" or _string(raw, "FT") == "Tx" else "")
    is_comb = bool(pdfium.FPDFAnnot_GetFormFieldFlags(form, raw) & _COMB)
    is_list = kind == pdfium.FPDF_FORMFIELD_LISTBOX
    value = _utf16(pdfium.FPDFAnnot_GetFormFieldValue, form, raw) or rich
    return replace(
        annotation,
        text=value,
        is_comb=is_comb and kind == pdfium.FPDF_FORMFIELD_TEXTFIELD,
        options=_options(raw, form) if is_list else None,
    )


def _is_button(raw: Any) -> bool:
    """Whether an annotation itself says that it is a push button."""
    flags = ctypes.c_float()
    pdfium.FPDFAnnot_GetNumberValue(raw, b"Ff", flags)
    is_button = 0 <= flags.value < 1 << 32 and bool(int(flags.value) & _BUTTON)
    return is_button and _string(raw, "FT") == "Btn"


def _options(raw: Any, form: Any) -> Mapping[str, bool]:
    count = min(pdfium.FPDFAnnot_GetOptionCount(form, raw), MAX_ANNOTATIONS)
    return {
        " ".join(_utf16(pdfium.FPDFAnnot_GetOptionLabel, form, raw, at).split()): bool(
            pdfium.FPDFAnnot_IsOptionSelected(form, raw, at)
        )
        for at in range(count)
    }


def _string(annotation: Any, key: str) -> str:
    """A string or name of an annotation; empty if it has none."""
    return _utf16(pdfium.FPDFAnnot_GetStringValue, annotation, key.encode())


def _utf16(get: Callable[..., int], *arguments: Any) -> str:
    """The string that a function of pdfium returns."""
    # Two bytes per character, and two for the end.
    count = get(*arguments, None, 0)
    buffer = (pdfium.FPDF_WCHAR * (count // 2))()
    get(*arguments, buffer, count)
    return bytes(buffer).decode("utf-16-le", "replace").rstrip("\0")


def _shows_text(annotation: Any) -> bool:
    count = pdfium.FPDFAnnot_GetObjectCount(annotation)
    return next(text_objects(pdfium.FPDFAnnot_GetObject, annotation, count), None) is not None


def _make_appearances(page: "PdfPage") -> None:
    """Have pdfium make an appearance for highlights and the like that have none, which it does when it draws them.

    The page is drawn outside of the bitmap, so that drawing takes no time.
    """
    bitmap = pdfium.FPDFBitmap_Create(1, 1, 0)
    pdfium.FPDF_RenderPageBitmap(bitmap, page.raw, 10, 10, 10, 10, 0, pdfium.FPDF_ANNOT)
    pdfium.FPDFBitmap_Destroy(bitmap)


def _count_objects(page: "PdfPage") -> Mapping[int, int]:
    """The number of objects that each annotation draws, by its number; only for annotations that draw any.

    The others are hidden: pdfium would make content of what is only printed, and crash on some without content.
    """
    counts = {}
    for at in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
        flags = pdfium.FPDFAnnot_GetFlags(annotation)
        is_popup = pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_POPUP
        count = 0 if is_popup or flags & _hidden_flags() else pdfium.FPDFAnnot_GetObjectCount(annotation)
        if count > 0:
            counts[at] = count
        else:
            pdfium.FPDFAnnot_SetFlags(annotation, flags | pdfium.FPDF_ANNOT_FLAG_HIDDEN)
        pdfium.FPDFPage_CloseAnnot(annotation)
    return counts


def _annotation_parts(form: Any, counts: Mapping[int, int]) -> Mapping[int, int]:
    """The part of a form that each annotation has become, in their order; empty if they do not match."""
    object_counts = [
        pdfium.FPDFFormObj_CountObjects(pdfium.FPDFFormObj_GetObject(form, at))
        for at in range(max(0, pdfium.FPDFFormObj_CountObjects(form)) if form else 0)
    ]
    parts = [at for at, count in enumerate(object_counts) if count > 0]
    is_same = [object_counts[at] for at in parts] == [*counts.values()]
    return dict(zip(counts, parts, strict=True)) if is_same else {}


def _hidden_flags() -> int:
    """The flags of annotations that are not shown on a screen."""
    return int(pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW | pdfium.FPDF_ANNOT_FLAG_INVISIBLE)


@dataclass(frozen=True, slots=True)
class AnnotationContent:
    """What the annotations of a page show, with boxes like those of its lines."""

    lines: Sequence[Line]
    unread: int
    """The number of annotations with text that is not read."""
    buttons: Sequence[Box]
    """The places of push buttons, whose words are not read."""


def annotation_content(
    annotations: PageAnnotations,
    lines: Sequence[Line],
    place: Callable[[Box], Box],
    size: tuple[float, float],
    inherits_value: Callable[[int], bool],
) -> AnnotationContent:
    """The content of annotations.

    `lines` are those of a page with nothing else, each with the tag of its annotation; `place` maps an area to its box
    among them, on a page of that `size`. `inherits_value` tells whether a field without a value of its own has one
    elsewhere in the file. Text that is cut off at the edge of an annotation is left out, because it is not shown.
    """
    lines_by_annotation = defaultdict[int, list[Line]](list)
    for line in lines:
        if isinstance(line.tag, ItemTag):
            lines_by_annotation[line.tag.number].append(line)
    shown_lines, unread = list[Line](), annotations.more
    for annotation in annotations.entries:
        if annotation.is_button:
            continue
        box = place(annotation.area)
        own_lines = [part for line in lines_by_annotation[annotation.number] for part in _words_within(line, box)]
        if annotation.sign:
            is_drawn = annotation.number in annotations.drawn or not annotation.text
            is_seen = annotation.is_shown and is_drawn and _is_on_page(box, size)
            own_lines = [Line((Word(annotation.sign, box),), box, box[3] - box[1], box[3])] if is_seen else []
        unread += _is_unread(annotation, own_lines, inherits_value) or (
            annotation.is_shown and annotation.shows_text and not annotations.drawn
        )
        if annotation.options is not None:
            own_lines = [_with_choice(line, annotation.options) for line in own_lines]
        own_lines = [_comb(own_lines, annotation.text)] if annotation.is_comb and own_lines else own_lines
        shown_lines += [
            replace(line, tag=ItemTag(FIRST_FIELD + annotation.number) if annotation.is_field else None)
            for line in own_lines
        ]
    buttons = [place(annotation.area) for annotation in annotations.entries if annotation.is_button]
    return AnnotationContent(shown_lines, unread, buttons)


def _is_on_page(box: Box, size: tuple[float, float]) -> bool:
    """Whether a box has an area no larger than the page, and its middle on the page."""
    sides = zip(box[:2], box[2:], size, strict=True)
    return all(0 < end - start <= side and 0 <= start + end <= 2 * side for start, end, side in sides)


def _words_within(line: Line, box: Box) -> list[Line]:
    """The line with those of its words whose middle is in a box; no line without any."""
    x1, y1, x2, y2 = box
    middles = ((word.box[0] + word.box[2], word.box[1] + word.box[3]) for word in line.words)
    shown = [2 * x1 <= x <= 2 * x2 and 2 * y1 <= y <= 2 * y2 for x, y in middles]
    words = tuple(itertools.compress(line.words, shown))
    return [replace(line, words=words, box=hull(word.box for word in words))] if words else []


def _is_unread(annotation: Annotation, lines: Sequence[Line], inherits_value: Callable[[int], bool]) -> bool:
    """Whether an annotation has text that its lines lack, wholly or partly; for a list, any option suffices."""
    if annotation.is_file:
        return False
    held_letters, read_letters = _letters(annotation.text), _letters("".join(line.text for line in lines))
    if not annotation.is_field:
        return held_letters not in read_letters
    if not annotation.text and not annotation.sign and not lines:
        return inherits_value(annotation.number)
    if annotation.options is not None or annotation.sign:
        return bool(annotation.text) and not lines
    return bool(annotation.text) and len(read_letters) < len(held_letters)


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def _with_choice(line: Line, options: Mapping[str, bool]) -> Line:
    """A line of a list, preceded by whether it is chosen."""
    x, y1, _, y2 = line.box
    sign = (TICKED if options.get(line.text) else EMPTY)[False]
    return replace(line, words=(Word(sign, (x, y1, x, y2)), *line.words))


def _comb(lines: Sequence[Line], value: str) -> Line:
    """The line of a field with separate characters, in the words of its value if it has these characters."""
    letters = [(letter, word.box) for line in lines for word in line.words for letter in word.text]
    words = value.split()
    boxes = [box for _, box in letters]
    line = replace(lines[0], words=tuple(word for field_line in lines for word in field_line.words), box=hull(boxes))
    if "".join(words) != "".join(letter for letter, _ in letters):
        return line
    ends = list(itertools.accumulate(map(len, words)))
    starts = [0, *ends[:-1]]
    parts = (hull(boxes[start:end]) for start, end in zip(starts, ends, strict=True))
    return replace(line, words=tuple(map(Word, words, parts)))
