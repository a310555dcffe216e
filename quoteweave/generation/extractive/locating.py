"""Find the places most relevant to a question, for an answer that shows where to look.

Pages come in the order in which the search ranks them, at most `MAX_PLACES`. Of each page one quote is shown, and of
virtual pages one of each section that is about the question (`MIN_IN_SECTION`): the one that contains most of the
question's weight, a picture or table first where the question asks for one. Its excerpt has as many words as the
place's rank allows: the sentence, row or label that contains most of the question's weight, and the text beside it.
"""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

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
    caption_title,
    has_cells,
    image_mark,
    image_name,
    introduced_parts,
    place_phrase,
    position_in_document,
    title_words,
    unit_of,
)
from quoteweave.generation.extractive.tables.heads import heading_of, parts_of, read_rows
from quoteweave.generation.relevance import (
    QuestionTerms,
    coverage,
    quote_words,
    weights_by_document,
    with_other_words,
    words_with_headings,
)
from quoteweave.generation.sentence_kinds import denied_from, denying_hit, heading_denies
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
LOOK = "What is asked has to be looked at, counted or compared on the page."
NOT_SAID = "No sentence was found that surely answers this."
LONG_WORD = 10
"""Characters per word with its space, which limit an excerpt in scripts without spaces between words."""
UNSCORED: Mapping[SentenceKey, float] = MappingProxyType({})
_LEADER = lazy_regex(r"(?:\s?\.){4,}")
HitsOfPage = list[tuple[int, Hit]]
"""Hits of one page, each with its number in the context."""
_LOOKED_AT = ("look", "parts", "calculation")


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
    numbered = [one for hits in (context.texts, context.images) for one in enumerate(hits, start=1)]
    pages: dict[tuple[str, int], HitsOfPage] = {}
    for number, hit in sorted(numbered, key=lambda one: (-one[1].score, one[1].rank)):
        pages.setdefault((hit.quote.document, hit.quote.page), []).append((number, hit))
    return list(pages.values())


def find_places(
    question: QuestionTerms,
    context: Context,
    weights: Mapping[str, float],
    *,
    besides: Collection[str] = (),
    sentence_scores: Mapping[SentenceKey, float] = UNSCORED,
    leading: Collection[str] = (),
) -> list[LocatedQuote]:
    """Find the best quote of each of the best pages, or sections of virtual ones; none without quotes.

    `weights` are of the question's words, `besides` ids of quotes that are shown already, `sentence_scores` additional
    scores of sentences, by quote id and index from 0. Quotes with ids in `leading` come first, each by itself.
    """
    pages, by_document = _pages(question, context, besides, leading), weights_by_document(context.hits, weights)
    best = max((hits[0][1].score for hits in pages), default=0.0)
    hits = [(hit, by_document[hit.quote.document]) for on_page in pages for _, hit in on_page]
    fits = {id(hit): _score_in_page(hit, question, context, own, best) for hit, own in hits}
    sections = [(_share(hits, best, leading), own) for hits in pages for own in _sections(hits, fits, by_document)]
    pages = [own for _, own in sections]
    fittest = [_first_prose(own, question) or max(own, key=lambda one: fits[id(one[1])]) for own in pages]
    worth = [PAGE_WEIGHT * share + fits[id(hit)] for (share, _), (_, hit) in zip(sections, fittest, strict=True)]
    # A lexical retriever may find a page without any of the words, for example because it belongs with another one.
    asked = frozenset[str]() if context.rarity else question.subject
    bears = [any(asked & words_with_headings(hit.quote) for _, hit in hits) for hits in pages]
    ranked = sorted((at for at in range(len(pages)) if bears[at] or not any(bears)), key=lambda at: -worth[at])
    places, ranked = list[LocatedQuote](), _without_copies(ranked, [hit.quote for _, hit in fittest])
    for at, most in zip(ranked, EXCERPT_WORDS, strict=False):
        number, hit = fittest[at]
        matches = _matches(hit.quote, question, by_document[hit.quote.document])
        number, hit = _introduced_instead(hit.quote, pages[at]) or denying_hit(hit.quote, context) or (number, hit)
        excerpt = _excerpt(hit.quote, context, question, weights, most, sentence_scores)
        if excerpt and any(excerpt == place.excerpt for place in places):
            continue
        if places and places[0].matches and not matches and worth[at] < MIN_UNMATCHED_SHARE * worth[ranked[0]]:
            continue
        more = _introduced(hit.quote, number, context) if introduces(excerpt) else ""
        places.append(LocatedQuote(hit=hit, number=number, excerpt=excerpt, matches=matches, introduced=more))
    return places


def _without_copies(ranked: Sequence[int], fittest: Sequence[Quote]) -> list[int]:
    """The pages except those whose best quote has the same text as that of an earlier page, as in another edition."""
    kept: dict[str, int] = {}
    for at in ranked:
        kept.setdefault(copy_key(fittest[at]), at)
    return list(kept.values())


def _pages(
    question: QuestionTerms, context: Context, besides: Collection[str], leading: Collection[str]
) -> list[HitsOfPage]:
    """The hits of each page that may be shown; each quote that is to be shown first is a page by itself."""
    pages = [own for hits in group_by_page(context) if (own := [one for one in hits if one[1].quote.id not in besides])]
    pages = _leading_first(pages, leading)
    if question.analysis.asks_overview:  # what a document is about stands at its beginning
        pages = [hits for hits in pages if hits[0][1].quote.page == 0] or pages
    return pages


def _first_prose(hits: HitsOfPage, question: QuestionTerms) -> tuple[int, Hit] | None:
    """The text with which a page begins, if the question asks what a document is about; None without one."""
    if not question.analysis.asks_overview:
        return None
    prose = [one for one in hits if one[1].quote.layout in BODY_LAYOUTS and _is_prose(one[1].quote.text)]
    return min(prose, key=lambda one: position_in_document(one[1].quote), default=None)


def _is_prose(text: str) -> bool:
    return len(text.split()) >= MIN_PROSE_WORDS and text.rstrip().endswith((".", "。"))


def _share(hits: HitsOfPage, best: float, leading: Collection[str]) -> float:
    """The share of the best page's score that a page has; more than 1 for a quote that is to be shown first."""
    hit = hits[0][1]
    return hit.score / (best or 1.0) + (hit.quote.id in leading)


def _leading_first(pages: Sequence[HitsOfPage], leading: Collection[str]) -> list[HitsOfPage]:
    """The quotes that are to be shown first, each as a page by itself, and then the other pages."""
    named = {(one[1].quote.document, one[1].quote.page) for hits in pages for one in hits if one[1].quote.id in leading}
    alone = [[one] for hits in pages for one in hits if one[1].quote.id in leading]
    rest = [hits for hits in pages if (hits[0][1].quote.document, hits[0][1].quote.page) not in named]
    return [*alone, *rest]


def _sections(
    hits: HitsOfPage, fits: Mapping[int, float], by_document: Mapping[str, Mapping[str, float]]
) -> list[HitsOfPage]:
    """The hits of a page; for a virtual page by heading: the best quote's, then others about the question."""
    if hits[0][1].quote.has_pages:
        return [list(hits)]
    weights = by_document[hits[0][1].quote.document]
    sections: dict[str, HitsOfPage] = {}
    for number, hit in sorted(hits, key=lambda one: -fits[id(one[1])]):
        sections.setdefault(" ".join((hit.quote.heading or "").split()), []).append((number, hit))
    first, *others = sections.values()
    return [first, *(own for own in others if _is_about(own[0][1].quote, weights))]


def _is_about(quote: Quote, weights: Mapping[str, float]) -> bool:
    """Whether a text, not a heading alone, has enough of the question to be shown beside another section."""
    return quote.layout != "title" and coverage(weights, words_with_headings(quote)) >= MIN_IN_SECTION


def _introduced_instead(quote: Quote, hits: HitsOfPage) -> tuple[int, Hit] | None:
    """The quote of the same page that a quote only introduces: the first text under a heading, a caption's picture."""
    title = " ".join(quote.text.split())
    heading = title.rstrip(" .,;:")
    pictures = [one for one in hits if heading and heading in (caption_title(one[1].quote), one[1].quote.caption)]
    if quote.kind == "text" and pictures:
        return pictures[0]
    under = [
        one
        for one in hits
        if one[1].quote.layout in BODY_LAYOUTS and " ".join((one[1].quote.section or "").split()) == title
    ]
    return min(under, key=lambda one: position_in_document(one[1].quote)) if quote.layout == "title" and under else None


def compose_places(places: Sequence[LocatedQuote], question: QuestionTerms) -> str:
    """Compose the text of an answer that only shows where to look; `places` is not empty."""
    first = LOOK if question.asks in _LOOKED_AT else NOT_SAID
    return f"{first} {_bulleted(places, 'on it most')}"


def compose_rest(places: Sequence[LocatedQuote]) -> str:
    """Compose the text for those parts of a question that no sentence answers; "" for no places."""
    return _bulleted(places, "on what else is asked") if places else ""


def _bulleted(places: Sequence[LocatedQuote], what: str) -> str:
    """`These places bear on it most:` and a bullet for each."""
    bear = "This place bears" if len(places) == 1 else "These places bear"
    several = len({place.quote.document for place in places}) > 1
    return "\n".join([f"{bear} {what}:", "", *(_line(place, several=several) for place in places)])


def _line(place: LocatedQuote, *, several: bool) -> str:
    """A bullet: the quote's name, the words that it matches, its excerpt, and its mark."""
    quote = place.quote
    called, where = image_name(quote) if quote.kind == "image" else "", place_phrase(quote)
    place_name = called if where.casefold() in called.casefold() else ", ".join(filter(None, [called, where]))
    place_name = f"{place_name[:1].upper()}{place_name[1:]}{f' of {quote.document}' if several else ''}"
    if quote.has_pages and heading_denies(quote.section or ""):  # without the heading, this would say the opposite
        place_name += f", under “{' '.join((quote.section or '').split())}”"
    why = f" ({', '.join(place.matches)})" if place.matches else ""
    excerpt = f": “{place.excerpt}”" if place.excerpt else ""
    if has_digit(excerpt) and (unit := unit_of(quote, excerpt)):
        excerpt += f" ({unit})"
    if quote.kind == "text":
        line = f"- {add_mark(escape_marks(f'{place_name}{why}{excerpt}'), f'[{place.number}]')}"
        return f"{line} {place.introduced}" if place.introduced else line
    return f"- {escape_marks(f'{place_name}{why}{excerpt}')}. {image_mark(quote, place.number)}"


def _introduced(quote: Quote, number: int, context: Context) -> str:
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
    held = frozenset(quote_words(quote))
    fit = _worth(quote.all_text(), question, weights) + (QUOTE_WEIGHT * hit.score / best if best > 0 else 0.0)
    fit += LENGTH_BONUS * min(1.0, len(held) / FULL_BONUS_WORDS)
    fit -= HEADING_PENALTY if quote.layout in ("title", "caption") else 0.0
    fit -= CONTENTS_PENALTY if any(name.kind == "contents" for name in heading_names(quote.section or "")) else 0.0
    fit += INTRODUCED_BONUS if analysis.asks == "steps" and quote.id in context.introduced else 0.0
    fit += _headed(quote, weights, title_words(context, quote.document))
    if analysis.wants_number and not quote.has_pages:  # with pages, nearly every quote has some number
        numbered = filter(has_digit, _parts(quote, ""))
        fit += NUMBER_BONUS * max((_worth(part, question, weights) for part in numbered), default=0.0)
    shown = {"figure", "chart"} if {"figure", "chart"}.intersection(analysis.picture_types) else set()
    if quote.layout in shown.union(analysis.picture_types):
        fit += KIND_BONUS
    if analysis.asks == "contact" and CONTACT.search(quote.text):
        fit += KIND_BONUS
    if analysis.labels and quote.kind == "image" and set(analysis.labels) & set(labels_in((quote.caption or "")[:40])):
        fit += REFERENCE_BONUS
    return fit


def _worth(text: str, question: QuestionTerms, weights: Mapping[str, float]) -> float:
    """The share of the question's weight that a text has, in whatever words."""
    return coverage(weights, with_other_words(frozenset(words(text)), question, text))


def _headed(quote: Quote, weights: Mapping[str, float], title: frozenset[str]) -> float:
    """The bonus of a text for its heading, which, with the document's title, says what the text is about."""
    heading = frozenset(words(quote.section or ""))
    if quote.kind != "text" or quote.has_pages or heading.isdisjoint(weights):
        return 0.0
    headed = coverage(weights, heading | title)
    return HEADING_BONUS * headed if headed >= MIN_IN_HEADING else 0.0


def _matches(quote: Quote, question: QuestionTerms, weights: Mapping[str, float]) -> tuple[str, ...]:
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
    question: QuestionTerms,
    weights: Mapping[str, float],
    most: int,
    sentence_scores: Mapping[SentenceKey, float],
) -> str:
    """Excerpt at most `most` words of a quote, around the part that contains most of the question's weight."""
    end = context.sentence_ends.get(quote.id, "")
    parts = _parts(quote, end)
    if not parts:
        return ""
    worth = [_worth(part, question, weights) for part in parts]
    if question.analysis.wants_number:
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
        return [_row(row, header) for header, rows in parts_of(read_rows(text)) for row in rows if any(row)]
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def _row(row: Sequence[str], header: Sequence[str]) -> str:
    names = [heading_of(at, row, header) for at in range(len(row))]
    return ", ".join(f"{name}: {cell}" if name else cell for name, cell in zip(names, row, strict=True) if cell)
