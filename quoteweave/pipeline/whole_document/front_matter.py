"""Adds a document's front matter to a context, for questions that ask who wrote it, when, or for its title.

A search would not find it, as a byline has none of the question's words. The document is the only one that is asked, or
the one whose title or name is in the question.
"""

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from quoteweave.core.answers import Context, ContextSize
from quoteweave.core.records import PageWord, Quote
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.tokens import words
from quoteweave.core.text.whole_document.front_matter_questions import FrontMatterRequest, read_front_matter_request
from quoteweave.core.text.whole_document.structure_questions import document_nouns
from quoteweave.generation.extractive.whole_document.front_matter_lines import begins_abstract
from quoteweave.generation.extractive.whole_document.front_matter_reader import FrontMatterReader, front_quotes
from quoteweave.generation.sentence_kinds import ends_by_denying
from quoteweave.pipeline.filtered_pages import FilteredPages
from quoteweave.pipeline.introduced import fitted

MAX_QUOTES = 40
"""Quotes of front matter, at most."""
MAX_PAGE_WORDS = 5000
"""A first page with more words than this is not read as having front matter."""
MIN_PROSE_WORDS, MIN_PROSE_SHARE = 20, 0.5
"""A paragraph begins the document's text if it has at least so many words, and at least this share of them begin with a
small letter."""
ROW_HEIGHT = 4.0
"""Quotes whose tops differ by at most this many points stand side by side."""
WIDE_GAP = 1.0
"""A line is split at a gap between words that is at least this share of the line's height."""


def add_front_matter(question: str, context: Context, pages: FilteredPages, size: ContextSize) -> Context:
    """Return the context with the front matter that the question asks for, after its other texts.

    Front matter replaces the last texts if the context would exceed `size`. At most half of the texts are front matter,
    with those that answer first. A sentence that prohibits what it introduces is not replaced. `Context.front_matter`
    also has the lines of front matter that did not fit. Raises CollectionError for a damaged collection.
    """
    where, request = pages.where, read_front_matter_request(question)
    if request is None or where.kind == "image" or where.layouts is not None:
        return context
    document = _document_asked(request, pages)
    if document is None:
        return context
    front = _front_matter(document, pages)
    if not front or (
        request.parts == ("email",)
        and not any("@" in line for _, lines_of_quote in front.values() for line in lines_of_quote)
    ):
        return context
    lines, quotes = {id: lines for id, (_, lines) in front.items()}, [quote for quote, _ in front.values()]
    filled = context.model_copy(
        update={"front_matter": lines, "titles": {**context.titles, **pages.titles([document])}}
    )
    reader = FrontMatterReader(front_quotes(filled, quotes))
    answering = {line.quote.id for part in request.parts for line in reader.read(part)}
    present = {hit.quote.id for hit in context.texts}
    missing = [quote for id, (quote, _) in front.items() if quote.kind == "text" and id not in present]
    missing.sort(key=lambda quote: quote.id not in answering)
    prohibiting = (hit.quote for hit in context.texts if introduces(hit.quote.text))
    must = {quote.id for quote in prohibiting if ends_by_denying(quote.text)} | present & front.keys()
    return filled.model_copy(update={"texts": fitted(filled, missing, size, must)["texts"]})


def _document_asked(request: FrontMatterRequest, pages: FilteredPages) -> str | None:
    """The document that a question asks about; None if none has the question's words, or several may be meant."""
    where, naming_words = pages.where, frozenset(request.naming_words)
    within = list(where.documents) if where.documents is not None else pages.documents()
    in_view = request.is_pointing and len(within) == 1
    if not naming_words:
        candidates = within
    else:
        titles = pages.all_titles()
        candidates = [
            document
            for document in within
            if _is_named(document, titles.get(document, ""), naming_words, allows_other_words=in_view)
        ]
    return candidates[0] if len(candidates) == 1 else None


def _is_named(document: str, title: str, naming_words: frozenset[str], *, allows_other_words: bool) -> bool:
    """Whether a document's title or name has these words, and otherwise only numbers and nouns for documents.

    "The Tolland study" need not be the document titled "What the Tolland study left out". With `allows_other_words`, it
    may have others, for the case that only one document can be meant.
    """
    noun_words = frozenset(words(" ".join(document_nouns())))
    for name in (PurePosixPath(document).stem.replace("_", " "), title):
        name_words = frozenset(words(name))
        if naming_words <= name_words and (
            allows_other_words or all(word in noun_words or word.isdecimal() for word in name_words - naming_words)
        ):
            return True
    return False


def _front_matter(document: str, pages: FilteredPages) -> Mapping[str, tuple[Quote, tuple[str, ...]]]:
    """The quotes before the running text on a document's first page that has texts, each with its lines.

    Pictures are included if they have words that the texts lack, as a name may be in one.
    """
    first = pages.of_page(document, 0)
    if not pages.where.first_page and not any(quote.kind == "text" for quote in first):
        first = pages.of_page(document, 1)
    page_words = pages.words_of_page(document, first[0].page) if first and first[0].has_pages else []
    if len(page_words) > MAX_PAGE_WORDS:
        return {}
    texts, above = [quote for quote in first if quote.kind == "text"], _above_text(first)[:MAX_QUOTES]
    words_in_pictures = []
    if any(quote.kind == "image" for quote in above):
        words_in_pictures = [word for word in page_words if not any(_holds(quote, word) for quote in texts)]
    lines_by_quote: dict[str, tuple[Quote, tuple[str, ...]]] = {}
    for quote in above:
        lines = _lines(quote, page_words if quote.kind == "text" else words_in_pictures)
        lines = lines or (quote.text.splitlines() if quote.kind == "text" else [])
        if lines:
            lines_by_quote[quote.id] = (quote, tuple(lines[:1] if begins_abstract(lines[0]) else lines))
    return lines_by_quote


def _above_text(quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes before the running text in reading order, and those above it on the page, row by row from the top.

    The latter are included because, with authors in columns, some may come after the heading of the abstract in reading
    order. An abstract with its heading in its first line is the last quote.
    """
    start = next(
        (at for at, quote in enumerate(quotes) if quote.kind == "text" and _is_running_text(quote)), len(quotes)
    )
    above, text = list(quotes[:start]), quotes[start:]
    if text and begins_abstract(text[0].text):
        above.append(text[0])
    if not quotes or not quotes[0].has_pages:
        return above
    above += [quote for quote in text[1:] if quote.bbox[3] <= text[0].bbox[1]]
    rows: list[list[Quote]] = []
    for quote in sorted(above, key=lambda quote: quote.bbox[1]):
        if rows and quote.bbox[1] - rows[-1][0].bbox[1] < ROW_HEIGHT:
            rows[-1].append(quote)
        else:
            rows.append([quote])
    return [quote for row in rows for quote in sorted(row, key=lambda quote: quote.bbox[0])]


def _is_running_text(quote: Quote) -> bool:
    text_words = quote.text.split()
    lower_case = sum(word[0].islower() for word in text_words)
    return len(text_words) >= MIN_PROSE_WORDS and lower_case >= MIN_PROSE_SHARE * len(text_words)


def _holds(quote: Quote, word: PageWord) -> bool:
    left, top, right, bottom = quote.bbox
    x, y = (word.bbox[0] + word.bbox[2]) / 2, (word.bbox[1] + word.bbox[3]) / 2
    return left <= x <= right and top <= y <= bottom


def _lines(quote: Quote, page_words: Sequence[PageWord]) -> list[str]:
    """The lines of a quote as on the page, split at wide gaps; none if the words of the page are not known."""
    lines: list[list[PageWord]] = []
    for word in page_words:
        if not _holds(quote, word):
            continue
        last = lines[-1][-1] if lines else None
        height = word.bbox[3] - word.bbox[1]
        if last and last.line == word.line and 0 <= word.bbox[0] - last.bbox[2] + height < (1 + WIDE_GAP) * height:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [" ".join(word.text for word in line) for line in lines]
