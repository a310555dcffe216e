"""Decide which statements answer a question, with what a document or a clause before need not repeat.

In a guide to a flat, "The key is in the safe" answers "Where is the key to the flat?" like "Where is the key?".
"""

import re

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.tokens import name_words, words
from quoteweave.generation.extractive.acts.single_subjects import words_of_heading
from quoteweave.generation.extractive.criteria.answer_criteria import AnswerCriteria
from quoteweave.generation.extractive.criteria.ellipsis import filled_in_clauses
from quoteweave.generation.extractive.statements import Statement, quotes_of
from quoteweave.generation.extractive.whole_document.document_subject import words_of_whole_document
from quoteweave.generation.relevance import WeighedQuestion, question_terms, quote_words

_OF_THING = lazy_regex(
    r"\s(?:of|for|to|in|at|on|from)\s+(?:(?:the|our|your|this)\s+)?(?P<thing>[^\W\d][^,;:.?!]*)\W*$", re.IGNORECASE
)
# "The other flat, Lindenhof" names a thing, unlike "Arrival".
_NAMES_THING = lazy_regex(r"\W*(?i:the|our|another)\s|\bother\s|(?:,|\s(?:in|at|of))\s+(?:the\s+)?[A-ZÀ-Þ]")
_NOT_OF_THINGS = frozenset({"contact", "look", "parts", "calculation"})


class CriteriaByDocument:
    """Decides which statements answer a question as it is, or without a phrase for what their document is about."""

    def __init__(self, weighed: WeighedQuestion, context: Context) -> None:
        self._weighed, self._context = weighed, context
        self._whole = AnswerCriteria(weighed, context)
        self._thing = None if weighed.terms.asks in _NOT_OF_THINGS else _OF_THING.search(weighed.terms.text)
        self._without_thing: AnswerCriteria | None = None
        if self._thing is not None:
            terms = question_terms(f"{weighed.terms.text[: self._thing.start()]}?")
            weights = {word: weight for word, weight in weighed.weights.items() if word in terms.terms}
            if terms.subject and terms.subject <= weights.keys() and terms.asks == weighed.terms.asks:
                self._without_thing = AnswerCriteria(WeighedQuestion(terms, weights), context)

    def answers(self, statement: Statement, *, clearly_first: bool = False) -> bool:
        """Whether a statement, a sentence or cells of a table, answers the question.

        So does a sentence with a clause that leaves out what the clause before says, if that answers filled in.
        """
        if self._answers_as_written(statement, clearly_first=clearly_first):
            return True
        clauses = [] if statement.quote.kind == "image" else filled_in_clauses(statement.text)
        changes = ({"text": clause, "words": tuple(words(clause)), "before": ""} for clause in clauses)
        return any(self._answers_as_written(statement.model_copy(update=change)) for change in changes)

    def _answers_as_written(self, statement: Statement, *, clearly_first: bool = False) -> bool:
        if self._whole.answers(statement, clearly_first=clearly_first):
            return True
        shorter = self._without_thing if self._is_in_its_document(statement) else None
        return shorter is not None and shorter.answers(statement, clearly_first=clearly_first)

    def may_compete(self, statement: Statement) -> bool:
        """As `AnswerCriteria.may_compete`."""
        return self._whole.may_compete(statement)

    def _is_in_its_document(self, statement: Statement) -> bool:
        """Whether a sentence is of a document about the thing that ends the question, and of nothing else in it.

        Under a heading that may name something else, the document must not have the words of the question elsewhere.
        """
        if self._thing is None or self._without_thing is None or statement.quote.kind != "text":
            return False
        text, document = self._weighed.terms.text, statement.document
        about = words_of_whole_document(text, self._context, document).union(name_words(document))
        thing_words, subject = frozenset(words(self._thing["thing"])), self._weighed.terms.subject
        if not thing_words or not thing_words <= about:
            return False
        if words_of_heading(statement.heading) <= about | subject:
            return True
        if _NAMES_THING.search(statement.heading) is not None:
            return False
        section = statement.quote.section
        elsewhere = (quote for quote in quotes_of(self._context, document) if quote.section != section)
        return not any(subject - thing_words <= set(quote_words(quote)) for quote in elsewhere)
