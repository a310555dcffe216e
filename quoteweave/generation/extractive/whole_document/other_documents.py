"""Tell of the documents that say something to a question, but for which an answer has no room: 27 of 30 leases."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.records import Quote, copy_key
from quoteweave.core.text.question_analysis import with_words_alike
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.asked_headings import headed_statements
from quoteweave.generation.extractive.locating import LocatedQuote
from quoteweave.generation.extractive.procedures import MAX_LISTS, Procedure, find_procedures
from quoteweave.generation.extractive.statements import Statement, text_statements
from quoteweave.generation.relevance import QuestionTerms, subject_terms, words_with_headings

MAX_DOCUMENTS = 100
"""The most documents that are looked for; of more, an answer says "more than 100"."""
MAX_NAMED = 3
OTHER_DOCUMENT = "Another document says something else on this: {}."
OTHER_DOCUMENTS = (
    "{} other documents say something else on this, such as {}. Name one in the question, or ask within it alone."
)


def other_documents_note(documents: Iterable[str]) -> tuple[str, ...]:
    """The sentence that counts these documents and names the first; none without documents."""
    names = list(dict.fromkeys(documents))
    if len(names) < 2:
        return tuple(map(OTHER_DOCUMENT.format, names))
    count = f"More than {MAX_DOCUMENTS}" if len(names) > MAX_DOCUMENTS else str(len(names))
    return (OTHER_DOCUMENTS.format(count, join_with_and(names[:MAX_NAMED])),)


def of_further_documents(context: Context) -> Context:
    """The context with the quotes of further documents in place of its own."""
    texts, images = (tuple(hit for hit in context.further if hit.quote.kind == kind) for kind in ("text", "image"))
    return context.model_copy(update={"texts": texts, "images": images, "further": ()})


def stating_otherwise(shown: Sequence[Statement], others: Iterable[Statement], question: QuestionTerms) -> list[str]:
    """The documents of statements that say something else than each that is shown, and not the same, or more of it."""
    said = [frozenset(one.words).difference(question.terms) for one in shown]
    told = ((one.quote.document, frozenset(one.words).difference(question.terms)) for one in others)
    return [document for document, own in told if not any(own <= known or known <= own for known in said)]


def asking_too(
    question: QuestionTerms, weights: Mapping[str, float], context: Context, found: Sequence[Procedure], limit: int
) -> list[str]:
    """The documents with further procedures, or with a heading that asks the question, besides those that are shown."""
    cited = {one.quotes[0].document for one in found[:MAX_LISTS]}
    texts, beyond = {step.text for one in found for step in one.steps}, of_further_documents(context)
    documents = [one.quotes[0].document for one in (*found, *find_procedures(question, beyond, weights, limit))]
    for within in (context, beyond):
        sections = headed_statements(text_statements(within, limit), question, within)
        documents += [own[0].quote.document for own in sections if texts.isdisjoint(one.text for one in own)]
    return [one for one in documents if one not in cited]


def bearing_as_much(question: QuestionTerms, context: Context, places: Sequence[LocatedQuote]) -> list[str]:
    """The documents that have all words of the question in one quote, as the first place has, but are not shown."""
    subject = frozenset(subject_terms(question))
    if not places or not subject or not has_words(places[0].quote, subject):
        return []
    texts, cited = {copy_key(one.quote) for one in places}, {one.quote.document for one in places}
    quotes = (hit.quote for hit in (*context.hits, *context.further))
    return [
        one.document
        for one in quotes
        if one.document not in cited and copy_key(one) not in texts and has_words(one, subject)
    ]


def has_words(quote: Quote, asked: Collection[str]) -> bool:
    """Whether a quote has all of these words of a question, or others that mean the same, in it or above it."""
    return with_words_alike(words_with_headings(quote), asked).issuperset(asked)
