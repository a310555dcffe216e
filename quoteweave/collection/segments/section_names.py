"""Names each page of a document by the parts that it belongs to: "part 2", "chapter 3", "appendix b", "contents".

Parts are known from the outline and from titles. A part lasts until the next one of the same or a higher rank, so that
"Item 1" does not end "Part I". A heading whose number is uncertain, and a preface or an index, ends the part before and
gives its pages no other name. Titles that begin with a mere number are as often steps of a manual as chapters: only
those that `chapters` finds count. A page of contents belongs to no other part, unless one begins on it. The last part
of each kind has two more names, such as "chapter last" and "last chapter 9".
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from string import ascii_lowercase

from quoteweave.collection.segments.chapters import (
    APPENDIX,
    CONTENTS,
    NUMBER,
    REFERENCES,
    ROLES,
    UNCOUNTED,
    Outline,
    chapters_of,
    heading_words,
    steps_in,
    without_number,
)
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import LAST, PlaceName
from quoteweave.core.records import Page, Quote
from quoteweave.core.text.references.mentions import (
    MAX_ENTRY_CHARACTERS,
    MIN_CONTENTS_ENTRIES,
    heading_names,
    rise_steadily,
)
from quoteweave.core.text.references.numerals import ROMAN
from quoteweave.core.text.tokens import words

# Which parts enclose which, below the parts that enclose chapters; notes, steps and the like lie within these.
_RANKS = {"item": 1, "chapter": 2, "section": 2, "appendix": 2}
_ROLE_RANK, _INNER_RANK = 2, 3
# "3 Grain" or "II. Cranes", but not "I. Ships", where "I." may be a letter.
_BARE_NUMBER = lazy_regex(rf"\d|(?!.[.):]){ROMAN.upper()}[.):]\s")
# "B Details" and "B. Details", after the references.
_LETTERED = lazy_regex(r"([A-Z])(?:\.\d+)*[.:]?\s+[^\W\d_]")
# "PART II Item 5. Market…", set as one paragraph.
_CAPITAL_PART = lazy_regex(rf"[A-ZÄÖÜ]{{4,}} (?:{ROMAN.upper()}|\d{{1,2}})\b")
_MAX_HEADING_WORDS = 60
# Replaces the letter of an appendix after the references, before the first appendix.
_BEFORE_LETTERS = "@"
# The page number at the end of a line of a table of contents.
_ENTRY_END = lazy_regex(r"[\s.·…_|](\d{1,4})")
_LEADERS = frozenset(".·…_|")
# How far the letter of an appendix may be from that of the one before: the heading of one between may not be found.
_MAX_STEP = 2


def names_of_pages(pages: Sequence[Page], quotes: Iterable[Quote]) -> dict[int, set[PlaceName]]:
    """The names of each page of a document, given its quotes in order, which are iterated over twice."""
    sections = SectionNames(pages, quotes)
    page_names = {
        page: sections.of_page(list(page_quotes)) for page, page_quotes in groupby(quotes, key=lambda quote: quote.page)
    }
    for last in _last_parts(set().union(*page_names.values()), sections.chapters.last):
        names_of_last = {PlaceName(last.kind, LAST), last_part(last)}
        for names in page_names.values():
            names.update(names_of_last if last in names else ())
    return page_names


def last_part(name: PlaceName) -> PlaceName:
    """The name of the last part of its kind, with its number or letter: 'last chapter 9'."""
    return PlaceName(f"last {name.kind}", name.number)


def _last_parts(names: Collection[PlaceName], chapter: PlaceName | None) -> Iterator[PlaceName]:
    """The last part of each kind: the one with the highest number, else with the last letter.

    A number counts only where it follows another one, or exceeds the count of parts by at most one, as one heading may
    be missing. Kinds that have a part which is itself called the last are left out.
    """
    for kind in {name.kind for name in names}.difference(name.kind for name in names if name.is_last):
        kind_names = [name for name in names if name.kind == kind]
        numbers = {name.value: name for name in kind_names if name.value is not None}
        letters = {ascii_lowercase.find(name.number) + 1: name for name in kind_names if len(name.number) == 1}
        letters.pop(0, None)
        certain_names = [
            series[at]
            for series in (letters, numbers)
            for at in sorted(series)
            if at <= len(series) + 1 or at - 1 in series
        ]
        last = chapter if kind == "chapter" and chapter in names else next(reversed(certain_names), None)
        yield from [] if last is None else [last]


class SectionNames:
    """The parts of one document, page by page."""

    def __init__(self, pages: Sequence[Page], quotes: Iterable[Quote]) -> None:
        outline = Outline(pages)
        self.chapters = chapters_of(outline, quotes)
        self._pages = {page.number: page for page in pages}
        self._names = {heading: heading_names(heading) for heading in outline.begins}
        self._kinds = outline.kinds
        self._counted_on = _pages_of(self.chapters.outline, pages)
        self._open_parts: list[tuple[int, list[PlaceName]]] = []
        self._headings_before: frozenset[str] = frozenset()
        # The letter of the appendix that began last; "@" after the references, before the first appendix.
        self._letter = ""
        self._has_appendix = self._is_contents = False

    def of_page(self, quotes: Sequence[Quote]) -> set[PlaceName]:
        """The names of the next page, given its quotes in order."""
        number, place_names = quotes[0].page, set[PlaceName]()
        page, next_page = self._pages.get(number), self._pages.get(number + 1)
        headings = page.headings if page else ()
        begun = [heading for heading in headings if heading not in self._headings_before]
        retrievable = [quote for quote in quotes if quote.retrievable]
        if self._reads_as_contents(retrievable, begun):
            place_names.add(CONTENTS)
            if _lists_pages(retrievable) and _has_contents_alone(retrievable):
                self._headings_before = frozenset(headings)
                return place_names
        contents_names, was_after_references = place_names.copy(), bool(self._letter)
        parts = list(self._begun(retrievable, begun))
        at_top = bool(parts) and parts[0][0] == 0
        ended = set(headings).difference(begun, next_page.headings if next_page else headings) if at_top else set[str]()
        for heading in headings:
            place_names.update(self._names[heading] if heading not in ended else ())
        place_names.update(self._counted_on.get(number, ()) if not (was_after_references and self._letter) else ())
        place_names.update(() if at_top else self._current())
        for _, names in parts:
            self._push(names)
            place_names.update(self._current())
        self._headings_before = frozenset(headings)
        part_names = {name for name in place_names if name != CONTENTS and not name.is_page and not name.is_unread}
        return contents_names | part_names

    def _current(self) -> set[PlaceName]:
        return {name for _, names in self._open_parts for name in names}

    def _push(self, names: list[PlaceName]) -> None:
        if names == [CONTENTS]:
            return  # a heading "Contents" may be that of a list of what is in the box
        outer = [name for name in names if _rank_of(name) == 0]
        for group in filter(None, (outer, [name for name in names if name not in outer])):  # "PART II Item 8"
            self._open_parts = [open_part for open_part in self._open_parts if open_part[0] < _rank(group)]
            self._open_parts.append((_rank(group), group))

    def _reads_as_contents(self, page_quotes: Sequence[Quote], begun: Sequence[str]) -> bool:
        """Whether a page has a table of contents: it says so, or follows a page with one and has such lines itself."""
        says = any(CONTENTS in self._names[heading] for heading in begun) or any(
            quote.layout == "title" and CONTENTS in heading_names(quote.text) for quote in page_quotes
        )
        self._is_contents = says or (self._is_contents and _lists_pages(page_quotes, only_certain=True))
        return self._is_contents

    def _begun(self, page_quotes: Sequence[Quote], begun: Sequence[str]) -> Iterator[tuple[int, list[PlaceName]]]:
        """The parts that begin on a page, in order, each with the position of its heading among the quotes."""
        headings, steps = _Headings(begun), steps_in(page_quotes)
        for at, quote in enumerate(page_quotes):
            outlined = headings.take(quote)
            if (outlined is not None or at not in steps) and (names := self._names_of(quote, outlined)):
                yield at, names
        for heading in headings.unmatched:
            if names := [*self._counted(heading), *self._names[heading]]:
                yield len(page_quotes), names

    def _names_of(self, quote: Quote, heading: str | None) -> list[PlaceName]:
        """The names of the part that begins with a quote, which may be a heading of the outline."""
        text = quote.text
        if quote.layout != "title" and not (
            heading or (_CAPITAL_PART.match(text) and len(text.split()) <= _MAX_HEADING_WORDS)
        ):
            return []
        names = heading_names(text)
        if letter := self._letter_of(text, is_outlined=heading is not None):
            return [
                PlaceName("appendix", letter),
                APPENDIX,
                *(name for name in names if name.kind == "section"),
            ]
        names = self._checked(quote, names, is_outlined=heading is not None)
        outline_names = [*self._counted(heading), *self._names[heading]] if heading else []
        names = list(dict.fromkeys([*names, *outline_names]))
        self._remember(text, names)
        return names

    def _counted(self, heading: str) -> list[PlaceName]:
        """The name of an outline's chapter without a number of its own; after the references it ends the appendices."""
        if heading not in self.chapters.outline or self._letter > _BEFORE_LETTERS:
            return []
        if self._letter and (self._names[heading] or _LETTERED.match(heading)):
            return []
        self._letter = ""
        return [PlaceName("chapter", str(self.chapters.outline[heading]))]

    def _checked(self, quote: Quote, names: list[PlaceName], *, is_outlined: bool) -> list[PlaceName]:
        """The names of a title, without those that its number suggests only by chance."""
        is_chapter = quote.id in self.chapters.title_ids
        if _BARE_NUMBER.match(quote.text):
            certain = [name for name in names if "." in name.number or name in ROLES]
            uncounted = [UNCOUNTED] if quote.id in self.chapters.uncertain_ids else []
            return names if is_chapter else [*certain, *uncounted]
        if not is_outlined:
            names = [name for name in names if name.kind not in self._kinds or name in ROLES]
        letter = _LETTERED.match(quote.text) if names and not self._letter and not is_chapter else None
        if letter is None:
            return names
        # Before all appendices, a lettered title is a section of a chapter.
        if any(name.kind == "chapter" for name in names):
            return [PlaceName("section", letter[1].lower()), *(name for name in names if name in ROLES)]
        return [name for name in names if name.kind == "section" or name in ROLES]

    def _remember(self, text: str, names: Sequence[PlaceName]) -> None:
        """Remember which appendix began last, unless a chapter has begun since."""
        if REFERENCES in names or APPENDIX in names:
            self._letter = self._letter or _BEFORE_LETTERS
            self._has_appendix = self._has_appendix or APPENDIX in names
        elif any(name.kind == "chapter" and name.value is not None for name in names) and (
            self._letter == _BEFORE_LETTERS or not NUMBER.match(text)
        ):
            self._letter = ""

    def _letter_of(self, text: str, *, is_outlined: bool) -> str:
        """The letter of an appendix if it may follow the one before; "" for other titles."""
        match = _LETTERED.match(text) if self._letter else None
        if match is None or not 0 <= ord(match[1]) - ord(self._letter) <= _MAX_STEP:
            return ""
        # As in "A Survey of Ports".
        if text[:2] == "A " and not (text.isupper() or is_outlined or self._has_appendix):
            return ""
        self._letter = match[1]
        return match[1].lower()


def _lists_pages(quotes: Iterable[Quote], *, only_certain: bool = False) -> bool:
    """Whether texts have enough lines that end in page numbers, which increase."""
    lines = (line.strip() for quote in quotes for line in quote.all_text().splitlines())
    numbered_lines = ((line, _page_number(line)) for line in lines)
    numbers = [
        number for line, number in numbered_lines if number is not None and (not only_certain or _is_entry(line))
    ]
    return len(numbers) >= MIN_CONTENTS_ENTRIES and rise_steadily(numbers)


def _page_number(line: str) -> int | None:
    """The page number at the end of a line of contents; None for other lines."""
    if len(line) > MAX_ENTRY_CHARACTERS or not line[-1:].isdecimal():
        return None
    match = _ENTRY_END.fullmatch(line, max(0, len(line.rstrip("0123456789")) - 1))
    return int(match[1]) if match and sum(letter.isalpha() for letter in line) >= 3 else None


def _is_entry(line: str) -> bool:
    """Whether a line that ends in a number looks like a line of contents otherwise, unlike "In 2019 sales were 10"."""
    title = line.rstrip("0123456789")
    led = title.rstrip()[-1:] in _LEADERS or title[-2:].isspace()
    return led or not any(letter.isdigit() for letter in title) or bool(heading_names(title))


def _has_contents_alone(page_quotes: Sequence[Quote]) -> bool:
    """Whether no part begins on a page of contents: none is above its heading, and entries follow each of them."""
    names_of_quotes = (heading_names(quote.text) if quote.layout == "title" else [] for quote in page_quotes)
    titles = [[] if names == [UNCOUNTED] else names for names in names_of_quotes]
    first = next((at for at, names in enumerate(titles) if CONTENTS in names), -1)
    is_listed = False
    for at, quote in reversed(list(enumerate(page_quotes))):
        lines = quote.all_text().splitlines()
        if 2 * sum(_page_number(line.strip()) is not None for line in lines) >= max(1, len(lines)):
            is_listed = True
        elif quote.layout != "title":
            is_listed = False
        elif titles[at] and at != first and (at < first or not is_listed):
            return False
    return True


def _rank(names: Sequence[PlaceName]) -> int:
    return min(map(_rank_of, names), default=_INNER_RANK)


def _rank_of(name: PlaceName) -> int:
    if name.kind == "section" and name.value is None:
        return _INNER_RANK
    if name.encloses_chapters:
        return 0
    return _ROLE_RANK if name in ROLES else _RANKS.get(name.kind, _INNER_RANK)


class _Headings:
    """The headings of the outline that begin on a page and that no quote has been matched with yet."""

    def __init__(self, headings: Sequence[str]) -> None:
        self.unmatched = {heading: at for at, heading in enumerate(headings)}
        self._by_bare_words: dict[tuple[str, ...], list[str]] = {}
        self._by_all_words: dict[tuple[str, ...], list[str]] = {}
        for heading in headings:
            if bare := heading_words(heading):
                self._by_bare_words.setdefault(bare, []).append(heading)
                self._by_all_words.setdefault(tuple(words(heading, keep_stop_words=True)), []).append(heading)
        self._lengths = sorted({len(title_words) for title_words in self._by_all_words})

    def take(self, quote: Quote) -> str | None:
        """The first heading with which a quote begins; it is removed from the unmatched ones."""
        if not self.unmatched or quote.kind != "text" or len(quote.text.split()) > _MAX_HEADING_WORDS:
            return None
        quote_words = tuple(words(quote.text, keep_stop_words=True))
        candidates = list(self._by_bare_words.get(quote_words, ()))
        if bare := without_number(quote.text):
            candidates += self._by_bare_words.get(tuple(words(bare, keep_stop_words=True)), ())
        for length in self._lengths:
            candidates += self._by_all_words.get(quote_words[:length], ())
        match = min(
            (heading for heading in candidates if heading in self.unmatched),
            key=self.unmatched.__getitem__,
            default=None,
        )
        if match is not None:
            del self.unmatched[match]
        return match


def _pages_of(chapters: Mapping[str, int], pages: Sequence[Page]) -> dict[int, list[PlaceName]]:
    """The names of the chapters on each page."""
    chapter_names: dict[int, list[PlaceName]] = {}
    first_pages: dict[str, int] = {}
    for at, page in enumerate(pages):
        first_pages.setdefault(page.headings[0] if page.headings else "", at)
    for heading, chapter in chapters.items():
        first = first_pages.get(heading, len(pages) - 1)
        # A chapter may begin on the page on which another ends.
        first -= first > 0 and heading in pages[first - 1].headings
        last = next((at for at in range(first, len(pages)) if heading not in pages[at].headings), len(pages))
        for page in pages[first:last]:
            chapter_names.setdefault(page.number, []).append(PlaceName("chapter", str(chapter)))
    return chapter_names
