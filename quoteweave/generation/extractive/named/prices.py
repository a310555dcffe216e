"""Check by rule whether a statement tells what a thing costs: for how much it is sold, or that it is free."""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.generation.extractive.acts.clauses import PREPOSITIONS, head_nouns
from quoteweave.generation.extractive.acts.times import SAYS_PAST
from quoteweave.generation.relevance import QuestionTerms

# Pounds are also a weight, so they cannot be a unit of money alone.
MONEY_IN_WORDS = lazy_regex(
    r"(?i)\d\s+(?:[mb]illion\s)?(?:pounds?|pence|cents?|crowns?|rupees|pesos|roubles|yuan|kron(?:a|or|er))\b"
)
_THING = rf"\W*(?!(?:{PREPOSITIONS})\b)(?P<thing>[^,;:.]{{2,60}}?)"
# What it "was sold for" is not what it cost its owner.
_SOLD_FOR = lazy_regex(
    _THING + r"\s+(?:(?:is|are|can\s+be)\s+(?:\w+ly\s+)?(?:sold|bought|purchased|available)"
    r"|(?P<past>was|were)\s+(?:\w+ly\s+)?(?:bought|purchased|acquired))\b"
    r"[^,;:.]{0,40}?\s(?:for|at)\s+(?:[$€£]\s?\d|\d[\d.,]*\s(?:euros?|dollars?|pounds?|€)(?!\w))",
    re.IGNORECASE,
)
_IS_FREE = lazy_regex(
    _THING + r"\s+(?:(?:is|are)\s+(?:free\s+of\s+charge|gratis)|costs?\s+nothing)\b"
    r"(?=\W*$|[,;]|\s+(?:and|but)\b)",
    re.IGNORECASE,
)


def is_sold_for(text: str, question: QuestionTerms) -> bool:
    """Whether a text tells for what the thing is sold whose price is asked for, or that it is free of charge.

    What was paid once is not what it costs.
    """
    sold = _SOLD_FOR.match(text)
    is_of_time = sold is not None and (sold["past"] is None or SAYS_PAST.search(question.text) is not None)
    return (is_of_time and _is_of_thing(sold, question)) or tells_free(text, question)


def tells_free(text: str, question: QuestionTerms) -> bool:
    """Whether a text says without conditions that the thing whose price is asked for costs nothing."""
    return _is_of_thing(_IS_FREE.match(text), question)


def _is_of_thing(match: re.Match[str] | None, question: QuestionTerms) -> bool:
    """Whether a text begins with the thing asked about, unlike "The oars of the boat" and "For pupils the boat"."""
    return match is not None and not question.subject.isdisjoint(head_nouns(match["thing"]))
