"""Finds the chapters of a document: for the names of its pages, the search for the last chapter, and their count.

Chapters are the headings that say "Chapter 3", if there are at least two; else those that begin with a number of their
own; else the outermost headings of the outline between the contents and the references. Where an outline shows how a
document is divided, numbered headings that are missing from it do not count: they are as often steps of a manual.

Chapter numbers follow each other. A title that only looks numbered, such as "12 V battery" among chapters 1 to 5,
breaks the order and is left out, and so are titles that follow one another with no text between them: steps, or a list
of what is to come. Numbers may begin anew below the heading of another part. Where they begin anew elsewhere, it is not
certain what they number.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby, pairwise
from operator import eq, itemgetter

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import UNREAD, PlaceName
from quoteweave.core.records import Page, Quote
from quoteweave.core.text.references.mentions import heading_names
from quoteweave.core.text.references.numerals import ROMAN
from quoteweave.core.text.tokens import words

MAX_MISSING = 2
"""The most chapters that may be missing before a number for that still to count as a chapter's."""
CONTENTS, REFERENCES, APPENDIX = map(PlaceName, ("contents", "references", "appendix"))
ROLES = frozenset({CONTENTS, REFERENCES, APPENDIX})
UNCOUNTED = PlaceName("chapter", UNREAD)
# An outline of at least so many headings shows how a document is divided.
_MIN_OUTLINE = 4
_STEP = lazy_regex(r"(\d{1,2})[.):]?\s")
NUMBER = lazy_regex(rf"(?:\d{{1,2}}(?:\.\d{{1,2}})*[.):]?|{ROMAN.upper()}[.):]|[A-Z](?:\.\d{{1,2}})*[.):]?)\s+")
_LETTER = lazy_regex(r"([A-Z])\.\s")
_NONE = PlaceName("")


@dataclass(frozen=True, slots=True)
class NumberedHeading:
    """A heading, with what its number says about it."""

    name: PlaceName
    """"chapter 3" or "section 3.1"."""
    text: str
    page: int
    quote: Quote | None
    """None for a heading of the outline that is not a title on its page."""
    number: int
    """The number of its chapter; -1 for the heading of a part."""
    is_inner: bool
    """Whether it is within its chapter, like "3.1 Grain"; in `Chapters`, only if the chapter has no other heading."""
    says_chapter: bool
    """Whether it says "Chapter 3" rather than "3"."""


@dataclass(frozen=True, slots=True)
class Chapters:
    """The chapters of a document: those of the outline where there are any, else those with numbers."""

    numbered: tuple[NumberedHeading, ...]
    """Chapters and the sections within them, in order."""
    is_complete: bool
    """Whether no numbered chapter seems to be missing, also after the last, and none seems to be counted twice."""
    title_ids: frozenset[str]
    """Ids of the titles that begin a chapter (repetitions included), or that have the number of the current one."""
    uncertain_ids: frozenset[str]
    """Ids of the titles that may begin a chapter, but skip so many numbers that this is uncertain."""
    outline: Mapping[str, int]
    """The outermost headings that are chapters, numbered from 1; empty where numbers in headings decide."""

    @property
    def last(self) -> PlaceName | None:
        """The name of the last chapter."""
        if self.outline:
            return PlaceName("chapter", str(len(self.outline)))
        return next((heading.name for heading in reversed(self.numbered) if heading.name.kind == "chapter"), None)


def chapters_of(outline: "Outline", quotes: Iterable[Quote]) -> Chapters:
    """Return the chapters of the document that has this outline and, in order, these quotes."""
    titles = _titles_of_one_kind(_titles(outline, quotes), outline)
    numbering = _Numbering(titles)
    for at, title in enumerate(titles):
        numbering.add(at, title)
    count = sum(heading.name.kind == "chapter" for heading in numbering.numbered.values())
    counted = outline.chapters if count < 2 else {}
    return Chapters(
        numbered=tuple(numbering.numbered.values()),
        is_complete=numbering.is_complete,
        title_ids=frozenset(numbering.title_ids),
        uncertain_ids=frozenset() if counted else frozenset(numbering.uncertain_ids),
        outline=counted,
    )


class Outline:
    """The headings of an outline, and which of them are outermost.

    A page lists the headings that continue from the page before, then those that begin on it, but not their depths. So
    the first heading of a page is an outermost one; on the last page, further ones that begin there count too, unless
    other pages show that the outline has inner headings.
    """

    def __init__(self, pages: Sequence[Page]) -> None:
        self.begins: dict[str, int] = {}
        """The first page of each heading, in order."""
        for page in pages:
            for heading in page.headings:
                self.begins.setdefault(heading, page.number)
        first = dict.fromkeys(page.headings[0] for page in pages if page.headings)
        inner_headings = [heading for page in pages[:-1] for heading in page.headings[1:] if heading not in first]
        # Between two outermost headings of a page may be the end of the first, or a part that ends on that page.
        between = any(
            heading not in first and not first.keys().isdisjoint(page.headings[at + 1 :])
            for page in pages
            for at, heading in enumerate(page.headings[1:], start=1)
        )
        last = [heading for page in pages[-1:] for heading in page.headings[1:] if self.begins[heading] == page.number]
        self.outermost = [*first, *([] if inner_headings else last)]
        self.is_sure = not (inner_headings and last) and not between
        """Whether these are certainly all the outermost headings."""
        self._words = {heading_words(heading) for heading in self.begins} if len(self.begins) >= _MIN_OUTLINE else set()
        self._lengths = {len(title_words) for title_words in self._words} - {1}
        names = {name for heading in self.begins for name in heading_names(heading) if name.number[-1:].isdigit()}
        self.kinds = {name.kind for name in names} - {"section"}
        """The kinds of its numbered parts, without sections."""

    @property
    def chapters(self) -> dict[str, int]:
        """The chapters among the outermost headings, numbered from 1, between the contents and the references.

        Appendices do not count, nor do prefaces, indexes and the like before the first chapter and after the last;
        between two chapters, headings such as "Copyright" and "Index" are chapters themselves.
        """
        order = list(self.begins)
        appendices = (at for at, heading in enumerate(order) if APPENDIX in heading_names(heading))
        before = set(order[: next((at for at in appendices if 2 * at >= len(order) - 1), None)])
        outermost = {heading: heading_names(heading) for heading in self.outermost if heading in before}
        if any(name.number[-1:].isdigit() for names in outermost.values() for name in names):
            return {}  # such as "Part I" or "Item 1"
        headings = list(outermost)
        contents = [at for at, heading in enumerate(headings) if CONTENTS in outermost[heading]]
        chapters = headings[contents[-1] + 1 if contents else 0 :]
        references = [at for at, heading in enumerate(chapters) if REFERENCES in outermost[heading]]
        # References in the first half belong to a single chapter and do not end the chapters.
        end = next((at for at in references if 2 * at >= len(chapters) - 1), len(chapters))
        counted = [heading for heading in chapters[:end] if ROLES.isdisjoint(outermost[heading])]
        certain = [at for at, heading in enumerate(counted) if UNCOUNTED not in outermost[heading]]
        counted = counted[certain[0] : certain[-1] + 1] if certain else []
        # A single heading is the title of the whole document.
        return {heading: chapter for chapter, heading in enumerate(counted, 1)} if len(counted) > 1 else {}

    def admits(self, title: NumberedHeading) -> bool:
        """Whether a title may be a chapter's: the outline has it, or leaves this to the titles."""
        if title.is_inner or title.number < 0 or not self._words or title.quote is None:
            return True
        return self.has(title.text) or (title.says_chapter and "chapter" not in self.kinds)

    def has(self, text: str) -> bool:
        """Whether a title is one of the headings of an outline that says how the document is divided."""
        title_words = heading_words(text)
        # A longer title counts if it begins with a heading: "5 Related Work 5.1 Models" may be set as one title.
        return title_words in self._words or any(title_words[:length] in self._words for length in self._lengths)


class _Numbering:
    """The chapters found so far, and the state of their numbering."""

    def __init__(self, titles: Sequence[NumberedHeading]) -> None:
        self._titles, self._series = titles, _longest_series([title.number for title in titles])
        self._in_series = frozenset(self._series)
        self._last_at = {title.number: at for at, title in enumerate(titles) if not title.is_inner}
        self._last_number, self._part = -1, 0
        self._words_of_taken = dict[int, list[list[str]]]()
        self._part_heading = _NONE  # of the last part
        self._parts = set[PlaceName]()  # headings of the parts that have chapters
        self._is_sure, self._may_skip, self._repeated = True, False, -1
        self.numbered = dict[tuple[int, PlaceName], NumberedHeading]()
        self.title_ids, self.uncertain_ids = set[str](), set[str]()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is uncertain, also after the last chapter."""
        return self._is_sure and not self._may_skip and self._repeated < 0

    def add(self, at: int, title: NumberedHeading) -> None:
        """Count a title as a chapter if its number shows that it is one, or as a section of the last chapter."""
        if title.number < 0:
            self._part_heading = title.name
        elif not self.numbered:
            if self._begins(title, at):
                self._take(title)
        elif not title.is_inner and title.number <= self._last_number and title.number in self._words_of_taken:
            self._repeat(title)
        elif title.number == self._last_number + 1 or self._is_below_own_section(title, at):
            # After 1, 2, 3, 1, 2, a 4 shows that the second 1 and 2 are no chapters; after 1, 2, 1, 2, a 3 does not.
            self._is_sure = self._is_sure and self._repeated != self._last_number
            self._take(title)
        elif title.number > self._last_number + 1 and self._may_skip_numbers(title, at):
            self._is_sure = False
            self._take(title)
        elif title.number > self._last_number + 1 + MAX_MISSING:
            self.uncertain_ids.update(_ids(title))
        elif title.number > self._last_number + 1:
            self._may_skip = True
        if title.is_inner and title.number == self._last_number:
            self.title_ids.update(_ids(title))
            self.numbered.setdefault((self._part, title.name), replace(title, is_inner=False))

    def _begins(self, title: NumberedHeading, at: int) -> bool:
        """Whether it is the first chapter. An extract may begin with any number, but a single chapter only with 1."""
        self._is_sure = title.number == 1 or title.says_chapter
        return self._is_sure or (at == self._series[0] and self._has_more(title, at))

    def _is_below_own_section(self, title: NumberedHeading, at: int) -> bool:
        """Whether it stands right below the heading of its first section: "5.1 Roles", then "5 Safety", on one page.

        "2 eggs", below "2.1 Leaves", is no heading.
        """
        known = self.numbered.get((self._part, PlaceName("chapter", str(title.number))))
        if known is None or not known.is_inner or title.is_inner or without_number(title.text)[:1].islower():
            return False
        above = self._titles[at - 1]
        return above.page == title.page and above.quote is known.quote

    def _may_skip_numbers(self, title: NumberedHeading, at: int) -> bool:
        """Whether a title that skips numbers is a chapter's: it says so, or something that belongs to it follows."""
        if self._last_at.get(self._last_number + 1, -1) > at:
            return at in self._in_series
        return title.says_chapter or self._has_more(title, at) or (title.is_inner and at in self._in_series)

    def _has_more(self, title: NumberedHeading, at: int) -> bool:
        """Whether its sections follow, or the next chapter."""
        next_title = self._titles[at + 1] if at + 1 < len(self._titles) else None
        has_sections = next_title is not None and next_title.is_inner and next_title.number == title.number
        return has_sections or self._last_at.get(title.number + 1, -1) > at

    def _repeat(self, title: NumberedHeading) -> None:
        """Begin another part if its heading is above, or note that a chapter may be missing.

        A heading may also occur twice because it is in a table of contents or is repeated on several pages.
        """
        begins = title.number <= 1
        is_below_part = self._part_heading not in self._parts and self._part_heading != _NONE
        if begins and is_below_part and self._parts:
            self._part += 1
            self._take(title)
        elif self._is_known(title):
            self.title_ids.update(_ids(title))
        elif title.says_chapter and (begins or is_below_part):
            self._is_sure = False
            self._part += 1
            self._take(title)
        else:
            self._repeated = title.number

    def _is_known(self, title: NumberedHeading) -> bool:
        """Whether it repeats the heading of a found chapter; a number without words may be another chapter's."""
        title_words = _title_words(title)
        if title.number == self._last_number:
            # One of the two begins with the other.
            return any(all(map(eq, title_words, known_words)) for known_words in self._words_of_taken[title.number])
        return len(title_words) > (2 if title.says_chapter else 1) and title_words in self._words_of_taken[title.number]

    def _take(self, title: NumberedHeading) -> None:
        self._last_number, self._may_skip, self._repeated = title.number, False, -1
        if self._part_heading != _NONE:
            self._parts.add(self._part_heading)
        name = PlaceName("chapter", str(title.number))
        self.numbered[self._part, name] = replace(title, name=name)
        self.title_ids.update(_ids(title))
        if not title.is_inner:
            self._words_of_taken.setdefault(title.number, []).append(_title_words(title))


def _longest_series(numbers: Sequence[int]) -> tuple[int, ...]:
    """Positions of the longest rising series of numbers, with at most `MAX_MISSING` missing between neighbours."""
    best: dict[int, tuple[int, int]] = {}  # by the last number of a series: its length, and the position of that number
    previous: list[int] = []
    for at, number in enumerate(numbers):
        length, before = max(
            (best.get(earlier, (0, -1)) for earlier in range(number - MAX_MISSING - 1, number)), key=itemgetter(0)
        )
        previous.append(before)
        if number >= 0 and length >= best.get(number, (0, -1))[0]:
            best[number] = (length + 1, at)
    at = max(best.values(), key=itemgetter(0), default=(0, -1))[1]
    series = [at]
    while at >= 0 and previous[at] >= 0:
        at = previous[at]
        series.append(at)
    return tuple(reversed(series))


def _ids(title: NumberedHeading) -> list[str]:
    return [title.quote.id] if title.quote else []


def _title_words(title: NumberedHeading) -> list[str]:
    """The words of a heading, without a page number at its end, as in a table of contents."""
    title_words = title.text.casefold().split()
    has_page_number = len(title_words) > (3 if title.says_chapter else 2) and title_words[-1].isdecimal()
    return title_words[:-1] if has_page_number else title_words


def _titles(outline: Outline, quotes: Iterable[Quote]) -> list[NumberedHeading]:
    """The titles that may be those of chapters, of sections within them and of parts, in order.

    A chapter of the outline that has no title on its page is inserted by its page and number.
    """
    titles: list[NumberedHeading] = []
    letter = ""
    for _, page_quotes in groupby(quotes, key=lambda quote: quote.page):
        retrievable = [quote for quote in page_quotes if quote.retrievable]
        steps = steps_in(retrievable)
        for at, quote in enumerate(retrievable):
            if quote.layout != "title" or (at in steps and not outline.has(quote.text)):
                continue
            match = _LETTER.match(quote.text)
            # After "H.", "I." is a letter, not a numeral.
            if match is None or not letter or ord(match[1]) != ord(letter) + 1:
                titles += filter(outline.admits, _numbered_headings(quote.text, quote.page, quote))
            letter = match[1] if match else letter
    numbers = {title.number for title in titles if not title.is_inner}
    # The running maximum is in order, so that the first place which is not lower is found by bisection.
    highest = list(accumulate(((title.page, title.number) for title in titles), max))
    for heading, page in outline.begins.items():
        for title in _numbered_headings(heading, page):
            if not title.is_inner and title.number not in numbers:
                at = bisect_left(highest, (page, title.number))
                titles.insert(at, title)
                highest.insert(at, (page, title.number))
    return titles


def _titles_of_one_kind(titles: Sequence[NumberedHeading], outline: Outline) -> list[NumberedHeading]:
    """The titles; where two or more say "Chapter 3", only such titles are kept as those of chapters."""
    if len({title.number for title in titles if title.says_chapter}) < 2:
        return _without_series_of_one_name(titles, outline)
    return [title for title in titles if title.says_chapter or title.is_inner or title.number < 0]


def _without_series_of_one_name(titles: Sequence[NumberedHeading], outline: Outline) -> list[NumberedHeading]:
    """The titles without those that differ in nothing but their number, such as "1 May 2020" and "2 May 2020".

    Those that say "Chapter" or that the outline has are kept.
    """
    numbers: dict[tuple[str, ...], set[int]] = {}
    for title in titles:
        numbers.setdefault(heading_words(title.text), set()).add(title.number)
    return [
        title
        for title in titles
        if title.is_inner
        or title.says_chapter
        or title.number < 0
        or title.quote is None
        or len(numbers[heading_words(title.text)]) == 1
        or not without_number(title.text)
        or outline.has(title.text)
    ]


def _numbered_headings(text: str, page: int, quote: Quote | None = None) -> Iterator[NumberedHeading]:
    """The title with its number, preceded by the heading of a part that it names; nothing if it has no number."""
    place_names = heading_names(text)
    part = next((name for name in place_names if name.encloses_chapters), None)
    if part is not None:
        yield NumberedHeading(part, text, page, quote, -1, is_inner=False, says_chapter=False)
    top = next((name.value for name in place_names if name.kind == "chapter"), None)
    is_inner = bool(place_names) and "." in place_names[0].number
    if top or (top == 0 and not is_inner):  # 0 counts only as a whole number, unlike that of "0.04 litres"
        says_chapter = PlaceName("section", str(top)) not in place_names
        yield NumberedHeading(place_names[0], text, page, quote, top, is_inner, says_chapter)


def steps_in(page_quotes: Sequence[Quote]) -> set[int]:
    """Positions of a page's numbered titles with no text between them: steps or a list. None on a page of titles."""
    if all(quote.layout == "title" for quote in page_quotes):
        return set()
    matches = (_STEP.match(quote.text) if quote.layout == "title" else None for quote in page_quotes)
    numbers = [int(match[1]) if match else None for match in matches]
    followed = [
        at
        for at, (number, next_number) in enumerate(pairwise(numbers))
        if number is not None and next_number == number + 1
    ]
    return {*followed, *(at + 1 for at in followed)}


def heading_words(heading: str) -> tuple[str, ...]:
    """The words of a heading without its number, which outlines may leave out."""
    return tuple(words(without_number(heading) or heading, keep_stop_words=True))


def without_number(heading: str) -> str:
    """The heading without its number; "" where it has none."""
    match = NUMBER.match(heading)
    return heading[match.end() :] if match else ""
