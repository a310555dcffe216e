"""Names each page of a document by the parts that stand on it: "part 2", "chapter 3", "appendix b", "contents".

Parts are known by the outline and by titles; a part lasts until the next one of its rank or of a higher one, so that
"Item 1" does not end "Part I". A heading whose number is not sure, and a preface or an index, ends the part before and
gives its pages no other name. Titles that begin with a mere number are steps of a manual as often as chapters: where
there is an outline, they count only where they agree with it, and else only in order, and not where one follows the
other with no text between. A page of contents has no other part, unless one begins on it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from quoteweave.core.place_names import UNREAD, PlaceName
from quoteweave.core.records import Page, Quote
from quoteweave.core.text.mentions import MAX_ENTRY_CHARACTERS, MIN_CONTENTS_ENTRIES, heading_names, rise_steadily
from quoteweave.core.text.numerals import ROMAN
from quoteweave.core.text.tokens import words

# By what encloses what, below the parts that enclose chapters; notes, steps and the like stand within these.
_RANKS = {"item": 1, "chapter": 2, "section": 2, "appendix": 2}
_CONTENTS, _REFERENCES, _APPENDIX = map(PlaceName, ("contents", "references", "appendix"))
_ROLES = frozenset({_CONTENTS, _REFERENCES, _APPENDIX})
_UNCOUNTED = PlaceName("chapter", UNREAD)
_ROLE_RANK, _INNER_RANK = 2, 3
_BARE_NUMBER = re.compile(r"\d")
_STEP = re.compile(r"(\d{1,2})[.):]?\s")
_NUMBER = re.compile(rf"(?:\d{{1,2}}(?:\.\d{{1,2}})*[.):]?|{ROMAN.upper()}[.):]|[A-Z](?:\.\d{{1,2}})*[.):]?)\s+")
# "B Details" and "B. Details", after the references.
_LETTERED = re.compile(r"([A-Z])(?:\.\d+)*[.:]?\s+[^\W\d_]")
# "PART II Item 5. Market…", set as one paragraph.
_CAPITAL_PART = re.compile(rf"[A-ZÄÖÜ]{{4,}} (?:{ROMAN.upper()}|\d{{1,2}})\b")
_MAX_HEADING_WORDS = 60
# Instead of the letter of an appendix, after the references.
_BEFORE_LETTERS = "@"
# The page number at the end of a line of contents.
_ENTRY_END = re.compile(r"[\s.·…_|](\d{1,4})")
_LEADERS = frozenset(".·…_|")
# Headings of an outline that says how a document is divided.
_MIN_OUTLINE = 4
# By how much a number may exceed that of the chapter before: a heading may not have been found.
_MAX_STEP = 2


class SectionNames:
    """The parts of one document, page by page."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self._pages = {page.number: page for page in pages}
        headings = list(dict.fromkeys(heading for page in pages for heading in page.headings))
        self._names = {heading: heading_names(heading) for heading in headings}
        numbered = [name for names in self._names.values() for name in names if name.number[-1:].isdigit()]
        self._kinds = {name.kind for name in numbered} - {"section"}
        self._outline = {_words_of(each) for each in headings} if len(headings) >= _MIN_OUTLINE else set()
        outermost = (page.headings[0] for page in pages if page.headings)
        self._top = number_chapters(outermost) if self._outline and not numbered else {}
        self._chapters = _pages_of(self._top, pages)
        self._under: list[tuple[int, list[PlaceName]]] = []
        self._before: frozenset[str] = frozenset()
        self._order = _ChapterOrder()
        # Of the appendix that began last, "@" before the first; and of the last section of a chapter.
        self._letter, self._section_letter = "", ""
        self._has_appendix = self._is_contents = False

    def of_page(self, quotes: Sequence[Quote]) -> set[PlaceName]:
        """The names of the next page, given its quotes in order."""
        number, found = quotes[0].page, set[PlaceName]()
        page, after = self._pages.get(number), self._pages.get(number + 1)
        headings = page.headings if page else ()
        begun = [each for each in headings if each not in self._before]
        shown = [quote for quote in quotes if quote.retrievable]
        if self._reads_as_contents(shown, begun):
            found.add(_CONTENTS)
            if _lists_pages(shown) and _has_contents_alone(shown):
                self._before = frozenset(headings)
                return found
        of_contents, was_behind = found.copy(), bool(self._letter)
        parts = list(self._begun(shown, begun))
        at_top = bool(parts) and parts[0][0] == 0
        ended = set(headings).difference(begun, after.headings if after else headings) if at_top else set[str]()
        for heading in headings:
            found.update(self._names[heading] if heading not in ended else ())
        found.update(self._chapters.get(number, ()) if not (was_behind and self._letter) else ())
        found.update(() if at_top else self._current())
        for _, names in parts:
            self._push(names)
            found.update(self._current())
        self._before = frozenset(headings)
        others = {name for name in found if name != _CONTENTS and not name.is_page and not name.is_unread}
        return of_contents | others

    def _current(self) -> set[PlaceName]:
        return {name for _, names in self._under for name in names}

    def _push(self, names: list[PlaceName]) -> None:
        if names == [_CONTENTS]:
            return  # as much a list of what is in the box
        outer = [name for name in names if _rank_of(name) == 0]
        for group in filter(None, (outer, [name for name in names if name not in outer])):  # "PART II Item 8"
            self._under = [each for each in self._under if each[0] < _rank(group)]
            self._under.append((_rank(group), group))

    def _reads_as_contents(self, shown: Sequence[Quote], begun: Sequence[str]) -> bool:
        """Whether a page has contents: it says so, or follows one that has and has their lines."""
        says = any(_CONTENTS in self._names[each] for each in begun) or any(
            quote.layout == "title" and _CONTENTS in heading_names(quote.text) for quote in shown
        )
        self._is_contents = says or (self._is_contents and _lists_pages(shown, only_certain=True))
        return self._is_contents

    def _begun(self, shown: Sequence[Quote], begun: Sequence[str]) -> Iterator[tuple[int, list[PlaceName]]]:
        """The parts that begin on a page, each with the place of its heading among the quotes, in order."""
        headings, steps = _Headings(begun), _steps(shown)
        for at, quote in enumerate(shown):
            own = headings.take(quote)
            if (own is not None or at not in steps) and (names := self._names_of(quote, own)):
                yield at, names
        for heading in headings.left:
            if names := [*self._counted(heading), *self._names[heading]]:
                yield len(shown), names

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
                _APPENDIX,
                *(each for each in names if each.kind == "section"),
            ]
        before = self._order.last or 0
        names = self._checked(text, names, is_outlined=heading is not None)
        own = [*self._counted(heading), *self._names[heading]] if heading else []
        names = list(dict.fromkeys([*names, *own]))
        self._remember(text, names, before)
        return names

    def _counted(self, heading: str) -> list[PlaceName]:
        """The name of a chapter that has no number of its own; after references it ends them."""
        if heading not in self._top or self._letter > _BEFORE_LETTERS:
            return []
        if self._letter and (self._names[heading] or _LETTERED.match(heading)):
            return []
        self._letter = ""
        return [PlaceName("chapter", str(self._top[heading]))]

    def _checked(self, text: str, names: list[PlaceName], *, is_outlined: bool) -> list[PlaceName]:
        """The names of a title without those that its number has only by chance."""
        if _BARE_NUMBER.match(text):
            if not names or self._counts(text, names):
                return names
            certain = [name for name in names if "." in name.number or name in _ROLES]
            is_gap = self._order.skipped is not None and self._order.skipped == _chapter_of(names)
            return [*certain, _UNCOUNTED] if is_gap else certain
        if not is_outlined:
            names = [name for name in names if name.kind not in self._kinds or name in _ROLES]
        match = _LETTERED.match(text) if names and not self._letter else None
        return self._of_chapter(match[1], names) if match else names

    def _of_chapter(self, letter: str, names: list[PlaceName]) -> list[PlaceName]:
        """The names of a title with one letter before all appendices: a Roman numeral, or a section of a chapter."""
        before, self._section_letter = self._section_letter, letter
        number = next((name.value for name in names if name.kind == "section" and name.value is not None), None)
        if number is None:
            return [name for name in names if name.kind == "section" or name in _ROLES]
        if ord(letter) - 1 != ord(before or "@") and self._order.accept(number):
            return names
        return [PlaceName("section", letter.lower()), *(name for name in names if name in _ROLES)]

    def _remember(self, text: str, names: Sequence[PlaceName], before: int) -> None:
        """Keep in mind which chapter or appendix began last; `before` is the number of the last chapter before it."""
        if names and _rank(names) == 0:
            self._order.begin_part(names[0])
        number, is_worded = _chapter_of(names), not _NUMBER.match(text)
        if number is not None and is_worded:
            self._order.last = number
        elif number is not None and not _BARE_NUMBER.match(text):
            self._order.accept(number)
        if _REFERENCES in names or _APPENDIX in names:
            self._letter = self._letter or _BEFORE_LETTERS
            self._has_appendix = self._has_appendix or _APPENDIX in names
        elif number is not None and (is_worded or (self._letter == _BEFORE_LETTERS and number >= before)):
            self._letter = ""

    def _letter_of(self, text: str, *, is_outlined: bool) -> str:
        """The letter of an appendix, which may follow that of the one before; "" for other titles."""
        match = _LETTERED.match(text) if self._letter else None
        if match is None or not 0 <= ord(match[1]) - ord(self._letter) <= _MAX_STEP:
            return ""
        # "A Survey of Ports".
        if text[:2] == "A " and not (text.isupper() or is_outlined or self._has_appendix):
            return ""
        self._letter = match[1]
        return match[1].lower()

    def _counts(self, text: str, names: Sequence[PlaceName]) -> bool:
        """Whether a title with a mere number is that of a chapter or section; the number of a chapter is then taken."""
        number, is_inner = _chapter_of(names), "." in names[0].number
        if self._outline and "chapter" in self._kinds:
            return is_inner
        if number is None or (self._outline and not is_inner and _words_of(text) not in self._outline):
            return False
        if is_inner and number == self._order.last:
            return True
        is_known = bool(self._outline) and _words_of(text) in self._outline
        is_of_skipped = is_inner and number == self._order.skipped
        return (is_known or not self._outline) and self._order.accept(number, is_known=is_known or is_of_skipped)


class _ChapterOrder:
    """The numbers of chapters as they come."""

    def __init__(self) -> None:
        self.last: int | None = None
        """The number of the last chapter."""
        self.skipped: int | None = None
        """The number of the last title, if too many lack between it and the last chapter."""
        self._part: PlaceName | None = None
        self._may_restart = self._is_unsure = False

    def begin_part(self, name: PlaceName) -> None:
        """Let chapters begin at 1 again where this is another part."""
        self._may_restart = self._may_restart or name != self._part
        self._part = name

    def accept(self, number: int, *, is_known: bool = False) -> bool:
        """Take this number for that of the last chapter if it may come next.

        Where too many lack, it may only if it is known, or if it follows that of the title before. Returns whether it
        was taken.
        """
        last, skipped = self.last, self.skipped
        self.skipped = None
        if last is None or (self._may_restart and number == 1) or (self._is_unsure and number < last):
            # An extract begins anywhere, but "12 V battery" and "2 Rules of the Sea" may stand before chapter 1.
            self._is_unsure = number != 1
        elif last < number <= last + _MAX_STEP or (last < number and (is_known or number - 1 == skipped)):
            self._is_unsure = False
        else:
            self.skipped = number if number > last else None
            return False
        self.last, self._may_restart = number, False
        return True


def _chapter_of(names: Sequence[PlaceName]) -> int | None:
    return next((name.value for name in names if name.kind == "chapter"), None)


def _lists_pages(shown: Iterable[Quote], *, only_certain: bool = False) -> bool:
    """Whether texts have enough lines that end in page numbers, which increase."""
    lines = (line.strip() for quote in shown for line in quote.all_text().splitlines())
    found = ((line, _page_number(line)) for line in lines)
    numbers = [number for line, number in found if number is not None and (not only_certain or _is_entry(line))]
    return len(numbers) >= MIN_CONTENTS_ENTRIES and rise_steadily(numbers)


def _page_number(line: str) -> int | None:
    """The page number at the end of a line of contents; None for other lines."""
    if len(line) > MAX_ENTRY_CHARACTERS or not line[-1:].isdecimal():
        return None
    match = _ENTRY_END.fullmatch(line, max(0, len(line.rstrip("0123456789")) - 1))
    return int(match[1]) if match and sum(letter.isalpha() for letter in line) >= 3 else None


def _is_entry(line: str) -> bool:
    """Whether a line that ends in a number is one of contents also by the rest, unlike "In 2019 sales were 10"."""
    title = line.rstrip("0123456789")
    led = title.rstrip()[-1:] in _LEADERS or title[-2:].isspace()
    return led or not any(letter.isdigit() for letter in title) or bool(heading_names(title))


def _has_contents_alone(shown: Sequence[Quote]) -> bool:
    """Whether no part begins on a page with contents: entries follow each title of a part, and none is above them."""
    named = (heading_names(quote.text) if quote.layout == "title" else [] for quote in shown)
    titles = [[] if names == [_UNCOUNTED] else names for names in named]
    first = next((at for at, names in enumerate(titles) if _CONTENTS in names), -1)
    is_listed = False
    for at, quote in reversed(list(enumerate(shown))):
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
    return _ROLE_RANK if name in _ROLES else _RANKS.get(name.kind, _INNER_RANK)


def _words_of(heading: str) -> tuple[str, ...]:
    """The words of a heading without its number, which outlines may leave out."""
    return tuple(words(_without_number(heading) or heading, keep_stop_words=True))


def _without_number(heading: str) -> str:
    """The heading without its number; "" where it has none."""
    match = _NUMBER.match(heading)
    return heading[match.end() :] if match else ""


class _Headings:
    """The headings of the outline that begin on a page, each until a quote has it."""

    def __init__(self, headings: Sequence[str]) -> None:
        self.left = {heading: at for at, heading in enumerate(headings)}
        self._whole: dict[tuple[str, ...], list[str]] = {}
        self._leading: dict[tuple[str, ...], list[str]] = {}
        for heading in headings:
            if bare := _words_of(heading):
                self._whole.setdefault(bare, []).append(heading)
                self._leading.setdefault(tuple(words(heading, keep_stop_words=True)), []).append(heading)
        self._lengths = sorted({len(each) for each in self._leading})

    def take(self, quote: Quote) -> str | None:
        """The first heading with which a quote begins, which is then no longer left."""
        if not self.left or quote.kind != "text" or len(quote.text.split()) > _MAX_HEADING_WORDS:
            return None
        said = tuple(words(quote.text, keep_stop_words=True))
        found = list(self._whole.get(said, ()))
        if bare := _without_number(quote.text):
            found += self._whole.get(tuple(words(bare, keep_stop_words=True)), ())
        for length in self._lengths:
            found += self._leading.get(said[:length], ())
        first = min((each for each in found if each in self.left), key=self.left.__getitem__, default=None)
        if first is not None:
            del self.left[first]
        return first


def _steps(shown: Sequence[Quote]) -> set[int]:
    """Which quotes are numbered titles that follow one another: steps, or a list of what is to come."""
    matches = (_STEP.match(quote.text) if quote.layout == "title" else None for quote in shown)
    numbers = [int(match[1]) if match else None for match in matches]
    follow = [at for at, (one, next_one) in enumerate(pairwise(numbers)) if one is not None and next_one == one + 1]
    return {*follow, *(at + 1 for at in follow)}


def number_chapters(outermost_headings: Iterable[str]) -> dict[str, int]:
    """The chapters among the outermost headings of an outline, counted from 1 behind the contents up to the references.

    Appendices are none, nor are prefaces, indexes and the like before the first and behind the last; between two,
    "Copyright" and "Index" are what the document is about.
    """
    outermost = {heading: heading_names(heading) for heading in outermost_headings}
    headings = list(outermost)
    contents = [at for at, heading in enumerate(headings) if _CONTENTS in outermost[heading]]
    chapters = headings[contents[-1] + 1 if contents else 0 :]
    references = [at for at, heading in enumerate(chapters) if PlaceName("references") in outermost[heading]]
    # Those of the first chapter do not end them.
    end = next((at for at in references if 2 * at >= len(chapters) - 1), len(chapters))
    counted = [heading for heading in chapters[:end] if _ROLES.isdisjoint(outermost[heading])]
    certain = [at for at, heading in enumerate(counted) if _UNCOUNTED not in outermost[heading]]
    counted = counted[certain[0] : certain[-1] + 1] if certain else []
    return {heading: chapter for chapter, heading in enumerate(counted, 1)}


def _pages_of(chapters: Mapping[str, int], pages: Sequence[Page]) -> dict[int, list[PlaceName]]:
    """The names of the chapters on each page."""
    found: dict[int, list[PlaceName]] = {}
    begins: dict[str, int] = {}
    for at, page in enumerate(pages):
        begins.setdefault(page.headings[0] if page.headings else "", at)
    for heading, chapter in chapters.items():
        # It may begin below the end of another.
        first = begins[heading]
        first -= first > 0 and heading in pages[first - 1].headings
        last = next((at for at in range(first, len(pages)) if heading not in pages[at].headings), len(pages))
        for page in pages[first:last]:
            found.setdefault(page.number, []).append(PlaceName("chapter", str(chapter)))
    return found
