"""Titles and the size of running text, by which titles stand out."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.layout.blocks import SECTION_NUMBER
from quoteweave.documents.layout.page import PageContent, PageElement

# A command or a statement of a program, which manuals set in bold: "> z <- zoo(1:8)", "$ make test".
_CODE = lazy_regex(r"\s*(?:>{1,3}\s.*(?:<-|[=()\[\]{}])|\$\s+[a-z])|[\w.$\[\]]+\s+<-\s")


@dataclass(frozen=True, slots=True)
class BodySize:
    """Font size of running text, in points: of the document, and of each page with enough text."""

    usual: float
    by_page: dict[int, float]

    def of(self, page: PageContent) -> float:
        """The size on a page, in points."""
        return self.by_page.get(page.number, self.usual)


def body_size(pages: Sequence[PageContent]) -> BodySize:
    """The size of running text of these pages; 10 points where there is too little of it."""
    sizes = {page.number: _usual_size(page.elements) for page in pages}
    known = [size for size in sizes.values() if size]
    usual = statistics.median(known) if known else 10.0
    return BodySize(usual, {number: size for number, size in sizes.items() if size})


def _usual_size(elements: Sequence[PageElement]) -> float:
    """The commonest font size of running text, by characters; 0 if there is too little text."""
    counts: Counter[float] = Counter()
    for element in elements:
        if element.prose:
            counts[round(element.size * 2) / 2] += len(element.text)
    return counts.most_common(1)[0][0] if counts.total() >= 200 else 0.0


def is_title(element: PageElement, body: float) -> bool:
    """Whether a text is a title, by its size, weight, number and length, and no code; `body`: size of running text."""
    words = element.text.split()
    if not 1 <= len(words) <= 25 or element.lines > 3 or not any(c.isalpha() for c in element.text):
        return False
    if element.size >= 1.18 * body and sum(c.isalpha() for c in element.text) >= 3:
        return True
    ends = element.text.rstrip().endswith((".", ",", ";", ":"))
    stands_out = (element.bold and not _CODE.match(element.text)) or (element.text.isupper() and len(words) > 1)
    numbered = bool(SECTION_NUMBER.match(element.text)) and element.text[-1].isalnum() and element.lines == 1
    return (
        len(words) <= 14 and not ends and (stands_out or (numbered and len(words) >= 2)) and element.size >= 0.9 * body
    )
