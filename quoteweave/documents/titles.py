"""Finds titles, and the size of running text, from which titles differ."""

import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.documents.layout.blocks import SECTION_NUMBER
from quoteweave.documents.layout.page import PageContent, PageElement
from quoteweave.documents.sources.lines import MAX_PICTURE

# How many characters of running text a page needs to have a size of its own.
MIN_CHARACTERS = 200
# A command or a program statement, which manuals set in bold: "> z <- zoo(1:8)", "$ make test".
_CODE = lazy_regex(r"\s*(?:>{1,3}\s.*(?:<-|[=()\[\]{}])|\$\s+[a-z])|[\w.$\[\]]+\s+<-\s")


# The beginning of a step whose number has no full stop: "2 Touch the icon".
_STEP = lazy_regex(r"(\d{1,2})\s+[^\W\d_]")
# The beginning of a text that continues a sentence.
_CONTINUATION = lazy_regex(r"[,.;:)]\s|[a-zß-ÿ]")
# Among how many elements before and after the text that continues is searched.
NEIGHBOURS = 20
# How far, in points, the left edges of two steps may differ.
SAME_EDGE = 1.5


@dataclass(frozen=True, slots=True)
class BodySize:
    """Font size of running text, in points: of the document, and of each page with enough text."""

    usual: float
    by_page: dict[int, float]

    def of(self, page: PageContent) -> float:
        """The size on a page, in points."""
        return self.by_page.get(page.number, self.usual)


def body_size(pages: Sequence[PageContent]) -> BodySize:
    """The size of running text of these pages.

    If no page has enough of it, as in a letter, a form or slides, it is a size that two thirds of all text do not
    exceed: neither small print nor titles decide. It is 10 points without text.
    """
    counts = {page.number: _sizes(element for element in page.elements if element.prose) for page in pages}
    by_page = {
        number: sizes.most_common(1)[0][0] for number, sizes in counts.items() if sizes.total() >= MIN_CHARACTERS
    }
    if by_page:
        return BodySize(statistics.median(by_page.values()), by_page)
    sizes = _sizes(element for page in pages for element in page.elements)
    no_larger = zip(sorted(sizes), accumulate(sizes[size] for size in sorted(sizes)), strict=True)
    return BodySize(next((size for size, count in no_larger if 3 * count >= 2 * sizes.total()), 10.0), {})


def _sizes(elements: Iterable[PageElement]) -> Counter[float]:
    """How many characters of texts have each font size, to half a point."""
    counts: Counter[float] = Counter()
    for element in elements:
        if element.found_as == "text":
            counts[round(element.size * 2) / 2] += len(element.text)
    return counts


def find_steps(elements: Sequence[PageElement]) -> set[int]:
    """The texts of a page that are numbered steps, though some may look like numbered titles: "3 Touch".

    They are texts of one size and left edge whose numbers follow each other, one of which is a sentence and not bold;
    or texts that are continued after a picture in the line.
    """
    steps: set[int] = set()
    run: list[int] = []
    for at, element in enumerate(elements):
        number = _step_number(element)
        if number is None:
            continue
        near = elements[max(0, at - NEIGHBOURS) : at + NEIGHBOURS]
        if any(_continues_after_picture(element, following) for following in near):
            steps.add(at)
        if run and not _follows(element, number, elements[run[-1]]):
            steps.update(_if_steps(run, elements))
            run = []
        run.append(at)
    return steps.union(_if_steps(run, elements))


def _step_number(element: PageElement) -> int | None:
    match = _STEP.match(element.text) if element.found_as == "text" else None
    return int(match[1]) if match else None


def _continues_after_picture(element: PageElement, following: PageElement) -> bool:
    gap, first_row = following.box[0] - element.box[2], following.box[1] + following.size
    is_beside = 0 < gap < MAX_PICTURE * element.size and abs(first_row - element.box[3]) < 0.5 * element.size
    is_line = element.lines == 1 and following.found_as == "text"
    return is_beside and is_line and _CONTINUATION.match(following.text) is not None


def _follows(element: PageElement, number: int, before: PageElement) -> bool:
    is_below = abs(element.box[0] - before.box[0]) < SAME_EDGE and abs(element.size - before.size) < 0.5
    return is_below and _step_number(before) == number - 1


def _if_steps(run: Sequence[int], elements: Sequence[PageElement]) -> Sequence[int]:
    not_bold = (element for element in map(elements.__getitem__, run) if not element.bold)
    is_text = any(element.lines > 1 or element.text.rstrip().endswith((".", ":", ";")) for element in not_bold)
    return run if len(run) > 1 and is_text else ()


def is_title(element: PageElement, body: float) -> bool:
    """Whether a text is a title, by its size, weight, number and length, and not code; `body`: size of running text."""
    words = element.text.split()
    if not 1 <= len(words) <= 25 or element.lines > 3 or not any(c.isalpha() for c in element.text):
        return False
    if element.text[0].islower() and len(words) > 1 and element.text.rstrip().endswith("."):  # the end of a sentence
        return False
    if element.size >= 1.18 * body and sum(c.isalpha() for c in element.text) >= 3:
        return True
    is_short = len(words) <= 14 and not element.text.rstrip().endswith((".", ",", ";", ":"))
    stands_out = (element.bold and not _CODE.match(element.text)) or (element.text.isupper() and len(words) > 1)
    is_numbered = bool(SECTION_NUMBER.match(element.text)) and element.text[-1].isalnum() and element.lines == 1
    return is_short and (stands_out or (is_numbered and len(words) >= 2)) and element.size >= 0.9 * body
