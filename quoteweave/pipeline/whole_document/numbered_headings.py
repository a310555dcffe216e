"""Finds chapters and sections by the numbers of their headings, which follow each other.

What only looks numbered, such as "12 V battery" among chapters 1 to 5, breaks the order and is left out. Numbers may
begin anew below the heading of another part.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from quoteweave.core.records import Quote

MAX_MISSING = 2
"""Most chapters without a heading of their own before a number that may be that of a chapter."""
_CHAPTER, _PART = "chapter ", "part "


@dataclass(frozen=True, slots=True)
class NumberedHeading:
    """A heading, and what its number makes of it."""

    name: str
    """"chapter 3" or "section 3.1"."""
    quote: Quote
    is_inner: bool
    """Whether it is a chapter that is known by a heading within it alone, such as "3.1 Grain"."""


@dataclass(frozen=True, slots=True)
class NumberedHeadings:
    """The headings in order."""

    found: tuple[NumberedHeading, ...]
    is_complete: bool
    """Whether no chapter seems to be missing between them, or after the last."""


@dataclass(frozen=True, slots=True)
class _Title:
    quote: Quote
    number: int
    """Of its chapter; -1 for the heading of a part."""
    name: str
    is_inner: bool
    says_chapter: bool
    """Whether it says "Chapter 3" rather than "3"."""


def number_headings(
    titles: Sequence[Quote], names: Sequence[Sequence[str]], *, with_sections: bool
) -> NumberedHeadings:
    """Return the chapters among titles with these names (`heading_names`), and the sections within them."""
    read = [title for quote, called in zip(titles, names, strict=True) for title in _read(quote, called)]
    last_at = {title.number: at for at, title in enumerate(read) if not title.is_inner}
    found, last, is_complete, new_part, doubtful = dict[tuple[int, str], NumberedHeading](), -1, True, False, False
    part = 0
    for at, title in enumerate(read):
        if title.number < 0:
            new_part = True
            continue
        begins = not found and not title.is_inner and (title.number <= 1 or title.says_chapter)
        restarts = new_part and bool(found) and not title.is_inner and title.number <= 1
        follows = title.number == last + 1 and (bool(found) or title.number == 1)
        skips = bool(found) and title.number > last + 1 and _goes_on(title, at, read, last_at, last)
        if begins or restarts or follows or skips:
            is_complete, part = is_complete and not skips, part + restarts
            last, new_part, doubtful = title.number, False, False
            name = f"{_CHAPTER}{title.number}"
            found[part, name] = NumberedHeading(name, title.quote, title.is_inner)
        elif title.number != last or not title.is_inner:
            doubtful = doubtful or last + 1 < title.number <= last + 1 + MAX_MISSING
        if with_sections and title.is_inner and title.number == last:
            found.setdefault((part, title.name), NumberedHeading(title.name, title.quote, is_inner=False))
    return NumberedHeadings(tuple(found.values()), is_complete and not doubtful)


def _goes_on(title: _Title, at: int, read: Sequence[_Title], last_at: dict[int, int], last: int) -> bool:
    """Whether a title that leaves numbers out is that of a chapter: it says so, or what belongs to one follows."""
    if title.is_inner or last_at.get(last + 1, -1) > at:
        return False
    below = read[at + 1] if at + 1 < len(read) else None
    has_sections = below is not None and below.is_inner and below.number == title.number
    return title.says_chapter or has_sections or last_at.get(title.number + 1, -1) > at


def _read(quote: Quote, called: Sequence[str]) -> Iterator[_Title]:
    """The title with its number, behind the heading of a part; nothing for one without."""
    if any(name.startswith(_PART) for name in called):
        yield _Title(quote, -1, "", is_inner=False, says_chapter=False)
    top = next((name.removeprefix(_CHAPTER) for name in called if name.startswith(_CHAPTER)), "")
    if top.isdecimal():
        is_inner = "." in called[0]
        says_chapter = not any(name == f"section {top}" for name in called)
        yield _Title(quote, int(top), called[0], is_inner=is_inner, says_chapter=says_chapter)
