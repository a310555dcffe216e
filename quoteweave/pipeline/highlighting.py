"""Adds highlights to an answer's citations: the words of each quote that support the citing claim, and their boxes."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from quoteweave.core.answers import Answer, Citation, Context, Region, Span
from quoteweave.core.boxes import Box, area, fraction_of
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
"""Length of a quote in characters up to which highlights are found within milliseconds."""


async def highlight_inline_if_short(answer: Answer, context: Context, pages: PageSource) -> Answer:
    """Call `add_highlights`, in a thread if it may take more than milliseconds."""
    # The time is estimated by the length of a text: that of the answer or of a very long quote. For an extractive
    # answer it is the question's, which limits the answer's length.
    answer_text = answer.question if answer.is_extractive else answer.text
    longest_quote = max((text_of(hit.quote) for hit in context.hits), key=len, default="")
    measure = longest_quote if len(longest_quote) > MAX_BRIEF_QUOTE else answer_text
    return await run_inline_if_short("answer", measure, add_highlights, answer, context, pages)


def add_highlights(answer: Answer, context: Context, pages: PageSource) -> Answer:
    """Return the answer with quoted words, evidence, spans and regions on each citation; its text is unchanged.

    `context` must be the one to which the marks refer. If the gate finds a citation unsupported, or no supporting words
    are certain, the whole element is its evidence. If the answer counts pages, it is the whole last page. Citations of
    a document that was changed or removed since only lack boxes.
    """
    citations: list[Citation] = []
    locations, pages_counted = _QuoteLocations(pages), counts_pages(context)
    evidence_of_claims: dict[tuple[str, str, bool], Mapping[str, object]] = {}  # models may repeat a mark many times
    for claim, citation in _claims_to_highlight(answer):
        quote = context.quote(citation.kind, citation.number)
        if quote is None:
            continue
        if pages_counted:  # no word of the page supports a count of pages
            page = {"quoted": "", "page_size": locations.page_size(quote), "evidence": "element"}
            citations.append(citation.model_copy(update={**page, "regions": locations.whole_page(quote)}))
            continue
        key = claim, quote.id, citation.verdict != "unsupported"
        if key not in evidence_of_claims:
            end = context.sentence_ends.get(quote.id, "")
            supporting = _supporting(claim, quote, end) if citation.verdict != "unsupported" else []
            evidence_of_claims[key] = _evidence_fields(quote, supporting, end, locations)
        citations.append(citation.model_copy(update=evidence_of_claims[key]))
    return with_citations(answer, citations)


def _evidence_fields(
    quote: Quote, supporting: Sequence[tuple[int, int]], end: str, locations: "_QuoteLocations"
) -> Mapping[str, object]:
    """The fields of a citation that say where its quote, followed by `end`, has these supporting words."""
    # Spans are limited to the quote's own words; `reach` is how far the support continues in the next text, or None
    # for the end of the sentence if that is not known.
    length, end_offset = len(quote.text), len(with_end(quote.text, end)) - len(end)
    spans = [(start, min(last, length) if end else last) for start, last in supporting if start < length or not end]
    reach = max((last for _, last in supporting), default=0) - end_offset if end else None
    supporting_spans = tuple(locations.span(quote, start, last) for start, last in spans)
    return {
        "quoted": text_of(quote),
        "page_size": locations.page_size(quote),
        "evidence": "words" if supporting_spans else "element",
        "spans": supporting_spans,
        "regions": locations.regions(quote, supporting_spans, reach),
    }


def _supporting(claim: str, quote: Quote, end: str) -> list[tuple[int, int]]:
    """The words that support a claim, in a quote followed by `end`, the rest of its last sentence in the next text."""
    if not end:
        return find_highlights(claim, quote)
    return find_highlights(claim, quote.model_copy(update={"text": with_end(quote.text, end)}))


def quote_regions(quote: Quote, pages: PageSource) -> tuple[Region, ...]:
    """Return where a quote stands on its page, with no words marked; none if it has no page to show."""
    (regions,) = all_quote_regions([quote], pages)
    return regions


def all_quote_regions(quotes: Sequence[Quote], pages: PageSource) -> list[tuple[Region, ...]]:
    """Return the regions of each of several quotes; a page is looked up once."""
    locations = _QuoteLocations(pages)
    return [locations.regions(quote, ()) for quote in quotes]


def evidence_for(claim: str, quote: Quote, pages: PageSource) -> tuple[Span, ...]:
    """Return the words of a quote that support a claim, with their boxes; none if that is uncertain."""
    locations = _QuoteLocations(pages)
    return tuple(locations.span(quote, start, end) for start, end in find_highlights(claim, quote))


def _claims_to_highlight(answer: Answer) -> Iterator[tuple[str, Citation]]:
    """Yield the claim of each citation: its sentence, or all sentences of the list item that it ends.

    If the answer only shows places, the claim is the quotation before the mark.
    """
    for claim, citations in cited_claims(answer):
        for citation in citations:
            line = _line_before(answer.text, citation.start)
            quotation = _QUOTATION.findall(line) if line.startswith("- ") else []
            yield (f"“{quotation[-1]}”" if quotation else _item(answer.text, claim) or claim.sentence), citation


def _line_before(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _item(text: str, claim: Claim) -> str:
    """The list item that ends with the claim, if only its last sentence has marks; "" for a claim in other text."""
    line = _line_before(text, claim.marks[0].start)
    bullet = _ITEM.match(line)
    return "" if bullet is None or parse_marks(line) else line[bullet.end() :].strip()


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
        if " | " in (text := text_of(quote)) and " | " not in text[start:end]:
            boxes = _boxes_of_one_column(boxes)
        return Span(start=start, end=end, boxes=boxes, estimated=bool(boxes) and aligned.estimated())

    def regions(self, quote: Quote, spans: Sequence[Span], reach: int | None = None) -> tuple[Region, ...]:
        """The region of the quote, then those in other columns or pages where a supporting sentence begins or ends.

        `reach` is how many characters of the next text belong to the sentence, at most; None for all of the sentence.
        """
        own_region = self._region(quote, spans)
        if own_region is None:
            return ()
        other_regions = [self._beginning(quote, spans[0]), self._end(quote, spans[-1], reach)] if spans else []
        return (own_region, *(region for region in other_regions if region is not None))

    def whole_page(self, quote: Quote) -> tuple[Region, ...]:
        """The page on which a quote stands."""
        size = self.page_size(quote)
        region = None if size is None else self._region(quote.model_copy(update={"bbox": (0.0, 0.0, *size)}), ())
        return () if region is None else (region,)

    def _beginning(self, quote: Quote, span: Span) -> Region | None:
        """The part of a span's sentence in the text before, if the quote continues that sentence."""
        if not may_continue(quote.text):
            return None
        sentences = split_sentences(text_of(quote))
        before = self._neighbour(quote, -1) if sentences and span.start < sentences[0].end else None
        if before is None or not _continues_sentence(quote, before):
            return None
        start = unfinished_sentence(before.text)
        return None if start is None else self._region(before, (self.span(before, start, len(before.text)),))

    def _end(self, quote: Quote, span: Span, reach: int | None) -> Region | None:
        """The part of a span's sentence in the text after, if that continues the quote's last sentence."""
        unfinished = unfinished_sentence(text_of(quote))
        after = self._neighbour(quote, 1) if unfinished is not None and span.end > unfinished else None
        if after is None or not _continues_sentence(after, quote):
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
        """The body text before or after a quote: on its page, or the last or first one of the neighbouring page."""
        if quote.layout not in BODY_LAYOUTS:
            return None
        try:
            page_texts = self._body_texts(quote.document, quote.page)
            at = next((position for position, text in enumerate(page_texts) if text.id == quote.id), None)
            if at is None:
                return None
            if 0 <= at + step < len(page_texts):
                return page_texts[at + step]
            next_page_texts = self._body_texts(quote.document, quote.page + step) if quote.page + step >= 0 else []
        except (UsageError, CollectionError):
            return None
        return next_page_texts[0 if step > 0 else -1] if next_page_texts else None

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
            page_words = self._pages.page_words(document, page)
        except (UsageError, CollectionError):  # `check` reports damage; the element is shown without words
            page_words = None
        return () if page_words is None else page_words.words

    def _read_page(self, document: str, number: int) -> Page | None:
        try:
            return self._pages.page(document, number)
        except (UsageError, CollectionError):
            return None


def _boxes_of_one_column(boxes: tuple[Box, ...]) -> tuple[Box, ...]:
    """The boxes of a cell that are above or below most of the others, or else its lowest.

    Where heads begin alike ("52 weeks ended" in three columns), words may be found in the head of another column.
    """
    columns = [tuple(box for box in boxes if min(box[2], cell[2]) > max(box[0], cell[0])) for cell in boxes]
    return max(columns, key=lambda column: (len(column), max(box[3] for box in column)), default=())


def _continues_sentence(quote: Quote, before: Quote) -> bool:
    """Whether a text continues the sentence of the text before it."""
    return quote.layout != "list" and continues(quote.text, before.text)
