"""Makes quotes from a document's pages once all are read: layouts, captions, headings and sections depend on all."""

import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from quoteweave.core.boxes import Box, hull, share_in
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import BODY_LAYOUTS, Layout, Page, ParsedDocument, Quote
from quoteweave.core.text.references.mentions import caption_label
from quoteweave.documents.layout.blocks import BULLET, SECTION_NUMBER, BrokenWord, broken_word
from quoteweave.documents.layout.captions import find_captions
from quoteweave.documents.layout.outline import page_headings
from quoteweave.documents.layout.page import PageContent, PageElement, words_of_pages
from quoteweave.documents.layout.tables.stated_units import with_units
from quoteweave.documents.margins import find_headers_and_footers, page_labels
from quoteweave.documents.sources.lines import BULLET_SIGN
from quoteweave.documents.titles import body_size, find_steps, is_title

# The most characters of one list quote.
MAX_LIST_CHARACTERS = 1000
# The most characters of a section's title.
TITLE_LENGTH = 200
# The least share of a text's area inside a picture for the text to belong to the picture.
ON_PICTURE = 0.9
_WORD = lazy_regex(r"[^\W_][\w-]*")
# How often a document must contain a word with a hyphen for that not to be a mistake.
MIN_HYPHENATED = 2
EQUATION = lazy_regex(r"[=≤≥≈∑∫∏√∈∝→±×÷∂∇]|\s[+/<>]\s")


def assemble(pages: Sequence[PageContent], warnings: Sequence[str] = ()) -> ParsedDocument:
    """Assemble pages into a document: decide layouts, page labels and headings, captions and sections."""
    pages, layouts = _with_whole_lists(pages, _layouts(pages))
    pages = _with_compounds(_with_whole_words(pages, layouts))
    labels = page_labels(pages, layouts)
    quotes: list[Quote] = []
    section: str | None = None
    for page, page_layouts, label in zip(pages, layouts, labels, strict=True):
        captions = find_captions(page.elements, page_layouts)
        titles_above, section = _sections(page, page_layouts, section)
        for ordinal, (element, layout) in enumerate(zip(page.elements, page_layouts, strict=True)):
            quotes.append(
                Quote(
                    id=f"{page.number}:{ordinal}",
                    document="",
                    page=page.number,
                    page_label=label,
                    bbox=tuple(round(edge, 2) for edge in element.box),
                    kind="text" if element.found_as == "text" else "image",
                    layout=layout,
                    section=titles_above[ordinal],
                    caption=captions.get(ordinal),
                    text=element.text,
                    ocr_text=element.ocr_text,
                    image=element.image,
                )
            )
    headings = page_headings(pages, layouts, labels)
    return ParsedDocument(
        pages=tuple(map(_page, pages, labels, headings)),
        quotes=with_units(quotes),
        page_words=words_of_pages([page.words for page in pages]),
        warnings=tuple(warnings),
    )


def _sections(page: PageContent, layouts: Sequence[Layout], section: str | None) -> tuple[list[str | None], str | None]:
    """The title above each element, given the one at the end of the page before; and the title at the end of the page.

    A title on a picture applies only to that picture. A whole page is below the title with which it begins.
    """
    pictures = [element.box for element in page.elements if element.found_as not in ("text", "page")]
    on_picture: dict[Box, str] = {}
    titles_above: list[str | None] = []
    for element, layout in zip(page.elements, layouts, strict=True):
        around = next(
            (box for box in pictures if element.found_as == "text" and share_in(element.box, box) > ON_PICTURE), None
        )
        if layout == "title" and around is not None:
            on_picture[around] = element.text[:TITLE_LENGTH]
        elif layout == "title":
            section = element.text[:TITLE_LENGTH]
        whole_page = element.found_as == "page" and titles_above
        titles_above.append(titles_above[0] if whole_page else on_picture.get(around, section) if around else section)
    return titles_above, section


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
    body = body_size(pages)
    steps_of_pages = [find_steps(page.elements) for page in pages]
    return [
        [
            headers_and_footers.get((page.number, i))
            or (element.found_as if element.found_as != "text" else _text_layout(element, body.of(page), i in steps))
            for i, element in enumerate(page.elements)
        ]
        for page, steps in zip(pages, steps_of_pages, strict=True)
    ]


def _with_whole_lists(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]
) -> tuple[list[PageContent], list[list[Layout]]]:
    """Join consecutive list items into lists of limited length."""
    new_pages, new_layouts = [], []
    for page, page_layouts in zip(pages, layouts, strict=True):
        elements: list[PageElement] = []
        joined: list[Layout] = []
        for element, layout in zip(page.elements, page_layouts, strict=True):
            if layout == "list" and joined[-1:] == ["list"] and _are_in_one_list(elements[-1], element):
                before = elements[-1]
                box = hull([before.box, element.box])
                text, broken = f"{before.text}\n{element.text}", (*before.broken_words, *element.broken_words)
                elements[-1] = replace(before, box=box, text=text, broken_words=broken)
            else:
                elements.append(element)
                joined.append(layout)
        new_pages.append(replace(page, elements=tuple(elements)))
        new_layouts.append(joined)
    return new_pages, new_layouts


def _with_whole_words(pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]]) -> list[PageContent]:
    """Join words that are hyphenated across columns or pages, and put the whole word where it begins."""
    elements = [list(page.elements) for page in pages]
    body_texts = [
        (page_elements, i)
        for page_elements, page_layouts in zip(elements, layouts, strict=True)
        for i, layout in enumerate(page_layouts)
        if layout in BODY_LAYOUTS
    ]
    for (before, i), (after, j) in itertools.pairwise(body_texts):
        start, rest = before[i].text, after[j].text
        end, _, rest = rest.partition(" ")
        broken = broken_word(start, end)
        if broken is not None and rest.strip():
            words = (*before[i].broken_words, broken)
            before[i] = replace(before[i], text=start[:-1] + end, broken_words=words)
            after[j] = replace(after[j], text=rest.lstrip())
    return [replace(page, elements=tuple(page_elements)) for page, page_elements in zip(pages, elements, strict=True)]


def _with_compounds(pages: Sequence[PageContent]) -> list[PageContent]:
    """Restore the hyphen of compounds that are broken at it: "object-" and "oriented".

    A broken word is a compound if the document has it with the hyphen elsewhere, more than once, and never without it.
    """
    elements = [element for page in pages for element in page.elements if element.found_as == "text"]
    joined_words = Counter("".join(broken).casefold() for element in elements for broken in element.broken_words)
    counts = Counter(word.casefold() for element in elements if joined_words for word in _WORD.findall(element.text))

    def is_compound(broken: BrokenWord) -> bool:
        word = "".join(broken).casefold()
        return counts["-".join(broken).casefold()] >= MIN_HYPHENATED and counts[word] <= joined_words[word]

    def with_hyphens(element: PageElement) -> PageElement:
        text = element.text
        for broken in dict.fromkeys(filter(is_compound, element.broken_words)):
            text = re.sub(rf"(?<![\w-]){re.escape(''.join(broken))}(?![\w-])", "-".join(broken), text)
        return element if text == element.text else replace(element, text=text)

    return [replace(page, elements=tuple(map(with_hyphens, page.elements))) for page in pages]


def _are_in_one_list(before: PageElement, item: PageElement) -> bool:
    shared_width = min(before.box[2], item.box[2]) - max(before.box[0], item.box[0])
    near = -2 < item.box[1] - before.box[3] < 1.6 * item.size and shared_width > 0
    return near and len(before.text) + len(item.text) <= MAX_LIST_CHARACTERS


def _text_layout(element: PageElement, body: float, is_step: bool) -> Layout:
    text = element.text
    words = len(text.split())
    if words <= 150 and caption_label(text.removeprefix(f"{BULLET_SIGN} ")) is not None:
        return "caption"
    is_numbered_title = element.bold and SECTION_NUMBER.match(text)
    if (element.begins_item or (BULLET.match(text) and words > 1)) and not is_numbered_title:
        return "list"
    if (element.bold or not element.in_item) and not is_step and is_title(element, body):
        return "title"
    if words <= 40 and EQUATION.search(text) and _is_formula(text):
        return "equation"
    return "paragraph"


def _is_formula(text: str) -> bool:
    words = [word for word in re.findall(r"[A-Za-z]+", text) if len(word) > 1]
    return len(words) <= 0.45 * len(text.split())
