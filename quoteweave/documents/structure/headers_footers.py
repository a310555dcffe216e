"""Finds headers and footers, which repeat from page to page, and the page labels printed in them."""

import re
from collections import Counter
from collections.abc import Sequence

from quoteweave.core.records import Layout
from quoteweave.documents.layout.page import PageContent, PageElement
from quoteweave.documents.layout.patterns import PAGE_NUMBER

# Shares of the page's height in which headers and footers stand.
MARGIN = 0.09


def find_headers_and_footers(pages: Sequence[PageContent]) -> dict[tuple[int, int], Layout]:
    """Find headers and footers: text in the margins that repeats from page to page, digits aside, or a page number."""
    margins: dict[tuple[Layout, str, int], list[tuple[int, int]]] = {}
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
            found.update(dict.fromkeys(places, zone))
    return found


def _zone(piece: PageElement, page: PageContent) -> Layout | None:
    if piece.box[3] < MARGIN * page.height:
        return "header"
    if piece.box[1] > (1 - MARGIN) * page.height:
        return "footer"
    return None


def page_labels(pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]) -> list[str]:
    """Page labels: the file's own; else numbers printed in the margins if they increase steadily; else page + 1."""
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
