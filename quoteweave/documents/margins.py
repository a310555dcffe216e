"""Headers and footers, and the labels of pages, which are printed there."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from quoteweave.core.boxes import Box
from quoteweave.core.records import Layout
from quoteweave.documents.layout.blocks import NOTE, NOTE_MARK, PAGE_NUMBER, SECTION_NUMBER
from quoteweave.documents.layout.page import PageContent, PageElement
from quoteweave.documents.titles import body_size, is_title

# Shares of the page's height in which headers and footers stand.
MARGIN = 0.09
# Titles in the margins are larger than running text, times this; names of sections are not.
LARGEST_IN_MARGIN = 1.1
# Letters and digits from which on the beginning of a title tells it from others.
LEAST_CUT_OFF = 8


def find_headers_and_footers(pages: Sequence[PageContent]) -> dict[tuple[int, int], Layout]:
    """Find headers and footers: text in the margins that repeats from page to page, digits aside, or a page number.

    So is the name of a section in one row with such a text, as books have it: numbered or in capitals, or repeating a
    title of the document.
    """
    margins: dict[tuple[Layout, str, int], list[tuple[int, int, PageElement]]] = {}
    layouts: dict[tuple[int, int], Layout] = {}
    repeated = defaultdict[int, list[PageElement]](list)
    for page in pages:
        for i, element in enumerate(page.elements):
            zone = _zone(element, page)
            if zone is None or len(element.text) > 200:
                continue
            if element.kind == "text" and PAGE_NUMBER.fullmatch(element.text.strip()):
                layouts[page.number, i] = zone
            pattern = re.sub(r"\d+|\b[ivxl]+\b", "#", " ".join(element.text.lower().split()))
            margins.setdefault((zone, pattern, round(element.box[1] / 12)), []).append((page.number, i, element))
    for (zone, _, _), places in margins.items():
        if len({number for number, _, _ in places}) >= min(3, max(2, len(pages) // 2)) and len(pages) > 1:
            for number, i, element in places:
                layouts[number, i] = zone
                if element.kind == "text":
                    repeated[number].append(element)
    return layouts | _section_names(pages, layouts, repeated)


def _section_names(
    pages: Sequence[PageContent], known: Mapping[tuple[int, int], Layout], repeated: Mapping[int, Sequence[PageElement]]
) -> dict[tuple[int, int], Layout]:
    """Names of sections in the margins, which change too often to repeat; `repeated` has the texts that do, by page."""
    body, titles = body_size(pages), set[str]()
    names: list[tuple[int, int, PageElement, Layout]] = []
    for page in pages:
        for i, element in enumerate(page.elements):
            zone = _zone(element, page)
            if element.kind != "text" or (page.number, i) in known:
                continue
            if zone is None and is_title(element, body.of(page)):
                titles.add(_letters(element.text))
            elif zone is not None and _may_name_section(element, body.of(page)):
                names.append((page.number, i, element, zone))
    # What has the form of a section's name may be in a row of any page; what has not, in one of the pages beside it.
    rows = {(round(one.box[1]), round(one.box[3])): one for texts in repeated.values() for one in texts}.values()
    found, beside = dict[tuple[int, int], Layout](), {number: list(texts) for number, texts in repeated.items()}
    for number, i, element, zone in names:
        adjacent = (one for at in (number - 1, number, number + 1) for one in repeated.get(at, ()))
        near = rows if _is_running_head(element, zone) else adjacent
        if _repeats(element.text, titles) and any(_in_one_row(element.box, one.box) for one in near):
            found[number, i] = zone
            beside.setdefault(number, []).append(element)
    for number, i, element, zone in names:
        if _is_running_head(element, zone) and _is_beside(element, beside.get(number, ())):
            found[number, i] = zone
    return found


def _may_name_section(element: PageElement, body: float) -> bool:
    return element.lines == 1 and not element.bold and element.size <= LARGEST_IN_MARGIN * body


def _is_running_head(element: PageElement, zone: Layout) -> bool:
    """Whether a text has the form of a section's name in books: numbered, or in capitals; no note has."""
    if zone == "footer" and (NOTE.match(element.text) or NOTE_MARK.match(element.text)):
        return False
    return bool(SECTION_NUMBER.match(element.text)) or element.text.isupper()


def _is_beside(element: PageElement, repeated: Iterable[PageElement]) -> bool:
    """Whether a text is in one row with another that repeats and is no bare page number."""
    return any(
        _in_one_row(element.box, other.box)
        for other in repeated
        if other is not element and not PAGE_NUMBER.fullmatch(other.text.strip())
    )


def _in_one_row(one: Box, other: Box) -> bool:
    return min(one[3], other[3]) - max(one[1], other[1]) > 0.5 * min(one[3] - one[1], other[3] - other[1])


def _repeats(text: str, titles: Set[str]) -> bool:
    """Whether a text is one of these titles, or the beginning of one that it cuts off ("What is an Essential…")."""
    letters = _letters(text)
    if not text.rstrip().endswith(("…", "...")):
        return letters in titles
    return len(letters) >= LEAST_CUT_OFF and any(title.startswith(letters) for title in titles)


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _zone(element: PageElement, page: PageContent) -> Layout | None:
    if element.box[3] < MARGIN * page.height:
        return "header"
    if element.box[1] > (1 - MARGIN) * page.height:
        return "footer"
    return None


def page_labels(pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]) -> list[str]:
    """Page labels: the file's own; else numbers printed in the margins if they increase steadily; else page + 1."""
    printed: dict[int, int] = {}
    for page, page_layouts in zip(pages, layouts, strict=True):
        for element, layout in zip(page.elements, page_layouts, strict=True):
            match = PAGE_NUMBER.fullmatch(element.text.strip()) if layout in ("header", "footer") else None
            if match and match.group(1).isdigit():
                printed[page.number] = int(match.group(1))
    steps = Counter(label - number for number, label in printed.items())
    step, count = steps.most_common(1)[0] if steps else (1, 0)
    steady = count >= 3 and count >= 0.6 * len(printed) and count >= 0.4 * len(pages)
    return [page.label or str(page.number + (step if steady and page.number + step > 0 else 1)) for page in pages]
