"""Recognise questions for a table's row by its name, and those for a row for which the right head is uncertain."""

import re

from quoteweave.core.answers import Context
from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.records import Quote
from quoteweave.core.text.tokens import words
from quoteweave.generation.extractive.statements import has_cells, picture_text
from quoteweave.generation.extractive.tables.asked_names import name_of_row
from quoteweave.generation.extractive.tables.heads import read_rows, table_parts
from quoteweave.generation.gate.dates import RECENT_YEAR
from quoteweave.generation.relevance import QuestionTerms

_ASKS_WHAT = lazy_regex(
    r"\W*what\s+(?:is|are|was|were)\s+(?:(?:the\s+)?(?:\w+\s+){0,2}(?:value|amount|balance|number|level|share)s?\s+of\s+)?(.+)",
    re.IGNORECASE | re.DOTALL,
)
_VALUE = lazy_regex(r"\W*\d")


def asks_for_row(question: QuestionTerms, context: Context) -> bool:
    """Whether a question for what something was in a year begins with the name of a row of numbers that was found.

    "What was the SG&A of the Domestic segment in 2023?" asks for a number, if a table has a row "SG&A". No
    sentence without a number answers it.
    """
    what_question = _ASKS_WHAT.match(question.text)
    if what_question is None or not any(map(RECENT_YEAR.fullmatch, question.names)):
        return False
    words_of_thing = words(what_question[1])
    tables = (hit.quote for hit in context.images if has_cells(hit.quote))
    rows = (row for quote in tables for row in read_rows(picture_text(quote)))
    row_names = (name_of_row(row[0]) for row in rows if any(map(_VALUE.match, row[1:])))
    return any(name and name == frozenset(words_of_thing[: len(name)]) for name in row_names)


def asks_below_uncertain_head(question: QuestionTerms, quote: Quote) -> bool:
    """Whether a table has a row with a name of the question, below a row of years that may or may not be its head."""
    rows = read_rows(picture_text(quote)) if has_cells(quote) else []
    below = (row for part in table_parts(rows) if not part.has_head for row in rows[part.start : part.end])
    return any(name and name <= set(question.terms) for name in (name_of_row(row[0]) for row in below))
