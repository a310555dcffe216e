"""Adds highlights to an answer's citations: the words of each quote that support the citing claim, and their boxes."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from quoteweave.core.answers import Answer, Citation, Context, Region, Span
from quoteweave.core.boxes import area, fraction_of
from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.core.protocols import PageSource
from quoteweave.core.records import Page, PageWord, Quote
from quoteweave.core.text.continuations import SENTENCE_END
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.word_alignment import WordAlignment
from quoteweave.generation.citations import with_citations
from quoteweave.generation.gate.answer_check import cited_claims
from quoteweave.generation.gate.claims import Claim
from quoteweave.generation.highlights import find_highlights, text_of
from quoteweave.generation.sentences import split_sentences

_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_QUOTATION = re.compile("“([^“”]+)”")


def add_highlights(answer: Answer, context: Context, pages: PageSource) -> Answer:
    """Return the answer with quoted words, evidence, spans and regions on each citation; its text is unchanged.

    `context` must be the one that its marks number. A citation that the gate does not support, and one of whose words
    none are sure, has its element as evidence. A document that was changed or removed since loses nothing but boxes.
    """
    found: list[Citation] = []
    located = _QuoteLocations(pages)
    for claim, citation in _cited_claims(answer):
        quote = context.quote(citation.kind, citation.number)
        if quote is None:
            continue
        spans = find_highlights(claim, quote) if citation.verdict != "unsupported" else []
        placed = tuple(located.span(quote, start, end) for start, end in spans)
        regions = located.regions(quote, placed)
        update = {
            "quoted": text_of(quote),
            "page_size": located.page_size(quote),
            "evidence": "words" if placed else "element",
            "spans": placed,
            "regions": regions,
        }
        found.append(citation.model_copy(update=update))
    return with_citations(answer, found)


def quote_regions(quote: Quote, pages: PageSource) -> tuple[Region, ...]:
    """Return where a quote stands on its page, with no words marked; none where it has no page to show."""
    (regions,) = all_quote_regions([quote], pages)
    return regions


def all_quote_regions(quotes: Sequence[Quote], pages: PageSource) -> list[tuple[Region, ...]]:
    """Return the regions of each of several quotes; a page is looked up once."""
    located = _QuoteLocations(pages)
    return [located.regions(quote, ()) for quote in quotes]


def evidence_for(claim: str, quote: Quote, pages: PageSource) -> tuple[Span, ...]:
    """Return the words of a quote that support a claim, with their boxes; none where that is uncertain."""
    located = _QuoteLocations(pages)
    return tuple(located.span(quote, start, end) for start, end in find_highlights(claim, quote))


def _cited_claims(answer: Answer) -> Iterator[tuple[str, Citation]]:
    """Yield the claim of each citation: its sentence, or all sentences of the list item at whose end it stands.

    Where places are shown it is what is quoted before its mark.
    """
    for claim, citations in cited_claims(answer):
        for citation in citations:
            line = _line_before(answer.text, citation.start)
            quotation = _QUOTATION.findall(line)
            bulleted = line.startswith("- ") and quotation
            yield (f"“{quotation[-1]}”" if bulleted else _item(answer.text, claim) or claim.sentence), citation


def _line_before(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _item(text: str, claim: Claim) -> str:
    """All sentences of the item that the claim ends, where only its last has marks; "" for a claim in other text."""
    line = _line_before(text, claim.marks[0].start)
    item = _ITEM.match(line)
    return "" if item is None or parse_marks(line) else line[item.end() :].strip()


class _QuoteLocations:
    """Where quotes and their words stand on pages; the words of each quote are aligned once."""

    def __init__(self, pages: PageSource) -> None:
        self._pages = pages
        self._aligned: dict[str, WordAlignment] = {}
        self._words = lru_cache(maxsize=None)(self._words_of)
        self._page = lru_cache(maxsize=None)(self._page_of)

    def span(self, quote: Quote, start: int, end: int) -> Span:
        aligned = self._alignment(quote)
        boxes = aligned.boxes(start, end)
        return Span(start=start, end=end, boxes=boxes, estimated=bool(boxes) and aligned.estimated())

    def regions(self, quote: Quote, spans: Sequence[Span]) -> tuple[Region, ...]:
        """The region of the quote, and that on the next page where the supporting sentence continues there."""
        here = self._region(quote, spans)
        if here is None:
            return ()
        if not spans or not (unfinished := unfinished_sentence(text_of(quote))) or spans[-1].end <= unfinished:
            return (here,)
        following = self._continuation(quote)
        if following is None:
            return (here,)
        end = split_sentences(following.text)[0].end
        there = self._region(following, (self.span(following, 0, end),))
        return (here,) if there is None else (here, there)

    def page_size(self, quote: Quote) -> tuple[float, float] | None:
        page = self._page(quote.document, quote.page) if quote.has_pages else None
        return None if page is None else (page.width, page.height)

    def _region(self, quote: Quote, spans: Sequence[Span]) -> Region | None:
        page = self._page(quote.document, quote.page) if quote.has_pages else None
        if page is None or not area(quote.bbox):
            return None
        size = (page.width, page.height)
        words = tuple(box for span in spans for box in span.boxes)
        return Region(
            page=quote.page,
            page_label=quote.page_label,
            page_size=size,
            rotation=page.rotation,
            bbox=quote.bbox,
            bbox_fraction=fraction_of(quote.bbox, size),
            words=words,
            words_fraction=tuple(fraction_of(box, size) for box in words),
            estimated=any(span.estimated for span in spans),
        )

    def _continuation(self, quote: Quote) -> Quote | None:
        """The text on the next page that continues a quote, which must be the last text of its page."""
        try:
            here, there = (self._body_text(quote.document, quote.page + step) for step in (0, 1))
        except (UsageError, CollectionError):
            return None
        follows = bool(here and there) and here[-1].id == quote.id
        return there[0] if follows and there[0].text[:1].islower() else None

    def _body_text(self, document: str, page: int) -> list[Quote]:
        quotes = self._pages.page_quotes(document, page)
        return [quote for quote in quotes if quote.layout in ("paragraph", "list")]

    def _alignment(self, quote: Quote) -> WordAlignment:
        if quote.id not in self._aligned:
            words = self._words(quote.document, quote.page)
            self._aligned[quote.id] = WordAlignment(text_of(quote), quote.bbox, words)
        return self._aligned[quote.id]

    def _words_of(self, document: str, page: int) -> tuple[PageWord, ...]:
        try:
            found = self._pages.page_words(document, page)
        except (UsageError, CollectionError):  # `check` tells of damage, and the element is still shown
            found = None
        return () if found is None else found.words

    def _page_of(self, document: str, number: int) -> Page | None:
        try:
            return self._pages.page(document, number)
        except (UsageError, CollectionError):
            return None


def unfinished_sentence(text: str) -> int | None:
    """Return where the last sentence of a text begins if nothing ends it, as at the foot of a page; else None."""
    sentences = split_sentences(text)
    if not sentences or SENTENCE_END.search(text):
        return None
    return sentences[-1].start
