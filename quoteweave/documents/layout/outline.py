"""Determines the headings for each page, from bookmarks or else from the table of contents."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import IMAGE_LAYOUTS, Layout
from quoteweave.core.text.references.mentions import (
    MAX_ENTRY_CHARACTERS,
    MIN_CONTENTS_ENTRIES,
    caption_label,
    rise_steadily,
)
from quoteweave.documents.layout.page import PageContent
from quoteweave.documents.sources.bookmarks import MAX_LEVELS, Bookmark, clean_title

# How many of the first pages may have the table of contents.
FIRST_PAGES = 15
# The least share of entries that must lead to a page of the document.
MIN_KNOWN = 0.75
# Figures whose labels end in numbers look like contents. Tables are allowed: most pages of contents are read as tables.
NOT_CONTENTS = (IMAGE_LAYOUTS - {"table"}) | {"header", "footer", "caption"}
# Dots leading to a page number, which ends a line; possessive, and begun only once, so that it takes linear time.
LEADERS = lazy_regex(r"(?<![.·…_])(?<![.·…_] )(?:[.·…_] ?){4,}+\s*+(\d{1,4})(?!\S)")
ENTRY = lazy_regex(r"(.*?)[\s.·…_|](\d{1,4})")
NUMBERED = lazy_regex(r"\d{1,2}((?:\.\d{1,2})+)")


def page_headings(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]], labels: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the headings of each page, outermost first, each once; `labels` are the printed page labels."""
    bookmarks = [bookmark for page in pages for bookmark in page.bookmarks]
    by_page: defaultdict[int, list[Bookmark]] = defaultdict(list)
    for bookmark in bookmarks or _entries_of_contents(pages, layouts, labels):
        by_page[bookmark.page].append(bookmark)
    headings, open_bookmarks = [], list[Bookmark]()
    for number in range(len(pages)):
        # A section that ends on this page may do so in its middle.
        page_bookmarks = [*open_bookmarks, *by_page[number]]
        for bookmark in by_page[number]:
            while open_bookmarks and open_bookmarks[-1].level >= bookmark.level:
                open_bookmarks.pop()
            open_bookmarks.append(bookmark)
        page_bookmarks.sort(key=lambda bookmark: bookmark.level)
        headings.append(tuple(dict.fromkeys(bookmark.title for bookmark in page_bookmarks)))
    return headings


def _entries_of_contents(
    pages: Sequence[PageContent], layouts: Sequence[Sequence[Layout]], labels: Sequence[str]
) -> list[Bookmark]:
    """The entries of the table of contents that point to a page of the document."""
    labelled = defaultdict[str, list[int]](list)
    for number, label in enumerate(labels):
        labelled[label].append(number)
    bookmarks: list[Bookmark] = []
    for page, page_layouts in itertools.islice(zip(pages, layouts, strict=True), FIRST_PAGES):
        texts = (
            element.text
            for element, layout in zip(page.elements, page_layouts, strict=True)
            if layout not in NOT_CONTENTS
        )
        entries = list(_entries(texts))
        page_by_label = _pages_of_labels(Counter(label for _, label in entries), labelled)
        known = [(title, page_by_label[label]) for title, label in entries if label in page_by_label]
        if _is_contents([number for _, number in known], len(entries)):
            bookmarks += (Bookmark(_level(title), title, number) for title, number in known)
    return bookmarks


def _pages_of_labels(times: Mapping[str, int], labelled: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """The page of each label in a table of contents. If several pages have a label, as when a cover has no number or an
    appendix is numbered anew, it is the one as far from its number as most pages are."""
    steps = Counter[int]()
    for label, count in times.items():
        for number in labelled.get(label, ()):
            steps[number - int(label)] += count
    page_by_label: dict[str, int] = {}
    for label in times:
        pages = [(steps[number - int(label)], -number) for number in labelled.get(label, ())]
        page_by_label.update({label: -max(pages)[1]} if pages else {})
    return page_by_label


def _entries(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Lines with a title and a page label; entries of figures and tables are skipped."""
    for text in texts:
        for line in LEADERS.sub(r" \1\n", text).splitlines():
            match = ENTRY.fullmatch(line.strip()) if len(line) <= MAX_ENTRY_CHARACTERS else None
            title = clean_title(match[1].replace("|", " ").strip(" .·…_")) if match else ""
            letters, digits = sum(c.isalpha() for c in title), sum(c.isdigit() for c in title)
            if match and letters >= 3 and letters > digits and caption_label(title) is None:
                yield title, str(int(match[2]))


def _is_contents(known: Sequence[int], entries: int) -> bool:
    """Whether the page numbers of the entries increase as in a table of contents."""
    if entries < MIN_CONTENTS_ENTRIES or len(known) < MIN_KNOWN * entries or known[0] >= known[-1]:
        return False
    return rise_steadily(known)


def _level(title: str) -> int:
    """The level by the section number: 0 for "3 Results", 1 for "3.1 Data"."""
    match = NUMBERED.match(title)
    return min(match[1].count("."), MAX_LEVELS - 1) if match else 0
