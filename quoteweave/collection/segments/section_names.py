"""Names each page of a document by the parts that stand on it: "part 2", "chapter 3", "appendix b", "contents".

Parts are known by the outline and by titles; a part lasts until the next one of its rank or of a higher one, so that
"Item 1" does not end "Part I". Titles that begin with a mere number are steps of a manual as often as chapters: where
there is an outline, they count only where they agree with it, and else only in order.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from quoteweave.core.records import Page, Quote
from quoteweave.core.text.mentions import heading_names
from quoteweave.core.text.tokens import words

# By what encloses what; all other numbered parts, such as notes and steps, stand within these.
_RANKS = {"part": 0, "teil": 0, "unit": 0, "module": 0, "item": 1, "chapter": 2, "section": 2, "appendix": 2}
_ROLES = frozenset({"contents", "references", "appendix"})
_ROLE_RANK, _INNER_RANK = 2, 3
_BARE_NUMBER = re.compile(r"\d")
_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*[.):]?|[IVXL]{1,6}[.):]|[A-Z](?:\.\d{1,2})*[.):]?)\s+")
# "B Details" and "B. Details", after the references.
_LETTERED = re.compile(r"([A-Z])(?:\.\d+)*[.:]?\s+[^\W\d_]")
# "PART II Item 5. Market…", set as one paragraph.
_CAPITAL_PART = re.compile(r"[A-ZÄÖÜ]{4,} (?:[IVXL]+|\d{1,2})\b")
_MAX_HEADING_WORDS = 60
# The page number at the end of a line of contents, how many such lines make one, and how long one may be.
_ENTRY_END = re.compile(r"[\s.·…_|](\d{1,4})")
_MIN_ENTRIES, _MAX_ENTRY_CHARACTERS = 4, 300
# The least share of them whose page numbers do not fall.
_MIN_STEADY = 0.8
# Headings of an outline that says how a document is divided.
_MIN_OUTLINE = 4
# By how much a number may exceed that of the chapter before: a heading may not have been found.
_MAX_STEP = 2


class SectionNames:
    """The parts of one document, page by page."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {page.number: page for page in pages}
        headings = list(dict.fromkeys(heading for page in pages for heading in page.headings))
        numbered = [name for each in headings for name in heading_names(each) if name[-1].isdigit()]
        self._kinds = {name.partition(" ")[0] for name in numbered} - {"section"}
        self._outline = {_words_of(each) for each in headings} if len(headings) >= _MIN_OUTLINE else set()
        self._chapters = _top_level(pages) if self._outline and not numbered else {}
        self._under: list[tuple[int, list[str]]] = []
        self._before: tuple[str, ...] = ()
        self._chapter, self._letter = 0, ""
        self._is_contents = False

    def of_page(self, quotes: Sequence[Quote]) -> set[str]:
        """The names of the next page, given its quotes in order."""
        number, found = quotes[0].page, set[str]()
        page, after = self._pages.get(number), self._pages.get(number + 1)
        headings = page.headings if page else ()
        begun = [each for each in headings if each not in self._before]
        if self._reads_as_contents(quotes, begun):
            self._before = headings
            return {"contents"}
        parts = list(self._begun(quotes, begun))
        at_top = bool(parts) and parts[0][0] == 0
        ended = set(headings).difference(begun, after.headings if after else headings) if at_top else set[str]()
        for heading in headings:
            found.update(heading_names(heading) if heading not in ended else ())
        found.update(self._chapters.get(number, ()) if not self._letter else ())
        found.update(() if at_top else self._current())
        for _, names in parts:
            self._push(names)
            found.update(self._current())
        self._before = headings
        return {name for name in found if name != "contents" and not name.startswith("page ")}

    def _current(self) -> set[str]:
        return {name for _, names in self._under for name in names}

    def _push(self, names: list[str]) -> None:
        rank = _rank(names)
        self._under = [each for each in self._under if each[0] < rank]
        self._under += [(rank, names)] if names else []

    def _reads_as_contents(self, quotes: Sequence[Quote], begun: Sequence[str]) -> bool:
        """Whether a page is one of contents: it says so, or follows one; and has their lines, or they were not read."""
        texts = (quote.all_text() for quote in quotes if quote.retrievable)
        says = any("contents" in heading_names(each) for each in begun) or any(
            quote.layout == "title" and quote.retrievable and "contents" in heading_names(quote.text)
            for quote in quotes
        )
        self._is_contents = says or (self._is_contents and _lists_pages(texts))
        return self._is_contents

    def _begun(self, quotes: Sequence[Quote], begun: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
        """The parts that begin on a page, each with the place of its heading among the quotes, in order."""
        left = dict.fromkeys(begun)
        shown = [quote for quote in quotes if quote.retrievable]
        for at, quote in enumerate(shown):
            own = next((each for each in left if _agrees(quote, each)), None)
            if own is not None:
                del left[own]
            if names := self._names_of(quote, own):
                yield at, names
        for heading in left:
            if names := heading_names(heading):
                yield len(shown), names

    def _names_of(self, quote: Quote, heading: str | None) -> list[str]:
        """The names of the part that begins with a quote, which may be a heading of the outline."""
        text = quote.text
        if quote.layout != "title" and not (
            heading or (_CAPITAL_PART.match(text) and len(text.split()) <= _MAX_HEADING_WORDS)
        ):
            return []
        names = heading_names(text)
        if letter := self._letter_of(text):
            return [f"appendix {letter}", "appendix", *(name for name in names if name.startswith("section "))]
        if names and _BARE_NUMBER.match(text) and not self._counts(text, names):
            names = []
        elif heading is None and not _BARE_NUMBER.match(text):
            names = [name for name in names if name.partition(" ")[0] not in self._kinds or name in _ROLES]
        if "references" in names or "appendix" in names:
            self._letter = self._letter or "@"  # before "A"
        elif not self._letter and _LETTERED.match(text):
            names = []  # a section of a chapter
        return list(dict.fromkeys([*names, *(heading_names(heading) if heading else ())]))

    def _letter_of(self, text: str) -> str:
        """The letter of an appendix, which may follow that of the one before; "" for other titles."""
        match = _LETTERED.match(text) if self._letter else None
        if match is None or not 0 <= ord(match[1]) - ord(self._letter) <= _MAX_STEP:
            return ""
        self._letter = match[1]
        return match[1].lower()

    def _counts(self, text: str, names: Sequence[str]) -> bool:
        """Whether a title with a mere number is that of a chapter or section."""
        chapter = next((name.removeprefix("chapter ") for name in names if name.startswith("chapter ")), "")
        is_inner = "." in names[0]
        number = int(chapter) if chapter.isdecimal() else 0
        if self._outline and "chapter" in self._kinds:
            return is_inner
        is_known = _words_of(text) in self._outline
        follows = is_known if self._outline else number <= self._chapter + _MAX_STEP
        follows = follows and number > self._chapter
        self._chapter = number if follows else self._chapter
        return follows or (is_inner and 0 < number == self._chapter)


def _lists_pages(texts: Iterable[str]) -> bool:
    """Whether texts have enough lines that end in page numbers, which increase."""
    numbers = [number for text in texts for line in text.splitlines() if (number := _page_number(line)) is not None]
    steady = sum(a <= b for a, b in pairwise(numbers))
    return len(numbers) >= _MIN_ENTRIES and steady >= _MIN_STEADY * (len(numbers) - 1)


def _page_number(line: str) -> int | None:
    """The page number at the end of a line of contents; None for other lines."""
    line = line.strip()
    if len(line) > _MAX_ENTRY_CHARACTERS or not line[-1:].isdecimal():
        return None
    match = _ENTRY_END.fullmatch(line, max(0, len(line.rstrip("0123456789")) - 1))
    return int(match[1]) if match and sum(letter.isalpha() for letter in line) >= 3 else None


def _rank(names: Sequence[str]) -> int:
    kinds = [name.partition(" ")[0] for name in names]
    return min((_ROLE_RANK if name in _ROLES else _RANKS.get(name, _INNER_RANK) for name in kinds), default=_INNER_RANK)


def _words_of(heading: str) -> tuple[str, ...]:
    """The words of a heading without its number, which outlines may leave out."""
    return tuple(words(_NUMBER.sub("", heading, count=1) if _NUMBER.match(heading) else heading, stop=False))


def _agrees(quote: Quote, heading: str) -> bool:
    """Whether a quote begins with a heading of the outline."""
    if quote.kind != "text" or len(quote.text.split()) > _MAX_HEADING_WORDS:
        return False
    said, own = words(quote.text, stop=False), words(heading, stop=False)
    bare = _words_of(heading)
    return bool(bare) and (tuple(said) == bare or _words_of(quote.text) == bare or said[: len(own)] == own)


def _top_level(pages: Sequence[Page]) -> dict[int, list[str]]:
    """The chapters on each page: the outermost headings of the outline, counted from 1 behind the contents."""
    outermost = list(dict.fromkeys(page.headings[0] for page in pages if page.headings))
    contents = [at for at, heading in enumerate(outermost) if "contents" in heading_names(heading)]
    found: dict[int, list[str]] = {}
    for chapter, heading in enumerate(outermost[contents[-1] + 1 if contents else 0 :], 1):
        first = next(at for at, page in enumerate(pages) if page.headings[:1] == (heading,))
        # It may begin below the end of another.
        first -= first > 0 and heading in pages[first - 1].headings
        last = next((at for at in range(first, len(pages)) if heading not in pages[at].headings), len(pages))
        for page in pages[first:last]:
            found.setdefault(page.number, []).append(f"chapter {chapter}")
    return found
