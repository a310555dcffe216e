"""Compose the text of an answer from statements, with marks, images and a sentence on sources, or from places."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate, groupby

from quoteweave.core.answers import Context
from quoteweave.core.records import Quote, page_number
from quoteweave.core.text.references.mentions import labels_in, leading_label
from quoteweave.core.text.tokens import has_digit
from quoteweave.generation.answer_text import add_mark, escape_marks, fence, join_with_and
from quoteweave.generation.extractive.locating import LocatedQuote
from quoteweave.generation.extractive.statements import (
    IntroducedPart,
    Statement,
    image_mark,
    image_name,
    place_phrase,
    unit_of,
    unread_introduced,
)
from quoteweave.generation.relevance import QuestionTerms
from quoteweave.generation.sentence_kinds import heading_denies

MAX_WORDS, MAX_COMPLETE_WORDS = 120, 180
"""The most words of an answer with some items of a list, and with a whole list."""
MAX_CODE_LINES = 8
"""The most lines of code that are shown."""
LOOK = "What is asked has to be looked at, counted or compared on the page."
NOT_SAID = "No sentence was found that surely answers this."
_LOOKED_AT = ("look", "parts", "calculation")


def compose(chosen: Sequence[Statement], context: Context, *, max_images: int, unanswered_text: str = "") -> str:
    """Compose the answer's text, including the final sentence on its sources. `chosen` is best first and not empty.

    `unanswered_text` is the text shown for parts of the question that no statement answers.
    """
    ordered = _without_introduced(_in_document_order(chosen))
    pictures = dict.fromkeys(statement.number for statement in ordered if statement.quote.kind == "image")
    named = dict.fromkeys(number for statement in ordered for number in _named(statement, context))
    # A picture that is quoted needs its mark; pictures that are only referred to are shown while there is room.
    to_show = [number for number in named if number not in pictures][: max(0, max_images - len(pictures))]
    text, used = "", list[Quote]()
    size = sum(len(f"{statement.before} {statement.text}".split()) for statement in ordered)
    for _, statements in groupby(ordered, key=lambda statement: statement.quote.id):
        same = list(statements)
        if same[0].quote.kind == "image":
            text += _composed_image(same, context)
            used.append(same[0].quote)
            continue
        shown = {statement.sentence_index for statement in same}
        for statement in same:
            if statement.before and statement.sentence_index - 1 not in shown:
                text += f"{add_mark(statement.before, f'[{statement.number}]')} "
            text += f"{add_mark(statement.shown, f'[{statement.number}]')} "
            used.append(statement.quote)
            for number in [number for number in _named(statement, context) if number in to_show]:
                to_show.remove(number)
                used.append(context.images[number - 1].quote)
                text += _shown(number, context)
            if statement.introduced:
                more, parts = _composed_introduced(statement, context, size)
                size += len(more.split())
                text = f"{text.rstrip()}\n\n{more}\n\n"
                used += introduced_quotes(parts, context)
    return "\n\n".join(filter(None, [text.rstrip(), unanswered_text, sources_sentence(used)]))


def compose_introduced(parts: Sequence[IntroducedPart], context: Context) -> str:
    """Compose what a sentence introduces, each part with its mark: code between fences, items as bullets, images."""
    blocks, form = list[str](), ""
    for part in parts:
        mark = f"[{part.number}]"
        blocks.append(("\n" if part.form == form == "item" else "\n\n") if blocks else "")
        form = part.form
        if part.form == "image":
            blocks.append(image_mark(context.images[part.number - 1].quote, part.number))
        elif part.form == "code":
            blocks.append(f"{fence(part.text, MAX_CODE_LINES)}\n{mark}")
        else:
            blocks.append(f"{'- ' if part.form == 'item' else ''}{add_mark(part.text, mark)}")
    return "".join(blocks)


def number_shown(texts: Sequence[str], before: int, *, complete: bool = True) -> int:
    """The number of these texts, from the first on, that an answer with `before` words so far shows: at least one.

    All are shown if the answer then has at most `MAX_COMPLETE_WORDS`, as a whole list is worth more than a short
    answer; otherwise, those within `MAX_WORDS`. `complete` says whether they are the whole list.
    """
    sizes = list(accumulate((len(text.split()) for text in texts), initial=before))[1:]
    if complete and (not sizes or sizes[-1] <= MAX_COMPLETE_WORDS):
        return len(texts)
    return max(1, sum(size <= MAX_WORDS for size in sizes))


def more_note(count: int, noun: str = "", *, at_least: bool = False) -> str:
    """A sentence such as `4 more steps are there.`, with "At least" if the rest was not read."""
    more = f"{count} more{f' {noun}' if noun else ''}"
    if count == 1:
        more = more.removesuffix("s")
    begun = f"At least {more}" if at_least else more
    return f"{begun} {'is' if count == 1 else 'are'} there."


def _composed_image(statements: Sequence[Statement], context: Context) -> str:
    """The statements of an image quote as one sentence, and the image."""
    *earlier, last = (statement.shown for statement in statements)
    sentence = "; ".join([*(text.removesuffix(".") for text in earlier), last])
    return f"{sentence} {_shown(statements[0].number, context)}"


def _composed_introduced(statement: Statement, context: Context, before: int) -> tuple[str, Sequence[IntroducedPart]]:
    """What a statement introduces, as far as there is room after `before` words, and the parts that are shown."""
    parts, unread = statement.introduced, unread_introduced(statement, context)
    shown_parts = parts[: number_shown([part.text for part in parts], before, complete=not unread)]
    unshown = len(parts) - len(shown_parts) + unread
    text = compose_introduced(shown_parts, context)
    return (f"{text}\n\n{more_note(unshown, at_least=unread > 0)}" if unshown else text), shown_parts


def introduced_quotes(parts: Iterable[IntroducedPart], context: Context) -> list[Quote]:
    """The quotes to which the parts belong."""
    quotes = (context.quote(part.kind, part.number) for part in parts)
    return [quote for quote in quotes if quote is not None]


def _without_introduced(statements: Sequence[Statement]) -> list[Statement]:
    """Leave out statements of quotes that another statement introduces, because they are shown with that one."""
    introduced = {
        (part.kind, part.number)
        for statement in statements
        for part in statement.introduced
        if (part.kind, part.number) != (statement.quote.kind, statement.number)
    }
    return [statement for statement in statements if (statement.quote.kind, statement.number) not in introduced]


def _in_document_order(chosen: Sequence[Statement]) -> list[Statement]:
    """Order statements: the best quote, then the others of its document from front to back, then the next document.

    Sentences of one quote keep their order.
    """
    first = chosen[0].quote.id
    documents = list(dict.fromkeys(statement.document for statement in chosen))

    def place(statement: Statement) -> tuple[int, bool, int, float, str, int]:
        quote = statement.quote
        rank = documents.index(quote.document)
        return (rank, quote.id != first, quote.page, quote.bbox[1], quote.id, statement.sentence_index)

    return sorted(chosen, key=place)


def sources_sentence(quotes: Iterable[Quote]) -> str:
    """Name pages, or headings, in one sentence: `This is from pages 2 and 5 of a.pdf and “Fees” of guide.md.`"""
    pages: defaultdict[str, dict[int, Quote]] = defaultdict(dict)
    headings: defaultdict[str, list[Quote]] = defaultdict(list)
    for quote in quotes:
        if quote.has_pages:
            pages[quote.document][quote.page] = quote
        else:
            headings[quote.document].append(quote)
    places = []
    for document, page_quotes in pages.items():
        numbers = [page_number(quote.page_label, quote.page) for _, quote in sorted(page_quotes.items())]
        places.append(f"page{'s' if len(numbers) > 1 else ''} {join_with_and(numbers)} of {document}")
    for document, heading_quotes in headings.items():
        places.append(f"{join_with_and(list(dict.fromkeys(map(place_phrase, heading_quotes))))} of {document}")
    return escape_marks(" ".join(f"This is from {join_with_and(places)}.".split()))


def _named(statement: Statement, context: Context) -> list[int]:
    """The numbers of those image quotes of the same document that a text statement refers to by their labels."""
    if statement.quote.kind == "image":
        return []
    wanted = labels_in(statement.text)
    return [
        number
        for number, hit in enumerate(context.images, start=1)
        if hit.quote.document == statement.document and leading_label(hit.quote.caption or "") in wanted
    ]


def _shown(number: int, context: Context) -> str:
    return f"{image_mark(context.images[number - 1].quote, number)}\n\n"


def compose_places(places: Sequence[LocatedQuote], question: QuestionTerms) -> str:
    """Compose the text of an answer that only shows where to look; `places` is not empty."""
    first = LOOK if question.asks in _LOOKED_AT else NOT_SAID
    return f"{first} {_bulleted(places, 'on it most')}"


def compose_further_places(places: Sequence[LocatedQuote]) -> str:
    """Compose the text for those parts of a question that no sentence answers; "" for no places."""
    return _bulleted(places, "on what else is asked") if places else ""


def _bulleted(places: Sequence[LocatedQuote], on_what: str) -> str:
    """`These places bear on it most:` and a bullet for each."""
    bear = "This place bears" if len(places) == 1 else "These places bear"
    several = len({place.quote.document for place in places}) > 1
    return "\n".join([f"{bear} {on_what}:", "", *(_bullet(place, several=several) for place in places)])


def _bullet(place: LocatedQuote, *, several: bool) -> str:
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
