"""Tell of the documents that say something to a question, but for which an answer has no room: 27 of 30 leases."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.acts.told_amounts import new_numbers
from quoteweave.generation.extractive.asked_headings import headed_statements
from quoteweave.generation.extractive.criteria.answer_criteria import AnswerCriteria
from quoteweave.generation.extractive.locating import LocatedQuote
from quoteweave.generation.extractive.procedures import MAX_LISTS, Procedure, Step, find_procedures
from quoteweave.generation.extractive.several_documents.comparison import says_otherwise, says_same
from quoteweave.generation.extractive.statements import Statement, text_statements
from quoteweave.generation.extractive.tables.picture_statements import find_rows, image_statements
from quoteweave.generation.relevance import QuestionTerms, overlap, says_all

MAX_NAMED = 3
MAX_UNLIKE = 0.5
"""Sentences that may not answer are compared only if more than this share of their words, but for numbers, is alike."""
OTHER_DOCUMENT = "Another document says something else on this: {}."
OTHER_DOCUMENTS = (
    "At least {} other documents say something else on this, such as {}. Name one in the question, or ask within it"
    " alone."
)


def other_documents_note(documents: Iterable[str]) -> tuple[str, ...]:
    """The sentence that counts these documents, of which more may not have been found, and names the first, if any."""
    names = list(dict.fromkeys(documents))
    if len(names) < 2:
        return tuple(map(OTHER_DOCUMENT.format, names))
    return (OTHER_DOCUMENTS.format(len(names), join_with_and(names[:MAX_NAMED])),)


def _of_further(context: Context) -> Context:
    """The context with the quotes of further documents in place of its own."""
    texts, images = (tuple(hit for hit in context.further if hit.quote.kind == kind) for kind in ("text", "image"))
    return context.model_copy(update={"texts": texts, "images": images, "further": ()})


def further_answers(
    question: QuestionTerms, weights: Mapping[str, float], context: Context, limit: int
) -> list[Statement]:
    """The statements of further documents under a heading that asks the question; if none does, what answers it."""
    further = _of_further(context)
    rows = find_rows(further, question, weights)
    statements = text_statements(further, limit) + image_statements(further, question, weights, rows, limit)
    if sections := headed_statements(statements, question, further):
        return [one for section in sections for one in section]
    criteria = AnswerCriteria(question, weights, further)
    return [one for one in statements if criteria.answers(one)]


def stating_otherwise(
    shown: Sequence[Statement], others: Collection[Statement], question: QuestionTerms, *, by_heading: bool = False
) -> list[str]:
    """The documents of which a statement says otherwise than one that is shown, and none says the same as one of them.

    Under headings that ask the question (`by_heading`), what is not the same says otherwise.
    """
    same = {one.quote.document for one in others if any(says_same(one, known, question) for known in shown)}
    same.update(one.quote.document for one in shown)
    otherwise = (one for one in others if by_heading or any(says_otherwise(one, known, question) for known in shown))
    return [one.quote.document for one in otherwise if one.quote.document not in same]


def asking_too(
    question: QuestionTerms, weights: Mapping[str, float], context: Context, found: Sequence[Procedure], limit: int
) -> list[str]:
    """The documents with further procedures, or with a heading that asks the question, besides those that are shown."""
    cited = {one.quotes[0].document for one in found[:MAX_LISTS]}
    beyond = _of_further(context)
    told: list[tuple[str, Sequence[Step | Statement]]] = [
        (one.quotes[0].document, one.steps) for one in (*found, *find_procedures(question, beyond, weights, limit))
    ]
    for within in (context, beyond):
        sections = headed_statements(text_statements(within, limit), question, within)
        told += [(own[0].quote.document, own) for own in sections]
    said = [(document, frozenset(words(" ".join(one.text for one in parts)))) for document, parts in told]
    shown = [own for document, own in said if document in cited]
    return [
        document
        for document, own in said
        if document not in cited and not any(own <= known or known <= own for known in shown)
    ]


def bearing_otherwise(question: QuestionTerms, context: Context, places: Sequence[LocatedQuote]) -> list[str]:
    """The documents of which a sentence with all words of the question has another number than those of the places.

    They must be much alike: as no sentence surely answers the question, others cannot be compared.
    """
    subject, ids = question.subject, {one.quote.id for one in places}
    if not (subject and question.analysis.wants_number):
        return []
    statements = [
        one
        for within in (context, _of_further(context))
        for one in text_statements(within, MAX_ANALYSED_CHARACTERS)
        if says_all((*one.words, *words(one.quote.section or "")), subject) and new_numbers(one, question)
    ]
    shown = [one for one in statements if one.quote.id in ids]
    alike = [one for one in statements if any(_alike(one, each) for each in shown)]
    return stating_otherwise(shown, alike, question)


def _alike(one: Statement, other: Statement) -> bool:
    texts = ([word for word in each.words if not has_digit(word)] for each in (one, other))
    return overlap(*texts) > MAX_UNLIKE
