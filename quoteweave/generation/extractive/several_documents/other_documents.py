"""Tell of the documents that say something to a question, but for which an answer has no room: 27 of 30 leases."""

from collections.abc import Collection, Iterable, Sequence

from quoteweave.core.answers import Context
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.core.text.tokens import has_digit, words
from quoteweave.generation.answer_text import join_with_and
from quoteweave.generation.extractive.acts.stated_amounts import new_numbers
from quoteweave.generation.extractive.asked_headings import headed_statements
from quoteweave.generation.extractive.criteria.criteria_by_document import CriteriaByDocument
from quoteweave.generation.extractive.locating import LocatedQuote
from quoteweave.generation.extractive.procedures import MAX_LISTS, Procedure, Step, find_procedures
from quoteweave.generation.extractive.several_documents.comparison import (
    gives_other_date,
    says_otherwise,
    says_same,
)
from quoteweave.generation.extractive.statements import Statement, text_statements
from quoteweave.generation.extractive.tables.picture_statements import find_rows, make_statements
from quoteweave.generation.relevance import QuestionTerms, WeighedQuestion, overlap, says_all

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


def further_answers(weighed: WeighedQuestion, context: Context, limit: int) -> list[Statement]:
    """The statements of further documents under a heading that asks the question; if none does, what answers it."""
    further = _further_context(context)
    statements = make_statements(weighed, further, find_rows(weighed, further), limit)
    if sections := headed_statements(statements, weighed.terms, further):
        return [statement for section in sections for statement in section]
    criteria = CriteriaByDocument(weighed, further)
    return [statement for statement in statements if criteria.answers(statement)]


def documents_stating_otherwise(
    shown: Sequence[Statement], candidates: Collection[Statement], question: QuestionTerms, *, by_heading: bool = False
) -> list[str]:
    """The documents of which a statement says otherwise than one that is shown, and none says the same as one of them.

    Under headings that ask the question (`by_heading`), what is not the same says otherwise.
    """
    same, otherwise = {statement.document for statement in shown}, list[str]()
    for statement in candidates:
        if any(says_same(statement, known, question) for known in shown):
            same.add(statement.document)
        if by_heading or any(says_otherwise(statement, known, question) for known in shown):
            otherwise.append(statement.document)
    return [document for document in otherwise if document not in same]


def documents_answering_otherwise(
    shown: Sequence[Statement], statements: Iterable[Statement], weighed: WeighedQuestion, context: Context
) -> list[str]:
    """The documents of which a sentence answers, under any heading, with another value or date than those shown."""
    cited, criteria = {statement.document for statement in shown}, CriteriaByDocument(weighed, context)
    uncited = (statement for statement in statements if statement.document not in cited)
    answers = [statement for statement in uncited if criteria.answers(statement)]
    differing = documents_stating_otherwise(shown, answers, weighed.terms)
    if weighed.terms.asks == "date":
        differing += [answer.document for answer in answers if all(gives_other_date(answer, known) for known in shown)]
    return differing


def documents_asking_too(
    weighed: WeighedQuestion, context: Context, procedures: Sequence[Procedure], limit: int
) -> list[str]:
    """The documents with further procedures, or with a heading that asks the question, besides those that are shown."""
    cited = {procedure.document for procedure in procedures[:MAX_LISTS]}
    beyond = _further_context(context)
    all_procedures = (*procedures, *find_procedures(weighed, beyond, limit))
    answers: list[tuple[str, Sequence[Step | Statement]]] = [(entry.document, entry.steps) for entry in all_procedures]
    for within in (context, beyond):
        sections = headed_statements(text_statements(within, limit), weighed.terms, within)
        answers += [(section[0].document, section) for section in sections]
    word_sets = [(document, frozenset(words(" ".join(part.text for part in parts)))) for document, parts in answers]
    shown = [text_words for document, text_words in word_sets if document in cited]
    return [
        document
        for document, text_words in word_sets
        if document not in cited and not any(text_words <= known or known <= text_words for known in shown)
    ]


def documents_bearing_otherwise(question: QuestionTerms, context: Context, places: Sequence[LocatedQuote]) -> list[str]:
    """The documents of which a sentence with all words of the question has another number than those of the places.

    They must be much alike: as no sentence surely answers the question, others cannot be compared.
    """
    subject, ids = question.subject, {place.quote.id for place in places}
    if not (subject and question.analysis.wants_number):
        return []
    contexts = (context, _further_context(context))
    statements = [entry for within in contexts for entry in text_statements(within, MAX_ANALYSED_CHARACTERS)]
    statements = [
        statement
        for statement in statements
        if says_all((*statement.words, *words(statement.quote.section or "")), subject)
        and new_numbers(statement, question)
    ]
    shown = [statement for statement in statements if statement.quote.id in ids]
    alike = [statement for statement in statements if any(_are_alike(statement, known) for known in shown)]
    return documents_stating_otherwise(shown, alike, question)


def _further_context(context: Context) -> Context:
    """The context with the quotes of further documents in place of its own."""
    texts, images = (tuple(hit for hit in context.further if hit.quote.kind == kind) for kind in ("text", "image"))
    return context.model_copy(update={"texts": texts, "images": images, "further": ()})


def _are_alike(first: Statement, second: Statement) -> bool:
    texts = ([word for word in statement.words if not has_digit(word)] for statement in (first, second))
    return overlap(*texts) > MAX_UNLIKE
