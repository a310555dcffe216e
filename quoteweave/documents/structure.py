"""What only the whole document tells: which pieces are headers, titles and captions, and under which title each stands.

Pages come in, quotes go out.
"""

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull
from quoteweave.core.records import Layout, Page, ParsedDocument, Quote
from quoteweave.documents.marks import BULLET, CAPTION, PAGE_NUMBER, SECTION_NUMBER
from quoteweave.documents.page_content import PageContent, Piece

# Shares of the page's height in which headers and footers stand.
MARGIN = 0.09
# Points between a picture and its caption.
CAPTION_REACH = 60.0
# Characters in one list quote.
LONGEST_LIST = 1000
EQUATION = re.compile(r"[=≤≥≈∑∫∏√∈∝→±×÷∂∇]|\s[+/<>]\s")


def assemble(pages: Sequence[PageContent], warnings: Sequence[str] = ()) -> ParsedDocument:
    """Name every piece, label every page, and give each quote its caption and section."""
    pages, layouts = _with_whole_lists(pages, _layouts(pages))
    labels = _labels(pages, layouts)
    quotes: list[Quote] = []
    section: str | None = None
    for page, names, label in zip(pages, layouts, labels, strict=True):
        captions = _captions(page.pieces, names)
        for ordinal, (piece, layout) in enumerate(zip(page.pieces, names, strict=True)):
            if layout == "title":
                section = piece.text[:200]
            quotes.append(
                Quote(
                    id=f"{page.number}:{ordinal}",
                    document="",
                    page=page.number,
                    page_label=label,
                    bbox=tuple(round(edge, 2) for edge in piece.box),
                    kind="text" if piece.kind == "text" else "image",
                    layout=layout,
                    section=section,
                    caption=captions.get(ordinal),
                    text=piece.text,
                    ocr_text=piece.ocr_text,
                    image=piece.image,
                )
            )
    return ParsedDocument(
        pages=tuple(
            Page(number=page.number, label=label, width=page.width, height=page.height, text_source=page.source)
            for page, label in zip(pages, labels, strict=True)
        ),
        quotes=tuple(quotes),
        warnings=tuple(warnings),
    )


def _layouts(pages: Sequence[PageContent]) -> list[list[Layout]]:
    furniture = _furniture(pages)
    body = _body(pages)
    return [
        [
            furniture.get((page.number, i))
            or (piece.kind if piece.kind != "text" else _text_layout(piece, body.of(page)))
            for i, piece in enumerate(page.pieces)
        ]
        for page in pages
    ]


def _with_whole_lists(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]
) -> tuple[list[PageContent], list[list[Layout]]]:
    """Items that follow each other become one list, as long as it can be taken in at a glance."""
    new_pages, new_layouts = [], []
    for page, names in zip(pages, layouts, strict=True):
        pieces: list[Piece] = []
        kept: list[Layout] = []
        for piece, name in zip(page.pieces, names, strict=True):
            if name == "list" and kept and kept[-1] == "list" and _same_list(pieces[-1], piece):
                before = pieces[-1]
                box = hull([before.box, piece.box])
                pieces[-1] = replace(before, box=box, text=f"{before.text}\n{piece.text}")
            else:
                pieces.append(piece)
                kept.append(name)
        new_pages.append(replace(page, pieces=tuple(pieces)))
        new_layouts.append(kept)
    return new_pages, new_layouts


def _same_list(before: Piece, item: Piece) -> bool:
    across = min(before.box[2], item.box[2]) - max(before.box[0], item.box[0])
    near = -2 < item.box[1] - before.box[3] < 1.6 * item.size and across > 0
    return near and len(before.text) + len(item.text) <= LONGEST_LIST


@dataclass(frozen=True, slots=True)
class _Body:
    """Font size of running text: of the document, and of each page that has enough text to tell."""

    usual: float
    by_page: dict[int, float]

    def of(self, page: PageContent) -> float:
        return self.by_page.get(page.number, self.usual)


def _body(pages: Sequence[PageContent]) -> _Body:
    sizes = {page.number: _usual_size([piece for piece in page.pieces if piece.kind == "text"]) for page in pages}
    known = [size for size in sizes.values() if size]
    usual = statistics.median(known) if known else 10.0
    return _Body(usual, {number: size for number, size in sizes.items() if size})


def _usual_size(pieces: Sequence[Piece]) -> float:
    """The size that most characters of running text have; 0 when a page has too little to tell."""
    counts: Counter[float] = Counter()
    for piece in pieces:
        if piece.prose:
            counts[round(piece.size * 2) / 2] += len(piece.text)
    return counts.most_common(1)[0][0] if counts.total() >= 200 else 0.0


def _text_layout(piece: Piece, body: float) -> Layout:
    text = piece.text
    words = len(text.split())
    if CAPTION.match(text) and words <= 150:
        return "caption"
    if BULLET.match(text) and words > 1 and not (piece.bold and SECTION_NUMBER.match(text)):
        return "list"
    if _is_title(piece, body):
        return "title"
    if not piece.prose and words <= 40 and EQUATION.search(text) and _is_formula(text):
        return "equation"
    return "paragraph"


def _is_title(piece: Piece, body: float) -> bool:
    words = piece.text.split()
    if not 1 <= len(words) <= 25 or piece.lines > 3 or not any(c.isalpha() for c in piece.text):
        return False
    if piece.size >= 1.18 * body and sum(c.isalpha() for c in piece.text) >= 3:
        return True
    ends = piece.text.rstrip().endswith((".", ",", ";", ":"))
    stands_out = piece.bold or (piece.text.isupper() and len(words) > 1)
    numbered = bool(SECTION_NUMBER.match(piece.text)) and piece.text[-1].isalnum() and piece.lines == 1
    return len(words) <= 14 and not ends and (stands_out or (numbered and len(words) >= 2)) and piece.size >= 0.9 * body


def _is_formula(text: str) -> bool:
    letters = [word for word in re.findall(r"[A-Za-z]+", text) if len(word) > 3]
    return len(letters) <= 0.35 * len(text.split())


def _furniture(pages: Sequence[PageContent]) -> dict[tuple[int, int], Layout]:
    """Pieces in the margins that repeat from page to page, digits aside, and page numbers that stand alone there."""
    margins: dict[tuple[str, str, int], list[tuple[int, int]]] = {}
    found: dict[tuple[int, int], Layout] = {}
    for page in pages:
        for i, piece in enumerate(page.pieces):
            zone = _zone(piece, page)
            if zone is None or len(piece.text) > 200:
                continue
            if piece.kind == "text" and PAGE_NUMBER.fullmatch(piece.text.strip()):
                found[page.number, i] = zone
            pattern = re.sub(r"\d+|\b[ivxl]+\b", "#", " ".join(piece.text.lower().split()))
            margins.setdefault((zone, pattern, round(piece.box[1] / 12)), []).append((page.number, i))
    for (zone, _, _), places in margins.items():
        if len({number for number, _ in places}) >= min(3, max(2, len(pages) // 2)) and len(pages) > 1:
            found.update(dict.fromkeys(places, "header" if zone == "header" else "footer"))
    return found


def _zone(piece: Piece, page: PageContent) -> Layout | None:
    if piece.box[3] < MARGIN * page.height:
        return "header"
    if piece.box[1] > (1 - MARGIN) * page.height:
        return "footer"
    return None


def _labels(pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]) -> list[str]:
    """What the file says; else the numbers printed in the margins where they count up steadily; else page + 1."""
    printed: dict[int, int] = {}
    for page, names in zip(pages, layouts, strict=True):
        for piece, layout in zip(page.pieces, names, strict=True):
            match = PAGE_NUMBER.fullmatch(piece.text.strip()) if layout in ("header", "footer") else None
            if match and match.group(1).isdigit():
                printed[page.number] = int(match.group(1))
    steps = Counter(label - number for number, label in printed.items())
    step, count = steps.most_common(1)[0] if steps else (1, 0)
    steady = count >= 3 and count >= 0.6 * len(printed) and count >= 0.4 * len(pages)
    return [page.label or str(page.number + (step if steady and page.number + step > 0 else 1)) for page in pages]


def _captions(pieces: Sequence[Piece], names: Sequence[Layout]) -> dict[int, str]:
    """For images by ordinal: the numbered caption nearest to each, else the short title right above it."""
    images = [i for i, piece in enumerate(pieces) if piece.kind in ("figure", "chart", "table") and not piece.part]
    texts = [i for i, name in enumerate(names) if name == "caption"]
    pairs = sorted((_distance(pieces[i], pieces[t], _prefers_above(pieces[t])), i, t) for i in images for t in texts)
    found: dict[int, str] = {}
    used: set[int] = set()
    for distance, i, t in pairs:
        if distance < CAPTION_REACH and i not in found and t not in used:
            found[i] = pieces[t].text
            used.add(t)
    for i in images:
        title = _title_above(pieces, names, i)
        if i not in found and title:
            found[i] = title
    whole: int | None = None
    for i, piece in enumerate(pieces):
        whole = whole if piece.part else i
        if piece.part and whole is not None:
            found[i] = f"{found[whole]} ({piece.part})" if whole in found else piece.part.capitalize()
    return found


def _prefers_above(caption: Piece) -> bool:
    return caption.text[:3].lower() in ("tab", "alg", "box")


def _distance(image: Piece, caption: Piece, above: bool) -> float:
    """Points between them, with a handicap for the unusual side; infinite when one is not over the other."""
    a, b = image.box, caption.box
    across = min(a[2], b[2]) - max(a[0], b[0])
    if across < 0.4 * min(a[2] - a[0], b[2] - b[0]):
        return float("inf")
    over, under = a[1] - b[3], b[1] - a[3]
    gap = max(over, under, 0.0)
    return gap if (over > under) == above else gap + 0.4 * CAPTION_REACH


def _title_above(pieces: Sequence[Piece], names: Sequence[Layout], image: int) -> str | None:
    box = pieces[image].box
    near = [
        piece
        for piece, name in zip(pieces, names, strict=True)
        if name in ("title", "paragraph") and not (piece.prose and piece.lines > 2) and _just_above(piece.box, box)
    ]
    return " ".join(piece.text for piece in sorted(near, key=lambda piece: piece.box[1]))[:300] or None


def _just_above(upper: Box, lower: Box) -> bool:
    across = min(upper[2], lower[2]) - max(upper[0], lower[0])
    return across > 0.5 * (upper[2] - upper[0]) and -4 < lower[1] - upper[3] < 0.7 * CAPTION_REACH
