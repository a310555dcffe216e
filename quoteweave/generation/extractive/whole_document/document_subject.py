"""Find what a whole document is about, for a question that calls it by its kind: "the machine", in its manual.

Sentences of such a document need not repeat it.
"""

import re
from functools import cache
from pathlib import PurePosixPath

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_words import listed_words
from quoteweave.core.text.tokens import words
from quoteweave.core.text.word_patterns import alternation
from quoteweave.generation.extractive.statements import names_whole_title, quotes_of, title_words
from quoteweave.generation.relevance import quote_words

MIN_QUOTES = 4
"""With at least so many quotes found of a document, it is about what half of them say."""

_TWO_OF_NAME = lazy_regex(r"\b([A-ZÀ-Þ]\w*)(?=\s+([A-ZÀ-Þ]\w*))")


def whole_document_nouns(question: str) -> frozenset[str]:
    """The nouns with which a question may mean a whole document's subject, stemmed: "the survey", "your machine".

    >>> sorted(whole_document_nouns("What was the response rate of the survey?"))
    ['survey']
    """
    return frozenset(words(" ".join(_kind_pattern().findall(question))))


@cache
def _kind_pattern() -> re.Pattern[str]:
    nouns = alternation(listed_words("document_subjects"))
    # "The machine operator" is no machine.
    ends = (
        r"(?=\s*(?:[^\w\s]|$)|\s+(?:is|are|was|were|has|have|does|do|did|can|may|must|be|take|in|on|at|by|for|to|from"
        r"|with)\b)"
    )
    return re.compile(rf"\b(?:the|this|your|our)\s+({nouns}){ends}", re.IGNORECASE)


def words_of_whole_document(question: str, context: Context, document: str) -> frozenset[str]:
    """The words that no sentence need repeat: of the title, and the question's words for the document's subject."""
    throughout = _words_in_most_quotes(whole_document_nouns(question), context, document)
    title = context.titles.get(document, "")
    named = frozenset(words(title)) if names_whole_title(question, title) else title_words(context, document)
    return named | throughout | _names_joined_in(document, question)


def _names_joined_in(document: str, question: str) -> frozenset[str]:
    """The words of a name in a question that the document's name has as one word: "Best Buy", of "BESTBUY_2023.pdf".

    >>> sorted(_names_joined_in("BESTBUY_2023.pdf", "What were Best Buy's assets?"))
    ['best', 'buy']
    """
    joined_words = frozenset(words(PurePosixPath(document).stem, stem=False))
    pairs = (pair for pair in _TWO_OF_NAME.findall(question) if "".join(pair).casefold() in joined_words)
    return frozenset(word for pair in pairs for word in words(" ".join(pair)))


def _words_in_most_quotes(name_words: frozenset[str], context: Context, document: str) -> frozenset[str]:
    words_of_quotes = [frozenset(quote_words(quote)) for quote in quotes_of(context, document) if name_words]
    if len(words_of_quotes) < MIN_QUOTES:
        return frozenset()
    return frozenset(
        word
        for word in name_words
        if 2 * sum(word in words_of_quote for words_of_quote in words_of_quotes) >= len(words_of_quotes)
    )
