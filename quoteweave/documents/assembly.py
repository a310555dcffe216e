"""What only the whole document tells: headers and footers, titles, labels and headings of pages, sections.

Pages come in, quotes go out.
"""

import itertools
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from quoteweave.core.boxes import Box, hull, inside
from quoteweave.core.records import BODY_LAYOUTS, IMAGE_LAYOUTS, Layout, Page, ParsedDocument, Quote
from quoteweave.core.text.mentions import caption_label
from quoteweave.documents.layout.blocks import BULLET, PAGE_NUMBER, SECTION_NUMBER
from quoteweave.documents.layout.captions import find_captions
from quoteweave.documents.layout.page import PageContent, PageElement, words_of_pages
from quoteweave.documents.sources.bookmarks import MAX_LEVELS, Bookmark, clean_title

# Characters in one list quote.
LONGEST_LIST = 1000
# Characters of a section's title; and share of a text that lies on a picture, from which on it is set on it.
TITLE_LENGTH = 200
ON_PICTURE = 0.9
EQUATION = re.compile(r"[=≤≥≈∑∫∏√∈∝→±×÷∂∇]|\s[+/<>]\s")


def assemble(pages: Sequence[PageContent], warnings: Sequence[str] = ()) -> ParsedDocument:
    """Assemble pages into a document: decide layouts, page labels and headings, captions and sections."""
    pages, layouts = _with_whole_lists(pages, _layouts(pages))
    pages = _with_whole_words(pages, layouts)
    labels = page_labels(pages, layouts)
    quotes: list[Quote] = []
    section: str | None = None
    for page, page_layouts, label in zip(pages, layouts, labels, strict=True):
        captions = find_captions(page.elements, page_layouts)
        under, section = _sections(page, page_layouts, section)
        for ordinal, (element, layout) in enumerate(zip(page.elements, page_layouts, strict=True)):
            quotes.append(
                Quote(
                    id=f"{page.number}:{ordinal}",
                    document="",
                    page=page.number,
                    page_label=label,
                    bbox=tuple(round(edge, 2) for edge in element.box),
                    kind="text" if element.kind == "text" else "image",
                    layout=layout,
                    section=under[ordinal],
                    caption=captions.get(ordinal),
                    text=element.text,
                    ocr_text=element.ocr_text,
                    image=element.image,
                )
            )
    headings = page_headings(pages, layouts, labels)
    return ParsedDocument(
        pages=tuple(map(_page, pages, labels, headings)),
        quotes=tuple(quotes),
        page_words=words_of_pages([page.words for page in pages]),
        warnings=tuple(warnings),
    )


def _sections(page: PageContent, layouts: Sequence[Layout], section: str | None) -> tuple[list[str | None], str | None]:
    """The title that each element stands under, given that of the page before; and the one that holds at the end.

    What is set on a picture titles that picture alone. A whole page stands under the title that it begins with.
    """
    pictures = [element.box for element in page.elements if element.kind not in ("text", "page")]
    on_picture: dict[Box, str] = {}
    under: list[str | None] = []
    for element, layout in zip(page.elements, layouts, strict=True):
        around = next(
            (box for box in pictures if element.kind == "text" and inside(element.box, box) > ON_PICTURE), None
        )
        if layout == "title" and around is not None:
            on_picture[around] = element.text[:TITLE_LENGTH]
        elif layout == "title":
            section = element.text[:TITLE_LENGTH]
        whole_page = element.kind == "page" and under
        under.append(under[0] if whole_page else on_picture.get(around, section) if around else section)
    return under, section


def _page(page: PageContent, label: str, headings: tuple[str, ...]) -> Page:
    return Page(
        number=page.number,
        label=label,
        width=page.width,
        height=page.height,
        text_source=page.source,
        headings=headings,
        rotation=page.rotation,
    )


def _layouts(pages: Sequence[PageContent]) -> list[list[Layout]]:
    headers_and_footers = find_headers_and_footers(pages)
    body = _body(pages)
    return [
        [
            headers_and_footers.get((page.number, i))
            or (element.kind if element.kind != "text" else _text_layout(element, body.of(page)))
            for i, element in enumerate(page.elements)
        ]
        for page in pages
    ]


def _with_whole_lists(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]
) -> tuple[list[PageContent], list[list[Layout]]]:
    """Join consecutive list items into lists of limited length."""
    new_pages, new_layouts = [], []
    for page, page_layouts in zip(pages, layouts, strict=True):
        elements: list[PageElement] = []
        own_layouts: list[Layout] = []
        for element, layout in zip(page.elements, page_layouts, strict=True):
            if layout == "list" and own_layouts and own_layouts[-1] == "list" and _same_list(elements[-1], element):
                before = elements[-1]
                box = hull([before.box, element.box])
                elements[-1] = replace(before, box=box, text=f"{before.text}\n{element.text}")
            else:
                elements.append(element)
                own_layouts.append(layout)
        new_pages.append(replace(page, elements=tuple(elements)))
        new_layouts.append(own_layouts)
    return new_pages, new_layouts


def _with_whole_words(pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]) -> list[PageContent]:
    """Join words hyphenated across columns or pages: the whole word goes where it begins."""
    elements = [list(page.elements) for page in pages]
    running = [
        (own, i)
        for own, page_layouts in zip(elements, layouts, strict=True)
        for i, layout in enumerate(page_layouts)
        if layout in BODY_LAYOUTS
    ]
    for (before, i), (after, j) in itertools.pairwise(running):
        start, rest = before[i].text, after[j].text
        end, _, rest = rest.partition(" ")
        if start.endswith("-") and start[-2:-1].isalpha() and end[:1].islower() and rest.strip():
            before[i] = replace(before[i], text=start[:-1] + end)
            after[j] = replace(after[j], text=rest.lstrip())
    return [replace(page, elements=tuple(own)) for page, own in zip(pages, elements, strict=True)]


def _same_list(before: PageElement, item: PageElement) -> bool:
    across = min(before.box[2], item.box[2]) - max(before.box[0], item.box[0])
    near = -2 < item.box[1] - before.box[3] < 1.6 * item.size and across > 0
    return near and len(before.text) + len(item.text) <= LONGEST_LIST


@dataclass(frozen=True, slots=True)
class _Body:
    """Font size of running text: of the document, and of each page with enough text."""

    usual: float
    by_page: dict[int, float]

    def of(self, page: PageContent) -> float:
        return self.by_page.get(page.number, self.usual)


def _body(pages: Sequence[PageContent]) -> _Body:
    sizes = {page.number: _usual_size(page.elements) for page in pages}
    known = [size for size in sizes.values() if size]
    usual = statistics.median(known) if known else 10.0
    return _Body(usual, {number: size for number, size in sizes.items() if size})


def _usual_size(elements: Sequence[PageElement]) -> float:
    """The commonest font size of running text, by characters; 0 if there is too little text."""
    counts: Counter[float] = Counter()
    for element in elements:
        if element.prose:
            counts[round(element.size * 2) / 2] += len(element.text)
    return counts.most_common(1)[0][0] if counts.total() >= 200 else 0.0


def _text_layout(element: PageElement, body: float) -> Layout:
    text = element.text
    words = len(text.split())
    if words <= 150 and caption_label(text) is not None:
        return "caption"
    if BULLET.match(text) and words > 1 and not (element.bold and SECTION_NUMBER.match(text)):
        return "list"
    if _is_title(element, body):
        return "title"
    if words <= 40 and EQUATION.search(text) and _is_formula(text):
        return "equation"
    return "paragraph"


def _is_title(element: PageElement, body: float) -> bool:
    words = element.text.split()
    if not 1 <= len(words) <= 25 or element.lines > 3 or not any(c.isalpha() for c in element.text):
        return False
    if element.size >= 1.18 * body and sum(c.isalpha() for c in element.text) >= 3:
        return True
    ends = element.text.rstrip().endswith((".", ",", ";", ":"))
    stands_out = element.bold or (element.text.isupper() and len(words) > 1)
    numbered = bool(SECTION_NUMBER.match(element.text)) and element.text[-1].isalnum() and element.lines == 1
    return (
        len(words) <= 14 and not ends and (stands_out or (numbered and len(words) >= 2)) and element.size >= 0.9 * body
    )


def _is_formula(text: str) -> bool:
    words = [word for word in re.findall(r"[A-Za-z]+", text) if len(word) > 1]
    return len(words) <= 0.45 * len(text.split())


# Shares of the page's height in which headers and footers stand.
MARGIN = 0.09
# Titles in the margins are larger than running text, times this; names of sections are not.
LARGEST_IN_MARGIN = 1.1
# Letters and digits from which on the beginning of a title tells it from others.
LEAST_CUT_OFF = 8


def find_headers_and_footers(pages: Sequence[PageContent]) -> dict[tuple[int, int], Layout]:
    """Find headers and footers: text in the margins that repeats from page to page, digits aside, or a page number.

    So is what is in one row with such a text, there or on other pages, and then repeats a title: books name the
    section there.
    """
    margins: dict[tuple[Layout, str, int], list[tuple[int, int]]] = {}
    layouts: dict[tuple[int, int], Layout] = {}
    boxes, repeated = dict[tuple[int, int], Box](), defaultdict[int, list[Box]](list)
    for page in pages:
        for i, element in enumerate(page.elements):
            zone = _zone(element, page)
            if zone is None or len(element.text) > 200:
                continue
            if element.kind == "text" and PAGE_NUMBER.fullmatch(element.text.strip()):
                layouts[page.number, i] = zone
            pattern = re.sub(r"\d+|\b[ivxl]+\b", "#", " ".join(element.text.lower().split()))
            margins.setdefault((zone, pattern, round(element.box[1] / 12)), []).append((page.number, i))
            if element.kind == "text":
                boxes[page.number, i] = element.box
    for (zone, _, _), places in margins.items():
        if len({number for number, _ in places}) >= min(3, max(2, len(pages) // 2)) and len(pages) > 1:
            layouts.update(dict.fromkeys(places, zone))
            for number, i in places:
                repeated[number] += [boxes[number, i]] if (number, i) in boxes else []
    return layouts | _section_names(pages, layouts, repeated)


def _section_names(
    pages: Sequence[PageContent], known: Mapping[tuple[int, int], Layout], repeated: Mapping[int, Sequence[Box]]
) -> dict[tuple[int, int], Layout]:
    """Names of sections in the margins, which change too often to repeat; `repeated` has the boxes of what does."""
    body, titles = _body(pages), set[str]()
    names: list[tuple[int, int, PageElement, Layout]] = []
    for page in pages:
        for i, element in enumerate(page.elements):
            zone = _zone(element, page)
            if element.kind != "text" or (page.number, i) in known:
                continue
            if zone is None and _is_title(element, body.of(page)):
                titles.add(_letters(element.text))
            elif zone is not None and element.lines == 1 and element.size <= LARGEST_IN_MARGIN * body.of(page):
                names.append((page.number, i, element, zone))
    rows = {(round(box[1]), round(box[3])): box for boxes in repeated.values() for box in boxes}.values()
    return {
        (number, i): zone
        for number, i, element, zone in names
        if any(_in_one_row(element.box, box) for box in repeated.get(number, ()))
        or (_repeats(element.text, titles) and any(_in_one_row(element.box, box) for box in rows))
    }


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


# Pages among which those of contents stand.
FIRST_PAGES = 15
MIN_ENTRIES = 4
# Shares of the entries: that lead to a page of the document, and those of them that lead no further back than the last.
KNOWN = 0.75
STEADY = 0.8
# Figures whose labels end in numbers look like contents; tables are what most pages of contents are read as.
NOT_CONTENTS = (IMAGE_LAYOUTS - {"table"}) | {"header", "footer", "caption"}
# Dots that lead to a page number, each of which ends a line; possessive, and begun once, so that it takes linear time.
LEADERS = re.compile(r"(?<![.·…_])(?<![.·…_] )(?:[.·…_] ?){4,}+\s*+(\d{1,4})(?!\S)")
ENTRY = re.compile(r"(.*?)[\s.·…_|](\d{1,4})")
NUMBERED = re.compile(r"\d{1,2}((?:\.\d{1,2})+)")


def page_headings(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]], labels: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the headings of each page, outermost first, each once; `labels` are the printed page labels."""
    bookmarks = [bookmark for page in pages for bookmark in page.bookmarks]
    begin: defaultdict[int, list[Bookmark]] = defaultdict(list)
    for bookmark in bookmarks or _contents(pages, layouts, labels):
        begin[bookmark.page].append(bookmark)
    headings, under = [], list[Bookmark]()
    for number in range(len(pages)):
        # What ends here may do so in the middle of the page.
        here = [*under, *begin[number]]
        for bookmark in begin[number]:
            while under and under[-1].level >= bookmark.level:
                under.pop()
            under.append(bookmark)
        here.sort(key=lambda bookmark: bookmark.level)
        headings.append(tuple(dict.fromkeys(bookmark.title for bookmark in here)))
    return headings


def _contents(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]], labels: Sequence[str]
) -> list[Bookmark]:
    """The entries of the table of contents that point to a page of the document."""
    numbers: dict[str, int] = {}
    for number, label in enumerate(labels):
        numbers.setdefault(label, number)
    bookmarks: list[Bookmark] = []
    for page, page_layouts in itertools.islice(zip(pages, layouts, strict=True), FIRST_PAGES):
        texts = (
            element.text
            for element, layout in zip(page.elements, page_layouts, strict=True)
            if layout not in NOT_CONTENTS
        )
        entries = list(_entries(texts))
        known = [(title, numbers[label]) for title, label in entries if label in numbers]
        if _is_contents([number for _, number in known], len(entries)):
            bookmarks += (Bookmark(_level(title), title, number) for title, number in known)
    return bookmarks


def _entries(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Lines with a title and a page label; entries of figures and tables are skipped."""
    for text in texts:
        for line in LEADERS.sub(r" \1\n", text).splitlines():
            match = ENTRY.fullmatch(line.strip()) if len(line) <= 300 else None
            title = clean_title(match[1].replace("|", " ").strip(" .·…_")) if match else ""
            letters, digits = sum(c.isalpha() for c in title), sum(c.isdigit() for c in title)
            if match and letters >= 3 and letters > digits and caption_label(title) is None:
                yield title, str(int(match[2]))


def _is_contents(known: Sequence[int], entries: int) -> bool:
    """Whether the page numbers of the entries increase as in a table of contents."""
    if entries < MIN_ENTRIES or len(known) < KNOWN * entries or known[0] >= known[-1]:
        return False
    return sum(a <= b for a, b in itertools.pairwise(known)) >= STEADY * (len(known) - 1)


def _level(title: str) -> int:
    """The level by the section number: 0 for "3 Results", 1 for "3.1 Data"."""
    match = NUMBERED.match(title)
    return min(match[1].count("."), MAX_LEVELS - 1) if match else 0
