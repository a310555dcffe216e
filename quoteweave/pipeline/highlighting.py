"""Adds highlights to an answer's citations: the words of each quote that support the citing claim, and their boxes."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal

from quoteweave.core.answers import Answer, Citation, Context, Region, Span
from quoteweave.core.boxes import area, fraction_of
from quoteweave.core.concurrency.pools import run_inline_if_short
from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.protocols import PageSource
from quoteweave.core.records import BODY_LAYOUTS, Page, PageWord, Quote
from quoteweave.core.text.grammar import continues, may_continue
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.word_alignment import WordAlignment
from quoteweave.generation.citations import with_citations
from quoteweave.generation.extractive.whole_document.structure_answer import counts_pages
from quoteweave.generation.gate.answer_check import cited_claims
from quoteweave.generation.gate.claims import Claim
from quoteweave.generation.highlights import find_highlights
from quoteweave.generation.sentences import split_sentences, text_of, unfinished_sentence, with_end

_ITEM = lazy_regex(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_QUOTATION = lazy_regex("“([^“”]+)”")
MAX_BRIEF_QUOTE = 10_000
"""Longest quote, in characters, that is searched for highlights within milliseconds."""


async def highlight_inline_if_short(answer: Answer, context: Context, pages: PageSource) -> Answer:
    """Call `add_highlights`, in a thread where it may take more than milliseconds."""
    # The length of this text stands for the time. An extractive answer is only as long as its question lets it be,
    # though it quotes more words than a question has.
    written = answer.question if answer.is_extractive else answer.text
    longest_quote = max((text_of(hit.quote) for hit in context.hits), key=len, default="")
    measure = longest_quote if len(longest_quote) > MAX_BRIEF_QUOTE else written
    return await run_inline_if_short("answer", measure, add_highlights, answer, context, pages)


def add_highlights(answer: Answer, context: Context, pages: PageSource) -> Answer:
    """Return the answer with quoted words, evidence, spans and regions on each citation; its text is unchanged.

    `context` must be the one that its marks number. A citation that the gate does not support, and one of whose words
    none are sure, has its element as evidence; of pages that were counted it is the last
    page as a whole. A document that was changed or removed since loses nothing but boxes.
    """
    found: list[Citation] = []
    located, pages_counted = _QuoteLocations(pages), counts_pages(context)
    for claim, citation in _claims_to_highlight(answer):
        quote = context.quote(citation.kind, citation.number)
        if quote is None:
            continue
        if pages_counted:  # no word of the page says so
            page = {"quoted": "", "page_size": located.page_size(quote), "evidence": "element"}
            found.append(citation.model_copy(update={**page, "regions": located.whole_page(quote)}))
            continue
        end = context.sentence_ends.get(quote.id, "")
        supporting = _supporting(claim, quote, end) if citation.verdict != "unsupported" else []
        # The quote's own words, and how far the support goes on in the next text; to its sentence's end if not known.
        length, beyond = len(quote.text), len(with_end(quote.text, end)) - len(end)
        spans = [(start, min(last, length) if end else last) for start, last in supporting if start < length or not end]
        reach = max((last for _, last in supporting), default=0) - beyond if end else None
        placed = tuple(located.span(quote, start, last) for start, last in spans)
        regions = located.regions(quote, placed, reach)
        update = {
            "quoted": text_of(quote),
            "page_size": located.page_size(quote),
            "evidence": "words" if placed else "element",
            "spans": placed,
            "regions": regions,
        }
        found.append(citation.model_copy(update=update))
    return with_citations(answer, found)


def _supporting(claim: str, quote: Quote, end: str) -> list[tuple[int, int]]:
    """The words of a quote that support a claim, also those of `end`, which the next text adds to its last sentence."""
    if not end:
        return find_highlights(claim, quote)
    return find_highlights(claim, quote.model_copy(update={"text": with_end(quote.text, end)}))


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


def _claims_to_highlight(answer: Answer) -> Iterator[tuple[str, Citation]]:
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
        self._words = lru_cache(maxsize=None)(self._read_words)
        self._page = lru_cache(maxsize=None)(self._read_page)
        self._body_texts = lru_cache(maxsize=None)(self._read_body_texts)

    def span(self, quote: Quote, start: int, end: int) -> Span:
        aligned = self._alignment(quote)
        boxes = aligned.boxes(start, end)
        return Span(start=start, end=end, boxes=boxes, estimated=bool(boxes) and aligned.estimated())

    def regions(self, quote: Quote, spans: Sequence[Span], reach: int | None = None) -> tuple[Region, ...]:
        """The region of the quote; then those of other columns or pages where a supporting sentence begins or ends.

        `reach`: how many characters of the text after belong to it, at most; None for all of the sentence.
        """
        here = self._region(quote, spans)
        if here is None:
            return ()
        elsewhere = [self._beginning(quote, spans[0]), self._end(quote, spans[-1], reach)] if spans else []
        return (here, *(region for region in elsewhere if region is not None))

    def whole_page(self, quote: Quote) -> tuple[Region, ...]:
        """The page on which a quote stands."""
        size = self.page_size(quote)
        region = None if size is None else self._region(quote.model_copy(update={"bbox": (0.0, 0.0, *size)}), ())
        return () if region is None else (region,)

    def _beginning(self, quote: Quote, span: Span) -> Region | None:
        """The part of the sentence of a span that stands in the text before, where the quote goes on with it."""
        if not may_continue(quote.text):
            return None
        sentences = split_sentences(text_of(quote))
        before = self._neighbour(quote, -1) if sentences and span.start < sentences[0].end else None
        if before is None or not _goes_on(quote, before):
            return None
        start = unfinished_sentence(before.text)
        return None if start is None else self._region(before, (self.span(before, start, len(before.text)),))

    def _end(self, quote: Quote, span: Span, reach: int | None) -> Region | None:
        """The part of the sentence of a span that stands in the text after, which goes on with the quote."""
        unfinished = unfinished_sentence(text_of(quote))
        after = self._neighbour(quote, 1) if unfinished is not None and span.end > unfinished else None
        if after is None or not _goes_on(after, quote):
            return None
        end = split_sentences(after.text)[0].end
        end = end if reach is None else min(end, reach)
        return self._region(after, (self.span(after, 0, end),)) if end > 0 else None

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

    def _neighbour(self, quote: Quote, step: Literal[-1, 1]) -> Quote | None:
        """The body text before or after a quote: on its page, or the last or first one of the page beside it."""
        if quote.layout not in BODY_LAYOUTS:
            return None
        try:
            here = self._body_texts(quote.document, quote.page)
            at = next((position for position, one in enumerate(here) if one.id == quote.id), None)
            if at is None:
                return None
            if 0 <= at + step < len(here):
                return here[at + step]
            beside = self._body_texts(quote.document, quote.page + step) if quote.page + step >= 0 else []
        except (UsageError, CollectionError):
            return None
        return beside[0 if step > 0 else -1] if beside else None

    def _read_body_texts(self, document: str, page: int) -> list[Quote]:
        quotes = self._pages.page_quotes(document, page)
        return [quote for quote in quotes if quote.layout in BODY_LAYOUTS]

    def _alignment(self, quote: Quote) -> WordAlignment:
        if quote.id not in self._aligned:
            words = self._words(quote.document, quote.page)
            self._aligned[quote.id] = WordAlignment(text_of(quote), quote.bbox, words)
        return self._aligned[quote.id]

    def _read_words(self, document: str, page: int) -> tuple[PageWord, ...]:
        try:
            found = self._pages.page_words(document, page)
        except (UsageError, CollectionError):  # `check` tells of damage, and the element is still shown
            found = None
        return () if found is None else found.words

    def _read_page(self, document: str, number: int) -> Page | None:
        try:
            return self._pages.page(document, number)
        except (UsageError, CollectionError):
            return None


def _goes_on(quote: Quote, before: Quote) -> bool:
    """Whether a text finishes the sentence of the one before it."""
    return quote.layout != "list" and continues(quote.text, before.text)
