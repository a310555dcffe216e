"""Adds highlights to an answer's citations: the words of each quote that support the citing claim, and their boxes."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from quoteweave.core.answers import Answer, Citation, Context, Span
from quoteweave.core.errors import CollectionError, UsageError
from quoteweave.core.protocols import PageSource
from quoteweave.core.records import PageWord, Quote
from quoteweave.core.text.marks import parse_marks
from quoteweave.core.text.word_alignment import WordAlignment
from quoteweave.generation.citations import with_citations
from quoteweave.generation.gate.answer_check import cited_claims
from quoteweave.generation.gate.claims import Claim
from quoteweave.generation.highlights import find_highlights, text_of

_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.)])\s+")
_QUOTATION = re.compile("“([^“”]+)”")


def add_highlights(answer: Answer, context: Context, pages: PageSource) -> Answer:
    """Return the answer with `quoted`, `page_size`, `evidence` and `spans` on each citation; its text is unchanged.

    `context` must be the one that its marks number. A citation that the gate does not support, and one of whose words
    none are sure, has its element as evidence. A document that was changed or removed since loses nothing but boxes.
    """
    found: list[Citation] = []
    alignment = _Alignments(pages)
    for claim, citation in _cited_claims(answer):
        quote = context.quote(citation.kind, citation.number)
        if quote is None:
            continue
        spans = find_highlights(claim, quote) if citation.verdict != "unsupported" else []
        placed = tuple(alignment.span(quote, start, end) for start, end in spans)
        update = {
            "quoted": text_of(quote),
            "page_size": alignment.page_size(quote),
            "evidence": "words" if placed else "element",
            "spans": placed,
        }
        found.append(citation.model_copy(update=update))
    return with_citations(answer, found)


def evidence_for(claim: str, quote: Quote, pages: PageSource) -> tuple[Span, ...]:
    """Return the words of a quote that support a claim, with their boxes; none where that is uncertain."""
    alignment = _Alignments(pages)
    return tuple(alignment.span(quote, start, end) for start, end in find_highlights(claim, quote))


def _cited_claims(answer: Answer) -> Iterator[tuple[str, Citation]]:
    """Yield the claim of each citation: its sentence, or all sentences of the list item at whose end it stands.

    Where places are shown it is what is quoted before its mark.
    """
    for claim, citations in cited_claims(answer):
        for citation in citations:
            line = _line_before(answer.text, citation.start)
            quotation = _QUOTATION.findall(line)
            bulleted = line.startswith("- ") and quotation
            yield (f"“{quotation[-1]}”" if bulleted else _item(answer.text, claim) or claim.said), citation


def _line_before(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _item(text: str, claim: Claim) -> str:
    """All sentences of the item that the claim ends, where only its last has marks; "" for a claim in other text."""
    line = _line_before(text, claim.marks[0].start)
    item = _ITEM.match(line)
    return "" if item is None or parse_marks(line) else line[item.end() :].strip()


class _Alignments:
    """The words of quotes on their pages, each aligned once."""

    def __init__(self, pages: PageSource) -> None:
        self._pages = pages
        self._known: dict[str, WordAlignment] = {}
        self._words = lru_cache(maxsize=None)(self._words_of)
        self._sizes = lru_cache(maxsize=None)(self._sizes_of)

    def span(self, quote: Quote, start: int, end: int) -> Span:
        if quote.id not in self._known:
            words = self._words(quote.document, quote.page)
            self._known[quote.id] = WordAlignment(text_of(quote), quote.bbox, words)
        aligned = self._known[quote.id]
        boxes = aligned.boxes(start, end)
        return Span(start=start, end=end, boxes=boxes, estimated=bool(boxes) and aligned.estimated())

    def page_size(self, quote: Quote) -> tuple[float, float] | None:
        return self._sizes(quote.document).get(quote.page) if quote.has_pages else None

    def _words_of(self, document: str, page: int) -> tuple[PageWord, ...]:
        try:
            found = self._pages.page_words(document, page)
        except (UsageError, CollectionError):  # `check` tells of damage, and the element is still shown
            found = None
        return () if found is None else found.words

    def _sizes_of(self, document: str) -> Mapping[int, tuple[float, float]]:
        try:
            return {page.number: (page.width, page.height) for page in self._pages.pages(document)}
        except (UsageError, CollectionError):
            return {}
