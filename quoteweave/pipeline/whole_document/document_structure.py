"""Finds what a document consists of, for questions that ask only for that (`structure_questions`).

Figures and tables are recognised by numbered captions, or else as the parser found them; charts and headings as the
parser found them; chapters and sections by their numbers, or else by the outline (bookmarks or the table of contents);
appendices by their letters.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from quoteweave.collection.collection import Collection
from quoteweave.collection.segments.chapters import Chapters, NumberedHeading, Outline, chapters_of
from quoteweave.core.answers import (
    Context,
    DocumentStructure,
    StructureKind,
    StructureRequest,
)
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.place_names import PlaceName
from quoteweave.core.records import Document, Filter, Page, Quote, page_number
from quoteweave.core.text.references.mentions import caption_label, heading_names, page_names
from quoteweave.core.text.tokens import name_words, single_spaced, words
from quoteweave.core.text.whole_document.structure_questions import (
    asks_contents,
    part_words,
    read_structure_request,
    states_number,
)
from quoteweave.pipeline.whole_document.structure_parts import Part, ShownQuotes, Tally

_LAYOUTS: dict[StructureKind, frozenset[str]] = {
    "figure": frozenset({"figure", "chart"}),
    "chart": frozenset({"chart"}),
    "table": frozenset({"table"}),
}
# The parser adds these words to the caption of a panel, which is a quote beside the whole picture.
_PANEL = lazy_regex(r"\b[Pp]art \d+ of \d+\b")
_SURE = frozenset({"numbers", "outline"})
"""How all parts of a kind are known, the last one too."""
_NUMBER = lazy_regex(r"^\s*\d{1,2}(?:\.\d{1,2})*\.?\s+(?=[^\W\d_])")  # titles in outlines lack these numbers
_SLIDE = lazy_regex(
    r"(?<!next )(?<!previous )(?<!last )(?<!this )(?<!following )(?<!these )\bslides?\b(?!\s+\d)", re.IGNORECASE
)
_ASKS_SLIDES = lazy_regex(r"\bslides?\b(?!\s+\d)", re.IGNORECASE)
_LETTERED = lazy_regex(r"([A-Z])(?:\.\d+)*[.:]?\s+[A-Z]")


def structure_context(question: str, collection: Collection, where: Filter) -> Context | None:
    """Return the structure that a question asks for, with the quotes that show it; None for other questions.

    Also None if several documents may be meant, if the document lacks the chapter or section asked for, and if the
    document is about such things and does not consist of them (`_means_parts`), as about the slides of a playground.
    Raises CollectionError for a damaged collection.
    """
    request = read_structure_request(question)
    document = _document_of(request, collection, where) if request is not None else None
    if request is None or document is None:
        return None
    reader = _StructureReader(document, collection, where)
    asks_title = request.wants == "title"
    of_all = asks_title or asks_contents(request)
    within = reader.scope(() if of_all else request.places)
    if within is None or (asks_contents(request) and reader.has_contents):
        return None
    if asks_title:
        heading = frozenset(request.heading_words)
        tallies = [reader.headed(heading) if heading else reader.titled(request.kinds[0], request.places[0])]
        if tallies[0].count > 1:  # all of them, where "the appendix" is one of several
            request = request.model_copy(update={"wants": "names", "places": ()})
    else:
        tallies = [reader.tally(kind, within) for kind in request.kinds]
    lacks_title = of_all and not any(tally.count for tally in tallies)
    means_slides = not _ASKS_SLIDES.search(question) or request.says_document or not reader.says(_SLIDE)
    if lacks_title or not means_slides or not _means_parts(request, tallies, reader, within):
        return None
    shown_quotes = ShownQuotes()
    counts = tuple(tally.record(shown_quotes) for tally in tallies)
    structure = DocumentStructure(
        document=document.name,
        pages=document.pages,
        pages_within=len(within.pages),
        limits=reader.limits,
        request=request,
        counts=counts,
    )
    return Context(texts=tuple(shown_quotes.texts), images=tuple(shown_quotes.images), structure=structure)


def _document_of(request: StructureRequest, collection: Collection, where: Filter) -> Document | None:
    """The document that the question names among those that pass the filter; None unless exactly one can be meant."""
    naming_words = set(request.naming_words)
    candidates = [
        document
        for document in collection.documents()
        if where.admits(document) and naming_words.issubset(name_words(document.name))
    ]
    return candidates[0] if len(candidates) == 1 else None


def _means_parts(
    request: StructureRequest, tallies: Sequence[Tally], reader: "_StructureReader", within: "_Scope"
) -> bool:
    """Whether the document's own parts are meant: "How many tables are there?" may be about a restaurant's tables.

    They are if the text states no number of such things, or if the question speaks of the document and it has some.
    """
    if request.wants != "count" or (request.says_document and any(tally.count for tally in tallies)):
        return True
    return not reader.states_number(request.kinds, within)


class _StructureReader:
    """The headings, captions and pictures of one document."""

    def __init__(self, document: Document, collection: Collection, where: Filter) -> None:
        self._collection, self._document = collection, document
        layouts = ("title", "caption", "figure", "chart", "table")
        document_filter = where.intersect(Filter(documents=(document.name,)))
        self._document_filter = document_filter.model_copy(update={"kind": None})
        first, last = document_filter.first_page or 0, document_filter.last_page
        self._all_pages = collection.pages(document.name)
        self._pages = [
            page for page in self._all_pages if page.number >= first and (last is None or page.number <= last)
        ]
        # Titles are read from the whole document, as chapters are numbered through it, whatever pages pass the filter.
        whole_document_filter = self._document_filter.model_copy(update={"first_page": None, "last_page": None})
        quotes = self._collection.quotes(whole_document_filter.intersect(Filter(layouts=layouts)))
        self._titles = [quote for quote in quotes if quote.layout == "title"]
        self._names = {quote.id: heading_names(quote.text) for quote in self._titles}
        numbers = {page.number for page in self._pages}
        self._quotes = [quote for quote in quotes if quote.page in numbers]

    @cached_property
    def _outline(self) -> Outline:
        return Outline(self._all_pages)

    @cached_property
    def _chapters(self) -> Chapters:
        return chapters_of(self._outline, self._collection.document_quotes(self._document.name))

    @property
    def limits(self) -> tuple[str, str] | None:
        """The names of the first and last page that pass the filter; None if all pages do, or none."""
        if not self._pages or len(self._pages) == self._document.pages:
            return None
        first, last = (page_number(page.label, page.number) for page in (self._pages[0], self._pages[-1]))
        return first, last

    @property
    def has_contents(self) -> bool:
        """Whether a page has the document's own table of contents."""
        contents, of_outline = PlaceName("contents"), (heading for page in self._pages for heading in page.headings)
        return any(contents in names for names in (*self._names.values(), *map(heading_names, of_outline)))

    def states_number(self, kinds: Sequence[StructureKind], within: "_Scope") -> bool:
        """Whether the text on the pages states a number of things with one of these names."""
        pages = {page.number for page in within.pages}
        return any(quote.page in pages and states_number(quote.text, kinds) for quote in self._texts())

    def says(self, pattern: re.Pattern[str]) -> bool:
        """Whether the text of the document has a word."""
        return any(pattern.search(quote.text) for quote in self._texts())

    def _texts(self) -> Iterable[Quote]:
        layouts = Filter(layouts=("paragraph", "list", "table"))
        return self._collection.quotes(self._document_filter.intersect(layouts))

    def scope(self, places: Sequence[PlaceName]) -> "_Scope | None":
        """The pages and quotes within the places; without places, all of them.

        None for several sections, and for a section that the document does not have.
        """
        everything = _Scope(self._pages, self._quotes)
        pages = [place for place in places if place.is_page]
        if pages:
            page_places = set(pages)
            pages_within = [
                page
                for page in self._pages
                if page_places.intersection(page_names(page.label, page.number, self._document.pages))
            ]
            numbers = {page.number for page in pages_within}
            return _Scope(pages_within, [quote for quote in self._quotes if quote.page in numbers])
        if sum(place.number != "" for place in places) > 1:
            return None  # "chapters 5 to 9"
        return self._section(places[0]) if places else everything

    def titled(self, kind: StructureKind, name: PlaceName) -> Tally:
        """The part of one kind that has this name, or all; none where its heading is not surely known.

        All are returned if the name has no number, as "the appendix" may be any of several.
        """
        within = _Scope(self._pages, self._quotes)
        tally = self.tally("section" if "." in name.number or kind == "section" else kind, within)
        if kind == "section" and tally.basis != "numbers":
            tally = self.tally("chapter", within)  # the outline's, without what precedes the first of them
        outermost = [part for part in tally.parts if part.label is None or "." not in part.label.number]
        if name.is_last or not name.number:  # an appendix
            parts: Sequence[Part] = outermost[-1:] if name.is_last else outermost
            is_sure = self.limits is None and (tally.basis in _SURE or not name.is_last)
        elif tally.basis == "outline":
            parts, is_sure = tally.parts[(name.value or 0) - 1 :][:1], self.limits is None and bool(name.value)
        else:
            parts = [part for part in tally.parts if part.label is not None and part.label.number == name.number]
            is_sure = len(parts) == 1 and not parts[0].is_inner
        shown = [part if part.quote else replace(part, quote=self._naming_quote(part)) for part in parts if is_sure]
        return replace(tally, kind=kind, count=len(shown), parts=shown)

    def headed(self, heading: frozenset[str]) -> Tally:
        """The heading that consists of these words, beside its number; none if headings on several pages do."""
        within = _Scope(self._pages, self._quotes)
        for tally in (self.tally("section", within), self.tally("chapter", within), self._all_headings(within)):
            parts = [part for part in tally.parts if not part.is_inner and _words_of_heading(part.name) == heading]
            if parts:
                shown = parts[:1] if len({part.page for part in parts}) == 1 else []
                shown = [part if part.quote else replace(part, quote=self._naming_quote(part)) for part in shown]
                return replace(tally, kind="heading", count=len(shown), parts=shown, unnumbered=())
        return Tally("heading", "parser", 0, ())

    def _all_headings(self, within: "_Scope") -> Tally:
        """All headings of the outline; those that the parser found, where there is no outline."""
        titles = [quote for quote in within.quotes if quote.layout == "title"]
        outlined = [*self._outlined(titles, within)]
        return Tally("heading", "outline", len(outlined), outlined) if outlined else self.tally("heading", within)

    def _naming_quote(self, part: Part) -> Quote | None:
        """The first quote on the page of a heading, which is no title there, that has its words; else the first."""
        quotes, heading_words = self._quotes_on(part.page), set(words(_NUMBER.sub("", part.name)))
        naming = (quote for quote in quotes if heading_words.issubset(words(quote.all_text())))
        return next(naming, next(iter(quotes), None))

    def _section(self, name: PlaceName) -> "_Scope | None":
        """The pages and quotes from the heading of that name to the heading that ends its section."""
        best: list[Quote] = []
        start: int | None = None
        for at, quote in enumerate(self._quotes):
            names = self._names.get(quote.id, ())
            if start is None and name in names:
                start = at
            elif start is not None and _ends_section(name, names):
                best, start = max(best, self._quotes[start + 1 : at], key=len), None
        if start is not None:
            best = max(best, self._quotes[start + 1 :], key=len)
        numbers = {quote.page for quote in best}
        return _Scope([page for page in self._pages if page.number in numbers], best) if best else None

    def tally(self, kind: StructureKind, within: "_Scope") -> Tally:
        """Find the parts of one kind."""
        if kind == "page":
            last = within.pages[-1:]
            return Tally(kind, "pages", len(within.pages), [self._page(page) for page in last])
        if kind in ("figure", "table"):
            return self._captioned(kind, within)
        if kind == "chart":
            charts = (quote for quote in within.quotes if quote.layout == "chart")
            parts = [_picture(quote) for quote in charts if not _PANEL.search(quote.caption or "")]
            return Tally(kind, "parser", len(parts), parts)
        return self._headings(kind, within)

    def _page(self, page: Page) -> Part:
        last = next(reversed(self._quotes_on(page.number)), None)
        return Part("", None, last, page.label, page.number)

    def _quotes_on(self, page: int) -> list[Quote]:
        return [quote for quote in self._collection.page_quotes(self._document.name, page) if quote.retrievable]

    @staticmethod
    def _captioned(kind: StructureKind, within: "_Scope") -> Tally:
        """Parts with numbered captions, each number once; and parts without a number that the parser found."""
        numbered: dict[PlaceName, Part] = {}
        unnumbered: list[Part] = []
        for quote in within.quotes:
            caption = quote.text if quote.layout == "caption" else quote.caption or ""
            label = caption_label(caption)
            if label is not None and label.kind == kind:
                known_part = numbered.get(label)
                # The quote of the caption is preferred to that of the picture, as it shows the number.
                if known_part is None or (
                    quote.layout == "caption" and known_part.quote and known_part.quote.layout != "caption"
                ):
                    numbered[label] = Part(single_spaced(caption), label, quote, quote.page_label, quote.page)
            if label is None and quote.layout in _LAYOUTS[kind] and not _PANEL.search(caption):
                unnumbered.append(_picture(quote))
        if not numbered:
            return Tally(kind, "parser", len(unnumbered), unnumbered)
        return Tally(kind, "captions", len(numbered), list(numbered.values()), unnumbered)

    def _headings(self, kind: StructureKind, within: "_Scope") -> Tally:
        titles = [quote for quote in within.quotes if quote.layout == "title"]
        if kind == "heading":
            return Tally(kind, "parser", len(titles), [_heading(quote, None) for quote in titles])
        if kind == "appendix":
            return self._appendices(titles)
        outline, chapters = self._outline, self._chapters
        numbers = [heading for heading in chapters.numbered if kind == "section" or heading.name.kind == "chapter"]
        ids, on_pages = {quote.id for quote in titles}, {page.number: page.label for page in within.pages}
        numbered = [
            _numbered(heading, on_pages[heading.page])
            for heading in numbers
            if (heading.quote.id in ids if heading.quote else heading.page in on_pages)
        ]
        if len(numbers) > 1:
            return Tally(kind, "numbers" if chapters.is_complete else "parser", len(numbered), numbered)
        named = chapters.outline if kind == "chapter" else outline.outermost
        outlined = [part for part in self._outlined(titles, within) if part.name in named]
        if outlined:
            return Tally(kind, "outline" if outline.is_sure else "parser", len(outlined), outlined)
        if kind == "section" and not numbered:
            return Tally("heading", "parser", len(titles), [_heading(quote, None) for quote in titles])
        # A document does not number its only chapter, so that the headings of its other chapters were not found.
        return Tally(kind, "parser", len(numbered), numbered)

    def _appendices(self, titles: Iterable[Quote]) -> Tally:
        """Headings such as "Appendix A" and, after the references, those that begin with a letter ("B.1 Tests").

        Lettered ones count if no letter is missing before the last. If none has a letter, "Appendix" is the heading.
        """
        by_number: dict[int, Part] = {}
        unnumbered: list[Part] = []
        after_references, appendix = False, PlaceName("appendix")
        for quote in titles:
            names = self._names[quote.id]
            after_references = after_references or PlaceName("references") in names
            letter = _LETTERED.match(quote.text) if after_references else None
            numbers = [place_name.number for place_name in names if place_name.kind == "appendix" and appendix in names]
            name = letter[1].lower() if letter else next(filter(None, numbers), "")
            if name.isdecimal() or (len(name) == 1 and name.isascii()):
                number = int(name) if name.isdecimal() else ord(name) - ord("a") + 1
                by_number.setdefault(number, _heading(quote, PlaceName("appendix", name)))
            elif appendix in names:
                unnumbered.append(_heading(quote, None))
        if not by_number:
            return Tally("appendix", "parser", len(unnumbered[:1]), unnumbered[:1])
        complete = set(by_number) == set(range(1, len(by_number) + 1))
        return Tally("appendix", "numbers" if complete else "parser", len(by_number), list(by_number.values()))

    @staticmethod
    def _outlined(titles: Sequence[Quote], within: "_Scope") -> Iterator[Part]:
        """The headings of the outline, each with the title quote of the same text on its page, if there is one.

        If a heading begins in the middle of a page, the section before it ends on that page, and precedes it there.
        """
        done: set[str] = set()
        for at, page in enumerate(within.pages):
            for heading in page.headings:
                if heading not in done:
                    done.add(heading)
                    begins = at
                    while begins and heading in within.pages[begins - 1].headings:
                        begins -= 1
                    first = within.pages[begins]
                    heading_words = words(_NUMBER.sub("", heading))
                    titles_on_page = (title for title in titles if title.page == first.number)
                    same_title = (
                        title for title in titles_on_page if words(_NUMBER.sub("", title.text)) == heading_words
                    )
                    yield Part(heading, None, next(same_title, None), first.label, first.number)


@dataclass(frozen=True, slots=True)
class _Scope:
    pages: Sequence[Page]
    quotes: Sequence[Quote]


def _words_of_heading(text: str) -> frozenset[str]:
    """The words of a heading without its number, "3.1" or "Chapter 4:"."""
    heading_words = {word for word in words(text) if not word.isdecimal()}
    return frozenset(heading_words - part_words() or heading_words)


def _ends_section(name: PlaceName, names: Sequence[PlaceName]) -> bool:
    """Whether a heading with these names ends the section of that name; chapters do not end the part around them."""
    return name not in names and any(not name.encloses_chapters or place_name.encloses_chapters for place_name in names)


def _numbered(heading: NumberedHeading, page_label: str) -> Part:
    part = Part(single_spaced(heading.text), heading.name, heading.quote, page_label, heading.page)
    # An inner heading shows that a chapter exists whose own heading was not found.
    return (
        replace(part, name=f"{heading.name.number}, known by {part.name}", is_inner=True) if heading.is_inner else part
    )


def _heading(quote: Quote, label: PlaceName | None) -> Part:
    return Part(single_spaced(quote.text), label, quote, quote.page_label, quote.page)


def _picture(quote: Quote) -> Part:
    return Part(single_spaced(quote.caption or ""), None, quote, quote.page_label, quote.page)
