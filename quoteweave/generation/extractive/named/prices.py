"""Check by rule whether a statement tells what a thing costs: for how much it is sold, or that it is free."""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.generation.extractive.acts.clauses import head_nouns
from quoteweave.generation.relevance import QuestionTerms

# Pounds are also a weight, so they cannot be a unit of money alone.
MONEY_IN_WORDS = lazy_regex(
    r"(?i)\d\s+(?:[mb]illion\s)?(?:pounds?|pence|cents?|crowns?|rupees|pesos|roubles|yuan|kron(?:a|or|er))\b"
)
_SOLD_FOR = lazy_regex(
    r"\W*(?P<thing>[^,;:.]{2,60}?)\s+(?:is|are|was|were|can\s+be)\s+(?:\w+ly\s+)?(?:sold|bought|purchased|acquired|available)\b"
    r"[^,;:.]{0,40}?\s(?:for|at)\s+(?:[$€£]\s?\d|\d[\d.,]*\s(?:euros?|dollars?|pounds?|€)(?!\w))",
    re.IGNORECASE,
)
_IS_FREE = lazy_regex(
    r"\W*(?P<thing>[^,;:.]{2,60}?)\s+(?:(?:is|are)\s+(?:free\s+of\s+charge|gratis)|costs?\s+nothing)\b"
    r"(?=\W*$|[,;]|\s+(?:and|but)\b)",
    re.IGNORECASE,
)


def is_sold_for(text: str, question: QuestionTerms) -> bool:
    """Whether a text tells for what the thing is sold whose price is asked for, or that it is free of charge."""
    return _is_of_thing(_SOLD_FOR.match(text), question) or tells_free(text, question)


def tells_free(text: str, question: QuestionTerms) -> bool:
    """Whether a text says without conditions that the thing whose price is asked for costs nothing."""
    return _is_of_thing(_IS_FREE.match(text), question)


def _is_of_thing(match: "re.Match[str] | None", question: QuestionTerms) -> bool:
    """Whether a text begins with the thing asked about, unlike "The oars of the boat" for the boat."""
    return match is not None and not question.subject.isdisjoint(head_nouns(match["thing"]))
