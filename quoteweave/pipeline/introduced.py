"""Adds to a context what its texts introduce, and what introduces them: "To install it, run:" introduces code below.

A heading that is the question ("Who can nominate members?") introduces the text under it, and so does a line that asks
the question, as in a list of frequent questions. The titles of the documents found are added, too.

A text that ends with a colon is incomplete without the quotes that follow it. A search ranks each quote by itself, so
it may find one without the other. A list item without the sentence above it may even mean the opposite of what the
document says ("Never do any of the following:"), so a sentence that prohibits is always added.
"""

from collections.abc import Container, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from quoteweave.core.answers import Context, ContextSize
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import (
    BODY_LAYOUTS,
    ENDS_OF_INTRODUCED,
    MAY_INTERRUPT_INTRODUCED,
    Hit,
    Quote,
)
from quoteweave.core.text.grammar import continues, introduces
from quoteweave.core.text.question_analysis import analyse_question, interrogative_words
from quoteweave.core.text.tokens import name_words, words
from quoteweave.generation.answer_text import is_plainly_code
from quoteweave.generation.relevance import question_terms
from quoteweave.generation.sentence_kinds import INSTRUCTION, ends_by_denying, may_be_asking_heading
from quoteweave.generation.sentences import opens_item, split_sentences, unfinished_sentence
from quoteweave.pipeline.filtered_pages import FilteredPages

MAX_INTRODUCING = 6
"""How many of the best texts of a context are looked up for what they introduce, at most."""
MAX_LACKING_SHARE = 1 / 3
"""Share of a question's words, at most, that a line may lack and still count as asking the question."""
MAX_FOLLOWING = 5
"""Quotes that are added of those that one text introduces, at most; `Context.introduced` has the ids of all of them."""
MIN_INDENT, SAME_EDGE = 10.0, 2.0
"""For list items whose bullets are drawn and so are no text: how far they stand to the right of what introduces them,
at least, and how far apart their left edges may be, in points."""
# A footnote on a page may stand between a sentence and what it introduces; its number touches its first word.
_FOOTNOTE = lazy_regex(r"\s*(?:\d{1,2}(?=[^\W\d_])|[*†‡§])")


def add_introduced(question: str, context: Context, pages: FilteredPages, size: ContextSize) -> Context:
    """Return the context with what its best texts introduce, and with the sentences that introduce its texts.

    Added quotes come after the search's hits, and replace the last hits if the context would exceed `size`, so that a
    context of 15 quotes still has 15. At most half of the quotes of a kind are added, except that a sentence which
    prohibits what it introduces is always added. With a filter by kind or layout, the context is not changed. Raises
    CollectionError for a damaged collection.
    """
    where = pages.where
    if where.kind is not None or where.layouts is not None:
        return context
    introducing = _introducing_texts(question, context, pages)
    introduced = {
        quote.id: introduced_quotes
        for quote in introducing.texts
        if (introduced_quotes := _introduced_by(quote, pages))
    }
    missing = _missing(context, introducing, introduced)
    filled = context.model_copy(update=fitted(context, missing, size, {quote.id for quote in introducing.denying}))
    steps = analyse_question(question).asks == "steps"
    return filled.model_copy(
        update={
            "introduced": {
                id: tuple(quote.id for quote in introduced_quotes) for id, introduced_quotes in introduced.items()
            },
            "titles": pages.titles([hit.quote.document for hit in context.hits]),
            "sentence_ends": dict(_sentence_ends(context, pages)),
            "cut_sections": tuple(_cut_sections(filled, pages)) if steps else (),
        }
    )


def _cut_sections(context: Context, pages: FilteredPages) -> Iterator[str]:
    """The ids of texts whose section has adjoining items or instructions that were not found."""
    present = {hit.quote.id for hit in context.texts}
    for quote in (hit.quote for hit in context.texts if hit.quote.section):
        for beside in (pages.before(quote), pages.after(quote)):
            section_quotes = takewhile(partial(_is_of_section, quote.section), beside)
            if any(neighbour.id not in present and _may_be_step(neighbour) for neighbour in section_quotes):
                yield quote.id
                break


def _is_of_section(section: str | None, quote: Quote) -> bool:
    return quote.section == section and quote.layout != "title"


def _may_be_step(quote: Quote) -> bool:
    of_text = quote.kind == "text" and quote.layout in BODY_LAYOUTS
    return of_text and (quote.layout == "list" or opens_item(quote.text) or INSTRUCTION.match(quote.text) is not None)


def _sentence_ends(context: Context, pages: FilteredPages) -> Iterator[tuple[str, str]]:
    """The ids of texts that end within a sentence, as at the foot of a page, each with its rest from the next text."""
    for quote in (hit.quote for hit in context.texts):
        if quote.layout == "paragraph" and unfinished_sentence(quote.text) is not None:
            after = next((following for following in pages.after(quote) if following.layout in BODY_LAYOUTS), None)
            if after is None or after.layout == "list" or is_plainly_code(after.text):
                continue
            if continues(after.text, quote.text):
                yield quote.id, split_sentences(after.text)[0].text


@dataclass(frozen=True, slots=True)
class _IntroducingTexts:
    """Texts of a context that introduce something, and texts that introduce those of the context."""

    texts: Sequence[Quote]
    """Texts of the context that introduce something, which is looked up."""
    denying: Sequence[Quote]
    """Texts that prohibit a text of the context which they introduce."""


def _introducing_texts(question: str, context: Context, pages: FilteredPages) -> _IntroducingTexts:
    subject = question_terms(question).subject
    introducing = [hit.quote for hit in context.texts if introduces(hit.quote.text) or _is_asked(hit.quote, subject)]
    introducing = introducing[:MAX_INTRODUCING]
    introducers_of_texts = [list(_introducers_of(hit.quote, pages)) for hit in context.texts]
    of_best = {quote.id for introducers in introducers_of_texts[:MAX_INTRODUCING] for quote in introducers}
    distinct = {quote.id: quote for introducers in introducers_of_texts for quote in introducers}.values()
    denying = [quote for quote in distinct if ends_by_denying(quote.text)]
    introducing_ids = {quote.id for quote in introducing}
    added = [
        quote for quote in distinct if quote.id not in introducing_ids and (quote.id in of_best or quote in denying)
    ]
    return _IntroducingTexts([*introducing, *added], denying)


def _missing(
    context: Context, introducing: _IntroducingTexts, introduced: Mapping[str, Sequence[Quote]]
) -> list[Quote]:
    """What the context lacks: texts that prohibit, then each text that introduces something and what it introduces."""
    quotes = [*introducing.denying]
    for quote in introducing.texts:
        if quote.id in introduced:
            quotes += [quote, *introduced[quote.id][:MAX_FOLLOWING]]
    present = {hit.quote.id for hit in context.hits}
    return list({quote.id: quote for quote in quotes if quote.id not in present}.values())


def fitted(context: Context, missing: Sequence[Quote], size: ContextSize, must: Set[str]) -> dict[str, tuple[Hit, ...]]:
    """Return the context's texts and images followed by the missing quotes, which replace the last ones if needed.

    At most half of the quotes of a kind are missing ones. All texts in `must` are included.
    """
    texts, images = ([quote for quote in missing if quote.kind == kind] for kind in ("text", "image"))
    most_texts = max(sum(quote.id in must for quote in missing), size.texts // 2)
    return {
        "texts": _with_added(context.texts, texts[:most_texts], size.texts, must),
        "images": _with_added(context.images, images[: size.images // 2], size.images, must),
    }


def _is_asked(quote: Quote, question_subject: frozenset[str]) -> bool:
    """Whether a quote is a heading with exactly the words of the question's subject, or a line that asks it."""
    subject = question_subject - frozenset(name_words(quote.document)) or question_subject
    if quote.layout == "title":
        return bool(subject) and subject == frozenset(words(quote.text)) - interrogative_words()
    text = quote.text.strip()
    if not may_be_asking_heading(text) or not subject:
        return False
    return len(subject.difference(words(text))) <= MAX_LACKING_SHARE * len(subject)


def _with_added(hits: Sequence[Hit], added: Sequence[Quote], most: int, must: Container[str]) -> tuple[Hit, ...]:
    """The hits followed by these quotes; if there is no room, without the last hits that are not in `must`."""
    over = max(0, len(hits) + len(added) - most)
    dropped = sorted(range(len(hits)), key=lambda at: (hits[at].quote.id in must, -at))[:over]
    lowest = hits[-1].score if hits else 0.0
    scored = [(hit.score, hit.quote) for at, hit in enumerate(hits) if at not in dropped]
    scored += [(lowest, quote) for quote in added]
    return tuple(Hit(rank=rank, score=score, quote=quote) for rank, (score, quote) in enumerate(scored, start=1))


def _introducers_of(quote: Quote, pages: FilteredPages) -> Iterator[Quote]:
    """The text that introduces a quote, the one that introduces that, and so on."""
    introducer = _introducer_of(quote, pages)
    while introducer is not None:
        yield introducer
        introducer = _introducer_of(introducer, pages)


def _introducer_of(quote: Quote, pages: FilteredPages) -> Quote | None:
    """The text that introduces a quote, by the rules of `_introduced_by`; None if there is none."""
    if quote.layout in ENDS_OF_INTRODUCED:
        return None
    for earlier in pages.before(quote):
        if earlier.layout in ENDS_OF_INTRODUCED:
            return None
        if introduces(earlier.text):
            introduced = _introduced_by(earlier, pages)
            return earlier if any(following.id == quote.id for following in introduced) else None
        may_stand_between = (
            earlier.layout in MAY_INTERRUPT_INTRODUCED
            or _FOOTNOTE.match(earlier.text)
            or earlier.layout == quote.layout == "list"
            or _are_beneath_one_another(earlier, quote)
        )
        if not may_stand_between:
            return None
    return None


def _introduced_by(quote: Quote, pages: FilteredPages) -> list[Quote]:
    """The quote after a text, or the items of a list; if it introduces something itself ("Filename:"), that too."""
    introduced: list[Quote] = []
    for following in pages.after(quote):
        if following.layout in ENDS_OF_INTRODUCED:
            break
        if not introduced and (following.layout in MAY_INTERRUPT_INTRODUCED or _FOOTNOTE.match(following.text)):
            continue
        if quote.has_pages and following.page != quote.page and following.layout != "list":
            break  # the top of a page may have a caption, or a text that continues another
        is_item = introduced and (
            introduced[-1].layout == following.layout == "list" or _are_items(quote, introduced[-1], following)
        )
        if introduced and not introduces(introduced[-1].text) and not is_item:
            break
        introduced.append(following)
    return introduced


def _are_items(introducing: Quote, first: Quote, second: Quote) -> bool:
    """Whether two paragraphs are indented alike below what introduces them, like list items whose bullets are drawn."""
    indented = introducing.has_pages and first.bbox[0] - introducing.bbox[0] >= MIN_INDENT
    return indented and introducing.page == first.page and _are_beneath_one_another(first, second)


def _are_beneath_one_another(first: Quote, second: Quote) -> bool:
    """Whether two paragraphs of a page have the same left edge."""
    on_page = first.has_pages and first.page == second.page and first.layout == second.layout == "paragraph"
    return on_page and abs(first.bbox[0] - second.bbox[0]) <= SAME_EDGE
