"""Finds headers and footers, and the labels of pages that are printed there."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set

from quoteweave.core.boxes import Box
from quoteweave.core.records import Layout
from quoteweave.documents.layout.blocks import NOTE, NOTE_MARK, PAGE_NUMBER, SECTION_NUMBER
from quoteweave.documents.layout.page import PageContent, PageElement
from quoteweave.documents.titles import BodySize, body_size, is_title

# The share of the page's height in which headers and footers are. Further in, up to the second share, they are
# recognised by the page's number, if it increases from page to page on the given share of the pages, and has that much
# space beside it.
MARGIN, WIDEST_MARGIN = 0.09, 0.15
NUMBERED = 0.5
BESIDE_NUMBER = 36.0  # points
# Titles in the margins are larger than running text by this factor; names of sections are not.
MAX_SIZE_IN_MARGIN = 1.1
MAX_CHARACTERS_IN_MARGIN = 200
MIN_PAGES = 3
MAX_NUMBER_CHARACTERS = 6  # of a page's number
# How many letters and digits the beginning of a title needs to distinguish it from others.
MIN_CUT_OFF = 8


def find_headers_and_footers(pages: Sequence[PageContent]) -> dict[tuple[int, int], Layout]:
    """Find headers and footers: text in the margins that repeats from page to page, ignoring digits, or a page number.

    The name of a section in the same row as such a text counts as well, as in books: if it is numbered or in capitals,
    or repeats a title of the document.
    """
    margins: dict[tuple[Layout, str, int], list[tuple[int, int, PageElement]]] = {}
    layouts: dict[tuple[int, int], Layout] = {}
    repeated = defaultdict[int, list[PageElement]](list)
    body = body_size(pages)
    zones: dict[tuple[int, int], Layout | None] = {
        (page.number, i): _zone(element, page) for page in pages for i, element in enumerate(page.elements)
    }
    zones |= _numbered_rows(pages, body)
    for page in pages:
        for i, element in enumerate(page.elements):
            zone = zones[page.number, i]
            if zone is None or len(element.text) > MAX_CHARACTERS_IN_MARGIN:
                continue
            if element.found_as == "text" and PAGE_NUMBER.fullmatch(element.text.strip()):
                layouts[page.number, i] = zone
            pattern = re.sub(r"\d+|\b[ivxl]+\b", "#", " ".join(element.text.lower().split()))
            margins.setdefault((zone, pattern, round(element.box[1] / 12)), []).append((page.number, i, element))
    for (zone, _, _), places in margins.items():
        if len({number for number, _, _ in places}) >= min(MIN_PAGES, max(2, len(pages) // 2)) and len(pages) > 1:
            for number, i, element in places:
                layouts[number, i] = zone
                if element.found_as == "text":
                    repeated[number].append(element)
    other_texts = [
        (page.number, i, element, zones[page.number, i], body.of(page))
        for page in pages
        for i, element in enumerate(page.elements)
        if element.found_as == "text" and (page.number, i) not in layouts
    ]
    return layouts | _section_names(other_texts, repeated)


def _numbered_rows(pages: Sequence[PageContent], body: BodySize) -> dict[tuple[int, int], Layout]:
    """The texts of rows with their page's number, if most pages begin, or end, with such a row."""
    numbered = dict[tuple[int, int], Layout]()
    zones: tuple[Layout, Layout] = ("header", "footer")
    for zone in zones:
        rows = defaultdict[tuple[int, int], dict[int, list[int]]](dict)
        for page in pages:
            row = _outermost_row(page, body, zone)
            for number in _numbers_apart(list(row.values())):
                rows[int(number.text) - page.number, round(number.box[1] / 12)][page.number] = list(row)
        longest = max(rows.values(), key=len, default={})
        if len(longest) >= max(MIN_PAGES, NUMBERED * len(pages)):
            numbered |= {(page, i): zone for page, row in longest.items() for i in row}
    return numbered


def _outermost_row(page: PageContent, body: BodySize, zone: Layout) -> dict[int, PageElement]:
    """The first row of text on a page, or the last, if its position and type may be those of a header or footer."""
    texts = {i: element for i, element in enumerate(page.elements) if element.found_as == "text"}
    if not texts:
        return {}
    outermost = min(texts.values(), key=lambda text: text.box[1] if zone == "header" else -text.box[3])
    return {
        i: element
        for i, element in texts.items()
        if _are_in_one_row(element.box, outermost.box)
        and _zone(element, page, WIDEST_MARGIN) == zone
        and element.lines == 1
        and element.size <= MAX_SIZE_IN_MARGIN * body.of(page)
    }


def _numbers_apart(row: Sequence[PageElement]) -> list[PageElement]:
    """The bare numbers of a row that are apart from everything else in it, unlike the number of a list item."""
    return [
        number
        for number in row
        if len(number.text) <= MAX_NUMBER_CHARACTERS
        and number.text.isdecimal()
        and all(
            max(other.box[0] - number.box[2], number.box[0] - other.box[2]) >= BESIDE_NUMBER
            for other in row
            if other is not number
        )
    ]


def _section_names(
    other_texts: Sequence[tuple[int, int, PageElement, Layout | None, float]],
    repeated: Mapping[int, Sequence[PageElement]],
) -> dict[tuple[int, int], Layout]:
    """Names of sections in the margins, which change too often to repeat; `repeated` has the texts that do, by page.

    `other_texts` has the others: their page, number there, zone, and the size of running text on the page.
    """
    titles = {
        _letters(element.text) for _, _, element, zone, size in other_texts if zone is None and is_title(element, size)
    }
    names = [
        (number, i, element, zone)
        for number, i, element, zone, size in other_texts
        if zone is not None and _may_name_section(element, size)
    ]
    # A text with the form of a section's name may be in a row of any page, another only in one of an adjacent page.
    rows = {(round(text.box[1]), round(text.box[3])): text for texts in repeated.values() for text in texts}.values()
    section_names, beside = dict[tuple[int, int], Layout](), {number: list(texts) for number, texts in repeated.items()}
    for number, i, element, zone in names:
        adjacent = (text for at in (number - 1, number, number + 1) for text in repeated.get(at, ()))
        near = rows if _is_running_head(element, zone) else adjacent
        if _repeats(element.text, titles) and any(_are_in_one_row(element.box, text.box) for text in near):
            section_names[number, i] = zone
            beside.setdefault(number, []).append(element)
    for number, i, element, zone in names:
        if _is_running_head(element, zone) and _is_beside(element, beside.get(number, ())):
            section_names[number, i] = zone
    return section_names


def _may_name_section(element: PageElement, body: float) -> bool:
    return element.lines == 1 and not element.bold and element.size <= MAX_SIZE_IN_MARGIN * body


def _is_running_head(element: PageElement, zone: Layout) -> bool:
    """Whether a text has the form of a section's name in books: numbered, or in capitals; notes do not have it."""
    if zone == "footer" and (NOTE.match(element.text) or NOTE_MARK.match(element.text)):
        return False
    return bool(SECTION_NUMBER.match(element.text)) or element.text.isupper()


def _is_beside(element: PageElement, repeated: Iterable[PageElement]) -> bool:
    """Whether a text is in one row with another that repeats and is more than a page number."""
    return any(
        _are_in_one_row(element.box, other.box)
        for other in repeated
        if other is not element and not PAGE_NUMBER.fullmatch(other.text.strip())
    )


def _are_in_one_row(box: Box, other: Box) -> bool:
    return min(box[3], other[3]) - max(box[1], other[1]) > 0.5 * min(box[3] - box[1], other[3] - other[1])


def _repeats(text: str, titles: Set[str]) -> bool:
    """Whether a text is one of these titles, or a shortened beginning of one ("What is an Essential…")."""
    letters = _letters(text)
    if not text.rstrip().endswith(("…", "...")):
        return letters in titles
    return len(letters) >= MIN_CUT_OFF and any(title.startswith(letters) for title in titles)


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _zone(element: PageElement, page: PageContent, margin: float = MARGIN) -> Layout | None:
    if element.box[3] < margin * page.height:
        return "header"
    if element.box[1] > (1 - margin) * page.height:
        return "footer"
    return None


def page_labels(pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]) -> list[str]:
    """Page labels: the file's own; else numbers printed in the margins if they increase steadily; else page + 1.

    A number near the top or bottom that is no header, because others are elsewhere, counts if it continues from page to
    page. Pages before the one that is printed as 1 may be numbered "ii" and "iii".
    """
    printed, near, roman = dict[int, int](), dict[int, int](), dict[int, str]()
    for page, page_layouts in zip(pages, layouts, strict=True):
        for element, layout in zip(page.elements, page_layouts, strict=True):
            match = PAGE_NUMBER.fullmatch(element.text.strip())
            if not match:
                continue
            if layout not in ("header", "footer"):
                near |= (
                    {page.number: int(match[1])} if match[1].isdigit() and _zone(element, page, WIDEST_MARGIN) else {}
                )
            elif match[1].isdigit():
                printed[page.number] = int(match[1])
            else:
                roman[page.number] = match[1].lower()
    numbers = near | printed
    printed = {at: label for at, label in numbers.items() if at in printed or _is_continued(at, numbers)}
    steps = Counter(label - number for number, label in printed.items())
    step, count = steps.most_common(1)[0] if steps else (1, 0)
    is_steady = count >= 3 and count >= 0.6 * len(printed) and count >= 0.4 * len(pages)
    if not is_steady:
        return [page.label or str(page.number + 1) for page in pages]
    certain = {at: label for at, label in printed.items() if label - at == step or _is_continued(at, printed)}
    known = roman | {page.number: label for page in pages if (label := _inferred_number(page.number, certain))}
    return [page.label or known.get(page.number) or str(page.number + 1) for page in pages]


def _is_continued(number: int, printed: Mapping[int, int]) -> bool:
    """Whether the page before or after has the number before or after that of a page."""
    return any(printed.get(number + way) == printed[number] + way for way in (-1, 1))


def _inferred_number(number: int, printed: Mapping[int, int]) -> str | None:
    """A page's number inferred from those printed on adjacent pages; None between 166 and 167, as for plates."""
    before = max((at for at in printed if at <= number), default=None)
    behind = min((at for at in printed if at >= number), default=None)
    numbers = {printed[at] - at + number for at in (before, behind) if at is not None}
    return str(*numbers) if len(numbers) == 1 and min(numbers) > 0 else None
