"""Finds chapters and sections by the numbers of their headings, which follow each other.

What only looks numbered, such as "12 V battery" among chapters 1 to 5, breaks the order and is left out. Numbers may
begin anew below the heading of another part. Where they do so otherwise, nothing tells whether those are chapters.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Quote

MAX_MISSING = 2
"""Most chapters without a heading of their own before a number that may be that of a chapter."""
_NONE = PlaceName("")


@dataclass(frozen=True, slots=True)
class NumberedHeading:
    """A heading, and what its number makes of it."""

    name: PlaceName
    """"chapter 3" or "section 3.1"."""
    quote: Quote
    is_inner: bool
    """Whether it is a chapter that is known by a heading within it alone, such as "3.1 Grain"."""


@dataclass(frozen=True, slots=True)
class NumberedHeadings:
    """The headings in order."""

    found: tuple[NumberedHeading, ...]
    is_complete: bool
    """Whether no chapter seems to be missing between them, or after the last, and none to be counted twice."""


@dataclass(frozen=True, slots=True)
class _Title:
    quote: Quote
    number: int
    """Of its chapter; -1 for the heading of a part."""
    name: PlaceName
    is_inner: bool
    says_chapter: bool
    """Whether it says "Chapter 3" rather than "3"."""


def number_headings(
    titles: Sequence[Quote], names: Sequence[Sequence[PlaceName]], *, with_sections: bool
) -> NumberedHeadings:
    """Return the chapters among titles with these names (`heading_names`), and the sections within them."""
    read = [title for quote, called in zip(titles, names, strict=True) for title in _read(quote, called)]
    numbering = _Numbering(read)
    for at, title in enumerate(read):
        numbering.add(at, title)
        if with_sections:
            numbering.add_section(title)
    return NumberedHeadings(tuple(numbering.found.values()), numbering.is_complete)


class _Numbering:
    """The chapters found so far, with the number at which their part stands."""

    def __init__(self, read: Sequence[_Title]) -> None:
        self._read = read
        self._last_at = {title.number: at for at, title in enumerate(read) if not title.is_inner}
        self._last, self._part, self._say_chapter = -1, 0, False
        self._texts = dict[int, list[list[str]]]()
        self._heading, self._parts = _NONE, set[PlaceName]()  # the last heading of a part, and those that have chapters
        self._is_sure, self._may_skip, self._repeated = True, False, -1
        self.found = dict[tuple[int, PlaceName], NumberedHeading]()

    @property
    def is_complete(self) -> bool:
        """Whether nothing is unsure, also of what stands behind the last chapter."""
        return self._is_sure and not self._may_skip and self._repeated < 0

    def add(self, at: int, title: _Title) -> None:
        """Take a title for a chapter, where its number shows that it is one."""
        if title.number < 0:
            self._heading = title.name
        elif not self.found:
            if title.number == 1 or (not title.is_inner and (title.number == 0 or title.says_chapter)):
                self._say_chapter = title.says_chapter
                self._take(title)
        elif self._repeats(title):
            self._repeat(title)
        elif title.number == self._last + 1:
            # Behind 1, 2, 3 and again 1, 2 a 4 shows that the second ones are no chapters; behind 1, 2, 1, 2 no 3 does.
            self._is_sure = self._is_sure and self._repeated != self._last
            self._take(title)
        elif title.number > self._last + 1 and _goes_on(title, at, self._read, self._last_at, self._last):
            self._is_sure = False
            self._take(title)
        elif title.number != self._last or not title.is_inner:
            self._may_skip = self._may_skip or self._last + 1 < title.number <= self._last + 1 + MAX_MISSING

    def add_section(self, title: _Title) -> None:
        """Take a title for a section of the last chapter, where it has its number."""
        if title.is_inner and title.number == self._last:
            heading = NumberedHeading(title.name, title.quote, is_inner=False)
            self.found.setdefault((self._part, title.name), heading)

    def _repeats(self, title: _Title) -> bool:
        """Whether it has the number of a chapter that was found; a step "1" is none among those that say "Chapter"."""
        is_alike = title.says_chapter or not self._say_chapter
        return not title.is_inner and title.number <= self._last and title.number in self._texts and is_alike

    def _repeat(self, title: _Title) -> None:
        """Begin another part where its heading says so, or note that a chapter may be left out.

        A heading may stand in a table of contents first, and above several pages.
        """
        begins = title.number <= 1
        is_below_part = self._heading not in self._parts and self._heading != _NONE
        if begins and is_below_part and self._parts:
            self._part += 1
            self._take(title)
        elif not self._is_known(title):
            if title.says_chapter and (begins or is_below_part):
                self._is_sure = False
                self._part += 1
                self._take(title)
            else:
                self._repeated = title.number

    def _is_known(self, title: _Title) -> bool:
        """Whether it is the heading of a chapter that was found, once more; one without a name may be another's."""
        said = _said(title)
        if title.number == self._last:
            return any(said[: len(one)] == one or one[: len(said)] == said for one in self._texts[title.number])
        return len(said) > (2 if title.says_chapter else 1) and said in self._texts[title.number]

    def _take(self, title: _Title) -> None:
        self._last, self._may_skip, self._repeated = title.number, False, -1
        if self._heading != _NONE:
            self._parts.add(self._heading)
        name = PlaceName("chapter", str(title.number))
        self.found[self._part, name] = NumberedHeading(name, title.quote, title.is_inner)
        if not title.is_inner:
            self._texts.setdefault(title.number, []).append(_said(title))


def _said(title: _Title) -> list[str]:
    """The words of a heading, without the page number of a table of contents."""
    said = title.quote.text.casefold().split()
    return said[:-1] if len(said) > (3 if title.says_chapter else 2) and said[-1].isdecimal() else said


def _goes_on(title: _Title, at: int, read: Sequence[_Title], last_at: dict[int, int], last: int) -> bool:
    """Whether a title that leaves numbers out is that of a chapter: it says so, or what belongs to one follows."""
    if title.is_inner or last_at.get(last + 1, -1) > at:
        return False
    below = read[at + 1] if at + 1 < len(read) else None
    has_sections = below is not None and below.is_inner and below.number == title.number
    return title.says_chapter or has_sections or last_at.get(title.number + 1, -1) > at


def _read(quote: Quote, called: Sequence[PlaceName]) -> Iterator[_Title]:
    """The title with its number, behind the heading of a part; nothing for one without."""
    part = next((name for name in called if name.encloses_chapters), None)
    if part is not None:
        yield _Title(quote, -1, part, is_inner=False, says_chapter=False)
    top = next((name.value for name in called if name.kind == "chapter"), None)
    if top is not None:
        says_chapter = PlaceName("section", str(top)) not in called
        yield _Title(quote, top, called[0], is_inner="." in called[0].number, says_chapter=says_chapter)
