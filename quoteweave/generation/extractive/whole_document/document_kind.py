"""What a whole document is about, where a question calls it by its kind: "the machine", of the manual of one.

Sentences of such a document do not repeat it.
"""

import re
from functools import cache

from quoteweave.core.answers import Context
from quoteweave.core.text.question_words import listed_words
from quoteweave.core.text.tokens import words
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.extractive.statements import title_words
from quoteweave.generation.relevance import quote_words

MIN_QUOTES = 4
"""Quotes found of a document from which on what half of them say is what it is about."""


def called_by_kind(question: str) -> frozenset[str]:
    """What a question may mean a whole document's subject by, stemmed: "the survey", "your machine".

    >>> sorted(called_by_kind("What was the response rate of the survey?"))
    ['survey']
    """
    return frozenset(words(" ".join(_called().findall(question))))


@cache
def _called() -> re.Pattern[str]:
    nouns = alternation(listed_words("document_subjects"))
    # "The machine operator" is no machine.
    ends = (
        r"(?=\s*(?:[^\w\s]|$)|\s+(?:is|are|was|were|has|have|does|do|did|can|may|must|be|take|in|on|at|by|for|to|from"
        r"|with)\b)"
    )
    return re.compile(rf"\b(?:the|this|your|our)\s+({nouns}){ends}", re.IGNORECASE)


def words_for_all(called: frozenset[str], context: Context, document: str) -> frozenset[str]:
    """The words that count for all of a document: of its title, and those of `called` that half of its quotes have."""
    return title_words(context, document) | _said_throughout(called, context, document)


def _said_throughout(called: frozenset[str], context: Context, document: str) -> frozenset[str]:
    found = [frozenset(quote_words(hit.quote)) for hit in context.hits if called and hit.quote.document == document]
    if len(found) < MIN_QUOTES:
        return frozenset()
    return frozenset(word for word in called if 2 * sum(word in own for own in found) >= len(found))
