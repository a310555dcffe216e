"""Tell by rule whether a statement gives only how something changed, or what another thing changed to."""

import re

from quoteweave.core.lazy_regex import lazy_regex
from quoteweave.core.text.question_analysis import MAX_ANALYSED_CHARACTERS
from quoteweave.generation.extractive.acts.clauses import head_nouns
from quoteweave.generation.extractive.statements import Statement
from quoteweave.generation.relevance import QuestionTerms, with_all_alike

_ASKS_AMOUNT = lazy_regex(
    r"\W*(?:how\s+(?:much|high)\s+(?:is|are|was|were)|what\s+(?:is|are|was|were)\s+the)\b", re.IGNORECASE
)
_CHANGED = lazy_regex(
    r"\W*(?P<thing>[^,;:.]{3,80}?)\s+(?:(?:has|have|had)\s+)?(?:rose|risen|fell|fallen|grew|grown|dropped"
    r"|(?:increas|decreas|declin)ed)\s+(?:by\s+)?(?:about\s+)?[$€£]?\d[\d.,]*(?:\s?%|\s(?!to\b)[^\W\d_]+){0,2}(?P<to>\s+to\s)?",
    re.IGNORECASE,
)
_NOUNS = r"(?:increase|decrease|rise|fall|drop|growth|decline|reduction)"
# "In 2021 the increase was 4 euros"
_IS_CHANGE = lazy_regex(
    rf"\W*(?:(?:in|for|during)\s[^,;:]{{1,30}}?,?\s)?(?:the|an?)\s+{_NOUNS}\b"
    r"[^,;:]{0,60}?\s(?:is|was|(?:has|had|will)\s+(?:been|be))\s+(?:about\s+)?[$€£]?\d",
    re.IGNORECASE,
)
_ASKS_CHANGE = lazy_regex(
    rf"\b(?:{_NOUNS}|chang|increas|decreas|declin|gr[eo]w|rose|fell|reduc|differ|trend|development|more|less)",
    re.IGNORECASE,
)


def gives_change_instead(statement: Statement, question: QuestionTerms) -> bool:
    """Whether a statement tells how an amount changed, while it is asked how much it is: "Fees increased 9% in 2021".

    "Fee revenue increased 9% to $3,877" gives an amount, but for "What is the fee?", that of another thing.
    """
    asked = question.text[:MAX_ANALYSED_CHARACTERS]
    if not _ASKS_AMOUNT.match(asked) or _ASKS_CHANGE.search(asked):
        return False
    change = _CHANGED.match(statement.text)
    if change is None:
        return _IS_CHANGE.match(statement.text) is not None
    if change["to"] is None:
        return question.asks in {"amount", "money"}
    return with_all_alike(question.terms).isdisjoint(head_nouns(change["thing"]))
