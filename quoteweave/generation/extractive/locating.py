"""Find the places most relevant to a question, for an answer that shows where to look.

Pages come in the order in which the search ranks them, at most `MAX_PLACES`. Of each page one quote is shown, and of
virtual pages one of each section that is about the question (`MIN_IN_SECTION`): the one that contains most of the
question's weight, a picture or table first where the question asks for one. Its excerpt has as many words as the
place's rank allows: the sentence, row or label that contains most of the question's weight, and the text beside it.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import BODY_LAYOUTS, Hit, Quote, Record, copy_key
from quoteweave.core.text.grammar import introduces
from quoteweave.core.text.question_analysis import CONTACT, interrogative_words
from quoteweave.core.text.references.mentions import heading_names, labels_in
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.answer_text import add_mark, clip, escape_marks, tidy
from quoteweave.generation.extractive.selection import SentenceKey
from quoteweave.generation.extractive.statements import (
    NumberedHit,
    caption_title,
    has_cells,
    image_mark,
    introduced_parts,
    position_in_document,
    title_words,
)
from quoteweave.generation.extractive.tables.heads import heading_of, parts_of, read_rows
from quoteweave.generation.relevance import (
    QuestionTerms,
    WeighedQuestion,
    coverage,
    quote_words,
    weights_by_document,
    with_other_words,
    words_with_headings,
)
from quoteweave.generation.sentence_kinds import denied_from, denying_hit
from quoteweave.generation.sentences import sentence_texts, text_of

EXCERPT_WORDS = (60, 40, 24)
"""The most words in the excerpts of the first, second and third place."""
INTRODUCED_WORDS = 25
"""The most words of what an excerpt that ends with a colon introduces."""
INTRODUCED_BONUS = 0.2
"""Bonus for a text that introduces code or a list, if the question is how to do something."""
MAX_PLACES = len(EXCERPT_WORDS)
MAX_MATCHES = 4
MIN_PROSE_WORDS = 20
"""A text that ends with a full stop and has at least so many words may say what its document is about."""
NUMBER_BONUS = 0.3
"""Bonus for a number if one is asked for; the coverage that it is added to is at most 1."""
PAGE_WEIGHT, QUOTE_WEIGHT = 4.0, 0.2
"""Weights of the search's own score, as a share of the best: for a page, and for a quote on a page."""
KIND_BONUS = 0.3
"""Bonus for a picture of the kind that the question asks for."""
HEADING_BONUS, MIN_IN_HEADING = 0.3, 0.6
"""Bonus for a text under a heading that has at least this share of the question's weight, times that share.

Only in documents without pages: there a place is called by its heading, and few headings are guessed.
"""
MIN_IN_SECTION = 0.5
"""The least share of the question's weight that a quote, with its headings, of a virtual page's further section has."""
REFERENCE_BONUS = PAGE_WEIGHT
"""Bonus for a figure or table that the question names: as much as the first rank."""
HEADING_PENALTY, CONTENTS_PENALTY = 0.2, 0.5
"""Penalties for a heading or caption, and for a table of contents, which only introduce what is elsewhere."""
MIN_ROW_SHARE = 0.5
"""Share of the best row's score that another row of a table needs to be included."""
MIN_UNMATCHED_SHARE = 0.7
"""Share of the best place's score that a place needs if, unlike the best, it contains no word of the question."""
LENGTH_BONUS, FULL_BONUS_WORDS = 0.15, 40
"""Bonus for a quote with at least `FULL_BONUS_WORDS` different words; with fewer, in proportion."""
LONG_WORD = 10
"""Characters per word with its space, which limit an excerpt in scripts without spaces between words."""
UNSCORED: Mapping[SentenceKey, float] = MappingProxyType({})
_LEADER = lazy_regex(r"(?:\s?\.){4,}")
HitsOfPage = list[NumberedHit]


class LocatedQuote(Record):
    """A quote that is shown as relevant to the question."""

    hit: Hit
    number: int
    """Number of its quote in the context, among those of its kind, from 1."""
    excerpt: str
    """Excerpt of its text, fit for an answer; "" where it has none."""
    matches: tuple[str, ...]
    """Words of the question that it contains, as the question writes them, the heaviest first."""
    introduced: str = ""
    """What the excerpt introduces, each part with its mark; "" for nothing."""

    @property
    def quote(self) -> Quote:
        """The quote that is shown."""
        return self.hit.quote


def group_by_page(context: Context) -> list[HitsOfPage]:
    """Group hits, with their numbers, by page; pages and hits are in the order in which the search ranks them."""
    hits = [NumberedHit(*pair) for kind in (context.texts, context.images) for pair in enumerate(kind, start=1)]
    pages: dict[tuple[str, int], HitsOfPage] = {}
    for numbered in sorted(hits, key=lambda numbered: (-numbered.hit.score, numbered.hit.rank)):
        pages.setdefault((numbered.quote.document, numbered.quote.page), []).append(numbered)
    return list(pages.values())


def find_places(
    weighed: WeighedQuestion,
    context: Context,
    *,
    besides: Collection[str] = (),
    sentence_scores: Mapping[SentenceKey, float] = UNSCORED,
    leading: Collection[str] = (),
) -> list[LocatedQuote]:
    """Find the best quote of each of the best pages, or sections of virtual ones; none without quotes.

    `besides` are ids of quotes that are shown already, `sentence_scores` additional scores of sentences, by quote id
    and index from 0. Quotes with ids in `leading` come first, each by itself.
    """
    question, by_document = weighed.terms, weights_by_document(context.hits, weighed.weights)
    sections = _ranked_sections(question, context, by_document, _pages(question, context, besides, leading), leading)
    places: list[LocatedQuote] = []
    for section, most in zip(sections, EXCERPT_WORDS, strict=False):
        fittest = section.fittest
        matches = _matching_words(fittest.quote, question, by_document[fittest.quote.document])
        instead = _introduced_instead(fittest.quote, section.hits) or denying_hit(fittest.quote, context)
        number, hit = instead or fittest
        excerpt = _excerpt(hit.quote, context, weighed, most, sentence_scores)
        if excerpt and any(excerpt == place.excerpt for place in places):
            continue
        is_far = section.worth < MIN_UNMATCHED_SHARE * sections[0].worth
        if places and places[0].matches and not matches and is_far:
            continue
        more = _excerpt_introduced(hit.quote, number, context) if introduces(excerpt) else ""
        places.append(LocatedQuote(hit=hit, number=number, excerpt=excerpt, matches=matches, introduced=more))
    return places


class _Section(NamedTuple):
    """Hits of a page, or of one section of a virtual page."""

    hits: HitsOfPage
    fittest: NumberedHit
    """The hit to be shown."""
    worth: float


def _ranked_sections(
    question: QuestionTerms,
    context: Context,
    by_document: Mapping[str, Mapping[str, float]],
    pages: Sequence[HitsOfPage],
    leading: Collection[str],
) -> list[_Section]:
    """The sections of pages, best first, without those whose text to be shown is that of a better one."""
    best = max((page[0].hit.score for page in pages), default=0.0)
    sections: list[_Section] = []
    for page in pages:
        weights, share = by_document[page[0].quote.document], _page_share(page, best, leading)
        fits = {id(hit): _score_in_page(hit, question, context, weights, best) for _, hit in page}
        for hits in _sections(page, fits, weights):
            fittest = _first_prose(hits, question) or max(hits, key=lambda entry: fits[id(entry.hit)])
            sections.append(_Section(hits, fittest, PAGE_WEIGHT * share + fits[id(fittest.hit)]))
    # A lexical retriever may find a page without any of the words, for example because it belongs with another one.
    words_asked = frozenset[str]() if context.rarity else question.subject
    bearing = [
        section for section in sections if any(words_asked & words_with_headings(hit.quote) for _, hit in section.hits)
    ]
    distinct: dict[str, _Section] = {}
    for section in sorted(bearing or sections, key=lambda section: -section.worth):
        distinct.setdefault(copy_key(section.fittest.quote), section)
    return list(distinct.values())


def _pages(
    question: QuestionTerms, context: Context, besides: Collection[str], leading: Collection[str]
) -> list[HitsOfPage]:
    """The hits of each page that may be shown; each quote that is to be shown first is a page by itself."""
    pages = [[entry for entry in page if entry.quote.id not in besides] for page in group_by_page(context)]
    pages = _leading_first(list(filter(None, pages)), leading)
    if question.analysis.asks_overview:  # what a document is about stands at its beginning
        pages = [page for page in pages if page[0].quote.page == 0] or pages
    return pages


def _first_prose(hits: HitsOfPage, question: QuestionTerms) -> NumberedHit | None:
    """The text with which a page begins, if the question asks what a document is about; None without one."""
    if not question.analysis.asks_overview:
        return None
    prose = [entry for entry in hits if entry.quote.layout in BODY_LAYOUTS and _is_prose(entry.quote.text)]
    return min(prose, key=lambda entry: position_in_document(entry.quote), default=None)


def _is_prose(text: str) -> bool:
    return len(text.split()) >= MIN_PROSE_WORDS and text.rstrip().endswith((".", "。"))


def _page_share(hits: HitsOfPage, best: float, leading: Collection[str]) -> float:
    """The share of the best page's score that a page has; more than 1 for a quote that is to be shown first."""
    hit = hits[0].hit
    return hit.score / (best or 1.0) + (hit.quote.id in leading)


def _leading_first(pages: Sequence[HitsOfPage], leading: Collection[str]) -> list[HitsOfPage]:
    """The quotes that are to be shown first, each as a page by itself, and then the other pages."""
    first = [entry for page in pages for entry in page if entry.quote.id in leading]
    named = {(entry.quote.document, entry.quote.page) for entry in first}
    other_pages = [page for page in pages if (page[0].quote.document, page[0].quote.page) not in named]
    return [*([entry] for entry in first), *other_pages]


def _sections(hits: HitsOfPage, fits: Mapping[int, float], weights: Mapping[str, float]) -> list[HitsOfPage]:
    """The hits of a page; for a virtual page by heading: the best quote's, then others about the question."""
    if hits[0].quote.has_pages:
        return [list(hits)]
    sections: dict[str, HitsOfPage] = {}
    for entry in sorted(hits, key=lambda entry: -fits[id(entry.hit)]):
        sections.setdefault(" ".join((entry.quote.heading or "").split()), []).append(entry)
    first, *other_sections = sections.values()
    return [first, *(section for section in other_sections if _is_about(section[0].quote, weights))]


def _is_about(quote: Quote, weights: Mapping[str, float]) -> bool:
    """Whether a text, not a heading alone, has enough of the question to be shown beside another section."""
    return quote.layout != "title" and coverage(weights, words_with_headings(quote)) >= MIN_IN_SECTION


def _introduced_instead(quote: Quote, hits: HitsOfPage) -> NumberedHit | None:
    """The quote of the same page that a quote only introduces: the first text under a heading, a caption's picture."""
    title = " ".join(quote.text.split())
    heading = title.rstrip(" .,;:")
    pictures = [entry for entry in hits if heading and heading in (caption_title(entry.quote), entry.quote.caption)]
    if quote.kind == "text" and pictures:
        return pictures[0]
    if quote.layout != "title":
        return None
    texts = (entry for entry in hits if entry.quote.layout in BODY_LAYOUTS)
    under = (entry for entry in texts if " ".join((entry.quote.section or "").split()) == title)
    return min(under, key=lambda entry: position_in_document(entry.quote), default=None)


def _excerpt_introduced(quote: Quote, number: int, context: Context) -> str:
    """What an excerpt introduces, in `INTRODUCED_WORDS` words at most: `“brew install pyenv” [3].`"""
    excerpts, words_left = list[str](), INTRODUCED_WORDS
    for part in introduced_parts(quote, number, context):
        if part.form == "image":
            excerpts.append(image_mark(context.images[part.number - 1].quote, part.number))
            continue
        part_words = escape_marks(part.text).replace("“", "‘").replace("”", "’").split()
        left_out = "…" if len(part_words) > words_left else ""
        cut = clip(" ".join(part_words[:words_left]) + left_out, INTRODUCED_WORDS * LONG_WORD)
        excerpts.append(add_mark(f"“{cut.rstrip('.')}”", f"[{part.number}]"))
        words_left -= len(part_words)
        if words_left <= 0:
            break
    return " ".join(excerpts)


def _score_in_page(
    hit: Hit, question: QuestionTerms, context: Context, weights: Mapping[str, float], best: float
) -> float:
    """How well a hit fits the question, compared with the others of its page."""
    quote, analysis = hit.quote, question.analysis
    fit = _covered_share(quote.all_text(), question, weights) + (QUOTE_WEIGHT * hit.score / best if best > 0 else 0.0)
    fit += LENGTH_BONUS * min(1.0, len(set(quote_words(quote))) / FULL_BONUS_WORDS)
    fit -= HEADING_PENALTY if quote.layout in ("title", "caption") else 0.0
    fit -= CONTENTS_PENALTY if any(name.kind == "contents" for name in heading_names(quote.section or "")) else 0.0
    fit += INTRODUCED_BONUS if analysis.asks == "steps" and quote.id in context.introduced else 0.0
    fit += _heading_bonus(quote, weights, title_words(context, quote.document))
    if analysis.wants_number and not quote.has_pages:  # with pages, nearly every quote has some number
        numbered = filter(has_digit, _parts(quote, ""))
        fit += NUMBER_BONUS * max((_covered_share(part, question, weights) for part in numbered), default=0.0)
    shown = {"figure", "chart"} if {"figure", "chart"}.intersection(analysis.picture_types) else set()
    if quote.layout in shown.union(analysis.picture_types):
        fit += KIND_BONUS
    if analysis.asks == "contact" and CONTACT.search(quote.text):
        fit += KIND_BONUS
    if analysis.labels and quote.kind == "image" and set(analysis.labels) & set(labels_in((quote.caption or "")[:40])):
        fit += REFERENCE_BONUS
    return fit


def _covered_share(text: str, question: QuestionTerms, weights: Mapping[str, float]) -> float:
    """The share of the question's weight that a text has, in whatever words."""
    return coverage(weights, with_other_words(frozenset(words(text)), question, text))


def _heading_bonus(quote: Quote, weights: Mapping[str, float], title: frozenset[str]) -> float:
    """The bonus of a text for its heading, which, with the document's title, says what the text is about."""
    heading = frozenset(words(quote.section or ""))
    if quote.kind != "text" or quote.has_pages or heading.isdisjoint(weights):
        return 0.0
    headed = coverage(weights, heading | title)
    return HEADING_BONUS * headed if headed >= MIN_IN_HEADING else 0.0


def _matching_words(quote: Quote, question: QuestionTerms, weights: Mapping[str, float]) -> tuple[str, ...]:
    stems_in_quote = frozenset(quote_words(quote))
    surfaces: dict[str, str] = {}
    for surface in words(question.text, stem=False):
        for stem in words(surface, keep_stop_words=True):
            if stem in stems_in_quote and stem in weights and len(surface) > 1 and stem not in interrogative_words():
                surfaces.setdefault(stem, surface)
    return tuple(surfaces[stem] for stem in sorted(surfaces, key=lambda stem: -weights[stem])[:MAX_MATCHES])


def _excerpt(
    quote: Quote,
    context: Context,
    weighed: WeighedQuestion,
    most: int,
    sentence_scores: Mapping[SentenceKey, float],
) -> str:
    """Excerpt at most `most` words of a quote, around the part that contains most of the question's weight."""
    end = context.sentence_ends.get(quote.id, "")
    parts = _parts(quote, end)
    if not parts:
        return ""
    worth = [_covered_share(part, weighed.terms, weighed.weights) for part in parts]
    if weighed.terms.analysis.wants_number:
        worth = [value + NUMBER_BONUS * has_digit(part) for value, part in zip(worth, parts, strict=True)]
    if quote.kind == "text":
        worth = [value + sentence_scores.get((quote.id, at), 0.0) for at, value in enumerate(worth)]
    best = max(range(len(parts)), key=lambda at: (worth[at], -at))
    table = has_cells(quote)
    order = sorted(range(len(parts)), key=lambda at: -worth[at] if table else abs(at - best) + 0.5 * (at < best))
    chosen = {best}
    denied = denied_from(quote.text) if quote.kind == "text" else None
    if denied is not None and denied < best:  # the denied text is not shown without the denial
        chosen.add(denied)
    size = sum(len(parts[at].split()) for at in chosen)
    for at in order:
        more = len(parts[at].split())
        if at in chosen or (table and worth[at] < MIN_ROW_SHARE * worth[best]):
            continue
        if size + more > most:
            if table:
                continue
            break
        chosen.add(at)
        size += more
    text = ("; " if table else " ").join(parts[at] for at in sorted(chosen)).split()
    cut = clip(_LEADER.sub("…", " ".join(text[:most]) + ("…" if len(text) > most else "")), most * LONG_WORD)
    shown = escape_marks(cut.replace("“", "‘").replace("”", "’"))
    return shown if end and len(parts) - 1 in chosen else shown.rstrip(".")  # a completed sentence keeps its stop


def _parts(quote: Quote, end: str) -> list[str]:
    """The sentences of a text, the rows of a table with the names of their columns, or the lines of any other picture.

    `end` completes the last sentence of a text; it stands in the next text, such as on the next page.
    """
    text = text_of(quote)
    if quote.kind == "text":
        sentences = sentence_texts(text, end)
        return [tidy(sentence, len(sentence) + 1) for sentence in sentences]
    if has_cells(quote) and " | " in text:
        return [_row_text(row, header) for header, rows in parts_of(read_rows(text)) for row in rows if any(row)]
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _row_text(row: Sequence[str], header: Sequence[str]) -> str:
    names = [heading_of(at, row, header) for at in range(len(row))]
    return ", ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=True) if cell)
