"""Answer who wrote a document, when it was published and the like by the lines above its text (`Context.front_matter`).

What is not surely found there (`front_matter_reader`) is not answered, and the lines are shown as places.
"""

from quoteweave.core.answers import Answer, Context
from quoteweave.core.records import Quote
from quoteweave.core.text.whole_document.front_matter_questions import read_front_matter_request
from quoteweave.generation.answer_text import add_mark, escape_marks, tidy
from quoteweave.generation.citations import build_answer
from quoteweave.generation.extractive.composition import compose_further_places, compose_places, sources_sentence
from quoteweave.generation.extractive.locating import MAX_PLACES, LocatedQuote
from quoteweave.generation.extractive.whole_document.front_matter_reader import (
    MAX_LINE,
    FrontMatterReader,
    front_quotes,
)
from quoteweave.generation.relevance import question_terms

_NOT_AT_THE_TOP = frozenset({"institution", "email"})
"""Parts that may as well stand at the end of a document."""


def front_matter_answer(question: str, context: Context, model: str) -> Answer | None:
    """Return the answer from the front matter of the document asked about.

    None where it is not surely there, or in a quote for which the context has no room.
    """
    request = read_front_matter_request(question)
    if request is None or not context.front_matter:
        return None
    reader = FrontMatterReader(front_quotes(context, _quotes(context)))
    by_part = {part: reader.read(part) for part in request.parts}
    lines_found, numbered = [line for lines in by_part.values() for line in lines], _numbered(context)
    if not lines_found or any(line.quote.id not in numbered for line in lines_found):
        return None
    cited = [numbered[line.quote.id] for line in lines_found]
    lines = [
        add_mark(escape_marks(line.text), f"[{number}]") for line, (number, _) in zip(lines_found, cited, strict=True)
    ]
    text = lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines)
    cited_ids = {line.quote.id for line in lines_found}
    places = [] if all(by_part.values()) else [place for place in _places(context) if place.quote.id not in cited_ids]
    text = "\n\n".join(
        filter(None, [text, compose_further_places(places), sources_sentence(quote for _, quote in cited)])
    )
    return build_answer(question, text, context, model=model, status="answered")


def front_matter_located(question: str, context: Context, model: str, *, found_elsewhere: bool) -> Answer | None:
    """Return the answer that shows the first quotes above the document's text, the title first; None without any.

    An institution or address may as well stand at the end of a document: None if the search has found places.
    """
    request = read_front_matter_request(question)
    if request is None or not context.front_matter or (found_elsewhere and _NOT_AT_THE_TOP.issuperset(request.parts)):
        return None
    places = compose_places(_places(context), question_terms(question))
    return build_answer(question, places, context, model=model, status="located")


def _places(context: Context) -> list[LocatedQuote]:
    """The first quotes above a document's text, the title first, as places."""
    numbered = _numbered(context)
    in_order = sorted(front_quotes(context, _quotes(context)), key=lambda quote: not quote.is_title)
    shown = [numbered[quote.id] for quote in in_order if quote.id in numbered][:MAX_PLACES]
    return [
        LocatedQuote(hit=context.texts[number - 1], number=number, excerpt=tidy(quote.text, MAX_LINE), matches=())
        for number, quote in shown
    ]


def _numbered(context: Context) -> dict[str, tuple[int, Quote]]:
    """The text quotes of a context with their numbers, by id."""
    return {hit.quote.id: (number, hit.quote) for number, hit in enumerate(context.texts, start=1)}


def _quotes(context: Context) -> list[Quote]:
    return [hit.quote for hit in context.texts]
