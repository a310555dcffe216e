"""Matches captions with images."""

import statistics
from collections.abc import Collection, Mapping, Sequence

from quoteweave.core.boxes import Box
from quoteweave.core.records import BODY_LAYOUTS, Layout
from quoteweave.core.text.references.mentions import caption_label
from quoteweave.documents.layout.blocks import NOTE, NOTE_MARK, SENTENCE_ENDS
from quoteweave.documents.layout.page import PageElement

# The largest distance, in points, between a picture and its caption.
CAPTION_REACH = 60.0
# The largest distance, in points, of a note from its table; the font size of notes, as a share of running text's.
NOTE_REACH = 14.0
SMALL = 0.88


def find_captions(elements: Sequence[PageElement], layouts: Sequence[Layout]) -> dict[int, str]:
    """Return captions of images by ordinal: the nearest numbered caption, or else a short title right above."""
    images = [
        i for i, element in enumerate(elements) if element.found_as in ("figure", "chart", "table") and not element.part
    ]
    texts = [i for i, layout in enumerate(layouts) if layout == "caption"]
    # Tables have captions above and figures below, unless more captions can be matched the other way.
    sides = ({"table": True}, {"table": False}, {"table": True, "figure": True}, {"table": False, "figure": True})
    paired = max((_pairs(elements, images, texts, above) for above in sides), key=len)
    captions = {image: elements[text].text for image, text in paired.items()}
    notes = _notes(elements, layouts)
    for image in images:
        title = _title_above(elements, layouts, image, notes)
        if image not in captions and title:
            captions[image] = title
    parent: int | None = None
    for i, element in enumerate(elements):
        parent = parent if element.part else i
        if element.part and parent is not None:
            captions[i] = f"{captions[parent]} ({element.part})" if parent in captions else element.part.capitalize()
    return captions


def _pairs(
    elements: Sequence[PageElement], images: Sequence[int], texts: Sequence[int], above: Mapping[str, bool]
) -> dict[int, int]:
    """Images with their captions, the closest first; `above` says for each kind whether captions are above."""
    is_above = {text: above.get(_captioned_kind(elements[text]), False) for text in texts}
    distances = sorted(
        (_distance_to_caption(elements[image], elements[text], is_above[text]), image, text)
        for image in images
        for text in texts
    )
    caption_of_image: dict[int, int] = {}
    for distance, image, text in distances:
        if distance < CAPTION_REACH and image not in caption_of_image and text not in caption_of_image.values():
            caption_of_image[image] = text
    return caption_of_image


def _captioned_kind(caption: PageElement) -> str:
    label = caption_label(caption.text)
    return "figure" if label is None or label.kind == "figure" else "table"


def _distance_to_caption(image: PageElement, caption: PageElement, above: bool) -> float:
    """Points between them, with a handicap for the unusual side; infinite if neither is above the other."""
    a, b = image.box, caption.box
    shared_width = min(a[2], b[2]) - max(a[0], b[0])
    if shared_width < 0.4 * min(a[2] - a[0], b[2] - b[0]):
        return float("inf")
    over, under = a[1] - b[3], b[1] - a[3]
    gap = max(over, under, 0.0)
    return gap if (over > under) == above else gap + 0.4 * CAPTION_REACH


def _notes(elements: Sequence[PageElement], layouts: Sequence[Layout]) -> set[int]:
    """Notes to pictures and tables by ordinal: they belong to what is above them, and are no captions below."""
    sizes = [element.size for element in elements if element.prose]
    small = SMALL * statistics.median(sizes) if sizes else 0.0
    above = [element.box for element in elements if element.found_as in ("figure", "chart", "table")]
    notes = set()
    for i in sorted(range(len(elements)), key=lambda i: elements[i].box[1]):
        element = elements[i]
        if layouts[i] not in BODY_LAYOUTS | {"title"}:
            continue
        may_be_note = NOTE_MARK.match(element.text) or (0 < element.size <= small and layouts[i] != "title")
        if NOTE.match(element.text) or (may_be_note and any(_is_just_below(element.box, box) for box in above)):
            notes.add(i)
            above.append(element.box)  # a note may follow another note
    return notes


def _is_just_below(lower: Box, upper: Box) -> bool:
    shared_width = min(upper[2], lower[2]) - max(upper[0], lower[0])
    return shared_width > 0.5 * min(lower[2] - lower[0], upper[2] - upper[0]) and -4 < lower[1] - upper[3] < NOTE_REACH


def _title_above(
    elements: Sequence[PageElement], layouts: Sequence[Layout], image: int, notes: Collection[int]
) -> str | None:
    box = elements[image].box
    near = [
        element
        for i, (element, layout) in enumerate(zip(elements, layouts, strict=True))
        if layout in ("title", "paragraph")
        and i not in notes
        and _is_heading(element)
        and _is_just_above(element.box, box)
    ]
    return " ".join(element.text for element in sorted(near, key=lambda element: element.box[1]))[:300] or None


def _is_heading(element: PageElement) -> bool:
    """Whether it is a title or subtitle: short, and not a sentence of the running text."""
    return element.lines <= 3 and not (element.prose and element.text.rstrip().endswith(SENTENCE_ENDS))


def _is_just_above(upper: Box, lower: Box) -> bool:
    shared_width = min(upper[2], lower[2]) - max(upper[0], lower[0])
    return shared_width > 0.5 * (upper[2] - upper[0]) and -4 < lower[1] - upper[3] < 0.7 * CAPTION_REACH
