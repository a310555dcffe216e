"""Matches captions with images."""

import statistics
from collections.abc import Collection, Mapping, Sequence

from quoteweave.core.boxes import Box
from quoteweave.core.records import Layout
from quoteweave.core.text.mentions import caption_label
from quoteweave.documents.layout.blocks import NOTE, NOTE_MARK
from quoteweave.documents.layout.page import PageElement

# Points between a picture and its caption.
CAPTION_REACH = 60.0
# Points between a table and a note to it, and of how much smaller a font than running text notes may be set.
NOTE_REACH = 14.0
SMALL = 0.88


def find_captions(pieces: Sequence[PageElement], names: Sequence[Layout]) -> dict[int, str]:
    """Return captions of images by ordinal: the nearest numbered caption, or else a short title right above."""
    images = [i for i, piece in enumerate(pieces) if piece.kind in ("figure", "chart", "table") and not piece.part]
    texts = [i for i, name in enumerate(names) if name == "caption"]
    # Tables are captioned above and figures below, unless more of the captions find a place the other way.
    sides = ({"table": True}, {"table": False}, {"table": True, "figure": True}, {"table": False, "figure": True})
    paired = max((_pairs(pieces, images, texts, above) for above in sides), key=len)
    found = {i: pieces[t].text for i, t in paired.items()}
    notes = _notes(pieces, names)
    for i in images:
        title = _title_above(pieces, names, i, notes)
        if i not in found and title:
            found[i] = title
    whole: int | None = None
    for i, piece in enumerate(pieces):
        whole = whole if piece.part else i
        if piece.part and whole is not None:
            found[i] = f"{found[whole]} ({piece.part})" if whole in found else piece.part.capitalize()
    return found


def _pairs(
    pieces: Sequence[PageElement], images: Sequence[int], texts: Sequence[int], above: Mapping[str, bool]
) -> dict[int, int]:
    """Images with their captions, the closest first; `above` says of which kinds captions stand above."""
    distances = sorted(
        (_distance(pieces[i], pieces[t], above.get(_captioned_kind(pieces[t]), False)), i, t)
        for i in images
        for t in texts
    )
    found: dict[int, int] = {}
    for distance, i, t in distances:
        if distance < CAPTION_REACH and i not in found and t not in found.values():
            found[i] = t
    return found


def _captioned_kind(caption: PageElement) -> str:
    label = caption_label(caption.text)
    return "figure" if label is None or label.startswith("figure ") else "table"


def _distance(image: PageElement, caption: PageElement, above: bool) -> float:
    """Points between them, with a handicap for the unusual side; infinite when one is not over the other."""
    a, b = image.box, caption.box
    across = min(a[2], b[2]) - max(a[0], b[0])
    if across < 0.4 * min(a[2] - a[0], b[2] - b[0]):
        return float("inf")
    over, under = a[1] - b[3], b[1] - a[3]
    gap = max(over, under, 0.0)
    return gap if (over > under) == above else gap + 0.4 * CAPTION_REACH


def _notes(pieces: Sequence[PageElement], names: Sequence[Layout]) -> set[int]:
    """Notes to pictures and tables by ordinal: they belong to what stands above them, and caption nothing below."""
    sizes = [piece.size for piece in pieces if piece.prose]
    small = SMALL * statistics.median(sizes) if sizes else 0.0
    above = [piece.box for piece in pieces if piece.kind in ("figure", "chart", "table")]
    notes = set()
    for i in sorted(range(len(pieces)), key=lambda i: pieces[i].box[1]):
        piece = pieces[i]
        if names[i] not in ("title", "paragraph", "list"):
            continue
        like = NOTE_MARK.match(piece.text) or (0 < piece.size <= small and names[i] != "title")
        if NOTE.match(piece.text) or (like and any(_just_below(piece.box, box) for box in above)):
            notes.add(i)
            above.append(piece.box)  # a note may follow another
    return notes


def _just_below(lower: Box, upper: Box) -> bool:
    across = min(upper[2], lower[2]) - max(upper[0], lower[0])
    return across > 0.5 * min(lower[2] - lower[0], upper[2] - upper[0]) and -4 < lower[1] - upper[3] < NOTE_REACH


def _title_above(
    pieces: Sequence[PageElement], names: Sequence[Layout], image: int, notes: Collection[int]
) -> str | None:
    box = pieces[image].box
    near = [
        piece
        for i, (piece, name) in enumerate(zip(pieces, names, strict=True))
        if name in ("title", "paragraph") and i not in notes and _is_heading(piece) and _just_above(piece.box, box)
    ]
    return " ".join(piece.text for piece in sorted(near, key=lambda piece: piece.box[1]))[:300] or None


def _is_heading(piece: PageElement) -> bool:
    """A title or subtitle: short, and not a sentence of the running text."""
    return piece.lines <= 3 and not (piece.prose and piece.text.rstrip().endswith((".", ":", "?", "!")))


def _just_above(upper: Box, lower: Box) -> bool:
    across = min(upper[2], lower[2]) - max(upper[0], lower[0])
    return across > 0.5 * (upper[2] - upper[0]) and -4 < lower[1] - upper[3] < 0.7 * CAPTION_REACH
